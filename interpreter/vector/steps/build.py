"""From the plan of a function to its steps, quiet or observed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from warplab.assembler.ir import Function

from ...plan.plan import LoweringOptions, Op, PlanFunction, Segment
from ...plan.uses import live_before, live_behind, mask_of, written
from ...program import LoadedKernel
from ..function import Step, VectorFunction, VectorSegment
from ..observed import announced
from ..waiting.exchange import Exchange
from .ends import terminator
from .late import in_any_order
from .ops import guarded, unguarded


def code(kernel: LoadedKernel, f: Function, lowering: LoweringOptions, *, observed: bool) -> VectorFunction:
    """A function as it runs for a kernel; observed, it announces each instruction."""
    found: VectorFunction | None = kernel.codes.get((id(f), lowering, observed))
    if found is None:
        plan = kernel.plan(f, lowering)
        made = VectorFunction(plan, partial(segment, plan, observed=observed, stops=lowering.stops))
        found = kernel.codes[id(f), lowering, observed] = made
    return found


def segment(plan: PlanFunction, s: Segment, pc: int, observed: bool, stops: bool = False) -> VectorSegment:
    steps: list[Step] = []
    exchange = None
    unread = frozenset[int]() if observed else _unread(plan, s)
    for n, op in enumerate(s.ops):
        inner = unguarded(_without_result(op) if n in unread else op)
        if n == 0 and isinstance(inner, Exchange):
            exchange = inner
        steps.append(inner if op.guard is None else guarded(op, op.guard, inner))
    terminate = terminator(s.end, pc)
    if stops:
        steps, terminate = in_any_order(s, steps, terminate)
    if observed:
        steps, terminate = announced(s, steps, terminate)
    return VectorSegment(tuple(steps), terminate, s.reads, s.writes, exchange, s)


def _without_result(op: Op) -> Op:
    return op._replace(meaning=replace(op.meaning, words=(*op.meaning.words, ("returns", False))))


def _unread(plan: PlanFunction, s: Segment) -> frozenset[int]:
    """The atomic operations of a segment of which nobody reads what they find: compilers write atom for red, too."""
    updates = {n for n, op in enumerate(s.ops) if op.meaning.form.facts.access == "atomic"}
    if not updates:
        return frozenset()
    live, out = live_behind(plan, s), set[int]()
    for n in reversed(range(len(s.ops))):
        if n in updates and not mask_of(written(s.ops[n])) & live:
            out.add(n)
        live = live_before(s.ops[n], live)
    return frozenset(out)
