"""The stream of a launch's accesses: L1 and L2 find what reference caches find, whatever its chapters and fences."""

import numpy as np
import pytest

from tests.interpreter.profiler.ways import WAYS, go, needs_compiler
from tests.interpreter.reference_caches import LineCaches
from warplab.interpreter.profiler.caches import STREAM
from warplab.interpreter.profiler.lanes import WarpLanes
from warplab.interpreter.profiler.sectors import SECTOR_WORDS, touched
from warplab.interpreter.profiler.stream import Account, UseStream, Way
from warplab.interpreter.profiler.tally import AccessTally
from warplab.interpreter.profiler.touch import covered, touch

WARPS, CACHES, L1_LINES, L2_LINES = 6, 3, 12, 40
CACHE = np.arange(WARPS, dtype=np.uint16) % CACHES


class Reference:
    """L1s and an L2, asked by one warp and line after the other."""

    def __init__(self) -> None:
        self.l1, self.l2 = LineCaches(CACHES, L1_LINES, clash=True), LineCaches(1, L2_LINES, clash=False)

    def ask(self, cache: int, line: int, words: int, way: Way, full: int) -> tuple[int, int, int]:
        """(sectors, found in L1, found in L2) of one use."""
        first, second = way.value
        sectors = int(touched(np.array([words], np.uint32))[0])
        hits = self.l1.ask(cache, line, words, first, full)
        missed = sectors & ~hits
        asked = missed * int(SECTOR_WORDS) if first <= STREAM else words
        found = self.l2.ask(0, line, asked, second, asked) if missed else 0
        return sectors.bit_count(), hits.bit_count(), found.bit_count()


@WAYS
@pytest.mark.parametrize("chapters", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_stream_finds_what_the_reference_finds(seed: int, *, chapters: bool, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    go(by, monkeypatch)
    rng, reference, stream = (
        np.random.default_rng(seed),
        Reference(),
        UseStream(CACHES, L1_LINES, L2_LINES, "numpy" if by == "numpy" else "auto"),
    )
    want, tallies = [], []
    for _ in range(60):
        way, width = Way[rng.choice([w.name for w in Way])], int(rng.choice([1, 2, 4, 8]))
        where = rng.integers(0, int(rng.choice([2, 12, 60])) * 128 // width, (WARPS, 32)) * width
        lanes = WarpLanes(where, rng.random((WARPS, 32)) < rng.choice([0.2, 1.0]), WARPS)
        t = touch(lanes, width)
        full = covered(lanes, width, t) if width < 4 and ("ST" in way.name or way is Way.PATCH) else t.words
        tallies.append(AccessTally(width))
        stream.add(way, Account(tallies[-1], (None,), None), CACHE, t, 0, None if full is t.words else full)
        uses = zip(CACHE[t.warp].tolist(), t.line.tolist(), t.words.tolist(), full.tolist(), strict=True)
        found = [reference.ask(cache, line, words, way, covers) for cache, line, words, covers in uses]
        want.append(tuple(sum(x) for x in zip(*found, strict=True)) if found else (0, 0, 0))
        if rng.random() < 0.1:
            some = rng.permutation(CACHES)[: int(rng.integers(1, CACHES))]
            stream.empty(some)
            for cache in some.tolist():
                reference.l1.caches[cache].clear()
        if chapters and rng.random() < 0.2:
            stream.settle()
    stream.settle(last=True)
    assert [(a.hits + a.l2, a.hits, a.l2_hits) for a in tallies] == want
    assert stream.written == reference.l2.written


@pytest.mark.parametrize("by", ["numpy", pytest.param("compiled", marks=needs_compiler)])
def test_fences_without_end_have_numbers(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A multiprocessor whose L1 is emptied more often than there are numbers for caches."""
    go(by, monkeypatch)
    stream = UseStream(CACHES, L1_LINES, L2_LINES, "numpy" if by == "numpy" else "auto")
    lanes = WarpLanes(np.zeros((WARPS, 1), np.int64), None, WARPS)
    t, a = touch(lanes, 4), AccessTally(4)
    turns = (1 << 16) // CACHES + 5
    for _ in range(turns):
        stream.add(Way.LOAD, Account(a, (None,), None), CACHE, t, 0)
        stream.empty(np.arange(CACHES))
    stream.settle(last=True)
    assert (a.hits, a.l2, a.l2_hits) == (turns * (WARPS - CACHES), turns * CACHES, turns * CACHES - 1)
