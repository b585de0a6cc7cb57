"""Records a launch whole: what every instruction wrote in every lane, each access to memory, and where lanes waited and diverged.

The engine's arrays are never changed in place, so a value is kept as a reference.  A group of lanes that executes a segment leaves a few tuples:
the slots that the segment writes are taken together, and not one after the other.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Label
from warplab.assembler.listing import listing

from ..faults import ExecutionError, Fault
from ..launch import Launch
from ..memory.store_buffer import HeldStore
from ..observe import Access, ObservedLanes, ObservedWave, Observer, TexelAccess
from ..plan.plan import PlanFunction, Site
from ..values import Array
from ..vector.function import Segments, Step, Terminator, VectorFunction, VectorSegment
from ..vector.group import Activation, Group
from .describing import described, track_of
from .keeping import Keeper
from .lanes import LaneSet
from .layout import ENTRY, Captures, SegmentLayout, columns_of, instructions_of, registers_of_function, results_before
from .memories import Effects
from .track import NamedCells, RecordedEvent, Track

LIMIT = 1 << 30  # bytes of a recording
BATCH = 64  # executions that are kept at once


class Recorder(Observer):
    """Records one launch.  `blocks`: only these, by their numbers in the launch."""

    def __init__(self, limit: int = LIMIT, blocks: Collection[int] | None = None) -> None:
        self.limit = limit
        self.blocks = blocks
        self.track: Track | None = None  # from the launch on
        self._functions: dict[int, tuple[VectorFunction, VectorFunction]] = {}  # by id: with the original, which keeps the id in use
        self._heads: list[
            tuple[int, Any, Array | None, Activation, int]
        ] = []  # executions that are not kept yet: layout, lanes, call, first block
        self._raw: list[tuple[Any, ...]] = []  # what they left
        self._open: list[Any] | None = None  # the registers of the one that is under way
        self._started = 0  # where its values begin in _raw
        self._captures: list[Captures] = []  # by layout
        self._sites: list[dict[int, int]] = []  # by layout: which instruction a site is
        self._numbers: dict[int, int] = {}  # of all sites, in the track
        self._wave: ObservedWave | None = None
        self._finished = False

    @property
    def size(self) -> int:
        """Bytes of the recording."""
        return self._keeper.size

    # ------------------------------------------------------------ the launch

    def begin(self, launch: Launch) -> None:
        self.track = track_of(launch)
        self._launch = launch
        self._keeper = Keeper(self.track, launch, self.limit, self.blocks)
        self._effects = Effects(self._keeper, launch)

    def wave(self, wave: ObservedWave) -> None:
        self._close()
        self._wave = wave
        self._effects.wave(wave)
        if wave.late is not None:
            wave.late.watch = self._done

    def end(self, launch: Launch) -> None:
        self.finish()

    def aborted(self, launch: Launch, error: ExecutionError) -> None:
        track = self.track
        assert track is not None
        at_fault = isinstance(error, Fault) and self._open is not None
        self.finish(str(error))
        if not track.layout_of or self._keeper.stopped or not isinstance(error, Fault):
            return
        last = len(track.layout_of) - 1
        layout = track.layouts[track.layout_of[last]]
        if at_fault and track.done[last] < layout.count:
            track.done[last] += 1  # the instruction at fault is the last step
        step = track.done[last] - 1
        who = track.lanes_of[last]
        track.events.append(RecordedEvent(last, step, "fault", error.message, who, self._at_fault(error, track.lanes[who])))

    def _at_fault(self, fault: Fault, lanes: LaneSet) -> Array | None:
        """Which of some lanes a fault names."""
        launch, track = self._launch, self.track
        if fault.block is None or fault.thread is None or track is None:
            return None
        x, y, _ = launch.block
        thread = fault.thread[0] + x * (fault.thread[1] + y * fault.thread[2])
        (block,) = np.flatnonzero((track.blocks == np.array(fault.block)).all(axis=1)).tolist()
        found: Array = (lanes.numbers == block * launch.threads + thread).reshape(lanes.shape)
        return found if found.any() else None

    def finish(self, ended: str = "") -> Track:
        """The track, when the launch is over or has ended early, for a reason in words."""
        assert self.track is not None, "no launch has begun"
        if not self._finished:
            self._finished = True
            self._close()
            self._flush(over=True)
            self._effects.finish()
            self.track.ended = ended
            self._functions.clear()
            self._wave = None
        return self.track

    # ------------------------------------------------------------ the steps of a function

    def around(self, function: VectorFunction) -> VectorFunction:
        found = self._functions.get(id(function))
        if found is None:
            recorded = copy.copy(function)
            inner, entries = function.segments.make, results_before(function.plan)
            self._describe(function.plan)
            recorded.segments = Segments(function.plan, lambda s, pc: self._segment(function.plan, inner(s, pc), pc, entries.get(pc, ())))
            found = self._functions[id(function)] = recorded, function
        return found[0]

    def _describe(self, plan: PlanFunction) -> None:
        track = self.track
        assert track is not None
        track.registers[plan.name] = {r.name: r.type.name for r in registers_of_function(plan)}
        track.frames[plan.name] = [NamedCells(v.name, "local", at, v.size, v.type.name, v.dims) for v, at in plan.frame if v.size]
        labels: dict[str, int] = {}
        waiting: list[str] = []
        for s in listing(plan.function).statements:
            if isinstance(s, Label):
                waiting.append(s.name)
            elif hasattr(s, "opcode"):
                labels.update(dict.fromkeys(waiting, s.span.line))
                waiting = []
        track.labels[plan.name] = labels

    def _segment(self, plan: PlanFunction, made: VectorSegment, pc: int, entries: Sequence[Any]) -> VectorSegment:
        track = self.track
        assert track is not None
        segment = made.plan
        columns, captures, times, kept = columns_of(plan, segment, pc, entries)
        sites = instructions_of(segment)
        number = len(track.layouts)
        track.layouts.append(SegmentLayout(plan.name, pc, len(track.instructions), len(sites), tuple(columns), times, kept))
        track.instructions += [described(self._launch, plan, site) for site in sites]
        self._captures.append(captures)
        self._sites.append({id(site): n for n, site in enumerate(sites)})
        self._numbers.update({id(site): track.layouts[number].first + n for n, site in enumerate(sites)})
        head, tail = self._head(number, captures), self._tail(captures)
        steps: list[Step] = list(made.steps)
        for n, slots in captures.before.items():
            steps[n] = _before(steps[n], self._taker(slots))
        if not steps:
            return VectorSegment((), _ending(head, tail, made.terminate), made.reads, made.writes, made.exchange, segment)
        steps[0] = _in_order(head, steps[0])
        steps[-1] = _in_order(steps[-1], tail)
        return VectorSegment(tuple(steps), made.terminate, made.reads, made.writes, made.exchange, segment)

    def _head(self, number: int, captures: Captures) -> Step:
        """What is kept before the first instruction: who executes the segment."""
        heads, raw = self._heads, self._raw
        take = self._taker(captures.head) if captures.head else None

        def head(R: list[Any]) -> None:
            if self._open is not None:
                self._abandon()
            self._effects.settle()
            g: Group = R[0]
            self._open = R
            self._started = len(raw)
            heads.append((number, g.geometry, g.alive, g.act, g.wave.first))
            self._effects.step = ENTRY
            if take is not None:
                take(R)

        return head

    def _tail(self, captures: Captures) -> Step:
        heads = self._heads
        take = self._taker(captures.tail) if captures.tail else None
        effects = self._effects

        def tail(R: list[Any]) -> None:
            if take is not None:
                take(R)
            self._open = None
            if effects.pending:
                effects.settle()
            if len(heads) >= BATCH:
                self._flush()

        return tail

    def _taker(self, slots: tuple[int, ...]) -> Step:
        """Takes the values of some slots."""
        raw, keeper = self._raw, self._keeper
        if len(slots) == 1:
            (slot,) = slots
            return lambda R: raw.append(keeper.taken((R[slot],)))
        values = itemgetter(*slots)
        return lambda R: raw.append(keeper.taken(values(R)))

    # ------------------------------------------------------------ executions

    def _flush(self, over: bool = False) -> None:
        """What has been executed is kept; what happened behind it belongs to the next execution, if there is one."""
        self._keeper.keep(self._heads, self._raw, self._effects.take(len(self._heads) + over))
        self._heads.clear()
        self._raw.clear()

    def _close(self) -> None:
        if self._open is not None:
            self._abandon()
        if self.track is not None:
            self._effects.settle()

    def _abandon(self) -> None:
        """The execution under way did not come to its end: it was at the instruction that the wave names."""
        R, number = self._open, self._heads[-1][0]
        assert R is not None and self._wave is not None and self.track is not None
        layout, captures = self.track.layouts[number], self._captures[number]
        done = self._sites[number].get(id(self._wave.current), 0)
        first: dict[int, int] = {}
        for c in layout.columns:
            first[c.at] = min(first.get(c.at, c.step), c.step)
        groups = [captures.head, *captures.before.values(), captures.tail]
        taken, at = len(self._raw) - self._started, 0
        for n, slots in enumerate([s for s in groups if s]):
            if n >= taken:
                self._raw.append(self._keeper.taken(tuple([R[s] if first[at + k] < done else None for k, s in enumerate(slots)])))
            at += len(slots)
        self._keeper.cut_short[len(self._heads) - 1] = done
        self._effects.drop(len(self._heads) - 1, done)
        self._open = None

    @property
    def _place(self) -> tuple[int, int]:
        """The execution that an event belongs to, and its instruction; between executions it comes before the next one."""
        wave = self._wave
        assert wave is not None
        if self._open is None:
            return len(self._heads), ENTRY
        n = len(self._heads) - 1
        return n, self._sites[self._heads[n][0]].get(id(wave.current), max(self._effects.step, 0))

    # ------------------------------------------------------------ events

    def stretch(self, sites: Sequence[Site], group: ObservedLanes) -> None:
        pass

    def access(self, access: Access) -> None:
        effects = self._effects
        execution, effects.step = self._place
        effects.access(access, execution, self._number(access.site))

    def texels(self, access: TexelAccess) -> None:
        execution, step = self._place
        what = "fetches texels of" if access.kind == "ld" else "accesses"
        self._effects.event(execution, step, "texels", f"{what} a {access.space}", access.group.geometry, access.mask)
        if access.kind != "ld":
            self._effects.step = step
            self._effects.texels(access, execution, self._number(access.site))

    def branch(self, site: Site, group: ObservedLanes, condition: Array, targets: tuple[int, int]) -> None:
        self._after("branch", "lanes diverge", group, condition if group.alive is None else condition & group.alive)

    def arrival(self, site: Site, group: ObservedLanes, number: int, count: int | None, waits: bool) -> None:
        self._after("arrive", f"barrier {number}", group, group.alive)

    def met(self, site: Site, group: ObservedLanes, number: int) -> None:
        self._after("met", f"barrier {number}", group, None)

    def cluster(self, site: Site, group: ObservedLanes, arrives: bool) -> None:
        self._after("arrive" if arrives else "wait", "barrier of the cluster", group, group.active)

    def wait(self, site: Site | None, group: ObservedLanes, why: str) -> None:
        self._after("wait", why, group, group.alive)

    def _after(self, kind: str, text: str, group: ObservedLanes, mask: Array | None) -> None:
        """An event of the instruction that ends the last execution, or of one in it."""
        execution, step = self._place
        if step == ENTRY and execution and self._heads[execution - 1][1] is group.geometry:
            execution -= 1
            step = max(self.track.layouts[self._heads[execution][0]].count - 1, 0)  # type: ignore[union-attr]
        self._effects.event(execution, step, kind, text, group.geometry, mask)

    def _done(self, held: HeldStore, some: NDArray[np.bool_]) -> None:
        """Stores that were held become visible."""
        self._effects.visible(held, some, *self._place)

    def passed(self, group: ObservedLanes, source: int | None, target: int, size: int) -> None:
        wave = self._wave
        assert wave is not None
        self._effects.passed(group, wave.local, source, target, size, len(self._heads))

    def _number(self, site: Site) -> int:
        """The number of an instruction in the track; of a copy that comes late, that of the copy."""
        return self._numbers.get(id(site), -1)


def _before(step: Step, take: Step) -> Step:
    def taken(R: list[Any]) -> None:
        take(R)
        step(R)

    return taken


def _in_order(first: Step, second: Step) -> Step:
    def both(R: list[Any]) -> None:
        first(R)
        second(R)

    return both


def _ending(head: Step, tail: Step, end: Terminator) -> Terminator:
    """A segment without operations is executed at its end."""

    def terminate(g: Group) -> int | None:
        head(g.R)
        tail(g.R)
        return end(g)

    return terminate
