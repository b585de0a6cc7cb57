"""Matrix fragments: which matrix element each register of each lane holds, and how registers become matrices and back.

Matrices keep the warps on the last axis, (rows, columns, warps), so that numpy's inner loops are long where there are many.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .ports import Array

Index = NDArray[np.intp]

LANE = np.arange(32)
GROUP, THREAD = LANE >> 2, LANE & 3

# The types of registers that may hold 32 bits of a fragment, by what its elements are.
BITS = frozenset({"b32"})
PAIRS = frozenset({"b32", "f16x2"})
INTEGERS = frozenset({"b32", "u32", "s32"})
NUMBERS = INTEGERS | {"f32", "f16x2"}
WORDS = NUMBERS | {"pred"}  # all that have 32 bits, and ptxas counts a predicate among them
INTEGER_TYPES = ("s8", "u8", "s4", "u4", "b1")  # of elements


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
    """A: rows g and g + 8; along k the elements of a register, the four threads, further registers; then the next 16 rows."""
    each = max(32 // bits, 1)
    halves = min(m // 8, 2)
    blocks = k // (4 * each)
    r, g, t, e = _grid(m * k // 32 // each, each)
    row = g + 8 * (r % halves) + 16 * (r // halves // blocks)
    return Layout(m, k, bits, row, 4 * each * (r // halves % blocks) + each * t + e)


@functools.cache
def layout_b(k: int, n: int, bits: int) -> Layout:
    """B: column g; along k as in A; then the next eight columns."""
    each = max(32 // bits, 1)
    blocks = k // (4 * each)
    r, g, t, e = _grid(k * n // 32 // each, each)
    return Layout(k, n, bits, 4 * each * (r % blocks) + each * t + e, g + 8 * (r // blocks))


@functools.cache
def layout_c(m: int, n: int, bits: int) -> Layout:
    """C and D: two neighbouring elements a thread, rows g and g + 8 (further ones in m32n8), then the next eight columns."""
    each = max(32 // bits, 1)
    r, g, t, e = _grid(m * n // 32 // each, each)
    pairs, low = (r, e) if each == 2 else (r >> 1, r & 1)
    halves = m // 8
    return Layout(m, n, bits, g + 8 * (pairs % halves), 8 * (pairs // halves) + 2 * t + low)


@functools.cache
def transposed(layout: Layout) -> Layout:
    """The same places for the transposed matrix."""
    return Layout(layout.columns, layout.rows, layout.bits, layout.column, layout.row)


@functools.cache
def repeated(layout: Layout, registers: int) -> Layout:
    """A fragment that holds its registers several times over."""
    times = (registers // layout.registers, 1, 1)
    return Layout(layout.rows, layout.columns, layout.bits, np.tile(layout.row, times), np.tile(layout.column, times))


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
    warps = max(r.shape[0] for r in registers)
    full = (warps, 32)
    stack = np.concatenate([r if r.shape == full else np.broadcast_to(r, full) for r in registers])
    if bits == 64:
        parts = stack
    elif bits == 4:
        pairs = stack.view(np.uint8)
        parts = np.stack([pairs & 15, pairs >> 4], axis=-1)
    elif bits == 1:
        parts = np.unpackbits(stack.view(np.uint8), axis=-1, bitorder="little")
    else:
        parts = stack.view(f"u{bits // 8}")
    return parts.reshape(len(registers), warps, -1).transpose(0, 2, 1).reshape(-1, warps)


def collect(registers: Sequence[Array], layout: Layout) -> Array:
    """The matrix of a fragment: (rows, columns, tiles * warps), elements as unsigned containers or float64."""
    found: Array = _elements(registers, layout.bits)[layout.places()]
    if layout.tiles == 1:
        return found.reshape(layout.rows, layout.columns, -1)
    found = found.reshape(layout.tiles, layout.rows, layout.columns, -1)
    return found.transpose(1, 2, 0, 3).reshape(layout.rows, layout.columns, -1)


def spread(matrix: Array, layout: Layout) -> tuple[Array, ...]:
    """The registers of a matrix, each (warps, 32), in its dtype, or as uint32 where a register holds several elements."""
    if layout.tiles > 1:
        matrix = matrix.reshape(layout.rows, layout.columns, layout.tiles, -1).transpose(2, 0, 1, 3)
    flat = matrix.reshape(layout.tiles * layout.rows * layout.columns, -1)[layout.keys()]
    places = np.ascontiguousarray(flat.reshape(layout.registers, -1, flat.shape[1]).transpose(0, 2, 1))
    return tuple(places.view(np.uint32) if layout.bits < 32 else places)
