"""What the threads of a litmus test do to memory: events, in program order, and the traces they form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ..order import CLUSTER, CTA, SYS, MemoryOrder

Location = tuple[
    str, int, int
]  # "global" or "shared" memory, the first byte, bytes; "register" for what a thread's register holds at its end
GENERIC = "generic"  # the proxy of ordinary accesses
PLAIN = MemoryOrder()


class NotModelled(Exception):
    """The program does what the model has no words for, or too much to look at all of it."""


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """One access of one thread to one location, one fence, or one arrival or wait at a barrier.

    An atomic operation is one event that reads and writes.  Values are bits as unsigned numbers.  A barrier lets its threads pass when
    `threads` of them have arrived: any so many of those that come, if it counts them, and otherwise all that come.
    """

    location: Location | None = None
    read: int | None = None
    written: int | None = None
    order: MemoryOrder = PLAIN
    barrier: tuple[object, ...] = ()  # which, with the number of its completion; () for other events
    arrives: bool = False
    waits: bool = False
    threads: int = 0
    counts: bool = False
    proxy: str = GENERIC  # of an access, or that a proxy fence orders; "alias" of a fence between addresses of one location
    address: str = ""  # where a location has several addresses: which
    line: int = field(default=0, compare=False)

    @property
    def is_atomic(self) -> bool:
        """Does it read and write in one step?"""
        return self.read is not None and self.written is not None


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread of a launch: its number in the launch, and where it runs."""

    number: int
    block: int
    cluster: int
    device: int = 0

    def within(self, scope: int, other: Thread) -> bool:
        """Does a scope of this thread include another one?"""
        if scope == CTA:
            return self.block == other.block
        if scope == CLUSTER:
            return self.cluster == other.cluster
        return scope == SYS or self.device == other.device


@dataclass(frozen=True, slots=True)
class Trace:
    """A way through one thread: what it does where its loads give certain values, and which events depend on which loads."""

    events: tuple[MemoryEvent, ...]
    depends: frozenset[tuple[int, int]] = frozenset()  # (a read, a later write): positions in `events`
    registers: tuple[tuple[Location, int], ...] = ()  # what they hold at the end, where that is asked

    @property
    def reads(self) -> frozenset[tuple[Location, int]]:
        """The locations that it reads, with what it finds there."""
        return frozenset([(e.location, e.read) for e in self.events if e.location is not None and e.read is not None])

    @property
    def writes(self) -> frozenset[tuple[Location, int]]:
        """The locations that it writes, with what it leaves there."""
        return frozenset([(e.location, e.written) for e in self.events if e.location is not None and e.written is not None])


@dataclass(frozen=True, slots=True)
class Traces:
    """All ways through a thread, for all values that its loads may find."""

    thread: Thread
    all: tuple[Trace, ...]


Given = tuple[int, ...]  # what the loads of a thread gave, in order: it names a way
Registers = tuple[tuple[Location, int], ...]


def with_dependencies(
    found: dict[Given, tuple[MemoryEvent, ...]], left: Iterable[Given] = (), registers: Mapping[Given, Registers] = MappingProxyType({})
) -> tuple[Trace, ...]:
    """Traces by the values that their loads gave, in order; an event depends on a load if it is another one where the load gives another value.

    `left`: what the loads gave on ways that lead no further.
    """
    choices: dict[Given, set[int]] = {}
    for given in (*found, *left):
        for n, value in enumerate(given):
            choices.setdefault(given[:n], set()).add(value)
    return tuple(
        Trace(events, frozenset(_depends(given, events, found, choices)), registers.get(given, ())) for given, events in found.items()
    )


def _depends(
    given: Given, events: tuple[MemoryEvent, ...], found: dict[Given, tuple[MemoryEvent, ...]], choices: dict[Given, set[int]]
) -> Sequence[tuple[int, int]]:
    reads = [at for at, e in enumerate(events) if e.read is not None]
    out = []
    for n, read in enumerate(reads):
        others = [found.get((*given[:n], value, *given[n + 1 :])) for value in choices[given[:n]] - {given[n]}]
        out += [
            (read, at)
            for at in range(read + 1, len(events))
            if events[at].written is not None and any(o is None or len(o) <= at or _effect(o[at]) != _effect(events[at]) for o in others)
        ]
    return out


def _effect(e: MemoryEvent) -> tuple[object, ...]:
    return e.location, e.written, e.order
