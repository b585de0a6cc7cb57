"""What the registers of a thread hold at each place of a plan, as sums of its indices and of the turns of loops.

The numbers of one launch are known: parameters, the size of the grid.  What holds at a place is what holds on all ways that lead there.  A register
that grows by a number in each turn of a loop is its first value plus that number times the turns so far; that it does is supposed when it has
done so once, and is true if the walk comes to an end with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from warplab.assembler.flow.graphs import postorder
from warplab.isa.spaces import window_of
from warplab.isa.types import ScalarType

from ...launch import Launch
from ...plan import plan as P
from ...plan.uses import leaves, set_by, successors, targets
from ...vector.steps.meanings import bound
from ..frame import Frame
from ..trace.code import DType, Untraceable
from .linear import Facts, Linear, Range, Unknown, are_possible, fact, narrowed, within
from .states import Value, WalkState, joined
from .values import UNKNOWN, Origins, SymbolicPredicate, SymbolicSum, either, union

MOST = 16  # times that all segments are looked at, before the walk is given up
WIDENED = 2  # times that the range of a sum may grow at the start of a loop
TURNS = (0, 1 << 64)
PRIVATE = frozenset({-1})  # the origin of addresses of shared memory and stacks


class _Lanes:
    """What instructions that know their lanes may ask for here; see ports.Lanes."""

    def convert(self, address: SymbolicSum, space: str, to_generic: bool) -> Any:
        """Of a window of generic addresses."""
        base = address.dtype.type(window_of(space))
        return (address + base if to_generic else address - base) if base else address


class PlanWalk:
    """The states of one launch's function."""

    def __init__(self, launch: Launch, plan: P.PlanFunction, frame: Frame) -> None:
        self.launch, self.plan, self.frame = launch, plan, frame
        self.next = [successors(s.end) for s in plan.segments]
        order = postorder(self.next, [0])[::-1]
        self.place = {n: i for i, n in enumerate(order)}
        self.order = order
        self.heads = {to for n in order for to in self.next[n] if self._is_back(n, to)}  # of loops
        self.left: dict[tuple[int, int], WalkState] = {}  # what is known on each way from one segment to another
        self.failed = Counter[tuple[int, Any]]()  # how often something was supposed in vain of a register, or a sum, at a loop's start
        self.supposed: set[tuple[int, int, Linear]] = set()  # what registers were supposed to be in each turn of a loop
        self.specials = _specials(launch)

    def run(self) -> bool:
        """Looks at all segments until nothing changes; False where that does not come to an end."""
        known: dict[int, WalkState] = {}
        for _ in range(MOST):
            changed = False
            for n in self.order:
                state = self._met(n, known.get(n))
                if state is None:
                    continue
                if n not in known or known[n].says() != state.says():
                    known[n], changed = state, True
                    for to, way in self._ways(n, state.copy()):
                        self.left[n, to] = self._arrived(n, to, way)
            if not changed:
                self.known = known
                return True
        return False

    def operations(self) -> Iterator[tuple[P.Op, WalkState]]:
        """The operations that lanes come to, each with what is known before it."""
        for n in self.known:
            state = self.known[n].copy()
            for i, op in enumerate(self.plan.segments[n].ops):
                yield op, self._guarded(op, state)
                self._execute(n, i, op, state)

    # ------------------------------------------------------------ from segment to segment

    def _ways(self, n: int, state: WalkState) -> Iterator[tuple[int, WalkState]]:
        """What is known behind a segment, on each of its ways."""
        segment = self.plan.segments[n]
        for i, op in enumerate(segment.ops):
            self._execute(n, i, op, state)
        end = segment.end
        for slot in set_by(end):
            state.registers.pop(slot, None)
        guard = getattr(end, "guard", None)
        if isinstance(end, P.Branch) and end.taken == end.fall:
            guard = None
        for to in self.next[n]:
            way = state.copy()
            if isinstance(end, P.Branch | P.Leave) and guard is not None:
                holds = isinstance(end, P.Branch) and to == end.taken
                way.facts = narrowed(way.facts, self._said(state, guard, holds))
            if are_possible(way.facts):
                yield to, way

    @staticmethod
    def _said(state: WalkState, guard: P.Guard, holds: bool) -> Facts:
        """What it means that a guard holds, or does not."""
        p = state.registers.get(guard.slot)
        if not isinstance(p, SymbolicPredicate):
            return {}
        return p.true if holds != guard.negated else p.false

    def _guarded(self, op: P.Op, state: WalkState) -> WalkState:
        """What is known where an operation is executed."""
        if op.guard is None:
            return state
        return WalkState(state.registers, narrowed(state.facts, self._said(state, op.guard, True)))

    def _is_back(self, before: int, n: int) -> bool:
        return self.place[before] >= self.place[n]

    def _arrived(self, before: int, n: int, state: WalkState) -> WalkState:
        """What is known on a way, where it arrives."""
        if n in self.heads:
            if self._is_back(before, n):
                state.turned(f"turns of {n}")
            else:
                state.forget(f"turns of {n}")
        live = self.plan.live_in[n]
        state.registers = {slot: v for slot, v in state.registers.items() if live >> slot & 1}
        return state

    def _met(self, n: int, known: WalkState | None) -> WalkState | None:
        """What holds on all ways to a segment; None where no lane comes."""
        ways = [(before, self.left[before, n]) for before in range(len(self.next)) if (before, n) in self.left]
        first = [s for before, s in ways if not self._is_back(before, n)]
        again = [s for before, s in ways if self._is_back(before, n)]
        if not first:
            return WalkState() if n == 0 or again else None
        begun, turned = joined(first), joined(again) if again else None
        return begun if turned is None else self._looped(n, begun, turned, known)

    def _looped(self, n: int, begun: WalkState, turned: WalkState, known: WalkState | None) -> WalkState:
        """What holds in each turn of a loop."""
        turns = Unknown(f"turns of {n}", *TURNS)
        registers = dict[int, Value]()
        supposed = dict[Linear, Range]()
        for slot, a in begun.registers.items():
            b = turned.registers.get(slot)
            if isinstance(a, SymbolicPredicate) and isinstance(b, SymbolicPredicate) and a.says() == b.says():
                registers[slot] = a
            if not isinstance(a, SymbolicSum) or not isinstance(b, SymbolicSum) or a.dtype != b.dtype:
                continue
            origins, value = union((a.origins, b.origins)), SymbolicSum(a.dtype)
            if a.sum is not None and b.sum is not None and not self.failed[n, slot]:
                step = b.sum - a.sum
                grown = a.sum + Linear.of(turns).times(step.constant)
                if a.sum == b.sum.without(turns.name):
                    value = b
                elif step.terms or (n, slot, grown) in self.supposed:
                    self.failed[n, slot] += 1
                else:
                    self.supposed.add((n, slot, grown))
                    value = replace(a, sum=grown)
                    supposed = narrowed(supposed, _without_overflow(a.sum, begun.facts, grown, step.constant, a.itemsize))
            registers[slot] = replace(value, range=None, origins=origins)
        facts, both = {**supposed, **turned.facts}, dict[Linear, Range]()
        for sum_ in dict.fromkeys((*begun.facts, *facts)):
            at_first = sum_.without(turns.name)
            low, high = within(at_first, begun.facts)
            least, most = within(sum_, facts)
            found = min(low, least), max(high, most)
            if self.failed[n, sum_] <= WIDENED and found != sum_.range:
                both[sum_] = found
        if known is not None:
            for sum_, before in known.facts.items():
                now = both.get(sum_, before)
                if now[0] < before[0] or now[1] > before[1]:  # it widens with each turn
                    self.failed[n, sum_] += 1
        return WalkState(registers, both)

    # ------------------------------------------------------------ operations

    def _execute(self, n: int, i: int, op: P.Op, state: WalkState) -> None:
        """What an operation makes of a state."""
        if op.product is not None:
            self._execute(n, i, op.product, state)
        before = {slot: state.registers.get(slot) for slot in targets(op.target)}
        inside = self._guarded(op, state)
        results = self._results(op, inside)
        for slot in before:
            state.registers.pop(slot, None)
        for k, (target, value) in enumerate(zip(_each(op.target), results, strict=False)):
            kept = self._kept(target, value)
            if kept is None:
                continue
            slot, found = kept
            if op.guard is not None:
                old = before[slot]
                if not isinstance(found, SymbolicSum) or not isinstance(old, SymbolicSum):
                    continue
                found = either(found.where(inside.facts), old.where(state.facts))
            if isinstance(found, SymbolicSum) and found.sum is None:
                found = self._named(f"value {n}.{i}.{k}", found, state)
            state.registers[slot] = found

    @staticmethod
    def _named(name: str, value: SymbolicSum, state: WalkState) -> SymbolicSum:
        """A value of which only the range is known gets a symbol of its own."""
        low, high = value.proper().range or value.limits
        if (low, high) == value.limits:
            return value
        state.forget(name)
        return replace(value, sum=Linear.of(Unknown(name, low, high)), range=None)

    def _kept(self, target: P.Target, value: Any) -> tuple[int, Value] | None:
        """A result as a register keeps it; None where that is not known."""
        slot = _slot(target)
        if slot is None or value is None:
            return None
        dtype = self.frame.dtypes[slot]
        if isinstance(value, SymbolicPredicate):
            return (slot, value) if dtype.kind == "b" else None
        if not isinstance(value, SymbolicSum) or dtype.kind not in "iu" or dtype.itemsize != value.itemsize:
            return None
        return slot, replace(value, dtype=dtype)

    def _results(self, op: P.Op, state: WalkState) -> list[Any]:
        """What an operation gives, as far as it is known."""
        dtypes = [self.frame.dtypes[slot] if (slot := _slot(t)) is not None else None for t in _each(op.target)]
        if all(d is None or d.kind == "f" for d in dtypes):
            return []
        if op.how == "parameter":
            return [self._parameter(op.sources[0])]
        if op.how == "load" and op.meaning.access is not None and op.meaning.access.type.bytes < 8:  # no address, but for halves
            return [None if d is None or d.kind not in "iu" else _loaded(d, op.meaning.access.type) for d in dtypes]
        if op.how not in ("pure", "lanes", "move", "pointer", "pack", "unpack"):
            return []
        origins: Origins = frozenset()
        try:
            sources = [self.source(s, state) for s in op.sources]
            origins = union(v.origins for v in sources if isinstance(v, SymbolicSum))
            if op.how in ("pure", "lanes"):
                found = bound(op.meaning)(*([_Lanes()] if op.how == "lanes" else []), *sources)
            elif op.how == "pointer" and len(sources) == 2:
                found = sources[0] + sources[1].view(sources[0].dtype)
            else:
                found = sources[0] if op.how in ("move", "pointer") else None
        except (Untraceable, AttributeError, TypeError, IndexError, ValueError):  # it asks for what arrays have and these values have not
            found = None
        if found is None:
            read = [x for s in op.sources for x in leaves(s) if type(x) is int]
            origins = union([origins, *(v.origins for x in read if isinstance(v := state.registers.get(x), SymbolicSum))])
            origins = union([origins, *(None for x in read if self._may_point(x, state))])
            return [SymbolicSum(d, None, None, origins) if d is not None and d.kind in "iu" else None for d in dtypes]
        return list(found) if isinstance(found, tuple) else [found]

    def _may_point(self, slot: int, state: WalkState) -> bool:
        """May a register hold an address of which nothing is known?"""
        dtype = self.frame.dtypes.get(slot)
        return dtype is not None and dtype.kind in "iu" and dtype.itemsize == 8 and slot not in state.registers

    def _parameter(self, place: Any) -> SymbolicSum | None:
        """The value of a parameter of the launch."""
        assert isinstance(place, P.ParameterPlace) and place.dtype is not None
        if place.dtype.kind not in "iu":
            return None
        return self._number(place.dtype, int(self.launch.parameter(self.frame.parameter(place), place.dtype).item()))

    def _number(self, dtype: Any, value: int) -> SymbolicSum:
        """A number, which may be an address."""
        found = self.launch.arena.find(value) if dtype.itemsize == 8 else None
        return SymbolicSum(dtype, Linear((), value), origins=frozenset() if found is None else frozenset({found.start}))

    # ------------------------------------------------------------ operands

    def source(self, source: Any, state: WalkState) -> Any:
        """An operand, with all that is known where it is used."""
        match source:
            case int():
                return self._register(source, state)
            case P.SlotAs():
                return self._register(source.slot, state).view(source.wanted)
            case P.Pointer():
                value = self._register(source.slot, state)
                return value + value.dtype.type(source.offset & (1 << 8 * value.itemsize) - 1) if source.offset else value
            case P.AddressSource():
                base = self.source(source.base, state)
                return base + base.dtype.type(source.offset & (1 << 8 * base.itemsize) - 1) if source.offset else base
            case P.PlusConstant():
                base = self.source(source.source, state)
                return base + base.dtype.type(source.by & (1 << 8 * base.itemsize) - 1)
            case P.Special():
                found = self.specials.get(source.name)
                return SymbolicSum(source.dtype, found, facts=state.facts)
            case P.ScalarConstant():
                return source.value
            case P.Not():
                return ~self._register(source.slot, state)
            case P.FrameAddress() | P.ParameterAddress():
                return SymbolicSum(source.dtype, None, None, PRIVATE, state.facts)
        raise Untraceable("an operand of several values")

    def _register(self, slot: int, state: WalkState) -> Any:
        if slot in self.frame.constants:
            c = self.frame.constants[slot]
            if c.dtype.kind not in "iu":
                raise Untraceable("a constant that is no integer")
            return self._number(c.dtype, int(c.item())).where(state.facts)
        value, dtype = state.registers.get(slot), self.frame.dtypes[slot]
        if isinstance(value, SymbolicSum):
            return value.where(state.facts)
        if dtype.kind == "b":
            return UNKNOWN if value is None else value
        if dtype.kind not in "iu":
            raise Untraceable(f"a register of {dtype}")
        return SymbolicSum(dtype, None, None, None if dtype.itemsize == 8 else frozenset(), state.facts)


