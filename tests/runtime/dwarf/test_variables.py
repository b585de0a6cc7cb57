"""Variables of the source by their names, in PTX that nvcc -G, clang -g and numba have made."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warplab.runtime.debugger import commands  # noqa: F401  fills the table of commands
from warplab.runtime.debugger.prompt import Prompt
from warplab.runtime.debugger.words import execute
from warplab.runtime.dwarf.names import NEEDED, NOTHING, SourceNames
from warplab.runtime.dwarf.sections import sections_of
from warplab.runtime.errors import UsageError
from warplab.runtime.golden.output import call
from warplab.runtime.recording import Recording

from ..dap.editor import DATA, VECADD, Editor

pytest.importorskip("elftools", reason="pyelftools is not installed: the extra debug brings it")

COMPILERS = ("nvcc", "clang")
NODES = "--grid 1 --block 32 --arg inout:nodes=u32[192]:zeros --arg 32 --arg out:sums=f32[32]"
ARRAY = "--arg null --arg null --arg 64 --arg 4 --arg {} --arg 64 --arg 4"
NUMBA = f"--grid 1 --block 64 {ARRAY.format('x=f32[64]:arange')} {ARRAY.format('out:y=f32[64]')} --arg 0.5 --arg 64"
TEXT = (DATA / "nodes.cu").read_text().splitlines()


def line(part: str, text: list[str] = TEXT) -> int:
    """The line of a source that holds some words."""
    return next(n for n, one in enumerate(text, 1) if part in one)


END = line("sums[i] = p")


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A recording of each program."""
    folder = tmp_path_factory.mktemp("recordings")
    out = {}
    for name, options in [("nodes_nvcc", NODES), ("nodes_clang", NODES), ("numba_decay", NUMBA)]:
        out[name] = folder / f"{name}.wlrec"
        code, said, wrong = call(["record", str(DATA / f"{name}.ptx"), *options.split(), "-o", str(out[name])])
        assert code == 0, said + wrong
    return out


class Debugger:
    """What the commands of a debugger print."""

    def __init__(self, path: Path) -> None:
        self.said: list[str] = []
        self.prompt = Prompt([Recording.load(path)], self.said.append)

    def __call__(self, *lines: str) -> list[str]:
        self.said.clear()
        for one in lines:
            execute(self.prompt, one)
        return list(self.said)

    def variables(self, *lines: str) -> dict[str, str]:
        """What `name = value` lines say."""
        return dict(re.split(" = ", one, maxsplit=1) for one in self(*lines) if " = " in one)  # type: ignore[misc]

    def value(self, text: str) -> str:
        """What print prints."""
        return self(f"output {text}")[0]


@pytest.fixture(params=COMPILERS)
def nodes(request: pytest.FixtureRequest, recordings: dict[str, Path]) -> Debugger:
    """Thread 5, before the last line of the kernel."""
    out = Debugger(recordings[f"nodes_{request.param}"])
    out(f"break nodes.cu:{END} if i == 5", "run")
    return out


