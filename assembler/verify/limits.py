"""Which values the constants of some instructions may have, and what further goes together and what does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from warplab.isa.notation import Form

from ..ir import Immediate, Instruction

Wrong = tuple[int | None, str, str, str]  # operand (None: the words), code, message, help
Settled = Mapping[str, str | bool]
Rule = Callable[[Form, Settled, Instruction], Wrong | None]


def _value(instruction: Instruction, i: int) -> int | None:
    if i < len(instruction.operands):
        operand = instruction.operands[i]
        if isinstance(operand, Immediate) and isinstance(operand.value, int) and operand.kind == "int":
            return operand.value
    return None


def _range(i: int, low: int, high: int) -> Rule:
    def rule(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
        v = _value(instruction, i)
        if v is None or low <= v <= high:
            return None
        return i, "out-of-range", f"{v} is not in the range {low} to {high}", ""

    return rule


def _one_of(i: int, *allowed: int) -> Rule:
    def rule(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
        v = _value(instruction, i)
        if v is None or v in allowed:
            return None
        return i, "out-of-range", f"{v} is not {' or '.join(map(str, allowed))}", ""

    return rule


def _all(*rules: Rule) -> Rule:
    def rule(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
        return next((w for r in rules if (w := r(form, settled, instruction)) is not None), None)

    return rule


def _barrier(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
    if "warp" in instruction.modifiers or "cluster" in instruction.modifiers:
        return None
    first = 1 if "red" in instruction.modifiers else 0
    v = _value(instruction, first)
    if v is not None and not 0 <= v <= 15:
        return first, "out-of-range", f"there are barriers 0 to 15, no barrier {v}", ""
    n = _value(instruction, first + 1)
    if n is not None and n % 32:
        return first + 1, "out-of-range", f"{n} threads are no whole number of warps", "a multiple of 32"
    return None


def _cp_async(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
    words = instruction.modifiers
    if "bulk" in words or "wait_group" in words or "ca" not in words and "cg" not in words:
        return None
    size = _value(instruction, 2)
    allowed = (16,) if "cg" in words else (4, 8, 16)
    if size is not None and size not in allowed:
        return 2, "out-of-range", f"cp.async.{'cg' if 'cg' in words else 'ca'} copies {' or '.join(map(str, allowed))} bytes, not {size}", ""
    return None


def _setmaxnreg(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
    v = _value(instruction, 0)
    if v is not None and (v % 8 or not 24 <= v <= 256):
        return 0, "out-of-range", f"{v} is no multiple of 8 between 24 and 256", ""
    return None


def _power(i: int) -> Rule:
    def rule(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
        v = _value(instruction, i)
        if v is None or (v > 0 and v & (v - 1) == 0):
            return None
        return i, "out-of-range", f"the alignment {v} is no power of two", ""

    return rule


def _fence(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
    return _one_of(1, 128)(form, settled, instruction) if "tensormap::generic" in instruction.modifiers else None


RULES: dict[str, Rule] = {
    "bar": _barrier, "barrier": _barrier, "cp": _cp_async, "setmaxnreg": _setmaxnreg, "alloca": _power(2), "fence": _fence,
    "discard": _one_of(1, 128), "applypriority": _one_of(1, 128), "bfe": _all(_range(2, 0, 255), _range(3, 0, 255)),
    "bfi": _all(_range(3, 0, 255), _range(4, 0, 255)),
}  # fmt: skip


def by_value(form: Form) -> bool:
    """Does the verdict on a form depend on the values of its constants?"""
    return form.opcode in RULES or form.opcode == "pmevent"


def out_of_range(form: Form, settled: Settled, instruction: Instruction) -> Wrong | None:
    """The first constant that is not allowed."""
    if form.opcode == "pmevent":
        top = 0xFFFF if "mask" in instruction.modifiers else 15
        return _range(0, 0, top)(form, settled, instruction)
    rule = RULES.get(form.opcode)
    return rule(form, settled, instruction) if rule is not None else None
