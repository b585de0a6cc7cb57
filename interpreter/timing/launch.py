"""The cycles of a launch from the trace of a few of its blocks: one multiprocessor is simulated, the rest follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..profiler.launch_time import REASONS, Issue, LaunchTime
from ..ptxas.machine.kinds import PIPES
from . import words as s
from .compiled import simulation
from .machine import TimedDevice
from .traced_blocks import TracedBlocks
from .traced_code import TracedCode

Index = NDArray[np.int64]
BUCKET, BUCKETS = 64, 1 << 14  # cycles of an entry of the timeline; entries
LOGS = 1 << 12  # instructions that are logged
NEVER_TAKEN = -(1 << 40)


@dataclass(frozen=True, slots=True)
class Simulated:
    """What the simulation of some blocks on one multiprocessor says, in cycles."""

    cycles: float
    done: NDArray[np.float64]  # when each block was
    notes: NDArray[np.float64]  # cycles that warps waited, by instruction and reason
    timeline: NDArray[np.float64]  # the same by stretches of BUCKET cycles and reason
    issued: float
    log: Index  # of the first instructions: cycle, scheduler, warp, instruction

    @property
    def reasons(self) -> NDArray[np.float64]:
        """The same by reason."""
        total: NDArray[np.float64] = self.notes.sum(axis=0)
        return total


class Timing:
    """The model of one launch."""

    def __init__(self, trace: TracedBlocks, machine: TimedDevice, engine: str = "auto") -> None:
        self.trace, self.machine, self.engine = trace, machine, engine
        self.code = TracedCode(trace, machine)

    # ------------------------------------------------------------ one multiprocessor

    def simulate(self, blocks: int | None = None, resident: int | None = None) -> Simulated:
        """The blocks that were kept, or the first of them, so many at once."""
        t, m, c, k = self.trace, self.machine, self.code, self.machine.ticks
        blocks = blocks or len(t.sampled)
        warps = blocks * t.each
        p = self._parameters(blocks, resident or t.resident)
        regions = np.full((c.region_start.size, s.REGION), -1, np.int64)
        regions[:, s.FIRST_OP] = c.region_start
        lines = np.zeros((int(c.sectors[:, s.LINE].max()) + 1, s.LINE_SIZE), np.int64)
        lines[:, s.LINE_BORN] = NEVER_TAKEN
        states = np.zeros((warps, s.WARP), np.int64)
        states[:, s.WHEN] = s.FAR
        schedulers = np.zeros((m.schedulers, s.SCHEDULER), np.int64)
        schedulers[:, s.PAIRED], schedulers[:, s.BEST] = -1, s.FAR
        done, notes, timeline = (
            np.zeros(n, np.int64) for n in ((blocks, s.BLOCK), (len(c.code), s.REASON_COUNT), (BUCKETS, s.REASON_COUNT))
        )
        log = np.zeros((LOGS, s.LOG), np.int64)
        arrays = (
            p, c.code, c.lists, regions, c.tokens, c.first, states, np.zeros(m.schedulers * warps, np.int64), schedulers, done,
            np.zeros(warps * c.registers, np.int64), c.starts, c.starts[:-1].copy(), c.records, c.uses, c.fresh.copy(), c.sectors.copy(), lines,
            np.zeros(s.SLICES, np.int64), c.phases.copy(), notes, timeline, log,
        )  # fmt: skip
        end = simulation(self.engine)(arrays)
        log = log[: p[s.LOGGED]]
        log[:, 0] //= k
        return Simulated(end / k, done[:, s.DONE] / k, notes / k, timeline / k, int(p[s.ISSUED]) / k, log)

    def _parameters(self, blocks: int, resident: int) -> Index:
        t, m, k = self.trace, self.machine, self.machine.ticks
        crowd = t.active / m.multiprocessors
        once = np.unique(t.sector[~t.late]).size * t.asked / max(1, t.kept_asked)  # sectors, had each block its own
        dram = s.WINDOW // 2 * t.active / m.dram_bytes * min(1.0, t.fresh / max(1, once))
        few = t.work.size <= t.active * t.resident
        contending = min(float(t.active), t.updates / max(1, t.kept_updates)) if few else t.active
        values = {
            s.SCHEDULERS: m.schedulers, s.RESIDENT: resident, s.PLACES: resident, s.BLOCKS: blocks, s.EACH: t.each, s.SITES: self.code.sites,
            s.REGISTERS: self.code.registers, s.BUCKETS: BUCKETS, s.L1_LINES: t.l1_lines, s.TICKS: k, s.LOGS: LOGS,
        }  # fmt: skip
        ticks = {
            s.DUAL: m.dual, s.INTERVAL: m.block_interval * t.active * 16, s.START: m.block_start, s.CONSTANT_MISS: m.constant_miss, s.COLD: m.cold,
            s.FETCH_MISS: m.fetch_miss, s.FETCH_NEXT: m.fetch_next * 16, s.BUCKET: BUCKET, s.MIO_QUEUE: m.mio_queue, s.LG_QUEUE: m.lg_queue,
            s.L1_LATENCY: m.l1_latency, s.L2_LATENCY: m.l2_latency, s.DRAM_LATENCY: m.dram_latency, s.ATOMIC_LATENCY: m.atomic_latency,
            s.LINE_COST: m.line_cost, s.L2_COST: max(m.l2_alone, m.l2_cost * crowd), s.L2_LINE: m.l2_line,
            s.STORE_COST: max(16, m.store_cost * crowd), s.STORE_LINE: max(m.store_line_alone, m.store_line * crowd),
            s.DRAM_COST: max(m.dram_alone, dram), s.DRAM_STORE: dram * max(0.0, 1 - m.l2_bytes / max(1, t.fresh * 32)),
            s.SLICE_COST: m.slice_cost * contending,
            s.SLICE_SECTOR: m.slice_sector * contending, s.DRAM_QUEUE: m.dram_queue, s.PREDICATE: m.predicate,
        }  # fmt: skip
        p = np.zeros(s.PARAMETERS, np.int64)
        for at, value in values.items():
            p[at] = value
        for at, cycles in ticks.items():
            p[at] = int(cycles * k)
        return p

    @cached_property
    def whole(self) -> Simulated:
        """All blocks that were kept."""
        return self.simulate()

    # ------------------------------------------------------------ the launch

    @property
    def _overhead(self) -> float:
        """Cycles of the launch itself."""
        return self.machine.launch + self.machine.launch_more * float(np.log2(self.trace.active))

    def cycles(self, one: Simulated, resident: int) -> float:
        """Of the launch, from the multiprocessor that was simulated."""
        t, sampled = self.trace, len(self.trace.sampled)
        issues = np.append(0.0, np.cumsum(one.timeline[:, s.SELECTED]))

        def at(part: float) -> float:
            return float(np.interp(part * issues[-1], issues, np.arange(issues.size) * BUCKET))

        cycles = one.cycles
        cycles += 2 * (cycles - at(0.5)) * (1 / max(t.whole, 1e-3) - 1)  # what was not kept goes on as the second half of what was
        blocks, own = t.work.size, float(t.work[t.sampled].mean()) or 1.0
        if blocks <= t.active * resident and -(-blocks // t.active) <= sampled:  # all run at once: the slowest one counts
            return cycles * float(np.clip(t.longest.max() / max(1, t.longest[t.sampled].max()), 1.0, 4.0))
        slope = (at(0.8) - at(0.2)) / 0.6 / sampled if sampled > resident and t.whole > 0.98 else cycles / sampled
        return cycles + max(0.0, blocks / t.active * float(t.work.mean()) / own - sampled) * slope

    @cached_property
    def time(self) -> LaunchTime:
        """The prediction."""
        t, m, one = self.trace, self.machine, self.whole
        active = self.cycles(one, t.resident)
        total = max(1.0, one.issued)
        issued = one.issued * float(t.work.sum()) / max(1.0, float(t.work[t.sampled].sum()) * t.whole)
        last = int(one.done.max()) // BUCKET + 1
        return LaunchTime(
            recorded=m.recorded,
            clock_hz=m.clock_hz,
            slots=m.schedulers * m.multiprocessors,
            cycles=self._overhead + active,
            issued=issued,
            active=active,
            stalls={r: float(n) / total for r, n in zip(REASONS, one.reasons, strict=True) if n},
            by_line=self._by_line(one),
            bucket=BUCKET,
            timeline=tuple(map(tuple, (one.timeline[:last] / BUCKET).tolist())),
            issues=self._issues(one),
            parallelism=self._parallelism(),
            ratio=self._ratio(),
            busy=self.busy(),
            occupancy=self.by_occupancy(),
        )

    def _by_line(self, one: Simulated) -> dict[tuple[str, int], dict[str, float]]:
        """What warps wait for at each line; what ptxas adds counts for the next line of its block."""
        found: dict[tuple[str, int], NDArray[np.float64]] = {}
        c = self.code
        for region, start, end in zip(c.regions, c.region_start, c.region_start[1:], strict=False):
            name = self.trace.code.function(region.block).name
            lines = [o.of.span.line if o.of is not None else 0 for o in c.instructions[start:end]]
            known = next((line for line in reversed(lines) if line), 0)
            for n in range(len(lines) - 1, -1, -1):
                known = lines[n] or known
                key = name, known
                found[key] = found.get(key, 0.0) + one.notes[start + n]
        return {key: {r: float(v) for r, v in zip(REASONS, notes, strict=True) if v} for key, notes in sorted(found.items()) if notes.any()}

    @cached_property
    def _times(self) -> Index:
        """How often each region is executed."""
        return np.bincount(self.code.tokens, minlength=len(self.code.regions))

    def _parallelism(self) -> float:
        """Instructions over those of the longest chain, over all regions as often as they are executed."""
        total = longest = 0.0
        for n, often in enumerate(self._times.tolist()):
            start, end = self.code.region_start[n : n + 2]
            depth: dict[int, int] = {}
            for o in self.code.instructions[start:end]:
                own = 1 + max((depth.get(r, 0) for r in o.reads), default=0)
                depth |= dict.fromkeys(o.writes, own)
            total += often * int(end - start)
            longest += often * max(depth.values(), default=0)
        return total / longest if longest else 1.0

    def _ratio(self) -> float:
        """Instructions for each load from global memory."""
        often = np.repeat(self._times, np.diff(self.code.region_start))
        loads = [o.space == "global" and o.what == "ld" for o in self.code.instructions]
        loaded = int(often[np.array(loads, np.bool_)].sum()) if loads else 0
        return (int(often.sum()) - loaded) / loaded if loaded else 0.0

    def _issues(self, one: Simulated) -> tuple[Issue, ...]:
        """The first instructions that the multiprocessor issues."""
        instructions = self.code.instructions
        lines = [o.of.span.line if o.of is not None else 0 for o in instructions]
        return tuple(Issue(cycle, scheduler, warp, instructions[n].opcode, lines[n]) for cycle, scheduler, warp, n in one.log.tolist())

    def by_occupancy(self) -> tuple[tuple[int, float], ...]:
        """(warps resident, cycles of the launch) with fewer and fewer blocks at once."""
        t, points = self.trace, []
        resident = min(t.resident, -(-t.work.size // t.active))
        while resident:
            one = self.whole if resident == t.resident else self.simulate(resident=resident)
            points.append((resident * t.each, self._overhead + self.cycles(one, resident)))
            resident //= 2
        return tuple(reversed(points))

    def busy(self) -> dict[str, float]:
        """For how many cycles each resource of a multiprocessor is busy, and what the rounds of blocks take if nothing else is at work."""
        t, m, a, c = self.trace, self.machine, self.trace.access, self.code
        crowd, each = t.active / m.multiprocessors, t.work.size / t.active
        alone = self.simulate(blocks=1).cycles / max(t.whole, 1e-9)
        scale = each * float(t.work.mean()) / max(1.0, float(t.work[t.sampled].sum()) * t.whole)
        times = np.repeat(np.bincount(c.tokens, minlength=len(c.regions)), np.diff(c.region_start))
        code = c.code[: times.size]
        out = {
            "latency": alone * max(1, -(-each // t.resident)),
            "issue slots": float((times * code[:, s.SLOTS]).sum()) / m.schedulers / m.ticks * scale,
        }
        for n, pipe in enumerate(PIPES):
            used = float((times * code[:, s.PORT])[code[:, s.PIPE] == n].sum()) / m.schedulers / m.ticks * scale
            if used and pipe not in ("none", "branch"):
                out[pipe] = used
        load, store, update = ((a["kind"] == n) for n in (s.GLOBAL_LOAD, s.GLOBAL_STORE, s.GLOBAL_ATOMIC))
        read = np.unique(t.sector[np.repeat(load, a["sectors"])])
        stored = np.maximum(a["sectors"] * max(16, m.store_cost * crowd), a["units"] * max(m.store_line_alone, m.store_line * crowd))[store]
        places = np.unique(t.sector[np.repeat(update, a["sectors"])] >> s.SLICE_BITS).size
        memory = {
            "L1": float(a["units"].sum()) * m.line_cost,
            "L2 reads": read.size * max(m.l2_alone, m.l2_cost * crowd) + np.unique(read >> 2).size * m.l2_line,
            "L2 writes": float(stored.sum()),
            "atomics": float(a["units"][update].sum()) * m.slice_cost * t.active / min(s.SLICES, max(1, places)),
        }
        out |= {n: v / 16 * scale for n, v in memory.items() if v}
        return out | {"DRAM": t.fresh * 32 / m.dram_bytes, "block starts": t.work.size * m.block_interval}
