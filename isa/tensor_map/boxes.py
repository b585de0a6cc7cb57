"""Where a copied box lies, in units of 16 bytes: their addresses in global memory, their places in shared memory, and which the tensor has.

All rows of a box begin and end at multiples of 16 bytes, so a unit is the grain of every copy.  Arrays have a row for each copy
(n of them, of one map) and a column for each unit, in the order of shared memory.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .descriptor import IM2COL_W, IM2COL_W128, TensorMap

UNIT = 16
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_HALO_EVERY = 32  # pixels, of im2col::w::128
_W128_PIXELS = 128
GATHERED = 4  # rows of tile::gather4 and tile::scatter4
MAX_BYTES = 1 << 18  # more than any shared memory
FLIPPED = 2  # an atomicity of tensormap.replace: atoms of 32 bytes whose halves change places
SWIZZLE_PERIOD = 1024  # bytes after which the permutation of a swizzle is the same again
ATOMS = {1: (2, 0x60), 3: (1, 0x40)}  # of 32 and 64 bytes: which bits of an address change, and from how far above


@dataclass(frozen=True, slots=True)
class Units:
    """The units of some copies of one map."""

    address: NDArray[np.uint64]  # (n, units), in global memory
    held: Numbers | None  # (n, units) how many bytes of each belong to the tensor; None: all 16
    place: Numbers  # (units,) in the tile, before it is swizzled

    @property
    def count(self) -> int:
        """How many units a copy has."""
        return self.place.size


class BoxError(ValueError):
    """The machine refuses such a copy; `rows` are the copies that it is about."""

    def __init__(self, message: str, rows: Flags | None = None) -> None:
        super().__init__(message)
        self.rows = rows


def _row_bytes(m: TensorMap, elements: int) -> int:
    size = elements * m.type.bytes
    if size % UNIT:
        raise BoxError(f"a row of {elements} x {m.type.bytes} bytes is not a multiple of {UNIT}")
    return size


@functools.lru_cache(64)
def _places(m: TensorMap, rows: int, row_bytes: int) -> Numbers:
    """Units row by row; without interleave a row is at least as wide as the swizzle."""
    pitch = max(row_bytes, m.swizzle) if not m.interleave else row_bytes
    return (np.arange(rows)[:, None] * pitch + np.arange(0, row_bytes, UNIT)).reshape(-1)


def check_layout(m: TensorMap) -> None:
    """Raises where a box has no layout in shared memory that is known here."""
    rows, row = (m.pixels, m.channels * m.type.bytes) if m.pixels else (math.prod(m.box[1:]), m.box[0] * (m.interleave or m.type.bytes))
    if rows * row > MAX_BYTES:
        raise BoxError(f"a box of {rows * row} bytes is larger than any shared memory")
    if m.swizzle == 96 or (m.swizzle == 128 and m.atomicity == FLIPPED):
        raise BoxError("swizzles of 96 bytes and of 32-byte atoms with 8-byte flips are not modelled")


def in_shared(m: TensorMap, start: NDArray[np.uint64], place: Numbers) -> NDArray[np.uint64]:
    """(n, units): the addresses of units in shared memory, of boxes that begin at start (n, 1)."""
    places = place.view(np.uint64)
    if bool((start % np.uint64(SWIZZLE_PERIOD) == 0).all()):
        return start + swizzled(m, places)
    return swizzled(m, start + places)


def swizzled(m: TensorMap, at: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Addresses of units in shared memory as the map's swizzle permutes them: bits 7 to 9 change bits 4 to 6."""
    if not m.swizzle:
        return at
    if m.swizzle == 128 and m.atomicity:
        shift, mask = ATOMS[m.atomicity]
    else:
        shift, mask = 3, m.swizzle - UNIT
    changed: NDArray[np.uint64] = at ^ (at >> np.uint64(shift) & np.uint64(mask))
    return changed


def _first(m: TensorMap, c: Numbers) -> None:
    """Rows of a tensor are copied from multiples of 16 bytes on."""
    bad = c[:, 0] * m.type.bytes % UNIT != 0
    if bad.any():
        grain = f"a multiple of {UNIT // m.type.bytes} elements ({UNIT} bytes)"
        raise BoxError(f"the box begins at element {int(c[bad][0, 0])} of a row: without interleave the first coordinate is {grain}", bad)


def _held_in_row(m: TensorMap, first: Numbers, row_bytes: int) -> Numbers | None:
    """(n, units of a row): how many bytes of each unit lie in the tensor's row; first (n, 1) in elements."""
    begin, end = first * m.type.bytes, m.dims[0] * m.type.bytes
    if bool((begin >= 0).all() and (begin + row_bytes <= end).all()):
        return None
    at = begin + np.arange(0, row_bytes, UNIT)
    return np.where(at < 0, 0, np.clip(end - at, 0, UNIT))


