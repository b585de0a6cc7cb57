"""Memory at any step: what it held before the launch, and every change of a cell since, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.memory.general import OFFSET_BITS
from warplab.interpreter.recorder.lanes import LaneSet
from warplab.interpreter.recorder.track import PAGE_BITS, RecordedAccess
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE
from warplab.isa.types import TYPES

from ..errors import UsageError
from .columns import Columns, Numbers, moved

Array = NDArray[Any]
SPACES = ("global", "shared", "local")
PAGE = 1 << PAGE_BITS
WIDEST = 8  # bytes of an element
MOST_PARTS = 256  # stretches whose changes are kept
TOGETHER = 1 << 16  # lanes of accesses that are looked at together


@dataclass(frozen=True, slots=True)
class Reached:
    """The bytes that lanes access in one space: `owner` is the block of shared memory and the lane of local memory."""

    space: str
    owner: Numbers
    address: Numbers
    lane: Numbers
    place: NDArray[np.intp]  # of each lane in the access's arrays, in one row


@dataclass(frozen=True)
class Changes:
    """Every change of a space, in the order of time: elements of up to 8 bytes."""

    step: Numbers
    owner: Numbers
    address: Numbers
    size: NDArray[np.uint8]
    bits: NDArray[np.uint64]
    lane: Numbers
    access: Numbers  # its number in the track

    def select(self, chosen: Any) -> Changes:
        """Some of them."""
        columns = self.step, self.owner, self.address, self.size, self.bits, self.lane, self.access
        return Changes(*[c[chosen] for c in columns])

    @cached_property
    def _by_address(self) -> tuple[Numbers, Numbers]:
        order = np.argsort(self.address, kind="stable")
        return order, self.address[order]

    def touching(self, owner: int, start: int, end: int, before: int) -> Changes:
        """Those of bytes of [start, end) before a step."""
        return self.select(self.places(owner, start, end, before))

    def places(self, owner: int, start: int, end: int, before: int) -> Numbers:
        """Their numbers, in the order of time."""
        return np.sort(self._near(owner, start, end, before))

    def last(self, owner: int, start: int, end: int, before: int) -> int | None:
        """The last of them, by its number."""
        near = self._near(owner, start, end, before)
        return int(near.max()) if near.size else None

    def _near(self, owner: int, start: int, end: int, before: int) -> Numbers:
        order, address = self._by_address
        low, high = np.searchsorted(address, [start - WIDEST + 1, end])
        near = order[low:high]
        near = near[(self.step[near] < before) & (self.address[near] + self.size[near] > start)]
        return near if owner < 0 else near[self.owner[near] == owner]


class RecordedMemory:
    """Memory of a recorded launch."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.track = columns.track
        self._parts: dict[tuple[str, int, int], Changes] = {}

    def step_of(self, a: RecordedAccess) -> int:
        """When an access happens; what happens between two executions happens with the step before it."""
        return int(self.columns.first[a.execution]) + a.step

    def reached(self, a: RecordedAccess) -> Iterator[Reached]:
        """Which bytes an access reaches: a part for each space."""
        return self._reached([a])

    def _reached(self, alike: Sequence[RecordedAccess]) -> Iterator[Reached]:
        """The same of several accesses by the same lanes, which name the same space; a row of places for each."""
        a, track = alike[0], self.track
        lanes = track.lanes[a.lanes]
        numbers = lanes.numbers
        address = np.concatenate([_address(lanes, one) for one in alike])
        number = numbers if len(alike) == 1 else np.tile(numbers, len(alike))
        place = np.arange(address.size)
        if lanes.alive is not None or any(one.mask is not None for one in alike):
            every = lanes.active
            active = np.concatenate([every if one.mask is None else every & lanes.full(one.mask) for one in alike])
            place = place[active]
            address, number = address[active], number[active]
        block = number // lanes.threads
        if a.space in ("shared", "shared::cta"):
            yield Reached("shared", block, address.astype(np.int64), number, place)
        elif a.space == "local":
            yield Reached("local", number, address.astype(np.int64), number, place)
        elif a.space in ("global", "const"):
            yield Reached("global", np.zeros_like(number), address.astype(np.int64), number, place)
        else:
            shared = np.full(address.shape, True) if a.space == "shared::cluster" else self._window(address, SHARED_BASE)
            local = ~shared & self._window(address, LOCAL_BASE)
            if shared.any():
                at = address[shared] - np.uint64(0 if a.space == "shared::cluster" else SHARED_BASE)
                rank = (at >> np.uint64(OFFSET_BITS)).astype(np.int64) & 0xFF
                size = track.cluster[0] * track.cluster[1] * track.cluster[2]
                own = block[shared]
                owner = np.where(rank > 0, own // size * size + rank - 1, own)
                yield Reached("shared", owner, (at & np.uint64((1 << OFFSET_BITS) - 1)).astype(np.int64), number[shared], place[shared])
            if local.any():
                yield Reached(
                    "local", number[local], (address[local] - np.uint64(LOCAL_BASE)).astype(np.int64), number[local], place[local]
                )
            rest = ~(shared | local)
            if rest.any():
                yield Reached("global", np.zeros(int(rest.sum()), np.int64), address[rest].astype(np.int64), number[rest], place[rest])

    def _window(self, address: Array, base: int) -> NDArray[np.bool_]:
        out: NDArray[np.bool_] = (address >= np.uint64(base)) & (address < np.uint64(base + WINDOW_SIZE))
        return out

    @cached_property
    def changes(self) -> dict[str, Changes]:
        """All changes, by space."""
        return self._table(_changed)

    @cached_property
    def issued(self) -> dict[str, Changes]:
        """What was stored, by space, when the instruction was executed: under a seed memory may change later."""
        return self._table(lambda a: (a.values or a.after) if a.kind in ("st", "atom", "red") else ())

    def issuing_step(self, space: str, change: int) -> int:
        """The step whose instruction has caused a change: under a seed a store may be done later than it is executed."""
        found = self.changes[space]
        step = int(found.step[change])
        if self.track.accesses[found.access[change]].kind != "late":
            return step
        owner, address = int(found.owner[change]), int(found.address[change])
        before = self.issued[space].touching(owner if space != "global" else -1, address, address + int(found.size[change]), step + 1)
        own = np.flatnonzero((before.lane == found.lane[change]) & (before.bits == found.bits[change]) & (before.address == address))
        return int(before.step[own[-1]]) if own.size else step

    def touching(self, space: str, owner: int, start: int, end: int, before: int) -> Changes:
        """The changes of bytes of [start, end) before a step; owner -1: of all.

        Until something needs the table of all changes, only the accesses that come near are looked at.
        """
        if "changes" in self.__dict__:
            return self.changes[space].touching(owner, start, end, before)
        key = space, start, end
        if key not in self._parts:
            if len(self._parts) >= MOST_PARTS:
                self._parts.clear()
            self._parts[key] = self._table(_changed, self._writes_near(space, start, end))[space]
        return self._parts[key].touching(owner, start, end, before)

    def _writes_near(self, space: str, start: int, end: int) -> list[int]:
        """The accesses that may change bytes of [start, end)."""
        number, low, high = self._written
        near = (low < end) & (high > start)
        if space == "local":
            near |= (low - LOCAL_BASE < end) & (high - LOCAL_BASE > start)
        elif space == "shared":
            near |= high >= SHARED_BASE
        out: list[int] = number[near].tolist()
        return out

    @cached_property
    def _written(self) -> tuple[Numbers, Numbers, Numbers]:
        """The accesses that change memory, the least of their addresses, and the end of the greatest one."""
        return self._extents(lambda a: bool(_changed(a)))

    def _extents(self, wanted: Callable[[RecordedAccess], bool]) -> tuple[Numbers, Numbers, Numbers]:
        number, low, high = [], [], []
        for n, a in enumerate(self.track.accesses):
            if not wanted(a):
                continue
            value, delta = a.address if isinstance(a.address, tuple) else (a.address, 0)
            assert value is not None
            number.append(n)
            low.append((int(value.min()) + delta) & ((1 << 63) - 1))
            high.append((int(value.max()) + delta + TYPES[a.type].bytes * a.count) & ((1 << 63) - 1))
        return np.array(number, np.int64), np.array(low, np.int64), np.array(high, np.int64)

    def _table(
        self, written: Callable[[RecordedAccess], tuple[Array, ...]], chosen: Sequence[int] | None = None
    ) -> dict[str, Changes]:  # fmt: skip
        """What all accesses, or some, have written, by space."""
        alike: dict[tuple[Any, ...], list[int]] = {}  # small accesses by the same lanes are looked at together
        for n in range(len(self.track.accesses)) if chosen is None else chosen:
            a = self.track.accesses[n]
            values = written(a)
            if values:
                alike.setdefault((a.lanes, a.space, a.type, len(values)), []).append(n)
        rows: dict[str, list[tuple[Array, ...]]] = {s: [] for s in SPACES}
        for (which, *_), numbers in alike.items():
            lanes = self.track.lanes[which]
            size = lanes.shape[0] * lanes.shape[1]
            most = max(TOGETHER // size, 1)
            for k in range(0, len(numbers), most):
                self._rows(numbers[k : k + most], lanes, size, written, rows)
        return {space: _table(found) for space, found in rows.items()}

    def _rows(
        self, numbers: Sequence[int], lanes: LaneSet, size: int, written: Callable[[RecordedAccess], tuple[Array, ...]],
        rows: dict[str, list[tuple[Array, ...]]],
    ) -> None:  # fmt: skip
        some = [self.track.accesses[n] for n in numbers]
        access, step = np.array(numbers), np.array([self.step_of(a) for a in some], np.int64)
        columns = [np.concatenate([_bits(lanes, v) for v in column]) for column in zip(*[written(a) for a in some], strict=True)]
        for r in self._reached(some):
            row = r.place // size
            at = 0
            for column in columns:
                wide = column.dtype.itemsize
                rows[r.space].append((
                    step[row], r.owner, r.address + at, np.full(row.size, wide, np.uint8), column[r.place].astype(np.uint64), r.lane, access[row],
                ))  # fmt: skip
                at += wide

    def held(self, space: str, owner: int, start: int, size: int, step: int) -> NDArray[np.uint8]:
        """The bytes of [start, start + size) before a step."""
        out = self._before(space, owner, start, size)
        found = self.touching(space, owner if space != "global" else -1, start, start + size, step)
        wide = int(found.size[0]) if found.step.size else 0
        offset = found.address - start
        if (
            wide
            and (found.size == wide).all()
            and not (offset % wide).any()
            and int(offset.min()) >= 0
            and int(offset.max()) + wide <= size // wide * wide
        ):
            out[: size // wide * wide].view(f"u{wide}")[offset // wide] = found.bits.astype(f"u{wide}")
        elif wide:
            widths = found.size.astype(np.int64)
            within = np.arange(int(widths.sum())) - np.repeat(np.cumsum(widths) - widths, widths)
            at = np.repeat(offset, widths) + within
            value = (np.repeat(found.bits, widths) >> (within * 8).astype(np.uint64)).astype(np.uint8)
            inside = (at >= 0) & (at < size)
            out[at[inside]] = value[inside]
        return out

    def held_by(self, space: str, owners: Numbers, start: int, size: int, step: int) -> NDArray[np.uint8]:
        """The bytes of [start, start + size) of each of some owners before a step: a row for each."""
        found = self.touching(space, -1, start, start + size, step)
        if size > WIDEST or space == "shared" or not ((found.size == size) & (found.address == start)).all():
            return np.stack([self.held(space, owner, start, size, step) for owner in owners.tolist()])
        order = np.argsort(owners)
        at = np.minimum(np.searchsorted(owners, found.owner, sorter=order), owners.size - 1)
        place = order[at]
        own = owners[place] == found.owner
        out = np.zeros(owners.size, f"u{size}")
        out[place[own]] = found.bits[own].astype(f"u{size}")  # the last change of an owner wins: they are in the order of time
        return out[:, None].view(np.uint8)

    def _before(self, space: str, owner: int, start: int, size: int) -> NDArray[np.uint8]:
        """The same before the launch."""
        out = np.zeros(size, np.uint8)
        if space == "shared" and owner in self.track.shared:
            piece = self.track.shared[owner][start : start + size]
            out[: piece.size] = piece
        if space != "global":
            return out
        for page in range(start >> PAGE_BITS, (start + size - 1 >> PAGE_BITS) + 1):
            first = page << PAGE_BITS
            low, high = max(start, first), min(start + size, first + PAGE)
            kept = self.track.pages.get(page)
            if kept is None:
                raise UsageError(f"memory at {low:#x} is not in the recording: no allocation holds it, or the limit left no room for it")
            part = kept[low - first : high - first]
            out[low - start : low - start + part.size] = part
        return out

    @cached_property
    def loads(self) -> tuple[Numbers, Numbers, Numbers]:
        """The accesses that only read, the least of their addresses, and the end of the greatest one."""
        return self._extents(lambda a: a.kind in ("ld", "atom", "red"))

    def reads(self, space: str, owner: int, start: int, end: int) -> list[tuple[int, int, Numbers]]:
        """Who reads bytes of [start, end): the step, the number of the access, and the lanes."""
        number, low, high = self.loads
        near = ((low < end) & (high > start)) | (high >= LOCAL_BASE)
        out = []
        for n in number[near].tolist():
            a = self.track.accesses[n]
            size = TYPES[a.type].bytes * a.count
            for r in self.reached(a):
                hit = (r.address < end) & (r.address + size > start)
                if owner >= 0 and space != "global":
                    hit &= r.owner == owner
                if r.space == space and hit.any():
                    out.append((self.step_of(a), n, r.lane[hit]))
        return out


def _changed(a: RecordedAccess) -> tuple[Array, ...]:
    """What memory holds behind an access that changes it."""
    return a.after if a.kind != "ld" else ()


def _address(lanes: LaneSet, a: RecordedAccess) -> NDArray[np.uint64]:
    """Where each lane accesses memory, in one row."""
    value, delta = a.address if isinstance(a.address, tuple) else (a.address, 0)
    assert value is not None
    out: NDArray[np.uint64] = lanes.full(moved(value.astype(np.uint64), delta))
    return out


def _bits(lanes: LaneSet, value: Any) -> Array:
    """What each lane stores, as integers in one row."""
    v = moved(*value) if isinstance(value, tuple) else value
    flat = lanes.full(v)
    return flat.view(np.uint8) if flat.dtype.kind == "b" else flat.view(f"u{flat.dtype.itemsize}")


def _table(rows: list[tuple[Array, ...]]) -> Changes:
    """Rows as columns, in the order of time; those of one access in the order of its lanes."""
    none = np.empty(0, np.int64)
    rows = [row for row in rows if row[0].size]
    if not rows:
        return Changes(none, none, none, none.astype(np.uint8), none.astype(np.uint64), none, none)
    rows.sort(
        key=lambda row: (int(row[0][0]), int(row[6][0]))
    )  # mostly that is the order of all: pieces of large launches are of one access each
    step, owner, address, size, bits, lane, access = (np.concatenate(column) for column in zip(*rows, strict=True))
    out = Changes(step, owner, address, size, bits, lane, access)
    later = np.diff(step)
    if not ((later < 0) | ((later == 0) & (np.diff(access) < 0))).any():
        return out
    order = np.argsort(access, kind="stable")
    return out.select(order[np.argsort(step[order], kind="stable")])
