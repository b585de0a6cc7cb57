"""A browser for the tests: Chromium, driven by playwright; both are no part of the package, so a test without them is skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests of a process."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    if CHROMIUM is None:
        pytest.skip("Chromium is missing")
    with playwright.sync_playwright() as p:
        one = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield one
        one.close()
