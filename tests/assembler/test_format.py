"""format_text: one layout, comments kept, the same after a second time, the same meaning."""

from __future__ import annotations

import re

import pytest

from tests.assembler.comparison import equal
from tests.assembler.test_fuzz import SEED
from tests.assembler.test_printer import EVERYTHING, HEADER
from warplab.assembler import PtxError, format_text, parse

UGLY = """.version 8.0
.target sm_90
.address_size 64
/* first */ .visible .entry f(.param .u64 a,   // the source
 .param .u32 n)
.maxntid 256,1,1
{ .reg .b32 %r<4>;   .reg .pred %p; // registers


   mov.u32 %r1,%tid.x;add.s32 %r1 , %r1,1 ; // several
L: @!%p   bra L;
mov.b64 {%r1,%r2} , %r3; {
// inner
.reg .b16 h; }
ret; }
"""

NEAT = """.version 8.0
.target sm_90
.address_size 64
/* first */
.visible .entry f(
    .param .u64 a, // the source
    .param .u32 n
)
.maxntid 256, 1, 1
{
    .reg .b32 %r<4>;
    .reg .pred %p;  // registers

    mov.u32 %r1, %tid.x;
    add.s32 %r1, %r1, 1;  // several
L:
    @!%p bra L;
    mov.b64 {%r1, %r2}, %r3;
    {
        // inner
        .reg .b16 h;
    }
    ret;
}
"""


def test_the_layout() -> None:
    assert format_text(UGLY) == NEAT


@pytest.mark.parametrize("text", [UGLY, NEAT, SEED, *(HEADER + t for t in EVERYTHING)])
def test_meaning_and_comments_stay(text: str) -> None:
    neat = format_text(text)
    assert format_text(neat) == neat
    assert equal(parse(neat), parse(text))
    comment = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
    assert [c.rstrip() for c in comment.findall(neat)] == [c.rstrip() for c in comment.findall(text)]


def test_what_is_no_ptx_is_refused() -> None:
    with pytest.raises(PtxError):
        format_text(UGLY.replace("ret;", "ret"))
