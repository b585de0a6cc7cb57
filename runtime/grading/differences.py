"""The first store in which a submission differs from the reference, where a lab lets students see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import UsageError
from ..recording import Recording
from ..recording.differences import StoreDifference, difference, told
from ..recording.telling import number, thread_text
from ..sources import CPP
from .lab import Lab, Submission, references_of
from .recordings import read_recording
from .report import Report, TestReport
from .speed import SLOW
from .supervise import Worker

NAMES = "the submission", "the reference"


def with_differences(lab: Lab, submissions: Sequence[Submission], reports: Sequence[Report]) -> list[Report]:
    """The reports, in which each visible test that a submission fails says which store differs first."""
    if not lab.differences:
        raise UsageError(
            'lab.toml does not allow it: differences = "store" shows the first store that differs, "instructions" also where it comes from'
        )
    references = references_of(lab)
    if not references:
        raise UsageError(f"{lab.folder} has no reference to compare with")
    by_name = {s.name: s for s in submissions}
    worker = Worker()

    def like(submission: Submission) -> Submission:
        """The reference in the language of a submission, where there is one."""
        return next((r for r in references if is_cpp(r) == is_cpp(submission)), references[0])

    def compared(submission: Submission, n: int, t: TestReport) -> TestReport:
        if t.passed or t.hidden or t.ended or t.message.startswith(SLOW):
            return t
        text, launch = worker.record(lab, n, submission)
        mine, other = read_recording(text), read_recording(worker.record(lab, n, like(submission), launch)[0])
        if mine is None or other is None or not mine.step_count or mine.track.ended:  # a fault says more
            return t
        lines = _lines(lab, mine, other)
        return replace(t, message="\n".join([t.message, *lines]))

    try:
        return [replace(r, tests=tuple(compared(by_name[r.name], n, t) for n, t in enumerate(r.tests))) for r in reports]
    finally:
        worker.close()


def is_cpp(submission: Submission) -> bool:
    """Is it written in CUDA C++?"""
    return any(name.endswith(CPP) for name in submission.files)


def _lines(lab: Lab, mine: Recording, other: Recording) -> list[str]:
    found = difference(mine, other)
    if found is None:
        return []
    return told(mine, other, found, NAMES) if lab.differences == "instructions" else _stores(mine, other, found)


def _stores(mine: Recording, other: Recording, d: StoreDifference) -> list[str]:
    """Both stores, and nothing of the instructions of the reference."""
    out = []
    for rec, side, name in ((mine, d.first, NAMES[0]), (other, d.second, NAMES[1])):
        if side is None:
            out.append(f"{name} has no store number {d.nth + 1} in this thread")
        else:
            out.append(f"{name}: {side.cell.name} = {number(side.value)}, store number {d.nth + 1} of {thread_text(rec, side.lane)}")
    if d.first is not None:
        i = mine.columns.instruction(d.first.step)
        out.insert(1, f"  step {d.first.step}, line {i.line}: {i.text}")
    return out
