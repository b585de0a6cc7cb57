"""The simulation of a multiprocessor: the same numbers with and without a compiler, and again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warplab.interpreter.native.tiering import missing
from warplab.interpreter.profiler import KernelProfile
from warplab.runtime.profiler import profiling
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import runs_beside

SAMPLES = Path(__file__).parents[3] / "samples"
NAMES = [
    "vecadd",
    "mandelbrot",
    "scan",
    "softmax",
    "convolution",
    "cp_async",
    "histogram/1_global",
    "matmul/3_tile16",
    "reduction/5_shuffle",
]


def profiled(name: str, engine: str) -> KernelProfile:
    """The first launch of a sample, with its time."""
    path = SAMPLES / f"{name}.ptx"
    text = path.read_text()
    spec = replace(runs_beside(path, text.encode())[0], engine=engine)
    with profiling(time=True) as p:
        outcome = Runner([text.encode()], [path.name], spec, None).run()
    assert not outcome.failure, outcome.failure
    return p.launches[0]


@pytest.mark.parametrize("name", NAMES)
def test_python_and_compiled_code_give_the_same_numbers(name: str) -> None:
    """Cycles, reasons to wait, timeline: all of it."""
    python, again = profiled(name, "numpy"), profiled(name, "numpy")
    assert python.time is not None and python.time.cycles > 0
    assert python.time == again.time
    if not missing():
        assert profiled(name, "native").time == python.time
