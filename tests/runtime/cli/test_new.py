"""`warplab new`: what it writes works as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli.testing.new import new
from warplab.runtime.compilers import is_installed
from warplab.runtime.golden import collect, run_case
from warplab.runtime.grading import find_submissions, load_lab
from warplab.runtime.grading.compiling import build
from warplab.runtime.grading.judge import judge

NEEDS_COMPILER = pytest.mark.skipif(not is_installed(), reason="no compiler of CUDA C++")
LANGUAGES = [pytest.param([], id="ptx"), pytest.param(["--cuda"], id="cuda", marks=NEEDS_COMPILER)]


@pytest.mark.parametrize("words", LANGUAGES)
def test_a_new_lab_grades(words: list[str], tmp_path: Path) -> None:
    folder, suffix = tmp_path / "12-my lab", "cu" if words else "ptx"
    assert CliRunner().invoke(new, ["lab", str(folder), *words]).exit_code == 0
    lab = load_lab(folder)

    def failing(name: str) -> list[str]:
        (handed_in,) = find_submissions(lab, [folder / name])
        return [t.name for t in lab.tests if judge(lab, t, handed_in, build(lab, handed_in))]

    assert failing(f"reference.{suffix}") == []
    assert failing(f"starter.{suffix}") == failing(f"wrong/copies.{suffix}") == ["200 numbers", "loads follow rows", "one number"]
    again = CliRunner().invoke(new, ["lab", str(folder)])
    assert again.exit_code == 2 and "exists already" in again.output


@pytest.mark.parametrize("name", ["", "/", "..", "two\nlines", "\udcff"])
@pytest.mark.parametrize("what", ["lab", "test"])
def test_a_name_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(new, [what, name])
    assert done.exit_code == 2 and "is not a name for a file or a folder" in done.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", LANGUAGES)
def test_a_new_test_passes(words: list[str], tmp_path: Path) -> None:
    assert CliRunner().invoke(new, ["test", str(tmp_path / "3rd-try"), *words]).exit_code == 0
    (case,) = collect([tmp_path])
    assert run_case(case).passed
