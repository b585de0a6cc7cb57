"""The labs that come with warplab: references earn all points, starters assemble and don't, wrong submissions fail for the reason they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warplab.assembler import check
from warplab.runtime.compilers import is_installed
from warplab.runtime.grading import Lab, LabTest, Submission, find_submissions, load_lab
from warplab.runtime.grading.compiling import build
from warplab.runtime.grading.judge import judge

LABS = Path(__file__).parents[3] / "samples" / "labs"
FOLDERS = sorted(p.parent for p in LABS.glob("*/lab.toml"))
NEEDS_COMPILER = pytest.mark.skipif(not is_installed(), reason="no compiler of CUDA C++")


def is_cuda(path: Path) -> bool:
    return path.suffix == ".cu" or path.name.endswith("_cuda")


def handed_out(name: str) -> list[object]:
    """The starters or references of all labs, in both languages."""
    found = [p for f in FOLDERS for p in sorted(f.glob(f"{name}*"))]
    return [pytest.param(p, id=f"{p.parent.name}/{p.name}", marks=[NEEDS_COMPILER] * is_cuda(p)) for p in found]


WRONG = [
    pytest.param(p, id=f"{p.parents[1].name}/{p.name}", marks=[NEEDS_COMPILER] * is_cuda(p))
    for folder in FOLDERS for p in sorted((folder / "wrong").iterdir())
]  # fmt: skip


def submission(lab: Lab, path: Path) -> Submission:
    (found,) = find_submissions(lab, [path])
    return found


def verdicts(lab: Lab, handed_in: Submission) -> dict[str, str]:
    built = build(lab, handed_in)
    return {t.name: judge(lab, t, handed_in, built) for t in lab.tests}


def reasons(path: Path) -> list[tuple[str, str]]:
    """The `// wrong: TEST: TEXT` lines of a submission."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [(m[1], m[2]) for f in files for m in re.finditer(r"^// wrong: ([^:]+): (.+)$", f.read_text(), re.M)]


def test_there_are_twenty_two_labs() -> None:
    assert [f.name[:2] for f in FOLDERS] == [f"{n:02}" for n in range(1, 23)]


@pytest.mark.parametrize("path", handed_out("reference"))
def test_reference_earns_everything(path: Path) -> None:
    lab = load_lab(path.parent)
    assert {n: w for n, w in verdicts(lab, submission(lab, path)).items() if w} == {}


@pytest.mark.parametrize("path", handed_out("starter"))
def test_starter_assembles_and_leaves_something_to_do(path: Path) -> None:
    lab = load_lab(path.parent)
    starter = submission(lab, path)
    built = build(lab, starter)
    for name, data in starter.files.items():
        text = built[name].ptx if name in built else data
        assert text and [d.message for d in check(text.decode()) if d.severity == "error"] == [], name
    found = verdicts(lab, starter)
    assert any(found.values())
    assert [t.name for t in lab.tests if t.hidden and not found[t.name]] == [], "the starter earns hidden points"


@pytest.mark.parametrize("path", WRONG)
def test_wrong_submission_fails_for_its_reason(path: Path) -> None:
    lab = load_lab(path.parents[1])
    handed_in = submission(lab, path)
    built = build(lab, handed_in)
    wanted = reasons(path)
    assert wanted, "the file does not say which test it should fail"
    tests: dict[str, LabTest] = {t.name: t for t in lab.tests}
    for name, text in wanted:
        verdict = judge(lab, tests[name], handed_in, built)
        assert text in verdict, f"{name}: {verdict}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_lab_is_complete(folder: Path) -> None:
    lab = load_lab(folder)
    assert any(t.hidden for t in lab.tests) and not all(t.hidden for t in lab.tests)
    assert any(t.hint for t in lab.tests)
    handout = (folder / "README.md").read_text()
    assert handout.startswith("# Lab ") and "```sh" in handout
    assert "reference" not in handout, "the handout names a file that students don't get"
    files = [p for p in (folder / "wrong").iterdir() if not is_cuda(p)]
    assert len(files) >= 2
    assert len(list((folder / "wrong").iterdir())) >= len(files) + 2, "in CUDA C++, too"
    for name in ("starter", "reference"):
        assert (folder / f"{name}.cu").is_file() or (folder / f"{name}_cuda").is_dir()
