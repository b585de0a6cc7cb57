"""One run in several orders: the default one and some seeds, side by side in processes, and the first order whose outcome differs.

Where the run has expectations they say what must hold in every order, and a buffer may differ as long as they do; where it has none, every
buffer must hold what it holds in the default order.  Every other seed is guided: it stops lanes at some of the lines whose accesses conflict.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.checkers.findings import Finding, key_of
from warplab.interpreter.conflicts import ConflictWatch
from warplab.interpreter.seeds import GuidedSeed, told

from ..device.launches.engines import cores
from ..device.output import quiet
from .exhaustive import ExhaustiveOrders, exhaustive_orders
from .expect import agree, show
from .outcome import Outcome
from .runner import Runner
from .watchpoint import LastWriter, last_writer

Array = NDArray[Any]
MOST_LINES = 4  # that a guided seed stops lanes at
HIDDEN = 5  # seeds that look for what the default order hides


@dataclass(frozen=True, slots=True)
class OrderSide:
    """What one order came to: a value and the thread that wrote it last, or what ended the run."""

    value: str = ""
    writer: LastWriter | None = None
    failure: str = ""

    def __str__(self) -> str:
        return self.failure or str(self.writer or "no thread wrote it")


@dataclass(frozen=True, slots=True)
class Difference:
    """An order whose outcome is not that of the default order."""

    schedule: int
    default: OrderSide
    other: OrderSide
    buffer: str = ""  # "": one of both ended early
    index: tuple[int, ...] = ()
    wrong: int = 0  # elements of the buffer that differ
    total: int = 0
    failed: tuple[str, ...] = ()  # expectations that hold in the default order only
    is_fault: bool = True  # False: the expectations hold all the same

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        seed = f"--schedule {self.schedule}"
        if not self.buffer:
            for name, side in (("the default order", self.default), (seed, self.other)):
                yield f"{name}: {side.failure or 'ends well'}"
        else:
            at = f"[{', '.join(map(str, self.index))}]" if self.index else ""
            yield f"{self.buffer}{at} is {self.default.value} in the default order, {self.other.value} under {seed}"
            yield f"  default order: {self.default}"
            yield f"  {seed}: {self.other}"
            yield f"  {self.wrong} of {self.total} elements differ"
        for text in self.failed:
            yield f"  does not hold under {seed}: {text}"
        if not self.is_fault:
            yield "  all checks hold in both orders"


@dataclass(frozen=True, slots=True)
class Orders:
    """What came of the seeds: those that were run, the first difference, and what the checkers found under a seed alone."""

    schedules: tuple[int, ...]
    difference: Difference | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def is_fault(self) -> bool:
        """Does an order show that the program is wrong?"""
        return (self.difference is not None and self.difference.is_fault) or any(f.severity == "error" for f in self.findings)

    def __str__(self) -> str:
        if self.difference is not None:
            return str(self.difference)
        seeds = "1 seed" if len(self.schedules) == 1 else f"{len(self.schedules)} seeds"
        return f"{seeds}: the same outcome as in the default order"

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        found = self.difference
        difference = None if found is None else asdict(found) | {"schedule": told(found.schedule)}
        return {"schedules": [told(seed) for seed in self.schedules], "difference": difference}


@dataclass(frozen=True, slots=True)
class _Told:
    """What one seed came to, small enough to be sent from a process to another."""

    schedule: int
    difference: Difference | None
    findings: tuple[Finding, ...]


class _DefaultOrder:
    """The run in the default order, with which the others are compared."""

    def __init__(self, runner: Runner, outcome: Outcome) -> None:
        self.runner, self.outcome = runner, outcome
        self.numbers: Mapping[str, Array] = runner.numbers()[0]

    def under(self, schedule: int) -> _Told:
        """The run under a seed, compared."""
        other = again(self.runner, schedule)
        try:
            with quiet():
                outcome = other.run()
            return _Told(schedule, self._difference(schedule, other, outcome), outcome.findings)
        finally:
            other.close()

    def _difference(self, schedule: int, other: Runner, outcome: Outcome) -> Difference | None:
        base = self.outcome
        if base.failure or outcome.failure:
            if base.error == outcome.error:
                return None
            return Difference(schedule, OrderSide(failure=base.failure), OrderSide(failure=outcome.failure))
        kept = {m.text for m in base.mismatches}
        failed = tuple(f"{m.text}\n    {m}" for m in outcome.mismatches if m.text not in kept)
        is_fault = bool(failed) or not base.checked
        found = None
        for name, now in other.numbers()[0].items():
            differs = ~agree(now, self.numbers[name], self.runner.spec.tolerance)
            if differs.any():
                at = tuple(int(n) for n in np.argwhere(differs)[0])
                sides = OrderSide(show(self.numbers[name][at])), OrderSide(show(now[at]))
                found = Difference(schedule, *sides, name, at, int(differs.sum()), differs.size, failed, is_fault)
                if is_fault:
                    break
        return found


def again(runner: Runner, schedule: int | None) -> Runner:
    """The same run once more, in an order."""
    return Runner(runner.texts, runner.names, replace(runner.spec, schedule=schedule, schedules=None), runner.folder)


def in_orders(runner: Runner, outcome: Outcome) -> Orders | ExhaustiveOrders:
    """A run that was carried out in the default order under as many seeds as its spec says, or in all orders."""
    spec = runner.spec
    if isinstance(spec.schedules, str):
        return exhaustive_orders(runner, outcome)
    first = 1 if spec.schedule is None else spec.schedule
    seeds = _guided(runner, range(first, first + (spec.schedules or 0)))
    told: list[_Told] = []
    for one in _all_told(_DefaultOrder(runner, outcome), seeds):
        told.append(one)
        if one.difference is not None and one.difference.is_fault:
            break
    faults = (t.difference for t in told if t.difference is not None and t.difference.is_fault)
    shown = next(faults, None) or next((t.difference for t in told if t.difference is not None), None)
    return Orders(tuple(t.schedule for t in told), None if shown is None else _with_writers(runner, shown), _more(outcome, told))


def _guided(runner: Runner, seeds: Sequence[int]) -> Sequence[int]:
    """The seeds; each other one stops lanes at some of the lines at which the default order has conflicts."""
    if len(seeds) < 2:
        return seeds
    watch = ConflictWatch()
    other = again(runner, None)
    other.context.observers = (*other.context.observers, watch)
    try:
        with quiet():
            other.run()
    finally:
        other.close()
    lines = sorted(watch.lines())
    return [_with_lines(n, lines) if lines and n % 2 == 0 else n for n in seeds]


def _with_lines(seed: int, lines: Sequence[int]) -> GuidedSeed:
    """Few lines are enough: most errors need one or two of them in an unlucky order."""
    drawn = Random(seed)
    return GuidedSeed(seed, drawn.sample(lines, min(drawn.randint(1, MOST_LINES), len(lines))))


def look_in_other_orders(runner: Runner, outcome: Outcome) -> None:
    """Adds what checkers find in other orders of a run, where the order that a lock or a flag happened to give may have hidden a race."""
    spec, checkers = runner.spec, runner.sanitizer
    if checkers is None or not checkers.depends_on_order or spec.schedule is not None or spec.schedules or outcome.failure:
        return
    outcome.findings += _more(outcome, list(_all_told(_DefaultOrder(runner, outcome), _guided(runner, range(1, HIDDEN + 1)))))


def _more(outcome: Outcome, told: Sequence[_Told]) -> tuple[Finding, ...]:
    """What was found under a seed alone."""
    known = {key_of(f) for f in outcome.findings}
    more = []
    for one in told:
        for f in one.findings:
            if key_of(f) not in known:
                known.add(key_of(f))
                more.append(replace(f, schedule=one.schedule))
    return tuple(more)


def _with_writers(runner: Runner, d: Difference) -> Difference:
    """Names who wrote the element last in both orders: each is run once more with an observer of its address."""
    if not d.buffer:
        return d
    sides = [
        replace(side, writer=last_writer(again(runner, schedule), d.buffer, d.index))
        for side, schedule in ((d.default, None), (d.other, d.schedule))
    ]
    return replace(d, default=sides[0], other=sides[1])


# ---------------------------------------------------------------- side by side


def _all_told(base: _DefaultOrder, seeds: Sequence[int]) -> Iterator[_Told]:
    """What each seed comes to, in their order; nobody asks for more after the first that matters."""
    jobs = min(len(seeds), cores())
    if jobs < 2 or sys.platform != "linux":  # a process that begins anew would take longer than most runs
        yield from map(base.under, seeds)
        return
    import multiprocessing  # here, since few runs have several orders
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _take, (base,)) as pool:
        try:
            yield from pool.map(_under, seeds)
        finally:
            pool.shutdown(cancel_futures=True)


def _take(base: _DefaultOrder) -> None:
    global _default
    _default = base


def _under(seed: int) -> _Told:
    return _default.under(seed)


_default: _DefaultOrder  # of this process
