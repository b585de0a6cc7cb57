"""`%r+4` as a value: printed, kept in objects, refused where ptxas refuses it."""

import pytest

from warplab.assembler import parse
from warplab.assembler.diagnostics import PtxError
from warplab.assembler.objects import assemble, disassemble
from warplab.assembler.printer import print_module
from warplab.assembler.verify import verify

TAKEN = ["add.u32 %r1, %r2+4, 1;", "mov.b32 %r1, %r2+-1;", "st.global.u32 [%d], %r1+16;", "selp.u32 %r1, %r2+4, %r1, %p;"]
REFUSED = ["add.u32 %r1+1, %r2, %r3;", "bra %r1+1;", "mov.b64 %d, {%r1+1, %r2};", "mov.u32 %r1, %r2-1;"]


def module(body: str) -> str:
    """A kernel's text."""
    declared = ".reg .u32 %r<4>; .reg .u64 %d; .reg .pred %p;"
    return f".version 8.0\n.target sm_90\n.address_size 64\n.entry k()\n{{\n{declared}\n{body}\nret;\n}}\n"


@pytest.mark.parametrize("body", TAKEN)
def test_is_read_printed_and_kept(body: str) -> None:
    m = parse(module(body))
    assert not [d for d in verify(m) if d.severity == "error"]
    assert body in print_module(m)
    assert body in disassemble(assemble(m))


@pytest.mark.parametrize("body", REFUSED)
def test_is_refused_elsewhere(body: str) -> None:
    try:
        problems = verify(parse(module(body)))
    except PtxError as error:
        problems = error.diagnostics
    assert any(d.severity == "error" for d in problems)
