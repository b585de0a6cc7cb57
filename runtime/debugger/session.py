"""Where a debugger stands in a recording: a step, and the thread that it looks at; breakpoints, and the ways to go on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from warplab.interpreter.recorder.layout import RecordedInstruction

from ..dwarf.names import SourceNames
from ..errors import UsageError
from ..recording.columns import Numbers
from ..recording.conditions import Break, CellAccess, Change, Condition, Hit, LanesAt, hits
from ..recording.expressions import LaneExpression, truth
from ..recording.questions import Recording


@dataclass(slots=True)
class Stop:
    """A breakpoint, watchpoint or catchpoint."""

    number: int
    what: str  # "breakpoint", "hw watchpoint", "catchpoint"
    text: str  # as it was given
    condition: Condition
    temporary: bool = False
    enabled: bool = True
    hits: int = 0
    when: LaneExpression | None = None  # of a watchpoint: it stops where this holds for a lane
    counts: Callable[[int], bool] | None = None  # which of the times that it is met since the launch began, from 1 on; None: all
    times: list[int] | None = None  # the steps at which it is met, where they are counted
    commands: list[str] = field(default_factory=list)  # that follow where it stops


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a command has brought the debugger: a stop that was met, the end or the beginning of the recording, or just a place."""

    stop: Stop | None = None
    hit: Hit | None = None
    end: str = ""  # "begin" or "end"


