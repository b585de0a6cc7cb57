"""Counts that grow while a launch runs, one of each instruction; frozen when it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Immediate, Module

from ..launch import source_place, text_of
from ..plan.plan import Site
from ..values import Array
from .lanes import WarpLanes
from .sites import AccessProfile, BranchProfile, Sample, SiteProfile, TexelSample

if TYPE_CHECKING:
    from ..observe import ObservedLanes

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
MANY = 1 << 16  # masks of branches that are counted at once
EVENTS = 16  # that pmevent can trigger
MASKS = 8  # of a branch that a profile keeps


class AccessTally:
    """What one instruction did to one space."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.requests = self.units = self.ideal = self.conflicts = self.lanes = self.bytes = self.moved = 0
        self.hits = self.l2 = self.l2_hits = 0
        self.sample: tuple[Index, Flags, int] | None = None
        self.texels: TexelSample | None = None

    def keep_worst(self, lanes: WarpLanes, start: int, warp: int, units: int) -> None:
        """Keeps the addresses of a warp, `start` bytes further on, if it is the worst one so far."""
        if self.sample is None or units > self.sample[2]:
            active = np.ones(lanes.full.shape[1], np.bool_) if lanes.active is None else lanes.active[warp].copy()
            self.sample = lanes.full[warp] + start, active, units


class SiteTally:
    """What one instruction did."""

    def __init__(self, site: Site, flops: tuple[str, float] | None, special: bool, plain: bool) -> None:
        self.site = site
        self.flops = flops
        self.special = special  # fences, copies and matrix instructions, each execution of which is announced
        self.plain = plain  # a load or store that makes one access of its own
        self.warps = self.threads = self.active = self.divergent = 0
        self.masks: dict[int, int] = {}
        self.parted: list[tuple[NDArray[np.uint32], int]] = []
        self.waiting = 0  # masks in `parted`
        self.waits: dict[str, int] = {}
        self.events = _events(site)
        self.guarded_warps = 0  # that no lane of which the guard of a pmevent let through
        self.accesses: dict[tuple[str, str], AccessTally] = {}

    def part(self, masks: NDArray[np.uint32], times: int) -> None:
        """Keeps the lanes of each warp that took a branch; they are counted later, many at once."""
        self.parted.append((masks, times))
        self.waiting += masks.size
        if self.waiting > MANY:
            self.count_masks()

    def count_masks(self) -> None:
        """Counts the masks that were kept."""
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
        """Adds one access of a group; what the caches find is added later."""
        a = self.access(space, kind, width)
        a.requests += requests
        a.units += units
        a.ideal += ideal
        a.conflicts += conflicts
        a.lanes += lanes
        a.bytes += lanes * width
        a.moved += moved
        return a

    def frozen(self, modules: Sequence[Module], issued: Mapping[str, int]) -> SiteProfile:
        """The counts as values, with what the text says of the instruction, and the machine instructions issued for it."""
        if self.parted:
            self.count_masks()
        site, i = self.site, self.site.instruction
        home = next((m.name for m in modules if (f := m.functions.get(site.function)) is not None and f.body is not None), "")
        branch = None
        if self.divergent or (i.guard is not None and i.form is not None and i.form.effect == "branch"):
            branch = BranchProfile(self.warps, self.divergent, tuple(sorted(self.masks.items(), key=lambda m: -m[1])[:MASKS]))
        return SiteProfile(
            module=home,
            function=site.function,
            line=i.span.line,
            column=i.span.column,
            opcode=i.opcode,
            text=text_of(modules, site),
            source=source_place(modules, site),
            warps=self.warps,
            threads=self.threads,
            active=self.active,
            issued=issued,
            flops={self.flops[0]: round(self.flops[1] * self.active)} if self.flops else {},
            accesses=tuple(_frozen(space, kind, a) for (space, kind), a in self.accesses.items()),
            branch=branch,
            waits=dict(self.waits),
            events=dict.fromkeys(self.events, self.warps - self.guarded_warps),
        )


def _events(site: Site) -> tuple[int, ...]:
    """The numbers of the events that a pmevent triggers."""
    i = site.instruction
    if i.form is None or not i.form.facts.triggers_events:
        return ()
    assert isinstance(i.operands[0], Immediate)
    n = int(i.operands[0].value)
    return tuple(bit for bit in range(EVENTS) if n >> bit & 1) if "mask" in i.modifiers else (n,)


@dataclass(frozen=True, slots=True)
class Operation:
    """One access as it is counted: whose, of which kind and width; `operands` of an atomic operation."""

    tally: SiteTally
    group: ObservedLanes
    kind: str  # ld st red atom
    width: int  # bytes per lane
    operands: Sequence[Array]


def _frozen(space: str, kind: str, a: AccessTally) -> AccessProfile:
    sample = None
    if a.sample is not None:
        where, active, count = a.sample
        places = where.tolist()
        if not active.all():
            places = [x if on else None for x, on in zip(places, active.tolist(), strict=True)]
        sample = Sample(tuple(places), a.width, count)
    return AccessProfile(
        space,
        kind,
        a.width,
        a.requests,
        a.units,
        a.ideal,
        a.conflicts,
        a.hits,
        a.l2,
        a.l2_hits,
        a.lanes,
        a.bytes,
        a.moved,
        sample,
        a.texels,
    )
