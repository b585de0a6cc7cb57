"""The names of the source at a step: what expressions, `info locals` and editors ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.layout import RecordedInstruction

from ..errors import UsageError
from ..recording.expressions import PathStep
from ..recording.questions import Recording
from .columns import column, inside
from .places import NotThere, ThreadAt
from .reader import DwarfReader
from .sections import DebugSections, code_address, sections_of
from .types import SourceScope, SourceVariable
from .values import SourceValue

NEEDED = "the variables of the source need pyelftools: pip install 'warplab[debug]'"
NOTHING = "the PTX names no variables of the source: nvcc -G, clang -g and numba's debug=True, opt=False make it do so"


@dataclass(slots=True)
class SourceModule:
    """What a module says of its source."""

    sections: DebugSections
    functions: list[SourceScope]
    globals: list[SourceVariable]


class SourceNames:
    """The variables of a recorded program."""

    def __init__(self, rec: Recording) -> None:
        self.rec = rec
        self._modules: dict[int, SourceModule] = {}
        self._found: dict[tuple[str, int, int, int], SourceVariable | None] = {}  # by name and instruction

    # ------------------------------------------------------------ what there is

    @cached_property
    def why_not(self) -> str:
        """Why there are no names; "" where there are."""
        if not any(".debug_info" in text for _, text in self.rec.track.texts):
            return NOTHING
        try:
            named = any(self._module(n).functions for n in range(len(self.rec.track.texts)))
        except UsageError as e:
            return str(e)
        return "" if named else NOTHING

    def _module(self, number: int) -> SourceModule:
        if number not in self._modules:
            text = self.rec.track.texts[number][1]
            self._modules[number] = _read(text) if ".debug_info" in text else SourceModule(DebugSections(), [], [])
        return self._modules[number]

    def _at(self, lane: int, step: int, frame: tuple[str, int]) -> tuple[RecordedInstruction, SourceModule] | None:
        """The instruction that a call of a thread is at, and its module."""
        rec = self.rec
        at = rec.next_step(lane, step)
        if at is not None and rec.columns.depth[rec.columns.execution(at)] == frame[1]:
            i = rec.columns.instruction(at)
            return (i, self._module(i.module)) if i.function == frame[0] else None
        calls = [] if at is None else rec.backtrace(lane, step)
        if calls:
            level = len(calls) - 1 - frame[1]
            if not 0 <= level < len(calls) or calls[level].function != frame[0]:
                return None
            i = calls[level].instruction
        else:
            last = rec.previous_step(lane, step)
            if last is None:
                return None
            i = rec.columns.instruction(last)
        return i, self._module(i.module)

    def scopes(self, lane: int, step: int, frame: tuple[str, int]) -> list[SourceScope]:
        """The scopes around the place of a call, the innermost first."""
        found = self._at(lane, step, frame)
        return [] if found is None else self._around(*found)

    @staticmethod
    def _around(i: RecordedInstruction, module: SourceModule) -> list[SourceScope]:
        address = code_address(i)
        function = next((f for f in module.functions if f.holds(address)), None)
        return [] if function is None else list(function.around(address))

    def function(self, i: RecordedInstruction) -> str:
        """The name of the source's function that an instruction belongs to; "" where none is told."""
        if self.why_not:
            return ""
        address = code_address(i)
        return next((f.name for f in self._module(i.module).functions if f.holds(address)), "")

    # ------------------------------------------------------------ values

    def variables(self, lane: int, step: int, frame: tuple[str, int]) -> list[tuple[SourceVariable, SourceValue | str]]:
        """Arguments and variables that can be seen, the innermost first; of what is nowhere the reason."""
        seen: dict[str, tuple[SourceVariable, SourceValue | str]] = {}
        for scope in self.scopes(lane, step, frame):
            for v in scope.variables:
                seen.setdefault(v.name, (v, self._value(v, lane, step, frame)))
        return list(seen.values())

    def _value(self, v: SourceVariable, lane: int, step: int, frame: tuple[str, int]) -> SourceValue | str:
        found = self._at(lane, step, frame)
        assert found is not None
        i, module = found
        thread = ThreadAt(self.rec, module.sections, lane, step, frame)
        expression = v.place(code_address(i))
        try:
            if expression is None:
                raise NotThere("optimized out")
            return SourceValue(thread, v.type, thread.place(expression, v.space))
        except NotThere as e:
            return str(e)

    def knows(self, name: str, lane: int, step: int, frame: tuple[str, int]) -> bool:
        """Is there a variable of this name?"""
        return not self.why_not and self._find(name, lane, step, frame) is not None

    def mentions(self, name: str) -> bool:
        """Is there a variable of this name anywhere?"""
        return not self.why_not and any(
            v.name == name
            for n in range(len(self.rec.track.texts))
            for scope in self._module(n).functions
            for inner in scope.every()
            for v in inner.variables
        )

    def _find(self, name: str, lane: int, step: int, frame: tuple[str, int]) -> SourceVariable | None:
        found = self._at(lane, step, frame)
        if found is None:
            return None
        i, module = found
        key = name, i.module, i.line, i.column
        if key not in self._found:
            visible = [v for scope in self._around(i, module) for v in scope.variables]
            self._found[key] = next((v for v in (*visible, *module.globals) if v.name == name), None)
        return self._found[key]

    def value(
        self, name: str, steps: Sequence[PathStep], indices: Sequence[int], lane: int, step: int, frame: tuple[str, int]
    ) -> SourceValue:  # fmt: skip
        """A variable, and what its path leads to: `p->next->w[2]`."""
        v = self._find(name, lane, step, frame)
        if v is None:
            raise UsageError(f"there is no variable {name} here")
        out = self._value(v, lane, step, frame)
        if isinstance(out, str):
            raise NotThere(f"{name} has no value here: {out}")
        for s in steps:
            out = _walk(out, s, indices)
        return out

    def column(
        self, name: str, steps: Sequence[PathStep], indices: Sequence[NDArray[Any]], lanes: NDArray[np.int64], step: int, frame: tuple[str, int]
    ) -> NDArray[Any]:  # fmt: skip
        """The same for many lanes, as numbers; NaN, which equals nothing, where there is no value."""
        if not lanes.size:
            return np.zeros(0)
        if (fast := self._together(name, steps, indices, lanes, step, frame)) is not None:
            return fast
        found = []
        for n, lane in enumerate(lanes.tolist()):
            try:
                found.append(self.value(name, steps, [int(i[n]) for i in indices], lane, step, frame).scalar())
            except NotThere:
                found.append(np.nan)
        return np.array(found)

    def _together(
        self, name: str, steps: Sequence[PathStep], indices: Sequence[NDArray[Any]], lanes: NDArray[np.int64], step: int, frame: tuple[str, int]
    ) -> NDArray[Any] | None:  # fmt: skip
        """The same for lanes that are at one instruction, if the variable is in the same place in all of them."""
        c = self.rec.columns
        v = self._find(name, int(lanes[0]), step, frame)
        if v is None or step >= self.rec.step_count:
            return None
        n = c.execution(step)
        if c.depth[n] != frame[1] or not (c.lanes_of(n).places(lanes) >= 0).all():
            return None
        i = c.instruction(step)
        expression, part = v.place(code_address(i)), inside(v.type, steps, indices)
        if expression is None or part is None:
            return None
        return column(self.rec, self._module(i.module).sections, *part, expression, lanes, step, frame)


def _walk(value: SourceValue, step: PathStep, indices: Sequence[int]) -> SourceValue:
    match step.kind:
        case "member":
            return value.member(step.name)
        case "element":
            return value.element(indices[step.index])
        case "pointed":
            return value.pointed()
        case _:
            return value.address()


def _read(text: str) -> SourceModule:
    try:
        import_module("elftools.dwarf.dwarfinfo")
    except ImportError:
        raise UsageError(NEEDED) from None
    sections = sections_of(text)
    try:
        reader = DwarfReader(sections)
        return SourceModule(sections, reader.functions(), reader.globals())
    except Exception as e:  # of sections that are damaged pyelftools raises whatever comes of them
        raise UsageError(f"the DWARF of the PTX can't be read: {type(e).__name__}: {e}") from None