def _joined(row: Numbers | None, inside: Flags | None, shape: tuple[int, int, int]) -> Numbers | None:
    """Bytes held of each unit, of (n, 1, units of a row) and (n, rows, 1)."""
    if row is None and inside is None:
        return None
    n, rows, units = shape
    held = np.full((1, 1, 1), UNIT) if row is None else row.reshape(n, -1, units)
    whole = held if inside is None else np.where(inside.reshape(n, -1, 1), held, 0)
    return np.broadcast_to(whole, shape).reshape(n, rows * units)


def _address(m: TensorMap, offset: Numbers) -> NDArray[np.uint64]:
    return offset.view(np.uint64) + np.uint64(m.address)


def _address_within(m: TensorMap, corner: Numbers, within: Numbers) -> NDArray[np.uint64]:
    """(n, units): of units whose places within a box are known."""
    return _address(m, corner)[:, None] + within.view(np.uint64)


# ---------------------------------------------------------------- tiles


@functools.lru_cache(64)
def _visits(m: TensorMap) -> tuple[Numbers, ...]:
    """Along each dimension above 0, which elements a box visits, counted from its corner."""
    out = [np.arange(0, size, step) for size, step in zip(m.box[1:], m.steps[1:], strict=True)]
    if m.interleave:
        out[-2] = np.zeros(1, np.int64)  # of the slices of channels one, whatever the box says
    return tuple(out)


@functools.lru_cache(64)
def _within(m: TensorMap, row_bytes: int) -> Numbers:
    """(units,): the bytes from the box's corner to each of its units."""
    return (_offsets(m)[:, None] + np.arange(0, row_bytes, UNIT)).reshape(-1)


@functools.lru_cache(64)
def _offsets(m: TensorMap) -> Numbers:
    """(rows,): the bytes from the box's corner to each of its rows."""
    total = np.zeros(1, np.int64)
    for visits, stride in zip(_visits(m), m.strides, strict=True):
        total = (visits[:, None] * stride + total).reshape(-1)
    return total


