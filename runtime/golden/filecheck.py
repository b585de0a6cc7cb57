"""// CHECK: lines against the output of a tool, as LLVM's FileCheck reads them.

CHECK finds its text after the match before it; CHECK-NEXT in the next line, CHECK-SAME in the same one; CHECK-NOT between its neighbours
never; CHECK-DAG lines in any order; CHECK-EMPTY an empty line; CHECK-COUNT-n n times.  CHECK-LABEL lines are found first: the checks between
two of them match only the output between the two.  {{...}} is a regular expression, [[NAME:...]] names what one matched, [[NAME]] is that
text; numeric.py reads [[#...]].  Runs of blanks count as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .numeric import Number, NumberFormat, NumericError, read_block

_KINDS = r"NEXT|SAME|NOT|DAG|EMPTY|LABEL|COUNT-\d+"


@dataclass(frozen=True, slots=True)
class Check:
    """One CHECK line."""

    kind: str
    pattern: str
    line: int


@dataclass(frozen=True, slots=True)
class Failure:
    """The check that does not hold, and where in the output it was looked for."""

    check: Check
    reason: str
    output_line: int  # from 1


class _Unusable(Exception):
    """A check whose numbers cannot be computed."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def checks_of(text: str, prefix: str = "CHECK") -> list[Check]:
    """The CHECK lines of a file."""
    pattern = re.compile(rf"(?:^|\s)(?://|#|;)\s*{re.escape(prefix)}(?:-({_KINDS}))?:[ \t]*(.*?)\s*$")
    return [Check(m[1] or "", m[2], n) for n, line in enumerate(text.splitlines(), 1) if (m := pattern.search(line))]


def unknown_checks(text: str, prefix: str = "CHECK") -> Iterator[tuple[int, str]]:
    """Lines with a word that begins as a check does and is none, such as CHECK-NXET."""
    pattern = re.compile(rf"(?:^|\s)(?://|#|;)\s*({re.escape(prefix)}-(?!(?:{_KINDS}):)[\w-]+):")
    return ((n, m[1]) for n, line in enumerate(text.splitlines(), 1) if (m := pattern.search(line)))


def without_checks(output: str) -> str:
    """Output less the lines that are themselves RUN or CHECK comments, as a formatter repeats them."""
    return "".join(line for line in output.splitlines(True) if not re.match(r"\s*//\s*(RUN|[A-Z][A-Z0-9_]*(-[A-Z0-9]+)*):", line))


def match(checks: list[Check], output: str) -> Failure | None:
    """The first check that does not hold."""
    try:
        return _match(checks, output)
    except _Unusable as unusable:
        return unusable.failure


def _match(checks: list[Check], output: str) -> Failure | None:
    lines = [re.sub(r"[ \t]+", " ", line).rstrip() for line in output.splitlines()]
    names: dict[str, str | Number] = {}
    text = "\n".join(lines) + "\n"
    blocks: list[tuple[int, list[Check]]] = [(0, [])]  # where each begins, at the line of its label
    at = 0
    for c in checks:
        if c.kind == "LABEL":
            found = _search(c, {}, text, at, len(text))
            if found is None:
                return Failure(c, "not found", _line(text, at))
            at = found.end()
            blocks.append((text.rfind("\n", 0, found.start()) + 1, []))
        blocks[-1][1].append(c)
    ends = [start for start, _ in blocks[1:]] + [len(text)]
    failures = (_match_block(own, names, text[:end], start) for (start, own), end in zip(blocks, ends, strict=True))
    return next((f for f in failures if f is not None), None)


