"""Loads and stores of a pass: the address, its check, and the move of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plan import plan as P
from .frame import Frame
from .memory import SPACES
from .trace.code import Code
from .trace.symbol import Symbol
from .variance import LANE, ONE

Guard = tuple[int, Symbol] | None


class Accesses:
    """The part of an Emitter that touches memory."""

    frame: Frame
    width: int
    once: Code
    code: Code

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

    def load(self, op: P.Op, guard: Guard) -> None:
        """ld."""
        access = op.meaning.access
        assert access is not None
        space, t = SPACES[access.space], access.type
        kind, a = self.source(op.sources[0])
        a = a.view(f"u{a.itemsize}").astype(np.uint64)
        if guard is not None or space != "global":
            kind = LANE
        a = self.at(kind, a)
        code = self.once if kind == ONE else self.code
        mask = self._active(guard)
        ok = self._checked(kind, space, a, t.bytes * access.elements, False, mask)
        if space == "shared":
            a = self._in_block(a)
        base, bits, values = f"%{'shared' if space == 'shared' else 'host'}.b", 8 * t.bytes, []
        for e in range(access.elements):
            at = a + np.uint64(e * t.bytes) if e else a
            if kind == LANE:
                w = self.width
                raw = code.emit(f"call <{w} x i{bits}> @gather{bits}(i1 {ok}, ptr {base}, {at.type} {at.value}, <{w} x i1> {mask})")
            else:
                one = code.emit(f"extractelement {at.type} {at.value}, i32 0")
                raw = code.emit(f"call <1 x i{bits}> @one{bits}(i1 {ok}, ptr {base}, i64 {one})")
            values.append(Symbol(code, raw, np.dtype(f"u{t.bytes}")).view(t.dtype))
        self.assign(op.target, kind, tuple(values), guard)

    def store(self, op: P.Op, guard: Guard) -> None:
        """st."""
        access = op.meaning.access
        assert access is not None
        space, t, code, w = SPACES[access.space], access.type, self.code, self.width
        _, a = self.source(op.sources[0])
        a = self.at(LANE, a.view(f"u{a.itemsize}").astype(np.uint64))
        _, parts = self.source(op.sources[1])
        mask = self._active(guard)
        ok = self._checked(LANE, space, a, t.bytes * len(parts), True, mask)
        if space == "shared":
            a = self._in_block(a)
        base = f"%{'shared' if space == 'shared' else 'host'}.b"
        for e, part in enumerate(parts):
            v = self.at(LANE, part)
            v = v.view(f"u{v.itemsize}")
            v = v if v.itemsize == t.bytes else v.astype(f"u{t.bytes}")
            at = a + np.uint64(e * t.bytes) if e else a
            where = f"ptr %ctx, i1 {ok}, ptr {base}, {at.type} {at.value}"
            code.lines.append(f"  call void @scatter{8 * t.bytes}({where}, {v.type} {v.value}, <{w} x i1> {mask})")

    def _active(self, guard: Guard) -> str:
        """The mask of the lanes that take part."""
        if guard is None:
            return "%active"
        g = self.at(LANE, guard[1])
        return self.code.emit(f"and {g.type} {g.value}, %active")

    def _checked(self, kind: int, space: str, a: Symbol, size: int, write: bool, mask: str) -> str:
        """Emits the check of an access; gives whether it may be done."""
        w = self.width
        if space == "shared":
            return self.code.emit(f"call i1 @shared_many(ptr %ctx, {a.type} {a.value}, <{w} x i1> {mask}, i64 {size})")
        code = self.once if kind == ONE else self.code
        site = code.emit(f"getelementptr i64, ptr %sites.b, i64 {2 * self.frame.site()}")
        if kind == LANE:
            return code.emit(
                f"call i1 @check_many(ptr %ctx, ptr {site}, {a.type} {a.value}, <{w} x i1> {mask}, i64 {size}, i64 {int(write)})"
            )
        one = code.emit(f"extractelement {a.type} {a.value}, i32 0")
        return code.emit(f"call i1 @check_one(ptr %ctx, ptr {site}, i64 {one}, i64 {size}, i64 {int(write)})")

    def _in_block(self, a: Symbol) -> Symbol:
        """Offsets in a block's shared memory as offsets in the wave's."""
        start = self.code.emit(f"mul i64 {self.block()}, %shared_stride")
        w = self.width
        first = self.code.emit(f"insertelement <{w} x i64> poison, i64 {start}, i32 0")
        splat = self.code.emit(f"shufflevector <{w} x i64> {first}, <{w} x i64> poison, <{w} x i32> zeroinitializer")
        return a + Symbol(self.code, splat, np.uint64)


def compiled(op: P.Op) -> bool:
    """Is an access one of those that are compiled?"""
    access, place = op.meaning.access, op.sources[0]
    return (
        access is not None
        and access.space in SPACES
        and access.type.elements == 1
        and not isinstance(place, P.ParameterPlace | P.FramePlace)
    )
