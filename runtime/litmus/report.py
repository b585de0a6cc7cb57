"""A litmus test's outcomes as a table for people, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..reports.tables import counted
from .explain import as_json as why_json
from .explain import as_text as why
from .judge import LitmusReport, SeenOutcome
from .picture import as_svg


def as_text(where: str, report: LitmusReport) -> str:
    """The outcomes, then the conditions."""
    rows = [(" ".join(f"{n}={v}" for n, v in zip(report.names, o.values, strict=True)), o) for o in report.outcomes]
    width = max((len(text) for text, _ in rows), default=0)
    lines = [f"{where}  {report.launch}: {counted(report.orders, 'order')}"]
    other = "not followed" if report.bounded else "FORBIDDEN"
    lines += [f"  {text:{width}}  {'allowed' if o.allowed else other}  {_seen(o)}" for text, o in rows]
    if not rows:
        lines.append("  no execution ends: a thread waits for a value that no thread stores")
    for n, (c, so) in enumerate(report.conditions):
        lines.append(f"  {'ok    ' if so else 'FAILED'} {c}" + ("" if so else f": the model {'forbids' if c.allows else 'allows'} it"))
        if report.explanations:
            lines += [f"    {line}" for line in why(report.explanations[n], report.name_of)]
    if report.escaped:
        lines.append("  warplab showed what the model forbids: please report this test")
    if report.unended:
        first = "the default order" if report.unended[0] is None else f"--schedule {report.unended[0]}"
        lines.append(f"  {counted(len(report.unended), 'order')} did not end, first {first}")
    if report.bounded:
        lines.append("  ways through loops with more loads than the model follows were left out")
    return "\n".join(lines)


def _seen(o: SeenOutcome) -> str:
    if not o.orders:
        return "not seen"
    first = "the default order" if o.schedule is None else f"--schedule {o.schedule}"
    return f"seen in {o.orders}, first in {first}" if o.schedule is None else f"seen in {o.orders}, first under {first}"


def as_json(file: str, line: int, report: LitmusReport) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "file": file, "line": line, "launch": report.launch, "orders": report.orders, "unended": list(report.unended),
        "bounded": report.bounded, "passed": report.passed,
        "outcomes": [{**asdict(o), "values": dict(zip(report.names, o.values, strict=True))} for o in report.outcomes],
        "conditions": [{"condition": str(c), "line": c.line, "holds": so} for c, so in report.conditions],
        **({"explanations": [why_json(x, report.name_of) for x in report.explanations]} if report.explanations else {}),
    }  # fmt: skip


def pictures(file: str, report: LitmusReport) -> list[str]:
    """The explanations as SVG."""
    whole = zip(report.conditions, report.explanations, strict=False)
    return [as_svg(x, report.name_of, f"{file} {c}") for (c, _), x in whole]
