"""Two orders of a launch that come to different ends: what differs, and who wrote it last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from warplab.assembler.demangle import short_name
from warplab.interpreter.litmus.orders import Cell, OrderEnd

from ..reports.tables import counted
from .inputs.values import as_numbers
from .runner import Runner


@dataclass(frozen=True, slots=True)
class EndsCompared:
    """Two ends, and a run whose memory is as it was before the launch."""

    runner: Runner
    first: OrderEnd
    other: OrderEnd

    def lines(self) -> Iterator[str]:
        """What is said of them if they differ."""
        both = self.first, self.other
        if bool(self.first.waiting) is not bool(self.other.waiting):
            ends = [f"leaves {counted(len(e.waiting), 'thread')} waiting for ever" if e.waiting else "ends" for e in both]
            yield f"one order {ends[0]}, another one {ends[1]}"
            return
        a, b = ({cell: byte for cell, byte in end.written.items() if cell[0] == "global"} for end in both)
        different = next((cell for cell in sorted(a.keys() | b.keys()) if a.get(cell) != b.get(cell)), None)
        if different is None:
            return
        name, cells, dtype, type = self._place(different)
        values = [self._value(end, cells, dtype, type) for end in both]
        yield f"{name} is {values[0]} in one order, {values[1]} in another"
        for value, end in zip(values, both, strict=True):
            who = next((end.writers[cell] for cell in (different, *cells) if cell in end.writers), None)
            yield f"  {value}: " + ("no thread wrote it" if who is None else self._writer(*who))

    def _value(self, end: OrderEnd, cells: list[Cell], dtype: np.dtype[Any], type: str) -> str:
        before = self.runner.context.arena.bytes
        held = bytes(end.written.get(cell, int(before[cell[1]])) for cell in cells)
        return str(as_numbers(np.frombuffer(held, dtype), type)[0])

    def _place(self, cell: Cell) -> tuple[str, list[Cell], np.dtype[Any], str]:
        """The element at a place in memory: its name, its bytes and its type."""
        for name, (at, dtype, shape, type) in self._objects().items():
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            if at <= cell[1] < at + size:
                index = (cell[1] - at) // dtype.itemsize
                start = at + index * dtype.itemsize
                where = "".join(f"[{n}]" for n in np.unravel_index(index, shape)) if size > dtype.itemsize else ""
                return name + where, [("global", start + k) for k in range(dtype.itemsize)], dtype, type
        return f"the byte at {cell[1] + self.runner.context.arena.base:#x}", [cell], np.dtype(np.uint8), "u8"

    def _objects(self) -> dict[str, tuple[int, np.dtype[Any], tuple[int, ...], str]]:
        base = self.runner.context.arena.base
        out = {
            n: (b.address - base, b.before.dtype, b.before.shape, b.type) for n, b in self.runner.outcome.buffers.items() if not b.texels
        }
        for name, v in self.runner.module.program.variables.items():
            if name not in out and v.space == "global" and v.type.kind != "o" and v.size:
                address, size = self.runner.module.variable(name)
                out[name] = (address - base, v.type.dtype, (size // v.type.dtype.itemsize,), v.type.name)
        return out

    def _writer(self, number: int, line: int) -> str:
        handle, shape = self.runner.trail[0]
        per_block = int(np.prod(shape.block))
        block, thread = (_coordinates(n, d) for n, d in ((number // per_block, shape.grid), (number % per_block, shape.block)))
        return f"written last at line {line} by block {block}, thread {thread} of {short_name(handle.kernel.name)}"


def _coordinates(n: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = extent
    return n % x, n // x % y, n // (x * y)
