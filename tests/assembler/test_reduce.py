"""Smaller PTX with the same property."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplab.assembler import check, parse
from warplab.assembler.reduce import reduced
from warplab.assembler.reduce.edits import Edit, applied
from warplab.assembler.reduce.passes import PASSES

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.ptx"))


def smallest(text: str, *words: str) -> str:
    """The smallest text that says some words."""
    return [p.text for p in reduced(text, lambda t: all(w in t for w in words))][-1]


def test_edits_apply_together() -> None:
    """An edit within another is covered by it; the others keep their places."""
    assert applied("abcdefgh", [(Edit(1, 5, "X"),), (Edit(2, 3, "Y"), Edit(6, 7))]) == "aXfh"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_every_change_is_an_edit_of_the_text(path: Path) -> None:
    """The changes of a pass lie within the text, and each makes it another."""
    text = path.read_text()
    for one in PASSES:
        for change in one(parse(text)):
            assert all(0 <= e.start <= e.end <= len(text) for e in change), one.__name__


def test_what_remains_is_small_and_valid() -> None:
    """Of a sample with loops and shared memory, the instruction that is asked for remains, and what it needs to be valid."""
    text = (SAMPLES[0].parent / "softmax.ptx").read_text()
    small = smallest(text, "ex2.approx.f32 ")
    assert not any(d.severity == "error" for d in check(small))
    assert [line.split()[0] for line in small.splitlines() if line.startswith("    ")] == [".reg", "ex2.approx.f32"]


MODULE = """.version 8.0
.target sm_90
.address_size 64
.global .u32 unused[4] = {1, 2, 3, 4};
.func (.reg .b32 %o) helper(.reg .b32 %i) { add.u32 %o, %i, 1; ret; }
.visible .entry k(.param .u64 out, .param .u32 n)
{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [out];
    ld.param.u32 %r1, [n];       // the bound
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    {
        .reg .b32 %t;
        mul.lo.u32 %t, %r2, 77;
        st.global.u32 [%d1+16], %t;
    }
    call (%r3), helper, (%r2);
DONE:
    ret;
}
"""


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (["mul.lo"], ["helper", "unused", "call", "DONE", "{\n        ", "//", "%tid", ".param", "%r<9>", "77"]),
        (["call", "helper"], ["unused", "mul", "setp", "%d"]),
        (["@%p1 bra DONE"], ["setp", "helper", "mul"]),
        (["unused"], ["entry", "func", "="]),
        (["st.global.u32"], ["+16", "mul.lo"]),
    ],
)
def test_each_part_can_go(words: list[str], gone: list[str]) -> None:
    """Functions, variables, blocks, scopes, operands, offsets, parameters and comments go unless they are needed."""
    small = smallest(MODULE, *words)
    assert all(w in small for w in words)
    assert not [w for w in gone if w in small], small


def test_text_that_is_no_ptx() -> None:
    """Lines go."""
    assert smallest("one\ntwo {\nthree\n", "two") == "two {\n"


def test_invalid_ptx_may_stay_invalid() -> None:
    """The property of a text with errors may be one of them."""
    text = MODULE.replace("mov.u32 %r2, %tid.x", "mov.u32 %r2, %nowhere")

    def holds(t: str) -> bool:
        return any(d.code == "undeclared-name" and "%nowhere" in d.message for d in check(t))

    assert holds(text)
    small = [p.text for p in reduced(text, holds)][-1]
    assert len(small.splitlines()) < 10 and holds(small)
