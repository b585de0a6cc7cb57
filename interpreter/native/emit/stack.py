"""Local memory of a pass: each lane's own stack, which lies word by word across the lanes of the wave."""

from __future__ import annotations

from typing import Any

import numpy as np

from warplab.isa.types import ScalarType

from ..schedule.layout import WaveRecord
from ..trace.symbol import SymbolicArray, lift
from ..uniformity import VARYING
from .memory import CALLED
from .values import Guard, Values


class Stack(Values):
    """The part of an Emitter that reads and writes each lane's own stack."""

    def _place(self, address: SymbolicArray, at: int, size: int) -> tuple[str, Any]:
        """Where a word of the stack lies, as arguments of the helper, and its address: so many bytes into an access of a size."""
        code = self.code
        a: Any = lift(code, self.at(VARYING, address.view(f"u{address.itemsize}")), np.dtype(f"u{address.itemsize}"), self.width)
        if a.itemsize == 8:
            a = narrow(a)
        a = np.where((a & np.uint32(size - 1)) == np.uint32(0), a, np.uint32(0xFFFFFFFF))  # an address out of line lies nowhere
        for gap in self.frame.gaps:  # nor does one beside a variable
            touches = a - np.uint32(gap.start - size + 1) < np.uint32(gap.end - gap.start + size - 1)
            a = np.where(touches, np.uint32(0xFFFFFFFF), a)
        last = self.once.emit("sub i64 %local_size, 3")
        limit = self.once.emit(f"trunc i64 {last} to i32")
        return f"ptr %ctx, ptr {self._own_stack()}, i64 %local_stride, i32 {limit}", a + np.uint32(at) if at else a

    def _own_stack(self) -> str:
        """Where the first words of the lanes' stacks lie side by side."""
        threads = self.once.emit(f"getelementptr i64, ptr %ctx, i64 {WaveRecord.place('block_lanes')}")
        each = self.once.emit(f"load i64, ptr {threads}, align 8")
        start = self.code.emit(f"mul i64 {self.block()}, {each}")
        lane = self.code.emit(f"add i64 {start}, {self.first_thread()}")
        return self.code.emit(f"getelementptr i32, ptr %local.b, i64 {lane}")

    def _word(self, where: str, a: SymbolicArray, guard: Guard) -> Any:
        f = self.helpers.local("load")
        found = self.code.fresh(f"call <{self.width} x i32> @{f}({where}, {a.type} {a.value}, {self.lanes(guard)}) {CALLED}")
        return SymbolicArray(self.code, found, np.uint32)

    def _put_word(self, where: str, a: Any, v: Any, guard: Guard) -> None:
        f = self.helpers.local("store")
        self.code.lines.append(f"  call void @{f}({where}, {a.type} {a.value}, {self.lanes(guard)}, {v.type} {v.value}) {CALLED}")

    # ------------------------------------------------------------ one address for all

    def _row(self, address: SymbolicArray, size: int) -> str | None:
        """The number of the row in which the first word of an access to one address lies; None if lanes may have different addresses.

        An illegal address is found before the pass begins.
        """
        once = self.once
        if address.code is not once:
            return None
        a: Any = address.view(f"u{address.itemsize}").astype(np.uint64)
        word = once.emit(f"extractelement {a.type} {a.value}, i32 0")
        room = once.emit(f"sub i64 %local_size, {size - 1}")
        fine = once.emit(f"icmp slt i64 {word}, {room}")
        aligned = once.emit(f"icmp eq i64 {once.emit(f'and i64 {word}, {size - 1}')}, 0")
        legal = once.emit(f"and i1 {once.emit(f'and i1 {fine}, {aligned}')}, {once.emit(f'icmp sge i64 {word}, 0')}")
        for gap in self.frame.gaps:
            into = once.emit(f"sub i64 {word}, {gap.start - size + 1}")
            legal = once.emit(f"and i1 {legal}, {once.emit(f'icmp uge i64 {into}, {gap.end - gap.start + size - 1}')}")
        if legal not in self._checked:
            self._checked.add(legal)
            bad = once.emit(f"zext i1 {once.emit(f'xor i1 {legal}, true')} to i64")
            status = once.fresh("load i64, ptr %ctx, align 8")
            once.lines.append(f"  store i64 {once.fresh(f'or i64 {status}, {bad}')}, ptr %ctx, align 8")
        return once.emit(f"select i1 {legal}, i64 {once.emit(f'lshr i64 {word}, 2')}, i64 0")

    def _words(self, row: str, first: int) -> str:
        """Where the words of the lanes in a row lie, so many bytes behind another."""
        at = self.once.emit(f"add i64 {row}, {first // 4}") if first else row
        place = self.once.emit(f"mul i64 {at}, %local_stride")
        return self.code.emit(f"getelementptr i32, ptr {self._own_stack()}, i64 {place}")

    def _row_loaded(self, place: str, guard: Guard) -> Any:
        f, t = self.helpers.moving("load", 32, self.width), f"<{self.width} x i32>"
        mask = f"<{self.width} x i1> {self.mask(guard)}"
        return SymbolicArray(self.code, self.code.fresh(f"call {t} @{f}(ptr {place}, i32 4, {mask}, {t} zeroinitializer)"), np.uint32)

    def _row_stored(self, place: str, v: Any, guard: Guard) -> None:
        f, mask = self.helpers.moving("store", 32, self.width), f"<{self.width} x i1> {self.may_store(guard)}"
        self.code.lines.append(f"  call void @{f}({v.type} {v.value}, ptr {place}, i32 4, {mask})")

    def may_store(self, guard: Guard) -> str:
        """The mask of the lanes that store: none behind an access that was not legal."""
        code, t = self.code, f"<{self.width} x i1>"
        quiet = code.fresh(f"icmp eq i64 {code.fresh('load i64, ptr %ctx, align 8')}, 0")
        return code.fresh(f"select i1 {quiet}, {t} {self.mask(guard)}, {t} zeroinitializer")

    # ------------------------------------------------------------ elements

    def from_stack(self, address: SymbolicArray, t: ScalarType, e: int, count: int, guard: Guard) -> Any:
        """One of the elements that a load reads."""
        row = self._row(address, count * t.bytes) if t.bytes >= 4 else None
        if row is not None:
            parts = [self._row_loaded(self._words(row, e * t.bytes + i), guard) for i in range(0, t.bytes, 4)]
            return (parts[0] if t.bytes == 4 else _joined(*parts)).view(t.dtype)
        where, a = self._place(address, e * t.bytes, count * t.bytes)
        if t.bytes < 4:
            v = self._word(where, a & np.uint32(0xFFFFFFFC), guard) >> ((a & np.uint32(3)) << np.uint32(3))
            return v.astype(f"u{t.bytes}").view(t.dtype)
        low = self._word(where, a, guard)
        if t.bytes == 4:
            return low.view(t.dtype)
        high = self._word(where, a + np.uint32(4), guard)
        return _joined(low, high).view(t.dtype)

    def to_stack(self, address: SymbolicArray, t: ScalarType, e: int, count: int, v: Any, guard: Guard) -> None:
        """Stores one of the elements of a store."""
        row = self._row(address, count * t.bytes) if t.bytes >= 4 else None
        if row is not None:
            for i in range(0, t.bytes, 4):
                part = v if t.bytes == 4 else (v >> np.uint64(8 * i)).astype(np.uint32)
                self._row_stored(self._words(row, e * t.bytes + i), part, guard)
            return
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


def _joined(low: Any, high: Any) -> Any:
    """Two words as one of 64 bits."""
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def narrow(a: Any) -> Any:
    """An address of 64 bits as one of 32, where the upper half must be zero: else one that lies nowhere."""
    return np.where(a < np.uint64(1 << 32), a.astype(np.uint32), np.uint32(0xFFFFFFFF))
