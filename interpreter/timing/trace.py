"""What a few multiprocessors execute: an observer keeps the blocks of code that each warp of theirs enters, and what each access asks of memory.

The clock of a trace is (round of residency, number of the event within the engine's wave): blocks of one round are taken to run in step.  A sector that
another block touched at an earlier clock is in L2; one that was touched first at this clock comes from DRAM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.occupancy import l1_bytes
from warplab.isa.profiles import DeviceProfile

from ..observe import Observer
from ..profiler.stream import Way
from ..ptxas.machine_code import machine_code
from ..ptxas.register_count import residency
from . import words as s
from .texture_unit import fetch_cycles
from .touches import LINE, LINE_SECTORS, SECTOR, FarTouches, sectors_of, touches_of
from .traced_blocks import MbarrierPhases, TouchedLines, TracedBlocks, TracedWarps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..launch import Launch
    from ..observe import ObservedLanes, ObservedWave, TexelAccess
    from ..plan.plan import Site
    from ..profiler.tally import Operation
    from ..profiler.touch import Touch
    from ..values import Array

Index = NDArray[np.int64]
EVENTS = 1 << 20  # of a wave, at most
ROUNDS = 1000
PLACES = (0, 2, 4, 6)  # eighths of the device: multiprocessors whose blocks are kept; one of them is simulated
SEEN_WHOLE = 1 << 14  # threads of a launch that is seen as a whole
LIMIT = 250_000  # instructions of a multiprocessor that are kept
KEPT_ROUNDS = 3
KINDS = {"ld": s.GLOBAL_LOAD, "st": s.GLOBAL_STORE, "red": s.GLOBAL_ATOMIC, "atom": s.GLOBAL_ATOMIC}
NEAR = {"const": s.CONSTANT, "local": s.LOCAL}
COLUMNS = ("warp", "site", "clock", "kind", "units", "sectors", "full", "phase", "lanes")


class Tracer(Observer):
    """Keeps blocks that a few multiprocessors would execute: of each some LIMIT instructions, for so many rounds of residency at most.

    One that `samples` sees only as many blocks of a larger launch as a multiprocessor executes in these rounds: the first ones, for which it takes
    the others.
    """

    def __init__(self, device: DeviceProfile, samples: bool = False) -> None:
        self.device, self.samples = device, samples
        self.launch: Launch | None = None
        self.trace: TracedBlocks | None = None

    def begin(self, launch: Launch) -> None:
        self.launch, self.trace = launch, None
        self.machine_code, self.each = machine_code(launch.kernel, self.device.capability), -(-launch.threads // 32)
        self.resident = max(1, residency(self.device, launch.kernel, launch.threads, launch.total_shared).blocks)
        self.active = min(self.device.multiprocessors, launch.blocks)
        self.kept_on = [self._spread(range(p * self.active // 8, launch.blocks, self.active)) for p in PLACES]
        self.kept_on = [blocks for n, blocks in enumerate(self.kept_on) if blocks not in self.kept_on[:n]]
        self.seen, self.covered = launch.blocks, 0  # blocks that it wants to see, and that it has seen
        if self.samples and launch.blocks * launch.threads > SEEN_WHOLE:
            self.seen = min(self.resident * KEPT_ROUNDS, -(-launch.blocks // self.active))
            self.kept_on = [list(range(self.seen))]
        self.most = LIMIT // (self.resident * self.each)  # instructions that are kept of a warp
        self.steps = np.zeros(sum(map(len, self.kept_on)) * self.each, np.int64)  # of each kept warp so far
        self.number = np.full(launch.blocks, -1, np.int64)  # of the blocks that are kept
        for k, b in enumerate(b for blocks in self.kept_on for b in blocks):
            self.number[b] = k
        self.touched, self.arrays = touches_of(launch)
        self.far = FarTouches(launch.other_arenas)
        self.used = sum(a.size for a in launch.arena.living()) // SECTOR  # sectors of memory that a launch could touch
        self.work = np.zeros(launch.blocks * self.each, np.int64)  # of each warp
        self.event = self.round = self.asked = self.updates = 0
        self.entries: list[Index] = []
        self.rows: list[dict[str, Any]] = []
        self.lists: list[Index] = []  # the sectors of each row
        self.groups: dict[int, TracedWarps] = {}
        self.begins = np.zeros(0, np.int64)  # of the bulk copies that run, lane by lane
        self.phases = MbarrierPhases()

    def _spread(self, blocks: range) -> list[int]:
        """Of the blocks of a multiprocessor some rounds of residency: the first, and others equally far apart."""
        many = -(-len(blocks) // self.resident)
        chosen = sorted({n * many // KEPT_ROUNDS for n in range(KEPT_ROUNDS)})
        return [b for n in chosen for b in blocks[n * self.resident : (n + 1) * self.resident]]

    def wanted(self, first: int) -> int | None:
        return None if self.seen == len(self.number) else max(0, min(self.resident, self.seen - first))

    def wave(self, wave: ObservedWave) -> None:
        self._settle()
        together = self.resident * (self.active if self.seen == len(self.number) else 1)
        self.event, self.round = 0, min(wave.first // together, ROUNDS)
        self.covered += wave.count
        if self.round and int(self.steps.sum()) > LIMIT * len(self.kept_on) // 2:  # one round is enough
            self.number[wave.first :] = -1
            self.kept_on = [blocks[: self.resident] for blocks in self.kept_on]

    def _settle(self) -> None:
        for g in self.groups.values():
            self.work[g.warps] += g.count
        self.groups.clear()

    @property
    def _clock(self) -> int:
        return self.round * EVENTS + min(self.event, EVENTS - 1)

    # ------------------------------------------------------------ instructions

    def _watched(self, group: ObservedLanes) -> TracedWarps:
        g = group.geometry
        found = self.groups.get(id(g))
        if found is None:
            block, warp = g.warps.block[:, 0] + group.wave.first, g.warps.warp[:, 0]
            flags = self.number[block] >= 0
            rows = np.flatnonzero(flags)
            found = TracedWarps(g, self.number[block[rows]] * self.each + warp[rows], rows, flags, block * self.each + warp)
            self.groups[id(g)] = found
        return found

    def _enter(self, site: Site, group: ObservedLanes, count: int) -> None:
        self.event += 1
        watched = self._watched(group)
        watched.count += count
        warps = watched.kept
        if not warps.size:
            return
        self.steps[warps] += count
        block = self.machine_code.leader.get(id(site.instruction))
        if block is None or not (kept := self.steps[warps] <= self.most).any():
            return
        if group.alive is not None:
            layout = group.geometry.warps
            there = layout.spread(np.broadcast_to(group.alive, layout.shape)).reshape(-1, 32)[watched.rows].any(axis=1)
            kept &= there
        warps = warps[kept]
        self.entries.append(np.stack([warps, np.full(warps.size, block), np.full(warps.size, self._clock)]))

    def stretch(self, sites: Sequence[Site], group: ObservedLanes) -> None:
        self._enter(sites[0], group, len(sites))

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        self._enter(site, group, 1)

    # ------------------------------------------------------------ accesses

    def asks(self, op: Operation, touch: Touch, start: int, way: Way, lanes: Index | int, units: Index | None) -> None:
        """What warps touch of global memory, `start` lines further on; `lanes` and `units` of each warp, the latter if a rule of its own gives them."""
        clock, atomic = self._clock, way is Way.ATOMIC
        line = touch.line + start if start else touch.line
        if not self.touched.add(line, touch.words, clock):
            self.far.add(line, touch.words, op.kind in ("st", "red"))
        if atomic:
            self.updates += lanes if isinstance(lanes, int) else int(lanes.sum())
        else:
            self.asked += lanes if isinstance(lanes, int) else int(lanes.sum())
        if (found := self._lines(op.group, op.tally.site, touch.warp, line, touch.words)) is None:
            return
        each = np.full(found.rows.size, lanes // max(1, found.of)) if isinstance(lanes, int) else lanes[found.rows]
        kind = KINDS[op.kind] if way not in (Way.PASS,) else s.GLOBAL_PAST
        passes = np.maximum(found.lines if units is None else units[found.rows], -(-each * op.width // LINE))
        self._row(
            found.warps,
            found.site,
            kind,
            passes,
            found.sectors,
            (each * op.width >= 32 * found.sectors).astype(np.int64),
            found.sector,
            each,
        )

    def fetched(self, a: TexelAccess, touch: Touch, lanes: Index) -> None:
        """What warps touch of textures and surfaces; `lanes` of each warp."""
        touched = self.touched if a.image.linear or a.image.pitched else self.arrays
        touched.add(touch.line, touch.words, self._clock)
        self.asked += int(lanes.sum())
        if (found := self._lines(a.group, a.site, touch.warp, touch.line, touch.words)) is None:
            return
        each = lanes[found.rows]
        kind = s.TEXEL if a.kind == "ld" else KINDS[a.kind]
        passes = fetch_cycles(a, found.lines) if kind == s.TEXEL else found.lines
        self._row(
            found.warps,
            found.site,
            kind,
            passes,
            found.sectors,
            (each * a.width >= 32 * found.sectors).astype(np.int64),
            found.sector,
            each,
        )

    def _lines(self, group: ObservedLanes, site: Site, warp: Index, line: Index, words: NDArray[np.uint32]) -> TouchedLines | None:
        """What the kept warps of a group touch; None: nothing is kept."""
        watched = self._watched(group)
        number = self.machine_code.sites.get(id(site.instruction))
        if not watched.rows.size or number is None:
            return None
        kept = self.steps[watched.kept] <= self.most
        warps, rows = watched.kept[kept], watched.rows[kept]
        mine = watched.flags[warp]
        place = np.full(watched.flags.size, -1)
        place[rows] = np.arange(rows.size)
        at = place[warp[mine]]
        line, words, at = line[mine][at >= 0], words[mine][at >= 0], at[at >= 0]
        entry, which = sectors_of(words)
        order = np.argsort(at[entry], kind="stable")
        return TouchedLines(
            number, warps, rows, watched.flags.size, np.bincount(at, minlength=rows.size), np.bincount(at[entry], minlength=rows.size),
            (line[entry] * LINE_SECTORS + which)[order],
        )  # fmt: skip

    def near(self, op: Operation, space: str, units: Index) -> None:
        """Passes of each warp of a group, or of each warp of a block, which are those of all blocks."""
        watched = self._watched(op.group)
        site = self.machine_code.sites.get(id(op.tally.site.instruction))
        if not watched.rows.size or site is None:
            return
        kept = self.steps[watched.kept] <= self.most
        warps, rows = watched.kept[kept], watched.rows[kept]
        self._row(warps, site, NEAR.get(space, s.SHARED), units[rows % units.size], 0 * warps, 0 * warps, rows[:0], 0 * warps)

    def _row(
        self, warps: Index, site: int, kind: int, units: Index, sectors: Index, full: Index, sector: Index, lanes: Index, phase: int = 0
    ) -> None:
        values = warps, site, self._clock, kind, units, sectors, full, phase, lanes
        self.rows.append(dict(zip(COLUMNS, values, strict=True)))
        self.lists.append(sector)

    # ------------------------------------------------------------ bulk copies and mbarriers

    def bulk(self, op: Operation, address: Array, touch: Touch, first: bool) -> None:
        """Pieces of bulk copies; where each begins, `first`."""
        self.touched.add(touch.line, touch.words, self._clock)
        self.asked += touch.line.size
        if first:
            self.begins = np.broadcast_to(address, op.group.geometry.shape).ravel().astype(np.int64)

    def mbarrier(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        watched, wave, g = self._watched(group), group.wave, group.geometry
        number = self.machine_code.sites.get(id(site.instruction))
        if not watched.rows.size or number is None or what not in ("init", "change", "wait"):
            return
        words = wave.shared.view(np.dtype(np.uint64))
        block, thread = (np.broadcast_to(x, g.shape).ravel() for x in (g.block + wave.first, g.thread))
        for part, places in wave.access.shared_places(group, space, address, 8):
            index = np.arange(g.n) if part.lanes is None else part.lanes
            places = np.broadcast_to(places, index.shape)
            wanted = self.number[block[index]] >= 0
            if what == "wait":
                wanted &= np.broadcast_to(amounts[0], g.shape).ravel()[index]
            for place in np.unique(places[wanted]).tolist():
                phase = self.phases.number((wave.first, place), int(words[place >> 3]) >> 63, what)
                lanes = index[wanted & (places == place)]
                warps = np.unique(self.number[block[lanes]] * self.each + (thread[lanes] >> 5))
                if what != "init" and (self.steps[warps] <= self.most).all():
                    self._meets(site, number, warps, lanes, phase, what, np.broadcast_to(amounts[-1], g.shape).ravel())

    def _meets(self, site: Site, number: int, warps: Index, lanes: Index, phase: int, what: str, bytes_: Array) -> None:
        none = 0 * warps
        if "bulk" not in site.instruction.modifiers:
            self._row(warps, number, s.AWAITS if what == "wait" else s.ARRIVES, none, none, none, none[:0], none, phase)
            return
        for warp, lane in zip(warps.tolist(), lanes.tolist(), strict=False):
            if lane >= self.begins.size:  # a copy that reaches no memory: all that it writes are zeros
                continue
            start, count = int(self.begins[lane]), int((-bytes_[lane]).astype(np.int64))
            sector = np.arange(start // SECTOR, -(-(start + count) // SECTOR))
            one = np.array([warp])
            lines = np.array([-(-sector.size // LINE_SECTORS)])
            self._row(one, number, s.BULK, lines, np.array([sector.size]), 0 * one, sector, lines, phase)

    # ------------------------------------------------------------ the end

    def end(self, launch: Launch) -> None:
        if self.trace is not None or self.launch is None:
            return
        self._settle()
        work = self.work.reshape(launch.blocks, self.each)
        total, longest = work.sum(axis=1), work.max(axis=1)
        covered = max(1, min(self.covered, launch.blocks))
        total[covered:], longest[covered:] = total[:covered].mean(), longest[:covered].mean()
        more = launch.blocks / covered
        some = [blocks for blocks in self.kept_on if blocks]
        if (
            launch.blocks > self.active * self.resident
        ):  # of many rounds the multiprocessor nearest to the mean, else the one with most to do
            blocks = min(some, key=lambda b: abs(float(total[b].mean()) - float(total.mean())))
        else:
            blocks = max(some, key=lambda b: int(longest[b].max()))
        start, count = int(self.number[blocks[0]]) * self.each, len(blocks) * self.each
        entries = np.concatenate([np.zeros((3, 0), np.int64), *self.entries], axis=1)
        entries = entries[:, (entries[0] >= start) & (entries[0] < start + count)] - np.array([[start], [0], [0]])
        access = {n: np.concatenate([np.zeros(0, np.int64), *[np.broadcast_to(r[n], r["warp"].shape) for r in self.rows]]) for n in COLUMNS}
        sector = np.concatenate([np.zeros(0, np.int64), *self.lists])
        mine = (access["warp"] >= start) & (access["warp"] < start + count)
        sector = sector[np.repeat(mine, access["sectors"])]
        access = {n: v[mine].astype(np.int64) for n, v in access.items()}
        access["warp"] -= start
        updates = access["kind"] == s.GLOBAL_ATOMIC
        steps = self.steps[start : start + count]
        kept = int(np.minimum(steps, self.most).sum())
        clock = np.repeat(access["clock"], access["sectors"])
        self.trace = TracedBlocks(
            code=self.machine_code,
            each=self.each,
            resident=self.resident,
            active=self.active,
            l1_lines=max(64, (l1_bytes(self.device, launch.total_shared, self.resident) if self.device.l1_size else 0) // LINE),
            work=total,
            longest=longest,
            sampled=blocks,
            steps=kept,
            whole=kept / max(1, int(steps.sum())),
            entries=entries,
            access=access,
            sector=sector,
            late=self.touched.before(sector, clock) | self.arrays.before(sector, clock),
            fresh=int(min(self.touched.count * more, self.used) + self.arrays.count * more),
            asked=int(self.asked * more),
            kept_asked=int(access["lanes"][~updates].sum()),
            updates=int(self.updates * more),
            kept_updates=int(access["lanes"][updates].sum()),
            far={start: (int(loaded * more), int(stored * more)) for start, (loaded, stored) in self.far.sectors.items()},
        )
        self.launch = None
        del self.touched, self.arrays, self.entries, self.rows, self.lists
