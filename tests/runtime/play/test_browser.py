"""The playground as people use it, in Chromium."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .page import LABS, ROOT, done, finished, opened, serving, write

SCRIPT, SOURCES = ROOT / "runtime" / "play" / "play.js", ROOT / "playground"
AXE = SOURCES / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving("01-vecadd") as (playground, found):
        playground.warm()
        yield found


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    """Without a lab."""
    with serving() as (playground, found):
        playground.warm()
        yield found


def test_the_script_is_built_from_the_sources() -> None:
    digest = hashlib.sha256()
    for path in sorted((SOURCES / "src").iterdir()):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    assert f"sha256 {digest.hexdigest()};" in SCRIPT.read_text().split("\n", 1)[0], (
        "the sources have changed: npm run build, in playground/"
    )
    assert sum((SCRIPT.with_name(name)).stat().st_size for name in ("play.js", "play.html", "play.css")) < 500_000


@pytest.mark.skipif(
    shutil.which("node") is None or not (SOURCES / "node_modules").is_dir(), reason="node, or `npm ci` in playground/, is missing"
)
def test_types_of_the_sources_and_the_build(tmp_path: Path) -> None:
    checked = subprocess.run(["node_modules/.bin/tsc", "--noEmit", "-p", "."], cwd=SOURCES, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    subprocess.run(["node", "build.mjs", tmp_path / "play.js"], cwd=SOURCES, check=True)
    assert (tmp_path / "play.js").read_bytes() == SCRIPT.read_bytes()


def test_a_new_user_runs_a_program_with_one_click(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    assert done(page, "run").startswith("ok")
    assert "vecadd<<<4, 256>>>" in page.inner_text("#result") and "1.0, 2.0, 3.0" in page.inner_text("#result")


def test_a_slip_is_shown_and_mended(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    write(
        page,
        page.evaluate(
            "() => fetch('start', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'}).then(r => r.json())"
        )["examples"]["vecadd"].replace("add.f32", "ad.f32"),
    )
    page.wait_for_selector(".cm-lintRange-error")
    page.hover(".cm-lintRange-error")
    page.click(".cm-diagnosticAction")
    page.wait_for_selector(".cm-lintRange-error", state="detached")
    assert done(page, "run").startswith("ok")


def test_a_race_is_found_and_mended(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    page.select_option("#choice", "example race")
    assert done(page, "sanitize").startswith("failed")
    assert page.locator(".finding").count() == 1 and "barrier" in page.inner_text(".finding")
    assert page.locator(".line-bad").count() == 2, "both lines are marked"
    page.click(".finding button.line >> nth=0")
    page.keyboard.press("Home")
    page.keyboard.insert_text("    bar.sync 0;\n")
    assert done(page, "sanitize").startswith("ok") and page.locator(".line-bad").count() == 0


def test_a_nan_is_traced_in_the_player(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    page.select_option("#choice", "example nan")
    assert done(page, "record").startswith("failed")
    player = page.frame_locator("iframe[title=Player]")
    player.locator(".wlp[data-opened]").wait_for()
    assert "st.global.f32" in player.locator("body").inner_text()
    player.locator(".memory-view .tabs button:text-is('y')").click()
    player.locator("td[data-cell='1']").first.click()
    assert "div.rn.f32" in player.locator("body").inner_text()


def test_a_lab_to_full_marks(browser: Any, address: str) -> None:
    page = opened(browser, address)
    assert "Tests" in page.inner_text("#handout")
    done(page, "run")
    assert "<<<" in page.inner_text("#result h3"), "as the first test does"
    first = done(page, "grade")
    assert " of " in first and page.locator(".test:not(.passed)").count() > 0
    write(page, (LABS / "01-vecadd" / "reference.ptx").read_text())
    done(page, "grade")
    assert page.locator(".test:not(.passed)").count() == 0 and page.locator("#score .good").count() == 1


def test_a_link_carries_the_program(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    write(page, "// only this: 12345\n")
    page.click("#share")
    page.wait_for_url("**#ptx=*")
    other = opened(browser, page.url)
    assert "only this: 12345" in other.inner_text("#editor .cm-content")
    assert opened(browser, plain + "#ptx=broken").inner_text("#editor .cm-content").strip(), "a broken link opens an example"


def test_stop(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    write(
        page,
        "//@ run --grid 1 --block 1\n.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\nagain:\n    bra again;\n}\n",
    )
    page.click("#run")
    page.click("#stop")
    assert "error" in finished(page) and "stopped" in page.inner_text("#result")


def test_keyboard_alone(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    seen = []
    for _ in range(9):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert [x for x in seen if x in ("choice", "run", "sanitize", "record", "profile", "share")] == [
        "choice",
        "run",
        "sanitize",
        "record",
        "profile",
        "share",
    ]
    assert "cm-content" in seen[-3:][0] + seen[-2] + seen[-1]
    page.focus("#editor .cm-content")
    page.keyboard.press("Control+Enter")
    assert finished(page).startswith("ok")
    page.keyboard.press("Control+Shift+Enter")
    assert finished(page).startswith("ok") and page.locator("iframe").count() == 1
    page.focus("#editor .cm-content")
    page.keyboard.press("Tab")
    assert "cm-content" not in page.evaluate("document.activeElement.className"), "Tab leaves the editor"


def test_a_phone(browser: Any, address: str) -> None:
    page = opened(browser, address, 375, 720)
    done(page, "run")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 375, wide
    for button in ("run", "sanitize", "record", "profile", "grade", "share"):
        box = page.locator(f"#{button}").bounding_box()
        assert box["height"] >= 32 and box["x"] >= 0 and box["x"] + box["width"] <= 375


def test_a_profile(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    assert done(page, "profile").startswith("ok")
    assert "vecadd" in page.frame_locator("iframe[title=Profile]").locator("h2, h1").first.inner_text()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_cuda(browser: Any, plain: str) -> None:
    page = opened(browser, plain)
    page.select_option("#choice", "cuda")
    assert done(page, "record").startswith("ok")
    assert ".visible .entry" in page.inner_text("#compiled")
    load = page.locator("#compiled .cm-line", has_text="st.global.f32").get_attribute("class").split()[-1]
    assert load in page.locator("#editor .cm-line", has_text="c[i] = a[i] + b[i]").get_attribute("class"), (
        "a line and its PTX have one colour"
    )
    player = page.frame_locator("iframe[title=Player]")
    player.locator(".wlp[data-opened]").wait_for()
    assert "blockIdx.x * blockDim.x" in player.locator("body").inner_text()


@pytest.mark.skipif(not AXE.is_file(), reason="`npm ci` in playground/ brings axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_a_screen_reader(browser: Any, address: str, scheme: str) -> None:
    page = opened(browser, address)
    page.emulate_media(color_scheme=scheme)
    for button in ("run", "grade"):
        done(page, button)
        page.evaluate(AXE.read_text())
        found = page.evaluate(
            "axe.run(document, {iframes: false}).then(r => r.violations.map(v => [v.impact, v.id, v.nodes.map(n => n.html.slice(0, 150))]))"
        )
        assert not [v for v in found if v[0] in ("serious", "critical")], found


def test_quick_enough(browser: Any, plain: str) -> None:
    """The page's own clock: a keystroke to its diagnostics, and a run to its picture."""
    page = opened(browser, plain)
    page.wait_for_selector("body[data-checked]")
    took = []
    for n in range(5):
        page.evaluate("delete document.body.dataset.checked")
        page.click("#editor .cm-content")
        page.keyboard.insert_text(f"// {n}\n")
        page.wait_for_selector("body[data-checked]")
        took.append(int(page.evaluate("document.body.dataset.checked")))
    assert min(took) <= 150, took
    runs = [float(done(page, "run").split(", ")[1].removesuffix(" s")) for _ in range(4)]
    assert min(runs) <= 0.5, runs