class Session:
    """A debugger on one recording."""

    def __init__(self, recording: Recording) -> None:
        self.rec = recording
        self.names = recording.names = SourceNames(recording)
        self.step = 0
        first = recording.at(0).lanes if recording.step_count else np.zeros(1, np.int64)
        self.lane = int(first.min())
        self.stops: list[Stop] = []
        self.is_new = True  # it has not looked at the first step yet
        self.level = 0  # the call that is looked at, the innermost is 0
        self.by_source = True  # a line is one of the source, where .loc names it; else always one of the PTX
        self._numbers = 0

    # ------------------------------------------------------------ breakpoints

    def add(self, what: str, text: str, condition: Condition, temporary: bool = False) -> Stop:
        """A new breakpoint."""
        if isinstance(condition, Break) and condition.when is not None:
            self.check(condition)
        self._numbers += 1
        stop = Stop(self._numbers, what, text, condition, temporary)
        self.stops.append(stop)
        return stop

    def check(self, condition: Break) -> None:
        """Refuses an expression that can't be evaluated where it is to be."""
        rec = self.rec
        for n in condition.instructions:
            function = rec.track.instructions[n].function
            assert condition.when is not None
            condition.when.evaluate(LanesAt(rec, 0, np.zeros(0, np.int64), (function, 0)))

    def number(self, text: str) -> Stop:
        """A breakpoint by its number."""
        found = next((s for s in self.stops if str(s.number) == text), None)
        if found is None:
            raise UsageError(f"no breakpoint number {text}.")
        return found

    # ------------------------------------------------------------ ways

    def go_on(self, back: bool = False) -> Arrival:
        """To the next breakpoint that is met, or the last one before; behind the access that a watchpoint waits for, and going back before it."""
        best: tuple[int, Stop, Hit] | None = None
        for stop in (s for s in self.stops if s.enabled):
            behind = isinstance(stop.condition, CellAccess | Change) and not back
            start = self.step if back or behind or self.is_new else self.step + 1
            hit = next(self._met(stop, start, -1 if back else 1), None)
            if hit is not None and (best is None or (hit.step + behind < best[0]) is not back):
                best = hit.step + behind, stop, hit
        if best is None:
            return self._over(back)
        self.step, stop, hit = best
        self.is_new, self.level = False, 0
        stop.hits += 1
        if stop.temporary:
            self.stops.remove(stop)
        if self.lane not in hit.lanes:
            self.lane = hit.lane
        return Arrival(stop, hit)

    def _met(self, stop: Stop, step: int, way: int) -> Iterator[Hit]:
        """Where a breakpoint stops, the nearest place first."""
        if stop.counts is not None and stop.times is None:
            stop.times = [hit.step for hit in self._holding(stop, 0, 1)]
        for hit in self._holding(stop, step, way):
            if stop.counts is None or stop.times is None or stop.counts(bisect_right(stop.times, hit.step)):
                yield hit

    def _holding(self, stop: Stop, step: int, way: int) -> Iterator[Hit]:
        """Where its condition holds."""
        for hit in hits(self.rec, stop.condition, step, way):
            if stop.when is not None:
                lanes = np.array(hit.lanes)
                lanes = lanes[truth(stop.when.evaluate(LanesAt(self.rec, hit.step, lanes, self.rec.frame(hit.lane, hit.step))))]
                hit = Hit(hit.step, int(lanes[0]), tuple(lanes.tolist())) if lanes.size else Hit(hit.step, -1)
            if hit.lane >= 0:
                yield hit

    def _over(self, back: bool) -> Arrival:
        """Nothing is left in this direction."""
        self.step = 0 if back else self.rec.step_count
        self.is_new, self.level = back, 0
        if not back and self.rec.fault is not None:
            self.lane = self.rec.fault.lane
        return Arrival(end="begin" if back else "end")

    def start(self) -> None:
        """To the first step."""
        self.step, self.is_new, self.level = 0, True, 0

    def go(self, step: int) -> None:
        """To a step by its number."""
        self.step, self.is_new, self.level = step, False, 0

    def move(self, count: int = 1, back: bool = False, over: bool = False) -> Arrival:
        """So many instructions of the thread on, or back; `over`: those of called functions count as part of the call."""
        self.is_new, self.level = False, 0
        for _ in range(count):
            arrived = self._move_one(back, over)
            if arrived is not None:
                return arrived
        return Arrival()

    def _move_one(self, back: bool, over: bool) -> Arrival | None:
        rec = self.rec
        depth = self.depth if over else None
        at = self.step if back else rec.next_step(self.lane, self.step)
        while True:
            if at is not None:
                at = rec.previous_step(self.lane, at) if back else rec.next_step(self.lane, at + 1)
            if at is None:
                return self._over(back)
            if depth is None or int(rec.columns.depth[rec.columns.execution(at)]) <= depth:
                self.step = at
                return None

    def move_line(self, back: bool = False, over: bool = False) -> Arrival:
        """To another line of the source, or of the PTX where no .loc names one."""
        self.is_new, self.level = False, 0
        line, depth = self.line, self.depth
        while True:
            arrived = self._move_one(back, over)
            if arrived is not None:
                return arrived
            if (self.line, self.depth) != (line, depth) and not self.line.endswith(":0"):  # line 0: the compiler's own, of no line
                break
        if back:  # to the first instruction of that line
            line, depth = self.line, self.depth
            while (before := self.rec.previous_step(self.lane, self.step)) is not None:
                here, self.step = self.step, before
                if (self.line, self.depth) != (line, depth):
                    self.step = here
                    break
        return Arrival()

    def finish(self, back: bool = False) -> Arrival:
        """Behind the return from the function, or back to its call; of the kernel, to its end."""
        depth, self.level = self.depth - self.level, 0
        if depth <= 0:
            if back:
                first = int(self.rec.steps(self.lane)[0])
                self.step = first
                return Arrival(end="begin" if first == 0 else "")
            return self._over(False)
        while True:
            arrived = self._move_one(back, False)
            if arrived is not None or self.depth < depth:
                return arrived or Arrival()

    def until(self, condition: Break, back: bool = False) -> Arrival:
        """To a place, for this thread."""
        only = replace(condition, lanes=(self.lane,))
        found = next(hits(self.rec, only, self.step + (not back), -1 if back else 1), None)
        if found is None:
            return self._over(back)
        self.go(found.step)
        return Arrival()

    def past_line(self, back: bool = False) -> Arrival:
        """To a line past this one, or before it, of the same call or of a caller: a loop is left behind."""
        depth, (name, _, number) = self.depth, self.line.rpartition(":")
        while True:
            arrived = self.move_line(back, True)
            here, _, there = self.line.rpartition(":")
            if arrived.end or self.depth < depth or here != name or (int(there) < int(number) if back else int(there) > int(number)):
                return arrived

    # ------------------------------------------------------------ where it stands

    @property
    def at_end(self) -> bool:
        """Is all executed?"""
        return self.step >= self.rec.step_count

    @property
    def depth(self) -> int:
        """Calls that are open in the thread."""
        return self.frame[1]

    @property
    def frame(self) -> tuple[str, int]:
        """The function that the thread is in, and the calls that are open."""
        return self.rec.frame(self.lane, min(self.step, self.rec.step_count))

    @property
    def line(self) -> str:
        """The line of the source, or of the PTX."""
        rec = self.rec
        at = rec.next_step(self.lane, self.step)
        if at is None:
            return "end"
        return self.line_of(rec.columns.instruction(at))

    def line_of(self, i: RecordedInstruction) -> str:
        """The line of an instruction, as steps go by lines."""
        return i.source if self.by_source and i.source else f"{i.module}:{i.line}"

    @property
    def looked_at(self) -> tuple[str, int]:
        """The function and the depth of the call that is looked at."""
        function, depth = self.frame
        if not self.level:
            return function, depth
        calls = self.rec.backtrace(self.lane, self.step)
        if self.level >= len(calls):
            raise UsageError(f"no frame {self.level}; there are {len(calls)}")
        return calls[self.level].function, depth - self.level

    def focus(self, lane: int) -> None:
        """Looks at another thread."""
        if not self.rec.is_recorded(lane // self.rec.threads):
            raise UsageError(f"{self.rec.thread(lane)} is not in the recording, which holds fewer blocks: record it with --blocks")
        self.lane, self.level = lane, 0

    def look(self) -> LanesAt:
        """The thread, for expressions."""
        return LanesAt(self.rec, self.step, np.array([self.lane]), self.looked_at)


def groups_at(rec: Recording, lanes: Numbers, step: int) -> list[tuple[int, list[int]]]:
    """Some lanes by the step that each executes next, in the order of these steps; -1: those that have ended.  Lanes whose launch ended before they
    did stand at `interrupted(step)` of the step in which they took part last."""
    c = rec.columns
    left, out = lanes, []
    if step < rec.step_count:
        near = np.flatnonzero(c.touching(lanes))
        for n in near[np.searchsorted(near, c.execution(step)) :].tolist():
            if not left.size:
                break
            if not c.done[n]:
                continue
            has = c.lanes_of(n).places(left) >= 0
            if has.any():
                out.append((max(int(c.first[n]), step), left[has].tolist()))
                left = left[~has]
    behind: dict[int, list[int]] = {}
    for lane in left.tolist():
        last = rec.interrupted_at(lane)
        behind.setdefault(-1 if last is None else interrupted(last), []).append(lane)
    return out + sorted(behind.items())


def interrupted(step: int) -> int:
    """A step in which lanes took part last, as a place behind all steps; or such a place as the step."""
    return -step - 2


def standing(rec: Recording, step: int) -> str:
    """Where lanes are that `groups_at` has put at a step."""
    if step == -1:
        return "ended"
    at = step if step >= 0 else interrupted(step)
    waits = step < 0 and rec.track.ended.startswith("deadlock")  # of which no lane that is left can go on
    return f"line {rec.columns.instruction(at).line}" + (" (waits)" if waits else "")
