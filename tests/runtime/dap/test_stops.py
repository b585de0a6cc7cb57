"""Breakpoints of all kinds, and all ways forwards and backwards, in PTX and in a source that .loc names."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from .editor import DATA, TRITON, TRITON_RUN, VECADD, Editor

SOURCE = DATA / "triton_decay.py"


def line_of(text: str, path: Path = SOURCE) -> int:
    """The line of a file that holds a text."""
    return next(n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line)


@pytest.fixture
def editor() -> Editor:
    out = Editor()
    out.launch(TRITON, TRITON_RUN)
    return out


HALVED, CHOSEN, STORED = (line_of(t) for t in ("total * 0.5", "tl.where", "tl.store"))


def test_a_condition_at_a_line_of_a_triton_kernel(editor: Editor) -> None:
    (one,) = editor.set(SOURCE, {"line": CHOSEN, "condition": "laneid == 7 && ctaid.x == 3 && %r14 == 2"})
    assert one["verified"] and one["line"] == CHOSEN
    at = editor.go()
    assert (at["reason"], at["line"], at["file"], at["name"]) == ("breakpoint", CHOSEN, "triton_decay.py", "decay")
    assert at["hitBreakpointIds"] == [one["id"]]
    assert editor.value("%r14", frameId=at["frame"]) == "2"
    assert editor.value("ctaid.x", frameId=at["frame"]) == "3"
    assert editor.go("stepBack")["line"] == HALVED
    total = editor.scope("Registers", editor.top()["frame"])["%r13"]
    assert total["type"] == ".f32" and total["evaluateName"] == "f32(%r13)"
    x = 3 * 64 + 7  # warp 0; the same recurrence in Python
    value = float(x)
    for k in range(2):
        value = value * 0.5 + x
        value = value - k if value > 100 else value
    assert float(total["value"]) == value
    lanes = editor.inside(total)
    assert len(lanes) == 32 and float(lanes[7]["value"]) == value and lanes[7]["name"] == "[7]"
    assert len({v["value"] for v in lanes}) == 32
    assert [v["name"] for v in editor.inside(total, start=4, count=3)] == ["[4]", "[5]", "[6]"]


def test_a_line_of_a_loop_stops_once_in_each_turn(editor: Editor) -> None:
    editor.set(SOURCE, HALVED)
    turns = [editor.go()]
    while turns[-1]["reason"] == "breakpoint":
        turns.append(editor.go("continue"))
    assert len(turns) == 6 and turns[-1]["reason"] == "end"
    back = [editor.go("reverseContinue") for _ in range(6)]
    assert [b["reason"] for b in back] == ["breakpoint"] * 5 + ["entry"]


@pytest.mark.parametrize(
    ("counts", "turns"), [("3", [2]), ("== 3", [2]), (">= 4", [3, 4]), ("% 2", [1, 3]), ("< 2", [0]), ("> 4", [4]), ("<= 2", [0, 1])]
)
def test_hit_counts_are_of_the_launch_in_both_directions(editor: Editor, counts: str, turns: list[int]) -> None:
    editor.set(SOURCE, {"line": CHOSEN, "hitCondition": counts})
    found, at = [], editor.go()
    while at["reason"] == "breakpoint":
        found.append(int(editor.value("%r14")))
        at = editor.go("continue")
    assert found == turns
    back = []
    while (at := editor.go("reverseContinue"))["reason"] == "breakpoint":
        back.append(int(editor.value("%r14")))
    assert back == turns[::-1]


def test_breakpoints_that_cannot_be(editor: Editor) -> None:
    wrong = [
        {"line": 1000}, {"line": HALVED, "condition": "%r77 > 1"}, {"line": HALVED, "condition": "%r13 >"},
        {"line": HALVED, "hitCondition": "often"}, {"line": "x"}, {},
    ]  # fmt: skip
    found = editor.set(SOURCE, *wrong)
    assert [b["verified"] for b in found] == [False] * len(wrong) and all(b["message"] for b in found)
    assert "no register %r77" in found[1]["message"]
    (other,) = editor.set(Path("/nowhere/other.cu"), 4)
    assert "not a source of this launch" in other["message"]
    (function,) = editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "decoy"}])["breakpoints"]
    assert "did you mean decay" in function["message"]
    assert editor.go()["reason"] == "end"


def test_a_breakpoint_moves_to_the_next_line_with_instructions(editor: Editor) -> None:
    (first,) = editor.set(SOURCE, line_of("@triton.jit"))
    assert first["verified"] and first["line"] == line_of("def decay")


def test_breakpoints_in_the_ptx_show_there_or_in_the_source() -> None:
    editor = Editor()
    editor.launch(TRITON, TRITON_RUN, lines="ptx")
    fma = line_of("fma.rn", TRITON)
    assert editor.set(TRITON, fma)[0]["line"] == fma
    at = editor.go()
    assert (at["file"], at["line"]) == ("triton_decay.ptx", fma)
    assert editor.go("next")["line"] == line_of("setp.gt.f32", TRITON)
    assert editor.go("stepBack")["line"] == fma


def test_function_instruction_and_log_points(editor: Editor) -> None:
    (f,) = editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "decay"}])["breakpoints"]
    at = editor.go()
    assert at["reason"] == "function breakpoint" and at["hitBreakpointIds"] == [f["id"]]
    editor.ask("setFunctionBreakpoints", breakpoints=[])
    editor.set(SOURCE, {"line": HALVED, "logMessage": "turn {%r14} of {nothing}"}, STORED)
    editor.ask("continue", threadId=editor.thread)
    logged = [e["body"]["output"] for e in editor.events if e["event"] == "output"]
    assert [t.split(" of ")[0] for t in logged[-5:]] == [f"turn {k}" for k in range(5)] and "no array" in logged[-1]
    here = editor.ask("stackTrace", threadId=editor.thread)["stackFrames"][0]
    assert here["line"] == STORED
    editor.set(SOURCE)
    store = here["instructionPointerReference"]
    lines = editor.ask("disassemble", memoryReference=store, instructionOffset=-60, instructionCount=61)["instructions"]
    fma = next(one for one in lines if one["instruction"].startswith("fma"))
    (own,) = editor.ask("setInstructionBreakpoints", breakpoints=[{"instructionReference": fma["address"]}])["breakpoints"]
    at = editor.go("reverseContinue")
    assert at["reason"] == "instruction breakpoint" and at["line"] == HALVED and at["hitBreakpointIds"] == [own["id"]]


def test_data_breakpoints() -> None:
    editor = Editor()
    editor.launch()
    at = editor.go()
    assert at["reason"] == "end"
    c = editor.scope("Global", at["frame"])["c"]
    info = editor.ask("dataBreakpointInfo", variablesReference=c["variablesReference"], name="[17]")
    assert info["accessTypes"] == ["read", "write", "readWrite"] and info["description"] == "c[17]"
    (one,) = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])["breakpoints"]
    back = editor.go("reverseContinue")
    assert back["reason"] == "data breakpoint" and back["hitBreakpointIds"] == [one["id"]] and back["description"].endswith("-> 18.0")
    assert back["line"] == line_of("st.global.f32", VECADD)
    register = editor.ask("dataBreakpointInfo", name="%r3", frameId=back["frame"])
    assert register["accessTypes"] == ["write"]
    (one,) = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": register["dataId"]}])["breakpoints"]
    back = editor.go("reverseContinue")
    assert back["line"] == line_of("mov.u32         %r3", VECADD) or "tid.x" in VECADD.read_text().splitlines()[back["line"] - 1]
    assert editor.ask("dataBreakpointInfo", name="nothing at all")["dataId"] is None
    bad = [
        {"dataId": "x"},
        {"dataId": "0|c[5]", "accessType": "often"},
        {"dataId": "0|c[5000]"},
        {"dataId": register["dataId"], "accessType": "read"},
    ]
    assert not any(b["verified"] for b in editor.ask("setDataBreakpoints", breakpoints=bad)["breakpoints"])
    (kept,) = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "condition": "tid.x == 3"}])["breakpoints"]
    assert kept["verified"] and editor.go("continue")["reason"] == "end"


def test_a_fault_stops_unasked_only_where_it_is_asked_for() -> None:
    editor = Editor()
    editor.launch(VECADD, "--grid 4 --block 256 --arg a=f32[1000] --arg b=f32[1000] --arg out:c=f32[1000] --arg n=1024")
    editor.ask("setExceptionBreakpoints", filters=["fault"])
    at = editor.go()
    assert at["reason"] == "exception" and "out of bounds" in at["text"]
    info = editor.ask("exceptionInfo", threadId=at["threadId"])
    assert info["exceptionId"] == "out of bounds" and "line 43" in info["description"]
    assert "there is no filter" in editor.refused("setExceptionBreakpoints", filters=["weather"])
    editor.ask("setExceptionBreakpoints", filters=["divergence"])
    assert editor.go("reverseContinue")["reason"] == "entry"


RACY = """//@ run --grid 1 --block 64 --arg out:y=u32[64]
.version 7.0
.target sm_70
.address_size 64
.visible .entry race(.param .u64 y)
{
    .reg .b32 %a, %b; .reg .b64 %p; .shared .u32 tile[64];
    mov.u32 %a, %tid.x;
    mad.lo.u32 %b, %a, 4, 0;
    st.shared.u32 [%b], %a;
    xor.b32 %b, %b, 128;
    ld.shared.u32 %a, [%b];
    ld.param.u64 %p, [y];
    mad.wide.u32 %p, %b, 1, %p;
    st.global.u32 [%p], %a;
    ret;
}
"""


def test_a_finding_stops_where_it_is(tmp_path: Path) -> None:
    program = tmp_path / "racy.ptx"
    program.write_text(RACY)
    editor = Editor()
    editor.launch(program, "--sanitize racecheck")
    editor.ask("setExceptionBreakpoints", filters=["fault", "finding"])
    at = editor.go()
    assert at["reason"] == "exception" and at["line"] == line_of("ld.shared", program)
    assert editor.ask("exceptionInfo", threadId=at["threadId"])["exceptionId"] == "racecheck"
    assert editor.value("writers tile[0]", "repl").startswith("step ")


def test_cuda_source_with_its_variables(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    source = tmp_path / "nodes.cu"
    source.write_text((DATA / "nodes.cu").read_text())
    editor = Editor()
    editor.launch(source, "-G --grid 1 --block 32 --arg inout:nodes=u32[192]:zeros --arg 32 --arg out:sums=f32[32]")
    inner = line_of("int result", source)
    assert editor.set(source, {"line": inner, "condition": "tid.x == 4 && value >= 6"})[0]["verified"]
    at = editor.go()
    assert (at["file"], at["line"], at["name"]) == ("nodes.cu", inner, "square")
    if importlib.util.find_spec("elftools") is not None:
        assert editor.scope("Locals", at["frame"])["value"]["value"] == "6"
    assert editor.go("next")["line"] == inner + 1
    assert editor.go("stepOut")["name"] == "walk"
    names = [s["name"] for s in editor.ask("loadedSources")["sources"]]
    assert names == ["nodes.ptx", "nodes.cu"]


def test_ways_and_ends() -> None:
    editor = Editor()
    editor.launch(stopOnEntry=True)
    lines = [editor.go()["line"]]
    lines += [editor.go("stepIn")["line"] for _ in range(3)]
    assert lines == sorted(lines) and len(set(lines)) == 4
    assert [editor.go("stepBack", granularity="instruction")["line"] for _ in range(3)] == lines[-2::-1]
    assert editor.go("pause")["reason"] == "pause"
    targets = editor.ask("gotoTargets", source={"path": str(VECADD)}, line=46)["targets"]
    assert editor.go("goto", targetId=targets[0]["id"])["line"] == 46
    assert "does not execute" in editor.refused("gotoTargets", source={"path": str(VECADD)}, line=46)
    assert editor.go("stepOut")["reason"] == "end"
    editor.ask("continue", threadId=1)
    assert [e["event"] for e in editor.events] == ["exited", "terminated"]
    editor.ask("restart")
    assert editor.event("stopped")["reason"] == "entry"


def test_breakpoints_stay_when_the_program_is_launched_again(tmp_path: Path) -> None:
    program = tmp_path / "vecadd.ptx"
    program.write_text(VECADD.read_text())
    editor = Editor()
    editor.launch(program)
    editor.set(program, 46)
    assert editor.go()["line"] == 46
    program.write_text("\n" * 3 + VECADD.read_text())
    editor.ask("restart")
    changed = [e["body"]["breakpoint"] for e in editor.events if e["event"] == "breakpoint"]
    assert [b["line"] for b in changed] == [46]
    assert editor.top()["line"] == 46
    program.write_text(VECADD.read_text().replace("add.f32", "add.nonsense"))
    assert "add.nonsense" in editor.refused("restart")


def test_breakpoints_before_the_launch_wait_for_it() -> None:
    editor = Editor()
    editor.ask("initialize")
    (early,) = editor.set(VECADD, 46)
    assert not early["verified"]
    editor.ask("launch", program=str(VECADD))
    assert editor.event("initialized") == {}
    assert editor.go()["line"] == 46
