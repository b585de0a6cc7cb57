"""Loops that wait for what others do: a way out of them depends on an atomic operation, or on a load that asks memory anew.

Hardware lets those who turn in such a loop yield, so that somebody may pass them by who has what they wait for.  The lanes that leave it wait
for nobody, then: not for those who still turn, and at no later place where all would meet, but at a barrier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from warplab.assembler.flow import Flow, accesses
from warplab.assembler.graphs import Loop
from warplab.assembler.ir import Instruction

from .roles import needs_lanes

ASKING = frozenset({"volatile", "relaxed", "acquire", "mmio"})


def last_spins(flow: Flow) -> Iterator[Loop]:
    """Spinning loops of a kernel behind which no other loop comes: what follows is done once by each party that leaves."""
    if not flow.function.is_entry:
        return
    for loop in flow.loops:
        inside = set(loop.blocks)
        if not any(_asks(i) for b in inside for i in flow.blocks[b].instructions) or not _spins(flow, inside):
            continue
        if not _turns_behind(flow, inside) and not _gathers_behind(flow, loop, inside):
            yield loop


def _asks(i: Instruction) -> bool:
    return i.opcode == "atom" or (i.opcode == "ld" and not ASKING.isdisjoint(i.modifiers))


def _turns_behind(flow: Flow, inside: Collection[int]) -> bool:
    """Does a loop come behind this one, or around it?"""
    heads = {loop.header for loop in flow.loops}
    work = [s for b in inside for s in flow.blocks[b].successors if s not in inside]
    met: set[int] = set()
    while work:
        b = work.pop()
        if b in heads:
            return True
        if b not in met:
            met.add(b)
            work += flow.blocks[b].successors
    return False


def _gathers_behind(flow: Flow, loop: Loop, inside: Collection[int]) -> bool:
    """Do all lanes come to an instruction that works on whole warps?  Then the assembler lets them meet as soon as they have left."""
    b = flow.ipdom[loop.header]
    while b is not None:
        for i in flow.blocks[b].instructions if b not in inside else ():
            if i.opcode in ("bar", "barrier") or needs_lanes(i):
                return needs_lanes(i)
        b = flow.ipdom[b]
    return False


def _spins(flow: Flow, inside: Collection[int]) -> bool:
    """Does a branch out of the loop depend on what memory answered?"""
    answers: set[int] = set()  # registers, by index
    blocks = [flow.blocks[b] for b in inside]
    while True:
        before = len(answers)
        for block in blocks:
            for i in block.instructions:
                read, written = accesses(i)
                if _asks(i) or any(r.index in answers for r in read):
                    answers.update([r.index for r in written])
            last = block.terminator
            if last is not None and last.guard is not None and last.guard.index in answers:
                if any(s not in inside for s in block.successors):
                    return True
                for b in _governed(flow, block.index, inside):
                    answers.update([r.index for i in flow.blocks[b].instructions for r in accesses(i)[1]])
        if len(answers) == before:
            return False


def _governed(flow: Flow, branch: int, inside: Collection[int]) -> Sequence[int]:
    """The blocks of a loop that are run or not as a branch goes."""
    end = flow.ipdom[branch]
    work = [s for s in flow.blocks[branch].successors if s in inside and s != end]
    met: list[int] = []
    while work:
        b = work.pop()
        if b not in met:
            met.append(b)
            work += [s for s in flow.blocks[b].successors if s in inside and s != end]
    return met
