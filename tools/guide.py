"""The CUDA guide made executable: what its sections say, a command that shows it, and what the command prints.  Makes docs/guide.

guide_rows/*.toml hold the statements, in our own words, with the numbers of the guide's sections; `shows` is what the output must hold.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warplab.runtime.golden.output import call

from .markdown import page, paragraph, table

ROOT = Path(__file__).parents[1]
ROWS = Path(__file__).parent / "guide_rows"
CHAPTERS = ("5", "B", "F")
SOURCE = "`tools/guide_rows`"
WIDTH = "100"  # of what commands print
PLACE = re.compile(r"/[^\s()]*/(?=samples/)")  # of this checkout, or of the folder from which a source was compiled first


@dataclass(frozen=True)
class Statement:
    """What a section says, and the command that shows it."""

    says: str
    run: str  # a command, after commands that prepare it on lines of their own
    shows: str  # a regular expression
    exit: int = 0
    today: str = ""  # where today's hardware differs

    def printed(self) -> str:
        """What the command prints; it holds what shows the statement."""
        *before, last = self.run.splitlines()
        for line in before:
            if _called(line)[0]:
                raise AssertionError(f"{line}\n{''.join(map(str, _called(line)[1:]))}")
        code, out, err = _called(last)
        text = re.sub(r"(?m)[ \t]+$", "", PLACE.sub("...", out + err if code else err + out))
        if code != self.exit or not re.search(self.shows, text, re.M):
            raise AssertionError(f"{self.run}\nended with {code}, and does not show {self.shows!r}:\n{text}")
        return text.strip("\n") + (f"\n[exit {code}]" if code else "")


@dataclass(frozen=True)
class GuideSection:
    """A section of the guide."""

    number: str
    title: str
    rows: tuple[Statement, ...]

    @property
    def place(self) -> str:
        """The number of its page: F.4 for F.4.3.1."""
        return ".".join(self.number.split(".")[:2])


@functools.cache
def _called(command: str) -> tuple[int, str, str]:
    """A command, run once: one of warplab in this process, if it starts no program and writes no file."""
    words = shlex.split(command)
    if words[0] != "warplab" or words[1] == "exec" or "-o" in words:
        return _in_shell(command)
    here, width = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(ROOT)
    os.environ["COLUMNS"] = WIDTH
    try:
        return call(words[1:])
    finally:
        os.chdir(here)
        os.environ.pop("COLUMNS")
        if width is not None:
            os.environ["COLUMNS"] = width


def _in_shell(command: str) -> tuple[int, str, str]:
    """A command as a reader pastes it, beside the samples."""
    ours = f'warplab() {{ {sys.executable} -m warplab "$@"; }}; python() {{ {sys.executable} "$@"; }}\n'
    env = {**os.environ, "COLUMNS": WIDTH, "PYTHONPATH": str(ROOT / "tests" / "importroot")}
    done = subprocess.run(
        ["bash", "-c", ours + command], cwd=_desk().name, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


@functools.cache
def _desk() -> tempfile.TemporaryDirectory[str]:
    """The folder in which commands leave files for those that follow."""
    folder = tempfile.TemporaryDirectory()
    (Path(folder.name) / "samples").symlink_to(ROOT / "samples")
    return folder


def read(name: str) -> tuple[dict[str, Any], list[GuideSection]]:
    """A file of statements, and its sections."""
    data = tomllib.loads((ROWS / f"{name}.toml").read_text(encoding="utf-8"))
    return data, [GuideSection(s["number"], s["title"], tuple(Statement(**r) for r in s["row"])) for s in data["section"]]


def pages() -> dict[str, str]:
    """The texts of docs/guide by their places."""
    out: dict[str, str] = {}
    rows: list[tuple[object, ...]] = []
    for chapter in CHAPTERS:
        data, sections = read(chapter)
        for place in dict.fromkeys(s.place for s in sections):
            own = [s for s in sections if s.place == place]
            title = data.get("pages", {}).get(place) or own[0].title
            out[f"guide/{place}.md"] = page(f"# {place} {title}", *(part for s in own for part in _section(s, place)), source=SOURCE)
            rows.append((place, f"[{title}]({place}.md)", *_counts(own)))
    _, mistakes = read("mistakes")
    out["guide/mistakes.md"] = page("# Mistakes in guides", MISTAKES, *(part for s in mistakes for part in _section(s, "")), source=SOURCE)
    rows.append(("", "[Mistakes in guides](mistakes.md)", *_counts(mistakes)))
    total = ("", "all", *(sum(int(str(r[n])) for r in rows) for n in (2, 3)))
    out["guide/README.md"] = page("# The CUDA guide, executed", INTRODUCTION, table(HEAD, [*rows, total], right=(2, 3)), source=SOURCE)
    return out


def _counts(sections: list[GuideSection]) -> tuple[int, int]:
    rows = [r for s in sections for r in s.rows]
    return len(rows), sum(bool(r.today) for r in rows)


def _section(s: GuideSection, place: str) -> Iterator[str]:
    if s.number != place:
        yield f"## {s.number} {s.title}" if place else f"## {s.title}"
    for run, rows in itertools.groupby(s.rows, key=lambda r: r.run):  # statements that one output shows stand above it together
        shown = list(rows)
        printed = [r.printed() for r in shown]
        if len(shown) == 1:
            yield paragraph(shown[0].says)
        else:
            yield "\n".join(f"- {r.says}{f' *Today:* {r.today}.' if r.today else ''}" for r in shown)
        typed = run.replace("\n", "\n$ ")
        yield f"```console{_needs(run)}\n$ {typed}\n{printed[0]}\n```"
        if len(shown) == 1 and shown[0].today:
            yield paragraph(f"*Today:* {shown[0].today}.")


def _needs(run: str) -> str:
    """What a fence says that tests need for its commands: nothing, if all are of warplab and compile nothing."""
    return " needs=nvcc" if ".cu" in run else "" if all(line.startswith("warplab ") for line in run.splitlines()) else " needs=python"


HEAD = ("section", "", "statements", "different today")
INTRODUCTION = """\
Chapter 5 and appendices B and F of the CUDA C programming guide (version 4.2, in whose numbers the sections are cited), statement by statement: what a section says, in
our own words; a command that shows it; and what the command prints. The kernels are in [samples/guide](../../samples/guide), whole programs in its folder
`host`, and the tests run each command. CUDA C++ needs a compiler: an `nvcc` on the PATH, or NVRTC (`pip install 'warplab[cuda]'`); whole programs need `nvcc`.
Times are those of the [modelled device](../transfers.md).

`warplab docs guide F.4.3` prints a section."""
MISTAKES = """\
Programs that guides and articles print, or recommend, and that are wrong or have become wrong."""
