"""The loops that count lanes which wait for each other, at atomics and at banks of shared memory, give what the rules give."""

import numpy as np
import pytest

from tests.interpreter.profiler.ways import LOOPS, go
from warplab.interpreter.profiler.loops import compiled
from warplab.interpreter.profiler.loops.words import CONTENDING, TAKING_TURNS
from warplab.interpreter.rules.atomic_loops import loop_passes
from warplab.interpreter.rules.banks import modern_banks
from warplab.interpreter.rules.contention import atomic_global

WARPS = 12


@pytest.mark.parametrize("by", LOOPS)
@pytest.mark.parametrize("width", [2, 4, 8, 16])
@pytest.mark.parametrize("seed", range(6))
def test_contended_sectors(seed: int, width: int, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    go(by, monkeypatch)
    loops, rng = compiled.loops(), np.random.default_rng(seed)
    assert loops is not None
    where = rng.integers(0, int(rng.choice([1, 8, 40, 500, 1 << 20])), (WARPS, 32)) * width + (1 << 40)
    active = rng.random((WARPS, 32)) < rng.choice([0.1, 0.7])
    for mask in (active, None):
        found = np.empty(WARPS, np.int64)
        loops.contend(where, mask, mask is not None, WARPS, width, np.empty(CONTENDING, np.int64), found)
        assert found.tolist() == atomic_global(where, np.ones_like(active) if mask is None else mask, width)[1].tolist()


@pytest.mark.parametrize("by", LOOPS)
@pytest.mark.parametrize("seed", range(8))
def test_loops_around_swaps(seed: int, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    go(by, monkeypatch)
    loops, rng = compiled.loops(), np.random.default_rng(seed)
    assert loops is not None
    where = rng.integers(0, int(rng.choice([1, 8, 40, 500, 4096])), (WARPS, 32)) * 4
    active = rng.random((WARPS, 32)) < rng.choice([0.1, 0.7, 1.0])
    found = np.empty((2, WARPS), np.int64)
    loops.take_turns(where, active, WARPS, np.empty(TAKING_TURNS, np.int64), *found)
    assert found.tolist() == [x.tolist() for x in loop_passes(where, active, 4)]


@pytest.mark.parametrize("by", LOOPS)
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("seed", range(6))
def test_banks(seed: int, width: int, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    go(by, monkeypatch)
    loops, rng = compiled.loops(), np.random.default_rng(seed)
    assert loops is not None
    where = rng.integers(0, int(rng.choice([1, 8, 40, 500, 4096])), (WARPS, 32)) * width
    where[::3] = where[::3].reshape(-1, 16, 2)[:, :, :1].repeat(2, axis=2).reshape(-1, 32)  # pairs of neighbours
    where[1::3] = where[1::3].reshape(-1, 8, 2, 2)[:, :, :1].repeat(2, axis=2).reshape(-1, 32)  # and of lanes two apart
    active = rng.random((WARPS, 32)) < rng.choice([0.1, 0.7])
    for store in (False, True):
        for mask in (active, None):
            found = np.empty((2, WARPS), np.int64)
            loops.bank_passes(where, mask, mask is not None, WARPS, width, not store, np.empty(TAKING_TURNS, np.int64), *found)
            want = modern_banks(where, np.ones_like(active) if mask is None else mask, width, store=store)
            assert found.tolist() == [x.tolist() for x in want]
