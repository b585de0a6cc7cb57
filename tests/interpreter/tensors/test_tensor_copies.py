"""Tensor copies of any map, several at once, against one element at a time."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from warplab.interpreter.faults import ExecutionError, Fault
from warplab.interpreter.observe import Access, Observer
from warplab.isa.tensor_map.descriptor import IM2COL, TILED, TensorMap, encode
from warplab.isa.tensor_map.elements import BY_NAME, ELEMENT_TYPES
from warplab.isa.tensor_map.encoder import wrong

from ..harness import Machine, module
from . import reference_boxes as reference

WINDOW, BLOCKS, ROOM = 8192, 3, 1 << 17
EDGE = 1 << 14  # where tensors begin: what lies before and behind is there, too

Coordinates = tuple[int, ...]


def program(copy: str, target: str = "sm_90a") -> str:
    """A block of 32 threads fills its tile from its window, one thread copies, all write the tile back.

    A block's row of the table: address of the map, place in the tile, bytes to expect, coordinates (5), offsets (3).
    """
    move = "\n".join(f"ld.global.b64 %w, [%window+{8 * i}]; st.shared.b64 [%at+{8 * i}], %w;" for i in range(WINDOW // 256))
    back = "\n".join(f"ld.shared.b64 %w, [%at+{8 * i}]; st.global.b64 [%window+{8 * i}], %w;" for i in range(WINDOW // 256))
    values = "\n".join(f"ld.global.s32 %c{i}, [%table+{16 + 4 * i}];" for i in range(5))
    moved = "\n".join(f"ld.global.u16 %o{i}, [%table+{36 + 4 * i}];" for i in range(3))
    return module(
        f""".visible .entry test(.param .u64 table, .param .u64 window)
{{
    .shared .align 1024 .b8 tile[{WINDOW}];
    .shared .align 8 .b64 full;
    .reg .b64 %table, %window, %map, %w, %state; .reg .b32 %t, %b, %at, %tile, %full, %tx, %c<5>; .reg .b16 %o<3>, %mask; .reg .pred %p, %q; .reg .b64 %policy;
    ld.param.u64 %table, [table]; ld.param.u64 %window, [window]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;
    mad.wide.u32 %table, %b, 64, %table; mad.wide.u32 %window, %b, {WINDOW}, %window; mad.wide.u32 %window, %t, {WINDOW // 32}, %window;
    mov.u32 %tile, tile; mov.u32 %full, full; mad.lo.u32 %at, %t, {WINDOW // 32}, %tile;
    {move}
    bar.sync 0;
    setp.ne.u32 %p, %t, 0; @%p bra COPIED;
    mbarrier.init.shared::cta.b64 [%full], 1;
    ld.global.u64 %map, [%table]; ld.global.u32 %at, [%table+8]; ld.global.u32 %tx, [%table+12]; add.u32 %tile, %tile, %at;
    {values}
    {moved}
    mov.b16 %mask, 1; createpolicy.fractional.L2::evict_first.b64 %policy, 1.0; fence.proxy.async;
    {copy}
COPIED:
    bar.sync 0; mov.u32 %tile, tile; mad.lo.u32 %at, %t, {WINDOW // 32}, %tile;
    {back}
    ret;
}}""",
        target=target,
        version="8.8",
    )


LOADED = """mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%full], %tx;
    cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes [%tile], [%map, {{{c}}}], [%full]{offsets};
TEST: mbarrier.try_wait.shared::cta.b64 %q, [%full], %state; @!%q bra TEST;"""
STORED = """cp{reduce}.async.bulk.tensor.{rank}d.global.shared::cta{op}.{mode}.bulk_group [%map, {{{c}}}], [%tile];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""


def text_of(what: str, m: TensorMap) -> str:
    """The instructions of a load, a store or a reduction."""
    c = ", ".join(f"%c{i}" for i in range(m.rank))
    offsets = f", {{{', '.join(f'%o{i}' for i in range(m.rank - 2))}}}" if m.mode == IM2COL else ""
    if what == "load":
        return program(LOADED.format(rank=m.rank, mode="tile" if m.mode == TILED else "im2col", c=c, offsets=offsets))
    reduce, op = ("", "") if what == "store" else (".reduce", f".{what}")
    return program(STORED.format(rank=m.rank, mode="tile" if m.mode == TILED else "im2col_no_offs", c=c, reduce=reduce, op=op))


@st.composite
def maps(draw: st.DrawFn, apart: bool = False, types: tuple[str, ...] = tuple(t.name for t in ELEMENT_TYPES)) -> TensorMap:
    """Any map that the encoder takes whose tile fits; `apart`: no two of its elements lie in one place."""
    kind = BY_NAME[draw(st.sampled_from(types))]
    mode = draw(st.sampled_from([TILED, TILED, IM2COL]))
    rank = draw(st.integers(1 if mode == TILED else 3, 5))
    interleave = draw(st.sampled_from([0, 0, 16, 32])) if mode == TILED and rank >= 3 else 0
    swizzle = draw(st.sampled_from([0, 32, 64, 128]))
    per_unit = 16 // kind.bytes
    size = interleave or kind.bytes
    row = per_unit * draw(st.integers(1, 8)) if not interleave else draw(st.integers(1, 6))
    dims = [draw(st.integers(1, 3 * row)), *[draw(st.integers(1, 5)) for _ in range(rank - 1)]]
    strides: list[int] = []
    least = -(-dims[0] * size // 32) * 32 + (32 if apart else 0)
    for dim in dims[1:]:
        strides.append(least if apart else draw(st.integers(0, 12)) * 32)
        least *= dim
    assume(least < ROOM - 2 * EDGE)
    steps = [draw(st.sampled_from([1, 1, 2, 3])) for _ in range(rank)]
    box = [row, *[draw(st.integers(1, 4)) for _ in range(rank - 1)]]
    corners = rank - 2 if mode == IM2COL else 0
    lower = tuple(draw(st.integers(0 if apart else -2, 2)) for _ in range(corners))
    upper = tuple(draw(st.integers(-2, 2)) for _ in range(corners))
    m = TensorMap(
        kind, EDGE + 32 * draw(st.integers(0, 3)), tuple(dims), tuple(strides), tuple(box) if mode == TILED else (), tuple(steps), mode, lower,
        upper, row if corners else 0, draw(st.integers(1, 20)) if corners else 0, interleave, swizzle, kind.is_float and draw(st.booleans()),
    )  # fmt: skip
    assume(not wrong(m))
    rows = m.pixels or int(np.prod(box[1:]))
    assume(rows * max(row * size, swizzle) <= WINDOW // 2)
    return m


def point(draw: st.DrawFn, m: TensorMap, least: int) -> tuple[Coordinates, Coordinates]:
    """Coordinates that the machine takes, some of them outside of the tensor, and offsets."""
    grain = 1 if m.interleave else 16 // m.type.bytes
    inner = [draw(st.integers(least, dim + 1)) for dim in m.dims[1:]]
    if m.mode == IM2COL:
        for i, (low, up) in enumerate(zip(m.lower, m.upper, strict=True)):
            inner[i] = draw(st.integers(low, m.dims[i + 1] - 1 + up))
            assume(least < 0 or inner[i] >= 0)
    offsets = tuple(draw(st.integers(0, 3)) for _ in m.lower)
    return (grain * draw(st.integers(-2 if least < 0 else 0, 3)), *inner), offsets if least < 0 else (0,) * len(offsets)


class Copies:
    """Some blocks, each of which copies a box of one of two maps; the machine's results beside those of the reference."""

    def __init__(self, what: str, m: TensorMap, other: TensorMap, points: list[tuple[Coordinates, Coordinates]], seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.machine = Machine(text_of(what, m), "sm_90a")
        tensor = self.machine.upload(rng.integers(0, 256, ROOM, np.uint8))
        self.tensor, start = tensor, tensor.start
        self.maps = [
            TensorMap(**{**{f: getattr(x, f) for f in x.__dataclass_fields__}, "address": x.address + start})  # type: ignore[arg-type]
            for x in (m, other)
        ]
        at = [self.machine.upload(np.array(encode(x), np.uint64)).start for x in self.maps]
        self.windows = rng.integers(0, 256, (BLOCKS, WINDOW), np.uint8)
        self.points, self.m = points, [m, other]
        self.places = [int(x) * 128 for x in rng.integers(0, WINDOW // 256, BLOCKS)]
        self.table = np.zeros((BLOCKS, 16), np.uint32)
        for i, ((c, offsets), place) in enumerate(zip(points, self.places, strict=True)):
            self.table[i, :2] = np.array([at[i % 2]], np.uint64).view(np.uint32)
            self.table[i, 2] = place
            self.table[i, 4 : 4 + len(c)] = np.array(c, np.int32).view(np.uint32)
            self.table[i, 9 : 9 + len(offsets)] = offsets

    def alike(self) -> None:
        """All blocks move the same: their order is open."""
        self.windows[:] = self.windows[0]
        self.places = self.places[:1] * BLOCKS
        self.table[:, 2] = self.places[0]

    def expected(self, copy: Callable[..., Any]) -> tuple[bytearray, list[dict[int, int]]]:
        """What the reference leaves in the tensor and in the windows; the table learns how many bytes an mbarrier hears of."""
        memory = bytearray(self.machine.download(self.tensor, np.uint8).tobytes())
        shared = [dict(enumerate(w.tolist())) for w in self.windows]
        for i, ((c, offsets), place) in enumerate(zip(self.points, self.places, strict=True)):
            self.table[i, 3] = copy(self.m[i % 2], c, offsets, memory, shared[i], place) or 0
        return memory, shared

    def check(self, copy: Callable[..., Any], **options: Any) -> None:
        """Both must agree."""
        memory, shared = self.expected(copy)
        windows = self.machine.upload(self.windows)
        self.machine.launch(BLOCKS, 32, [self.machine.upload(self.table), windows], **options)
        got = self.machine.download(windows, np.uint8).reshape(BLOCKS, WINDOW)
        assert [w.tolist() for w in got] == [[s[i] for i in range(WINDOW)] for s in shared]
        assert self.machine.download(self.tensor, np.uint8).tobytes() == bytes(memory)


def alike(m: TensorMap, nan: bool) -> TensorMap:
    """Another map with which the same instruction works, whose coordinates are the same."""
    return TensorMap(
        **{**{f: getattr(m, f) for f in m.__dataclass_fields__}, "nan_fill": nan and m.type.is_float, "address": m.address + 32}
    )


@settings(max_examples=40)
@given(st.data(), maps(), st.booleans(), st.sampled_from([None, 1, 2]))
def test_loads(data: st.DataObject, m: TensorMap, nan: bool, schedule: int | None) -> None:
    points = [data.draw(st.composite(point)(m, -3)) for _ in range(BLOCKS)]
    Copies("load", m, alike(m, nan), points, data.draw(st.integers(0, 9))).check(reference.load, schedule=schedule)


@settings(max_examples=40)
@given(st.data(), maps(apart=True), st.sampled_from([None, 1]))
def test_stores(data: st.DataObject, m: TensorMap, schedule: int | None) -> None:
    one = data.draw(st.composite(point)(m, 0))
    copies = Copies("store", m, m, [one] * BLOCKS, 1)
    copies.alike()
    copies.check(reference.store, schedule=schedule)


def signed(x: int, bits: int) -> int:
    return x - (x >> bits - 1 << bits)


CHANGES: dict[str, tuple[str, Callable[[int, int, int], int]]] = {
    "add": ("u32 s32 u64", lambda a, b, bits: a + b), "and": ("u32 s32 u64", lambda a, b, bits: a & b),
    "or": ("u32 s32 u64", lambda a, b, bits: a | b), "xor": ("u32 s32 u64", lambda a, b, bits: a ^ b),
    "inc": ("u32", lambda a, b, bits: 0 if a >= b else a + 1), "dec": ("u32", lambda a, b, bits: b if a == 0 or a > b else a - 1),
    "min": ("u32 u64", lambda a, b, bits: min(a, b)), "max": ("s32 s64", lambda a, b, bits: max(signed(a, bits), signed(b, bits))),
}  # fmt: skip


@settings(max_examples=30)
@given(st.data(), st.sampled_from(sorted(CHANGES)))
def test_reductions(data: st.DataObject, op: str) -> None:
    types, change = CHANGES[op]
    m = data.draw(maps(apart=True, types=tuple(types.split())))
    points = [data.draw(st.composite(point)(m, 0)) for _ in range(BLOCKS)]
    if op in ("inc", "dec"):
        points = points[:1] * BLOCKS
    copies = Copies(op, m, m, points, 3)
    if op in ("inc", "dec"):
        copies.alike()
    copies.check(lambda *given: reference.reduce(*given, change))


@settings(max_examples=30)
@given(st.data(), maps(), st.sampled_from(["load", "store"]))
def test_what_the_machine_refuses(data: st.DataObject, m: TensorMap, what: str) -> None:
    """Coordinates of any kind: both refuse them, or none does."""
    c = tuple(data.draw(st.integers(-9, 9)) for _ in m.dims)
    copies = Copies(what, m, m, [(c, (0,) * len(m.lower))] * BLOCKS, 4)
    try:
        copies.expected(reference.load if what == "load" else reference.store)
    except reference.Refused:
        with pytest.raises(Fault) as e:
            copies.machine.launch(BLOCKS, 32, [copies.machine.upload(copies.table), copies.machine.upload(copies.windows)])
        assert e.value.kind == "illegal-instruction" and "cp.async.bulk.tensor" in e.value.instruction
    else:
        copies.machine.launch(BLOCKS, 32, [copies.machine.upload(copies.table), copies.machine.upload(copies.windows)])


@settings(max_examples=40)
@given(
    st.data(), maps(), st.sampled_from(["load", "store", "add"]), st.lists(st.tuples(st.integers(0, 15), st.integers(0, 63)), max_size=4)
)
def test_any_words_give_a_result_or_a_fault(data: st.DataObject, m: TensorMap, what: str, flips: list[tuple[int, int]]) -> None:
    """Kernels may write any map."""
    copies = Copies(what, m, m, [((0,) * m.rank, (0,) * len(m.lower))] * BLOCKS, 5)
    copies.table[:, 3] = 16
    words = np.array(encode(copies.maps[0]), np.uint64)
    for word, bit in flips:
        words[word] ^= np.uint64(1) << np.uint64(bit)
    copies.table[:, :2] = np.array([copies.machine.upload(words).start], np.uint64).view(np.uint32)
    with contextlib.suppress(ExecutionError):
        copies.machine.launch(
            BLOCKS, 32, [copies.machine.upload(copies.table), copies.machine.upload(copies.windows)], max_steps=20000, max_seconds=20
        )


class Passes(Observer):
    """Counts passes over memory: one for each array that is loaded or stored."""

    def __init__(self) -> None:
        self.count = 0

    def access(self, access: Access) -> None:
        self.count += access.count


BULK_LOADED = """mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%full], %tx;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%map], %tx, [%full];
TEST: mbarrier.try_wait.shared::cta.b64 %q, [%full], %state; @!%q bra TEST;"""


def test_a_tile_costs_no_more_than_its_bytes_in_one_piece() -> None:
    side = 64
    m = TensorMap(BY_NAME["u16"], 0, (side, side), (2 * side,), (side, side), (1, 1), swizzle=128)
    copies = Copies("load", m, m, [((0, 0), ())] * BLOCKS, 6)
    copies.places = [0] * BLOCKS
    copies.table[:, 2] = 0
    copies.table[:, 3] = 2 * side * side
    counts: list[int] = []
    for text in (text_of("load", m), program(BULK_LOADED)):
        machine, passes = Machine(text, "sm_90a"), Passes()
        table, windows = copies.table.copy(), machine.upload(copies.windows)
        tensor = machine.upload(np.zeros(ROOM, np.uint8))
        words = np.array(encode(dataclasses.replace(m, address=tensor.start)), np.uint64)
        source = machine.upload(words) if not counts else tensor
        table[:, :2] = np.array([source.start], np.uint64).view(np.uint32)
        arguments = [machine.upload(table), windows]
        machine.launch(BLOCKS, 32, arguments, observers=(passes,))
        counts.append(passes.count)
    assert counts[0] <= 1.5 * counts[1], counts
