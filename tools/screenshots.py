"""Pictures of the player in docs/pictures: `python -m tools.screenshots`.  It needs Chromium and the package playwright."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warplab.runtime.golden.output import call

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"


@dataclass(frozen=True, slots=True)
class Screenshot:
    """A page at a step, and what is clicked there."""

    name: str
    program: str  # of samples, or nan.ptx of docs/debugging.md
    place: str
    clicks: tuple[str, ...] = ()
    keys: str = ""
    scheme: str = "light"
    width: int = 1400
    height: int = 880


SCREENSHOTS = (
    Screenshot("player", "reduction/1_interleaved.ptx", "#step=47&lane=8"),
    Screenshot(
        "player_value", "nan.ptx", "#step=74&lane=1", (".memory-view .tabs button:text-is('y')", "td[data-cell='1']", "td[data-cell='1']"),
        scheme="dark",
    ),
    Screenshot("player_banks", "transpose/2_tiled.ptx", "#step=78&lane=35", scheme="light"),
)  # fmt: skip


def main() -> None:
    """Writes every picture."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for one in SCREENSHOTS:
            taken(browser, one, Path(folder)).screenshot(path=PICTURES / f"{one.name}.png")
        played(browser)
        browser.close()


def played(browser: Any) -> None:
    """The pictures of the playground."""
    from tests.runtime.play.page import done, opened, serving

    with serving() as (_, address):
        tab = opened(browser, address, 1200, 640)
        tab.select_option("#choice", "example race")
        done(tab, "sanitize")
        tab.screenshot(path=PICTURES / "play_race.png")
    with serving("06-histogram") as (_, address):
        tab = opened(browser, address, 1200, 800)
        done(tab, "grade")
        tab.screenshot(path=PICTURES / "play_lab.png")


def taken(browser: Any, one: Screenshot, folder: Path) -> Any:
    """A tab that shows it."""
    program = ROOT / "samples" / one.program
    if not program.exists():
        found = re.search(rf"```ptx file={one.program}\n(.*?)```", (ROOT / "docs" / "debugging.md").read_text(encoding="utf-8"), re.S)
        assert found is not None
        program = folder / one.program
        program.write_text(found[1], encoding="utf-8")
    code, _, err = call(["record", "--html", str(folder / "page.html"), str(program)])
    assert code == 0, err
    tab = browser.new_page(viewport={"width": one.width, "height": one.height}, color_scheme=one.scheme)
    tab.goto(f"file://{folder / 'page.html'}{one.place}")
    tab.wait_for_selector(".wlp[data-opened]")
    for click in one.clicks:
        tab.click(click)
        tab.wait_for_timeout(200)
    for key in one.keys.split():
        tab.keyboard.press(key)
    tab.mouse.move(0, 0)
    tab.wait_for_timeout(300)
    return tab


if __name__ == "__main__":
    main()
