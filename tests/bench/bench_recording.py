"""What recording costs: the kernels of the bench, quiet and recorded in turn, in one process; and what questions to the recordings cost.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_recording [--size full|small|tiny] [--runs N] [--only NAME]

Prints, for each kernel, the CPU time of a recorded launch in quiet ones (numpy engine; the median over pairs of neighbouring runs), bytes of the
recording per thread instruction, and the milliseconds of the slowest question, asked for the first time and again.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from tests.bench.bench_engine import KERNELS, Work, works
from tests.interpreter.harness import Argument, Machine
from warplab.interpreter.recorder.recorder import Recorder
from warplab.runtime.recording import Recording
from warplab.runtime.recording.conditions import Break, hits
from warplab.runtime.recording.expressions import parse_expression
from warplab.runtime.recording.slices import origin, why

LIMIT, BYTES = 4.0, 4.0  # times the quiet launch; a thread instruction


def measured(work: Work, runs: int) -> tuple[float, Recorder]:
    """How many quiet launches a recorded one costs, and a recording."""
    machine = Machine((KERNELS / f"{work.name}.ptx").read_text(), bytes=64 << 20)
    places: list[Argument] = [machine.upload(x) for x in work.arrays]

    def once(recorders: list[Recorder]) -> float:
        for place, x in zip(places, work.arrays, strict=False):
            machine.arena.bytes[place.start : place.start + x.nbytes] = x.view(np.uint8).ravel()  # type: ignore[union-attr]
        start = time.process_time()
        machine.launch(work.grid, work.block, [*places, *work.scalars], recorders)
        return time.process_time() - start

    once([])
    ratios = []
    for _ in range(runs):
        recorder = Recorder()
        quiet = once([])
        ratios.append(once([recorder]) / quiet)
    return statistics.median(ratios), recorder


def questions(rec: Recording) -> dict[str, Callable[[], object]]:
    """What people ask, in the middle of a launch."""
    step, last = rec.step_count // 2, rec.step_count - 1
    lane = int(rec.at(step).lanes[-1])
    register = next(name for i in reversed(rec.track.instructions) for name in i.writes)
    predicate = parse_expression("tid.x == 3 && ctaid.x == 1")
    every = frozenset(range(len(rec.track.instructions)))
    held = parse_expression(f"{register} == 12345 && tid.x == 7")
    writing = frozenset(n for n, i in enumerate(rec.track.instructions) if register in i.writes)
    a = rec.track.objects[0]
    return {
        "steps": lambda: rec.steps(lane), "registers of a warp": lambda: rec.registers(rec.warp_of(lane), step),
        "next step": lambda: rec.next_step(lane, step), "previous step": lambda: rec.previous_step(lane, step),
        "backtrace": lambda: rec.backtrace(lane, step), "memory": lambda: rec.bytes.held(a.space, 0, a.start, min(a.size, 4096), last),
        "condition": lambda: next(hits(rec, Break(every, predicate), 0), None),
        "condition that holds nowhere": lambda: next(hits(rec, Break(writing, held), 0), None),
        "the same, backwards": lambda: next(hits(rec, Break(writing, held), last, -1), None),
        "why": lambda: why(rec, register, lane, last), "origin": lambda: origin(rec, "nan"),
        "unset": lambda: origin(rec, "uninitialised"),
    }  # fmt: skip


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="full")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    said = parser.parse_args()
    for work in works(said.size):
        if said.only not in work.name:
            continue
        ratio, recorder = measured(work, said.runs)
        start = time.process_time()
        rec = Recording(recorder.finish())
        opened = time.process_time() - start
        size = recorder.size / work.instructions
        first, again = {}, {}
        for name, ask in questions(rec).items():
            for times in (first, again):
                start = time.process_time()
                ask()
                times[name] = 1e3 * (time.process_time() - start)
        slow, slow_again = (max(times, key=lambda k: times[k]) for times in (first, again))
        print(
            f"{work.name:<12} {work.instructions / 1e6:6.1f} M  {ratio:4.1f}x  {size:4.2f} B  open {1e3 * opened:4.0f} ms  "
            f"slowest {first[slow]:6.1f} ms ({slow}), again {again[slow_again]:6.1f} ms ({slow_again})"
        )


if __name__ == "__main__":
    main()
