"""How long a launch will go on in numpy: from the loops that its lanes are in, the waves that have not begun, and launches before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...launch import Launch
from ...plan.plan import Branch, PlanFunction, Segment
from ...plan.uses import slots_in, successors, written
from ...values import Array, plain

POINTS = 4  # of an approach, from which on it is believed
MOST_POINTS = 8
STEADY = 4  # times as fast as at its slowest an approach may be at its fastest


@dataclass(slots=True)
class PlannedLoop:
    """A stretch of segments, and which registers its exits compare."""

    first: int
    last: int
    compared: list[tuple[int, int]]


class Approach:
    """How far two registers are from each other, at moments at which that had become less."""

    def __init__(self) -> None:
        self.points: list[tuple[float, int]] = []

    def see(self, now: float, apart: int) -> None:
        """Their distance now."""
        points = self.points
        if points and apart > points[-1][1]:
            points.clear()
        if not points or apart < points[-1][1]:
            points.append((now, apart))
            if len(points) > MOST_POINTS:
                del points[1]

    def remaining(self, now: float) -> float:
        """Seconds until they are equal; 0 where they don't approach steadily."""
        if len(self.points) < POINTS:
            return 0.0
        points = self.points
        speeds = [(x - y) / max(t - s, 1e-9) for (s, x), (t, y) in pairwise(points)]
        if max(speeds) > STEADY * min(speeds):
            return 0.0
        (begun, first), (last, apart) = points[0], points[-1]
        return max((last - begun) * apart / (first - apart) - (now - last), 0.0)


class LaunchForesight:
    """Of one launch."""

    def __init__(self, launch: Launch, before: float, first: float) -> None:
        self.launch = launch
        self.first = first  # seconds that numpy had run the kernel when it began
        self.before = before  # seconds of the launch before; 0: there was none like this
        self.spent = 0.0  # seconds so far, without the wave that runs
        self.blocks = 0  # that have ended in this time
        self.begun = time.thread_time()  # of the wave that runs
        self.is_known = False  # can one see anything?
        self._loops: dict[int, list[PlannedLoop]] = {}  # by function
        self._approaches: dict[Any, Approach] = {}

    def begin_wave(self) -> None:
        """A wave begins, or goes on."""
        self.begun = time.thread_time()
        self._approaches.clear()

    def end_wave(self, blocks: int) -> None:
        """It has ended, with so many blocks, or is suspended (0)."""
        self.spent += time.thread_time() - self.begun
        self.blocks += blocks

    def remaining(self, wave: Any = None) -> float | None:
        """Seconds that the launch goes on for, as far as one can see: the wave that runs, and those that have not begun.  None: it can't be told."""
        launch, now = self.launch, time.thread_time()
        left = launch.blocks - launch.next_block
        spent, this, blocks = self.spent, 0.0, self.blocks
        if wave is not None:
            this = self._in_loops(wave.ready[-1], now) if wave.ready else 0.0
            spent += now - self.begun
            blocks += wave.count
        waves = (spent + this) / blocks * left if blocks else 0.0
        found = max(this + waves, self.before - spent)
        self.is_known = self.is_known or found > 0
        return max(found, 0.0) if self.is_known else None

    def _in_loops(self, g: Any, now: float) -> float:
        """Seconds until a group leaves the outermost of its loops whose counter moves."""
        plan = g.act.function.plan
        loops = self._loops.get(id(plan))
        if loops is None:
            loops = self._loops[id(plan)] = sorted(loops_of(plan), key=lambda x: x.first - x.last)
        found = 0.0
        for loop in loops:
            if loop.first <= g.pc <= loop.last:
                found = found or min(filter(None, (self._until(loop, pair, g, now) for pair in loop.compared)), default=0.0)
        return found

    def _until(self, loop: PlannedLoop, pair: tuple[int, int], g: Any, now: float) -> float:
        """Seconds until two registers are equal in all lanes; 0 where that can't be told."""
        apart = distance(g, *pair)
        if apart is None:
            return 0.0
        found = self._approaches.setdefault((loop.first, loop.last, pair), Approach())
        found.see(now, apart)
        return found.remaining(now)


def distance(g: Any, a: int, b: int) -> int | None:
    """How far two registers of a group are from each other, in that lane of a sample where it is most; None if they are no integers."""
    values = [g.fetch_or_none(a), g.fetch_or_none(b)]
    if any(v is None for v in values):
        return None
    arrays = [_sample(plain(v)) for v in values]
    if any(v.dtype.kind not in "iu" for v in arrays):
        return None
    signed = [v.view(f"i{v.dtype.itemsize}").astype(np.int64) for v in arrays]
    apart = abs(signed[0] - signed[1])
    if g.alive is not None:
        apart = np.where(_sample(g.alive), apart, 0)
    return int(apart.max())


def _sample(v: Array) -> Array:
    """Some blocks and some threads of an array of lanes."""
    rows, columns = v.shape
    return v[:: max(rows // 8, 1), :: max(columns // 32, 1)]


def loops_of(plan: PlanFunction) -> Iterator[PlannedLoop]:
    """The loops of a function whose exits compare registers that live as long as the loop."""
    ends: dict[int, int] = {}
    following = [successors(x.end) for x in plan.segments]
    for n, places in enumerate(following):
        for to in places:
            if to <= n:
                ends[to] = n
    for first, last in ends.items():
        compared = set[tuple[int, int]]()
        for n in range(first, last + 1):
            end = plan.segments[n].end
            if isinstance(end, Branch) and any(to == first or not first <= to <= last for to in following[n]):
                compared.update(comparisons(plan.segments[n], end.guard.slot))
        lasting = [pair for pair in compared if all(x >= plan.first_constant or plan.live_in[first] >> x & 1 for x in pair)]
        if lasting:
            yield PlannedLoop(first, last, lasting)


def comparisons(segment: Segment, slot: int, deeper: int = 2) -> Iterator[tuple[int, int]]:
    """Pairs of registers that a segment makes a predicate of: those that it compares are among them."""
    op = next((op for op in reversed(segment.ops) if slot in written(op)), None)
    if op is None or deeper < 0:
        return
    slots = slots_in(op.sources)
    if len(slots) >= 2:
        yield slots[0], slots[1]
    for source in slots:  # of an `and` of conditions, say
        if source != slot:
            yield from comparisons(segment, source, deeper - 1)
