"""How fast a page with a recording opens in Chromium, and how long a step in it takes; it needs Chromium and playwright.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_player [--size full|small|tiny] [--only NAME]

It fails where a page of at most 30 MB takes more than two seconds to open.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.bench_engine import works
from tests.bench.bench_recording import measured
from warplab.runtime.player import page
from warplab.runtime.recording import Recording

MOST = 2000  # milliseconds
KEYS = ("ArrowRight", "ArrowRight", "End", "ArrowLeft", "ArrowLeft", "Home", "ArrowRight", "s", "ArrowRight", "s", "ArrowRight")
STEP = """key => new Promise(done => {
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
})"""


def looked_at(browser: Any, path: Path) -> tuple[int, list[float]]:
    """Milliseconds until a page is drawn, from the start of its loading, and those of some steps."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    tab.goto(f"file://{path}", wait_until="commit")
    tab.wait_for_selector(".wlp[data-opened]")
    out = int(tab.get_attribute(".wlp", "data-opened")), [tab.evaluate(STEP, key) for key in KEYS]
    tab.close()
    return out


def main() -> int:
    """Prints a line for each kernel."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="full")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    slow = 0
    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        for work in works(options.size):
            if not work.name.startswith(options.only):
                continue
            rec = Recording(measured(work, 1)[1].finish())
            path = Path(folder) / "page.html"
            path.write_text(page([rec]), encoding="utf-8")
            opened, steps = looked_at(browser, path)
            slow += opened > MOST
            size = path.stat().st_size / 1e6
            print(
                f"{work.name:12} {size:5.1f} MB  opened in {opened:5} ms  a step {statistics.median(steps):4.0f} ms, at most {max(steps):4.0f} ms"
            )
        browser.close()
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
