"""The memory consistency model of PTX (PTX ISA 8), executable: which outcomes some traces of threads may have.

A candidate execution is a trace of each thread and, for each read, the write whose value it gives.  The manual's definitions say from that
what is morally strong, what observes, what synchronises, and so what precedes what in causality order.  The axioms then say whether it may
happen; those about coherence concern one location at a time.

    morally strong   in program order, or both strong and each in the other's scope; accesses touch the same bytes
    observation      a morally strong read of a write, also through atomic operations between them
    synchronises     a release pattern with the acquire pattern that observes it; a barrier; fence.sc in Fence-SC order
    base causality   program order and synchronisation, in any number of steps
    causality        base causality, also behind one observation
    coherence        a partial order of the writes of a location: all that are morally strong or in causality order

Axioms: coherence follows causality; Fence-SC order does not contradict it; atomic operations are atomic; no value comes out of thin air;
each location is sequentially consistent for morally strong accesses; no read contradicts causality.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import prod
from typing import NamedTuple

from .events import Location, MemoryEvent, NotModelled, Thread, Trace, Traces
from .relations import Relation, bits, closure, empty, has_loop, is_acyclic, of, then, union

MOST_EVENTS = 64  # of one execution
MOST_STORES = 7  # to one location
MOST_FENCES = 6  # that are fence.sc
MOST_TRACES = 200_000  # of all threads, put together
Values = Mapping[Location, int]
Outcome = tuple[int, ...]


class Candidate:
    """The events of one trace of each thread; each location's first value is a write that comes before all."""

    def __init__(self, threads: Sequence[tuple[Thread, Trace]], first: Values) -> None:
        used = sorted({e.location for _, t in threads for e in t.events if e.location is not None})
        self.events: list[MemoryEvent] = [MemoryEvent(location, None, first[location]) for location in used]
        self.thread: list[Thread | None] = [None] * len(used)
        self.initial = {location: n for n, location in enumerate(used)}
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
        self.barriers = of(self.n, self._barriers())
        self.fences = [i for i, e in enumerate(self.events) if e.order.sequential]

    def _morally_strong(self, i: int, j: int) -> bool:
        a, b = self.events[i], self.events[j]
        if a.location is not None and b.location is not None and a.location != b.location:
            return False
        s, t = self.thread[i], self.thread[j]
        if s is None or t is None or s is t:  # the first values come before all
            return True
        return a.order.strong and b.order.strong and s.within(a.order.scope, t) and t.within(b.order.scope, s)

    def _barriers(self) -> Iterator[tuple[int, int]]:
        there = [i for i, e in enumerate(self.events) if e.barrier]
        for i in there:
            for j in there:
                a, b = self.events[i], self.events[j]
                if a.barrier == b.barrier and a.arrives and b.waits and self.thread[i] is not self.thread[j]:
                    yield i, j

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

    def _patterns(self, orders: object, moves: object, *, forward: bool) -> list[tuple[int, int]]:
        assert callable(orders) and callable(moves)
        out = []
        for i, a in enumerate(self.events):
            if not orders(a) or a.barrier:
                continue
            if a.location is not None and moves(a):
                out.append((i, i))
            for j in bits(self.po[i]) if forward else (j for j in range(self.n) if self.po[j] >> i & 1):
                b = self.events[j]
                if b.location is None or not b.order.strong or not moves(b):
                    continue
                if a.location is None or (a.location == b.location and moves(a)):
                    out.append((i, j))
        return out


class Execution(NamedTuple):
    """A candidate with the writes that its reads give, and what follows from them."""

    candidate: Candidate
    sources: Relation
    causality: Relation


def executions(c: Candidate) -> Iterator[Execution]:
    """The candidate executions that no axiom but those about coherence rules out."""
    releases, acquires = c.releases(), c.acquires()
    atomics = [i for i, e in enumerate(c.events) if e.is_atomic]
    for pairs in c.sources():
        rf = of(c.n, pairs)
        if not is_acyclic(union(rf, c.depends)):
            continue
        observed = [row & c.strong[i] for i, row in enumerate(rf)]
        for _ in atomics:  # through each of them once, at most
            observed = [row | _through(row, observed, atomics) for row in observed]
        sync = of(c.n, [(f, last) for f, w in releases for r, last in acquires if observed[w] >> r & 1 and c.strong[f] >> last & 1])
        for order in _orders_of(c):
            base = closure(union(c.po, sync, c.barriers, order))
            if has_loop(then(order, base)):
                continue
            # Of an atomic operation, which is one event here, only the write is observed: behind what it reads stands base causality.
            if not has_loop(then(rf, base)):
                yield Execution(c, rf, union(base, then(observed, base)))


def _through(row: int, observed: Relation, atomics: Sequence[int]) -> int:
    out = 0
    for a in atomics:
        if row >> a & 1:
            out |= observed[a]
    return out


