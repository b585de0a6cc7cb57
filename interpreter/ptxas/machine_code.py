"""The machine code that ptxas makes of a kernel, as far as time depends on it: which instructions, of which kind, in which order.

Each block of PTX becomes a list of machine instructions.  Turns of a loop that become one have code of their own.  The rules are answers of
ptxas 13.0 for sm_90, each in its file of machine/; the tests compare the instructions of recorded launches with an H200's count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from weakref import WeakKeyDictionary

from warplab.assembler.flow import flow
from warplab.assembler.ir import Function

from ..plan.shapes import known
from ..program import LoadedKernel
from .contraction import NOTHING, contract
from .joined import joined_accesses
from .machine.control import Control
from .machine.instruction import MachineInstruction
from .machine.kinds import kind_of
from .machine.loops import UnrolledLoops, idle, unrolled
from .machine.merging import Merging
from .machine.ordering import ordered
from .machine.selection import SelectedCode
from .machine.sources import Sources

_known: WeakKeyDictionary[LoadedKernel, dict[tuple[int, int], MachineCode]] = WeakKeyDictionary()


def machine_code(kernel: LoadedKernel, capability: tuple[int, int] = (9, 0)) -> MachineCode:
    """A kernel's machine code for a device; kept as long as the kernel."""
    made = _known.setdefault(kernel, {})
    if capability not in made:
        made[capability] = MachineCode(kernel, capability)
    return made[capability]


class MachineCode:
    """The machine code of a kernel and of the functions that it reaches; their blocks are numbered together."""

    def __init__(self, kernel: LoadedKernel, capability: tuple[int, int]) -> None:
        self.blocks: list[list[MachineInstruction]] = []
        self.leader: dict[int, int] = {}  # identity of a block's first instruction -> number of the block
        self.number: dict[tuple[int, int], int] = {}  # identity of a function, number of a block in it -> number of the block
        self.idle: dict[int, list[tuple[int, int]]] = {}  # block -> (block behind it that has predicates, its instructions)
        self.registers = 0
        self._loops: list[tuple[UnrolledLoops, int]] = []  # of each block's function, and the block in it
        self._regions: dict[tuple[int, int], list[MachineInstruction]] = {}
        for f in kernel.reached:
            if f.body is not None:
                self._add(kernel, f, capability)

    def _add(self, kernel: LoadedKernel, f: Function, capability: tuple[int, int]) -> None:
        graph = flow(f)
        facts = {id(i): known(i) for b in graph.depth_first for i in graph.blocks[b].instructions}
        sources = Sources(graph, facts)
        plain = id(f) in kernel.program.unoptimised
        merging = Merging(sources, NOTHING if plain else contract(graph, facts, kernel.program.fmad), capability)
        selection = SelectedCode(sources, merging, joined_accesses(kernel, f), capability, plain=plain)
        control = Control(selection)
        loops = UnrolledLoops(selection, control.divergence)
        for b in graph.rpo:
            instructions = graph.blocks[b].instructions
            if instructions:
                self.leader[id(instructions[0])] = self.number[id(f), b] = len(self.blocks)
                self.blocks.append(_renumbered(selection.blocks[b], self.registers))
                self._loops.append((loops, b))
        for side, p in control.predicated.items():
            self.idle.setdefault(self.number[id(f), p.before], []).append((self.number[id(f), side], p.idle))
        self.registers += selection.code.registers

    # ------------------------------------------------------------ counts

    def issued(self, executed: Mapping[int, int]) -> dict[int, dict[str, int]]:
        """How many machine instructions of each rate warps issue for each instruction of PTX, by identity, if they executed each that often.

        Those that ptxas adds belong to the first instruction of their block.  A loop whose turns become one has as many turns each time as on average.
        """
        out: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for leader, block in self.leader.items():
            entered = executed.get(leader, 0)
            before = self._before(block)
            starts = min(entered, executed.get(before, entered) or entered)
            if not starts:
                continue
            turns = max(1, round(entered / starts))
            for times, often in self.pieces(block, turns):
                for o in self.region(block, times):
                    rate = kind_of(o.opcode).rate
                    out[leader if o.of is None else id(o.of)][rate] += o.slots * often * entered / turns
            for side, many in self.idle.get(block, ()):
                out[leader][""] += many * max(0, entered - executed.get(self._leaders[side], 0))
        return {key: {rate: round(n) for rate, n in by_rate.items()} for key, by_rate in out.items()}

    @cached_property
    def _leaders(self) -> dict[int, int]:
        return {block: leader for leader, block in self.leader.items()}

    def _before(self, block: int) -> int:
        """The first instruction of the block through which one that branches to itself is entered; else its own."""
        loops, b = self._loops[block]
        before = loops.flow.idom[b]
        if b not in loops.flow.blocks[b].successors or before is None:
            return self._leaders[block]
        return id(loops.flow.blocks[before].instructions[0]) if loops.flow.blocks[before].instructions else self._leaders[block]

    # ------------------------------------------------------------ loops

    def pieces(self, block: int, turns: int) -> Iterator[tuple[int, int]]:
        """What so many turns of a block in a row become: (turns that became one, how often)."""
        loops, b = self._loops[block]
        return loops.pieces(b, turns)

    def function(self, block: int) -> Function:
        """The function that a block belongs to."""
        return self._loops[block][0].flow.function

    def region(self, block: int, times: int = 1) -> list[MachineInstruction]:
        """The instructions of so many turns that became one, in their order; 0 turns: those of a block that lanes pass by."""
        key = block, times
        if not times:
            return idle(self.region(block))
        if key not in self._regions:
            code, used = unrolled(self.blocks[block], times, self.registers)
            self.most_registers = max(self.most_registers, used)
            self._regions[key] = ordered(code)
        return self._regions[key]

    @cached_property
    def most_registers(self) -> int:
        """The registers that all regions asked for so far use."""
        return self.registers

    @cached_property
    def sites(self) -> dict[int, int]:
        """Of the accesses and operations on mbarriers, by identity of the PTX, a number each."""
        found = dict.fromkeys(i for block in self.blocks for o in block for i in (*o.accesses, o.site) if i is not None)
        return {id(i): n for n, i in enumerate(found)}


def _renumbered(block: list[MachineInstruction], start: int) -> list[MachineInstruction]:
    for o in block if start else ():
        o.reads, o.writes = tuple(start + r for r in o.reads), tuple(start + w for w in o.writes)
    return block
