"""Runs single instructions by their spelling, without an engine: operands are bound as the row says and results are taken apart again."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa.notation import Form, resolve
from warplab.isa.types import TYPES, ScalarType

Bits = NDArray[Any]
SELECTED = re.compile(r"(-?)(%\w+)(?:\.([bh]\d+))?$")


def typed(bits: Bits, kind: ScalarType) -> Bits:
    """Register bits as the array that a meaning gets."""
    if kind.name == "pred":
        return bits.astype(bool)
    array = np.ascontiguousarray(bits.astype(f"u{kind.bits // 8}")).view(kind.dtype)
    return array.reshape(*bits.shape, kind.elements) if kind.elements > 1 else array


def plain(value: Bits, kind: ScalarType) -> Bits:
    """A meaning's result as register bits; its dtype must be the one of its type."""
    assert value.dtype == kind.dtype, (value.dtype, kind)
    if kind.name == "pred":
        return value
    bits: Bits = np.ascontiguousarray(value).view(f"u{kind.bits // 8}")
    return bits[..., 0] if kind.elements > 1 else bits


def resolved(spelling: str) -> tuple[Form, dict[str, str | bool]]:
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None, f"no form {spelling}"
    return found


def execute(line: str, registers: dict[str, Bits]) -> None:
    """One instruction without its semicolon, such as "vadd.u32.u32.s32 %d.b0, %a.h1, %b, %c", on register bits by name; CC.CF is "cc"."""
    spelling, _, rest = line.strip().partition(" ")
    form, modifiers = resolved(spelling)
    values: list[Bits | int] = []
    keywords: dict[str, Any] = {"cc": registers["cc"]} if "in" in form.carry.split() else {}
    destination = kind = None
    for text, operand in zip(rest.replace(" ", "").split(","), form.operands, strict=False):
        selected = SELECTED.match(text)
        if operand.constant:
            values.append(int(text, 0))
            continue
        kind_here = form.type_of(operand, modifiers)
        assert kind_here is not None
        if selected and selected[3]:
            keywords["dsel" if operand.is_destination else f"{operand.name}sel"] = selected[3]
        if operand.is_destination:
            destination, kind = (selected[2] if selected else text), kind_here
            continue
        if selected and selected[1]:
            keywords[f"{operand.name}neg"] = True
        name = selected[2] if selected else text.lstrip("!")
        bits = registers[name] if name.startswith("%") else np.full((1, 1), int(name, 0) % 2**kind_here.bits, np.uint64)
        values.append(~typed(bits, kind_here) if text.startswith("!") else typed(bits, kind_here))
    assert destination is not None and kind is not None
    with np.errstate(all="ignore"):
        result = form.bind(modifiers)(*values, **keywords)
    if "out" in form.carry.split():
        result, registers["cc"] = result
    first, _, second = destination.partition("|")
    if isinstance(result, tuple):
        result, other = result
        if second:
            registers[second] = plain(other, TYPES["pred"])
    registers[first] = plain(result, kind)


def evaluate(spelling: str, *operands: Sequence[int], **given: Any) -> list[int]:
    """The results of one form lane by lane: operands and result are numbers of the row's types, packed ones their bits."""
    form, modifiers = resolved(spelling)
    values = []
    for operand, numbers in zip([o for o in form.operands if not o.is_destination], operands, strict=False):
        kind = form.type_of(operand, modifiers)
        assert kind is not None
        values.append(typed(np.array([[n % 2**kind.bits for n in numbers]], np.uint64), kind))
    with np.errstate(all="ignore"):
        result = form.bind(modifiers)(*values, **given)
    if "out" in form.carry.split():
        result = result[0]
    kind = form.type_of(form.operands[0], modifiers)
    assert kind is not None
    lanes = np.broadcast_to(plain(result, kind), (1, len(operands[0])))[0]
    if kind.kind == "s" and kind.elements == 1:
        lanes = lanes.view(kind.dtype)
    return [int(n) for n in lanes]


@pytest.fixture(scope="session", name="execute")
def _execute() -> Callable[[str, dict[str, Bits]], None]:
    return execute


@pytest.fixture(scope="session", name="evaluate")
def _evaluate() -> Callable[..., list[int]]:
    return evaluate


def bound(spelling: str) -> Callable[..., Any]:
    """The meaning of a spelling, which takes arrays as the interpreter gives them."""
    form, modifiers = resolved(spelling)
    return form.bind(modifiers)


@pytest.fixture(scope="session", name="bound")
def _bound() -> Callable[[str], Callable[..., Any]]:
    return bound
