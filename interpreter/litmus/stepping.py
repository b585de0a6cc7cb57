"""The engine as an oracle of threads: what each does when its loads have given some values, up to the load whose value is not known yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..plan.plan import Site
from ..values import Array
from .events import Given, Location, MemoryEvent, NotModelled, Thread
from .executions import Guesser, State

MOST_LOADS = 256  # of a thread


class EndsInError(Exception):
    """A launch that ends early where loads give certain values; the text says how."""


@dataclass(frozen=True, slots=True)
class PendingLoad:
    """A load, or an atomic operation, that comes next."""

    locations: tuple[Location, ...]
    line: int
    writes: bool = False
    commutes: str = ""  # the operation of a reduction of integers: its like may come before or behind it
    spins: bool = False  # the thread has come here before, and has changed nothing since


@dataclass(slots=True)
class KnownWay:
    """What a thread does, as far as it is known."""

    events: tuple[MemoryEvent, ...] = ()
    pending: PendingLoad | None = None
    ended: bool = False


@dataclass(slots=True)
class ThreadOracle:
    """What is known of all threads, by what their loads gave; `launch` carries a fresh launch out under an observer."""

    launch: Callable[[Guesser], None]
    known: dict[tuple[int, Given], KnownWay] = field(default_factory=dict)
    threads: dict[int, Thread] = field(default_factory=dict)
    first: dict[Location, int] = field(default_factory=dict)  # what locations hold before the launch

    def ask(self, given: Mapping[int, Given]) -> None:
        """Learns what threads do whose loads have given this."""
        stepper = Stepper(dict(given))
        self.launch(stepper)
        self.threads |= stepper.threads
        self.first |= stepper.first
        ended = set(stepper.ended)
        for n in stepper.threads:
            values = tuple(stepper.given.get(n, ()))
            if len(values) > MOST_LOADS:
                raise NotModelled(f"a thread that loads more than {MOST_LOADS} times")
            pending = stepper.meeting.get(n) if n in stepper.parked else None
            found = KnownWay(tuple(stepper.events.get(n, ())), pending, n in ended)
            before = self.known.get((n, values))
            if before is None or len(before.events) <= len(found.events):
                self.known[n, values] = found


class Stepper(Guesser):
    """Stops each thread before the first load that no value was planned for."""

    def __init__(self, given: dict[int, Given]) -> None:
        super().__init__(given, {})
        self.meeting: dict[int, PendingLoad] = {}

    def meets(self, number: int, locations: Sequence[Location], line: int, writes: bool, commutes: str) -> None:
        """See Guesser."""
        self.meeting[number] = PendingLoad(tuple(locations), line, writes, commutes)

    def mbarrier(self, site: Site, group: Any, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """See Observer."""
        raise NotModelled("mbarriers")

    def counted(self, count: int | None) -> int:
        """See Guesser."""
        return count or 0

    def is_over(self, number: int, state: State | None) -> bool:
        """See Guesser."""
        if len(self.given.get(number, ())) < len(self.guesses.get(number, ())):
            return False
        self.parked.add(number)
        p = self.meeting[number]
        spins = state is not None and state in self._visited.get(number, ())
        self.meeting[number] = PendingLoad(p.locations, p.line, p.writes, p.commutes, spins)
        return True
