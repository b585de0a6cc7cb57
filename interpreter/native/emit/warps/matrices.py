"""Matrix instructions of compiled code: products of fragments, and their ways to memory and back.

Each entry stands beside the meaning in isa/ops that it equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warplab.isa import fragments
from warplab.isa.fragments import Layout
from warplab.isa.ops import matrix as isa
from warplab.isa.ops import mma as isa_mma
from warplab.isa.ops import wmma as isa_wmma
from warplab.isa.ops.mma import BITS, size

from ...trace.code import Untraceable
from ...trace.symbol import SymbolicArray, lift
from ...trace.ufuncs import select
from .product import LANES, Arithmetic, Factor, Floats, Integers, MatrixProduct, Ones, Sparsity
from .rules import Warp, rule
from .warp import U32, flags

Registers = Sequence[Any]


def full(warp: Any, register: Any, dtype: Any = U32) -> SymbolicArray:
    """A register of all 32 lanes, 0 in those that do not execute."""
    if warp.members != "%bits":  # LLVM confuses the guard of a lane with that of the lane it reads
        raise Untraceable("a matrix instruction under a guard")
    v = lift(warp.code, register, register.dtype, LANES)
    v = v.view(f"u{v.itemsize}")
    return select(flags(warp, warp.members), v, lift(warp.code, 0, v.dtype, LANES)).view(dtype)


def _product(
    warp: Any, name: str, a: Registers, b: Registers, c: Registers, layouts: Sequence[Layout], kinds: Sequence[str], how: Arithmetic,
    metadata: tuple[Any, Any, int] | None = None,
) -> Registers:  # fmt: skip
    """The registers of a product; the layouts are those of A, B, C and the result; `metadata` are e and f of a sparse one, and the columns of A."""
    code, helpers = warp.code, warp.helpers
    inputs = [full(warp, r) for r in (*a, *b, *c)]
    sparsity = None
    if metadata is not None:
        e, f, columns = metadata
        sparsity = Sparsity(len(inputs), f, columns)
        name = f"{name}.sparse{f}"
        inputs.append(full(warp, e))
    result = layouts[3]
    if name not in helpers.texts:
        firsts = (0, len(a), len(a) + len(b))
        x, y, z = (Factor(*o) for o in zip(layouts[:3], kinds, firsts, strict=True))
        helpers.texts[name] = MatrixProduct(helpers.module, name, x, y, z, result, how, sparsity).text()
    given = code.scratch(f"[{len(inputs)} x <{LANES} x i32>]", f"{name}.in")
    found = code.scratch(f"[{result.registers} x <{LANES} x i32>]", f"{name}.out")
    for i, v in enumerate(inputs):
        place = code.fresh(f"getelementptr <{LANES} x i32>, ptr {given}, i64 {i}")
        code.lines.append(f"  store {v.type} {v.value}, ptr {place}, align 64")
    code.lines.append(f"  call void @{name}(ptr {given}, ptr {found})")
    places = [code.fresh(f"getelementptr <{LANES} x i32>, ptr {found}, i64 {i}") for i in range(result.registers)]
    loaded = [SymbolicArray(code, code.fresh(f"load <{LANES} x i32>, ptr {p}, align 64"), U32) for p in places]
    return tuple(loaded)


def _numbers(registers: Registers, kind: str) -> Registers:
    """Registers in the dtype that the row names."""
    dtype = {"f32": np.float32, "s32": np.int32}.get(kind, np.uint32)
    return tuple(r.view(dtype) for r in registers)


def _floats(k: int, atype: str, ctype: str) -> Floats:
    """See isa.mma.products: of bytes the low halves of the registers make a sum of their own."""
    narrow = BITS[atype] == 8
    steps = [[i for i in range(k) if (i % 4 < 2) == low] for low in (True, False)] if narrow else [list(range(k))]
    return Floats(ctype, ctype, steps, apart=narrow)


@rule(isa_mma.mma)
def mma(warp: Warp, a: Registers, b: Registers, c: Registers, *, shape: str, atype: str, btype: str, ctype: str) -> Registers:
    """Sums in f32 or f16."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, BITS[ctype])
    layouts = fragments.layout_a(m, k, BITS[atype]), fragments.layout_b(k, n, BITS[btype]), layout, layout
    name = f"mma.{shape}.{atype}.{btype}.{ctype}"
    return _numbers(_product(warp, name, a, b, c, layouts, (atype, btype, ctype), _floats(k, atype, ctype)), ctype)


