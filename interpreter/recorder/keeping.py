"""Keeps what was executed in a track, within a limit: a launch that needs more is kept in fewer and fewer of its blocks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..lanes import Geometry
from ..launch import Launch
from ..values import Array
from ..vector.group import Activation
from .cutting import cut_to_blocks, cut_value
from .lanes import LaneSet
from .store import ArrayStore
from .track import RecordedAccess, RecordedEvent, Track

Head = tuple[int, Any, "Array | None", Activation, int]
KNOWN_LANES = 512  # lanes that are recognised when they execute again
OVERHEAD = 120  # bytes of an array beside its elements, and of a place in a list


class Keeper:
    """Appends to a track."""

    def __init__(self, track: Track, launch: Launch, limit: int, blocks: Collection[int] | None) -> None:
        self.track = track
        self.limit = limit
        self.store = ArrayStore()
        self.overhead = 0  # bytes of what is no array of values
        self.cut_short: dict[int, int] = {}  # executions that did not come to their end, of those that are not kept yet
        self.stopped = False
        self._known: dict[tuple[int, int, int], tuple[int, Any, Any]] = {}
        self._blocks = launch.blocks
        if blocks is not None:
            track.kept_blocks = np.zeros(launch.blocks, np.bool_)
            track.kept_blocks[[b for b in blocks if 0 <= b < launch.blocks]] = True

    def taken(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Values that have just been written, copied while the processor's caches hold them; where blocks are left out, that comes later."""
        return tuple(map(self.store.kept, values)) if self.track.kept_blocks is None and not self.stopped else values

    def keep(
        self, heads: Sequence[Head], raw: Sequence[tuple[Any, ...]], effects: tuple[list[RecordedAccess], list[RecordedEvent]]
    ) -> None:
        """Keeps executions, with their accesses and events, which count the executions from the first of these."""
        track, layouts = self.track, self.track.layouts
        at = 0
        kept = self.store.kept
        place: list[int] = []  # in the track, of each execution
        for n, (number, geometry, alive, act, first) in enumerate(heads):
            layout = layouts[number]
            end = at + layout.captures
            values = raw[at] if layout.captures == 1 else tuple(chain.from_iterable(raw[at:end]))
            at = end
            place.append(len(track.layout_of))
            if self.stopped:
                continue
            lanes = self.lanes(geometry, first, alive)
            if track.kept_blocks is not None:
                chosen = self._chosen(lanes, values)
                if chosen is None:
                    continue
                lanes, values = chosen[0], tuple(map(kept, chosen[1]))
            self.overhead += OVERHEAD + OVERHEAD * len(values)
            track.layout_of.append(number)
            track.lanes_of.append(lanes)
            depth, caller = 0, act.caller
            while caller is not None:
                depth, caller = depth + 1, caller.caller
            track.depth_of.append(depth)
            track.base_of.append(act.base)
            track.done.append(self.cut_short.get(n, layout.count))
            track.values.append(values)
        self.cut_short.clear()
        place.append(len(track.layout_of))
        self._keep_effects(effects, place)
        while self.size > self.limit and not self.stopped:
            self._shrink()

    def _keep_effects(self, effects: tuple[list[RecordedAccess], list[RecordedEvent]], place: Sequence[int]) -> None:
        track = self.track
        accesses, events = effects
        for a in accesses:
            a.execution = place[a.execution]
            if self.stopped or (track.kept_blocks is not None and not self._cut_access(a)):
                continue
            self._copy_access(a)
            track.accesses.append(a)
        for e in events:
            if not self.stopped and (track.kept_blocks is None or track.lanes[e.lanes].among(track.kept_blocks) is not None):
                self.overhead += OVERHEAD
                mask = None if e.mask is None else self.store.copy(e.mask)
                track.events.append(RecordedEvent(place[e.execution], e.step, e.kind, e.text, e.lanes, mask))

    # ------------------------------------------------------------ lanes and values

    def lanes(self, geometry: Geometry, first: int, alive: Array | None) -> int:
        """The number of some lanes."""
        key = id(geometry), id(alive), first
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= KNOWN_LANES:
                self._known.clear()
            if alive is None:
                new = LaneSet.of(geometry, first)
            else:  # many sets of living lanes share one geometry
                every = self.track.lanes[self.lanes(geometry, first, None)]
                new = LaneSet(every.block, every.thread, every.shape, every.threads, self.store.copy(alive))
            found = self._known[key] = self.add(new), geometry, alive
        return found[0]

    def add(self, lanes: LaneSet) -> int:
        """The number of lanes that are new."""
        self.track.lanes.append(lanes)
        self.overhead += lanes.bytes
        return len(self.track.lanes) - 1

    def _copy_access(self, a: RecordedAccess) -> None:
        kept = self.store.kept
        a.address, a.mask = kept(a.address), kept(a.mask)
        a.after, a.values = tuple(map(kept, a.after)), tuple(map(kept, a.values))
        self.overhead += OVERHEAD * (3 + len(a.after) + len(a.values))

    @property
    def size(self) -> int:
        """Bytes of the track."""
        return self.store.size + self.overhead

    # ------------------------------------------------------------ fewer blocks

    def _chosen(self, lanes: int, values: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]] | None:
        """The lanes of the blocks that are kept, and their values."""
        track = self.track
        assert track.kept_blocks is not None
        some = track.lanes[lanes].among(track.kept_blocks)
        if some is None:
            return None
        chosen, rows, columns = some
        if chosen is track.lanes[lanes]:
            return lanes, values
        return self.add(chosen), tuple([cut_value(v, rows, columns) for v in values])

    def _cut_access(self, a: RecordedAccess) -> bool:
        track = self.track
        assert track.kept_blocks is not None
        some = track.lanes[a.lanes].among(track.kept_blocks)
        if some is None:
            return False
        chosen, rows, columns = some
        if chosen is not track.lanes[a.lanes]:
            a.lanes = self.add(chosen)
            a.address = cut_value(a.address, rows, columns)
            a.mask = cut_value(a.mask, rows, columns)
            a.after, a.values = (tuple([cut_value(v, rows, columns) for v in some]) for some in (a.after, a.values))
        return True

    def _shrink(self) -> None:
        """Keeps half of the blocks that are kept; those that come first."""
        track = self.track
        executed = (
            np.unique(np.concatenate([one.block.ravel() for one in track.lanes]))
            if track.kept_blocks is None
            else np.flatnonzero(track.kept_blocks)
        )
        if executed.size < 2:
            self.stopped = track.stopped = True
            return
        blocks = np.zeros(self._blocks, np.bool_)
        blocks[executed[: executed.size // 2]] = True
        small = cut_to_blocks(track, blocks)
        for name in ("kept_blocks", "lanes", "layout_of", "lanes_of", "depth_of", "base_of", "done", "events"):
            setattr(track, name, getattr(small, name))
        self.store, self.overhead = ArrayStore(), sum(one.bytes for one in track.lanes)
        self._known.clear()
        kept_value = self.store.kept
        track.values = [tuple(map(kept_value, row)) for row in small.values]
        self.overhead += sum(OVERHEAD + OVERHEAD * len(row) for row in track.values)
        track.accesses = small.accesses
        for a in track.accesses:
            self._copy_access(a)
