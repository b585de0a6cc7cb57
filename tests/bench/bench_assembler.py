"""How fast the assembler reads: modules of growing length such as nvcc makes, and the command line's start.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_assembler [--runs N] [--sizes 20000,40000] [--keep]

Rates are thousands of instructions a CPU second, the best of a few runs: other work on the machine slows a run down, nothing makes it
faster.  --keep appends the table to history.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warplab.assembler import check, parse
from warplab.assembler.verify import verify

HERE = Path(__file__).parent
SAMPLE = HERE / "kernels" / "nvcc_module.ptx"
ROOT = HERE.parent / "importroot"
SIZES = (20_000, 40_000, 80_000, 160_000)
TARGETS = {"parse": 150, "parse, errors": 150, "check": 90}  # thousands of instructions a second
_FUNCTION = re.compile(r"^\.(?:visible|func|weak|entry)[^;]*?\n\{\n.*?^\n\}\n", re.M | re.S)
_NAME = re.compile(r"^(?:\.visible )?\.(?:entry|func)(?:\s+\([^)]*\))?\s+([\w$]+)", re.M)
_DECLARATION = re.compile(r"^\s*\.(?:reg|param|local|shared|pragma)\b", re.M)


def module(instructions: int) -> tuple[str, int]:
    """nvcc's output for a handful of kernels, its functions repeated under new names, and how many instructions it has."""
    text = SAMPLE.read_text()
    functions = "".join(_FUNCTION.findall(text))
    names = sorted(map(re.escape, _NAME.findall(functions)), key=len, reverse=True)
    each = functions.count(";") - len(_DECLARATION.findall(functions))
    copies = -(-instructions // each)
    renamed = [re.sub("|".join(names), rf"\g<0>_{i}", functions) for i in range(copies)]
    return _FUNCTION.sub("", text) + "".join(renamed), each * copies


def best(work: Callable[[], object], runs: int) -> float:
    """CPU seconds of the fastest of some runs."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def works(text: str) -> dict[str, Callable[[], object]]:
    """What is measured."""
    return {"parse": lambda: parse(text), "parse, errors": lambda: verify(parse(text)), "check": lambda: check(text)}


def seconds_of(*arguments: str, runs: int) -> float:
    """Wall seconds of a command, the best of some runs; the first one, which fills caches, does not count."""
    command = [sys.executable, "-c", "from warplab.runtime.cli import main; main()", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--sizes", default=",".join(map(str, SIZES)))
    options.add_argument("--keep", action="store_true")
    chosen = options.parse_args()
    table: dict[str, Any] = {}
    print(f"{'instructions':>12} " + " ".join(f"{name + ' k/s':>18}" for name in TARGETS))
    for size in map(int, chosen.sizes.split(",")):
        text, count = module(size)
        rates = {name: round(count / best(work, chosen.runs) / 1000) for name, work in works(text).items()}
        print(f"{count:12,} " + " ".join(f"{rate:18}" for rate in rates.values()), flush=True)
        table[str(size)] = rates
    print(f"{'target':>12} " + " ".join(f"{target:18}" for target in TARGETS.values()))
    table["help_s"] = round(seconds_of("--help", runs=chosen.runs), 3)
    table["check_s"] = round(seconds_of("check", str(HERE / "kernels" / "k4_tiled.ptx"), runs=chosen.runs), 3)
    print(f"warplab --help: {table['help_s']} s (target 0.1)")
    print(f"warplab check of a small file: {table['check_s']} s (target 0.5)")
    if chosen.keep:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        with (HERE / "history.jsonl").open("a") as history:
            history.write(json.dumps({"when": when, "what": "assembler", "python": platform.python_version(), **table}) + "\n")


if __name__ == "__main__":
    main()
