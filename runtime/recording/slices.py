"""Why a register or a cell holds what it does: the instructions that its value depends on, back to what was there before the launch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from warplab.interpreter.recorder.layout import RecordedInstruction
from warplab.interpreter.recorder.track import RecordedAccess
from warplab.isa.types import TYPES

from ..errors import UsageError
from .questions import Cell, Recording
from .stack import element_name
from .unset import first_unset_read

MOST = 64  # instructions of a slice


@dataclass(frozen=True, slots=True)
class ReadValue:
    """What an instruction has read: a register or a cell, what it held, and the step that wrote it; None: it was there before the launch."""

    name: str
    value: Any
    step: int | None
    lane: int
    cell: Cell | None = None  # of memory


@dataclass(frozen=True, slots=True)
class Link:
    """One instruction of a slice, in one lane."""

    step: int
    lane: int
    instruction: RecordedInstruction
    written: tuple[tuple[str, Any], ...]
    read: tuple[ReadValue, ...]


def value_of(rec: Recording, register: str, lane: int, step: int) -> Any:
    """What a register of a lane holds before a step; None where that is unknown."""
    found = rec.held(register, np.array([lane]), step, _frame(rec, lane, step))
    return found.value[0] if found.known[0] else None


def _frame(rec: Recording, lane: int, step: int) -> tuple[str, int]:
    """The call that a lane is in at a step: of one in which it takes part, that step's."""
    c = rec.columns
    if step < rec.step_count:
        n = c.execution(step)
        if c.lanes_of(n).places(np.array([lane]))[0] >= 0:
            return rec.track.layouts[c.layout[n]].function, int(c.depth[n])
    return rec.frame(lane, step)


def link(rec: Recording, step: int, lane: int, wanted: str | Cell | None = None) -> Link:
    """What an instruction has read and written in a lane; of a call and a return, only what has come to `wanted`."""
    c = rec.columns
    i = c.instruction(step)
    n = c.execution(step)
    who, frame = np.array([lane]), (rec.track.layouts[c.layout[n]].function, int(c.depth[n]))
    read = []
    for name in i.reads:
        found = rec.held(name, who, step, frame)
        if found.known[0]:
            read.append(ReadValue(name, found.value[0], int(found.step[0]) if found.step[0] >= 0 else None, lane))
    read += cells_read(rec, step, lane)
    written: list[tuple[str, Any]] = []
    for to, came in passed(rec, step, lane, wanted):
        if came is not None:
            read.append(_source(rec, came, step))
        written.append((to.name, rec.cell_value(to, step + 1)))
    for name in i.writes:
        found = rec.held(name, who, step + 1, frame)
        if found.known[0] and found.step[0] == step:
            written.append((name, found.value[0]))
    return Link(step, lane, i, tuple(written), tuple(read))


def cells_read(rec: Recording, step: int, lane: int) -> list[ReadValue]:
    """The elements of memory that an instruction has loaded in a lane."""
    return [_source(rec, cell, step) for kind, cell in cells(rec, step, lane) if kind in ("ld", "atom", "red")]


