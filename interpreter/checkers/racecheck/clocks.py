"""What threads know of others; and what asynchronous copies come after, however late a schedule performs them.

No clock is copied when threads synchronise.  What is released goes to lists that only grow, and a thread that acquires keeps how far it has read; what
this tells of a third thread is looked up only when two accesses are in doubt.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .shadow_memory import Array

AT = 32  # bits of a position that count releases; those above are the time


class Releases:
    """What was released to one scope, release by release: who was known until when, and which other releases up to which position."""

    __slots__ = ("_index", "_indexed", "_last", "_others", "_positions", "_sources", "_times")

    def __init__(self) -> None:
        self._sources: list[Source] = []
        self._positions, self._times = array("q"), array("q")
        self._last: Clock = {}  # of each source
        self._others: list[Releases] = []
        self._index: dict[Source, array[int]] = {}  # entries by source, made when somebody asks
        self._indexed = 0

    def append(self, position: int, clock: Mapping[Source, int]) -> None:
        """One more release; what earlier ones have said already is left out."""
        last = self._last
        for source, time in clock.items():
            if last.get(source, -1) < time and source is not self:
                if not isinstance(source, int) and source not in last:
                    self._others.append(source)
                last[source] = time
                self._sources.append(source)
                self._positions.append(position)
                self._times.append(time)

    def began(self, position: int) -> bool:
        """Is there a release up to this position?"""
        return bool(self._positions) and self._positions[0] <= position

    def known(self, source: Source, position: int) -> int:
        """Until when the releases up to a position know somebody; -1: not at all."""
        if not self._positions or source not in self._last:
            return -1
        if position >= self._positions[-1]:
            return self._last[source]
        entries = self._entries().get(source, array("q"))
        n = bisect_right(entries, position, key=self._positions.__getitem__)
        return self._times[entries[n - 1]] if n else -1

    def others(self, position: int) -> Iterator[tuple[Releases, int]]:
        """Which other releases stand behind those up to a position."""
        for releases in self._others:
            if (at := self.known(releases, position)) >= 0:
                yield releases, at

    def _entries(self) -> dict[Source, array[int]]:
        for n in range(self._indexed, len(self._sources)):
            self._index.setdefault(self._sources[n], array("q")).append(n)
        self._indexed = len(self._sources)
        return self._index


Source = int | Releases
Clock = dict[Source, int]  # who -> the time up to which all that this one did is known; releases -> the position up to which they are
Views = dict[int, list[Clock]]


@dataclass(frozen=True, slots=True)
class KnownAtIssue:
    """Of each thread that issued: the time, its last barriers and synchronisations before that, and what it had learnt otherwise."""

    at: Array
    barrier: Array
    warp: Array
    partial: tuple[tuple[Array, Array], ...]
    views: Views

    def take(self, index: Array) -> KnownAtIssue:
        """That of some."""
        partial = tuple([(times[index], masks[index]) for times, masks in self.partial])
        return KnownAtIssue(self.at[index], self.barrier[index], self.warp[index], partial, self.views)


class Knowledge:
    """What some clocks know, directly and through releases behind releases."""

    __slots__ = ("_clocks", "_releases")

    def __init__(self, clocks: Iterable[Clock]) -> None:
        self._clocks = clocks = list(clocks)
        self._releases: dict[Releases, int] = {}
        open_ = [(source, at) for clock in clocks for source, at in clock.items() if not isinstance(source, int)]
        while open_:
            releases, position = open_.pop()
            if self._releases.get(releases, -1) < position:
                self._releases[releases] = position
                open_ += releases.others(position)

    def until(self, who: int) -> int:
        """The time up to which all that somebody did is known; -1: nothing."""
        times = [c[who] for c in self._clocks if who in c]
        times += [releases.known(who, position) for releases, position in self._releases.items()]
        return max(times, default=-1)


def merge(into: Clock, more: Clock) -> None:
    """The later time of each."""
    if not into:
        into.update(more)
        return
    for key, time in more.items():
        if into.get(key, -1) < time:
            into[key] = time


def earlier(clock: Clock, time: int) -> Clock:
    """What a clock knows of the time until then."""
    last = (time + 1 << AT) - 1
    return {who: at if isinstance(who, int) else min(at, last) for who, at in clock.items() if not isinstance(who, int) or at <= time}
