"""Graphs that run, and the graphs that their kernels launch."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from warplab.interpreter.faults import Deadlock

from .pending import Steps, Work

if TYPE_CHECKING:
    from .graphs import Executable

DEVICE_LAUNCH = 4  # a flag of what can be launched: kernels can, too
BEHIND = 1 << 56  # the stream of a graph that begins when the one that launches it has ended; those of all others may begin at once
LAUNCHABLE: dict[int, Executable] = {}  # by handle


@dataclass(slots=True)
class GraphRun:
    """A graph that the host has launched, and all that follow it."""

    now: Executable
    behind: list[Executable] = field(default_factory=list)


class RunningContext(Protocol):
    """What knows which graph its kernels belong to."""

    running: GraphRun | None


def within(context: RunningContext, run: GraphRun, work: Work) -> Steps:
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
