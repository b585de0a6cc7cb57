"""Warp-level matrix multiply-and-add on register fragments, dense and sparse (PTX ISA 9.7.16.5).

A row is derived from a shape and its types, since the register counts follow from them; fragments.py knows the layouts and
floats/tensor.py the arithmetic.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import fragments
from ..facts import Constant, facts
from ..floats import tensor
from ..floats.binary32 import canonical, fma32
from ..floats.tensor import Terms
from ..fragments import Layout
from ..notation import accepted, instruction
from ..ports import Array, Warps
from ..primitives import primitive

F = TypeVar("F", bound=Callable[..., Any])
Registers = tuple[Array, ...]

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
BITS |= dict.fromkeys(("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), 8)
DENSE, SPARSE = "9.7.16.5.14", "9.7.16.6.3"
FP8 = "e4m3 e5m2"
NARROW = "e4m3 e5m2 e3m2 e2m3 e2m1"
ROUNDING = "rn rz rm rp"
LAYOUT = "row col"
FAMILY: dict[str, Any] = {"ptx": 8.7, "sm": 120, "arch": "f"}


def size(shape: str) -> tuple[int, int, int]:
    """m, n and k of a shape's name."""
    m, n, k = re.findall(r"\d+", shape)
    return int(m), int(n), int(k)


def _registers(elements: int, kind: str) -> str:
    """The count and type of a fragment's registers, as a row writes them."""
    bits = BITS[kind.split()[0]]
    count = elements // 32 if bits == 64 else elements * bits // 1024
    return f"*{count}:{kind if kind in ('f32', 'f64', 's32') else 'b32'}"


