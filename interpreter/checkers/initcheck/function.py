"""A function whose registers have shadows, ready to run: its slots three times over, its steps with masks beside the values.

Masks and origins are values of further slots, so that whatever the engine does with registers when lanes diverge and reconverge it does with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...plan.plan import (
    Barrier,
    Branch,
    Call,
    ClusterWait,
    End,
    Guard,
    Home,
    InFrame,
    Leave,
    Op,
    ParameterPlace,
    PlanFunction,
    RegisterResult,
    Segment,
    Source,
    Sync,
    Table,
)
from ...plan.roles import registers_of
from ...plan.uses import slots_in
from ...poison import Poison
from ...vector.function import Step, Terminator, VectorFunction, VectorSegment
from ...vector.group import Group
from ...vector.observed import announced
from ...vector.steps.ends import terminator
from ...vector.steps.ops import guarded
from ...vector.waiting.exchange import Exchange
from .accesses import memory_of
from .masks import DEFINED, UNDEFINED
from .operands import mask_of, places_of
from .origins import Origin, Origins
from .registers import ShadowRegisters
from .rules import reads_lanes
from .steps import Steps
from .uses import UnsetUses

U64 = np.dtype(np.uint64)


class ShadowedFunction(VectorFunction):
    """A function with the shadows of its registers."""

    __slots__ = ("registers", "span", "steps", "tracked", "unset", "uses")

    def __init__(self, plan: PlanFunction, origins: Origins, uses: UnsetUses) -> None:
        super().__init__(plan, self._segment)
        slots = len(self.template)
        self.span = span = slots + 1  # one more for the condition code register
        self.tracked = tracked_slots(plan) | {slots}
        followed = sum(1 << s for s in self.tracked if s < slots)
        self.live_in = [m | (m & followed) << span | (m & followed) << 2 * span for m in plan.live_in]
        shadow: list[Any] = [None if s in self.tracked and s != slots else DEFINED for s in range(span)]
        self.template = [*self.template, None, *shadow, *shadow]
        names = _names(plan)
        self.unset = {slot: origins.add(Origin(None, "register", names.get(slot, ""))) for slot in plan.zeros}
        self.registers = ShadowRegisters(span, self.tracked)
        self.uses = uses
        self.steps = Steps(self.registers, uses)

    def entry_registers(self, poison: Poison | None, shape: tuple[int, int]) -> list[Any]:
        registers = super().entry_registers(poison, shape)
        span = self.span
        registers[span:] = [DEFINED] * (2 * span)
        for slot, origin in self.unset.items():
            registers[span + slot] = UNDEFINED
            registers[2 * span + slot] = np.array([[origin]], np.uint64)
        return registers

    # ------------------------------------------------------------ calls

    def enter(self, g: Group, call: Call, registers: list[Any], base: int) -> list[tuple[int, Home]]:
        """See VectorFunction: the shadows of arguments and results."""
        caller, shadow, function = g.act.function, g.wave.shadow, self.plan.function
        assert isinstance(caller, ShadowedFunction)
        shadow.local.fill(g.geometry.lane, base)
        for given, formal, place in zip(call.arguments, function.params, self.plan.parameters, strict=False):
            if isinstance(given, InFrame):  # is copied as memory is
                continue
            got = mask_of(given, caller.span)(g.R)
            masks = got if isinstance(got, tuple) else (got,)
            origin = caller.registers.source(g.R, caller.registers.read([given]))
            if isinstance(place, Home):
                for n, m in enumerate(masks):
                    registers[self.span + place.slot + n], registers[2 * self.span + place.slot + n] = m, origin
            elif place is not None:
                shadow.store(g, "local", np.array([[base + place.offset]], np.uint64), formal.type, masks, [origin] * len(masks))
        slots = []
        for result, place in zip(call.results, self.plan.returns, strict=False):
            if isinstance(result, RegisterResult) and isinstance(place, Home):
                for n in range(result.home.width):
                    for plane in (1, 2):
                        slots.append((plane * self.span + place.slot + n, Home(plane * caller.span + result.home.slot + n, 1, U64)))
        return slots

    # ------------------------------------------------------------ segments

    def _segment(self, s: Segment, pc: int) -> VectorSegment:
        steps: list[Step] = []
        exchange = None
        for n, op in enumerate(s.ops):
            inner = self.steps.step(op)
            if n == 0 and isinstance(inner, Exchange):
                exchange = inner
            steps.append(inner if op.guard is None else self._guarded(op, op.guard, inner))
        end = self._end(s, terminator(s.end, pc))
        steps, end = announced(s, steps, end)
        span = self.span
        reads = [at for slot in s.reads for at in ((slot, span + slot, 2 * span + slot) if slot in self.tracked else (slot,))]
        followed = sum(1 << slot for slot in self.tracked if s.writes >> slot & 1)
        return VectorSegment(tuple(steps), end, tuple(reads), s.writes | followed << span | followed << 2 * span, exchange, s)

    def _guarded(self, op: Op, guard: Guard, inner: Step) -> Step:
        """A step under a guard, whose predicate is used by that."""
        span, keeps = self.span, op.keeps
        shadows = [at for slot in keeps if slot in self.tracked for at in (span + slot, 2 * span + slot)]
        step = guarded(op._replace(keeps=(*keeps, *shadows)), guard, inner)
        if guard.slot not in self.tracked:
            return step
        at, registers, uses, site = span + guard.slot, self.registers, self.uses, op.site

        def checked(R: list[Any]) -> None:
            if R[at] is not DEFINED and registers.undefined(R, (at,)):
                uses.guard(R[0], site, R[at], R[at + span])
            step(R)

        return checked

    def _end(self, s: Segment, end: Terminator) -> Terminator:
        """The end of a segment, which looks at what decides it."""
        shadows, uses, site, span = self.registers, self.uses, s.site, self.span
        deciding = shadows.read([*_deciding(s.end)])
        defined = [at for p in _defined(s.end) for at in (span + p, 2 * span + p) if p in self.tracked]
        results, calls = [*_results_in_frame(s.end)], isinstance(s.end, Call)
        if site is None or not (deciding or defined or results):
            return end

        def checked(g: Group) -> int | None:
            R = g.R
            for at in deciding:
                if R[at] is not DEFINED and shadows.undefined(R, deciding):
                    uses.decides(g, site, [R[x] for x in deciding], shadows.source(R, deciding))
                    break
            if not calls:
                define(g)
                return end(g)
            following = end(g)
            if following is not None:  # the device runtime's function was called; others give their results themselves
                define(g)
            return following

        def define(g: Group) -> None:
            for at in defined:
                g.R[at] = DEFINED
            for offset, size in results:
                g.wave.shadow.local.fill(g.geometry.lane, g.act.base + offset, size, 0)

        return checked


def _deciding(end: End) -> Iterator[Source]:
    """What decides how a segment ends."""
    match end:
        case Table():
            yield end.index
        case Call() if end.pointer is not None:
            yield end.pointer
        case Barrier():
            yield end.number
            if end.count is not None:
                yield end.count
            if end.reduction is not None:
                yield end.reduction.value
        case Sync() if end.mask is not None:
            yield end.mask
    match end:
        case Branch() | Table() | Call() | Leave() | Barrier() | Sync() | ClusterWait():
            if end.guard is not None:
                yield end.guard.slot


def _defined(end: End) -> Iterator[int]:
    """The slots that get a defined value where a segment ends."""
    match end:
        case Barrier() if end.reduction is not None:
            yield from [p.slot for p in places_of(end.reduction.target)]
        case Call():
            for r in end.results:
                if isinstance(r, RegisterResult):
                    yield from [p.slot for p in places_of(r.target)]


def _results_in_frame(end: End) -> Iterator[tuple[int, int]]:
    """Where in the frame a call puts results, and how many bytes."""
    if isinstance(end, Call) and end.callee is not None:
        for r, formal in zip(end.results, end.callee.returns, strict=False):
            if isinstance(r, InFrame):
                yield r.offset, formal.size


# ---------------------------------------------------------------- which registers may hold undefined bits


def tracked_slots(plan: PlanFunction) -> frozenset[int]:
    """The slots that may ever hold undefined bits: those read before they are written, loaded, given, or made of such."""
    found = set(plan.zeros)
    for place in (*plan.parameters, *plan.returns):
        if isinstance(place, Home):
            found.update(range(place.slot, place.slot + place.width))
    ops: list[Op] = []
    for s in plan.segments:
        ops += [x for op in s.ops for x in ((op,) if op.product is None else (op._replace(product=None), op.product))]
        if isinstance(s.end, Call):
            found.update(_defined(s.end))
    pending = [(frozenset(slots_in(op.sources)), [p.slot for p in places_of(op.target)]) for op in ops]
    for (_, written), op in zip(pending, ops, strict=True):
        if _brings(op):
            found.update(written)
    carried = False
    again = True
    while again:
        before = len(found), carried
        for (read, written), op in zip(pending, ops, strict=True):
            carry = op.meaning.form.carry.split()
            if not read.isdisjoint(found) or (carried and "in" in carry):
                found.update(written)
                carried |= "out" in carry
        again = (len(found), carried) != before
    return frozenset(found)


def _brings(op: Op) -> bool:
    """Does it bring bits from memory that may be undefined?"""
    if op.how == "load":
        return not isinstance(op.sources[0], ParameterPlace) and op.meaning.access is not None and op.meaning.access.space != "const"
    if reads_lanes(op):
        return True
    facts = op.meaning.form.facts
    return op.how in ("lanes", "warps") and memory_of(op) and (facts.moves_memory or (bool(facts.access) and bool(facts.takes_bits)))


def _names(plan: PlanFunction) -> dict[int, str]:
    """For each slot the register that has it first."""
    out: dict[int, str] = {}
    for s in plan.segments:
        sites = [*[op.site for op in s.ops], *([s.site] if s.site is not None else [])]
        for site in sites:
            i = site.instruction
            for r in (*([i.guard] if i.guard is not None else ()), *[r for o in i.operands for r in registers_of(o)]):
                home = plan.homes.get(r.index)
                if home is not None:
                    for n in range(home.width):
                        out.setdefault(home.slot + n, r.name)
    return out
