"""Holds an instruction to the facts of its row: words that come first, words that exclude each other, what needs a version, constants."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from warplab.isa.facts import Constant, Demand, Facts, Need, opcodes
from warplab.isa.notation import IDLE, Form
from warplab.isa.spaces import NEAR
from warplab.isa.types import TYPES

from ..ir import Address, Immediate, Instruction, Negated, Operand, Pair, Register, Sink, Vector
from .needs import Has, capability


@dataclass(frozen=True, slots=True)
class Wrong:
    """A broken rule: which operand or word breaks it (neither: all words), and how."""

    code: str
    message: str
    operand: int | None = None
    word: str = ""
    help: str = ""


Settled = Mapping[str, str | bool]
VALUES = opcodes("constants", "registers_only", "no_result")  # the opcodes with rules about the values of operands
_NEAR = frozenset(NEAR.split())
GENERIC = Need(2.0, 20)


# ---------------------------------------------------------------- values of constants


def out_of_range(instruction: Instruction, has: Has) -> Wrong | None:
    """The first operand whose value is not allowed."""
    form = instruction.form
    if form is None:
        return None
    facts, operands = form.facts, instruction.operands
    if facts.registers_only and isinstance(operands[0], Immediate):
        return Wrong("operand-kind", f"{form.opcode} needs a register", 0)
    if facts.constants:
        places = form.places(len(operands))
        for rule in facts.constants:
            lifted = rule.unless is not None and not has.lacks(rule.unless)
            if rule.operand in places and rule.when.holds(instruction.modifiers) and not lifted:
                wrong = _disallowed(rule, operands, places)
                if wrong is not None:
                    return wrong
    if facts.no_result is not None and facts.no_result.holds(instruction.modifiers) and not isinstance(operands[0], Sink | Address):
        return Wrong("operand-kind", "an arrival at another block's barrier yields nothing: write _", 0)
    return None


def _disallowed(rule: Constant, operands: tuple[Operand, ...], places: Mapping[str, int]) -> Wrong | None:
    """Why the constant in an operand's place is not allowed."""
    i = places[rule.operand]
    if rule.is_fraction:
        operand = operands[i] if i < len(operands) else None
        fraction = _number(operand) if isinstance(operand, Immediate) else 1.0
        return None if 0.0 < fraction <= 1.0 else Wrong("out-of-range", rule.message.format(value=fraction), i)
    given = _value(operands, i, rule.element)
    if given is None:
        return None
    value = given % 2**32 if rule.is_unsigned else given
    limit = _value(operands, places[rule.most]) if rule.most in places else None
    if limit is not None and rule.is_unsigned:
        limit %= 2**32
    legal = (
        (rule.allowed is None or value in rule.allowed)
        and value % rule.multiple == 0
        and value not in rule.forbidden
        and (limit is None or value <= limit)
    )
    if legal:
        return None
    if rule.message:
        shown = _value(operands, places[rule.most]) if rule.most in places else None
        return Wrong("out-of-range", rule.message.format(value=given, limit=shown), i, help=rule.help)
    if isinstance(rule.allowed, range):
        last = rule.allowed[-1] if limit is None else limit
        return Wrong("out-of-range", f"{given} is not in the range {rule.allowed[0]} to {last}", i)
    assert isinstance(rule.allowed, tuple)
    return Wrong("out-of-range", f"{given} is not {' or '.join(map(str, rule.allowed))}", i)


def _value(operands: tuple[Operand, ...], i: int, element: int | None = None) -> int | None:
    """The integer constant in a place, or as an element of the vector there, if one stands there."""
    operand = operands[i] if i < len(operands) else None
    if element is not None:
        operand = operand.elements[element] if isinstance(operand, Vector) and element < len(operand.elements) else None
    if isinstance(operand, Immediate) and isinstance(operand.value, int) and operand.kind == "int":
        return operand.value
    return None


def _number(i: Immediate) -> float:
    if i.kind == "f32":
        return float(struct.unpack("<f", struct.pack("<I", i.value))[0])
    return i.value if isinstance(i.value, float) else float(struct.unpack("<d", struct.pack("<Q", i.value))[0])


# ---------------------------------------------------------------- words