def _match_block(checks: Sequence[Check], names: dict[str, str | Number], text: str, at: int) -> Failure | None:
    """The first check that does not hold in the text from `at` on, where the match before ended."""
    end_of_dags = at
    nots: list[Check] = []
    in_dags: list[tuple[int, int]] = []
    for c in [*checks, Check("END", "", 0)]:
        if c.kind == "NOT":
            nots.append(c)
            continue
        if c.kind == "DAG":
            start = at if not nots else max(at, end_of_dags)
            if nots:
                in_dags = []
            found = _search(c, names, text, start, len(text), in_dags)
            if found is None:
                return Failure(c, "not found", _line(text, start))
            if failed := _none(nots, names, text, max(at, end_of_dags), found.start()):
                return failed
            nots = []
            in_dags.append(found.span())
            end_of_dags = max(end_of_dags, found.end())
            continue
        at = max(at, end_of_dags)
        in_dags = []
        if c.kind == "END":
            return _none(nots, names, text, at, len(text))
        span = _place(c, names, text, at)
        if isinstance(span, Failure):
            return span
        if failed := _none(nots, names, text, at, span[0]):
            return failed
        nots = []
        at = end_of_dags = span[1]
    return None


def _place(c: Check, names: dict[str, str | Number], text: str, at: int) -> tuple[int, int] | Failure:
    """Where a positive check matches."""
    line_end = text.find("\n", at)
    if c.kind == "EMPTY":
        if text[line_end + 1 : line_end + 2] == "\n":
            return line_end + 1, line_end + 1
        return Failure(c, "the next line is not empty", _line(text, at) + 1)
    if c.kind == "NEXT":
        next_end = text.find("\n", line_end + 1)
        found = _search(c, names, text, line_end + 1, max(next_end, line_end + 1))
        return found.span() if found else Failure(c, "not in the next line", _line(text, at) + 1)
    if c.kind == "SAME":
        found = _search(c, names, text, at, line_end)
        return found.span() if found else Failure(c, "not further on in the same line", _line(text, at))
    begin = -1
    for _ in range(int(c.kind.partition("-")[2]) if c.kind.startswith("COUNT") else 1):
        found = _search(c, names, text, at, len(text))
        if found is None:
            return Failure(c, "not found", _line(text, at))
        begin = found.start() if begin < 0 else begin
        at = found.end()
    return begin, at


def _none(nots: list[Check], names: dict[str, str | Number], text: str, start: int, end: int) -> Failure | None:
    for c in nots:
        if found := _search(c, dict(names), text, start, end):
            return Failure(c, "found, and should not be", _line(text, found.start()))
    return None


def _search(
    c: Check, names: dict[str, str | Number], text: str, start: int, end: int, taken: list[tuple[int, int]] | None = None
) -> re.Match[str] | None:
    try:
        source, groups = _regex(c, names)
    except NumericError as e:
        raise _Unusable(Failure(c, str(e), _line(text, start))) from None
    for found in re.compile(source, re.M).finditer(text, start, end):
        if taken and any(a < found.end() and found.start() < b for a, b in taken):
            continue
        for name, (group, form) in groups.items():
            names[name] = Number(form.read(found[group]), form) if form else found[group]
        return found
    return None


def _regex(c: Check, names: dict[str, str | Number]) -> tuple[str, dict[str, tuple[str, NumberFormat | None]]]:
    """A check's text as a regular expression, and the groups that name something: texts, or numbers in a format."""
    out: list[str] = []
    groups: dict[str, tuple[str, NumberFormat | None]] = {}
    pattern = re.sub(r"[ \t]+", " ", c.pattern)
    for piece in re.split(r"(\{\{.*?\}\}|\[\[.*?\]\])", pattern):
        if piece.startswith("{{"):
            out.append(f"(?:{piece[2:-2]})")
        elif piece.startswith(("[[#", "[[@LINE")):
            source, name, form = read_block(piece, names, c.line)
            if name:
                groups[name] = f"group_{len(groups)}", form
            out.append(f"(?P<{groups[name][0]}>{source})" if name else f"(?:{source})")
        elif piece.startswith("[["):
            name, colon, inner = piece[2:-2].partition(":")
            if colon:
                groups[name] = f"group_{len(groups)}", None
                out.append(f"(?P<{groups[name][0]}>{inner})")
            elif name in groups:
                out.append(f"(?P={groups[name][0]})")
            else:
                value = names.get(name, piece)
                if isinstance(value, Number):
                    raise NumericError(f"{name} is a number: write [[#{name}]]")
                out.append(re.escape(value))
        else:
            out.append(re.escape(piece))
    return "".join(out), groups


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
