"""When the profiler's loops are loaded, and that what they leave behind does not matter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreter.profiler.ways import LOOPS, go, needs_compiler
from warplab.interpreter.profiler.lanes import WarpLanes
from warplab.interpreter.profiler.loops import compiled
from warplab.interpreter.profiler.loops.levels import CacheLevels
from warplab.interpreter.profiler.stream import Way
from warplab.interpreter.profiler.touch import touch


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded, and no work has been done."""
    go("numpy", monkeypatch)
    monkeypatch.setattr(compiled, "_done", [0])


@pytest.mark.usefixtures("closed")
def test_the_numpy_engine_compiles_nothing() -> None:
    assert compiled.load(100 * compiled.WORTH, "numpy") is None
    assert compiled.loops() is None


@needs_compiler
@pytest.mark.usefixtures("closed")
def test_loops_are_loaded_when_there_is_work_for_them() -> None:
    assert compiled.load(compiled.WORTH - 1, "auto") is None
    found = compiled.load(1, "auto")
    assert found is not None and compiled.loops() is found


@needs_compiler
@pytest.mark.usefixtures("closed")
def test_the_native_engine_loads_them_at_once() -> None:
    assert compiled.load(0, "native") is not None


@pytest.mark.usefixtures("closed")
def test_without_a_compiler_numpy_does_all_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "missing", lambda: "llvmlite")
    assert compiled.load(100 * compiled.WORTH, "auto") is None


@pytest.mark.parametrize("by", LOOPS)
def test_a_launch_finds_the_caches_empty(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that an earlier launch has used holds none of its lines."""
    go(by, monkeypatch)
    loops = compiled.loops()
    assert loops is not None
    t, cache = touch(WarpLanes(np.arange(64).reshape(2, 32) * 128, None, 2), 4), np.arange(2)
    for _ in range(3):
        levels = CacheLevels(loops, 2, 40, 100)
        for emptied, hits, l2_hits in ((0, 0, 0), (0, 64, 0), (1, 0, 64)):
            found = levels.follow(cache + 2 * emptied, t, 0, None, Way.LOAD.value)
            assert found[:3] == (64, hits, l2_hits)
        levels.close(1)
