"""One launch: its grid cut into waves, its parameters, limits, and the words for what went wrong."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from warplab.assembler.ir import Function, Module, Variable
from warplab.isa.profiles import DeviceProfile

from .faults import ExecutionError, Fault, LimitReached
from .memory.arena import Arena
from .observe import Observer
from .plan.plan import Manner, Site
from .program import Kernel
from .vector.function import VectorFunction, VectorSegment
from .vector.steps import Step
from .vector.values import Array, ParameterPlace
from .vector.wave import CHECK_EVERY, Wave

if TYPE_CHECKING:
    from .vector.group import Group

WAVE_LANES = 16384  # registers of so many lanes stay in the L2 cache of a CPU
WAVE_SHARED = 4 << 20  # and so much shared memory
Dim3 = tuple[int, int, int]


class Printer(Protocol):
    """Where vprintf writes."""

    def print(self, g: Group, lane: int, form: int, arguments: int) -> int:
        """Queues the text of one lane."""


class Heap(Protocol):
    """What device malloc gives."""

    def allocate(self, size: int) -> int:
        """An address, or 0."""

    def free(self, address: int) -> bool:
        """False where nothing was there to free."""


@dataclass(slots=True)
class Options:
    """What a caller may ask of a launch beside its shape."""

    wave_lanes: int = WAVE_LANES
    max_steps: int | None = None  # instructions that warps or groups execute
    max_seconds: float | None = None
    stack_limit: int = 1 << 19
    schedule: int | None = None
    cooperative: bool = False
    cluster: Dim3 | None = None
    lockstep: bool = False
    max_waves: int = 64  # that may be under way at once, spinning
    environment: dict[int, int] = field(default_factory=dict)  # %envreg values


class Launch:
    """The state that all waves of a launch share."""

    def __init__(
        self, kernel: Kernel, grid: Dim3, block: Dim3, parameters: bytes, dynamic_shared: int, arena: Arena, profile: DeviceProfile,
        printer: Printer, heap: Heap, other_arenas: Sequence[Arena] = (), options: Options | None = None, number: int = 1,
        observers: Sequence[Observer] = (),
    ) -> None:  # fmt: skip
        o = options or Options()
        self.kernel, self.grid, self.block = kernel, grid, block
        self.arena, self.other_arenas = arena, tuple(other_arenas)
        self.printer, self.heap = printer, heap
        self.options = o
        self.number: int = number
        self.name = kernel.name
        self.threads = block[0] * block[1] * block[2]
        self.blocks = grid[0] * grid[1] * grid[2]
        self.dynamic_shared: int = dynamic_shared
        self.total_shared: int = kernel.dynamic_start + dynamic_shared if dynamic_shared else kernel.static_shared
        self.shared_bytes = kernel.reserved_shared + self.total_shared
        self.stack_limit = o.stack_limit
        self.observers = tuple(observers)
        self.max_warps: int = profile.max_warps
        self.multiprocessors: int = profile.multiprocessors
        self.cluster: Dim3 = o.cluster or (1, 1, 1)
        self.explicit_cluster: bool = o.cluster is not None
        self.cluster_size: int = self.cluster[0] * self.cluster[1] * self.cluster[2]
        self.clusters: Dim3 = (grid[0] // self.cluster[0], grid[1] // self.cluster[1], grid[2] // self.cluster[2])
        self.manner = Manner(first_generation=profile.capability < (2, 0), lockstep=o.lockstep)
        self.entry: VectorFunction = self.code_of(kernel.function)
        self.parameters = np.zeros(-(-max(len(parameters), 1) // 16) * 16 + 16, np.uint8)
        self.parameters[: len(parameters)] = np.frombuffer(parameters, np.uint8)
        self._offsets = {id(v): at for v, at in kernel.parameters}
        self._parameter_block: int | None = None
        self._parameter_values: dict[tuple[int, str], Array] = {}
        self.assertions: list[str] = []
        self.steps = 0
        self._deadline = None if o.max_seconds is None else time.monotonic() + o.max_seconds
        self._next_block = 0
        self._started = time.perf_counter_ns()
        self._suspended: deque[Wave] = deque()
        self.quiet_rounds = 0  # of spinning, in which nothing happened: see vector/deadlock.py

    # ------------------------------------------------------------ running

    def run(self) -> None:
        """Runs every wave; the last state of memory is the launch's result."""
        try:
            with np.errstate(all="ignore"):
                for o in self.observers:
                    o.begin(self)
                self._run()
                for o in self.observers:
                    o.end(self)
        finally:
            if self._parameter_block is not None:
                a = self.arena.find(self._parameter_block)
                if a is not None:
                    self.arena.free(a)

    def _run(self) -> None:
        per_wave = self._blocks_per_wave()
        while True:
            if self._next_block < self.blocks and len(self._suspended) < self.options.max_waves:
                first = self._next_block
                count = min(per_wave, self.blocks - first)
                self._next_block += count
                wave = Wave(self, first, count)
                self.quiet_rounds = 0
            elif self._suspended:
                wave = self._suspended.popleft()
            else:
                return
            if wave.run():
                self.check_limits(wave, None, wave.segments_run % CHECK_EVERY)
            else:
                self._suspended.append(wave)
                if len(self._suspended) >= self.options.max_waves and self._next_block < self.blocks:
                    self.options.max_waves += 16

    def _blocks_per_wave(self) -> int:
        if self.options.cooperative:
            return self.blocks
        k = max(1, self.options.wave_lanes // self.threads)
        if self.shared_bytes:
            k = max(1, min(k, WAVE_SHARED // self.shared_bytes))
        k = min(k, self.blocks)
        return max(self.cluster_size, k // self.cluster_size * self.cluster_size)

    def has_more_waves(self, wave: Wave) -> bool:
        """May somebody outside this wave run?"""
        return self._next_block < self.blocks or bool(self._suspended)

    def waves_begun(self) -> int:
        """How many waves are under way, the running one included."""
        return len(self._suspended) + 1

    def check_limits(self, wave: Wave, g: Group | None, segments: int) -> None:
        """Ends the launch when its steps or its time are used up."""
        self.steps += segments
        o = self.options
        if o.max_steps is not None and self.steps > o.max_steps:
            raise LimitReached(self.name, f"{o.max_steps} steps", self._where(wave, g))
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise LimitReached(self.name, f"{o.max_seconds} s", self._where(wave, g))

    def _where(self, wave: Wave, g: Group | None) -> str:
        if g is None:
            return f"the end of block {wave.first + wave.count - 1}"
        site = g.act.function.plan.segments[g.pc].first_site
        return f"line {site.instruction.span.line}" if site else f"the end of {g.act.function.name}"

    # ------------------------------------------------------------ blocks

    def block_special(self, wave: Wave, name: str) -> Array:
        """A per-block special register of a wave, (blocks, 1)."""
        linear = self._linear(wave)
        x, y = self.grid[0], self.grid[1]
        ctaid = {"x": linear % x, "y": linear // x % y, "z": linear // (x * y)}
        if name.startswith("ctaid."):
            value = ctaid[name[-1]]
        elif name == "smid":
            value = linear % self.multiprocessors
        elif name == "cluster_ctarank":
            c = self.cluster
            value = ctaid["x"] % c[0] + c[0] * (ctaid["y"] % c[1] + c[1] * (ctaid["z"] % c[2]))
        else:
            axis = "xyz".index(name[-1])
            value = ctaid[name[-1]] // self.cluster[axis] if name.startswith("clusterid") else ctaid[name[-1]] % self.cluster[axis]
        out: Array = value.astype(np.uint32)
        return out.reshape(-1, 1)

    def _linear(self, wave: Wave) -> Array:
        """The linear index in the grid of each of a wave's blocks; the blocks of a cluster stand together."""
        n = np.arange(wave.first, wave.first + wave.count, dtype=np.int64)
        if self.cluster_size == 1:
            return n
        c = self.cluster
        which, rank = np.divmod(n, self.cluster_size)
        rx, ry, rz = rank % c[0], rank // c[0] % c[1], rank // (c[0] * c[1])
        k = self.clusters
        x = which % k[0] * c[0] + rx
        y = which // k[0] % k[1] * c[1] + ry
        z = which // (k[0] * k[1]) * c[2] + rz
        linear: Array = x + self.grid[0] * (y + self.grid[1] * z)
        return linear

    def cluster_member(self, block: Array, rank: Array) -> Array:
        """The wave's block of a rank in the cluster of a block."""
        return block // self.cluster_size * self.cluster_size + rank

    # ------------------------------------------------------------ parameters and environment

    def param_place(self, v: Variable, offset: int) -> ParameterPlace:
        """The address of a parameter, as ld.param wants it."""
        return ParameterPlace(self._offsets[id(v)] + offset)

    def parameter(self, at: int, dtype: np.dtype[Any]) -> Array:
        """A parameter's value, the same for all lanes."""
        key = (at, dtype.char)
        found = self._parameter_values.get(key)
        if found is None:
            raw = self.parameters[at : at + dtype.itemsize]
            found = self._parameter_values[key] = raw.copy().view(dtype).reshape(1, 1)
        return found

    @property
    def parameters_stand(self) -> bool:
        """Do the parameters have an address?"""
        return self._parameter_block is not None

    def param_address(self, v: Variable) -> int:
        """The generic address of a parameter, whose block then stands in constant memory."""
        if self._parameter_block is None:
            a = self.arena.allocate(self.parameters.size, "kernel parameters", writable=False)
            self._parameter_block = a.start
            self.arena.bytes[a.start - self.arena.base :][: self.parameters.size] = self.parameters
        return self._parameter_block + self._offsets[id(v)]

    def lies_in(self, a: Array, what: str) -> Array:
        """Which addresses lie in an allocation of this kind."""
        out = np.zeros(a.shape, bool)
        for one in self.arena.living():
            if one.what.startswith(what):
                out |= (a >= np.uint64(one.start)) & (a < np.uint64(one.end))
        return out

    def clock(self, g: Group) -> Array:
        """A count that grows with every segment that runs."""
        self.quiet_rounds = 0  # who looks at the clock may wait for time to pass
        return np.array([[(self.steps + g.wave.segments_run % CHECK_EVERY) * 32]], np.uint64)

    def timer(self, g: Group) -> Array:
        """Nanoseconds; grows with the work done, so that runs repeat themselves."""
        return self.clock(g) + np.uint64(1 << 40)

    def environment(self, n: int) -> int:
        """%envreg: the host's grid-sync workspace in cooperative launches, else zero."""
        return self.options.environment.get(n, 0)

    def text_at(self, address: int) -> str:
        """A C string in device memory."""
        a = self.arena.find(address)
        if a is None:
            return "?"
        raw = self.arena.bytes[address - self.arena.base : a.end - self.arena.base].tobytes()
        return raw.split(b"\0", 1)[0].decode(errors="replace")

    # ------------------------------------------------------------ functions

    def code_of(self, f: Function) -> VectorFunction:
        """A function as this kernel runs it."""
        return self.kernel.code(f, self.manner, observed=bool(self.observers))

    def definition_of(self, f: Function) -> Function:
        """See Program."""
        return self.kernel.program.definition(f)

    def function_at(self, address: int) -> Function | None:
        """See LoadedProgram."""
        return self.kernel.program.function_at(address)

    # ------------------------------------------------------------ words

    def name_fault(self, wave: Wave, fault: Fault, lane: int) -> None:
        """Fills in whose fault it was."""
        block, thread = divmod(lane, self.threads)
        fault.kernel = self.name
        linear = int(self._linear(wave)[block])
        gx, gy, _ = self.grid
        bx, by, _ = self.block
        fault.block = (linear % gx, linear // gx % gy, linear // (gx * gy))
        fault.thread = (thread % bx, thread // bx % by, thread // (bx * by))

    def name_lane(self, wave: Wave, g: Group, lane: int | None) -> str:
        """ "block (0, 0, 0), thread (3, 0, 0)"."""
        f = Fault("", "")
        self.name_fault(wave, f, int(g.geometry.lane.ravel()[0]) if lane is None else lane)
        return f"block {f.block}, thread {f.thread}"

    def explain(self, e: ExecutionError, g: Group, segment: VectorSegment, step: Step | None) -> None:
        """Adds the instruction to a fault: the step that raised it, or what ends the segment."""
        if not isinstance(e, Fault) or e.instruction:
            return
        site = segment.plan.site if step is None else segment.plan.ops[segment.steps.index(step)].site
        if site is not None:
            e.instruction = self.text_of(site)
            e.line = site.instruction.span.line
            e.source = self.source_of(site)
        if e.block is None:
            g.blame(e, g.active)

    def text_of(self, site: Site | None) -> str:
        """An instruction as the text has it."""
        return "" if site is None else text_of(self.kernel.program.modules, site)

    def source_of(self, site: Site | None) -> str:
        """file:line of the .loc in force."""
        return "" if site is None else source_of(self.kernel.program.modules, site)


def text_of(modules: Sequence[Module], site: Site) -> str:
    """An instruction as the text of one of the modules has it."""
    span = site.instruction.span
    for m in modules:
        piece = m.text[span.start : span.end]
        if site.instruction.opcode in piece:
            return " ".join(piece.split())
    return site.instruction.opcode


def source_of(modules: Sequence[Module], site: Site) -> str:
    """file:line of the .loc in force at an instruction."""
    if site.location is None:
        return ""
    for m in modules:
        name = m.files.get(site.location.file)
        if name:
            return f"{name}:{site.location.line}"
    return f"line {site.location.line}"
