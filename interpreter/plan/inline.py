"""Calls inlined: a plan without calls of known functions, for an engine that has no stack of its own.

Each call becomes a copy of the callee's segments behind those of the function, with registers of its own and its frame at the place that the
stack would give it.  A call through a pointer gets a way into a copy of each function that it may call.  A recursive call, and one
through a pointer to any other place, stay calls; one whose arguments lie otherwise than its callee expects leaves the whole plan as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Function

from .plan import (
    EXIT,
    Branch,
    Call,
    Convert,
    DType,
    End,
    Home,
    InFrame,
    Jump,
    Meaning,
    Op,
    PlanFunction,
    RegisterResult,
    Segment,
    SlotAs,
    Source,
    Target,
)  # fmt: skip
from .renaming import Renaming
from .uses import mask_of, read, set_by, slots_in, written

MOST = 20_000  # operations, from which on calls stay calls
MOST_BY_POINTER = 2_000  # operations, from which on calls through pointers stay calls
DEEPEST = 1 << 14  # bytes of all frames

PlanOf = Callable[[Function], PlanFunction | None]  # None: the device runtime provides the function
Targets = Mapping[int, Function]  # the functions that pointers may lead to, by their addresses


class NotInlined(Exception):
    """Some call has to stay one."""


def inlined(plan: PlanFunction, plan_of: PlanOf, targets: Callable[[], Targets] = dict) -> PlanFunction:
    """A plan with its calls inlined; the plan itself where that cannot be.  `targets` is asked when all direct calls have been looked at."""
    if not any(isinstance(s.end, Call) for s in plan.segments):
        return plan
    try:
        found = Inliner(plan, plan_of, targets)
        return found.whole() if found.calls else plan
    except NotInlined:
        return plan


@dataclass(slots=True, eq=False)
class InlinedFunction:
    """One function as it stands in the whole: the kernel, or what a call became."""

    plan: PlanFunction
    depth: int
    frame: int  # where its frame begins in the kernel's
    bank: int  # what is added to the slots of its registers
    first: int = 0  # place of its first segment; in front of it those of a call hand the arguments over
    exit: int = EXIT  # the place that hands the results back
    across: int = 0  # slots that are live across it
    aliases: tuple[tuple[int, int, int], ...] = ()  # (begin, end, where): arguments and results that lie in the caller's frame

    def offset(self, offset: int) -> int:
        """A place of the function's frame in the kernel's."""
        for begin, end, where in self.aliases:
            if begin <= offset < end:
                return where + offset - begin
        return self.frame + offset


@dataclass(slots=True, eq=False)
class InlinedCall:
    """What a call became: the function that it calls, or those that it may call through a pointer."""

    bodies: list[InlinedFunction]
    addresses: list[int] = field(default_factory=list)  # of each, the highest first; none of a direct call
    place: int = 0  # of a call through a pointer


class Inliner:
    """Makes the plan of a kernel with its calls inlined."""

    def __init__(self, kernel: PlanFunction, plan_of: PlanOf, targets: Callable[[], Targets]) -> None:
        self.kernel = kernel
        self.plan_of = plan_of
        self.targets = targets
        self.bodies: list[InlinedFunction] = []
        self.calls: dict[tuple[int, int], InlinedCall] = {}  # by (id of the body, place of the call in its plan)
        self.through_pointers: list[tuple[InlinedFunction, int, tuple[PlanFunction, ...]]] = []  # calls whose targets are not known yet
        self.registers = kernel.first_constant  # slots of registers in all
        self.banks: dict[tuple[int, int], int] = {}  # by (id of the plan, depth), for its calls at one depth follow each other
        self.places = 0
        self.frame_size = kernel.frame_size
        self._collect(InlinedFunction(kernel, 0, 0, 0), (kernel,))
        while self.through_pointers:
            self._call_through_pointer(*self.through_pointers.pop(0))
        self.constants: list[NDArray[Any]] = []
        self.first_constants: dict[int, int] = {}  # slots, by id of the plan
        for plan in self._plans():
            self.first_constants[id(plan)] = self.registers + len(self.constants)
            self.constants += plan.constants

    # ------------------------------------------------------------ which functions, and where

    def _collect(self, body: InlinedFunction, callers: tuple[PlanFunction, ...]) -> None:
        """Gives a function and all that it calls their places."""
        plan = body.plan
        body.first, self.places = self.places, self.places + len(plan.segments)
        self.bodies.append(body)
        self.frame_size = max(self.frame_size, body.frame + plan.frame_size)
        if self.frame_size > DEEPEST or self._operations() > MOST:
            raise NotInlined
        for pc, segment in enumerate(plan.segments):
            if isinstance(segment.end, Call):
                self._call(body, pc, segment.end, callers)

    def _operations(self) -> int:
        return sum(len(s.ops) for b in self.bodies for s in b.plan.segments)

    def _call(self, body: InlinedFunction, pc: int, call: Call, callers: tuple[PlanFunction, ...]) -> None:
        if call.callee is None:
            self.through_pointers.append((body, pc, callers))
            return
        callee = self.plan_of(call.callee)
        if callee is None or callee in callers:
            return
        if not callee.segments:
            raise NotInlined
        self.calls[id(body), pc] = InlinedCall([self._body(body, call, callee, callers)])

    def _call_through_pointer(self, body: InlinedFunction, pc: int, callers: tuple[PlanFunction, ...]) -> None:
        """A call of any of the functions that suit it."""
        call = body.plan.segments[pc].end
        assert isinstance(call, Call)
        found = [(at, plan) for at, f in sorted(self.targets().items(), reverse=True) if (plan := self.plan_of(f)) is not None]
        found = [(at, plan) for at, plan in found if plan not in callers and plan.segments and _suits(body, call, plan)]
        if not found or self._operations() + sum(len(s.ops) for _, plan in found for s in plan.segments) > MOST_BY_POINTER:
            return
        bodies = [self._body(body, call, plan, callers) for _, plan in found]
        self.calls[id(body), pc] = InlinedCall(bodies, [at for at, _ in found], self.places)
        self.places += 1

    def _body(self, body: InlinedFunction, call: Call, callee: PlanFunction, callers: tuple[PlanFunction, ...]) -> InlinedFunction:
        """A function that is called, with places of its own."""
        bank = self.banks.get((id(callee), body.depth))
        if bank is None:
            bank = self.banks[id(callee), body.depth] = self.registers
            self.registers += callee.first_constant
        frame = callee.frame_behind(body.frame + body.plan.frame_size)
        inner = InlinedFunction(callee, body.depth + 1, frame, bank, aliases=tuple(_aliases(body, call, callee)))
        self.places += 1
        self._collect(inner, (*callers, callee))
        inner.exit, self.places = self.places, self.places + 1
        return inner

    def _plans(self) -> list[PlanFunction]:
        return list({id(b.plan): b.plan for b in self.bodies}.values())

    # ------------------------------------------------------------ the whole

    def whole(self) -> PlanFunction:
        """The plan."""
        segments: dict[int, Segment] = {}
        live = dict.fromkeys(range(self.places), 0)
        for body in self.bodies:  # callers before their callees
            own = self._renaming(body)
            for pc in range(len(body.plan.segments)):
                live[own.place(pc)] = own.mask(body.plan.live_in[pc]) | body.across
            for pc, segment in enumerate(body.plan.segments):
                moved = own.segment(segment)
                found = self.calls.get((id(body), pc))
                if found is not None:
                    moved = self._inline(moved, found, segments, live, body)
                elif isinstance(moved.end, Call):
                    moved = replace(moved, end=self._kept(moved.end, body))
                segments[own.place(pc)] = moved
        kernel = self.kernel
        homes = [
            replace(h, slot=h.slot + bank) for bank, plan in {b.bank: b.plan for b in self.bodies}.items() for h in plan.homes.values()
        ]
        return PlanFunction(
            kernel.function, [segments[pc] for pc in range(self.places)], [*[live[pc] for pc in range(self.places)], kernel.live_in[EXIT]],
            dict(enumerate(homes)), self.registers, self.constants, kernel.zeros, kernel.parameters,
            kernel.returns, kernel.frame, self.frame_size, tuple(gap.moved(b.frame) for b in self.bodies for gap in b.plan.gaps),
        )  # fmt: skip

    def _renaming(self, body: InlinedFunction) -> Renaming:
        plan, first = body.plan, body.plan.first_constant

        def slot(s: int) -> int:
            return s + body.bank if s < first else s - first + self.first_constants[id(plan)]

        return Renaming(slot, body.offset, body.first, len(plan.segments), body.exit)

    def _inline(
        self, segment: Segment, made: InlinedCall, segments: dict[int, Segment], live: dict[int, int], body: InlinedFunction
    ) -> Segment:  # fmt: skip
        """The segment that ended in a call goes on in the callee, or at the call through a pointer; adds what hands arguments and results over."""
        call = segment.end
        assert isinstance(call, Call)
        results = 0
        for inner in made.bodies:
            segments[inner.first - 1] = self._handing_over(self._arguments(call, inner, segment), inner.first, segment)
            back = segments[inner.exit] = self._handing_over(self._results(call, inner, segment), call.after, segment)
            inner.across, results = live[call.after] & ~back.writes, results | back.writes
            for place in inner.first - 1, inner.exit:
                live[place] = inner.across | mask_of(segments[place].reads)
        entry = made.bodies[0].first - 1
        if made.addresses:
            entry = made.place
            segments[entry] = stays = self._through_pointer(self._kept(call, body), made, segment)
            live[entry] = live[call.after] & ~stays.writes | mask_of(stays.reads)
            for inner in made.bodies:
                live[entry] |= live[inner.first - 1]
        end: End = Jump(entry) if call.guard is None else Branch(call.guard, entry, call.after, call.after, {}, {}, rides=False, first=None)
        return replace(segment, end=end, writes=segment.writes & ~results | mask_of(x for op in segment.ops for x in written(op)))

    def _through_pointer(self, call: Call, made: InlinedCall, segment: Segment) -> Segment:
        """A call through a pointer, with the ways into what it may call."""
        ways = tuple(zip(made.addresses, [inner.first - 1 for inner in made.bodies], strict=True))
        used = [x for x in slots_in((call.pointer, *call.arguments)) if x < self.registers]
        end = replace(call, guard=None, ways=ways)
        return Segment(segment.block, (), end, segment.site, tuple(dict.fromkeys(used)), mask_of(set_by(call)), 0)

    def _kept(self, call: Call, body: InlinedFunction) -> Call:
        """A call that stays one: what it calls has its frame where it would have it."""
        return replace(call, top=body.frame + body.plan.frame_size)

    # ------------------------------------------------------------ arguments and results

    def _arguments(self, call: Call, inner: InlinedFunction, segment: Segment) -> Iterator[Op]:
        """The callee's registers where it begins."""
        plan, callee = inner.plan, self._renaming(inner)
        given: dict[int, Op] = {}
        for argument, place, formal in zip(call.arguments, plan.parameters, plan.function.params, strict=False):
            if isinstance(place, Home) and not isinstance(argument, InFrame):
                if place.width > 1 or formal.type.elements > 1:
                    raise NotInlined
                slot = callee.slot(place.slot)
                target = slot if formal.type.dtype == place.dtype else Convert(slot, place.dtype, formal.type)
                given[place.slot] = _move(target, argument, segment)
        for slot, dtype in plan.zeros.items():
            if slot not in given:
                yield _move(callee.slot(slot), self._zero(dtype), segment)
        yield from given.values()

    def _results(self, call: Call, inner: InlinedFunction, segment: Segment) -> Iterator[Op]:
        """The caller's registers where the callee has returned."""
        callee = self._renaming(inner)
        for result, place in zip(call.results, inner.plan.returns, strict=False):
            if not isinstance(result, RegisterResult) or place is None:
                continue
            own = result.home
            if not isinstance(place, Home) or own.width > 1 or place.dtype.itemsize != own.dtype.itemsize:
                raise NotInlined
            slot = callee.slot(place.slot)
            same = place.dtype == own.dtype and (own.pointer or not place.pointer)
            yield _move(own.slot, slot if same else SlotAs(slot, place.dtype, own.dtype, place.pointer), segment)

    def _zero(self, dtype: DType) -> int:
        """The slot of a zero."""
        self.constants.append(np.zeros((1, 1), dtype))
        return self.registers + len(self.constants) - 1

    def _handing_over(self, ops: Iterable[Op], to: int, call: Segment) -> Segment:
        """A segment of moves."""
        ops = tuple(ops)
        reads = dict.fromkeys(slot for op in ops for slot in read(op) if slot < self.registers)
        return Segment(call.block, ops, Jump(to), None, tuple(reads), mask_of(x for op in ops for x in written(op)), 0)


