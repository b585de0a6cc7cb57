"""Products of matrices as LLVM functions: registers of a warp in memory in, registers of the result out.

The elements of A and B are first decoded into the order of the matrices; then every row of the result is one vector.  The arithmetic is that of
isa/floats/tensor.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.floats import tensor
from warplab.isa.floats.binary32 import NAN32, canonical
from warplab.isa.floats.minifloats import decode
from warplab.isa.fragments import Layout
from warplab.isa.primitives import look_up

from ...trace.code import LLVMModule, VectorCode, scalar_type
from ...trace.symbol import SymbolicArray, lift
from ...trace.ufuncs import select

CHUNK = 16  # elements that are decoded at once
LANES = 32


@dataclass(frozen=True, slots=True)
class Factor:
    """A matrix among the registers that a product reads: its fragment, the type of its elements, and the first of its registers."""

    layout: Layout
    kind: str
    first: int

    @property
    def places(self) -> NDArray[Any]:
        """Where each element lies among the registers, in elements."""
        return self.layout.places() + self.first * LANES * 32 // self.layout.bits


class Arithmetic:
    """What a product does with its elements."""

    planes: Sequence[np.dtype[Any]] = ()  # what becomes of an element of A or B

    def decoded(self, bits: SymbolicArray, kind: str) -> Sequence[SymbolicArray]:
        """An element's bits as the planes."""
        raise NotImplementedError

    def row(self, a: Callable[[int], Any], b: Callable[[int], Any], c: SymbolicArray, k: int) -> SymbolicArray:
        """A row of the result as 32-bit words: a(k) and b(k) are the planes of one element of A, for all columns, and of a row of B."""
        raise NotImplementedError


class Integers(Arithmetic):
    """Sums modulo 2**32, or clamped."""

    planes = (np.dtype(np.int32),)

    def __init__(self, satfinite: bool) -> None:
        self.satfinite = satfinite

    def decoded(self, bits: SymbolicArray, kind: str) -> Sequence[SymbolicArray]:
        if kind[0] == "u":
            return (bits.view(np.int32),)
        unused = np.uint32(32 - int(kind[1:]))
        return ((bits << unused).view(np.int32) >> unused.view(np.int32),)

    def row(self, a: Callable[[int], Any], b: Callable[[int], Any], c: SymbolicArray, k: int) -> SymbolicArray:
        total: Any = a(0)[0] * b(0)[0]
        for i in range(1, k):
            total = total + a(i)[0] * b(i)[0]
        if not self.satfinite:
            return total + c.view(np.int32)  # type: ignore[no-any-return]
        name = f"llvm.sadd.sat.v{c.lanes}i32"
        return SymbolicArray(c.code, c.code.call(name, c.type, f"{total.type} {total.value}", f"{c.type} {c.value}"), c.dtype, c.lanes)


class Ones(Arithmetic):
    """How many ones there are in words of A and B together."""

    planes = (np.dtype(np.uint32),)

    def __init__(self, op: str) -> None:
        self.op = {"xor": np.bitwise_xor, "and": np.bitwise_and}[op]

    def decoded(self, bits: SymbolicArray, kind: str) -> Sequence[SymbolicArray]:
        return (bits,)

    def row(self, a: Callable[[int], Any], b: Callable[[int], Any], c: SymbolicArray, k: int) -> SymbolicArray:
        total: Any = c
        for i in range(k):
            total = total + np.bitwise_count(self.op(a(i)[0], b(i)[0])).astype(np.uint32)
        return total  # type: ignore[no-any-return]


