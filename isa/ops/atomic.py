"""Atomic operations on memory: atom, red, red.async (PTX ISA 9.7.15.5-7).

A row's operation becomes a change on arrays, which the port applies lane after lane; CHANGES and change_of also serve
cp.reduce.async.bulk.  Scope and order change no value: every access is coherent here.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..atomic_scans import counted_down, counted_up, exchanged, flushed_sums, sums, sums_bf16
from ..facts import ALWAYS, Demand, Need, facts, when
from ..floats.binary32 import add32, canonical
from ..notation import instruction
from ..ports import Addresses, Array, CopyingLanes, Lanes, Mask, Shortcut
from ..spaces import SHARED_BASE
from ..types import TYPES
from .mbarrier import complete_tx

Change = Callable[..., Array]

QUIET = np.uint64(1 << 51)
INVALID = np.uint64(0xFFF8000000000000)
MAGNITUDE_64 = np.uint64((1 << 63) - 1)
INFINITY_64 = np.uint64(0x7FF0000000000000)


def _exch(old: Array, b: Array) -> Array:
    return b


def _cas(old: Array, b: Array, c: Array) -> Array:
    return np.where(old == b, c, old)


def _cas_b128(old: Array, b: Array, c: Array) -> Array:
    return np.where((old == b).all(axis=-1, keepdims=True), c, old)


def _inc(old: Array, b: Array) -> Array:
    return np.where(old >= b, np.uint32(0), old + np.uint32(1))


def _dec(old: Array, b: Array) -> Array:
    return np.where((old == 0) | (old > b), b, old - np.uint32(1))


def _add_float(old: Array, b: Array) -> Array:
    return canonical(old + b)


def _add_f32_ftz(old: Array, b: Array) -> Array:
    return add32(old, b, ftz=True)


def _is_nan_64(bits: NDArray[np.uint64]) -> Mask:
    return (bits & MAGNITUDE_64) > INFINITY_64


def _sum_f64(old: Array, b: Array) -> NDArray[np.uint64]:
    total = old + b
    return np.where(np.isnan(total), INVALID, total.view(np.uint64))


def _add_f64(old: Array, b: Array) -> Array:
    """Of two NaNs the memory's wins; a NaN becomes quiet."""
    x, y = old.view(np.uint64), b.view(np.uint64)
    return np.where(_is_nan_64(x), x | QUIET, np.where(_is_nan_64(y), y | QUIET, _sum_f64(old, b))).view(np.float64)


def _add_f64_global(old: Array, b: Array) -> Array:
    """Of two NaNs the operand wins; a NaN stays as it is."""
    x, y = old.view(np.uint64), b.view(np.uint64)
    return np.where(_is_nan_64(y), y, np.where(_is_nan_64(x), x, _sum_f64(old, b))).view(np.float64)


def _widened(bits: Array) -> Array:
    """bf16 bits as float32."""
    return np.left_shift(bits, 16, dtype=np.uint32).view(np.float32)


def _add_bf16(old: Array, b: Array) -> Array:
    total = _widened(old) + _widened(b)
    bits = total.view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(total), np.uint16(0x7FFF), rounded)


def _half_extreme(least: bool, infinity: int) -> Change:
    """min or max of f16 or bf16: a NaN loses, two give 0x7fff, -0 < +0."""

    def key(bits: Array) -> Array:
        signed = bits.view(np.int16)
        return np.where(signed < 0, signed ^ np.int16(0x7FFF), signed)

    def change(old: Array, b: Array) -> Array:
        x, y = old.view(np.uint16), b.view(np.uint16)
        x_nan, y_nan = (x & 0x7FFF) > infinity, (y & 0x7FFF) > infinity
        first = key(x) <= key(y) if least else key(x) >= key(y)
        best = np.where(y_nan | first & ~x_nan, x, y)
        return np.where(x_nan & y_nan, np.uint16(0x7FFF), best).view(old.dtype)

    return change


