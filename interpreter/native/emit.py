"""A stretch of operations as one function over the lanes of a group.

A group's registers are arrays of (rows, columns): rows are blocks, columns are threads.  A value is of one of three kinds: one for all lanes, one
for each row, one for each lane.  The first is computed once, the second once a row, the third for a vector of columns at a time.  Which kind
a register has is known when lanes come, so code is made for each combination that comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warplab.isa.types import TYPES, ScalarType

from ..plan import plan as P
from ..vector.steps.meanings import both, bound
from .memory import field, helpers
from .trace.code import Code, Module, Untraceable, scalar_type
from .trace.meanings import traced
from .trace.symbol import Symbol, lift
from .trace.ufuncs import select

ONE, ROW, LANE = range(3)
DType = np.dtype[Any]

SPACES = {"global": "global", "const": "global", "generic": "global", "shared": "shared", "shared::cta": "shared"}


class Extras:
    """What a stretch reads beside registers: special registers by name, and the block of each lane (for its shared memory)."""

    BLOCK = "block"

    def __init__(self) -> None:
        self.names: list[str] = []

    def number(self, name: str) -> int:
        """The place of one in the list that compiled code is given."""
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)


class Stretch:
    """What operations read and write, before anything is known of kinds."""

    def __init__(self, ops: Sequence[P.Op], live_after: int, constants: dict[int, Any]) -> None:
        self.ops = ops
        self.constants = constants
        reads: dict[int, None] = {}
        written: dict[int, None] = {}
        for op in ops:
            for slot in slots_read(op):
                if slot not in written and slot not in constants:
                    reads[slot] = None
            for slot in slots_written(op.target):
                if op.guard is not None and slot not in written and slot not in constants:
                    reads[slot] = None  # lanes where the guard does not hold keep it
                written[slot] = None
        self.reads = tuple(reads)
        self.writes = tuple(s for s in written if live_after >> s & 1)
        self.specials = tuple(dict.fromkeys(n for op in ops for n in specials_read(op)))
        self.shared = any(_space(op) == "shared" for op in ops)
        self.sites = sum(op.how in ("load", "store") for op in ops)


def _space(op: P.Op) -> str | None:
    return SPACES.get(op.meaning.access.space) if op.how in ("load", "store") and op.meaning.access is not None else None


def slots_read(op: P.Op) -> list[int]:
    """The slots that an operation reads, its guard's included."""
    out: list[int] = [] if op.guard is None else [op.guard.slot]
    for s in op.sources:
        out += _slots(s)
    return out


def _slots(s: Any) -> list[int]:
    match s:
        case int():
            return [s]
        case P.SlotAs() | P.Packed() | P.Not() | P.Pointer():
            return [s.slot]
        case P.Tuple():
            return [x for e in s.sources for x in _slots(e)]
        case P.PlusConstant():
            return _slots(s.source)
        case P.AddressSource():
            return _slots(s.base)
        case _:
            return []


def slots_written(t: P.Target) -> list[int]:
    """The slots that a target sets."""
    match t:
        case None:
            return []
        case int():
            return [t]
        case P.Each():
            return [x for e in t.targets for x in slots_written(e)]
        case _:
            return [t.slot]


def specials_read(op: P.Op) -> list[str]:
    """The special registers that an operation reads."""

    def of(s: Any) -> list[str]:
        match s:
            case P.Special():
                return [s.name]
            case P.Tuple():
                return [x for e in s.sources for x in of(e)]
            case P.PlusConstant():
                return of(s.source)
            case P.AddressSource():
                return of(s.base)
            case _:
                return []

    return [n for s in op.sources for n in of(s)]


