"""Races in words: both accesses, the array by name, and what would have ordered them."""

from __future__ import annotations

from typing import Any

import numpy as np

from warplab.isa.types import TYPES

from ...faults import Fault
from ...launch import Launch
from ...memory.objects import nearest
from ...memory.spaces import ArenaSpace
from ...observe import Access
from ...plan.plan import Site
from ...values import Array
from ...vector.ports import WavePort
from ..findings import Finding, Findings
from .cells import BLOCK, COPY, GRID, LEVEL_AT, LOW, MIXED, NUMBER, THREAD, WARP, Cells, Shadow
from .kinds import CLUSTER, CTA, SCOPE_NAMES, Kind
from .order import NumberedLanes, Order

Dim3 = tuple[int, int, int]


class Reporter:
    """Adds races to the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.sites: list[Site] = []
        self.kinds: list[Kind] = []
        self.launch: Launch
        self.order: Order
        self._launches: list[tuple[int, Launch]] = []
        self._narrow: dict[int, tuple[int, Site, int]] = {}  # block -> an acquire that was, or whose release was, too narrow
        self._wave: WavePort | None = None

    def begin(self, launch: Launch, order: Order) -> None:
        """A launch starts."""
        self.launch, self.order = launch, order
        self._narrow.clear()

    def wave(self, wave: WavePort) -> None:
        """Some blocks start."""
        self._wave = wave

    def narrow(self, block: int, scope: int, site: Site, line: int) -> None:
        """A block has read what was released at a line at a narrow scope, or has acquired at one."""
        self._narrow[block] = scope, site, line

    def morally_strong(self, kind: Kind, size: int, access: str, sites: Array, stamp: Array, block: Array) -> Array:
        """Which of these strong accesses are in each other's scope, and of the same bytes?"""
        out = np.ones(sites.size, bool)
        low = (stamp & LOW).astype(np.int64)
        level, number = low >> LEVEL_AT, low & NUMBER
        per = np.where(level == THREAD, self.order.threads, np.where(level == WARP, self.order.per_block, 1))
        theirs = np.where((level == BLOCK) & (number == GRID), -1, number // per)
        copied = level == COPY
        if copied.any():
            theirs[copied] = self.order.copies.thread[number[copied]] // self.order.threads
        sites = sites & np.uint16(MIXED - 1)
        for n in np.unique(sites).tolist():
            here = sites == n
            other = self.kinds[n - 1]
            scope = min(kind.scope, other.scope)
            if scope == CTA:
                out[here] = (theirs == block)[here]
            elif scope == CLUSTER:
                out[here] = (theirs // self.launch.cluster_size == block // self.launch.cluster_size)[here]
            if not (other.strong or other.mbarrier) or _size(self.sites[n - 1]) not in (size, 0):
                out[here] = False
        return out

    def race(
        self, a: Access, what: str, other: str, shadow: Shadow, cells: Cells, i: Array, index: Array, u: NumberedLanes, equal: bool,
        within: bool = False, proxy: bool = False,
    ) -> None:  # fmt: skip
        """Lanes of an access race with records of earlier ones, or with each other."""
        sites = cells.site[i[index]]
        for n in np.unique(sites).tolist():
            here = index[sites == n]
            j = int(here[0])
            site, stamp = (n & ~MIXED, int(cells.stamp[i[j]])) if n < MIXED else self._part(cells, int(i[j]), u.take(here[:1]), n & ~MIXED)
            self._one(a, what, other, shadow, self.sites[site - 1], stamp, int(i[j]) * shadow.unit, j, u, here.size, equal, proxy)

    def _part(self, cells: Cells, unit: int, lane: NumberedLanes, last: int) -> tuple[int, int]:
        """The instruction, and the stamp, of an access in a record of several that is not ordered before a lane."""
        for stamp, mask, sites in cells.parts(unit):
            bad = np.flatnonzero(self.order.unordered(stamp, mask, lane.take(np.zeros(stamp.size, np.int64))))
            if bad.size:
                return int(sites[bad[-1]]), int(stamp[bad[-1]])
        return last, int(cells.stamp[unit])

    def _one(
        self, a: Access, what: str, other: str, shadow: Shadow, site: Site, stamp: int, offset: int, j: int, u: NumberedLanes, count: int, equal: bool,
        proxy: bool,
    ) -> None:  # fmt: skip
        launch = self.launch
        writes = "write" in what or what == "copied to", "write" in other or other == "copied to"
        kind = "write-write" if all(writes) else "read-write"
        thread = int(u.thread[j])
        block, at = self._who(thread)
        time, who = stamp >> 32, stamp & 0xFFFFFFFF
        level, number = who >> LEVEL_AT, who & NUMBER
        earlier = time <= self._start()
        other_thread = self._thread_of(level, number)
        other_block, other_at = (None, None) if earlier or other_thread is None else self._who(other_thread)
        line, other_line = a.site.instruction.span.line, site.instruction.span.line
        size = a.type.bytes * a.count
        address, nearby = self._place(a, shadow, offset, u, j)
        reason, help_ = self._reason(what, other, line, other_line, thread, other_thread, level, number, earlier, proxy, site, a)
        if _is_guess(a.site, site) or _is_guess(site, a.site):
            equal, reason = True, "a plain load guesses what compare-and-swap then finds or does not"
        verb = "writes" if writes[0] else "reads"
        before = "wrote" if writes[1] else "read"
        message = f"line {line} {verb} {size} byte{'' if size == 1 else 's'} that line {other_line} {before}: {reason}"
        if equal and all(writes):
            message = f"line {line} writes the value that line {other_line} wrote: {reason}"
        self.findings.add(
            Finding(
                "racecheck", kind, message, shadow.name, line, other_line, launch.name, block, at, other_block, other_at,
                address=address, size=size, severity="info" if equal else "error", count=count, instruction=launch.text_of(a.site),
                source=launch.source_of(a.site), other_instruction=launch.text_of(site), other_source=launch.source_of(site),
                nearby=nearby, help="" if equal else help_,
            )
        )  # fmt: skip

    def _start(self) -> int:
        return self.order.start

    def _thread_of(self, level: int, number: int) -> int | None:
        """A thread that a record stands for."""
        if level == THREAD:
            return number
        if level == COPY:
            return int(self.order.copies.thread[number])
        if level == WARP:
            return number // self.order.per_block * self.order.threads + number % self.order.per_block * 32
        return None if number == GRID else number * self.order.threads

    def _who(self, thread: int) -> tuple[Dim3 | None, Dim3 | None]:
        fault = Fault("", "")
        block, t = divmod(thread, self.order.threads)
        self.launch.name_fault(block, 1, fault, t)
        return fault.block, fault.thread

    def _place(self, a: Access, shadow: Shadow, offset: int, u: NumberedLanes, j: int) -> tuple[int, str]:
        wave: Any = a.group.wave
        if shadow.name == "shared":
            address = offset % wave.shared.stride
            return address, nearest(wave.shared.objects, address)
        address = shadow.origin + offset
        space = next((s for s in (wave.access.device, *wave.access.others) if _holds(s, address)), None)
        return address, space.near(address) if space is not None else ""

    def _reason(
        self, what: str, other: str, line: int, other_line: int, thread: int, other_thread: int | None, level: int, number: int, earlier: bool,
        proxy: bool, site: Site, a: Access,
    ) -> tuple[str, str]:  # fmt: skip
        threads = self.order.threads
        between = f"between line {other_line} and line {line}"
        if proxy:
            return (
                f"no fence.proxy.async {between}: the copy does not see plain stores without one",
                "execute fence.proxy.async after the stores, before the barrier and the copy",
            )
        if earlier:
            return (
                "the two launches are on streams that nothing orders",
                "launch both on one stream, or record an event after the first and wait for it on the other stream",
            )
        if "copied" in what or "copied" in other:
            copy = line if "copied" in what else other_line
            return (
                f"the asynchronous copy of line {copy} is not known to be complete, or was issued before, {between}",
                "wait for the copy (wait_group, or the mbarrier that it tells), and then let other threads pass a barrier",
            )
        if other_thread is not None and thread // threads == other_thread // threads:
            same_warp = thread % threads // 32 == other_thread % threads // 32
            if same_warp and level <= WARP:
                return f"no bar.warp.sync and no barrier {between}", "put bar.warp.sync (__syncwarp) between the two"
            return f"no barrier {between}", "put bar.sync (__syncthreads) between the two; every thread must reach it"
        if what.startswith("strong") and other.startswith("strong"):
            scope = min((self.kinds[self.sites.index(s)].scope for s in (site, a.site)), default=0)
            return (
                f"one of the two is of scope {SCOPE_NAMES[scope]}, and the other thread is not in that scope, or their sizes differ",
                "give both a scope that includes both threads, such as .gpu",
            )
        found = self._narrow.get(thread // threads)
        if found is not None:
            scope, acquire, released = found
            if released:
                return (
                    f"the release at line {released} is of a scope narrower than gpu, and the reader is in another block",
                    "release at .gpu scope",
                )
            return (
                f"the acquire at line {acquire.instruction.span.line} is of scope {SCOPE_NAMES[scope]}, and the writer is in another block",
                "acquire at .gpu scope",
            )
        if what.startswith("strong") != other.startswith("strong"):
            return (
                f"one of the two is a plain access, which strong ones do not protect, and nothing orders the blocks {between}",
                "make both accesses strong, or order them with a release and an acquire at .gpu scope, or with two launches",
            )
        return (
            f"nothing orders the blocks {between}: bar.sync joins the threads of one block",
            "release with a fence and a strong store, acquire with a strong load and a fence, both at .gpu scope, or use two launches",
        )


def _holds(space: ArenaSpace, address: int) -> bool:
    return space.arena.find(address) is not None


def _is_guess(load: Site, atomic: Site) -> bool:
    """Does a plain load give the value that a compare-and-swap compares with?"""
    if "cas" not in atomic.instruction.modifiers or len(atomic.instruction.operands) < 3:
        return False
    form = load.instruction.form
    return form is not None and form.facts.access == "load" and load.instruction.operands[0] == atomic.instruction.operands[2]


def _size(site: Site) -> int:
    """Bytes of an element that a strong access has."""
    types = [TYPES[w].bytes for w in site.instruction.modifiers if w in TYPES]
    return types[-1] if types else 0
