"""What a clock shows between two readings of one warp, beside the latencies that were recorded on an H200."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreter.harness import Machine

LINKS = 32
# One link of a chain, and the cycles of it on the device.
CHAINS = {
    "add.f32": ("add.f32 %f1, %f1, %f1;", 4.07),
    "fma.f32": ("fma.rn.f32 %f1, %f1, %f1, %f1;", 4.07),
    "add.u32": ("add.u32 %r1, %r1, %r1;", 4.06),
    "mul.hi.u32": ("mul.hi.u32 %r1, %r1, %r1;", 9.03),
    "popc": ("popc.b32 %r1, %r1;", 17.0),
    "add.f64": ("add.f64 %e1, %e1, %e1;", 8.05),
    "rsqrt": ("rsqrt.approx.ftz.f32 %f1, %f1;", 17.0),
    "shfl": ("shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;", 23.99),
    "ld.shared": ("ld.shared.u32 %r1, [%r1];", 23.0),
    "sqrt.rn": ("sqrt.rn.f32 %f1, %f1;", 42.94),
    "atom.global": ("atom.global.add.u32 %r1, [%d0+8], %r1;", 511.0),
}
TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    .reg .f32 %f<4>;
    .reg .f64 %e<4>;
    .reg .pred %p;
    .shared .align 8 .b8 words[64];
    ld.param.u64 %d0, [out];
    mov.u32 %r1, 0;
    mov.f32 %f1, 0f3F800000;
    mov.f64 %e1, 0d3FF0000000000000;
    mov.u32 %r2, 0;
    st.shared.u32 [%r1], %r1;
    mov.u64 %d1, %clock64;
turn:
    {body}
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p, %r2, {turns};
    @%p bra turn;
    mov.u64 %d2, %clock64;
    sub.u64 %d3, %d2, %d1;
    cvt.rn.f32.u32 %f2, %r1;
    add.f32 %f2, %f2, %f1;
    st.global.f32 [%d0+16], %f2;
    st.global.f64 [%d0+24], %e1;
    st.global.u64 [%d0], %d3;
    ret;
}}"""


def cycles(body: str, turns: int, engine: str = "numpy") -> int:
    """Between two readings around so many turns."""
    machine = Machine(TEXT.format(body=body, turns=turns))
    out = machine.upload(np.zeros(4, np.uint64))
    machine.launch(1, 32, [out], engine=engine)
    return int(machine.download(out, np.uint64)[0])


@pytest.mark.parametrize("name", CHAINS)
def test_chains_take_as_long_as_recorded(name: str) -> None:
    """Of two loops that differ in turns."""
    link, recorded = CHAINS[name]
    few, many = (cycles(link * LINKS, turns) for turns in (4, 20))
    assert (many - few) / 16 / LINKS == pytest.approx(recorded, rel=0.2)


def test_a_load_is_waited_for_where_its_value_is_used() -> None:
    """Not where it is issued: the clock is read before the value is there."""
    straight = """mov.u64 %d4, %clock64; ld.global.u32 %r3, [%d0]; mov.u64 %d5, %clock64; add.u32 %r3, %r3, 1; mov.u64 %d6, %clock64;
        sub.u64 %d4, %d5, %d4; sub.u64 %d5, %d6, %d5; mov.u64 %d1, 0; mov.u64 %d2, 0; st.global.u64 [%d0], {which}; ret;"""
    found = []
    for which in ("%d4", "%d5"):
        machine = Machine(TEXT.format(body=straight.format(which=which), turns=1))
        out = machine.upload(np.zeros(4, np.uint64))
        machine.launch(1, 32, [out])
        found.append(int(machine.download(out, np.uint64)[0]))
    assert found[0] < 10
    assert 200 < found[1] < 300


@pytest.mark.parametrize("name", ["add.f32", "ld.shared"])
def test_both_engines_tell_the_same(name: str) -> None:
    pytest.importorskip("llvmlite")
    link = CHAINS[name][0]
    assert cycles(link * LINKS, 9, "native") == cycles(link * LINKS, 9)
