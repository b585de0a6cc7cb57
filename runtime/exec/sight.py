"""What a run is watched with: a profile of every launch, checkers; and what is said of it when the program has ended."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..device.machine import machine

if TYPE_CHECKING:
    from ..device.sanitizing import Sanitizer
    from ..profiler import Profiling

TOOLS = ("memcheck", "synccheck")  # those that need to know nothing of what the host writes


@dataclass(eq=False)
class Sight:
    """What one served process is watched with."""

    profile: str = ""  # the page to write
    tools: tuple[str, ...] = ()
    _open: ExitStack = field(default_factory=ExitStack)
    _profiling: Profiling | None = None
    _sanitizer: Sanitizer | None = None

    def begin(self, number: int) -> None:
        """From now on launches are watched; of several processes each but the first gets a page of its own."""
        if self.profile and number:
            root, ending = os.path.splitext(self.profile)
            self.profile = f"{root}.{os.getpid()}{ending}"
        if self.profile:
            from ..profiler import profiling

            self._profiling = self._open.enter_context(profiling())
        if self.tools:
            from ..device.sanitizing import sanitizing

            self._sanitizer = self._open.enter_context(sanitizing(" ".join(self.tools)))

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
        if self._sanitizer is None:
            return False
        for d in machine().devices:
            cause = d.primary.fault if d.primary is not None else None
            if cause is not None:
                self._sanitizer.failed(cause)
        self._sanitizer.finish()
        sys.stderr.write(self._sanitizer.report() + "\n")
        return bool(self._sanitizer.errors)
