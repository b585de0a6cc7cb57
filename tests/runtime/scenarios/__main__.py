"""What a host program is told, step by step: scenarios over the driver API, the runtime API and cuda.core, whichever package provides them.

    python -m tests.runtime.scenarios real OUT.json       on a machine with a GPU, with cuda.bindings and cuda.core
    python -m tests.runtime.scenarios model OUT.json      on warplab

Every scenario runs in a process of its own, since a fault ends more than one call; what it notes is [step, code, results...].
Addresses and handles are noted as such, without their numbers.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .every import SCENARIOS
from .notes import PACKAGES, Notes


def run(name: str, packages: tuple[str, str, str]) -> list[list[Any]]:
    """A scenario in a process of its own; what it noted until it ended."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        out = os.fdopen(sink, "w")
        try:
            t = Notes(packages)

            def emit(line: list[Any]) -> None:
                out.write(json.dumps(line) + "\n")
                out.flush()

            t.emit = emit
            try:
                SCENARIOS[name](t)
            except Exception as e:
                traceback.print_exc()
                t.note("scenario", "raises", type(e).__name__, str(e)[:200])
        finally:
            out.close()
            os._exit(0)
    os.close(sink)
    with os.fdopen(source) as found:
        lines = [json.loads(line) for line in found]
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        lines.append(["scenario", "killed", os.WTERMSIG(status)])
    return lines


def prepare() -> None:
    """What each scenario would import or make for itself: the runtime API, the parser, what times launches."""
    for module in *PACKAGES["model"][1:], "warplab.interpreter.timing.timed_counters", "warplab.interpreter.timing.compiled":
        importlib.import_module(module)
    importlib.import_module("warplab.assembler.parse.trees").grammar()


def main(which: str, path: str, *names: str) -> None:
    """Runs all scenarios, or those that are named, several at a time."""
    importlib.import_module(PACKAGES[which][0])
    if which == "model":
        prepare()
    chosen = names or tuple(SCENARIOS)
    with ThreadPoolExecutor(8 if which == "real" else 1) as pool:
        found = dict(zip(chosen, pool.map(lambda n: run(n, PACKAGES[which]), chosen), strict=True))
    text = ",\n".join(f" {json.dumps(n)}: [\n  " + ",\n  ".join(json.dumps(line) for line in lines) + "\n ]" for n, lines in found.items())
    with open(path, "w") as file:
        file.write("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
