"""How many small tests a second `warplab test` runs in one process when it has seen none of their texts, and how long one `warplab run` takes.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_golden [--tests N] [--runs N] [--only vecadd] [--keep]

Each test is a sample whose kernels have names of their own.  A rate is the best of a few runs: other work on the machine slows a run down,
nothing makes it faster.  --keep appends the table to history.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner

from warplab.runtime.cli.testing.test import test as command

HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "samples"
ROOT = HERE.parent / "importroot"
TEXTS = ("vecadd", "saxpy", "switch", "printf", "recursion", "dynamic_shared", "reduction/5_shuffle", "transpose/2_tiled")
TARGETS = {"vecadd": 300}  # tests a second
_NAMED = re.compile(r"(?:\.entry|--kernel)\s+[\w$]+")


def written(folder: Path, text: str, tests: int, run: int) -> None:
    """Files that hold the text with kernels of other names, none of which was there before."""
    for n in range(tests):
        (folder / f"t{n}.ptx").write_text(_NAMED.sub(rf"\g<0>_{run}_{n}", text))


def rates(text: str, tests: int, runs: int) -> tuple[int, int]:
    """Tests a CPU second and tests a second, the best of some runs; the first one, which fills caches, does not count."""
    spent: list[tuple[float, float]] = []
    for run in range(runs + 1):
        with tempfile.TemporaryDirectory() as name:
            written(Path(name), text, tests, run)
            wall, cpu = time.perf_counter(), time.process_time()
            done = CliRunner().invoke(command, [name])
            spent.append((time.process_time() - cpu, time.perf_counter() - wall))
        if done.exit_code:
            sys.exit(done.output[-2000:])
    return round(tests / min(c for c, _ in spent[1:])), round(tests / min(w for _, w in spent[1:]))


def seconds_of_run(runs: int) -> tuple[float, float]:
    """CPU and wall seconds of `warplab run` on a sample, the best of some runs."""
    call = [sys.executable, "-c", "from warplab.runtime.cli import main; main()", "run", str(SAMPLES / "vecadd.ptx")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    spent = []
    for _ in range(runs + 1):
        before, start = os.times(), time.perf_counter()
        subprocess.run(call, check=True, capture_output=True, env=environment)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        spent.append((cpu, time.perf_counter() - start))
    return min(c for c, _ in spent[1:]), min(w for _, w in spent[1:])


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--tests", type=int, default=150)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", default="")
    options.add_argument("--keep", action="store_true")
    chosen = options.parse_args()
    table: dict[str, Any] = {}
    print(f"{'new texts':<22} {'a CPU second':>12} {'a second':>9} {'target':>7}")
    for name in TEXTS:
        if chosen.only in name:
            cpu, wall = rates((SAMPLES / f"{name}.ptx").read_text(), chosen.tests, chosen.runs)
            table[name] = {"cpu": cpu, "wall": wall}
            print(f"{name:<22} {cpu:12} {wall:9} {TARGETS.get(name, ''):>7}", flush=True)
    cpu_s, wall_s = seconds_of_run(chosen.runs)
    table["run_s"] = {"cpu": round(cpu_s, 3), "wall": round(wall_s, 3)}
    print(f"warplab run of a small program: {cpu_s:.2f} s of CPU, {wall_s:.2f} s (target 0.5)")
    if chosen.keep:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        versions = {"python": platform.python_version(), "numpy": np.__version__}
        with (HERE / "history.jsonl").open("a") as history:
            history.write(json.dumps({"when": when, "what": "golden tests", **versions, **table}) + "\n")


if __name__ == "__main__":
    main()
