"""Accesses in disorder: caches that are asked lane by lane find what the same caches find line by line, whether they overflow or not."""

import numpy as np
import pytest

from warplab.interpreter.memory.contention import atomic_global
from warplab.interpreter.observers.footprint import Footprint
from warplab.interpreter.observers.hierarchy import atomic_sectors
from warplab.interpreter.observers.known import Footprints
from warplab.interpreter.observers.l1 import PrivateCaches
from warplab.interpreter.observers.l2 import Lines, SharedCache
from warplab.interpreter.observers.lanewise import LanewiseCaches
from warplab.interpreter.observers.pages import PAGE, Place
from warplab.interpreter.observers.rows import Rows
from warplab.interpreter.observers.scattered import Scattered, scattered
from warplab.interpreter.observers.sectors import Demand, count_bits, different, marks_of, sectors_of, united
from warplab.interpreter.observers.tables import FIXED, REGION
from warplab.interpreter.vector.lanes import Geometry
from warplab.interpreter.vector.values import Array, Shifted

BLOCKS, THREADS = 8, 128


def footprints(address: Array, mask: Array | None, width: int, caches: int) -> tuple[Scattered, Footprint, Rows]:
    """An access worked out both ways."""
    g, rows = Geometry.whole(BLOCKS, THREADS), Rows.of(np.arange(BLOCKS) % caches, caches)
    value = Shifted(address) if mask is None else address
    found = scattered(g, rows, value, mask, width)
    assert found is not None
    return found, Footprint(g, rows, address.view(np.int64), mask, width), rows


