"""Groups that wait and spin natively: the same order as in the numpy engine, hence the same bits, the same steps and the same words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Machine, kernel
from tests.interpreter.vector.test_sync import CASES, HEAD, Case
from tests.interpreter.waiting_programs import WaitingProgram
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError, LimitReached

SHAPES = [(1, 32), (1, 64), (2, 96), (3, 48), (2, 128)]


def outcome(machine: Machine, grid: int, block: int, words: int, **options: Any) -> tuple[Any, int]:
    """What a launch leaves, or how it ends, and its steps."""
    out = machine.upload(np.zeros(words, np.uint32))
    launch = machine.prepare(grid, block, [out], max_seconds=30, **options)
    try:
        execute(launch)
    except LimitReached:
        return "limit", 0
    except ExecutionError as e:
        return str(e).splitlines()[0], 0
    return machine.download(out).tolist(), launch.steps


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_programs_that_wait_run_in_the_same_order(case: Case) -> None:
    machine = Machine(kernel("p out", HEAD + case.body, case.before))
    numpy = outcome(machine, case.grid, case.block, case.words, **case.options)
    for _ in range(2):  # the second time the kernel may have been compiled anew
        native = outcome(machine, case.grid, case.block, case.words, engine="native", **case.options)
        assert native[0] == numpy[0]


def judge(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid, block = SHAPES[int(rng.integers(len(SHAPES)))]
    text = WaitingProgram(lambda below: int(rng.integers(below)), block).text()
    machine = Machine(text)
    words = 16 + grid * block
    numpy = outcome(machine, grid, block, words, max_steps=100_000)
    for n in range(2):
        native = outcome(machine, grid, block, words, max_steps=100_000, engine="native")
        if n == 0 and "limit" in (native[0], numpy[0]):
            continue  # numpy went on with it, perhaps in another order
        assert native[0] == numpy[0], f"launch {n} of {grid} x {block}\n{text}"


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_that_wait_run_in_the_same_order(seed: int) -> None:
    judge(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40, 2000))
def test_many_random_programs_that_wait_run_in_the_same_order(seed: int) -> None:
    judge(seed)
