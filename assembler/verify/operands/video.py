"""The operands that only video instructions have: selected bytes and half-words of a register, and signs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from warplab.isa.facts import opcodes
from warplab.isa.notation import Form
from warplab.isa.types import ScalarType

from ...ir import Element, Function, Immediate, Minus, Operand, Plus, Register, Symbol
from .kinds import Misfit, fitting

ALL = opcodes("parts")
_PART = re.compile(r"b[0-3]|h[01]")
_SOURCE = {2: re.compile(r"h[0-3]{2}"), 4: re.compile(r"b[0-7]{4}")}
_RESULT = {2: re.compile(r"h1?0?(?<=\d)"), 4: re.compile(r"b3?2?1?0?(?<=\d)")}


def video_misfit(
    form: Form, settled: Mapping[str, str | bool], i: int, operand: Operand, t: ScalarType, count: int
) -> tuple[bool, Misfit | None]:
    """Whether the operand is one that only video instructions have, and what is wrong with it as such."""
    negative = isinstance(operand, Minus)
    if isinstance(operand, Minus):
        if not form.facts.negates:
            return True, Misfit("operand-kind", f"{form.opcode} cannot negate an operand")
        operand = operand.operand
    if isinstance(operand, Immediate | Plus | Function | Symbol) and form.facts.parts > 1 and i:
        return True, Misfit("operand-kind", f"{form.opcode} accepts registers only")
    if not isinstance(operand, Element):
        if negative and isinstance(operand, Register) and operand.type.name not in fitting(t.name):
            return True, Misfit("operand-type", f"{operand.name} has type .{operand.type}, which does not fit .{t}", "", operand)
        return negative, None
    register, part = operand.register, operand.part
    if register.vector > 1 or register.type.name not in fitting("u32"):
        return True, Misfit("operand-type", f"{register.name} of type .{register.type} has no part .{part}", "", register)
    if form.facts.parts == 1:
        if i == 3 or not _PART.fullmatch(part):
            return True, Misfit("operand-kind", f"no part .{part} can be taken here")
        if i == 0 and (count < 4 or not form.operands[3].optional):
            return True, Misfit("operand-kind", "a part of the result can be written only where c gives the others")
        return True, None
    if i == 3 or not (_SOURCE if i else _RESULT)[form.facts.parts].fullmatch(part):
        return True, Misfit("operand-kind", f"no parts .{part} can be taken here")
    return True, None
