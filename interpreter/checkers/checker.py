"""What a checker is: an observer of a whole run that reports Findings, and hears what the host does between launches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

    @property
    def depends_on_order(self) -> bool:
        """May another order of the same run show more?"""
        return False

    def observers(self) -> Iterable[Observer]:
        """Who listens to the launches: the checker itself, unless it leaves that to another."""
        return (self,)

    def unset(self, arena: Arena, address: int, size: int) -> None:
        """Memory was made that the host left unset."""

    def written(self, arena: Arena, address: int, size: int) -> None:
        """The host, or a copy of a stream, writes memory."""

    def read(self, arena: Arena, address: int, size: int) -> None:
        """The host, or a copy of a stream, reads memory."""

    def queued(self, stream: str | None, after: Sequence[str] = ()) -> None:
        """What comes next is work of a stream, behind all that some others have so far; None: it comes after all before it.

        Nothing but that, events and the host orders streams.
        """

    def recorded(self, event: str, stream: str | None) -> None:
        """An event is recorded on a stream; None: it stands for all work so far."""

    def awaited(self, event: str, stream: str) -> None:
        """A stream waits for an event."""

    def synchronized(self, event: str = "", stream: str = "") -> None:
        """The host has waited for an event, for a stream, or for all launches."""

    def failed(self, error: ExecutionError) -> None:
        """A launch or a call of the host ended in an error."""

    def finish(self) -> None:
        """The run is over; what shows only now is reported."""
