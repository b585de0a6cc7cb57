"""The executions of a recording as columns: which steps they have, and which execution wrote a register of a lane last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.lanes import LaneSet
from warplab.interpreter.recorder.layout import ENTRY, Column, RecordedInstruction
from warplab.interpreter.recorder.track import Track
from warplab.isa.types import TYPES

Array = NDArray[Any]
Numbers = NDArray[np.int64]
NEAR = 64  # executions that are looked at for a write by the same group
CHUNK = 64  # executions that are looked at first, from the last one back


@dataclass(frozen=True, slots=True)
class Writes:
    """All that wrote a register in calls of one depth, in the order of time."""

    step: Numbers
    execution: Numbers
    column: list[Column]  # different ones,
    which: Numbers  # and which of them it is


class HeldValues(NamedTuple):
    """What some lanes hold in a register."""

    value: Array
    step: Numbers  # at which it was written; -1: it was there when the function began, or is unknown
    known: NDArray[np.bool_]


class Columns:
    """A track as arrays."""

    def __init__(self, track: Track) -> None:
        self.track = track
        self.layout = np.array(track.layout_of, np.int64)
        self.lanes = np.array(track.lanes_of, np.int64)
        self.depth = np.array(track.depth_of, np.int64)
        self.base = np.array(track.base_of, np.int64)
        self.done = np.array(track.done, np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.done)]).astype(np.int64)
        self.steps = int(self.first[-1])
        self._low = np.array([one.low for one in track.lanes], np.int64)
        self._high = np.array([one.high for one in track.lanes], np.int64)
        self._writes: dict[tuple[str, str, int, int, str], Writes] = {}

    # ------------------------------------------------------------ steps

    def execution(self, step: int) -> int:
        """The execution that a step belongs to."""
        return int(np.searchsorted(self.first, step, side="right")) - 1

    def place(self, step: int) -> tuple[int, int]:
        """An execution, and which of its instructions."""
        n = self.execution(step)
        return n, step - int(self.first[n])

    def instruction_number(self, step: int) -> int:
        """The number of the instruction in the track."""
        n, k = self.place(step)
        return self.track.layouts[self.track.layout_of[n]].first + k

    def instruction(self, step: int) -> RecordedInstruction:
        """What is executed."""
        return self.track.instructions[self.instruction_number(step)]

    @cached_property
    def _by_layout(self) -> dict[int, Numbers]:
        order = np.argsort(self.layout, kind="stable")
        cuts = np.flatnonzero(np.diff(self.layout[order])) + 1
        return {int(self.layout[part[0]]): part for part in np.split(order, cuts) if part.size}

    def executions_of(self, layout: int) -> Numbers:
        """The executions of a segment."""
        return self._by_layout.get(layout, np.empty(0, np.int64))

    def steps_of(self, instructions: NDArray[np.bool_]) -> Numbers:
        """The steps that execute some of the track's instructions, in order."""
        out = []
        for n, layout in enumerate(self.track.layouts):
            for k in np.flatnonzero(instructions[layout.first : layout.first + layout.count]).tolist():
                ex = self.executions_of(n)
                out.append(self.first[ex[self.done[ex] > k]] + k)
        return np.sort(np.concatenate(out)) if out else np.empty(0, np.int64)

    def lanes_of(self, execution: int) -> LaneSet:
        """Who executes it."""
        return self.track.lanes[self.track.lanes_of[execution]]

    def taking_part(self, step: int) -> tuple[Numbers, NDArray[np.bool_]]:
        """The lanes of a step's group, and in which of them the instruction takes effect."""
        n, k = self.place(step)
        lanes = self.lanes_of(n)
        return lanes.numbers, lanes.active & self.guard(n, k)

    def guard(self, execution: int, step: int) -> NDArray[np.bool_]:
        """Where the guard of an instruction holds."""
        lanes = self.lanes_of(execution)
        if (int(self.layout[execution]), step) not in self._guarded:
            return np.ones(lanes.shape[0] * lanes.shape[1], np.bool_)
        for c in self.track.layouts[self.layout[execution]].columns:
            if c.role == "guard" and c.step == step:
                v = self.track.values[execution][c.at]
                if v is None or isinstance(v, tuple):
                    return np.zeros(lanes.shape[0] * lanes.shape[1], np.bool_)
                flat = lanes.full(v).astype(np.bool_)
                return ~flat if c.negated else flat
        return np.ones(lanes.shape[0] * lanes.shape[1], np.bool_)

    def touching(self, lanes: Numbers) -> NDArray[np.bool_]:
        """Which executions may have one of some lanes."""
        near = (self._low <= lanes.max()) & (self._high >= lanes.min())
        out: NDArray[np.bool_] = near[self.lanes]
        return out

    def executions_with(self, lanes: Numbers) -> Numbers:
        """The executions in which one of some lanes takes part."""
        low, high = int(lanes.min()), int(lanes.max())
        has = np.zeros(len(self.track.lanes), np.bool_)
        for n in np.flatnonzero((self._low <= high) & (self._high >= low)).tolist():
            has[n] = bool((self.track.lanes[n].places(lanes) >= 0).any())
        return np.flatnonzero(has[self.lanes]) if len(self.lanes) else np.empty(0, np.int64)

    # ------------------------------------------------------------ registers

    def writes(self, function: str, register: str, depth: int, part: int = 0, role: str = "write") -> Writes:
        """All that wrote a register."""
        key = function, register, depth, part, role
        found = self._writes.get(key)
        if found is None:
            columns: list[Column] = []
            steps, executions, which = [], [], []
            for n, layout in enumerate(self.track.layouts):
                if layout.function != function:
                    continue
                for c in layout.columns:
                    if c.register == register and c.role == role and c.part == part:
                        ex = self.executions_of(n)
                        ex = ex[(self.done[ex] > c.step) & (self.depth[ex] == depth)]
                        steps.append(self.first[ex] + c.step)
                        executions.append(ex)
                        which.append(np.full(ex.size, len(columns), np.int64))
                        columns.append(c)
            if columns:
                s = np.concatenate(steps)
                order = np.argsort(s, kind="stable")
                found = Writes(s[order], np.concatenate(executions)[order], columns, np.concatenate(which)[order])
            else:
                none = np.empty(0, np.int64)
                found = Writes(none, none, [], none)
            self._writes[key] = found
        return found

    def last(
        self, function: str, register: str, depth: int, lanes: Numbers, before: int, part: int = 0, group: int | None = None
    ) -> HeldValues:  # fmt: skip
        """What lanes hold in a register before a step, as its slot keeps it, and since when; `group`: they are all of these lanes."""
        writes = self.writes(function, register, depth, part)
        if group is not None and not depth and (whole := self._whole(writes, group, before)) is not None:
            return whole
        since = self._begun(lanes, before, depth) if depth else np.full(lanes.size, -2, np.int64)
        found = self._walk(writes, lanes, before, since)
        if not found.known.all():
            unset = self._walk(self.writes(function, register, depth, part, "unset"), lanes, before, since)
            if unset.known.any():
                value = (
                    np.where(found.known, found.value.astype(unset.value.dtype, copy=False), unset.value)
                    if found.known.any()
                    else unset.value
                )
                found = HeldValues(value, found.step, found.known | unset.known)
        return found

    def _whole(self, writes: Writes, group: int, before: int) -> HeldValues | None:
        """The same where a whole group wrote the register last, which is nearly always; None where it is not."""
        end = int(np.searchsorted(writes.step, before))
        lanes = self.track.lanes[group]
        for k in range(end - 1, max(end - 1 - NEAR, -1), -1):
            n, c = int(writes.execution[k]), writes.column[writes.which[k]]
            if self.track.lanes_of[n] == group:
                value = self.track.values[n][c.at]
                plain = value is not None and not isinstance(value, tuple) and lanes.alive is None
                if not plain or c.step == ENTRY or (int(self.layout[n]), c.step) in self._guarded:
                    return None
                size = lanes.shape[0] * lanes.shape[1]
                return HeldValues(lanes.full(value), np.full(size, writes.step[k]), np.ones(size, np.bool_))
            other = self.track.lanes_of[n]
            if self._low[other] <= lanes.high and self._high[other] >= lanes.low:
                return None
        return None

    def rows(self, function: str, register: str, depth: int, group: int, steps: Numbers, lanes: Numbers) -> Array | None:
        """What some lanes of a group hold before many steps, a row for each, in the register's type; None unless it wrote them as a whole."""
        types = self.track.registers.get(function, {})
        if depth or register not in types or TYPES[types[register]].bits == 128 or self.track.lanes[group].alive is not None:
            return None
        writes = self.writes(function, register, depth)
        at = np.searchsorted(writes.step, steps) - 1
        if (at < 0).any() or (self.lanes[writes.execution[at]] != group).any():
            return None
        own = np.unique(writes.which[at])
        if any(c.step >= 0 and self._is_guarded(function, c) for c in (writes.column[k] for k in own.tolist())):
            return None
        different, again = np.unique(at, return_inverse=True)
        set_ = self.track.lanes[group]
        places = None if lanes.size == set_.shape[0] * set_.shape[1] else set_.places(lanes)
        values = []
        for k in different.tolist():
            v = self.track.values[int(writes.execution[k])][writes.column[writes.which[k]].at]
            if v is None or isinstance(v, tuple):
                return None
            values.append(set_.full(v) if places is None else picked(v, set_, places))
        if len({v.dtype for v in values if v is not None}) != 1:
            return None
        return self.decoded(np.stack(values)[again], types[register])  # type: ignore[arg-type]

    def _is_guarded(self, function: str, column: Column) -> bool:
        """Does a guard decide a write?"""
        return any((n, column.step) in self._guarded for n, layout in enumerate(self.track.layouts)
                   if layout.function == function and column in layout.columns)  # fmt: skip

    @cached_property
    def _guarded(self) -> frozenset[tuple[int, int]]:
        """The segments and steps that a guard decides."""
        return frozenset((n, c.step) for n, layout in enumerate(self.track.layouts) for c in layout.columns if c.role == "guard")

    def _walk(self, writes: Writes, lanes: Numbers, before: int, since: Numbers) -> HeldValues:
        step, known = np.full(lanes.size, -1, np.int64), np.zeros(lanes.size, np.bool_)
        value: Array | None = None
        end, size = int(np.searchsorted(writes.step, before)), CHUNK
        low, high = int(lanes.min(initial=0)), int(lanes.max(initial=0))
        while end > 0 and not known.all():
            start = max(end - size, 0)
            of = self.lanes[writes.execution[start:end]]
            for k in (np.flatnonzero((self._low[of] <= high) & (self._high[of] >= low))[::-1] + start).tolist():
                n, c = int(writes.execution[k]), writes.column[writes.which[k]]
                rest = np.flatnonzero(~known)
                places = self.lanes_of(n).places(lanes[rest])
                has = (places >= 0) & (writes.step[k] > since[rest])
                when: int | Numbers = int(writes.step[k]) if c.role == "write" else -1
                if c.role == "write" and c.step >= 0 and has.any():
                    has[has] &= self.guard(n, c.step)[places[has]]
                elif c.role == "write" and has.any():
                    came = self._before(n, lanes[rest[has]])
                    given = self._gives(came, c.register, int(self.depth[n]))
                    has[has] &= given
                    when = came[given]
                if not has.any():
                    continue
                got = picked(self.track.values[n][c.at], self.lanes_of(n), places[has])
                if got is None:
                    continue
                if value is None:
                    value = np.zeros(lanes.size, got.dtype)
                value[rest[has]] = got.view(value.dtype) if got.dtype.itemsize == value.dtype.itemsize else got.astype(value.dtype)
                step[rest[has]] = when
                known[rest[has]] = True
                if known.all():
                    break
            end, size = start, size * 4
        return HeldValues(np.zeros(lanes.size, np.uint32) if value is None else value, step, known)

    def _before(self, execution: int, lanes: Numbers) -> Numbers:
        """The last step of each lane before an execution: the instruction that has set what is new there, such as a call; -1: it is the first one."""
        out = np.full(lanes.size, -1, np.int64)
        left = np.arange(lanes.size)
        for n in range(execution - 1, -1, -1):
            if not left.size:
                break
            has = self.lanes_of(n).places(lanes[left]) >= 0 if self.done[n] else np.zeros(left.size, np.bool_)
            out[left[has]] = self.first[n + 1] - 1
            left = left[~has]
        return out

    def _gives(self, steps: Numbers, register: str, depth: int) -> NDArray[np.bool_]:
        """Which steps give a register of a call of some depth its value: those of a call or a return, or that name it; lanes come from others, too."""
        kinds, which = np.unique(steps, return_inverse=True)
        gives = [s < 0 or int(self.depth[self.execution(s)]) != depth or register in self.instruction(s).writes for s in kinds.tolist()]
        return np.array(gives, np.bool_)[which]

    def _begun(self, lanes: Numbers, before: int, depth: int) -> Numbers:
        """The last step of each lane in which it was not yet in the call that it is in now."""
        out = np.full(lanes.size, -2, np.int64)
        ex = np.flatnonzero(self.depth[: self.execution(max(before, 1) - 1) + 1] < depth)
        known = np.zeros(lanes.size, np.bool_)
        for n in ex[::-1].tolist():
            rest = np.flatnonzero(~known)
            has = self.lanes_of(n).places(lanes[rest]) >= 0
            out[rest[has]] = self.first[n + 1] - 1 - 1  # arguments are written where the call's last instruction is
            known[rest[has]] = True
            if known.all():
                break
        return out

    def type_of(self, function: str, register: str) -> str:
        """The type that a register was declared with."""
        return self.track.registers.get(function, {}).get(register, "b32")

    def decoded(self, value: Array, type: str) -> Array:
        """A value of a slot as numbers of a type."""
        t = TYPES[type]
        if type == "pred" or value.dtype.kind == "b":
            return value.astype(np.bool_)
        if t.bits == 128:
            return value.view(np.uint64)
        kind = t.dtype if t.elements == 1 else np.dtype(f"u{t.bytes}")
        bits = value.view(f"u{value.dtype.itemsize}")
        if bits.dtype.itemsize != kind.itemsize:
            bits = bits.astype(f"u{kind.itemsize}")
        out: Array = bits.view(kind)
        return out


def picked(value: Any, lanes: LaneSet, places: NDArray[np.intp]) -> Array | None:
    """What lanes at some places hold of a value; None where nothing was taken."""
    if value is None:
        return None
    delta = 0
    if isinstance(value, tuple):
        value, delta = value
    if value.ndim != 2:
        return None
    r, c = np.divmod(places, lanes.shape[1])
    out: Array = value[r if value.shape[0] > 1 else np.zeros_like(r), c if value.shape[1] > 1 else np.zeros_like(c)]
    return moved(out, delta)


def moved(value: Array, delta: int) -> Array:
    """A base plus an offset."""
    if not delta:
        return value
    size = value.dtype.itemsize
    by = np.array(delta & ((1 << 8 * size) - 1), f"u{size}")
    out: Array = (value.view(by.dtype) + by).view(value.dtype)
    return out
