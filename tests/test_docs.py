"""Every command and snippet of the documentation runs, and every command of warplab is in it.

bash and zsh split the commands of each `sh`, `bash` and `console` fence, and of the `$` lines of a `text` fence, as they would when a reader
pastes them.  Then each command of warplab is called once, in this process: in a `sh` fence it must succeed; in a `console` fence it prints the
lines below it, where `...` matches anything, and ends with the exit code of `[exit N]`, else 0; those of `bash` and `text` fences are not
called, as they need programs or files that the tests do not have.

A fence with `file=NAME` is written to that file first; `toml` must parse.  `python` and `pycon` fences run one after the other in one namespace,
and the lines of `pycon` print the results that they show.
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
from warplab.runtime.cli.docs import sections
from warplab.runtime.golden.output import call

from . import shells

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "isa", "assembler", "interpreter", "runtime", "tests", "tools", "samples")
HANDOUTS = sorted((ROOT / "samples" / "labs").glob("*/README.md"))
PAGES = sorted({*ROOT.glob("*.md"), *(path for f in FOLDERS for path in (ROOT / f).rglob("*.md"))} - {*HANDOUTS})


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


@dataclass(frozen=True)
class Command:
    words: list[str]
    wanted: str | None  # what it prints; None for anything
    code: int


def commands(fence: Fence) -> list[Command]:
    """The commands of a fence that call warplab."""
    if fence.kind == "sh":
        return [Command(words[1:], None, 0) for words in shells.split(fence.text) if words[0] == "warplab"]
    if fence.kind == "bash":
        shells.split(fence.text)
    found = []
    for block in re.split(r"^\$ ", fence.text, flags=re.M)[1:]:
        first, wanted = re.findall(r"\A((?:.*\\\n)*.*)\n?((?s:.*))\Z", block)[0]
        code = 0
        if m := re.search(r"^\[exit (\d+)\]\n?\Z", wanted, re.M):
            code, wanted = int(m[1]), wanted[: m.start()]
        calls = shells.split(first)
        if fence.kind == "console":
            assert len(calls) == 1 and calls[0][0] == "warplab", f"line {fence.line}: {first}"
            found.append(Command(calls[0][1:], wanted, code))
    return found


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
            if fence.file:  # a file of warplab's own, which imports its neighbours relatively
                space["__package__"] = ".".join(["warplab", *Path(fence.file).parent.parts])
            exec(compile(fence.text, f"line {fence.line}", "exec"), space)
        if fence.kind not in ("sh", "bash", "console", "text"):
            continue
        for command in commands(fence):
            status, out, err = call(command.words)
            shown = f"line {fence.line}: warplab {shlex.join(command.words)}\n{out}{err}"
            assert status == command.code, f"exit code {status}, expected {command.code}\n{shown}"
            assert command.wanted is None or matches(command.wanted, err + out) or matches(command.wanted, out + err), shown
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
    for target, anchor in re.findall(r"\]\(([\w./:-]*)(?:#([^)\s]+))?\)", text):
        if "://" not in target:
            path = page.parent / target if target else page
            assert path.exists(), target
            assert not anchor or anchor in sections(path.read_text()), f"{target}#{anchor}"


def test_every_environment_variable_is_described() -> None:
    sources = "\n".join(path.read_text() for room in ("isa", "assembler", "interpreter", "runtime") for path in (ROOT / room).rglob("*.py"))
    described = re.findall(r"^\| `(WARPLAB_\w+)`", (ROOT / "docs" / "cli.md").read_text(), re.M)
    assert set(re.findall(r"\bWARPLAB_[A-Z]+", sources)) == set(described)


def test_every_command_is_described() -> None:
    text = (ROOT / "docs" / "cli.md").read_text()
    headings = {word for line in re.findall(r"^### (.+)$", text, re.M) for word in line.split(", ")}
    assert set(COMMANDS) <= headings, set(COMMANDS) - headings


@pytest.mark.parametrize(
    "command", ["warplab run k.ptx --arg x=f32[8]", "warplab run k.ptx --arg x=rand(1)", "warplab isa  # all", "echo hi!x"]
)
def test_a_command_that_a_shell_changes_is_refused(command: str) -> None:
    with pytest.raises(AssertionError):
        shells.split(command)


@pytest.mark.parametrize("shell", shells.SHELLS)
def test_shells_split_what_readers_paste(shell: str) -> None:
    if shell not in shells.INSTALLED:
        pytest.skip(f"{shell} is not installed: commands of the pages are not tried with it")
    script = "pip install . && warplab run 'x y' --arg \"a=f32[8]\" \\\n  --json 2>&1\n. .venv/bin/activate"
    assert shells.words(shell, script) == [
        ["pip", "install", "."],
        ["warplab", "run", "x y", "--arg", "a=f32[8]", "--json"],
        [".", ".venv/bin/activate"],
    ]


def test_matching_of_outputs() -> None:
    assert matches("a\n...\nc 1...", "a\nb\nb\nc 12\n")
    assert not matches("a\nc", "a\nb\nc")
