"""Branches as ptxas makes them: short ways around become predicates, and lanes that part are gathered again where their ways join.

| PTX | machine code |
|---|---|
| a branch around at most 7 instructions that neither synchronise nor update | predicates, no branch |
| a branch to the end of the kernel | EXIT with a predicate |
| a branch that may divide a warp | BSSY before it, BSYNC where the ways join |
| a jump | nothing; blocks are laid out in their order |
"""

from __future__ import annotations

from dataclasses import dataclass

from warplab.assembler.ir import Instruction

from .divergence import Divergence
from .instruction import MachineInstruction
from .selection import SelectedCode

SHORT = 7  # machine instructions that get a predicate rather than a branch around them
SINGLE = 2  # on each of two sides
KEEPS_A_BRANCH = frozenset({"bar", "exit", "branch", "fence", "atom", "red"})
TOGETHER = frozenset({"SHFL", "VOTE", "REDUX", "MATCH", "BAR", "WARPSYNC"})  # of the lanes of a warp


@dataclass(frozen=True, slots=True)
class Predicated:
    """A block whose instructions got a predicate: they are issued whenever the block before is left, `idle` ones where no lane executes them."""

    before: int
    idle: int


class Control:
    """The branches of one function, in the blocks of its SelectedCode."""

    def __init__(self, selection: SelectedCode) -> None:
        self.selection = selection
        self.flow = selection.flow
        self.divergence = Divergence(selection.sources)
        self.predicated: dict[int, Predicated] = {}
        for b in () if selection.plain else reversed(self.flow.rpo):
            self._branch(b)
        self._gather()
        self._synchronise()

    def _branch(self, b: int) -> None:
        last = self._branching(b)
        if last is None:
            return
        taken, fall = self.flow.blocks[b].successors
        sides = [s for s, other in ((taken, fall), (fall, taken)) if self._is_side(b, s, other)]
        if len(sides) == 1:
            (side,) = sides
            other = fall if side == taken else taken
            if self._is_short(side, SHORT) and not self._is_end(other) and not self._starts_together(other):
                self._predicate(b, sides)
        elif self._are_sides(b, taken, fall) and self._is_short(taken, SINGLE) and self._is_short(fall, SINGLE):
            self._predicate(b, [taken, fall])

    def _branching(self, b: int) -> Instruction | None:
        """The branch at the end of a block, if there are two ways."""
        last = self.flow.blocks[b].terminator
        if last is None or last.opcode != "bra" or last.guard is None or len(set(self.flow.blocks[b].successors)) != 2:
            return None
        return last

    def _is_side(self, b: int, side: int, other: int) -> bool:
        return self.flow.predecessors[side] == (b,) and set(self.flow.blocks[side].successors) == {other} and side != b

    def _are_sides(self, b: int, one: int, two: int) -> bool:
        alone = self.flow.predecessors[one] == (b,) == self.flow.predecessors[two]
        joins = set(self.flow.blocks[one].successors)
        return alone and len(joins) == 1 and joins == set(self.flow.blocks[two].successors)

    def _is_short(self, b: int, most: int) -> bool:
        own = self.selection.blocks[b]
        return len(own) <= most and not any(o.what in KEEPS_A_BRANCH or o.opcode in TOGETHER for o in own)

    def _is_end(self, b: int) -> bool:
        """Is there nothing but the end of the kernel?"""
        own = self.flow.blocks[b].instructions
        return len(own) == 1 and own[0].opcode in ("ret", "exit")

    def _starts_together(self, b: int) -> bool:
        own = self.selection.blocks[b]
        return bool(own) and own[0].opcode in TOGETHER - {"BAR"}

    def _predicate(self, b: int, sides: list[int]) -> None:
        own = self.selection.blocks[b]
        if own and own[-1].what == "branch":
            own.pop()
        for s in sides:
            self.predicated[s] = Predicated(b, len(self.selection.blocks[s]))

    # ------------------------------------------------------------ where lanes join

    def _gather(self) -> None:
        """BSSY where the first of the branches that join in a place begins, BSYNC there."""
        first: dict[int, int] = {}
        for b in self.flow.rpo:
            last, join = self._branching(b), self.flow.ipdom[b]
            if last is None or last.guard is None or join is None or self._is_end(join):
                continue
            own = self.selection.blocks[b]
            if not own or own[-1].what != "branch" or last.guard.index not in self.divergence.registers:
                continue
            start = self._outside(b, join)
            first[join] = start if join not in first else self._common(first[join], start)
        for join, b in first.items():
            own = self.selection.blocks[b]
            at = len(own) - 1 if own and own[-1].what == "branch" else len(own)
            own.insert(at, MachineInstruction("BSSY", (), ()))
            self.selection.blocks[join].insert(0, MachineInstruction("BSYNC", (), ()))

    def _synchronise(self) -> None:
        """WARPSYNC before what lanes do together where they may be apart, and a look whether they are where they may have been."""
        apart: set[int] = set()
        after: set[int] = set()
        for b in self.flow.rpo:
            last = self._branching(b)
            if last is None or last.guard is None or last.guard.index not in self.divergence.registers:
                continue
            after |= self._between(b, None)
            if self.flow.ipdom[b] is not None and self.selection.blocks[b][-1:] and self.selection.blocks[b][-1].what == "branch":
                apart |= self._between(b, self.flow.ipdom[b])
        for b in self.flow.rpo:
            own = self.selection.blocks[b]
            together = [n for n, o in enumerate(own) if o.opcode in TOGETHER - {"BAR"}]
            if b in apart:
                for n in reversed(together):
                    own.insert(n, MachineInstruction("WARPSYNC", (), ()))
            elif b in after and together:
                own.insert(together[0], MachineInstruction("BRA.DIV", (), ()))

    def _between(self, b: int, join: int | None) -> set[int]:
        """The blocks to which a branch leads before its ways join."""
        found: set[int] = set()
        waiting = [s for s in self.flow.blocks[b].successors if s != join]
        while waiting:
            x = waiting.pop()
            if x not in found:
                found.add(x)
                waiting += [s for s in self.flow.blocks[x].successors if s != join]
        return found

    def _outside(self, b: int, join: int) -> int:
        """The block before the loops around a block that a join is not in."""
        while (n := self.flow.loop_of[b]) is not None and join not in self.flow.loops[n].blocks:
            before = self.flow.idom[self.flow.loops[n].header]
            if before is None:
                break
            b = before
        return b

    def _common(self, a: int, b: int) -> int:
        """The nearest block that dominates both."""
        above = {a}
        while (up := self.flow.idom[a]) is not None and up != a:
            a = up
            above.add(a)
        while b not in above:
            up = self.flow.idom[b]
            assert up is not None
            b = up
        return b
