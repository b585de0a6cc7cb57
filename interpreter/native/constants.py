"""Operands of instructions across lanes that are constants, whatever way lanes came: compilers put the distances of shuffles into registers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from warplab.assembler.flow.graphs import predecessors

from ..plan import plan as P
from ..plan.uses import set_by, successors, written


def with_constants(plan: P.PlanFunction) -> P.PlanFunction:
    """The plan in which such operands name the constants; membermasks, for which lanes also wait, stay as they are."""
    if not any(op.how == "warps" for s in plan.segments for op in s.ops):
        return plan
    found, masks = _Constants(plan), {s.end.past: s.end.mask for s in plan.segments if isinstance(s.end, P.Sync)}
    segments = []
    for n, s in enumerate(plan.segments):
        ops = list(s.ops)
        for i, op in enumerate(ops):
            if op.how == "warps":
                ops[i] = op._replace(sources=tuple([x if x == masks.get(n) else found.source(n, i, x) for x in op.sources]))
        segments.append(replace(s, ops=tuple(ops)))
    return replace(plan, segments=segments)


class _Constants:
    """What is found out about the registers of a plan."""

    def __init__(self, plan: P.PlanFunction) -> None:
        self.plan = plan
        self.before = predecessors([tuple(successors(s.end)) for s in plan.segments])
        self.dtypes = {s: h.dtype for h in plan.homes.values() for s in range(h.slot, h.slot + h.width)}

    def source(self, n: int, i: int, source: P.Source) -> P.Source:
        """An operand of an operation of a segment, or of its end."""
        slot: Any = source.slot if isinstance(source, P.SlotAs) else source
        if type(slot) is not int or slot >= self.plan.first_constant:
            return source
        constant = self._at(n, i, slot)
        if constant is None:
            return source
        return source._replace(slot=constant) if isinstance(source, P.SlotAs) else constant

    def _at(self, n: int, i: int, slot: int) -> int | None:
        """The constant that a register holds before an operation of a segment."""
        found, left, seen = set[int | None](), [(n, i)], set[int]()
        while left and None not in found:
            s, last = left.pop()
            if (own := self._set(s, last, slot)) is not None:
                found |= own
                continue
            if s == 0:
                found.add(None)  # where lanes begin
            left += [(p, len(self.plan.segments[p].ops)) for p in self.before[s] if p not in seen]
            seen.update(self.before[s])
            found |= {None for p in self.before[s] if slot in set_by(self.plan.segments[p].end)}
        return found.pop() if len(found) == 1 else None

    def _set(self, n: int, last: int, slot: int) -> set[int | None] | None:
        """What the operations of a segment before one leave in a register; None if they do not set it."""
        for op in reversed(self.plan.segments[n].ops[:last]):
            if slot in written(op):
                return {self._moved(op)}
        return None

    def _moved(self, op: P.Op) -> int | None:
        """The constant that an operation sets its target to."""
        if op.how != "move" or op.guard is not None or type(op.sources[0]) is not int or type(op.target) is not int:
            return None
        constant = op.sources[0] - self.plan.first_constant
        return op.sources[0] if constant >= 0 and self.plan.constants[constant].dtype == self.dtypes[op.target] else None
