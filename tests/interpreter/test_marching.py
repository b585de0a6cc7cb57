"""Warps that march through memory, each as many lines further on as the one before: the first one tells what all find one after the other."""

import numpy as np
import pytest

from tests.interpreter.test_together import ATOMIC, BLOCKS, CG, LOAD, STORE, STREAM, THREADS, WHOLE, Caches, One, gather
from warplab.interpreter.observers import backlog
from warplab.interpreter.observers.footprint import Footprint
from warplab.interpreter.observers.fresh_marching import leaders
from warplab.interpreter.observers.known import Footprints
from warplab.interpreter.observers.marching import Marching
from warplab.interpreter.observers.rows import Rows
from warplab.interpreter.observers.uses import Waiting
from warplab.interpreter.vector.lanes import Selection
from warplab.interpreter.vector.values import Array, Shifted

EVERY = [LOAD, STORE, ATOMIC, CG, STREAM]


def rows_of(size: int, base: int = 1 << 20) -> Array:
    """A row for each lane."""
    return base + np.arange(BLOCKS * THREADS, dtype=np.uint64).reshape(BLOCKS, THREADS) * np.uint64(size)


@pytest.fixture
def led(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many accesses the first warps told of, launch by launch."""
    found = []

    def told(waiting: list[Waiting], l1: int, l2: int) -> tuple[list[Waiting], list[list[Waiting]]]:
        rest, some = leaders(waiting, l1, l2)
        found.append(sum(map(len, some)))
        return rest, some

    monkeypatch.setattr(backlog, "leaders", told)
    return found


def both(told: list[One], caches: int, lines: int = 1 << 12) -> None:
    together, alone = Caches(caches, lines, sampled=True), Caches(caches, lines, alone=True)
    assert together.all(told, last=True) == alone.all(told)
    assert together.memory.written == alone.memory.written and together.waited


@pytest.mark.parametrize("caches", [BLOCKS, 3])
@pytest.mark.parametrize("size", [32, 36, 64, 100, 128, 160, 4096])
@pytest.mark.parametrize("seed", range(3))
def test_the_first_warp_tells_for_all(caches: int, size: int, seed: int, led: list[int]) -> None:
    rng = np.random.default_rng(seed * size)
    base = Shifted(rows_of(size))
    ways = (EVERY[:2], EVERY, EVERY[:1])[seed]
    told: list[One] = []
    for _ in range(24):
        width = int(rng.choice([w for w in (4, 8, 1) if size % w == 0]))
        by = int(rng.integers(0, min(size, 200) // width)) * width
        told.append((ways[int(rng.integers(len(ways)))], base.moved(by), None, width))
    both(told, caches)
    if len(ways) < len(EVERY):
        assert led == [len(told)]


@pytest.mark.parametrize("lanes", [BLOCKS * THREADS - 21, 33 + 3 * THREADS, 4 * 32 + 1])
@pytest.mark.parametrize("size", [36, 64, 128])
def test_a_last_warp_may_have_less_lanes(lanes: int, size: int, led: list[int]) -> None:
    g = WHOLE.select(Selection.of_lanes(WHOLE.shape, np.arange(lanes)))
    base = Shifted(np.ascontiguousarray(rows_of(size).ravel()[None, :lanes]))
    told: list[One] = [(STORE if turn % 3 else LOAD, base.moved(4 * (turn % 8)), None, 4) for turn in range(12)]
    together, alone = Caches(3, 1 << 12, geometry=g), Caches(3, 1 << 12, alone=True, geometry=g)
    assert together.all(told, last=True) == alone.all(told)
    assert together.memory.written == alone.memory.written and led == [len(told)]
    f = Footprints().of(g, together.rows, base, None, 4)[0]
    other = Footprint(g, together.rows, base.base.view(np.int64), None, 4)
    assert isinstance(f, Marching) and f.total == other.total and np.array_equal(f.units, other.units)


@pytest.mark.parametrize("also", [[gather(np.random.default_rng(1), 1 << 22, 1 << 15, 4)], [rows_of(8, 1 << 22), rows_of(128, 1 << 23)]])
def test_others_elsewhere_are_followed_beside_them(also: list[Array], led: list[int]) -> None:
    base = Shifted(rows_of(128))
    told: list[One] = [(STORE if turn % 3 else LOAD, base.moved(4 * turn), None, 4) for turn in range(12)]
    told += [(LOAD, Shifted(address), None, 4) for address in also for _ in range(3)]
    both(told, 3)
    assert led[0] >= 12


@pytest.mark.parametrize("by", [4096 - 4, -4, 64])
def test_warps_that_share_a_line_are_followed_all(by: int, led: list[int]) -> None:
    base = Shifted(rows_of(64))
    told: list[One] = [(LOAD if turn % 2 else STORE, base.moved(by if turn == 5 else 4 * turn), None, 4) for turn in range(12)]
    both(told, BLOCKS)
    assert led == [0]


def test_lines_that_others_use_too_are_followed_as_a_whole(led: list[int]) -> None:
    base, rng = Shifted(rows_of(128)), np.random.default_rng(3)
    told: list[One] = [(LOAD, base.moved(4 * turn), None, 4) for turn in range(8)] + [(STORE, gather(rng, 1 << 20, 1 << 15, 4), None, 4)]
    both(told, 3)
    assert led == [0]


def test_caches_without_room_for_all_are_followed_as_a_whole(led: list[int]) -> None:
    base = Shifted(rows_of(4096))
    told: list[One] = [(LOAD, base.moved(128 * turn), None, 4) for turn in range(16)]
    both(told, BLOCKS, 1 << 12)
    caches = Caches(BLOCKS, 1 << 9)
    caches.all(told, last=True)
    assert led == [16, 0]


@pytest.mark.parametrize(("size", "marches"), [(4, False), (8, False), (12, True), (32, True), (36, True), (34, False), (4096, True)])
def test_who_marches_is_seen_from_the_addresses(size: int, marches: bool) -> None:
    rows = Rows.of(np.arange(BLOCKS), BLOCKS)
    f = Footprints().of(WHOLE, rows, Shifted(rows_of(size)), None, 2)[0]
    assert isinstance(f, Marching) == marches
    late = rows_of(size)
    late[-1, -1] += np.uint64(4)
    assert not isinstance(Footprints().of(WHOLE, rows, Shifted(late), None, 2)[0], Marching)
    one, other = (Footprints().of(WHOLE, rows, Shifted(rows_of(size)).moved(8), None, 4)[0] for _ in range(2))
    assert one.total == other.total


@pytest.mark.parametrize("size", [32, 100, 4096])
def test_what_warps_that_march_touch_is_what_others_touch(size: int) -> None:
    rows = Rows.of(np.arange(BLOCKS), BLOCKS)
    base = Shifted(rows_of(size))
    base.facts  # noqa: B018  both of them share these
    for by in (0, 4, 64):
        f = Footprints().of(WHOLE, rows, base.moved(by), None, 4)[0]
        assert isinstance(f, Marching)
        address = rows_of(size).view(np.int64) + by
        other = Footprint(WHOLE, rows, address, None, 4)
        assert (f.total, f.worst, f.ends, f.requests, f.count) == (other.total, other.worst, other.ends, other.requests, other.count)
        assert np.array_equal(f.lanes.full, other.lanes.full) and np.array_equal(f.lanes_of_warp(5)[0], other.lanes.full[5])
        assert np.array_equal(f.units, other.units) and np.array_equal(f.words, other.words)
