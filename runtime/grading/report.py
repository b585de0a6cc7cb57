"""What came of a submission, and how CI systems, Gradescope and people read it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree

from ..reports.drawn.xml import xml_text

LONGEST = 4000  # characters of one message
WIDEST = 200  # characters of one line
_AT = re.compile(r"--> (?P<file>.+?):(?P<line>\d+):|\bat line (?P<other>\d+)\b")


@dataclass(frozen=True, slots=True)
class TestReport:
    """One test on one submission."""

    name: str
    points: float
    earned: float
    hidden: bool
    passed: bool
    message: str = ""
    hint: str = ""
    seconds: float = 0.0
    ended: str = ""  # why the grader ended the process: time, memory, crash

    __test__ = False  # no test of pytest's


@dataclass(frozen=True, slots=True)
class Report:
    """All tests on one submission, in the order of the lab."""

    name: str
    tests: tuple[TestReport, ...]
    path: str = ""  # of what was handed in

    @property
    def score(self) -> float:
        """The points that were earned."""
        return sum(t.earned for t in self.tests)

    @property
    def total(self) -> float:
        """The points there are."""
        return sum(t.points for t in self.tests)

    @property
    def passed(self) -> bool:
        """Did every test pass?"""
        return all(t.passed for t in self.tests)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "score": self.score, "total": self.total, "tests": [asdict(t) for t in self.tests]}


def points(x: float) -> str:
    """Without a useless .0."""
    return f"{x:g}"


def words(t: TestReport) -> str:
    """The message and the hint."""
    lines = [line if len(line) <= WIDEST else line[: WIDEST - 4] + " ..." for line in t.message.split("\n")]
    text = "\n".join(lines)
    text = text if len(text) <= LONGEST else text[:LONGEST] + "\n..."
    return text + (f"\nhint: {t.hint}" if t.hint and not t.passed else "")


def once(r: Report, show_hidden: bool = True) -> Iterator[tuple[TestReport, str]]:
    """Each failed test with what is to be said of it; a message that an earlier test has, as of a syntax error, is not repeated."""
    said: dict[str, str] = {}
    for t in r.tests:
        if t.passed:
            continue
        if t.hidden and not show_hidden:
            yield t, "failed"
        elif t.message and t.message in said:
            yield t, f"same failure as in test {said[t.message]!r}"
        else:
            said[t.message] = t.name
            yield t, words(t)


def as_text(reports: Sequence[Report]) -> str:
    """A table, and what failed in a single submission."""
    width = max([len(r.name) for r in reports], default=4)
    lines = [f"{'name'.ljust(width)}  score  failed"]
    for r in reports:
        failed = ", ".join(t.name for t in r.tests if not t.passed)
        lines.append(f"{r.name.ljust(width)}  {f'{points(r.score)}/{points(r.total)}':>5}  {failed or '-'}")
    if len(reports) == 1:
        said = {t.name: text for t, text in once(reports[0])}
        for t in reports[0].tests:
            mark = "ok    " if t.passed else "FAILED"
            lines.append(f"\n{mark} {t.name} ({points(t.earned)}/{points(t.points)}){' hidden' if t.hidden else ''}")
            lines += [f"  {line}" for line in said.get(t.name, "").splitlines()]
    return "\n".join(lines)


def as_json(reports: Sequence[Report]) -> str:
    """Everything."""
    return json.dumps([r.to_json() for r in reports], indent=2)


def as_gradescope(reports: Sequence[Report]) -> str:
    """results.json of Gradescope's autograder; hidden tests stay hidden from the student."""

    def one(r: Report) -> dict[str, Any]:
        said = {t.name: text for t, text in once(r)}
        tests = [
            {
                "name": t.name, "score": t.earned, "max_score": t.points, "status": "passed" if t.passed else "failed", "output": said.get(t.name, words(t)),
                "visibility": "hidden" if t.hidden else "visible",
            } for t in r.tests
        ]  # fmt: skip
        return {"score": r.score, "tests": tests}

    return json.dumps(one(reports[0]) if len(reports) == 1 else {r.name: one(r) for r in reports}, indent=2)


def as_junit(reports: Sequence[Report]) -> str:
    """JUnit's XML: a suite a submission."""
    root = ElementTree.Element("testsuites")
    for r in reports:
        failed = sum(not t.passed for t in r.tests)
        suite = ElementTree.SubElement(root, "testsuite", name=xml_text(r.name), tests=str(len(r.tests)), failures=str(failed), errors="0")
        for t in r.tests:
            case = ElementTree.SubElement(suite, "testcase", classname=xml_text(r.name), name=xml_text(t.name), time=f"{t.seconds:.3f}")
            if not t.passed:
                ElementTree.SubElement(case, "failure", message=xml_text(t.message.split("\n")[0])).text = xml_text(words(t))
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True)


def as_github(reports: Sequence[Report]) -> str:
    """Annotations of GitHub Actions, at the file and line that the message names; hidden tests show their name alone."""
    out = []
    for r in reports:
        for t, text in once(r, show_hidden=False):
            place = _place(r, "" if t.hidden else t.message)
            out.append(f"::error {place}title={_escaped(f'{r.name}: {t.name}', True)}::{_escaped(f'{t.name}: {text}')}")
        out.append(f"::notice title={_escaped(r.name, True)}::{points(r.score)} of {points(r.total)} points")
    return "\n".join(out)


def _place(r: Report, message: str) -> str:
    """`file=...,line=...,` of a message."""
    if not r.path:
        return ""
    found = _AT.search(message)
    file, line = r.path, ""
    if found is not None:
        line = found["line"] or found["other"]
        if not file.endswith(".ptx") and found["file"]:  # a folder of several files
            file = f"{file}/{found['file'].rpartition('/')[2]}"
    return f"file={_escaped(file, True)},{f'line={line},' if line else ''}"


def _escaped(text: str, title: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if title else text


def as_markdown(reports: Sequence[Report]) -> str:
    """A page for the student: what was earned, and for visible tests why not; of hidden tests the name alone."""
    out = []
    for r in reports:
        out += [f"## {r.name}: {points(r.score)} of {points(r.total)}", "", "| test | points | |", "|---|---|---|"]
        out += [f"| {t.name} | {points(t.earned)} / {points(t.points)} | {'passed' if t.passed else 'failed'} |" for t in r.tests]
        for t, text in once(r):
            if not t.hidden:
                out += ["", f"**{t.name}**", "", "```text", text.replace("```", "'''"), "```"]
        out.append("")
    return "\n".join(out).rstrip()


def as_csv(reports: Sequence[Report]) -> str:
    """A row a submission: name, score, total, then the points of each test."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", "score", "total", *(t.name for t in reports[0].tests)] if reports else ["name", "score", "total"])
    for r in reports:
        writer.writerow([r.name, points(r.score), points(r.total), *(points(t.earned) for t in r.tests)])
    return out.getvalue()


FORMATS: dict[str, Callable[[Sequence[Report]], str]] = {
    "text": as_text,
    "json": as_json,
    "gradescope": as_gradescope,
    "junit": as_junit,
    "github": as_github,
    "markdown": as_markdown,
    "csv": as_csv,
}
