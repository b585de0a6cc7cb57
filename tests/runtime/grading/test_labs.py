"""The labs that come with warplab: references earn all points, starters assemble and don't, wrong submissions fail for the reason they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warplab.assembler import check
from warplab.runtime.grading import Lab, LabTest, Submission, find_submissions, load_lab
from warplab.runtime.grading.judge import judge

LABS = Path(__file__).parents[3] / "samples" / "labs"
FOLDERS = sorted(p.parent for p in LABS.glob("*/lab.toml"))
WRONG = sorted(p for folder in FOLDERS for p in (folder / "wrong").iterdir())


def submission(lab: Lab, path: Path) -> Submission:
    (found,) = find_submissions(lab, [path])
    return found


def named(lab: Lab, stem: str) -> Path:
    return lab.folder / stem if lab.files else lab.folder / f"{stem}.ptx"


def verdicts(lab: Lab, handed_in: Submission) -> dict[str, str]:
    return {t.name: judge(lab, t, handed_in.files) for t in lab.tests}


def reasons(path: Path) -> list[tuple[str, str]]:
    """The `// wrong: TEST: TEXT` lines of a submission."""
    files = sorted(path.rglob("*.ptx")) if path.is_dir() else [path]
    return [(m[1], m[2]) for f in files for m in re.finditer(r"^// wrong: ([^:]+): (.+)$", f.read_text(), re.M)]


def test_there_are_fifteen_labs() -> None:
    assert [f.name[:2] for f in FOLDERS] == [f"{n:02}" for n in range(1, 16)]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_reference_earns_everything(folder: Path) -> None:
    lab = load_lab(folder)
    assert {n: w for n, w in verdicts(lab, submission(lab, named(lab, "reference"))).items() if w} == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_starter_assembles_and_leaves_something_to_do(folder: Path) -> None:
    lab = load_lab(folder)
    starter = submission(lab, named(lab, "starter"))
    for name, data in starter.files.items():
        assert [d.message for d in check(data.decode()) if d.severity == "error"] == [], name
    assert any(verdicts(lab, starter).values())


@pytest.mark.parametrize("path", WRONG, ids=lambda p: f"{p.parents[1].name}/{p.stem}")
def test_wrong_submission_fails_for_its_reason(path: Path) -> None:
    lab = load_lab(path.parents[1])
    handed_in = submission(lab, path)
    wanted = reasons(path)
    assert wanted, "the file does not say which test it should fail"
    tests: dict[str, LabTest] = {t.name: t for t in lab.tests}
    for name, text in wanted:
        verdict = judge(lab, tests[name], handed_in.files)
        assert text in verdict, f"{name}: {verdict}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_lab_is_complete(folder: Path) -> None:
    lab = load_lab(folder)
    assert any(t.hidden for t in lab.tests) and not all(t.hidden for t in lab.tests)
    assert any(t.hint for t in lab.tests)
    handout = (folder / "README.md").read_text()
    assert handout.startswith("# Lab ") and "```sh" in handout
    assert "reference" not in handout, "the handout names a file that students don't get"
    assert len(list((folder / "wrong").iterdir())) >= 2
