"""Reports as HTML pages, for the teacher and for each student: causes of failure, and files that are alike."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from ..lab import Lab, Submission, starters_of
from ..report import Report
from .alike import alike, unchanged
from .class_page import Beside, as_html
from .student_page import files_for, student_page


def class_page(
    lab: Lab, submissions: Sequence[Submission], reports: Sequence[Report], folder: Path,
    plays: Mapping[tuple[str, str], Path] | None = None, students: Path | None = None,
) -> str:  # fmt: skip
    """The class's page, which will lie in a folder.

    `plays`: by submission and test, the page that plays what happened; `students`: the folder of the students' pages.
    """
    given = starters_of(lab)
    own = {} if students is None else files_for([r.name for r in reports], students)
    return as_html(
        reports,
        Beside(
            lab.title,
            {key: linked(path, folder) for key, path in (plays or {}).items()},
            {name: linked(path, folder) for name, path in own.items()},
            alike(submissions, given),
            unchanged(submissions, given),
        ),
    )


def write_student_pages(lab: Lab, reports: Sequence[Report], folder: Path, plays: Mapping[tuple[str, str], Path]) -> int:
    """Writes a page for each student; says how many."""
    folder.mkdir(parents=True, exist_ok=True)
    files = files_for([r.name for r in reports], folder)
    for r in reports:
        own = {test: linked(path, folder) for (name, test), path in plays.items() if name == r.name}
        files[r.name].write_text(student_page(r, lab.title, own), encoding="utf-8")
    return len(files)


def linked(path: Path, folder: Path) -> str:
    """The address of a file, seen from a folder."""
    return quote(os.path.relpath(path.resolve(), folder.resolve()))
