"""How fast the engine runs: six kernels beside the same work in C, one warp alone, and a launch of a tiny block.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_engine [--size full|small|tiny] [--runs N] [--only NAME] [--engine numpy|native] [--keep]

Rates are millions of thread instructions a CPU second (all threads of the process; the median run), with exact counts; the ratio to C of
the same run is what to quote, since both move with the machine.  --keep appends the table to history.jsonl.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.interpreter.harness import Argument, Array, Machine, kernel
from warplab.interpreter.memory.arena import Allocation

HERE = Path(__file__).parent
KERNELS = HERE / "kernels"
NAMES = "k1_vecadd", "k2_saxpy", "k3_matmul", "k4_tiled", "k5_reduce", "k5s_reduce", "k6_collatz"
TIMES_C = dict(zip(NAMES, (6, 6, 8, 10, 40, 40, 1), strict=True))  # how often faster C may be than compiled code
RATES = dict(zip(NAMES, (2000, 2500, 1500, 800, 800, 1000, 500), strict=True))  # what the numpy engine is to reach
WARP_TARGETS = {"numpy": 300_000, "native": 30_000_000}  # warp instructions a second, one warp alone
LAUNCH_TARGET = 2.0  # ms


@dataclass
class Work:
    """One kernel with its data; `right` looks at the arrays afterwards."""

    name: str
    instructions: int
    arrays: list[Array]
    scalars: list[Any]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    right: Callable[[list[Array]], bool]


def works(size: str) -> Iterator[Work]:
    """The six kernels (one of them in two versions)."""
    rng = np.random.default_rng(1)

    def floats(*shape: int) -> Array:
        return rng.random(shape, dtype=np.float32)

    for name, entry in json.loads((KERNELS / "counts.json").read_text())[size].items():
        n, side = entry["args"].get("n", 0), entry["args"].get("N", 0)
        flat = ((-(-n // 256),), (256,))
        if name == "k1_vecadd":
            a, b = floats(n), floats(n)
            want = a + b
            yield Work(
                name, entry["instr"], [a, b, np.zeros(n, np.float32)], [np.int32(n)], *flat, lambda r, w=want: np.array_equal(r[2], w)
            )
        elif name == "k2_saxpy":
            x = floats(n)
            y = x
            for _ in range(entry["args"]["iters"]):
                y = (y.astype(np.float64) * 0.5 + 0.25).astype(np.float32)
            scalars = [np.float32(0.5), np.float32(0.25), np.int32(entry["args"]["iters"])]
            yield Work(name, entry["instr"], [x], scalars, *flat, lambda r, w=y: np.array_equal(r[0], w))
        elif side:
            a, b = floats(side, side), floats(side, side)
            product = a.astype(np.float64) @ b
            arrays = [a, b, np.zeros((side, side), np.float32)]
            shape = ((side // 16, side // 16), (16, 16))
            yield Work(name, entry["instr"], arrays, [np.int32(side)], *shape, lambda r, w=product: np.allclose(r[2], w, rtol=1e-5))
        elif name.startswith("k5"):
            a = floats(n)
            sums = a.reshape(-1, 256).sum(1, dtype=np.float64)
            arrays = [a, np.zeros(n // 256, np.float32)]
            yield Work(name, entry["instr"], arrays, [np.int32(n)], *flat, lambda r, w=sums: np.allclose(r[1], w, rtol=1e-5))
        else:
            yield Work(
                name, entry["instr"], [np.zeros(n, np.int32)], [np.int32(n)], *flat, lambda r: np.array_equal(r[0], collatz(r[0].size))
            )


def collatz(n: int) -> Array:
    """How many steps each of 1..n takes to reach 1."""
    value, steps = np.arange(1, n + 1, dtype=np.int64), np.zeros(n, np.int32)
    while (live := value != 1).any():
        value = np.where(live, np.where(value & 1, 3 * value + 1, value >> 1), value)
        steps += live
    return steps


def seconds_of(work: Work, runs: int, engine: str) -> tuple[float, bool]:
    """The median CPU time of a launch, and whether the result was right."""
    machine = Machine((KERNELS / f"{work.name}.ptx").read_text(), bytes=64 << 20)
    times = []
    for _ in range(runs + 1):
        places: list[Allocation] = [machine.upload(x) for x in work.arrays]
        arguments: list[Argument] = [*places, *work.scalars]
        start = time.process_time()
        machine.launch(work.grid, work.block, arguments, engine=engine)
        times.append(time.process_time() - start)
        results = [machine.download(a, x.dtype).reshape(x.shape) for a, x in zip(places, work.arrays, strict=True)]
        for a in places:
            machine.arena.free(a)
    return statistics.median(times[1:]), work.right(results)


def reference() -> dict[str, float]:
    """Seconds of each kernel in C; empty where there is no gcc."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "reference"
        try:
            command = ["gcc", "-O3", "-march=native", KERNELS / "reference.c", "-lm", "-o", program]
            subprocess.run(command, check=True, capture_output=True)
            out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return {}
    return {name: float(seconds) for name, seconds in (line.split() for line in out.splitlines())}