def test_locals_and_arguments(nodes: Debugger) -> None:
    found = nodes.variables("info locals")
    assert found.keys() == {"tile", "i", "p", "pair", "colour", "flags", "squares"}
    assert (
        found["i"] == "5" and found["colour"].removeprefix("Colour::") == "green"
    )  # DWARF 2 of clang does not say that it is an enum class
    assert found["pair"] == "{x = 1.5, y = 5.0}" and found["squares"] == "{26, 37, 50, 65}"
    assert found["flags"] == '{low = 5, high = 5, is_last = false, name = "ok"}'
    assert found["p"].startswith("(Node *) 0x") and found["p"].endswith("<nodes[30]>")
    tile = found["tile"].strip("{}").split(", ")
    assert [float(t) for t in tile] == [1.5 * 1.5 + k * k for k in range(32)]
    assert nodes.variables("info args") == {
        "nodes": nodes.value("nodes"), "n": "32", "sums": nodes.value("sums"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("p->next->key", "60"), ("(*p).key", "50"), ("p->next->next->weights[1]", "3.5"), ("nodes[7].key", "70"), ("*sums == sums[0]", "1"),
        ("*squares + 1", "27"), ("squares[i & 3] - i", "32"), ("pair.x * pair.y", "7.5"), ("flags.high << 2", "20"), ("colour == 5", "1"),
        ("p == &nodes[5]", "1"), ("p[1].key", "60"), ("p->weights[1]@2", "{2.5, 0.0}"), ("tile[31 - i] > 600", "1"), ("/x p->key", "0x32"),
        ("nodes[1].next->next->key + tid.x", "35"), ("squares@1", "{{26, 37, 50, 65}}"), ("n % 10", "2"),
    ],
)  # fmt: skip
def test_expressions(nodes: Debugger, expression: str, value: str) -> None:
    assert nodes.value(expression) == value


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("p->nothing", "no member nothing; there are key weights next"), ("squares[4]", "not one of the 4"), ("i->key", "no member key"),
        ("*i", "no pointer"), ("pair + 1", "is not a number"), ("result", "another place"), ("q", "no array or variable q"), ("p->", "member is expected"),
        ("&5", "needs a variable"), ("*", "is expected"), ("p->next.", "is expected"), ("i[0]", "no array and no pointer"),
    ],
)  # fmt: skip
def test_expressions_that_mean_nothing(nodes: Debugger, expression: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        nodes.value(expression)


def test_types(nodes: Debugger) -> None:
    assert nodes("ptype p") == ["type = struct Node {", "    int key;", "    float weights[3];", "    Node *next;", "} *"]
    assert nodes("whatis p->next->weights") == ["type = float [3]"]
    assert nodes("whatis flags.is_last") == ["type = bool"] and nodes("whatis colour") == ["type = Colour"]
    assert nodes("ptype squares") == ["type = int [4]"]


def test_frames_have_their_own_variables(nodes: Debugger) -> None:
    nodes("break square if value == 7 && tid.x > 3", "reverse-continue")
    assert nodes.variables("info args") == {"value": "7"}
    assert [one.split(" at ")[0] for one in nodes("backtrace")] == ["#0  square ()", "#1  walk ()"]
    outer = nodes.variables("up", "info locals")
    assert outer["k"] == "3" and outer["last"] == "37" and nodes.value("k + i") == "7"
    with pytest.raises(UsageError, match="another place"):
        nodes("down", "print k")


def test_methods_and_references(nodes: Debugger) -> None:
    nodes("break dot if tid.x == 9", "reverse-continue")
    assert nodes.value("this->y") == "9.0" and nodes.value("other.x + other.y") == "10.5"
    assert nodes.value("*this") == "{x = 1.5, y = 9.0}"


def test_watchpoints_and_writers(nodes: Debugger) -> None:
    nodes("watch p->weights[1]")
    said = "\n".join(nodes("reverse-continue"))
    assert "Old value = 0.0\n  New value = 2.5" in said and f"nodes.cu:{line('p->weights[1]')})" in said
    assert nodes("writers p->key")[0].endswith("lane 5: 0 -> 50")
    nodes("delete", "watch i")
    assert "New value = 5" in "\n".join(nodes("reverse-continue"))


def test_blocks_of_the_source_end(nodes: Debugger) -> None:
    assert nodes(f"break nodes.cu:{line('squares[k] = last')} if k == 2 && i == 9", "reverse-continue")
    assert nodes.value("last") == str((2 + 9) ** 2 + 1)
    nodes("delete", f"until nodes.cu:{END}")
    assert "last" not in nodes.variables("info locals")


def test_all_lanes(nodes: Debugger) -> None:
    values = " ".join(one.split(": ", 1)[1] for one in nodes("at p->next->key")).split()
    assert [int(v) for v in values] == [(k + 1) % 32 * 10 for k in range(32)]


@pytest.mark.parametrize("name", ["nodes_nvcc", "nodes_clang", "numba_decay"])
def test_many_lanes_together_hold_what_each_holds(recordings: dict[str, Path], name: str) -> None:
    rec = Recording.load(recordings[name])
    names = SourceNames(rec)
    compared = set()
    for step in range(0, rec.step_count, 7):
        lanes = rec.at(step).lanes
        frame = rec.frame(int(lanes[0]), step)
        for v, value in names.variables(int(lanes[0]), step, frame):
            if isinstance(value, str) or value.type.plain.kind not in ("base", "enum", "pointer"):
                continue
            found = names.column(v.name, (), (), lanes, step, frame)
            each = [names.value(v.name, (), (), lane, step, frame).scalar() for lane in lanes.tolist()]
            assert np.array_equal(found, np.array(each), equal_nan=found.dtype.kind == "f"), (v.name, step)
            compared.add(v.name)
    assert {"i", "n"} <= compared


def test_numba(recordings: dict[str, Path]) -> None:
    text = (DATA / "numba_decay.py").read_text().splitlines()
    debugger = Debugger(recordings["numba_decay"])
    debugger(f"break numba_decay.py:{line('total * rate', text)} if i == 40 && turn == 2", "run")
    assert debugger.variables("info locals") == {"total": "11.0", "i": "40", "turn": "2"}
    assert debugger.value("total * 2 + rate") == "22.5"
    debugger("delete", "break decay", "reverse-continue")
    debugger(f"until numba_decay.py:{line('total = x[i]', text)}")
    assert debugger.value("x.data[7]") == "7.0" and debugger.value("y.shape") == "{64}"


def test_an_editor_shows_them(recordings: dict[str, Path]) -> None:
    editor = Editor()
    editor.launch(recordings["nodes_nvcc"], sourceFolders=[str(DATA)])
    editor.set(DATA / "nodes.cu", {"line": END, "condition": "i == 5 && p->next->key == 60"})
    at = editor.go()
    assert (at["file"], at["line"]) == ("nodes.cu", END)
    found = editor.scope("Locals", at["frame"])
    assert found["i"]["value"] == "5" and found["p"]["type"] == "Node *" and found["squares"]["indexedVariables"] == 4
    inside = {v["name"]: v for v in editor.inside(found["p"])}
    assert inside["key"]["value"] == "50" and inside["next"]["evaluateName"] == "p->next"
    (weight,) = editor.inside(inside["weights"], start=1, count=1)
    assert weight["evaluateName"] == "p->weights[1]" and editor.value(weight["evaluateName"], frameId=at["frame"]) == "2.5"
    deeper = {v["name"]: v["value"] for v in editor.inside(inside["next"])}
    assert deeper["key"] == "60"
    hover = editor.ask("evaluate", expression="pair", context="hover", frameId=at["frame"])
    assert [v["evaluateName"] for v in editor.inside(hover)] == ["pair.x", "pair.y"]
    info = editor.ask("dataBreakpointInfo", variablesReference=found["p"]["variablesReference"], name="key")
    editor.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "write"}])
    back = editor.go("reverseContinue")
    assert back["reason"] == "data breakpoint" and back["description"] == "p->key: 0 -> 50" and back["line"] == line("p->key = i")


