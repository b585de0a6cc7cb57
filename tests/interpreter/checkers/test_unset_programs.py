"""Undefined bits through whole programs: whatever they hold, no other bit of memory changes unless a use was reported."""

from typing import Any

import numpy as np
import pytest

from tests.interpreter.generator import INPUTS, REGION, program
from tests.interpreter.harness import Machine
from tests.interpreter.test_reference import SHAPES, inputs, seeded
from warplab.interpreter.checkers.initcheck.uses import COMPUTED_RESULT
from warplab.interpreter.checkers.initcheck.values import UnsetValues

Words = np.ndarray[Any, np.dtype[np.uint32]]


@pytest.mark.parametrize("seed", range(40, 52))
def test_programs_whose_memory_is_set(seed: int) -> None:
    checkers = [UnsetValues() for _ in range(3)]
    ways: list[dict[str, Any]] = [{}, {"schedule": seed, "wave_lanes": 40}, {"compact_below": 0.0}]
    seeded(seed, {f"checked {n}": way | {"observers": (c,)} for n, (way, c) in enumerate(zip(ways, checkers, strict=True))})
    assert not any(c.uses.found for c in checkers)


def noninterference(seed: int) -> bool:
    """Runs a program with some bits of its input undefined; False if these decide something, which was reported."""
    rng = np.random.default_rng(seed)
    grid, block = SHAPES[int(rng.integers(len(SHAPES)))]
    p = program(lambda below: int(rng.integers(below)), int(np.prod(block)))
    text, threads = p.text(), int(np.prod(grid) * np.prod(block))
    mask = np.zeros(INPUTS, np.uint32)
    mask[rng.choice(INPUTS, 2)] = rng.integers(0, 1 << 32, 2) & rng.integers(0, 1 << 32, 2)
    options: dict[str, Any] = {"schedule": int(rng.integers(3)), "wave_lanes": 40} if seed % 2 else {}
    runs: list[tuple[Words, Words]] = []
    for fill in (0, 0xFFFFFFFF, int(rng.integers(1 << 32))):
        machine, checker = Machine(text, bytes=1 << 20), UnsetValues()
        places = {
            "out": machine.upload(np.zeros(threads * REGION // 4, np.uint32)),
            "inp": machine.upload(inputs() & ~mask | np.uint32(fill) & mask),
            "acc": machine.upload(np.array([0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0], np.uint32)),
        }
        checker.undefined(machine.arena, places["inp"].start, mask.nbytes)[:] = mask.view(np.uint8)
        machine.launch(grid, block, [places[n] for n in p.buffers], observers=(checker,), **options)
        if any(use.what is not COMPUTED_RESULT for use in checker.uses.found.values()):
            return False
        found = [checker.undefined(machine.arena, places[n].start, places[n].size).copy().view(np.uint32) for n in ("out", "acc")]
        runs.append((np.concatenate([machine.download(places[n]) for n in ("out", "acc")]), np.concatenate(found)))
    (first, marked), *others = runs
    for result, also in others:
        missed = (first ^ result) & ~(marked & also)
        assert not missed.any(), f"word {int(np.flatnonzero(missed)[0])} depends on undefined bits\n{text}"
    return bool(marked.any())


def test_undefined_bits_reach_no_unmarked_bit() -> None:
    assert sum(noninterference(seed) for seed in range(60)) > 4


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_undefined_bits_reach_no_unmarked_bit_in_many_programs(seed: int) -> None:
    noninterference(seed)
