"""Stretches of a segment as steps that run compiled code, and numpy's steps where that is refused."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..plan import plan as P
from ..program import LoadedKernel
from ..values import Shifted
from ..vector.steps.ops import step
from .emit import LANE, ONE, ROW, Emitter, Extras, Stretch, slots_written
from .jit import Library
from .memory import CONTEXT, word
from .trace.code import Untraceable

WIDTH = 16
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class Memory:
    """The context that compiled code of a wave is given."""

    def __init__(self, wave: Any) -> None:
        self.words = np.zeros(len(CONTEXT), np.int64)
        self.wave = wave
        self.arena = wave.launch.arena
        self.version = -1
        self.words[word("host")] = self.arena.host_address - self.arena.base
        self.words[word("shared")] = wave.shared.bytes.ctypes.data
        self.words[word("shared_stride")] = wave.shared.stride
        self.words[word("shared_size")] = wave.shared.size
        self.words[word("parameters")] = wave.launch.parameters.ctypes.data
        self.at = self.words.ctypes.data

    def refresh(self) -> None:
        """Takes the allocations as they are now."""
        rows = [(a.start, a.start + a.size, a.writable) for a in self.arena.living()]
        self.table = np.array(rows, np.int64).reshape(-1, 3)
        self.words[word("table")] = self.table.ctypes.data
        self.words[word("entries")] = len(rows)
        self.version = self.arena.version


class NativeStep:
    """Some operations of a segment in one call."""

    def __init__(self, stretch: Stretch, kernel: LoadedKernel) -> None:
        self.stretch = stretch
        self.kernel = kernel
        self.steps = [step(op) for op in stretch.ops]
        self.compiled: dict[Any, Any] = {}
        self.extra_names = [*stretch.specials, *([Extras.BLOCK] if stretch.shared else [])]
        n = len(stretch.reads) + len(self.extra_names)
        self.inputs = np.zeros(2 * max(n, 1), np.int64)
        self.outputs = np.zeros(2 * max(len(stretch.writes), 1), np.int64)
        self.sites = np.zeros(2 * max(stretch.sites, 1), np.int64)
        self.version = -1
        self.failed: P.Op | None = None

    def __call__(self, R: list[Any]) -> None:
        g = R[0]
        rows, cols = g.geometry.shape
        s = self.stretch
        key: list[Any] = [cols % WIDTH != 0]
        values: list[Any] = []
        slots: list[int] = []
        for slot in s.reads:
            v = R[slot]
            if type(v) is Shifted:
                v = v.array()
            elif v is None:
                continue
            values.append(v)
            slots.append(slot)
        extras = [g.geometry.block.astype(np.int64) if n == Extras.BLOCK else g.special(n) for n in self.extra_names]
        values += extras
        at = 0
        for i, v in enumerate(values):
            r, c = v.shape
            key.append((LANE if c > 1 else ROW if r > 1 else ONE, v.dtype))
            if c > 1 and v.strides[1] != v.itemsize:
                v = values[i] = np.ascontiguousarray(v)
            self.inputs[at] = v.__array_interface__["data"][0]
            self.inputs[at + 1] = v.strides[0] if r > 1 else 0
            at += 2
        found = self.compiled.get((*slots, *key))
        if found is None:
            given = dict(zip(slots, key[1:], strict=False))
            extra = [(n, *k) for n, k in zip(self.extra_names, key[1 + len(slots) :], strict=True)]
            found = self.compiled[(*slots, *key)] = self._compile(given, extra, key[0])
        run, shapes, _ = found
        outs = []
        at = 0
        for _, kind, dtype in shapes:
            o = np.empty((rows if kind else 1, cols if kind == LANE else 1), dtype)
            outs.append(o)
            self.outputs[at] = o.__array_interface__["data"][0]
            self.outputs[at + 1] = o.strides[0]
            at += 2
        memory = memory_of(g.wave)
        if memory.version != memory.arena.version:
            memory.refresh()
        if self.version != memory.version:
            self.sites[:] = 0
            self.version = memory.version
        memory.words[0] = 0
        if run(self.inputs.ctypes.data, self.outputs.ctypes.data, memory.at, self.sites.ctypes.data, rows, cols):
            self._with_numpy(R)
            return
        for (slot, _, _), o in zip(shapes, outs, strict=True):
            R[slot] = o

    def _compile(self, given: dict[int, Any], extras: list[Any], tail: bool) -> Any:
        offsets = {id(v): o for v, o in self.kernel.parameters}
        e = Emitter(self.stretch, given, extras, lambda p: offsets[id(p.variable)] + p.offset, WIDTH, tail)
        text = e.text()
        library = Library(text, ["run"])
        return _RUN(library.addresses["run"]), e.results, library

    def _with_numpy(self, R: list[Any]) -> None:
        for op, one in zip(self.stretch.ops, self.steps, strict=True):
            self.failed = op
            one(R)
        self.failed = None


def memory_of(wave: Any) -> Memory:
    """The context of a wave."""
    found: Memory | None = wave.native
    if found is None:
        found = wave.native = Memory(wave)
    return found


def runs_natively(op: P.Op) -> bool:
    """May an operation be a part of compiled code?"""
    if op.how in ("load", "store"):
        assert op.meaning.access is not None
        place = op.sources[0]
        return op.meaning.access.space in ("global", "const", "shared", "shared::cta", "generic") and op.meaning.access.type.elements == 1 and not isinstance(place, P.ParameterPlace | P.FramePlace)
    return op.how in ("pure", "move", "pointer", "pack", "unpack", "factors", "parameter")
