"""What the profiler costs: the same launches, quiet and observed in turn, in one process.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_observed [--sizes full,small,tiny] [--everyday 16384,131072] [--runs N]
                                                                  [--engine auto|numpy|native] [--only NAME] [--keep]

Quiet launches run on the numpy engine, as observed ones do; the profiler's loops are compiled unless the engine is numpy.  Kernels have been
planned before.  A ratio is the median over pairs of neighbouring runs, of CPU time over all threads of the process: what disturbs the machine
for a while disturbs both runs of a pair.  An observed run ends with its profile frozen.  Kernels of the bench and recorded programs are held to
10 times, everyday kernels (everyday.py, in launches of about so many threads) to 30; irregular ones (irregular.py) are reported.  Prints how
many of each kind are within their limit, and fails where one is above it.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tests.bench.bench_engine import HERE, KERNELS, Work, works
from tests.bench.everyday import Everyday, everyday
from tests.bench.irregular import Irregular, irregular
from tests.interpreter.harness import Argument, Machine
from tests.interpreter.recordings.test_programs import PROGRAMS, Process
from warplab.interpreter.profiler import Counters
from warplab.isa.profiles import profile

SHORT = 0.02  # seconds: launches that take less are repeated within a measurement
H200 = profile("sm_90")
KERNEL, IRREGULAR, EVERYDAY, PROGRAM = "kernels of the bench", "irregular kernels", "everyday kernels", "recorded programs"
LIMITS = {KERNEL: 10.0, PROGRAM: 10.0, EVERYDAY: 30.0, IRREGULAR: float("inf")}
Run = Callable[[bool], float]  # CPU seconds of a run, observed or not


def of_kernel(work: Work, engine: str) -> Run:
    """One kernel of the engine's bench."""
    machine = Machine((KERNELS / f"{work.name}.ptx").read_text(), bytes=64 << 20)
    places: list[Argument] = [machine.upload(x) for x in work.arrays]

    def run(observed: bool) -> float:
        for place, x in zip(places, work.arrays, strict=False):
            machine.arena.bytes[place.start : place.start + x.nbytes] = x.view(np.uint8).ravel()  # type: ignore[union-attr]
        counters = [Counters(H200)] if observed else []
        start = time.process_time()
        machine.launch(work.grid, work.block, [*places, *work.scalars], observers=counters, engine=engine if observed else "numpy")
        for c in counters:
            c.finish()
        return time.process_time() - start

    return run


def of_program(name: str, engine: str) -> Run:
    """All launches of a recorded program, from its initial memory."""
    process = Process(PROGRAMS[name])
    arena = process.arena
    initial = [(a.start, arena.bytes[a.start : a.end].copy()) for a in arena.living()]

    def run(observed: bool) -> float:
        for start, content in initial:
            arena.bytes[start : start + content.size] = content
        spent = 0.0
        for one in PROGRAMS[name]["launches"]:
            counters = [Counters(H200)] if observed and "memset" not in one else []
            start_of_launch = time.process_time()
            process.launch(one, **({"observers": counters, "engine": engine} if counters else {}))
            for c in counters:
                c.finish()
            spent += time.process_time() - start_of_launch
        return spent

    return run


def of_irregular(work: Irregular, engine: str) -> Run:
    """One irregular kernel, some times."""
    machine = Machine(work.text, bytes=128 << 20)
    table, out = machine.upload(work.table), machine.upload(np.zeros(work.blocks * work.threads, np.uint32))
    arguments: list[Argument] = [table, out, np.uint32(work.mask)]

    def run(observed: bool) -> float:
        machine.arena.bytes[table.start : table.start + work.table.nbytes] = work.table.view(np.uint8)
        start = time.process_time()
        for _ in range(work.launches):
            counters = [Counters(H200)] if observed else []
            machine.launch(work.blocks, work.threads, arguments, observers=counters, engine=engine if observed else "numpy")
            for c in counters:
                c.finish()
        return time.process_time() - start

    return run


