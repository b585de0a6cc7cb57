"""A child process that answers questions, and is ended when one takes too long, grows too large, or shall stop.

The child is a module that reads length-prefixed pickles on its standard input and answers each with a line of JSON (grading/worker.py).
What it answers was influenced by a program that nobody trusts: it is read as data.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

POLL = 0.05
LONGEST = 24 << 20  # bytes of an answer
START = 60.0  # seconds until a child must be ready


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a question has no answer: time, memory, crash or stop."""

    why: str
    message: str
    seconds: float


class WatchedProcess:
    """One child, started again where it was ended."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.process: subprocess.Popen[bytes] | None = None
        self.lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.base = 0
        self.stopped = False
        self.over = False  # no child is started any more

    def __del__(self) -> None:
        self.close()

    def ask(self, question: object, seconds: float, memory: int, shown: float | None = None) -> Ended | dict[str, Any]:
        """The answer, for which the child has so many seconds and MiB; `shown`: the seconds that a message names."""
        message = pickle.dumps(question)
        start = time.monotonic()
        self.stopped = False
        process = self._ready() or self._ready()
        if self.over:
            return self._ended("stop", "stopped", start)
        if process is None:
            return Ended("crash", "a process that runs tests does not start on this machine", time.monotonic() - start)
        start = time.monotonic()
        try:
            assert process.stdin is not None
            process.stdin.write(struct.pack("<Q", len(message)) + message)
            process.stdin.flush()
        except (OSError, ValueError):  # or it was closed meanwhile
            return self._ended("crash", "the process that ran the test ended", start)
        said = b""
        while True:
            try:
                line = self.lines.get(timeout=POLL)
            except queue.Empty:
                if self.stopped:
                    return self._ended("stop", "stopped", start)
                if time.monotonic() > start + seconds:
                    return self._ended("time", f"took more than {seconds if shown is None else shown:g} s and was ended", start)
                if resident(process.pid) - self.base > memory << 20:
                    return self._ended("memory", f"took more than {memory} MiB of memory and was ended", start)
                continue
            if line is None and self.over:
                return self._ended("stop", "stopped", start)
            if line is None:
                return self._ended("crash", "the process that ran the test crashed", start)
            said += line
            if not line.endswith(b"\n") and len(said) < LONGEST:
                continue
            try:
                answer = json.loads(said)
            except (ValueError, RecursionError):
                answer = None
            return answer if isinstance(answer, dict) else self.nonsense(start)

    def stop(self) -> None:
        """The question that is under way ends without an answer."""
        self.stopped = True

    def nonsense(self, start: float) -> Ended:
        """The child has answered what is no answer."""
        return self._ended("crash", "the process that ran the test answered nonsense", start)

    def _ready(self) -> subprocess.Popen[bytes] | None:
        if self.over:
            return None
        known = self.process
        if known is not None and known.poll() is None:
            return known
        self.lines = queue.SimpleQueue()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        process = self.process = subprocess.Popen(  # by its own name, too: another thread may close it meanwhile
            [sys.executable, "-m", self.module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        threading.Thread(target=_read, args=(process, self.lines), daemon=True).start()
        try:
            ready = self.lines.get(timeout=START)
        except queue.Empty:
            ready = None
        if ready is None:
            self.close()
            return None
        self.base = resident(process.pid)
        return process

    def _ended(self, why: str, message: str, start: float) -> Ended:
        self.close()
        return Ended(why, message, time.monotonic() - start)

    def finish(self) -> None:
        """Ends the process; no other is started."""
        self.over = True
        self.close()

    def close(self) -> None:
        """Ends the process."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None and not sys.is_finalizing():  # then the thread that reads holds a lock that nobody gives back
                    with contextlib.suppress(OSError):
                        pipe.close()


def _read(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    assert process.stdout is not None
    try:
        for line in iter(lambda: process.stdout.readline(1 << 20), b""):  # type: ignore[union-attr]
            lines.put(line)
    except (OSError, ValueError):
        pass
    lines.put(None)


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where the system doesn't say."""
    try:
        with open(f"/proc/{pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
