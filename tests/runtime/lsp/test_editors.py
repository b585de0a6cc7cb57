"""The language server in Neovim and in Emacs, without a screen: a squiggle, a code action, a new name, a formatted text."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pip install '.[editor]'")
HERE, ROOT = Path(__file__).parent, Path(__file__).parents[3]
NEOVIM, EMACS = shutil.which("nvim"), shutil.which("emacs")
EGLOT = Path("/usr/share/emacs/site-lisp/elpa-src")  # Debian's package of it, for an Emacs before 29


def drive(folder: Path, command: list[str]) -> tuple[dict[str, Any], str]:
    """What an editor saw of a text with a slip, and the text that it left."""
    start = folder / "lsp.py"
    start.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'tests' / 'importroot')!r})\nfrom warplab.runtime.cli import main\nmain(['lsp'])\n"
    )
    text = (ROOT / "samples" / "vecadd.ptx").read_text()
    (folder / "slip.ptx").write_text(text.replace("    add.f32 ", "  ad.f32 "))
    env = {"SERVER": json.dumps([sys.executable, str(start)]), "HOME": str(folder), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, env=env)
    assert (folder / "seen.json").exists(), done.stdout + done.stderr
    return json.loads((folder / "seen.json").read_text()), (folder / "slip.ptx").read_text()


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_neovim(tmp_path: Path) -> None:
    seen, after = drive(tmp_path, [NEOVIM or "", "--headless", "--clean", "-n", "-c", f"luafile {HERE / 'neovim.lua'}", "slip.ptx"])
    assert seen["slip"] == [[45, "unknown-instruction"]]
    assert "the lower half of a * b" in seen["hover"]
    assert seen["left"] == 0, "the code action mends it"
    assert "    add.f32 %f3, %f1, %f2;" in after, "formatted"
    assert "mad.lo.s32 %index, %r1, %r2, %r3;" in after and ".reg .b32 %index;" in after
    assert "%f3" in seen["completed"]


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed")
def test_emacs(tmp_path: Path) -> None:
    """With the lines that docs/editors.md gives for init.el."""
    page = (ROOT / "docs" / "editors.md").read_text()
    found = re.search(r"```lisp\n(\(define-derived-mode ptx-mode.*?)```", page, re.S)
    assert found
    (tmp_path / "init.el").write_text(found[1])
    paths = [word for folder in sorted(EGLOT.glob("*")) for word in ("-L", str(folder))]
    if subprocess.run([EMACS or "", "-Q", "--batch", *paths, "-l", "eglot"], capture_output=True).returncode:
        pytest.skip("this Emacs has no eglot")
    seen, after = drive(tmp_path, [EMACS or "", "-Q", "--batch", *paths, "-l", str(HERE / "emacs.el")])
    ((line, said),) = seen["slip"]
    assert line == 45 and "no instruction is called ad\n" in said
    assert "the lower half of a * b" in seen["hover"]
    assert seen["left"] == [], "the code action mends it"
    assert "    add.f32 %f3, %f1, %f2;" in after, "formatted"
    assert "mad.lo.s32 %index, %r1, %r2, %r3;" in after and ".reg .b32 %index;" in after