def of_everyday(work: Everyday, engine: str) -> Run:
    """One everyday kernel."""
    machine = Machine((HERE / "everyday" / f"{work.file}.ptx").read_text(), bytes=128 << 20)
    places = [machine.upload(x) for x in work.arrays]
    initial = [(place.start, x.reshape(-1).view(np.uint8)) for place, x in zip(places, work.arrays, strict=True)]
    rest = iter(places)
    arguments: list[Argument] = [next(rest) if isinstance(x, np.ndarray) else x for x in work.arguments]

    def run(observed: bool) -> float:
        for start, content in initial:
            machine.arena.bytes[start : start + content.size] = content
        counters = [Counters(H200)] if observed else []
        start_of_launch = time.process_time()
        machine.launch(work.grid, work.block, arguments, name=work.name, observers=counters, engine=engine if observed else "numpy")
        for c in counters:
            c.finish()
        return time.process_time() - start_of_launch

    return run


def ratio_of(run: Run, runs: int) -> tuple[float, float]:
    """Seconds of a quiet run, and how often longer an observed one takes."""
    run(False)
    run(True)
    times = max(1, round(SHORT / max(run(False), 1e-5)))
    pairs = [(sum(run(False) for _ in range(times)), sum(run(True) for _ in range(times))) for _ in range(runs)]
    return statistics.median(q for q, _ in pairs) / times, statistics.median(o / q for q, o in pairs)


def subjects(sizes: list[str], threads: list[str], engine: str) -> Iterator[tuple[str, str, Callable[[], Run]]]:
    """Every kernel in the sizes asked for, the irregular ones, the everyday ones in launches of about so many threads, then every recorded program."""
    for size in filter(None, sizes):
        for work in works(size):
            yield KERNEL, f"{work.name} {size}", partial(of_kernel, work, engine)
    for one in irregular():
        yield IRREGULAR, one.name, partial(of_irregular, one, engine)
    for n in map(int, filter(None, threads)):
        for launch in everyday(n):
            yield EVERYDAY, f"{launch.name} {n}", partial(of_everyday, launch, engine)
    for name, record in PROGRAMS.items():
        if not record["fails"]:
            yield PROGRAM, name, partial(of_program, name, engine)


def summed_up(table: dict[str, tuple[str, float]]) -> None:
    """Prints how many of each kind are within their limit."""
    for kind, limit in LIMITS.items():
        ratios = [ratio for what, ratio in table.values() if what == kind]
        if ratios:
            within = f"{sum(r <= limit for r in ratios)} of {len(ratios)} within {limit:g}x, " if limit < float("inf") else ""
            print(f"{kind}: {within}median {statistics.median(ratios):.2f}x, at most {max(ratios):.2f}x")


def main() -> int:
    """Prints the table; fails if observing costs too much."""
    options = argparse.ArgumentParser()
    options.add_argument("--sizes", default="full,small,tiny")
    options.add_argument("--everyday", default="16384")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--only", default="")
    options.add_argument("--engine", default="auto", choices=("auto", "numpy", "native"))
    options.add_argument("--keep", action="store_true")
    chosen = options.parse_args()
    table: dict[str, tuple[str, float]] = {}
    print(f"{'launch':27} {'quiet ms':>9} {'observed':>9}")
    for kind, name, prepared in subjects(chosen.sizes.split(","), chosen.everyday.split(","), chosen.engine):
        if chosen.only not in name:
            continue
        quiet, ratio = ratio_of(prepared(), chosen.runs)
        table[name] = kind, round(ratio, 2)
        print(f"{name:27} {quiet * 1e3:9.2f} {ratio:8.2f}x{'   ABOVE THE LIMIT' if ratio > LIMITS[kind] else ''}", flush=True)
    if chosen.keep:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        with (HERE / "history.jsonl").open("a") as history:
            history.write(
                json.dumps(
                    {
                        "when": when,
                        "observed": {name: ratio for name, (_, ratio) in table.items()},
                        "python": platform.python_version(),
                        "numpy": np.__version__,
                    }
                )
                + "\n"
            )
    summed_up(table)
    return 1 if any(ratio > LIMITS[kind] for kind, ratio in table.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