class Floats(Arithmetic):
    """The sums of tensor.add_products: `steps` are the columns of A that are added at once, one step onto another."""

    planes = (np.dtype(np.float64), np.dtype(np.int32))

    def __init__(self, ctype: str, dtype: str, steps: Sequence[Sequence[int]], apart: bool = False) -> None:
        self.ctype, self.dtype = ctype, dtype
        self.steps = steps
        self.apart = apart  # the products make a sum of their own, onto which c is put

    def decoded(self, bits: SymbolicArray, kind: str) -> Sequence[SymbolicArray]:
        if kind == "e2m1":
            bits = bits >> np.uint32(2) & np.uint32(15)
        if kind not in tensor.FRACTION:  # the hardware makes f16 of it
            halves = decode(np.arange(256), kind).astype(np.float16).view(np.uint16).astype(np.uint32)
            bits, kind = look_up(bits, halves), "f16"  # type: ignore[assignment, arg-type]
        if kind == "tf32":
            bits = bits & np.uint32(0xFFFFE000)
        value: Any = (
            bits.astype(np.uint16).view(np.float16).astype(np.float32) if kind == "f16"
            else (bits << np.uint32(16) if kind == "bf16" else bits).view(np.float32)
        )  # fmt: skip
        field: Any = (bits >> np.uint32(tensor.FRACTION[kind]) & np.uint32(tensor.FIELD[kind])).view(np.int32)
        exponent = np.maximum(field, np.int32(1)) - np.int32(tensor.FIELD[kind] >> 1)
        exponent = np.where(value == np.float32(0), np.int32(tensor.NOTHING), exponent)
        return value.astype(np.float64), np.where(field == np.int32(tensor.FIELD[kind]), np.int32(tensor.SPECIAL), exponent)  # type: ignore[return-value]

    def row(self, a: Callable[[int], Any], b: Callable[[int], Any], c: SymbolicArray, k: int) -> SymbolicArray:
        given: Any = c.astype(np.uint16).view(np.float16) if self.ctype == "f16" else c.view(np.float32)
        wide = "f32" in (self.ctype, self.dtype)
        onto: Any = lift(c.code, 0, np.dtype(np.float32 if wide else np.float16), c.lanes) if self.apart else given
        onto = onto.astype(np.float32) if wide else onto
        for step in self.steps:
            bits = onto.view(f"u{onto.itemsize}").astype(np.uint32)
            onto = self._sum([(a(i), b(i)) for i in step], self.decoded(bits, "f32" if wide else "f16"))
            onto = _to_f32(onto) if wide else _to_f16(onto)
        if self.apart:
            onto = canonical(onto + given)
        if wide and self.dtype == "f16":
            onto = _to_f16(onto.astype(np.float64))
        return onto.view(f"u{onto.itemsize}").astype(np.uint32)  # type: ignore[no-any-return]

    @staticmethod
    def _sum(pairs: Sequence[Any], c: Any) -> Any:
        top: Any = c[1]
        for (_, a), (_, b) in pairs:
            top = np.maximum(top, a + b)
        level = np.minimum(np.maximum(top, np.int32(tensor.LEAST)), np.int32(tensor.LARGE - 2500))
        scale, back = tensor.power(np.int32(25) - level), tensor.power(level - np.int32(25))
        total: Any = np.trunc(c[0] * scale)
        for (a, _), (b, _) in pairs:
            total = total + np.trunc(a * b * scale)
        total = total * back + np.float64(0)  # a sum of zeros is +0
        code = top.code
        special: Any = top > np.int32(tensor.LARGE)
        word = code.emit(f"bitcast {special.type} {special.value} to i{top.lanes}")

        def plain() -> list[str]:
            out = c[0]
            for (a, _), (b, _) in pairs:
                out = out + a * b
            return [select(special, out, total).value]

        (found,) = code.either(code.emit(f"icmp eq i{top.lanes} {word}, 0"), [lambda: [total.value], plain], [total.type])
        return SymbolicArray(code, found, total.dtype, total.lanes)


def _cut(total: Any) -> Any:
    """A double as a float, truncated toward zero."""
    r, size = total.astype(np.float32), np.abs(total)
    cut = (np.abs(r).astype(np.float64) > size) & (size < 2.0**128)
    return (r.view(np.int32) - cut.astype(np.int32)).view(np.float32)


def _to_f32(total: Any) -> Any:
    """See tensor.to_f32."""
    r = _cut(total) + np.float32(0)
    return np.where(np.isnan(r), NAN32, r)


def _to_f16(total: Any) -> Any:
    """See tensor.to_f16: what the cut loses is kept as the lowest bit, so that rounding once more is right."""
    cut = _cut(total)
    lost = cut.astype(np.float64) != total
    bits = (cut.view(np.uint32) | lost.astype(np.uint32)).view(np.float32).astype(np.float16).view(np.uint16)
    bits = np.where((bits & np.uint16(0x7FFF)) != np.uint16(0), bits, np.uint16(0))
    return np.where(np.isnan(total), np.uint16(0x7FFF), bits).view(np.float16)


# ---------------------------------------------------------------- the function


