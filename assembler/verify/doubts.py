"""Whether a function may deserve a warning: asked of its outline, before anyone looks at its statements."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from .. import graphs
from ..flow import Flow
from ..ir import Declaration, Function, Register
from ..listing import Listing
from .outline import BOILERPLATE, Ints, Outline, outline
from .roles import GIVEN, LANE, PASSED_ON, READ, SOMETIMES, WRITTEN

NEVER = 1 << 62  # behind all statements


def doubts(function: Function, columns: Listing) -> tuple[list[Register], bool] | None:
    """Registers that are declared by their own names and not used, and whether another warning may be true; None where nothing is sure."""
    o = outline(function)
    if o is None:
        return None
    given = [o.numbers.of(v.register.name) for v in (*function.params, *function.returns) if v.register is not None]
    declared = [r for s in columns.loose if isinstance(s, Declaration) for r in s.registers if r.name != BOILERPLATE]
    unused = [r for r in declared if r.name not in o.numbers and id(r) not in o.numbers]
    reachable = np.zeros(len(o.starts), bool)
    reachable[list(o.graph.reachable)] = True
    total = o.numbers.total
    wrong = o.unused or _unreachable(o, reachable) or _falls_off(o) or _read_wrongly(o, given, reachable, total)
    return unused, wrong or (bool(o.barriers) and _barriers(o, total))


def _unreachable(o: Outline, reachable: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> bool:
    stops = [*o.starts[1:], o.count]
    return any(not reachable[i] and start < stops[i] for i, start in enumerate(o.starts))


def _falls_off(o: Outline) -> bool:
    """Can lanes run to the end without ret or exit?"""
    stops = [*o.starts[1:], o.count]
    for i in o.graph.reachable:
        if not o.graph.blocks[i].successors:
            end = o.ends.get(stops[i] - 1) if o.starts[i] < stops[i] else None
            if end is None or end.guarded:
                return True
    return False


def _read_wrongly(o: Outline, given: Collection[int], reachable: np.ndarray[tuple[int], np.dtype[np.bool_]], total: int) -> bool:
    """May a register be read that is never written, or not written before on some way?"""
    written = np.zeros(total, bool)
    written[o.registers[(o.roles & (WRITTEN | SOMETIMES)) > 0]] = True
    passed = np.zeros(total, bool)
    passed[o.registers[o.roles == PASSED_ON]] = True
    reads = o.roles == READ
    registers, rows = o.registers[reads], o.rows[reads]
    called = o.registers[o.roles == GIVEN]
    known = np.zeros(total, bool)  # the reader may know better of what is written under a guard or in parts
    known[o.registers[o.roles == SOMETIMES]] = True
    known[list(given)] = True
    missing = ~(written | known | passed)
    if np.any(missing[registers]) or np.any(missing[called]):
        return True
    births = np.full(total, NEVER)
    whole = o.roles == WRITTEN
    births[o.registers[whole][::-1]] = o.rows[whole][::-1]
    left = ~known[registers] & reachable[o.block_of[rows]]
    registers, rows = registers[left], rows[left]
    born, here = births[registers], o.block_of[rows]
    if np.any(born == NEVER):
        return True
    home = o.block_of[born]
    same = home == here
    wrong = same & (born >= rows)
    if not same.all():
        enter, leave = np.full(len(o.starts), NEVER), np.full(len(o.starts), -1)
        for block, (first, last) in graphs.intervals(o.graph.idom, o.graph.depth_first).items():
            enter[block], leave[block] = first, last
        wrong |= (enter[home] > enter[here]) | (leave[here] > leave[home])
    return bool(wrong.any()) and _unwritten(o, registers[wrong], rows[wrong])


def _unwritten(o: Outline, registers: Ints, rows: Ints) -> bool:
    """May one of these registers, each read in a row, not be written yet on some way there?"""
    bits = {r: 1 << i for i, r in enumerate(dict.fromkeys(registers.tolist()))}
    whole = o.roles == WRITTEN
    where, what = o.rows[whole], o.registers[whole]
    concerned = np.isin(what, registers)
    first: dict[tuple[int, int], int] = {}  # the first row of each block that writes a register
    written = [0] * len(o.starts)
    for row, register, block in zip(
        where[concerned].tolist(), what[concerned].tolist(), o.block_of[where[concerned]].tolist(), strict=True
    ):
        written[block] |= bits[register]
        first.setdefault((block, register), row)
    missing = [0] * len(o.starts)  # at the beginning of each block
    missing[0] = (1 << len(bits)) - 1
    changed = True
    while changed:
        changed = False
        for block in o.graph.depth_first:
            left = missing[block] & ~written[block]
            for after in o.graph.blocks[block].successors:
                if left & ~missing[after]:
                    missing[after] |= left
                    changed = True
    reads = zip(registers.tolist(), rows.tolist(), o.block_of[rows].tolist(), strict=True)
    return any(missing[block] & bits[register] and first.get((block, register), NEVER) >= row for register, row, block in reads)


def _barriers(o: Outline, total: int) -> bool:
    """Is there a branch on a value that lanes differ in, that some lanes leave past a barrier of the others?"""
    uneven = _uneven(o, total)
    barriers = {int(o.block_of[row]) for row in o.barriers} & o.graph.reachable
    guards: dict[int, int] = {}
    for row in [row for row, end in o.ends.items() if end.opcode == "bra" and end.guarded]:
        at = int(np.searchsorted(o.rows, row))
        guards[int(o.block_of[row])] = int(o.registers[at])
    leaving = {i for i, start in enumerate(o.starts) if start == o.count or (start in o.ends and o.ends[start].opcode in ("ret", "exit"))}
    return any(missed(o.graph, b, barriers, leaving) for b, guard in guards.items() if uneven[guard] and b in o.graph.reachable)


def _uneven(o: Outline, total: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """The registers whose value depends on the lane, as far as they are computed without memory."""
    found = np.zeros(total, bool)
    loading = np.zeros(o.count, bool)
    loading[o.loading] = True
    uneven = np.zeros(o.count, bool)  # statements
    uneven[o.rows[o.roles == LANE]] = True
    reads, writes = (o.roles & (READ | PASSED_ON | GIVEN)) > 0, (o.roles & (WRITTEN | SOMETIMES)) > 0
    count = -1
    while count != (count := int(found.sum())):
        uneven[loading] = False
        found[o.registers[writes & uneven[o.rows]]] = True
        uneven[o.rows[reads & found[o.registers]]] = True
    found[o.registers[writes & loading[o.rows]]] = False
    return found


def missed(graph: Flow, branch: int, barriers: Collection[int], leaving: Collection[int]) -> set[int]:
    """The barriers on one side of a branch where the lanes of the other side come to the meeting place without one.

    `leaving` are the blocks that do nothing but end their lanes.
    """
    meet = graph.ipdom[branch]
    if meet is None or meet in leaving:
        return set()  # lanes that have ended are not waited for
    sides = [_side(graph, s, meet) for s in dict.fromkeys(graph.blocks[branch].successors)]
    free = [_side(graph, s, meet, barriers) for s in dict.fromkeys(graph.blocks[branch].successors)]
    missed: set[int] = set()
    for i, side in enumerate(sides):
        if any(meet in other for k, other in enumerate(free) if k != i):
            missed |= side & set(barriers)
    return missed - {meet}


def _side(graph: Flow, start: int, meet: int, closed: Collection[int] = ()) -> set[int]:
    """The blocks from `start` to `meet`, not past `meet` and not through closed ones."""
    found: set[int] = set()
    work = [start]
    while work:
        b = work.pop()
        if b in found or (b in closed and b != meet):
            continue
        found.add(b)
        if b != meet:
            work += graph.blocks[b].successors
    return found
