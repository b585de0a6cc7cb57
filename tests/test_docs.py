"""Every command and snippet of the documentation runs, and every command of warplab is in it.

bash and zsh split the commands of each `sh`, `bash` and `console` fence, and of the `$` lines of a `text` fence, as they would when a reader
pastes them.  Then each command of warplab is called once, in this process: in a `sh` fence it must succeed; in a `console` fence it prints the
lines below it, where `...` matches anything, and ends with the exit code of `[exit N]`, else 0.  Those of `bash` and `text` fences, and of fences
with `needs=`, are not called here: test_pasted.py runs whole blocks in both shells.

A fence with `file=NAME` is written to that file first; `toml` must parse.  `python` and `pycon` fences run one after the other in one namespace,
and the lines of `pycon` print the results that they show.
"""

from __future__ import annotations

import doctest
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import warplab.isa.ops  # noqa: F401  fills FORMS
from warplab.isa.notation import FORMS, resolve
from warplab.runtime.cli import COMMANDS
from warplab.runtime.cli.reference.docs import sections
from warplab.runtime.golden.output import call

from . import shells
from .pages import HANDOUTS, PAGES, ROOT, Fence, Typed, fences, matches, put_handout, typed


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


def commands(fence: Fence) -> list[tuple[list[str], Typed]]:
    """The words of the commands of a fence that are called here."""
    found = []
    for one in typed(fence):
        calls = shells.split(one.script)
        if fence.kind == "console" and not fence.needs:
            assert len(calls) == 1 and calls[0][0] == "warplab", f"line {fence.line}: {one.script}"
        if fence.kind in ("sh", "console") and not fence.needs:
            found += [(words[1:], one) for words in calls if words[0] == "warplab"]
    return found


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
        if "checkout" in fence.needs:
            continue
        fence.write()
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
        for words, command in commands(fence):
            status, out, err = call(words)
            shown = f"line {fence.line}: warplab {shlex.join(words)}\n{out}{err}"
            assert status == command.code, f"exit code {status}, expected {command.code}\n{shown}"
            assert command.wanted is None or matches(command.wanted, out, err), shown
            ran += 1
    return ran


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_page_runs(page: Path, sandbox: Path) -> None:
    run_page(page.read_text())


@pytest.mark.parametrize("page", HANDOUTS, ids=lambda p: p.parent.name)
def test_handout_runs_with_the_reference(page: Path, sandbox: Path) -> None:
    put_handout(page.parent, sandbox)
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
    assert set(re.findall(r"\bWARPLAB_[A-Z_]+", sources)) == set(described)


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
