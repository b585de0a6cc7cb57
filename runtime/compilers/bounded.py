"""The process that compiles a submission: `python -m warplab.runtime.compilers.bounded`, in a folder of its own, which is its TMPDIR, too.

It takes a pickled (CppSource, seconds, MiB) on standard input from the grader, bounds itself and the compiler that it starts, and answers with JSON.
"""

from __future__ import annotations

import json
import pickle
import sys

from ..errors import ApiError
from .compile import compile_cpp

WRITTEN = 64 << 20  # bytes of a file that the compiler writes


def main() -> None:
    """Compiles one source."""
    source, seconds, memory = pickle.loads(sys.stdin.buffer.read())
    _bound(int(seconds) + 1, memory << 20)
    try:
        made = compile_cpp(source, "nvcc")
        answer = {"ptx": made.ptx.decode(errors="replace"), "log": made.log}
    except ApiError as e:
        answer = {"error": e.message}
    except MemoryError:
        answer = {"error": ""}
    json.dump(answer, sys.stdout)


def _bound(seconds: int, memory: int) -> None:
    """Limits that the compiler inherits; each of its processes has them."""
    try:
        import resource
    except ImportError:  # no POSIX: time is still watched from outside
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (WRITTEN, WRITTEN))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
