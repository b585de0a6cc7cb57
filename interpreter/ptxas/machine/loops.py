"""Loops that ptxas writes out: all turns of those whose number it knows, four turns of some others, and what goes with them.

A loop of one block whose counter advances by a constant to a bound that does not change is written out four times; of what is left, two turns
and one have code of their own.  Where the counter is compared without a sign, one turn comes before all that for a counter that begins at the
bound; others pass it by.  Neither a synchronisation nor an atomic operation, nor a call may be in the loop, and it may not load from the space
that it stores to.  The rules are those of ptxas 13.0 for sm_90.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from warplab.assembler.ir import Immediate, Instruction, Register

from ..chains import Chains
from ..unrolling import kept_instructions
from .divergence import Divergence
from .instruction import MachineInstruction
from .selection import SelectedCode

FEW = 4  # turns that become one where their number is not known
LONGEST = 40  # machine instructions of a turn that is written out so
COUNTS = frozenset({"lt", "le", "gt", "ge", "ne", "lo", "ls", "hi", "hs"})
SUMS = frozenset({"IADD3", "IMAD.IADD", "IADD3.X"})
WIDEST = 16  # bytes of one access
STAYS = frozenset({"bar", "atom", "red", "fence"})
TOGETHER = frozenset({"SHFL", "VOTE", "MATCH", "REDUX"})
AROUND = ("ISETP", "PLOP3", "BRA", "ISETP", "BRA", "ISETP", "BRA")  # tests around four turns, two and one
DIVIDED = ("BSSY", "BSYNC", "BSSY", "BSYNC")  # where the lanes of a warp may leave at different turns
BEFORE = ("ISETP", "IADD3", "ISETP", "PLOP3")  # and after a first turn


@dataclass(frozen=True, slots=True)
class WrittenOutLoop:
    """`turns`: of a loop, all of which are written out; 0: four, two and one."""

    turns: int


class UnrolledLoops:
    """The loops of one function, and what their turns become."""

    def __init__(self, selection: SelectedCode, divergence: Divergence) -> None:
        self.selection = selection
        self.divergence = divergence
        self.flow = selection.flow
        self.written_out: dict[int, WrittenOutLoop] = {}
        if selection.plain:
            return
        s = selection.sources
        chains = Chains(self.flow, s.known, s.constants, self.flow.live_in, self.flow.live_out).result()
        often = Counter(b for c in chains for b in c.blocks)
        self._kept = set(kept_instructions(self.flow))
        for loop in self.flow.loops:
            if loop.inside:
                continue
            if often[loop.header] > 1:
                self._all(loop.header, loop.blocks, often[loop.latches[0]])
                continue
            if loop.blocks == (loop.header,):
                self._copy_addresses(loop.header)
            if loop.blocks == (loop.header,) and (test := self._test(loop.header)) is not None:
                turns = self._turns(loop.header, test)
                if turns is not None:
                    self.written_out[loop.header] = WrittenOutLoop(turns)
                elif self._is_unrolled(loop.header):
                    self._few(loop.header, test)

    def _all(self, header: int, blocks: tuple[int, ...], turns: int) -> None:
        if len(blocks) == 1:
            self.written_out[header] = WrittenOutLoop(turns)
            return
        for b in blocks:  # what counts the turns of a longer one is not there
            own = self.selection.blocks[b]
            own[:] = [o for n, o in enumerate(own) if n not in set(counting(own))]

    def _few(self, b: int, test: Instruction) -> None:
        divided = not self.divergence.registers.isdisjoint(self.selection.sources.known[id(test)].read)
        unsigned = test.modifiers[-1][0] in "ub" and test.modifiers[0] != "ne"
        self.written_out[b] = WrittenOutLoop(0)
        before = self.flow.idom[b]
        if before is not None:
            own = self.selection.blocks[before]
            at = len(own) - 1 if own and own[-1].what == "branch" else len(own)
            own[at:at] = [MachineInstruction(o, (), ()) for o in (*(BEFORE if unsigned else ()), *AROUND, *(DIVIDED if divided else ()))]

    def _copy_addresses(self, b: int) -> None:
        """An address to which a constant is added in each turn is kept in two registers that are copied for the accesses, for the most part."""
        own = self.selection.blocks[b]
        bases = {r for o in own if o.accesses for r in o.reads}
        steps = [o.writes[0] for o in own if o.opcode == "IADD3.X" and is_step(o) and o.writes[0] in bases]
        own[:0] = [MachineInstruction("MOV", (r,), (self.selection.code.new_register(),)) for r in (steps * 2)[: -(-3 * len(steps) // 2)]]

    # ------------------------------------------------------------ which

    def _test(self, b: int) -> Instruction | None:
        """The comparison that ends a loop of one block, if a constant is added to what it compares and the other side stays."""
        block = self.flow.blocks[b]
        last = block.terminator
        if last is None or last.guard is None or last.opcode != "bra" or id(block.instructions[0]) in self._kept:
            return None
        known = self.selection.sources.known
        test = next((i for i in reversed(block.instructions) if last.guard.index in known[id(i)].written), None)
        if test is None or test.opcode != "setp" or len(test.modifiers) != 2 or test.modifiers[0] not in COUNTS:
            return None
        counters = 0
        for o in test.operands[1:]:
            written = [i for i in block.instructions if isinstance(o, Register) and o.index in known[id(i)].written]
            if written and not (
                len(written) == 1 and written[0].opcode in ("add", "sub") and isinstance(written[0].operands[2], Immediate)
            ):
                return None
            counters += bool(written)
        return test if counters == 1 else None

    def _turns(self, b: int, test: Instruction) -> int | None:
        """The number of turns where the bound is the counter's first value and a constant."""
        read = self.selection.sources.read[id(test)]
        counter, bound = test.operands[1:]
        made = read.get(bound.index) if isinstance(bound, Register) else None
        if made is None or made.opcode != "add" or made.operands[1] != counter or test.modifiers[0] != "lt":
            return None
        step = next(i for i in self.flow.blocks[b].instructions if i.opcode == "add" and i.operands[0] == counter).operands[2]
        far = made.operands[2]
        if not isinstance(step, Immediate) or not isinstance(far, Immediate) or int(step.value) <= 0:
            return None
        return -(-int(far.value) // int(step.value))

    def _is_unrolled(self, b: int) -> bool:
        own = self.selection.blocks[b]
        stored, loaded = ({o.space for o in own if o.what == what} for what in ("st", "ld"))
        return len(own) <= LONGEST and not any(o.what in STAYS or o.opcode == "CALL" for o in own) and not stored & loaded

    # ------------------------------------------------------------ how many turns become one

    def pieces(self, b: int, turns: int) -> Iterator[tuple[int, int]]:
        """(turns that became one, how often) of so many turns of a block."""
        found = self.written_out.get(b)
        if found is None:
            yield 1, turns
            return
        yield from _pieces(turns, found.turns or FEW)


def _pieces(turns: int, by: int) -> Iterator[tuple[int, int]]:
    full, rest = divmod(turns, by)
    for times, often in ((by, full), (2, rest // 2), (1, rest % 2)):
        if often:
            yield times, often


def counting(own: list[MachineInstruction]) -> Iterator[int]:
    """The instructions of a turn, by number, that only count it."""
    guards = {r for o in own if o.what == "branch" for r in o.reads}
    tested: set[int] = set()
    for n, o in enumerate(own):
        if o.what == "branch":
            yield n
        elif not o.what and o.writes and guards.issuperset(o.writes) and o.of is not None and o.of.opcode == "setp":
            tested.update(o.reads)
            yield n
    for n, o in enumerate(own):
        if is_step(o) and not any(
            set(o.writes) & set(x.reads) for m, x in enumerate(own) if m != n and not (x.of is not None and x.of.opcode == "setp")
        ):
            yield n


def is_step(o: MachineInstruction) -> bool:
    """Is a constant added to a register?"""
    i = o.of
    if o.opcode not in SUMS or i is None or i.opcode not in ("add", "sub") or i.guard is not None:
        return False
    d, a, c = i.operands
    return d == a and isinstance(c, Immediate)


def idle(own: list[MachineInstruction]) -> list[MachineInstruction]:
    """The instructions of a block that lanes pass by with predicates: they are issued, and do nothing."""
    return [MachineInstruction(o.opcode, o.reads, (), o.of, slots=o.slots) for o in own if o.what != "branch"]


def unrolled(own: list[MachineInstruction], times: int, registers: int) -> tuple[list[MachineInstruction], int]:
    """Several turns of a loop as one, and how many registers it needs: only the last turn counts; addresses that a constant is added to
    become offsets; registers of the others get names of their own; loads of neighbouring words in shared memory become one.
    """
    if times == 1:
        return list(own), registers
    accessed = {id(x) for x in own if x.what or x.of is None}
    once = (
        set(counting(own))
        | {n for n, o in enumerate(own) if o.of is None}
        | {n for n, o in enumerate(own) if is_step(o) and all(id(x) in accessed or is_step(x) for x in own if set(o.writes) & set(x.reads))}
    )
    steps = {o.writes[0]: int(o.of.operands[2].value) for o in own if is_step(o) and o.of is not None}  # type: ignore[union-attr]
    out: list[MachineInstruction] = []
    heads: dict[int, MachineInstruction] = {}
    names: dict[int, int] = {}
    for turn in range(times):
        for n, o in enumerate(own):
            if n in once and turn < times - 1:
                continue
            reads = tuple(names.get(r, r) for r in o.reads)
            for w in o.writes:
                names[w] = registers if turn < times - 1 else w
                registers += turn < times - 1
            writes = tuple(names[w] for w in o.writes)
            together = (
                WIDEST // o.width
                if o.width and (o.space, o.what) == ("shared", "ld") and any(steps.get(r) == o.width for r in o.reads)
                else 1
            )
            if together > 1 and turn % together:
                head = heads[n]
                head.writes, head.accesses = head.writes + writes, head.accesses + o.accesses
                head.width += o.width
                head.opcode = "LDS.128" if head.width >= WIDEST else "LDS.64"
                continue
            heads[n] = replace(o, reads=reads, writes=writes)
            out.append(heads[n])
    return out, registers
