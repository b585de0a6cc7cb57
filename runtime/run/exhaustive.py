"""`--schedules exhaustive`: all orders of a small launch, or two of them that come to different ends."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from warplab.interpreter.checkers.findings import Finding
from warplab.interpreter.faults import Deadlock
from warplab.interpreter.litmus.events import NotModelled
from warplab.interpreter.litmus.stepping import EndsInError

from ..errors import UsageError
from ..reports.tables import counted
from .order_parts import MOST_ORDERS, OrdersCompared, can_fork, explorer_of, on_cluster, side_by_side
from .outcome import Outcome
from .runner import Runner

MOST_THREADS = 1024
SECONDS = 60.0  # of exploring
ALONE = 1.0  # seconds behind which processes, or a cluster, explore parts of the orders side by side


@dataclass(frozen=True, slots=True)
class ExhaustiveOrders:
    """What came of the orders of a launch, or of the first of them if there are too many."""

    count: int
    complete: bool
    difference: tuple[str, ...] | None = None  # lines about two orders that differ
    is_fault: bool = False
    failed: bool = False  # does the default order end in an error?
    findings: tuple[Finding, ...] = ()  # none: checkers do not watch these orders

    def __str__(self) -> str:
        if self.difference is not None:
            return "\n".join(self.difference)
        if not self.count:
            return "no orders were compared: " + ("the run ends in an error" if self.failed else f"one takes more than {SECONDS:g} seconds")
        number = counted(self.count, "order")
        if self.complete:
            return (
                f"all {number} give this result"
                if self.count > 1
                else "all orders give this result: conflicting accesses come in one order only"
            )
        return f"the first {number} give this result; there are more than could be looked at"

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"orders": self.count, "complete": self.complete, "difference": self.difference and list(self.difference)}


def exhaustive_orders(runner: Runner, outcome: Outcome) -> ExhaustiveOrders:
    """Goes through the orders of a run that was carried out, until two differ."""
    if len(runner.trail) != 1:
        raise UsageError(f"--schedules exhaustive goes through the orders of one launch, and this run has {len(runner.trail)}")
    shape = runner.trail[0][1]
    threads = int(np.prod(shape.grid)) * int(np.prod(shape.block))
    if threads > MOST_THREADS:
        raise UsageError(f"--schedules exhaustive goes through launches of {MOST_THREADS} threads at most, and this one has {threads}")
    if outcome.failure and not isinstance(outcome.cause, Deadlock):
        return ExhaustiveOrders(0, False, failed=True)
    kept: list[Runner] = []
    until = time.monotonic() + SECONDS
    try:
        explorer = explorer_of(runner, kept)
        first = next(explorer.ends(until))
        if first is None:
            return ExhaustiveOrders(0, False)
        compared = OrdersCompared(explorer, kept[0], first)
        scheduler = runner.spec.scheduler
        shared = bool(scheduler) or can_fork()
        seen = compared.part((), min(until, time.monotonic() + ALONE) if shared else until)
        if seen.time_is_over and shared:
            seen = on_cluster(compared, until, scheduler) if scheduler else side_by_side(compared, until)
    except EndsInError as e:
        return ExhaustiveOrders(1, False, ("one order ends in an error:", *str(e).split("\n")), True)
    except NotModelled as e:
        raise UsageError(f"--schedules exhaustive does not cover {e}") from None
    finally:
        for one in kept:
            one.close()
    if seen.error:
        return ExhaustiveOrders(seen.count, False, ("one order ends in an error:", *seen.error.split("\n")), True)
    if seen.lines:
        return ExhaustiveOrders(seen.count, False, seen.lines, not outcome.checked)
    return ExhaustiveOrders(min(seen.count, MOST_ORDERS), not seen.time_is_over and seen.count < MOST_ORDERS)