def _table() -> dict[tuple[str, str], tuple[Change, Shortcut | None]]:
    """(operation, type): the change, and the ufunc that equals it where one does, or a scan where most lanes change what they find."""
    table: dict[tuple[str, str], tuple[Change, Shortcut | None]] = {}
    arithmetic = {"add": np.add, "min": np.minimum, "max": np.maximum}
    bitwise = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    for ufuncs, types in ((arithmetic, ("u32", "s32", "u64", "s64")), (bitwise, ("b32", "b64"))):
        table |= {(op, type): (ufunc, ufunc) for op, ufunc in ufuncs.items() for type in types}
    for packed in ("", "x2"):
        table |= {("add", "f16" + packed): (_add_float, sums), ("add", "bf16" + packed): (_add_bf16, sums_bf16)}
        for op in ("min", "max"):
            table[op, "f16" + packed] = (_half_extreme(op == "min", 0x7C00), None)
            table[op, "bf16" + packed] = (_half_extreme(op == "min", 0x7F80), None)
    table |= {("inc", "u32"): (_inc, counted_up), ("dec", "u32"): (_dec, counted_down)}
    table |= {("add", "f32"): (_add_float, sums), ("add", "f64"): (_add_f64, sums)}
    table |= {("exch", type): (_exch, exchanged) for type in ("b32", "b64", "b128")}
    table |= {("cas", type): (_cas, None) for type in ("b16", "b32", "b64")}
    return table | {("cas", "b128"): (_cas_b128, None)}


CHANGES = _table()

# The L2's adders: they flush f32 subnormals and leave f64 NaNs as they are, unlike the loops that serve shared memory.
GLOBAL_ADD: dict[str, tuple[Change, Shortcut]] = {"f32": (_add_f32_ftz, flushed_sums), "f64": (_add_f64_global, sums)}


def _apply(lanes: Lanes, ss: str, a: Addresses, op: str, type: str, operands: Sequence[Array], *, returns: bool) -> Array:
    """One atomic operation on each active lane's address; gives the old values."""
    change, shortcut = CHANGES[op, type]
    if op == "add" and type in GLOBAL_ADD and not ss.startswith("shared"):
        in_global, in_order = GLOBAL_ADD[type]
        shared = lanes.space_of(a, "shared::cluster") if ss == "generic" else None
        if shared is None or not shared.any():
            return lanes.update(ss, a, type, in_global, operands, shortcut=in_order, returns=returns)
        in_shared = change

        def either(old: Array, b: Array, here: Mask) -> Array:
            return np.where(here, in_shared(old, b), in_global(old, b))

        return lanes.update(ss, a, type, either, (*operands, shared), shortcut=shortcut, returns=returns)
    if op == "add" and type in ("f16x2", "bf16x2") and ss in ("generic", "shared::cluster"):
        generic = a if ss == "generic" else a + np.uint64(SHARED_BASE)
        peer = lanes.space_of(generic, "shared::cluster") & ~lanes.space_of(generic, "shared")
        if peer.any():
            return _add_pairs_to_peers(lanes, ss, a, type, operands[0], peer)
    return lanes.update(ss, a, type, change, operands, shortcut=shortcut, returns=returns)


def _add_pairs_to_peers(lanes: Lanes, ss: str, a: Addresses, type: str, b: Array, peer: Mask) -> Array:
    """Adds pairs of halves where some lanes address another CTA's shared memory: the H200 adds those as 32-bit integers, as recorded."""
    change, dtype = CHANGES["add", type][0], TYPES[type].dtype

    def add(old: Array, b: Array, peer: Mask) -> Array:
        halves = (np.copy(x, "C")[..., None].view(dtype) for x in (old, b))
        return np.where(peer, old + b, np.copy(change(*halves), "C").view(np.uint32)[..., 0])

    old = lanes.update(ss, a, "u32", add, (np.copy(b, "C").view(np.uint32)[..., 0], peer))
    return old[..., None].view(dtype)


SPACES = "global shared shared::cta shared::cluster"
SCOPES = "cta cluster gpu sys"
ATOM_ORDER = "relaxed acquire release acq_rel"
RED_ORDER = "relaxed release"
_ORDERED = Need(6.0, 70)
NEEDS = {
    **dict.fromkeys(ATOM_ORDER.split(), _ORDERED), "cta": Need(5.0, 60), "gpu": Need(5.0, 60), "sys": Need(5.0, 60),
    "cluster": Need(7.8, 90), "shared": Need(1.2, 12), "shared::cta": Need(7.8, 12), "shared::cluster": Need(7.8, 90),
    "L2::cache_hint": Need(7.4, 80), "u64": Need(1.2, 12), "f32": Need(2.0, 20), "f64": Need(5.0, 60), "b128": Need(8.3, 90),
    "f16": Need(6.3, 70), "f16x2": Need(6.2, 60), "bf16": Need(7.8, 90), "bf16x2": Need(7.8, 90), "b16": Need(6.3, 70),
    "s64": Need(3.1, 32),
}  # fmt: skip
# 64-bit add, exch and cas came before the 64-bit forms of the other operations.
LATER = {**NEEDS, "u64": Need(3.1, 32), "b64": Need(3.1, 32)}
EXCHANGE = {**NEEDS, "b64": Need(1.2, 12)}

