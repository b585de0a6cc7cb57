"""Loads and stores of a pass: the address, its check, and the move of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from warplab.isa.types import ScalarType

from ..plan import plan as P
from . import scheduler
from .frame import Frame
from .memory import SPACES, Helpers
from .trace.code import Code
from .trace.symbol import Symbol, lift
from .variance import LANE, ONE

Guard = tuple[int, Symbol] | None


class Accesses:
    """The part of an Emitter that touches memory."""

    frame: Frame
    width: int
    once: Code
    code: Code
    helpers: Helpers

    def source(self, s: Any) -> tuple[int, Any]:
        """See Emitter."""
        raise NotImplementedError

    def at(self, kind: int, value: Any) -> Any:
        """See Emitter."""
        raise NotImplementedError

    def assign(self, t: P.Target, kind: int, value: Any, guard: Guard) -> None:
        """See Emitter."""
        raise NotImplementedError

    def block(self) -> str:
        """See Emitter."""
        raise NotImplementedError

    def first_thread(self) -> str:
        """See Emitter."""
        raise NotImplementedError

    def ld(self, op: P.Op, guard: Guard) -> None:
        """ld."""
        access = op.meaning.access
        assert access is not None
        space, t, n, w = SPACES[access.space], access.type, access.elements, self.width
        bits = 8 * t.bytes
        kind, a = self.source(op.sources[0])
        if space == "local":
            self.assign(op.target, LANE, tuple(self._from_stack(a, t, e, guard) for e in range(n)), guard)
            return
        if guard is None and space == "global" and kind == ONE:
            code, a = self.once, a.view(f"u{a.itemsize}").astype(np.uint64)
            one = code.emit(f"extractelement {a.type} {a.value}, i32 0")
            result = code.emit(f"call {_result(bits, n, 1)} @{self.helpers.load_one(bits, n)}(ptr %ctx, ptr %host.b, ptr {self._site(code)}, i64 {one})")
        else:
            kind, code = LANE, self.code
            where = self._where(space, a, t.bytes * n)
            result = code.emit(f"call {_result(bits, n, w)} @{self.helpers.load(space, bits, n)}({where}, <{w} x i1> {self._active(guard)})")
        parts = [result] if n == 1 else [code.emit(f"extractvalue {_result(bits, n, code.width)} {result}, {e}") for e in range(n)]
        self.assign(op.target, kind, tuple(Symbol(code, v, np.dtype(f"u{t.bytes}")).view(t.dtype) for v in parts), guard)

    def st(self, op: P.Op, guard: Guard) -> None:
        """st."""
        access = op.meaning.access
        assert access is not None
        space, t, w = SPACES[access.space], access.type, self.width
        _, a = self.source(op.sources[0])
        _, parts = self.source(op.sources[1])
        values = []
        for part in parts:
            v = self.at(LANE, part)
            v = v.astype("u1") if v.dtype.kind == "b" else v.view(f"u{v.itemsize}")
            v = v if v.itemsize == t.bytes else v.astype(f"u{t.bytes}")
            values.append(v)
        if space == "local":
            for e, v in enumerate(values):
                self._to_stack(a, t, e, v, guard)
            return
        where = self._where(space, a, t.bytes * len(parts))
        name = self.helpers.store(space, 8 * t.bytes, len(parts))
        self.code.lines.append(f"  call void @{name}({where}, <{w} x i1> {self._active(guard)}, {', '.join(f'{v.type} {v.value}' for v in values)})")

    # ------------------------------------------------------------ each lane's own stack

    def _stack(self, a: Symbol, at: int, size: int, t: ScalarType) -> tuple[str, Symbol]:
        """Where a word of the stack lies, as arguments, and its address; `size` bytes from there on must be legal and the whole aligned."""
        code = self.code
        a = lift(code, self.at(LANE, a.view(f"u{a.itemsize}")), np.dtype(f"u{a.itemsize}"), self.width)
        if a.itemsize == 8:
            a = self._narrow(a)
        a = np.where((a & np.uint32(t.bytes - 1)) == np.uint32(0), a, np.uint32(0xFFFFFFFF))  # an address out of line lies nowhere
        threads = self.once.emit(f"getelementptr i64, ptr %ctx, i64 {scheduler.BLOCK_LANES}")
        each = self.once.emit(f"load i64, ptr {threads}, align 8")
        start = code.emit(f"mul i64 {self.block()}, {each}")
        lane = code.emit(f"add i64 {start}, {self.first_thread()}")
        lane0 = code.emit(f"getelementptr i32, ptr %local.b, i64 {lane}")
        last = self.once.emit("sub i64 %local_size, 3")
        limit = self.once.emit(f"trunc i64 {last} to i32")
        return f"ptr %ctx, ptr {lane0}, i64 %local_stride, i32 {limit}", a + np.uint32(at) if at else a

    def _word(self, where: str, a: Symbol, guard: Guard) -> Symbol:
        mask = f"<{self.width} x i1> {self._active(guard)}"
        f = self.helpers.local("load")
        return Symbol(self.code, self.code.fresh(f"call <{self.width} x i32> @{f}({where}, {a.type} {a.value}, {mask})"), np.uint32)

    def _put_word(self, where: str, a: Symbol, v: Symbol, guard: Guard) -> None:
        mask = f"<{self.width} x i1> {self._active(guard)}"
        self.code.lines.append(f"  call void @{self.helpers.local('store')}({where}, {a.type} {a.value}, {mask}, {v.type} {v.value})")

    def _from_stack(self, address: Symbol, t: ScalarType, e: int, guard: Guard) -> Symbol:
        where, a = self._stack(address, e * t.bytes, 4 if t.bytes < 4 else t.bytes, t)
        if t.bytes < 4:
            v = self._word(where, a & np.uint32(0xFFFFFFFC), guard) >> ((a & np.uint32(3)) << np.uint32(3))
            return v.astype(f"u{t.bytes}").view(t.dtype)
        low = self._word(where, a, guard)
        if t.bytes == 4:
            return low.view(t.dtype)
        high = self._word(where, a + np.uint32(4), guard)
        return (low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)).view(t.dtype)

    def _to_stack(self, address: Symbol, t: ScalarType, e: int, v: Symbol, guard: Guard) -> None:
        where, a = self._stack(address, e * t.bytes, 4 if t.bytes < 4 else t.bytes, t)
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

    def _site(self, code: Code) -> str:
        return code.emit(f"getelementptr i64, ptr %sites.b, i64 {2 * self.frame.site()}")

    def _where(self, space: str, a: Symbol, size: int) -> str:
        """The arguments of an access that say where: memory, what the site remembers, and each lane's address."""
        a = self.at(LANE, a.view(f"u{a.itemsize}"))
        if space == "global":
            a = a.astype(np.uint64)
            return f"ptr %ctx, ptr %host.b, ptr {self._site(self.code)}, i64 0, {a.type} {a.value}"
        if a.itemsize == 8:
            a = self._narrow(a)
        start = self.code.emit(f"mul i64 {self.block()}, %shared_stride")
        base = self.code.emit(f"getelementptr i8, ptr %shared.b, i64 {start}")
        room = self.once.emit(f"sub i64 %shared_size, {size - 1}")
        none = self.once.emit(f"icmp slt i64 {room}, 0")
        limit = self.once.emit(f"select i1 {none}, i64 0, i64 {room}")
        return f"ptr %ctx, ptr {base}, ptr null, i64 {limit}, {a.type} {a.value}"

    def _narrow(self, a: Symbol) -> Symbol:
        """An address of 64 bits as one of 32, where the upper half must be zero: else one that lies nowhere."""
        return np.where(a < np.uint64(1 << 32), a.astype(np.uint32), np.uint32(0xFFFFFFFF))

    def _active(self, guard: Guard) -> str:
        """The mask of the lanes that take part."""
        if guard is None:
            return "%active"
        g = self.at(LANE, guard[1])
        return self.code.emit(f"and {g.type} {g.value}, %active")


def _result(bits: int, elements: int, width: int) -> str:
    one = f"<{width} x i{bits}>"
    return one if elements == 1 else "{" + ", ".join([one] * elements) + "}"


def compiled(op: P.Op) -> bool:
    """Is an access one of those that are compiled?"""
    access, place = op.meaning.access, op.sources[0]
    return (
        access is not None
        and access.space in SPACES
        and access.type.elements == 1
        and not isinstance(place, P.ParameterPlace | P.FramePlace)
    )