def _each(target: P.Target) -> list[P.Target]:
    return list(target.targets) if isinstance(target, P.Each) else [target]


def _loaded(dtype: DType, t: ScalarType) -> SymbolicSum:
    """What a load gives of a type narrower than an address."""
    fits = t.dtype.kind == "u" or t.dtype.itemsize == dtype.itemsize
    return SymbolicSum(dtype, None, SymbolicSum(t.dtype).limits if t.dtype.kind in "iu" and fits else None)


def _slot(target: P.Target) -> int | None:
    """The register that takes a single value as it is."""
    return target if isinstance(target, int) else target.slot if isinstance(target, P.Convert) else None


def _without_overflow(first: Linear, facts: Facts, growing: Linear, step: int, size: int) -> Facts:
    """That a register of so many bytes, which grows in a loop, stays within the range of a signed type, also with the next step, and that one
    which grows towards 0 does not reach it.
    """
    low, high = within(first, facts)
    limit = (1 << 8 * size - 1) - 1 - abs(step)
    return fact(growing, -limit if low < 0 else int(low > 0 > step), -1 if high < 0 < step else limit)


def _specials(launch: Launch) -> dict[str, Linear]:
    """What special registers are, in one launch."""
    out: dict[str, Linear] = {}
    for axis, block, grid in zip("xyz", launch.block, launch.grid, strict=True):
        out[f"%tid.{axis}"] = Linear.of(Unknown(f"tid.{axis}", 0, block - 1, True))
        out[f"%ctaid.{axis}"] = Linear.of(Unknown(f"ctaid.{axis}", 0, grid - 1, True))
        out[f"%ntid.{axis}"], out[f"%nctaid.{axis}"] = Linear((), block), Linear((), grid)
    out["%laneid"] = Linear.of(Unknown("laneid", 0, min(launch.threads, 32) - 1, True))
    return out
