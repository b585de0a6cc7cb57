"""What a run is watched with: a profile of every launch, checkers, a log of every call, a record of every launch, a launch for the debugger;
and what is said of it when the program has ended.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...device.launches.observing import watching
from ...device.memory.allocations import SPACE
from ...run.runspec import RunSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...clock.timeline import TimeSpan
    from ...device.launches.sanitizing import Sanitizer
    from ...profiler import Profiling
    from .call_log import CallLog
    from .kept import ChosenLaunch, KeptLaunch
    from .stacks import LaunchStacks
    from .summary import LaunchSummary


@dataclass(eq=False)
class Sight:
    """What one served process is watched with."""

    profile: str = ""  # the page to write; text or JSON, if its name ends so
    tools: tuple[str, ...] = ()
    checks: RunSpec = field(default_factory=lambda: RunSpec(()))  # what else is said of the checkers
    log: str = ""  # the trace to write
    record: str = ""  # the folder for golden tests
    junit: str = ""  # the report for a CI system
    keep: str = ""  # the folder for the recording of a launch
    error_code: int = 0  # of a program that succeeds, although a launch has failed or was refused; 0: its own
    stacks: bool = False  # are the log and the profile to say who has made each launch?
    chosen: ChosenLaunch | None = None  # which one; None: the one that ends early, or the last
    calls: CallLog | None = None
    _open: ExitStack = field(default_factory=ExitStack)
    _profiling: Profiling | None = None
    _spans: Sequence[TimeSpan] = ()
    _stacks: LaunchStacks | None = None
    _sanitizer: Sanitizer | None = None
    _kept: KeptLaunch | None = None
    _summary: LaunchSummary | None = None

    def begin(self, number: int, pid: int) -> None:
        """From now on launches of a process are watched; of several processes each but the first gets files of its own."""
        self.profile, self.log, self.junit = (numbered(path, number) for path in (self.profile, self.log, self.junit))
        if self.profile:
            from ...profiler import profiling

            self._profiling = self._open.enter_context(profiling(time=None))
            if self.stacks:
                from .stacks import LaunchStacks

                self._stacks = LaunchStacks()
                self._open.enter_context(watching(self._stacks.launch))
            if SPACE.clock is not None:
                self._spans = SPACE.clock.keep()
        if self.tools:
            from ...device.launches.sanitizing import sanitizing
            from ...run.sanitized import sanitizer_of

            self._sanitizer = sanitizer_of(" ".join(self.tools), self.checks, None)
            self._open.enter_context(sanitizing(self._sanitizer))
        if self.log:
            from .call_log import CallLog

            self.calls = CallLog(self.log, pid, self.stacks)
            self._open.enter_context(watching(self.calls.launch))
        if self.record:
            from .recorder import LaunchRecorder

            self._open.enter_context(watching(LaunchRecorder(self.record, f"{pid}-" if number else "").launch, alone=True))

        if self.junit:
            from .summary import LaunchSummary

            self._summary = LaunchSummary(self.junit)
            self._open.enter_context(watching(self._summary.launch))
        if self.keep:
            from .kept import KeptLaunch

            self._kept = KeptLaunch(self.keep, pid, self.chosen)
            self._open.enter_context(watching(self._kept.launch, alone=True))

    def of_child(self, pid: int) -> Sight:
        """What a child that was forked is watched with: as its parent, with files of its own."""
        self._open.close()
        out = replace(
            self, calls=None, _open=ExitStack(), _profiling=None, _spans=(), _stacks=None, _sanitizer=None, _kept=None, _summary=None
        )
        out.begin(1, pid)
        return out

    def finish(self) -> bool:
        """Writes what was seen; did a checker find an error?"""
        self._open.close()
        if self.calls is not None:
            self.calls.close()
        if self._profiling is not None:
            from ...reports.programs.program import report_as
            from .stacks import profiles_with

            profiles, launched = profiles_with(self._stacks, self._profiling.counters)
            with open(self.profile, "w", encoding="utf-8") as file:
                file.write(report_as(self.profile, profiles, self._spans, launched))
        if self._kept is not None:
            self._kept.finish()
        wrong, found = False, self._sanitizer
        if found is not None:
            found.finish()
            for error in found.unexplained:
                sys.stderr.write(f"error: {error}\n")
            sys.stderr.write(found.report() + "\n")
            wrong = bool(found.errors or found.unexplained)
        if self._summary is not None:
            self._summary.finish(() if found is None else found.findings)
        return wrong


def numbered(path: str, number: int) -> str:
    """The file of a process: the first has the path itself, each other one of its own."""
    root, ending = os.path.splitext(path)
    return f"{root}.{os.getpid()}{ending}" if path and number else path
