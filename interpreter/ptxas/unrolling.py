"""Which loops ptxas unrolls before it contracts, and how many turns they have.

The rules are answers of ptxas 13.0 for sm_90 to some hundred loops.  A counter is set to a constant in the block before the loop, one constant
is added to it in each turn, and it is compared with a constant, by a branch that is taken where the comparison holds.  It may not be compared
for equality to go on, and neither another expression of it nor a negated predicate is looked through.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Instruction, Pragma, Register
from warplab.assembler.listing import listing
from warplab.isa.types import TYPES, ScalarType

from ..plan.shapes import Known
from .constants import Constants, Place
from .interruptions import keeps_a_loop

Turn = Sequence[tuple[Instruction, Place]]

MOST_UNROLLED = 390  # instructions of all turns together, up to which a loop is unrolled
LARGE = 23_100  # the turns times the square of the instructions of one, up to which a loop of many turns is, too
MOST_TURNS = 1500
WEIGHTS = {"st": 2, "mov": 0}  # of an instruction that does not count as one
COUNTED = frozenset({"u32", "s32", "b32", "u64", "s64", "b64"})
TESTS: dict[str, Callable[[int, int], bool]] = {
    "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge,
}  # fmt: skip
OPPOSITE = {"eq": "ne", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "lo": "hs", "ls": "hi", "hi": "ls", "hs": "lo"}
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "lo": "hi", "ls": "hs", "hi": "lo", "hs": "ls"}


class Unrolling:
    """The loops of one function."""

    def __init__(self, flow: Flow, known: Mapping[int, Known], constants: Constants) -> None:
        self.flow = flow
        self.known = known
        self.constants = constants
        self._kept = set(kept_instructions(flow))

    def turns(self, turn: Turn, branch: int, before: Sequence[int], *, continues: bool) -> int | None:
        """How many turns are written out, None where the loop remains.

        `branch` is the number of the branch in the turn: it leads on in the loop where it is taken if it `continues`, else out of it.  `before`
        are the blocks in front of the loop.
        """
        last, at_the_end = turn[branch][0], branch == len(turn) - 1
        if last.guard is None or last.guard_negated or any(keeps_a_loop(i) or id(i) in self._kept for i, _ in turn):
            return None
        place = self._last(turn, last.guard.index, branch)
        test = None if place is None else turn[place]
        if place is None or test is None or not _is_comparison(test[0]):
            return None
        i, at = test
        cmp, t = i.modifiers[0], TYPES[i.modifiers[-1]]
        found = self._sides(turn, place, i, t, at)
        if found is None:
            return None
        counter, offset, bound, mirrored = found
        cmp = MIRRORED.get(cmp, cmp) if mirrored else cmp
        cmp = cmp if continues else OPPOSITE.get(cmp, "")
        step = self._sum(turn, counter, len(turn))
        if cmp not in TESTS or step is None or step[0] != counter or not step[1] or offset != (step[1] if at_the_end else 0):
            return None
        first = self._initial(before, counter)
        if first is None:
            return None
        turns = _count(cmp, t, first, step[1], bound, at_the_end)
        return turns if turns is not None and self._fits(turn, turns) else None

    # ------------------------------------------------------------ the counter

    def _last(self, turn: Turn, index: int, end: int | None = None) -> int | None:
        """The last instruction before `end` that writes a register."""
        for n in range(len(turn) if end is None else end)[::-1]:
            if index in self.known[id(turn[n][0])].written:
                return n
        return None

    def _sum(self, turn: Turn, index: int, end: int) -> tuple[int, int] | None:
        """A register at a place as one at the start of the turn and a constant, added at once."""
        added: int | None = None
        while (n := self._last(turn, index, end)) is not None:
            i, at = turn[n]
            if i.guard is not None or len(i.operands) not in (2, 3):
                return None
            source = i.operands[1]
            if i.opcode in ("add", "sub") and added is None and i.modifiers[-1] in COUNTED and len(i.modifiers) == 1:
                t = TYPES[i.modifiers[-1]]
                a, b = (self.constants.value(o, t, at) for o in i.operands[1:])
                if a is not None and i.opcode == "add":
                    source, b = i.operands[2], a
                if b is None:
                    return None
                added = -b if i.opcode == "sub" else b
            elif i.opcode != "mov":
                return None
            if not isinstance(source, Register):
                return None
            index, end = source.index, n
        return index, added or 0

    def _sides(self, turn: Turn, place: int, i: Instruction, t: ScalarType, at: Place) -> tuple[int, int, int, bool] | None:
        """A comparison as (counter, what was added to it, bound, whether the counter stands on the right)."""
        a, b = i.operands[1:]
        for counter, bound, mirrored in ((a, b, False), (b, a, True)):
            value = self.constants.value(bound, t, at)
            if value is not None and isinstance(counter, Register):
                found = self._sum(turn, counter.index, place)
                return None if found is None else (*found, value, mirrored)
        return None

    def _initial(self, before: Sequence[int], index: int) -> int | None:
        """What a register is set to in front of the loop."""
        for b in reversed(before):
            place = self.constants.last(index, (b, len(self.flow.blocks[b].instructions)))
            if place is not None:
                return self.constants.at(place)
        return None

    # ------------------------------------------------------------ the size

    def _fits(self, turn: Turn, turns: int) -> bool:
        size = sum([WEIGHTS.get(i.opcode, 1) for i, _ in turn])
        return turns * size <= MOST_UNROLLED or turns * size**2 <= LARGE


def _is_comparison(i: Instruction) -> bool:
    return (
        i.opcode == "setp"
        and i.guard is None
        and len(i.modifiers) == 2
        and i.modifiers[1] in COUNTED
        and isinstance(i.operands[0], Register)
    )


def _count(cmp: str, t: ScalarType, first: int, step: int, bound: int, at_the_end: bool) -> int | None:
    """The turns of a loop; None if there are too many."""
    holds, mask = TESTS[cmp], (1 << t.bits) - 1
    flip = 1 << t.bits - 1 if t.name[0] == "s" else 0  # orders signed numbers as unsigned ones
    value, limit, turns = first & mask, (bound & mask) ^ flip, 0
    while (at_the_end and not turns) or holds(value ^ flip, limit):
        value, turns = value + step & mask, turns + 1
        if turns > MOST_TURNS:
            return None
    return turns


def kept_instructions(flow: Flow) -> Iterator[int]:
    """The instructions, by identity, before which a pragma says that a loop is not unrolled; in front of all it speaks of every loop."""
    statements = listing(flow.function)
    if not any(isinstance(s, Pragma) for s in statements.rest):
        return
    pending = began = False
    for s in statements.statements:
        if isinstance(s, Pragma):
            pending |= any(text.strip() == "nounroll" for text in s.texts)
        elif isinstance(s, Instruction):
            if pending:
                yield id(s)
            pending &= not began
            began = True
