"""The debugger's commands, on the sample of vector addition and on small kernels; both directions."""

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.memory.objects import Named
from warplab.interpreter.recorder.recorder import Recorder
from warplab.runtime.debugger import commands  # noqa: F401  fills the table of commands
from warplab.runtime.debugger.prompt import Prompt
from warplab.runtime.debugger.words import execute
from warplab.runtime.errors import UsageError
from warplab.runtime.recording import Recording

LOOP = """.reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p<3>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0;
turn:
    add.u32 %r2, %r2, %r3;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r1;
    @%p1 bra turn;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d3, %d1, %d2;
    st.global.u32 [%d3], %r2;
    ret;"""
CALLED = """.func (.reg .u32 r) twice(.reg .u32 a)
{
    .reg .u32 %x;
    add.u32 %x, a, a;
    mov.u32 r, %x;
    ret;
}"""


def recorded(text: str, block: int, size: int, **options: Any) -> tuple[Recording, np.ndarray[Any, Any]]:
    machine = Machine(text)
    out = machine.upload(np.zeros(size, np.uint32), "out")
    out.object = Named("out", 4 * size, 4, (size,), "u32")
    recorder = Recorder()
    with suppress(ExecutionError):
        machine.launch(1, block, [out], [recorder], **options)
    return Recording(recorder.finish()), machine.download(out)


class Talk:
    """A debugger whose answers are kept."""

    def __init__(self, *launches: Recording) -> None:
        self.said: list[str] = []
        self.prompt = Prompt(list(launches), self.said.append)

    def __call__(self, *lines: str) -> str:
        self.said.clear()
        for line in lines:
            execute(self.prompt, line)
        return "\n".join(self.said)


@pytest.fixture(scope="module")
def loop() -> Recording:
    rec, left = recorded(kernel("p out", LOOP), 64, 64)
    want = np.array([sum(range(max(n, 1))) for n in range(64)])
    assert np.array_equal(left, want) and np.array_equal(rec.memory("out", rec.step_count).view(np.uint32), want)
    return rec


def test_a_condition_is_met_where_it_holds(loop: Recording) -> None:
    talk = Talk(loop)
    said = talk("break turn if %r3 == 7 && tid.x > 40", "run", "print %r3", "p %r2", "p tid.x")
    assert "Breakpoint 1, 23 lanes" in said
    assert "$1 = 7" in said and "$2 = 21" in said and "$3 = 41" in said
    step = talk.prompt.session.step
    assert "ended" in talk("continue")
    talk("reverse-continue")
    assert talk.prompt.session.step == step


def test_each_way_on_has_a_way_back(loop: Recording) -> None:
    talk = Talk(loop)
    talk("cuda thread 50", "start")
    seen = []
    s = talk.prompt.session
    while not s.at_end:
        seen.append((s.step, talk("info registers")))
        talk("stepi")
    for step, registers in reversed(seen):
        talk("reverse-stepi")
        assert (s.step, talk("info registers")) == (step, registers)
    assert "beginning" in talk("reverse-stepi")


def test_counts_and_lines(loop: Recording) -> None:
    talk = Talk(loop)
    talk("cuda thread 5", "start", "stepi 3")
    three = talk.prompt.session.step
    talk("reverse-stepi 3", "si", "si", "si")
    assert talk.prompt.session.step == three
    line = next(i.line for i in loop.track.instructions if "mul.wide" in i.text)
    talk(f"until {line}", "next", "reverse-next")
    assert "mul.wide" in talk("info line")


def test_watches(loop: Recording) -> None:
    rec, _ = recorded(
        kernel("p out", LOOP.replace("st.global.u32 [%d3], %r2;", "st.global.u32 [%d1], %r2; st.global.u32 [%d1], %r2;")), 1, 4
    )
    talk = Talk(rec)
    talk("watch %r3")
    values = []
    while "ended" not in (said := talk("continue")):
        values.append(said.split("New value = ")[1].split()[0])
    assert values == ["0", "1"]
    assert "Old value = 0" in talk("reverse-continue")
    talk = Talk(loop)
    said = talk("watch out[9]", "continue")
    assert "Old value = 0" in said and "New value = 36" in said and "thread (9,0,0)" in said
    assert "-> 36" in talk("writers out[9]")
    with pytest.raises(UsageError, match="changes only"):
        talk("rwatch %r3")


def test_calls() -> None:
    text = kernel(
        "p out",
        """.reg .b64 %d1; .reg .u32 %r<4>; ld.param.u64 %d1, [out]; mov.u32 %r1, 21;
    call (%r2), twice, (%r1);
    st.global.u32 [%d1], %r2; ret;""",
        before=CALLED,
    )
    rec, left = recorded(text, 1, 1)
    assert left[0] == 42
    talk = Talk(rec)
    said = talk("break twice", "run", "bt", "p a")
    assert "#0  twice" in said and "#1  test" in said and "= 21" in said
    assert "p %x" and "<not written yet>" in talk("p %x")
    talk("finish")
    assert "st.global" in talk("info line") and "42" in talk("p %r2")
    talk("reverse-finish") if talk.prompt.session.depth else talk("reverse-nexti")
    assert "call" in talk("info line")
    talk("nexti")
    assert "st.global" in talk("info line")
    assert "mov.u32 %r1, 21" in talk("why %r2")


def test_a_fault_is_the_last_step() -> None:
    rec, _ = recorded(kernel("p out", LOOP), 64, 20)
    talk = Talk(rec)
    said = talk("catch fault", "run")
    assert "out of bounds" in said and "st.global.u32 [%d3], %r2;" in said
    assert talk.prompt.session.step == rec.step_count - 1
    assert "ended early" in talk("continue")
    assert not rec.memory("out", rec.step_count).any()