def places(rng: np.random.Generator, span: int, width: int) -> Array:
    return rng.integers(0, span // width, (BLOCKS, THREADS), dtype=np.uint64) * np.uint64(width) + np.uint64(1 << 20)


@pytest.mark.parametrize("caches", [BLOCKS, 3])
@pytest.mark.parametrize("width", [2, 4, 8, 16])
def test_lanes_in_order_touch_what_is_found_lane_by_lane(caches: int, width: int) -> None:
    g, rows = Geometry.whole(BLOCKS, THREADS), Rows.of(np.arange(BLOCKS) % caches, caches)
    address = np.arange(BLOCKS * THREADS).reshape(BLOCKS, THREADS) * width
    at_once, found = (Footprint(g, rows, address, None, width, run=run).entries for run in (0, None))
    for name in ("units", "home", "line", "words", "first", "each"):
        assert np.array_equal(getattr(at_once, name), getattr(found, name)), name


@pytest.mark.parametrize("caches", [BLOCKS, 3])
@pytest.mark.parametrize("width", [1, 4, 16])
@pytest.mark.parametrize("masked", [False, True])
def test_a_footprint_is_the_same_found_either_way(caches: int, width: int, masked: bool) -> None:
    rng = np.random.default_rng(width)
    address = places(rng, 1 << 14, width)
    a, b, _ = footprints(address, rng.random(address.shape) < 0.7 if masked else None, width, caches)
    assert (a.requests, a.count, a.ideal, a.total, a.ends, a.worst) == (b.requests, b.count, b.ideal, b.total, b.ends, b.worst)
    assert np.array_equal(a.units, b.units) and np.array_equal(a.words, b.words)
    assert np.array_equal(a.outline.line, b.outline.line) and np.array_equal(a.outline.home, b.outline.home)
    assert np.array_equal(a.sectors, sectors_of(b.words)) and np.array_equal(a.written.words, b.written.words)
    assert np.array_equal(a.asked.wanted, b.asked.wanted) and np.array_equal(a.read.wanted, b.read.wanted)
    parts = b.words & rng.integers(0, 1 << 32, b.words.size)  # lines that hold parts of sectors
    for x, y in ((a.asked.missed(parts), b.asked.missed(parts)), (a.asked.missed(0 * parts), b.asked.missed(0 * parts))):
        assert x is not None and y is not None and np.array_equal(x, y)
    assert a.asked.missed(a.asked.wanted) is None


@pytest.mark.parametrize(
    ("lines", "span", "caches"), [(1 << 14, 1 << 16, BLOCKS), (256, 1 << 18, BLOCKS), (512, 1 << 17, 3), (128, 1 << 15, 5)]
)
def test_lane_by_lane_and_line_by_line_find_the_same(lines: int, span: int, caches: int) -> None:
    rng = np.random.default_rng(lines)
    lanewise, private = LanewiseCaches(caches, lines), PrivateCaches(caches, lines)
    for turn in range(24):
        address = places(rng, span, 4)
        mask = rng.random(address.shape) < 0.6 if turn % 4 == 3 else None
        a, b, rows = footprints(address, mask, 4, caches)
        place = b.outline.place(0, rows)
        if turn % 7 == 5:
            some = place.part(np.arange(0, place.cache.size, 9))
            lanewise.drop(some, 0)
            private.drop(some, 0)
        if turn == 17:
            for cache in (lanewise, private):  # memory further on: the tables grow
                cache.store(Place.of(np.zeros(1, np.int64), np.array([1 << 20]), caches), 0, Demand(np.array([0xFF])))
        if turn == 9:
            for cache in (lanewise, private):
                cache.empty(np.array([1]))
        found, want = lanewise.load_each(*a.sectors_by_lane), private.load(place, 0, Demand(b.asked.wanted))
        assert found is not None
        assert found.size == (0 if want is None else int(count_bits(want).sum()))
    lanewise._settle()
    for name in ("floor", "gone", "inserted", "_ring"):
        assert np.array_equal(getattr(lanewise, name), getattr(private, name)), name
    assert (lanewise.floor > 1).sum() >= (caches if lines < 1 << 14 else 1)


@pytest.mark.parametrize("bytes_alone", [False, True])
def test_lines_with_parts_of_sectors_are_left_to_others(bytes_alone: bool) -> None:
    rng = np.random.default_rng(1)
    lanewise = LanewiseCaches(BLOCKS, 1 << 12)
    a, b, rows = footprints(places(rng, 1 << 13, 4), None, 4, BLOCKS)
    assert lanewise.load_each(*a.sectors_by_lane) is not None
    lanewise.empty(np.arange(BLOCKS))
    lanewise.store(b.outline.place(0, rows), 0, Demand(marks_of(sectors_of(b.words)) if bytes_alone else b.words & 0x11111111))
    assert lanewise.load_each(*a.sectors_by_lane) is None


def test_memory_far_from_the_start_is_left_to_others() -> None:
    rng = np.random.default_rng(1)
    near = places(rng, 1 << 13, 4)
    for far in (FIXED * 128 * PAGE * REGION, 1 << 36):
        for address in (near + np.uint64(far), np.where(rng.random(near.shape) < 0.5, near, near + np.uint64(far))):
            lanewise = LanewiseCaches(BLOCKS, 1 << 12)
            a, _, _ = footprints(address, None, 4, BLOCKS)
            assert lanewise.load_each(*a.sectors_by_lane) is None


@pytest.mark.parametrize(("lines", "span"), [(1 << 14, 1 << 16), (1 << 10, 1 << 20)])
def test_the_shared_cache_finds_the_same(lines: int, span: int) -> None:
    rng = np.random.default_rng(lines)
    one, other = SharedCache(lines), SharedCache(lines)
    for turn in range(40):
        sector = rng.integers(0, span // 32, 900).astype(np.uint32)
        numbers = different(sector.copy())
        line, bits = (numbers >> 2).astype(np.int64), np.int64(1) << ((numbers & 3) << 3).astype(np.int64)
        each = Lines.of(line)
        if turn % 5 == 4:
            for cache in (one, other):
                cache.store(each, 0, Demand(each.united(bits)))
        whole = Demand(each.united(bits * 0xFF))
        if turn % 3 == 2 and (found := one.update_each(sector)) is not None:
            assert found == (other.load(each, 0, whole), other.store(each, 0, whole))
        else:
            assert one.load_each(sector) == other.load(each, 0, whole)
    assert (one.held, one.floor, one.now) == (other.held, other.floor, other.now)


@pytest.mark.parametrize("span", [1 << 9, 1 << 13, 1 << 24])
@pytest.mark.parametrize("masked", [False, True])
def test_atomics_count_as_the_rule_does(span: int, masked: bool) -> None:
    rng = np.random.default_rng(span)
    address = places(rng, span, 4)
    a, b, _ = footprints(address, rng.random(address.shape) < 0.5 if masked else None, 4, BLOCKS)
    want = atomic_global(a.lanes.where, a.lanes.mask, 4)[1]
    assert np.array_equal(atomic_sectors(a, 0), want) and np.array_equal(atomic_sectors(b, 0), want)
    assert [atomic_global(x, m, 4)[1].item(0) for x, m in zip(a.lanes.where, a.lanes.mask, strict=True)] == want.tolist()


def test_united_is_what_reduceat_gives() -> None:
    rng = np.random.default_rng(0)
    for share in (0.05, 0.5, 0.9):
        words = rng.integers(0, 1 << 32, 500)
        starts = np.flatnonzero(np.concatenate(([True], rng.random(499) < share)))
        assert np.array_equal(united(words, starts), np.bitwise_or.reduceat(words, starts))


@pytest.mark.parametrize(("low", "by", "same", "moved"), [
    ((0,), 28, True, True), ((0,), 32, False, True), ((0,), -4, False, True), ((0, 16), 12, True, True), ((0, 16), 16, False, False),
    ((4, 20), -4, True, True), ((4, 20), 32, False, True), ((0,), 1 << 32, False, False),
])  # fmt: skip
def test_lanes_that_all_move_as_many_sectors_are_not_looked_at_again(low: tuple[int, ...], by: int, same: bool, moved: bool) -> None:
    rng = np.random.default_rng(3)
    g, rows = Geometry.whole(BLOCKS, THREADS), Rows.of(np.arange(BLOCKS) % 3, 3)
    known = Footprints()
    base = Shifted(places(rng, 1 << 20, 32) + rng.choice(np.array(low, np.uint64), (BLOCKS, THREADS)))
    first, _ = known.of(g, rows, base, None, 4)
    first.units  # noqa: B018  # looked at before
    then, _ = known.of(g, rows, base.moved(by), None, 4)
    alone, _ = Footprints().of(g, rows, Shifted(base.moved(by).array()), None, 4)
    assert isinstance(first, Scattered) and isinstance(then, Scattered) and isinstance(alone, Scattered)
    assert (then.same is first, then.root is first) == (same, moved)
    assert then.ends == alone.ends and np.array_equal(then.place, alone.place)
    assert (then.total, then.worst[1]) == (alone.total, alone.worst[1])
