"""What a file says about itself: `//@` lines as frozen values, each with the line it stands on.

//@ run OPTIONS                     one run; the options are those of `warplab run`
//@ fault "text"                    the run above ends in a fault whose report holds the text
//@ metric sectors_per_request <= 4 a budget on a counter of the run above
//@ prints "text"                   what the kernel prints, with \\n for the end of a line
//@ golden [NAME ...]               buffers of the run above that NAME.golden.npz holds (all, where no name stands)
//@ golden c = [1, 2, 3]            a small buffer, recorded in place
//@ error 12: "text"                the assembler reports an error in line 12; +1 and -1 count from here; `error "text"` behind an
                                    instruction means its own line; `warning` likewise; `error[code]` names the code word as well
Lines before the first `run` belong to every run of the file, those of a .toml beside it included.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from ..errors import UsageError
from ..runspec import RunSpec, directives

_LINE = re.compile(r"//@\s*(?P<word>[a-z]+)(?P<rest>.*)$")
_VERDICT = re.compile(r'^(?:\[(?P<code>[\w-]+)\])?\s*(?P<at>[-+]?\d+)?\s*:?\s*(?P<text>"(?:[^"\\]|\\.)*")?\s*$')
WORDS = ("run", "fault", "metric", "prints", "golden", "error", "warning")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding that the assembler should report."""

    severity: str
    line: int
    code: str
    text: str
    at: int  # the directive's own line


@dataclass(frozen=True, slots=True)
class Golden:
    """A buffer whose contents are recorded: in the file itself (values), or in the .npz beside it (None)."""

    name: str
    values: str | None
    at: int


@dataclass(frozen=True, slots=True)
class RunCheck:
    """One run and everything that should hold of it."""

    spec: RunSpec
    number: int  # from 1
    faults: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    prints: str | None = None
    goldens: tuple[Golden, ...] = ()


@dataclass(frozen=True, slots=True)
class Directives:
    """All that a file says."""

    runs: tuple[RunCheck, ...]
    verdicts: tuple[Verdict, ...]


def has_directives(text: str) -> bool:
    """Is there any `//@` line?"""
    return "//@" in text


def read(text: str, beside: list[RunSpec] | None = None) -> Directives:
    """The directives of a text; `beside` are the runs of its .toml, which take the place of its own."""
    specs = directives(text) if beside is None else beside
    found: list[tuple[int, str, str]] = []
    verdicts = []
    for n, line in enumerate(text.splitlines(), 1):
        m = _LINE.search(line) if "//@" in line else None
        if m is None:
            continue
        word, rest = m["word"], m["rest"].strip()
        if word not in WORDS:
            raise UsageError(f"line {n}: no directive is called {word!r}; there are {' '.join(WORDS)}")
        if word in ("error", "warning"):
            verdicts.append(_verdict(word, rest, n))
        elif word != "run":
            found.append((n, word, rest))
    runs = []
    for number, spec in enumerate(specs, 1):
        later = [s.line for s in specs if s.line > spec.line]
        until = min(later, default=1 << 60) if beside is None else 1 << 60
        first = specs[0].line if beside is None else 0
        own = [d for d in found if d[0] < first or spec.line < d[0] < until]
        runs.append(_run(spec, number, own))
    if found and not runs:
        raise UsageError(f"line {found[0][0]}: //@ {found[0][1]} belongs to a run, and the file has none")
    return Directives(tuple(runs), tuple(verdicts))


def _run(spec: RunSpec, number: int, own: list[tuple[int, str, str]]) -> RunCheck:
    faults, metrics, goldens = [], [], []
    prints: str | None = None
    for n, word, rest in own:
        if word == "fault":
            faults.append(_text(rest, n))
        elif word == "metric":
            metrics.append(rest)
        elif word == "prints":
            prints = (prints or "") + _text(rest, n)
        else:
            goldens += _goldens(rest, n)
    return RunCheck(spec, number, tuple(faults), tuple(metrics), prints, tuple(goldens))


def _goldens(rest: str, n: int) -> list[Golden]:
    name, equals, values = rest.partition("=")
    if equals:
        return [Golden(name.strip(), values.strip(), n)]
    return [Golden(name, None, n) for name in rest.replace(",", " ").split()] or [Golden("", None, n)]


def _verdict(word: str, rest: str, n: int) -> Verdict:
    m = _VERDICT.match(rest)
    if m is None:
        raise UsageError(f'line {n}: //@ {word} {rest}: write //@ {word} 12: "text", //@ {word} +1: "text" or //@ {word}[code]')
    at = m["at"]
    line = n if at is None else n + int(at) if at[0] in "+-" else int(at)
    return Verdict(word, line, m["code"] or "", _text(m["text"], n) if m["text"] else "", n)


def _text(quoted: str, n: int) -> str:
    try:
        value = ast.literal_eval(quoted)
    except (ValueError, SyntaxError):
        value = None
    if not isinstance(value, str):
        raise UsageError(f'line {n}: {quoted!r} is no "text"')
    return value
