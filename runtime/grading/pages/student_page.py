"""A page for each student: points, and of visible tests why they fail; of hidden tests the name alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from ..report import Report, once, points
from .causes import cause_of
from .style import whole_page


def student_page(r: Report, title: str, plays: Mapping[str, str]) -> str:
    """The page; `plays`: by test, the page that plays what happened."""
    visible = replace(r, tests=tuple(t for t in r.tests if not t.hidden))
    said = {t.name: text for t, text in once(visible)}
    rows, parts = [], []
    for t in r.tests:
        mark = "passed" if t.passed else "failed" if t.hidden else str(cause_of(t))
        rows.append(
            f'<tr><td class="l">{escape(t.name)}{" (hidden)" if t.hidden else ""}</td><td>{points(t.earned)} of {points(t.points)}</td>'
            f'<td class="l{"" if t.passed else " bad"}">{escape(mark)}</td></tr>'
        )
        if t.name in said:
            link = f' <a class="screen" href="{escape(plays[t.name], quote=True)}">play it</a>' if t.name in plays else ""
            parts.append(f"<h2>{escape(t.name)}{link}</h2><pre>{escape(said[t.name])}</pre>")
    tile = f'<div class="tiles"><div class="tile"><b>{points(r.score)} of {points(r.total)}</b><span>points</span></div></div>'
    head = '<thead><tr><th class="l">test</th><th>points</th><th class="l"></th></tr></thead>'
    table = f'<h2>Tests</h2><div class="scroll"><table class="grades">{head}<tbody>{"".join(rows)}</tbody></table></div>'
    return whole_page(f"{r.name}: {title}", f"<h1>{escape(r.name)}: {escape(title)}</h1>{tile}{table}{''.join(parts)}")


def files_for(names: Sequence[str], folder: Path) -> dict[str, Path]:
    """A file for each submission, by a name that any system accepts."""
    out: dict[str, Path] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(r"[^\w.-]+", "_", name).strip("._")[:80] or "submission"
        file, n = plain, 1
        while file.lower() in taken:
            n += 1
            file = f"{plain}-{n}"
        taken.add(file.lower())
        out[name] = folder / f"{file}.html"
    return out
