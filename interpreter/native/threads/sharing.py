"""Whether launches of a kernel run on several threads: where it is worth it, and the order of blocks makes no difference.

To find that out takes time, too; it is spent when as much has been spent on launches that it might have made faster.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ...launch import Launch
from ...plan.plan import Call, ClusterWait, PlanFunction
from ..emit.tracing import Tracing
from ..frame import Frame
from .independence import independent, is_plain

LEAST = 0.002  # CPU seconds that a launch has left at least, for the threads to be worth it
EACH = 0.001  # for each operation, to find out whether blocks are independent
MOST = 64  # launches that are remembered


class ThreadSharing:
    """What is known of one kernel."""

    def __init__(self, plan: PlanFunction, frame: Frame, tracing: Tracing) -> None:
        self.plan, self.frame, self.tracing = plan, frame, tracing
        self.known: dict[Any, bool] = {}  # whether blocks are independent, by all that it depends on
        self.seconds = 0.0  # in launches of which it is not known

    @cached_property
    def operations(self) -> int:
        """How many there are; 0 if one of them is never executed on several threads."""
        ops = [op for s in self.plan.segments for op in s.ops]
        plain = all(is_plain(op, self.tracing) for op in ops) and not any(isinstance(s.end, Call | ClusterWait) for s in self.plan.segments)
        return len(ops) if plain else 0

    def may_be(self, launch: Launch) -> bool:
        """Is it worth a look?"""
        o = launch.options
        return o.threads > 1 and o.max_steps is None and o.poison is None and launch.cluster_size == 1 and self.operations > 0

    def is_worth(self, launch: Launch, seconds: float) -> bool:
        """Does a launch run on several threads that would take so many more seconds on one?"""
        if seconds < LEAST:
            return False
        key = launch.grid, launch.block, launch.parameters.tobytes(), launch.arena.version
        if key not in self.known:
            self.seconds += seconds
            if self.seconds < EACH * self.operations:
                return False
            self.seconds = 0
            if len(self.known) >= MOST:
                self.known.clear()
            self.known[key] = independent(launch, self.plan, self.frame, self.tracing)
        return self.known[key]
