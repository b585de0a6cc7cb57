"""Both engines on random programs that no run before has seen: a failure names its seed, and WARPLAB_SEED=<seed> runs that program again."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.test_reference import seeded

from .random_stretches import StretchProgram
from .random_warps import WarpProgram
from .test_regions import equal
from .test_waiting import judge

SEED = int(os.environ.get("WARPLAB_SEED") or random.SystemRandom().randrange(1 << 31))


def structured(seed: int, _: pytest.MonkeyPatch) -> None:
    """Branches, loops, tables, calls and barriers, against a reference."""
    seeded(seed, {"numpy": {}, "native": {"engine": "native"}})


def strips(seed: int, patch: pytest.MonkeyPatch) -> None:
    """The same as large kernels are compiled."""
    for name, value in {"SMALL": 0, "SHORTEST": 1 + seed % 3, "LONGEST": 2 + seed % 5}.items():
        patch.setattr(f"warplab.interpreter.native.cut.{name}", value)
    structured(seed, patch)


def waiting(seed: int, _: pytest.MonkeyPatch) -> None:
    """Lanes that wait for each other."""
    judge(seed)


def stretches(seed: int, _: pytest.MonkeyPatch) -> None:
    """Neighbours, bounds, trees and tables in shared and global memory."""
    program = StretchProgram(seed)
    (numpy, steps), (native, native_steps) = program.results(engine="numpy"), program.results(engine="native")
    assert np.array_equal(numpy, native) and steps == native_steps


def warps(seed: int, _: pytest.MonkeyPatch) -> None:
    """Lanes of a warp that exchange values; with some seeds, they also wait for others, or for nobody who comes."""
    program = WarpProgram(seed, 0.1 * (seed % 4 == 0))
    (numpy, steps), (native, native_steps) = program.results(engine="numpy"), program.results(engine="native")
    assert numpy == native if isinstance(numpy, str) else np.array_equal(numpy, native)
    assert native_steps <= steps  # lanes that part in a region are not counted one after another


@pytest.mark.parametrize("seconds", [3, pytest.param(60, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "generator",
    [structured, strips, equal, waiting, stretches, warps],
    ids=["structured", "strips", "loops", "waiting", "stretches", "warps"],
)
def test_engines_agree_on_fresh_programs(generator: Callable[[int, pytest.MonkeyPatch], object], seconds: int) -> None:
    end, seed = time.monotonic() + seconds, SEED
    while seed == SEED or (time.monotonic() < end and "WARPLAB_SEED" not in os.environ):
        with pytest.MonkeyPatch.context() as patch:
            try:
                generator(seed, patch)
            except BaseException:
                print(f"WARPLAB_SEED={seed} runs this program again")
                raise
        seed += 1
