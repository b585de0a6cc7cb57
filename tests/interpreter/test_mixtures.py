"""Accesses of all kinds mixed: followed together, each finds what it finds when the caches are asked one access after the other."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.interpreter.test_together import ATOMIC, BLOCKS, CG, LOAD, STORE, STREAM, THREADS, WHOLE, Caches, One
from warplab.interpreter.observers import backlog, fresh_short
from warplab.interpreter.vector.lanes import Geometry, Selection
from warplab.interpreter.vector.values import Array, Shifted

BASE = 1 << 20
LANE = np.arange(BLOCKS * THREADS, dtype=np.uint64).reshape(BLOCKS, THREADS)
Make = Callable[[np.random.Generator, int], Array]


def _run(rng: np.random.Generator, width: int) -> Array:
    return LANE * np.uint64(width) + np.uint64(width * int(rng.integers(0, 40)))


def _stride(rng: np.random.Generator, width: int) -> Array:
    return LANE * np.uint64(width * int(rng.choice([2, 3, 4, 16])))


def _groups(rng: np.random.Generator, width: int) -> Array:
    many = int(rng.choice([4, 8, 16]))
    some = rng.integers(0, 256, LANE.size // many, dtype=np.uint64)
    return np.repeat(some, many).reshape(LANE.shape) * np.uint64(128) + LANE % np.uint64(many) * np.uint64(width)


def _columns(rng: np.random.Generator, width: int) -> Array:
    return LANE % np.uint64(16) * np.uint64(512) + LANE // np.uint64(16) * np.uint64(width)


def _uniform(rng: np.random.Generator, width: int) -> Array:
    return np.full((1, 1), int(rng.integers(0, 99)) * width, np.uint64)


def _by_block(rng: np.random.Generator, width: int) -> Array:
    return rng.integers(0, 1 << 12, (BLOCKS, 1), dtype=np.uint64) * np.uint64(width)


def _by_thread(rng: np.random.Generator, width: int) -> Array:
    return LANE[:1] * np.uint64(width)


def _rows(rng: np.random.Generator, width: int) -> Array:
    return LANE * np.uint64(64) + np.uint64(width * int(rng.integers(0, 64 // width)))


def _gather(rng: np.random.Generator, width: int) -> Array:
    return rng.integers(0, (1 << int(rng.choice([10, 14, 16]))) // width, LANE.shape, dtype=np.uint64) * np.uint64(width)


def _reversed(rng: np.random.Generator, width: int) -> Array:
    return np.ascontiguousarray(LANE[:, ::-1]) * np.uint64(width)


WAYS: list[list[tuple[str, tuple[str, ...]]]] = [
    [LOAD],
    [LOAD, STORE],
    [LOAD, STORE, ATOMIC],
    [LOAD, STORE, CG],
    [LOAD, STORE, STREAM, ATOMIC],
]
MAKE: list[Make] = [_run, _stride, _groups, _columns, _uniform, _by_block, _by_thread, _rows, _gather, _reversed]


def _mask(rng: np.random.Generator) -> Array | None:
    match int(rng.integers(0, 6)):
        case 0:
            return np.asarray(np.less(LANE, int(rng.integers(1, LANE.size))))
        case 1:
            return np.asarray(rng.random(LANE.shape) < rng.choice([0.1, 0.6]))
        case 2:
            return np.asarray(LANE % np.uint64(32) == 0)
        case _:
            return None


def _geometry(rng: np.random.Generator) -> Geometry:
    """All lanes, all but the last ones, or some."""
    match int(rng.integers(0, 4)):
        case 0:
            return WHOLE.select(Selection.of_lanes(WHOLE.shape, np.arange(int(rng.integers(200, LANE.size)))))
        case 1:
            return WHOLE.select(Selection.of_lanes(WHOLE.shape, np.flatnonzero(rng.random(LANE.size) < rng.choice([0.3, 0.9]))))
        case _:
            return WHOLE


def _in(g: Geometry, values: Array) -> Array:
    """The values of a group's lanes."""
    return values if g is WHOLE or values.size == 1 else np.ascontiguousarray(np.broadcast_to(values, LANE.shape)[g.block, g.thread])


