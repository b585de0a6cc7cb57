"""One launch: its shape, memory, parameters and limits, and the names of blocks, threads and instructions in messages."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

import numpy as np

from warplab.assembler.ir import Function, Location, Module, Variable
from warplab.assembler.listing import listing
from warplab.isa.profiles import FEATURES, DeviceProfile
from warplab.isa.textures.resources import NoResources, Resources

from .faults import Fault, LimitReached
from .memory.arena import NAMED, Arena
from .memory.multicast import MulticastRange
from .plan.plan import LoweringOptions, Site
from .program import CLOCK_BYTES, LoadedKernel
from .values import Array, ParameterOffset

CHECK_EVERY = 256  # segments between two looks at the limits
WAVE_LANES = 16384  # registers of so many lanes stay in the L2 cache of a CPU
WAVE_SHARED = 4 << 20  # and so much shared memory
Dim3 = tuple[int, int, int]


class Printer(Protocol):
    """Where vprintf writes."""

    def print(self, g: Any, lane: int, form: int, arguments: int) -> int:
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
    poison: int | None = None  # a seed: what nobody has written holds poison
    slips: bool = False  # accesses behind a block's shared memory pass where a GPU has more of it
    cooperative: bool = False
    cluster: Dim3 | None = None
    lockstep: bool = False
    engine: str = "numpy"  # or "native", or "auto"
    threads: int = 1  # of the host, on which compiled code runs where blocks do not synchronize with each other
    max_waves: int = 64  # that may be under way at once, spinning
    environment: dict[int, int] = field(default_factory=dict)  # %envreg values
    graph: int = 0  # %current_graph_exec
    suspends: bool = False  # where lanes only spin, the launch lets its caller change memory, and goes on later


@dataclass(slots=True)
class EngineUse:
    """What ran launches: how many blocks each engine ended, and which instructions compiled code left to numpy, how often."""

    native_blocks: int = 0
    numpy_blocks: int = 0
    left_to_numpy: dict[str, int] = field(default_factory=dict)
    threads: int = 1  # that executed compiled code at once, at most
    failures: list[str] = field(default_factory=list)  # of the compiler, in words

    def leave(self, opcode: str, times: int = 1) -> None:
        """Counts an instruction that was left to numpy."""
        self.left_to_numpy[opcode] = self.left_to_numpy.get(opcode, 0) + times

    def add(self, other: EngineUse) -> None:
        """Counts another launch, too."""
        self.native_blocks += other.native_blocks
        self.numpy_blocks += other.numpy_blocks
        for opcode, times in other.left_to_numpy.items():
            self.leave(opcode, times)
        self.threads = max(self.threads, other.threads)
        self.failures += other.failures


@cache
def lowering(capability: tuple[int, int], lockstep: bool, stops: bool) -> LoweringOptions:
    """How functions run on devices of a capability."""
    return LoweringOptions(capability < (2, 0), capability < FEATURES["f64"], lockstep, stops)


class Launch:
    """The state that all waves of a launch share."""

    # With so many attributes, each launch would have a dictionary of its own, which takes longer to fill and to read.
    __slots__ = (
        "__weakref__", "_deadline", "_memory", "_parameter_block", "_parameter_values", "arena", "assertions", "block", "blocks", "blocks_per_wave", "cluster",
        "cluster_size", "clusters", "dynamic_shared", "ended_blocks", "epoch", "explicit_cluster", "grid", "heap", "kernel", "lowering", "max_warps",
        "most_blocks_per_wave", "moves", "multicasts", "multiprocessors", "name", "next_block", "number", "options", "other_arenas", "place", "printer",
        "quiet_rounds", "resources", "shared_bytes", "slips", "stack_limit", "stack_used", "steps", "suspended_waves", "threads", "total_shared", "turns",
        "used",
    )  # fmt: skip

    def __init__(
        self, kernel: LoadedKernel, grid: Dim3, block: Dim3, parameters: bytes, dynamic_shared: int, arena: Arena, profile: DeviceProfile,
        printer: Printer, heap: Heap, other_arenas: Sequence[Arena] = (), options: Options | None = None, number: int = 1,
        multicasts: Sequence[MulticastRange] = (), resources: Resources | None = None,
    ) -> None:  # fmt: skip
        o = options or Options()
        self.kernel, self.grid, self.block = kernel, grid, block
        self.arena, self.other_arenas, self.multicasts = arena, other_arenas, multicasts
        self.printer, self.heap = printer, heap
        self.resources: Resources = NoResources() if resources is None else resources
        self.options = o
        self.number: int = number
        self.name = kernel.name
        self.threads = block[0] * block[1] * block[2]
        self.blocks = grid[0] * grid[1] * grid[2]
        self.dynamic_shared: int = dynamic_shared
        self.total_shared: int = kernel.dynamic_start + dynamic_shared if dynamic_shared else kernel.static_shared
        self.shared_bytes = kernel.reserved_shared + self.total_shared
        self.stack_limit = o.stack_limit
        self.stack_used = 0  # bytes of a thread's stack, with the frames of calls that were not inlined
        self.max_warps: int = profile.max_warps
        self.multiprocessors: int = profile.multiprocessors
        self.explicit_cluster: bool = o.cluster is not None
        self.cluster: Dim3 = o.cluster or (1, 1, 1)
        self.cluster_size: int = self.cluster[0] * self.cluster[1] * self.cluster[2]
        self.clusters: Dim3 = (grid[0] // self.cluster[0], grid[1] // self.cluster[1], grid[2] // self.cluster[2])
        self.most_blocks_per_wave = self._most_blocks()  # that run together if the grid has enough of them
        self.blocks_per_wave = min(self.blocks, self.most_blocks_per_wave)
        self.lowering = lowering(profile.capability, o.lockstep, o.schedule is not None)
        self._memory = array("Q", parameters[: kernel.parameter_bytes] + kernel.behind_parameters)  # for compiled code, too
        self._parameter_block: int | None = None
        self._parameter_values: dict[tuple[int, str], Array] = {}
        self.assertions: list[str] = []
        self.slips: list[str] | None = [] if o.slips else None  # accesses behind the blocks' shared memory that passed, in words
        self.steps = 0
        self.epoch = 0  # the clock's cycles when it began
        self.used = EngineUse()
        self._deadline = None if o.max_seconds is None else time.monotonic() + o.max_seconds
        self.place: Callable[[], str] | None = None  # what it executes, as of the last look at the limits
        self.ended_blocks: Callable[[], int] = int  # 0 before it begins
        self.next_block = 0  # of those that have not started, nor been taken over
        self.suspended_waves = 0  # in which lanes only spin
        self.quiet_rounds = 0  # of spinning, in which nothing happened: see vector/waiting/deadlock.py
        self.turns = 0  # rounds of spinning in which no lane has ended or passed a barrier
        self.moves = 0  # how often spinning lanes turned out to get on

    # ------------------------------------------------------------ waves

    def _most_blocks(self) -> int:
        if self.options.cooperative:
            return self.blocks
        k = max(1, self.options.wave_lanes // self.threads)
        if self.shared_bytes:
            k = max(1, min(k, WAVE_SHARED // self.shared_bytes))
        return max(self.cluster_size, k // self.cluster_size * self.cluster_size)

    @property
    def has_more_waves(self) -> bool:
        """May a wave run beside the one that runs now?"""
        return self.next_block < self.blocks or self.suspended_waves > 0

    def gets_on(self) -> None:
        """Something has happened that spinning lanes may wait for."""
        self.quiet_rounds = 0
        self.moves += 1

    def check_limits(self, segments: int, where: Callable[[], str]) -> None:
        """Ends the launch when its steps or its time are used up; `where` says what it executes."""
        self.steps += segments
        self.place = where
        o = self.options
        if o.max_steps is not None and self.steps > o.max_steps:
            raise LimitReached(self.name, f"{o.max_steps} steps", where())
        if self._deadline is not None and self.is_late:
            raise LimitReached(self.name, f"{o.max_seconds} s", where())

    @property
    def is_late(self) -> bool:
        """Is its time used up?"""
        return self._deadline is not None and time.monotonic() > self._deadline

    def prolong(self, seconds: float) -> None:
        """What was not spent on the launch itself, but on its compilation, does not count towards its time."""
        if self._deadline is not None:
            self._deadline += seconds

    def progress(self) -> str:
        """How far it is, for people: `3 of 64 blocks have ended, at line 19, 1.2 M steps`."""
        n = self.steps
        steps = f"{n / 1e6:.1f} M" if n >= 1_000_000 else f"{n / 1e3:.0f} k" if n >= 1000 else str(n)
        blocks = f"{self.ended_blocks()} of {self.blocks} blocks have ended, " if self.blocks > 1 else ""
        return f"{blocks}{f'at {self.place()}, ' if self.place is not None else ''}{steps} steps"

    def close(self) -> None:
        """Frees the parameters' block, and lets go of what ran it."""
        self.place, self.ended_blocks = None, int
        if self._parameter_block is not None and (a := self.arena.find(self._parameter_block)) is not None:
            self.arena.free(a)

    # ------------------------------------------------------------ blocks

    def take_cluster(self) -> Dim3 | None:
        """The first block of a cluster that has not started, and now never will: running blocks do its work; None where all have started."""
        first = self.next_block
        if first >= self.blocks:
            return None
        self.next_block += self.cluster_size
        self.gets_on()
        x, y, z = (int(self.block_special(first, 1, f"ctaid.{axis}").item()) for axis in "xyz")
        return x, y, z

    @property
    def special_shape(self) -> object:
        """What special registers depend on, but for those that name the launch."""
        shared = self.dynamic_shared, self.total_shared
        return self.grid, self.block, self.cluster, self.explicit_cluster, shared, self.max_warps, self.multiprocessors

    def block_special(self, first: int, count: int, name: str) -> Array:
        """A per-block special register of some blocks, (blocks, 1)."""
        linear = self._linear(first, count)
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

    def _linear(self, first: int, count: int) -> Array:
        """The linear index in the grid of each of some blocks; the blocks of a cluster stand together."""
        n = np.arange(first, first + count, dtype=np.int64)
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

    # ------------------------------------------------------------ parameters and environment

    @property
    def parameters(self) -> Array:
        """The parameters' bytes, and more so that the widest load of one does not end behind them."""
        return np.frombuffer(self._memory, np.uint8)[:-CLOCK_BYTES]

    @property
    def clock(self) -> Array:
        """What the last reader of a clock saw: cycles since the launch began."""
        return np.frombuffer(self._memory, np.uint64)[-1:]

    @property
    def cycles(self) -> int:
        """The same as a number."""
        return self._memory[-1]

    @property
    def places(self) -> tuple[int, int]:
        """The addresses of the parameters' bytes and of the clock in this process."""
        at, words = self._memory.buffer_info()
        return at, at + CLOCK_BYTES * (words - 1)

    def param_place(self, v: Variable, offset: int) -> ParameterOffset:
        """The address of a parameter, as ld.param wants it."""
        return ParameterOffset(self.kernel.offsets[id(v)] + offset)

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

    @property
    def parameter_block(self) -> int:
        """The generic address of the parameters, whose block then stands in constant memory."""
        if self._parameter_block is None:
            a = self.arena.allocate(self.parameters.size, "kernel parameters", writable=False)
            self._parameter_block = a.start
            self.arena.bytes[a.start - self.arena.base :][: self.parameters.size] = self.parameters
        return self._parameter_block

    def param_address(self, v: Variable) -> int:
        """The generic address of a parameter."""
        return self.parameter_block + self.kernel.offsets[id(v)]

    def generic_parameter(self, a: Array) -> Array:
        """The generic address of an address in .param: it is the same, but 32 bits hold the lower half of it only."""
        if self._parameter_block is None:
            return a
        half, a = np.uint64(32), a.astype(np.uint64, copy=False)
        return np.where(a >> half == 0, a | np.uint64(self._parameter_block) >> half << half, a)

    def lies_in(self, a: Array, space: str) -> Array:
        """Which generic addresses lie in a space of NAMED."""
        out = np.zeros(a.shape, bool)
        for one in self.arena.named:
            if one.what.startswith(NAMED[space]):
                out |= (a >= np.uint64(one.start)) & (a < np.uint64(one.end))
        return out

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

    def definition_of(self, f: Function) -> Function:
        """See Program."""
        return self.kernel.program.definition(f)

    def function_at(self, address: int) -> Function | None:
        """See LoadedProgram."""
        return self.kernel.program.function_at(address)

    # ------------------------------------------------------------ words

    def name_fault(self, first: int, count: int, fault: Fault, lane: int) -> None:
        """Fills in which thread is at fault: a lane of the blocks of a wave."""
        block, thread = divmod(lane, self.threads)
        fault.kernel = self.name
        linear = int(self._linear(first, count)[block])
        gx, gy, _ = self.grid
        bx, by, _ = self.block
        fault.block = (linear % gx, linear // gx % gy, linear // (gx * gy))
        fault.thread = (thread % bx, thread // bx % by, thread // (bx * by))

    def locate(self, fault: Fault, site: Site) -> None:
        """Names the instruction in a fault."""
        fault.instruction, fault.line, fault.source = self.text_of(site), site.instruction.span.line, self.source_of(site)

    def text_of(self, site: Site | None) -> str:
        """An instruction as the text has it."""
        return "" if site is None else text_of(self.kernel.program.modules, site)

    def source_of(self, site: Site | None) -> str:
        """file:line of the .loc in force."""
        return "" if site is None else source_of(self.kernel.program.modules, site)

    def place_of(self, site: Site) -> str:
        """Where an instruction stands: `line 29`, or `kernel.cu:7, line 29`."""
        source = self.source_of(site)
        return f"{source}{', ' * bool(source)}line {site.instruction.span.line}"


def text_of(modules: Sequence[Module], site: Site) -> str:
    """An instruction as the text of one of the modules has it."""
    span = site.instruction.span
    for m in modules:
        piece = m.text[span.start : span.end]
        if site.instruction.opcode in piece:
            return " ".join(piece.split())
    return site.instruction.opcode


def source_of(modules: Sequence[Module], site: Site) -> str:
    """file:line of the source, see `source_place`."""
    place = source_place(modules, site)
    return "" if place is None else f"{place[0]}:{place[1]}" if place[0] else f"line {place[1]}"


def source_place(modules: Sequence[Module], site: Site) -> tuple[str, int] | None:
    """The file and the line of the .loc in force at an instruction; of inlined code, the innermost line in the file of the code around it.

    So an intrinsic of a compiler's header stands at the line that calls it, and a function of the same file at its own line.
    """
    if site.location is None:
        return None
    for m in modules:
        f = m.functions.get(site.function)
        if f is not None and f.body is not None:
            frames = _frames(f, site.location)
            shown = next(x for x in frames if x.file == frames[-1].file)
            return m.files.get(shown.file, ""), shown.line
    return "", site.location.line


def _frames(function: Function, location: Location) -> list[Location]:
    """A .loc, and those of the calls that it is inlined at: `inlined_at` names each by its file, line and column."""
    out = [location]
    before = [s for s in listing(function).statements if isinstance(s, Location)]
    while (call := out[-1].inlined_at) is not None:
        earlier = [s for s in before if s.span.start < out[-1].span.start and (s.file, s.line, s.column) == call]
        if not earlier:
            break
        out.append(earlier[-1])
    return out
