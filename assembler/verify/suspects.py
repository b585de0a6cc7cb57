"""Quick looks over a function's listing: which registers the warnings must look at closely.  A register that is not named here is in order.

Registers are told by identity; what stands here asks the listing's columns and loops over basic blocks, rarely over instructions.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable
from itertools import accumulate, chain, count, repeat

from .. import graphs
from ..flow import Flow
from ..ir import Arguments, Element, Operand, Register, SpecialRegister
from ..listing import Listing, leaves, registers_of

Numbers = dict[int, int]  # register -> number of an instruction
# Every lane reads its own value, whatever the others read.
DIVERGENT = frozenset(
    {"%tid", "%laneid", "%clock", "%clock64", "%clock_hi", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"}
)
LOADS = frozenset({"ld", "ldu", "atom", "shfl", "tex", "tld4", "suld", "ldmatrix", "mma", "wmma", "wgmma"})


def written(columns: Listing) -> set[int]:
    """The registers that some instruction writes."""
    found = set(map(id, columns.results))
    for o in _compound(columns.results).values():
        found.update(id(r) for leaf in leaves(o) for r in registers_of(leaf))
    if "call" in columns.opcodes:
        for s in columns.instructions:
            if s.opcode == "call" and len(s.operands) > 1 and isinstance(s.operands[0], Arguments):
                found.update(map(id, columns.inside.get(id(s.operands[0]), ())))
    return found


def _compound(results: Iterable[Operand | None]) -> dict[int, Operand]:
    return {id(o): o for o in results if o is not None and o.__class__ is not Register}


def read_early(columns: Listing, graph: Flow) -> set[int]:
    """The registers that may be read before they are written: all but those whose first write comes before all reads on every way."""
    first, last = _reads(columns)
    births = _births(columns)
    ranges = _ranges(graph)
    ends = list(chain.from_iterable([repeat(end, end - start) for start, end in ranges]))
    found = {r for r, i in first.items() if births.get(r, i) >= i}
    # Most registers live and die within the block that writes them.
    wide = {r: births[r] for r, i in last.items() if r not in found and i >= ends[births[r]]}
    if not wide:
        return found
    home = {r: bisect.bisect_right(ranges, i, key=_start) - 1 for r, i in wide.items()}
    holders = {i: held for i, rs in columns.inside.items() if (held := [id(r) for r in rs if id(r) in wide])}
    dominates: Callable[[int, int], bool] | None = None
    for b, (start, end) in enumerate(ranges):
        if b not in graph.reachable:
            continue
        here = set(map(id, chain.from_iterable(columns.sources[start:end])))
        here.update([id(s.guard) for s in columns.instructions[start:end] if s.guard is not None])
        named = here & wide.keys()
        named.update(*[holders[i] for i in here & holders.keys()])
        for r in named:
            if home[r] not in (0, b):
                dominates = dominates or _dominance(graph)
                if not dominates(home[r], b):
                    found.add(r)
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


def _reads(columns: Listing) -> tuple[Numbers, Numbers]:
    """The first and the last instruction that reads each register."""
    lengths = map(len, columns.sources)
    ids = list(map(id, chain.from_iterable(columns.sources)))
    numbers = list(chain.from_iterable(map(repeat, count(), lengths)))
    last = dict(zip(ids, numbers, strict=True))
    first = dict(zip(reversed(ids), reversed(numbers), strict=True))
    registers = columns.registers
    compound = [(first[i], last[i], rs) for i, rs in columns.inside.items() if i in first]
    compound += [(n, n, (s.guard,)) for n, s in enumerate(columns.instructions) if s.guard is not None]
    for n, r in enumerate(columns.results):
        if r is not None and r.__class__ is not Register:  # a register that is written in part is read as well
            compound += [(n, n, (leaf.register,)) for leaf in leaves(r) if isinstance(leaf, Element)]
    for low, high, rs in compound:
        for i in map(id, rs):
            if first.get(i, low) >= low:
                first[i] = low
            if last.get(i, high) <= high:
                last[i] = high
    return {r: first[r] for r in first.keys() & registers}, {r: last[r] for r in last.keys() & registers}


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
    memory = {i for i, form in columns.forms.items() if form.opcode in LOADS}
    numbers = _reachable(graph)
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
            if s.opcode == "call" and s.operands:
                unsure.update(_written(s.operands[0]) if isinstance(s.operands[0], Arguments) and len(s.operands) > 1 else ())
        elif id(s.form) in memory:
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