def mixture(rng: np.random.Generator, g: Geometry) -> list[One]:
    """Some accesses by a group, of which some come again a little further on."""
    ways = WAYS[int(rng.integers(0, len(WAYS)))]
    make = rng.choice(len(MAKE), int(rng.integers(1, 4)), replace=False)
    arrays = int(rng.integers(1, 4))
    told: list[One] = []
    for _ in range(int(rng.integers(3, 20))):
        width = int(rng.choice([1, 2, 4, 4, 4, 8, 16]))
        where = np.uint64(BASE + (int(rng.integers(0, arrays)) << 17))
        address, mask = _in(g, MAKE[int(rng.choice(make))](rng, width) + where), _mask(rng)
        pointer = Shifted(address)
        pointer.facts  # noqa: B018  what walks on from here shares these
        for step in range(int(rng.choice([1, 1, 3, 6]))):
            way, by = ways[int(rng.integers(0, len(ways)))], step * width * int(rng.choice([0, 1, 8]))
            if mask is None:
                told.append((way, pointer.moved(by), None, width))
            else:
                told.append((way, np.broadcast_to(address + np.uint64(by), g.shape), _in(g, mask), width))
    return told


@pytest.mark.parametrize("seed", [*range(40), 117, 311, 351, 352, 402, 594, 640, 837, 869, 895, 971, 1214])  # the last ones went wrong once
def test_each_finds_what_it_finds_alone(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(seed, 1 << 14, monkeypatch if seed % 3 == 2 else None)


@pytest.mark.parametrize("seed", [*range(40, 70), 2126, 2252, 3329, 3338, 3340])
def test_caches_that_hold_all(seed: int) -> None:
    """Such launches are short, and mostly followed in one go."""
    _check(seed, 1 << 20, None)


@pytest.mark.parametrize("seed", range(70, 100))
def test_sectors_that_two_caches_use(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer launches are followed in one go where no more than two use a sector."""
    monkeypatch.setattr(fresh_short, "MANY", 0)
    _check(seed, 1 << (17 if seed % 2 else 20), None)


def test_stores_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_short, "MANY", 0)
    told = [(STORE, LANE[::step] * np.uint64(8) + np.uint64(BASE), None, 4) for step in (1, -1)]
    together, alone = Caches(3, 1 << 20), Caches(3, 1 << 20, alone=True)
    assert together.all(told, lambda turn: [], last=True) == alone.all(told, lambda turn: [])


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("ways", [[LOAD], [LOAD, STORE], [STORE, LOAD], [LOAD, STORE, LOAD]])
def test_sectors_that_are_used_once(ways: list[tuple[str, tuple[str, ...]]], *, again: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then nothing is found, and nobody has to look who came first."""
    order = np.random.default_rng(1).permutation(LANE.size).astype(np.uint64).reshape(LANE.shape)
    each = [LANE * np.uint64(8), LANE[:, ::-1] * np.uint64(32), order * np.uint64(128), LANE // np.uint64(32) * np.uint64(64)]
    told: list[One] = [
        (ways[turn % len(ways)], np.ascontiguousarray(where) + np.uint64(BASE + (turn << 20)), None, 8) for turn, where in enumerate(each)
    ]
    if again:
        told.append((LOAD, np.full((1, 1), BASE + (1 << 20) + 96, np.uint64), None, 4))
    else:
        monkeypatch.delattr(fresh_short, "_first")
    together, alone = Caches(BLOCKS, 1 << 20), Caches(BLOCKS, 1 << 20, alone=True)
    assert together.all(told, last=True) == alone.all(told)
    assert together.memory.written == alone.memory.written


def _check(seed: int, size: int, chapters: pytest.MonkeyPatch | None) -> None:
    """Follows a mixture together and alone, in L1 caches of so many bytes, as a whole or in chapters."""
    rng = np.random.default_rng(seed)
    g = _geometry(rng)
    told, caches = mixture(rng, g), int(rng.choice([1, 3, BLOCKS]))
    if chapters is not None:
        chapters.setattr(backlog, "LANES", int(rng.integers(1, 8)) * LANE.size)
    fences = {int(turn): [int(c) for c in range(caches) if rng.random() < 0.5] for turn in rng.integers(0, len(told), 2)}

    def emptied(turn: int) -> list[int]:
        return fences.get(turn, []) if seed % 4 == 3 else []

    together, alone = Caches(caches, size, geometry=g), Caches(caches, size, alone=True, geometry=g)
    found, want = together.all(told, emptied, last=True), alone.all(told, emptied)
    assert found == want
    assert together.memory.written == alone.memory.written
