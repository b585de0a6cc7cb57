"""What a recording is searched for, forwards and backwards: places in the text, expressions, accesses to a cell, changes of a register, events.

A condition is evaluated for all lanes of a step at once.  `next` looks at steps behind a step, `previous` at those before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.types import TYPES

from ..errors import UsageError
from .columns import Numbers
from .expressions import LaneExpression, PathStep, truth
from .questions import Cell, Recording

Array = NDArray[Any]
FEW, MANY = 64, 1 << 14  # steps that are looked at at once: the nearest ones, later more
TOGETHER = 1 << 20  # lanes of all of them


@dataclass(frozen=True, slots=True)
class Break:
    """A group comes to one of some instructions, given by their numbers in the track; `when`: and for one of its lanes an expression holds."""

    instructions: frozenset[int]
    when: LaneExpression | None = None
    lanes: tuple[int, ...] | None = None  # only these are looked at


@dataclass(frozen=True, slots=True)
class CellAccess:
    """Lanes access a cell: "write", "read", "access", or "change", a write that changes it."""

    cell: Cell
    how: str


@dataclass(frozen=True, slots=True)
class Change:
    """A register of a lane gets another value."""

    register: str
    lane: int


@dataclass(frozen=True, slots=True)
class Happens:
    """An event: "branch", "reconverge", "wait", "met", "fault", "finding"."""

    kind: str


Condition = Break | CellAccess | Change | Happens


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a condition holds: the step, and the first of the lanes for which it does."""

    step: int
    lane: int
    lanes: tuple[int, ...] = ()


