"""Submissions in notebooks: which cell is handed in, and what notebooks may hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warplab.runtime.grading import find_submissions, grade, load_lab
from warplab.runtime.sources import suffix_of

LAB = Path(__file__).parents[3] / "samples" / "labs" / "01-vecadd"
REFERENCE, STARTER = (LAB / "reference.ptx").read_text(), (LAB / "starter.ptx").read_text()


def notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "%%grade 01-vecadd\nno code"}, *made]})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (notebook("%load_ext warplab", f"%%grade labs/01-vecadd\n{REFERENCE}"), REFERENCE),
        (notebook(f"%%grade labs/01-vecadd\n{STARTER}", f"%%grade 01-vecadd/\n{REFERENCE}"), REFERENCE),
        (notebook(f"%%grade 01-vecadd\n{REFERENCE}", f"%%grade labs/02-loops\n{STARTER}", STARTER), REFERENCE),
        (notebook(REFERENCE), ""),
        (notebook(f"%%graded 01-vecadd\n{REFERENCE}"), ""),
        ("[" * 100_000, ""),
        ('{"cells": 4}', ""),
        ('{"cells": [{"cell_type": "code", "source": 4}]}', ""),
        ("no JSON", ""),
    ],
)
def test_the_last_cell_of_the_lab_is_handed_in(text: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "ann.ipynb").write_text(text)
    (one,) = find_submissions(load_lab(LAB), [tmp_path])
    assert one.name == "ann" and b"".join(one.files.values()).decode() == found


def test_they_are_graded_like_files(tmp_path: Path) -> None:
    (tmp_path / "ann.ipynb").write_text(notebook(f"%%grade 01-vecadd\n{REFERENCE}"))
    (tmp_path / "bob.ipynb").write_text(notebook())
    lab = load_lab(LAB)
    ann, bob = grade(lab, find_submissions(lab, [tmp_path]))
    assert ann.score == ann.total and bob.score == 0
    assert "the cell %%grade 01-vecadd" in bob.tests[0].message


def test_the_language_shows_in_the_text() -> None:
    assert (suffix_of(REFERENCE), suffix_of("__global__ void k() {}\n")) == (".ptx", ".cu")
