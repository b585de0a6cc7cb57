"""LLVM's lit and FileCheck run the same files as `warplab test`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

ROOT = Path(__file__).parents[3]
FOLDERS = sorted(Path("/usr/lib").glob("llvm-*/bin"), reverse=True)
FILE_CHECK = next((f for f in FOLDERS if (f / "FileCheck").exists()), None)
TESTS = """// RUN: warplab run %s | FileCheck %s
// RUN: not warplab check --target sm_20 %s 2>&1 | FileCheck --check-prefix=OLD %s
// RUN: warplab fmt - < %s | FileCheck --check-prefix=TEXT %s
// CHECK: ok{{ +}}vecadd<<<4, 256>>>
// OLD: error[target-mismatch]
// OLD-NEXT: .ptx:[[#LINE:]]:1
// TEXT: {{^}}.visible .entry vecadd(
// TEXT-NOT: {{^}}.visible
"""


@pytest.mark.skipif(find_spec("lit") is None or not (FILE_CHECK or shutil.which("FileCheck")), reason="lit or FileCheck is not installed")
def test_lit_agrees(tmp_path: Path) -> None:
    """A file with RUN and CHECK lines passes in both, and fails in both once a CHECK line is wrong."""
    page = (ROOT / "docs" / "compilers.md").read_text()
    settings = re.search(r"```py\n(import lit.*?)```", page, re.DOTALL)
    assert settings
    (tmp_path / "lit.cfg.py").write_text(settings[1])
    text = TESTS + (ROOT / "samples" / "vecadd.ptx").read_text()
    for content, good in ((text, True), (text.replace("<<<4", "<<<5"), False)):
        (tmp_path / "vecadd.ptx").write_text(content)
        path = f"{FILE_CHECK or ''}:{os.environ['PATH']}"
        done = subprocess.run(["lit", str(tmp_path)], capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False)
        assert (done.returncode == 0) is good, done.stdout
        ours = CliRunner().invoke(main, ["test", str(tmp_path / "vecadd.ptx")])
        assert (ours.exit_code == 0) is good, ours.output
