"""What registers and memory hold before anything writes them: on a GPU anything, here poison by a seed, which makes a run repeatable."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LENGTH = (1 << 17) - 1  # bytes of poison, which follow each other again and again: a prime, so that no two blocks hold the same


class Poison:
    """The poison of one wave of a launch."""

    def __init__(self, seed: int, launch: int, first_block: int) -> None:
        self._bytes = _bytes(seed & (2**64 - 1))
        self._at = (launch * 40_503 + first_block * 12_289) % LENGTH  # what comes next

    def fill(self, memory: Array) -> None:
        """Poison in all bytes of an array."""
        at = self._at
        self._at = (at + memory.nbytes) % LENGTH
        poison = np.empty(memory.nbytes, np.uint8)
        done = 0
        while done < poison.size:
            piece = self._bytes[at : at + poison.size - done]
            poison[done : done + piece.size] = piece
            done, at = done + piece.size, 0
        memory[...] = poison.view(memory.dtype).reshape(memory.shape)

    def registers(self, registers: list[Any], zeros: Mapping[int, Any], shape: tuple[int, int]) -> None:
        """Registers that would hold zeros hold poison, in each lane another."""
        for slot, zero in zeros.items():
            bits = np.empty(shape, f"u{zero.dtype.itemsize}")
            self.fill(bits)
            registers[slot] = bits & 1 != 0 if zero.dtype.kind == "b" else bits.view(zero.dtype)


@functools.cache
def _bytes(seed: int) -> Array:
    return np.frombuffer(np.random.default_rng(seed).bytes(LENGTH), np.uint8)
