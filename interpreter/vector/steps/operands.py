"""Sources and targets of a plan as functions of the register list; an int stays a slot, which costs no call.

R[0] is the group itself, R[slot] the value of a register.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.types import TYPES

from ...plan.plan import (
    AddressSource,
    Convert,
    DType,
    Each,
    FrameAddress,
    FramePlace,
    Guard,
    Not,
    Pack,
    Packed,
    ParameterAddress,
    ParameterPlace,
    PlusConstant,
    Pointer,
    ScalarConstant,
    SlotAs,
    Source,
    Special,
    Target,
    Tuple,
)
from ...values import LocalPlace, Shifted, plain
from ..special import CLOCKS, clock

Array = NDArray[Any]
Get = Callable[[list[Any]], Any]
Set = Callable[[list[Any], Any], None]


# ---------------------------------------------------------------- sources


def get_of(s: Source) -> Get:
    """A source as a function."""
    if type(s) is int:
        slot = s
        return lambda R: R[slot]
    return _GETS[type(s)](s)


def _slot(s: SlotAs) -> Get:
    slot, have, want, pointer = s
    if have == want:
        return lambda R: plain(R[slot])
    if have.itemsize == want.itemsize:
        return (lambda R: plain(R[slot]).view(want)) if pointer else (lambda R: R[slot].view(want))
    unsigned, cut = np.dtype(f"u{have.itemsize}"), np.dtype(f"u{want.itemsize}")
    if have.kind == "b" or want.kind == "b":
        return lambda R: plain(R[slot]).astype(want)
    return lambda R: plain(R[slot]).view(unsigned).astype(cut).view(want)


def _packed(s: Packed) -> Get:
    slot, t = s
    element = np.dtype(f"u{t.dtype.itemsize}")

    def get(R: list[Any]) -> Array:
        v = np.ascontiguousarray(plain(R[slot]))
        return v.view(element).reshape(*v.shape, t.elements).view(t.dtype)

    return get


def _tuple(s: Tuple) -> Get:
    gets = [get_of(e) for e in s.sources]
    if len(gets) == 1:
        (one,) = gets

        def single(R: list[Any]) -> tuple[Any, ...]:
            v = one(R)
            return v if type(v) is tuple else (v,)

        return single

    def get(R: list[Any]) -> tuple[Any, ...]:
        out: list[Any] = []
        for g in gets:
            v = g(R)
            out.extend(v) if type(v) is tuple else out.append(v)
        return tuple(out)

    return get


def _special(s: Special) -> Get:
    name, dtype, offset, segment = s

    def get(R: list[Any]) -> Array:
        v = R[0].special(name) if name not in CLOCKS else clock(R[0], name, offset, segment)
        out: Array = v if v.dtype == dtype else v.astype(dtype) if v.dtype.itemsize != dtype.itemsize else v.view(dtype)
        return out

    return get


def _not(s: Not) -> Get:
    slot = s.slot
    return lambda R: ~R[slot]


def _plus(s: PlusConstant) -> Get:
    get, dtype = get_of(s.source), s.dtype
    by = np.array([[s.by & ((1 << 8 * dtype.itemsize) - 1)]], f"u{dtype.itemsize}").view(dtype)
    return lambda R: get(R) + by


def _number(s: ScalarConstant) -> Get:
    value = s.value
    return lambda R: value


def _pointer(s: Pointer) -> Get:
    slot, offset = s
    if offset == 0:
        return lambda R: R[slot]

    def moved(R: list[Any]) -> Shifted:
        v = R[slot]
        if type(v) is not Shifted:
            v = R[slot] = Shifted(v)
        return v.moved(offset)

    return moved


def shared_pointer(s: Pointer) -> Get:
    """A pointer that another one walks from: both share what is known of the value."""
    slot = s.slot

    def shared(R: list[Any]) -> Any:
        v = R[slot]
        if type(v) is not Shifted and v.size > 1:
            v = R[slot] = Shifted(v)
        return v

    return shared


def _address(s: AddressSource) -> Get:
    get, offset = get_of(s.base), s.offset
    if s.opaque:
        return lambda R: Shifted(get(R), offset)
    delta = np.uint64(offset & (2**64 - 1))
    return lambda R: get(R).astype(np.uint64) + delta


def _frame_address(s: FrameAddress) -> Get:
    at, dtype = s.window + s.offset, s.dtype
    return lambda R: np.array([[R[0].act.base + at]], dtype)


def _parameter_address(s: ParameterAddress) -> Get:
    v, offset, dtype = s
    return lambda R: np.array([[R[0].wave.launch.param_address(v) + offset]], np.uint64).astype(dtype)


def _frame_place(s: FramePlace) -> Get:
    at = s.offset
    return lambda R: LocalPlace(R[0].act.base + at)


def _parameter_place(s: ParameterPlace) -> Get:
    v, offset, _ = s
    return lambda R: R[0].wave.launch.param_place(v, offset)


_GETS: dict[type, Callable[[Any], Get]] = {
    SlotAs: _slot, Packed: _packed, Tuple: _tuple, Special: _special, Not: _not, PlusConstant: _plus, ScalarConstant: _number, Pointer: _pointer,
    AddressSource: _address, FrameAddress: _frame_address, ParameterAddress: _parameter_address, FramePlace: _frame_place,
    ParameterPlace: _parameter_place,
}  # fmt: skip


def condition_of(guard: Guard) -> Get:
    """Where a guard holds."""
    slot, negated = guard
    return (lambda R: ~R[slot]) if negated else (lambda R: R[slot])


# ---------------------------------------------------------------- targets


def set_of(t: Target) -> Set:
    """A target as a function that takes the result."""
    if t is None:
        return lambda R, v: None
    if type(t) is int:
        slot = t

        def put(R: list[Any], v: Any) -> None:
            R[slot] = v

        return put
    return _SETS[type(t)](t)


def _convert(t: Convert) -> Set:
    slot, have, of = t
    if of.dtype.itemsize == have.itemsize:

        def view(R: list[Any], v: Any) -> None:
            R[slot] = v if v.dtype == have else v.view(have)

        return view
    extended = np.dtype(f"{'i' if of.kind == 's' else 'u'}{have.itemsize}")

    def extend(R: list[Any], v: Any) -> None:
        if v.dtype.kind == "f":
            v = v.view(f"u{v.dtype.itemsize}")
        R[slot] = v.astype(extended).view(have)

    return extend


def _pack(t: Pack) -> Set:
    whole = np.dtype(f"u{t.type.bytes}")
    put = set_of(t.slot) if t.kept == whole else _convert(Convert(t.slot, t.kept, TYPES[f"b{t.type.bits}"]))
    return lambda R, v: put(R, pack(v, whole))


def _each(t: Each) -> Set:
    if t.halves:
        sets = [set_of(e) for e in t.targets]

        def put_halves(R: list[Any], values: Any) -> None:
            for i, s in enumerate(sets):
                s(R, values[2 * i : 2 * i + 2])

        return put_halves
    if len(t.targets) == 1:
        one = set_of(t.targets[0])
        return lambda R, values: one(R, values[0])
    if all(type(e) is int for e in t.targets):
        slots: Any = t.targets

        def put_slots(R: list[Any], values: Any) -> None:
            for s, v in zip(slots, values, strict=False):
                R[s] = v

        return put_slots
    sets = [set_of(e) for e in t.targets]

    def put(R: list[Any], values: Any) -> None:
        for s, v in zip(sets, values, strict=False):
            s(R, v)

    return put


_SETS: dict[type, Callable[[Any], Set]] = {Convert: _convert, Pack: _pack, Each: _each}


def pack(v: Array, whole: DType) -> Array:
    """An array with an axis of elements as one with whole containers."""
    return np.ascontiguousarray(v).view(f"u{v.dtype.itemsize}").view(whole)[..., 0]
