"""Runs `warplab exec` many times without importing it as often: reads commands from standard input, forks for each, answers with its exit code.

What each run would import or make for itself, and finds made, is in `prepare`.

A line is a JSON list: the arguments of warplab, the environment, the current folder, the files for standard output and standard error.
A code below zero is minus the signal that ended the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib import import_module
from typing import NoReturn

from warplab.assembler.parse.trees import grammar
from warplab.interpreter.checkers.tools import TOOLS
from warplab.runtime.cli import main
from warplab.runtime.exec.binaries.elf import MACHINE
from warplab.runtime.exec.binaries.library import built, exported, sonames

IMPORTED = (
    "runtime.cudart", "runtime.driver", "runtime.cli.running.exec", "runtime.exec.launcher", "interpreter.timing.timed_counters",
    "interpreter.timing.compiled", *(f"interpreter.checkers{module}" for module in TOOLS.values()),
)  # fmt: skip


def prepare() -> None:
    """Imports what runs use, and makes once what they keep: the parser, the table of calls, the hashes of their names."""
    for module in IMPORTED:
        import_module(f"warplab.{module}")
    with contextlib.suppress(ImportError):  # without llvmlite, all runs on numpy
        import_module("warplab.interpreter.native.jit")
    grammar()
    listed = exported()
    built(MACHINE, listed, b"nobody", dict.fromkeys(sonames(listed), "nowhere"))


def begin(arguments: list[str], environment: dict[str, str], folder: str, out: str, err: str) -> NoReturn:
    """Becomes a process such as a shell starts."""
    for number, path in enumerate((os.devnull, out, err)):
        file = os.open(path, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:] = arguments
    code = 70
    try:
        main()
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    prepare()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            begin(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
