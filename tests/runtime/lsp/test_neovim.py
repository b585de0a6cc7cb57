"""The language server in Neovim, without a screen: a squiggle, a code action, a new name, a formatted text."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pip install '.[editor]'")
ROOT = Path(__file__).parents[3]
NEOVIM = shutil.which("nvim")
SCRIPT = Path(__file__).with_name("neovim.lua")


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_neovim(tmp_path: Path) -> None:
    start = tmp_path / "lsp.py"
    start.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'tests' / 'importroot')!r})\nfrom warplab.runtime.cli import main\nmain(['lsp'])\n"
    )
    text = (ROOT / "samples" / "vecadd.ptx").read_text()
    (tmp_path / "slip.ptx").write_text(text.replace("    add.f32 ", "  ad.f32 "))
    command = [NEOVIM or "", "--headless", "--clean", "-n", "-c", f"luafile {SCRIPT}", "slip.ptx"]
    env = {"SERVER": json.dumps([sys.executable, str(start)]), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=env)
    assert (tmp_path / "seen.json").exists(), done.stdout + done.stderr
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["slip"] == [[45, "unknown-instruction"]]
    assert "the lower half of a * b" in seen["hover"]
    assert seen["left"] == 0, "the code action mends it"
    after = (tmp_path / "slip.ptx").read_text()
    assert "    add.f32 %f3, %f1, %f2;" in after, "formatted"
    assert "mad.lo.s32 %index, %r1, %r2, %r3;" in after and ".reg .b32 %index;" in after
    assert "%f3" in seen["completed"]
