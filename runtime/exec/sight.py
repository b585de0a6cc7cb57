"""What a run is watched with: a profile of every launch, checkers; and what is said of it when the program has ended."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..device.machine import machine
from ..device.observing import observing

if TYPE_CHECKING:
    from warplab.interpreter.checkers.checker import Checker
    from warplab.interpreter.checkers.findings import Findings

    from ..profiler import Profiling

TOOLS = ("memcheck", "synccheck")  # those that need to know nothing of what the host writes


@dataclass(eq=False)
class Sight:
    """What one served process is watched with."""

    profile: str = ""  # the page to write
    tools: tuple[str, ...] = ()
    _open: ExitStack = field(default_factory=ExitStack)
    _profiling: Profiling | None = None
    _findings: Findings | None = None
    _checkers: list[Checker] = field(default_factory=list)

    def begin(self, number: int) -> None:
        """From now on launches are watched; of several processes each but the first gets a page of its own."""
        if self.profile and number:
            root, ending = os.path.splitext(self.profile)
            self.profile = f"{root}.{os.getpid()}{ending}"
        if self.profile:
            from ..profiler import profiling

            self._profiling = self._open.enter_context(profiling())
        if self.tools:
            from warplab.interpreter.checkers.findings import Findings

            from ..run.sanitize import CHECKERS

            self._findings = Findings()
            self._checkers = [make(self._findings) for make in CHECKERS if make.tool in self.tools]
            for observer in [o for c in self._checkers for o in c.observers()]:
                self._open.enter_context(observing(lambda _, own=observer: own))  # type: ignore[misc]

    def of_child(self) -> Sight:
        """What a child that was forked is watched with: its launches count for nobody."""
        self._open.close()
        return Sight()

    def finish(self) -> bool:
        """Writes what was seen; did a checker find an error?"""
        self._open.close()
        if self._profiling is not None:
            from ..reports.html import page

            with open(self.profile, "w") as file:
                file.write(page(self._profiling.launches))
        if self._findings is None:
            return False
        from ..reports.findings import as_text

        for d in machine().devices:
            cause = d.primary.fault if d.primary is not None else None
            if cause is not None:
                for c in self._checkers:
                    c.failed(cause)
        for c in self._checkers:
            c.finish()
        sys.stderr.write(as_text(self._findings.all) + "\n")
        return any(f.severity == "error" for f in self._findings.all)
