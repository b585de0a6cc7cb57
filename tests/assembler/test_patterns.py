"""Patterns leave out numbers and names of labels, nothing else, and say where registers were."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warplab.assembler import check, parse
from warplab.assembler.chunks import Chunk
from warplab.assembler.listing import listing
from warplab.assembler.patterns import DOUBLE, LARGE, NAME, NUMBER, REGISTER, SINGLE
from warplab.assembler.text import Source

_TOKENS = re.compile(
    r"(?P<register>(?<![\w$%.:\"'])%[a-z]{1,3}(?:0|[1-9]\d{0,17})(?![\w$%.:\"']))"
    r"|(?P<single>(?<=[ \t\r\n,\[{-])0[fF][0-9a-fA-F]{8}(?=[ \t\r\n,;\]}]|\Z))"
    r"|(?P<double>(?<=[ \t\r\n,\[{-])0[dD][0-9a-fA-F]{16}(?=[ \t\r\n,;\]}]|\Z))"
    r"|(?P<number>(?:(?<=[ \t\r\n,\[{-])|(?<=[\w$]\+))(?:0|[1-9]\d{0,17})(?=[ \t\r\n,;\]}]|\Z))"
    r"|(?P<name>(?<![\w$%.:\"'])\$[\w$]+(?=[ \t\r\n,;\]}:]|\Z))",
    re.A,
)
WORDS = ["%r12", "%rd0", "%fd7", "%p", "%abcd1", "%r01", "%tid.x", "%r1.x", "17", "0", "1234567890", "-4", "08", "1.5", "0x1F", "5U", "0f3F800000", "0f3F80000",
         "0d3FF0000000000000", "[%rd4+16]", "[%rd4+-8]", "[a+4]", "[4+5]", "$L__BB0_1", "$L:", "$", "add.s32", "{%r1,", "%r2}", "@%p1", "@!%p2",
         "%p1|%p2", "x$1", "9%r1", "\"a", "%", ",", ";", "\n", "+1", "12345678901234567890", "%r1234567890123456789", "_", "-%r3", "4/0", "(1"]  # fmt: skip


def slowly(text: str) -> tuple[list[str], list[tuple[str, int]], list[str]]:
    """The same, token by token."""
    registers: list[tuple[str, int]] = []
    names: list[str] = []

    def left(m: re.Match[str]) -> str:
        word = m[0]
        match m.lastgroup:
            case "register":
                stem = word.rstrip("0123456789")
                registers.append((stem, int(word[len(stem) :])))
                return stem + REGISTER
            case "single" | "double":
                return word[:2] + (SINGLE if m.lastgroup == "single" else DOUBLE)
            case "number":
                return NUMBER if len(word) < 10 else LARGE
        names.append(word)
        return "$" + NAME

    return _TOKENS.sub(left, text).split(";"), registers, names


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(["", " ", "\t", "\n"])), max_size=40))
def test_patterns_are_the_text_without_its_numbers(words: list[tuple[str, str]]) -> None:
    text = "".join(word + blank for word, blank in words)
    source = Source(text, "t")
    found = source.patterns
    texts, registers, names = slowly(text)
    assert found.texts == texts
    assert [(found.stems[s], n) for s, n in zip(found.stem.tolist(), found.number.tolist(), strict=True)] == registers
    assert [text[a:b] for a, b in found.names] == names
    for k, end in enumerate(source.ends):
        start = source.ends[k - 1] + 1 if k else 0
        cut = start + min(3, end - start)
        if not np.isin(found.dropped, range(start, cut + 1)).any():
            assert found.rest(k, start, cut) == texts[k][cut - start :]


HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def recipes(body: str) -> list[str]:
    """The shapes of a body's statements."""
    module = parse(HEAD + ".global .b32 $g;\n.visible .entry k(.param .u64 p)\n{\n" + body + "\n}\n")
    parts = listing(module.functions["k"]).chunks
    return [f"{recipe.lead} {recipe.shape}".strip() for part in parts if isinstance(part, Chunk) for recipe in part.recipes]


def test_a_pattern_means_what_its_scope_declares() -> None:
    text = "\tmov.b32 %r1, %r2;\n\tmov.b32 %r3, 7;\n\tret;"
    assert recipes("\t.reg .b32 %r<4>;\n" + text) == ["mov.b32 b32 , b32", "mov.b32 b32 , #int", "ret"]
    assert recipes("\t.reg .f32 %r<4>;\n" + text) == ["mov.b32 f32 , f32", "mov.b32 f32 , #int", "ret"]
    assert recipes("\t.reg .b32 %r1, %r2; .reg .f32 %r3;\n" + text) == ["mov.b32 b32 , b32", "mov.b32 f32 , #int", "ret"]


def test_a_dollar_may_name_a_variable() -> None:
    text = "\t.reg .b64 %rd<4>;\n\tmov.u64 %rd1, $g;\n\tbra $L;\n$L:\n\tmov.u64 %rd2, $g;\n\tret;"
    assert recipes(text) == ["mov.u64 b64 , global:b32", "bra label", "L mov.u64 b64 , global:b32", "ret"]


def test_a_register_beyond_its_range_is_found() -> None:
    body = (
        "\t.reg .b32 %r<4>;\n"
        + "\tadd.s32 %r1, %r2, %r3;\n" * 50
        + "\tadd.s32 %r1, %r2, %r4;\n"
        + "\tadd.s32 %r1, %r2, %r3;\n" * 50
        + "\tret;"
    )
    found = check(HEAD + ".visible .entry k()\n{\n" + body + "\n}\n", warnings=())
    assert [(d.code, d.span.line) for d in found] == [("undeclared-name", 57)]


def test_a_statement_that_was_looked_at_makes_no_register() -> None:
    module = parse(HEAD + ".visible .entry k()\n{\n\t.reg .b64 %rd<9>;\n\t.reg .b32 %r<9>;\n\tld.global.u32 %r7, [%rd8+-4];\n\tret;\n}\n")
    assert [r.name for r in module.functions["k"].registers] == ["%r7", "%rd8"]


def test_what_was_learnt_stays_with_its_types() -> None:
    for kind in ("b32", "f32", "b64", "b32"):
        assert recipes(f"\t.reg .{kind} %zz<4>;\n\tmov.b32 %zz1, %zz2;\n\tret;")[0] == f"mov.b32 {kind} , {kind}"
