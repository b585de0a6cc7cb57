"""Each of the twelve bugs is found with the player alone, by mouse and by keyboard alone; docs/bugs.md says how many actions that takes.

An action is a click, a key, or a number that is entered; the page has just been opened.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from warplab.runtime.cli.files import InputFile
from warplab.runtime.cli.running.launching import runner_of, runs_of
from warplab.runtime.player import page
from warplab.runtime.run.recorded import record

from .browser import opened, settled

ROOT = Path(__file__).parents[3]
THREAD = "thread 3:7"  # is entered
BUGS: dict[str, tuple[list[str], list[str], tuple[str, ...]]] = {  # by mouse, by keyboard, and what is then to be read
    "last_element": ([THREAD, "line 19"], ["G " + THREAD, "Shift+ArrowLeft"], ("%r4 = 199", "%r5 = 199")),
    "one_term_more": (["result"], ["w"], ("x[3] = 3.0", "x[0] = 0.0")),
    "wrong_mask": (["result"], ["w"], ("and.b32 %r2, %r1, 15;", "%r1 = 16 → %r2 = 0")),
    "nan_in_a_loop": (["result"], ["w"], ("born here", "%f3 = -0.0000010728833 → %f4 = nan")),
    "half_a_sum": (["First step", "line 26"], ["Home", "n"], ("bar.sync 0;", "%r4.*32")),
    "missing_barrier": (["result"], ["w"], ("s[0] = 0 (before the launch)",)),
    "swapped_index": (["array b", "cell 1", "cell 1"], ["ArrowLeft", "ArrowDown", "w"], ("b[1] = 1.0|b[8] = 8.0", "a[1] = 1.0|a[8] = 8.0")),
    "unset_register": (["result"], ["w"], ("%r4 = 1028800678 (never written)",)),
    "overflow": (["result"], ["w"], ("mul.lo.u32 %r3, %r2, %r2;", "%r2 = 70000 → %r3 = 605032704")),
    "wrong_stride": (["result", "all writes"], ["W"], ("block 1,0,0, thread 0,0,0 → count[32] = 1", "block 0,0,0, thread 0,0,0 → count[32] = 2")),
    "deadlock": ([], [], ("48 have arrived", "wait at line 20")),
    "lost_update": (["result", "all writes"], ["W"], ("thread 3,0,0 → count[0] = 5", "thread 33,0,0 → count[0] = 5")),
}  # fmt: skip


def press(tab: Any, action: str) -> None:
    """One action of the keyboard."""
    key, _, entered = action.partition(" ")
    tab.keyboard.press(key)
    if entered:
        tab.keyboard.type(entered.removeprefix("thread "))
        tab.keyboard.press("Enter")


def click(tab: Any, action: str) -> None:
    """One action of the mouse."""
    word, _, what = action.partition(" ")
    match word:
        case "thread":
            field = tab.get_by_label("Thread", exact=True)
            field.fill(what)
            field.press("Enter")
        case "line":
            tab.locator(f'.line[data-line="{what}"]').click()
        case "result":  # the value that the step writes
            tab.locator(".step-view dt", has_text="writes").first.locator("xpath=following-sibling::dd[1]").get_by_role("button").click()
        case "all":
            tab.get_by_role("button", name="all writes").click()
        case "array":
            tab.get_by_role("tab", name=what, exact=True).click()
        case "cell":
            tab.locator(f'td[data-cell="{what}"]').click()
        case _:
            tab.get_by_label(action).first.click()


@pytest.mark.parametrize("name", BUGS)
@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_bug_is_found(name: str, way: str, browser: Any, tmp_path: Path) -> None:
    path = ROOT / "samples/bugs" / f"{name}.ptx"
    files = (InputFile(str(path), path.read_bytes()),)
    done = record(runner_of(files, runs_of(files, {})[0]))
    (tmp_path / "page.html").write_text(page(done.launches))
    tab = opened(browser, tmp_path / "page.html")
    settled(tab)
    by_mouse, by_keyboard, answer = BUGS[name]
    for action in by_mouse if way == "mouse" else by_keyboard:
        (click if way == "mouse" else press)(tab, action)
        settled(tab)
    shown = " ".join(tab.locator(".wlp").inner_text().split())
    for wanted in answer:
        parts = wanted.split("|") if wanted.startswith(("b[", "a[")) else [wanted]
        assert any(re.search(re.escape(p).replace(r"\.\*", ".*"), shown) for p in parts), f"{wanted}: {shown}"
    tab.close()


def test_the_page_says_how_many_actions_that_takes() -> None:
    text = (ROOT / "docs/bugs.md").read_text()
    rows = dict(re.findall(r"^\| (\w+) \| (\d+ \| \d+ \| \d+) \|$", text, re.M))
    commands = dict(re.findall(r"^\| \[(\w+)\]\([^|]*\| [^|]* \| ([^|]*) \|", text, re.M))
    assert rows == {n: f"{len(re.findall('`', commands[n])) // 2} | {len(m)} | {len(k)}" for n, (m, k, _) in BUGS.items()}
