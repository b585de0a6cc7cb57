"""From paths to test cases: every .ptx and .cu with `//@` directives, a .toml beside it or `// RUN:` lines, and every .litmus, by their names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warplab.assembler.diagnostics import PtxError

from ..errors import UsageError
from ..litmus.herd.parse import parse as parse_herd
from ..litmus.herd.program import HerdTest
from ..run.runspec import from_toml, located
from ..sources import CPP
from .directives import RunCheck, Verdict, read

_RUN_LINE = re.compile(r"^\s*//\s*RUN:\s*(.+?)\s*$")
_CHECK_LINE = re.compile(r"^[ \t]*//[ \t]*CHECK(?:-\w+)*:", re.M)
SUFFIXES = (".ptx", CPP)  # of files that hold tests
HERD = ".litmus"  # of a file that is one
_SKIP = frozenset({"__pycache__", ".git", ".venv", "build", "dist", "node_modules"})


@dataclass(frozen=True, slots=True)
class Tool:
    """A `// RUN:` line: what is called, and what its output is held against."""

    words: str
    line: int


@dataclass(frozen=True, slots=True)
class Broken:
    """Directives that can't be read."""

    message: str


class Failed(Exception):
    """The case does not hold; the text says why, `output` is all that a tool printed."""

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


@dataclass(frozen=True, slots=True)
class Case:
    """One test: a run, all verdicts of the assembler on a file, one RUN line, or a litmus test of herd's format."""

    path: Path
    text: bytes
    what: RunCheck | tuple[Verdict, ...] | Tool | HerdTest | Broken
    name: str

    @property
    def id(self) -> str:
        """`samples/vecadd.ptx::run1`."""
        return f"{self.path.as_posix()}::{self.name}"

    def told(self, fmad: str | None = None, schedules: int | None = None) -> Case:
        """See RunCheck."""
        return replace(self, what=self.what.told(fmad, schedules)) if isinstance(self.what, RunCheck) else self

    @property
    def line(self) -> int:
        """Where in the file the test stands."""
        match self.what:
            case RunCheck(spec=spec):
                return spec.line
            case Tool(line=line):
                return line
            case tuple(verdicts) if verdicts:
                return verdicts[0].at
            case _:
                return 0


def files_of(paths: Sequence[str | Path]) -> Iterator[Path]:
    """The files of tests that paths name, folders with all below them."""
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found: list[Path] = []
            for folder, below, names in os.walk(path):
                below[:] = [name for name in below if name not in _SKIP]
                found += [Path(folder, name) for name in names if name.endswith((*SUFFIXES, HERD))]
            yield from sorted(found)
        elif path.is_file():
            beside = [p for p in map(path.with_suffix, SUFFIXES) if p.is_file()] if path.suffix == ".toml" else []
            yield from beside or [path.with_suffix(".ptx") if path.suffix == ".toml" else path]
        else:
            raise UsageError(f"{path}: no such file or folder")


def cases_of(path: Path) -> list[Case]:
    """The tests of one file."""
    data = path.read_bytes()
    text = data.decode(errors="replace")
    if path.suffix == HERD:
        return [Case(path, data, _herd(text, path), "litmus")]
    beside = path.with_suffix(".toml")
    out = [Case(path, data, t, f"tool{n}") for n, t in enumerate(_tools(text), 1)]
    if not out and (lost := _CHECK_LINE.search(text)):
        line = text.count("\n", 0, lost.start()) + 1
        message = f"line {line}: there are CHECK lines and no RUN line: write // RUN: warplab COMMAND %s, or the command that prints what they check"
        out.append(Case(path, data, Broken(message), "tool1"))
    has_toml = beside.is_file()
    if "//@" not in text and not has_toml:
        return out
    try:
        found = read(text, from_toml(beside), beside.read_text(encoding="utf-8")) if has_toml else read(text)
    except UsageError as e:
        return [Case(path, data, Broken(str(e)), "directives")]
    if found.verdicts:
        out.append(Case(path, data, found.verdicts, "check"))
    out += [Case(path, data, replace(run, spec=located(run.spec, path.parent)), f"run{run.number}") for run in found.runs]
    return out


def _herd(text: str, path: Path) -> HerdTest | Broken:
    try:
        return parse_herd(text, path.as_posix())
    except PtxError as e:
        return Broken(str(e))


def _tools(text: str) -> list[Tool]:
    """The RUN lines; one that ends with a backslash goes on in the next."""
    out: list[Tool] = []
    if "RUN:" not in text:
        return out
    for n, line in enumerate(text.splitlines(), 1):
        if m := _RUN_LINE.match(line):
            if out and out[-1].words.endswith("\\"):
                out[-1] = Tool(f"{out[-1].words[:-1]} {m[1]}", out[-1].line)
            else:
                out.append(Tool(m[1], n))
    return out


def collect(paths: Sequence[str | Path], keyword: str = "") -> list[Case]:
    """All tests of files and folders; `keyword` must occur in their names, or with `not ` in front must not."""
    out = [case for path in dict.fromkeys(files_of(paths)) for case in cases_of(path)]
    if keyword.startswith("not "):
        return [c for c in out if keyword[4:].strip() not in c.id]
    return [c for c in out if keyword in c.id] if keyword else out
