"""What a checker is: an observer of a whole run that reports Findings, and hears what the host does between launches."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..faults import ExecutionError
from ..memory.arena import Arena
from ..observe import Observer
from .findings import Findings
from .initcheck.values import UnsetValues


@dataclass(eq=False)
class CheckedRun:
    """What the checkers of a run share."""

    findings: Findings
    strict: bool = False  # is it an error what CUDA C++ leaves undefined, though PTX defines it?
    leaks: bool = True  # is it an error what a kernel's malloc gave, and nobody has freed at the end?
    in_order: bool = False  # is it known of all launches and copies, those to come included, that each comes after all before it?

    @functools.cached_property
    def values(self) -> UnsetValues:
        """The undefined bits, which are followed if a checker asks for them."""
        return UnsetValues()


class Checker(Observer):
    """One tool; it takes part in all launches of a run and adds to the findings that it shares with the others.

    A class with the name of the tool, and a row in tools.py, make a tool that every command knows.
    """

    gap: ClassVar[int] = 0  # bytes that the tool needs between variables in shared memory

    def __init__(self, run: CheckedRun) -> None:
        self.findings = run.findings

    @property
    def tool(self) -> str:
        """The tool's name."""
        return type(self).__name__.lower()

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

    def explains(self, error: ExecutionError) -> bool:
        """Does a finding report what ended a launch?  A limit or a trap is not a finding."""
        return False

    def finish(self) -> None:
        """The run is over; what shows only now is reported."""
