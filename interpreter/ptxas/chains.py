"""The stretches of code that ptxas sees before it contracts: branches on constants folded, empty blocks gone, loops of few turns written out.

A chain is a sequence of blocks that run one after the other, some of them several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from warplab.assembler.flow import Flow
from warplab.assembler.flow.graphs import postorder
from warplab.assembler.ir import Instruction

from ..plan.shapes import Known
from .constants import Constants
from .interruptions import dead, nature
from .unrolling import Turn, Unrolling


@dataclass(slots=True, eq=False)
class Chain:
    """Blocks that run one after the other, and the first blocks of the chains that may follow: where a branch is taken first."""

    blocks: list[int]
    successors: tuple[int, ...]
    since: int = 0  # the number of the first block behind the last loop that was unrolled


class Chains:
    """The chains of one function, by their first blocks."""

    def __init__(
        self, flow: Flow, known: Mapping[int, Known], constants: Constants, live_in: Sequence[int], live_out: Sequence[int]
    ) -> None:
        self.flow = flow
        self.known = known
        self.constants = constants
        self.live_in = live_in
        self.live_out = live_out
        self._empty: dict[int, bool] = {}
        self._unrolling = Unrolling(flow, known, constants)
        self._chains = {b: Chain([b], self._folded(b)) for b in flow.depth_first}
        self._chains = {h: self._chains[h] for h in self._order()}  # a constant may leave no way to some
        self._before: dict[int, set[int]] = {h: set() for h in self._chains}
        for h, c in self._chains.items():
            for s in c.successors:
                self._before[s].add(h)

    def result(self) -> list[Chain]:
        """All chains, in reverse postorder."""
        again = True
        while again:
            again = False
            for head in list(self._chains):
                if head in self._chains:
                    again |= self._reduced(self._chains[head])
        return [self._chains[h] for h in self._order()]

    def _folded(self, b: int) -> tuple[int, ...]:
        """The successors of a block, without a way that a constant closes."""
        block = self.flow.blocks[b]
        found = tuple(dict.fromkeys(block.successors))
        last = block.terminator
        if last is not None and last.opcode == "bra" and last.guard is not None and len(found) == 2:
            taken = self.constants.of(last.guard.index, (b, len(block.instructions) - 1))
            if taken is not None:
                return (found[0] if bool(taken) != last.guard_negated else found[1],)
        return found

    def _order(self) -> list[int]:
        heads = list(self._chains)
        numbers = {h: n for n, h in enumerate(heads)}
        return [heads[n] for n in postorder([[numbers[s] for s in self._chains[h].successors] for h in heads], [0])[::-1]]

    def _lead_to(self, c: Chain, successors: Iterable[int]) -> None:
        """What follows a chain changes."""
        head = c.blocks[0]
        for s in c.successors:
            self._before[s].discard(head)
        c.successors = tuple(dict.fromkeys(successors))
        for s in c.successors:
            self._before[s].add(head)

    def _forget(self, head: int) -> None:
        self._lead_to(self._chains[head], ())
        del self._chains[head], self._before[head]

    # ------------------------------------------------------------ what becomes simpler

    def _reduced(self, c: Chain) -> bool:
        """Was there something to do about a chain?"""
        head = c.blocks[0]
        if len(c.successors) == 2:
            if head in c.successors:
                return self._unrolled(c)
            return any(self._unrolled_from_the_top(c, body) for body in c.successors)
        if len(c.successors) != 1 or c.successors == (head,) or not self._is_open(c):
            return False
        (s,) = c.successors
        following = self._chains[s]
        if s != 0 and self._before[s] == {head}:
            if following.since:
                c.since = len(c.blocks) + following.since
            c.blocks += following.blocks
            self._lead_to(c, following.successors)
            self._forget(s)
            return True
        if head != 0 and all(map(self._is_empty, dict.fromkeys(c.blocks))):
            for p in list(self._before[head]):
                self._lead_to(self._chains[p], [s if x == head else x for x in self._chains[p].successors])
            self._forget(head)
            return True
        return False

    def _is_open(self, c: Chain) -> bool:
        """Does a chain lead on by a branch, or by nothing at all?"""
        last = self.flow.blocks[c.blocks[-1]].terminator
        return last is None or last.opcode == "bra"

    def _is_empty(self, b: int) -> bool:
        """Has a block no instruction that ptxas keeps?"""
        found = self._empty.get(b)
        if found is None:
            instructions, live = self.flow.blocks[b].instructions, self.live_out[b]
            found = all(i.opcode == "bra" or nature(i).removable for i in instructions)
            if found:
                gone = dead(instructions, self.known, live)
                found = all(n in gone or i.opcode == "bra" or self._is_removed(i, live) for n, i in enumerate(instructions))
            self._empty[b] = found
        return found

    def _is_removed(self, i: Instruction, live: int) -> bool:
        """Is an instruction not needed if only these registers are read?"""
        written = self.known[id(i)].written
        if nature(i).removable and not any(live >> index & 1 for index in written):
            return True
        return i.opcode == "mov" and i.guard is None and len(written) == 1 and self.constants.everywhere(written[0]) is not None

    # ------------------------------------------------------------ loops

    def _turn(self, blocks: Iterable[int]) -> Turn:
        return [(i, (b, n)) for b in blocks for n, i in enumerate(self.flow.blocks[b].instructions)]

    def _rest(self, heads: set[int]) -> list[int]:
        """What the one chain before a loop runs behind the last loop in it."""
        if len(heads) != 1:
            return []
        (before,) = [self._chains[h] for h in heads]
        return before.blocks[before.since :]

    def _unrolled(self, c: Chain) -> bool:
        """A loop with its test at the end is written out, or removed where nothing comes of it."""
        head = c.blocks[0]
        (other,) = [s for s in c.successors if s != head]
        turn = self._turn(c.blocks)
        if not all(i.opcode == "bra" or self._is_removed(i, self.live_in[other]) for i, _ in turn):
            if c.successors[0] != head:
                return False
            turns = self._unrolling.turns(turn, len(turn) - 1, self._rest(self._before[head] - {head}), continues=True)
            if turns is None:
                return False
            c.blocks *= turns
            c.since = len(c.blocks)
        self._lead_to(c, [other])
        return True

    def _unrolled_from_the_top(self, c: Chain, body: int) -> bool:
        """A loop with its test at the start is written out."""
        head, inner = c.blocks[0], self._chains[body]
        if inner.successors != (head,) or self._before[body] != {head} or not self._is_open(inner):
            return False
        start = self._turn(c.blocks)
        turn, rest = [*start, *self._turn(inner.blocks)], self._rest(self._before[head] - {body})
        turns = self._unrolling.turns(turn, len(start) - 1, rest, continues=c.successors[0] == body)
        if turns is None:
            return False
        c.blocks += (inner.blocks + c.blocks) * turns
        c.since = len(c.blocks)
        self._lead_to(c, [s for s in c.successors if s != body])
        self._forget(body)
        return True
