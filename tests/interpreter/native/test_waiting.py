"""Groups that wait and spin natively: the same order as in the numpy engine, hence the same bits, the same steps and the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Machine, kernel
from tests.interpreter.vector.test_sync import CASES, HEAD, Case
from tests.interpreter.waiting_programs import WaitingProgram
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError, LimitReached

SHAPES = [(1, 32), (1, 64), (2, 96), (3, 48), (2, 128)]


def outcome(machine: Machine, grid: int, block: int, words: int, **options: Any) -> tuple[Any, bool]:
    """What a launch leaves, or how it ends; and whether compiled code ran all of it."""
    out = machine.upload(np.zeros(words, np.uint32))
    launch = machine.prepare(grid, block, [out], max_seconds=30, **options)
    try:
        execute(launch)
    except LimitReached:
        return "limit", True
    except ExecutionError as e:
        return str(e).splitlines()[0], True
    return machine.download(out).tolist(), launch.used.numpy_blocks == 0


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_programs_that_wait_run_in_the_same_order(case: Case) -> None:
    machine = Machine(kernel("p out", HEAD + case.body, case.before))
    numpy = outcome(machine, case.grid, case.block, case.words, **case.options)
    for _ in range(2):  # the second time the kernel may have been compiled anew
        native = outcome(machine, case.grid, case.block, case.words, engine="native", **case.options)
        assert native[0] == numpy[0]


EARLY = """.reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<4>; .shared .b32 s[128];
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; st.shared.u32 [%r2], %r1; bar.sync 0;
    setp.ge.u32 %p1, %r1, 48; @%p1 bra END; ld.shared.u32 %r4, [%r2+64]; bar.sync 0; st.shared.u32 [%r2], %r4; bar.sync 0; xor.b32 %r3, %r3, 4;
    mov.u32 %r2, s; add.u32 %r2, %r2, %r3; ld.shared.u32 %r4, [%r2]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r4; END: ret;"""
SPECIAL = """.reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<4>; .shared .b32 s[32];
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shl.b32 %r2, %r2, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; mov.u32 %r5, 0;
    mov.u32 %r6, 0; setp.ge.u32 %p1, %r1, 32; @%p1 bra C;
    P: st.shared.u32 [%r3], %r5; bar.arrive 1, 64; bar.sync 2, 64; add.u32 %r5, %r5, 3; setp.lt.u32 %p2, %r5, 30; @%p2 bra P; ret;
    C: bar.sync 1, 64; ld.shared.u32 %r4, [%r3]; add.u32 %r6, %r6, %r4; bar.arrive 2, 64; add.u32 %r5, %r5, 3; setp.lt.u32 %p2, %r5, 30; @%p2 bra C;
    mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r6; ret;"""


@pytest.mark.parametrize("body", [EARLY, SPECIAL], ids=["threads that leave early", "a warp that produces for another"])
def test_nothing_is_left_to_numpy(body: str) -> None:
    machine = Machine(kernel("p out", body, ""))
    out = machine.upload(np.zeros(128, np.uint32))
    machine.launch(1, 128 if body is EARLY else 64, [out], engine="numpy")
    numpy = machine.download(out)
    out = machine.upload(np.zeros(128, np.uint32))
    launch = machine.launch(1, 128 if body is EARLY else 64, [out], engine="native")
    assert (machine.download(out) == numpy).all() and numpy.any()
    assert launch.used.numpy_blocks == 0 and not launch.used.left_to_numpy


def judge(seed: int) -> None:
    """A random program on both engines."""
    rng = np.random.default_rng(seed)
    grid, block = SHAPES[int(rng.integers(len(SHAPES)))]
    text = WaitingProgram(lambda below: int(rng.integers(below)), block).text()
    machine = Machine(text)
    words = 16 + grid * block
    numpy = outcome(machine, grid, block, words, max_steps=500_000)
    for n in range(2):
        native = outcome(machine, grid, block, words, max_steps=500_000, engine="native")
        if n == 0 and (not native[1] or "limit" in (native[0], numpy[0])):
            continue  # numpy went on with it, perhaps in another order
        assert native[0] == numpy[0], f"launch {n} of {grid} x {block}\n{text}"


@pytest.mark.parametrize("seed", range(24))
def test_random_programs_that_wait_run_in_the_same_order(seed: int) -> None:
    judge(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(24, 2000))
def test_many_random_programs_that_wait_run_in_the_same_order(seed: int) -> None:
    judge(seed)
