"""A class as one HTML page: who has how many points, why tests fail, and who handed in the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from ...reports.drawn import svg
from ..report import Report, TestReport, once, points, words
from .alike import Alike
from .causes import Cause, cause_of
from .style import whole_page

BARS = 10  # of the histogram


@dataclass(frozen=True, slots=True)
class Beside:
    """What else is known of the submissions."""

    title: str = "Grades"
    plays: Mapping[tuple[str, str], str] = field(default_factory=dict)  # by submission and test: the page that plays what happened
    students: Mapping[str, str] = field(default_factory=dict)  # by submission: the student's own page
    alike: Sequence[Alike] = ()
    unchanged: Sequence[str] = ()  # handed in as they were handed out


def as_html(reports: Sequence[Report], beside: Beside | None = None) -> str:
    """The page; the tests are those of the first submission, for all have the same."""
    beside = beside or Beside()
    total = max((r.total for r in reports), default=0)
    full = sum(r.passed for r in reports)
    mean = sum(r.score for r in reports) / len(reports) if reports else 0
    tiles = [(len(reports), "submissions"), (full, "with all points"), (f"{mean:.1f} of {points(total)}", "points on average")]
    head = "".join(f'<div class="tile"><b>{value}</b><span>{name}</span></div>' for value, name in tiles)
    parts = [_histogram(reports, total), _tests(reports), _causes(reports), _alike(beside), _students(reports, beside), _reasons(reports)]
    return whole_page(f"Grades: {beside.title}", f'<h1>{escape(beside.title)}</h1><div class="tiles">{head}</div>{"".join(parts)}')


def _histogram(reports: Sequence[Report], total: float) -> str:
    """How many submissions have how many points; all points have a bar of their own."""
    if not reports or not total:
        return ""
    bars = [0] * (BARS + 1)
    for r in reports:
        bars[int(BARS * r.score / total + 1e-9)] += 1
    most, width, height = max(bars), 44, 110
    body = []
    for n, count in enumerate(bars):
        x, tall = 10 + n * width, height * count / most
        low, high = total * n / BARS, total * (n + 1) / BARS
        label = points(total) if n == BARS else f"{points(round(low, 1))}-"
        said = f"{count} with {points(round(low, 2))}" + ("" if n == BARS else f" to less than {points(round(high, 2))}") + " points"
        body.append(svg.box(x + 3, 20 + height - tall, width - 6, tall, "var(--good)", said))
        body.append(svg.text(x + width / 2, 20 + height + 15, label, "middle", soft=True))
        if count:
            body.append(svg.text(x + width / 2, 15 + height - tall, str(count), "middle"))
    body.append(f'<path class="axis" d="M10 {20 + height}H{10 + width * len(bars)}"/>')
    said = "; ".join(f"{count} from {points(round(total * n / BARS, 1))}" for n, count in enumerate(bars) if count)
    return f"<h2>Points</h2>{svg.svg(20 + width * len(bars), height + 44, ''.join(body), f'Submissions by points: {said}')}"


def _table(head: Sequence[tuple[str, str]], rows: Sequence[str]) -> str:
    """A table that a click on a head sorts; heads with their classes."""
    cells = "".join(f'<th class="{kind}" scope="col">{escape(name)}</th>' for name, kind in head)
    return f'<div class="scroll"><table class="grades"><thead><tr>{cells}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _tests(reports: Sequence[Report]) -> str:
    """Each test, and how many pass it."""
    rows = []
    for i, t in enumerate(reports[0].tests if reports else ()):
        passed = sum(r.tests[i].passed for r in reports)
        share = round(100 * passed / len(reports))
        hidden = " (hidden)" if t.hidden else ""
        rows.append(
            f'<tr><td class="l">{escape(t.name)}{hidden}</td><td>{points(t.points)}</td><td>{passed}</td><td>{len(reports) - passed}</td>'
            f'<td class="l" data-n="{share}"><span class="bar" style="width: {share}px"></span> {share} %</td></tr>'
        )
    return f"<h2>Tests</h2>{_table([('test', 'l'), ('points', ''), ('passed', ''), ('failed', ''), ('share', 'l')], rows)}"


def _causes(reports: Sequence[Report]) -> str:
    """What goes wrong, the most frequent first: in how many submissions, in whose, and an example."""
    found: dict[str, dict[str, TestReport]] = {}
    for r in reports:
        for t in r.tests:
            if (cause := cause_of(t)) is not None:
                found.setdefault(cause.kind, {}).setdefault(r.name, t)
    rows = []
    for kind, who in sorted(found.items(), key=lambda item: -len(item[1])):
        first = next(iter(who.values()))
        rows.append(
            f'<tr><td class="l">{escape(kind)}</td><td>{len(who)}</td><td class="l names">{escape(", ".join(who))}</td>'
            f'<td class="l names"><details><summary>{escape(first.name)}</summary>'
            f"<pre>{escape(words(first))}</pre></details></td></tr>"
        )
    head = [("cause", "l"), ("submissions", ""), ("whose", "l"), ("example", "l")]
    return f"<h2>Causes</h2>{_table(head, rows) if rows else '<p>All tests pass.</p>'}"


def _alike(beside: Beside) -> str:
    """Who handed in the same, whatever the layout, comments and names."""
    said = {"identical": "the same tokens", "renamed": "the same but for names", "similar": "similar"}
    rows = [
        f'<tr><td class="l names">{escape(", ".join(a.names))}</td><td data-n="{a.share:.4f}">{100 * a.share:.0f} %</td>'
        f'<td class="l">{said[a.how]}</td></tr>'
        for a in beside.alike
    ]
    table = _table([("submissions", "l"), ("share", ""), ("how", "l")], rows) if rows else "<p>No two submissions are alike.</p>"
    given = f"<p>Handed in as it was handed out: {escape(', '.join(beside.unchanged))}.</p>" if beside.unchanged else ""
    return f"<h2>Alike</h2>{table}{given}"


def _students(reports: Sequence[Report], beside: Beside) -> str:
    """A row for each submission, with a cell for each test: its points, and why it fails."""
    head = [("name", "l"), ("points", ""), *((t.name, "t") for t in (reports[0].tests if reports else ()))]
    rows = []
    for n, r in enumerate(reports):
        cells = "".join(_cell(t, beside.plays.get((r.name, t.name))) for t in r.tests)
        place = beside.students.get(r.name) or (f"#s{n}" if not r.passed else "")
        name = f'<a href="{escape(place, quote=True)}">{escape(r.name)}</a>' if place else escape(r.name)
        rows.append(f'<tr><td class="l">{name}</td><td data-n="{r.score}">{points(r.score)}</td>{cells}</tr>')
    return f"<h2>Submissions</h2>{_table(head, rows)}"


def _cell(t: TestReport, page: str | None) -> str:
    """The points of a test, why it fails, and a link to the page that plays it."""
    link = "" if page is None else f' <a class="screen" href="{escape(page, quote=True)}" title="play it">&#9656;</a>'
    cause = cause_of(t)
    why = "" if cause is None else f"<small>{escape(str(cause))}</small>"
    return f'<td{"" if t.passed else " class=bad"} data-n="{t.earned}">{points(t.earned)}{link}{why}</td>'


def _reasons(reports: Sequence[Report]) -> str:
    """The messages of each submission that fails a test."""
    parts = []
    for n, r in enumerate(reports):
        if r.passed:
            continue
        kinds = Counter(cause.kind for t in r.tests if (cause := cause_of(t)) is not None)
        inner = "".join(f"<h3>{escape(t.name)}: {_why(t)}</h3><pre>{escape(text)}</pre>" for t, text in once(r))
        said = f"{points(r.score)} of {points(r.total)}; {', '.join(kinds)}"
        parts.append(f'<details id="s{n}"><summary>{escape(r.name)}: {escape(said)}</summary>{inner}</details>')
    return f"<h2>Reasons</h2>{''.join(parts) or '<p>All submissions have all points.</p>'}"


def _why(t: TestReport) -> str:
    return escape(str(cause_of(t) or Cause("passed")))
