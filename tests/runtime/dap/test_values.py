"""What an editor shows: threads, scopes, arrays, memory, expressions and commands; and requests that make no sense."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warplab.runtime.dap.adapter import REQUESTS
from warplab.runtime.golden.output import call

from .editor import ROOT, TRITON, TRITON_RUN, VECADD, Editor

DIVERGED = """//@ run --grid 2 --block 96 --arg out:y=u32[192]
.version 7.0
.target sm_70
.address_size 64
.func (.reg .u32 %twice) double(.reg .u32 %v)
{
    add.u32 %twice, %v, %v;
    ret;
}
.visible .entry kernel(.param .u64 y)
{
    .reg .b32 %i, %n, %v; .reg .b64 %a; .reg .pred %p; .shared .align 4 .u32 tile[3][32];
    mov.u32 %i, %tid.x;
    and.b32 %n, %i, 3;
    setp.eq.u32 %p, %n, 0;
    mov.u32 %v, %i;
    @!%p bra past;
    call (%v), double, (%i);
past:
    mov.u32 %n, tile;
    mad.lo.u32 %n, %i, 4, %n;
    st.shared.u32 [%n], %v;
    ld.param.u64 %a, [y];
    mov.u32 %n, %ctaid.x;
    mad.lo.u32 %i, %n, 96, %i;
    mad.wide.u32 %a, %i, 4, %a;
    st.global.u32 [%a], %v;
    ret;
}
"""


@pytest.fixture
def diverged(tmp_path: Path) -> Editor:
    """Stands in a function that a quarter of the lanes has called."""
    program = tmp_path / "diverged.ptx"
    program.write_text(DIVERGED)
    editor = Editor()
    editor.launch(program)
    editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "double", "condition": "tid.x == 36"}])
    editor.go()
    return editor


def test_threads_are_warps(diverged: Editor) -> None:
    found = diverged.ask("threads")["threads"]
    assert [t["id"] for t in found] == [1, 2, 3, 4, 5, 6] and diverged.thread == 2
    assert found[1]["name"].startswith("block (0,0,0) warp 1: ") and "8 lanes at line 7" in found[1]["name"]
    other = diverged.ask("stackTrace", threadId=5)["stackFrames"]
    assert [f["name"] for f in other] == ["double", "kernel"]
    assert diverged.go("stepOut", threadId=5)["threadId"] == 5
    assert diverged.value("ctaid.x") == "1"
    assert "no thread 7" in diverged.refused("stackTrace", threadId=7)


def test_threads_are_lanes_where_the_client_asks_for_it(tmp_path: Path) -> None:
    program = tmp_path / "diverged.ptx"
    program.write_text(DIVERGED)
    editor = Editor()
    editor.launch(program, threads="lanes")
    editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "double", "condition": "tid.x == 36"}])
    editor.go()
    found = editor.ask("threads")["threads"]
    assert len(found) == 32 and found[4] == {"id": 37, "name": "block (0,0,0) thread (36,0,0)"} and editor.thread == 37
    inside, outside = ([f["name"] for f in editor.ask("stackTrace", threadId=n)["stackFrames"]] for n in (37, 38))
    assert (inside, outside) == (["double", "kernel"], ["kernel"])


def test_each_call_has_its_registers(diverged: Editor) -> None:
    inner, outer = diverged.ask("stackTrace", threadId=2)["stackFrames"]
    assert diverged.ask("stackTrace", threadId=2, startFrame=1, levels=1)["stackFrames"][0]["name"] == "kernel"
    inner, outer = diverged.ask("stackTrace", threadId=2)["stackFrames"]
    assert diverged.scope("Registers", inner["id"])["%v"]["value"] == "36"
    assert diverged.scope("Registers", outer["id"])["%n"]["value"] == "0"
    assert diverged.value("%n + 1", frameId=outer["id"]) == "1"
    assert "no register %n" in diverged.refused("evaluate", expression="%n", frameId=inner["id"])
    assert diverged.value("up", "repl").startswith("#1  kernel ()")


def test_shared_memory_is_that_of_the_block(diverged: Editor) -> None:
    diverged.ask("setFunctionBreakpoints", breakpoints=[])
    at = diverged.go("continue")
    tile = diverged.scope("Shared", at["frame"])["tile"]
    assert tile["type"] == ".u32[3][32]" and tile["indexedVariables"] == 3
    row = diverged.inside(tile)[1]
    assert [v["value"] for v in diverged.inside(row, start=3, count=3)] == ["35", "72", "37"]
    cell = diverged.inside(row)[4]
    assert cell["evaluateName"] == "tile[1][4]" and diverged.value(cell["evaluateName"]) == "72"
    raw = diverged.ask("readMemory", memoryReference=tile["memoryReference"], offset=36 * 4, count=4)
    assert base64.b64decode(raw["data"]) == (72).to_bytes(4, "little")
    assert diverged.ask("readMemory", memoryReference=tile["memoryReference"], count=1000)["unreadableBytes"] == 1000 - 96 * 4


def test_memory_is_that_of_the_step() -> None:
    editor = Editor()
    editor.launch()
    end = editor.go()
    c = editor.scope("Global", end["frame"])["c"]
    assert c["type"] == ".f32[1000]" and c["indexedVariables"] == 1000

    def bytes_of(count: int, offset: int = 0) -> bytes:
        body = editor.ask("readMemory", memoryReference=c["memoryReference"], count=count, offset=offset)
        return base64.b64decode(body.get("data", ""))

    assert np.array_equal(np.frombuffer(bytes_of(4000), np.float32), np.arange(1000) + 1)
    [five] = editor.inside(c, start=5, count=1)
    assert (five["name"], five["value"]) == ("[5]", "6.0")
    editor.set(VECADD, 46)
    before = editor.go("reverseContinue")
    assert np.frombuffer(bytes_of(4), np.float32)[0] != 1
    assert editor.scope("Global", before["frame"])["c"]["value"].startswith("{-2.87")
    assert "moved" in editor.refused("variables", variablesReference=five["variablesReference"] or 900)
    assert editor.ask("readMemory", memoryReference="0x7fffffffff", count=8)["unreadableBytes"] == 8
    assert "names no place" in editor.refused("readMemory", memoryReference="c", count=8)


def test_registers_and_parameters_show_what_they_point_to() -> None:
    editor = Editor()
    editor.launch(TRITON, TRITON_RUN)
    editor.set(TRITON.with_suffix(".py"), 17)
    at = editor.go()
    registers = editor.scope("Registers", at["frame"])
    assert registers["%rd3"]["value"].endswith("<x[0]>") and registers["%rd3"]["memoryReference"].startswith("0x")
    assert registers["%r14"]["type"] == ".s32"
    specials = editor.scope("Special registers", at["frame"])
    assert (specials["tid.x"]["value"], specials["ntid.x"]["value"]) == ("0", "64")
    parameters = editor.scope("Parameters", at["frame"])
    assert parameters["decay_param_2"]["value"].endswith("<r[0]>") and parameters["decay_param_3"]["value"] == "250"
    frame = {s["name"]: s for s in editor.ask("scopes", frameId=at["frame"])["scopes"]}
    shown = editor.ask("variables", variablesReference=frame["Special registers"]["variablesReference"], format={"hex": True})["variables"]
    assert {v["name"]: v["value"] for v in shown}["ntid.x"] == "0x40"


def test_expressions_and_commands_in_the_console() -> None:
    editor = Editor()
    editor.launch(TRITON, TRITON_RUN)
    editor.set(TRITON.with_suffix(".py"), {"line": 16, "condition": "tid.x == 9"})
    at = editor.go()
    assert editor.value("f32(%r13) * 2 > 17 && tid.x == 9", frameId=at["frame"]) == "1"
    assert editor.value("r14", "hover", frameId=at["frame"]) == "0"
    assert "no array" in editor.refused("evaluate", expression="r99", context="hover")
    assert editor.value("x[2]@3", "repl") == "{2.0, 3.0, 4.0}"
    assert editor.value("print x[2]", "repl").endswith("= 2.0")
    assert "mad" not in editor.value("why %r9", "repl") and "fma.rn.f32" in editor.value("why %r9", "repl")
    assert editor.ask("evaluate", expression="x", context="repl")["indexedVariables"] == 250  # an array, and no abbreviation
    assert editor.value("cuda block 1 thread 3", "repl").startswith("[Switching focus")
    assert editor.event("stopped")["threadId"] == 3
    assert "no array or variable Frobnicate" in editor.refused("evaluate", expression="Frobnicate", context="repl")
    labels = {t["label"] for t in editor.ask("completions", text="print %r1", column=10)["targets"]}
    assert {"%r1", "%r13"} <= labels and not any(label.startswith("%rd") for label in labels)
    assert "cannot be changed" in editor.refused("setVariable", variablesReference=1, name="%r1", value="3")
    assert "cannot be changed" in editor.refused("setExpression", expression="%r1", value="3")
    assert editor.value("quit", "repl") == "" and editor.event("terminated") == {}


def test_sources() -> None:
    editor = Editor()
    editor.launch(TRITON, TRITON_RUN)
    paths = [s["path"] for s in editor.ask("loadedSources")["sources"]]
    assert paths == [str(TRITON), str(TRITON.with_suffix(".py"))]
    lines = editor.ask("breakpointLocations", source={"path": paths[1]}, line=1, endLine=99)["breakpoints"]
    text = TRITON.with_suffix(".py").read_text().splitlines()
    assert all("decay" in text[b["line"] - 1] or "    " in text[b["line"] - 1] for b in lines) and len(lines) >= 8
    assert editor.ask("source", sourceReference=1)["content"] == TRITON.read_text()
    assert "no source" in editor.refused("source", sourceReference=2)


def test_a_text_without_a_file_is_shown(tmp_path: Path) -> None:
    program, saved = tmp_path / "gone.ptx", tmp_path / "run.wlrec"
    text = VECADD.read_text() + "// it is in no file\n"
    program.write_text(text)
    assert call(["record", str(program), "-o", str(saved)])[0] == 0
    program.unlink()
    editor = Editor()
    editor.launch(saved)
    editor.set(Path("gone.ptx"), 46)
    editor.go()
    (frame,) = editor.ask("stackTrace", threadId=editor.thread)["stackFrames"]
    assert frame["source"]["name"] == "gone.ptx" and frame["line"] == 46
    assert editor.ask("source", sourceReference=frame["source"]["sourceReference"])["content"] == text
    (moved,) = editor.ask("setBreakpoints", source=frame["source"], breakpoints=[{"line": 44}])["breakpoints"]
    assert moved["verified"]
    assert editor.go("reverseContinue")["line"] == 44


def test_lines_can_count_from_zero() -> None:
    editor = Editor()
    editor.ask("initialize", linesStartAt1=False, columnsStartAt1=False)
    editor.ask("launch", program=str(VECADD))
    assert editor.set(VECADD, 45)[0]["line"] == 45
    at = editor.go()
    assert at["line"] == 45 and editor.ask("stackTrace", threadId=1)["stackFrames"][0]["column"] == 4


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "`program` is missing"), ({"program": 3}, "`program` must be a string"), ({"program": "/nowhere.ptx"}, "No such file"),
        ({"program": str(VECADD), "args": "--frobnicate"}, "No such option"), ({"program": str(VECADD), "args": "--grid 'x"}, "`args`"),
        ({"program": str(VECADD), "args": [4]}, "list of strings"), ({"program": str(VECADD), "args": ["--help"]}, "--grid 4"),
        ({"program": str(VECADD), "args": "--launch 7"}, "no launch 7"), ({"program": str(VECADD), "threads": "blocks"}, "`threads`"),
        ({"program": str(VECADD), "args": "--arg a=f32[2]"}, ""),
    ],
)  # fmt: skip
def test_launches_that_cannot_be(arguments: dict[str, Any], why: str) -> None:
    editor = Editor()
    assert why in editor.refused("launch", **arguments)
    assert "nothing is launched" in editor.refused("threads")
    editor.launch()
    assert editor.go()["reason"] == "end"


def test_what_a_launch_prints_is_an_event() -> None:
    editor = Editor()
    editor.launch(ROOT / "samples" / "printf.ptx")
    printed = "".join(e["body"]["output"] for e in editor.events if e["event"] == "output" and e["body"]["category"] == "stdout")
    assert "thread" in printed


NAMES = sorted({
    "program", "args", "source", "path", "sourceReference", "name", "line", "endLine", "breakpoints", "condition", "hitCondition", "logMessage",
    "dataId", "accessType", "filters", "filterOptions", "filterId", "threadId", "frameId", "variablesReference", "start", "count", "format", "hex",
    "expression", "context", "text", "column", "targetId", "memoryReference", "offset", "instructionReference", "instructionOffset",
    "instructionCount", "levels", "startFrame", "granularity", "lines", "arguments", "cwd", "threads", "stopAtEnd", "linesStartAt1",
})  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 70) | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["%r3", "c[5]", "0|c[5]", "0x10000", "0x10000002d", str(VECADD), "repl", "x/9x c", "write", "fault", "% 2", "{%r3}", "watch c", "instruction"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
)  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from([*REQUESTS, "nonsense"]), st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=7)), max_size=8),
    st.booleans(),
)
def test_no_request_ends_the_adapter(requests: list[tuple[str, dict[str, Any]]], launched: bool) -> None:
    editor = Editor()
    if launched:
        editor.launch()
        editor.go()
    for command, arguments in requests:
        if command not in ("launch", "attach", "restart"):
            response = editor.reply(command, arguments)
            assert response["success"] or "internal error" not in response["message"], (command, arguments, response)


@pytest.mark.parametrize(
    "message", [{}, {"type": "request"}, {"type": "request", "command": 3, "seq": "x"}, {"type": "response"}, {"type": []}]
)
def test_messages_that_are_no_requests(message: dict[str, Any]) -> None:
    editor = Editor()
    editor.adapter.handle(message)
    assert all(not m["success"] for m in editor.sent)
    editor.sent.clear()
    assert editor.reply("threads", [3])["success"] is False
