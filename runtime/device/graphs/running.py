"""The work of a graph that runs, while which its context knows that it does."""

from __future__ import annotations

from contextlib import suppress

from warplab.interpreter.faults import Deadlock

from ..state import DeviceState
from .pending import Steps, Work


def within(context: DeviceState, run: object, work: Work) -> Steps:
    """Does a piece of a graph's work; the context knows while it does."""

    def following() -> Deadlock | None:
        before, context.running = context.running, run
        try:
            return next(steps, None)
        finally:
            context.running = before

    steps: Steps = iter(())
    before, context.running = context.running, run
    try:
        steps = work() or steps
    finally:
        context.running = before
    while (standstill := following()) is not None:
        try:
            yield standstill
        except Deadlock as end:
            with suppress(StopIteration):
                steps.throw(end)  # type: ignore[attr-defined]
            return