HALF = "f16 bf16 f16x2 bf16x2"

# What every atomic shares: the words after the state space, the sets of words, and what they need.
Operations = tuple[tuple[str, dict[str, Any], dict[str, Need]], ...]
OPERATIONS: Operations = (
    (".op.type", {"op": "add", "type": "u32 s32 u64 f32 f64"}, NEEDS),
    (".op.u32", {"op": "inc dec"}, NEEDS),
    (".op.type", {"op": "min max", "type": "u32 s32 u64 s64"}, LATER),
    (".op.type", {"op": "and or xor", "type": "b32 b64"}, LATER),
    (".op.noftz.type", {"op": "add", "type": "f16 bf16 f16x2 bf16x2"}, NEEDS),
)
EXCHANGES: Operations = ((".op.type", {"op": "exch", "type": "b32 b64 b128", "facts": {"takes_bits": "b"}}, EXCHANGE),)
VECTORS: Operations = (
    (".op.vec.type", {"op": "add", "vec": "v2 v4", "type": "f32"}, NEEDS),
    (".op.noftz.vec.type", {"op": "add min max", "vec": "v2 v4 v8", "type": "f16 bf16"}, NEEDS),
    (".op.noftz.vec.type", {"op": "add min max", "vec": "v2 v4", "type": "f16x2 bf16x2"}, NEEDS),
)

F = TypeVar("F", bound=Callable[..., object])


def _rows(head: str, operands: str, operations: Operations, section: str, *, order: str, ptx: float, sm: int) -> Callable[[F], F]:
    """Decorates with two rows for each operation, without and with a cache policy, which only global memory has."""

    def register(meaning: F) -> F:
        for tail, sets, needs in operations:
            words = {"sem": order, "scope": SCOPES, "ss": "global" if "vec" in sets else SPACES, **sets}
            plain, _, type = f"{head}{{.sem}}{{.scope}}{{.ss}}{tail}".rpartition(".")
            instruction(f"{plain}.{type}  {operands}", ptx=ptx, sm=sm, needs=needs, section=section, **words)(meaning)
            row = f"{plain}.L2::cache_hint.{type}  {operands}, c:b64"
            instruction(row, ptx=max(ptx, 7.4), sm=max(sm, 80), needs=needs, section=section, **words | {"ss": "global"})(meaning)
        return meaning

    return register


Bits128 = tuple[Array, Array]


def _together(value: Array | Sequence[Array]) -> Array:
    """A 128-bit operand as memory holds it, with one axis more for its halves."""
    return np.stack(np.broadcast_arrays(*value), axis=-1) if isinstance(value, tuple) else value  # type: ignore[return-value]


def _apart(old: Array, type: str) -> Array | Bits128:
    """What memory held as a result; 128 bits as halves."""
    return (old[..., 0], old[..., 1]) if type == "b128" else old


facts(
    "atom red",
    takes_any_space=True,
    is_indexed=True,
    has_wide_addresses=True,
    demands=(Demand(Need(sm=20), "a 64-bit {opcode} on shared memory", when("u64 b64", also="shared")),),
)
facts("atom", access="atomic", observes_changes=ALWAYS, discards=True, result_from_elsewhere=True)
facts("red", access="reduction")
facts("red", leading="async", memory_only=when("async"), word_addresses=when("async"), mbarrier="c")


def _elements(a: Addresses, b: Sequence[Array] | Array, type: str) -> Iterator[tuple[Addresses, Array]]:
    """Each element of a vector operand with its own address."""
    for place, element in enumerate(b):
        yield a + np.uint64(place * TYPES[type].bytes), element


