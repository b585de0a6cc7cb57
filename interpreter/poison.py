"""What registers and memory hold before anything writes them: on a GPU anything, here poison by a seed, which makes a run repeatable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Poison:
    """The poison of one wave of a launch."""

    def __init__(self, seed: int, launch: int, first_block: int) -> None:
        self._random = np.random.default_rng((seed & (2**64 - 1), launch, first_block))

    def fill(self, memory: Array) -> None:
        """Poison in all bytes of an array."""
        memory[...] = np.frombuffer(self._random.bytes(memory.nbytes), memory.dtype).reshape(memory.shape)

    def registers(self, registers: list[Any], zeros: Mapping[int, Any], shape: tuple[int, int]) -> None:
        """Registers that would hold zeros hold poison, in each lane another."""
        for slot, zero in zeros.items():
            bits = np.empty(shape, f"u{zero.dtype.itemsize}")
            self.fill(bits)
            registers[slot] = bits & 1 != 0 if zero.dtype.kind == "b" else bits.view(zero.dtype)
