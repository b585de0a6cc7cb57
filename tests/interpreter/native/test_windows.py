"""Loads in loops by windows: from addresses that grow by the same amount in all lanes, however these lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.faults import ExecutionError

WORDS = 4096
# Where lanes begin, in elements: neighbours, rows of 16 lanes, one place for each row, one for all, and anyhow.
BEGINS = {
    "neighbours": "mov.u32 %r7, %r4;",
    "rows": "mad.lo.u32 %r7, %r6, 40, %r5;",
    "rows that lie backwards": "sub.u32 %r7, 15, %r6; mad.lo.u32 %r7, %r7, 40, %r5;",
    "a place of a row": "mul.lo.u32 %r7, %r6, 40;",
    "one place": "mov.u32 %r7, 3;",
    "anyhow": "xor.b32 %r7, %r4, 21;",
}
STEPS = {"up": (0, 2, ""), "down": (512, -1, ""), "to and fro": (512, 7, "neg.s64 %d6, %d6; neg.s32 %r9, %r9;")}


def loop(begin: str, size: int, space: str, first: int = 0, turns: int = 11, again: str = "") -> str:
    """A kernel that sums elements; `first`: bytes in front of where lanes begin; `again`: what happens in each turn."""
    a, total, word = ("%d7", "%d8", "u64") if size == 8 else ("%r10", "%r11", "u32")
    shared = space == "shared"
    fill = "mad.lo.u32 %r12, %r4, 16, %r13; @%p2 st.shared.v4.u32 [%r12], {%r4, %r5, %r12, %r6};" if shared else ""
    add = "add.u32 %r8, %r8, %r9;" if shared else "add.u64 %d4, %d4, %d6;"
    return kernel("p out, p in, u64 step", f"""
    .reg .b32 %r<16>; .reg .b64 %d<12>; .reg .pred %p<3>;
    ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u64 %d6, [step]; cvt.u32.u64 %r9, %d6;
    mov.u32 %r5, %tid.x; mov.u32 %r6, %tid.y; mov.u32 %r1, %ntid.x;
    mad.lo.u32 %r4, %r6, %r1, %r5; mov.u32 %r13, {"tile" if shared else 0}; setp.lt.u32 %p2, %r4, 256; {fill} bar.sync 0;
    {BEGINS[begin]}
    mul.lo.u32 %r8, %r7, {size}; cvt.u64.u32 %d3, %r8; add.u64 %d4, %d2, %d3; add.u64 %d4, %d4, {first}; add.u32 %r8, %r8, %r13; add.u32 %r8, %r8, {first};
    mov.u32 %r14, 0; mov.u64 %d8, 0; mov.u32 %r11, 0;
L:  ld.{space}.u{8 * size} {a}, [{"%r8" if shared else "%d4"}+{2 * size}]; mad.lo.{word} {total}, {total}, 5, {a}; {add} {again}
    add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, {turns}; @%p1 bra L;
    mul.wide.u32 %d9, %r4, 8; add.u64 %d9, %d9, %d1; st.global.{word} [%d9], {total}; ret;
    """, ".shared .align 16 .b8 tile[8192];" if shared else "")  # fmt: skip


def arrays(machine: Machine) -> list[Any]:
    """Three of them, one behind the other."""
    return [machine.upload(np.arange(n, n + WORDS, dtype=np.uint32) * np.uint32(2654435761)) for n in (0, 70000, 90000)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_loops_load_what_numpy_loads(space: str, size: int, step: str) -> None:
    first, by, again = STEPS[step]
    for begin in BEGINS:
        left = []
        for engine in ("numpy", "native"):
            machine = Machine(loop(begin, size, space, first, again=again))
            for block in ((16, 16), (256, 1), (50, 2)):
                out, given, _ = arrays(machine)
                machine.launch(2, block, [out, given, by * size & (1 << 64) - 1], engine=engine)
                left.append(machine.download(out))
        assert np.array_equal(left[:3], left[3:]), begin


LEAVE = {"behind the end": (128, 200), "before the start": (-64, 500), "between two elements": (2, 9), "far away": (1 << 40, 3)}


@pytest.mark.parametrize("begin", BEGINS)
@pytest.mark.parametrize("leaves", LEAVE)
def test_a_load_that_leaves_its_window_is_checked(begin: str, leaves: str) -> None:
    step, turns = LEAVE[leaves]
    said = []
    for engine in ("numpy", "native"):
        machine = Machine(loop(begin, 4, "global", turns=turns))
        given, out, _ = arrays(machine)
        with pytest.raises(ExecutionError) as e:
            machine.launch(2, (16, 16), [out, given, step & (1 << 64) - 1], engine=engine)
        said.append(str(e.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("begin", BEGINS)
def test_a_loop_goes_on_in_another_allocation(begin: str) -> None:
    left = []
    for engine in ("numpy", "native"):
        machine = Machine(loop(begin, 4, "global", turns=2))
        out, given, further = arrays(machine)
        machine.launch(2, (16, 16), [out, given, further.start - given.start], engine=engine)
        left.append(machine.download(out))
    assert np.array_equal(*left)
