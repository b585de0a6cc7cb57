"""Asynchronous copies (PTX ISA 9.7.10.12-13, 9.7.10.25): cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, st.bulk.

Every copy is done when it is issued, which the memory model allows: groups are complete as soon as they are committed, and an
mbarrier hears of its bytes at once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ..facts import Constant, Demand, facts, when
from ..notation import Need, instruction
from ..ports import Addresses, Array, Lanes, Mask
from ..spaces import cluster_address
from ..types import TYPES
from .atomic import CHANGES, GLOBAL_ADD
from .mbarrier import arrive_on, complete_tx

F = TypeVar("F", bound=Callable[..., object])

SHARED = "shared shared::cta"
UNIT = 16  # bytes that a bulk copy moves at a time; its sizes and addresses are multiples of it


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


def _store(lanes: Lanes, space: str, a: Addresses, type: str, values: Sequence[Array], wanted: Mask | None) -> None:
    """As lanes.store, for lanes in wanted."""
    if wanted is None:
        lanes.store(space, a, type, values)
    elif _among(lanes, wanted).any():
        with lanes.only(wanted):
            lanes.store(space, a, type, values)


def _reduce(lanes: Lanes, space: str, a: Addresses, op: str, type: str, b: Array, wanted: Mask | None) -> None:
    """What lies at a becomes itself op b, for lanes in wanted."""
    change, shortcut = CHANGES[op, type]
    if type == "f64":
        change, shortcut = GLOBAL_ADD[type]  # the L2's adder, though f32 is not flushed
    if wanted is None:
        lanes.update(space, a, type, change, (b,), shortcut=shortcut, returns=False)
    elif _among(lanes, wanted).any():
        with lanes.only(wanted):
            lanes.update(space, a, type, change, (b,), shortcut=shortcut, returns=False)


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


_SIZE = "{value} bytes are no multiple of 16"
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
    lanes: Lanes,
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
@instruction("cp.async.wait_all", ptx=7.0, sm=80, section="9.7.10.25.3.3")
@instruction("cp.async.bulk.commit_group", ptx=8.0, sm=90, section="9.7.10.25.6.1")
def commit(lanes: Lanes) -> None:
    """Closes a group of copies, or waits for all: each copy was complete when it was issued."""


@instruction("cp.async.wait_group  #n", ptx=7.0, sm=80, section="9.7.10.25.3.3")
@instruction("cp.async.bulk.wait_group{.read}  #n", ptx=8.0, sm=90, section="9.7.10.25.6.2")
def wait_group(lanes: Lanes, n: int, *, read: bool = False) -> None:
    """Waits until at most n groups of the thread are under way: none ever is."""


@instruction("cp.async.mbarrier.arrive{.noinc}{.ss}.b64  [a]", ss=SHARED, ptx=7.0, sm=80, needs={"shared::cta": Need(7.8, 80)},
             section="9.7.15.15.15")  # fmt: skip
def mbarrier_arrive(lanes: Lanes, a: Addresses, *, noinc: bool = False, ss: str = "generic") -> None:
    """An arrival at the mbarrier a when the thread's copies are complete, as they are; without .noinc it is an extra one."""
    arrive_on(lanes, ss, a, 1 if noinc else 0)


def _steps(lanes: Lanes, size: Array, step: int) -> Iterator[tuple[np.uint64, Mask | None]]:
    """Offsets 0, step, 2 step, ... below the largest size; with each the lanes whose size lies above it, None for all."""
    live = size if lanes.active is None else np.where(lanes.active, size, size.dtype.type(0))
    for offset in range(0, int(live.max(initial=0)), step):
        yield np.uint64(offset), _narrowed(lanes, size > offset)


BULK, REDUCE = "9.7.10.25.4.1", "9.7.10.25.4.2"
_TX = "mbarrier::complete_tx::bytes"


def _move(lanes: Lanes, to: str, a: Addresses, source: str, b: Addresses, size: Array, within: Mask | None = None) -> None:
    """The size bytes at a = those at b, for lanes in within."""
    for offset, wanted in _steps(lanes, size, UNIT):
        if within is not None:
            wanted = within if wanted is None else wanted & within
        _store(lanes, to, a + offset, "b64", _load(lanes, source, b + offset, "b64", 2, wanted), wanted)


@instruction(f"cp.async.bulk.ss.global.{_TX}  [a], [b], c:u32, [d]", ss="shared::cluster shared::cta", ptx=8.0, sm=90,
             needs={"shared::cta": Need(8.6, 90)}, section=BULK)  # fmt: skip
@instruction(f"cp.async.bulk.ss.global.{_TX}.L2::cache_hint  [a], [b], c:u32, [d], e:b64", ss="shared::cluster shared::cta", ptx=8.0,
             sm=90, needs={"shared::cta": Need(8.6, 90)}, section=BULK)  # fmt: skip
def bulk_to_shared(lanes: Lanes, a: Addresses, b: Addresses, c: Array, d: Addresses, e: Array | None = None, *, ss: str) -> None:
    """The c bytes at a in shared memory = those at b in global memory; the mbarrier d counts them."""
    _move(lanes, ss, a, "global", b, c)
    complete_tx(lanes, ss, d, c)


@instruction(f"cp.async.bulk.shared::cluster.global.{_TX}.multicast::cluster  [a], [b], c:u32, [d], e:u16", ptx=8.0, sm=90, section=BULK)
@instruction(f"cp.async.bulk.shared::cluster.global.{_TX}.multicast::cluster.L2::cache_hint  [a], [b], c:u32, [d], e:u16, f:b64",
             ptx=8.0, sm=90, section=BULK)  # fmt: skip
