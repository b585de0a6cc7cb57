"""synccheck: barriers and masks that the rules of the instruction forbid, and launches in which nobody can go on."""

from __future__ import annotations

from typing import ClassVar

from ..faults import Deadlock, ExecutionError
from .checker import Checker
from .findings import Finding, Tool


class Synccheck(Checker):
    """Reports deadlocks."""

    tool: ClassVar[Tool] = "synccheck"

    def failed(self, error: ExecutionError) -> None:
        """See Checker."""
        if not isinstance(error, Deadlock):
            return
        for w in error.waiting:
            self.findings.add(
                Finding(
                    self.tool, "deadlock", f"{w.lanes} threads wait for {w.wants}; {w.missing}", None, w.line or None, None,
                    error.kernel, w.block, w.thread, count=w.lanes, instruction=w.instruction, source=w.source,
                )
            )  # fmt: skip
