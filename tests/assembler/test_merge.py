"""Linked programs as one text."""

import pytest

from warplab.assembler import check, link
from warplab.assembler.merge import merge

HEAD = ".version {}\n.target {}\n.address_size 64\n"
MAIN = (
    HEAD.format("7.8", "sm_80")
    + """
.extern .func (.param .b32 r) twice(.param .b32 a);
.extern .global .u32 total;
.func helper() { ret; }
.global .align 4 .u32 table[2] = {1, 2};
.weak .func often() { ret; }
.visible .entry k()
{
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    .param .b32 a0; .param .b32 r0;
    ld.global.u32 %r1, [table];
    st.param.b32 [a0], %r1;
    call (r0), twice, (a0);
    ld.param.b32 %r2, [r0];
    st.global.u32 [total], %r2;
    call helper;
    call often;
    ret;
}
"""
)
LIBRARY = (
    HEAD.format("8.0", "sm_90")
    + """
.visible .global .u32 total;
.global .align 4 .u32 table[1] = {7};
.func helper() { .pragma "table"; ret; }
.visible .func often() { ret; }
.visible .func (.param .b32 r) twice(.param .b32 a)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
    ld.global.u32 %r2, [table];
    add.u32 %r1, %r1, %r2;
    call helper;
    st.param.b32 [r], %r1;
    ret;
}
"""
)


@pytest.mark.parametrize("texts", [[MAIN, LIBRARY], [LIBRARY, MAIN]], ids=["main first", "library first"])
def test_two_modules_become_one_that_is_legal(texts):
    text = merge(link(texts))
    assert [d.message for d in check(text, warnings=()) if d.severity == "error"] == []
    assert text.startswith(".version 8.0\n.target sm_90\n")
    program = link([text])
    assert {"k", "twice", "often", "helper"} < set(program.functions)
    assert program.functions["often"].linkage == "visible"  # not the weak one
    assert not program.unresolved


def test_local_names_of_two_modules_stay_apart():
    program = link([merge(link([MAIN, LIBRARY]))])
    assert program.variables["table"].initial == (1, 2)
    assert program.variables["table$1"].initial == (7,)
    text = merge(link([MAIN, LIBRARY]))
    assert "[table$1]" in text and "call helper$1" in text and '"table"' in text


def test_a_linked_text_linked_again_stays_the_same():
    once = merge(link([MAIN, LIBRARY]))
    assert merge(link([once])) == once
