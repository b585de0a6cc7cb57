"""The values of a pass: what registers hold, where they come from and where they go."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...plan import plan as P
from ...plan.clocks import READ
from ...vector.special import CLOCKS
from ..frame import Frame
from ..schedule.layout import WaveRecord
from ..trace.code import Untraceable, VectorCode, scalar_type
from ..trace.symbol import SymbolicArray, lift
from ..trace.ufuncs import select
from ..uniformity import UNIFORM, VARYING, Kinds, kind_in
from .memory import Helpers

DType = np.dtype[Any]
Guard = tuple[int, SymbolicArray] | None  # the kind of a guard's predicate, and where it holds


class Values:
    """Symbols of a pass: of one value for the wave in `once`, which stands before the loop over vectors, and of each lane in `code`."""

    def __init__(self, frame: Frame, kinds: Kinds, helpers: Helpers, name: str) -> None:
        self.frame = frame
        self.kinds = kinds  # of the registers where the pass begins
        self.helpers = helpers
        self.module = module = helpers.module
        self.name = name
        self.width = frame.width
        self.once, self.code = VectorCode(1, module, "s"), VectorCode(self.width, module, "v")
        self.values: dict[int, tuple[int, Any]] = {}
        self.loaded: dict[int, tuple[int, Any]] = {}  # those that lay in memory
        self.sums: dict[str, tuple[Any, Any]] = {}  # the names of addresses that are one value for all added to one of each lane: the two
        self._checked: set[str] = set()  # what has been asked of the stack's addresses
        self.taking_part: SymbolicArray | None = None  # the lanes that take part in the operations that follow, if not all
        self.keeping: frozenset[int] = frozenset()  # slots that keep their value where the guard of the operation does not hold

    def code_of(self, kind: int) -> VectorCode:
        """Where values of a kind are computed."""
        return self.code if kind == VARYING else self.once

    def at(self, kind: int, value: Any) -> Any:
        """A value as one of a kind: one for all is repeated over the lanes."""
        if isinstance(value, tuple):
            return tuple(self.at(kind, v) for v in value)
        if not isinstance(value, SymbolicArray) or value.code is self.code_of(kind):
            return value
        width, code = self.width, self.code
        if kind == UNIFORM:
            raise Untraceable("a value that varies where one is expected")
        number = value.number
        if number is not None:
            return lift(code, number, value.dtype, width * value.each)
        mask = ", ".join(f"i32 {i % value.each}" for i in range(width * value.each))
        text = f"shufflevector {value.type} {value.value}, {value.type} poison, <{width * value.each} x i32> <{mask}>"
        return SymbolicArray(code, code.emit(text), value.dtype, width * value.each)

    def value(self, slot: int) -> tuple[int, Any]:
        """A register's kind and value."""
        found = self.values.get(slot)
        if found is None:
            found = self.values[slot] = self.loaded[slot] = self._loaded(slot)
        return found

    def _loaded(self, slot: int) -> tuple[int, SymbolicArray]:
        constant = self.frame.constants.get(slot)
        if constant is not None:
            return UNIFORM, lift(self.once, constant, constant.dtype, 1)
        kind, dtype = kind_in(self.kinds, slot), self.frame.dtypes[slot]
        code, (place, align) = self.code_of(kind), self.place_of(slot, kind)
        w = code.width
        if dtype.kind != "b":
            return kind, SymbolicArray(code, code.emit(f"load <{w} x {scalar_type(dtype)}>, ptr {place}, align {align}"), dtype)
        raw = code.emit(f"load {'i32' if kind == UNIFORM else f'i{w}'}, ptr {place}, align {align}")
        bits = code.emit(f"trunc i32 {raw} to i1") if kind == UNIFORM else raw
        return kind, SymbolicArray(code, code.emit(f"bitcast {'i1' if kind == UNIFORM else f'i{w}'} {bits} to <{w} x i1>"), dtype)

    def place_of(self, slot: int, kind: int) -> tuple[str, int]:
        """Where a register lies in memory, and how it is aligned there."""
        if kind == UNIFORM:
            return self.once.emit(f"getelementptr i8, ptr %uniforms.b, i64 {8 * slot}"), 8
        align = max(4, min(64, self.frame.bytes(slot)))
        return self.code.emit(f"getelementptr i8, ptr %frame, i64 {self.frame.offsets[slot]}"), align

    def source(self, s: Any) -> tuple[int, Any]:
        """An operand: its kind and value."""
        match s:
            case int():
                return self.value(s)
            case P.SlotAs():
                kind, v = self.value(s.slot)
                return kind, _reread(v, s.kept, s.wanted)
            case P.Packed():
                kind, v = self.value(s.slot)
                return kind, v.view(f"u{s.type.dtype.itemsize}").view(s.type.dtype)
            case P.Tuple():
                parts = [self.source(e) for e in s.sources]
                values: list[Any] = []
                for _, v in parts:
                    values.extend(v) if isinstance(v, tuple) else values.append(v)
                return max((k for k, _ in parts), default=UNIFORM), tuple(values)
            case P.Special():
                kind, v = self.special_register(s.name) if s.name not in CLOCKS else (UNIFORM, self._clock(s))
                return kind, v if v.dtype == s.dtype else v.view(s.dtype) if v.itemsize == s.dtype.itemsize else v.astype(s.dtype)
            case P.Not():
                kind, v = self.value(s.slot)
                return kind, ~v
            case P.PlusConstant():
                kind, v = self.source(s.source)
                return kind, v + _constant(s.by, s.dtype)
            case P.FramePlace():
                return UNIFORM, lift(self.once, self.frame.start + s.offset, np.dtype(np.uint32), 1)
            case P.FrameAddress():
                return UNIFORM, lift(self.once, self.frame.start + s.window + s.offset, s.dtype, 1)
            case P.ParameterAddress():
                at = self.parameter_block() + np.uint64(self.frame.parameter(P.ParameterPlace(s.variable, s.offset)))
                return UNIFORM, at.astype(s.dtype)
            case P.ScalarConstant():
                return UNIFORM, s.value
            case P.Pointer():
                kind, v = self.value(s.slot)
                return kind, v + _constant(s.offset, v.dtype) if s.offset else v
            case P.AddressSource():
                kind, v = self.source(s.base)
                v = v.view(f"u{v.itemsize}")
                if not s.opaque:
                    v = v.astype(np.uint64)
                return kind, v + _constant(s.offset, v.dtype) if s.offset else v
        raise Untraceable(f"operand {s!r}")

    def parameter_block(self) -> Any:
        """The generic address of the parameters."""
        self.helpers.tables.has_parameter_address = True
        word = self.once.emit(f"getelementptr i64, ptr %ctx, i64 {WaveRecord.place('parameter_block')}")
        return SymbolicArray(self.once, self.once.emit(f"load <1 x i64>, ptr {word}, align 8"), np.dtype(np.uint64))

    def generic_parameter(self, address: SymbolicArray) -> Any:
        """The generic address of an address of 64 bits in .param, which may be the lower half of it only (see Launch)."""
        upper = self.at(VARYING if address.code is self.code else UNIFORM, self.parameter_block() & np.uint64(0xFFFFFFFF << 32))
        return np.where(address >> np.uint64(32) == np.uint64(0), address | upper, address)

    def special_register(self, name: str) -> tuple[int, SymbolicArray]:
        """A special register: a table, of one value, of the blocks of the wave, or of the lanes of a block."""
        n, extent, dtype = self.helpers.tables.special(name)
        kind = UNIFORM if extent == "one" else VARYING
        code = self.code_of(kind)
        p = self.once.emit(f"getelementptr i64, ptr %specials.b, i64 {n}")
        table = self.once.emit(f"load ptr, ptr {p}, align 8")
        t = scalar_type(dtype)
        if extent == "one":
            return UNIFORM, SymbolicArray(code, code.emit(f"load <1 x {t}>, ptr {table}, align {dtype.itemsize}"), dtype)
        if extent == "lane":
            at = code.emit(f"getelementptr {t}, ptr {table}, i64 {self.first_thread()}")
            return VARYING, SymbolicArray(code, code.emit(f"load <{self.width} x {t}>, ptr {at}, align {dtype.itemsize}"), dtype)
        number = code.emit(f"add i64 {self.block()}, %first_block")
        at = code.emit(f"getelementptr {t}, ptr {table}, i64 {number}")
        one = code.emit(f"load <1 x {t}>, ptr {at}, align {dtype.itemsize}")
        zero = ", ".join(["i32 0"] * self.width)
        return VARYING, SymbolicArray(
            code, code.emit(f"shufflevector <1 x {t}> {one}, <1 x {t}> poison, <{self.width} x i32> <{zero}>"), dtype
        )

    def parameter(self, place: P.ParameterPlace, plus: int, dtype: DType) -> SymbolicArray:
        """A value among the kernel's parameters."""
        p = self.once.emit(f"getelementptr i8, ptr %parameters.b, i64 {self.frame.parameter(place) + plus}")
        if dtype.kind == "b":
            raise Untraceable("a predicate among the parameters")
        return SymbolicArray(self.once, self.once.emit(f"load <1 x {scalar_type(dtype)}>, ptr {p}, align 1"), dtype)

    def _clock(self, s: P.Special) -> SymbolicArray:
        """A register that changes with time."""
        once = self.once
        counted, steps, clock, epoch = (
            once.fresh(f"load i64, ptr {once.emit(f'getelementptr i64, ptr %ctx, i64 {WaveRecord.place(word)}')}, align 8")
            for word in ("counted", "steps", "clock_at", "epoch")
        )
        p = once.emit(f"inttoptr i64 {clock} to ptr")
        before = once.emit(f"mul i64 {once.emit(f'add i64 {counted}, {steps}')}, {s.segment}")
        by_segments = once.emit(f"add i64 {before}, {s.offset}")
        by_readers = once.emit(f"add i64 {once.fresh(f'load i64, ptr {p}, align 8')}, {READ}")
        later = once.emit(f"icmp ugt i64 {by_segments}, {by_readers}")
        now = once.emit(f"select i1 {later}, i64 {by_segments}, i64 {by_readers}")
        once.lines.append(f"  store i64 {now}, ptr {p}, align 8")
        one = once.emit(f"insertelement <1 x i64> poison, i64 {once.emit(f'add i64 {now}, {epoch}')}, i32 0")
        value: SymbolicArray = CLOCKS[s.name](SymbolicArray(once, one, np.dtype(np.uint64)))
        return value

    def block(self) -> str:
        """The number in the wave of the block of a vector."""
        return self._of_vector("block_of")

    def first_thread(self) -> str:
        """The linear index in its block of a vector's first lane."""
        return self._of_vector("thread_of")

    def _of_vector(self, table: str) -> str:
        p = self.code.emit(f"getelementptr i64, ptr %{table}.b, i64 %vec")
        return self.code.emit(f"load i64, ptr {p}, align 8")

    # ------------------------------------------------------------ results

    def assign(self, t: P.Target, kind: int, value: Any, guard: tuple[int, SymbolicArray] | None) -> None:
        """A result into its place; lanes where the guard does not hold keep what they had."""
        match t:
            case None:
                return
            case int():
                self._set(t, kind, value, guard)
            case P.Convert():
                self._set(t.slot, kind, _extended(value, t), guard)
            case P.Pack():
                self._set(t.slot, kind, value.view(f"u{value.itemsize}").view(f"u{t.type.bytes}").view(t.kept), guard)
            case P.Each() if t.halves:
                for i, e in enumerate(t.targets):
                    self.assign(e, kind, value[2 * i : 2 * i + 2], guard)
            case P.Each():
                for e, v in zip(t.targets, value, strict=False):
                    self.assign(e, kind, v, guard)

    def _set(self, slot: int, kind: int, value: Any, guard: tuple[int, SymbolicArray] | None) -> None:
        if guard is not None and slot in self.keeping:
            had, old = self.value(slot)
            kind = max(kind, had, guard[0])
            if isinstance(value, tuple) or isinstance(old, tuple):
                raise Untraceable("factors under a guard")
            if old.dtype != value.dtype:
                old = _bits_as(old, value.dtype)
            value = select(self.at(kind, guard[1]), self.at(kind, value), self.at(kind, old))
        elif guard is not None:
            kind = max(kind, guard[0])
            value = self.at(kind, value)
        self.values[slot] = kind, value

    def mask(self, guard: Guard) -> str:
        """The mask of the lanes that take part in an operation."""
        if guard is None and self.taking_part is None:
            return "%active"
        g: Any = self.taking_part if guard is None else self.at(VARYING, guard[1])
        g = g if guard is None or self.taking_part is None else g & self.taking_part
        return self.code.emit(f"and {g.type} {g.value}, %active")

    def lanes(self, guard: Guard) -> str:
        """The same as an integer with a bit for each lane, and its type."""
        w = self.width
        if guard is None and self.taking_part is None:
            return f"i{w} %bits"
        return f"i{w} {self.code.emit(f'bitcast <{w} x i1> {self.mask(guard)} to i{w}')}"


