"""The shadows of one function's registers: which there are, whether they have bits, where these come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...plan.plan import Op, Source
from ...plan.uses import slots_in
from .masks import ALL, DEFINED, Array, Mask, normal
from .operands import WrittenSlot, places_of
from .origins import joined


class ShadowRegisters:
    """What a function's steps ask of the masks and origins in their list of registers."""

    def __init__(self, span: int, tracked: frozenset[int]) -> None:
        self.span = span
        self.tracked = tracked  # slots that may hold undefined bits
        self.carry = span - 1  # the slot in whose shadow that of the condition code register is kept

    def read(self, sources: Sequence[Source]) -> tuple[int, ...]:
        """The places of the masks of what sources read, as far as it may be undefined."""
        return tuple(dict.fromkeys(self.span + s for s in slots_in(sources) if s in self.tracked))

    def written(self, op: Op) -> tuple[WrittenSlot, ...]:
        """The tracked slots that an operation writes."""
        places = [p for p in places_of(op.target) if p.slot in self.tracked]
        return (*places, WrittenSlot(self.carry)) if "out" in op.meaning.form.carry else tuple(places)

    def undefined(self, R: list[Any], masks: Sequence[int]) -> bool:
        """Has one of some masks a bit?"""
        found = False
        for at in masks:
            m = R[at]
            if m is not DEFINED:
                m = R[at] = normal(m)
                found |= m is not DEFINED
        return found

    def source(self, R: list[Any], masks: Sequence[int]) -> Array:
        """Where the undefined bits of some registers come from."""
        return joined([(R[at], R[at + self.span]) for at in masks])

    def set_origin(self, R: list[Any], places: Sequence[WrittenSlot], origin: Array) -> None:
        """Notes where results come from."""
        for p in places:
            R[2 * self.span + p.slot] = origin

    def define(self, R: list[Any], places: Sequence[WrittenSlot]) -> None:
        """Results are defined."""
        for p in places:
            R[self.span + p.slot] = R[2 * self.span + p.slot] = DEFINED

    def fill(self, R: list[Any], places: Sequence[WrittenSlot], mask: Mask) -> None:
        """Results are undefined altogether in some lanes."""
        for p in places:
            R[self.span + p.slot] = mask if p.bits == ALL else mask & p.bits
