"""Volatile accesses of the lanes of a warp that only lockstep orders, and those that wait or ask."""

from __future__ import annotations

import pytest

from tests.interpreter.checkers.racing import races

STEP = "ld.volatile.shared.u32 %r10, [%r6];\nld.volatile.shared.u32 %r11, [%r5];\nadd.u32 %r11, %r11, %r10;\nst.volatile.shared.u32 [%r5], %r11;"
RELIES = {
    "a value of the next lane": "st.volatile.shared.u32 [%r5], %r1;\nld.volatile.shared.u32 %r10, [%r6];\nst.global.u32 [%rd2], %r10;",
    "a step of a sum": f"st.volatile.shared.u32 [%r5], %r1;\n{STEP}",
    "a sum in a loop": f"mov.u32 %r12, 0;\nL: {STEP}\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p3, %r12, 3;\n@%p3 bra L;",
    "values that are compared and exchanged": (
        "st.volatile.shared.u32 [%r5], %r1;\nld.volatile.shared.u32 %r10, [%r6];\nld.volatile.shared.u32 %r11, [%r5];\n"
        "setp.gt.u32 %p3, %r10, %r11;\n@%p3 st.volatile.shared.u32 [%r5], %r10;"),
    "global memory": (
        "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd3, %rd1; xor.b32 %r10, %r1, 1; mul.wide.u32 %rd4, %r10, 4; add.u64 %rd4, %rd4, %rd1;\n"
        "st.volatile.global.u32 [%rd3], %r1;\nld.volatile.global.u32 %r11, [%rd4];\nst.shared.u32 [%r5], %r11;"),
}  # fmt: skip
WAIT = "L: ld.volatile.shared.u32 %r10, [%r3];\nsetp.eq.u32 %p3, %r10, 0;\n@%p3 bra L;\n"
RIGHT = {
    "with bar.warp.sync": RELIES["a value of the next lane"].replace(";\nld", ";\nbar.warp.sync -1;\nld", 1),
    "with a barrier": RELIES["a value of the next lane"].replace(";\nld", ";\nbar.sync 0;\nld", 1),
    "a lane that waits for another": f"@%p2 st.volatile.shared.u32 [%r3], 1;\n@%p2 bra E;\n{WAIT}st.global.u32 [%rd2], 1;\nE:",
    "a lane that waits for what it uses": f"@%p2 st.volatile.shared.u32 [%r3], 7;\n@%p2 bra E;\n{WAIT}st.volatile.shared.u32 [%r5+256], %r10;\nE:",
    "a flag that is asked for": "@%p2 st.volatile.shared.u32 [%r3], 1;\nld.volatile.shared.u32 %r10, [%r3];\nsetp.ne.u32 %p3, %r10, 0;\n@%p3 st.shared.u32 [%r5+256], 1;",
    "its own value": "st.volatile.shared.u32 [%r5], %r1;\nld.volatile.shared.u32 %r10, [%r5];\nst.shared.u32 [%r5+256], %r10;",
    "a lane of another warp": "st.volatile.shared.u32 [%r5], %r1;\nld.volatile.shared.u32 %r10, [%r7];\nst.shared.u32 [%r5+256], %r10;",
    "a counter": "atom.shared.add.u32 %r10, [%r3], 1;\nld.relaxed.cta.shared.u32 %r11, [%r3];\nst.shared.u32 [%r5+256], %r11;",
}  # fmt: skip


def found(body: str, schedule: int | None) -> set[str]:
    """The kinds of findings; the first words of shared memory are set before."""
    return {f.kind for f in races(f"st.shared.u32 [%r5], 0; bar.sync 0;\n{body}", schedule=schedule)}


@pytest.mark.parametrize("schedule", [None, 1, 2])
@pytest.mark.parametrize("name", RELIES)
def test_code_that_relies_on_lockstep(name: str, schedule: int | None) -> None:
    assert "lockstep" in found(RELIES[name], schedule)


@pytest.mark.parametrize("schedule", [None, 1, 2])
@pytest.mark.parametrize("name", RIGHT)
def test_code_that_waits_or_asks(name: str, schedule: int | None) -> None:
    assert "lockstep" not in found(RIGHT[name], schedule)


def test_what_is_said() -> None:
    f = next(f for f in races(RELIES["a value of the next lane"]) if f.kind == "lockstep")
    assert "ordered only by lockstep, which ended with sm_70" in f.message and "bar.warp.sync" in f.help
    assert f.thread is not None and f.other_thread is not None and f.thread[0] == f.other_thread[0] ^ 1
