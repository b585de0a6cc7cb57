"""A plan's segments as part of another plan: with other slots, other places and another frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from .plan import (
    EXIT,
    AddressSource,
    Barrier,
    Branch,
    Call,
    ClusterWait,
    Convert,
    Each,
    End,
    Exits,
    FrameAddress,
    FramePlace,
    Guard,
    Home,
    InFrame,
    Jump,
    Leave,
    LoopExit,
    Not,
    Op,
    Pack,
    Packed,
    PlusConstant,
    Pointer,
    RegisterResult,
    Segment,
    SlotAs,
    Source,
    Sync,
    Table,
    Target,
    Tuple,
    Turns,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Renaming:
    """How one plan stands in another."""

    slot: Callable[[int], int]
    offset: Callable[[int], int]  # of the frame
    first: int  # place of its first segment
    count: int  # of its segments
    exit: int  # where its lanes go when they return; EXIT: they end

    def place(self, pc: int) -> int:
        """A place."""
        return self.exit if pc == EXIT else self.first + pc

    def mask(self, slots: int) -> int:
        """Slots of registers, as a mask."""
        out = 0
        while slots:
            low = slots & -slots
            out |= 1 << self.slot(low.bit_length() - 1)
            slots ^= low
        return out

    def source(self, s: Source) -> Source:
        """An operand that is read."""
        match s:
            case int():
                return self.slot(s)
            case SlotAs() | Packed() | Not() | Pointer():
                return s._replace(slot=self.slot(s.slot))
            case Tuple():
                return Tuple(tuple([self.source(e) for e in s.sources]))
            case PlusConstant():
                return s._replace(source=self.source(s.source))
            case AddressSource():
                return s._replace(base=self.source(s.base))
            case FrameAddress() | FramePlace():
                return s._replace(offset=self.offset(s.offset))
        return s

    def target(self, t: Target) -> Target:
        """An operand that is written."""
        match t:
            case None:
                return None
            case int():
                return self.slot(t)
            case Each():
                return t._replace(targets=tuple([self.target(e) for e in t.targets]))
            case Convert() | Pack():
                return t._replace(slot=self.slot(t.slot))

    def op(self, op: Op) -> Op:
        """An operation."""
        return op._replace(
            target=self.target(op.target), sources=tuple([self.source(s) for s in op.sources]), guard=self.guard(op.guard),
            keeps=tuple([self.slot(s) for s in op.keeps]), product=None if op.product is None else self.op(op.product),
        )  # fmt: skip

    def guard(self, guard: Guard | None) -> Guard | None:
        """A guard."""
        return None if guard is None else Guard(self.slot(guard.slot), guard.negated)

    def segment(self, s: Segment) -> Segment:
        """A segment."""
        reads, writes = tuple([self.slot(r) for r in s.reads]), self.mask(s.writes)
        return Segment(s.block, tuple([self.op(op) for op in s.ops]), self.end(s.end), s.site, reads, writes, s.length)

    # ------------------------------------------------------------ ends

    def end(self, end: End) -> End:
        """How a segment ends; a return from a function leads to what follows its call."""
        match end:
            case Jump():
                return Jump(self.place(end.to), self._exits(end.exits), self._turns(end.turns))
            case Branch():
                return replace(
                    end, guard=self._sure(end.guard), taken=self.place(end.taken), fall=self.place(end.fall), join=self.place(end.join),
                    exits=self._exits(end.exits), turns=self._turns(end.turns), first=None if end.first is None else self.place(end.first),
                )  # fmt: skip
            case Table():
                return replace(
                    end, index=self.source(end.index), targets=tuple([self.place(pc) for pc in end.targets]), guard=self.guard(end.guard),
                    fall=self.place(end.fall), join=self.place(end.join), exits=self._exits(end.exits), turns=self._turns(end.turns),
                )  # fmt: skip
            case Leave():
                return self._leave(end)
            case Call():
                return self._call(end)
            case Barrier():
                reduction = end.reduction
                if reduction is not None:
                    reduction = replace(reduction, value=self.source(reduction.value), target=self.target(reduction.target))
                count = None if end.count is None else self.source(end.count)
                return replace(
                    end,
                    number=self.source(end.number),
                    count=count,
                    reduction=reduction,
                    past=self.place(end.past),
                    guard=self.guard(end.guard),
                )
            case Sync():
                mask = None if end.mask is None else self.source(end.mask)
                return replace(end, mask=mask, past=self.place(end.past), guard=self.guard(end.guard))
            case ClusterWait():
                return ClusterWait(self.place(end.past), self.guard(end.guard))

    def _leave(self, end: Leave) -> End:
        fall = self.place(end.fall)
        if end.what != "ret" or self.exit == EXIT:
            return replace(end, guard=self.guard(end.guard), fall=fall, join=self.place(end.join), turns=self._turns(end.turns))
        out = {self.exit: LoopExit(self.exit, frozenset(range(self.first, self.first + self.count)))}  # of all loops of the function
        if end.guard is None or fall == self.exit:
            return Jump(self.exit, out)
        return Branch(self._sure(end.guard), self.exit, fall, self.exit, out, self._turns(end.turns), rides=False, first=None)

    def _call(self, end: Call) -> Call:
        arguments = tuple([InFrame(self.offset(a.offset)) if isinstance(a, InFrame) else self.source(a) for a in end.arguments])
        pointer = None if end.pointer is None else self.source(end.pointer)
        results = tuple([self.result(r) for r in end.results])
        return Call(end.callee, pointer, arguments, results, self.place(end.after), self.guard(end.guard))

    def result(self, r: RegisterResult | InFrame | None) -> RegisterResult | InFrame | None:
        """Where a call puts a result."""
        match r:
            case InFrame():
                return InFrame(self.offset(r.offset))
            case RegisterResult():
                return RegisterResult(self.target(r.target), self.home(r.home))
        return None

    def home(self, home: Home) -> Home:
        """Where a register lives."""
        return replace(home, slot=self.slot(home.slot))

    def _sure(self, guard: Guard) -> Guard:
        return Guard(self.slot(guard.slot), guard.negated)

    def _exits(self, exits: Exits) -> Exits:
        return {self.place(to): LoopExit(self.place(way.join), frozenset(map(self.place, way.inside))) for to, way in exits.items()}

    def _turns(self, turns: Turns) -> Turns:
        return {self.place(to): limit for to, limit in turns.items()}