def _rows_inside(m: TensorMap, c: Numbers) -> Flags | None:
    """(n, rows): which rows of a box lie in the tensor; None where all do."""
    inside = None
    rows = 1
    for i, visits in enumerate(_visits(m), 1):
        first, last = c[:, i], c[:, i] + int(visits[-1])
        rows *= visits.size
        if bool((first >= 0).all() and (last < m.dims[i]).all()):
            if inside is not None:
                inside = np.broadcast_to(inside[:, None, :], (len(c), visits.size, inside.shape[1])).reshape(len(c), -1)
            continue
        at = first[:, None] + visits
        own = (at >= 0) & (at < m.dims[i])
        below = np.ones((1, rows // visits.size), np.bool_) if inside is None else inside
        inside = (own[:, :, None] & below[:, None, :]).reshape(len(c), -1)
    return inside


def tile(m: TensorMap, c: Numbers) -> Units:
    """The boxes at coordinates c (n, rank)."""
    if m.interleave:
        return _slices(m, c)
    _first(m, c)
    size = _row_bytes(m, m.box[0])
    corner = c[:, 0] * m.type.bytes
    for i, stride in enumerate(m.strides, 1):
        corner = corner + c[:, i] * stride
    n, rows, units = len(c), _offsets(m).size, size // UNIT
    held = _joined(_held_in_row(m, c[:, :1], size), _rows_inside(m, c), (n, rows, units))
    return Units(_address_within(m, corner, _within(m, size)), held, _places(m, rows, size))


def _slices(m: TensorMap, c: Numbers) -> Units:
    """Interleaved: dimension 0 counts slices of 16 or 32 bytes."""
    if m.rank < 3:
        raise BoxError(f"an interleaved map has at least 3 dimensions, this one {m.rank}")
    visits = np.arange(0, m.box[0], m.steps[0])
    corner = c[:, 0] * m.interleave
    for i, stride in enumerate(m.strides, 1):
        corner = corner + c[:, i] * stride
    each = visits[:, None] * m.interleave + np.arange(0, m.interleave, UNIT)
    within = (_offsets(m)[:, None] + each.reshape(-1)).reshape(-1)
    at = c[:, :1] + visits
    row = np.repeat(np.where((at >= 0) & (at < m.dims[0]), UNIT, 0), m.interleave // UNIT, axis=1)
    shape = (len(c), _offsets(m).size, each.size)
    return Units(_address_within(m, corner, within), _joined(row, _rows_inside(m, c), shape), _places(m, shape[1], each.size * UNIT))


def four_rows(m: TensorMap, c: Numbers) -> Units:
    """tile::gather4, tile::scatter4: c (n, 5) has a column, and four rows of a tensor of two dimensions."""
    _first(m, c)
    size = _row_bytes(m, m.box[0])
    start = c[:, :1] * m.type.bytes + c[:, 1:] * m.strides[0]
    rows = c[:, 1:]
    inside = (rows >= 0) & (rows < m.dims[1])
    held = _joined(_held_in_row(m, c[:, :1], size), None if inside.all() else inside, (len(c), GATHERED, size // UNIT))
    address = (start[:, :, None] + np.arange(0, size, UNIT)).reshape(len(c), -1)
    return Units(_address(m, address), held, _places(m, GATHERED, size))


# ---------------------------------------------------------------- images


def image(m: TensorMap, c: Numbers, offsets: Numbers, mode: str) -> Units:
    """The pixels from c (n, rank) on as the rows of a matrix: a row has the channels of one pixel, moved by the offsets (n, w h d)."""
    if m.interleave:
        raise BoxError("an interleaved map in im2col mode is not modelled")
    _first(m, c)
    size = _row_bytes(m, m.channels)
    wide = mode in (IM2COL_W, IM2COL_W128)
    base = c[:, 1:-1]
    low, high = _bounding_box(m, base, offsets[:, 1:] if wide else None)
    if wide:
        base = np.concatenate([base[:, :1] + offsets[:, 1:], base[:, 1:]], axis=1)
    bad: Flags = np.any((base < low) | (base > high), axis=1)
    if bad.any():
        i = int(bad.argmax())
        text = f"pixel {tuple(base[i].tolist())} lies outside the bounding box from {tuple(low[i].tolist())} to {tuple(high[i].tolist())}"
        raise BoxError(text, bad)
    steps, halo = m.steps[1:-1], _halo(m, offsets, mode) if wide else None
    number, over = (np.arange(m.pixels)[None, :], None) if halo is None else halo
    at: list[Numbers] = []
    for i, step in enumerate(steps):
        value, number = _walk(base[:, i : i + 1], low[:, i : i + 1], high[:, i : i + 1], step, number)
        if not wide:
            value = value + offsets[:, i : i + 1]
        elif over is not None and i == 0:
            value = value + over * step
        at.append(value)
    at.append(c[:, -1:] + number)
    start, inside = c[:, :1] * m.type.bytes, np.ones((1, 1), np.bool_)
    for x, stride, dim in zip(at, m.strides, m.dims[1:], strict=True):
        start = start + x * stride
        inside = inside & (x >= 0) & (x < dim)
    rows = inside.shape[1]
    held = _joined(_held_in_row(m, c[:, :1], size), None if inside.all() else inside, (len(c), rows, size // UNIT))
    address = (start[:, :, None] + np.arange(0, size, UNIT)).reshape(len(c), -1)
    return Units(_address(m, address), held, _places(m, rows, size))


def _bounding_box(m: TensorMap, base: Numbers, offset: Numbers | None) -> tuple[Numbers, Numbers]:
    """(n, spatial dimensions): where the walk turns.  With `offset` only w walks, in a box that is moved by it."""
    if offset is None:
        low = np.array([m.lower], np.int64)
        high = np.array([[dim - 1 + up for dim, up in zip(m.dims[1:-1], m.upper, strict=True)]], np.int64)
        return np.broadcast_to(low, base.shape), np.broadcast_to(high, base.shape)
    low, high = m.lower[0] + offset, m.dims[1] - 1 + m.upper[0] + offset
    return np.concatenate([low, base[:, 1:]], axis=1), np.concatenate([high, base[:, 1:]], axis=1)


def _walk(first: Numbers, low: Numbers, high: Numbers, step: int, number: Numbers) -> tuple[Numbers, Numbers]:
    """Where step `number` from `first` leads that returns to `low` past `high`; and how often it has returned."""
    ahead = (high - first) // step + 1  # places before it returns for the first time
    each = (high - low) // step + 1
    later = number - ahead
    turns = np.where(later < 0, 0, later // each + 1)
    return np.where(later < 0, first + number * step, low + later % each * step), turns


def _halo(m: TensorMap, offsets: Numbers, mode: str) -> tuple[Numbers, Numbers]:
    """im2col::w: for each pixel of the copy the pixel of the walk, and how far beyond it: the halo follows the last, or each 32nd."""
    halo = int(offsets[0, 0])
    if (offsets[:, 0] != halo).any():
        raise BoxError("copies with different halos at once are not modelled")
    pixels, run = (_W128_PIXELS, _HALO_EVERY) if mode == IM2COL_W128 else (m.pixels, m.pixels)
    within = np.arange(run + halo)
    number = np.minimum(within, run - 1) + np.arange(0, pixels, run)[:, None]
    over = np.broadcast_to(np.maximum(within - (run - 1), 0), number.shape)
    return number.reshape(1, -1), over.reshape(1, -1)