@dataclass(frozen=True, slots=True)
class Sparsity:
    """What tells the columns in which the stored elements of A stand."""

    first: int  # the register of metadata, among those that a product reads
    selector: int
    columns: int  # of A, those that are not stored included

    def tables(self, bits: int) -> Sequence[NDArray[Any]]:
        """For each stored element of so many bits, row by row: the lane of its metadata, how far to shift them, and the column of a 0."""
        groups = self.columns // {4: 8, 32: 2}.get(bits, 4)

        def told(words: NDArray[Any]) -> NDArray[Any]:
            return tensor.metadata(words.astype(np.uint32).reshape(1, LANES), self.selector, groups, bits < 16)

        lanes = np.arange(LANES)
        lane = told((lanes & 15) * 0x11111111) | told((lanes >> 4) * 0x11111111) << 4
        nibble = told(np.full(LANES, 0x76543210))
        each = self.columns // 2 // groups  # stored elements that a nibble tells of
        stored = np.arange(each) // (each // 2) * 2 if each > 1 else np.zeros(1, int)  # the bit of the nibble with which each begins
        base = tensor.kept(np.zeros_like(nibble), bits)
        return [np.repeat(lane[..., 0], each, axis=1), (4 * nibble + stored).reshape(16, -1), base[..., 0]]


