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
    by_pointer = False  # may whatever has an address be called, too?
    while left:
        f = kernel.resolve(left.pop())
        if id(f) not in met and f.body is not None:
            met.add(id(f))
            plan = kernel.plan(f)
            if not _comes_back(plan):
                return False
            called = [segment.end.callee for segment in plan.segments if isinstance(segment.end, Call)]
            left += [c for c in called if c is not None]
            by_pointer |= None in called
        if by_pointer and not left:
            left = [f for f in kernel.targets().values() if id(kernel.resolve(f)) not in met and f.body is not None]
    return True


def _comes_back(plan: PlanFunction) -> bool:
    ends = [segment.end for segment in plan.segments]
    if any(isinstance(end, Barrier | Sync | ClusterWait) or (isinstance(end, Leave) and end.what == "exit") for end in ends):
        return False
    return not any(arrives_at_cluster(op) for segment in plan.segments for op in segment.ops)