LOOP = """.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; ld.param.u32 %r5, [turns];
L: mad.lo.u32 %r3, %r2, 3, %r1; xor.b32 %r1, %r1, %r3; shr.u32 %r4, %r3, 5; add.u32 %r1, %r1, %r4; and.b32 %r3, %r1, 1023;
add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r5; @%p bra L;
ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r3; ret;"""


def one_warp(engine: str, turns: int = 20000) -> float:
    """Warp instructions a second of one warp alone."""
    machine = Machine(kernel("p out, u32 turns", LOOP))
    out = machine.upload(np.zeros(1, np.uint32))
    machine.launch(1, 32, [out, 10], engine=engine)
    start = time.process_time()
    machine.launch(1, 32, [out, turns], engine=engine)
    return (8 * turns + 6) / (time.process_time() - start)


def launch_cost(engine: str, launches: int = 200) -> float:
    """Milliseconds of a launch of one block of one warp, after the first."""
    machine = Machine(kernel("p out, u32 turns", LOOP))
    out = machine.upload(np.zeros(1, np.uint32))
    machine.launch(1, 32, [out, 1], engine=engine)
    start = time.process_time()
    for _ in range(launches):
        machine.launch(1, 32, [out, 1], engine=engine)
    return (time.process_time() - start) / launches * 1000


def main() -> int:
    """Prints the table; fails if a result was wrong."""
    if "OPENBLAS_NUM_THREADS" not in os.environ:  # its threads spin for a while after a product, and would count
        os.execve(sys.executable, sys.orig_argv, os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    options = argparse.ArgumentParser()
    options.add_argument("--size", default="full", choices=("full", "small", "tiny"))
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--only", default="")
    options.add_argument("--engine", default="numpy", choices=("numpy", "native"))
    options.add_argument("--keep", action="store_true")
    chosen = options.parse_args()
    c = reference() if chosen.size == "full" else {}
    table: dict[str, Any] = {}
    wrong = 0
    print(f"{'kernel':12} {'M/CPU s':>9} {'target':>7} {'C':>9} {'C is faster':>12}")
    for work in works(chosen.size):
        if chosen.only not in work.name:
            continue
        seconds, right = seconds_of(work, chosen.runs, chosen.engine)
        wrong += not right
        rate, yard = work.instructions / seconds / 1e6, c.get(work.name)
        of_c, ratio = (f"{work.instructions / yard / 1e6:9.0f}", f"{seconds / yard:11.0f}x") if yard else (f"{'-':>9}", f"{'-':>12}")
        target = f"{RATES[work.name]:7}" if chosen.engine == "numpy" else f"{TIMES_C[work.name]:6}x"
        print(f"{work.name:12} {rate:9.0f} {target} {of_c} {ratio}{'' if right else '   WRONG RESULT'}", flush=True)
        table[work.name] = {"rate": round(rate), "ratio": round(seconds / yard, 1) if yard else None, "right": right}
    if not chosen.only:
        table["one_warp"], table["launch_ms"] = round(one_warp(chosen.engine)), round(launch_cost(chosen.engine), 3)
        print(f"one warp alone: {table['one_warp']:,} warp instructions/s (target {WARP_TARGETS[chosen.engine]:,})")
        print(f"a launch of one tiny block: {table['launch_ms']} ms (target {LAUNCH_TARGET})")
    if chosen.keep:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        with (HERE / "history.jsonl").open("a") as history:
            line = {
                "when": when,
                "engine": chosen.engine,
                "size": chosen.size,
                "python": platform.python_version(),
                "numpy": np.__version__,
                **table,
            }
            history.write(json.dumps(line) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
