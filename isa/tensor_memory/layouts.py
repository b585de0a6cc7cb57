"""Which cells of tensor memory an instruction means, as arrays of lanes and columns (PTX ISA 9.7.18.2.3, 9.7.18.9.2, 9.7.18.10.5-8)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..ports import Array
from ..tensor_columns import QUARTER
from .descriptors import MmaShape

Index = NDArray[np.intp]
Cells = tuple[Index, Index]  # lanes and columns, counted from an address

# ---------------------------------------------------------------- ld and st

EACH = {"32x32b": 1, "16x64b": 1, "16x32bx2": 1, "16x128b": 2, "16x256b": 4}  # registers of a thread for .x1


@functools.cache
def fragment(shape: str, number: int, second: int = 0, wide: int = 1) -> Cells:
    """Where the registers of a warp's threads lie, both (registers, 32); `second` is the column of 16x32bx2's other half.

    With .pack::16b and .unpack::16b, where `wide` is 2, a register is a pair of columns: this is the first of them.
    """
    r, t = np.arange(EACH[shape] * number)[:, None], np.arange(32)
    zero = np.zeros((len(r), 32), np.intp)
    match shape:
        case "32x32b":
            lane, column = t, r
        case "16x64b":
            lane, column = (t >> 2) + 8 * (t & 1), 2 * r + (t >> 1 & 1)
        case "16x128b":
            lane, column = (t >> 2) + 8 * (r & 1), 4 * (r >> 1) + (t & 3)
        case "16x256b":
            lane, column = (t >> 2) + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (t & 3) + (r & 1)
        case _:
            return (t & 15) + zero, r * wide + (t >> 4) * second + zero
    return lane + zero, column * wide + zero


# ---------------------------------------------------------------- cp

COPIES = {"128x256b": (128, 8), "4x256b": (4, 8), "128x128b": (128, 4), "64x128b": (64, 4), "32x128b": (32, 4)}  # rows, columns


def copied_to(shape: str, multicast: str) -> Index:
    """The lanes that each row of shared memory goes to, (copies, rows)."""
    rows: Index = np.arange(COPIES[shape][0])
    copies: Index = np.zeros((1, 1), np.intp)
    match shape, multicast:
        case "4x256b", _:
            rows = QUARTER * rows
        case "32x128b", _:
            copies = QUARTER * np.arange(4)[:, None]
        case "64x128b", "warpx2::02_13":
            copies = np.array([[0], [64]])
        case "64x128b", _:
            rows, copies = rows % 32 + rows // 32 * 64, np.array([[0], [32]])
    return rows + copies


# ---------------------------------------------------------------- mma


@dataclass(frozen=True, slots=True)
class DataPath:
    """How the rows that one CTA holds lie in the lanes: in `banks` that have columns of D each, or in one half of each quarter."""

    rows: int
    banks: int = 1
    halves: bool = False

    def lanes(self, bank: int) -> Index:
        """The lane of each row."""
        row = np.arange(self.rows)
        return row // 16 * QUARTER + row % 16 if self.halves else row + self.rows * bank


def data_path(shape: MmaShape) -> DataPath:
    """Layouts A to G of PTX ISA 9.7.18.10.5."""
    rows = shape.m // shape.ctas
    if rows == 128:  # A, D
        return DataPath(128)
    if shape.weights_stay or (shape.ctas == 2 and not shape.sparse):  # B, E, G
        return DataPath(rows, 128 // rows)
    return DataPath(rows, halves=True)  # C, F


def metadata(cells: Array, path: DataPath, bank: int, lane: int, column: int, shape: MmaShape) -> Array:
    """The four bits that say which of A's elements are kept, (rows, groups), from the cells at an address.

    16-bit and 32-bit elements have eight groups: eight lanes hold the first four of rows r (low half) and r + 8 (high half), the next
    eight lanes the others, in the column that the selector chooses.  Of narrower ones each lane holds its own row's, in two columns.
    """
    lanes = path.lanes(bank) + lane
    if shape.bits >= 16:
        group = np.arange(8)
        row = np.arange(path.rows)[:, None]
        place = lanes[:, None] - row % 16 + row % 8 + 8 * (group >> 2)
        words, at = cells[place, column + shape.selector], 16 * (row >> 3 & 1) + 4 * (group & 3)
    else:
        group = np.arange(16)
        words, at = cells[lanes[:, None], column + (group >> 3)], 4 * (group & 7)
    nibbles: Array = words >> at.astype(np.uint32) & np.uint32(15)
    return nibbles


def factor_columns(rows: int, chunks: int, first: int) -> int:
    """How many columns the factors of so many rows take."""
    return (first + chunks - 1) // 4 * (-(-rows // 128) * 4) + -(-rows // QUARTER)


def factors(cells: Array, lane: int, column: int, rows: int, chunks: int, first: int, joint: int) -> Array:
    """The codes of a matrix's factors, (chunks, rows): a lane of 32 and its columns hold rows, the bytes of a cell chunks, from `first` on.

    Those beyond a cell's four bytes lie behind the columns of all `joint` rows, four for each 128.
    """
    row, byte = np.arange(rows), np.arange(first, first + chunks)[:, None]
    words = cells[lane + row % QUARTER, column + row // QUARTER + byte // 4 * (-(-joint // 128) * 4)]
    found: Array = (words >> (byte % 4 * 8).astype(np.uint32) & np.uint32(255)).astype(np.uint8)
    return found
