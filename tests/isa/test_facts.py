"""Facts are about words and operands that the rows have; each is stated by some row, and read by some code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa.facts import Facts, When, facts_of, opcodes, when
from warplab.isa.notation import FORMS, Form, resolve

ROOT = Path(__file__).parents[2]
ARRAYS = {"a1d", "a2d"}  # sured shares a rule with suld and sust, and knows none
ROWS = [form for forms in FORMS.values() for form in forms]


def form_of(spelling: str) -> Form:
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None
    return found[0]


def conditions(facts: Facts) -> Iterator[When]:
    for value in facts:
        for rule in value if isinstance(value, tuple) else (value,):
            if isinstance(rule, When):
                yield rule
            elif isinstance(getattr(rule, "when", None), When):
                yield rule.when


@pytest.mark.parametrize("opcode", sorted(FORMS))
def test_facts_speak_of_words_and_operands_of_the_rows(opcode: str) -> None:
    rows = FORMS[opcode]
    words = {word for form in rows for slot in form.slots for word in slot.words}
    names = {operand.name for form in rows for operand in form.operands}
    facts = facts_of(opcode)
    named = set().union(*(rule.words | rule.also for rule in conditions(facts)), facts.leading, facts.ordered, facts.tensor_memory)
    assert named - words <= (ARRAYS if facts.handles else set())
    assert {rule.operand for rule in facts.constants} | ({facts.registers_only} - {""}) <= names


def test_each_fact_is_stated_and_read() -> None:
    code = "\n".join(path.read_text() for room in ("assembler", "interpreter", "runtime") for path in (ROOT / room).rglob("*.py"))
    stated = [f for f in Facts._fields if any(getattr(form.facts, f) != getattr(Facts(), f) for form in ROWS)]
    assert [f for f in Facts._fields if f not in stated] == []
    assert [name for name in stated if not re.search(rf"\.{name}\b|opcodes\([^)]*\b{name}\b", code)] == []


def test_a_row_states_facts_for_itself() -> None:
    assert form_of("match.all.sync.b32").facts.discards and not form_of("match.any.sync.b32").facts.discards
    assert "match" in opcodes("discards") and "setp" in opcodes("discards") and "add" not in opcodes("discards")
    assert opcodes(access="load") == {"ld", "ldu"} and opcodes(access="store") == {"st"}


def test_conditions() -> None:
    rule = when("ca cg", also="async", without="bulk")
    assert (
        rule.holds(("async", "ca")) and not rule.holds(("ca",)) and not rule.holds(("async",)) and not rule.holds(("async", "cg", "bulk"))
    )
    assert When().holds(())
