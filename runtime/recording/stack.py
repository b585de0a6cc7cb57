"""The stacks of threads: which variable of which open call lies at an address of local memory, and what calls pass between frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from warplab.interpreter.recorder.track import NamedCells, RecordedAccess
from warplab.isa.types import TYPES

from .columns import Columns
from .memory import RecordedMemory

MOST_CALLS = 1 << 31  # that are open


class RecordedStack:
    """The frames of all threads."""

    def __init__(self, columns: Columns, memory: RecordedMemory) -> None:
        self.columns = columns
        self.bytes = memory
        self.track = columns.track

    def open_executions(self, lane: int, step: int) -> Iterator[int]:
        """Of each call of a lane that is open at a step, the innermost first, the last execution up to there."""
        c, who = self.columns, np.array([lane])
        depth = MOST_CALLS
        for n in np.flatnonzero(c.touching(who)[: c.execution(step) + 1])[::-1].tolist():
            if c.depth[n] < depth and c.done[n] and c.lanes_of(n).places(who)[0] >= 0:
                depth = int(c.depth[n])
                yield n
                if depth == 0:
                    return

    def object_at(self, lane: int, address: int, step: int) -> NamedCells | None:
        """The variable that lies at an address of a lane's local memory while it executes a step; also one of the function that it calls there."""
        c = self.columns
        own = min(step, c.steps - 1)
        if self.passed_at(own) and (called := self._called(lane, own)) is not None:
            found = self._in_frame(called, address)
            if found is not None:
                return found
        return next((found for n in self.open_executions(lane, own) if (found := self._in_frame(n, address)) is not None), None)

    def _called(self, lane: int, step: int) -> int | None:
        """The first execution of the function that a lane calls at a step."""
        c, who = self.columns, np.array([lane])
        n = c.execution(step)
        for after in range(n + 1, len(c.layout)):
            if c.done[after] and c.lanes_of(after).places(who)[0] >= 0:
                return after if c.depth[after] > c.depth[n] else None
        return None

    def _in_frame(self, execution: int, address: int) -> NamedCells | None:
        c = self.columns
        base = int(c.base[execution])
        for o in self.track.frames.get(self.track.layouts[c.layout[execution]].function, []):
            if o.start <= address - base < o.start + o.size:
                return replace(o, start=base + o.start)
        return None

    def variable(self, name: str, lane: int, step: int, level: int = 0) -> NamedCells | None:
        """A variable of a call that is open, the innermost is 0, at its place in local memory."""
        for k, n in enumerate(self.open_executions(lane, min(step, self.columns.steps - 1))):
            if k == level:
                base = int(self.columns.base[n])
                frame = self.track.frames.get(self.track.layouts[self.columns.layout[n]].function, [])
                return next((replace(o, start=base + o.start) for o in frame if o.name == name), None)
        return None

    def passed_at(self, step: int) -> list[RecordedAccess]:
        """What the call or the return of a step has put into frames."""
        return self._passed.get(step, [])

    @cached_property
    def _passed(self) -> dict[int, list[RecordedAccess]]:
        out: dict[int, list[RecordedAccess]] = {}
        for a in self.track.accesses:
            if a.kind == "call":
                out.setdefault(self.bytes.step_of(a), []).append(a)
        return out


def element_name(o: NamedCells, address: int, element: bool = False) -> str:
    """A place in an object: c[7]; of a variable that is no array its name alone, unless `element`."""
    size = TYPES[o.type].bytes if o.type in TYPES else 1
    n, rest = divmod(address - o.start, size)
    return o.name + (f"[{n}]" if element or o.size > size else "") + (f"+{rest}" if rest else "")
