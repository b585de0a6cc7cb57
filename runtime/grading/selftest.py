"""Does a lab tell right from wrong?  Its references earn all points, each wrong submission loses some, and so does each mutant of a reference.

A mutant that earns all points shows what the tests do not look at, unless the program means the same with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from ..errors import UsageError
from .lab import Lab, Submission, find_submissions, references_of
from .mutants import Mutant, compiled, mutants_of
from .supervise import Worker, grade_one, timed

SECONDS = 5.0  # that a mutant may take, which often never ends


@dataclass(frozen=True, slots=True)
class SelfTest:
    """What came of a lab's own submissions."""

    lab: str
    reference: str  # why a reference does not earn all points
    wrong: tuple[str, ...]  # wrong submissions that earn all points
    mutants: int
    kept: tuple[Mutant, ...]  # mutants that earn all points

    @property
    def passed(self) -> bool:
        """Do the tests tell right from wrong?"""
        return not (self.reference or self.wrong or self.kept)

    def __str__(self) -> str:
        lines = [f"{self.lab}: {self.mutants - len(self.kept)} of {self.mutants} mutants lose points"]
        if self.reference:
            lines.append(f"  the reference does not earn all points: {self.reference}")
        lines += [f"  wrong/{name} earns all points" for name in self.wrong]
        lines += [f"  {m}: all points are earned" for m in self.kept]
        return "\n".join(lines)


def selftest(lab: Lab, jobs: int = 1) -> SelfTest:
    """Grades the lab's references, its wrong submissions and all mutants of the references."""
    references = references_of(lab)
    if not references:
        raise UsageError(
            f"{lab.folder}: a self-test needs reference.ptx or reference.cu, or the folder reference where the lab has several files"
        )
    wrong = find_submissions(lab, [lab.folder / "wrong"]) if (lab.folder / "wrong").is_dir() else []
    lab = timed(lab)
    hurried = replace(lab, limits=replace(lab.limits, seconds=min(lab.limits.seconds, SECONDS), total=1e9))
    workers: list[Worker] = []

    def full(lab: Lab, submission: Submission, worker: Worker) -> bool:
        """Does it earn all points?  One test that fails is enough to know."""
        return all(grade_one(replace(lab, tests=(t,)), submission, worker).passed for t in lab.tests)

    def judged(given: Sequence[tuple[Submission, Mutant]]) -> list[Mutant | None]:
        """The mutants that keep all points although they mean something else; None for each other one that compiles."""
        worker = Worker()
        workers.append(worker)
        there = [(r, m) for r, m in given if compiled(lab, m.submission) is not None]
        return [m if full(hurried, m.submission, worker) and not m.is_dead(lab, r) else None for r, m in there]

    try:
        first = Worker()
        workers.append(first)
        reports = [grade_one(lab, r, first) for r in references]
        failed = [f"{t.name}: {t.message}" for report in reports for t in report.tests if not t.passed]
        unnoticed = tuple(s.name for s in wrong if full(lab, s, first))
        mutants = [(r, m) for r in references for m in mutants_of(r)]
        with ThreadPoolExecutor(jobs) as pool:
            verdicts = [v for part in pool.map(judged, [mutants[n::jobs] for n in range(jobs)]) for v in part]
    finally:
        for worker in workers:
            worker.close()
    kept = sorted((m for m in verdicts if m is not None), key=lambda m: (m.file, m.line))
    return SelfTest(lab.folder.name, "; ".join(failed), unnoticed, len(verdicts), tuple(kept))