@_rows("atom", "d, [a], b", OPERATIONS + EXCHANGES, "9.7.15.5", order=ATOM_ORDER, ptx=1.0, sm=11)
@_rows("atom", "d.vec, [a], b.vec", VECTORS, "9.7.15.5", order=ATOM_ORDER, ptx=8.1, sm=90)
def atom(
    lanes: Lanes,
    a: Addresses,
    b: Array | Bits128 | Sequence[Array],
    c: Array | None = None,
    *,
    op: str,
    type: str = "u32",
    vec: str = "",
    ss: str = "generic",
    sem: str = "",
    scope: str = "",
    returns: bool = True,  # False from an engine that knows that nobody reads d
) -> Array | tuple[Array, ...]:
    """Atomically: d = [a]; [a] = [a] op b; c is a cache policy; of a vector each element by itself.

    .exch puts b there; .inc counts up to b and starts again at 0, .dec counts down to 0 and starts again at b.
    """
    if vec:
        return tuple(_apply(lanes, ss, at, op, type, (element,), returns=returns) for at, element in _elements(a, b, type))
    return _apart(_apply(lanes, ss, a, op, type, (_together(b),), returns=returns), type)


@instruction(
    "atom{.sem}{.scope}{.ss}.cas.type  d, [a], b, c",
    sem=ATOM_ORDER,
    scope=SCOPES,
    ss=SPACES,
    type="b16 b32 b64 b128",
    sm=11,
    needs=EXCHANGE,
    section="9.7.15.5",
)
def cas(
    lanes: Lanes,
    a: Addresses,
    b: Array | Bits128,
    c: Array | Bits128,
    *,
    type: str,
    ss: str = "generic",
    sem: str = "",
    scope: str = "",
    returns: bool = True,
) -> Array | Bits128:
    """Atomically: d = [a]; [a] = c if [a] equals b."""
    return _apart(_apply(lanes, ss, a, "cas", type, (_together(b), _together(c)), returns=returns), type)


@_rows("red", "[a], b", OPERATIONS, "9.7.15.6", order=RED_ORDER, ptx=1.2, sm=11)
@_rows("red", "[a], b.vec", VECTORS, "9.7.15.6", order=RED_ORDER, ptx=8.1, sm=90)
def red(
    lanes: Lanes,
    a: Addresses,
    b: Array | Sequence[Array],
    c: Array | None = None,
    *,
    op: str,
    type: str = "u32",
    vec: str = "",
    ss: str = "generic",
    sem: str = "",
    scope: str = "",
) -> None:
    """The value at a is replaced by (value op b), as with atom; c is a cache policy."""
    for at, element in _elements(a, b, type) if vec else [(a, _together(b))]:
        _apply(lanes, ss, at, op, type, (element,), returns=False)


_GLOBAL = {"global": Need(8.7, 100), "mmio": Need(8.7, 100)}


def _async_rows(row: str, *, ptx: float, sm: int, needs: dict[str, Need] | None = None, **sets: Any) -> Callable[[F], F]:
    """Decorates with the operations that red.async knows."""

    def register(meaning: F) -> F:
        for op, type in (("add", "u32 s32 u64 s64"), ("inc dec", "u32"), ("min max", "u32 s32"), ("and or xor", "b32")):
            instruction(row, ptx=ptx, sm=sm, needs=needs, section="9.7.15.7", op=op, type=type, **sets)(meaning)
        return meaning

    return register


@_async_rows("red.async.relaxed.cluster{.ss}.mbarrier::complete_tx::bytes.op.type  [a], b, [c]", ptx=8.1, sm=90, ss="shared::cluster")
def red_async(lanes: CopyingLanes, a: Addresses, b: Array, c: Addresses, *, op: str, type: str, ss: str = "generic") -> None:
    """The value at a is replaced by (value op b), and the mbarrier at c counts its bytes as complete."""

    def update(lanes: Lanes) -> None:
        _apply(lanes, ss, a, op, type, (b,), returns=False)
        complete_tx(lanes, ss, c, TYPES[type].bytes)

    lanes.later(update, barrier=(ss, c))


@_async_rows("red.async{.mmio}.release.scope{.global}.op.type  [a], b", ptx=8.7, sm=90, needs=_GLOBAL, scope="gpu sys")
@_async_rows("red.async.relaxed.scope{.global}.op.type  [a], b", ptx=8.1, sm=90, needs=_GLOBAL, scope="gpu sys")
def red_async_global(
    lanes: Lanes, a: Addresses, b: Array, *, op: str, type: str, scope: str, mmio: bool = False, global_: bool = False
) -> None:
    """The value at a in global memory is replaced by (value op b), at once."""
    _apply(lanes, "global", a, op, type, (b,), returns=False)
