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
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from math import prod
from typing import NamedTuple

from .candidate import Candidate, Values
from .events import Location, NotModelled, Trace, Traces
from .proxies import preserved
from .relations import Relation, bits, closure, empty, is_acyclic, of, then, union

MOST_EVENTS = 64  # of one execution
MOST_STORES = 7  # to one location
MOST_FENCES = 6  # that are fence.sc
MOST_TRACES = 200_000  # of all threads, put together
Outcome = tuple[int, ...]


class BrokenAxiom(NamedTuple):
    """Why an execution may not be: the axiom, and events i and j, of which the one's relation to the other contradicts it."""

    axiom: str
    i: int
    relation: str  # rf, fr, co or sc; nothing where any cycle of the axiom's relations will do
    j: int


class Execution(NamedTuple):
    """A candidate with the writes that its reads give, an order of its fence.sc and of its barriers, and what follows from them."""

    candidate: Candidate
    sources: Relation
    observed: Relation
    sync: Relation  # by release and acquire patterns
    barriers: Relation
    fences: Relation  # Fence-SC order
    base: Relation
    preserved: Relation
    causality: Relation


def executions(c: Candidate) -> Iterator[Execution]:
    """The candidate executions that no axiom but those about coherence rules out."""
    for pairs in c.sources():
        rf = of(c.n, pairs)
        if not has_thin_air(c, rf):
            yield from (x for x in ordered(c, rf) if broken(x) is None)


def has_thin_air(c: Candidate, rf: Relation) -> bool:
    """No-Thin-Air: does a value depend on itself?"""
    return not is_acyclic(union(rf, c.depends))


def ordered(c: Candidate, rf: Relation) -> Iterator[Execution]:
    """The executions in which reads have these sources, in all orders of fences and barriers."""
    releases, acquires = c.releases(), c.acquires()
    atomics = [i for i, e in enumerate(c.events) if e.is_atomic]
    observed = [row & c.strong[i] for i, row in enumerate(rf)]
    for _ in atomics:  # through each of them once, at most
        observed = [row | _through(row, observed, atomics) for row in observed]
    sync = of(c.n, [(f, last) for f, w in releases for r, last in acquires if observed[w] >> r & 1 and c.strong[f] >> last & 1])
    for barriers in c.barriers:
        for fences in _orders_of(c):
            base = closure(union(c.po, sync, barriers, fences))
            kept = preserved(c.events, c.thread, base)
            yield Execution(c, rf, observed, sync, barriers, fences, base, kept, union(kept, then(observed, kept)))


def broken(x: Execution) -> BrokenAxiom | None:
    """The axiom that rules an execution out, whatever the coherence order of its writes."""
    for i, row in enumerate(x.fences):
        for j in bits(row):
            if x.base[j] >> i & 1:
                return BrokenAxiom("Fence-SC", i, "sc", j)
    # Of an atomic operation, which is one event here, only the write is observed: behind what it reads stands base causality.
    for i, row in enumerate(x.sources):
        for j in bits(row):
            if x.preserved[j] >> i & 1:
                return BrokenAxiom("Causality", i, "rf", j)
    return None


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
    out: set[int] = set()
    for coherence in coherences(x, location):
        if incoherent(x, location, coherence) is None:
            out |= last_values(x, location, coherence)
    return out


def last_values(x: Execution, location: Location, coherence: Relation) -> set[int]:
    """The values of the writes that no other follows."""
    events = x.candidate.events
    return {value for w in x.candidate.writes[location] if not coherence[w] and (value := events[w].written) is not None}


def coherences(x: Execution, location: Location) -> Iterator[Relation]:
    """Each coherence order of a location's writes: it relates those that are morally strong, or in causality order."""
    c = x.candidate
    first, *writes = c.writes[location]
    seen = set()
    for line in permutations(writes):
        pairs = [(first, w) for w in writes]
        pairs += [
            (a, b)
            for n, a in enumerate(line)
            for b in line[n + 1 :]
            if c.strong[a] >> b & 1 or x.causality[a] >> b & 1 or x.causality[b] >> a & 1
        ]
        key = frozenset(pairs)
        if key not in seen:
            seen.add(key)
            yield closure(of(c.n, pairs))


def read_before(x: Execution, location: Location, coherence: Relation) -> Relation:
    """From each read of a location to the writes that replace what it gives."""
    c = x.candidate
    out = empty(c.n)
    for w in c.writes[location]:
        for r in bits(x.sources[w]):
            out[r] = coherence[w] & ~(1 << r)
    return out


def per_location(x: Execution, location: Location, coherence: Relation) -> Relation:
    """What must not have a cycle where morally strong accesses of a location are sequentially consistent: communication, and program order."""
    c = x.candidate
    before = read_before(x, location, coherence)
    here = sum(1 << i for i, e in enumerate(c.events) if e.location == location)
    return [(x.sources[i] | coherence[i] | before[i] | c.po[i]) & c.strong[i] & here if here >> i & 1 else 0 for i in range(c.n)]


def incoherent(x: Execution, location: Location, coherence: Relation) -> BrokenAxiom | None:
    """The axiom that an order of a location's writes breaks."""
    c = x.candidate
    for i in c.writes[location]:
        for j in bits(coherence[i]):
            if x.causality[j] >> i & 1 or i == j:
                return BrokenAxiom("Coherence", i, "co", j)
    before = read_before(x, location, coherence)
    for r, row in enumerate(before):
        for w in bits(row):
            if x.causality[w] >> r & 1:
                return BrokenAxiom("Causality", r, "fr", w)
            if c.events[r].is_atomic and c.strong[r] >> w & 1 and c.strong[w] >> r & 1 and coherence[w] >> r & 1:
                return BrokenAxiom("Atomicity", r, "fr", w)
    if not is_acyclic(per_location(x, location, coherence)):
        return BrokenAxiom("SC-per-location", 0, "", 0)
    return None


# ---------------------------------------------------------------- all outcomes


def outcomes(threads: Sequence[Traces], first: Values, shown: Sequence[Location]) -> set[Outcome]:
    """What the shown locations may hold together at the end."""
    out: set[Outcome] = set()
    if not all(t.all for t in threads):  # one waits for what no thread does
        return out
    _check_size(threads)
    ways = [[(trace, trace.reads, trace.writes.union(trace.registers)) for trace in t.all] for t in threads]
    for chosen in product(*ways):
        there = frozenset(first.items()).union(*(writes for _, _, writes in chosen))
        if not all(reads <= there for _, reads, _ in chosen) or out.issuperset(_thinkable(chosen, first, shown)):
            continue
        c = Candidate([(t.thread, trace) for t, (trace, _, _) in zip(threads, chosen, strict=True)], first)
        for x in executions(c):
            ends = {location: finals(x, location) for location in c.writes}
            ends |= {register: {value} for register, value in c.registers.items()}
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


Chosen = tuple[Trace, frozenset[tuple[Location, int]], frozenset[tuple[Location, int]]]  # with its reads, and its writes and registers


def _thinkable(chosen: Sequence[Chosen], first: Values, shown: Sequence[Location]) -> set[Outcome]:
    """The outcomes that the values written allow."""
    written: dict[Location, set[int]] = {}
    for _, _, writes in chosen:
        for location, value in writes:
            written.setdefault(location, set()).add(value)
    return set(product(*(written.get(location, {first.get(location, 0)}) for location in shown)))
