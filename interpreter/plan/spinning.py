"""Loops that wait for what others do, and loops that only compute.

A loop spins on memory where a way out of it depends on an atomic operation, or on a load that asks memory anew.  Hardware lets lanes that turn in such
a loop yield, so that others may pass them by that have what they wait for.  The lanes that leave it wait for no others, then: not for those that still
turn, and at no later place where all would meet, but at a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from warplab.assembler.flow import Flow, accesses
from warplab.assembler.flow.graphs import Loop
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.listing import listing
from warplab.isa.control import BARRIERS, CALLS

from .roles import ends_block, needs_lanes, observes_changes, works_on

SPIN_LIMIT = 1 << 20  # turns of an ordinary loop before others may run
SPINNING = 48  # turns of a loop that looks at memory others change
CALLING = 8  # and of one that calls functions, whose turns take longer


def last_spins(flow: Flow) -> Iterator[Loop]:
    """Spinning loops of a kernel behind which no other loop comes: what follows is done once by each party that leaves."""
    if not flow.function.is_entry:
        return
    for loop in flow.loops:
        inside = set(loop.blocks)
        if not any(observes_changes(i) for b in inside for i in flow.blocks[b].instructions) or not _spins(flow, inside):
            continue
        if not _turns_behind(flow, inside) and not _gathers_behind(flow, loop, inside):
            yield loop


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
            if i.opcode in BARRIERS or needs_lanes(i):
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
                if observes_changes(i) or any(r.index in answers for r in read):
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


# ---------------------------------------------------------------- how long others wait for a loop


class Patience:
    """How often the loops of a function may turn before others run."""

    def __init__(self, flow: Flow, resolve: Callable[[Function], Function]) -> None:
        self.flow = flow
        self.resolve = resolve  # a declared function to its definition
        self._watching: dict[int, bool] = {}  # by id(Function)

    def of(self, head: int) -> int:
        """Of the loop with this head."""
        blocks = next((loop.blocks for loop in self.flow.loops if loop.header == head), ())
        instructions = [i for b in blocks for i in self.flow.blocks[b].instructions]
        if not self._watches(instructions):
            return SPIN_LIMIT
        return CALLING if any(i.opcode in CALLS for i in instructions) else SPINNING

    def _watches(self, instructions: Iterable[Instruction]) -> bool:
        """Do they look at memory in a way that only makes sense if others change it?"""
        for i in instructions:
            if i.form is not None and (observes_changes(i) or i.form.facts.pauses or i.form.facts.orders_memory):
                return True
            if i.opcode in CALLS:
                callee = next((o for o in i.operands[:2] if isinstance(o, Function)), None)
                if callee is None or self._function_watches(callee):
                    return True
        return False

    def _function_watches(self, f: Function) -> bool:
        """The same of a function that the loop calls: without optimisation each atomic is one."""
        f = self.resolve(f)
        if id(f) not in self._watching:
            self._watching[id(f)] = False  # of its calls of itself
            self._watching[id(f)] = f.body is not None and self._watches(listing(f).instructions)
        return self._watching[id(f)]


# ---------------------------------------------------------------- loops that only compute


def is_pure_loop(flow: Flow, b: int) -> bool:
    """Is a block a whole loop of pure instructions, whose lanes may ride along after they left?"""
    if b not in flow.blocks[b].successors or len(min([loop.blocks for loop in flow.loops if b in loop.blocks], key=len)) > 1:
        return False
    return all(_only_computes(i) for i in flow.blocks[b].instructions)


def _only_computes(i: Instruction) -> bool:
    if i.form is None or i.form.carry:
        return False
    if i.form.effect:
        return i.form.effect == "branch" and ends_block(i)
    return i.form.meaning is not None and works_on(i.form) not in ("lanes", "warps")
