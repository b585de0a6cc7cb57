"""What the text says of addresses: which differ by a constant, and how far they are aligned whatever the registers hold."""

from collections.abc import Iterator

import pytest

from tests.interpreter.harness import Machine, kernel
from warplab.assembler.flow import flow
from warplab.assembler.ir import Instruction
from warplab.interpreter.ptxas.joined import joined_accesses

# How a row's address is made, and whether ptxas 13.0 makes one load of sixteen bytes of four, of eight of two, or leaves them.
ROWS = [
    ("shl.b32 %r5, %r2, 4; add.u32 %r6, %r4, %r5;", 16),
    ("setp.lt.u32 %p1, %r2, 7; shl.b32 %r5, %r2, 4; selp.u32 %r5, %r5, 32, %p1; add.u32 %r6, %r4, %r5;", 16),
    ("shl.b32 %r5, %r2, 4; min.u32 %r5, %r5, 64; add.u32 %r6, %r4, %r5;", 4),
    ("shl.b32 %r5, %r2, 4; sub.u32 %r6, %r4, %r5; add.u32 %r6, %r6, 1024;", 16),
    ("mul.lo.u32 %r7, %r1, %r2; shl.b32 %r7, %r7, 4; add.u32 %r6, %r4, %r7;", 16),
    ("shl.b32 %r5, %r2, 2; shl.b32 %r7, %r1, 2; mul.lo.u32 %r5, %r5, %r7; add.u32 %r6, %r4, %r5;", 16),
    ("shl.b32 %r5, %r2, 2; shl.b32 %r5, %r5, 2; add.u32 %r6, %r4, %r5;", 16),
    ("shl.b32 %r5, %r2, 6; shr.u32 %r5, %r5, 2; add.u32 %r6, %r4, %r5;", 4),
    ("and.b32 %r5, %r2, 0xfff0; add.u32 %r6, %r4, %r5;", 16),
    ("shr.u32 %r5, %r2, 5; mad.lo.u32 %r6, %r5, 128, %r4;", 16),
    ("rem.u32 %r5, %r2, 10; mad.lo.u32 %r6, %r5, 16, %r4;", 16),
    ("mad.lo.u32 %r6, %r2, 20, %r4;", 4),
    ("mad.lo.u32 %r6, %r2, 24, %r4;", 8),
    ("shl.b32 %r5, %r2, 4; or.b32 %r5, %r5, 64; add.u32 %r6, %r4, %r5;", 16),
    ("shl.b32 %r5, %r2, 4; xor.b32 %r5, %r5, 64; add.u32 %r6, %r4, %r5;", 16),
    ("cvt.u64.u32 %d2, %r2; shl.b64 %d2, %d2, 4; mov.u64 %d3, s; add.u64 %d2, %d3, %d2; cvt.u32.u64 %r6, %d2;", 16),
    ("mul.wide.u32 %d2, %r2, 16; cvt.u32.u64 %r6, %d2; add.u32 %r6, %r6, %r4;", 16),
    ("bfi.b32 %r5, %r2, 0, 4, 5; add.u32 %r6, %r4, %r5;", 16),
    ("shl.b32 %r5, %r2, 4; shfl.sync.idx.b32 %r5, %r5, 0, 31, -1; add.u32 %r6, %r4, %r5;", 4),
    ("shl.b32 %r5, %r2, 4; add.u32 %r6, %r4, %r5; add.u32 %r6, %r6, %r5; add.u32 %r6, %r6, 48;", 16),
    ("shl.b32 %r5, %r2, 3; add.u32 %r6, %r4, %r5;", 8),
    ("shl.b32 %r5, %r2, 2; add.u32 %r6, %r4, %r5;", 4),
    ("mov.u32 %r6, %r4;", 16),
]
HEAD = """.reg .b32 %r<32>; .reg .b64 %d<8>; .reg .pred %p<4>; .shared .align 4 .b8 s[4096];
    ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r4, s; mad.lo.u32 %r3, %r2, 4, %r4;
    st.shared.u32 [%r3], %r2; bar.sync 0;
"""
TAIL = """
    xor.b32 %r10, %r10, %r11; xor.b32 %r12, %r12, %r13; xor.b32 %r10, %r10, %r12; mul.wide.u32 %d4, %r2, 4; add.u64 %d1, %d1, %d4;
    st.global.u32 [%d1], %r10; ret;
"""


def loads(at: str = "%r6", start: int = 0) -> str:
    return "".join(f"ld.shared.u32 %r{10 + n}, [{at}+{start + 4 * n}];" for n in range(4))


def widths(body: str, space: str = "shared") -> list[int]:
    """Of the loads from shared memory, in their order."""
    k = Machine(kernel("p out, u32 n", body)).kernels()["test"]
    joined = joined_accesses(k, k.function)
    found = [joined[id(i)].width if id(i) in joined else 4 for i in instructions(k.function) if i.opcode == "ld" and space in i.modifiers]
    return [w for w in found if w]


def instructions(function: object) -> Iterator[Instruction]:
    for block in flow(function).blocks:  # type: ignore[arg-type]
        yield from block.instructions


@pytest.mark.parametrize(("row", "width"), ROWS)
def test_an_address_is_known_to_be_aligned(row: str, width: int) -> None:
    assert widths(HEAD + row + loads() + TAIL) == [width] * (16 // width)


@pytest.mark.parametrize(("step", "width"), [(16, 16), (8, 8), (4, 4)])
def test_a_row_that_goes_on_in_a_loop(step: int, width: int) -> None:
    turn = f"mov.u32 %r6, s; L: {loads()} add.u32 %r6, %r6, {step}; setp.lt.u32 %p1, %r6, %r1; @%p1 bra L;"
    assert widths(HEAD + turn + TAIL) == [width] * (16 // width)


def test_variables_lie_where_those_before_them_end() -> None:
    before = HEAD.replace(".shared .align 4 .b8 s[4096]", ".shared .align 4 .b8 t[4]; .shared .align 4 .b8 s[4092]")
    row = "st.shared.u32 [t], %r2; shl.b32 %r5, %r2, 4; add.u32 %r6, %r4, %r5;"
    assert widths(before + row + loads() + TAIL) == [4] * 4
    assert widths(before.replace("t[4]", "t[16]") + row + loads() + TAIL) == [16]
    assert widths(before.replace("t[4]", "t[8]") + row + loads() + TAIL) == [8, 8]
    assert widths(before + row + loads(start=12) + TAIL) == [4] * 4
    assert widths(before + loads("s", 12) + TAIL) == [16]  # at a known address, which is 16


def test_an_address_counts_from_where_the_register_was() -> None:
    moved = "shl.b32 %r5, %r2, 6; add.u32 %r6, %r4, %r5;" + "add.u32 %r6, %r6, 4;".join(
        f"ld.shared.u32 %r{10 + n}, [%r6];" for n in range(4)
    )
    assert widths(HEAD + moved + TAIL) == [16]


def test_code_for_debugging_stays_as_it_is() -> None:
    row = "shl.b32 %r5, %r2, 4; add.u32 %r6, %r4, %r5;"
    text = kernel("p out, u32 n", HEAD + row + loads() + TAIL).replace(".target sm_90", ".target sm_90, debug")
    k = Machine(text, verified=False).kernels()["test"]
    assert joined_accesses(k, k.function) == {}


def test_the_own_blocks_memory_by_its_longer_name() -> None:
    row = "shl.b32 %r5, %r2, 4; add.u32 %r6, %r4, %r5;"
    assert widths(HEAD + row + loads().replace("ld.shared", "ld.shared::cta") + TAIL, "shared::cta") == [16]