def bulk_multicast(lanes: Lanes, a: Addresses, b: Addresses, c: Array, d: Addresses, e: Array, f: Array | None = None) -> None:
    """As without .multicast, to the same place in each CTA of the cluster whose bit is set in e, and to its mbarrier."""
    for rank in range(16):
        chosen = (e >> np.uint16(rank) & np.uint16(1)).astype(np.bool_)
        if _among(lanes, chosen).any():
            where = np.full((1, 1), rank, np.uint32)
            _move(lanes, "shared::cluster", cluster_address(a, where), "global", b, c, _narrowed(lanes, chosen))
            # A lane that does not choose this CTA takes nothing off its own mbarrier.
            barrier = np.where(chosen, cluster_address(d, where), d)
            complete_tx(lanes, "shared::cluster", barrier, np.where(chosen, c, np.uint32(0)))


@instruction(f"cp.async.bulk.shared::cluster.shared::cta.{_TX}  [a], [b], c:u32, [d]", ptx=8.0, sm=90, section=BULK)
def bulk_between_ctas(lanes: Lanes, a: Addresses, b: Addresses, c: Array, d: Addresses) -> None:
    """The c bytes at a in a CTA of the cluster = those at b in the own CTA; the mbarrier d, beside a, counts them."""
    _move(lanes, "shared::cluster", a, "shared::cta", b, c)
    complete_tx(lanes, "shared::cluster", d, c)


@instruction("cp.async.bulk.global.shared::cta.bulk_group  [a], [b], c:u32", ptx=8.0, sm=90, section=BULK)
@instruction("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint  [a], [b], c:u32, d:b64", ptx=8.0, sm=90, section=BULK)
def bulk_to_global(lanes: Lanes, a: Addresses, b: Addresses, c: Array, d: Array | None = None) -> None:
    """The c bytes at a in global memory = those at b in shared memory."""
    _move(lanes, "global", a, "shared::cta", b, c)


@instruction("cp.async.bulk.global.shared::cta.bulk_group.cp_mask  [a], [b], c:u32, e:u16", ptx=8.6, sm=100, section=BULK)
@instruction("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask  [a], [b], c:u32, d:b64, e:u16", ptx=8.6, sm=100,
             section=BULK)  # fmt: skip
def bulk_masked(lanes: Lanes, a: Addresses, b: Addresses, c: Array, d: Array, e: Array | None = None) -> None:
    """As without .cp_mask, but of each 16 bytes only those whose bit is set in the mask, the last operand."""
    mask = d if e is None else e
    for place in range(UNIT):
        chosen = (mask >> np.uint16(place) & np.uint16(1)).astype(np.bool_)
        if not _among(lanes, chosen).any():
            continue
        for offset, wanted in _steps(lanes, c, UNIT):
            at = offset + np.uint64(place)
            both = _narrowed(lanes, chosen if wanted is None else chosen & wanted)
            _store(lanes, "global", a + at, "b8", _load(lanes, "shared::cta", b + at, "b8", 1, both), both)


def _combine(lanes: Lanes, to: str, a: Addresses, b: Addresses, size: Array, op: str, type: str) -> None:
    """Element by element, the size bytes at a become themselves op those at b."""
    for offset, wanted in _steps(lanes, size, TYPES[type].bytes):
        (element,) = _load(lanes, "shared::cta", b + offset, type, 1, wanted)
        _reduce(lanes, to, a + offset, op, type, element, wanted)


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
def reduce_in_shared(lanes: Lanes, a: Addresses, b: Addresses, c: Array, d: Addresses, *, op: str, type: str) -> None:
    """Each element of the c bytes at a in a CTA of the cluster becomes itself op that at b; the mbarrier d counts the bytes."""
    _combine(lanes, "shared::cluster", a, b, c, op, type)
    complete_tx(lanes, "shared::cluster", d, c)


@_reduce_rows("global.shared::cta.bulk_group", "[a], [b], c:u32", _IN_GLOBAL)
@_reduce_rows("global.shared::cta.bulk_group.L2::cache_hint", "[a], [b], c:u32, d:b64", _IN_GLOBAL)
def reduce_in_global(lanes: Lanes, a: Addresses, b: Addresses, c: Array, d: Array | None = None, *, op: str, type: str) -> None:
    """Each element of the c bytes at a in global memory becomes itself op that at b in shared memory."""
    _combine(lanes, "global", a, b, c, op, type)


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
    lanes: Lanes, a: Addresses, b: Sequence[Array], c: Addresses, *, type: str, ss: str = "generic", vec: str = "v1", weak: bool = False
) -> None:
    """The elements at a in a CTA of the cluster = b; the mbarrier c, beside a, counts their bytes."""
    lanes.store(ss, a, type, b)
    complete_tx(lanes, ss, c, len(b) * TYPES[type].bytes)


@instruction("st.async{.mmio}.release.scope{.global}.type  [a], b", scope="gpu sys",
             type="b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64", ptx=8.7, sm=100, section=ST_ASYNC)  # fmt: skip
def st_async_global(lanes: Lanes, a: Addresses, b: Array, *, type: str, scope: str, mmio: bool = False, global_: bool = False) -> None:
    """What lies at a in global memory = b, seen after all that the thread wrote before."""
    lanes.store("global", a, type, (b,))


@instruction("st.bulk{.weak}{.ss}  [a], b:u64, #n", ss="shared::cta", ptx=8.6, sm=100, section="9.7.10.13")
def st_bulk(lanes: Lanes, a: Addresses, b: Array, n: int, *, ss: str = "generic", weak: bool = False) -> None:
    """The b bytes at a in shared memory = n, which is 0."""
    value = np.full((1, 1), n, np.uint64)
    for offset, wanted in _steps(lanes, b, 8):
        _store(lanes, ss, a + offset, "b64", (value,), wanted)
