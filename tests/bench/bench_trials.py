"""What checkers cost where compiled code proves that they would find nothing: the same launches, quiet, under memcheck and under all tools, natively.

    PYTHONPATH=tests/importroot python -m tests.bench.bench_trials [--sizes full,small] [--runs N] [--only NAME]

All in CPU time over all threads of the process.  The first launch under all tools compiles the code for trials, unless that is on disk; later ones are given as
medians, as times a quiet native launch, and so is a launch whose events numpy announces.  Fails where a launch is not proved, or above its limit.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

import numpy as np

from tests.bench.bench_engine import KERNELS, Work, works
from tests.interpreter.harness import Machine
from warplab.interpreter.checkers.checker import CheckedRun
from warplab.interpreter.checkers.findings import Findings
from warplab.interpreter.checkers.tools import TOOLS, checkers_of

LIMITS = {"memcheck": 1.5, "all": 8.0}  # times a quiet launch


class Trials:
    """One kernel of the engine's bench."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.machine = Machine((KERNELS / f"{work.name}.ptx").read_text(), bytes=64 << 20)
        self.places = [self.machine.upload(x) for x in work.arrays]

    def seconds(self, tools: Sequence[str], engine: str = "native") -> float:
        """CPU seconds of a launch under some tools."""
        work, arena = self.work, self.machine.arena
        for place, x in zip(self.places, work.arrays, strict=True):
            arena.bytes[place.start : place.start + x.nbytes] = x.view(np.uint8).ravel()
        checkers = checkers_of(tuple(tools), CheckedRun(findings := Findings(), in_order=True))
        observers = list(dict.fromkeys(o for c in checkers for o in c.observers()))
        start = time.process_time()
        launch = self.machine.launch(work.grid, work.block, [*self.places, *work.scalars], observers, engine=engine)
        for c in checkers:
            c.finish()
        spent = time.process_time() - start
        blocks = 0 if engine == "numpy" else launch.blocks
        assert launch.used.native_blocks == blocks and not list(findings.all), work.name
        return spent


def main() -> int:
    """Prints a row for each kernel; fails where checkers cost too much."""
    options = argparse.ArgumentParser()
    options.add_argument("--sizes", default="full")
    options.add_argument("--runs", type=int, default=11)
    options.add_argument("--only", default="")
    chosen = options.parse_args()
    above = False
    print(f"{'launch':20} {'quiet ms':>9} {'memcheck':>9} {'all':>9} {'first all ms':>13} {'all on numpy':>13}")
    for size in chosen.sizes.split(","):
        for work in works(size):
            if chosen.only not in work.name:
                continue
            trials = Trials(work)
            trials.seconds(())
            first = trials.seconds(tuple(TOOLS))
            quiet, *ratios = (
                statistics.median(trials.seconds(tools) for _ in range(chosen.runs)) for tools in ((), ("memcheck",), tuple(TOOLS))
            )
            memcheck, everything = (r / quiet for r in ratios)
            events = statistics.median(trials.seconds(tuple(TOOLS), "numpy") for _ in range(3)) / quiet
            print(
                f"{work.name + ' ' + size:20} {quiet * 1e3:9.2f} {memcheck:8.2f}x {everything:8.2f}x {first * 1e3:13.0f} {events:12.0f}x",
                flush=True,
            )
            above |= memcheck > LIMITS["memcheck"] or everything > LIMITS["all"]
    return int(above)


if __name__ == "__main__":
    raise SystemExit(main())
