"""Quick looks over a function's listing: which registers the warnings must look at closely.  A register that is not named here is in order.

Registers are told by identity; what stands here asks the listing's columns and loops over basic blocks, rarely over instructions.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from warplab.isa.control import CALLS, EXITS, JUMPS
from warplab.isa.facts import opcodes

from ..flow import PASSING, Flow, accesses, graphs
from ..ir import Address, Arguments, Element, Instruction, Operand, Register, SpecialRegister
from ..listing import Listing, leaves, registers_of

Numbers = dict[int, int]  # register -> number of an instruction
# Every lane reads its own value, whatever the others read.
DIVERGENT = frozenset(
    {"%tid", "%laneid", "%clock", "%clock64", "%clock_hi", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"}
)
LOADS = opcodes("result_from_elsewhere")


def written(columns: Listing) -> set[int]:
    """The registers that some instruction writes."""
    found = set(map(id, columns.results))
    for o in _compound(columns.results).values():
        found.update(id(r) for leaf in leaves(o) for r in registers_of(leaf))
    if not CALLS.isdisjoint(columns.opcodes):
        for s in columns.instructions:
            if s.opcode in CALLS and len(s.operands) > 1 and isinstance(s.operands[0], Arguments):
                found.update(map(id, columns.inside.get(id(s.operands[0]), ())))
    return found


def _compound(results: Iterable[Operand | None]) -> dict[int, Operand]:
    return {id(o): o for o in results if o is not None and o.__class__ is not Register}


def read_early(columns: Listing, graph: Flow) -> set[int]:
    """The registers that may be read before they are written: all but those whose first write comes before all reads on every way."""
    ranges = _ranges(graph)
    births = _births(columns)
    inside, found = columns.inside, set[int]()
    passing = columns.shapes_of(PASSING)
    dominates: Callable[[int, int], bool] | None = None
    ready = columns.others.keys() - inside.keys()  # what may be read in the block: besides constants what it has written or read
    for b, (start, end) in enumerate(ranges):
        if b not in graph.reachable:
            continue
        added: list[int] = []
        stretch = slice(start, end)
        for s, read, result in zip(columns.instructions[stretch], columns.sources[stretch], columns.results[stretch], strict=True):
            if s.shape in passing:
                read = tuple([o for o in read if o.__class__ is Address])
            if not ready.issuperset(map(id, read)) or (s.guard is not None and id(s.guard) not in ready):
                for o in (*read, s.guard):
                    if o is None or id(o) in ready:
                        continue
                    for r in inside.get(id(o), (o,)):
                        i = id(r)
                        if i in ready or i in found:
                            continue
                        home = bisect.bisect_right(ranges, births[i], key=_start) - 1 if i in births else b
                        if home == b:
                            found.add(i)
                        elif home:
                            dominates = dominates or _dominance(graph)
                            if not dominates(home, b):
                                found.add(i)
                        ready.add(i)
                        added.append(i)
                    ready.add(id(o))
                    added.append(id(o))
            if result is None:
                continue
            if result.__class__ is not Register:
                parts = [leaf for leaf in leaves(result) if isinstance(leaf, Element)]  # a register that is written in part is read as well
                found.update([id(p.register) for p in parts if id(p.register) not in ready])
            if s.guard is None:
                new = [id(result)] if result.__class__ is Register else [id(o) for o in leaves(result) if isinstance(o, Register)]
                ready.update(new)
                added += new
        ready.difference_update(added)
    return found


def _ranges(graph: Flow) -> list[tuple[int, int]]:
    """The numbers of each block's first instruction and of the one behind its last."""
    ends = list(accumulate([len(b.instructions) for b in graph.blocks]))
    return list(zip([0, *ends], ends, strict=False))


def _start(stretch: tuple[int, int]) -> int:
    return stretch[0]


