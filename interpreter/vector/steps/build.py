"""From the plan of a function to its steps, quiet or observed."""

from __future__ import annotations

from functools import partial

from warplab.assembler.ir import Function

from ...plan.plan import LoweringOptions, Segment
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
        made = VectorFunction(kernel.plan(f, lowering), partial(segment, observed=observed, stops=lowering.stops))
        found = kernel.codes[id(f), lowering, observed] = made
    return found


def segment(s: Segment, pc: int, observed: bool, stops: bool = False) -> VectorSegment:
    steps: list[Step] = []
    exchange = None
    for n, op in enumerate(s.ops):
        inner = unguarded(op)
        if n == 0 and isinstance(inner, Exchange):
            exchange = inner
        steps.append(inner if op.guard is None else guarded(op, op.guard, inner))
    terminate = terminator(s.end, pc)
    if stops:
        steps, terminate = in_any_order(s, steps, terminate)
    if observed:
        steps, terminate = announced(s, steps, terminate)
    return VectorSegment(tuple(steps), terminate, s.reads, s.writes, exchange, s)
