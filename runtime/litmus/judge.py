"""One litmus test: the outcomes that the model allows, those that the engine showed, and whether the test's conditions hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from warplab.interpreter.faults import Deadlock, LimitReached
from warplab.interpreter.litmus.events import Location, NotModelled, Traces
from warplab.interpreter.litmus.executions import Guesser, explore
from warplab.interpreter.litmus.model import outcomes
from warplab.interpreter.litmus.why import Explanation, explained

from ..device.output import quiet
from ..errors import UsageError
from ..run.inputs.values import as_numbers
from ..run.outcome import describe_launches
from ..run.runner import Runner
from ..run.runspec import RunSpec
from ..run.schedules import again
from .conditions import OutcomeCondition

MOST_THREADS = 4096
MOST_SHOWN = 16  # values that are shown where no condition names any
MOST_NAMED = 64  # elements of a buffer that are called by their name


@dataclass(frozen=True, slots=True)
class SeenOutcome:
    """One outcome: may it be, and in how many orders was it seen."""

    values: tuple[Any, ...]
    allowed: bool
    orders: int = 0
    schedule: int | None = None  # the seed of the first of them; None: the default order


@dataclass(frozen=True, slots=True)
class LitmusReport:
    """What came of a litmus test."""

    launch: str
    names: tuple[str, ...]
    outcomes: tuple[SeenOutcome, ...]
    conditions: tuple[tuple[OutcomeCondition, bool], ...]  # and whether each is so
    orders: int  # that were run
    bounded: bool  # ways with more loads than the model looks at were left out
    unended: tuple[int | None, ...] = ()  # the orders that did not end: seeds, or None for the default order
    explanations: tuple[Explanation, ...] = ()  # of each condition, if they were asked for
    variables: Mapping[Location, str] = field(default_factory=dict)  # what locations are called

    def name_of(self, location: Location, address: str) -> str:
        """What a location is called."""
        space, at, _ = location
        return address or self.variables.get(location) or f"{space}[{at:#x}]"

    @property
    def escaped(self) -> tuple[SeenOutcome, ...]:
        """Outcomes that the engine showed and the model forbids: a fault of warplab.  Where ways were left out they may lead there."""
        return () if self.bounded else tuple(o for o in self.outcomes if o.orders and not o.allowed)

    @property
    def passed(self) -> bool:
        """Is all as the test says?"""
        return all(so for _, so in self.conditions) and not self.escaped


def judge(
    texts: Sequence[bytes],
    names: Sequence[str],
    spec: RunSpec,
    folder: Path | None,
    conditions: Sequence[OutcomeCondition],
    seeds: int,
    explain: bool = False,
) -> LitmusReport:
    """Enumerates what the model allows, and runs the default order and as many seeds, of which none need end."""
    spec = replace(spec, expect=(), show=(), dump=(), sanitize="", schedule=None, schedules=None, engine="numpy", poison=None)
    guessed: list[Runner] = []  # its memory holds what it holds before the launch: what is guessed is not stored

    def launch(guesser: Guesser) -> None:
        runner = Runner(texts, names, replace(spec, schedule=0), folder, (guesser,))
        with quiet():
            outcome = runner.run()
        if not guessed:
            _check_size(runner)
        if outcome.failure and not (guesser.parked and isinstance(outcome.cause, Deadlock)):
            raise NotModelled(f"a thread that ends in an error where it reads certain values: {outcome.failure}")
        if guessed:
            runner.close()
        else:
            guessed.append(runner)

    try:
        threads, first, bounded = explore(launch)
    except NotModelled as e:
        raise UsageError(f"the model does not cover {e}") from None
    (runner,) = guessed
    named = list(dict.fromkeys(name for c in conditions for name, _ in c.terms)) or _all_names(runner)
    places = [ShownValue(runner, name) for name in named]
    allowed = _allowed(runner, places, threads, first)
    counts: dict[tuple[Any, ...], tuple[int, int | None]] = {}
    unended: list[int | None] = []
    for schedule in (None, *range(1, seeds + 1)):
        values = _values(again(runner, schedule), places)
        if values is None:
            unended.append(schedule)
            continue
        count, seed = counts.get(values, (0, schedule))
        counts[values] = count + 1, seed
    found = [SeenOutcome(v, v in allowed, *counts.get(v, (0, None))) for v in sorted(allowed | counts.keys())]
    verdicts = [(c, any(c.holds(named, v) for v in allowed) is c.allows) for c in conditions]
    why = tuple(_explained(c, places, threads, first) for c in conditions) if explain else ()
    return LitmusReport(
        describe_launches(runner.trail), tuple(named), tuple(found), tuple(verdicts), seeds + 1, bounded, tuple(unended), why,
        _called(runner) if explain else {},
    )  # fmt: skip


def _explained(c: OutcomeCondition, places: Sequence[ShownValue], threads: Sequence[Traces], first: Mapping[Location, int]) -> Explanation:
    """Why the outcome that a condition names is allowed or forbidden."""

    def wanted(values: Mapping[Location, int]) -> bool:
        return c.holds([p.text for p in places], [p.value(values[p.location]) for p in places])

    return explained(threads, first, [p.location for p in places], wanted)


def _called(runner: Runner) -> dict[Location, str]:
    """The names of what a launch accesses: its buffers and variables, by their elements."""
    out: dict[Location, str] = {}
    for name, held in runner.numbers()[0].items():
        for n in range(min(held.size, MOST_NAMED)):
            value = ShownValue(runner, f"{name}[{n}]")
            out[value.location] = name if held.size == 1 else value.text
    return out


class ShownValue:
    """A name of an outcome: an element of a buffer or of a variable."""

    def __init__(self, runner: Runner, name: str) -> None:
        self.text = name
        self.name, _, index = name.partition("[")
        self.index = int(index[:-1]) if index else 0
        buffer, variable = runner.outcome.buffers.get(self.name), runner.module.program.variables.get(self.name)
        if buffer is not None:
            self.type, dtype, size, address = buffer.type, buffer.before.dtype, buffer.before.nbytes, buffer.address
        elif variable is not None and variable.space == "global":
            self.type, dtype = variable.type.name, variable.type.dtype
            address, size = runner.module.variable(self.name)
        else:
            raise UsageError(f"no buffer and no .global variable is called {self.name}")
        self.dtype: np.dtype[Any] = dtype
        count = size // dtype.itemsize
        if self.index >= count or (not index and count > 1):
            raise UsageError(f"{name}: {self.name} has {count} elements, from {self.name}[0] to {self.name}[{count - 1}]")
        self.location: Location = ("global", address + self.index * dtype.itemsize - runner.context.arena.base, dtype.itemsize)

    def value(self, bits: int) -> Any:
        """What stands there, as a number."""
        held = np.array([bits], f"u{self.dtype.itemsize}").view(self.dtype)
        return as_numbers(held, self.type).item()


def _all_names(runner: Runner) -> list[str]:
    out = []
    for name, held in runner.numbers()[0].items():
        out += [name] if held.size == 1 else [f"{name}[{n}]" for n in range(held.size)]
    if not 0 < len(out) <= MOST_SHOWN:
        raise UsageError(f"there are {len(out)} values that could be shown: name some with //@ allows NAME=VALUE or //@ forbids NAME=VALUE")
    return out


def _values(runner: Runner, places: Sequence[ShownValue]) -> tuple[Any, ...] | None:
    """The outcome of a run; None where it does not end."""
    try:
        with quiet():
            outcome = runner.run()
        if isinstance(outcome.cause, Deadlock | LimitReached):
            return None
        if outcome.failure:
            raise UsageError(f"--schedule {runner.spec.schedule}: the test does not end well: {outcome.failure}")
        now = runner.numbers()[0]
        return tuple(now[p.name].reshape(-1)[p.index].item() for p in places)
    finally:
        runner.close()


def _check_size(runner: Runner) -> None:
    """Refuses what is no litmus test."""
    if len(runner.trail) != 1:
        raise UsageError(f"a litmus test is one launch, and this one has {len(runner.trail)}")
    shape = runner.trail[0][1]
    threads = int(np.prod(shape.grid)) * int(np.prod(shape.block))
    if threads > MOST_THREADS:
        raise UsageError(f"a litmus test has {MOST_THREADS} threads at most, and this one has {threads}")


def _allowed(runner: Runner, places: Sequence[ShownValue], threads: Sequence[Traces], first: dict[Location, int]) -> set[tuple[Any, ...]]:
    """The outcomes that the model allows."""
    for p in places:
        at = p.location[1]
        if p.location not in first:
            if any(space == "global" and start < at + p.dtype.itemsize and at < start + size for space, start, size in first):
                raise UsageError(f"{p.text} is accessed in other sizes than its own, {p.dtype.itemsize} bytes")
            raw = runner.context.arena.bytes[at : at + p.dtype.itemsize].tobytes()
            first[p.location] = int.from_bytes(raw, "little")
    try:
        found = outcomes(threads, first, [p.location for p in places])
    except NotModelled as e:
        raise UsageError(f"the model does not cover {e}") from None
    return {tuple(p.value(v) for p, v in zip(places, values, strict=True)) for values in found}
