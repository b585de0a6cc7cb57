"""The same jobs on a Dask cluster: one task a submission, each in a watched process on the machine that takes it.

Dask gives the tasks of a worker that dies to another one; every task has a key of its own, so that none counts twice.  What the cluster gives
up, because too many workers died under it or the scheduler is gone, is graded here, so that none is lost.
"""

from __future__ import annotations

import importlib
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..cluster import connected
from ..errors import UsageError
from .lab import Lab, Submission
from .report import Report
from .supervise import Worker, grade_one, timed

_thread = threading.local()
LAB_FILES = 64 << 20  # bytes of a lab's folder that travel with it


def grade_on_cluster(lab: Lab, submissions: Sequence[Submission], address: str) -> Iterator[Report]:
    """Reports in the order in which they arrive."""
    lab = timed(lab)
    with connected(address) as client:
        packed = client.scatter(pack(lab), broadcast=True)
        tasks = {f"grade-{client.id}-{i}": s for i, s in enumerate(submissions)}
        futures = [client.submit(remote, lab, packed, s, key=key, pure=False) for key, s in tasks.items()]
        here = Worker()
        try:
            for future in importlib.import_module("distributed").as_completed(futures):
                submission = tasks.pop(future.key)
                try:
                    report = future.result()
                except Exception:
                    report = grade_one(lab, submission, here)
                yield report
        finally:
            here.close()


def pack(lab: Lab) -> dict[str, bytes]:
    """The files of a lab, for machines that don't share this one's disk."""
    out: dict[str, bytes] = {}
    size = 0
    for path in sorted(lab.folder.rglob("*")):
        if path.is_file() and path.relative_to(lab.folder).parts[0] not in ("wrong", "__pycache__"):
            size += path.stat().st_size
            if size > LAB_FILES:
                raise UsageError(f"{lab.folder} holds more than {LAB_FILES >> 20} MiB")
            out[path.relative_to(lab.folder).as_posix()] = path.read_bytes()
    return out


def remote(lab: Lab, packed: dict[str, bytes], submission: Submission) -> Report:
    """One submission on a machine of the cluster; each of its threads keeps one process for all submissions."""
    worker: Worker | None = getattr(_thread, "worker", None)
    if worker is None:
        worker = _thread.worker = Worker()
    with tempfile.TemporaryDirectory() as folder:
        for name, data in packed.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return grade_one(replace(lab, folder=Path(folder)), submission, worker)
