"""Every command and snippet of the documentation runs, and every command of warplab is in it.

A `sh` fence: lines that begin with `warplab` must succeed.  A `console` fence: each `$ warplab ...` gives the lines below it, `...` standing for
anything, and ends with the exit code of `[exit N]`, else 0.  A fence with `file=NAME` is written to that file first; `toml` must parse.
`python` fences run one after the other in one namespace, as do `pycon` fences, whose lines must answer what they show.
"""

from __future__ import annotations

import doctest
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import warplab.isa.ops  # noqa: F401  fills FORMS
from warplab.isa.notation import FORMS, resolve
from warplab.runtime.cli import COMMANDS
from warplab.runtime.golden.output import call

ROOT = Path(__file__).parents[1]
FOLDERS = ("isa", "assembler", "interpreter", "runtime", "tests", "tools", "samples")
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / f / "README.md" for f in FOLDERS)])
HANDOUTS = sorted((ROOT / "samples" / "labs").glob("*/README.md"))


@dataclass(frozen=True)
class Fence:
    kind: str
    file: str
    text: str
    line: int


def fences(text: str) -> list[Fence]:
    found = re.finditer(r"^```(\w+)(?: file=(\S+))?[^\n]*\n(.*?)^```$", text, re.M | re.S)
    return [Fence(m[1], m[2] or "", m[3], text.count("\n", 0, m.start()) + 1) for m in found]


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder beside the samples; instructions that a page adds are gone afterwards."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")  # what prints for a terminal prints as the pages show it
    opcodes = set(FORMS)
    yield tmp_path
    for opcode in set(FORMS) - opcodes:
        del FORMS._rows[opcode]
        FORMS._read.pop(opcode, None)
        resolve.cache_clear()


def commands(fence: Fence) -> list[tuple[list[str], str | None, int]]:
    """(words, wanted output or None for any, wanted exit code) of each command in a fence."""
    if fence.kind == "sh":
        text = fence.text.replace("\\\n", " ")
        parts = [p.strip() for line in text.splitlines() for p in line.split("&&")]
        return [(shlex.split(p, comments=True)[1:], None, 0) for p in parts if p.startswith("warplab ")]
    out: list[tuple[list[str], str | None, int]] = []
    for block in re.split(r"^\$ ", fence.text, flags=re.M)[1:]:
        first, _, wanted = block.partition("\n")
        code = 0
        if m := re.search(r"^\[exit (\d+)\]\n?\Z", wanted, re.M):
            code, wanted = int(m[1]), wanted[: m.start()]
        words = shlex.split(first)
        assert words[0] == "warplab", f"line {fence.line}: {first}"
        out.append((words[1:], wanted, code))
    return out


def matches(wanted: str, got: str) -> bool:
    lines = [re.escape(line.rstrip()).replace(r"\.\.\.", ".*") for line in wanted.strip().splitlines()]
    pattern = "\n".join("(?s:.*)" if line == ".*" else line for line in lines)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in got.strip().splitlines())) is not None


def session(text: str, line: int, space: dict[str, object]) -> None:
    """A Python session as people paste it; `...` in an answer stands for anything."""
    test = doctest.DocTestParser().get_doctest(text, space, f"line {line}", None, None)
    test.globs = space
    said: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)


def run_page(text: str) -> int:
    ran = 0
    space: dict[str, object] = {"__name__": "page"}
    for fence in fences(text):
        if fence.file:
            path = Path(fence.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fence.text)
        if fence.kind == "toml":
            tomllib.loads(fence.text)
        if fence.kind == "pycon":
            session(fence.text, fence.line, space)
        if fence.kind == "python":
            exec(compile(fence.text, f"line {fence.line}", "exec"), space)
        if fence.kind not in ("sh", "console"):
            continue
        for words, wanted, code in commands(fence):
            status, out, err = call(words)
            shown = f"line {fence.line}: warplab {shlex.join(words)}\n{out}{err}"
            assert status == code, f"exit code {status}, wanted {code}\n{shown}"
            assert wanted is None or matches(wanted, err + out) or matches(wanted, out + err), shown
            ran += 1
    return ran


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_page_runs(page: Path, sandbox: Path) -> None:
    run_page(page.read_text())


@pytest.mark.parametrize("page", HANDOUTS, ids=lambda p: p.parent.name)
def test_handout_runs_with_the_reference(page: Path, sandbox: Path) -> None:
    lab = page.parent
    for path in lab.iterdir():
        if path.suffix == ".ptx":
            (sandbox / path.name).symlink_to(path)
    if (lab / "reference.ptx").exists():
        (sandbox / "mine.ptx").symlink_to(lab / "reference.ptx")
    elif (lab / "reference").is_dir():
        for path in (lab / "reference").iterdir():
            (sandbox / path.name).symlink_to(path)
    assert run_page(page.read_text()) >= 1


@pytest.mark.parametrize("page", [*PAGES, *HANDOUTS], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([\w./-]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_command_is_described() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    headings = {word for line in re.findall(r"^### (.+)$", text, re.M) for word in line.split(", ")}
    assert set(COMMANDS) <= headings, set(COMMANDS) - headings


def test_matching_of_outputs() -> None:
    assert matches("a\n...\nc 1...", "a\nb\nb\nc 12\n")
    assert not matches("a\nc", "a\nb\nc")
