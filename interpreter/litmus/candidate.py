"""A candidate execution before its reads have sources: the events of one trace of each thread, and what they are to each other by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from .barriers import completions
from .events import GENERIC, Location, MemoryEvent, Thread, Trace
from .relations import bits, of

Values = Mapping[Location, int]


class Candidate:
    """The events of one trace of each thread; each location's first value is a write that comes before all."""

    def __init__(self, threads: Sequence[tuple[Thread, Trace]], first: Values) -> None:
        used = sorted({e.location for _, t in threads for e in t.events if e.location is not None})
        self.events: list[MemoryEvent] = [MemoryEvent(location, None, first[location]) for location in used]
        self.thread: list[Thread | None] = [None] * len(used)
        self.initial = {location: n for n, location in enumerate(used)}
        self.registers = {location: value for _, trace in threads for location, value in trace.registers}
        po: list[tuple[int, int]] = []
        depends: list[tuple[int, int]] = []
        for thread, trace in threads:
            start = len(self.events)
            self.events += trace.events
            self.thread += [thread] * len(trace.events)
            po += [(i, j) for i in range(start, len(self.events)) for j in range(i + 1, len(self.events))]
            depends += [(start + i, start + j) for i, j in trace.depends]
        self.n = len(self.events)
        po += [(i, j) for i in range(len(used)) for j in range(len(used), self.n)]
        self.po, self.depends = of(self.n, po), of(self.n, depends)
        self.writes: dict[Location, list[int]] = {}
        for i, e in enumerate(self.events):
            if e.location is not None and e.written is not None:
                self.writes.setdefault(e.location, []).append(i)
        self.reads = [i for i, e in enumerate(self.events) if e.read is not None]
        self.strong = of(self.n, [(i, j) for i in range(self.n) for j in range(self.n) if i != j and self._morally_strong(i, j)])
        self.barriers = list(completions(self.events, self.po))
        self.fences = [i for i, e in enumerate(self.events) if e.order.sequential]

    def _morally_strong(self, i: int, j: int) -> bool:
        a, b = self.events[i], self.events[j]
        if a.location is not None and b.location is not None and a.location != b.location:
            return False
        s, t = self.thread[i], self.thread[j]
        if s is None or t is None:  # the first values come before all
            return True
        if a.proxy != b.proxy or (a.location is not None and b.location is not None and a.address != b.address):
            return False
        return s is t or (a.order.strong and b.order.strong and s.within(a.order.scope, t) and t.within(b.order.scope, s))

    def sources(self) -> Iterator[tuple[tuple[int, int], ...]]:
        """(write, read) for each read, in all ways that the values allow."""
        choices = []
        for r in self.reads:
            e = self.events[r]
            assert e.location is not None
            choices.append([(w, r) for w in self.writes[e.location] if w != r and self.events[w].written == e.read])
        return product(*choices)

    # ------------------------------------------------------------ patterns

    def releases(self) -> list[tuple[int, int]]:
        """(first operation, strong write) of each release pattern."""
        return self._patterns(lambda e: e.order.releases, lambda e: e.written is not None, forward=True)

    def acquires(self) -> list[tuple[int, int]]:
        """(strong read, last operation) of each acquire pattern."""
        return [(j, i) for i, j in self._patterns(lambda e: e.order.acquires, lambda e: e.read is not None, forward=False)]

    def _patterns(
        self, orders: Callable[[MemoryEvent], bool], moves: Callable[[MemoryEvent], bool], *, forward: bool
    ) -> list[tuple[int, int]]:
        out = []
        for i, a in enumerate(self.events):
            if not orders(a) or a.barrier or (a.order.fence and a.proxy != GENERIC):
                continue
            if a.location is not None and moves(a):
                out.append((i, i))
            for j in bits(self.po[i]) if forward else (j for j in range(self.n) if self.po[j] >> i & 1):
                b = self.events[j]
                if b.location is None or not b.order.strong or not moves(b):
                    continue
                if a.location is None or (a.location == b.location and a.address == b.address and moves(a)):
                    out.append((i, j))
        return out