class MatrixProduct:
    """Writes the function of one product."""

    def __init__(
        self, module: LLVMModule, name: str, a: Factor, b: Factor, c: Factor, result: Layout, arithmetic: Arithmetic,
        sparsity: Sparsity | None = None,
    ) -> None:  # fmt: skip
        self.module = module
        self.name = name
        self.a, self.b, self.c, self.result = a, b, c, result
        self.arithmetic = arithmetic
        self.sparsity = sparsity
        self.lines: list[str] = []
        self.rooms: dict[str, str] = {"%room.c": f"[{c.layout.places().size} x i32]", "%room.d": f"[{result.rows * result.columns} x i32]"}

    def text(self) -> str:
        """LLVM IR."""
        for name, factor in (("a", self.a), ("b", self.b)):
            for i, plane in enumerate(self.arithmetic.planes):
                self.rooms[f"%room.{name}{i}"] = f"[{factor.layout.places().size} x {scalar_type(plane)}]"
            self._decode(name, factor)
        self._decode("c", self.c)
        if self.sparsity is not None:
            self._find_columns(self.sparsity)
        self._loop("row", self.result.rows, self._row)
        each = 32 // self.result.bits if self.result.bits < 32 else 1
        keys = self.result.keys().reshape(self.result.registers, LANES, each)
        table = self.module.table(np.moveaxis(keys, 2, 1).astype(np.uint32))
        self._loop("out", self.result.registers, lambda at: self._register(at, table, each))
        rooms = [f"  {name} = alloca {t}, align 64" for name, t in self.rooms.items()]
        return "\n".join([f"define internal void @{self.name}(ptr noalias %in, ptr noalias %out) noinline {{", "entry:", *rooms, *self.lines,
                          "  ret void", "}"])  # fmt: skip

    def _loop(self, name: str, count: int, body: Callable[[str], VectorCode]) -> None:
        at = f"%{name}.i"
        code = body(at)
        self.rooms |= code.rooms
        self.lines += [
            f"  br label %{name}.before", f"{name}.before:", f"  br label %{name}.loop", f"{name}.loop:",
            f"  {at} = phi i64 [0, %{name}.before], [{at}.next, %{name}.latch]", *code.lines, f"  br label %{name}.latch", f"{name}.latch:",
            f"  {at}.next = add i64 {at}, 1", f"  {at}.more = icmp ult i64 {at}.next, {count}",
            f"  br i1 {at}.more, label %{name}.loop, label %{name}.end", f"{name}.end:",
        ]  # fmt: skip

    def _decode(self, name: str, factor: Factor) -> None:
        """Brings the elements of a matrix into the order of the matrix, decoded but for those of C."""
        places, bits = factor.places, factor.layout.bits
        words, shifts = (self.module.table(x.astype(np.uint32)) for x in (places * bits // 32, places * bits % 32))

        def body(at: str) -> VectorCode:
            code = VectorCode(CHUNK, self.module, name)
            first = code.emit(f"mul i64 {at}, {CHUNK}")
            v: Any = self._gathered(code, "%in", _loaded(code, words, first, np.uint32))
            if bits < 32:
                v = v >> _loaded(code, shifts, first, np.uint32) & np.uint32((1 << bits) - 1)
            planes = [v] if name == "c" else self.arithmetic.decoded(v, factor.kind)
            for i, plane in enumerate(planes):
                to = code.emit(f"getelementptr {scalar_type(plane.dtype)}, ptr %room.{name}{'' if name == 'c' else i}, i64 {first}")
                code.lines.append(f"  store {plane.type} {plane.value}, ptr {to}, align 32")
            return code

        self._loop(name, places.size // CHUNK, body)

    def _find_columns(self, sparsity: Sparsity) -> None:
        """Puts down in which row of B the factor of each stored element of A stands."""
        bits = self.a.layout.bits
        found = sparsity.tables(bits)
        lanes, shifts, bases = (self.module.table(x.astype(np.uint32)) for x in found)
        self.rooms["%room.k"] = f"[{found[0].size} x i32]"

        def body(at: str) -> VectorCode:
            code = VectorCode(CHUNK, self.module, "k")
            first = code.emit(f"mul i64 {at}, {CHUNK}")
            word: Any = self._gathered(code, "%in", _loaded(code, lanes, first, np.uint32) + np.uint32(sparsity.first * LANES))
            kept = word >> _loaded(code, shifts, first, np.uint32) & np.uint32(3)
            # 4-bit elements are kept by pairs; of two tf32 columns, which count as four halves, one is kept
            kept = kept << np.uint32(1) if bits == 4 else kept >> np.uint32(1) if bits == 32 else kept
            row = kept + _loaded(code, bases, first, np.uint32)
            to = code.emit(f"getelementptr i32, ptr %room.k, i64 {first}")
            code.lines.append(f"  store {row.type} {row.value}, ptr {to}, align 32")
            return code

        self._loop("k", found[0].size // CHUNK, body)

    def _row(self, at: str) -> VectorCode:
        n, k = self.result.columns, self.a.layout.columns
        code = VectorCode(n, self.module, "r")
        planes = self.arithmetic.planes
        left, here = code.emit(f"mul i64 {at}, {k}"), code.emit(f"mul i64 {at}, {n}")

        def a(i: int) -> list[SymbolicArray]:
            place = code.emit(f"add i64 {left}, {i}")
            out = []
            for p, plane in enumerate(planes):
                t = scalar_type(plane)
                one = code.emit(
                    f"load <1 x {t}>, ptr {code.emit(f'getelementptr {t}, ptr %room.a{p}, i64 {place}')}, align {plane.itemsize}"
                )
                out.append(
                    SymbolicArray(code, code.emit(f"shufflevector <1 x {t}> {one}, <1 x {t}> poison, <{n} x i32> zeroinitializer"), plane)
                )
            return out

        def b(i: int) -> list[SymbolicArray]:
            first = str(i * n)
            if self.sparsity is not None:
                place = code.emit(f"getelementptr i32, ptr %room.k, i64 {code.emit(f'add i64 {left}, {i}')}")
                row = code.emit(f"load i32, ptr {place}, align 4")
                first = code.emit(f"mul i64 {code.emit(f'zext i32 {row} to i64')}, {n}")
            return [_loaded(code, f"%room.b{p}", first, plane) for p, plane in enumerate(planes)]

        row = self.arithmetic.row(a, b, _loaded(code, "%room.c", here, np.uint32), k)
        to = code.emit(f"getelementptr i32, ptr %room.d, i64 {here}")
        code.lines.append(f"  store {row.type} {row.value}, ptr {to}, align 32")
        return code

    def _register(self, at: str, table: str, each: int) -> VectorCode:
        """One register of the result, of one element or two."""
        code = VectorCode(LANES, self.module, "o")
        word: Any = None
        for e in range(each):
            first = code.emit(f"add i64 {code.emit(f'mul i64 {at}, {LANES * each}')}, {LANES * e}")
            v: Any = self._gathered(code, "%room.d", _loaded(code, table, first, np.uint32))
            word = v if word is None else word | v << np.uint32(16)
        to = code.emit(f"getelementptr i32, ptr %out, i64 {code.emit(f'mul i64 {at}, {LANES}')}")
        code.lines.append(f"  store {word.type} {word.value}, ptr {to}, align 64")
        return code

    def _gathered(self, code: VectorCode, base: str, index: SymbolicArray) -> SymbolicArray:
        n = index.lanes
        places = code.emit(f"getelementptr i32, ptr {base}, {index.type} {index.value}")
        name, t = f"llvm.masked.gather.v{n}i32.v{n}p0", f"<{n} x i32>"
        self.module.declarations[name] = f"declare {t} @{name}(<{n} x ptr>, i32, <{n} x i1>, {t})"
        every = "<" + ", ".join(["i1 true"] * n) + ">"
        return SymbolicArray(code, code.emit(f"call {t} @{name}(<{n} x ptr> {places}, i32 4, <{n} x i1> {every}, {t} poison)"), index.dtype)


def _loaded(code: VectorCode, base: str, at: str, dtype: Any) -> SymbolicArray:
    """A vector from an element of an array on."""
    t, dtype = scalar_type(np.dtype(dtype)), np.dtype(dtype)
    place = code.emit(f"getelementptr {t}, ptr {base}, i64 {at}")
    return SymbolicArray(code, code.emit(f"load <{code.width} x {t}>, ptr {place}, align 32"), dtype)
