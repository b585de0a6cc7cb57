"""A function may be declared without a ';' where the next item makes the end plain, as ptxas reads it."""

import pytest

from warplab.assembler import parse
from warplab.assembler.diagnostics import PtxError

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
NEXT = [
    ".visible .func g { ret; }",
    ".func (.reg .u32 r) g (.reg .u32 a) { mov.u32 r, a; ret; }",
    ".entry g { ret; }",
    ".global .u32 g;",
    '.file 1 "g"',
]
DECLARED = [
    ".func f", ".visible .func f", ".extern .func (.param .u32 r) f(.param .u32 a)", ".func f (.param .align 4 .b8 a[12],\n .param .u32 b)",
    ".func f .noreturn",
]  # fmt: skip


@pytest.mark.parametrize("following", NEXT)
@pytest.mark.parametrize("declared", DECLARED)
def test_the_end_mark_may_be_missing(declared: str, following: str) -> None:
    module = parse(f"{HEAD}{declared}\n{following}\n")
    with_mark = parse(f"{HEAD}{declared};\n{following}\n")
    assert [type(i) for i in module.items] == [type(i) for i in with_mark.items]
    f = module.functions["f"]
    assert f.body is None and len(f.params) == len(with_mark.functions["f"].params)


def test_it_must_stand_where_nothing_follows() -> None:
    with pytest.raises(PtxError):
        parse(f"{HEAD}.func f(.param .u32 a)\n")
    with pytest.raises(PtxError):
        parse(f"{HEAD}.entry f(.param .u32 a)\n.entry g {{ ret; }}\n")
