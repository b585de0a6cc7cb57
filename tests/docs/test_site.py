"""The site's navigation has every page once, and no other; mkdocs itself is not needed."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_page_is_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2]
    named = re.findall(r"[\w/.-]+\.md", nav)
    pages = [p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md") if "examples" not in p.parts]
    assert sorted(named) == sorted(pages)


def test_the_front_page_leads_to_every_page() -> None:
    front = (ROOT / "docs" / "README.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in front, page.name
