"""multimem: one address that stands for memory of several devices, read and combined or changed in all of them (PTX ISA 9.7.10.14).

The port says where each device's copy lies.  Copies are combined in the order in which the devices joined the multicast object; no
hardware was at hand to record in which order and precision a fabric's switches do it.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..facts import Need, facts, when
from ..floats import conversions as to
from ..floats import minifloats
from ..floats.binary32 import canonical
from ..notation import instruction
from ..ports import Addresses, Array, Lanes
from ..types import TYPES
from .atomic import CHANGES, GLOBAL_ADD

F = TypeVar("F", bound=Callable[..., Any])

MULTIMEM = "9.7.10.14"
FAMILY = Need(8.6, 100, "af")
_NEEDS = {**dict.fromkeys(("e4m3x2", "e4m3x4", "e5m2x2", "e5m2x4"), FAMILY), "acc::f32": Need(8.2, 90)}
_HALVES = ((".vec", "v2 v4 v8", "f16 bf16"), ("{.vec}", "v2 v4", "f16x2 bf16x2"))
_BYTES = ((".vec", "v2 v4 v8", "e4m3x2 e5m2x2"), ("{.vec}", "v2 v4", "e4m3x4 e5m2x4"))
_WHOLE = (("add", "u32 s32 u64 f64"), ("min max", "u32 s32 u64 s64"), ("and or xor", "b32 b64"))

facts(
    "multimem",
    leading="ld_reduce red st",
    has_wide_addresses=True,
    word_addresses=when("global"),
    observes_changes=when("ld_reduce", also="relaxed"),
    result_from_elsewhere=True,
)


def _row(name: str, order: str, words: str, operands: str, **sets: Any) -> Callable[[F], F]:
    """Decorates with a row without an order (.weak where a plain access has that word), and one with order and scope."""
    plain = "" if name == "red" else "{.weak}"
    ordered: dict[str, Any] = {"sem": order, "scope": "cta cluster gpu sys"}

    def register(meaning: F) -> F:
        for head, more in ((plain, {}), (".sem.scope", ordered)):
            row = f"multimem.{name}{head}{{.global}}{words}  {operands}"
            instruction(row, ptx=8.1, sm=90, needs=_NEEDS, section=MULTIMEM, **sets, **more)(meaning)
        return meaning

    return register


def _elements(values: Sequence[Array]) -> list[Array]:
    """The elements of registers, which may hold several."""
    return [x for v in values for x in ([v] if v.ndim < 3 else [v[..., i] for i in range(v.shape[2])])]


def _scalar(type: str) -> tuple[str, int]:
    """The type of an element, and how many of them a register of a packed type holds."""
    base, _, count = type.partition("x")
    return base, int(count or 1)


# ---------------------------------------------------------------- reading


def _combine(op: str, type: str, total: Array, x: Array) -> Array:
    """One more copy, in the precision of the type."""
    combined: Array = CHANGES[op, type][0](total, x)
    return combined


def _combine_bytes(op: str, type: str, total: Array, x: Array) -> Array:
    """The lesser or greater of two numbers of 8 bits."""
    a, b = (minifloats.decode(v, type).astype(np.float16) for v in (total, x))
    chosen = CHANGES[op, "f16"][0](a, b).view(np.uint16)
    return np.where(chosen == a.view(np.uint16), total, x)


def _widened(type: str, x: Array) -> Array:
    """Numbers in the precision in which they are added up: f32 for 16 bits, f16 for 8."""
    if type == "f16":
        return x.astype(np.float32)
    return to.bf16_to_float(x) if type == "bf16" else minifloats.decode(x, type).astype(np.float16)


def _narrowed(type: str, x: Array) -> Array:
    """A sum, rounded to the type."""
    if type == "f16":
        return to.float_to_half(x)
    return to.float_to_bf16(x) if type == "bf16" else minifloats.encode(x.astype(np.float32), type)


def _reduced(lanes: Lanes, a: Addresses, op: str, type: str, count: int, wide: bool) -> list[Array]:
    """`count` elements at each lane's multimem address, each combined over all devices."""
    kind = TYPES[type]
    totals: list[Array] = []
    for copy, here in lanes.replicas(a, kind.bytes * count):
        with lanes.only(here):
            found = list(lanes.load("global", copy, type, count))
        if wide:
            found = [_widened(type, x) for x in found]
        if not totals:
            totals = found
            continue
        for i, x in enumerate(found):
            if wide:
                total: Array = canonical(totals[i] + x)
            else:
                total = (_combine_bytes if kind.bits == 8 else _combine)(op, type, totals[i], x)
            totals[i] = np.where(here, total, totals[i])
    return [_narrowed(type, x) for x in totals] if wide else totals


def ld_reduce(
    lanes: Lanes, a: Addresses, *, op: str, type: str, weak: bool = False, global_: bool = False, sem: str = "", scope: str = ""
) -> Array:
    """d = what lies at the multimem address a in all devices, combined by op."""
    return _reduced(lanes, a, op, type, 1, False)[0]


for _op, _type in _WHOLE:
    _row("ld_reduce", "relaxed acquire", ".op.type", "d, [a]", op=_op, type=_type)(ld_reduce)