class LanesAt:
    """Lanes before a step, for expressions (see expressions.LaneValues)."""

    def __init__(self, recording: Recording, step: int, lanes: Numbers, frame: tuple[str, int], group: int | None = None) -> None:
        self.recording, self.step, self.lanes, self.frame = recording, step, lanes, frame
        self.group = group  # they are all of the track's set of this number

    @property
    def count(self) -> int:
        """See LaneValues."""
        return self.lanes.size

    def only(self, chosen: NDArray[np.bool_]) -> LanesAt:
        """See LaneValues."""
        return LanesAt(self.recording, self.step, self.lanes[chosen], self.frame)

    def register(self, name: str) -> Array:
        """See Lanes; a register that nothing has written holds 0."""
        types = self.recording.track.registers.get(self.frame[0], {})
        if name not in types:
            from difflib import get_close_matches

            near = get_close_matches(name, types, 1)
            raise UsageError(f"{self.frame[0]} has no register {name}" + (f"; did you mean {near[0]}?" if near else ""))
        return self.recording.held(name, self.lanes, self.step, self.frame, self.group).value

    def special(self, name: str) -> Array:
        """See LaneValues."""
        rec = self.recording
        block, linear = np.divmod(self.lanes, rec.threads)
        if name in ("laneid", "warpid"):
            return linear & 31 if name == "laneid" else linear >> 5
        register, axis = name.split(".")
        k = "xyz".index(axis)
        if register in ("ntid", "nctaid"):
            return np.full(self.count, (rec.track.block if register == "ntid" else rec.track.grid)[k])
        if register == "ctaid":
            out: Array = rec.track.blocks[block, k].astype(np.int64)
            return out
        x, y, _ = rec.track.block
        return (linear % x, linear // x % y, linear // (x * y))[k]

    def cell(self, name: str, index: Array | None) -> Array:
        """See LaneValues."""
        rec = self.recording
        if self._is_variable(name):
            steps = () if index is None else (PathStep("element"),)
            return self.path(name, steps, () if index is None else (index,))
        if index is None and name in rec.track.registers.get(self.frame[0], {}):  # not all registers begin with a percent sign
            return self.register(name)
        try:
            o = rec.object(name)
        except UsageError:
            parameter = next((p for p in rec.track.parameters if p[0] == name), None)
            if parameter is None or index is not None:
                raise
            _, type, at, size = parameter
            return np.full(self.count, np.frombuffer(rec.track.parameter_bytes[at : at + size], TYPES[type].dtype)[0])
        places = np.zeros(self.count, np.int64) if index is None else index.astype(np.int64)
        t = TYPES[o.type] if o.type in TYPES else TYPES["b8"]
        kind = t.dtype if t.elements == 1 else np.dtype(f"u{t.bytes}")
        size = o.size // kind.itemsize
        if places.size and (int(places.min()) < 0 or int(places.max()) >= size):
            raise UsageError(f"{name}[{int(places.max() if places.min() >= 0 else places.min())}] is not one of its {size} elements")
        out = np.zeros(self.count, kind)
        owners = self.lanes // rec.threads if o.space == "shared" else np.zeros(self.count, np.int64)
        for owner in np.unique(owners).tolist():
            own = owners == owner
            low, high = int(places[own].min()), int(places[own].max()) + 1
            held = rec.bytes.held(o.space, owner, o.start + low * kind.itemsize, (high - low) * kind.itemsize, self.step).view(kind)
            out[own] = held[places[own] - low]
        return out

    def _is_variable(self, name: str) -> bool:
        """Is it a variable of the source where these lanes are?"""
        names = self.recording.names
        if names is None or not self.lanes.size:
            return names is not None and names.mentions(name)
        return names.knows(name, int(self.lanes[0]), self.step, self.frame)

    def path(self, name: str, steps: tuple[PathStep, ...], indices: tuple[Array, ...]) -> Array:
        """See LaneValues; of an array in memory, its element."""
        names = self.recording.names
        if names is not None and self._is_variable(name):
            return names.column(name, steps, indices, self.lanes, self.step, self.frame)
        o = self.recording.object(name)
        if len(steps) != len(o.shape) or any(s.kind != "element" for s in steps):
            raise UsageError(f"{name} is an array of {' x '.join(map(str, o.shape)) or 'elements'}, and no variable of the source")
        linear = np.zeros(self.count, np.int64)
        for index, size in zip(indices, o.shape, strict=True):
            if index.size and not (index.min() >= 0 and index.max() < size):
                raise UsageError(f"[{int(index.max() if index.min() >= 0 else index.min())}] is not one of the {size} rows of {name}")
            linear = linear * size + index.astype(np.int64)
        return self.cell(name, linear)


def next_hit(rec: Recording, conditions: Sequence[Condition], step: int) -> tuple[Hit, int] | None:
    """The first place at or behind a step where one of some conditions holds, and which of them does."""
    return _first(rec, conditions, step, 1)


def previous_hit(rec: Recording, conditions: Sequence[Condition], step: int) -> tuple[Hit, int] | None:
    """The last place before a step where one of some conditions holds, and which of them does."""
    return _first(rec, conditions, step, -1)


def _first(rec: Recording, conditions: Sequence[Condition], step: int, way: int) -> tuple[Hit, int] | None:
    best: tuple[Hit, int] | None = None
    for n, c in enumerate(conditions):
        limit = None if best is None else best[0].step
        for hit in hits(rec, c, step, way, limit):
            if best is None or (hit.step - best[0].step) * way < 0:
                best = hit, n
            break
    return best


def hits(rec: Recording, condition: Condition, step: int, way: int = 1, limit: int | None = None) -> Iterator[Hit]:
    """Where a condition holds from a step on, forwards (1) or backwards (-1), nearest first; none beyond a limit."""
    match condition:
        case Break():
            found = _breaks(rec, condition, _in_order(_steps(rec, condition), step, way, limit))
        case CellAccess():
            found = iter(_in_order_of(_touches(rec, condition), step, way))
        case Change():
            found = _changes(rec, condition, step, way)
        case Happens():
            found = _happenings(rec, condition.kind, step, way)
    return found


def _happenings(rec: Recording, kind: str, step: int, way: int) -> Iterator[Hit]:
    first = rec.columns.first
    if kind == "reconverge":
        for n in sorted(rec.reconvergences, reverse=way < 0):
            if (first[n] >= step) if way > 0 else (first[n] < step):
                lanes = rec.reconvergences[n]
                yield Hit(int(first[n]), int(lanes[0]), tuple(lanes.tolist()))
        return
    own = [(int(first[e.execution]) + max(e.step, 0), n) for n, e in enumerate(rec.track.events) if e.kind == kind]
    for at, n in sorted(own, reverse=way < 0):
        if (at >= step) if way > 0 else (at < step):
            event = rec.event(n)
            if event is not None:
                yield Hit(at, int(event[1][0]), tuple(event[1].tolist()))


def _steps(rec: Recording, condition: Break) -> Numbers:
    wanted = np.zeros(len(rec.track.instructions), np.bool_)
    wanted[list(condition.instructions)] = True
    return rec.columns.steps_of(wanted)


def _in_order(steps: Numbers, step: int, way: int, limit: int | None) -> Numbers:
    at = int(np.searchsorted(steps, step))
    near = steps[at:] if way > 0 else steps[:at][::-1]
    return near if limit is None else near[: int(np.count_nonzero((near - limit) * way < 0))]


def _in_order_of(every: list[Hit], step: int, way: int) -> list[Hit]:
    return [h for h in every if h.step >= step] if way > 0 else [h for h in reversed(every) if h.step < step]


def _breaks(rec: Recording, condition: Break, steps: Numbers) -> Iterator[Hit]:
    c = rec.columns
    of_lanes, rest = _parted(condition.when)
    looked_at: dict[int, Numbers] = {}  # by set of lanes: those for which the part of the condition holds that does not change in time
    start, size = 0, FEW
    while start < steps.size:
        part = steps[start : start + size]
        start, size = start + size, min(size * 4, MANY)
        ex = np.searchsorted(c.first, part, side="right") - 1
        groups = c.lanes[ex]
        for group in np.unique(groups).tolist():
            if group not in looked_at:
                k = int(np.flatnonzero(groups == group)[0])
                frame = rec.track.layouts[rec.track.layout_of[ex[k]]].function, rec.track.depth_of[ex[k]]
                looked_at[group] = _chosen(rec, group, condition.lanes, of_lanes, int(part[k]), frame)
        some = np.array([looked_at[g].size > 0 for g in groups.tolist()], np.bool_)
        part, ex, groups = part[some], ex[some], groups[some]
        if rest is None:
            for step, group in zip(part.tolist(), groups.tolist(), strict=True):
                yield _hit(step, looked_at[group])
        else:
            yield from _hold(rec, rest, part, ex, groups, looked_at)


def _hit(step: int, numbers: Numbers) -> Hit:
    return Hit(step, int(numbers[0]), tuple(numbers.tolist()))


def _hold(
    rec: Recording, rest: LaneExpression, steps: Numbers, executions: Numbers, groups: Numbers, lanes: dict[int, Numbers]
) -> Iterator[Hit]:  # fmt: skip
    """Where an expression holds: for many steps of the same lanes at once, as far as they can be looked at together."""
    c = rec.columns
    frames = np.stack([c.layout[executions], groups, c.depth[executions]], axis=1)
    found: dict[int, Numbers] = {}
    alone = np.ones(steps.size, np.bool_)
    for layout, group, depth in np.unique(frames, axis=0).tolist() if steps.size >= FEW and not rest.cells else []:
        own = np.flatnonzero((frames == (layout, group, depth)).all(axis=1))
        each = max(TOGETHER // max(lanes[group].size, 1), 1)
        for k in range(0, own.size, each):
            some = own[k : k + each]
            many = ManySteps(rec, steps[some], lanes[group], (rec.track.layouts[layout].function, depth), group)
            if not many.holds(rest.registers):
                break
            mask = truth(rest.evaluate(many)).reshape(some.size, -1)
            alone[some] = False
            for n in np.flatnonzero(mask.any(axis=1)).tolist():
                found[int(some[n])] = lanes[group][mask[n]]
    for n, (step, group) in enumerate(zip(steps.tolist(), groups.tolist(), strict=True)):
        if alone[n]:
            numbers = lanes[group]
            frame = rec.track.layouts[rec.track.layout_of[executions[n]]].function, rec.track.depth_of[executions[n]]
            whole = group if numbers.size == rec.track.lanes[group].shape[0] * rec.track.lanes[group].shape[1] else None
            numbers = numbers[truth(rest.evaluate(LanesAt(rec, step, numbers, frame, whole)))]
            if numbers.size:
                yield _hit(step, numbers)
        elif n in found:
            yield _hit(step, found[n])


class ManySteps:
    """The same lanes before many steps, for expressions: a row of lanes for each step."""

    def __init__(self, recording: Recording, steps: Numbers, lanes: Numbers, frame: tuple[str, int], group: int) -> None:
        self.recording, self.steps, self.lanes, self.frame, self.group = recording, steps, lanes, frame, group
        self._known: dict[str, Array] = {}
        self._chosen: NDArray[np.bool_] | None = None  # None: all

    def holds(self, registers: Collection[str]) -> bool:
        """Are these registers' values those that the group wrote as a whole?  Only then can they be looked at together."""
        for name in registers:
            values = self.recording.columns.rows(self.frame[0], name, self.frame[1], self.group, self.steps, self.lanes)
            if values is None:
                return False
            self._known[name] = values.ravel()
        return True

    @property
    def count(self) -> int:
        """See LaneValues."""
        return self.steps.size * self.lanes.size if self._chosen is None else int(self._chosen.sum())

    def only(self, chosen: NDArray[np.bool_]) -> ManySteps:
        """See LaneValues."""
        out = copy(self)
        if self._chosen is None:
            out._chosen = chosen
        else:
            out._chosen = self._chosen.copy()
            out._chosen[self._chosen] = chosen
        return out

    def _of(self, every: Array) -> Array:
        return every if self._chosen is None else every[self._chosen]

    def register(self, name: str) -> Array:
        """See LaneValues."""
        return self._of(self._known[name])

    def special(self, name: str) -> Array:
        """See LaneValues."""
        return self._of(np.tile(LanesAt(self.recording, 0, self.lanes, self.frame).special(name), self.steps.size))

    def cell(self, name: str, index: Array | None) -> Array:
        """See LaneValues; a name that is no cell is a register."""
        return self.register(name)

    def path(self, name: str, steps: tuple[PathStep, ...], indices: tuple[Array, ...]) -> Array:
        """See LaneValues; what looks at memory is looked at step by step."""
        raise AssertionError(name)


def _chosen(
    rec: Recording, group: int, only: tuple[int, ...] | None, when: LaneExpression | None, step: int, frame: tuple[str, int]
) -> Numbers:  # fmt: skip
    """The lanes of a set that a condition is about."""
    lanes = rec.track.lanes[group]
    numbers = lanes.numbers if lanes.alive is None else lanes.numbers[lanes.active]
    if only is not None:
        numbers = numbers[np.isin(numbers, np.array(only))]
    if when is not None and numbers.size:
        numbers = numbers[truth(when.evaluate(LanesAt(rec, step, numbers, frame)))]
    return numbers


def _parted(when: LaneExpression | None) -> tuple[LaneExpression | None, LaneExpression | None]:
    """The parts of an expression, joined by &&, that depend on the lane only, and the others."""
    if when is None:
        return None, None
    if when.kind == "binary" and when.word == "&&":
        left, right = (_parted(part) for part in when.parts)
        return _joined(left[0], right[0]), _joined(left[1], right[1])
    return (when, None) if when.cost == 0 else (None, when)


def _joined(a: LaneExpression | None, b: LaneExpression | None) -> LaneExpression | None:
    return LaneExpression("binary", "&&", (a, b)) if a is not None and b is not None else a or b


def _touches(rec: Recording, condition: CellAccess) -> list[Hit]:
    cell, out = condition.cell, []
    if condition.how in ("write", "access", "change"):
        before = None
        for step, lane in rec.writers(cell):
            if condition.how == "change":
                old = rec.cell_value(cell, step).tobytes() if before is None else before
                before = rec.cell_value(cell, step + 1).tobytes()
                if old == before:
                    continue
            out.append(Hit(step, lane, (lane,)))
    if condition.how in ("read", "access"):
        for step, _, lanes in rec.bytes.reads(cell.space, cell.owner, cell.address, cell.address + cell.size):
            out.append(Hit(step, int(lanes[0]), tuple(lanes.tolist())))
    return sorted(out, key=lambda h: h.step)


def _changes(rec: Recording, condition: Change, step: int, way: int) -> Iterator[Hit]:
    who = np.array([condition.lane])
    function, depth = rec.frame(condition.lane, min(step, max(rec.step_count - 1, 0)))
    writes = rec.columns.writes(function, condition.register, depth)
    for s in _in_order(writes.step, step, way, None).tolist():
        before, after = (rec.held(condition.register, who, t, (function, depth)) for t in (s, s + 1))
        if after.step[0] == s and (not before.known[0] or before.value.tobytes() != after.value.tobytes()):
            yield Hit(s, condition.lane, (condition.lane,))


def within(condition: Condition, lanes: Sequence[int]) -> Condition:
    """The same for some lanes only, where it is one of places."""
    return replace(condition, lanes=tuple(lanes)) if isinstance(condition, Break) else condition
