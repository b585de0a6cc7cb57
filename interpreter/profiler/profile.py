"""What a launch did, as frozen values: totals, instruction by instruction, line by line, allocation by allocation.

`KernelProfile.metrics` maps the names that Nsight Compute gives these counters to numbers; metrics.py explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property

from warplab.isa.occupancy import Occupancy
from warplab.isa.occupancy import waves as waves_of
from warplab.isa.profiles import DeviceProfile

from .launch_time import LaunchTime


@dataclass(frozen=True, slots=True)
class Sample:
    """One warp's addresses in an access: the worst of those that were seen. None where a lane was inactive."""

    addresses: tuple[int | None, ...]
    width: int
    count: int  # sectors or passes it took


@dataclass(frozen=True, slots=True)
class TexelSample:
    """The texels that one warp read or wrote with one instruction, of one level and slice: the worst of those that were seen."""

    width: int  # of the level
    height: int
    level: int
    slice: int
    cells: tuple[tuple[int, int, int], ...]  # (column, row, how often)
    count: int  # sectors of the warp's fetch, of all levels and slices


@dataclass(frozen=True, slots=True)
class AccessProfile:
    """What one instruction did to one memory space; for shared memory `units` are passes (wavefronts), else sectors or transactions."""

    space: str  # global shared local const texture surface
    kind: str  # ld st red atom
    width: int  # bytes per lane
    requests: int
    units: int
    ideal: int  # units had the lanes been neighbours
    conflicts: int
    hits: int  # sectors found in L1
    l2_sectors: int
    l2_hits: int
    lanes: int
    bytes: int  # that the lanes asked for
    moved: int  # that the transactions carried
    sample: Sample | None
    texels: TexelSample | None = None

    @property
    def excess(self) -> int:
        """Units beyond what was needed."""
        return max(0, self.units - self.ideal)


@dataclass(frozen=True, slots=True)
class BranchProfile:
    """Where the lanes of warps parted: how often, and which lanes (a bit each) took the branch, most frequent masks first."""

    executed: int
    divergent: int
    masks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SiteProfile:
    """One instruction of the program."""

    module: str  # a key of KernelProfile.texts
    function: str
    line: int  # of the PTX text, from 1
    column: int
    opcode: str
    text: str
    source: tuple[str, int] | None  # file and line of the .loc in force
    warps: int  # warp instructions executed
    threads: int
    active: int  # of those, threads that the guard let through
    issued: Mapping[
        str, int
    ]  # warp instructions of the machine code that ptxas makes of it, predicted, by class of throughput; "": of no class
    flops: Mapping[str, int]
    accesses: tuple[AccessProfile, ...] = ()
    branch: BranchProfile | None = None
    waits: Mapping[str, int] = field(default_factory=dict)  # barrier, lanes, cluster: how often a group had to wait for others
    events: Mapping[int, int] = field(default_factory=dict)  # by the number of the event of a pmevent: how many warps triggered it

    @property
    def machine(self) -> int:
        """Warp instructions of the machine code, predicted."""
        return sum(self.issued.values())

    @property
    def efficiency(self) -> float:
        """Threads that took part, of those the warps have room for."""
        return self.threads / (32 * self.warps) if self.warps else 0.0


@dataclass(frozen=True, slots=True)
class LineProfile:
    """The instructions of one line of a text, PTX or source."""

    line: int
    warps: int
    threads: int
    machine: int  # warp instructions of the machine code, predicted
    flops: int
    requests: int  # to global memory, textures and surfaces
    sectors: int
    ideal_sectors: int
    shared_passes: int
    shared_conflicts: int
    local_sectors: int
    divergent: int
    accesses: tuple[AccessProfile, ...]

    @property
    def efficiency(self) -> float:
        """Threads that took part, of those the warps have room for."""
        return self.threads / (32 * self.warps) if self.warps else 0.0


@dataclass(frozen=True, slots=True)
class AllocationProfile:
    """Global traffic of one allocation, in sectors (transactions on early devices)."""

    name: str
    start: int
    size: int
    loaded: int
    stored: int
    atomics: int
    hits: int


