"""Instructions that ptxas replaces by others which differ from the manual in their results; each rule is an answer of ptxas 13.0 for sm_90.

| ptxas makes of | this | so that |
|---|---|---|
| `neg` of `neg`; `max`, `min` of a number with itself; a product with 1 | the number | NaNs keep their bits |
| `rcp.approx.ftz` of `rcp.approx.ftz`; a `div.approx.ftz` by it | the number; a product with it | nothing is rounded |
| guarded `neg`, `abs` of f32; those that a select chooses | a sign of the select | NaNs keep their bits |
| guarded `testp` | one without a guard | |
| `bfe.s32` of constant bits behind the last, of a number that it does not know | all ones | |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Immediate, Instruction, Operand, Register, shape_of
from warplab.isa.types import TYPES

from ..plan.shapes import Known
from .constants import Constants, Place
from .interruptions import nature

SIGN = 0x8000_0000
ONE = {"f64": 0x3FF << 52, "f32": 0x3F80_0000, "f16": 0x3C00}


@dataclass(slots=True)
class Folding:
    """What becomes of the instructions of a function, by identity."""

    replaced: dict[int, Instruction] = field(default_factory=dict)
    handed: dict[int, Register] = field(default_factory=dict)  # the operand is kept in this register, too


class Folder:
    """The work of folding one function; `registers`: the first number that is free."""

    def __init__(self, flow: Flow, known: Mapping[int, Known], constants: Constants, live_out: Sequence[int], registers: int) -> None:
        self.flow = flow
        self.known = known
        self.constants = constants
        self.live_out = live_out
        self.registers = registers
        self.made = Folding()

    def go(self) -> Folding:
        """Through all instructions."""
        for b in self.flow.depth_first:
            for n, i in enumerate(self.flow.blocks[b].instructions):
                if not self._may_change(i):
                    continue
                rule = RULES.get(i.opcode)
                new = None if rule is None else rule(self, i, (b, n))
                if new is not None:
                    self.made.replaced[id(i)] = new
                elif self._selects(i):
                    self._select(i, (b, n))
        return self.made

    # ------------------------------------------------------------ the number behind an instruction

    def _before(self, op: Operand, at: Place) -> tuple[Instruction, Place] | None:
        """The instruction that computed an operand, seen through mov."""
        for _ in range(4):
            place = self.constants.only(op.index, at) if isinstance(op, Register) else None
            if place is None:
                return None
            i = self.constants.instruction(place)
            if i.opcode != "mov":
                return i, place
            op, at = i.operands[1], place
        return None

    def _operand(self, i: Instruction) -> Register:
        """A register with what an instruction reads, for later."""
        found = self.made.handed.get(id(i))
        if found is None:
            a = i.operands[1]
            assert isinstance(a, Register)
            found = self.made.handed[id(i)] = replace(a, name=f"{a.name}.a", index=self.registers + len(self.made.handed))
        return found

    # ------------------------------------------------------------ rules

    def _negated(self, i: Instruction, at: Place) -> Instruction | None:
        if i.modifiers[-1] == "bf16x2" or "ftz" in i.modifiers or i.modifiers[-1][0] == "s":
            return None
        found = self._before(i.operands[1], at)
        if (
            found is not None
            and found[0].opcode == "neg"
            and found[0].modifiers == i.modifiers
            and isinstance(found[0].operands[1], Register)
        ):
            return _moved(i, self._operand(found[0]))
        return _sign_changed(i) if i.guard is not None and i.modifiers == ("f32",) else None

    def _absolute(self, i: Instruction, at: Place) -> Instruction | None:
        return _sign_changed(i) if i.guard is not None and i.modifiers == ("f32",) else None

    def _extreme(self, i: Instruction, at: Place) -> Instruction | None:
        if len(i.modifiers) > 1 or i.modifiers[0] not in ("f16", "f32", "f64") or len(i.operands) != 3:
            return None
        a, b = (self._moved_from(o, at) for o in i.operands[1:])
        return _moved(i, i.operands[1]) if a is not None and a == b else None

    def _moved_from(self, op: Operand, at: Place) -> tuple[int, Place | None] | None:
        """What tells one number from others: its register, and where that was written."""
        for _ in range(4):
            if not isinstance(op, Register):
                return None
            place = self.constants.only(op.index, at)
            i = None if place is None else self.constants.instruction(place)
            if i is None or place is None or i.opcode != "mov" or not isinstance(i.operands[1], Register):
                return op.index, place
            op, at = i.operands[1], place
        return None

    def _product(self, i: Instruction, at: Place) -> Instruction | None:
        t = TYPES.get(i.modifiers[-1])
        if len(i.modifiers) > 1 or t is None or t.name not in ONE:
            return None
        for factor, other in (i.operands[1:], i.operands[:0:-1]):
            if isinstance(other, Register) and self.constants.value(factor, t, at) == ONE[t.name]:
                return _moved(i, other)
        return None

    def _reciprocal(self, i: Instruction, at: Place) -> Instruction | None:
        found = self._before(i.operands[1], at)
        return _moved(i, self._operand(found[0])) if _flushes(i, "rcp") and found is not None and _flushes(found[0], "rcp") else None

    def _quotient(self, i: Instruction, at: Place) -> Instruction | None:
        if not _flushes(i, "div"):
            return None
        found = self._before(i.operands[2], at)
        if found is None or not _flushes(found[0], "rcp"):
            return None
        operands = (*i.operands[:2], self._operand(found[0]))
        return replace(i, shape=shape_of("mul", ("ftz", "f32"), operands), operands=operands)

    def _field(self, i: Instruction, at: Place) -> Instruction | None:
        if i.modifiers != ("s32",):
            return None
        source, first, size = (self.constants.value(o, TYPES["u32"], at) for o in i.operands[1:])
        ones = source is None and first is not None and size is not None and first & 0xFF >= 32 and size & 0xFF
        return _moved(i, Immediate(0xFFFF_FFFF, "int")) if ones else None

    def _test(self, i: Instruction, at: Place) -> Instruction | None:
        return replace(i, guard=None, guard_negated=False) if i.guard is not None else None

    # ------------------------------------------------------------ selects

    def _selects(self, i: Instruction) -> bool:
        """Does ptxas make a select of floats of an instruction?"""
        if i.opcode in ("selp", "slct"):
            return i.modifiers[0 if i.opcode == "slct" else -1] == "f32"
        if i.guard is None or i.modifiers[-1:] != ("f32",) or not isinstance(i.operands[0], Register):
            return False
        own = nature(i)
        return own.pure and not own.interrupts

    def _may_change(self, i: Instruction) -> bool:
        """Tells most instructions apart by their words alone."""
        return i.opcode in RULES or i.guard is not None or i.opcode in ("selp", "slct")

    def _select(self, i: Instruction, at: Place) -> None:
        """neg and abs become signs of the numbers that a select chooses from."""
        chosen = i.operands[1:3] if i.opcode in ("selp", "slct") else i.operands[:1]
        for op in chosen:
            found = self._before(op, at)
            if found is None or found[1][0] != at[0] or found[0].guard is not None or id(found[0]) in self.made.replaced:
                continue
            own, place = found
            if own.opcode in ("neg", "abs") and own.modifiers == ("f32",) and self._is_only_counted(own, place):
                self.made.replaced[id(own)] = _sign_changed(own)

    def _is_only_counted(self, i: Instruction, at: Place) -> bool:
        """Do only instructions on floats read a result, so that the bits of its NaNs do not matter to them?"""
        (index,) = self.known[id(i)].written
        for n in range(at[1] + 1, len(self.flow.blocks[at[0]].instructions)):
            reader = self.flow.blocks[at[0]].instructions[n]
            k = self.known[id(reader)]
            if index in k.read and not (self._selects(reader) or (reader.modifiers[-1:] == ("f32",) and reader.opcode in COUNTING)):
                return False
            if index in k.written:
                return True
        return not self.live_out[at[0]] >> index & 1


def may_fold(i: Instruction) -> bool:
    """Is it worth looking at the function of an instruction?"""
    return i.opcode in RULES and (i.opcode in ("bfe", "testp") or i.modifiers[-1] in FLOATS)


FLOATS = frozenset({"f16", "f16x2", "bf16", "f32", "f64"})
COUNTING = frozenset({"add", "sub", "mul", "fma", "mad", "setp", "div", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"})
Rule = Callable[[Folder, Instruction, Place], Instruction | None]
RULES: dict[str, Rule] = {
    "neg": Folder._negated, "abs": Folder._absolute, "max": Folder._extreme, "min": Folder._extreme, "mul": Folder._product,
    "rcp": Folder._reciprocal, "div": Folder._quotient, "bfe": Folder._field, "testp": Folder._test,
}  # fmt: skip


def _flushes(i: Instruction, opcode: str) -> bool:
    """Is it such an approximation of f32 with .ftz, of a register?"""
    return i.opcode == opcode and i.modifiers == ("approx", "ftz", "f32") and isinstance(i.operands[1], Register)


def _moved(i: Instruction, source: Operand) -> Instruction:
    """The instruction as a mov."""
    d = i.operands[0]
    assert isinstance(d, Register)
    operands = (d, source)
    return replace(i, shape=shape_of("mov", (f"b{d.type.bits}",), operands), operands=operands)


def _sign_changed(i: Instruction) -> Instruction:
    """neg or abs of a float as what it does to the bits."""
    operands = (*i.operands[:2], Immediate(SIGN if i.opcode == "neg" else SIGN - 1, "int"))
    return replace(i, shape=shape_of("xor" if i.opcode == "neg" else "and", ("b32",), operands), operands=operands)