def test_without_names_it_says_what_would_bring_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = tmp_path / "run.wlrec"
    assert call(["record", str(VECADD), "-o", str(saved)])[0] == 0
    with pytest.raises(UsageError, match="nvcc -G"):
        Debugger(saved)("info locals")
    assert SourceNames(Recording.load(saved)).why_not == NOTHING


def test_without_the_extra_it_says_what_to_install(recordings: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "elftools.dwarf.dwarfinfo", None)
    debugger = Debugger(recordings["nodes_nvcc"])
    with pytest.raises(UsageError, match=re.escape("pip install 'warplab[debug]'")):
        debugger("info locals")
    assert debugger.prompt.session.names.why_not == NEEDED
    assert "walk_param_1 = 32" in debugger("info args")


def test_sections_are_bytes() -> None:
    text = "$L__tmp1:\n ret;\n.section .debug_info { .b8 1,2 // two\n.b16 258\n.b32 .debug_str+3\n.b64 $L__tmp1\n.b64 a+4\n}\n.section .debug_str {\n$s:\n.b8 0\n$t:\n.b32 $t-$s\n}"
    found = sections_of(text)
    assert found.bytes[".debug_info"][:8] == bytes([1, 2, 2, 1, 3, 0, 0, 0])
    assert found.bytes[".debug_str"] == bytes([0, 1, 0, 0, 0])
    assert found.symbols == ["a"] and found.symbol(int.from_bytes(found.bytes[".debug_info"][16:24], "little")) == ("a", 4)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 1 << 30), st.sampled_from([".b8 0", ".b8 255", ".b32 4294967295", ".b64 $L__tmp3", "", ".b8 x", "}", ".b8 17\n.b8 1"])
)
def test_damaged_sections_are_refused_or_read(recordings: dict[str, Path], seed: int, other: str) -> None:
    rec = Recording.load(recordings["nodes_nvcc"])
    name, text = rec.track.texts[0]
    lines = text.splitlines()
    first = next(n for n, one in enumerate(lines) if ".section" in one)
    at = int(np.random.default_rng(seed).integers(first, len(lines)))
    rec.track.texts[0] = name, "\n".join([*lines[:at], other, *lines[at + 1 :]])
    prompt = Prompt([rec], lambda _: None)
    for command in ("goto 100", "info locals", "info args", "print *p", "print squares", "ptype flags"):
        with suppress(UsageError):
            execute(prompt, command)
