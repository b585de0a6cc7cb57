"""A class as one HTML page: who has how many points, which test fails how often, and the mistakes that several share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from ..reports.html import PAGE_STYLE
from ..reports.svg import STYLE
from .report import Report, TestReport, points, words

CLASS_STYLE = """
.wl td.bad { color: var(--bad); }
.wl pre { background: var(--card); padding: 8px; overflow-x: auto; }
.wl .bar { background: var(--calm); display: inline-block; height: 10px; }
"""


def as_html(reports: Sequence[Report], pages: Mapping[tuple[str, str], str] | None = None) -> str:
    """The page; the tests are those of the first submission, for all have the same.

    `pages`: by submission and test, the page that plays what happened.
    """
    total = max((r.total for r in reports), default=0)
    full = sum(r.passed for r in reports)
    mean = sum(r.score for r in reports) / len(reports) if reports else 0
    tiles = [(len(reports), "submissions"), (full, "with all points"), (f"{mean:.1f} of {points(total)}", "points on average")]
    head = "".join(f'<div class="tile"><b>{value}</b><span>{name}</span></div>' for value, name in tiles)
    body = f'<h1>Grades</h1><div class="tiles">{head}</div>{_tests(reports)}{_mistakes(reports)}{_students(reports, pages or {})}'
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>warplab grades</title><style>{STYLE}{PAGE_STYLE}{CLASS_STYLE}body {{ margin: 0; background: var(--page); }}</style></head>"
        f'<body><div class="wl">{body}</div></body></html>'
    )


def _tests(reports: Sequence[Report]) -> str:
    """Each test, and how many pass it."""
    rows = []
    for i, t in enumerate(reports[0].tests if reports else ()):
        passed = sum(r.tests[i].passed for r in reports)
        share = 100 * passed // len(reports)
        hidden = " (hidden)" if t.hidden else ""
        rows.append(
            f'<tr><td class="l">{escape(t.name)}{hidden}</td><td>{points(t.points)}</td><td>{passed}</td><td>{len(reports) - passed}</td>'
            f'<td class="l"><span class="bar" style="width: {share}px"></span> {share} %</td></tr>'
        )
    head = '<tr><th class="l">test</th><th>points</th><th>passed</th><th>failed</th><th class="l"></th></tr>'
    return f"<h2>Tests</h2><table>{head}{''.join(rows)}</table>"


def _mistakes(reports: Sequence[Report]) -> str:
    """Messages that several submissions have, numbers aside; the most frequent first."""
    found: dict[str, dict[str, TestReport]] = {}
    for r in reports:
        for t in r.tests:
            if not t.passed and t.message:
                found.setdefault(_kind(t.message), {}).setdefault(r.name, t)
    shared = sorted((who for who in found.values() if len(who) > 1), key=len, reverse=True)
    parts = []
    for who in shared:
        first = next(iter(who.values()))
        parts.append(
            f"<details><summary>{len(who)} submissions: {escape(first.message.splitlines()[0][:160])}</summary>"
            f"<p>{escape(', '.join(who))}</p><pre>{escape(words(first))}</pre></details>"
        )
    return f"<h2>Shared mistakes</h2>{''.join(parts) or '<p>No two submissions have the same message.</p>'}"


def _kind(message: str) -> str:
    """A message less what differs between submissions that make one mistake."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", message.splitlines()[0])


def _students(reports: Sequence[Report], pages: Mapping[tuple[str, str], str]) -> str:
    """A row for each submission, with a cell for each test."""
    names = [t.name for t in reports[0].tests] if reports else []
    head = '<tr><th class="l">name</th><th>points</th>' + "".join(f"<th>{escape(n)}</th>" for n in names) + "</tr>"
    rows = []
    for r in reports:
        cells = "".join(_cell(t, pages.get((r.name, t.name))) for t in r.tests)
        rows.append(f'<tr><td class="l">{escape(r.name)}</td><td>{points(r.score)}</td>{cells}</tr>')
    return f"<h2>Submissions</h2><table>{head}{''.join(rows)}</table>"


def _cell(t: TestReport, page: str | None) -> str:
    """The points of a test, with a link to the page that plays it."""
    link = "" if page is None else f' <a href="{escape(page, quote=True)}" title="play it">&#9656;</a>'
    return f'<td{"" if t.passed else " class=bad"} title="{escape(words(t)[:300])}">{points(t.earned)}{link}</td>'
