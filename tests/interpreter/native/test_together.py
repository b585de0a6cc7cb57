"""Accesses that are checked together: the stretches that run so, and those in which lanes could see each other's stores, where passes run instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Array, Machine, kernel
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.native.program import NativeProgram

LANES = 4 * 256
HEAD = """.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b16 %h<4>; .reg .pred %p<4>; .shared .align 16 .b8 tile[4096];
    ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r5, tile; mad.lo.u32 %r6, %r1, 4, %r5; mul.wide.u32 %d3, %r4, 4;
    add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3; bar.sync 0; """


def both(body: str, block: Any = 256, blocks: int = 4, shift: int = 0) -> list[Array]:
    """What a kernel leaves in memory, with either engine."""
    left = []
    for engine in ("numpy", "native"):
        machine = Machine(kernel("p out, p in", HEAD + body + " ret;"))
        rng = np.random.default_rng(7)
        out, given = (machine.upload(rng.integers(0, 1 << 32, 4 * LANES + 64, np.uint32)) for _ in range(2))
        machine.launch(blocks, block, [out.start + shift, given.start + shift], engine=engine)
        left.append(np.concatenate([machine.download(out), machine.download(given)]))
    return left


def ran_together(programs: list[NativeProgram]) -> list[bool]:
    """By stretch of the last program: has it run without the passes?"""
    rows = programs[-1].memories[-1].state.rows
    return [rows[row.number].code != 0 for row in programs[-1].cut.rows if row.is_stretch]


TOGETHER = {
    "an array to another": "ld.global.u32 %r7, [%d5]; add.u32 %r7, %r7, 1; st.global.u32 [%d4], %r7;",
    "in place": "ld.global.u32 %r7, [%d4]; add.u32 %r7, %r7, 1; st.global.u32 [%d4], %r7;",
    "four elements": "mul.wide.u32 %d6, %r4, 16; add.u64 %d7, %d1, %d6; add.u64 %d8, %d2, %d6; "
    "ld.global.v4.u32 {%r7, %r8, %r9, %r10}, [%d8]; st.global.v4.u32 [%d7], {%r10, %r9, %r8, %r7};",
    "bytes": "cvt.u64.u32 %d6, %r4; add.u64 %d7, %d1, %d6; add.u64 %d8, %d2, %d6; ld.global.u8 %h1, [%d8+3]; st.global.u8 [%d7+5], %h1;",
    "a gather": "xor.b32 %r7, %r4, 85; mul.wide.u32 %d6, %r7, 4; add.u64 %d7, %d2, %d6; ld.global.u32 %r8, [%d7]; st.global.u32 [%d4], %r8;",
    "a gather of pairs": "xor.b32 %r7, %r4, 85; mul.wide.u32 %d6, %r7, 8; add.u64 %d7, %d2, %d6; "
    "ld.global.v2.u32 {%r8, %r9}, [%d7]; xor.b32 %r8, %r8, %r9; st.global.u32 [%d4], %r8;",
    "a scatter": "xor.b32 %r7, %r4, 85; mul.wide.u32 %d6, %r7, 8; add.u64 %d7, %d1, %d6; ld.global.u32 %r8, [%d5]; st.global.v2.u32 [%d7], {%r8, %r4};",
    "a scatter of which lanes meet": "shr.u32 %r7, %r4, 3; mul.wide.u32 %d6, %r7, 4; add.u64 %d7, %d1, %d6; "
    "ld.global.u32 %r8, [%d5]; st.global.u32 [%d7], %r8;",
    "one address": "ld.global.u32 %r7, [%d5]; ld.global.u32 %r8, [%d2+64]; add.u32 %r7, %r7, %r8; st.global.u32 [%d4], %r7; st.global.u32 [%d1+8000], %r7;",
    "one address first": "ld.global.u32 %r8, [%d2+64]; ld.global.u32 %r7, [%d5]; add.u32 %r7, %r7, %r8; st.global.u32 [%d4], %r7;",
    "behind a division": "div.u32 %r7, %r4, %r3; xor.b32 %r7, %r7, %r4; mul.wide.u32 %d6, %r7, 4; add.u64 %d7, %d2, %d6; ld.global.u32 %r8, [%d7]; "
    "st.global.u32 [%d4], %r8;",
    "a guard": "and.b32 %r7, %r1, 63; setp.lt.u32 %p1, %r7, 17; ld.global.u32 %r8, [%d5]; @%p1 st.global.u32 [%d4], %r8;",
    "a guard that holds for none": "setp.eq.u32 %p1, %r4, 5000; ld.global.u32 %r8, [%d5]; mov.u64 %d6, 8; @%p1 st.global.u32 [%d6], %r8;",
    "a guarded load": "and.b32 %r7, %r1, 63; setp.lt.u32 %p1, %r7, 17; @%p1 ld.global.u32 %r3, [%d5]; st.global.u32 [%d4], %r3;",
    "neighbours": "ld.global.u32 %r7, [%d5+8]; ld.global.u32 %r8, [%d5]; add.u32 %r7, %r7, %r8; st.global.u32 [%d4], %r7; st.global.u32 [%d4+8192], %r8;",
    "shared memory": "ld.global.u32 %r7, [%d5]; st.shared.u32 [%r6], %r7; st.shared.u32 [%r6+1024], %r4; bar.sync 0; xor.b32 %r8, %r6, 124; "
    "ld.shared.u32 %r9, [%r8]; ld.shared.u32 %r10, [%r8+1024]; add.u32 %r9, %r9, %r10; st.global.u32 [%d4], %r9;",
    "shared memory in place": "st.shared.u32 [%r6], %r4; bar.sync 0; ld.shared.u32 %r7, [%r6]; mul.lo.u32 %r7, %r7, 3; st.shared.u32 [%r6], %r7; "
    "bar.sync 0; ld.shared.u32 %r7, [%r6]; st.global.u32 [%d4], %r7;",
}  # fmt: skip


@pytest.mark.parametrize("block", [256, (16, 16), 200, (7, 5)])
@pytest.mark.parametrize("name", TOGETHER)
def test_a_stretch_runs_without_passes(name: str, block: Any, programs: list[NativeProgram]) -> None:
    numpy, native = both(TOGETHER[name], block)
    assert np.array_equal(numpy, native)
    if block == 256:
        assert ran_together(programs) and all(ran_together(programs))


def halves(size: int, space: str) -> str:
    """Lanes of a block of 16 x 16 load an element of their row, and one of their column, and store what they make of both."""
    word, register = f"{space}.u{8 * size}", ("%r8", "%r9") if size < 8 else ("%d14", "%d15")
    a, b = register
    fill = "st.shared.v4.u32 [%r10], {%r4, %r3, %r6, %r10}; bar.sync 0;" if space == "shared" else ""
    return (
        f"mov.u32 %r7, %tid.y; mad.lo.u32 %r10, %r7, 16, %r1; mad.lo.u32 %r10, %r10, 16, %r5; {fill}"
        f"mad.lo.u32 %r11, %r7, 128, 64; mul.lo.u32 %r12, %r1, {size}; mad.lo.u32 %r12, %r7, 32, %r12;"
        + ("add.u32 %r13, %r11, %r5; add.u32 %r14, %r12, %r5;" if space == "shared" else
           "cvt.u64.u32 %d10, %r11; cvt.u64.u32 %d11, %r12; add.u64 %d10, %d2, %d10; add.u64 %d11, %d2, %d11;")
        + "mad.lo.u32 %r15, %r2, 16, %r7; mad.lo.u32 %r15, %r15, 96, %r12; cvt.u64.u32 %d12, %r15; add.u64 %d12, %d1, %d12;"
        + " ".join(
            f"ld.{word} {a}, [{'%r13' if space == 'shared' else '%d10'}+{k * size}]; ld.{word} {b}, [{'%r14' if space == 'shared' else '%d11'}+{32 * k}];"
            f"mad.lo.u{max(8 * size, 32)} {a}, {a}, 7, {b}; xor.b{max(8 * size, 32)} {b}, {a}, {b}; st.global.u{8 * size} [%d12+{5376 * k}], {a};"
            for k in range(3)
        )
    )  # fmt: skip


@pytest.mark.parametrize("block", [(16, 16), (16, 13), (16, 1), (8, 8), (32, 4)])
@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_the_halves_of_a_warp_may_lie_apart(space: str, size: int, block: Any, programs: list[NativeProgram]) -> None:
    numpy, native = both(halves(size, space), block, blocks=3)
    assert np.array_equal(numpy, native)
    if block == (16, 16):
        assert all(ran_together(programs))


SEEN = {
    "the next element": "ld.global.u32 %r7, [%d4]; st.global.u32 [%d4+4], %r7;",
    "the element before": "ld.global.u32 %r7, [%d4+4]; st.global.u32 [%d4], %r7;",
    "elements of two lanes": "shr.u32 %r7, %r4, 1; mul.wide.u32 %d6, %r7, 4; add.u64 %d7, %d1, %d6; "
    "ld.global.u32 %r8, [%d7]; add.u32 %r8, %r8, %r4; st.global.u32 [%d7], %r8;",
    "two stores": "st.global.u32 [%d4], %r4; st.global.u32 [%d4+128], %r1;",
    "a store, then a load": "st.global.u32 [%d4], %r4; ld.global.u32 %r7, [%d4+128]; st.global.u32 [%d5], %r7;",
    "a store, then a load from one address": "st.global.u32 [%d4], %r4; ld.global.u32 %r7, [%d1+64]; st.global.u32 [%d5], %r7;",
    "other sizes": "and.b64 %d6, %d3, -8; add.u64 %d7, %d1, %d6; ld.global.u64 %d8, [%d7]; cvt.u32.u64 %r7, %d8; st.global.u32 [%d4], %r7;",
    "shared memory": "st.shared.u32 [%r6], %r4; ld.shared.u32 %r7, [%r6+128]; st.global.u32 [%d4], %r7;",
    "backwards": "sub.u32 %r7, 2000, %r4; mul.wide.u32 %d6, %r7, 4; add.u64 %d7, %d1, %d6; ld.global.u32 %r8, [%d7]; "
    "add.u32 %r8, %r8, 1; st.global.u32 [%d7], %r8;",
}  # fmt: skip


@pytest.mark.parametrize("name", SEEN)
def test_where_lanes_could_see_stores_passes_run(name: str, programs: list[NativeProgram]) -> None:
    numpy, native = both(SEEN[name])
    assert np.array_equal(numpy, native)
    assert False in ran_together(programs)


ILLEGAL = {
    "the last lanes": "mul.wide.u32 %d6, %r4, 20; add.u64 %d7, %d1, %d6; ld.global.u32 %r7, [%d5]; st.global.u32 [%d7], %r7;",
    "a load": "sub.u64 %d7, %d2, 400; add.u64 %d7, %d7, %d3; ld.global.u32 %r7, [%d7]; st.global.u32 [%d4], %r7;",
    "nothing there": "mov.u64 %d7, 64; add.u64 %d7, %d7, %d3; ld.global.u32 %r7, [%d7]; st.global.u32 [%d4], %r7;",
    "misaligned": "add.u64 %d7, %d4, 2; ld.global.u32 %r7, [%d5]; st.global.u32 [%d7], %r7;",
    "a misaligned lane": "setp.eq.u32 %p1, %r4, 77; selp.u64 %d7, 1, 0, %p1; add.u64 %d7, %d7, %d4; ld.global.u32 %r7, [%d5]; st.global.u32 [%d7], %r7;",
    "from one array into the other": "shl.b32 %r7, %r4, 5; mul.wide.u32 %d6, %r7, 4; add.u64 %d7, %d1, %d6; ld.global.u32 %r8, [%d5]; "
    "st.global.u32 [%d7], %r8;",
    "behind shared memory": "ld.global.u32 %r7, [%d5]; st.shared.u32 [%r6+3200], %r7;",
    "before shared memory": "ld.global.u32 %r7, [%d5]; st.shared.u32 [%r6+-4], %r7;",
    "far before shared memory": "ld.global.u32 %r7, [%d5]; add.u32 %r6, %r6, -2147483648; st.shared.u32 [%r6+-2147483648], %r7; add.u32 %r6, %r6, -4; "
    "ld.shared.u32 %r8, [%r6]; st.global.u32 [%d4], %r8;",
}  # fmt: skip


@pytest.mark.parametrize("name", ILLEGAL)
def test_faults_are_said_in_the_same_words(name: str) -> None:
    said = []
    for engine in ("numpy", "native"):
        machine = Machine(kernel("p out, p in", HEAD + ILLEGAL[name] + " ret;"))
        out, given = (machine.upload(np.zeros(LANES, np.uint32)) for _ in range(2))
        with pytest.raises(ExecutionError) as e:
            machine.launch(4, 256, [out, given], engine=engine)
        said.append((str(e.value), machine.download(out).tobytes(), machine.download(given).tobytes()))
    assert said[0] == said[1]
