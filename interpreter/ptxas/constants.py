"""What ptxas knows of values while it assembles: constants, and values that lie in the constant bank, such as parameters of a kernel.

A register has the value of the last write on the only way to the place in question, or of all writes in the function where they agree.
Values are worked out when they are asked for.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Address, Immediate, Instruction, Operand, Pair, Register, Variable
from warplab.isa.types import TYPES, ScalarType

from ..plan.meanings import op_facts
from ..plan.operands import immediate_bits
from ..plan.shapes import Known

DEEPEST = 40  # instructions that a constant may be worked out by
Place = tuple[int, int]  # a block and the number of an instruction in it
ZERO = Immediate(0, "int")
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


class Constants:
    """The registers of one function."""

    def __init__(self, flow: Flow, blocks: Iterable[int], known: Mapping[int, Known]) -> None:
        self._flow = flow
        self._known = known
        self._written: dict[int, dict[int, list[int]]] = {}  # register -> block -> instructions that write it
        for b in blocks:
            for n, i in enumerate(flow.blocks[b].instructions):
                for index in known[id(i)].written:
                    self._written.setdefault(index, {}).setdefault(b, []).append(n)
        self._values: dict[Place, int | None] = {}
        self._everywhere: dict[int, int | None] = {}
        self._depth = 0

    # ------------------------------------------------------------ who wrote a register

    def instruction(self, place: Place) -> Instruction:
        """What stands at a place."""
        return self._flow.blocks[place[0]].instructions[place[1]]

    def last(self, index: int, at: Place) -> Place | None:
        """The last write of a register before a place in its block."""
        written = self._written.get(index, {}).get(at[0], ())
        n = bisect_left(written, at[1])
        return (at[0], written[n - 1]) if n else None

    def reaching(self, index: int, at: Place) -> Place | None:
        """The last write of a register on the one way to a place, as far back as there is but one."""
        written = self._written.get(index)
        for _ in range(DEEPEST if written is not None else 0):
            found = self.last(index, at)
            if found is not None:
                return found
            before = self._flow.predecessors[at[0]]
            if len(before) != 1 or at[0] == 0:
                break
            at = (before[0], len(self._flow.blocks[before[0]].instructions))
        return None

    def only(self, index: int, at: Place) -> Place | None:
        """The write whose value a register has at a place, if there is but one."""
        found = self.reaching(index, at)
        if found is None:
            blocks = self._written.get(index, {})
            if len(blocks) != 1:
                return None
            ((b, written),) = blocks.items()
            if len(written) != 1:
                return None
            found = (b, written[0])
        return None if self.instruction(found).guard is not None else found

    # ------------------------------------------------------------ constants

    def value(self, op: Operand, t: ScalarType, at: Place) -> int | None:
        """The bits of an operand that is read at a place, if they are known."""
        if isinstance(op, Immediate):
            return immediate_bits(op, t)
        if not isinstance(op, Register):
            return None
        bits = self.of(op.index, at)
        return None if bits is None else bits & ((1 << t.bits) - 1)

    def of(self, index: int, at: Place) -> int | None:
        """The bits of a register at a place."""
        found = self.reaching(index, at)
        return self.everywhere(index) if found is None else self.at(found)

    def everywhere(self, index: int) -> int | None:
        """The value that every write of a register gives it."""
        if index not in self._everywhere:
            self._everywhere[index] = None  # while it is worked out
            places = ((b, n) for b, written in self._written.get(index, {}).items() for n in written)
            value: int | None = None
            for place in places:
                one = self.at(place)
                if one is None or value not in (None, one):
                    value = None
                    break
                value = one
            self._everywhere[index] = value
        return self._everywhere[index]

    def at(self, place: Place) -> int | None:
        """What an instruction yields."""
        if place in self._values:
            return self._values[place]
        if self._depth >= DEEPEST:
            return None
        self._values[place] = None
        self._depth += 1
        found = self._values[place] = self._computed(self.instruction(place), place)
        self._depth -= 1
        return found

    def _computed(self, i: Instruction, at: Place) -> int | None:
        if i.guard is not None or i.form is None or i.form.effect or i.form.carry or i.form.meaning is None:
            return None
        facts = op_facts(self._known[id(i)], False, False)
        if facts.route == "move":
            t = TYPES[str(facts.meaning.settled["type"])]
            return self.value(i.operands[1], t, at) if t.bits <= 64 and isinstance(i.operands[0], Register) else None
        if facts.route != "meaning" or facts.how != "pure" or not facts.writes or facts.reads_destination or facts.meaning.named:
            return None
        if i.opcode == "setp" and len(i.operands) == 3 and i.operands[1] == i.operands[2] and i.modifiers[-1][0] in "usb":
            i = replace(i, operands=(i.operands[0], ZERO, ZERO))  # a number compared with itself
        given: list[tuple[int, ScalarType]] = []
        for op, place in zip(i.operands[1:], facts.places[1:], strict=True):
            own = place.type
            bits = None if own is None or own.elements > 1 or own.bits > 64 else self.value(op, own, at)
            if bits is None or own is None:
                return None
            given.append((bits, own))
        to = facts.places[0].type
        if to is None or to.elements > 1 or to.bits > 64 or not isinstance(i.operands[0], Register | Pair):
            return None
        arguments = [_array(bits, own) for bits, own in given]
        with np.errstate(all="ignore"):
            result: Any = functools.partial(facts.meaning.form.bind(facts.meaning.settled), **dict(facts.meaning.words))(*arguments)
        one = np.ravel(np.asarray(result[0] if isinstance(result, tuple) else result))
        return int(one[0]) if one.dtype.kind == "b" else int(one.view(_UNSIGNED[one.dtype.itemsize])[0])

    # ------------------------------------------------------------ the constant bank

    def in_bank(self, op: Operand, t: ScalarType, at: Place) -> bool:
        """Is an operand a constant or a word of the constant bank, so that it needs no register?"""
        if isinstance(op, Immediate):
            return True
        if not isinstance(op, Register):
            return False
        for _ in range(DEEPEST):
            place = self.only(op.index, at)
            if place is None:
                break
            i = self.instruction(place)
            if i.opcode == "ld":
                return self._is_bank_load(i)
            source = i.operands[1] if i.opcode in ("mov", "abs", "neg") else None
            if not isinstance(source, Register):
                break
            op, at = source, place
        return self.value(op, t, at) is not None

    def _is_bank_load(self, i: Instruction) -> bool:
        address = i.operands[1]
        if not isinstance(address, Address) or not isinstance(address.base, Variable):
            return False
        space = address.base.space
        return space == "const" or (space == "param" and self._flow.function.is_entry and address.base in self._flow.function.params)


def _array(bits: int, t: ScalarType) -> Any:
    if t.dtype.kind == "b":
        return np.array([bool(bits & 1)])
    return np.array([bits], _UNSIGNED[t.dtype.itemsize]).view(t.dtype)
