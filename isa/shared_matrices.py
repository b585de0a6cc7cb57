"""Matrices in shared memory as tensor cores read them: where the 16-byte pieces of one lie that a descriptor describes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .ports import Addresses

ROWS = 8  # of a swizzle pattern


@dataclass(frozen=True, slots=True)
class SharedMatrix:
    """Strides and swizzle of a matrix: the pattern has rows of `width` bytes, and `mask` says which bits of a row's number move chunks."""

    start: int
    leading: int
    stride: int
    base: int
    width: int
    mask: int
    chunk: int = 16  # bytes that stay together
    continued: int = -1  # where rows go on that reach the end of 128 bytes; -1: nowhere

    def pieces(self, outer: int, inner: int, turned: bool) -> Addresses:
        """The shared addresses of its 16-byte pieces.

        outer rows of `inner` pieces along k; a turned matrix has its pieces along m or n instead: `outer` of them for each of `inner` k.
        """
        i, k = np.arange(outer)[:, None], np.arange(inner)
        across = self.width // 16
        if not turned:
            column = k % across * 16 + k // across * self.leading
            if self.continued >= 0:
                byte = self.start % 128 + 16 * k
                column = np.where(byte < 128, 16 * k, self.continued + byte - 128 - self.start)
            offset = i % ROWS * self.width + i // ROWS * self.stride + column
        elif self.mask == 0:
            offset = i * self.stride + k % ROWS * 16 + k // ROWS * self.leading
        else:
            rows = ROWS * 16 // self.chunk
            offset = i % across * 16 + i // across * self.leading + k % rows * self.width + k // rows * self.stride
        place = self.start + offset
        found: Addresses = (place ^ ((place >> 7) - self.base & self.mask) * self.chunk).astype(np.uint64)
        return found
