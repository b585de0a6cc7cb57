"""Races in words: both accesses, the array by name, and what would have ordered them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warplab.assembler.flow import flow
from warplab.assembler.ir import Function, Instruction, Module
from warplab.isa.types import TYPES

from ...faults import Fault
from ...launch import Launch, source_of
from ...memory.arena import Arena
from ...memory.objects import nearest
from ...memory.spaces import ArenaSpace
from ...plan.plan import Site
from ...values import Array
from ..findings import Finding, Findings, Key, key_of
from .advice.barriers_wanted import WantedBarrier, proposals
from .advice.guesses import Guesses
from .advice.reasons import Narrow, RacingPair
from .advice.updates import Updates
from .order.happens_before import Order
from .order.memory_order import CLUSTER, CTA, Kind
from .records.look import Look
from .records.shadow_memory import BLOCK, COPY, GRID, HALF, LEVEL_AT, LOW, MIXED, NUMBER, THREAD, WARP, WRITES, Cells, Shadow

LANES_TRIED = 64  # of one instruction that race with records of several threads
Dim3 = tuple[int, int, int]


class Reporter:
    """Adds races to the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.sites: list[Site] = []
        self.kinds: list[Kind] = []
        self.launch: Launch
        self.order: Order
        self._narrow: dict[int, Narrow] = {}  # by block
        self._guesses, self._updates = Guesses(), Updates()
        self._wanted: dict[tuple[str, int], tuple[Function, Sequence[Module], dict[Key, WantedBarrier]]] = {}  # by kernel and function

    def begin(self, launch: Launch, order: Order) -> None:
        """A launch starts."""
        self.launch, self.order = launch, order
        self._narrow.clear()

    def narrow(self, block: int, scope: int, site: Site, line: int) -> None:
        """A block has read what was released at a line at a narrow scope, or has acquired at one."""
        self._narrow[block] = Narrow(scope, site.instruction.span.line, line)

    def morally_strong(self, kind: Kind, size: int, sites: Array, stamp: Array, mask: Array | None, block: Array) -> Array:
        """Which of these strong accesses are in each other's scope, and of the same bytes?"""
        out = np.ones(sites.size, bool)
        low = (stamp & LOW).astype(np.int64)
        level, number = low >> LEVEL_AT, low & NUMBER
        per = np.where(level == THREAD, self.order.threads, np.where(level == WARP, self.order.per_block, 1))
        theirs = np.where((level == BLOCK) & (number == GRID), -1, number // per)
        of_launch = (stamp >> HALF).astype(np.int64) >= self.order.start  # others have blocks of the same numbers
        copied = level == COPY
        if copied.any():
            theirs[copied] = self.order.copies.thread[number[copied]] // self.order.threads
        sites = sites & np.uint16(MIXED - 1)
        for n in np.unique(sites).tolist():
            here = sites == n
            other = self.kinds[n - 1]
            scope = min(kind.scope, other.scope)
            if scope == CTA:
                out[here] = (of_launch & (theirs == block))[here]
            elif scope == CLUSTER:
                cluster = theirs // self.launch.cluster_size
                if mask is not None and self.launch.cluster_size > 1:  # that of a record of several blocks names the cluster of all
                    cluster = np.where(theirs < 0, mask.astype(np.int64) - 1, cluster)
                out[here] = (of_launch & (cluster == block // self.launch.cluster_size))[here]
            if not (other.strong or other.mbarrier) or _size(self.sites[n - 1]) not in (size, 0):
                out[here] = False
        return out

    def as_wide(self, kind: Kind, size: int, sites: Array) -> Array:
        """Which of these instructions have the bytes of a strong access, and its scope at least?"""
        known, where = np.unique(sites, return_inverse=True)
        wide = [n < MIXED and self.kinds[n - 1].scope >= kind.scope and _size(self.sites[n - 1]) in (size, 0) for n in known.tolist()]
        return np.array(wide, bool)[where]

    def add(self, site: Site, kind: Kind) -> int:
        """One more instruction, and its number in records."""
        self.sites.append(site)
        self.kinds.append(kind)
        return len(self.sites)

    def race(self, look: Look, other: str, cells: Cells, i: Array, index: Array, equal: bool, proxy: bool = False) -> None:
        """Lanes of an access race with records of earlier ones, or with each other."""
        sites = cells.site[i[index]]
        for n in np.unique(sites).tolist():
            here = index[sites == n]
            if n < MIXED:
                j, site, stamp, mask = int(here[0]), n, int(cells.stamp[i[here[0]]]), cells.mask_at(int(i[here[0]]))
            else:
                found = self._part(look, other, cells, i, here[:: max(1, here.size // LANES_TRIED)])
                if found is None:
                    continue
                j, site, stamp, mask = found
            other_thread = self._thread_of(look, j, stamp, cells.names_at(int(i[j])), mask)
            cross = self._cross_warps(look, cells, i, here)
            self._one(look, other, self.sites[site - 1], stamp, other_thread, j, here.size, equal, proxy, cross)

    def lockstep(self, look: Look, cells: Cells, i: Array, index: Array, other: Site) -> None:
        """Lanes of a warp access what other lanes of it access, and only lockstep would order them."""
        launch, a, unit = self.launch, look.access, int(i[index[0]])
        block, thread = self._who(int(look.lanes.thread[index[0]]))
        mate = self._thread_of(look, int(index[0]), int(cells.stamp[unit]), (), cells.mask_at(unit))
        other_block, other_thread = (None, None) if mate is None else self._who(mate)
        line, other_line = a.site.instruction.span.line, other.instruction.span.line
        verb, before = ("reads", "wrote") if a.kind == "ld" else ("writes", "read")
        address, nearby = self._place(look, int(look.offset[index[0]]) + look.part * look.shadow.unit)
        self.findings.add(
            Finding(
                "racecheck", "lockstep",
                f"line {line} {verb} what another lane {before} at line {other_line}: ordered only by lockstep, which ended with sm_70",
                look.shadow.name, line, other_line, launch.name, block, thread, other_block, other_thread, address=address,
                size=a.type.bytes * a.count, count=index.size, instruction=launch.text_of(a.site), source=launch.source_of(a.site),
                other_instruction=launch.text_of(other), other_source=launch.source_of(other), nearby=nearby,
                help="put bar.warp.sync (__syncwarp) between the two: volatile does not make lanes wait for each other",
            )
        )  # fmt: skip

    def copied(self, number: int, shadow: Shadow, what: str, writes: bool, offset: int, arena: Arena) -> None:
        """The host, or a copy of a stream, accesses what an instruction of a launch that need not be over accesses."""
        site, address = self.sites[number - 1], shadow.origin + offset
        wrote = what in WRITES
        line = site.instruction.span.line
        self.findings.add(
            Finding(
                "racecheck", "write-write" if writes and wrote else "read-write",
                f"a copy, a memset or the host {'writes' if writes else 'reads'} what line {line} {'wrote' if wrote else 'read'}: "
                "nothing orders it behind the launch",
                shadow.name, line, None, self.launch.name, None, None, address=address, size=shadow.unit,
                instruction=self.launch.text_of(site), source=self.launch.source_of(site), nearby=arena.nearest(address, shadow.unit),
                help="wait for the launch's stream or an event behind it, or do both on one stream",
            )
        )  # fmt: skip

    def _part(self, look: Look, other: str, cells: Cells, i: Array, lanes: Array) -> tuple[int, int, int, int] | None:
        """One of these lanes, and the instruction, the stamp and the mask of an access in a record of several that it races with."""
        last = None
        for unit in dict.fromkeys(i[lanes].tolist()):
            stamp, mask, sites = cells.parts(unit, self.order.start)
            if not stamp.size:
                continue
            here = lanes[i[lanes] == unit]
            each = np.tile(np.arange(stamp.size), here.size)  # each lane with each part
            own = look.lanes.take(np.repeat(here, stamp.size))
            bad = np.ones(each.size, bool)
            if look.strong and other.startswith(("strong", "copied to")):
                bad = ~self.morally_strong(look.kind, look.access.type.bytes, sites[each], stamp[each], mask[each], own.block)
            some = np.flatnonzero(bad)
            bad[some] = ~self.order.happens_before(stamp[each[some]], mask[each[some]], own.take(some), shared=look.in_shared)
            if bad.any():
                first = int(np.flatnonzero(bad)[0]) // stamp.size
                n = int(np.flatnonzero(bad[first * stamp.size : (first + 1) * stamp.size])[-1])
                return int(here[first]), int(sites[n]), int(stamp[n]), int(mask[n])
            last = int(here[-1]), int(sites[0]), int(stamp[0]), int(mask[0])
        return last if cells.forgot else None

    def _cross_warps(self, look: Look, cells: Cells, i: Array, here: Array) -> bool:
        """Does any of these pairs of threads lie in two warps?"""
        low = (cells.stamp[i[here]] & LOW).astype(np.int64)
        level, number = low >> LEVEL_AT, low & NUMBER
        threads = self.order.threads
        warp = np.where(
            level == THREAD, number // threads * self.order.per_block + number % threads // 32, np.where(level == WARP, number, -1)
        )
        return bool((warp != look.lanes.warp[here]).any())

    def _one(
        self, look: Look, other: str, site: Site, stamp: int, other_thread: int | None, j: int, count: int, equal: bool, proxy: bool, cross: bool
    ) -> None:  # fmt: skip
        launch, a, what, shadow = self.launch, look.access, look.what, look.shadow
        writes = what in WRITES, other in WRITES
        kind = "write-write" if all(writes) else "read-write"
        thread = int(look.lanes.thread[j])
        block, at = self._who(thread)
        earlier = stamp >> 32 <= self.order.start
        other_block, other_at = (None, None) if earlier or other_thread is None else self._who(other_thread)
        line, other_line = a.site.instruction.span.line, site.instruction.span.line
        size = a.type.bytes * a.count
        address, nearby = self._place(look, int(look.offset[j]) + look.part * shadow.unit)
        same_block = other_thread is not None and thread // self.order.threads == other_thread // self.order.threads
        narrow = self._narrow.get(thread // self.order.threads)
        function = launch.kernel.program.functions[a.site.function]
        update = self._updates.with_both(function, a.site.instruction, site.instruction) if a.site.function == site.function else None
        pair = RacingPair(
            what, other, a.site, site, look.kind, self.kinds[self.sites.index(site)], same_block, cross, earlier, proxy, narrow,
            shadow.name, update, a.site.instruction is site.instruction and _is_in_loop(function, site.instruction),
        )  # fmt: skip
        reason, help_ = pair.reason()
        equal = equal and update is None  # of two that find the same, one update is lost
        if self._is_guess(a.site, site) or self._is_guess(site, a.site):
            equal, reason = True, "a plain load guesses what compare-and-swap then finds or does not"
        verb = "writes" if writes[0] else "reads"
        before = "wrote" if writes[1] else "read"
        message = f"line {line} {verb} {size} byte{'' if size == 1 else 's'} that line {other_line} {before}: {reason}"
        if equal and all(writes):
            message = f"line {line} writes the value that line {other_line} wrote: {reason}"
        finding = Finding(
            "racecheck", kind, message, shadow.name, line, other_line, launch.name, block, at, other_block, other_at,
            address=address, size=size, severity="info" if equal else "error", count=count, instruction=launch.text_of(a.site),
            source=launch.source_of(a.site), other_instruction=launch.text_of(site), other_source=launch.source_of(site),
            nearby=nearby, help="" if equal else help_,
        )  # fmt: skip
        self.findings.add(finding)
        if pair.wants_barrier and not equal and a.site.function == site.function:
            self._want(function, WantedBarrier(key_of(finding), site.instruction, a.site.instruction, not cross))

    def _want(self, function: Function, wanted: WantedBarrier) -> None:
        """Keeps a pair that a barrier of the function would order."""
        modules = self.launch.kernel.program.modules
        _, _, pairs = self._wanted.setdefault((self.launch.name, id(function)), (function, modules, {}))
        before = pairs.get(wanted.finding)
        pairs[wanted.finding] = wanted if before is None else replace(before, in_warp=before.in_warp and wanted.in_warp)

    def finish(self) -> None:
        """All pairs are known: each finding names the barrier that orders most of them."""
        for function, modules, pairs in self._wanted.values():
            for p in proposals(flow(function), pairs.values()):
                name = "bar.warp.sync (__syncwarp)" if p.of_warp else "bar.sync (__syncthreads)"
                source = source_of(modules, Site(p.before, p.location, function.name))
                place = f"before line {p.before.span.line}" + (f" ({source})" if source else "")
                several = f", which orders {len(p.pairs)} of these pairs" if len(p.pairs) > 1 else ""
                for w in p.pairs:
                    self.findings.advise(
                        w.finding, f"put {name} {place}{several}; every thread{' of the warp' if p.of_warp else ''} must reach it"
                    )

    def _is_guess(self, load: Site, atomic: Site) -> bool:
        """Does a plain load only guess what a compare-and-swap compares with, while an atomic operation writes?"""
        form = atomic.instruction.form
        if form is None or form.facts.access != "atomic":
            return False
        return self._guesses.has(self.launch.kernel.program.functions[load.function], load.instruction)

    def _thread_of(self, look: Look, j: int, stamp: int, named: Sequence[int], mask: int) -> int | None:
        """A thread that a record stands for, and that nothing orders before a lane: of several threads one that is known by name."""
        level, number = (stamp & 0xFFFFFFFF) >> LEVEL_AT, stamp & NUMBER
        if level == THREAD:
            return number
        if level == COPY:
            return int(self.order.copies.thread[number])
        if level == WARP:
            first = number // self.order.per_block * self.order.threads + number % self.order.per_block * 32
            named = [first + lane for lane in range(32) if mask >> lane & 1] or named
        own = int(look.lanes.thread[j])
        others = [t for t in named if t != own]
        if not others:
            return None
        each = np.array(others, np.uint64) | np.uint64(stamp >> 32 << 32)
        open_ = ~self.order.happens_before(each, None, look.lanes.take(np.full(each.size, j)), shared=look.in_shared)
        return next((t for t, so in zip(others, open_.tolist(), strict=True) if so), others[0])

    def _who(self, thread: int) -> tuple[Dim3 | None, Dim3 | None]:
        fault = Fault("", "")
        block, t = divmod(thread, self.order.threads)
        self.launch.name_fault(block, 1, fault, t)
        return fault.block, fault.thread

    def _place(self, look: Look, offset: int) -> tuple[int, str]:
        wave: Any = look.access.group.wave
        if look.shadow.name == "shared":
            address = offset % wave.shared.stride
            return address, nearest(wave.shared.objects, address, look.access.type.bytes)
        address = look.shadow.origin + offset
        space = next((s for s in (wave.access.device, *wave.access.others) if _holds(s, address)), None)
        return address, space.near(address, look.access.type.bytes) if space is not None else ""


def _holds(space: ArenaSpace, address: int) -> bool:
    return space.arena.find(address) is not None


def _is_in_loop(function: Function, i: Instruction) -> bool:
    graph = flow(function)
    return any(i in b.instructions and graph.loop_of[b.index] is not None for b in graph.blocks)


def _size(site: Site) -> int:
    """Bytes of an element that a strong access has."""
    types = [TYPES[w].bytes for w in site.instruction.modifiers if w in TYPES]
    return types[-1] if types else 0
