"""Calls that stay calls, of recursive functions and of the device runtime: which of them numpy can execute while compiled code has the wave."""

from __future__ import annotations

from warplab.assembler.ir import Function

from ..plan.plan import Barrier, Call, ClusterWait, Leave, PlanFunction, Sync
from ..program import LoadedKernel
from .cut import arrives_at_cluster


def returns(kernel: LoadedKernel, function: Function) -> bool:
    """Do lanes that call a function come back from it without waiting for other lanes, and does none of them end there?"""
    met: set[int] = set()
    left = [function]
    while left:
        f = kernel.resolve(left.pop())
        if id(f) in met or f.body is None:
            continue
        met.add(id(f))
        plan = kernel.plan(f)
        called = [segment.end.callee for segment in plan.segments if isinstance(segment.end, Call)]
        if None in called or not _comes_back(plan):
            return False
        left += [c for c in called if c is not None]
    return True


def _comes_back(plan: PlanFunction) -> bool:
    ends = [segment.end for segment in plan.segments]
    if any(isinstance(end, Barrier | Sync | ClusterWait) or (isinstance(end, Leave) and end.what == "exit") for end in ends):
        return False
    return not any(arrives_at_cluster(op) for segment in plan.segments for op in segment.ops)
