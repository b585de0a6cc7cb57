"""Control flow of one function: basic blocks, dominators, loops, reconvergence points and liveness.

`flow(function)` cuts the body into blocks; everything else is worked out from them when first asked for.  Sets of registers
are Python ints: bit i stands for the register whose `index` is i.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from warplab.isa.control import BRANCHES, CALLS, ENDS, RETURNS
from warplab.isa.facts import opcodes
from warplab.isa.notation import Form

from ..ir import Address, Arguments, Element, Function, Immediate, Instruction, Label, Location, Prototype, Register, Statement, Targets
from ..listing import READS_ITS_DESTINATION, has_results, leaves, listing, registers_of
from . import graphs
from .graphs import Loop

PASSING = opcodes("passes_on")


@dataclass(frozen=True, slots=True, eq=False)
class BasicBlock:
    """Instructions that run one after the other: only the last may branch, call or leave."""

    index: int  # in the order of the text
    labels: tuple[Label, ...]
    instructions: tuple[Instruction, ...]  # of nested scopes too; none where a body ends with a label or a guarded branch
    locations: tuple[Location | None, ...]  # the .loc in force at each instruction
    # The taken branch first, fall-through last; of brx.idx one for each place of its table.  A guarded branch to the next
    # statement keeps both, although they are the same.  A block without any leaves the function.
    successors: tuple[int, ...]

    @property
    def terminator(self) -> Instruction | None:
        """The branch, call, ret, exit or trap that ends the block; None where it just runs into the next."""
        last = self.instructions[-1] if self.instructions else None
        return last if last is not None and last.opcode in ENDS else None


@dataclass(frozen=True, eq=False)
class Flow:
    """What the blocks of a function imply."""

    function: Function
    blocks: tuple[BasicBlock, ...]

    @cached_property
    def _successors(self) -> list[tuple[int, ...]]:
        return [b.successors for b in self.blocks]

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that lead to each block, each once, ascending."""
        return tuple(map(tuple, graphs.predecessors(self._successors)))

    @cached_property
    def depth_first(self) -> list[int]:
        """The reachable blocks in reverse postorder."""
        return graphs.postorder(self._successors, [0])[::-1]

    @cached_property
    def reachable(self) -> frozenset[int]:
        """The blocks to which some path leads from the entry."""
        return frozenset(self.depth_first)

    @cached_property
    def idom(self) -> tuple[int | None, ...]:
        """The immediate dominator of each block; None for the entry and for unreachable blocks."""
        return tuple(graphs.dominators(self.depth_first, self.predecessors))

    @cached_property
    def ipdom(self) -> tuple[int | None, ...]:
        """The immediate post-dominator of each block, where diverged lanes reconverge; None where that is the function's end."""
        return tuple(graphs.post_dominators(self._successors, self.depth_first, self.predecessors))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The natural loops, an outer one before those inside it, in the order of their headers."""
        return graphs.natural_loops(self._successors, self.depth_first, self.predecessors, self.idom)

    @cached_property
    def loop_of(self) -> tuple[int | None, ...]:
        """The index of the innermost loop of each block."""
        found: list[int | None] = [None] * len(self.blocks)
        for loop in self.loops:
            for b in loop.own:
                found[b] = loop.index
        return tuple(found)

    @cached_property
    def rpo(self) -> tuple[int, ...]:
        """The reachable blocks in a reverse postorder that keeps loops together: what follows a loop comes after all of it."""
        return tuple(graphs.loop_order(self._successors, self.depth_first, self.loops, self.loop_of))

    @cached_property
    def irreducible(self) -> bool:
        """Is there a loop with two entries?"""
        place = {b: i for i, b in enumerate(self.rpo)}
        back = {(u, loop.header) for loop in self.loops for u in loop.latches}
        return any(place[s] <= place[b] and (b, s) not in back for b in self.rpo for s in self.blocks[b].successors)

    @cached_property
    def live_in(self) -> tuple[int, ...]:
        """The registers whose value at a block's start may still be read."""
        return self._liveness[0]

    @cached_property
    def live_out(self) -> tuple[int, ...]:
        """The registers whose value at a block's end may still be read."""
        return self._liveness[1]

    @cached_property
    def _liveness(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return _liveness(self)

    def live_at_start(self, instructions: Collection[Instruction]) -> int:
        """The registers whose value at the function's start may be read: sure of those that only these instructions name."""
        return _liveness(self, set(map(id, instructions)))[0][0]

    def dominates(self, a: int, b: int) -> bool:
        """Does every path from the entry to block b pass block a?"""
        at: int | None = b
        while at is not None and at != a:
            at = self.idom[at]
        return at == a

    def live_after(self, block: int) -> Iterator[tuple[Instruction, int]]:
        """The instructions of a block from the last to the first, each with what is live after it."""
        live = self.live_out[block]
        for instruction in reversed(self.blocks[block].instructions):
            yield instruction, live
            read, written = accesses(instruction)
            if instruction.guard is None:
                live &= ~_mask(r.index for r in written)
            live |= _mask(r.index for r in read)


def flow(function: Function) -> Flow:
    """The control flow of a function with a body."""
    columns = listing(function)
    statements, ending = columns.statements, columns.shapes_of(ENDS)
    starts = {i for i, s in enumerate(statements) if s.__class__ is Label}
    starts.update([i + 1 for i, s in enumerate(statements) if s.__class__ is Instruction and s.shape in ending])
    cuts = [0, *sorted(starts - {0, len(statements)}), len(statements)]
    pieces: list[tuple[list[Label], Sequence[Instruction], Sequence[Location | None]]] = [([], (), ())]
    location: Location | None = None
    for start, end in itertools.pairwise(cuts):
        labels, instructions, locations = pieces[-1]
        if instructions:
            labels, instructions, locations = [], (), ()
            pieces.append((labels, instructions, locations))
        part = statements[start:end]
        if part and part[0].__class__ is Label:
            labels.append(part.pop(0))  # type: ignore[arg-type]
        if set(map(type, part)) <= {Instruction}:
            instructions, locations = part, (location,) * len(part)  # type: ignore[assignment]
        else:
            instructions, locations, location = _located(part, location)
        pieces[-1] = labels, instructions, locations
    lasts = [instructions[-1] if instructions else None for _, instructions, _ in pieces]
    if lasts[-1] is not None and lasts[-1].opcode in ENDS and not stays(lasts[-1]):
        pieces.append(([], (), ()))  # where lanes fall off the end, as if by ret
        lasts.append(None)
    place = {label: i for i, (labels, _, _) in enumerate(pieces) for label in labels}
    return Flow(
        function,
        tuple(
            BasicBlock(i, tuple(labels), tuple(instructions), tuple(locations), _successors(i, len(pieces), lasts[i], place))
            for i, (labels, instructions, locations) in enumerate(pieces)
        ),
    )


def _located(part: list[Statement], location: Location | None) -> tuple[list[Instruction], list[Location | None], Location | None]:
    """The instructions of a stretch, the .loc in force at each, and the one in force behind it."""
    instructions: list[Instruction] = []
    locations: list[Location | None] = []
    for s in part:
        if s.__class__ is Location:
            location = s
        elif s.__class__ is Instruction:
            instructions.append(s)
            locations.append(location)
    return instructions, locations, location


def accesses(instruction: Instruction) -> tuple[list[Register], list[Register]]:
    """The registers that an instruction reads, its guard too, and those that it writes; one written in part counts as both."""
    read: list[Register] = [instruction.guard] if instruction.guard is not None else []
    written: list[Register] = []
    operands = instruction.operands
    start = 0
    # Plain registers and addresses are nearly all operands of nearly all instructions: they go without calls.
    if operands and _has_results(instruction) and type(operands[0]) is not Address:  # an optional result may be missing before one
        start = 1
        first = operands[0]
        if type(first) is Register:
            written.append(first)
        else:
            for leaf in leaves(first):
                if isinstance(leaf, Element):
                    read.append(leaf.register)
                written.extend(registers_of(leaf))
        if instruction.opcode in READS_ITS_DESTINATION:
            read += written
    for operand in operands[start:] if start else operands:
        if type(operand) is Register:
            read.append(operand)
        elif type(operand) is Address and not operand.parts:
            if operand.base is not None:
                read.extend(registers_of(operand.base))
        elif type(operand) is not Immediate:
            for leaf in leaves(operand):
                read.extend(registers_of(leaf))
    return read, written


def passed_on(instruction: Instruction) -> list[Register]:
    """The registers that an instruction reads only to hand their values on: compilers pack and pass on halves that are never used."""
    if instruction.opcode not in PASSING:
        return []
    start = 1 if _has_results(instruction) else 0
    values = [o for o in instruction.operands[start:] if type(o) is not Address]
    return [r for o in values for leaf in leaves(o) for r in registers_of(leaf)]


def _has_results(instruction: Instruction) -> bool:
    if instruction.opcode in CALLS:
        return len(instruction.operands) > 1 and type(instruction.operands[0]) is Arguments
    form = instruction.form
    if form is None:
        return False
    known = _RESULTS.get(id(form))
    if known is None:
        _FORMS.append(form)
        known = _RESULTS[id(form)] = has_results(form)
    return known


_RESULTS: dict[int, bool] = {}  # by identity of forms, which _FORMS keeps alive
_FORMS: list[Form] = []


def stays(last: Instruction) -> bool:
    """Can no lane go on to the next statement?"""
    if last.guard is not None:
        return False
    if last.opcode not in CALLS:
        return last.opcode in ENDS
    return any(
        operand.directive(".noreturn") is not None if isinstance(operand, Function) else operand.noreturn
        for operand in last.operands
        if isinstance(operand, Function | Prototype)
    )


def _successors(i: int, count: int, last: Instruction | None, place: dict[Label, int]) -> tuple[int, ...]:
    taken: tuple[int, ...] = ()
    if last is not None and last.opcode in BRANCHES:
        for operand in last.operands:
            if isinstance(operand, Label):
                taken = (place[operand],)
            elif isinstance(operand, Targets):
                taken = tuple(place[t] for t in operand.targets if isinstance(t, Label) and t in place)
    on = i + 1 < count and not (last is not None and stays(last))
    return (*taken, i + 1) if on else taken


def _liveness(flow: Flow, only: Collection[int] | None = None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Backward data flow over bit masks: in = reads before any write | (out and not surely written).

    Where only some registers matter, `only` may give the instructions that name them, by identity.
    """
    blocks = flow.blocks
    use, kill = [0] * len(blocks), [0] * len(blocks)
    for block in blocks:
        first: set[int] = set()
        gone: set[int] = set()
        for instruction in block.instructions if only is None else [s for s in block.instructions if id(s) in only]:
            read, written = accesses(instruction)
            first.update(r.index for r in read if r.index not in gone)
            if instruction.guard is None:
                gone.update(r.index for r in written)
        kill[block.index] = _mask(gone)
        use[block.index] = _mask(first) | _leaving(flow.function, block) & ~kill[block.index]
    before = [[p for p in flow.predecessors[b.index] if p in flow.reachable] for b in blocks]
    live_out = graphs.solve(
        before, [_leaving(flow.function, b) for b in blocks], lambda b, out: use[b] | out & ~kill[b], flow.depth_first[::-1]
    )
    live_in = [use[b] | out & ~kill[b] for b, out in enumerate(live_out)]
    return tuple(live_in), tuple(live_out)


def _leaving(function: Function, block: BasicBlock) -> int:
    """The .reg results of the function where the block may return to the caller."""
    last = block.instructions[-1] if block.instructions else None
    if (last is None or last.opcode not in RETURNS) and (block.successors or (last is not None and stays(last))):
        return 0
    return _mask(v.register.index for v in function.returns if v.register is not None)


def _mask(indices: Iterable[int]) -> int:
    found = sorted(indices)
    if not found:
        return 0
    if len(found) < 4:
        mask = 0
        for i in found:
            mask |= 1 << i
        return mask
    bits = bytearray(found[-1] // 8 + 1)
    for i in found:
        bits[i >> 3] |= 1 << (i & 7)
    return int.from_bytes(bits, "little")
