"""Warp-level matrix multiply-and-add on register fragments, dense and sparse (PTX ISA 9.7.16.5).

A row is derived from a shape and its types, since the register counts follow from them; tensor.py knows layouts and arithmetic.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import tensor
from ..floats import canonical
from ..notation import Need, accepted, instruction
from ..ports import Array, Warps
from ..tensor import Layout, Terms

F = TypeVar("F", bound=Callable[..., Any])
Registers = tuple[Array, ...]

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
BITS |= dict.fromkeys(("e4m3", "e5m2", "e3m2", "e2m3", "e2m1"), 8)
DENSE, SPARSE = "9.7.16.5.14", "9.7.16.6.3"
FP8 = "e4m3 e5m2"
ROUNDING = "rn rz rm rp"


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


def dense(shape: str, inputs: str, accumulator: str, extra: str = "", **sets: Any) -> Callable[[F], F]:
    """Registers mma.sync for one shape; `inputs` are the types that A and B may each have, `extra` further words."""

    def register(meaning: F) -> F:
        _add_row(f"mma.sync.aligned.shape.row.col{extra}", shape, inputs, accumulator, meaning, section=DENSE, **sets)
        return meaning

    return register


def sparse(shape: str, inputs: str, accumulator: str, extra: str = "", *, ptx: float = 7.1, sm: int = 80) -> Callable[[F], F]:
    """Registers mma.sp and mma.sp::ordered_metadata for one shape."""

    def register(meaning: F) -> F:
        for word, since in (("sp", ptx), ("sp::ordered_metadata", 8.5)):
            head = f"mma.{word}.sync.aligned.shape.row.col{extra}"
            _add_row(head, shape, inputs, accumulator, meaning, ", e:b32, #f", True, ptx=since, sm=sm, section=SPARSE)
        return meaning

    return register


# ---------------------------------------------------------------- floats


def products(a: Terms, b: Terms, c: Array, kind: str) -> Array:
    """a @ b + c as float16 or float32, c's type; `kind` is the type of a and b before any conversion to f16."""
    to, name = (tensor.to_f16, "f16") if c.dtype == np.float16 else (tensor.to_f32, "f32")
    if kind not in FP8:
        return to(tensor.add_products(a, b, tensor.terms(c.view(f"u{c.dtype.itemsize}"), name)))
    # The low halves of the registers make a sum of their own, on which that of the high halves is put.
    low = np.arange(b.value.shape[0]) % 4 < 2
    zero = np.zeros(c.shape, np.uint32)
    first = tensor.to_f32(tensor.add_products(a[:, low], b[low], tensor.terms(zero, "f32")))
    second = tensor.to_f32(tensor.add_products(a[:, ~low], b[~low], tensor.terms(first.view(np.uint32), "f32")))
    if c.dtype == np.float16:
        return tensor.to_f16(second.astype(np.float64) + c)
    return canonical(second + c)


def _accumulators(c: Registers, layout: Layout) -> Array:
    """C as numbers of its type."""
    matrix = tensor.collect(c, layout)
    return matrix.view(np.float16 if layout.bits == 16 else np.float32)


@dense("m16n8k8", "f16", "f32", ptx=6.5, sm=75)
@dense("m16n8k8", "f16", "f16", ptx=6.5, sm=75)
@dense("m16n8k16", "f16", "f32", ptx=7.0, sm=80)
@dense("m16n8k16", "f16", "f16", ptx=7.0, sm=80)
@dense("m16n8k8", "bf16", "f32", ptx=7.0, sm=80)
@dense("m16n8k16", "bf16", "f32", ptx=7.0, sm=80)
@dense("m16n8k4", "tf32", "f32", ptx=7.0, sm=80)
@dense("m16n8k8", "tf32", "f32", ptx=7.0, sm=80)
@dense("m16n8k16", FP8, "f32", ptx=8.7, sm=89)
@dense("m16n8k16", FP8, "f16", ptx=8.7, sm=89)
@dense("m16n8k32", FP8, "f32", ptx=8.4, sm=89)
@dense("m16n8k32", FP8, "f16", ptx=8.7, sm=89)
def mma(warps: Warps, a: Registers, b: Registers, c: Registers, *, shape: str, atype: str, btype: str, ctype: str) -> Registers:
    """d = a * b + c; all products and c are added at once, terms cut to 25 bits below the largest, the sum cut to f32 or rounded to f16."""
    m, n, k = size(shape)
    x = tensor.terms(tensor.collect(a, tensor.layout_a(m, k, BITS[atype])), atype)
    y = tensor.terms(tensor.collect(b, tensor.layout_b(k, n, BITS[btype])), btype)
    layout = tensor.layout_c(m, n, BITS[ctype])
    return tensor.spread(products(x, y, _accumulators(c, layout), atype), layout)
