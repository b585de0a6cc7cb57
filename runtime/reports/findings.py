"""Findings of the checkers for other readers: SARIF for code review, JUnit's XML for CI, and a page of HTML."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

from warplab.interpreter.checkers.findings import Finding, as_json, as_text, paragraph

from .drawn import svg
from .drawn.xml import xml_text
from .page.html import PAGE_STYLE

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


FINDS = {
    "memcheck": "An access that memory refuses, a wrong free, or memory that stays allocated.",
    "initcheck": "A use of a value that nothing has set.",
    "racecheck": "Accesses of two threads to the same memory that nothing orders.",
    "synccheck": "An invalid use of barriers, membermasks or mbarriers, or threads that wait for each other.",
}
Place = tuple[int, int, int]  # launch, step and lane in the player


def rendered(findings: Sequence[Finding], form: str, file: str, limit: int = 0, suppressed: int = 0) -> str:
    """In the form that was asked for: text (of at most `limit` findings, 0: all), json, html, sarif or junit."""
    if form == "text":
        return as_text(findings, limit, suppressed)
    if form == "json":
        return json.dumps(as_json(findings), indent=2)
    return {"html": as_html, "sarif": as_sarif, "junit": as_junit}[form](findings, file)


def as_sarif(findings: Sequence[Finding], file: str) -> str:
    """SARIF 2.1.0: a result for each finding, at its line of the PTX file; the other access is a related location."""
    rules = {(f.tool, f.kind): f for f in reversed(findings)}
    run = {
        "tool": {"driver": {"name": "warplab", "version": _version(), "rules": [_rule(rules[key]) for key in sorted(rules)]}},
        "results": [_result(f, file) for f in findings],
    }
    return json.dumps({"$schema": SARIF, "version": "2.1.0", "runs": [run]}, indent=2)


def _version() -> str:
    try:
        return version("warplab")
    except PackageNotFoundError:  # from a folder that is not installed
        return "0"


def _rule(f: Finding) -> dict[str, Any]:
    """What readers of SARIF show beside all results of one kind."""
    return {
        "id": f"{f.tool}/{f.kind}", "name": f.kind, "shortDescription": {"text": f"{f.kind} ({f.tool})"},
        "fullDescription": {"text": FINDS[f.tool]}, "help": {"text": f.help or FINDS[f.tool]},
    }  # fmt: skip


def _result(f: Finding, file: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": f"{f.tool}/{f.kind}",
        "level": "error" if f.severity == "error" else "note",
        "message": {"text": "\n".join(line.strip() for line in paragraph(f))},
        "locations": [_location(file, f.line)],
        "occurrenceCount": f.count,
    }
    if f.other_line is not None:
        result["relatedLocations"] = [{**_location(file, f.other_line), "message": {"text": f.other_instruction}}]
    return result


def _location(file: str, line: int | None) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": file}}
    if line is not None:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}


def as_junit(findings: Sequence[Finding], file: str) -> str:
    """JUnit's XML: a test case for the file, with a failure for each error."""
    errors = [f for f in findings if f.severity == "error"]
    suite = ElementTree.Element("testsuite", name="warplab sanitize", tests="1", failures=str(min(len(errors), 1)), errors="0")
    case = ElementTree.SubElement(suite, "testcase", classname="sanitize", name=file, file=file)
    for f in errors:
        failure = ElementTree.SubElement(case, "failure", type=f.kind, message=xml_text(f"{f.kind} at line {f.line}: {f.message}"))
        failure.text = xml_text("\n".join(paragraph(f)))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def as_html(
    findings: Sequence[Finding], file: str, places: Mapping[Finding, Place] | None = None, tabs: Callable[[str, str], str] | None = None
) -> str:
    """One page: the findings of each tool, each with all that the text says, and a link to its step where a player stands beside them."""
    parts = [f"<h1>{escape(file)}</h1><p>{escape(as_text(findings).splitlines()[-1].lstrip('= '))}</p>"]
    for tool, group in groupby(sorted(findings, key=lambda f: f.tool), key=lambda f: f.tool):
        parts.append(f"<h2>{tool}</h2>")
        for f in group:
            head, *rest = paragraph(f)
            words = "\n".join(line.strip() for line in rest)
            place = (places or {}).get(f)
            link = f'<p><a href="#launch={place[0]}&amp;step={place[1]}&amp;lane={place[2]}">open at the step</a></p>' if place else ""
            parts.append(f"<details open><summary><b>{escape(head)}</b></summary><pre>{escape(words)}</pre>{link}</details>")
    body = f'<div class="wl">{"".join(parts)}</div>'
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>warplab sanitize: {escape(file)}</title>'
        f"<style>body {{ margin: 0; background: var(--page); }}{svg.STYLE}{PAGE_STYLE}</style></head>"
        f"<body>{tabs('Findings', body) if tabs is not None else body}</body></html>\n"
    )