def _dominance(graph: Flow) -> Callable[[int, int], bool]:
    """Whether all ways to the second block lead through the first."""
    times = graphs.intervals(graph.idom, graph.depth_first)

    def dominates(a: int, b: int) -> bool:
        return a in times and times[a][0] <= times[b][0] and times[b][1] <= times[a][1]

    return dominates


def _births(columns: Listing) -> Numbers:
    """The first instruction that writes each register whatever its guard."""
    ids = list(map(id, columns.results))
    found = dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))
    guarded = {n for n, s in enumerate(columns.instructions) if s.guard is not None}
    if guarded:
        pairs = [(i, n) for n, i in enumerate(ids) if n not in guarded]
        found = dict(reversed(pairs))
    for n, o in enumerate(columns.results):
        if o is not None and o.__class__ is not Register and n not in guarded:
            for leaf in leaves(o):
                if isinstance(leaf, Register) and found.get(id(leaf), n) >= n:
                    found[id(leaf)] = n
    return found


def uneven(columns: Listing, graph: Flow) -> set[int]:
    """The registers whose value surely depends on the lane: computed from %tid and its kin alone, without memory."""
    numbers, loading = _reachable(graph), columns.shapes_of(LOADS)
    instructions, results, sources = columns.instructions, columns.results, columns.sources
    holders: dict[int, list[int]] = {}
    for i, registers in columns.inside.items():
        for r in registers:
            holders.setdefault(id(r), []).append(i)
    found = {i for i, o in columns.others.items() if isinstance(o, SpecialRegister) and o.name in DIVERGENT}
    unsure: set[int] = set()
    steps: list[tuple[Operand, tuple[Operand, ...]]] = []
    for n in numbers:
        s, result = instructions[n], results[n]
        if result is None:
            if s.opcode in CALLS and s.operands:
                unsure.update(_written(s.operands[0]) if isinstance(s.operands[0], Arguments) and len(s.operands) > 1 else ())
        elif s.shape in loading:
            unsure.update(_written(result))
        else:
            steps.append((result, sources[n] if s.guard is None else (*sources[n], s.guard)))
    changed = True
    while changed:
        changed = False
        for result, read in steps:
            if id(result) not in found and not found.isdisjoint(map(id, read)):
                changed = True
                found.add(id(result))
                for w in _written(result):
                    found.add(w)
                    found.update(holders.get(w, ()))
    return found - unsure


def _written(result: Operand) -> list[int]:
    return [id(result)] if result.__class__ is Register else [id(r) for leaf in leaves(result) for r in registers_of(leaf)]


def _reachable(graph: Flow) -> list[int]:
    return list(chain.from_iterable([range(start, end) for b, (start, end) in enumerate(_ranges(graph)) if b in graph.reachable]))


def uneven_branches(columns: Listing, graph: Flow) -> Iterator[tuple[int, int]]:
    """The blocks that end in a branch which surely parts the lanes of a warp, each with the block where they meet again.

    Not those behind which one side does nothing but end its lanes: these are not waited for.
    """
    leaving = {b.index for b in graph.blocks if not b.instructions or b.instructions[0].opcode in EXITS}
    found = uneven(columns, graph)
    for block in graph.blocks:
        branch, meet = block.terminator, graph.ipdom[block.index]
        if branch is None or branch.opcode not in JUMPS or id(branch.guard) not in found or block.index not in graph.reachable:
            continue
        if meet is not None and meet not in leaving and not _made_even(block.instructions[:-1], branch.guard, found):
            yield block.index, meet


def _made_even(before: Sequence[Instruction], guard: Register | None, uneven: Collection[int]) -> bool:
    """Does the last instruction that sets the guard give all lanes the same, though the register serves for other things elsewhere?"""
    for instruction in reversed(before):
        read, written = accesses(instruction)
        if guard in written:
            return instruction.guard is None and not _reads_lane(instruction) and not any(id(r) in uneven for r in read)
    return False


def _reads_lane(instruction: Instruction) -> bool:
    return any(isinstance(o, SpecialRegister) and o.name in DIVERGENT for o in instruction.operands)
