"""Instructions that ptxas replaces by others: their results are the hardware's, which differ from the manual in a few bits.

Each expectation was read from the machine code that ptxas 13.0 makes of the program for sm_90.
"""

from __future__ import annotations

import numpy as np
import pytest

from warplab.interpreter.ptxas.contraction import Fmad

from ..harness import Array, Machine, kernel

NAN = 0xFFABCDEF  # with a sign and a payload; a result of arithmetic is 0x7fffffff
QUIET = 0x7FFFFFFF
LEAST = 0x0000_0001  # a subnormal number
ONE, TWO, THREE = 0x3F80_0000, 0x4000_0000, 0x4040_0000
INF = 0x7F80_0000


def left(body: str, values: list[int], fmad: Fmad = "all") -> list[int]:
    """The words that one lane stores at %q, of words that are loaded to %r0, %r1, ...; %t is true and %n false."""
    loads = "".join(f"ld.global.b32 %r{n}, [%p+{4 * n}];" for n in range(len(values)))
    text = f"""
        .reg .b32 %r<20>; .reg .b64 %p, %q, %d<9>; .reg .b16 %h<9>; .reg .pred %t, %n, %c; .reg .u32 %i;
        ld.param.u64 %q, [out]; ld.param.u64 %p, [in]; mov.u32 %i, %tid.x; setp.eq.u32 %t, %i, 0; setp.ne.u32 %n, %i, 0; {loads}
        {body}
    """
    machine = Machine(kernel("p out, p in", text), fmad=fmad)
    out, given = machine.upload(np.zeros(8, np.uint32)), machine.upload(np.array(values, np.uint32))
    machine.launch(1, 1, [out, given])
    found: Array = machine.download(out, np.uint32)
    return [int(x) for x in found]


def stores(*registers: str) -> str:
    """Stores 32-bit registers one behind the other."""
    return "".join(f"st.global.b32 [%q+{4 * n}], {r};" for n, r in enumerate(registers))


@pytest.mark.parametrize(
    ("body", "values", "want", "written"),
    [
        # a number itself
        ("neg.f32 %r1, %r0; mov.b32 %r0, 0; neg.f32 %r2, %r1;" + stores("%r2", "%r1"), [NAN], [NAN, QUIET], [QUIET, QUIET]),
        ("max.f32 %r1, %r0, %r0; mov.b32 %r3, %r0; min.f32 %r2, %r3, %r0;" + stores("%r1", "%r2"), [NAN], [NAN, NAN], [QUIET, QUIET]),
        ("max.NaN.f32 %r1, %r0, %r0; max.ftz.f32 %r2, %r0, %r0;" + stores("%r1", "%r2"), [NAN], [QUIET, QUIET], [QUIET, QUIET]),
        ("mul.f32 %r1, %r0, 0f3F800000; mul.rn.f32 %r2, %r0, 0f3F800000;" + stores("%r1", "%r2"), [NAN], [NAN, QUIET], [QUIET, QUIET]),
        ("mov.b32 %r3, %r0; ld.global.b32 %r0, [%p+4]; max.f32 %r1, %r3, %r0;" + stores("%r1"), [ONE, TWO], [TWO], [TWO]),
        # reciprocals of reciprocals
        ("rcp.approx.ftz.f32 %r1, %r0; mov.b32 %r0, 0; rcp.approx.ftz.f32 %r2, %r1;" + stores("%r2", "%r1"), [LEAST], [LEAST, INF], [0, INF]),
        ("rcp.approx.f32 %r1, %r0; rcp.approx.ftz.f32 %r2, %r1;" + stores("%r2"), [LEAST], [0], [0]),
        ("rcp.approx.ftz.f32 %r1, %r0; mov.b32 %r0, 0; div.approx.ftz.f32 %r2, %r3, %r1;" + stores("%r2"), [NAN, 0, 0, ONE], [QUIET], [QUIET]),
        ("rcp.approx.ftz.f32 %r1, %r0; div.approx.ftz.f32 %r2, %r3, %r1;" + stores("%r2"), [INF - 1, 0, 0, ONE], [INF - 1], [INF]),
        # signs of a select
        ("mov.b32 %r1, %r0; @%t neg.f32 %r1, %r0;" + stores("%r1"), [NAN], [NAN ^ 1 << 31], [QUIET]),
        ("mov.b32 %r1, %r0; @%t abs.f32 %r1, %r0;" + stores("%r1"), [NAN], [NAN & QUIET], [QUIET]),
        ("@%t neg.ftz.f32 %r1, %r0;" + stores("%r1"), [NAN], [QUIET], [QUIET]),
        ("neg.f32 %r1, %r0; selp.f32 %r2, %r1, %r0, %t;" + stores("%r2"), [NAN], [NAN ^ 1 << 31], [QUIET]),
        ("neg.f32 %r1, %r0; @%n add.f32 %r1, %r0, %r0;" + stores("%r1"), [NAN], [NAN ^ 1 << 31], [QUIET]),
        ("neg.f32 %r1, %r0; @%n add.s32 %r1, %r0, %r0;" + stores("%r1"), [NAN], [QUIET], [QUIET]),
        ("neg.f32 %r1, %r0;" + stores("%r1"), [NAN], [QUIET], [QUIET]),
        # a guard that is not looked at, bits behind the last
        ("setp.eq.u32 %c, %i, 0; @%n testp.infinite.f32 %c, %r0; selp.u32 %r1, 1, 0, %c;" + stores("%r1"), [ONE], [0], [1]),
        ("bfe.s32 %r1, %r0, 63, 40; bfe.s32 %r2, %r0, 31, 40; bfe.s32 %r3, %r0, 40, 0;" + stores("%r1", "%r2", "%r3"), [5], [0xFFFFFFFF, 0, 0], [0, 0, 0]),
        ("mov.u32 %r4, 65535; bfe.s32 %r1, %r4, %r4, %r4; bfe.s32 %r2, 5, 40, 1;" + stores("%r1", "%r2"), [5], [0, 0], [0, 0]),
        ("mov.u32 %r4, 32; bfe.s32 %r1, %r0, %r4, 1; bfe.s32 %r2, %r0, %r3, 1;" + stores("%r1", "%r2"), [5, 0, 0, 32], [0xFFFFFFFF, 0], [0, 0]),
    ],
)  # fmt: skip
def test_results_are_those_of_the_machine_code(body: str, values: list[int], want: list[int], written: list[int]) -> None:
    assert left(body, values)[: len(want)] == want
    assert left(body, values, "none")[: len(want)] == written, "as the manual has it"


def test_a_number_behind_two_signs_in_other_blocks_and_types() -> None:
    body = """
        neg.f16 %h1, %h0; mov.b16 %h0, 0; @%n bra L; neg.f16 %h3, %h1; neg.bf16 %h4, %h1; st.global.b16 [%q], %h3; st.global.b16 [%q+2], %h4;
        L: ret;"""
    (word, *_) = left(f"cvt.u16.u32 %h0, %r0; {body}", [0xFD01])
    assert (word & 0xFFFF, word >> 16) == (0xFD01, 0x7FFF)