def misplaced(instruction: Instruction, form: Form, settled: Settled) -> Wrong | None:
    """A word that does not stand where it must."""
    facts = form.facts
    if not facts.leading and not facts.ordered:
        return None
    words = [w for w in instruction.modifiers if w not in IDLE or w in settled.values()]
    i = 0
    for slot in form.slots if facts.leading else ():
        word = settled.get(slot.name)
        if word is None:
            continue
        own = slot.name if word is True else str(word)
        if own not in facts.leading:
            break
        if words[i] != own:
            return Wrong("word-order", f".{own} belongs right after {'.'.join((form.opcode, *words[:i]))}", word=own)
        i += 1
    if facts.ordered:
        given = [w for w in words if w in facts.ordered]
        wanted = [slot.name if settled[slot.name] is True else str(settled[slot.name]) for slot in form.slots if slot.name in settled]
        wanted = [w for w in wanted if w in facts.ordered]
        if given != wanted:
            return Wrong("word-order", f".{' .'.join(wanted)} stand in this order", word=given[0])
    return None


def excluded(instruction: Instruction, settled: Settled, has: Has) -> Wrong | None:
    """Words that do not go with each other, with a state space, or with the module's version."""
    words = instruction.modifiers
    form = instruction.form
    assert form is not None
    facts = form.facts
    for word in words if facts.excludes else ():
        for rule in facts.excludes:
            other = next((w for w in words if w in rule.others), "") if word in rule.words else ""
            if other and (rule.unless is None or has.lacks(rule.unless)):
                return Wrong("word-and-space", f".{word} does not go with .{other}", word=word)
    unmet = [wrong for demand in facts.demands if (wrong := _unmet(instruction, demand, has)) is not None]
    if unmet:
        return min(unmet, key=lambda wrong: wrong.operand or 0)  # the first in the text
    if "ftz" in words and has.version < (1, 4):
        return Wrong("needs", ".ftz needs PTX 1.4", word="ftz")
    if facts.takes_any_space and has.lacks(GENERIC) and _NEAR.isdisjoint(words) and "global" not in words:
        return Wrong("needs", "generic addresses need PTX 2.0 and sm_20", help="name the state space")
    return _too_wide(words, settled, facts, has) if facts.widest or facts.widest_pack else None


def _unmet(instruction: Instruction, demand: Demand, has: Has) -> Wrong | None:
    """What a demand is about, where the module does not meet it."""
    operands, words = instruction.operands, instruction.modifiers
    if not demand.when.holds(words) or (demand.operands and len(operands) != demand.operands):
        return None
    place = demand.operands - 1 if demand.operands else None
    if demand.kind:
        place = next((i for i, operand in enumerate(operands) if _is_kind(operand, demand.kind)), None)
        if place is None:
            return None
    missing = has.lacks(demand.need)
    if not missing or (demand.instead is not None and not has.lacks(demand.instead)):
        return None
    word = next((w for w in words if w in demand.when.words), "") if place is None else ""
    message = demand.message or f"{demand.what} needs {missing}"
    return Wrong("needs", message.format(opcode=instruction.opcode, word=word), place, word, demand.help.format(opcode=instruction.opcode))


def _is_kind(operand: Operand, kind: str) -> bool:
    """Is an operand a predicate, a pair, or the handle of a texture in a register?"""
    if kind == "predicate":
        named = operand.register if isinstance(operand, Negated) else operand
        return isinstance(named, Register) and named.type.kind == "p"
    if kind == "pair":
        return isinstance(operand, Pair)
    return isinstance(operand, Address) and isinstance(operand.base, Register)


def _too_wide(words: tuple[str, ...], settled: Settled, facts: Facts, has: Has) -> Wrong | None:
    """A vector that is too large for one access, or for one register."""
    vec, kind = settled.get("vec"), settled.get("type")
    evict = next((w for w in words if w in facts.of_256_bits), "")
    if evict and isinstance(kind, str) and int(str(vec or "v1")[1:]) * TYPES[kind].bits != 256:
        return Wrong("word-and-space", f".{evict} goes with accesses of 256 bits only: .v8.b32 or .v4.b64", word=evict)
    if not isinstance(vec, str) or not isinstance(kind, str):
        return None
    bits = int(vec[1:]) * TYPES[kind].bits
    if facts.widest_pack:
        if bits <= facts.widest_pack:
            return None
        return Wrong("vector-size", f"{vec[1:]} elements of .{kind} are more than {facts.widest_pack} bits", word=vec)
    if kind == "b128":
        return Wrong("vector-size", "a vector of .b128 is too large for one access", word=vec)
    if bits <= 128:
        return None
    if bits > facts.widest or TYPES[kind].bits < 32:
        return Wrong("vector-size", f"{vec[1:]} elements of .{kind} are too many for one access", word=vec)
    if has.version < (8, 8) or capability(has.target)[0] < 100:
        return Wrong("needs", f"an access of {bits} bits needs PTX 8.8 and sm_100", word=vec)
    near = next((w for w in words if w in _NEAR), "")
    if near:
        return Wrong("word-and-space", f"an access of {bits} bits goes to .global, not to .{near}", word=near)
    return None
