"""Sources and targets of a plan as masks: where the shadow of a register lies, and what becomes of it on the way to a meaning and back.

A function that has shadows keeps three values for each slot: the register's at `slot`, the mask of its undefined bits at `span + slot`,
and where these come from (origins.py) at `2 * span + slot`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...plan.plan import AddressSource, Convert, Each, Not, Pack, Packed, PlusConstant, Pointer, SlotAs, Source, Target, Tuple
from .masks import ALL, DEFINED, ZERO, Mask, as_mask, as_value, bits_of, elements, packed, upwards

Get = Callable[[list[Any]], Any]
Set = Callable[[list[Any], Any], None]
U64 = np.uint64


def mask_of(s: Source, span: int) -> Get:
    """A source's mask: a tuple of them where the source is one, None for a number."""
    match s:
        case int() | Not():
            at = span + (s if isinstance(s, int) else s.slot)
            return lambda R: R[at]
        case SlotAs(slot, have, want):
            at = span + slot
            if want.itemsize == have.itemsize:
                return lambda R: R[at]
            room = bits_of(min(have, want, key=lambda t: t.itemsize))
            return lambda R: R[at] if R[at] is DEFINED else R[at] & room
        case Packed(slot, t):
            at, dtype, count = span + slot, t.dtype, t.elements
            return lambda R: DEFINED if R[at] is DEFINED else elements(R[at], dtype, count)
        case Tuple():
            gets = [mask_of(e, span) for e in s.sources]
            return lambda R: flat([get(R) for get in gets])
        case Pointer(slot, _):
            at = span + slot
            return lambda R: R[at]
        case PlusConstant() | AddressSource():
            inner = mask_of(s.source if isinstance(s, PlusConstant) else s.base, span)
            return lambda R: _moved_up(inner(R))
        case _:
            return lambda R: DEFINED


def flat(masks: Sequence[Any]) -> tuple[Mask, ...]:
    """Masks and tuples of them as one tuple."""
    out: list[Mask] = []
    for m in masks:
        out.extend(m) if type(m) is tuple else out.append(m)
    return tuple(out)


def _moved_up(mask: Mask) -> Mask:
    return mask if mask is DEFINED else upwards([mask])


# ---------------------------------------------------------------- targets


@dataclass(frozen=True, slots=True)
class WrittenSlot:
    """A slot that an operation writes, and which bits of it a result that is undefined altogether leaves undefined."""

    slot: int
    bits: np.uint64 = ALL


def places_of(t: Target) -> tuple[WrittenSlot, ...]:
    """The slots that a target writes."""
    match t:
        case None:
            return ()
        case int():
            return (WrittenSlot(t),)
        case Convert(slot, kept, of):
            extended = of.dtype.itemsize < kept.itemsize and of.kind != "s"
            return (WrittenSlot(slot, bits_of(of.dtype) if extended else ALL),)
        case Pack(slot):
            return (WrittenSlot(slot),)
        case Each(targets):
            return tuple([p for e in targets for p in places_of(e)])


def put_mask(t: Target, span: int) -> Set:
    """A function that takes the mask of a result, or a tuple of them."""
    match t:
        case None:
            return lambda R, m: None
        case int():
            at = span + t

            def put(R: list[Any], m: Mask) -> None:
                R[at] = m

            return put
        case Convert(slot, kept, of):
            return _converted(span + slot, kept, of.dtype, signed=of.kind == "s")
        case Pack(slot, _, of):
            whole, size = span + slot, of.dtype.itemsize

            def put_packed(R: list[Any], m: Mask) -> None:
                R[whole] = packed(m, size) if m.ndim == 3 else np.where(m != ZERO, ALL, ZERO)

            return put_packed
        case Each(targets, halves):
            sets = [put_mask(e, span) for e in targets]

            def put_each(R: list[Any], masks: Any) -> None:
                for n, s in enumerate(sets):
                    s(R, masks[2 * n : 2 * n + 2] if halves else masks[n])

            return put_each


def _converted(at: int, kept: np.dtype[Any], of: np.dtype[Any], *, signed: bool) -> Set:
    room = bits_of(of)

    def put(R: list[Any], m: Mask) -> None:
        if of.itemsize < kept.itemsize:
            m = as_mask(as_value(m, np.dtype(f"i{of.itemsize}")).astype(f"i{kept.itemsize}")) if signed else m & room
        R[at] = m

    return put
