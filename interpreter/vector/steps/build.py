"""From the plan of a function to its steps, quiet or observed."""

from __future__ import annotations

from functools import partial

from warplab.assembler.ir import Function

from ...observe import announced
from ...plan.plan import Manner, Segment
from ...program import LoadedKernel
from ..exchange import Exchange
from ..function import Step, VectorFunction, VectorSegment
from .ends import terminator
from .ops import guarded, unguarded


def code(kernel: LoadedKernel, f: Function, manner: Manner, *, observed: bool, native: bool = False) -> VectorFunction:
    """A function as it runs for a kernel; observed, it announces each instruction."""
    found: VectorFunction | None = kernel.codes.get((id(f), manner, observed, native))
    if found is None:
        plan = kernel.plan(f, manner)
        if native and not observed:
            from ...native.build import segment as compiled  # llvmlite may not be there

            made = VectorFunction(plan, partial(compiled, plan=plan, kernel=kernel))
        else:
            made = VectorFunction(plan, partial(segment, observed=observed))
        found = kernel.codes[id(f), manner, observed, native] = made
    return found


def segment(s: Segment, pc: int, observed: bool) -> VectorSegment:
    steps: list[Step] = []
    exchange = None
    for n, op in enumerate(s.ops):
        inner = unguarded(op)
        if n == 0 and isinstance(inner, Exchange):
            exchange = inner
        steps.append(inner if op.guard is None else guarded(op, op.guard, inner))
    terminate = terminator(s.end, pc)
    if observed:
        steps, terminate = announced(s, steps, terminate)
    return VectorSegment(tuple(steps), terminate, s.reads, s.writes, exchange, s, lambda step: s.ops[steps.index(step)].site)
