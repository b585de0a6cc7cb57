"""Matrix fragments and the arithmetic of the H200's tensor cores.

A Layout says which matrix element each register of each lane holds; `collect` makes matrices of registers and `spread` the
reverse.  Matrices keep the warps on the last axis, (k, m, n, warps), so that numpy's inner loops are long where there are many.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import exact
from .floats import NAN32, narrow
from .minifloats import decode as decode_minifloat
from .ports import Array

Index = NDArray[np.intp]

LANE = np.arange(32)
GROUP, THREAD = LANE >> 2, LANE & 3
ELEMENTS = 1 << 15  # products that are worked on at once: their arrays stay in the second-level cache


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Where the elements of a matrix lie: `row` and `column` of every (register, lane, element of the register)."""

    rows: int
    columns: int
    bits: int  # of an element
    row: Index
    column: Index
    tiles: int = 1  # independent matrices in a warp's fragment
    tile: Index | None = None

    @property
    def registers(self) -> int:
        """How many registers a lane holds."""
        return int(self.row.shape[0])

    @functools.cache  # noqa: B019  (layouts live as long as the program)
    def places(self) -> Index:
        """For each matrix element, tile after tile and row after row, its place among the fragment's elements."""
        key = self._keys()
        out = np.empty(self.tiles * self.rows * self.columns, np.intp)
        out[key[::-1]] = np.arange(key.size)[::-1]  # of copies the first counts
        return out

    @functools.cache  # noqa: B019
    def keys(self) -> Index:
        """For each element of the fragment, its place in the matrix."""
        return self._keys()

    def _keys(self) -> Index:
        tile = np.zeros_like(self.row) if self.tile is None else self.tile
        return ((tile * self.rows + self.row) * self.columns + self.column).ravel()


def _grid(registers: int, elements: int) -> tuple[Index, Index, Index, Index]:
    """Register, group, thread of the group and element of every place, broadcast to the shape of a layout."""
    shape = (registers, 32, elements)
    parts = (np.arange(registers)[:, None, None], GROUP[:, None], THREAD[:, None], np.arange(elements))
    r, g, t, e = (np.broadcast_to(x, shape) for x in parts)
    return r, g, t, e


