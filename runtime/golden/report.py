"""Results for people, for CI systems and for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.etree import ElementTree

from ..reports.drawn.xml import xml_text
from .execute import Result


def summary(results: Sequence[Result], seconds: float) -> str:
    """`12 passed, 1 failed in 0.3 s`."""
    failed = sum(not r.passed for r in results)
    aside = sum(bool(r.outcome) for r in results)
    updated = sum(r.updated for r in results)
    parts = [f"{len(results) - failed - aside} passed"]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{updated} updated"] if updated else []
    for outcome, words in (("skipped", "skipped"), ("xfailed", "failed as expected")):
        n = sum(r.outcome == outcome for r in results)
        parts += [f"{n} {words}"] if n else []
    return f"{', '.join(parts)} in {seconds:.1f} s"


def failure(r: Result) -> str:
    """One failure: where, and what."""
    place = f"{r.path}:{r.line}" if r.line else r.path
    return f"FAILED {r.id}\n  {place}\n" + "\n".join(f"  {line}" for line in r.message.splitlines())


def as_json(results: Sequence[Result], seconds: float) -> str:
    """One JSON object."""
    rows = [
        {"id": r.id, "file": r.path, "line": r.line, "passed": r.passed, "seconds": round(r.seconds, 6), "message": r.message,
         "updated": r.updated, "outcome": r.outcome or ("passed" if r.passed else "failed")} for r in results
    ]  # fmt: skip
    failed = sum(not r.passed for r in results)
    return json.dumps({"passed": len(results) - failed, "failed": failed, "seconds": round(seconds, 3), "tests": rows}, indent=2)


def as_junit(results: Sequence[Result], seconds: float) -> str:
    """JUnit's XML, which every CI system reads."""
    failed = sum(not r.passed for r in results)
    aside = sum(bool(r.outcome) for r in results)
    suite = ElementTree.Element(
        "testsuite",
        name="warplab",
        tests=str(len(results)),
        failures=str(failed),
        errors="0",
        skipped=str(aside),
        time=f"{seconds:.3f}",
    )
    for r in results:
        path, _, name = r.id.rpartition("::")
        case = ElementTree.SubElement(suite, "testcase", classname=path, name=name, file=r.path, line=str(r.line), time=f"{r.seconds:.4f}")
        if r.outcome:
            ElementTree.SubElement(case, "skipped", message=xml_text(r.message))
        if not r.passed:
            first = r.message.splitlines()[0] if r.message else ""
            ElementTree.SubElement(case, "failure", message=xml_text(first)).text = xml_text(r.message)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
