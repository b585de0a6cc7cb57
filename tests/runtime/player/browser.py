"""Pages in the browser of the tests."""

from __future__ import annotations

from typing import Any


def opened(browser: Any, path: Any, fragment: str = "", **options: Any) -> Any:
    """A page in a tab of its own, when all that it shows is there; an error in it fails the test."""
    page = browser.new_page(viewport={"width": 1400, "height": 900}, **options)
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda e: errors.append(str(e)))
    errors: list[str] = []
    page.errors = errors
    page.goto(f"file://{path}{fragment}")
    page.wait_for_selector(".wlp[data-opened]")
    return page


def settled(page: Any) -> None:
    """Waits until what was asked for is drawn."""
    page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")
    assert not page.errors, page.errors
