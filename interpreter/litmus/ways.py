"""All ways through all threads: what each thread does for every value that each of its loads may find.

Which values those are hangs on the ways themselves, so the ways are looked for again until no new value comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count, pairwise

from .events import Given, Location, MemoryEvent, NotModelled, Registers, Thread, Trace, Traces, with_dependencies

MOST_LOADS = 12  # of a thread: a way with more is left out
MOST_VALUES = 16  # that one location may hold
Values = dict[Location, set[int]]  # what each location may hold


class Ways:
    """The ways through each thread, where locations hold one of some values."""

    def __init__(self) -> None:
        self.threads: dict[int, Thread] = {}
        self.ways: dict[int, dict[Given, tuple[MemoryEvent, ...]]] = {}
        self.registers: dict[int, dict[Given, Registers]] = {}
        self.left: dict[int, set[Given]] = {}  # what loads gave on ways that were left out
        self.begun: list[tuple[MemoryEvent, ...]] = []  # what was done there
        self.cut = False  # was one left out because it loads too often?

    def events(self) -> Iterator[MemoryEvent]:
        """All that any thread does on any way."""
        return chain.from_iterable(chain(*(ways.values() for ways in self.ways.values()), self.begun))

    def traces(self, thread: int) -> tuple[Trace, ...]:
        """The ways through a thread, and what depends on its loads."""
        return with_dependencies(self.ways.get(thread, {}), self.left.get(thread, ()), self.registers.get(thread, {}))

    @property
    def longest_chain(self) -> int:
        """The most stores of an execution whose values depend on loads, and are loaded in turn."""
        loaded = {e.location for e in self.events() if e.read is not None}
        total = 0
        for thread in self.ways:
            lengths = [0]
            for trace in self.traces(thread):
                dependent = {write for _, write in trace.depends} | {n for n, e in enumerate(trace.events) if e.is_atomic}
                lengths.append(sum(trace.events[n].location in loaded for n in dependent))
            total += max(lengths)
        return total

    @property
    def stuck(self) -> list[int]:
        """Threads that no way leads through."""
        return [n for n in self.threads if n not in self.ways]


def settled(find: Callable[[Values], Ways], values: Values) -> tuple[list[Traces], bool]:
    """All ways through all threads, and whether ways were left out that load too often.

    `find` finds them where locations hold one of these values, to which it adds what a location that it meets holds at first.
    """
    for rounds in count():
        before = {location: frozenset(v) for location, v in values.items()}
        found = find(values)
        for e in found.events():
            if e.location is not None and e.written is not None:
                values[e.location].add(e.written)
        _check_overlaps(values)
        # A value hangs on a chain of stores in which each comes once: what more rounds bring no execution has.
        if before == {location: frozenset(v) for location, v in values.items()} or rounds > found.longest_chain:
            break
        if max(map(len, values.values())) > MOST_VALUES:
            raise NotModelled(f"a location with more than {MOST_VALUES} values")
    if found.cut and (stuck := found.stuck):
        raise NotModelled(f"a thread that comes to no end within {MOST_LOADS} loads, whatever they find: number {stuck[0]}")
    return [Traces(thread, found.traces(n)) for n, thread in sorted(found.threads.items())], found.cut


def _check_overlaps(values: Mapping[Location, set[int]]) -> None:
    places = sorted(values)
    for (name, at, size), (other, after, width) in pairwise(places):
        if name == other and at + size > after:
            raise NotModelled(f"accesses of {size} and {width} bytes that overlap")
