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
READS = ("ld", "atom", "red")


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
    unit, written, first = _first_writes(rec.bytes.changes[space])
    for _, a in sorted(
        (rec.bytes.step_of(a), n) for n, a in enumerate(rec.track.accesses) if a.kind in READS and not a.space.startswith("param")
    ):
        access = rec.track.accesses[a]
        step = rec.bytes.step_of(access)
        for owner, address, lane in _places(rec, access, space, unit):
            key = _key(owner, address // unit)
            at = np.searchsorted(written, key)
            at[at == written.size] = 0
            known = (written[at] == key) & (first[at] < step) if written.size else np.zeros(key.size, np.bool_)
            wrong = np.flatnonzero(~known & _is_unset(rec, space, address))
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


def _first_writes(changes: Changes) -> tuple[int, Numbers, Numbers]:
    """The unit in bytes; the units that were written, ordered, and the step at which each was written first."""
    unit = min(int(changes.size.min(initial=LARGEST_UNIT)), LARGEST_UNIT)
    sizes = np.maximum(changes.size.astype(np.int64) // unit, 1)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    key = _key(np.repeat(changes.owner, sizes), np.repeat(changes.address, sizes) // unit + within)
    written, at = np.unique(key, return_index=True)  # changes are in the order of time
    return unit, written, np.repeat(changes.step, sizes)[at]


def _key(owner: Numbers, place: Numbers) -> Numbers:
    """A block or lane and a place in its memory as one number; global memory has one owner, and addresses of any size."""
    out: Numbers = (owner << 32) + place
    return out


def _is_unset(rec: Recording, space: str, address: Numbers) -> NDArray[np.bool_]:
    """Was nothing there before the launch?"""
    if space != "global":
        return np.ones(address.size, np.bool_)
    out = np.zeros(address.size, np.bool_)
    for start, size in rec.track.unset:
        out |= (address >= start) & (address < start + size)
    return out