# ---------------------------------------------------------------- bits


def _constant(value: int, dtype: DType) -> Any:
    return np.array(value & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype)[()]


def _reread(v: SymbolicArray, have: DType, want: DType) -> SymbolicArray:
    if have == want:
        return v
    if have.kind == "b" or want.kind == "b":
        return v.astype(want)
    if have.itemsize == want.itemsize:
        return v.view(want)
    return v.view(f"u{have.itemsize}").astype(f"u{want.itemsize}").view(want)


def _bits_as(v: SymbolicArray, want: DType) -> SymbolicArray:
    """What a register held, where its new value has another dtype; no lane reads it if the sizes differ."""
    if v.itemsize == want.itemsize and "b" not in (v.dtype.kind, want.kind):
        return v.view(want)
    return lift(v.code, 0, want, v.lanes)


def _extended(value: SymbolicArray, t: P.Convert) -> SymbolicArray:
    """A result as the bits of the register that keeps it."""
    of = t.type
    if value.dtype.kind == "b":
        v = value.astype(f"u{t.kept.itemsize}")
    elif of.dtype.itemsize == t.kept.itemsize:
        v = value
    else:
        bits = value.view(f"u{value.itemsize}") if value.dtype.kind == "f" else value
        v = bits.astype(f"{'i' if of.kind == 's' else 'u'}{t.kept.itemsize}")
    return v.view(t.kept) if v.dtype != t.kept else v
