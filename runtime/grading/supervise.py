"""Workers and their limits: each test runs in a child process, which is ended when it takes too long, grows too large, or dies.

A test whose process was ended gets that as its verdict; the submission's other tests go on in a new process.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .compiling import build
from .lab import Lab, Submission
from .report import Report, TestReport
from .speed import Answer, scored, with_times

POLL = 0.05
LONGEST = 24 << 20  # bytes of an answer
START = 60.0  # seconds until a worker must be ready


class Worker:
    """One child process, restarted where it was ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.base = 0

    def __del__(self) -> None:
        self.close()

    def run(self, lab: Lab, number: int, submission: Submission) -> Answer:
        """One test."""
        answer = self._ask(lab, number, submission, None)
        if isinstance(answer, Answer):
            return answer
        try:
            return Answer(str(answer["wrong"]), float(answer["seconds"]), cycles=_number(answer["cycles"]))
        except (ValueError, KeyError, TypeError):
            return self._ended("crash", "the process that ran the test answered nonsense", time.monotonic())

    def record(self, lab: Lab, number: int, submission: Submission, launch: int = -1) -> tuple[str, int]:
        """The recording of a launch of a test in base64, and its number; nothing where there is none. -1: the last one."""
        answer = self._ask(lab, number, submission, launch)
        found, n = ("", 0) if isinstance(answer, Answer) else (answer.get("recording"), answer.get("launch"))
        return (found, n) if isinstance(found, str) and isinstance(n, int) else ("", 0)

    def _ask(self, lab: Lab, number: int, submission: Submission, launch: int | None) -> Answer | dict[str, Any]:
        """What the process says of one test, or why it was ended."""
        message = pickle.dumps((lab, number, submission, build(lab, submission), launch))
        start = time.monotonic()
        process = self._ready() or self._ready()
        if process is None:
            return Answer("a process that runs tests does not start on this machine", time.monotonic() - start, "crash")
        start = time.monotonic()
        try:
            assert process.stdin is not None
            process.stdin.write(struct.pack("<Q", len(message)) + message)
            process.stdin.flush()
        except OSError:
            return self._ended("crash", "the process that ran the test ended", start)
        deadline = start + lab.deadline(number)
        said = b""
        while True:
            try:
                line = self.lines.get(timeout=POLL)
            except queue.Empty:
                if time.monotonic() > deadline:
                    return self._ended("time", f"took more than {lab.limits.seconds:g} s and was ended", start)
                if resident(process.pid) - self.base > lab.limits.memory << 20:
                    return self._ended("memory", f"took more than {lab.limits.memory} MiB of memory and was ended", start)
                continue
            if line is None:
                return self._ended("crash", "the process that ran the test crashed", start)
            said += line
            if not line.endswith(b"\n") and len(said) < LONGEST:
                continue
            try:
                answer = json.loads(said)
            except (ValueError, RecursionError):
                answer = None
            return answer if isinstance(answer, dict) else self._ended("crash", "the process that ran the test answered nonsense", start)

    def _ready(self) -> subprocess.Popen[bytes] | None:
        if self.process is not None and self.process.poll() is None:
            return self.process
        self.lines = queue.SimpleQueue()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "warplab.runtime.grading.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        threading.Thread(target=_read, args=(self.process, self.lines), daemon=True).start()
        try:
            ready = self.lines.get(timeout=START)
        except queue.Empty:
            ready = None
        if ready is None:
            self.close()
            return None
        self.base = resident(self.process.pid)
        return self.process

    def _ended(self, why: str, message: str, start: float) -> Answer:
        self.close()
        return Answer(message, time.monotonic() - start, why)

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            self.process = None


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout is not None
    try:
        for line in iter(lambda: process.stdout.readline(1 << 20), b""):  # type: ignore[union-attr]
            lines.put(line)
    except (OSError, ValueError):
        pass
    lines.put(None)


def _number(x: object) -> float:
    """A number that is not negative, as a process that ran a submission gives it."""
    n = float(x) if isinstance(x, int | float) else math.nan
    return n if 0 <= n < math.inf else math.inf


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where the system doesn't say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


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
