"""Local memory of a pass: each lane's own stack, which lies word by word across the lanes of the wave."""

from __future__ import annotations

from typing import Any

import numpy as np

from warplab.isa.types import ScalarType

from ..schedule import words
from ..trace.symbol import SymbolicArray, lift
from ..variance import LANE
from .values import Guard, Values


class Stack(Values):
    """The part of an Emitter that reads and writes each lane's own stack."""

    def _place(self, address: SymbolicArray, at: int, size: int) -> tuple[str, Any]:
        """Where a word of the stack lies, as arguments of the helper, and its address: so many bytes into an access of a size."""
        code = self.code
        a: Any = lift(code, self.at(LANE, address.view(f"u{address.itemsize}")), np.dtype(f"u{address.itemsize}"), self.width)
        if a.itemsize == 8:
            a = narrow(a)
        a = np.where((a & np.uint32(size - 1)) == np.uint32(0), a, np.uint32(0xFFFFFFFF))  # an address out of line lies nowhere
        threads = self.once.emit(f"getelementptr i64, ptr %ctx, i64 {words.BLOCK_LANES}")
        each = self.once.emit(f"load i64, ptr {threads}, align 8")
        start = code.emit(f"mul i64 {self.block()}, {each}")
        lane = code.emit(f"add i64 {start}, {self.first_thread()}")
        lane0 = code.emit(f"getelementptr i32, ptr %local.b, i64 {lane}")
        last = self.once.emit("sub i64 %local_size, 3")
        limit = self.once.emit(f"trunc i64 {last} to i32")
        return f"ptr %ctx, ptr {lane0}, i64 %local_stride, i32 {limit}", a + np.uint32(at) if at else a

    def _word(self, where: str, a: SymbolicArray, guard: Guard) -> Any:
        mask = f"<{self.width} x i1> {self.mask(guard)}"
        f = self.helpers.local("load")
        return SymbolicArray(self.code, self.code.fresh(f"call <{self.width} x i32> @{f}({where}, {a.type} {a.value}, {mask})"), np.uint32)

    def _put_word(self, where: str, a: Any, v: Any, guard: Guard) -> None:
        mask = f"<{self.width} x i1> {self.mask(guard)}"
        self.code.lines.append(f"  call void @{self.helpers.local('store')}({where}, {a.type} {a.value}, {mask}, {v.type} {v.value})")

    def from_stack(self, address: SymbolicArray, t: ScalarType, e: int, count: int, guard: Guard) -> Any:
        """One of the elements that a load reads."""
        where, a = self._place(address, e * t.bytes, count * t.bytes)
        if t.bytes < 4:
            v = self._word(where, a & np.uint32(0xFFFFFFFC), guard) >> ((a & np.uint32(3)) << np.uint32(3))
            return v.astype(f"u{t.bytes}").view(t.dtype)
        low = self._word(where, a, guard)
        if t.bytes == 4:
            return low.view(t.dtype)
        high = self._word(where, a + np.uint32(4), guard)
        return (low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)).view(t.dtype)

    def to_stack(self, address: SymbolicArray, t: ScalarType, e: int, count: int, v: Any, guard: Guard) -> None:
        """Stores one of the elements of a store."""
        where, a = self._place(address, e * t.bytes, count * t.bytes)
        if t.bytes < 4:
            shift = (a & np.uint32(3)) << np.uint32(3)
            keep = ~(np.uint32((1 << 8 * t.bytes) - 1) << shift)
            word = a & np.uint32(0xFFFFFFFC)
            v = self._word(where, word, guard) & keep | v.astype(np.uint32) << shift
            self._put_word(where, word, v, guard)
            return
        self._put_word(where, a, v.astype(np.uint32), guard)
        if t.bytes == 8:
            self._put_word(where, a + np.uint32(4), (v >> np.uint64(32)).astype(np.uint32), guard)


def narrow(a: Any) -> Any:
    """An address of 64 bits as one of 32, where the upper half must be zero: else one that lies nowhere."""
    return np.where(a < np.uint64(1 << 32), a.astype(np.uint32), np.uint32(0xFFFFFFFF))