def cells(rec: Recording, step: int, lane: int) -> list[tuple[str, Cell]]:
    """The elements of memory that an instruction accesses in a lane, and how."""
    n, k = rec.columns.place(step)
    out = []
    for a in rec.accesses_of(n):
        if a.step != k or a.kind in ("call", "late"):
            continue
        for r in rec.bytes.reached(a):
            at = np.flatnonzero(r.lane == lane)
            for place in at.tolist():
                t = TYPES[a.type]
                size = t.bytes if t.bits < 128 else 8
                for e in range(a.count * t.bytes // size):
                    type = a.type if t.bits < 128 else "b64"
                    out.append((a.kind, _cell(rec, r.space, int(r.owner[place]), int(r.address[place]) + e * size, type, step)))
    return out


def _cell(rec: Recording, space: str, owner: int, address: int, type: str, step: int) -> Cell:
    """An element that is accessed at a step."""
    if space != "local":
        return Cell(rec.name_of(space, address), space, owner, address, rec.type_at(space, address, type))
    o = rec.stack.object_at(owner, address, step)
    if o is None:
        return Cell(rec.name_of(space, address), space, owner, address, type)
    named = o.type if o.type in TYPES and o.type[0] != "b" and TYPES[o.type].bytes == TYPES[type].bytes else type
    return Cell(element_name(o, address), space, owner, address, named)


def passed(rec: Recording, step: int, lane: int, wanted: str | Cell | None = None) -> list[tuple[Cell, Cell | None]]:
    """What the call or return of a step has passed in memory for a lane: where it went, and where it came from; None: from a register.

    `wanted`: only what has come to this cell.
    """
    out: list[tuple[Cell, Cell | None]] = []
    for a in rec.stack.passed_at(step):
        for r in rec.bytes.reached(a):
            for start in r.address[r.lane == lane].tolist():
                for at, type in _pieces(rec, lane, a, start, step, wanted):
                    came = None if a.source < 0 else _cell(rec, "local", lane, a.source + at - start, type, step)
                    out.append((_cell(rec, "local", lane, at, type, step), came))
    return out


def _pieces(
    rec: Recording, lane: int, a: RecordedAccess, start: int, step: int, wanted: str | Cell | None
) -> Iterator[tuple[int, str]]:  # fmt: skip
    """The elements that a call passes, as the program stored them."""
    end = start + 4 * a.count
    if isinstance(wanted, Cell):
        if wanted.space == "local" and wanted.owner == lane and start <= wanted.address < end:
            yield wanted.address, wanted.type
        return
    at, changes = start, rec.bytes.changes["local"]
    while at < end:
        from_ = a.source + at - start
        k = changes.last(lane, from_, from_ + 1, step) if a.source >= 0 else None
        type = "b32" if k is None or changes.address[k] != from_ else rec.track.accesses[changes.access[k]].type
        size = TYPES[type].bytes
        type, size = (type, size) if size <= 8 and at + size <= end else ("b32", 4)
        if k is not None or a.source < 0:
            yield at, type
        at += size


def _source(rec: Recording, cell: Cell, step: int) -> ReadValue:
    before = rec.last_write(cell, 0, step)
    value = rec.cell_value(cell, step)
    written, lane = before or (None, 0)
    return ReadValue(cell.name, value, written, lane, cell)


def why(rec: Recording, what: str | Cell, lane: int, before: int) -> list[Link]:
    """The instructions that a register of a lane, or a cell, got its value from, the last one first.

    Values that loads find in memory are followed to the stores that left them, of any lane; addresses are not followed.
    """
    start = rec.last_write(what, lane, before)
    if start is None:
        return []
    out: dict[tuple[int, int], Link] = {}
    seen: set[tuple[int, int, str | Cell]] = set()
    waiting: list[tuple[int, int, str | Cell]] = [(*start, what)]
    while waiting and len(out) < MOST:
        waiting.sort(key=lambda x: x[:2])
        step, who, wanted = waiting.pop()
        if not rec.stack.passed_at(step):
            wanted = ""
        if (step, who, wanted) in seen:
            continue
        seen.add((step, who, wanted))
        one = link(rec, step, who, wanted or None)
        known = out.get((step, who))
        out[step, who] = one if known is None else _together(known, one)
        waiting += [(s.step, s.lane, s.cell or s.name) for s in one.read if s.step is not None and s.name not in one.instruction.bases]
    return sorted(out.values(), key=lambda x: (-x.step, x.lane))


def _together(a: Link, b: Link) -> Link:
    """Two looks at one call."""
    return replace(a, written=tuple(dict.fromkeys((*a.written, *b.written))), read=tuple({r.name: r for r in (*a.read, *b.read)}.values()))


# ---------------------------------------------------------------- where bad values are born


@dataclass(frozen=True, slots=True)
class BadValue:
    """Where a bad value was born, and the instructions that carried it to memory, the first one first."""

    kind: str
    cell: str  # where it came to lie
    value: Any
    birth: Link | None  # None: it was in memory before the launch,
    found: str  # here
    way: tuple[Link, ...]
    place: Cell | None = None  # of what is uninitialised, where it is memory


WANTED = {"nan": np.isnan, "inf": np.isinf}


def origin(rec: Recording, kind: str) -> BadValue | None:
    """Where the first bad value was born that came to lie in global memory: "nan" or "inf"; or "uninitialised", which nothing had written."""
    if kind == "uninitialised":
        return _unset(rec)
    if kind not in WANTED:
        raise UsageError(f"origin of {kind}: there are nan, inf and uninitialised")
    bad = WANTED[kind]
    found = rec.bytes.changes["global"]
    types: dict[int, str] = {}
    first, last = (np.flatnonzero(np.diff(found.access, prepend=-1)), len(found.access))
    for start, end in zip(first.tolist(), [*first[1:].tolist(), last], strict=True):
        address, n = int(found.address[start]), int(found.access[start])
        type = types.setdefault(n, rec.type_at("global", address, rec.track.accesses[n].type))
        dtype = TYPES[type].dtype
        if dtype.kind != "f" or dtype.itemsize != found.size[start]:
            continue
        values = found.bits[start:end].astype(f"u{dtype.itemsize}").view(dtype)
        wrong = np.flatnonzero(bad(values))
        if wrong.size:
            k = start + int(wrong[0])
            at = int(found.address[k])
            cell = Cell(rec.name_of("global", at), "global", 0, at, type)
            return _followed(rec, kind, bad, cell, values[wrong[0]], int(found.step[k]), int(found.lane[k]))
    return None


def _followed(rec: Recording, kind: str, bad: Any, cell: Cell, value: Any, step: int, lane: int) -> BadValue:
    way: list[Link] = []
    at: tuple[int, int, str | Cell] | None = (step, lane, cell)
    place = cell.name
    while at is not None and len(way) < 4 * MOST:
        one = link(rec, *at)
        way.append(one)
        worse = [s for s in one.read if s.name not in one.instruction.bases and _is(bad, s.value)]
        if not worse:
            return BadValue(kind, cell.name, value, one, "", tuple(reversed(way)))
        place = worse[-1].name
        before = worse[-1]
        at = None if before.step is None else (before.step, before.lane, before.cell or before.name)
    return BadValue(kind, cell.name, value, None, place, tuple(reversed(way)))


def _is(bad: Any, value: Any) -> bool:
    kind = np.asarray(value)
    return bool(kind.dtype.kind == "f" and np.any(bad(kind)))


def _unset(rec: Recording) -> BadValue | None:
    """The first instruction that reads a register or memory that nothing has written."""
    found = first_unset_read(rec)
    if found is None:
        return None
    one = link(rec, found.step, found.lane)
    if found.register:
        value = next((r.value for r in one.read if r.name == found.register), None)
        return BadValue("uninitialised", found.register, value, one, "", (one,))
    near = [c for kind, c in cells(rec, found.step, found.lane) if c.space == found.space and c.owner == found.owner]
    cell = next(c for c in near if c.address <= found.address < c.address + c.size)
    return BadValue("uninitialised", cell.name, rec.cell_value(cell, found.step), one, "", (one,), cell)
