"""Every block of commands in the documentation runs as pasted into bash and into zsh, and prints what the page shows below it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from . import shells
from .pages import HANDOUTS, PAGES, ROOT, Fence, fences, matches, put_handout, typed

KINDS = ("sh", "bash", "console", "text")
WITH_COMMANDS = [path for path in (*PAGES, *HANDOUTS) if any(typed(f) for f in fences(path.read_text()) if f.kind in KINDS)]
pytestmark = pytest.mark.long


def programs(folder: Path, tree: Path) -> dict[str, str]:
    """An environment in which `warplab` and `python` are those of this test, with the packages of a tree."""
    folder.mkdir()
    for name, arguments in {"warplab": "-m warplab", "python": ""}.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
        script.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(tree), "COLUMNS": "100"}


def installed(folder: Path) -> Path:
    """The packages of the repository under their import names; `isa` is a copy in the current folder, to which a page may add files."""
    shutil.copytree(ROOT / "isa", "isa", ignore=shutil.ignore_patterns("__pycache__"))
    tree = folder / "warplab"
    tree.mkdir(parents=True)
    for link in (ROOT / "tests" / "importroot" / "warplab").iterdir():
        (tree / link.name).symlink_to(Path("isa").absolute() if link.name == "isa" else link.resolve())
    return folder


def missing(fence: Fence) -> list[str]:
    """What the commands of a fence need and this machine lacks."""
    return [name for name in fence.needs if name == "network" or not (shutil.which(name) or Path(name).exists())]


@pytest.mark.parametrize("shell", shells.SHELLS)
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_blocks_run_as_pasted(page: Path, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shell not in shells.INSTALLED:
        pytest.skip(f"{shell} is not installed")
    sandbox = tmp_path / "sandbox"
    sandbox.mkdir()
    monkeypatch.chdir(sandbox)
    (sandbox / "samples").symlink_to(ROOT / "samples")
    if page in HANDOUTS:
        put_handout(page.parent, sandbox)
    blocks = fences(page.read_text())
    adds = any(f.file.startswith("isa/") for f in blocks)
    env = programs(tmp_path / "bin", installed(tmp_path / "tree") if adds else ROOT / "tests" / "importroot")
    space: dict[str, object] = {"__name__": "page"}
    left = []
    for fence in blocks:
        fence.write()
        if fence.kind == "python" and not (fence.file or fence.append):
            exec(compile(fence.text, f"line {fence.line}", "exec"), space)
        if fence.kind not in KINDS or not (commands := typed(fence)):
            continue
        if lacking := missing(fence):
            left.append(f"line {fence.line} needs {', '.join(lacking)}")
            continue
        for command in commands:
            code, out, err = shells.run(shell, command.script, env)
            shown = f"line {fence.line}: {command.script}\n{out}{err}"
            assert code == command.code, f"exit code {code}, expected {command.code}\n{shown}"
            assert command.wanted is None or matches(command.wanted, out, err), shown
    if left:
        pytest.skip("the other blocks run; " + "; ".join(left))
