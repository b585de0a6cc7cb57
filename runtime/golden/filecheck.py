"""// CHECK: lines against the output of a tool, as LLVM's FileCheck reads them.

CHECK finds its text after the match before it; CHECK-NEXT in the next line, CHECK-SAME in the same one; CHECK-NOT between its neighbours
never; CHECK-DAG lines in any order; CHECK-EMPTY an empty line; CHECK-COUNT-n n times.  CHECK-LABEL lines are found first: the checks between
two of them match only the output between the two.  {{...}} is a regular expression, [[NAME:...]] names what one matched, [[NAME]] is that
text; numeric.py reads [[#...]].  CHECK{LITERAL} has none of these.  Runs of blanks count as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .filecheck_options import FileCheckOptions
from .numeric import Number, NumberFormat, NumericError, read_block

_KINDS = r"NEXT|SAME|NOT|DAG|EMPTY|LABEL|COUNT-[1-9]\d*"
_NAME = re.compile(r"\$?[A-Za-z_]\w*")
# POSIX classes of characters, which Python's regular expressions do not have
_CLASSES = {
    "alnum": "A-Za-z0-9", "alpha": "A-Za-z", "digit": "0-9", "lower": "a-z", "upper": "A-Z", "space": r"\s", "blank": r" \t",
    "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip
_CLASS = re.compile(rf"\[:({'|'.join(_CLASSES)}):\]")


@dataclass(frozen=True, slots=True)
class Check:
    """One CHECK line."""

    kind: str
    pattern: str
    line: int
    word: str = "CHECK"  # as it stands in the file: CHECK-NEXT{LITERAL}

    @property
    def literal(self) -> bool:
        """Is the pattern a text without anything special in it?"""
        return self.word.endswith("}")


@dataclass(slots=True)
class _Matching:
    """What the checks of a file share while they are held against an output."""

    options: FileCheckOptions
    names: dict[str, str | Number] = field(default_factory=dict)

    @property
    def nots(self) -> list[Check]:
        """The checks of --implicit-check-not, which apply everywhere."""
        return [Check("NOT", text, 0, f"--implicit-check-not={text}") for text in self.options.nots]


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


def checks_of(text: str, prefixes: Sequence[str] = ("CHECK",)) -> list[Check]:
    """The lines of a file that have one of the prefixes."""
    pattern = re.compile(rf"(?:^|\s)(?://|#|;)\s*((?:{_any(prefixes)})(?:-({_KINDS}))?(?:\{{LITERAL\}})?):[ \t]*(.*?)\s*$")
    return [Check(m[2] or "", m[3], n, m[1]) for n, line in enumerate(text.splitlines(), 1) if (m := pattern.search(line))]


def unknown_checks(text: str, prefixes: Sequence[str] = ("CHECK",)) -> Iterator[tuple[int, str]]:
    """Lines with a word that begins as a check does and is none, such as CHECK-NXET."""
    known = rf"(?:-(?:{_KINDS}))?(?:\{{LITERAL\}})?:"
    pattern = re.compile(rf"(?:^|\s)(?://|#|;)\s*((?:{_any(prefixes)})(?!{known})[-{{][\w{{}}-]*):")
    return ((n, m[1]) for n, line in enumerate(text.splitlines(), 1) if (m := pattern.search(line)))


def _any(prefixes: Sequence[str]) -> str:
    return "|".join(map(re.escape, prefixes))


def without_checks(output: str) -> str:
    """Output less the lines that are themselves RUN or CHECK comments, as a formatter repeats them."""
    return "".join(line for line in output.splitlines(True) if not re.match(r"\s*//\s*(RUN|[A-Z][A-Z0-9_]*(-[A-Z0-9]+)*):", line))


def match(checks: list[Check], output: str, options: FileCheckOptions | None = None) -> Failure | None:
    """The first check that does not hold."""
    before: Check | None = None
    for c in checks:
        if not c.pattern and c.kind != "EMPTY":
            return Failure(c, "there is nothing to look for: write {{.*}} for any text", 1)
        if c.kind in ("NEXT", "SAME", "EMPTY") and (before is None or before.kind == "NOT"):
            return Failure(c, "no line above says after which match", 1)
        before = c if c.kind != "NOT" or before is None else before
    options = options or FileCheckOptions()
    try:
        return _match(checks, output, _Matching(options, dict(options.names)))
    except _Unusable as unusable:
        return unusable.failure


def _match(checks: list[Check], output: str, m: _Matching) -> Failure | None:
    lines = [re.sub(r"[ \t]+", " ", line).rstrip() for line in output.splitlines()]
    text = "\n".join(lines) + "\n"
    blocks: list[tuple[int, list[Check]]] = [(0, [])]  # where each begins, at the line of its label
    at = 0
    for c in checks:
        if c.kind == "LABEL":
            found = _search(c, _Matching(m.options, dict(m.options.names)), text, at, len(text))
            if found is None:
                return Failure(c, "not found", _line(text, at))
            at = found.end()
            blocks.append((text.rfind("\n", 0, found.start()) + 1, []))
        blocks[-1][1].append(c)
    ends = [start for start, _ in blocks[1:]] + [len(text)]
    failures = (_match_block(own, m, text[:end], start) for (start, own), end in zip(blocks, ends, strict=True))
    return next((f for f in failures if f is not None), None)


def _match_block(checks: Sequence[Check], m: _Matching, text: str, at: int) -> Failure | None:
    """The first check that does not hold in the text from `at` on, where the match before ended."""
    end_of_dags = at
    nots = m.nots
    in_dags: list[tuple[int, int]] = []
    for c in [*checks, Check("END", "", 0)]:
        if c.kind == "NOT":
            nots.append(c)
            continue
        if c.kind == "DAG":
            start = at if len(nots) == len(m.options.nots) else max(at, end_of_dags)
            if len(nots) > len(m.options.nots):
                in_dags = []
            found = _search(c, m, text, start, len(text), in_dags)
            if found is None:
                return Failure(c, "not found", _line(text, start))
            if failed := _none(nots, m, text, max(at, end_of_dags), found.start()):
                return failed
            nots = m.nots
            in_dags.append(found.span())
            end_of_dags = max(end_of_dags, found.end())
            continue
        at = max(at, end_of_dags)
        in_dags = []
        if c.kind == "END":
            return _none(nots, m, text, at, len(text))
        span = _place(c, m, text, at)
        if isinstance(span, Failure):
            return span
        if failed := _none(nots, m, text, at, span[0]):
            return failed
        nots = m.nots
        at = end_of_dags = span[1]
    return None


def _place(c: Check, m: _Matching, text: str, at: int) -> tuple[int, int] | Failure:
    """Where a positive check matches."""
    line_end = text.find("\n", at)
    if c.kind == "EMPTY":
        if text[line_end + 1 : line_end + 2] == "\n":
            return line_end + 1, line_end + 1
        return Failure(c, "the next line is not empty", _line(text, at) + 1)
    if c.kind == "NEXT":
        next_end = text.find("\n", line_end + 1)
        found = _search(c, m, text, line_end + 1, max(next_end, line_end + 1))
        return found.span() if found else Failure(c, "not in the next line", _line(text, at) + 1)
    if c.kind == "SAME":
        found = _search(c, m, text, at, line_end)
        return found.span() if found else Failure(c, "not further on in the same line", _line(text, at))
    begin = -1
    for _ in range(int(c.kind.partition("-")[2]) if c.kind.startswith("COUNT") else 1):
        found = _search(c, m, text, at, len(text))
        if found is None:
            return Failure(c, "not found", _line(text, at))
        begin = found.start() if begin < 0 else begin
        at = found.end()
    return begin, at


def _none(nots: list[Check], m: _Matching, text: str, start: int, end: int) -> Failure | None:
    for c in nots:
        if found := _search(c, _Matching(m.options, dict(m.names)), text, start, end):
            return Failure(c, "found, and should not be", _line(text, found.start()))
    return None


def _search(c: Check, m: _Matching, text: str, start: int, end: int, taken: list[tuple[int, int]] | None = None) -> re.Match[str] | None:
    try:
        source, groups = _regex(c, m.names)
    except NumericError as e:
        raise _Unusable(Failure(c, str(e), _line(text, start))) from None
    if m.options.full_lines:
        source = rf"^ ?(?:{source}) ?$"
    for found in re.compile(source, re.M).finditer(text, start, end):
        if taken and any(a < found.end() and found.start() < b for a, b in taken):
            continue
        for name, (group, form) in groups.items():
            m.names[name] = Number(form.read(found[group]), form) if form else found[group]
        return found
    return None


def _regex(c: Check, names: dict[str, str | Number]) -> tuple[str, dict[str, tuple[str, NumberFormat | None]]]:
    """A check's text as a regular expression, and the groups that name something: texts, or numbers in a format."""
    out: list[str] = []
    groups: dict[str, tuple[str, NumberFormat | None]] = {}
    pattern = re.sub(r"[ \t]+", " ", c.pattern)
    if c.literal:
        return re.escape(pattern), groups
    for piece in re.split(r"(\{\{.*?\}\}|\[\[.*?\]\])", pattern):
        if piece.startswith("{{"):
            out.append(f"(?:{_CLASS.sub(lambda m: _CLASSES[m[1]], piece[2:-2])})")
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
                value = names.get(name)
                if value is None:
                    how = f"no line above reads {name}: [[{name}:REGEX]] does" if _NAME.fullmatch(name) else f"{piece} names no text"
                    raise NumericError(how)
                if isinstance(value, Number):
                    raise NumericError(f"{name} is a number: write [[#{name}]]")
                out.append(re.escape(value))
        else:
            out.append(re.escape(piece))
    return "".join(out), groups


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
