"""The zips for students: they hold every file that the handout's commands name, and nothing of the solution."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from warplab.runtime.grading import load_lab
from warplab.runtime.grading.bundle import write_handout

LABS = Path(__file__).parents[3] / "samples" / "labs"
FOLDERS = sorted(p.parent for p in LABS.glob("*/lab.toml"))
NAMED = re.compile(r"(?:^|[\s=@\"'`])([\w/-]+\.(?:png|npy|toml|ptx|cu))\b")
MADE = {"mine.ptx", "mine.cu", "out.png"}  # by the student


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_a_handout_has_what_its_commands_need(folder: Path, tmp_path: Path) -> None:
    zipped = tmp_path / "handout.zip"
    lab = load_lab(folder)
    write_handout(lab, zipped)
    with zipfile.ZipFile(zipped) as file:
        there = {name.removeprefix(f"{folder.name}/") for name in file.namelist()}
        text = file.read(f"{folder.name}/README.md").decode() + file.read(f"{folder.name}/lab.toml").decode()
        kept = load_lab(Path(file.extract(f"{folder.name}/lab.toml", tmp_path)).parent) if "launches" not in text else None
    named = set(NAMED.findall(text)) - MADE - set(lab.files) - {Path(f).with_suffix(".cu").name for f in lab.files}
    assert named <= there, named - there
    assert not any("reference" in name or "wrong" in name for name in there)
    assert {"starter.ptx", "starter.cu"} <= there or {"starter", "starter_cuda"} <= {name.split("/")[0] for name in there}
    assert kept is None or [t.name for t in kept.tests] == [t.name for t in lab.tests if not t.hidden]
    assert ("times.json" in there) == any(t.speed for t in lab.tests)