def _orders_of(c: Candidate) -> Iterator[Relation]:
    """Each Fence-SC order: of the fence.sc whose scopes hold each other's threads."""
    seen = set()
    for line in permutations(c.fences):
        pairs = tuple(
            sorted((a, b) for n, a in enumerate(line) for b in line[n + 1 :] if c.strong[a] >> b & 1 and c.thread[a] is not c.thread[b])
        )
        if pairs not in seen:
            seen.add(pairs)
            order = of(c.n, pairs)
            if is_acyclic(order):
                yield order


# ---------------------------------------------------------------- one location


def finals(x: Execution, location: Location) -> set[int]:
    """What a location may hold at the end; nothing where no coherence order of its writes satisfies the axioms."""
    c = x.candidate
    first, *writes = c.writes[location]
    out: set[int] = set()
    seen = set()
    for line in permutations(writes):
        if any(x.causality[b] >> a & 1 for n, a in enumerate(line) for b in line[n + 1 :]):
            continue
        pairs = [(first, w) for w in writes]
        pairs += [(a, b) for n, a in enumerate(line) for b in line[n + 1 :] if c.strong[a] >> b & 1 or x.causality[a] >> b & 1]
        coherence = closure(of(c.n, pairs))
        key = tuple(coherence[w] for w in c.writes[location])
        if key in seen:
            continue
        seen.add(key)
        if _is_coherent(x, location, coherence):
            out |= {value for w in c.writes[location] if not coherence[w] and (value := c.events[w].written) is not None}
    return out


def _is_coherent(x: Execution, location: Location, coherence: Relation) -> bool:
    c = x.candidate
    if has_loop(coherence):
        return False
    reads = [r for r in c.reads if c.events[r].location == location]
    source = {r: w for w in c.writes[location] for r in bits(x.sources[w])}
    before = empty(c.n)  # a read, and the writes that replace what it gives
    for r in reads:
        before[r] = coherence[source[r]] & ~(1 << r)
    for r in reads:
        if any(x.causality[w] >> r & 1 for w in bits(before[r])):
            return False
        if c.events[r].is_atomic:
            between = before[r] & c.strong[r]
            if any(coherence[w] >> r & 1 for w in bits(between)):
                return False
    here = sum(1 << i for i, e in enumerate(c.events) if e.location == location)
    com = [(x.sources[i] | coherence[i] | before[i]) & c.strong[i] | c.po[i] & here if here >> i & 1 else 0 for i in range(c.n)]
    return is_acyclic([row & here for row in com])


# ---------------------------------------------------------------- all outcomes


def outcomes(threads: Sequence[Traces], first: Values, shown: Sequence[Location]) -> set[Outcome]:
    """What the shown locations may hold together at the end."""
    out: set[Outcome] = set()
    if not all(t.all for t in threads):  # one waits for what no thread does
        return out
    _check_size(threads)
    ways = [[(trace, trace.reads, trace.writes) for trace in t.all] for t in threads]
    for chosen in product(*ways):
        there = frozenset(first.items()).union(*(writes for _, _, writes in chosen))
        if not all(reads <= there for _, reads, _ in chosen) or out.issuperset(_thinkable(chosen, first, shown)):
            continue
        c = Candidate([(t.thread, trace) for t, (trace, _, _) in zip(threads, chosen, strict=True)], first)
        for x in executions(c):
            ends = {location: finals(x, location) for location in c.writes}
            if all(ends.values()):
                out.update(product(*(sorted(ends.get(location, {first.get(location, 0)})) for location in shown)))
    return out


def _check_size(threads: Sequence[Traces]) -> None:
    """Refuses what would take for ever."""
    if prod(len(t.all) for t in threads) > MOST_TRACES:
        raise NotModelled(f"more than {MOST_TRACES} ways through all threads")
    if sum(max(len(trace.events) for trace in t.all) for t in threads) > MOST_EVENTS:
        raise NotModelled(f"more than {MOST_EVENTS} accesses and fences")
    if sum(max(sum(e.order.sequential for e in trace.events) for trace in t.all) for t in threads) > MOST_FENCES:
        raise NotModelled(f"more than {MOST_FENCES} fence.sc")
    stores: Counter[Location] = Counter()
    for t in threads:
        most: Counter[Location] = Counter()
        for trace in t.all:
            most |= Counter(e.location for e in trace.events if e.location is not None and e.written is not None)
        stores += most
    if stores and max(stores.values()) > MOST_STORES:
        raise NotModelled(f"more than {MOST_STORES} stores to one location")


Chosen = tuple[Trace, frozenset[tuple[Location, int]], frozenset[tuple[Location, int]]]  # with its reads and writes


def _thinkable(chosen: Sequence[Chosen], first: Values, shown: Sequence[Location]) -> set[Outcome]:
    """The outcomes that the values written allow."""
    written: dict[Location, set[int]] = {}
    for _, _, writes in chosen:
        for location, value in writes:
            written.setdefault(location, set()).add(value)
    return set(product(*(written.get(location, {first.get(location, 0)}) for location in shown)))
