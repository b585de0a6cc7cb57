"""A launch whose lanes only spin lets its caller change memory, and goes on."""

from __future__ import annotations

import pytest

from warplab.interpreter.execute import executing
from warplab.interpreter.faults import Deadlock

from ..harness import Machine

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 flag, .param .u64 out)\n{\n"
BEGIN = """
    .reg .pred %p;
    .reg .b32 %v, %t, %n;
    .reg .b64 %f, %o;
    ld.param.u64 %f, [flag];
    ld.param.u64 %o, [out];
    mov.u32 %n, 0;
"""
WAITS = HEAD + BEGIN + """
again:
    ld.volatile.global.u32 %v, [%f];
    {turn}
    setp.eq.u32 %p, %v, 0;
    @%p bra again;
    mov.u32 %t, %ctaid.x;
    shl.b32 %t, %t, 2;
    cvt.u64.u32 %f, %t;
    add.u64 %o, %o, %f;
    atom.global.add.u32 %t, [%o], %v;
    ret;
}
"""  # fmt: skip
NEVER = HEAD + BEGIN + """
    .reg .pred %q;
    mov.u32 %v, %tid.x;
    setp.eq.u32 %q, %v, 0;
    @%q bar.sync 1, 64;
    ret;
}
"""  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("turn", ["", "add.u32 %n, %n, 1;"], ids=["still", "counting"])
@pytest.mark.parametrize("blocks", [1, 3, 1500])
def test_lanes_that_spin_let_the_caller_change_memory(engine: str, turn: str, blocks: int) -> None:
    machine = Machine(WAITS.replace("{turn}", turn))
    flag, out = machine.arena.allocate(4, "flag"), machine.arena.allocate(4 * blocks, "out")
    launch = machine.prepare(blocks, 32, [flag, out], engine=engine, suspends=True)
    steps = executing(launch)
    for _ in range(3):
        standstill = next(steps)
        assert isinstance(standstill, Deadlock) and standstill.turns == bool(turn)
        assert "a change of memory" in str(standstill)
    machine.arena.bytes[flag.start] = 5
    assert next(steps, None) is None
    assert machine.download(out).tolist() == [5 * 32] * blocks


def test_without_leave_to_be_suspended_they_deadlock() -> None:
    machine = Machine(WAITS.replace("{turn}", ""))
    flag, out = machine.arena.allocate(4, "flag"), machine.arena.allocate(4, "out")
    with pytest.raises(Deadlock):
        machine.launch(1, 32, [flag, out])


def test_lanes_at_a_barrier_deadlock_whatever_memory_says() -> None:
    machine = Machine(NEVER)
    flag = machine.arena.allocate(4, "flag")
    with pytest.raises(Deadlock):
        next(executing(machine.prepare(1, 32, [flag, flag], suspends=True)))
