"""What a checker is: an observer of a whole run that reports Findings, and hears what the host does between launches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from ..faults import ExecutionError
from ..memory.arena import Arena
from ..observe import Observer
from .findings import Findings, Tool


class Checker(Observer):
    """One tool; it takes part in all launches of a run and adds to the findings that it shares with the others."""

    tool: ClassVar[Tool]

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def observers(self) -> Iterable[Observer]:
        """Who listens to the launches: the checker itself, unless it leaves that to another."""
        return (self,)

    def unset(self, arena: Arena, address: int, size: int) -> None:
        """Memory was made that the host left unset."""

    def written(self, arena: Arena, address: int, size: int) -> None:
        """The host has written memory."""

    def failed(self, error: ExecutionError) -> None:
        """A launch or a call of the host ended in an error."""

    def finish(self) -> None:
        """The run is over; what shows only now is reported."""
