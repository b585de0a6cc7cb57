"""An `if` without `else` that runs as part of a stretch, for the lanes that execute it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Array, Machine, kernel
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.native.program import NativeProgram

LANES = 4 * 256
HEAD = """.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<4>; .reg .f32 %f<9>; .shared .align 16 .b8 tile[4096];
    ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r15, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1; mov.u32 %r5, tile; mad.lo.u32 %r6, %r1, 4, %r5; mul.wide.u32 %d3, %r4, 4;
    add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3; mov.u32 %r7, 5; st.shared.u32 [%r6], %r4; bar.sync 0; """
TAIL = " add.u32 %r7, %r7, %r4; st.global.u32 [%d4+8192], %r7; ret;"


def both(body: str, n: int, block: int = 256, blocks: int = 4, **options: Any) -> tuple[list[Array], list[int]]:
    """What a kernel leaves in memory, and its steps, with either engine."""
    left, steps = [], []
    for engine in ("numpy", "native"):
        machine = Machine(kernel("p out, p in, u32 n", HEAD + body + TAIL))
        rng = np.random.default_rng(7)
        out, given = (machine.upload(rng.integers(0, 1 << 32, 4 * LANES + 64, np.uint32)) for _ in range(2))
        steps.append(machine.launch(blocks, block, [out, given, n], engine=engine, **options).steps)
        left.append(np.concatenate([machine.download(out), machine.download(given)]))
    return left, steps


def ran_with_sides(programs: list[NativeProgram]) -> list[bool]:
    """By stretch of the last program that ends with a side of a branch: has it run so?"""
    rows = programs[-1].memories[-1].state.rows
    return [rows[row.number].code != 0 for row in programs[-1].cut.rows if row.side is not None]


HAMMOCKS = {
    "a bound": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r7, [%d5]; add.u32 %r7, %r7, 1; st.global.u32 [%d4], %r7; J:",
    "the lanes whose guard holds": "bra T; S: ld.global.u32 %r7, [%d5]; st.global.u32 [%d4], %r7; bra J; T: setp.lt.u32 %p1, %r4, %r15; @%p1 bra S; J:",
    "a guard that is negated": "setp.lt.u32 %p1, %r4, %r15; @!%p1 bra J; ld.global.u32 %r7, [%d5]; st.global.u32 [%d4], %r7; J:",
    "some lanes of each warp": "and.b32 %r8, %r4, 31; setp.ge.u32 %p1, %r8, %r15; @%p1 bra J; ld.global.u32 %r7, [%d5]; st.global.u32 [%d4], %r7; J:",
    "odd lanes": "and.b32 %r8, %r4, 1; setp.eq.u32 %p1, %r8, 0; @%p1 bra J; ld.global.u32 %r7, [%d5]; st.global.u32 [%d4], %r7; J:",
    "one load": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r7, [%d5]; J:",
    "one store": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; st.global.u32 [%d4], %r4; J:",
    "one value for all": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; mov.u32 %r7, 9; st.global.u32 [%d4], %r4; J:",
    "a predicate": "setp.ge.u32 %p2, %r1, 77; setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r8, [%d5]; setp.ge.u32 %p2, %r8, 1000000000; J: "
    "selp.u32 %r7, %r4, 3, %p2;",
    "a guard in it": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r8, [%d5]; and.b32 %r9, %r4, 3; setp.eq.u32 %p2, %r9, 1; "
    "@%p2 mov.u32 %r7, %r8; @!%p2 st.global.u32 [%d4], %r8; J:",
    "a condition that is loaded": "ld.global.u32 %r8, [%d5]; setp.ge.u32 %p1, %r8, 1000000000; @%p1 bra J; ld.global.u32 %r7, [%d5+64]; "
    "st.global.u32 [%d4], %r7; J:",
    "what is computed before": "xor.b32 %r8, %r4, %r15; add.u32 %r9, %r8, 4; setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r8, [%d5]; "
    "st.global.u32 [%d4], %r9; J: xor.b32 %r7, %r8, %r9;",
    "shared memory in front of the lane, as in a scan": "mul.lo.u32 %r8, %r1, 4; setp.lt.u32 %p1, %r1, %r15; @%p1 bra J; mul.lo.u32 %r9, %r15, -4; "
    "add.u32 %r8, %r8, %r9; ld.shared.u32 %r7, [%r8]; st.shared.u32 [%r8+2048], %r7; J: bar.sync 0; ld.shared.u32 %r8, [%r6+2044]; add.u32 %r7, %r7, %r8;",
    "shared memory": "setp.ge.u32 %p1, %r1, %r15; @%p1 bra J; ld.shared.u32 %r8, [%r6]; ld.shared.u32 %r9, [%r6+1024]; add.u32 %r8, %r8, %r9; "
    "st.shared.u32 [%r6], %r8; J: bar.sync 0; ld.shared.u32 %r7, [%r6];",
    "a tree": "mov.u32 %r8, 128; L: setp.ge.u32 %p1, %r1, %r8; @%p1 bra J; shl.b32 %r9, %r8, 2; add.u32 %r9, %r9, %r6; ld.shared.u32 %r10, [%r6]; "
    "ld.shared.u32 %r11, [%r9]; add.u32 %r10, %r10, %r11; st.shared.u32 [%r6], %r10; J: bar.sync 0; shr.u32 %r8, %r8, 1; setp.ne.u32 %p2, %r8, 0; "
    "@%p2 bra L; ld.shared.u32 %r7, [%r5];",
    "one in another": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r7, [%d5]; setp.ge.u32 %p2, %r7, 1000000000; @%p2 bra K; "
    "ld.global.u32 %r8, [%d5+4]; add.u32 %r7, %r7, %r8; st.global.u32 [%d4], %r7; K: add.u32 %r7, %r7, 3; J:",
    "floats": "mov.f32 %f1, 0f3F800000; setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.f32 %f1, [%d5]; add.f32 %f1, %f1, %f1; J: mov.b32 %r7, %f1;",
    "in place": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r7, [%d4]; add.u32 %r7, %r7, 1; st.global.u32 [%d4], %r7; J:",
}  # fmt: skip


@pytest.mark.parametrize("name", HAMMOCKS)
def test_a_side_runs_with_the_stretch(name: str, programs: list[NativeProgram]) -> None:
    for n, block in ((LANES, 256), (0, 256), (7, 256), (700, 256), (333, 200), (31, 20)):
        (numpy, native), steps = both(HAMMOCKS[name], n, block)
        assert np.array_equal(numpy, native), n
        assert steps[0] == steps[1], n
        if block == 256:
            assert ran_with_sides(programs) and all(ran_with_sides(programs))


BEHIND = {
    "a tile is filled": ("mov.u32 %r7, 0; setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r7, [%d5]; J: st.shared.u32 [%r6], %r7;", 1),
    "the same place": ("setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; st.global.u32 [%d4], %r7; J: ld.global.u32 %r8, [%d4]; add.u32 %r7, %r7, %r8;", 4),
    "what it computes": ("setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r8, [%d5]; shr.u32 %r7, %r8, 1; xor.b32 %r6, %r6, 4; "
                         "J: ld.shared.u32 %r9, [%r6]; add.u32 %r7, %r7, %r9;", 4),
    "only where an address is not loaded": ("setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r8, [%d5]; and.b32 %r8, %r8, 255; mad.lo.u32 %r6, %r8, 4, %r5; "
                                            "J: ld.shared.u32 %r9, [%r6]; add.u32 %r7, %r7, %r9;", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", BEHIND)
def test_a_stretch_goes_on_where_lanes_reconverge(name: str, programs: list[NativeProgram]) -> None:
    body, ahead = BEHIND[name]
    for n, block in ((LANES, 256), (0, 256), (7, 256), (700, 256), (333, 200), (31, 20)):
        (numpy, native), steps = both(body + (" bar.sync 0;" if ahead == 1 else ""), n, block)
        assert np.array_equal(numpy, native), n
        assert steps[0] == steps[1], n
        assert ran_with_sides(programs) == [True] or block != 256
    assert [row.ahead for row in programs[-1].cut.rows if row.side is not None] == [ahead]


APART = {
    "lanes see each other's stores": "setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r7, [%d4]; st.global.u32 [%d4+4], %r7; J:",
    "lanes store where others load": "setp.ge.u32 %p1, %r1, %r15; @%p1 bra J; ld.shared.u32 %r8, [%r6+4]; st.shared.u32 [%r6], %r8; J:",
}


@pytest.mark.parametrize("name", APART)
def test_where_lanes_could_see_stores_the_segments_run(name: str, programs: list[NativeProgram]) -> None:
    (numpy, native), steps = both(APART[name], 200)
    assert np.array_equal(numpy, native) and steps[0] == steps[1]
    assert ran_with_sides(programs) == [False]


def test_lanes_that_do_not_take_the_side_may_have_any_address(programs: list[NativeProgram]) -> None:
    body = "shl.b32 %r8, %r4, 20; mul.wide.u32 %d6, %r8, 4; setp.ne.u32 %p1, %r4, 0; @%p1 bra J; add.u64 %d6, %d2, %d6; ld.global.u32 %r7, [%d6]; J:"
    (numpy, native), _ = both(body, 1)
    assert np.array_equal(numpy, native)
    assert ran_with_sides(programs) == [True]


@pytest.mark.parametrize("n", [40, 4 * LANES + 300])
def test_faults_are_said_in_the_same_words(n: int) -> None:
    body = "mul.wide.u32 %d6, %r4, 64; add.u64 %d7, %d2, %d6; setp.ge.u32 %p1, %r4, %r15; @%p1 bra J; ld.global.u32 %r7, [%d7+16000]; J:"
    said = []
    for engine in ("numpy", "native"):
        machine = Machine(kernel("p out, p in, u32 n", HEAD + body + TAIL))
        out, given = (machine.upload(np.zeros(4 * LANES, np.uint32)) for _ in range(2))
        with pytest.raises(ExecutionError) as e:
            machine.launch(4, 256, [out, given, n], engine=engine)
        said.append((str(e.value), machine.download(out).tobytes()))
    assert said[0] == said[1]


@pytest.mark.parametrize("most", [256, 700, 1000])
def test_the_limit_of_steps_is_reached_where_numpy_reaches_it(most: int) -> None:
    body = "L: setp.ge.u32 %p1, %r1, %r15; @%p1 bra J; ld.shared.u32 %r8, [%r6]; add.u32 %r8, %r8, 1; st.shared.u32 [%r6], %r8; J: bar.sync 0; bra L;"
    said = []
    for engine in ("numpy", "native"):
        with pytest.raises(ExecutionError) as e:
            machine = Machine(kernel("p out, p in, u32 n", HEAD + body + TAIL))
            out, given = (machine.upload(np.zeros(4 * LANES, np.uint32)) for _ in range(2))
            machine.launch(4, 256, [out, given, 100], engine=engine, max_steps=most)
        said.append(str(e.value))
    assert said[0] == said[1]
