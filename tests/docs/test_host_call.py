"""docs/adding.md, "A host call": its steps one after the other, in a copy of the sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT, fences, matches, typed


@pytest.mark.skipif(sys.platform != "linux", reason="exec runs on Linux")
def test_a_host_call_is_added_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [f for f in fences((ROOT / "docs" / "adding.md").read_text(encoding="utf-8")) if "checkout" in f.needs]
    assert {f.append for f in steps} - {""} == {"runtime/api/driver.txt", "runtime/driver/devices.py", "runtime/api/runtime.txt"}
    package, programs = tmp_path / "warplab", tmp_path / "bin"
    for folder in (package, programs):
        folder.mkdir()
    for room in ("isa", "assembler", "interpreter"):
        (package / room).symlink_to(ROOT / room)
    shutil.copytree(ROOT / "runtime", tmp_path / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "runtime").symlink_to(tmp_path / "runtime")
    (programs / "warplab").write_text(f"#!{sys.executable}\nfrom warplab.runtime.cli import main\nmain()\n")
    (programs / "warplab").chmod(0o755)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    env = {**os.environ, "PYTHONPATH": path, "PATH": os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])}
    monkeypatch.chdir(tmp_path)
    ran = 0
    for step in steps:
        step.write()
        for one in typed(step):
            done = subprocess.run(["bash", "-c", one.script], env=env, capture_output=True, text=True)
            assert done.returncode == one.code and matches(one.wanted or "", done.stdout, done.stderr), (one.script, done)
            ran += 1
    assert ran == 3
