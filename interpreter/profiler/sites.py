"""What the instructions of a launch did, as frozen values: instruction by instruction, line by line, allocation by allocation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


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
