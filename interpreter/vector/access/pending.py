"""Asynchronous copies of a wave that are under way, where the launch has a schedule of its own.

The door is Accessing.later: without a schedule it calls the work at once, and there is no Pending.  With one, most copies come as late as the
memory model allows: when their lane waits for their group, when someone looks at the mbarrier that they tell, perhaps again and again, or when
nobody else can go on.  So a program that lacks a wait, or asks an mbarrier only once, reads what was there before.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from warplab.isa.ports import CopyingLanes

from ...faults import Fault
from ...plan.plan import Site
from ...values import Array, Value, plain
from .accessing import Accessing

LATE = 0.8  # how many of the copies come late
UNFINISHED = 0.5  # how often a look at an mbarrier finds what is under way still under way
Work = Callable[[CopyingLanes], Callable[[], None] | None]


class LateCopy(Accessing):
    """What some lanes have issued and has not happened yet for those that are `left`."""

    __slots__ = ("after", "barrier", "group", "left", "number", "site", "work", "writes")

    def __init__(self, lanes: Accessing, work: Work, group: str, after: str) -> None:
        super().__init__(lanes.wave, lanes.geometry)
        shape = self.geometry.shape
        self.left: Array = np.ones(shape, np.bool_) if lanes.active is None else np.broadcast_to(lanes.active, shape).copy()
        self.work, self.group, self.after = work, group, after
        self.writes = False  # it has read already, and writes for all its lanes at once
        self.site: Site | None = lanes.wave.current
        self.number: Array | None = None  # of the group that it belongs to, by lane
        self.barrier: Array | None = None  # the byte in the wave's shared memory of the mbarrier that it tells, by lane

    @property
    def lane(self) -> Array:
        """The numbers of its lanes in the wave."""
        return np.broadcast_to(self.geometry.lane, self.geometry.shape)


class Pending:
    """The operations under way, in the order in which they were issued."""

    def __init__(self, schedule: Random, lanes: int) -> None:
        self.schedule = schedule
        self.lanes = lanes
        self.operations: list[LateCopy] = []
        self._closed: dict[str, Array] = {}  # how many groups each lane has closed

    def __bool__(self) -> bool:
        return bool(self.operations)

    def takes(self, lanes: Accessing, work: Work, group: str, barrier: tuple[str, Value] | None, after: str) -> bool:
        """Does the work come later?"""
        waits = any(op.group == after for op in self.operations) if after else self.schedule.random() < LATE
        if not waits or (lanes.active is not None and not lanes.active.any()):
            return False
        operation = LateCopy(lanes, work, group, after)
        if group:
            operation.number = self._groups(group)[operation.lane]
        if barrier is not None:
            operation.barrier = lanes.wave.access.shared_bytes(lanes, barrier[0], plain(barrier[1]))
        self.operations.append(operation)
        return True

    def _groups(self, group: str) -> Array:
        found = self._closed.get(group)
        if found is None:
            found = self._closed[group] = np.zeros(self.lanes, np.int64)
        return found

    def close_group(self, lanes: Accessing, group: str) -> None:
        """See ports.CopyingLanes."""
        self._groups(group)[_numbers(lanes)] += 1

    def wait_groups(self, lanes: Accessing, group: str, most: int, read: bool) -> None:
        """See ports.CopyingLanes."""
        who = _numbers(lanes)
        limit = np.full(self.lanes, -1, np.int64)  # groups with lower numbers are complete
        limit[who] = self._groups(group)[who] - most
        self._complete(lambda op: None if op.number is None or op.group != group else op.number < limit[op.lane], read)

    def settle(self, lanes: Accessing, space: str, address: Value) -> None:
        """See ports.CopyingLanes."""
        if self.operations and self.schedule.random() >= UNFINISHED:
            places = np.unique(lanes.wave.access.shared_bytes(lanes, space, plain(address)))
            self._complete(lambda op: None if op.barrier is None else np.isin(op.barrier, places[places >= 0]))

    def finish(self) -> bool:
        """Nobody can go on: all comes now.  False where nothing was under way."""
        any_left = bool(self.operations)
        self._complete(lambda op: op.left)
        return any_left

    def _complete(self, chosen: Callable[[LateCopy], Array | None], read: bool = False) -> None:
        """Does the work of the lanes that are chosen, operation by operation; `read`: as far as it reads."""
        for op in list(self.operations):
            lanes = chosen(op)
            if lanes is not None and not (read and op.writes):
                self._do(op, lanes, read)
        self.operations = [op for op in self.operations if op.left.any()]

    def _do(self, op: LateCopy, lanes: Array, read: bool = False) -> None:
        now = op.left & lanes
        if not now.any():
            return
        if op.writes:
            now = op.left
        if op.after:
            who = np.zeros(self.lanes, np.bool_)
            who[op.lane[now]] = True
            for earlier in self.operations[: self.operations.index(op)]:
                if earlier.group == op.after:
                    self._do(earlier, who[earlier.lane])
        op.left = op.left & ~now
        op.active = now
        running, op.wave.current = op.wave.current, op.site
        try:
            write = op.work(op)
            if write is not None and read:
                self._write_later(op, now, write)
            elif write is not None:
                write()
        except Fault as e:
            if op.site is not None:
                op.wave.launch.locate(e, op.site)
            if e.block is None:
                op.blame(e, now)
            raise
        finally:
            op.wave.current = running

    def _write_later(self, op: LateCopy, lanes: Array, write: Callable[[], None]) -> None:
        """The second half of a copy that has read."""

        def work(_: CopyingLanes) -> None:
            write()

        half = LateCopy(op, work, op.group, "")
        half.left, half.number, half.site, half.writes = lanes, op.number, op.site, True
        self.operations.append(half)


def _numbers(lanes: Accessing) -> Any:
    """The active lanes' numbers in the wave."""
    every = np.broadcast_to(lanes.geometry.lane, lanes.geometry.shape)
    return every.ravel() if lanes.active is None else every[np.broadcast_to(lanes.active, every.shape)]
