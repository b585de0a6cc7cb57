"""Programs of several launches, which differ in how much work they are, how it is divided into launches, and how long their kernels are.

Their source is choosing/programs.cu, beside what nvcc makes of it (nvcc -ptx -arch=sm_90 -O3).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.interpreter.harness import Array

VARIANTS = 40  # kernels of one template


@dataclass(frozen=True, slots=True)
class Step:
    """A launch; an array is one of those of its program."""

    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Array | np.generic, ...]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choosing:
    """A program: its launches, one after the other."""

    name: str
    steps: Sequence[Step]


def choosing() -> Iterator[Choosing]:
    """All of them."""
    for make in (one_launch, many_launches, several_kernels):
        yield from make(np.random.default_rng(1))


def one_launch(rng: np.random.Generator) -> Iterator[Choosing]:
    """Most are one wave, which an engine can't foresee by the waves that have ended."""
    i = np.int32
    for n in (64, 128, 256):
        yield Choosing(f"triangle {n}", [Step("triangle", (1,), (n,), (i(n), rng.random(2 * n * n, np.float32)))])
    for blocks, turns in ((8, 20), (32, 200)):
        n = 128 * blocks
        arguments = i(n), i(turns), rng.random(n, np.float32), np.zeros(n, np.float32), np.zeros(1, np.uint32)
        yield Choosing(f"grid barrier {blocks} x {turns}", [Step("relaxed", (blocks,), (128,), arguments, {"cooperative": True})])
    for turns in (300, 3000, 30000):
        yield Choosing(f"filter {turns}", [Step("filtered", (1,), (10,), (i(turns), rng.random(turns), np.zeros(20)))])
    for width, most in ((128, 100), (512, 200), (1024, 500)):
        picture = np.zeros((width, width), np.uint8)
        yield Choosing(f"mandelbrot {width}", [Step("mandelbrot", (width // 32, width // 8), (32, 8), (i(width), i(most), picture))])
    for rounds in (20, 500):
        yield Choosing(f"monte carlo {rounds}", [Step("monte_carlo", (64,), (256,), (i(rounds), np.uint64(7), np.zeros(16384)))])
    for n in (512, 4096):
        yield Choosing(
            f"bodies {n}", [Step("bodies", (n // 128,), (128,), (i(n), rng.random((n, 4), np.float32), np.zeros((n, 4), np.float32)))]
        )


def many_launches(rng: np.random.Generator) -> Iterator[Choosing]:
    """One kernel, launched again and again."""
    i = np.int32
    for bits in (10, 14, 17):
        keys, n = rng.integers(0, 1 << 32, 1 << bits, np.uint32), 1 << bits
        order = [(1 << low, 2 << high) for high in range(bits) for low in reversed(range(high + 1))]
        yield Choosing(f"bitonic sort {n}", [Step("sort_step", (n // 256,), (256,), (keys, i(j), i(k))) for j, k in order])
    for n in (64, 256):
        far = rng.random((n, n), np.float32)
        yield Choosing(f"shortest paths {n}", [Step("shortest", (-(-n // 64), n), (64,), (i(n), i(k), far)) for k in range(n)])
    for n in (200, 1000):
        a, b = (rng.integers(0, 4, n, np.uint8) for _ in range(2))
        score = np.zeros((n + 1, n + 1), np.int32)
        diagonals = [Step("aligned", (-(-n // 128),), (128,), (i(n), i(d), a, b, score)) for d in range(2, 2 * n + 1)]
        yield Choosing(f"alignment {n}", diagonals)
    for side, turns in ((64, 20), (512, 60)):
        boards = [(rng.random((side, side)) < 0.3).astype(np.uint8) for _ in range(2)]
        shape = (side // 32, side // 8), (32, 8)
        steps = [Step("lives", *shape, (i(side), i(side), boards[t % 2], boards[1 - t % 2])) for t in range(turns)]
        yield Choosing(f"game of life {side} x {turns}", steps)
    data = rng.integers(0, 1 << 32, 1024, np.uint32)
    for launches in (4, 60, 600):
        steps = [Step("long_stretch", (4,), (256,), (data, np.uint32(k))) for k in range(launches)]
        yield Choosing(f"long stretch x {launches}", steps)


def several_kernels(rng: np.random.Generator) -> Iterator[Choosing]:
    """Kernels in turn, or many of which each is launched a few times."""
    i, n = np.int32, 20000
    values, out = rng.random(n, np.float32), np.zeros(n, np.float32)
    variants = [Step(f"_Z7variantILi{k}EEvPKfPfi", (-(-n // 256),), (256,), (values, out, i(n))) for k in range(VARIANTS)]
    for launches in (1, 4, 40):
        yield Choosing(f"{VARIANTS} kernels x {launches}", [one for one in variants for _ in range(launches)])
    for n, turns in ((1000, 20), (30000, 60)):
        start = np.concatenate([[0], np.cumsum(rng.integers(1, 12, n))]).astype(i)
        column, entries = rng.integers(0, n, start[-1], i), rng.random(start[-1], np.float32)
        x, y, total = rng.random(n, np.float32), np.zeros(n, np.float32), np.zeros(1, np.float32)
        grid, block = (-(-n // 256),), (256,)
        turn = [
            Step("product", grid, block, (i(n), start, column, entries, x, y)),
            Step("dotted", (16,), block, (i(n), x, y, total)),
            Step("stepped", grid, block, (i(n), np.float32(1e-3), y, x)),
        ]
        yield Choosing(f"sparse solver {n} x {turns}", turn * turns)
