"""How far each register varies at each place of a plan: one value for the wave, one for each block, or one for each lane.

What is written while lanes are apart and read where they have met again varies as far as what parted them; so does what one way writes
and another still needs as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..plan import plan as P

ONE, ROW, LANE = range(3)
Kinds = dict[int, int]  # slot -> kind; a slot that is missing holds one value

_LANES = ("%tid", "%laneid", "%warpid", "%lanemask")
_BLOCKS = ("%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank", "%smid")


def kind_of_special(name: str) -> int:
    """A special register's kind."""
    return LANE if name.startswith(_LANES) else ROW if name.startswith(_BLOCKS) else ONE


def successors(end: Any) -> list[int]:
    """The places to which an end may lead; EXIT is not one."""
    match end:
        case P.Jump():
            out = [end.to]
        case P.Branch():
            out = [end.taken, end.fall]
        case P.Table():
            out = [*end.targets, *([end.fall] if end.guard is not None else [])]
        case P.Call():
            out = [end.after]
        case P.Leave():
            out = [end.fall] if end.guard is not None else []
        case _:
            out = [end.past]
    return [pc for pc in dict.fromkeys(out) if pc != P.EXIT]


class Variance:
    """The kinds of a function's registers at the start of each segment."""

    def __init__(self, plan: P.PlanFunction) -> None:
        self.plan = plan
        self.next = [successors(s.end) for s in plan.segments]
        self.meet = _meeting_places(self.next)
        self.apart: dict[int, Kinds] = {n: {} for n in range(len(plan.segments))}  # the least kind of what a segment writes, by slot
        self.entry: list[Kinds] = [{} for _ in plan.segments]
        self._solve()

    def _solve(self) -> None:
        while True:
            work = set(range(len(self.plan.segments)))
            while work:
                n = min(work)
                work.discard(n)
                kinds = dict(self.entry[n])
                self.through(n, kinds)
                for s in self.next[n]:
                    live, grown = self.plan.live_in[s], False
                    for slot, kind in kinds.items():
                        if live >> slot & 1 and kind > self.entry[s].get(slot, ONE):
                            self.entry[s][slot], grown = kind, True
                    if grown:
                        work.add(s)
            if not self._part():
                return

    def through(self, n: int, kinds: Kinds) -> None:
        """What the operations of a segment do to kinds."""
        for op in self.plan.segments[n].ops:
            self.op(n, op, kinds)

    def op(self, n: int, op: P.Op, kinds: Kinds) -> int:
        """One operation; gives the kind of its result."""
        kind = max((kind_of(s, kinds) for s in op.sources), default=ONE)
        if op.how in ("lanes", "warps", "carry", "effect"):
            kind = LANE
        if op.how == "load" and op.meaning.access is not None and op.meaning.access.space not in ("global", "const"):
            kind = max(kind, LANE if op.meaning.access.space == "local" else ROW)
        guard = ONE if op.guard is None else kinds.get(op.guard.slot, ONE)
        for slot in slots_written(op.target):
            own = max(kind, guard, kinds.get(slot, ONE)) if op.guard is not None else kind
            kinds[slot] = max(own, self.apart[n].get(slot, ONE))
        if op.product is not None:
            self.op(n, op.product, kinds)
        return kind

    def condition(self, n: int) -> int:
        """The kind of what a segment's end asks."""
        end, kinds = self.plan.segments[n].end, dict(self.entry[n])
        self.through(n, kinds)
        guard = getattr(end, "guard", None)
        kind = ONE if guard is None else kinds.get(guard.slot, ONE)
        return max(kind, kind_of(end.index, kinds)) if isinstance(end, P.Table) else kind

    def _part(self) -> bool:
        """Lanes part where a condition varies: what is written before they meet varies, too."""
        grown = False
        for n in range(len(self.plan.segments)):
            kind = self.condition(n)
            if kind == ONE:
                continue
            meet = self.meet[n]
            held = 0 if meet is None else self.plan.live_in[meet]
            for s in self.next[n]:
                if s != meet:
                    held |= self.plan.live_in[s]
            for s in self.between(n):
                for op in self.plan.segments[s].ops:
                    for slot in slots_written(op.target) + (slots_written(op.product.target) if op.product else []):
                        if held >> slot & 1 and kind > self.apart[s].get(slot, ONE):
                            self.apart[s][slot], grown = kind, True
        return grown

    def between(self, n: int) -> set[int]:
        """The segments that lanes which part at n may run before they meet."""
        out: set[int] = set()
        work = list(self.next[n])
        while work:
            s = work.pop()
            if s != self.meet[n] and s not in out:
                out.add(s)
                work += self.next[s]
        return out


def kind_of(s: Any, kinds: Kinds) -> int:
    """The kind of an operand."""
    match s:
        case int():
            return kinds.get(s, ONE)
        case P.SlotAs() | P.Packed() | P.Not() | P.Pointer():
            return kinds.get(s.slot, ONE)
        case P.Tuple():
            return max((kind_of(e, kinds) for e in s.sources), default=ONE)
        case P.PlusConstant():
            return kind_of(s.source, kinds)
        case P.AddressSource():
            return kind_of(s.base, kinds)
        case P.Special():
            return kind_of_special(s.name)
        case P.FrameAddress():
            return LANE
        case _:
            return ONE


def slots_written(t: P.Target) -> list[int]:
    """The slots that a target sets."""
    match t:
        case None:
            return []
        case int():
            return [t]
        case P.Each():
            return [x for e in t.targets for x in slots_written(e)]
        case _:
            return [t.slot]


def slots_of(s: Any) -> list[int]:
    """The slots that an operand reads."""
    match s:
        case int():
            return [s]
        case P.SlotAs() | P.Packed() | P.Not() | P.Pointer():
            return [s.slot]
        case P.Tuple():
            return [x for e in s.sources for x in slots_of(e)]
        case P.PlusConstant():
            return slots_of(s.source)
        case P.AddressSource():
            return slots_of(s.base)
        case _:
            return []


def slots_read(op: P.Op) -> list[int]:
    """The slots that an operation reads: its operands', its guard's, and those that it keeps where the guard does not hold."""
    out = [] if op.guard is None else [op.guard.slot, *op.keeps]
    for s in op.sources:
        out += slots_of(s)
    return out + ([] if op.product is None else slots_read(op.product))


def _meeting_places(next_: Sequence[Sequence[int]]) -> list[int | None]:
    """The immediate post-dominator of each place; None where lanes meet only behind the end."""
    n = len(next_)
    after: list[set[int]] = [set(range(n + 1)) for _ in range(n)]  # n stands for the end
    changed = True
    while changed:
        changed = False
        for i in reversed(range(n)):
            sets = [after[s] | {s} for s in next_[i]] or [{n}]
            new = set.intersection(*sets)
            if new != after[i]:
                after[i], changed = new, True
    out: list[int | None] = []
    for i in range(n):
        nearest = max(after[i] - {n}, key=lambda x: len(after[x] | {x}), default=None)
        out.append(nearest)
    return out
