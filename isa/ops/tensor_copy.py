"""Tensor copies (PTX ISA 9.7.10.25.5): boxes of a tensor between global and shared memory, as a tensor map describes it.

tensor_map/ says where the units of a box lie; here they are loaded, stored and reduced, all copies of a group at once.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..facts import Need
from ..notation import instruction
from ..ports import Addresses, Array, CopyingLanes, Lanes, Mask, Rows, Shortcut
from ..tensor_map.boxes import UNIT, BoxError, Numbers, Units, check_layout, four_rows, image, in_shared, tile
from ..tensor_map.descriptor import IM2COL, TILED, TensorMap, decode
from ..tensor_map.elements import NAN_FILL, rounded_to_tf32
from ..tensor_map.encoder import unusable
from ..types import TYPES
from .async_ import BULK_GROUP, in_cta, only, ranks
from .atomic import CHANGES, GLOBAL_ADD
from .mbarrier import complete_tx

GATHER = "tile::gather4"
NO_OFFSETS = "im2col_no_offs"
TILE_ALIGN = 128  # of a box in shared memory

Point = tuple[Array, ...]  # the address of a map, and the coordinates

# ---------------------------------------------------------------- maps


def maps(rows: Rows, at: Addresses) -> Iterator[tuple[TensorMap, Mask | None]]:
    """Each map that some lanes name, and those lanes; None for all."""
    addresses, which = (at[0], None) if (at == at[0]).all() else np.unique(at, return_inverse=True)
    for i in range(addresses.size):
        chosen = None if which is None else which.reshape(-1) == i
        one = rows
        if rows.count > 1:
            first = np.zeros(rows.count, np.bool_)
            first[0 if chosen is None else int(chosen.argmax())] = True
            one = rows.among(first, 1)
        where = addresses[i : i + 1].reshape(1, 1)
        words = [w for half in (0, 64) for w in one.load("generic", where + np.uint64(half), "b64", 8)]
        m = decode(tuple(w.item() for w in words))
        if m is None:
            state = "are not those of" if any(w.any() for w in words) else "are all zero, which is not"
            rows.fault("illegal-instruction", f"no tensor map: the 128 bytes at {int(addresses[i]):#x} {state} a map that "
                       "cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col made", chosen)  # fmt: skip
        if why := unusable(m):
            rows.fault("illegal-instruction", f"the tensor map at {int(addresses[i]):#x} describes no box: {why}", chosen)
        yield m, chosen


def _units(rows: Rows, m: TensorMap, c: Numbers, offsets: Numbers, mode: str, rank: int) -> Units:
    """Where a box lies; faults where the machine refuses the copy."""
    made = TILED if mode in (TILED, GATHER) else IM2COL if mode == NO_OFFSETS else mode
    if m.mode != made:
        rows.fault("illegal-instruction", f"the tensor map is one of mode {m.mode}; the instruction copies in mode {mode}")
    if m.rank != rank:
        rows.fault("illegal-instruction", f"the tensor map is one of rank {m.rank}; the instruction names {rank} dimensions")
    try:
        check_layout(m)
        if mode == TILED:
            return tile(m, c)
        return four_rows(m, c) if mode == GATHER else image(m, c, offsets, mode)
    except BoxError as e:
        rows.fault("illegal-instruction", str(e), e.rows)


def _boxes(
    lanes: CopyingLanes, a: Addresses, b: Point, offsets: Sequence[Array], mode: str, dim: str, *, writes: bool
) -> Iterator[tuple[Rows, TensorMap, Units, Addresses]]:
    """The copies of one instruction, map by map: the lanes, and where the units of their boxes lie in both memories."""
    every = lanes.rows()
    if not every.count:
        return
    for m, chosen in maps(every, every.take(b[0])):
        rows = every if chosen is None else every.among(chosen, 1)
        c = np.concatenate([rows.take(x).astype(np.uint32, copy=False).view(np.int32) for x in b[1:]], axis=1).astype(np.int64)
        none: list[Array] = [np.zeros((rows.count, 1), np.int64)] * (m.rank - 2)
        moved = [rows.take(x).astype(np.int64) for x in offsets] or none
        if writes:
            _writable(rows, m, c)
        units = _units(rows, m, c, np.concatenate(moved, axis=1) if moved else c, mode, int(dim[0]))
        start = rows.take(a).astype(np.uint64)
        bad = (start % np.uint64(TILE_ALIGN))[:, 0] != 0
        if bad.any():
            text = f"misaligned: a box in shared memory begins at a multiple of {TILE_ALIGN}, not at {int(start[bad][0, 0]):#x}"
            rows.fault("misaligned", text, bad)
        yield rows.among(None, units.count), m, units, in_shared(m, start, units.place)


def _writable(rows: Rows, m: TensorMap, c: Numbers) -> None:
    negative: Mask = np.any(c < 0, axis=1)
    if negative.any():
        text = f"a tensor can't be written from coordinates {tuple(c[int(negative.argmax())].tolist())} on: none may be negative"
        rows.fault("illegal-instruction", text, negative)
    if any(low < 0 for low in m.lower):
        rows.fault("illegal-instruction", f"a tensor can't be written through a map whose lower corner {m.lower} is negative")


# ---------------------------------------------------------------- to shared memory


def _fetched(rows: Rows, m: TensorMap, units: Units) -> tuple[Array, ...]:
    """The first and the second eight bytes of all units that the boxes hold, filled where the tensor has nothing."""
    held, shape = units.held, units.address.shape
    converts = m.type.name.startswith("tf32")
    if held is None and not converts:
        return rows.load("global", units.address, "b64", 2)
    words = np.zeros((*shape, 2), np.uint64)
    if held is None:
        words[..., 0], words[..., 1] = rows.load("global", units.address, "b64", 2)
    else:
        whole = held == UNIT
        if whole.any():
            with rows.only(whole):
                words[..., 0], words[..., 1] = rows.load("global", units.address, "b64", 2)
        size, elements = m.type.bytes, words.view(f"u{m.type.bytes}")
        for e in range(0, UNIT // size) if ((held > 0) & ~whole).any() else ():
            some = (held > e * size) & ~whole
            if some.any():
                with rows.only(some):
                    (element,) = rows.load("global", units.address + np.uint64(e * size), f"b{8 * size}")
                elements[..., e][some] = element[some]
    if converts:
        words = rounded_to_tf32(words.view(np.uint32)).view(np.uint64)
    if held is not None and m.nan_fill:
        elements = words.view(f"u{m.type.bytes}")
        elements[held[..., None] <= np.arange(0, UNIT, m.type.bytes)] = NAN_FILL & (1 << 8 * m.type.bytes) - 1
    return words[..., 0], words[..., 1]


def _load(lanes: CopyingLanes, ss: str, a: Addresses, b: Point, d: Addresses, offsets: Sequence[Array], mode: str, dim: str) -> None:
    for rows, m, units, place in _boxes(lanes, a, b, offsets, mode, dim, writes=False):
        with rows.about(m.described):
            words = _fetched(rows, m, units)
        rows.store(ss, place, "b64", words)
        complete_tx(rows.among(None, 1), ss, rows.take(d), units.count * UNIT)


Meaning = Callable[..., None]


def _load_meaning(ss: str, mode: str, moved: bool, multicast: bool) -> Meaning:
    """The meaning of a row with these operands behind the mbarrier: offsets, a mask of CTAs, and perhaps a cache policy."""

    def load(
        lanes: CopyingLanes,
        a: Addresses,
        b: Point,
        d: Addresses,
        *more: Any,
        dim: str,
        tile: bool = False,
        im2colw: str = "",
        group: str = "",
    ) -> None:
        offsets, way = more[0] if moved else (), im2colw or mode
        if not multicast:
            lanes.later(lambda lanes: _load(lanes, ss, a, b, d, offsets, way, dim), barrier=(ss, d))
            return
        for rank, chosen in ranks(lanes, more[moved]):
            to, barrier = in_cta(a, rank), in_cta(d, rank)
            with only(lanes, chosen):
                lanes.later(lambda lanes, to=to, d=barrier: _load(lanes, ss, to, b, d, offsets, way, dim), barrier=(ss, barrier))  # type: ignore[misc]

    return load


def _prefetch(lanes: Lanes, b: Point, *more: Any, dim: str, tile: bool = False, im2colw: str = "") -> None:
    """Brings a box into L2; no value depends on it."""


# ---------------------------------------------------------------- to global memory


def _targets(rows: Rows, units: Units) -> tuple[Mask | None, Mask | None]:
    """Which units are written, and which of them only as far as the tensor's row goes.

    A row is written in whole units, so the bytes behind its end change, too: where there are any.
    """
    if units.held is None:
        return None, None
    cut = (units.held > 0) & (units.held < UNIT)
    if cut.any():
        with rows.only(cut):
            cut = cut & ~rows.holds("global", units.address, UNIT)
    return (units.held > 0) & ~cut, cut if cut.any() else None


Boxes = list[tuple[Rows, TensorMap, Units, Array]]  # and the words that a box holds: (n, units, 2)


def _read(lanes: CopyingLanes, a: Addresses, b: Point, mode: str, dim: str) -> Boxes:
    """What lies in shared memory, for each map."""
    return [
        (rows, m, units, np.stack(rows.load("shared::cta", place, "b64", 2), axis=-1))
        for rows, m, units, place in _boxes(lanes, a, b, (), mode, dim, writes=True)
    ]


def _store(boxes: Boxes) -> None:
    for rows, m, units, words in boxes:
        written, cut = _targets(rows, units)
        with only(rows, written), rows.about(m.described):
            rows.store("global", units.address, "b64", (words[..., 0], words[..., 1]))
        if cut is not None and units.held is not None:
            size = m.type.bytes
            for e, element in enumerate(np.moveaxis(words.view(f"u{size}"), -1, 0)):
                with rows.only(cut & (units.held > e * size)):
                    rows.store("global", units.address + np.uint64(e * size), f"b{8 * size}", (element,))


# (operation, element type): what memory becomes, and the type that it has there.  The manual's other pairs are refused, as recorded.
_ADDED = "u32 s32 u64 f16 bf16 f32 f32.ftz f64 tf32"
_REDUCED = {
    **dict.fromkeys(["add"], _ADDED), **dict.fromkeys(["min", "max"], "u32 s32 u64 s64 f16 bf16"),
    **dict.fromkeys(["inc", "dec"], "u32"), **dict.fromkeys(["and", "or", "xor"], "u32 s32 u64"),
}  # fmt: skip


def _reduction(op: str, type: str) -> tuple[str, Callable[..., Array], Shortcut | None]:
    """The type as which an element is updated, and its change."""
    if op in ("and", "or", "xor"):
        type = f"b{TYPES[type].bits}"
    if type == "f32.ftz":
        return "f32", *GLOBAL_ADD["f32"]
    if type == "f64":
        return type, *GLOBAL_ADD["f64"]
    type = "f32" if type == "tf32" else type
    return type, *CHANGES[op, type]


def _reduce(boxes: Boxes, op: str) -> None:
    for rows, m, units, words in boxes:
        if m.type.name not in _REDUCED[op].split():
            rows.fault(
                "illegal-instruction",
                f".{op} does not reduce a tensor of {m.type.name}; the types of .{op} are {_REDUCED[op].replace(' ', ', ')}",
            )
        type, change, shortcut = _reduction(op, m.type.name)
        written, cut = _targets(rows, units)
        for e, element in enumerate(np.moveaxis(words.view(TYPES[type].dtype), -1, 0)):
            some = written
            if written is not None and cut is not None and units.held is not None:
                some = written | cut & (units.held > e * m.type.bytes)
            with only(rows, some), rows.about(m.described):
                at = units.address + np.uint64(e * m.type.bytes)
                rows.update("global", at, type, change, (np.ascontiguousarray(element),), shortcut=shortcut, returns=False)


def _store_meaning(mode: str) -> Meaning:
    def store(lanes: CopyingLanes, b: Point, a: Addresses, g: Array | None = None, *, dim: str, tile: bool = False) -> None:
        def copy(lanes: CopyingLanes) -> Callable[[], None]:
            return functools.partial(_store, _read(lanes, a, b, mode, dim))

        lanes.later(copy, group=BULK_GROUP)

    return store


def _reduce_meaning(mode: str) -> Meaning:
    def reduce(lanes: CopyingLanes, b: Point, a: Addresses, g: Array | None = None, *, op: str, dim: str, tile: bool = False) -> None:
        def copy(lanes: CopyingLanes) -> Callable[[], None]:
            return functools.partial(_reduce, _read(lanes, a, b, mode, dim), op)

        lanes.later(copy, group=BULK_GROUP)

    return reduce


# ---------------------------------------------------------------- rows

_TX = "mbarrier::complete_tx::bytes"
COPY, REDUCE, PREFETCH = "9.7.10.25.5.2", "9.7.10.25.5.3", "9.7.10.25.5.4"
DIMS, IM2COL_DIMS = "1d 2d 3d 4d 5d", "3d 4d 5d"
FAMILY = Need(8.6, 100, "f")
_GROUPS = "cta_group::1 cta_group::2"
_NEEDS = dict.fromkeys([*_GROUPS.split(), "im2col::w::128"], FAMILY)
_HINTS = (("", ""), (".L2::cache_hint", ", g:b64"))
_LOAD = "Copies a box of the tensor that the map b describes, at coordinates c, to a in shared memory; the mbarrier d counts the bytes."

# (words, mode, operands it adds, dimensions, sets of words, what it needs)
_SINCE_90: dict[str, Any] = {"ptx": 8.0, "sm": 90}
_SINCE_100: dict[str, Any] = {"ptx": 8.6, "sm": 100, "arch": "f"}
_MODES: tuple[tuple[str, str, str, str, dict[str, Any], dict[str, Any]], ...] = (
    ("{.tile}", TILED, "", DIMS, {}, _SINCE_90),
    (f".{GATHER}", GATHER, "", "2d", {}, _SINCE_100),
    (".im2colw", "", ", e*2:u16", IM2COL_DIMS, {"im2colw": "im2col::w im2col::w::128"}, _SINCE_100),
    *((".im2col", IM2COL, f", e*{n}:u16", f"{n + 2}d", {}, _SINCE_90) for n in (1, 2, 3)),  # an offset for each dimension of the image
)  # fmt: skip
for _words, _mode, _info, _dims, _sets, _since in _MODES:
    for _hint, _policy in _HINTS:
        for _cast, _mask in (("", ""), (".multicast::cluster", ", f:u16")):
            instruction(
                f"cp.async.bulk.tensor.dim.shared::cluster.global{_words}.{_TX}{_cast}{{.group}}{_hint}  [a], [b, {{c}}], [d]{_info}{_mask}{_policy}",
                doc=_LOAD, section=COPY, dim=_dims, group=_GROUPS, needs=_NEEDS, **_since, **_sets,
            )(_load_meaning("shared::cluster", _mode, bool(_info), bool(_mask)))  # fmt: skip
        instruction(
            f"cp.async.bulk.tensor.dim.shared::cta.global{_words}.{_TX}{{.group}}{_hint}  [a], [b, {{c}}], [d]{_info}{_policy}",
            doc=_LOAD, section=COPY, dim=_dims, group=_GROUPS, needs=_NEEDS, ptx=8.6, sm=_since["sm"], **_sets,
        )(_load_meaning("shared::cta", _mode, bool(_info), False))  # fmt: skip
        instruction(
            f"cp.async.bulk.prefetch.tensor.dim.L2.global{_words}{_hint}  [b, {{c}}]{_info}{_policy}",
            doc="Brings a box of the tensor that the map b describes, at coordinates c, into L2; no value depends on it.",
            section=PREFETCH, dim=_dims, **_since, **_sets,
        )(_prefetch)  # fmt: skip

for _words, _mode, _dims, _since in (
    ("{.tile}", TILED, DIMS, _SINCE_90), (f".{NO_OFFSETS}", NO_OFFSETS, IM2COL_DIMS, _SINCE_90), (".tile::scatter4", GATHER, "2d", _SINCE_100),
):  # fmt: skip
    for _hint, _policy in _HINTS:
        instruction(
            f"cp.async.bulk.tensor.dim.global.shared::cta{_words}.bulk_group{_hint}  [b, {{c}}], [a]{_policy}",
            doc="Copies a box from a in shared memory to the tensor that the map b describes, at coordinates c.",
            section=COPY, dim=_dims, **_since,
        )(_store_meaning(_mode))  # fmt: skip
        instruction(
            f"cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{_words}.bulk_group{_hint}  [b, {{c}}], [a]{_policy}",
            doc="As cp.async.bulk.tensor, but each element of the tensor is replaced by (element op what is copied).",
            section=REDUCE, dim=_dims, op="add min max inc dec and or xor", **_since,
        )(_reduce_meaning(_mode))  # fmt: skip
