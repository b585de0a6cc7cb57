"""Counts that grow while a launch runs, one of each instruction; frozen when it is over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .profile import AccessProfile, BranchProfile, Sample, SiteProfile

if TYPE_CHECKING:
    from ..launch import Launch
    from ..plan.plan import Site
    from ..program import Kernel

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
_known: WeakKeyDictionary[Kernel, dict[Site, Described]] = WeakKeyDictionary()
MANY = 1 << 16  # masks that may wait to be counted
MASKS = 8  # of a branch that a profile keeps


class AccessTally:
    """What one instruction did to one space."""

    __slots__ = ("bytes", "conflicts", "hits", "ideal", "l2", "l2_hits", "lanes", "moved", "requests", "sample", "units", "width")

    def __init__(self, width: int) -> None:
        self.width = width
        self.requests = self.units = self.ideal = self.conflicts = self.lanes = self.bytes = self.moved = 0
        self.hits = self.l2 = self.l2_hits = 0
        self.sample: tuple[Index, Flags, int] | None = None


class SiteTally:
    """What one instruction did."""

    __slots__ = (
        "accesses",
        "active",
        "divergent",
        "flops",
        "masks",
        "parted",
        "plain",
        "shared_width",
        "site",
        "special",
        "threads",
        "waiting",
        "waits",
        "warps",
    )

    def __init__(self, site: Site, flops: tuple[str, float] | None, special: bool, plain: bool) -> None:
        self.site = site
        self.flops = flops
        self.special = special  # fences and copies, which need a look at each execution
        self.plain = plain  # a load or store that makes one access of its own
        self.warps = self.threads = self.active = self.divergent = 0
        self.masks: dict[int, int] = {}
        self.parted: list[tuple[NDArray[np.uint32], int]] = []
        self.waiting = 0  # masks in `parted`
        self.waits: dict[str, int] = {}
        self.accesses: dict[tuple[str, str], AccessTally] = {}

    def part(self, masks: NDArray[np.uint32], times: int) -> None:
        """Notes the lanes of each warp that took a branch; they are counted later, many at once."""
        self.parted.append((masks, times))
        self.waiting += masks.size
        if self.waiting > MANY:
            self.count_masks()

    def count_masks(self) -> None:
        """Counts the masks that were noted."""
        for times in {t for _, t in self.parted}:
            masks, counts = np.unique(np.concatenate([m for m, t in self.parted if t == times]), return_counts=True)
            for m, c in zip(masks.tolist(), counts.tolist(), strict=True):
                self.masks[m] = self.masks.get(m, 0) + c * times
        self.parted.clear()
        self.waiting = 0

    def access(self, space: str, kind: str, width: int) -> AccessTally:
        """The tally of one space and kind."""
        found = self.accesses.get((space, kind))
        if found is None:
            found = self.accesses[space, kind] = AccessTally(width)
        return found

    def count(
        self, space: str, kind: str, width: int, *, lanes: int, requests: int, units: int, ideal: int, conflicts: int = 0, moved: int = 0
    ) -> AccessTally:  # fmt: skip
        """Adds one access of a group to memory without caches."""
        a = self.access(space, kind, width)
        a.requests += requests
        a.units += units
        a.ideal += ideal
        a.conflicts += conflicts
        a.lanes += lanes
        a.bytes += lanes * width
        a.moved += moved
        return a

    def frozen(self, said: Described) -> SiteProfile:
        """The counts as values, with what is said of the instruction."""
        if self.parted:
            self.count_masks()
        branch = None
        if said.conditional or self.divergent:
            branch = BranchProfile(self.warps, self.divergent, tuple(sorted(self.masks.items(), key=lambda m: -m[1])[:MASKS]))
        return SiteProfile(
            said.module,
            self.site.function,
            said.line,
            said.column,
            self.site.instruction.opcode,
            said.text,
            said.source,
            self.warps,
            self.threads,
            self.active,
            {self.flops[0]: round(self.flops[1] * self.active)} if self.flops else {},
            tuple([_frozen(space, kind, a) for (space, kind), a in self.accesses.items()]) if self.accesses else (),
            branch,
            dict(self.waits),
        )


@dataclass(frozen=True, slots=True)
class Described:
    """What does not change from launch to launch."""

    module: str
    line: int
    column: int
    text: str
    source: tuple[str, int] | None  # file and line that a .loc names
    conditional: bool  # a branch under a guard


def descriptions(sites: Iterable[Site], launch: Launch) -> Mapping[Site, Described]:
    """What is said of some instructions, and of others of the kernel."""
    known = _known.setdefault(launch.kernel, {})
    for site in sites:
        if site not in known:
            known[site] = _described(site, launch)
    return known


def _described(site: Site, launch: Launch) -> Described:
    i, modules = site.instruction, launch.kernel.program.modules
    home = next((m.name for m in modules if (f := m.functions.get(site.function)) is not None and f.body is not None), "")
    source = None
    if site.location is not None:
        file, _, _ = launch.source_of(site).rpartition(":")
        source = (file, site.location.line)
    conditional = i.guard is not None and i.form is not None and i.form.effect == "branch"
    return Described(home, i.span.line, i.span.column, launch.text_of(site), source, conditional)


def _frozen(space: str, kind: str, a: AccessTally) -> AccessProfile:
    sample = None
    if a.sample is not None:
        where, active, count = a.sample
        places = where.tolist()
        if not active.all():
            places = [x if on else None for x, on in zip(places, active.tolist(), strict=True)]
        sample = Sample(tuple(places), a.width, count)
    return AccessProfile(
        space, kind, a.width, a.requests, a.units, a.ideal, a.conflicts, a.hits, a.l2, a.l2_hits, a.lanes, a.bytes, a.moved, sample
    )
