"""Asynchronous copies (PTX ISA 9.7.10.12-13, 9.7.10.25): cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, st.bulk.

A copy completes when it is issued.  If the launch has a schedule of its own (CopyingLanes.later), it may complete as late as the memory model
allows: at the wait for its group, or for the mbarrier that counts its bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..facts import Constant, Demand, Need, facts, when
from ..notation import instruction
from ..ports import Addresses, Array, CopyingLanes, Lanes, Mask, Rows
from ..spaces import cluster_address
from ..types import TYPES
from .atomic import CHANGES, GLOBAL_ADD
from .mbarrier import arrive_on, complete_tx, expect_arrival

F = TypeVar("F", bound=Callable[..., object])

SHARED = "shared shared::cta"
ASYNC, BULK_GROUP = "async", "bulk"  # the groups of copies that a thread waits for
UNIT = 16  # bytes: sizes and addresses of bulk copies are multiples of it
PIECES = 1 << 18  # of all lanes, that one array operation moves


def _among(lanes: Lanes, wanted: Mask) -> Mask:
    """The lanes of wanted that execute."""
    among: Mask = wanted if lanes.active is None else wanted & lanes.active
    return among


def _narrowed(lanes: Lanes, wanted: Mask) -> Mask | None:
    """None where all executing lanes are wanted, so that nothing need be masked."""
    return None if (wanted if lanes.active is None else wanted | ~lanes.active).all() else wanted


def _load(lanes: Lanes, space: str, a: Addresses, type: str, count: int, wanted: Mask | None) -> list[Array]:
    """As lanes.load, zeros for lanes outside wanted, whose addresses are not touched."""
    if wanted is None:
        return list(lanes.load(space, a, type, count))
    if not _among(lanes, wanted).any():
        return [np.zeros((1, 1), TYPES[type].dtype)] * count
    with lanes.only(wanted):
        return list(lanes.load(space, a, type, count))


COPY = "9.7.10.25.3.1"
PREFETCH = "L2::64B L2::128B L2::256B"
COPY_NEEDS = {"L2::cache_hint": Need(7.4, 80), **dict.fromkeys(PREFETCH.split(), Need(7.4, 80))}
_ELEMENTS = {4: ("b32", 1), 8: ("b64", 1), 16: ("b64", 2)}


def _copy_rows(operands: str, *, ptx: float) -> Callable[[F], F]:
    """Decorates with the rows of cp.async: through L1 or not, without and with a cache policy."""

    def register(meaning: F) -> F:
        for hint, policy in ((".L2::cache_hint", ", d:b64"), ("", "")):
            row = f"cp.async.cop.ss.global{hint}{{.prefetch}}  [a], [b], #n{operands}{policy}"
            sets: dict[str, Any] = {"cop": "ca cg", "ss": SHARED, "prefetch": PREFETCH}
            instruction(row, ptx=ptx, sm=80, needs=COPY_NEEDS, section=COPY, **sets)(meaning)
        return meaning

    return register


_SIZE = "{value} bytes are not a multiple of 16"
facts(
    "cp",
    copies=True,
    moves_memory=True,
    acquires=(when(also="bulk wait_group", without="read"),),
    spaces_in_order=True,
    memory_only=when(also="mbarrier", without=SHARED),
    word_addresses=when(also="mbarrier", without=SHARED),
    leading="async bulk reduce prefetch tensor wait_group wait_all commit_group mbarrier arrive",
    ordered="global shared shared::cta shared::cluster",
    demands=(Demand(Need(7.5, 80), "the predicate ignore-src", kind="predicate"),),
    constants=(
        Constant("n", (16,), when("cg", without="bulk")),
        Constant("n", (4, 8, 16), when("ca", without="bulk")),
        Constant("c", range(17), when("ca cg", without="bulk"), most="n"),
        Constant("b", None, when("prefetch", also="bulk", without="tensor"), _SIZE, multiple=UNIT),
        Constant("c", None, when("bulk", without="tensor prefetch"), _SIZE, multiple=UNIT),
    ),
)


@_copy_rows(", {!}c", ptx=7.5)
@_copy_rows("{, c:u32}", ptx=7.0)
def cp_async(
    lanes: CopyingLanes,
    a: Addresses,
    b: Addresses,
    n: int,
    c: Array | None = None,
    d: Array | None = None,
    *,
    cop: str,
    ss: str,
    prefetch: str = "",
) -> None:
    """The n bytes at a in shared memory = the first c bytes at b in global memory (all without c), then zeros.

    If c is a predicate, it says that nothing is copied and all are zeros.
    """
    lanes.later(lambda lanes: _copy(lanes, ss, a, b, n, c), group=ASYNC)


def _copy(lanes: Lanes, ss: str, a: Addresses, b: Addresses, n: int, c: Array | None) -> None:
    type, count = _ELEMENTS[n]
    if c is None:
        lanes.store(ss, a, type, lanes.load("global", b, type, count))
        return
    whole = ~c if c.dtype == np.bool_ else c >= np.uint32(n)
    if c.dtype == np.bool_ or not _among(lanes, (c != 0) & ~whole).any():
        lanes.store(ss, a, type, _load(lanes, "global", b, type, count, _narrowed(lanes, whole)))
        return
    for place in range(n):
        step = np.uint64(place)
        lanes.store(ss, a + step, "b8", _load(lanes, "global", b + step, "b8", 1, _narrowed(lanes, c > np.uint32(place))))


@instruction("cp.async.commit_group", ptx=7.0, sm=80, section="9.7.10.25.3.2")
def commit(lanes: CopyingLanes) -> None:
    """Closes a group of copies."""
    lanes.close_group(ASYNC)


@instruction("cp.async.bulk.commit_group", ptx=8.0, sm=90, section="9.7.10.25.6.1")
def commit_bulk(lanes: CopyingLanes) -> None:
    """Closes a group of bulk copies."""
    lanes.close_group(BULK_GROUP)


@instruction("cp.async.wait_all", ptx=7.0, sm=80, section="9.7.10.25.3.3")
def wait_all(lanes: CopyingLanes) -> None:
    """Waits until no copy of the thread is under way."""
    lanes.wait_groups(ASYNC, -1)


@instruction("cp.async.wait_group  #n", ptx=7.0, sm=80, section="9.7.10.25.3.3")
def wait_group(lanes: CopyingLanes, n: int) -> None:
    """Waits until at most n groups of the thread are under way."""
    lanes.wait_groups(ASYNC, n)


@instruction("cp.async.bulk.wait_group{.read}  #n", ptx=8.0, sm=90, section="9.7.10.25.6.2")
def wait_bulk_group(lanes: CopyingLanes, n: int, *, read: bool = False) -> None:
    """Waits until at most n groups of bulk copies of the thread are under way; with .read until they have read what they copy."""
    lanes.wait_groups(BULK_GROUP, n, read=read)


@instruction("cp.async.mbarrier.arrive{.noinc}{.ss}.b64  [a]", ss=SHARED, ptx=7.0, sm=80, needs={"shared::cta": Need(7.8, 80)},
             section="9.7.15.15.15")  # fmt: skip
def mbarrier_arrive(lanes: CopyingLanes, a: Addresses, *, noinc: bool = False, ss: str = "generic") -> None:
    """An arrival at the mbarrier a when the thread's copies are complete; without .noinc the phase waits for one more until then."""
    if not noinc:
        expect_arrival(lanes, ss, a)
    lanes.later(lambda lanes: arrive_on(lanes, ss, a, 1), barrier=(ss, a), after=ASYNC)


