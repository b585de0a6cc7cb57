"""What a file says about itself: `//@` lines as frozen values, each with the line it stands on.

//@ run OPTIONS                     one run; the options are those of `warplab run`
//@ fault "text"                    the run above ends in a fault whose report holds the text
//@ metric sectors_per_request <= 4 a budget on a counter of the run above
//@ prints "text"                   what the kernel prints, with \\n for the end of a line
//@ golden [NAME ...]               buffers of the run above that NAME.golden.npz holds (all, where no name stands)
//@ golden c = [1, 2, 3]            a small buffer, recorded in place
//@ allows r0=1 r1=0               some execution of the run above ends so, as the memory model says; `forbids`: none does
//@ error 12: "text"                the assembler reports an error in line 12; +1 and -1 count from here; `error "text"` behind an
                                    instruction means its own line; `warning` likewise; `error[code]` names the code word as well
Lines before the first `run` belong to every run of the file, those of a .toml beside it included.  The .toml has directives of its own, for
compilers overwrite the .ptx: `#@ metric ...`, `#@ fault ...`, `#@ prints ...` and `#@ golden ...`, of the [[run]] above them, or of all.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ..errors import UsageError
from ..litmus.conditions import WORDS as CONDITIONS
from ..litmus.conditions import OutcomeCondition, condition
from ..run.runspec import RunSpec, directives

_LINE = re.compile(r"//@\s*(?P<word>[A-Za-z]\w*)(?P<rest>.*)$")
_BESIDE = re.compile(r"^\s*#@\s*(?P<word>[a-z]+)(?P<rest>.*)$")
_RUN_TABLE = re.compile(r"^\s*\[\[\s*run\s*\]\]")
_VERDICT = re.compile(r'^(?:\[(?P<code>[\w-]+)\])?\s*(?P<at>[-+]?\d+)?\s*:?\s*(?P<text>"(?:[^"\\]|\\.)*")?\s*$')
WORDS = ("run", "fault", "metric", "prints", "golden", "error", "warning", *CONDITIONS)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding that the assembler should report."""

    severity: str
    line: int
    code: str
    text: str
    at: int  # the directive's own line


@dataclass(frozen=True, slots=True)
class Place:
    """Where a directive stands: a line of the .ptx, or of the .toml beside it."""

    line: int
    beside: bool = False


@dataclass(frozen=True, slots=True)
class Golden:
    """A buffer whose contents are recorded: in the file itself (values), or in the .npz beside it (None)."""

    name: str
    values: str | None
    at: Place


@dataclass(frozen=True, slots=True)
class RunCheck:
    """One run and everything that should hold of it."""

    spec: RunSpec
    number: int  # from 1
    faults: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    prints: str | None = None
    goldens: tuple[Golden, ...] = ()
    prints_at: tuple[Place, ...] = ()
    conditions: tuple[OutcomeCondition, ...] = ()  # of a litmus test

    def told(self, fmad: str | None = None, schedules: int | None = None) -> RunCheck:
        """The same, with what a command line says of runs that do not say it themselves."""
        spec = self.spec
        own = spec.schedules or (None if spec.schedule is not None else schedules)
        return replace(self, spec=replace(spec, fmad=spec.fmad or fmad or "", schedules=own))


@dataclass(frozen=True, slots=True)
class Directives:
    """All that a file says."""

    runs: tuple[RunCheck, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    at: Place
    word: str
    rest: str
    run: int = 0  # the number of the run that it belongs to, 0 for all; of a .toml


def read(text: str, beside: list[RunSpec] | None = None, beside_text: str = "") -> Directives:
    """The directives of a text; `beside` are the runs of its .toml, which take the place of its own, `beside_text` is what stands there."""
    specs = directives(text) if beside is None else beside
    found: list[_Found] = []
    verdicts = []
    for n, line in enumerate(text.splitlines(), 1):
        m = _LINE.search(line) if "//@" in line else None
        if m is None:
            continue
        word, rest = m["word"], m["rest"].strip()
        if word not in WORDS:
            near = get_close_matches(word.lower(), WORDS, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"line {n}: no directive is called {word!r}{meant} (the directives: {' '.join(WORDS)})")
        if word in ("error", "warning"):
            verdicts.append(_verdict(word, rest, n))
        elif word != "run":
            found.append(_Found(Place(n), word, rest))
    if beside is not None:
        found += _beside(beside_text)
    runs = []
    for number, spec in enumerate(specs, 1):
        later = [s.line for s in specs if s.line > spec.line]
        until = min(later, default=1 << 60) if beside is None else 1 << 60
        first = specs[0].line if beside is None else 0
        own = [
            d for d in found
            if (d.run in (0, number) if d.at.beside else d.at.line < first or spec.line < d.at.line < until)
        ]  # fmt: skip
        runs.append(_run(spec, number, own))
    if found and not runs:
        raise UsageError(f"line {found[0].at.line}: //@ {found[0].word} belongs to a run, and the file has none")
    return Directives(tuple(runs), tuple(verdicts))


def _beside(text: str) -> list[_Found]:
    out, run = [], 0
    for n, line in enumerate(text.splitlines(), 1):
        run += _RUN_TABLE.match(line) is not None
        if m := _BESIDE.match(line):
            if m["word"] not in ("fault", "metric", "prints", "golden"):
                raise UsageError(f"line {n} of the .toml: #@ {m['word']}: there are #@ fault, metric, prints and golden")
            out.append(_Found(Place(n, True), m["word"], m["rest"].strip(), run))
    return out


def _run(spec: RunSpec, number: int, own: list[_Found]) -> RunCheck:
    faults, metrics, goldens, places, conditions = [], [], [], [], []
    prints: str | None = None
    for d in own:
        if d.word == "fault":
            faults.append(_text(d.rest, d.at.line))
        elif d.word == "metric":
            metrics.append(d.rest)
        elif d.word == "prints":
            prints = (prints or "") + _text(d.rest, d.at.line)
            places.append(d.at)
        elif d.word in CONDITIONS:
            conditions.append(condition(d.word, d.rest, d.at.line))
        else:
            goldens += _goldens(d.rest, d.at)
    return RunCheck(spec, number, tuple(faults), tuple(metrics), prints, tuple(goldens), tuple(places), tuple(conditions))


def _goldens(rest: str, at: Place) -> list[Golden]:
    name, equals, values = rest.partition("=")
    if equals:
        return [Golden(name.strip(), values.strip(), at)]
    return [Golden(name, None, at) for name in rest.replace(",", " ").split()] or [Golden("", None, at)]


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
        raise UsageError(f'line {n}: {quoted!r} is not a text in quotes, such as "text"')
    return value


def quoted(text: str) -> str:
    """A text as a directive writes it."""
    escaped = text.encode("unicode_escape").decode().replace('"', '\\"')
    return f'"{escaped}"'
