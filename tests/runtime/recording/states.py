"""Holds a recording against a second run of the same launch, which is looked at before each segment that a group executes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.launch import Launch
from warplab.interpreter.memory.arena import Arena
from warplab.interpreter.observe import Observer
from warplab.interpreter.plan.plan import PlanFunction, Site
from warplab.interpreter.recorder.layout import registers_of_function
from warplab.interpreter.values import plain
from warplab.interpreter.vector.function import Segments, VectorFunction, VectorSegment
from warplab.interpreter.vector.group import Group
from warplab.isa.types import TYPES
from warplab.runtime.recording import Recording

Array = NDArray[Any]
LANES = 4  # of a group, whose frames are compared
MOST = 300  # states of a launch that are compared


class State(NamedTuple):
    """A group before a segment."""

    place: tuple[str, int]
    lanes: NDArray[np.int64]
    registers: dict[str, Array]
    memory: Array
    shared: Array  # a row for each block of the wave,
    first: int  # which begins with this one
    base: int  # of the frame in local memory, and its words: a row for each lane
    frame: Array


class Looker(Observer):
    """Keeps the registers of the group and the device's memory before each segment."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.count = 0
        self._functions: dict[int, tuple[VectorFunction, VectorFunction]] = {}

    def begin(self, launch: Launch) -> None:
        self.launch = launch

    def stretch(self, sites: Sequence[Site], group: Group) -> None:
        pass

    def around(self, function: VectorFunction) -> VectorFunction:
        if id(function) not in self._functions:
            made, inner, plan = copy.copy(function), function.segments.make, function.plan
            made.segments = Segments(plan, lambda s, pc: self._segment(inner(s, pc), pc, plan))
            self._functions[id(function)] = made, function
        return self._functions[id(function)][0]

    def _segment(self, made: VectorSegment, pc: int, plan: PlanFunction) -> VectorSegment:
        terminate, steps = made.terminate, list(made.steps)
        if not steps:

            def first(g: Group) -> int | None:
                self._look(g, pc, plan)
                return terminate(g)

            return VectorSegment((), first, made.reads, made.writes, made.exchange, made.plan)
        step = steps[0]

        def both(R: list[Any]) -> None:
            self._look(R[0], pc, plan)
            step(R)

        steps[0] = both
        return VectorSegment(tuple(steps), terminate, made.reads, made.writes, made.exchange, made.plan)

    def _look(self, g: Group, pc: int, plan: PlanFunction) -> None:
        self.count += 1
        if len(self.states) == MOST:
            return
        shape = g.geometry.shape
        alive = np.ones(shape, bool) if g.alive is None else np.broadcast_to(g.alive, shape)
        registers = {}
        for r in registers_of_function(plan):
            home = plan.homes[r.index]
            value = g.R[home.slot]
            if home.width == 1 and plan.live_in[pc] >> home.slot & 1 and value is not None:
                registers[r.name, home.slot] = np.broadcast_to(plain(value), shape)[alive].copy()
        # two registers share a slot where only one of them lives: which one it is, the plan does not say
        names = {name: v for (name, slot), v in registers.items() if sum(s == slot for _, s in registers) == 1}
        lanes = np.broadcast_to(g.geometry.lane, shape)[alive] + g.wave.first * g.geometry.threads
        arena, space, base = self.launch.arena, g.wave.shared, g.act.base
        shared = np.stack([space.bytes[n * space.stride :][: space.size] for n in range(g.wave.count)])
        words = g.wave.local.load(g, np.array([[base]]), TYPES["b32"], -(-plan.frame_size // 4)) if plan.frame_size else ()
        frame = np.stack([np.broadcast_to(w, shape)[alive] for w in words], axis=-1) if words else np.zeros((lanes.size, 0), np.uint32)
        self.states.append(State((plan.name, pc), lanes, names, arena.bytes[: arena._top].copy(), shared, g.wave.first, base, frame))


def compare(rec: Recording, seen: Looker, arena: Arena) -> None:
    """Every state that was seen is what the recording tells at that step."""
    c = rec.columns
    assert seen.count == len(c.layout), "the runs executed the same segments"
    known = 0
    for n, (place, lanes, registers, memory, shared, first, base, frame) in enumerate(seen.states):
        layout = rec.track.layouts[c.layout[n]]
        assert (layout.function, layout.pc) == place
        own = c.lanes_of(n)
        assert np.array_equal(np.sort(own.numbers[own.active]), np.sort(lanes))
        step = int(c.first[n])
        for name, value in registers.items():
            found = rec.held(name, lanes, step, (layout.function, int(c.depth[n])))
            got, want = bits(found.value), bits(value)
            width = np.uint64(256 ** min(got.dtype.itemsize, want.dtype.itemsize) - 1)
            wrong = ((got.astype(np.uint64) ^ want.astype(np.uint64)) & width != 0) & found.known
            known += int(found.known.sum())
            assert not wrong.any(), (
                f"before step {step}, {layout.function} at line {c.instruction(step).line}, {name}: {got[wrong]}, not {want[wrong]}"
            )
        for block in range(len(shared)):
            held = rec.bytes.held("shared", first + block, 0, shared.shape[1], step)
            assert np.array_equal(held, shared[block]), f"before step {step}: shared memory of block {first + block}"
        for lane, words in zip(lanes[:LANES].tolist(), frame[:LANES], strict=True):
            stack = rec.bytes.held("local", lane, base, 4 * words.size, step).view(np.uint32) if words.size else words
            assert np.array_equal(stack, words), f"before step {step}: the frame of lane {lane}"
        for a in arena.living():
            if a.what != "kernel parameters" and a.end - arena.base <= memory.size:  # malloc may give more later
                told = rec.bytes.held("global", 0, a.start, a.size, step)
                assert np.array_equal(told, memory[a.start - arena.base : a.end - arena.base]), f"before step {step}: {a.what}"
    assert known or not any(s.registers for s in seen.states)


def bits(v: Array) -> Array:
    """A value as integers."""
    return v.astype(np.uint8) if v.dtype.kind == "b" else v.view(f"u{v.dtype.itemsize}")