BULK, REDUCE = "9.7.10.25.4.1", "9.7.10.25.4.2"
_TX = "mbarrier::complete_tx::bytes"


def _pieces(lanes: CopyingLanes, size: Array, piece: int) -> Iterator[tuple[Rows, Array, Mask | None]]:
    """Each lane's `size` bytes as rows with one column per piece, the offsets of the pieces, and the mask of the lanes that have them (None: all).

    Yields at most PIECES pieces at a time: a wrong size can be very large.
    """
    every = lanes.rows()
    if not every.count:
        return
    sizes = every.take(size).astype(np.uint64)
    columns, most = -(-int(sizes.max()) // piece), max(PIECES // every.count, 1)
    for first in range(0, columns, most):
        offsets = np.arange(first, min(first + most, columns), dtype=np.uint64)[None] * np.uint64(piece)
        wanted = sizes > offsets
        yield every.among(None, offsets.shape[1]), offsets, None if wanted.all() else wanted


def _move(lanes: CopyingLanes, to: str, a: Addresses, source: str, b: Addresses, size: Array) -> None:
    """The size bytes at a = those at b."""
    for rows, at, wanted in _pieces(lanes, size, UNIT):
        with only(rows, wanted):
            rows.store(to, rows.take(a) + at, "b64", rows.load(source, rows.take(b) + at, "b64", 2))


Read = list[tuple[Rows, Array, Mask | None, Sequence[Array]]]  # as _pieces yields them, with their contents


def _read(lanes: CopyingLanes, b: Addresses, size: Array, type: str, count: int = 1, chosen: Mask | None = None) -> Read:
    """The size bytes at b in shared memory, in pieces of `count` elements; bit i of `chosen` selects byte i of each 16."""
    found: Read = []
    for rows, at, wanted in _pieces(lanes, size, count * TYPES[type].bytes):
        if chosen is not None:
            bits = (rows.take(chosen) >> (at % np.uint64(UNIT)).astype(np.uint16) & np.uint16(1)).astype(np.bool_)
            wanted = bits if wanted is None else bits & wanted
        with only(rows, wanted):
            found.append((rows, at, wanted, rows.load("shared::cta", rows.take(b) + at, type, count)))
    return found


def _out(pieces: Read, a: Addresses, type: str = "b64") -> Callable[[], None]:
    """Writes what was read to a in global memory."""

    def write() -> None:
        for rows, at, wanted, values in pieces:
            with only(rows, wanted):
                rows.store("global", rows.take(a) + at, type, values)

    return write


@instruction(f"cp.async.bulk.ss.global.{_TX}  [a], [b], c:u32, [d]", ss="shared::cluster shared::cta", ptx=8.0, sm=90,
             needs={"shared::cta": Need(8.6, 90)}, section=BULK)  # fmt: skip
@instruction(f"cp.async.bulk.ss.global.{_TX}.L2::cache_hint  [a], [b], c:u32, [d], e:b64", ss="shared::cluster shared::cta", ptx=8.0,
             sm=90, needs={"shared::cta": Need(8.6, 90)}, section=BULK)  # fmt: skip
def bulk_to_shared(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Addresses, e: Array | None = None, *, ss: str) -> None:
    """The c bytes at a in shared memory = those at b in global memory; the mbarrier d counts them."""

    def copy(lanes: CopyingLanes) -> None:
        _move(lanes, ss, a, "global", b, c)
        complete_tx(lanes, ss, d, c)

    lanes.later(copy, barrier=(ss, d))


@instruction(f"cp.async.bulk.shared::cluster.global.{_TX}.multicast::cluster  [a], [b], c:u32, [d], e:u16", ptx=8.0, sm=90, section=BULK)
@instruction(f"cp.async.bulk.shared::cluster.global.{_TX}.multicast::cluster.L2::cache_hint  [a], [b], c:u32, [d], e:u16, f:b64",
             ptx=8.0, sm=90, section=BULK)  # fmt: skip
def bulk_multicast(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Addresses, e: Array, f: Array | None = None) -> None:
    """As without .multicast, to the same place in each CTA of the cluster whose bit is set in e, and to its mbarrier."""
    for rank, chosen in ranks(lanes, e):
        to, barrier = in_cta(a, rank), in_cta(d, rank)
        with only(lanes, chosen):
            lanes.later(lambda lanes, to=to, d=barrier: _to_cluster(lanes, to, b, c, d), barrier=("shared::cluster", barrier))  # type: ignore[misc]


def _to_cluster(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Addresses) -> None:
    _move(lanes, "shared::cluster", a, "global", b, c)
    complete_tx(lanes, "shared::cluster", d, c)


def only(lanes: Lanes, wanted: Mask | None) -> AbstractContextManager[None]:
    """What is done within concerns these lanes alone; None: all that execute."""
    return nullcontext() if wanted is None else lanes.only(wanted)


def ranks(lanes: Lanes, mask: Array) -> Iterator[tuple[int, Mask | None]]:
    """The CTAs of a cluster that a mask of 16 bits names, and the lanes that do so, None for all."""
    for rank in range(16):
        chosen = (mask >> np.uint16(rank) & np.uint16(1)).astype(np.bool_)
        if _among(lanes, chosen).any():
            yield rank, _narrowed(lanes, chosen)


def in_cta(a: Addresses, rank: int) -> Addresses:
    """The same place in the CTA of a rank."""
    return cluster_address(a, np.full((1, 1), rank, np.uint32))


@instruction(f"cp.async.bulk.shared::cluster.shared::cta.{_TX}  [a], [b], c:u32, [d]", ptx=8.0, sm=90, section=BULK)
def bulk_between_ctas(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Addresses) -> None:
    """The c bytes at a in a CTA of the cluster = those at b in the own CTA; the mbarrier d, beside a, counts them."""

    def copy(lanes: CopyingLanes) -> None:
        _move(lanes, "shared::cluster", a, "shared::cta", b, c)
        complete_tx(lanes, "shared::cluster", d, c)

    lanes.later(copy, barrier=("shared::cluster", d))


@instruction("cp.async.bulk.global.shared::cta.bulk_group  [a], [b], c:u32", ptx=8.0, sm=90, section=BULK)
@instruction("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint  [a], [b], c:u32, d:b64", ptx=8.0, sm=90, section=BULK)
def bulk_to_global(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Array | None = None) -> None:
    """The c bytes at a in global memory = those at b in shared memory."""

    lanes.later(lambda lanes: _out(_read(lanes, b, c, "b64", 2), a), group=BULK_GROUP)


@instruction("cp.async.bulk.global.shared::cta.bulk_group.cp_mask  [a], [b], c:u32, e:u16", ptx=8.6, sm=100, section=BULK)
@instruction("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask  [a], [b], c:u32, d:b64, e:u16", ptx=8.6, sm=100,
             section=BULK)  # fmt: skip
def bulk_masked(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Array, e: Array | None = None) -> None:
    """As without .cp_mask, but of each 16 bytes only those whose bit is set in the mask, the last operand."""
    lanes.later(lambda lanes: _out(_read(lanes, b, c, "b8", chosen=d if e is None else e), a, "b8"), group=BULK_GROUP)


def _combine(pieces: Read, to: str, a: Addresses, op: str, type: str) -> None:
    """Element by element: the value at a is replaced by (value op what was read)."""
    change, shortcut = GLOBAL_ADD[type] if type == "f64" else CHANGES[op, type]  # the L2's adder, though f32 is not flushed
    for rows, at, wanted, (element,) in pieces:
        with only(rows, wanted):
            rows.update(to, rows.take(a) + at, type, change, (element,), shortcut=shortcut, returns=False)


def _reduce_rows(head: str, operands: str, operations: tuple[tuple[str, str, str], ...]) -> Callable[[F], F]:
    """Decorates with a row of cp.reduce.async.bulk for each set of operations, word between, and types."""

    def register(meaning: F) -> F:
        for op, between, type in operations:
            row = f"cp.reduce.async.bulk.{head}.op{between}.type  {operands}"
            instruction(row, op=op, type=type, ptx=8.0, sm=90, needs=None, section=REDUCE)(meaning)
        return meaning

    return register


_IN_SHARED = (("add", "", "u32 s32 u64"), ("inc dec", "", "u32"), ("min max", "", "u32 s32"), ("and or xor", "", "b32"))
_IN_GLOBAL = (
    ("add", "", "u32 s32 u64 f32 f64"),
    ("add", ".noftz", "f16 bf16"),
    ("inc dec", "", "u32"),
    ("min max", "", "u32 s32 u64 s64 f16 bf16"),
    ("and or xor", "", "b32 b64"),
)


@_reduce_rows(f"shared::cluster.shared::cta.{_TX}", "[a], [b], c:u32, [d]", _IN_SHARED)
def reduce_in_shared(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Addresses, *, op: str, type: str) -> None:
    """Each element of the c bytes at a in a CTA of the cluster is replaced by (element op the one at b); the mbarrier d counts the bytes."""

    def combine(lanes: CopyingLanes) -> None:
        _combine(_read(lanes, b, c, type), "shared::cluster", a, op, type)
        complete_tx(lanes, "shared::cluster", d, c)

    lanes.later(combine, barrier=("shared::cluster", d))


@_reduce_rows("global.shared::cta.bulk_group", "[a], [b], c:u32", _IN_GLOBAL)
@_reduce_rows("global.shared::cta.bulk_group.L2::cache_hint", "[a], [b], c:u32, d:b64", _IN_GLOBAL)
def reduce_in_global(lanes: CopyingLanes, a: Addresses, b: Addresses, c: Array, d: Array | None = None, *, op: str, type: str) -> None:
    """Each element of the c bytes at a in global memory is replaced by (element op the one at b in shared memory)."""
    lanes.later(lambda lanes: partial(_combine, _read(lanes, b, c, type), "global", a, op, type), group=BULK_GROUP)


@instruction("cp.async.bulk.prefetch.L2.global  [a], b:u32", ptx=8.0, sm=90, section="9.7.10.25.4.3")
@instruction("cp.async.bulk.prefetch.L2.global.L2::cache_hint  [a], b:u32, c:b64", ptx=8.0, sm=90, section="9.7.10.25.4.3")
def bulk_prefetch(lanes: Lanes, a: Addresses, b: Array, c: Array | None = None) -> None:
    """Brings the b bytes at a into L2; no value depends on it."""


facts("st", leading="async bulk")
ST_ASYNC = "9.7.10.12"


@instruction(f"st.async{{.weak}}{{.ss}}.{_TX}{{.vec}}.type  [a], b.vec, [c]", ss="shared::cluster shared::cta", vec="v2 v4",
             type="b32 u32 s32 f32", ptx=8.1, sm=90, section=ST_ASYNC)  # fmt: skip
@instruction(f"st.async{{.weak}}{{.ss}}.{_TX}{{.vec}}.type  [a], b.vec, [c]", ss="shared::cluster shared::cta", vec="v2",
             type="b64 u64 s64 f64", ptx=8.1, sm=90, section=ST_ASYNC)  # fmt: skip
def st_async(
    lanes: CopyingLanes,
    a: Addresses,
    b: Sequence[Array],
    c: Addresses,
    *,
    type: str,
    ss: str = "generic",
    vec: str = "v1",
    weak: bool = False,
) -> None:
    """The elements at a in a CTA of the cluster = b; the mbarrier c, beside a, counts their bytes."""

    def store(lanes: Lanes) -> None:
        lanes.store(ss, a, type, b)
        complete_tx(lanes, ss, c, len(b) * TYPES[type].bytes)

    lanes.later(store, barrier=(ss, c))


@instruction("st.async{.mmio}.release.scope{.global}.type  [a], b", scope="gpu sys",
             type="b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", ptx=8.7, sm=100, section=ST_ASYNC)  # fmt: skip
def st_async_global(lanes: Lanes, a: Addresses, b: Array, *, type: str, scope: str, mmio: bool = False, global_: bool = False) -> None:
    """What lies at a in global memory = b, seen after all that the thread wrote before."""
    lanes.store("global", a, type, (b,))


@instruction("st.bulk{.weak}{.ss}  [a], b:u64, #n", ss="shared::cta", ptx=8.6, sm=100, section="9.7.10.13")
def st_bulk(lanes: CopyingLanes, a: Addresses, b: Array, n: int, *, ss: str = "generic", weak: bool = False) -> None:
    """The b bytes at a in shared memory = n, which is 0."""
    value = np.full((1, 1), n, np.uint64)
    for rows, at, wanted in _pieces(lanes, b, 8):
        with only(rows, wanted):
            rows.store(ss, rows.take(a) + at, "b64", (value,))
