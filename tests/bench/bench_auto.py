"""How well `auto` chooses: whole programs on each engine, each in a process of its own, with nothing on disk and with what an earlier process has left there.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_auto [--runs N] [--kinds kernels,everyday,programs,recorded] [--only NAME] [--cpu] [--keep] [--write]

Seconds are those of the clock from before the first launch to where the process begins to end, the least of the runs; a process has read its PTX and filled its
memory before.  On a machine that is busy with other things, --cpu measures the processor's time instead, without that of compilers beside numpy.  A ratio compares `auto` with the better of the two engines.  Every process that runs cold has a cache folder of its own, in which the warm one
runs afterwards.  --keep appends the summary to
history.jsonl; --write puts the newest one of each kind there into docs/engine.md.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from tests.bench.bench_engine import HERE, KERNELS, Work, works
from tests.bench.choosing import Choosing, choosing
from tests.bench.everyday import Everyday, everyday
from tests.interpreter.harness import Argument, Machine
from tests.interpreter.recordings.test_programs import PROGRAMS, Process
from tools import markdown

ENGINES = "numpy", "native", "auto"
THREADS = len(os.sched_getaffinity(0))
TOLERATED = 1.15
SLACK = 0.005  # seconds, below which nobody feels a difference
HISTORY = HERE / "history.jsonl"
PAGE = HERE.parents[1] / "docs" / "engine.md"
MARKS = re.compile(r"(<!-- auto -->\n).*?(<!-- /auto -->)", re.S)
Run = Callable[[str], object]  # on an engine
KINDS = {"kernels": "kernels of the bench", "everyday": "everyday kernels", "programs": "programs", "recorded": "recorded programs"}


def of_kernel(work: Work) -> Run:
    """One kernel of the engine's bench."""
    machine = Machine((KERNELS / f"{work.name}.ptx").read_text(), bytes=64 << 20)
    arguments: list[Argument] = [*(machine.upload(x) for x in work.arrays), *work.scalars]
    return lambda engine: machine.launch(work.grid, work.block, arguments, engine=engine, threads=THREADS)


def of_everyday(work: Everyday) -> Run:
    """One everyday kernel."""
    machine = Machine((HERE / "everyday" / f"{work.file}.ptx").read_text(), bytes=128 << 20)
    arguments: list[Argument] = [machine.upload(x) if isinstance(x, np.ndarray) else x for x in work.arguments]
    return lambda engine: machine.launch(work.grid, work.block, arguments, name=work.name, engine=engine, threads=THREADS)


def of_program(program: Choosing) -> Run:
    """All launches of a program."""
    machine = Machine((HERE / "choosing" / "programs.ptx").read_text(), bytes=64 << 20)
    arrays = {id(x): x for step in program.steps for x in step.arguments if isinstance(x, np.ndarray)}
    places = {key: machine.upload(x) for key, x in arrays.items()}

    def run(engine: str) -> None:
        for step in program.steps:
            arguments: list[Argument] = [places[id(x)] if isinstance(x, np.ndarray) else x for x in step.arguments]
            machine.launch(step.grid, step.block, arguments, name=step.entry, engine=engine, threads=THREADS, **step.options)

    return run


def of_recorded(name: str) -> Run:
    """All launches of a recorded program."""
    process = Process(PROGRAMS[name])

    def run(engine: str) -> None:
        for one in PROGRAMS[name]["launches"]:
            process.launch(one, **({} if "memset" in one else {"engine": engine, "threads": THREADS}))

    return run


def subjects(kinds: list[str]) -> Iterator[tuple[str, str, Callable[[], Run]]]:
    """What is measured: its kind, its name, and what prepares it."""
    if "kernels" in kinds:
        for size in ("full", "small", "tiny"):
            for work in works(size):
                yield "kernels", f"{work.name} {size}", partial(of_kernel, work)
    if "programs" in kinds:
        for program in choosing():
            yield "programs", program.name, partial(of_program, program)
    if "everyday" in kinds:
        for launch in everyday(131072):
            yield "everyday", launch.name, partial(of_everyday, launch)
    if "recorded" in kinds:
        for name, record in PROGRAMS.items():
            if not record["fails"]:
                yield "recorded", name, partial(of_recorded, name)


