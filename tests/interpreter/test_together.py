"""Accesses that wait and are followed all at once find what they find one after the other; where lines have to go, what a real cache of that kind finds."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warplab.interpreter.observers import backlog, fresh_l1, fresh_order, uses
from warplab.interpreter.observers.backlog import Backlog
from warplab.interpreter.observers.footprint import Footprint
from warplab.interpreter.observers.hierarchy import Hierarchy
from warplab.interpreter.observers.joint_l2 import JointCache
from warplab.interpreter.observers.known import footprints
from warplab.interpreter.observers.reuse import oldest_kept
from warplab.interpreter.observers.rows import Rows
from warplab.interpreter.observers.scattered import Scattered
from warplab.interpreter.observers.sectors import LINE
from warplab.interpreter.vector.lanes import Geometry
from warplab.interpreter.vector.values import Array, Shifted, plain
from warplab.isa.profiles import profile

H200 = profile("sm_90")
BLOCKS, THREADS = 8, 128
LOAD, CG, STORE, STREAM, ATOMIC = ("ld", ()), ("ld", ("cg",)), ("st", ()), ("ld", ("L1::no_allocate",)), ("red", ("add",))
WHOLE = Geometry.whole(BLOCKS, THREADS)
Found = list[tuple[int, int, int]]
One = tuple[tuple[str, tuple[str, ...]], Array | Shifted, Array | None, int]


@dataclass(frozen=True, eq=False)
class Told:
    """Where one access tells what it found."""

    found: Found
    at: int
    sampled: bool

    def tell(self, w: uses.Waiting, total: int, hits: int, l2: int, l2_hits: int) -> None:
        assert total <= w.f.total  # parts of an access may be told one after the other
        before = self.found[self.at]
        self.found[self.at] = before[0] + hits, before[1] + l2, before[2] + l2_hits

    def sample(self, f: Footprint, start: int) -> None:
        assert not self.sampled or f.worst == (int(f.units.argmax()), int(f.units.max()))


class Caches:
    """A hierarchy that is told accesses by their addresses, and what each of them found."""

    def __init__(self, caches: int, lines: int, *, alone: bool = False, sampled: bool = False, geometry: Geometry = WHOLE) -> None:
        self.sampled, self.geometry = sampled, geometry
        self.memory = Hierarchy(H200, caches, lines * LINE, 0)
        self.rows = Rows.of((geometry if geometry.warps.aligned else geometry.warps).block[:, 0] % caches, caches)
        self.found: Found = []
        self.waited = 0
        if alone:
            self.memory.backlog.takes = lambda f: False  # type: ignore[method-assign]

    def access(self, what: tuple[str, tuple[str, ...]], address: Array | Shifted, mask: Array | None, width: int) -> None:
        place = Shifted(address) if mask is None and not isinstance(address, Shifted) else address
        f, start = footprints.of(self.geometry, self.rows, place, mask, width)
        i: Any = SimpleNamespace(modifiers=what[1])
        out = self.memory.access(i, what[0], f, start, self.rows)
        at = len(self.found)
        self.found.append((out.hits, out.l2, out.l2_hits))
        if out.waiting is not None:
            self.waited += 1
            out.waiting.sink = Told(self.found, at, self.sampled)

    def all(self, accesses: list[One], emptied: Callable[[int], list[int]] = lambda turn: [], *, last: bool = False) -> Found:
        for turn, one in enumerate(accesses):
            if some := emptied(turn):
                self.memory.empty(np.array(some))
            self.access(*one)
        self.memory.settle(last=last)
        return self.found


def gather(rng: np.random.Generator, base: int, span: int, width: int) -> Array:
    return rng.integers(0, span // width, (BLOCKS, THREADS), dtype=np.uint64) * np.uint64(width) + np.uint64(base)


def row(base: int, width: int) -> Array:
    return np.arange(BLOCKS * THREADS, dtype=np.uint64).reshape(BLOCKS, THREADS) * np.uint64(width) + np.uint64(base)


def accesses(
    rng: np.random.Generator, span: int, *, ways: list[tuple[str, tuple[str, ...]]], apart: bool, turns: int = 40
) -> Iterator[One]:
    """Most in disorder, some in order, some masked."""
    for _ in range(turns):
        way, width = ways[rng.integers(len(ways))], int(rng.choice([4, 8, 16]))
        base = (1 << 20) + (2 * ways.index(way) * span if apart else 0)
        if rng.random() < 0.3:
            yield way, row(base + int(rng.integers(span // LINE)) * LINE, width), None, width
        else:
            yield way, gather(rng, base, span, width), rng.random((BLOCKS, THREADS)) < 0.6 if rng.random() < 0.3 else None, width


@pytest.mark.parametrize(
    "ways", [[LOAD], [LOAD, STORE], [LOAD, CG], [LOAD, ATOMIC, STORE], [CG, STORE, ATOMIC], [STORE], [LOAD, STREAM, STORE, ATOMIC]]
)
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("caches", [BLOCKS, 3])
@pytest.mark.parametrize("fences", [False, True])
def test_what_waits_finds_what_it_finds_alone(
    ways: list[tuple[str, tuple[str, ...]]], apart: bool, caches: int, fences: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(backlog, "BATCH", 6 * BLOCKS * THREADS)
    monkeypatch.setattr(backlog, "LANES", 6 * BLOCKS * THREADS)  # so that the caches catch up several times
    monkeypatch.setattr(uses, "PIECE", 1000)
    rng = np.random.default_rng(len(ways) + caches)
    told = list(accesses(rng, 1 << 15, ways=ways, apart=apart))
    together, alone = Caches(caches, 1 << 13), Caches(caches, 1 << 13, alone=True)

    def emptied(turn: int) -> list[int]:
        return [c for c in range(caches) if (turn * 7 + c) % 11 < 3] if fences else []

    assert together.all(told, emptied) == alone.all(told, emptied)
    assert together.waited >= 4 and not alone.waited
    assert together.memory.written == alone.memory.written
    more: list[One] = [
        (LOAD, gather(rng, 1 << 20, 1 << 16, 4), None, 4),
        (ATOMIC, row(1 << 20, 4), None, 4),
        (STORE, row(1 << 20, 8), None, 8),
    ]
    together.memory.backlog.takes = lambda f: False  # type: ignore[method-assign]
    assert together.all(more) == alone.all(more)  # the caches hold the same
    for name in () if fences else ("inserted", "gone", "floor", "now"):
        assert np.array_equal(getattr(together.memory.l1, name), getattr(alone.memory.l1, name)), name
    assert together.memory.l2.held == alone.memory.l2.held


@pytest.mark.parametrize(
    "ways", [[LOAD], [LOAD, STORE], [LOAD, CG], [LOAD, ATOMIC, STORE], [CG, STORE, ATOMIC], [STORE], [ATOMIC], [LOAD, STREAM, STORE]]
)
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("caches", [BLOCKS, 3])
@pytest.mark.parametrize("fences", [False, True])
@pytest.mark.parametrize("dense", [1 << 20, 0])
def test_a_launch_whose_accesses_all_wait_finds_what_they_find_alone(
    ways: list[tuple[str, tuple[str, ...]]], apart: bool, caches: int, fences: bool, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(fresh_l1, "DENSE", dense)
    monkeypatch.setattr(fresh_l1, "SPREAD", 8 if dense else 0)
    monkeypatch.setattr(fresh_order, "PIECE", 5000)
    followed, afresh = [False], Backlog._afresh

    def noted(*given: Any, **named: Any) -> bool:
        followed.append(afresh(*given, **named))
        return followed[-1]

    monkeypatch.setattr(Backlog, "_afresh", noted)
    rng = np.random.default_rng(len(ways) + caches)
    told = list(accesses(rng, 1 << 15, ways=ways, apart=apart))
    together, alone = Caches(caches, 1 << 13, sampled=caches < BLOCKS), Caches(caches, 1 << 13, alone=True)

    def emptied(turn: int) -> list[int]:
        return [c for c in range(caches) if (turn * 7 + c) % 11 < 3] if fences else []

    assert together.all(told, emptied, last=True) == alone.all(told, emptied)
    assert together.memory.written == alone.memory.written
    assert followed[-1] or (not apart and (STREAM in ways or (STORE in ways and {CG, ATOMIC} & set(ways))))  # parts that are read past L1


@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(("lines", "between"), [*((1 << 13, x) for x in (None, LOAD, CG, STORE, "fence")), (1 << 9, None)])
def test_what_is_stored_where_it_was_loaded_is_in_the_caches(width: int, last: bool, lines: int, between: Any) -> None:
    rng = np.random.default_rng(width)
    told: list[One] = []
    for turn in range(16):
        place = Shifted(gather(rng, 1 << 20, 1 << 15 if lines > 1 << 9 else 1 << 18, width))
        told.append((LOAD, place, None, width))
        if between in (LOAD, CG, STORE):
            told.append((between, gather(rng, 1 << (20 if between == CG else 21), 1 << 15, 4), None, 4))
        told += [(way, place, None, width) for way in (STORE, LOAD, STORE)[: 1 + turn % 3]]

    def emptied(turn: int) -> list[int]:
        return [turn % 3] if between == "fence" else []

    together, alone = Caches(3, lines), Caches(3, lines, alone=True)
    found, want = together.all(told, emptied, last=last), alone.all(told, emptied)
    assert together.waited
    if lines > 1 << 9:
        assert found == want
        assert together.memory.written == alone.memory.written
    else:
        real = sum(real_hits(told, 3, lines, emptied))
        assert sum(hits for hits, _, _ in found) == pytest.approx(real, rel=0.02)


@pytest.mark.parametrize(("lines", "fits"), [(1 << 12, True), (1 << 8, False)])
def test_a_launch_that_uses_more_than_l2_holds_is_not_followed_as_one_that_fits(lines: int, fits: bool) -> None:
    rng = np.random.default_rng(6)
    told: list[One] = [(LOAD, gather(rng, 1 << 20, 1 << 17, 4), None, 4) for _ in range(12)]
    c = Caches(BLOCKS, 1 << 12)
    c.memory.l2 = c.memory.backlog.l2 = JointCache(lines)
    found = c.all(told, last=True)
    lost = sum(l2 - l2_hits for _, l2, l2_hits in found)
    sectors = np.unique(np.concatenate([plain(one[1]).ravel() for one in told]) >> np.uint64(5)).size
    assert (lost == sectors) is fits and lost >= sectors


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("apart", [True, False])
def test_bytes_that_are_stored_here_and_there_wait_too(last: bool, apart: bool) -> None:
    rng = np.random.default_rng(3)
    told: list[One] = []
    for _ in range(12):
        told.append((STORE, gather(rng, 1 << 20, 1 << 14, 1), None, 1))
        told.append((LOAD, gather(rng, 1 << (22 if apart else 20), 1 << 14, 4), None, 4))
    together, alone = Caches(3, 1 << 12), Caches(3, 1 << 12, alone=True)
    assert together.all(told, last=last) == alone.all(told)
    assert together.memory.written == alone.memory.written and together.waited


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("lanes", [1 << 20, 5000])  # in one chapter, and in several
@pytest.mark.parametrize("also", [[], [ATOMIC], [CG], [STREAM]])
def test_loads_and_stores_of_parts_in_any_order_find_what_they_find_alone(
    seed: int, lanes: int, also: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(backlog, "LANES", lanes)
    ways = [LOAD, STORE, *also]
    rng = np.random.default_rng(seed)
    caches, span = int(rng.choice([8, 3, 1])), 1 << int(rng.integers(10, 17))
    told: list[One] = []
    for _ in range(24):
        way = ways[rng.integers(len(ways))]
        width = int(rng.choice([4, 8] if way == ATOMIC else [1, 2, 4, 8]))
        in_order = row((1 << 20) + int(rng.integers(span // width)) * width, width)
        place = in_order if rng.random() < 0.35 else gather(rng, 1 << 20, span, width)
        mask = None if rng.random() < 0.5 else rng.random(place.shape) < rng.choice([0.05, 0.3, 0.7])
        told.append((way, place if mask is not None else Shifted(place), mask, width))
        if rng.random() < 0.25:  # the same place again
            told.append((STORE if way == LOAD else LOAD, told[-1][1], mask, width))
    together, alone = Caches(caches, 1 << 14, sampled=seed % 2 > 0), Caches(caches, 1 << 14, alone=True)
    assert together.all(told, last=True) == alone.all(told)
    assert together.memory.written == alone.memory.written and together.waited


@pytest.mark.parametrize("also", [[], [STORE], [STORE, ATOMIC]])
def test_caches_are_asked_after_some_chapters_as_if_they_had_been_before(also: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "LANES", 4 * BLOCKS * THREADS)
    rng = np.random.default_rng(len(also))
    ways = [LOAD, *also]
    told: list[One] = [(ways[turn % len(ways)], gather(rng, 1 << 20, 1 << 15, 4), None, 4) for turn in range(30)]
    told += [(STREAM, gather(rng, 1 << 20, 1 << 15, 4), None, 4), *told[:3]]
    together, alone = Caches(3, 1 << 12), Caches(3, 1 << 12, alone=True)

    def emptied(turn: int) -> list[int]:
        return [1] if turn in (7, 30) else []

    assert together.all(told, emptied, last=True) == alone.all(told, emptied)
    assert together.memory.written == alone.memory.written and together.waited


def test_masked_lanes_that_do_the_same_are_the_same() -> None:
    rng, rows = np.random.default_rng(4), Rows.of(np.arange(BLOCKS), BLOCKS)
    address, mask = gather(rng, 1 << 20, 1 << 16, 4), rng.random((BLOCKS, THREADS)) < 0.5
    one, same, other = (
        footprints.of(WHOLE, rows, a, m, 4)[0] for a, m in ((address, mask), (address.copy(), mask.copy()), (address, ~mask))
    )
    assert one is same and isinstance(other, Scattered) and other is not one


def real_hits(told: list[One], caches: int, lines: int, emptied: Callable[[int], list[int]]) -> list[int]:
    """Sectors that are found in caches that are followed line by line; lanes of one access find what was there before, or what another missed."""
    held: list[OrderedDict[int, int]] = [OrderedDict() for _ in range(caches)]
    out = []
    for turn, (way, place, mask, _) in enumerate(told):
        address = plain(place)
        for some in emptied(turn):
            held[some].clear()
        hits = 0
        for block in range(BLOCKS):
            cache = held[block % caches]
            active = np.ones(THREADS, np.bool_) if mask is None else mask[block]
            for warp in range(0, THREADS, 32):
                some = address[block, warp : warp + 32][active[warp : warp + 32]] >> np.uint64(5)
                for sector in np.unique(some).tolist():
                    line, bit = sector >> 2, 1 << (sector & 3)
                    if way == CG:
                        cache.pop(line, None)
                        continue
                    hits += way == LOAD and bool(cache.get(line, 0) & bit)
                    cache[line] = cache.get(line, 0) | bit
                    cache.move_to_end(line)
                    if len(cache) > lines:
                        cache.popitem(last=False)
        out.append(hits)
    return out


@pytest.mark.parametrize(
    ("lines", "span", "limit"), [(512, 1 << 17, 1 << 20), (512, 1 << 17, 3000), (128, 1 << 15, 9000), (256, 1 << 16, 1 << 20)]
)
@pytest.mark.parametrize("caches", [BLOCKS, 3])
@pytest.mark.parametrize(("also", "last"), [*((also, last) for also in ("", "drops", "fences") for last in (False, True)), ("all", True)])
def test_caches_that_overflow_find_what_real_ones_find(
    lines: int, span: int, limit: int, caches: int, also: str, last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(backlog, "LANES", limit)
    monkeypatch.setattr(backlog, "BATCH", limit)
    monkeypatch.setattr(uses, "PIECE", limit // 2)
    rng = np.random.default_rng(lines)
    told: list[One] = [
        (CG if also in ("drops", "all") and turn % 5 == 4 else LOAD, gather(rng, 1 << 20, span, 4), None, 4) for turn in range(60)
    ]

    def emptied(turn: int) -> list[int]:
        if also == "all":
            return [c for c in range(caches) if (turn * 7 + c) % 11 < 3]
        return [c for c in range(caches) if turn % 13 == 12 - c] if also == "fences" else []

    c = Caches(caches, lines)
    found = c.all(told, emptied, last=last)
    want = sum(real_hits(told, caches, lines, emptied))
    assert c.waited == len(told) and (last or (c.memory.l1.floor > 1).all())
    assert sum(hits for hits, _, _ in found) == pytest.approx(want, rel=0.02)
    assert (c.memory.l1.inserted - c.memory.l1.gone <= lines).all()


def test_what_was_used_lately_is_kept() -> None:
    """A cache of four lines: a, b, c, d, a, e, then all again."""
    used = np.ones((1, 6), np.int64)
    names = "abcdae"
    moved = np.zeros((1, 6, 6), np.int64)
    for at, x in enumerate(names):
        if x in names[:at]:
            moved[0, at, names[:at].rfind(x)] = 1
    kept = oldest_kept(np.zeros((1, 0), np.int64), used, moved, 4)
    assert kept[0].tolist() == [0, 0, 0, 0, 0, 1, 2]  # nothing is older than step 1; b, last used in step 1, had to go for e


def test_who_gets_in_each_others_way_is_asked_one_after_the_other() -> None:
    rng = np.random.default_rng(5)
    store, load = gather(rng, 1 << 20, 1 << 14, 4), gather(rng, 1 << 20, 1 << 14, 4)
    c = Caches(BLOCKS, 1 << 12)
    told: list[One] = [(STORE, store, None, 4), (LOAD, load, None, 4)]
    assert c.all(told) == Caches(BLOCKS, 1 << 12, alone=True).all(told)
    c.all([(LOAD, load, None, 4)])
    assert c.waited == 2  # for a while nobody waits


def test_footprints_of_spread_lanes_are_found_lane_by_lane() -> None:
    g, rows = Geometry.whole(BLOCKS, THREADS), Rows.of(np.arange(BLOCKS), BLOCKS)
    spread = {width: isinstance(footprints.of(g, rows, Shifted(row(1 << 20, width)), None, 4)[0], Scattered) for width in (4, 8, 32, 4096)}
    assert spread == {4: False, 8: False, 32: True, 4096: True}


def test_a_lane_alone_has_the_address_of_its_warp() -> None:
    g, rows, one = Geometry.whole(1, 1), Rows.of(np.zeros(1, np.int64), 1), np.ones((1, 1), np.bool_)
    assert type(footprints.of(g, rows, np.full((1, 1), 1 << 20, np.uint64), one, 4)[0]) is Footprint


def test_the_same_lanes_a_few_lines_further_on_are_other_places() -> None:
    g, rows = Geometry.whole(BLOCKS, THREADS), Rows.of(np.arange(BLOCKS), BLOCKS)
    here = Shifted(gather(np.random.default_rng(1), 1 << 20, 1 << 14, 4))
    for lines in (0, 3, 0):
        f, start = footprints.of(g, rows, here.moved(lines * LINE), None, 4)
        assert isinstance(f, Scattered) and start == 0
        assert f.ends[0] + start == here.facts.low // LINE + lines


@pytest.mark.parametrize("ways", [[STORE], [ATOMIC], [STORE, ATOMIC], [CG, ATOMIC], [CG, STORE], [LOAD, STORE]])
@pytest.mark.parametrize("settles", [1, 2, 6])
def test_what_lanes_in_disorder_write_is_written_back_once(ways: list[tuple[str, tuple[str, ...]]], settles: int) -> None:
    rng = np.random.default_rng(settles)
    told: list[One] = [(ways[turn % len(ways)], gather(rng, 1 << 20, 1 << 15, 4), None, 4) for turn in range(6)]
    together, alone = Caches(BLOCKS, 1 << 12), Caches(BLOCKS, 1 << 12, alone=True)
    for at in range(0, 6, 6 // settles):
        for c in (together, alone):
            for one in told[at : at + 6 // settles]:
                c.access(*one)
            c.memory.backlog.settle(c.memory._ask, full=True)
    assert together.found == alone.found and together.waited
    assert together.memory.written == alone.memory.written > 0
