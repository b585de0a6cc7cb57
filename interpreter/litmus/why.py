"""Why an outcome is allowed, or forbidden: an execution that has it, or the cycle by which an execution with it breaks an axiom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from .candidate import Candidate, Values
from .events import Location, Traces
from .model import BrokenAxiom, Execution, broken, coherences, has_thin_air, incoherent, last_values, ordered, per_location, read_before
from .proxies import route
from .relations import Relation, bits, empty, of

MOST_EXECUTIONS = 2000  # that are looked at for one outcome
AXIOMS = {  # those first that say most about a test
    "Causality": "no read contradicts causality order",
    "Atomicity": "no other write comes between the read and the write of an atomic operation",
    "SC-per-location": "morally strong accesses of one location have one order",
    "Fence-SC": "the order of fence.sc does not contradict causality order",
    "Coherence": "the coherence order of writes follows causality order",
    "No-Thin-Air": "no value depends on itself",
}
RELATIONS = {
    "po": "before it in program order", "rf": "read by", "fr": "reads what is overwritten by", "co": "before it in coherence order",
    "sync": "a release that synchronises with", "bar": "arrives at a barrier, where waits", "sc": "before it in Fence-SC order",
    "obs": "observed, through atomic operations, by", "dep": "gives a value on which depends",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RelationStep:
    """Two events of an execution that stand in a relation, one of RELATIONS."""

    i: int
    relation: str
    j: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """An execution with an outcome: one that may be, or of those that may not the one that says most."""

    candidate: Candidate | None = None  # None: no trace of the threads gives the outcome
    sources: Relation = field(default_factory=list)  # the write of each read
    execution: Execution | None = None  # None where the cycle comes before it
    coherence: Mapping[Location, Relation] = field(default_factory=dict)
    axiom: str = ""  # that it breaks; nothing where it may be
    cycle: tuple[RelationStep, ...] = ()
    broken: Mapping[str, int] = field(default_factory=dict)  # how many executions break which axiom first
    complete: bool = True  # were all looked at?

    @property
    def is_allowed(self) -> bool:
        """May it be?"""
        return self.candidate is not None and not self.axiom


def explained(threads: Sequence[Traces], first: Values, shown: Sequence[Location], wanted: Callable[[Values], bool]) -> Explanation:
    """The first execution with a wanted outcome, or why there is none."""
    best: Explanation | None = None
    counts: Counter[str] = Counter()
    complete = True
    for one in _explanations(threads, first, shown, wanted):
        if one.is_allowed:
            return one
        counts[one.axiom] += 1
        if best is None or _rank(one) < _rank(best):
            best = one
        if counts.total() >= MOST_EXECUTIONS:
            complete = False
            break
    if best is None:
        return Explanation()
    return Explanation(best.candidate, best.sources, best.execution, best.coherence, best.axiom, best.cycle, counts, complete)


def _rank(x: Explanation) -> tuple[int, int]:
    return list(AXIOMS).index(x.axiom), len(x.cycle)


def _explanations(
    threads: Sequence[Traces], first: Values, shown: Sequence[Location], wanted: Callable[[Values], bool]
) -> Iterator[Explanation]:
    """All executions whose values could be a wanted outcome, each with the axiom that it breaks."""
    for chosen in product(*(t.all for t in threads)):
        there = frozenset(first.items()).union(*(trace.writes for trace in chosen))
        if not all(trace.reads <= there for trace in chosen):
            continue
        c = Candidate([(t.thread, trace) for t, trace in zip(threads, chosen, strict=True)], first)
        written = {location: {c.events[w].written or 0 for w in writes} for location, writes in c.writes.items()}
        written |= {register: {value} for register, value in c.registers.items()}
        possible = product(*(written.get(location, {first.get(location, 0)}) for location in shown))
        if not any(wanted(dict(zip(shown, values, strict=True))) for values in possible):
            continue
        for pairs in c.sources():
            rf = of(c.n, pairs)
            if has_thin_air(c, rf):
                yield Explanation(c, rf, axiom="No-Thin-Air", cycle=_shortest_cycle({"rf": rf, "dep": c.depends}))
                continue
            for x in ordered(c, rf):
                if (b := broken(x)) is not None:
                    yield Explanation(c, rf, x, axiom=b.axiom, cycle=_cycle(x, b, None, empty(c.n)))
                else:
                    yield from _with_coherence(x, first, shown, wanted)


def _with_coherence(x: Execution, first: Values, shown: Sequence[Location], wanted: Callable[[Values], bool]) -> Iterator[Explanation]:
    c = x.candidate
    choices = []
    for location in c.writes:
        orders = [(order, incoherent(x, location, order)) for order in coherences(x, location)]
        if location not in shown:  # any will do, one that may be if there is one
            orders = sorted(orders, key=lambda one: one[1] is not None)[:1]
        choices.append([(location, *one) for one in orders])
    for combination in product(*choices):
        ends = {location: last_values(x, location, order) for location, order, _ in combination}
        ends |= {register: {value} for register, value in c.registers.items()}
        outcomes = product(*(sorted(ends.get(location, {first.get(location, 0)})) for location in shown))
        if not any(wanted(dict(zip(shown, values, strict=True))) for values in outcomes):
            continue
        coherence = {location: order for location, order, _ in combination}
        wrong = [(location, order, b) for location, order, b in combination if b is not None]
        if not wrong:
            yield Explanation(c, x.sources, x, coherence)
            continue
        cycles = [(b.axiom, _cycle(x, b, location, order)) for location, order, b in wrong]
        axiom, cycle = min(cycles, key=lambda one: len(one[1]))
        yield Explanation(c, x.sources, x, coherence, axiom, cycle)


# ---------------------------------------------------------------- cycles


def _cycle(x: Execution, b: BrokenAxiom, location: Location | None, coherence: Relation) -> tuple[RelationStep, ...]:
    """The events by which an axiom is broken, each related to the next and the last one to the first."""
    if b.axiom == "SC-per-location":
        assert location is not None
        among = per_location(x, location, coherence)
        relations = {"po": x.candidate.po, "rf": x.sources, "co": coherence, "fr": read_before(x, location, coherence)}
        return _shortest_cycle({word: [row & limit for row, limit in zip(r, among, strict=True)] for word, r in relations.items()})
    start = RelationStep(b.i, b.relation, b.j)
    if b.axiom == "Atomicity":
        return start, RelationStep(b.j, "co", b.i)
    if b.axiom == "Fence-SC":
        return start, *_base_path(x, b.j, b.i)
    return start, *_causality_path(x, b.j, b.i)


def _causality_path(x: Execution, i: int, j: int) -> tuple[RelationStep, ...]:
    """How one event precedes another in causality order."""
    if not x.preserved[i] >> j & 1:
        seen = next(z for z in bits(x.observed[i]) if x.preserved[z] >> j & 1)
        return RelationStep(i, "rf" if x.sources[i] >> seen & 1 else "obs", seen), *_causality_path(x, seen, j)
    c = x.candidate
    accesses = c.events[i].location is not None and c.events[j].location is not None
    places = (route(c.events, c.thread, x.base, i, j) if accesses else None) or (i, j)
    return tuple(step for a, b in pairwise(places) for step in _base_path(x, a, b))


def _base_path(x: Execution, i: int, j: int) -> tuple[RelationStep, ...]:
    """How one event precedes another in base causality order."""
    return _path({"po": x.candidate.po, "sync": x.sync, "bar": x.barriers, "sc": x.fences}, i, j)


def _path(relations: Mapping[str, Relation], i: int, j: int) -> tuple[RelationStep, ...]:
    """A shortest path of at least one step."""
    before: dict[int, RelationStep] = {}
    todo = [i]
    while todo and j not in before:
        following = []
        for here in todo:
            for word, r in relations.items():
                for there in bits(r[here]):
                    if there not in before:
                        before[there] = RelationStep(here, word, there)
                        following.append(there)
        todo = following
    path: list[RelationStep] = []
    while j in before and (not path or j != i):
        path.append(before[j])
        j = path[-1].i
    return tuple(reversed(path))


def _shortest_cycle(relations: Mapping[str, Relation]) -> tuple[RelationStep, ...]:
    n = len(next(iter(relations.values())))
    return min((cycle for i in range(n) if (cycle := _path(relations, i, i))), key=len)
