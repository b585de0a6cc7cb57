"""A playground for tests: its server in a thread of this process, and a tab of Chromium that shows it."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warplab.runtime.grading import load_lab
from warplab.runtime.play.jobs import PlayLimits
from warplab.runtime.play.server import Playground, PlayLab, server

ROOT = Path(__file__).parents[3]
LABS = ROOT / "samples" / "labs"


@contextmanager
def serving(*labs: str, limits: PlayLimits | None = None, processes: int = 2) -> Iterator[tuple[Playground, str]]:
    """A playground and its address."""
    playground = Playground([PlayLab.of(load_lab(LABS / name)) for name in labs], processes=processes, limits=limits or PlayLimits())
    listening = server(playground, "127.0.0.1", 0)
    thread = threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield playground, f"http://127.0.0.1:{listening.server_port}/{playground.token}/"
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
        playground.close()


def post(address: str, what: str, question: object, **headers: str) -> Any:
    """What the server answers."""
    sent = urllib.request.Request(address + what, json.dumps(question).encode(), {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(sent, timeout=100) as reply:
        return json.loads(reply.read())


def opened(browser: Any, address: str, width: int = 1400, height: int = 900) -> Any:
    """A tab with the page, once it has begun; an error in it fails the test."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(30_000)
    page.errors = []
    page.on("pageerror", lambda e: page.errors.append(str(e)))
    page.on("console", lambda m: page.errors.append(m.text) if m.type == "error" and "autofocus" not in m.text else None)
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    return page


def done(page: Any, button: str) -> str:
    """Presses a button, and waits for what comes of it; the words of the status."""
    page.click(f"#{button}")
    return finished(page)


def finished(page: Any) -> str:
    """Waits until nothing runs; the words of the status."""
    page.wait_for_selector("body:not([data-busy])")
    assert not page.errors, page.errors
    return str(page.inner_text("#status"))


def write(page: Any, text: str) -> None:
    """Puts a text into the editor, as pasted."""
    page.click("#editor .cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
