"""What is read before anything has written it: registers, and shared, local and global memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.track import RecordedAccess
from warplab.isa.types import TYPES

from .columns import Numbers
from .memory import Changes
from .questions import Recording

LARGEST_UNIT = 4  # bytes that are looked at together
DENSE = 1 << 26  # units for each of which there is room in a table
NEVER = 1 << 62
READS = ("ld", "atom", "red")
MEANT = {  # the spaces that an instruction names to read one
    "shared": ("shared", "shared::cta", "shared::cluster", "generic"), "local": ("local", "generic"), "global": ("global", "generic"),
}  # fmt: skip


class UnsetRead(NamedTuple):
    """The first read of a register, or of a place in memory, that nothing has written."""

    step: int
    lane: int
    register: str  # or "":
    space: str
    owner: int
    address: int


def first_unset_read(rec: Recording) -> UnsetRead | None:
    """The first one of the launch."""
    found = [one for one in (_register(rec), *(_memory(rec, space) for space in ("shared", "local", "global"))) if one is not None]
    return min(found, key=lambda one: (one.step, one.lane)) if found else None


def _register(rec: Recording) -> UnsetRead | None:
    c = rec.columns
    reads = [
        [name for name in (*i.reads, i.guard.lstrip("!")) if name and name in rec.unset_registers(i.function)]
        for i in rec.track.instructions
    ]
    for step in c.steps_of(np.array([bool(names) for names in reads], np.bool_)).tolist():
        n = c.execution(step)
        frame = rec.track.layouts[c.layout[n]].function, int(c.depth[n])
        numbers, active = c.taking_part(step)
        for name in reads[c.instruction_number(step)]:
            found = rec.held(name, numbers[active], step, frame)
            lanes = numbers[active][found.known & (found.step < 0)]
            if lanes.size:
                return UnsetRead(step, int(lanes[0]), name, "", 0, 0)
    return None


def _memory(rec: Recording, space: str) -> UnsetRead | None:
    """The first read of memory of a space; of global memory only where the recording says that the host has left it unset."""
    if space == "global" and not rec.track.unset:
        return None
    first = FirstWrites(rec.bytes.changes[space])
    for _, a in sorted(
        (rec.bytes.step_of(a), n) for n, a in enumerate(rec.track.accesses) if a.kind in READS and not a.space.startswith("param")
    ):
        access = rec.track.accesses[a]
        step = rec.bytes.step_of(access)
        for owner, address, lane in _places(rec, access, space, first.unit):
            wrong = np.flatnonzero(~first.before(owner, address, step) & _is_unset(rec, space, address))
            if wrong.size:
                k = int(wrong[0])
                return UnsetRead(step, int(lane[k]), "", space, int(owner[k]), int(address[k]))
    return None


def _places(rec: Recording, a: RecordedAccess, space: str, unit: int) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Every unit that an access reads in a space: its owner, its address and the lane."""
    size = TYPES[a.type].bytes * a.count
    for r in rec.bytes.reached(a):
        if r.space != space:
            continue
        each = max(size // unit, 1)
        offset = np.arange(each) * unit
        yield np.repeat(r.owner, each), (r.address[:, None] + offset).ravel(), np.repeat(r.lane, each)


class FirstWrites:
    """At which step each unit of a space was written first."""

    def __init__(self, changes: Changes) -> None:
        self.unit = min(int(changes.size.min(initial=LARGEST_UNIT)), LARGEST_UNIT)  # bytes
        sizes = np.maximum(changes.size.astype(np.int64) // self.unit, 1)
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        place = np.repeat(changes.address, sizes) // self.unit + within
        owner, step = np.repeat(changes.owner, sizes), np.repeat(changes.step, sizes)
        self._low, self._owner = int(place.min(initial=0)), int(owner.min(initial=0))
        self._span = int(place.max(initial=-1)) - self._low + 1
        self._owners = int(owner.max(initial=-1)) - self._owner + 1
        self._dense = self._span * self._owners <= DENSE
        if self._dense:
            self._steps = np.full(self._span * self._owners, NEVER, np.int64)
            self._steps[self._key(owner, place)[::-1]] = step[::-1]  # changes are in the order of time: the first one stays
        else:
            self._keys, at = np.unique(self._key(owner, place), return_index=True)
            self._steps = step[at]

    def _key(self, owner: Numbers, place: Numbers) -> Numbers:
        out: Numbers = (owner - self._owner) * self._span + (place - self._low)
        return out

    def before(self, owner: Numbers, address: Numbers, step: int) -> NDArray[np.bool_]:
        """Were units written before a step?"""
        place = address // self.unit
        inside = (place >= self._low) & (place < self._low + self._span) & (owner >= self._owner) & (owner < self._owner + self._owners)
        out = np.zeros(owner.size, np.bool_)
        key = self._key(owner[inside], place[inside])
        if self._dense:
            out[inside] = self._steps[key] < step
        elif key.size:
            at = np.minimum(np.searchsorted(self._keys, key), self._keys.size - 1)
            out[inside] = (self._keys[at] == key) & (self._steps[at] < step)
        return out


def _is_unset(rec: Recording, space: str, address: Numbers) -> NDArray[np.bool_]:
    """Was nothing there before the launch?"""
    if space != "global":
        return np.ones(address.size, np.bool_)
    out = np.zeros(address.size, np.bool_)
    for start, size in rec.track.unset:
        out |= (address >= start) & (address < start + size)
    return out
