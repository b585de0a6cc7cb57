"""The process that runs tests: `python -m warplab.runtime.grading.worker`.

It takes pickled (lab, number of a test, submission, what was compiled of it, which launch is to be recorded) on standard input from the grader that
started it, and answers each with a line of JSON on standard output.  What it answers was influenced by a submission: the grader reads it as data.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import struct
import time
from collections.abc import Mapping

from .compiling import BuiltFile
from .judge import judge
from .lab import Lab, Submission


def send(file: int, value: object) -> None:
    """One line of JSON."""
    data = json.dumps(value).encode() + b"\n"
    while data:
        data = data[os.write(file, data) :]


def receive(file: int) -> bytes | None:
    """One length-prefixed message; None at the end."""
    head = _exactly(file, 8)
    return None if head is None else _exactly(file, struct.unpack("<Q", head)[0])


def _exactly(file: int, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        part = os.read(file, min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def opened() -> tuple[int, int]:
    """Where questions come from and answers go to, once this process is confined and has said that it is ready."""
    source, answers = os.dup(0), os.dup(1)
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    confine()
    send(answers, {"ready": True})
    return source, answers


def main() -> None:
    """Answers until the grader closes the pipe."""
    source, answers = opened()
    while (message := receive(source)) is not None:
        lab, number, submission, built, launch = pickle.loads(message)
        assert isinstance(lab, Lab)
        start, times = time.perf_counter(), list[float]()
        if launch is not None:
            text, n = _recorded(lab, number, submission, built, launch)
            send(answers, {"recording": text, "launch": n})
            continue
        try:
            _bound(lab, number)
            wrong = judge(lab, lab.tests[number], submission, built, times)
        except RecursionError:
            wrong = "nested too deeply"
        except MemoryError:
            wrong = "out of memory"
        except Exception as e:
            wrong = f"internal error: {type(e).__name__}: {e}"
        send(
            answers,
            {"wrong": wrong.encode(errors="replace").decode()[:100_000], "seconds": time.perf_counter() - start, "cycles": sum(times)},
        )


def _recorded(lab: Lab, number: int, submission: Submission, built: Mapping[str, BuiltFile], launch: int) -> tuple[str, int]:
    """The recording of a launch of a test, and its number; nothing where there is none."""
    from .recordings import recorded

    try:
        _bound(lab, number)
        return recorded(lab, lab.tests[number], submission, built, launch)
    except Exception:  # why it fails, the test itself has said
        return "", 0


def confine() -> None:
    """No files written, no core dumps: nothing here has a reason for either."""
    import warplab.interpreter.vector.wave
    import warplab.runtime.profiler  # noqa: F401  loaded now, as nothing may be cached on disk later
    from warplab.interpreter.native.tiering import missing

    if not missing():  # the compiler's memory is not the submission's
        from warplab.interpreter.native.schedule.compiled import scheduler

        scheduler()
    try:
        import resource
    except ImportError:  # no POSIX: time and memory are still watched from outside
        return
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
        file.write("1000")  # where memory runs out before the grader has looked, the system ends this process and no other
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _bound(lab: Lab, number: int) -> None:
    """The system ends a test that outlives its grader."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + 2 * lab.deadline(number)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