@rule(isa_mma.mma_sparse)
def mma_sparse(
    warp: Warp, a: Registers, b: Registers, c: Registers, e: Any, f: int, *, shape: str, atype: str, btype: str, ctype: str
) -> Registers:
    """As mma, over the columns of A that are stored."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, BITS[ctype])
    layouts = fragments.layout_a(m, k // 2, BITS[atype]), fragments.layout_b(k, n, BITS[btype]), layout, layout
    name = f"mma.{shape}.{atype}.{btype}.{ctype}"
    return _numbers(_product(warp, name, a, b, c, layouts, (atype, btype, ctype), _floats(k // 2, atype, ctype), (e, f, k)), ctype)


@rule(isa_mma.mma_integer)
def mma_integer(
    warp: Warp, a: Registers, b: Registers, c: Registers, *, shape: str, atype: str, btype: str, satfinite: bool = False
) -> Registers:
    """Sums in 32 bits."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, 32)
    layouts = fragments.layout_a(m, k, BITS[atype]), fragments.layout_b(k, n, BITS[btype]), layout, layout
    name = f"mma.{shape}.{atype}.{btype}.{satfinite}"
    return _numbers(_product(warp, name, a, b, c, layouts, (atype, btype, "s32"), Integers(satfinite)), "s32")


