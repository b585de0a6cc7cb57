"""A wave owns its parts: when a launch is over nothing is left for the garbage collector, and reference counts have freed its memory."""

import pytest

from tests.garbage import left_in_circles
from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.observe import Observer

DIVERGENT = """.reg .b64 %d<3>; .reg .b32 %r<4>; .reg .pred %p<3>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2; mov.u32 %r2, 0; setp.gt.u32 %p1, %r1, 40; @%p1 bra ELSE;
TURN: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r1; @%p2 bra TURN;
    bra MET;
ELSE: mul.lo.u32 %r2, %r1, 3; setp.gt.u32 %p2, %r1, 90; @%p2 ret;
MET: bar.sync 0; st.global.u32 [%d1], %r2; ret;"""
SPINNING = """.reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred %p<2>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;
    @%p1 bra WAIT; atom.global.exch.b32 %r2, [%d1], 1;
WAIT: ld.volatile.global.u32 %r3, [%d1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra WAIT; ret;"""


@pytest.mark.parametrize("body", [DIVERGENT, SPINNING])
@pytest.mark.parametrize("observers", [(), (Observer(),)])
@pytest.mark.parametrize("schedule", [None, 1])
def test_a_launch_leaves_nothing_in_circles(body: str, observers: tuple[Observer, ...], schedule: int | None) -> None:
    machine = Machine(kernel("p out", body))
    out = machine.arena.allocate(4 * 256, "out")
    words = machine.arena.bytes[out.start - machine.arena.base :][: 4 * 256]
    machine.launch(3, 96, [out], observers=observers, schedule=schedule)
    words[:] = 0
    assert left_in_circles(lambda: machine.launch(3, 96, [out], observers=observers, schedule=schedule)) == 0
