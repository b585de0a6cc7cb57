"""What came of a litmus test of herd's format, for people and as JSON."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...reports.tables import counted
from ..explain import as_json as why_json
from ..explain import as_text as why
from ..picture import as_svg
from .judge import HerdReport, Outcome, name_of


def listed(report: HerdReport, outcome: Outcome) -> str:
    """An outcome: `x=1 P0:r1=0`."""
    return " ".join(f"{n}={v}" for n, v in zip(report.names, outcome, strict=True)) or "(no name)"


def as_text(where: str, report: HerdReport) -> str:
    """The outcomes that are allowed, then the condition."""
    test = report.test
    blocks, devices = ({getattr(t.where, word) for t in test.threads} for word in ("block", "device"))
    size = f"{counted(len(test.threads), 'thread')}, {counted(len(blocks), 'block')}, {counted(len(devices), 'device')}"
    lines = [f"{where}  {test.name}: {size}"]
    lines += [f"  {listed(report, o)}  allowed{f'  {test.condition.speaks}' if report.decides(o) else ''}" for o in report.outcomes]
    if not report.outcomes:
        lines.append("  no execution ends: a thread waits for a value or a barrier that never comes")
    lines.append(f"  {'ok    ' if report.passed else 'FAILED'} {report.condition}{verdict(report)}")
    if report.explanation is not None:
        lines += [f"    {line}" for line in why(report.explanation, partial(name_of, test))]
    if report.bounded:
        lines.append("  ways through loops with more loads than the model follows were left out")
    return "\n".join(lines)


def verdict(report: HerdReport) -> str:
    """Why a condition does not hold; nothing where it does."""
    if report.passed:
        return ""
    if report.deciding is None:
        return ": no execution that the model allows is so"
    return f": the model allows {listed(report, report.deciding)}"


def as_json(file: str, report: HerdReport) -> dict[str, Any]:
    """The same as plain values."""
    found = {
        "file": file, "name": report.test.name, "threads": len(report.test.threads), "bounded": report.bounded, "passed": report.passed,
        "outcomes": [{"values": dict(zip(report.names, o, strict=True)), "decides": report.decides(o)} for o in report.outcomes],
        "condition": str(report.condition),
    }  # fmt: skip
    if report.explanation is not None:
        found["explanation"] = why_json(report.explanation, partial(name_of, report.test))
    return found


def pictures(report: HerdReport) -> list[str]:
    """The explanation as SVG, if there is one."""
    if report.explanation is None:
        return []
    return [as_svg(report.explanation, partial(name_of, report.test), f"{report.test.name}: {report.condition}")]