@rule(isa_mma.mma_sparse_integer)
def mma_sparse_integer(
    warp: Warp, a: Registers, b: Registers, c: Registers, e: Any, f: int, *, shape: str, atype: str, btype: str, satfinite: bool = False
) -> Registers:
    """The same over the columns of A that are stored."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, 32)
    layouts = fragments.layout_a(m, k // 2, BITS[atype]), fragments.layout_b(k, n, BITS[btype]), layout, layout
    name = f"mma.{shape}.{atype}.{btype}.{satfinite}"
    return _numbers(_product(warp, name, a, b, c, layouts, (atype, btype, "s32"), Integers(satfinite), (e, f, k)), "s32")


def _ones(warp: Warp, a: Registers, b: Registers, c: Registers, shape: str, op: str) -> Registers:
    """Ones counted word by word: 32 bits of a row lie in a register."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, 32)
    layouts = fragments.layout_a(m, k // 32, 32), fragments.layout_b(k // 32, n, 32), layout, layout
    return _numbers(_product(warp, f"mma.{shape}.b1.{op}", a, b, c, layouts, ("b1", "b1", "s32"), Ones(op)), "s32")


@rule(isa_mma.mma_bits)
def mma_bits(warp: Warp, a: Registers, b: Registers, c: Registers, *, shape: str, op: str) -> Registers:
    """Of mma.sync."""
    return _ones(warp, a, b, c, shape, op)


@rule(isa_wmma.wmma_bits)
def wmma_bits(warp: Warp, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, op: str) -> Registers:
    """Of wmma.mma."""
    return _ones(warp, a, b, c, shape, op)


@rule(isa_wmma.wmma)
def wmma(
    warp: Warp, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, dtype: str, ctype: str,
    atype: str = "f16", btype: str = "f16",
) -> Registers:  # fmt: skip
    """As mma; an m16n16k8 on tf32 is made of m16n8k4."""
    k = size(shape)[2]
    step = 4 if atype == "tf32" else 16
    layouts = [isa_wmma.fragment(*x) for x in (("a", shape, atype), ("b", shape, atype), ("c", shape, ctype), ("d", shape, dtype))]
    steps = [list(range(i, i + step)) for i in range(0, k, step)]
    name = f"wmma.{shape}.{atype}.{ctype}.{dtype}"
    return _numbers(_product(warp, name, a, b, c, layouts, (atype, atype, ctype), Floats(ctype, dtype, steps)), dtype)


@rule(isa_wmma.wmma_integer)
def wmma_integer(
    warp: Warp, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, atype: str, btype: str,
    satfinite: bool = False,
) -> Registers:  # fmt: skip
    """Sums in 32 bits."""
    layouts = [isa_wmma.fragment(*x) for x in (("a", shape, atype), ("b", shape, atype), ("c", shape, "s32"), ("d", shape, "s32"))]
    name = f"wmma.{shape}.{atype}.{satfinite}"
    return _numbers(_product(warp, name, a, b, c, layouts, (atype, atype, "s32"), Integers(satfinite)), "s32")


# ---------------------------------------------------------------- memory


def _rows(warp: Any, a: Any, count: int) -> list[Any]:
    """See isa.matrix._rows; a pass with an address that no row may have is left to numpy."""
    a = lift(warp.code, a, a.dtype, LANES)
    bad: Any = (a & a.dtype.type(15)) != a.dtype.type(0)
    lanes = warp.code.emit(f"bitcast {bad.type} {bad.value} to i32")
    warp.refuse(warp.code.emit(f"and i32 {lanes}, {(1 << 8 * count) - 1}"))
    return [a.shuffled((8 * i + isa.ROW).tolist()) + (2 * isa.COLUMN).astype(a.dtype) for i in range(count)]


def _transposed(warp: Any, word: Any) -> SymbolicArray:
    """See isa.matrix.transpose."""
    halves = lift(warp.code, word, U32, LANES).view(np.uint16)
    return halves.shuffled(isa.TURNED.tolist()).view(np.uint32)


@rule(isa.ldmatrix)
def ldmatrix(warp: Any, a: Any, *, num: str, trans: bool = False, ss: str = "generic") -> Registers:
    """A load of a word of each lane for each matrix."""
    words = [warp.load(ss, row, "b32")[0] for row in _rows(warp, a, int(num[1:]))]
    return tuple(_transposed(warp, w) if trans else w for w in words)


@rule(isa.stmatrix)
def stmatrix(warp: Any, a: Any, b: Registers, *, num: str, trans: bool = False, ss: str = "generic") -> None:
    """A store of a word of each lane for each matrix."""
    for row, word in zip(_rows(warp, a, int(num[1:])), b, strict=True):
        warp.store(ss, row, "b32", [_transposed(warp, word) if trans else word])


@rule(isa.movmatrix)
def movmatrix(warp: Any, a: Any) -> Any:
    """A permutation of halves."""
    return _transposed(warp, full(warp, a))


def _places(warp: Any, base: Any, s: Any, of: Layout, layout: str) -> tuple[Any, bool]:
    """See isa.wmma._places: the address of an element of a register, and whether a register's elements lie side by side."""
    row, column = (of.row, of.column) if layout == "row" else (of.column, of.row)
    natural = of.columns if layout == "row" else of.rows
    stride = lift(warp.code, np.int64(natural) if s is None else s, np.dtype(np.int64), LANES)
    base = lift(warp.code, base, base.dtype, LANES)

    def place(register: int, element: int) -> Any:
        at = (stride * row[register, :, element].astype(np.int64) + column[register, :, element].astype(np.int64)) * np.int64(
            of.bits
        ) >> np.int64(3)
        return base + at.astype(base.dtype)

    return place, column.shape[2] > 1 and bool((row[..., 1:] == row[..., :-1]).all())


@rule(isa_wmma.wmma_load)
def wmma_load(warp: Any, a: Any, s: Any = None, *, role: str, layout: str, shape: str, type: str, ss: str = "generic") -> Registers:
    """Loads of words, or of the elements of a word where they lie apart."""
    of = isa_wmma.fragment(role, shape, type)
    place, together = _places(warp, a, s, of, layout)
    unit = {64: "f64"}.get(of.bits, type if type in ("f32", "s32") else "b32")
    once = isa_wmma.distinct(role, shape, type)
    words = []
    for r in range(once):
        if of.bits >= 32 or together or of.bits < 8:
            words.append(warp.load(ss, place(r, 0), unit)[0])
            continue
        word: Any = None
        for e in range(32 // of.bits):
            part = warp.load(ss, place(r, e), f"b{of.bits}")[0].astype(np.uint32) << np.uint32(of.bits * e)
            word = part if word is None else word | part
        words.append(word)
    return tuple(words * (of.registers // once))


@rule(isa_wmma.wmma_store)
def wmma_store(
    warp: Any, a: Any, c: Registers, s: Any = None, *, role: str, layout: str, shape: str, type: str, ss: str = "generic"
) -> None:
    """Stores of words, or of halves where they lie apart."""
    of = isa_wmma.fragment(role, shape, type)
    place, together = _places(warp, a, s, of, layout)
    for r, given in enumerate(c):
        if of.bits == 16 and not together:
            word = lift(warp.code, given, U32, LANES)
            for e in range(2):
                warp.store(ss, place(r, e), "b16", [(word >> np.uint32(16 * e)).astype(np.uint16)])
        else:
            warp.store(ss, place(r, 0), type if type != "f16" else "b32", [given])