def seconds_of(run: Run, engine: str, folder: Path, clock: Callable[[], float]) -> float:
    """Of one process, which is a copy of this one."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.environ["WARPLAB_CACHE"] = str(folder)
        begun = clock()
        atexit.register(lambda: os.write(writing, str(clock() - begun).encode()))  # runs behind whatever the engine does at exit
        run(engine)
        raise SystemExit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        seconds = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return float(seconds)


def measured(run: Run, runs: int, clock: Callable[[], float]) -> dict[str, tuple[float, float]]:
    """Seconds on each engine, cold and warm."""
    times: dict[str, list[tuple[float, float]]] = {engine: [] for engine in ENGINES}
    for _ in range(runs):
        for engine in ENGINES:
            folder = Path(tempfile.mkdtemp(prefix="warplab-bench-"))
            times[engine].append((seconds_of(run, engine, folder, clock), seconds_of(run, engine, folder, clock)))
            shutil.rmtree(folder)
    return {engine: (min(cold for cold, _ in found), min(warm for _, warm in found)) for engine, found in times.items()}


def ratios(found: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """How often longer `auto` takes than the better engine, cold and warm."""

    def ratio(state: int) -> float:
        least = min(found["numpy"][state], found["native"][state])
        return max(found["auto"][state] - SLACK, least) / least

    return ratio(0), ratio(1)


@dataclass(frozen=True, slots=True)
class Summary:
    """How many programs there are, for how many `auto` chooses well, and the worst ratio."""

    programs: int
    cold: int
    warm: int
    worst_cold: float
    worst_warm: float


def summed_up(found: list[tuple[float, float]]) -> Summary:
    """Of ratios, cold and warm."""
    cold, warm = zip(*found, strict=True)
    good = [sum(ratio <= TOLERATED for ratio in state) for state in (cold, warm)]
    return Summary(len(found), good[0], good[1], round(max(cold), 2), round(max(warm), 2))


def added(several: Iterable[Summary]) -> Summary:
    """All in one."""
    numbers = [astuple(one) for one in several]
    programs, cold, warm, *_ = (sum(column) for column in zip(*numbers, strict=True))
    return Summary(programs, cold, warm, max(x[3] for x in numbers), max(x[4] for x in numbers))


def page(summary: dict[str, Summary]) -> str:
    """The table."""
    named = {KINDS[kind]: one for kind, one in summary.items()} | {"all": added(summary.values())}
    head = ("", "programs", f"cold: within {TOLERATED:g}x", f"warm: within {TOLERATED:g}x", "cold: at most", "warm: at most")
    rows = [(name, s.programs, s.cold, s.warm, f"{s.worst_cold:.2f}x", f"{s.worst_warm:.2f}x") for name, s in named.items()]
    return markdown.table(head, rows, right=range(1, 6))


def main() -> int:
    """Prints the table; fails if `auto` chooses badly too often."""
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--kinds", default=",".join(KINDS))
    options.add_argument("--only", default="")
    options.add_argument("--cpu", action="store_true")
    options.add_argument("--keep", action="store_true")
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    table: dict[str, list[tuple[float, float]]] = {}
    print(f"{'':36}{'cold':>30}{'warm':>30}\n{'ms':36}{2 * f'{ENGINES[0]:>8}{ENGINES[1]:>8}{ENGINES[2]:>8}{chr(0):>6}'}".replace("\0", " "))
    for kind, name, prepared in subjects(chosen.kinds.split(",")):
        if chosen.only not in name:
            continue
        found = measured(prepared(), chosen.runs, time.process_time if chosen.cpu else time.monotonic)
        both = ratios(found)
        table.setdefault(kind, []).append(both)
        cells = "".join("".join(f"{found[e][state] * 1e3:8.0f}" for e in ENGINES) + f"{both[state]:6.2f}" for state in (0, 1))
        print(f"{name:36}{cells}{'   *' * (max(both) > TOLERATED)}", flush=True)
    summary = {kind: summed_up(found) for kind, found in table.items()}
    print(page(summary))
    if chosen.keep:
        when = time.strftime("%Y-%m-%d %H:%M", time.gmtime())
        kept = {kind: asdict(one) for kind, one in summary.items()}
        with HISTORY.open("a", encoding="utf-8") as history:
            history.write(json.dumps({"when": when, "auto": kept, "python": platform.python_version(), "numpy": np.__version__}) + "\n")
    if chosen.write:
        runs = [line["auto"] for line in map(json.loads, HISTORY.read_text(encoding="utf-8").splitlines()) if "auto" in line]
        latest = {kind: Summary(**run[kind]) for run in runs for kind in run}
        PAGE.write_text(
            MARKS.sub(lambda found: f"{found[1]}\n{page(latest)}\n\n{found[2]}", PAGE.read_text(encoding="utf-8")), encoding="utf-8"
        )
    total = added(summary.values())
    return 1 if min(total.cold, total.warm) < 0.95 * total.programs else 0


if __name__ == "__main__":
    raise SystemExit(main())
