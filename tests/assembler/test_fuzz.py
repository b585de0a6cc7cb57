"""Whatever the text: no exception but PtxError, no hang, no flood of memory.  `-m long` tries 20,000 texts and more."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.assembler.comparison import equal
from warplab.assembler import PtxError, format_text, parse
from warplab.assembler.parse import parse_all
from warplab.assembler.printer import print_module

SEED = """.version 8.0
.target sm_90
.address_size 64
.file 1 "a.cu"
.global .align 8 .u32 tab[4] = {1, (1<<4)|3, -1, 0x7f};
.const .f32 c = 0f3F800000;
.global .u64 p[2] = {tab, generic(tab)+4};
.func (.param .b32 r) g(.param .b32 a) .noreturn;
.visible .entry f(.param .u64 a, .param .align 8 .b8 s[16])
.maxntid 256, 1, 1
{
    .reg .pred %p<4>; // predicates
    .reg .b32 %r<10>, x;
    .reg .v4 .f32 %v;
    .loc 1 2 3
    mov.u32 %r1, %tid.x; /* a thread */
    @!%p1 bra $L_1;
    { .reg .b16 lo, hi; mov.b32 {lo, hi}, %r1; }
    ld.global.v4.f32 %v, [%r2+-4];
    setp.eq.u32 %p1|%p2, %r1, 1 ? 2 : 3;
    call (x), g, (%r1);
    .pragma "nounroll";
$L_1:
    ts: .branchtargets $L_1;
    st.shared::cta.u32 [tab+4], x;
    ret;
}
"""
TOKENS = [
    "{",
    "}",
    ";",
    ",",
    "(",
    ")",
    "[",
    "]",
    ":",
    "@",
    "@!",
    "%",
    '"',
    "//",
    "/*",
    "*/",
    ".reg",
    ".param",
    ".entry",
    ".func",
    ".visible",
    "0x",
    "1e",
    "99999999999999999999",
    "%r<1000000000>",
    "\\",
    "\x00",
    "é",
    ".section",
    "<",
    ">",
    "+",
    "-",
    "|",
    "!",
    "_",
    "WARP_SZ",
    ".pragma",
    ".callprototype",
    "call",
    "bra",
    "L:",
    ".global",
    "\n",
    ".align",
    "0f3f800000",
    "?",
    "generic(",
    ".b8",
    "x[]",
    "=",
    "@@DWARF",
    ".loc",
    ".file",
    "$",
    ".target",
]


def mutated(source: random.Random, text: str) -> str:
    """The text with one to four wounds."""
    for _ in range(source.randint(1, 4)):
        p = source.randrange(len(text) + 1)
        match source.randrange(6):
            case 0:
                text = text[:p] + source.choice(TOKENS) * source.choice((1, 1, 2, 40)) + text[p:]
            case 1:
                text = text[:p] + text[p + source.randint(1, 30) :]
            case 2:
                text = text[:p] if source.random() < 0.3 else text
            case 3:
                text = text[:p] + chr(source.randrange(256)) + text[p + 1 :]
            case 4:
                q = source.randrange(len(text) + 1)
                text = text[:p] + text[q : q + source.randint(1, 80)] + text[p:]
            case _:
                words = text.split()
                text = text.replace(source.choice(words), source.choice(TOKENS), 1) if words else text
    return text


def holds(text: str | bytes) -> None:
    """A text is refused with places in it, or it round-trips."""
    try:
        module = parse(text)
    except PtxError as error:
        assert error.diagnostics and str(error)
        assert all(0 <= d.span.start <= d.span.end <= len(error.text) + 1 and d.span.line >= 1 for d in error.diagnostics)
    else:
        assert equal(module, parse(print_module(module)))
        assert format_text(format_text(text)) == format_text(text)


def run(seed: int, count: int) -> None:
    source = random.Random(seed)
    for _ in range(count):
        text = mutated(source, SEED)
        try:
            holds(text)
        except Exception as error:  # the text is what one needs to know
            raise AssertionError(repr(text)) from error


def test_mutations() -> None:
    run(1, 150)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_many_mutations(seed: int) -> None:
    run(seed + 100, 3000)


@given(st.binary(max_size=200))
@settings(max_examples=50)
def test_bytes(data: bytes) -> None:
    holds(data)


@given(st.lists(st.sampled_from([*TOKENS, *SEED.split()]), max_size=40))
@settings(max_examples=50)
def test_words(words: list[str]) -> None:
    holds(SEED[:46] + " ".join(words))


@pytest.mark.parametrize("cut", range(0, len(SEED), 37))
def test_truncations(cut: int) -> None:
    holds(SEED[:cut])


@pytest.mark.parametrize(
    "inside",
    [
        "{" * 50_000, "(" * 50_000, "mov.u32 x, " + "-" * 50_000 + "1;", "L: " * 1, "x" * 200_000 + ";", "// c\n" * 20_000, "{}" * 20_000,
        "mov.u32 x, " + "9" * 200_000 + ";", ".reg .b32 %q<4000000000>; mov.u32 %q3999999999, 1;", ".loc 1 2 3\n" * 5000, '"' * 9999,
        "[" * 50_000 + ";", "add.u32 x" + ", x" * 30_000 + ";", "\\" * 5000, "a:" * 5000 + "ret;", "/*" * 20_000, "@" * 5000, ";" * 5000,
    ],
)  # fmt: skip
def test_no_hang(inside: str) -> None:
    start = time.process_time()
    parse_all(SEED.replace("    ret;", inside))
    assert time.process_time() - start < 10


def test_time_grows_with_the_text_and_no_faster() -> None:
    def seconds(n: int) -> float:
        text = SEED.replace(
            "    ret;", "".join(f"N{i}: add.u32 %r1, %r2, {i}; {{ bra N{i}; }} bra N{i + 1};\n" for i in range(n)) + f"N{n}: ret;"
        )
        start = time.process_time()
        parse(text)
        return time.process_time() - start

    seconds(200)
    assert seconds(8000) < 60 * max(seconds(500), 0.002)