def _add_row(head: str, shape: str, inputs: str, accumulator: str, meaning: F, tail: str = "", sparse: bool = False, **sets: Any) -> None:
    m, n, k = size(shape)
    d, b = _registers(m * n, accumulator), _registers(k * n, inputs)
    a = _registers(m * k // 2 if sparse else m * k, inputs)
    row = f"{head}.dtype.atype.btype.ctype  d{d}, a{a}, b{b}, c{d}{tail}"
    instruction(row, shape=shape, dtype=accumulator, atype=inputs, btype=inputs, ctype=accumulator, **sets)(meaning)


# The selector f says which threads hold the metadata: all of them for the longest k (0), pairs (0, 1) or one of four (0 to 3) for less.
facts(
    "mma",
    matrix_lanes=32,
    ordered="row col",
    constants=(Constant("f", range(1)),),
    result_from_elsewhere=True,
    fragments={
        "": fragments.NUMBERS,
        "f16": fragments.PAIRS,
        **dict.fromkeys(("bf16", "tf32"), fragments.BITS),
        **dict.fromkeys(fragments.INTEGER_TYPES, fragments.WORDS),
    },
)
_SELECTORS = {
    ("f16", 16): 3, ("bf16", 16): 3, ("tf32", 8): 3, ("f16", 32): 1, ("bf16", 32): 1, ("tf32", 16): 1,
    ("s8", 32): 1, ("u8", 32): 1, ("s4", 64): 1, ("u4", 64): 1,
}  # fmt: skip


def _selector(kind: str, k: int, accumulator: str) -> Constant:
    largest = 3 if (kind, k, accumulator) == ("f16", 32, "f32") else _SELECTORS.get((kind, k), 0)
    return Constant("f", range(largest + 1))


def dense(shapes: str, inputs: str, accumulators: str, extra: str = "", **sets: Any) -> Callable[[F], F]:
    """Registers mma.sync for some shapes; `inputs` are the types that A and B may each have, `extra` further words."""

    def register(meaning: F) -> F:
        for shape, accumulator in itertools.product(shapes.split(), accumulators.split()):
            _add_row(f"mma.sync.aligned.shape.row.col{extra}", shape, inputs, accumulator, meaning, section=DENSE, **sets)
        return meaning

    return register


def sparse(shapes: str, inputs: str, accumulators: str, extra: str = "", *, ptx: float = 7.1, sm: int = 80) -> Callable[[F], F]:
    """Registers mma.sp and mma.sp::ordered_metadata for some shapes."""

    def register(meaning: F) -> F:
        names = (("sp", ptx), ("sp::ordered_metadata", 8.5))
        for shape, accumulator, (word, since) in itertools.product(shapes.split(), accumulators.split(), names):
            head = f"mma.{word}.sync.aligned.shape.row.col{extra}"
            selector = _selector(inputs.split()[0], size(shape)[2], accumulator)
            of_row = {"constants": (selector,)}
            _add_row(head, shape, inputs, accumulator, meaning, ", e:b32~, #f", True, ptx=since, sm=sm, section=SPARSE, facts=of_row)
        return meaning

    return register


def ordered(shape: str, inputs: str, accumulators: str, extra: str = "") -> Callable[[F], F]:
    """Registers mma.sp::ordered_metadata alone, as sm_120 has it."""

    def register(meaning: F) -> F:
        for accumulator in accumulators.split():
            head = f"mma.sp::ordered_metadata.sync.aligned.shape.row.col{extra}"
            _add_row(head, shape, inputs, accumulator, meaning, ", e:b32~, #f", True, section=SPARSE, **FAMILY)
        return meaning

    return register


# ---------------------------------------------------------------- floats


def products(a: Terms, b: Terms, c: Array, bits: int) -> Array:
    """a.T @ b + c as float16 or float32, c's type; a and b had so many bits before any conversion to f16."""
    to, name = (tensor.to_f16, "f16") if c.dtype == np.float16 else (tensor.to_f32, "f32")

    def add(part: slice | Array, onto: Array) -> Array:
        return to(tensor.add_products(a[part], b[part], tensor.terms(onto.view(f"u{onto.dtype.itemsize}"), name)))

    if bits != 8:
        return add(slice(None), c)
    # The low halves of the registers make a sum of their own, on which that of the high halves is put.
    low = np.arange(b.value.shape[0]) % 4 < 2
    return canonical(add(~low, add(low, np.zeros_like(c))) + c)


def elements(elements: Array, kind: str) -> Terms:
    """Elements of A or B as numbers; one of 4 bits stands in the middle of its byte, as CUTLASS shifts it there."""
    return tensor.terms(elements >> np.uint8(2) & np.uint8(15) if kind == "e2m1" else elements, kind)


def accumulators(c: Registers, layout: Layout) -> Array:
    """C as numbers of its type."""
    matrix = fragments.collect(c, layout)
    return matrix.view(np.float16 if layout.bits == 16 else np.float32)


@dense("m16n8k8", "f16", "f32 f16", ptx=6.5, sm=75)
@dense("m16n8k16", "f16", "f32 f16", ptx=7.0, sm=80)
@dense("m16n8k8 m16n8k16", "bf16", "f32", ptx=7.0, sm=80)
@dense("m16n8k4 m16n8k8", "tf32", "f32", ptx=7.0, sm=80)
@dense("m16n8k16", FP8, "f32 f16", ptx=8.7, sm=89)
@dense("m16n8k32", FP8, "f32", ptx=8.4, sm=89)
@dense("m16n8k32", FP8, "f16", ptx=8.7, sm=89)
@dense("m16n8k32", NARROW, "f32 f16", ".kind::f8f6f4", **FAMILY)
@primitive
def mma(warps: Warps, a: Registers, b: Registers, c: Registers, *, shape: str, atype: str, btype: str, ctype: str) -> Registers:
    """d = a * b + c; all products and c are added at once, terms cut to 25 bits below the largest, the sum cut to f32 or rounded to f16."""
    m, n, k = size(shape)
    x = elements(fragments.collect(a, fragments.transposed(fragments.layout_a(m, k, BITS[atype]))), atype)
    y = elements(fragments.collect(b, fragments.layout_b(k, n, BITS[btype])), btype)
    layout = fragments.layout_c(m, n, BITS[ctype])
    return fragments.spread(products(x, y, accumulators(c, layout), BITS[atype]), layout)


def _quads(dtype: str, ctype: str) -> Callable[[F], F]:
    """The row of m8n8k4 on f16 with these types of D and C."""
    d, c = ("*8:f32" if t == "f32" else "*4:b32" for t in (dtype, ctype))
    row = f"mma.sync.aligned.m8n8k4.alayout.blayout.dtype.atype.btype.ctype  d{d}, a*2:b32, b*2:b32, c{c}"
    types: dict[str, Any] = {"dtype": dtype, "atype": "f16", "btype": "f16", "ctype": ctype}
    return instruction(row, alayout=LAYOUT, blayout=LAYOUT, ptx=6.4, sm=70, section=DENSE, **types)


@_quads("f16", "f16")
@_quads("f32", "f16")
@_quads("f32", "f32")
@primitive
def mma_quads(
    warps: Warps, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, dtype: str, atype: str, ctype: str
) -> Registers:
    """d = a * b + c for four independent tiles, each of eight lanes: 4q to 4q + 3 and 16 + 4q to 19 + 4q.

    Not the tensor core but fma in f32 compute it: a chain from 0, onto which c is put; where d is f16, c takes two chains of two.
    """
    x = tensor.terms(fragments.collect(a, fragments.quad_a(alayout == "row")), atype).value.astype(np.float32)
    y = tensor.terms(fragments.collect(b, fragments.quad_b(blayout == "row")), atype).value.astype(np.float32)
    z = accumulators(c, fragments.quad_c(BITS[ctype])).astype(np.float32)

    def chain(first: int, end: int) -> Array:
        total = np.zeros_like(z)
        for i in range(first, end):
            total = fma32(np.broadcast_to(x[:, i, None], z.shape), np.broadcast_to(y[None, i], z.shape), total)
        return total

    d = (z + chain(0, 2) + chain(2, 4)).astype(np.float16) if dtype == "f16" else chain(0, 4) + z
    return fragments.spread(canonical(d), fragments.quad_c(BITS[dtype]))


# ---------------------------------------------------------------- float64 and integers


@dense("m8n8k4", "f64", "f64", "{.rnd}", rnd=ROUNDING, ptx=7.0, sm=80)
@dense("m16n8k4 m16n8k8 m16n8k16", "f64", "f64", "{.rnd}", rnd=ROUNDING, ptx=7.8, sm=90)
@primitive
def mma_f64(warps: Warps, a: Registers, b: Registers, c: Registers, *, shape: str, rnd: str = "rn") -> Registers:
    """d = a * b + c as a chain of fma, which begins with c and the first column of a."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, 64)
    x, y = fragments.collect(a, fragments.layout_a(m, k, 64)), fragments.collect(b, fragments.layout_b(k, n, 64))
    return fragments.spread(tensor.fma_chain(x, y, fragments.collect(c, layout), rnd), layout)


@dense("m8n8k16", "s8 u8", "s32", "{.satfinite}", ptx=6.5, sm=75)
@dense("m16n8k16 m16n8k32", "s8 u8", "s32", "{.satfinite}", ptx=7.0, sm=80)
@dense("m8n8k32", "s4 u4", "s32", "{.satfinite}", ptx=6.5, sm=75)
@dense("m16n8k32 m16n8k64", "s4 u4", "s32", "{.satfinite}", ptx=7.0, sm=80)
@primitive
def mma_integer(
    warps: Warps, a: Registers, b: Registers, c: Registers, *, shape: str, atype: str, btype: str, satfinite: bool = False
) -> Registers:
    """d = a * b + c modulo 2**32; .satfinite clamps the sum to the range of .s32."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, 32)
    x = tensor.signed(fragments.collect(a, fragments.layout_a(m, k, BITS[atype])), atype)
    y = tensor.signed(fragments.collect(b, fragments.layout_b(k, n, BITS[btype])), btype)
    z = fragments.collect(c, layout).view(np.int32)
    return fragments.spread(tensor.add_integers(tensor.dot(x, y), z, satfinite), layout)


@dense("m8n8k128", "b1", "s32", ".op.popc", op="xor", ptx=7.0, sm=75)
@dense("m16n8k128 m16n8k256", "b1", "s32", ".op.popc", op="xor", ptx=7.0, sm=80)
@dense("m8n8k128 m16n8k128 m16n8k256", "b1", "s32", ".op.popc", op="and", ptx=7.1, sm=80)
@primitive
def mma_bits(warps: Warps, a: Registers, b: Registers, c: Registers, *, shape: str, op: str) -> Registers:
    """d = c + the number of ones in (row of a) op (column of b)."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, 32)
    x = fragments.collect(a, fragments.layout_a(m, k, 1)).astype(np.float32)
    y = fragments.collect(b, fragments.layout_b(k, n, 1)).astype(np.float32)
    z = fragments.collect(c, layout).view(np.int32)
    return fragments.spread(tensor.add_integers(tensor.count_ones(x, y, op), z, False), layout)


# ---------------------------------------------------------------- sparse


def columns_of(e: Array, f: int, k: int, bits: int) -> Array:
    """Where A's stored elements of so many bits stand, (16, k / 2, warps), of the metadata that the threads chosen by f hold."""
    groups = {4: k // 8, 32: k // 2}.get(bits, k // 4)
    return tensor.kept(tensor.metadata(e, f, groups, bits < 16), bits)


@sparse("m16n8k16 m16n8k32", "f16", "f32 f16")
@sparse("m16n8k16 m16n8k32", "bf16", "f32")
@sparse("m16n8k8 m16n8k16", "tf32", "f32")
@sparse("m16n8k64", FP8, "f32", ptx=8.4, sm=89)
@ordered("m16n8k64", FP8, "f16")
@ordered("m16n8k64", NARROW, "f32 f16", ".kind::f8f6f4")
@primitive
def mma_sparse(
    warps: Warps, a: Registers, b: Registers, c: Registers, e: Array, f: int, *, shape: str, atype: str, btype: str, ctype: str
) -> Registers:
    """d = a * b + c, a being stored without half of its columns; four bits of e name the two that are kept of each four."""
    m, n, k = size(shape)
    x = elements(fragments.collect(a, fragments.transposed(fragments.layout_a(m, k // 2, BITS[atype]))), atype)
    y = elements(fragments.collect(b, fragments.layout_b(k, n, BITS[btype])), btype)
    chosen = tensor.choose(columns_of(e, f, k, BITS[atype]), y)
    layout = fragments.layout_c(m, n, BITS[ctype])
    return fragments.spread(products(x, chosen, accumulators(c, layout), BITS[atype]), layout)


@sparse("m16n8k32 m16n8k64", "s8 u8", "s32", "{.satfinite}")
@sparse("m16n8k64 m16n8k128", "s4 u4", "s32", "{.satfinite}")
@primitive
def mma_sparse_integer(
    warps: Warps, a: Registers, b: Registers, c: Registers, e: Array, f: int, *, shape: str, atype: str, btype: str, satfinite: bool = False
) -> Registers:
    """d = a * b + c modulo 2**32, a being stored without half of its columns (4-bit types: of its pairs of columns)."""
    m, n, k = size(shape)
    layout = fragments.layout_c(m, n, 32)
    stored = tensor.signed(fragments.collect(a, fragments.layout_a(m, k // 2, BITS[atype])), atype)
    x = tensor.expand(columns_of(e, f, k, BITS[atype]), stored, k)
    y = tensor.signed(fragments.collect(b, fragments.layout_b(k, n, BITS[btype])), btype)
    z = fragments.collect(c, layout).view(np.int32)
    return fragments.spread(tensor.add_integers(tensor.dot(x, y), z, satfinite), layout)


accepted(
    "mma.sync.aligned.m8n8k4.alayout.blayout.dtype.atype.btype.ctype  d*8:f32, a*2:b32, b*2:b32, c*8:f32",
    alayout=LAYOUT, blayout=LAYOUT, dtype="f32", atype="bf16", btype="bf16", ctype="f32", ptx=7.0, sm=80, section=DENSE,
    doc="Passes the assembler; the manual does not have it.", facts={"not_executed": "no manual has it, and hardware leaves d undefined"},
)  # fmt: skip
