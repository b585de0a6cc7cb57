"""synccheck: barriers and masks that the rules of the instruction forbid, and launches in which nobody can go on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from warplab.assembler.flow import flow

from ..faults import Deadlock, ExecutionError, Fault
from ..launch import Launch
from ..observe import Access, ObservedLanes, ObservedWave, Observer
from ..plan.plan import Site
from ..values import Array, plain
from .checker import CheckedRun, Checker
from .findings import Finding
from .initcheck.origins import LANE
from .mbarriers import Mbarriers

FAULTS = ("mbarrier-overflow",)  # that end a launch, beside deadlocks
WARP = 32
LANES = np.arange(WARP, dtype=np.uint32)


@dataclass(slots=True)
class Met:
    """What the first threads brought that came to a barrier since it was last complete."""

    site: Site
    count: int | None
    waits_at: Site | None = None


@dataclass(slots=True, eq=False)
class Absent:
    """Threads whose warp came to an aligned barrier without them."""

    site: Site
    who: Fault  # the first thread that came
    lanes: Array  # (blocks, threads)
    came: Array  # those who have come, to the same instruction


class Synccheck(Checker):
    """Reports wrong barriers, wrong masks and deadlocks."""

    def __init__(self, run: CheckedRun) -> None:
        super().__init__(run)
        self._strict = run.strict
        self._skipped: set[str] = set()  # kernels in which threads ended before others came to a barrier
        self._values = run.values  # follows what shuffles read from lanes that do not execute them
        self._waiting: dict[tuple[int, int, int], Met] = {}  # wave, barrier, block -> who came first to what is to be completed
        self._absent: dict[tuple[int, int], list[Absent]] = {}  # wave, barrier -> those who did not come with their warp
        self._apart: dict[int, Array] = {}  # wave -> where each thread last accessed memory apart from its warp, a number
        self._numbers: dict[Site, int] = {}  # of those places, from 1 on
        self._armed: dict[int, Array] = {}  # wave -> the threads that have arrived at the barrier of their cluster, and not waited there
        self._came: dict[int, Array] = {}  # wave -> where each of them arrived, a number
        self._arrivals: list[Site] = []  # those places, from 1 on
        self._mbarriers = Mbarriers(self._report)

    def observers(self) -> Iterable[Observer]:
        """See Checker."""
        return (self, self._values)

    def takes_proof(self, launch: Launch) -> bool:
        """See Observer."""
        return True

    def wave(self, wave: ObservedWave) -> None:
        """See Observer."""
        self._armed[id(wave)] = np.zeros(wave.exited.shape, bool)
        self._came[id(wave)] = np.zeros(wave.exited.shape, np.int32)
        self._apart[id(wave)] = np.zeros(wave.exited.shape, np.int32)
        self._mbarriers.wave(wave)

    def end(self, launch: Launch) -> None:
        """See Observer."""
        self._waiting.clear()
        self._absent.clear()
        self._armed.clear()
        self._came.clear()
        self._arrivals.clear()
        self._apart.clear()
        self._numbers.clear()
        self._mbarriers.end()

    def access(self, access: Access) -> None:
        """See Observer."""
        self._mbarriers.access(access)
        group = access.group
        if not group.geometry.whole_warps or group.alive is not None:  # of lanes that are apart from the rest of their warp
            block, thread = _threads_of(group)
            self._apart[id(group.wave)][block, thread] = self._numbers.setdefault(access.site, len(self._numbers) + 1)

    # ------------------------------------------------------------ barriers of a block

    def met(self, site: Site, group: ObservedLanes, number: int) -> None:
        """See Observer."""
        self._note_ended(site, group.wave, number, group.geometry.blocks)  # other blocks may have ended

    def arrival(self, site: Site, group: ObservedLanes, number: int, count: int | None, waits: bool) -> None:
        """See Observer."""
        if count is not None and count % WARP:
            text = f"barrier {number} has a count of {count} threads, which is no multiple of {WARP}"
            self._report("barrier-mismatch", text, site, group, None, help=f"round the count up to {-(-count // WARP) * WARP}")
        if is_aligned(site) and not group.wave.launch.lowering.lockstep:
            self._note_absent(site, group, number)
        for block in group.geometry.blocks.tolist():
            met = self._waiting.setdefault((id(group.wave), number, block), Met(site, count))
            if met.count != count:
                a, b = ("all threads" if n is None else f"{n} threads" for n in (met.count, count))
                text = f"threads arrive at barrier {number} with different counts: {a} and {b}"
                self._report("barrier-mismatch", text, site, group, None, met.site, "give all instructions of one barrier the same count")
            if _reduction(met.site) != _reduction(site):
                text = f"threads come to barrier {number} by {_reduction(met.site) or 'sync or arrive'} and by {_reduction(site) or 'sync or arrive'}"
                advice = "let all threads come to it by one kind of instruction: .red is not to be mixed with others at one barrier"
                self._report("barrier-mismatch", text, site, group, None, met.site, advice)
                continue
            if not waits:
                continue
            first = met.waits_at = met.waits_at or site
            if first.instruction is not site.instruction and (is_aligned(first) or is_aligned(site)):
                text = f"threads of one block wait at barrier {number} at different instructions, of which one is .aligned"
                advice = "let all threads reach one bar.sync, or use barrier.sync without .aligned"
                self._report("barrier-divergence", text, site, group, None, first, advice)

    def _note_absent(self, site: Site, group: ObservedLanes, number: int) -> None:
        """Remembers who of the group's warps has not come with the others to an aligned barrier."""
        geometry, wave = group.geometry, group.wave
        block, thread = _threads_of(group)
        noted = self._absent.get((id(wave), number), [])
        absent = next((a for a in noted if a.site.instruction is site.instruction), None)
        if not geometry.whole_warps or group.alive is not None:
            if absent is None:
                nobody = np.zeros(wave.exited.shape, bool)
                absent = Absent(site, group.blame(Fault("", ""), group.alive), nobody, nobody.copy())
                self._absent[id(wave), number] = [*noted, absent]
            warps = np.zeros((wave.count, geometry.warps_per_block), bool)
            warps[block, thread // WARP] = True
            absent.lanes |= np.repeat(warps, WARP, axis=1)[:, : wave.launch.threads]
        if absent is not None:
            absent.came[block, thread] = True
            absent.lanes &= ~absent.came

    def completion(self, wave: ObservedWave, number: int, blocks: Array) -> None:
        """See Observer."""
        met = [(block, self._waiting.pop((id(wave), number, block), None)) for block in blocks.tolist()]
        left, passed = [], False
        for absent in self._absent.pop((id(wave), number), ()):
            behind = [n for s, n in self._numbers.items() if _lies_behind(wave.launch, s, absent.site)]
            count = int((np.isin(self._apart[id(wave)][blocks], behind) & absent.lanes[blocks]).sum())
            if count:
                passed = True
                text = f"{count} threads go past barrier {number}, which is .aligned, and at which the others of their warp wait"
                self._add("barrier-divergence", text, absent.site, wave.launch, absent.who, count, None,
                          "let all threads of a warp reach the barrier, or use barrier.sync without .aligned")  # fmt: skip
            absent.lanes[blocks] = absent.came[blocks] = False
            if absent.lanes.any() or absent.came.any():
                left.append(absent)
        if left:
            self._absent[id(wave), number] = left
        for site in {m.waits_at for _, m in met if m is not None and m.count is None}:
            if site is not None and not passed:
                self._note_ended(site, wave, number, np.array([b for b, m in met if m is not None and m.waits_at is site]))

    def _note_ended(self, site: Site, wave: ObservedWave, number: int, blocks: Array) -> None:
        """Threads of some blocks pass an aligned barrier: have others of these blocks ended without coming there?"""
        launch, ended = wave.launch, np.flatnonzero(wave.exited[blocks])
        if not ended.size or not is_aligned(site) or launch.name in self._skipped:
            return
        self._skipped.add(launch.name)  # at its later barriers they are missing, too
        block, thread = divmod(int(ended[0]), launch.threads)
        who = Fault("", "")
        launch.name_fault(wave.first, wave.count, who, int(blocks[block]) * launch.threads + thread)
        text = (
            f"{ended.size} threads have ended without barrier {number}, at which others of their block wait: PTX waits only for threads that "
            "have not exited, in CUDA C++ the behaviour is undefined"
        )
        self._add("barrier-divergence", text, site, launch, who, int(ended.size), None,
                  "let all threads of the block reach the barrier, and put conditions around the work before and behind it",
                  severity="error" if self._strict else "info")  # fmt: skip

    # ------------------------------------------------------------ barriers of a cluster, mbarriers

    def cluster(self, site: Site, group: ObservedLanes, arrives: bool) -> None:
        """See Observer."""
        armed, geometry = self._armed[id(group.wave)], group.geometry
        block, thread = np.broadcast_arrays(geometry.block, geometry.thread)
        active = np.broadcast_to(group.active is None or group.active, geometry.shape)
        wrong = active & (armed[block, thread] == arrives)
        if wrong.any():
            text = "threads arrive again at the barrier of their cluster, at which they have not waited" if arrives else (
                "threads wait at the barrier of their cluster, at which they have not arrived")  # fmt: skip
            advice = "each thread calls barrier.cluster.arrive and then barrier.cluster.wait, in turn"
            self._report("cluster-barrier", text, site, group, wrong, help=advice)
        armed[block[active], thread[active]] = arrives
        if arrives:
            self._together(site, group, block[active], thread[active])

    def _together(self, site: Site, group: ObservedLanes, block: Array, thread: Array) -> None:
        """Lanes of a warp arrive at the barrier of their cluster at one instruction, if that is .aligned."""
        armed, came = self._armed[id(group.wave)], self._came[id(group.wave)]
        if site not in self._arrivals:
            self._arrivals.append(site)
        came[block, thread] = self._arrivals.index(site) + 1
        if len(self._arrivals) < 2:
            return
        mates = np.minimum(thread[:, None] // WARP * WARP + np.arange(WARP), came.shape[1] - 1)
        places = np.where(armed[block[:, None], mates], came[block[:, None], mates], 0)
        for number in np.unique(places).tolist():
            other = self._arrivals[number - 1]
            if number and other is not site and (is_aligned(site) or is_aligned(other)):
                text = "lanes of one warp arrive at the barrier of their cluster at different instructions, of which one is .aligned"
                count = int((places == number).any(axis=1).sum())
                who = Fault("", "")
                group.wave.launch.name_fault(group.wave.first, group.wave.count, who, int(block[0] * came.shape[1] + thread[0]))
                self._add("barrier-divergence", text, site, group.wave.launch, who, count, other,
                          "let all threads of a warp reach one barrier.cluster.arrive, or use it without .aligned")  # fmt: skip

    def mbarrier(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """See Observer."""
        self._mbarriers.use(site, group, what, space, address, amounts)

    # ------------------------------------------------------------ masks of a warp

    def members(self, site: Site, group: ObservedLanes, membermask: Array) -> None:
        """See Observer."""
        masks = plain(membermask).astype(np.uint32)
        if masks.size == 1 and int(masks.flat[0]) == 0xFFFFFFFF:
            return
        shape = group.geometry.shape
        lane = (group.geometry.thread % WARP).astype(np.uint32)
        alive = True if group.alive is None else group.alive
        absent = np.broadcast_to((masks >> lane & 1 == 0) & alive, shape)
        if absent.any():
            text = "a lane executes the instruction and is not in its own membermask"
            self._report("invalid-mask", text, site, group, absent, help="include every executing lane in the membermask")
        if masks.size == 1:
            return
        layout = group.geometry.warps
        here = layout.members & layout.spread(np.broadcast_to(alive, shape))
        spread = np.where(here, layout.spread(np.broadcast_to(masks, shape)), np.uint32(0))
        if (here & (spread != np.bitwise_or.reduce(spread, axis=1, keepdims=True))).any():
            names = (spread[:, :, None] >> LANES & 1).astype(bool) & here[:, None, :] & here[:, :, None]
            differs = (names & (spread[:, :, None] != spread[:, None, :])).any(axis=2)
            if differs.any():
                text = "lanes that name each other in their membermasks have different ones"
                self._report("mask-mismatch", text, site, group, layout.gather(differs), help="give all of these lanes one mask")

    # ------------------------------------------------------------ findings

    def _report(
        self, kind: str, message: str, site: Site, group: ObservedLanes, lanes: Array | None, other: Site | None = None, help: str = ""
    ) -> None:
        count = group.geometry.n if lanes is None else int(np.count_nonzero(lanes))
        self._add(kind, message, site, group.wave.launch, group.blame(Fault("", ""), lanes), count, other, help)

    def _add(
        self, kind: str, message: str, site: Site, launch: Launch, who: Fault, count: int, other: Site | None, help: str,
        severity: Literal["error", "info"] = "error",
    ) -> None:  # fmt: skip
        self.findings.add(
            Finding(
                self.tool, kind, message, None, site.instruction.span.line, None if other is None else other.instruction.span.line,
                launch.name, who.block, who.thread, severity=severity, count=count, instruction=launch.text_of(site),
                source=launch.source_of(site), other_instruction=launch.text_of(other), other_source=launch.source_of(other), help=help,
            )
        )  # fmt: skip

    def finish(self) -> None:
        """See Checker."""
        for use in self._values.uses.found.values():
            site = use.origin.site
            if use.origin.space != LANE or site is None:
                continue
            who = Fault("", "", block=use.block, thread=use.thread)
            self._add("inactive-source", use.text, site, use.launch, who, use.count, use.site,
                      "name all lanes in the membermask, and let all of them come here, or read from lanes that do")  # fmt: skip

    def explains(self, error: ExecutionError) -> bool:
        """See Checker."""
        return isinstance(error, Deadlock) or (isinstance(error, Fault) and error.kind in FAULTS)

    def failed(self, error: ExecutionError) -> None:
        """See Checker."""
        if isinstance(error, Fault) and error.kind in FAULTS and not self._mbarriers.reported:
            self.findings.add(
                Finding(
                    self.tool, error.kind, error.message, None, error.line or None, None, error.kernel, error.block, error.thread,
                    count=error.lanes, instruction=error.instruction, source=error.source,
                    help="expect at most 1048575 bytes and arrivals in each phase",
                )
            )  # fmt: skip
        if not isinstance(error, Deadlock):
            return
        for w in error.waiting:
            self.findings.add(
                Finding(
                    self.tool, "deadlock", f"{w.lanes} threads wait for {w.wants}; {w.missing}", None, w.line or None, None,
                    error.kernel, w.block, w.thread, count=w.lanes, instruction=w.instruction, source=w.source,
                    help="every thread that is waited for must come there, or end",
                )
            )  # fmt: skip


def is_aligned(site: Site) -> bool:
    """Must the lanes of a warp come together to this barrier?"""
    form = site.instruction.form
    when = None if form is None else form.facts.aligned
    return when is not None and when.holds(site.instruction.modifiers)


def _reduction(site: Site) -> str:
    """What a barrier makes of the predicates that threads bring: "red.popc", "red.and", "red.or"; "" if they bring none."""
    words = site.instruction.modifiers
    return next((f"red.{w}" for w in words if w in ("popc", "and", "or")), "") if "red" in words else ""


def _threads_of(group: ObservedLanes) -> tuple[Array, Array]:
    """Block and thread of each lane of a group that has not left it."""
    block, thread = np.broadcast_arrays(group.geometry.block, group.geometry.thread)
    if group.alive is None:
        return block, thread
    alive = np.broadcast_to(group.alive, block.shape)
    return block[alive], thread[alive]


def _lies_behind(launch: Launch, site: Site, barrier: Site) -> bool:
    """Does every thread that passes the barrier come to this place of its function later?"""
    if site.function != barrier.function:
        return False
    f = flow(launch.kernel.program.functions[site.function])
    blocks = {i.span.start: b.index for b in f.blocks for i in b.instructions}
    at, wanted = blocks[barrier.index], blocks[site.index]
    if at == wanted:
        return site.index > barrier.index
    following = f.ipdom[at]
    while following is not None and following != wanted:
        following = f.ipdom[following]
    return following == wanted