@_row("ld_reduce", "relaxed acquire", ".add{.vec}.f32", "d.vec, [a]", vec="v2 v4")
def ld_reduce_singles(
    lanes: Lanes, a: Addresses, *, vec: str = "v1", weak: bool = False, global_: bool = False, sem: str = "", scope: str = ""
) -> tuple[Array, ...]:
    """d = the elements at the multimem address a, added up over all devices."""
    return tuple(_reduced(lanes, a, "add", "f32", int(vec[1:]), False))


def _narrow_rows(words: str, acc: bool) -> Callable[[F], F]:
    """Decorates with the rows of numbers of 16 and 8 bits; sums may name their precision."""

    def register(meaning: F) -> F:
        for precision, vectors in (("f32", _HALVES), ("f16", _BYTES)):
            sets = {} if acc else {"op": "min max"}
            for vec, lengths, type in vectors:
                row = f"{words}{{.acc::{precision}}}" if acc else words
                _row("ld_reduce", "relaxed acquire", f"{row}{vec}.type", "d.vec, [a]", vec=lengths, type=type, **sets)(meaning)
        return meaning

    return register


@_narrow_rows(".add", True)
@_narrow_rows(".op", False)
def ld_reduce_narrow(
    lanes: Lanes, a: Addresses, *, type: str, op: str = "add", vec: str = "v1", acc_f32: bool = False, acc_f16: bool = False,
    weak: bool = False, global_: bool = False, sem: str = "", scope: str = "",
) -> tuple[Array, ...]:  # fmt: skip
    """d = the numbers of 16 or 8 bits at the multimem address a, combined over all devices; .acc names the precision of a sum.

    Sums are rounded once with .acc, and else after each device; those of 8-bit numbers are made in f16 with .acc and without.
    """
    base, each = _scalar(type)
    wide = op == "add" and (acc_f32 or TYPES[base].bits == 8)
    found = _reduced(lanes, a, op, base, each * int(vec[1:]), wide)
    return (
        tuple(found)
        if each == 1
        else tuple(np.stack(np.broadcast_arrays(*found[i : i + each]), axis=-1) for i in range(0, len(found), each))
    )


# ---------------------------------------------------------------- writing


@_row("st", "relaxed release", ".type", "[a], b", type="u32 s32 b32 u64 s64 b64 f64")
def store(
    lanes: Lanes, a: Addresses, b: Array, *, type: str, weak: bool = False, global_: bool = False, sem: str = "", scope: str = ""
) -> None:
    """What lies at the multimem address a in every device = b."""
    store_vector(lanes, a, (b,), type=type)


def store_vector(
    lanes: Lanes, a: Addresses, b: Sequence[Array], *, type: str = "f32", vec: str = "v1", weak: bool = False, global_: bool = False,
    sem: str = "", scope: str = "",
) -> None:  # fmt: skip
    """The elements at the multimem address a in every device = b."""
    base, _ = _scalar(type)
    elements = _elements(b)
    for copy, here in lanes.replicas(a, TYPES[base].bytes * len(elements)):
        with lanes.only(here):
            lanes.store("global", copy, base, elements)


_row("st", "relaxed release", "{.vec}.f32", "[a], b.vec", vec="v2 v4")(store_vector)
for _vec, _lengths, _type in (*_HALVES, *_BYTES):
    _row("st", "relaxed release", f"{_vec}.type", "[a], b.vec", vec=_lengths, type=_type)(store_vector)


def reduce(lanes: Lanes, a: Addresses, b: Array, *, op: str, type: str, global_: bool = False, sem: str = "", scope: str = "") -> None:
    """The value at the multimem address a in every device is replaced by (value op b)."""
    reduce_vector(lanes, a, (b,), op=op, type=type)


for _op, _type in _WHOLE:
    _row("red", "relaxed release", ".op.type", "[a], b", op=_op, type=_type)(reduce)


def reduce_vector(
    lanes: Lanes, a: Addresses, b: Sequence[Array], *, op: str = "add", type: str = "f32", vec: str = "v1", global_: bool = False,
    sem: str = "", scope: str = "",
) -> None:  # fmt: skip
    """Each element at the multimem address a in every device is replaced by (element op b)."""
    change, shortcut = GLOBAL_ADD.get(type, CHANGES[op, type]) if op == "add" else CHANGES[op, type]
    size = TYPES[type].bytes
    for copy, here in lanes.replicas(a, size * len(b)):
        with lanes.only(here):
            for i, x in enumerate(b):
                lanes.update("global", copy + np.uint64(i * size), type, change, (x,), shortcut=shortcut, returns=False)


_row("red", "relaxed release", ".add{.vec}.f32", "[a], b.vec", vec="v2 v4")(reduce_vector)
for _vec, _lengths, _type in _HALVES:
    _row("red", "relaxed release", f".add{_vec}.type", "[a], b.vec", vec=_lengths, type=_type)(reduce_vector)
    _row("red", "relaxed release", ".op.vec.type", "[a], b.vec", op="min max", vec=_lengths, type=_type)(reduce_vector)
