"""The extension in a real VS Code: code-server, driven in Chromium.

WARPLAB_CODE_SERVER names a folder in which npm has installed it (`npm install --ignore-scripts node@24 code-server`, then its native modules with `npm rebuild`); without one the test is skipped.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
FOLDER = Path(os.environ.get("WARPLAB_CODE_SERVER", "/nonexistent"))
SERVER = FOLDER / "node_modules" / "code-server" / "out" / "node" / "entry.js"
NODE = FOLDER / "node_modules" / ".bin" / "node"
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not SERVER.is_file(), reason="WARPLAB_CODE_SERVER names no folder with code-server"),
    pytest.mark.skipif(not (EXTENSION / "node_modules").is_dir(), reason="`npm ci` in editors/vscode"),
]
SETTINGS = """{
  "workbench.startupEditor": "none", "security.workspace.trust.enabled": false, "extensions.autoUpdate": false, "editor.minimap.enabled": false,
  "telemetry.telemetryLevel": "off", "workbench.tips.enabled": false, "debug.openDebug": "openOnDebugBreak", "chat.disableAIFeatures": true
}"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder, and the address under which code-server shows it, with the extension installed."""
    home = tmp_path_factory.mktemp("code")
    folder = home / "ws"
    command = folder / ".venv" / "bin" / "warplab"
    command.parent.mkdir(parents=True)
    command.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT / 'tests' / 'importroot')!r})\nfrom warplab.runtime.cli import main\nmain()\n"
    )
    command.chmod(0o755)
    vsix = home / "warplab.vsix"
    subprocess.run(
        [EXTENSION / "node_modules" / ".bin" / "vsce", "package", "--no-dependencies", "-o", vsix],
        cwd=EXTENSION,
        check=True,
        capture_output=True,
    )
    places = ["--user-data-dir", str(home / "data"), "--extensions-dir", str(home / "extensions")]
    (home / "data" / "User").mkdir(parents=True)
    (home / "data" / "User" / "settings.json").write_text(SETTINGS)
    env = {**os.environ, "HOME": str(home)}
    base = [str(NODE), str(SERVER), *places]
    done = subprocess.run([*base, "--install-extension", str(vsix)], env=env, capture_output=True, text=True, timeout=120)
    assert "successfully installed" in done.stdout, done.stdout + done.stderr
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [*base, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override", str(folder)],
            env=env, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            for _ in range(200):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield folder, f"http://127.0.0.1:{port}/?folder={folder}"
        finally:
            process.terminate()
            process.wait(20)


def until(holds: Callable[[], bool]) -> None:
    """Waits until something holds."""
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    raise TimeoutError


def palette(page: Any, words: str) -> None:
    """A command by its title."""
    page.keyboard.press("F1")
    page.locator(".quick-input-widget input[type=text]").fill(f">{words}")
    page.locator(".quick-input-list .monaco-list-row", has_text=words).first.click()


def opened(browser: Any, address: str, name: str) -> Any:
    """The file in an editor."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(address)
    page.locator(".monaco-workbench .explorer-folders-view").wait_for()
    page.get_by_role("treeitem", name=name).dblclick()
    page.locator(".view-line").first.wait_for()
    return page


def at_line(page: Any, line: int, column: int = 1) -> None:
    """Moves the cursor."""
    page.keyboard.press("Control+g")
    page.locator(".quick-input-widget input[type=text]").fill(f":{line}:{column}")
    page.keyboard.press("Enter")


def test_from_a_squiggle_to_the_lanes(browser: Any, workspace: tuple[Path, str]) -> None:
    """Opens a file with a slip, mends it by its code action, sets a breakpoint, runs, steps back, sees lanes, and plays the launch."""
    folder, address = workspace
    text = (ROOT / "samples" / "vecadd.ptx").read_text()
    (folder / "slip.ptx").write_text(text.replace("    add.f32 ", "    ad.f32  "))
    page = opened(browser, address, "slip.ptx")
    page.get_by_text("sanitize", exact=True).first.wait_for()
    at_line(page, 45, 6)
    page.locator(".squiggly-error").first.wait_for()
    page.keyboard.press("Control+.")
    page.get_by_text("Change to add").first.wait_for()
    page.keyboard.press("Enter")
    page.locator(".squiggly-error").first.wait_for(state="detached")
    page.keyboard.press("Control+s")
    until(lambda: "    add.f32 " in (folder / "slip.ptx").read_text())

    at_line(page, 46)
    page.keyboard.press("F9")
    page.locator(".codicon-debug-breakpoint").first.wait_for()
    palette(page, "warplab: Debug")
    stopped = page.locator(".debug-top-stack-frame-line").first
    stopped.wait_for()
    page.get_by_text("Registers").first.click()
    page.get_by_text("%f3", exact=False).first.wait_for()
    page.locator(".debug-call-stack").get_by_text("46:", exact=False).first.wait_for()
    page.locator(".debug-toolbar").get_by_role("button", name="Step Back").click()
    page.locator(".debug-call-stack").get_by_text("45:", exact=False).first.wait_for()
    page.locator(".debug-toolbar").get_by_role("button", name="Stop").click()
    page.locator(".debug-toolbar").wait_for(state="hidden")

    palette(page, "warplab: Record and Play")
    player = page.frame_locator("iframe.webview.ready >> nth=-1").frame_locator("#active-frame")
    player.locator(".wlp[data-opened]").wait_for()
    assert "vecadd" in player.locator("h1").inner_text()


def test_findings_at_their_lines(browser: Any, workspace: tuple[Path, str]) -> None:
    folder, address = workspace
    shutil.copy(ROOT / "samples" / "bugs" / "lost_update.ptx", folder / "race.ptx")
    page = opened(browser, address, "race.ptx")
    page.get_by_text("sanitize", exact=True).first.click()
    page.locator(".squiggly-error").nth(1).wait_for()
    palette(page, "warplab: Profile")
    behind = "() => [...document.querySelectorAll('.view-line span')].map(e => getComputedStyle(e, '::after').content).join(' ')"
    until(lambda: "warp instructions" in page.evaluate(behind))
    if "WARPLAB_SCREENSHOT" in os.environ:  # docs/pictures/vscode.png
        page.screenshot(path=os.environ["WARPLAB_SCREENSHOT"], clip={"x": 348, "y": 35, "width": 1052, "height": 645})