@dataclass(frozen=True, repr=False)
class KernelProfile:
    """One launch on one device."""

    kernel: str
    number: int
    device: DeviceProfile
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int  # estimated from live ranges
    static_shared: int
    dynamic_shared: int
    occupancy: Occupancy
    counted: Callable[[], tuple[SiteProfile, ...]] = field(compare=False)  # puts the counts of instructions together
    allocations: tuple[AllocationProfile, ...]
    timeline: tuple[tuple[int, int], ...]  # (warp instructions, thread instructions) of consecutive stretches of the launch
    idle_threads: int  # that never wrote anything: padding, if others did
    useful_arithmetic: float | None  # the part of the floating-point operations whose results are stored; None: not known
    dram_written: int  # sectors that became dirty in L2
    texts: Mapping[str, str]  # module -> its PTX text
    timed: Callable[[], LaunchTime] | None = field(default=None, compare=False)  # predicts how long it takes

    def __repr__(self) -> str:
        return f"<KernelProfile of {self.kernel}, {self.blocks} blocks of {self.block_threads} on {self.device.name}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelProfile):
            return NotImplemented
        names = [f.name for f in fields(self) if f.compare]
        return self.sites == other.sites and all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def time(self) -> LaunchTime | None:
        """How long the launch takes, predicted; None if nobody asked for it."""
        return None if self.timed is None else self.timed()

    @cached_property
    def sites(self) -> tuple[SiteProfile, ...]:
        """What each instruction did, in the order of the text; the kernel's own before those of functions."""
        return self.counted()

    # ------------------------------------------------------------ totals

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def block_threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def threads(self) -> int:
        """Threads of the launch."""
        return self.blocks * self.block_threads

    @property
    def warps_launched(self) -> int:
        """Warps of the launch."""
        return self.blocks * -(-self.block_threads // 32)

    @cached_property
    def instructions(self) -> int:
        """Warp instructions."""
        return sum(s.warps for s in self.sites)

    @cached_property
    def machine_instructions(self) -> int:
        """Warp instructions of the machine code that ptxas makes of the kernel for this device, predicted."""
        return sum(s.machine for s in self.sites)

    @cached_property
    def thread_instructions(self) -> int:
        """Thread instructions, whether the guard held or not."""
        return sum(s.threads for s in self.sites)

    @property
    def simt_efficiency(self) -> float:
        """Threads of an average warp instruction, of 32."""
        return self.thread_instructions / (32 * self.instructions) if self.instructions else 0.0

    @cached_property
    def flops(self) -> dict[str, int]:
        """Floating-point operations by type."""
        out: dict[str, int] = {}
        for s in self.sites:
            for t, n in s.flops.items():
                out[t] = out.get(t, 0) + n
        return out

    @cached_property
    def accesses(self) -> tuple[AccessProfile, ...]:
        """All accesses of all instructions."""
        return tuple(a for s in self.sites for a in s.accesses)

    def total(self, what: str, spaces: str, kinds: str = "ld st red atom") -> int:
        """The sum of one number of the accesses to some spaces."""
        return sum(getattr(a, what) for a in self.accesses if a.space in spaces.split() and a.kind in kinds.split())

    # ------------------------------------------------------------ intensity

    @property
    def global_bytes(self) -> int:
        """Bytes of global memory that the threads asked for."""
        return self.total("bytes", "global")

    @property
    def dram_bytes(self) -> int:
        """Bytes between the device's memory and its chip, caches cold at the start and written back at the end."""
        if not self.device.l2_cache:
            return self.total("moved", "global")
        return self.dram_read + 32 * self.dram_written

    @property
    def dram_read(self) -> int:
        """Bytes from the device's memory to its chip."""
        kinds = "ld red atom"
        if not self.device.l2_cache:
            return self.total("moved", "global", kinds)
        return 32 * (self.total("l2_sectors", "global bulk texture", kinds) - self.total("l2_hits", "global bulk texture", kinds))

    @property
    def intensity(self) -> float:
        """FLOP for each byte that the threads load from global memory: the course's compute-to-global-memory-access ratio."""
        loaded = self.total("bytes", "global bulk", "ld")
        return sum(self.flops.values()) / loaded if loaded else 0.0

    @property
    def dram_intensity(self) -> float:
        """FLOP for each byte that came from or went to the device's memory."""
        return sum(self.flops.values()) / self.dram_bytes if self.dram_bytes else 0.0

    @property
    def text_intensity(self) -> float:
        """FLOP for each byte of global memory that the threads load and store: what the text of the program asks for, without caches."""
        moved = self.total("bytes", "global bulk")
        return sum(self.flops.values()) / moved if moved else 0.0

    # ------------------------------------------------------------ quantization

    @property
    def waves(self) -> float:
        """How often the grid fills the device."""
        return waves_of(self.device, self.blocks, self.occupancy.blocks) if self.occupancy.blocks else 0.0

    @property
    def wave_efficiency(self) -> float:
        """The part of all places for blocks, over whole waves, that the grid fills."""
        whole = -(-self.blocks // max(1, self.occupancy.blocks * self.device.multiprocessors))
        return self.waves / whole if whole else 0.0

    @property
    def padding_lanes(self) -> int:
        """Lanes of the blocks' last warps that no thread has."""
        return self.warps_launched * 32 - self.threads

    @cached_property
    def metrics(self) -> dict[str, float]:
        """Nsight Compute's names (nvprof's for devices before 7.0, where they differ) and their values."""
        from .metrics import metrics_of

        return metrics_of(self)

    def lines(self, module: str | None = None) -> tuple[LineProfile, ...]:
        """By line of the PTX text, of one module or of all."""
        return by_line((s.line, s) for s in self.sites if module in (None, s.module))

    def source_lines(self) -> dict[str, tuple[LineProfile, ...]]:
        """By line of each source file that .loc names."""
        files = dict.fromkeys(s.source[0] for s in self.sites if s.source)
        return {f: by_line((s.source[1], s) for s in self.sites if s.source and s.source[0] == f) for f in files}

    def _repr_html_(self) -> str:
        """What notebooks show: the page that `show_with` was given, else the counters."""
        return _view[0](self) if _view else _plain(self)


_view: list[Callable[[KernelProfile], str]] = []


def show_with(view: Callable[[KernelProfile], str]) -> None:
    """Says how profiles look as HTML: pages belong to a layer above this one."""
    _view[:] = [view]


def _plain(p: KernelProfile) -> str:
    rows = "".join(f"<tr><td>{name}</td><td>{value:g}</td></tr>" for name, value in p.metrics.items() if value)
    return f"<table><caption>{p.kernel}</caption>{rows}</table>"


IN_SECTORS = ("global", "texture", "surface")  # spaces whose requests ask L1 for sectors


def by_line(sites: Iterable[tuple[int, SiteProfile]]) -> tuple[LineProfile, ...]:
    """Instructions gathered by a line number."""
    found: dict[int, list[SiteProfile]] = {}
    for line, site in sites:
        found.setdefault(line, []).append(site)
    return tuple(_line(n, found[n]) for n in sorted(found))


def _line(number: int, sites: list[SiteProfile]) -> LineProfile:
    accesses = tuple(a for s in sites for a in s.accesses)

    def total(what: str, *spaces: str) -> int:
        return sum(getattr(a, what) for a in accesses if a.space in spaces)

    return LineProfile(
        line=number,
        warps=sum(s.warps for s in sites),
        threads=sum(s.threads for s in sites),
        machine=sum(s.machine for s in sites),
        flops=sum(sum(s.flops.values()) for s in sites),
        requests=total("requests", *IN_SECTORS),
        sectors=total("units", *IN_SECTORS),
        ideal_sectors=total("ideal", "global"),
        shared_passes=total("units", "shared"),
        shared_conflicts=total("conflicts", "shared"),
        local_sectors=total("units", "local"),
        divergent=sum(s.branch.divergent for s in sites if s.branch),
        accesses=accesses,
    )