class Emitter:
    """Writes the function for one combination of kinds: of the registers that are read, and of the extras."""

    def __init__(
        self, stretch: Stretch, given: dict[int, tuple[int, DType]], extras: list[tuple[str, int, DType]], parameter: Any, width: int, tail: bool
    ) -> None:
        self.stretch = stretch
        self.given = given  # slot -> kind and dtype, where it has a value
        self.extras = {name: (n, kind, dtype) for n, (name, kind, dtype) in enumerate(extras)}
        self.parameter = parameter  # the offset of a parameter
        self.width = width
        self.tail = tail
        self.module = Module()
        self.once, self.by_row = Code(1, self.module, "s"), Code(1, self.module, "r")
        self.mask: str | None = None
        self.results: list[tuple[int, int, DType]] = []  # (slot, kind, dtype)

    # ------------------------------------------------------------ the function

    def text(self) -> str:
        """LLVM IR of the function `run`."""
        n = len(self.given)
        loads: dict[int, list[str]] = {ONE: [], ROW: [], LANE: []}
        for i, (slot, (kind, dtype)) in enumerate(self.given.items()):
            loads[kind] += self._input(f"%in{slot}", f"%ip{i}", f"%is{i}", kind, dtype)
        for name, (i, kind, dtype) in self.extras.items():
            loads[kind] += self._input(f"%ex{i}", f"%ip{n + i}", f"%is{n + i}", kind, dtype)
        bodies = []
        for tail in (False, True)[: 1 + self.tail]:
            bodies.append(self._lanes(loads[LANE], tail))
        heads = []
        for i in range(n + len(self.extras)):
            heads += self._array("%inputs", i, f"%ip{i}", f"%is{i}")
        for i, _ in enumerate(self.stretch.writes):
            heads += self._array("%outputs", i, f"%op{i}", f"%os{i}")
        for name in ("host", "shared", "shared_stride", "parameters"):
            heads += field(name, f"%{name}")
        heads += ["  %host.b = inttoptr i64 %host to ptr", "  %shared.b = inttoptr i64 %shared to ptr", "  %parameters.b = inttoptr i64 %parameters to ptr"]
        lines = [
            "define i64 @run(ptr noalias %inputs, ptr noalias %outputs, ptr %ctx, ptr %sites, i64 %rows, i64 %cols) {", "entry:", *heads,
            *loads[ONE], *self.once.lines, *self._put(ONE), f"  %whole = and i64 %cols, {-self.width}", "  br label %row",
            "row:", "  %r = phi i64 [0, %entry], [%r.next, %row.end]", *loads[ROW], *self.by_row.lines, *self._put(ROW),
            "  %any = icmp ne i64 %whole, 0", f"  br i1 %any, label %vector, label %{'rest' if self.tail else 'row.end'}",
            "vector:", "  %c0 = phi i64 [0, %row], [%c0.next, %vector]", *bodies[0], f"  %c0.next = add i64 %c0, {self.width}",
            "  %more = icmp ult i64 %c0.next, %whole", f"  br i1 %more, label %vector, label %{'rest' if self.tail else 'row.end'}",
        ]  # fmt: skip
        if self.tail:
            lines += ["rest:", *bodies[1], "  br label %row.end"]
        lines += ["row.end:", "  %r.next = add i64 %r, 1", "  %again = icmp ult i64 %r.next, %rows", "  br i1 %again, label %row, label %end",
                  "end:", "  %result = load i64, ptr %ctx, align 8", "  ret i64 %result", "}"]  # fmt: skip
        functions, declared = helpers(self.width)
        self.module.declarations.update(declared)
        return "\n".join([*self.module.head(), functions, *lines])

    @staticmethod
    def _array(table: str, n: int, pointer: str, stride: str) -> list[str]:
        """Where an array begins, and the bytes from row to row."""
        return [f"  {pointer}.a = getelementptr i64, ptr {table}, i64 {2 * n}", f"  {pointer}.i = load i64, ptr {pointer}.a, align 8",
                f"  {pointer} = inttoptr i64 {pointer}.i to ptr", f"  {stride}.a = getelementptr i64, ptr {table}, i64 {2 * n + 1}",
                f"  {stride} = load i64, ptr {stride}.a, align 8"]  # fmt: skip

    def _input(self, name: str, pointer: str, stride: str, kind: int, dtype: DType) -> list[str]:
        """Lines that load a value; @T@ and @C@ stand for what differs between whole vectors and the rest."""
        lanes = self.width if kind == LANE else 1
        stored = "i8" if dtype.kind == "b" else scalar_type(dtype)
        raw = name + ".b@T@" if dtype.kind == "b" else name + "@T@"
        raw, name = (raw, name + "@T@") if kind == LANE else (raw.replace("@T@", ""), name)
        mark = "@T@" if kind == LANE else ""
        lines, at = [], pointer
        if kind != ONE:
            lines += [f"  {name}.o = mul i64 %r, {stride}", f"  {name}.p = getelementptr i8, ptr {pointer}, i64 {name}.o"]
            at = f"{name}.p"
        if kind == LANE:
            lines.append(f"  {name}.q = getelementptr {stored}, ptr {at}, i64 @C@")
            at = f"{name}.q"
        vector = f"<{lanes} x {stored}>"
        lines.append(f"@LOAD {raw} {stored} {dtype.itemsize} {at}" if kind == LANE else f"  {raw} = load {vector}, ptr {at}, align {dtype.itemsize}")
        if dtype.kind == "b":
            lines.append(f"  {name} = icmp ne {vector} {raw}, zeroinitializer")
        del mark
        return lines

    def _lanes(self, loads: list[str], tail: bool) -> list[str]:
        """The code for one vector of columns."""
        width, mark = self.width, "t" if tail else "v"
        code = self.code = Code(width, self.module, mark)
        lines = []
        if tail:
            iota = "<" + ", ".join(f"i64 {i}" for i in range(width)) + ">"
            lines += ["  %left = sub i64 %cols, %whole", f"  %left.s = insertelement <{width} x i64> poison, i64 %left, i32 0",
                      f"  %left.v = shufflevector <{width} x i64> %left.s, <{width} x i64> poison, <{width} x i32> zeroinitializer",
                      f"  %active = icmp ult <{width} x i64> {iota}, %left.v"]  # fmt: skip
            self.mask = "%active"
        else:
            self.mask = None
        column = "%whole" if tail else "%c0"
        for line in loads:
            line = line.replace("@T@", mark).replace("@C@", column)
            if line.startswith("@LOAD"):
                _, name, t, size, at = line.split()
                line = f"  {name} = load <{width} x {t}>, ptr {at}, align {size}"
                if tail:
                    f = f"llvm.masked.load.v{width}{_suffix(t)}.p0"
                    self.module.declarations[f] = f"declare <{width} x {t}> @{f}(ptr, i32, <{width} x i1>, <{width} x {t}>)"
                    line = f"  {name} = call <{width} x {t}> @{f}(ptr {at}, i32 {size}, <{width} x i1> %active, <{width} x {t}> zeroinitializer)"
            lines.append(line)
        self.values: dict[int, tuple[int, Symbol]] = {}
        for slot, (kind, dtype) in self.given.items():
            owner = (self.once, self.by_row, code)[kind]
            self.values[slot] = kind, Symbol(owner, f"%in{slot}{mark if kind == LANE else ''}", dtype)
        for slot, value in self.stretch.constants.items():
            self.values[slot] = ONE, lift(self.once, value, value.dtype, 1)
        self.site = 0
        for n, op in enumerate(self.stretch.ops):
            self._op(n, op)
        stores, self.results = [], []
        for i, slot in enumerate(self.stretch.writes):
            kind, value = self.values[slot]
            self.results.append((slot, kind, value.dtype))
            if kind != LANE:
                continue
            stored = value.astype(np.uint8) if value.dtype.kind == "b" else value
            t = scalar_type(stored.dtype)
            stores += [f"  %o{mark}{i}.r = mul i64 %r, %os{i}", f"  %o{mark}{i}.p = getelementptr i8, ptr %op{i}, i64 %o{mark}{i}.r",
                      f"  %o{mark}{i}.q = getelementptr {t}, ptr %o{mark}{i}.p, i64 {column}"]  # fmt: skip
            if tail:
                f = f"llvm.masked.store.v{width}{_suffix(t)}.p0"
                self.module.declarations[f] = f"declare void @{f}(<{width} x {t}>, ptr, i32, <{width} x i1>)"
                stores.append(f"  call void @{f}({stored.type} {stored.value}, ptr %o{mark}{i}.q, i32 {stored.itemsize}, <{width} x i1> %active)")
            else:
                stores.append(f"  store {stored.type} {stored.value}, ptr %o{mark}{i}.q, align {stored.itemsize}")
        return lines + code.lines + stores

    def _put(self, kind: int) -> list[str]:
        """Stores of results that are one for all lanes or for a row."""
        lines = []
        for i, slot in enumerate(self.stretch.writes):
            have, value = self.values[slot]
            if have != kind:
                continue
            name, t = value.value, scalar_type(value.dtype)
            if value.dtype.kind == "b":
                lines.append(f"  %oz{i} = zext {value.type} {name} to <1 x i8>")
                name, t = f"%oz{i}", "i8"
            at = f"%op{i}"
            if kind == ROW:
                lines += [f"  %or{i} = mul i64 %r, %os{i}", f"  %oq{i} = getelementptr i8, ptr %op{i}, i64 %or{i}"]
                at = f"%oq{i}"
            lines.append(f"  store <1 x {t}> {name}, ptr {at}, align {value.itemsize}")
        return lines

    # ------------------------------------------------------------ values

    def _code(self, kind: int) -> Code:
        return (self.once, self.by_row, self.code)[kind]

    def at(self, kind: int, value: Any) -> Any:
        """A value as one of a kind: what is the same for a row is repeated over its lanes."""
        if isinstance(value, tuple):
            return tuple(self.at(kind, v) for v in value)
        if not isinstance(value, Symbol):
            return value
        width = self.width if kind == LANE else 1
        code = self._code(kind)
        if value.code is code:
            return value
        if value.code.width == width:
            return Symbol(code, value.value, value.dtype, value.lanes)
        mask = ", ".join(f"i32 {i % value.each}" for i in range(width * value.each))
        text = f"shufflevector {value.type} {value.value}, {value.type} poison, <{width * value.each} x i32> <{mask}>"
        return Symbol(code, code.emit(text), value.dtype, width * value.each)

    def source(self, s: Any) -> tuple[int, Any]:
        """An operand: its kind and value."""
        match s:
            case int():
                return self.values[s]
            case P.SlotAs():
                kind, v = self.values[s.slot]
                return kind, self._reread(v, s.kept, s.wanted)
            case P.Packed():
                kind, v = self.values[s.slot]
                return kind, v.view(f"u{s.type.dtype.itemsize}").view(s.type.dtype)
            case P.Tuple():
                parts = [self.source(e) for e in s.sources]
                values: list[Any] = []
                for _, v in parts:
                    values.extend(v) if isinstance(v, tuple) else values.append(v)
                return max((k for k, _ in parts), default=ONE), tuple(values)
            case P.Special():
                n, kind, dtype = self.extras[s.name]
                v = Symbol(self._code(kind), f"%ex{n}{self._mark(kind)}", dtype)
                return kind, v if dtype == s.dtype else v.view(s.dtype) if dtype.itemsize == s.dtype.itemsize else v.astype(s.dtype)
            case P.Not():
                kind, v = self.values[s.slot]
                return kind, ~v
            case P.PlusConstant():
                kind, v = self.source(s.source)
                return kind, v + self._constant(s.by, s.dtype)
            case P.ScalarConstant():
                return ONE, s.value
            case P.Pointer():
                kind, v = self.values[s.slot]
                return kind, v + self._constant(s.offset, v.dtype) if s.offset else v
            case P.AddressSource():
                kind, v = self.source(s.base)
                v = v.view(f"u{v.itemsize}")
                if not s.opaque:
                    v = v.astype(np.uint64)
                return kind, v + self._constant(s.offset, v.dtype) if s.offset else v
        raise Untraceable(f"operand {s!r}")

    def _mark(self, kind: int) -> str:
        return ("t" if self.mask is not None else "v") if kind == LANE else ""

    @staticmethod
    def _constant(value: int, dtype: DType) -> Any:
        return np.array(value & ((1 << 8 * dtype.itemsize) - 1), f"u{dtype.itemsize}").view(dtype)[()]

    @staticmethod
    def _reread(v: Symbol, have: DType, want: DType) -> Symbol:
        if have == want:
            return v
        if have.kind == "b" or want.kind == "b":
            return v.astype(want)
        if have.itemsize == want.itemsize:
            return v.view(want)
        return v.view(f"u{have.itemsize}").astype(f"u{want.itemsize}").view(want)

    # ------------------------------------------------------------ targets

    def assign(self, t: P.Target, kind: int, value: Any, guard: tuple[int, Symbol] | None) -> None:
        """A result into its place; lanes where the guard does not hold keep what they had."""
        match t:
            case None:
                return
            case int():
                self._set(t, kind, value, guard)
            case P.Convert():
                of = t.type
                if value.dtype.kind == "b":
                    v = value.astype(f"u{t.kept.itemsize}")
                elif of.dtype.itemsize == t.kept.itemsize:
                    v = value.view(t.kept)
                else:
                    bits = value.view(f"u{value.itemsize}") if value.dtype.kind == "f" else value
                    v = bits.astype(f"{'i' if of.kind == 's' else 'u'}{t.kept.itemsize}")
                self._set(t.slot, kind, v.view(t.kept) if v.dtype != t.kept else v, guard)
            case P.Pack():
                self._set(t.slot, kind, value.view(f"u{value.itemsize}").view(f"u{t.type.bytes}").view(t.kept), guard)
            case P.Each() if t.halves:
                for i, e in enumerate(t.targets):
                    self.assign(e, kind, value[2 * i : 2 * i + 2], guard)
            case P.Each():
                for e, v in zip(t.targets, value, strict=False):
                    self.assign(e, kind, v, guard)

    def _set(self, slot: int, kind: int, value: Symbol, guard: tuple[int, Symbol] | None) -> None:
        if guard is not None and slot in self.values:  # else no lane reads it where the guard does not hold
            had, old = self.values[slot]
            kind = max(kind, had, guard[0])
            if old.dtype != value.dtype:
                old = old.view(value.dtype) if old.itemsize == value.itemsize and "b" not in (old.dtype.kind, value.dtype.kind) else lift(old.code, 0, value.dtype, old.lanes)
            value = select(self.at(kind, guard[1]), self.at(kind, value), self.at(kind, old))
        self.values[slot] = kind, value

    # ------------------------------------------------------------ operations

    def _op(self, n: int, op: P.Op) -> None:
        guard: tuple[int, Symbol] | None = None
        if op.guard is not None:
            kind, p = self.values[op.guard.slot]
            guard = kind, (~p if op.guard.negated else p)
        match op.how:
            case "load":
                self._load(op, guard)
            case "store":
                self._store(op, guard)
            case "parameter":
                (place,) = op.sources
                self._parameter(op, place, guard)
            case "move" | "pointer" | "factors":
                self._hand_on(op, guard)
            case "pack" | "unpack":
                self._repack(op, guard)
            case "pure":
                self._pure(op, guard)
            case _:
                raise Untraceable(op.how)

    def _pure(self, op: P.Op, guard: Any) -> None:
        parts = [self.source(s) for s in op.sources]
        kind = max((k for k, _ in parts), default=ONE)
        code = self._code(kind)
        results = traced(code, bound(op.meaning), [self.at(kind, v) for _, v in parts])
        self.assign(op.target, kind, results if isinstance(op.target, P.Each) else results[0], guard)

    def _hand_on(self, op: P.Op, guard: Any) -> None:
        parts = [self.source(s) for s in op.sources]
        kind = max(k for k, _ in parts)
        values = [self.at(kind, v) for _, v in parts]
        if op.how == "factors":
            self.assign(op.target, kind, both(*values), guard)
            if op.product is not None:
                self._op(-1, op.product)
        elif op.how == "move":
            self.assign(op.target, kind, values[0], guard)
        else:
            self.assign(op.target, kind, values[0] if len(values) == 1 else values[0] + values[1].view(values[0].dtype), guard)

    def _repack(self, op: P.Op, guard: Any) -> None:
        t = TYPES[str(op.meaning.settled["type"])]
        if t.bits == 128:
            raise Untraceable("128 bits")
        kind, v = self.source(op.sources[0])
        if op.how == "pack":
            parts = self.at(kind, v)
            each = t.bits // len(parts)
            out: Any = parts[0].view(f"u{parts[0].itemsize}").astype(f"u{t.bits // 8}")
            for i, p in enumerate(parts[1:], 1):
                out = out | p.view(f"u{p.itemsize}").astype(f"u{t.bits // 8}") << np.dtype(f"u{t.bits // 8}").type(i * each)
            self.assign(op.target, kind, out.view(t.dtype), guard)
            return
        assert isinstance(op.target, P.Each)
        count = len(op.target.targets)
        each, bits = t.bits // count, v.view(f"u{t.bits // 8}")
        pieces = tuple((bits >> bits.dtype.type(i * each)).astype(TYPES[f"b{each}"].dtype) for i in range(count))
        self.assign(op.target, kind, pieces, guard)

    # ------------------------------------------------------------ memory

    def _parameter(self, op: P.Op, place: Any, guard: Any) -> None:
        dtype: DType = place.dtype
        p = self.once.emit(f"getelementptr i8, ptr %parameters.b, i64 {self.parameter(place)}")
        raw = self.once.emit(f"load <1 x {scalar_type(dtype)}>, ptr {p}, align 1")
        self.assign(op.target, ONE, Symbol(self.once, raw, dtype), guard)

    def _place(self, op: P.Op, source: Any) -> tuple[int, str, Any]:
        """(kind, "global" or "shared", offsets in 64 bits) of an access."""
        space = _space(op)
        if space is None:
            raise Untraceable(str(op.meaning.access))
        kind, a = self.source(source)
        return kind, space, a.view(f"u{a.itemsize}").astype(np.uint64)

    def _checked(self, kind: int, space: str, a: Symbol, size: int, write: bool, mask: str) -> tuple[str, Symbol]:
        """(whether it may be done, offsets from the base): emits the check."""
        code, w = self._code(kind), self.width
        site = code.emit(f"getelementptr i64, ptr %sites, i64 {2 * self.site}")
        if kind == LANE:
            if space == "shared":
                ok = code.emit(f"call i1 @shared_many(ptr %ctx, {a.type} {a.value}, <{w} x i1> {mask}, i64 {size})")
            else:
                ok = code.emit(f"call i1 @check_many(ptr %ctx, ptr {site}, {a.type} {a.value}, <{w} x i1> {mask}, i64 {size}, i64 {int(write)})")
        else:
            one = code.emit(f"extractelement {a.type} {a.value}, i32 0")
            if space == "shared":
                ok = code.emit(f"call i1 @shared_one(ptr %ctx, i64 {one}, i64 {size})")
            else:
                ok = code.emit(f"call i1 @check_one(ptr %ctx, ptr {site}, i64 {one}, i64 {size}, i64 {int(write)})")
        return ok, a

    def _in_block(self, kind: int, a: Symbol) -> tuple[int, Symbol]:
        """Offsets within a block's shared memory as offsets within the wave's."""
        n, block_kind, dtype = self.extras[Extras.BLOCK]
        block = Symbol(self._code(block_kind), f"%ex{n}{self._mark(block_kind)}", dtype)
        kind = max(kind, block_kind)
        b = self.at(kind, block).astype(np.uint64)
        stride = self.at(kind, Symbol(self.once, self.once.emit("bitcast i64 %shared_stride to <1 x i64>"), np.uint64))
        return kind, self.at(kind, a) + b * stride

    def _active(self, guard: Any, code: Code) -> str:
        """The mask of lanes that access memory."""
        ones = "<" + ", ".join(["i1 true"] * self.width) + ">"
        mask = self.mask or ones
        if guard is None:
            return mask
        g = self.at(LANE, guard[1])
        return g.value if self.mask is None else code.emit(f"and {g.type} {g.value}, {mask}")

    def _load(self, op: P.Op, guard: Any) -> None:
        access = op.meaning.access
        assert access is not None
        (source,) = op.sources
        if isinstance(source, P.ParameterPlace | P.FramePlace) or access.type.elements > 1:
            raise Untraceable("ld.param of several elements" if isinstance(source, P.ParameterPlace) else "local memory")
        kind, space, a = self._place(op, source)
        t: ScalarType = access.type
        if guard is not None:
            kind = LANE
        a = self.at(kind, a)
        code = self._code(kind)
        mask = self._active(guard, code) if kind == LANE else ""
        ok, a = self._checked(kind, space, a, t.bytes * access.elements, False, mask)
        self.site += 1
        if space == "shared":
            wide, a = self._in_block(kind, a)
            if wide != kind:
                kind, code = wide, self._code(wide)
                mask = self._active(guard, code) if kind == LANE else ""
        base = f"%{'shared' if space == 'shared' else 'host'}.b"
        values = []
        for e in range(access.elements):
            at = a + np.uint64(e * t.bytes) if e else a
            bits = 8 * t.bytes
            if kind == LANE:
                w = self.width
                raw = code.emit(f"call <{w} x i{bits}> @gather{bits}(i1 {ok}, ptr {base}, {at.type} {at.value}, <{w} x i1> {mask})")
            else:
                one = code.emit(f"extractelement {at.type} {at.value}, i32 0")
                raw = code.emit(f"call <1 x i{bits}> @one{bits}(i1 {ok}, ptr {base}, i64 {one})")
            values.append(Symbol(code, raw, np.dtype(f"u{t.bytes}")).view(t.dtype))
        self.assign(op.target, kind, tuple(values), guard)

    def _store(self, op: P.Op, guard: Any) -> None:
        access = op.meaning.access
        assert access is not None
        place, values = op.sources
        if isinstance(place, P.ParameterPlace | P.FramePlace) or access.type.elements > 1:
            raise Untraceable("local memory")
        _, space, a = self._place(op, place)
        _, parts = self.source(values)
        code, w = self.code, self.width
        a = self.at(LANE, a)
        mask = self._active(guard, code)
        t = access.type
        ok, a = self._checked(LANE, space, a, t.bytes * len(parts), True, mask)
        self.site += 1
        if space == "shared":
            _, a = self._in_block(LANE, a)
        base = f"%{'shared' if space == 'shared' else 'host'}.b"
        for e, part in enumerate(parts):
            v = self.at(LANE, part)
            v = v.view(f"u{t.bytes}") if v.itemsize == t.bytes else v.view(f"u{v.itemsize}").astype(f"u{t.bytes}")
            at = a + np.uint64(e * t.bytes) if e else a
            where = f"ptr %ctx, i1 {ok}, ptr {base}, {at.type} {at.value}"
            code.lines.append(f"  call void @scatter{8 * t.bytes}({where}, {v.type} {v.value}, <{w} x i1> {mask})")


def _suffix(t: str) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}.get(t, t)