def test_a_deadlock_tells_where_lanes_are() -> None:
    body = """.reg .b32 %r1; .reg .pred %p1; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra early;
    barrier.sync 1, 64;
    bra late;
early: barrier.sync 2, 64;
late: ret;"""
    rec, _ = recorded(kernel("p out", body), 64, 1)
    assert "barrier" in rec.track.ended
    said = Talk(rec)("goto end", "reverse-stepi", "info cuda warps", "info events")
    assert "wait" in said


def test_memory_is_examined(loop: Recording) -> None:
    talk = Talk(loop)
    said = talk("goto end", "x/3dw out", "p out[4]@2", "p/x out[10]", "output out[3] * 2 + 1")
    assert "<out[0]>:\t0\t0\t1" in said and "= {6, 10}" in said and "0x2d" in said and said.endswith("7")
    assert "{0, 0}" in talk("start", "p out[4]@2")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("frobnicate", "Undefined command"), ("contine", 'Did you mean "continue"'), ("break nowhere", "no line, label or function"), ("p %r99", "no register"),
        ("p out[64]", "not one of its elements"), ("p 1 +", "expected"), ("p (1", "`\\)` is expected"), ("x/9q out", "formats are"), ("info nothing", "there are"),
        ("cuda thread 64", "no thread 64"), ("cuda", "block X thread Y"), ("condition 9 1", "No breakpoint|no breakpoint"), ("goto 100000", "no step"),
        ("launch 2", "from 1 to 1"), ("break turn if %zz > 1", "no register"), ("source /nowhere", "No such file"), ("p/q 1", "no format"),
        ("watch", "name a register"), ("origin zero", "there are nan"), ("stepi 0", "1 or more"), ("r", ""), ("why %r7", "no register"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(loop: Recording, line: str, says: str) -> None:
    talk = Talk(loop)
    if says:
        with pytest.raises(UsageError, match=says):
            talk(line)
    else:
        assert "ended" in talk(line)


def test_help_has_every_command(loop: Recording) -> None:
    said = Talk(loop)("help")
    for word in ("reverse-continue", "watch", "why", "writers", "origin", "diff"):
        assert word in said


def test_commands_of_breakpoints(loop: Recording) -> None:
    talk = Talk(loop)
    talk("break turn if %r1 == 9", "commands", "silent", "print %r3", "continue", "end")
    said = talk("run").splitlines()
    assert said[:9] == [f"${n + 1} = {n}" for n in range(9)] and said[9] == "The launch has ended."
    assert talk("print $3").endswith("= 2") and talk("output $").endswith("2")
    assert talk("reverse-continue").splitlines()[0] == "$11 = 8", "and its `continue` goes forwards, to the end"
    assert talk.prompt.session.at_end
    talk("delete", "break turn if %r1 == 9", "commands", "print %r3", "end")
    said = talk("run")
    assert "Breakpoint 2" in said and said.endswith("= 0")


def test_a_count_is_ignored_in_both_directions(loop: Recording) -> None:
    talk = Talk(loop)
    talk("break turn if %r1 == 9", "ignore 1 4", "run")
    assert "= 4" in talk("print %r3")
    talk("continue")
    assert "= 5" in talk("print %r3")
    talk("rc")
    assert "= 4" in talk("print %r3")
    talk("rc")
    assert talk.prompt.session.step == 0, "the four before are ignored backwards, too"
    talk("ignore 1 0", "goto end", "rc")
    assert "= 8" in talk("print %r3")


def test_until_leaves_a_loop(loop: Recording) -> None:
    talk = Talk(loop)
    talk("break turn if %r1 == 9", "run", "delete", "stepi 3")
    assert "@%p1 bra turn" in talk("info line")
    talk("until")
    assert "mul.wide.u32" in talk("info line") and "= 9" in talk("print %r3")
    talk("reverse-until")
    assert "@%p1 bra turn" in talk("info line")


def test_clear_set_and_lists(loop: Recording) -> None:
    talk = Talk(loop)
    talk("break turn", "break turn if %r1 == 3")
    assert "Deleted breakpoints 1 2" in talk("clear turn") and not talk.prompt.session.stops
    talk("set listsize 4", "set pagination off")
    assert len(talk("list").splitlines()) == 4
    assert "test" in talk("info functions") and "out" in talk("info variables")
    start = loop.object("out").start
    assert talk(f"info symbol {start + 8}") == "out[2]" and "No symbol" in talk("info symbol 4")


@pytest.mark.parametrize(
    "line",
    ["set var %r1 = 3", "call twice(3)", "return", "signal 0", "kill", "clear turn", "print $7", "commands", "ignore 9 1", "info symbol"],
)
def test_what_cannot_be_is_refused(loop: Recording, line: str) -> None:
    with pytest.raises(UsageError):
        Talk(loop)(line)


def test_a_fault_is_a_signal() -> None:
    rec, _ = recorded(kernel("p out", LOOP), 64, 20)
    talk = Talk(rec)
    said = talk("run")
    assert "Program received signal CUDA_EXCEPTION_14, Warp Illegal Address." in said
    assert rec.fault is not None and talk.prompt.session.lane == rec.fault.lane == 20
    assert "= 20" in talk("print %r1") and "is at line" in talk("info frame")


def test_cuda_kernel_looks_at_another_launch(loop: Recording) -> None:
    other, _ = recorded(kernel("p out", LOOP), 32, 32)
    talk = Talk(loop, other)
    assert (
        "[Switching focus to kernel 1: test]" in talk("cuda kernel 1 thread 3")
        and talk.prompt.rec is other
        and talk.prompt.session.lane == 3
    )
    with pytest.raises(UsageError, match="there is no kernel 2"):
        talk("cuda kernel 2")
