"""Processes that work for the page: as many jobs at once as there are, the others wait their turn."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from ..watched import Ended, WatchedProcess
from .jobs import PlayLimits

W = TypeVar("W", bound=WatchedProcess)
SPARE = 5.0  # seconds beyond a run's limit, for reading and checking


class WorkerPool(Generic[W]):
    """Some processes of one kind."""

    def __init__(self, workers: list[W]) -> None:
        self.workers = workers
        self._free: queue.SimpleQueue[W] = queue.SimpleQueue()
        for w in workers:
            self._free.put(w)

    @contextmanager
    def one(self) -> Iterator[W]:
        """A process that nobody else asks meanwhile."""
        worker = self._free.get()
        try:
            yield worker
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Ends them all."""
        for w in self.workers:
            w.finish()


class Jobs:
    """Jobs by the names that the page gives them, so that it can stop them."""

    def __init__(self) -> None:
        self._running: dict[str, WatchedProcess] = {}
        self._refused: set[str] = set()  # stopped while they still waited
        self._lock = threading.Lock()

    @contextmanager
    def running(self, name: str, worker: WatchedProcess) -> Iterator[bool]:
        """While a job has a process; False where it was stopped before."""
        with self._lock:
            begins = name not in self._refused
            self._refused.discard(name)
            if begins:
                self._running[name] = worker
        try:
            yield begins
        finally:
            with self._lock:
                self._running.pop(name, None)

    def stop(self, name: str) -> None:
        """Ends a job."""
        with self._lock:
            worker = self._running.get(name)
            if worker is not None:
                worker.stop()
            elif len(self._refused) < 1000:
                self._refused.add(name)


def asked(
    pool: WorkerPool[WatchedProcess], jobs: Jobs, name: str, question: tuple[str, tuple[Any, ...]], limits: PlayLimits
) -> dict[str, Any]:
    """The answer to a job, or why there is none."""
    with pool.one() as worker, jobs.running(name, worker) as begins:
        if not begins:
            return {"error": "stopped"}
        answer = worker.ask(question, limits.seconds + SPARE, limits.memory + 256, limits.seconds)
    return (
        {"error": f"the run {answer.message}" if answer.why in ("time", "memory") else answer.message}
        if isinstance(answer, Ended)
        else answer
    )
