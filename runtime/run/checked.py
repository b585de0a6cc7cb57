"""Races, uninitialised values and wrong barriers in runs that nobody has asked to check: a small run is repeated under the checkers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from warplab.interpreter.checkers.tools import TOOLS
from warplab.interpreter.faults import LimitReached
from warplab.interpreter.launch import Launch

from ..device.output import quiet
from .runner import Runner

UNSEEN = " ".join(tool for tool in TOOLS if tool != "memcheck")  # what memcheck reports ends the run itself
# What a check of less than a second costs, in steps of one lane: a step of a wave costs as much as STEP lanes more, and so do the bytes of
# the buffers, which are filled once more.
MOST = 8_000_000
STEP, BYTES = 2048, 8
SECONDS = 10.0  # a guard for what is foreseen wrongly: so far away that a busy machine does not decide what is checked


class SmallRun:
    """A run that is checked afterwards if it was small."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.launches: list[Launch] = []

    def watching(self, then: Callable[[Launch], None]) -> Callable[[Launch], None]:
        """What a context tells of its launches."""

        def observe(launch: Launch) -> None:
            self.launches.append(launch)
            then(launch)

        return observe

    @property
    def cost(self) -> int:
        """What its check will cost, foreseen from what the run itself executed."""
        steps = sum(launch.steps * (launch.blocks_per_wave * launch.threads + STEP) for launch in self.launches)
        return steps + sum(b.before.nbytes for b in self.runner.outcome.buffers.values()) // BYTES

    def check(self) -> str:
        """The checkers, whose findings the outcome then has; "" if the run was too large, "none" if it did not end."""
        if self.runner.outcome.failure:
            return "none"
        if self.cost > MOST:
            return ""
        spec = replace(self.runner.spec, sanitize=UNSEEN, timeout=SECONDS)
        other = Runner(self.runner.texts, self.runner.names, spec, self.runner.folder)
        with quiet():
            found = other.run()
        other.close()
        if isinstance(found.cause, LimitReached):
            return ""
        self.runner.outcome.findings = found.findings
        return UNSEEN
