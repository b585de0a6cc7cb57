"""When the profiler's loops are loaded, and that what they leave behind does not matter."""

from __future__ import annotations

import numpy as np
import pytest

from tests.interpreter.profiler.ways import LOOPS, go, needs_compiler
from warplab.interpreter.profiler.lanes import WarpLanes
from warplab.interpreter.profiler.loops import compiled
from warplab.interpreter.profiler.loops.chapter import TIMES, Chapter, ChapterRoom
from warplab.interpreter.profiler.stream import Account, UseStream, Way
from warplab.interpreter.profiler.tally import AccessTally
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
    """The table that an earlier launch has used holds none of its lines, also when its numbers of times have run out."""
    go(by, monkeypatch)
    loops = compiled.loops()
    assert loops is not None
    t, cache = touch(WarpLanes(np.arange(64).reshape(2, 32) * 128, None, 2), 4), np.arange(2)
    for time in (None, None, TIMES - 10):
        chapter = Chapter(loops, 40, 100)
        chapter.room.time = time or chapter.room.time
        for emptied in (0, 0, 1):
            chapter.add(cache + 2 * emptied, t, 0, None, Way.LOAD.value)
        assert chapter.follow(keep=False).counts == [[64, 64, 0, 0], [128, 64, 64, 0], [192, 64, 0, 64]]
        chapter.room.give_back()
        assert ChapterRoom.get() is chapter.room
        chapter.room.give_back()


@pytest.mark.parametrize("by", LOOPS)
def test_lines_far_apart(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texels lie far from all memory that has addresses; what is held goes on in the next chapter."""
    go(by, monkeypatch)
    stream, a, cache = UseStream(1, 40, 100, "auto"), AccessTally(4), np.zeros(1, np.uint16)
    for where in (0, 1 << 46, 0, 1 << 42, 1 << 46):
        stream.add(Way.LOAD, Account(a, (None,), None), cache, touch(WarpLanes(np.arange(32)[None, :] * 4 + where, None, 1), 4), 0)
        if where == 1 << 42:
            stream.settle()
    stream.settle(last=True)
    assert (a.hits, a.l2, a.l2_hits) == (8, 12, 0)
