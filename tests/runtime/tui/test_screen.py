"""The debugger's full screen, driven by keys as a person presses them; skipped where textual is not installed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.cli.files import InputFile
from warplab.runtime.cli.running.launching import runner_of, runs_of
from warplab.runtime.debugger import commands  # noqa: F401  fills the table of commands
from warplab.runtime.debugger.prompt import Prompt
from warplab.runtime.debugger.words import execute
from warplab.runtime.recording import Recording
from warplab.runtime.run.recorded import record
from warplab.runtime.tui import panels

textual = pytest.importorskip("textual", reason="textual is not installed: the extra tui brings it")
SAMPLE = Path(__file__).parents[3] / "samples/reduction/1_interleaved.ptx"
NAMES = {" ": "space", "%": "percent_sign", "-": "minus", "[": "left_square_bracket", "]": "right_square_bracket", "=": "equals_sign"}


@pytest.fixture(scope="module")
def rec() -> Recording:
    files = (InputFile(str(SAMPLE), SAMPLE.read_bytes()),)
    return record(runner_of(files, runs_of(files, {})[0])).launches[0]


def screen(rec: Recording, talk: Callable[[Any, Any], Awaitable[None]], size: tuple[int, int] = (140, 42)) -> Any:
    """A screen, of which a person has pressed some keys."""
    from warplab.runtime.tui.app import DebuggerScreen

    app = DebuggerScreen(Prompt([rec], print, full_screen=True))

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await talk(app, pilot)

    asyncio.run(run())
    return app


async def typed(pilot: Any, text: str) -> None:
    await pilot.press(*[NAMES.get(c, c) for c in text], "enter")
    await pilot.pause()


def shown(app: Any, name: str) -> str:
    if name == "said":
        return "\n".join(line.text for line in app.query_one("#said").lines)
    return str(app.query_one(f"#{name}-text").content)


def test_commands_and_keys_move_it_in_both_directions(rec: Recording) -> None:
    async def talk(app: Any, pilot: Any) -> None:
        s = app.prompt.session
        await pilot.press("right", "right", "f8")
        assert s.step == 3
        await pilot.press("left", "f7")
        assert s.step == 1
        await typed(pilot, "break 34")
        await pilot.press("f5")
        assert s.step == 10 and "● " in shown(app, "source") and "▶   34" in shown(app, "source")
        assert "Breakpoint 1, 2048 lanes" in shown(app, "said")
        await pilot.press("end", "shift+left")
        assert s.step == 10
        await pilot.press("f3", "f3", "f2")
        assert s.lane == 1 and "thread (1,0,0)" in str(app.query_one("#head").content)
        await typed(pilot, "print %t")
        assert "$1 = 1" in shown(app, "said")
        await typed(pilot, "print %nothing")
        assert "%nothing" in shown(app, "said").splitlines()[-1]

    screen(rec, talk)


def test_panels_show_what_the_commands_print(rec: Recording) -> None:
    async def talk(app: Any, pilot: Any) -> None:
        for step in (12, 40, rec.step_count):
            await typed(pilot, f"goto {step}")
            said: list[str] = []
            other = Prompt([rec], said.append)
            for line in (f"goto {step}", "info registers"):
                execute(other, line)
            names = [line.split()[0] for line in said if line.startswith("%")]
            assert [line.split()[0] for line in shown(app, "registers").splitlines()] == names
            assert shown(app, "lanes").splitlines()[0].startswith("▶  0 ")
        await typed(pilot, "goto 10")
        assert "cell shared .b32[256]" in shown(app, "memory").splitlines()[0], "what the thread is about to access comes first"

    screen(rec, talk)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (109, 40), (110, 40), (200, 60), (20, 8)])
def test_every_size_has_its_screen(rec: Recording, size: tuple[int, int]) -> None:
    async def talk(app: Any, pilot: Any) -> None:
        await typed(pilot, "goto 20")
        await pilot.press("ctrl+t")
        assert app.prompt.session.step == 20 and not app.current_theme.dark
        assert app.export_screenshot().startswith("<svg")

    screen(rec, talk, size)


def test_history_and_completion(rec: Recording) -> None:
    async def talk(app: Any, pilot: Any) -> None:
        await pilot.press(*"revers", "tab")
        line = app.query_one("#prompt")
        assert line.value == "reverse-"
        await pilot.press("tab")
        assert "reverse-continue" in shown(app, "said")
        line.value = ""
        await typed(pilot, "stepi 3")
        await pilot.press("up", "enter")
        await pilot.press("enter")  # an empty line is the command before
        assert app.prompt.session.step == 9

    screen(rec, talk)


@pytest.mark.parametrize(("line", "over"), [("quit", True), ("tui disable", False)])
def test_it_is_left(rec: Recording, line: str, over: bool) -> None:
    async def talk(app: Any, pilot: Any) -> None:
        await typed(pilot, line)

    app = screen(rec, talk)
    assert app.return_code == 0 and app.prompt.over == over and app.prompt.full_screen == over and app.prompt.say is print


def test_the_timeline_marks_events(rec: Recording) -> None:
    prompt = Prompt([rec], print)
    for step, width in ((0, 120), (60, 40), (rec.step_count, 7)):
        prompt.session.go(step)
        row = "".join(text for text, _ in panels.timeline(prompt, width))
        assert len(row) == width and ("⋎" in row or width < 40)


def test_what_is_missing_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setattr("warplab.runtime.debugger.looking.find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["debug", str(SAMPLE), "--tui"])
    assert done.exit_code == 2 and done.output.strip().splitlines()[-1].endswith(
        "the full screen needs textual: pip install 'warplab[tui]'"
    )
    assert "Traceback" not in done.output
