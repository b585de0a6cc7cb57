"""CUDA kernels as people write them every day, with data as they meet them: what a profiler is used on.

Their sources are in everyday/, beside what nvcc makes of them (nvcc -ptx -arch=sm_90 -O3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.bench import everyday_numbers as numbers
from tests.bench import everyday_structures as structures
from tests.interpreter.harness import Array

THEMES = (
    structures.sparse, structures.graphs, structures.hashing, structures.sorting, structures.sequences, structures.pointers,
    numbers.images, numbers.dense, numbers.scans, numbers.physics, numbers.simulation,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Everyday:
    """One launch of a kernel of a file; the arrays are uploaded in their order."""

    name: str
    file: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Array | np.generic, ...]

    @property
    def arrays(self) -> list[Array]:
        """What lies in device memory before the launch."""
        return [x for x in self.arguments if isinstance(x, np.ndarray)]


def everyday(threads: int) -> Iterator[Everyday]:
    """All of them, in launches of about so many threads (a power of two, 4096 or more)."""
    for theme in THEMES:
        for name, grid, block, arguments in theme(threads, np.random.default_rng(1)):
            yield Everyday(name, theme.__name__, grid, block, arguments)