def _aliases(body: InlinedFunction, call: Call, callee: PlanFunction) -> Iterator[tuple[int, int, int]]:
    """Arguments and results in memory: the callee finds them where its caller keeps them."""
    arguments = zip(call.arguments, callee.parameters, callee.function.params, strict=False)
    results = zip(call.results, callee.returns, callee.function.returns, strict=False)
    for given, place, formal in (*arguments, *results):
        if given is None or place is None:
            continue
        if isinstance(given, InFrame) != isinstance(place, InFrame):
            raise NotInlined
        if isinstance(given, InFrame) and isinstance(place, InFrame):
            yield place.offset, place.offset + formal.size, body.offset(given.offset)


def _suits(body: InlinedFunction, call: Call, callee: PlanFunction) -> bool:
    """Does a function take the arguments, and give the results, of a call through a pointer?"""
    params, returns = callee.function.params, callee.function.returns
    if len(call.arguments) != len(params) or len(call.results) != len(returns):
        return False
    homes = [(place, formal) for place, formal in zip((*callee.parameters, *callee.returns), (*params, *returns), strict=False)]
    if any(isinstance(place, Home) and (place.width > 1 or formal.type.elements > 1) for place, formal in homes):
        return False
    try:
        list(_aliases(body, call, callee))
    except NotInlined:
        return False
    own = [r.home if isinstance(r, RegisterResult) else None for r in call.results]
    pairs = [(place, home) for place, home in zip(callee.returns, own, strict=False) if isinstance(place, Home) and home is not None]
    return all(home.width == 1 and place.dtype.itemsize == home.dtype.itemsize for place, home in pairs)


def _move(target: Target, source: Source, call: Segment) -> Op:
    """What a call does with one register."""
    assert call.site is not None and call.site.instruction.form is not None
    return Op("move", Meaning(call.site.instruction.form, {}), target, (source,), call.site)
