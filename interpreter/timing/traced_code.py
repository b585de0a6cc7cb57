"""A trace as arrays that the simulation reads: regions of machine code, the regions that each warp executes, its accesses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Immediate

from ..ptxas.machine.instruction import ASYNCHRONOUS, MachineInstruction
from ..ptxas.machine.kinds import PIPES, kind_of
from . import words as s
from .machine import TimedDevice
from .traced_blocks import TracedBlocks

Index = NDArray[np.int64]
DOING = {"bar": s.MEET, "branch": s.JUMP, "exit": s.LEAVE, "ld": s.ACCESS, "st": s.ACCESS, "atom": s.ACCESS, "red": s.ACCESS}
GROUPING = {
    "LDGSTS": s.COPY,
    "LDGDEPBAR": s.COMMIT,
    "DEPBAR": s.AWAIT,
    "HGMMA": s.MULTIPLY,
    "WARPGROUP.ARRIVE": s.COMMIT,
    "WARPGROUP.DEPBAR": s.AWAIT,
}
BARRIER, CLUSTER_BARRIER = 15, 110  # cycles from the last arrival to the next instruction
COLUMNS, SHAPE = 64, re.compile(r"m64n(\d+)k\d+")  # of the product whose time is known
FAST = ("lsu", "branch", "none")  # pipes whose latency is not that of arithmetic


@dataclass(frozen=True, slots=True)
class CodeRegion:
    """Some turns of a block that became one; 0 turns: its predicated instructions where no lane takes part."""

    block: int
    turns: int


class TracedCode:
    """What the warps of a trace execute, instruction by instruction."""

    def __init__(self, trace: TracedBlocks, machine: TimedDevice) -> None:
        self.trace, self.machine = trace, machine
        warp, block, clock = trace.entries[:, np.lexsort((trace.entries[2], trace.entries[0]))]
        self.regions: list[CodeRegion] = []
        self._numbers: dict[CodeRegion, int] = {}
        token, self.token_warp, self.token_clock = self._tokens(warp, block, clock)
        self.tokens = token
        self.first = np.searchsorted(self.token_warp, np.arange(len(trace.sampled) * trace.each + 1))
        bodies = [trace.code.region(r.block, r.turns) for r in self.regions]
        self.instructions = list(chain.from_iterable(bodies))
        self.region_start = np.fromiter(accumulate(map(len, bodies), initial=0), np.int64, len(bodies) + 1)
        self.sites = max(1, len(trace.code.sites))
        self.code, self.lists, self.registers = self._columns()
        self._accesses()

    # ------------------------------------------------------------ tokens

    def _number(self, region: CodeRegion) -> int:
        known = self._numbers.get(region)
        if known is None:
            known = self._numbers[region] = len(self.regions)
            self.regions.append(region)
        return known

    def _tokens(self, warp: Index, block: Index, clock: Index) -> tuple[Index, Index, Index]:
        """The regions that warps execute: number, warp and clock of each, in order."""
        if not warp.size:
            return warp, warp, clock
        new = np.ones(warp.size, np.bool_)
        new[1:] = (warp[1:] != warp[:-1]) | (block[1:] != block[:-1])
        start = np.flatnonzero(new)
        length = np.diff(np.append(start, warp.size))
        kinds, which = np.unique(np.stack([block[start], length]), axis=1, return_inverse=True)
        which = which.reshape(-1)
        made = [self._run(b, n) for b, n in kinds.T.tolist()]  # of each kind of run: the regions, and the turns before each
        count = np.array([len(m) for m, _ in made])
        flat, turns = (np.array(list(chain.from_iterable(m[k] for m in made)), np.int64) for k in (0, 1))
        begin = np.cumsum(count) - count
        run = np.repeat(np.arange(start.size), count[which])
        inside = np.arange(run.size) - np.repeat(np.cumsum(count[which]) - count[which], count[which])
        at = begin[which[run]] + inside
        entry = start[run] + turns[at]
        token, order = flat[at], 2 * np.arange(run.size)
        idle_token, idle_order, idle_run = self._idle(run, block[start], warp[start])
        order = np.argsort(np.concatenate([order, idle_order]), kind="stable")
        return (
            np.concatenate([token, idle_token])[order],
            np.concatenate([warp[entry], warp[start[idle_run]]])[order],
            np.concatenate([clock[entry], clock[start[idle_run]]])[order],
        )

    def _run(self, block: int, turns: int) -> tuple[list[int], list[int]]:
        """So many turns of a block in a row."""
        numbers: list[int] = []
        before: list[int] = []
        done = 0
        for times, often in self.trace.code.pieces(block, turns):
            region = self._number(CodeRegion(block, times))
            numbers += [region] * often
            before += [done + n * times for n in range(often)]
            done += times * often
        return numbers, before

    def _idle(self, run: Index, block: Index, warp: Index) -> tuple[Index, Index, Index]:
        """Predicated blocks that warps pass by: (region, place in the order of tokens, run before it)."""
        last = np.append(np.flatnonzero(run[1:] != run[:-1]), run.size - 1)  # the last token of each run
        following = np.append(np.where(warp[1:] == warp[:-1], block[1:], -1), -1)
        tokens, places, runs = [run[:0]], [run[:0]], [run[:0]]
        for before, sides in self.trace.code.idle.items():
            for side, _ in sides:
                rows = np.flatnonzero((block == before) & (following != side))
                if rows.size:
                    tokens.append(np.full(rows.size, self._number(CodeRegion(side, 0))))
                    places.append(2 * last[rows] + 1)
                    runs.append(rows)
        return np.concatenate(tokens), np.concatenate(places), np.concatenate(runs)

    # ------------------------------------------------------------ instructions

    def _columns(self) -> tuple[Index, Index, int]:
        """The instructions as words, and their lists of registers; how many registers there are."""
        m, ticks = self.machine, self.machine.ticks
        code = np.zeros((max(1, len(self.instructions)), s.INSTRUCTION), np.int64)
        lists: list[int] = []
        for row, o in zip(code, self.instructions, strict=False):
            kind = kind_of(o.opcode)
            pipe = PIPES.index(kind.pipe)
            slow = 1.0 if kind.pipe in FAST else m.arithmetic
            row[s.DO] = GROUPING.get(o.opcode, DOING.get(o.what, s.PLAIN))
            if row[s.DO] in (s.ACCESS, s.COPY) and not o.accesses:
                row[s.DO] = s.PLAIN
            row[s.PIPE], row[s.CLASS] = pipe, _class(o, kind.pipe)
            columns = _columns_of(o)
            row[s.PORT] = round(m.port(kind) * columns / COLUMNS * ticks)
            row[s.GROUPED] = s.PRODUCTS if o.opcode == "HGMMA" or o.opcode.startswith("WARPGROUP") else s.COPIES
            row[s.LATENCY], row[s.SLOTS] = round(kind.latency * slow) * ticks, o.slots * ticks
            if row[s.DO] == s.MEET:
                of_cluster = o.of is not None and "cluster" in o.of.modifiers
                row[s.LATENCY] = (CLUSTER_BARRIER if of_cluster else BARRIER) * ticks
                row[s.DO] = s.PLAIN if o.opcode == "UCGABAR_ARV" else s.MEET
            if o.opcode in ASYNCHRONOUS and o.of is not None:
                row[s.DO], row[s.SITE] = s.SYNC, self.trace.code.sites[id(o.of)]
            elif o.accesses:
                row[s.SITE] = self.trace.code.sites[id(o.accesses[0])]
                row[s.TAKES] = sum(a is o.accesses[0] for a in o.accesses)
            elif row[s.DO] == s.AWAIT:
                row[s.TAKES] = _left(o)
            row[s.READS] = len(lists)
            lists += o.reads
            row[s.WRITES] = len(lists)
            lists += o.writes
            row[s.END] = len(lists)
        return code, np.array(lists or [0], np.int64), max(lists, default=0) + 1

    def _accesses(self) -> None:
        """The accesses of each warp and site in their order, each with the token to which it belongs."""
        a = self.trace.access
        warps = len(self.trace.sampled) * self.trace.each
        cell = a["warp"] * self.sites + a["site"]
        order = np.lexsort((a["clock"], cell))
        self.starts = np.searchsorted(cell[order], np.arange(warps * self.sites + 1))
        place, at = self.token_warp << 32 | self.token_clock, (a["warp"] << 32 | a["clock"])[order]
        begin = np.cumsum(a["sectors"]) - a["sectors"]
        records = np.zeros((max(1, order.size), s.RECORD), np.int64)
        columns = {s.R_TOKEN: np.searchsorted(place, at, side="right") - 1, s.R_FIRST: begin[order]}
        columns |= {
            n: a[name][order]
            for n, name in ((s.R_KIND, "kind"), (s.R_UNITS, "units"), (s.R_COUNT, "sectors"), (s.R_FULL, "full"), (s.R_PHASE, "phase"))
        }
        for n, values in columns.items():
            records[: order.size, n] = values
        self.records = records
        ends = a["phase"][(a["kind"] == s.ARRIVES) | (a["kind"] == s.BULK)]
        self.phases = np.zeros((int(a["phase"].max(initial=0)) + 1, s.PHASE_SIZE), np.int64)
        self.phases[:, s.LEFT] = np.bincount(ends, minlength=len(self.phases))
        names, self.uses = np.unique(self.trace.sector, return_inverse=True) if self.trace.sector.size else (np.zeros(1, np.int64),) * 2
        self.sectors = np.zeros((names.size, s.SECTOR), np.int64)
        self.sectors[:, s.LINE] = np.unique(names >> 2, return_inverse=True)[1]
        self.sectors[:, s.SLICE] = (names >> s.SLICE_BITS) % s.SLICES
        self.fresh = (~self.trace.late).astype(np.int64) if self.trace.sector.size else np.zeros(1, np.int64)


def _left(o: MachineInstruction) -> int:
    """The groups of copies that may be under way behind an instruction that waits for the others."""
    given = o.of.operands if o.of is not None else ()
    return next((int(x.value) for x in given if isinstance(x, Immediate)), 0)


def _columns_of(o: MachineInstruction) -> int:
    """Of a warpgroup's product: m64n128k16 has 128."""
    if o.opcode != "HGMMA" or o.of is None:
        return COLUMNS
    shape = next((SHAPE.fullmatch(m) for m in o.of.modifiers if m.startswith("m64n")), None)
    return int(shape[1]) if shape else COLUMNS


def _class(o: MachineInstruction, pipe: str) -> int:
    """What a warp that needs the result waits for."""
    if o.opcode == "WARPGROUP.DEPBAR":
        return s.BARRIER
    if o.opcode == "DEPBAR":
        return s.LONG
    if o.opcode.startswith("MEMBAR"):
        return s.MEMBAR
    if o.space in ("global", "local") or o.opcode.endswith(".CLUSTER"):
        return s.LONG
    return s.SHORT if o.space or pipe in ("lsu", "sfu") or o.opcode == "LDC" else s.WAIT
