"""Caches followed all at once find what caches find that are asked one use after the other."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.interpreter.reference_caches import LineCaches
from warplab.interpreter.profiler.caches import DROP, LOAD, PATCH, STORE, STREAM, UPDATE, Uses, find

LINES = 24  # more than most caches below have


def random_words(rng: np.random.Generator, n: int) -> NDArray[np.uint32]:
    """Whole lines, sectors, halves of sectors, and any words."""
    sector = np.uint32(8) * rng.integers(0, 4, n, np.uint32)
    some = np.stack([
        np.full(n, 0xFFFF_FFFF, np.uint32),
        np.left_shift(np.uint32(0xFF), sector),
        np.left_shift(rng.choice(np.array([0x0F, 0xF0, 0x3], np.uint32), n), sector),
        rng.integers(1, 1 << 32, n, np.uint32),
    ])  # fmt: skip
    return np.asarray(some[rng.choice(4, n, p=[0.2, 0.4, 0.3, 0.1]), np.arange(n)])


def stream(rng: np.random.Generator, kinds: list[int], n: int, caches: int) -> Uses:
    """Random uses; some stores write their words in part."""
    words = random_words(rng, n)
    covered = np.where(rng.random(n) < 0.7, words, words & random_words(rng, n)) if rng.random() < 0.5 else None
    line = rng.integers(0, int(rng.choice([1, LINES])), n) + (1 << 20)
    return Uses(
        rng.integers(0, caches, n).astype(np.uint16), line, words, rng.choice(kinds, n).astype(np.uint8), covered
    )  # fmt: skip


def asked(reference: LineCaches, u: Uses) -> list[int]:
    """What the uses find one after the other."""
    covered = u.words if u.covered is None else u.covered
    return [reference.ask(*one) for one in zip(*(x.tolist() for x in (u.cache, u.line, u.words, u.kind, covered)), strict=True)]


L1_KINDS = [LOAD, LOAD, STORE, STREAM, PATCH, DROP]
MIXTURES = [[LOAD], [LOAD, STORE], [LOAD, STORE, DROP], L1_KINDS]


@pytest.mark.parametrize("lines", [4, 16, 64])
@pytest.mark.parametrize("kinds", [*MIXTURES, [LOAD, STORE, UPDATE]])
@pytest.mark.parametrize("seed", range(8))
def test_find_equals_the_reference(seed: int, kinds: list[int], lines: int) -> None:
    rng, clash = np.random.default_rng(seed), UPDATE not in kinds
    u = stream(rng, kinds, int(rng.integers(1, 600)), 3)
    reference = LineCaches(3, lines, clash=clash)
    found = find(u, lines, clash=clash)
    assert found.hits.tolist() == asked(reference, u)
    if not clash:
        assert found.written == reference.written


@pytest.mark.parametrize("lines", [4, 64])
@pytest.mark.parametrize("kinds", [*MIXTURES, [LOAD, STORE, UPDATE]])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_held_goes_on(seed: int, kinds: list[int], lines: int) -> None:
    """A stream cut in two finds the same: the resident lines of the first part begin the second."""
    rng, clash = np.random.default_rng(seed), UPDATE not in kinds
    u = stream(rng, kinds, 400, 2)
    cut = int(rng.integers(1, 399))
    if u.covered is None:
        u = u._replace(covered=u.words)
    reference = LineCaches(2, lines, clash=clash)
    want = asked(reference, u)
    one = find(Uses(*(x[:cut] for x in u)), lines, clash=clash, keep=True)  # type: ignore[index]
    assert one.held is not None
    held = one.held.uses()
    other = find(Uses(*(np.concatenate([a, b[cut:]]) for a, b in zip(held, u, strict=True))), lines, clash=clash)  # type: ignore[arg-type, index]
    assert one.hits.tolist() + other.hits[held.line.size :].tolist() == want
    if not clash:
        assert one.written + other.written - int(np.bitwise_count(one.held.written).sum()) == reference.written


def test_a_cache_of_no_lines_finds_nothing() -> None:
    u = stream(np.random.default_rng(0), [LOAD], 50, 1)
    assert not find(u, 0, clash=True).hits.any()
