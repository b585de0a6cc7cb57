"""Shared memory of the blocks of a cluster: which block an address means, and where that block's shared memory lies in that of the wave."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...memory.general import OFFSET_BITS
from ..trace.symbol import SymbolicArray, lift
from ..uniformity import VARYING
from .stack import Stack

WAVE = 1 << 30  # more bytes than the shared memory of a wave has: an address from there on lies nowhere
_NOWHERE = np.uint64((1 << 64) - 1)


class Peers(Stack):
    """The part of an Emitter that reaches the shared memory of other blocks."""

    def shared_of(self, a: SymbolicArray, plus: int, size: int) -> SymbolicArray:
        """Addresses in .shared::cluster as places in the shared memory of the wave, for an access of so many bytes that adds `plus` to each."""
        return self._less(self._in_wave(a + a.dtype.type(plus & (1 << 8 * a.itemsize) - 1), size), plus)

    @staticmethod
    def _less(a: Any, by: int) -> SymbolicArray:
        less: SymbolicArray = a - np.uint64(by & (1 << 64) - 1)
        return less

    def special(self, name: str) -> SymbolicArray:
        """See ports.Lanes."""
        value: SymbolicArray = self.at(VARYING, self.special_register(name)[1])
        return value

    def _in_wave(self, a: Any, size: int) -> Any:
        """Places in the wave's shared memory; nowhere for one that is not in its block's, or in a block that the cluster does not have."""
        once, at = self.once, lift(self.code, a, np.dtype(np.uint64), self.width)
        rank, offset = at >> np.uint64(OFFSET_BITS) & np.uint64(0xFF), at & np.uint64((1 << OFFSET_BITS) - 1)
        own, count = (self.special(f"%cluster_{name}").astype(np.uint64) for name in ("ctarank", "nctarank"))
        away = np.where(rank == np.uint64(0), np.uint64(0), rank - np.uint64(1) - own)
        start = self.in_all(self.code.emit(f"mul i64 {self.block()}, %shared_stride"))
        place = start + away * self.in_all("%shared_stride") + offset
        legal = (offset + np.uint64(size) <= self.in_all(once.emit("add i64 %shared_size, 0"))) & (rank <= count)
        for gap in self.frame.shared_gaps:
            legal &= (offset >= np.uint64(gap.end)) | (offset + np.uint64(size) <= np.uint64(gap.start))
        return np.where(legal, place, _NOWHERE)

    def in_all(self, number: str) -> Any:
        """A number of 64 bits in all lanes."""
        one = self.code.emit(f"insertelement <1 x i64> poison, i64 {number}, i32 0")
        return lift(self.code, SymbolicArray(self.code, one, np.uint64, 1), np.dtype(np.uint64), self.width)
