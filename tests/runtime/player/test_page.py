"""The page in a browser: what a reader sees, by mouse and by keyboard alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from warplab.runtime.cli import main

from .browser import opened, settled

ROOT = Path(__file__).parents[3]
NAN = re.search(r"```ptx file=nan.ptx\n(.*?)```", (ROOT / "docs" / "debugging.md").read_text(), re.S)


def recorded(folder: Path, *words: str) -> Path:
    """The page that `warplab record --html` writes."""
    out = folder / "page.html"
    with pytest.raises(SystemExit) as ended:
        main(["record", "--html", str(out), *words])
    assert not ended.value.code
    return out


def sample(name: str) -> str:
    return str(ROOT / "samples" / f"{name}.ptx")


@pytest.fixture
def nan(tmp_path: Path) -> Path:
    assert NAN is not None
    (tmp_path / "nan.ptx").write_text(NAN[1])
    return recorded(tmp_path, str(tmp_path / "nan.ptx"))


def press(tab: Any, *keys: str) -> None:
    for key in keys:
        tab.keyboard.press(key)
        settled(tab)


def step(tab: Any) -> int:
    return int(tab.input_value("input[aria-label=Step]"))


def line(tab: Any) -> str:
    return " ".join(tab.inner_text(".line.now code").split())


def test_a_nan_is_traced_to_its_birth_by_mouse(nan: Path, browser: Any) -> None:
    tab = opened(browser, nan, "#step=74&lane=0")
    tab.click(".memory-view .tabs button:text-is('y')")
    tab.click("td[data-cell='0']")  # y[0] = nan: to the store,
    settled(tab)
    assert step(tab) == 73 and line(tab).startswith("st.global.f32")
    tab.click("td[data-cell='0']")  # and what it comes from
    settled(tab)
    slice_ = tab.inner_text(".slice")
    assert "sqrt.rn.f32 %f4, %f3;" in slice_ and "%f3 = -1.0 → %f4 = nan" in slice_
    tab.click(".slice button:has-text('%f3 = -1.0')")
    settled(tab)
    assert step(tab) == 51 and "reads %f3 = -1.0" in tab.inner_text(".effects").replace("\n", " ")
    assert tab.url.endswith("#step=51&lane=0")
    tab.close()


def test_by_keyboard_alone(nan: Path, browser: Any) -> None:
    tab = opened(browser, nan, "#step=52&lane=0")
    assert line(tab).startswith("add.f32 %f1")
    press(tab, "ArrowLeft")
    assert step(tab) == 51 and "%f4" in tab.inner_text(".register.changed")
    press(tab, "ArrowDown", "ArrowDown", "]")
    assert tab.url.endswith("#step=51&lane=34")
    press(tab, "?")
    assert tab.is_visible("dialog.help") and "next lane" in tab.inner_text("dialog.help")
    press(tab, "Escape")
    assert not tab.is_visible("dialog.help")
    tab.focus(".registers")
    names = tab.eval_on_selector_all(".register .name", "all => all.map(one => one.firstChild.textContent)")
    press(tab, *["ArrowDown"] * (names.index("%f2") + 1), "Enter")  # to the step that wrote %f2
    assert step(tab) == 49 and line(tab).startswith("sub.f32 %f2")
    press(tab, "Enter")  # its slice
    assert "mov.f32 %f2, 0f40A00000;" in tab.inner_text(".slice")
    press(tab, "b")  # back
    assert step(tab) == 51
    press(tab, "Home")
    assert step(tab) == 0
    press(tab, "g")
    tab.keyboard.type("60")
    press(tab, "Enter")
    assert step(tab) == 60
    tab.close()


def test_a_fault_is_where_the_page_opens(tmp_path: Path, browser: Any) -> None:
    words = ["--grid", "4", "--block", "256", "--arg", "a=f32[1000]", "--arg", "b=f32[1000]", "--arg", "out:c=f32[1000]", "--arg", "n=1024"]
    tab = opened(browser, recorded(tmp_path, sample("vecadd"), *words))
    assert "out of bounds: 4-byte read" in tab.inner_text(".note.fault")
    assert line(tab).startswith("ld.global.f32 %f1") and "outside of every array" in tab.inner_text(".effects")
    assert tab.input_value("input[aria-label=Block]") == "3" and tab.input_value("input[aria-label=Thread]") == "232"
    tab.close()


def test_a_wrong_result_opens_at_the_store_that_wrote_it(tmp_path: Path, browser: Any) -> None:
    assert NAN is not None
    (tmp_path / "nan.ptx").write_text(NAN[1].replace("out:y=f32[64]", 'out:y=f32[64] --expect "y == x"', 1))
    tab = opened(browser, recorded(tmp_path, str(tmp_path / "nan.ptx")))
    assert "expect y == x" in tab.inner_text(".note.finding") and "first y[0]: got nan" in tab.inner_text(".note.finding")
    assert line(tab) == "st.global.f32 [%rd5], %f1;" and step(tab) == 73 and tab.url.endswith("lane=0")
    tab.close()


def test_divergence_barriers_and_bank_conflicts(tmp_path: Path, browser: Any) -> None:
    tab = opened(browser, recorded(tmp_path, sample("transpose/2_tiled")))
    press(tab, "n")  # the barrier
    assert "barrier 0" in tab.inner_text(".step-view")
    tab.click(".line:has-text('ld.shared.f32')")  # the next step that executes it: a column of the tile
    settled(tab)
    assert "32 passes where 1 would do" in tab.inner_text(".access figcaption")
    tab.close()
    tab = opened(browser, recorded(tmp_path, sample("mandelbrot")))
    press(tab, "n")
    assert "take the branch" in tab.inner_text(".step-view")
    press(tab, "s")
    assert tab.get_attribute("button[data-scope=warps]", "aria-pressed") == "true"
    press(tab, "+", "+", "0", "t")
    assert tab.get_attribute(".wlp", "data-theme") == "dark"
    tab.close()


def test_dragging_over_the_lanes(tmp_path: Path, browser: Any) -> None:
    tab = opened(browser, recorded(tmp_path, sample("mandelbrot")))
    box = tab.query_selector(".timeline canvas").bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 3, box["y"] + 100, steps=4)
    tab.mouse.up()
    settled(tab)
    assert line(tab) == "ret;" and "warp 0, lane 6" in tab.inner_text(".place")
    tab.close()


def test_the_page_holds_the_recording(tmp_path: Path, browser: Any) -> None:
    tab = opened(browser, recorded(tmp_path, sample("vecadd")))
    with tab.expect_download() as saved:
        tab.click("button[aria-label^='Save the recording']")
    saved.value.save_as(tmp_path / "saved.wlrec")
    again = recorded(tmp_path, str(tmp_path / "saved.wlrec"))
    tab.goto(f"file://{again}")
    tab.wait_for_selector(".wlp[data-opened]")
    assert "vecadd" in tab.inner_text("h1")
    tab.close()
