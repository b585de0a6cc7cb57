"""Runs `warplab exec` many times without importing it as often: reads commands from standard input, forks for each, answers with its exit code.

A line is a JSON list: the arguments of warplab, the environment, the current folder, the files for standard output and standard error.
A code below zero is minus the signal that ended the process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import NoReturn

from warplab.runtime import cudart, driver
from warplab.runtime.cli import main
from warplab.runtime.cli.running import exec as command
from warplab.runtime.exec import launcher

IMPORTED = (command, cudart, driver, launcher)


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
    for line in sys.stdin:
        child = os.fork()
        if not child:
            begin(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
