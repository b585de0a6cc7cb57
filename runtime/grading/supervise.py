"""Workers and their limits: each test runs in a child process, which is ended when it takes too long, grows too large, or dies.

A test whose process was ended gets that as its verdict; the submission's other tests go on in a new process.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..watched import Ended, WatchedProcess
from .compiling import build
from .lab import Lab, Submission
from .report import Report, TestReport
from .speed import Answer, scored, with_times


class Worker(WatchedProcess):
    """One child process, restarted where it was ended."""

    def __init__(self) -> None:
        super().__init__("warplab.runtime.grading.worker")

    def run(self, lab: Lab, number: int, submission: Submission) -> Answer:
        """One test."""
        start = time.monotonic()
        answer = self._ask(lab, number, submission, None)
        if isinstance(answer, dict):
            try:
                return Answer(str(answer["wrong"]), float(answer["seconds"]), cycles=_number(answer["cycles"]))
            except (ValueError, KeyError, TypeError):
                answer = self.nonsense(start)
        return Answer(answer.message, answer.seconds, answer.why)

    def record(self, lab: Lab, number: int, submission: Submission, launch: int = -1) -> tuple[str, int]:
        """The recording of a launch of a test in base64, and its number; nothing where there is none. -1: the last one."""
        answer = self._ask(lab, number, submission, launch)
        found, n = (answer.get("recording"), answer.get("launch")) if isinstance(answer, dict) else ("", 0)
        return (found, n) if isinstance(found, str) and isinstance(n, int) else ("", 0)

    def _ask(self, lab: Lab, number: int, submission: Submission, launch: int | None) -> Ended | dict[str, Any]:
        """What the process says of one test, or why it was ended."""
        question = (lab, number, submission, build(lab, submission), launch)
        return self.ask(question, lab.deadline(number), lab.limits.memory, lab.limits.seconds)


def _number(x: object) -> float:
    """A number that is not negative, as a process that ran a submission gives it."""
    n = float(x) if isinstance(x, int | float) else math.nan
    return n if 0 <= n < math.inf else math.inf


def grade_one(lab: Lab, submission: Submission, worker: Worker) -> Report:
    """All tests of a lab on one submission; those for which it left no time are not run."""
    out = []
    spent = 0.0
    for number, t in enumerate(lab.tests):
        if spent < lab.limits.total:
            a = worker.run(lab, number, submission)
            spent += a.seconds
        else:
            a = Answer(f"not run: the tests before it took all of the {lab.limits.total:g} s that a submission has", 0.0, "time")
        earned, said = scored(lab, t, submission, a)
        good = not said
        out.append(TestReport(t.name, t.points, earned, t.hidden, good, said, "" if good else t.hint, a.seconds, a.ended))
    return Report(submission.name, tuple(out), submission.path)


def timed(lab: Lab) -> Lab:
    """The lab with its reference's times, where a test has points for speed."""
    worker = Worker()
    try:
        return with_times(lab, worker.run)
    finally:
        worker.close()


def grade(lab: Lab, submissions: Sequence[Submission], jobs: int = 1) -> Iterator[Report]:
    """Reports in the order of the submissions, from as many processes as there are jobs."""
    lab = timed(lab)
    local = threading.local()
    workers: list[Worker] = []

    def one(submission: Submission) -> Report:
        worker: Worker | None = getattr(local, "worker", None)
        if worker is None:
            worker = local.worker = Worker()
            workers.append(worker)
        return grade_one(lab, submission, worker)

    with ThreadPoolExecutor(max(1, min(jobs, len(submissions)))) as pool:
        try:
            yield from pool.map(one, submissions)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
            for worker in workers:
                worker.close()