@functools.cache
def layout_a(m: int, k: int, bits: int) -> Layout:
    """A: rows g and g + 8, along k the elements of a register, then the four threads, then further registers."""
    each = max(32 // bits, 1)
    halves = m // 8
    r, g, t, e = _grid(m * k // 32 // each, each)
    return Layout(m, k, bits, g + 8 * (r % halves), 4 * each * (r // halves) + each * t + e)


@functools.cache
def layout_b(k: int, n: int, bits: int) -> Layout:
    """B: like A with eight columns in the place of rows."""
    each = max(32 // bits, 1)
    r, g, t, e = _grid(k * n // 32 // each, each)
    return Layout(k, n, bits, 4 * each * r + each * t + e, g)


@functools.cache
def layout_c(m: int, n: int, bits: int) -> Layout:
    """C and D: two neighbouring elements a thread, rows g and g + 8, then the next eight columns."""
    each = max(32 // bits, 1)
    r, g, t, e = _grid(m * n // 32 // each, each)
    pairs, low = (r, e) if each == 2 else (r >> 1, r & 1)
    halves = m // 8
    return Layout(m, n, bits, g + 8 * (pairs % halves), 8 * (pairs // halves) + 2 * t + low)


def _quad_grid(count: int, bits: int) -> tuple[Index, Index, Index, Index]:
    """m8n8k4 on f16: tile, thread of its eight, half, and index of every place; lanes 4q..4q+3 and 16+4q..19+4q share tile q."""
    each = 32 // bits
    shape = (count // each, 32, each)
    i = np.broadcast_to(np.arange(shape[0])[:, None, None] * each + np.arange(each), shape)
    tile, t, half = (np.broadcast_to(x[:, None], shape) for x in (LANE >> 2 & 3, LANE & 3, LANE >> 4))
    return tile, t, half, i


@functools.cache
def quad_a(row_major: bool) -> Layout:
    """A of m8n8k4 on f16."""
    tile, t, half, i = _quad_grid(4, 16)
    row, column = (t, i) if row_major else (i, t)
    return Layout(8, 4, 16, row + 4 * half, column, 4, tile)


@functools.cache
def quad_b(row_major: bool) -> Layout:
    """B of m8n8k4 on f16."""
    tile, t, half, i = _quad_grid(4, 16)
    row, column = (t, i) if row_major else (i, t)
    return Layout(4, 8, 16, row, column + 4 * half, 4, tile)


@functools.cache
def quad_c(bits: int) -> Layout:
    """C and D of m8n8k4 on f16."""
    tile, t, half, i = _quad_grid(8, bits)
    if bits == 16:
        return Layout(8, 8, 16, t + 4 * half, i, 4, tile)
    return Layout(8, 8, 32, (t & 1) + (i & 2) + 4 * half, (i & 4) + (t & 2) + (i & 1), 4, tile)


# ---------------------------------------------------------------- registers and matrices


def _elements(registers: Sequence[Array], bits: int) -> Array:
    """The elements of a fragment as (places, warps): unsigned containers, float64 for 64 bits; of narrow ones the low first."""
    shape = np.broadcast_shapes((1, 32), *(r.shape for r in registers))
    stack = np.empty((len(registers), *shape), np.float64 if bits == 64 else np.uint32)
    for out, r in zip(stack, registers, strict=True):
        out[...] = r if bits == 64 else r.view(np.uint32)
    if bits in (8, 16):
        parts = stack.view(np.uint8 if bits == 8 else np.uint16)
    elif bits == 4:
        parts = np.stack([stack.view(np.uint8) & 15, stack.view(np.uint8) >> 4], axis=-1)
    elif bits == 1:
        parts = np.unpackbits(stack.view(np.uint8), axis=-1, bitorder="little")
    else:
        parts = stack
    return np.moveaxis(parts.reshape(len(registers), shape[0], 32, -1), 1, -1).reshape(-1, shape[0])


def collect(registers: Sequence[Array], layout: Layout) -> Array:
    """The matrix of a fragment: (rows, columns, tiles * warps), elements as unsigned containers or float64."""
    found: Array = _elements(registers, layout.bits)[layout.places()]
    if layout.tiles == 1:
        return found.reshape(layout.rows, layout.columns, -1)
    found = found.reshape(layout.tiles, layout.rows, layout.columns, -1)
    return np.moveaxis(found, 0, 2).reshape(layout.rows, layout.columns, -1)


def spread(matrix: Array, layout: Layout) -> tuple[Array, ...]:
    """The registers of a matrix, each (warps, 32), in its dtype, or as uint32 where a register holds several elements."""
    if layout.tiles > 1:
        matrix = np.moveaxis(matrix.reshape(layout.rows, layout.columns, layout.tiles, -1), 2, 0)
    flat = matrix.reshape(layout.tiles * layout.rows * layout.columns, -1)
    warps = flat.shape[1]
    places = np.moveaxis(flat[layout.keys()].reshape(layout.registers, 32, -1, warps), -1, 1)
    if layout.bits < 32:
        places = np.ascontiguousarray(places).view(np.uint32)
    return tuple(np.ascontiguousarray(places[..., 0]))


# ---------------------------------------------------------------- floats


@dataclass(frozen=True, eq=False, slots=True)
class Terms:
    """Numbers with the exponent that the adder goes by: subnormals count as the least normal number, zeros as nothing."""

    value: Array  # float64
    exponent: Array  # int16

    def __getitem__(self, index: object) -> Terms:
        return Terms(self.value[index], self.exponent[index])  # type: ignore[call-overload]


NOTHING = np.int16(-8000)  # the exponent of a zero: two of them still fit an int16
FRACTION = {"f16": 10, "bf16": 7, "f32": 23, "tf32": 23}
BIAS = {"f16": 15, "bf16": 127, "f32": 127, "tf32": 127}


def terms(bits: Array, kind: str) -> Terms:
    """The numbers that bit patterns of a format stand for; tf32 disregards the low 13 bits, fp8 goes through f16."""
    if kind in ("e4m3", "e5m2"):
        bits, kind = decode_minifloat(bits, kind).astype(np.float16).view(np.uint16), "f16"
    if kind == "f16":
        value = bits.view(np.float16).astype(np.float64)
    elif kind == "bf16":
        value = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    else:
        if kind == "tf32":
            bits = bits & np.uint32(0xFFFFE000)
        value = bits.view(np.float32).astype(np.float64)
    top = {"f16": 0x1F, "bf16": 0xFF, "f32": 0xFF, "tf32": 0xFF}[kind]
    field = (bits >> bits.dtype.type(FRACTION[kind]) & bits.dtype.type(top)).astype(np.int16)
    exponent = np.maximum(field, 1) - np.int16(BIAS[kind])
    exponent[value == 0] = NOTHING
    return Terms(value, exponent)


def power(exponent: Array) -> Array:
    """2.0 ** exponent of integers in the normal range of float64."""
    out: Array = (exponent.astype(np.int64) + 1023 << 52).view(np.float64)
    return out


def _sum(a: Terms, b: Terms, c: Terms, bits: int) -> Array:
    top = np.maximum((a.exponent + b.exponent).max(axis=0), c.exponent)
    top = np.maximum(top, np.int16(-400))
    product = a.value * b.value
    scale = power(bits - top)
    product *= scale
    np.trunc(product, out=product)
    total = product.sum(axis=0)
    total += np.trunc(c.value * scale)
    total *= power(top - bits)
    total += 0.0  # a sum of zeros is +0
    return total


def add_products(a: Terms, b: Terms, c: Terms, bits: int = 25) -> Array:
    """The sum of a[m, k] * b[k, n] over all k and of c[m, n], as float64, as one addition of the tensor core makes it.

    Every term is truncated toward zero to a multiple of 2**(E - bits), E being the largest exponent among them, and these are
    added exactly; the caller rounds.  Matrices are (m, k, warps), (k, n, warps) or (k, m, n, warps), and (m, n, warps).
    """
    special = not (np.isfinite(a.value).all() and np.isfinite(b.value).all() and np.isfinite(c.value).all())
    at = Terms(np.moveaxis(a.value, 1, 0)[:, :, None], np.moveaxis(a.exponent, 1, 0)[:, :, None])
    bt = b[:, None] if b.value.ndim == 3 else b
    k, warps = b.value.shape[0], c.value.shape[-1]
    step = max(ELEMENTS // max(k * c.value.shape[0] * c.value.shape[1], 1), 1)
    if warps <= step:
        total = _sum(at, bt, c, bits)
    else:
        total = np.empty(c.value.shape)
        for w in range(0, warps, step):
            cut = (..., slice(w, w + step))
            total[cut] = _sum(at[cut], bt[cut], c[cut], bits)
    if special:
        # Products of finite numbers stay finite here, so infinity and NaN arise exactly as the operands bring them.
        plain = c.value + sum(at.value[i] * bt.value[i] for i in range(k))
        total = np.where(np.isfinite(plain), total, plain)
    return total


def to_f32(total: Array) -> Array:
    """Truncated toward zero to float32, though too large a sum becomes infinite; NaN is the hardware's."""
    r = narrow(total, "rz")
    if not (np.abs(total) < 2.0**128).all():
        r = np.where(np.isnan(total), NAN32, np.where(np.abs(total) < 2.0**128, r, total.astype(np.float32)))
    return r


def to_f16(total: Array) -> Array:
    """Rounded to nearest even to float16; what underflows is +0, and NaN is the hardware's."""
    r: Array = total.astype(np.float16) + np.float16(0)
    if np.isnan(r).any():
        r.view(np.uint16)[np.isnan(r)] = 0x7FFF
    return r


# ---------------------------------------------------------------- integers and float64


def signed(elements: Array, kind: str) -> Array:
    """Elements of an integer type as float32: their products and the sums of a few hundred of them are exact in it."""
    if kind == "s8":
        return elements.view(np.int8).astype(np.float32)
    if kind == "s4":
        return ((elements ^ 8).astype(np.int8) - np.int8(8)).astype(np.float32)
    return elements.astype(np.float32)


def dot(a: Array, b: Array) -> Array:
    """The integer matrix product of (m, k, warps) and (k, n, warps), as int64."""
    product = np.matmul(np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0))
    return np.moveaxis(product, 0, -1).astype(np.int64)


def count_ones(a: Array, b: Array, op: str) -> Array:
    """How many ones `a op b` has, bit against bit, for every row of a and column of b."""
    both = dot(a, b)
    if op == "and":
        return both
    ones: Array = a.sum(axis=1)[:, None] + b.sum(axis=0)[None] - 2 * both
    return ones.astype(np.int64)


def add_integers(product: Array, c: Array, satfinite: bool) -> Array:
    """product + c as int32: clamped, or modulo 2**32."""
    total = product + c
    if satfinite:
        total = np.clip(total, -(2**31), 2**31 - 1)
    return total.astype(np.int32)


def fma_chain(a: Array, b: Array, c: Array, rounding: str) -> Array:
    """c + the products in the order of k, each step one fma in float64."""
    for i in range(b.shape[0]):
        x, y = a[:, i, None], b[None, i]
        c = exact.quiet(exact.fma64(x, y, c, rounding), *(np.broadcast_to(v, c.shape) for v in (y, c, x)))
    return c


# ---------------------------------------------------------------- sparsity


def metadata(e: Array, selector: int, groups: int, narrow_elements: bool) -> Array:
    """The 4-bit metadata of every row's groups, (16, groups, warps).

    Neighbouring threads of each four, chosen by the selector, hold those of rows g and g + 8.  For 16-bit elements a register
    has four groups of one row in its low half and four of the other in its high half; for narrower ones eight groups of one row.
    """
    threads = groups // 4
    first = selector * threads % 4
    words = np.broadcast_to(e, np.broadcast_shapes(e.shape, (1, 32))).reshape(-1, 8, 4)[:, :, first : first + threads]
    nibbles = words[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15  # (warps, row, thread, group)
    if narrow_elements:
        parts = nibbles.reshape(-1, 8, threads // 2, 2, 8)
    else:
        parts = nibbles.reshape(-1, 8, threads, 2, 4)
    return np.moveaxis(parts.transpose(0, 3, 1, 2, 4).reshape(-1, 16, groups), 0, -1)


def kept(nibbles: Array, bits: int) -> Array:
    """Which column each stored element of A stands in, (16, stored, warps), for elements of so many bits.

    Of four columns two are kept, each named by two bits.  4-bit elements are kept by pairs.  Of two tf32 columns one is kept:
    they count as four halves.
    """
    base = 4 * np.arange(nibbles.shape[1])[:, None]
    low, high = (nibbles & 3) + base, (nibbles >> 2) + base
    if bits == 32:
        return low >> 1
    both = np.stack([low, high], axis=2)
    if bits == 4:
        both = np.stack([2 * both, 2 * both + 1], axis=3)
    return both.reshape(16, -1, nibbles.shape[-1])


def choose(columns: Array, b: Terms) -> Terms:
    """B as each row of a sparse A meets it: (stored, m, n, warps)."""
    places = np.moveaxis(columns, 1, 0)[:, :, None]
    n, warps = b.value.shape[1:]
    index = (places, np.arange(n)[:, None], np.arange(warps))
    return b[index]


def expand(columns: Array, stored: Array, k: int) -> Array:
    """A sparse A with its zeros, (m, k, warps); where metadata names a column twice, both elements count."""
    m, count, warps = stored.shape
    halves = (m, k // 4, 2, -1, warps) if count * 2 == k and k > 0 else ()
    out = np.zeros((m, k, warps), stored.dtype)
    for half in range(2):
        part = np.zeros_like(out)
        at, values = (x.reshape(halves)[:, :, half].reshape(m, -1, warps) for x in (columns, stored))
        np.put_along_axis(part, at, values, axis=1)
        out += part
    return out
