"""What a student is shown of the first store that differs from the reference's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

LAB = Path(__file__).parents[3] / "samples" / "labs" / "01-vecadd"
WRONG = LAB / "wrong" / "first_block_only.ptx"


def graded(lab: Path, submission: Path) -> str:
    """What `grade --differences` prints."""
    return CliRunner().invoke(main, ["grade", str(lab), str(submission), "--differences"]).output


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A copy of a lab."""
    return Path(shutil.copytree(LAB, tmp_path / "lab"))


def test_both_stores_of_a_visible_test_are_shown_and_nothing_of_the_reference() -> None:
    text = graded(LAB, WRONG)
    assert "the submission: c[0] = 0.7734338, store number 1 of block (1,0,0), thread (0,0,0)" in text
    assert "the reference: c[256] = 0.2872324, store number 1 of block (1,0,0), thread (0,0,0)" in text
    visible, _, hidden = text.partition("FAILED other shapes")
    assert visible.count("the reference: c[") == 2 and "the reference" not in hidden
    assert text.count("line 44: st.global.f32") == 2, "only the student's own instructions"


def test_a_lab_may_show_where_the_values_come_from(lab: Path) -> None:
    toml = lab / "lab.toml"
    toml.write_text(toml.read_text().replace('differences = "store"', 'differences = "instructions"'))
    assert "the reference:\n" in graded(lab, WRONG)


def test_a_lab_that_does_not_allow_it_refuses(lab: Path) -> None:
    toml = lab / "lab.toml"
    toml.write_text(toml.read_text().replace('differences = "store"\n', ""))
    assert "lab.toml does not allow it" in graded(lab, WRONG)
    toml.write_text('differences = "all"\n' + toml.read_text())
    assert "differences = 'all'" in graded(lab, WRONG)


def test_without_a_reference_there_is_nothing_to_compare_with(lab: Path) -> None:
    for reference in lab.glob("reference.*"):
        reference.unlink()
    assert "has no reference to compare with" in graded(lab, WRONG)


def test_a_fault_says_more_than_a_store() -> None:
    text = graded(LAB, LAB / "wrong" / "no_bounds.ptx")
    assert "out of bounds" in text and "the reference" not in text
