"""Moving matrices between shared memory and fragments: ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.16.5.15-17).

A row of a matrix is 16 bytes; lane 8 i + r holds the address of row r of matrix i, lane 4 r + t gets its columns 2 t and 2 t + 1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import fragments
from ..facts import Need, facts, when
from ..notation import instruction
from ..ports import Addresses, Array, Warps
from ..primitives import primitive

LDMATRIX, STMATRIX, MOVMATRIX = "9.7.16.5.15", "9.7.16.5.16", "9.7.16.5.17"
SPACES = "shared shared::cta"
LOAD: Any = {"ss": SPACES, "ptx": 6.5, "sm": 75, "needs": {"shared::cta": Need(7.8)}, "section": LDMATRIX}
STORE: Any = {"ss": SPACES, "ptx": 7.8, "sm": 90, "section": STMATRIX}

facts("ldmatrix stmatrix", fragments={"": fragments.WORDS})
facts("ldmatrix stmatrix", moves_matrix=True, moves_memory=True)
facts("stmatrix", takes_bits="b")
facts("ldmatrix", result_from_elsewhere=True)
facts("movmatrix", takes_bits="a")
facts("ldmatrix", memory_only=when(without=SPACES), word_addresses=when(without=SPACES))

LANE = np.arange(32)
ROW, COLUMN = LANE >> 2, 2 * (LANE & 3)
# Element (row, column) of an 8x8 matrix is half row * 8 + column of its 32 registers; a lane's two halves of the transposed matrix.
TURNED = np.stack([COLUMN * 8 + ROW, (COLUMN + 1) * 8 + ROW], axis=-1).ravel()


def transpose(word: Array) -> Array:
    """The registers of the transposed 8x8 matrix."""
    halves = np.ascontiguousarray(np.broadcast_to(word, (word.shape[0], 32))).view(np.uint16)
    turned: Array = np.ascontiguousarray(halves[:, TURNED]).view(np.uint32)
    return turned


def _rows(warps: Warps, a: Addresses, count: int, ss: str) -> list[Array]:
    """The address of each lane's word in each matrix; an address that no row may have is refused as a 16-byte access to it is."""
    a = np.broadcast_to(a, (a.shape[0], 32))
    if (a[:, : 8 * count] & np.uint64(15)).any():
        warps.load(ss, a[:, np.minimum(LANE, 8 * count - 1)], "b128")
    return [a[:, 8 * i + ROW] + (2 * COLUMN).astype(np.uint64) for i in range(count)]


@instruction("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  d*1:b32, [a]", num="x1", **LOAD)
@instruction("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  d*2:b32, [a]", num="x2", **LOAD)
@instruction("ldmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  d*4:b32, [a]", num="x4", **LOAD)
@primitive
def ldmatrix(warps: Warps, a: Addresses, *, num: str, trans: bool = False, ss: str = "generic") -> tuple[Array, ...]:
    """d = one register of each 8x8 matrix, whose rows the lanes' addresses a name; .trans gives the transposed matrices."""
    words = [warps.load(ss, row, "b32")[0] for row in _rows(warps, a, int(num[1:]), ss)]
    return tuple(map(transpose, words)) if trans else tuple(words)


@instruction("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  [a], b*1:b32", num="x1", **STORE)
@instruction("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  [a], b*2:b32", num="x2", **STORE)
@instruction("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  [a], b*4:b32", num="x4", **STORE)
@primitive
def stmatrix(warps: Warps, a: Addresses, b: tuple[Array, ...], *, num: str, trans: bool = False, ss: str = "generic") -> None:
    """Stores 8x8 matrices, of which b holds one register each, to the rows that the lanes name in a; .trans stores them transposed."""
    for row, word in zip(_rows(warps, a, int(num[1:]), ss), b, strict=True):
        warps.store(ss, row, "b32", [transpose(word) if trans else word])


@instruction("movmatrix.sync.aligned.m8n8.trans.b16  d:b32~, a:b32~", ptx=7.8, sm=75, section=MOVMATRIX)
@primitive
def movmatrix(warps: Warps, a: Array) -> Array:
    """d = the fragment of the transposed 8x8 matrix."""
    return transpose(a)


# ---------------------------------------------------------------- elements of 8, 6 and 4 bits

# A row is 16 bytes again: 16 elements, which lie packed at its beginning if they have fewer than 8 bits.  Lane 4 r + t first gets the
# four bytes 4 t to 4 t + 3 of row r in each group of eight rows; the tables below say where the bytes of a register then come from.
_BYTE = np.arange(4)
_G, _T = (LANE >> 2)[:, None], (LANE & 3)[:, None]


def _places(row: Array, column: Array) -> Array:
    """Where a matrix's byte lies among those that the lanes have loaded: (eight rows, lane, byte)."""
    places: Array = ((row >> 3) * 32 + (row & 7) * 4 + (column >> 2)) * 4 + (column & 3)
    return places


# ldmatrix.m16n16.trans: lane 4 g + t gets rows 4 t to 4 t + 3 of column g, then of column g + 8 (as CUTLASS's copy atoms have it).
COLUMNS = np.stack([_places(4 * _T + _BYTE, _G + 8 * half) for half in range(2)]).ravel()
# stmatrix.m16n8.trans: lane 4 g + t holds rows g and g + 8 of columns 2 t and 2 t + 1; what a lane stores are four rows of a column.
_STORED_ROW, _STORED_COLUMN = 4 * _T + _BYTE, _G
STORED = (((_STORED_ROW & 7) * 4 + (_STORED_COLUMN >> 1)) * 4 + (_STORED_ROW >> 3) * 2 + (_STORED_COLUMN & 1)).ravel()
PACKED = {"b6x16_p32": 6, "b4x16_p64": 4}


def _gathered(words: Sequence[Array], places: Array) -> Array:
    """Bytes of the registers of all lanes at these places, as registers (count, warps, 32)."""
    warps = max(word.shape[0] for word in words)
    full = np.ascontiguousarray(np.concatenate([np.broadcast_to(word, (warps, 32)) for word in words], axis=1))
    found = np.ascontiguousarray(full.view(np.uint8)[:, places])
    return found.view(np.uint32).reshape(warps, -1, 32).transpose(1, 0, 2)


def _widened(word: Array, bits: int) -> Array:
    """Elements of so many bits at the beginning of each row, in a byte each, the bits above them zero."""
    rows = np.ascontiguousarray(np.broadcast_to(word, (word.shape[0], 32))).view(np.uint8).reshape(-1, 8, 16)
    first = np.arange(16) * bits
    pairs = rows[..., first >> 3] | rows[..., (first >> 3) + 1].astype(np.uint16) << np.uint16(8)
    elements = pairs >> (first & 7).astype(np.uint16) & np.uint16((1 << bits) - 1)
    return elements.astype(np.uint8).reshape(-1, 128).view(np.uint32)


def _narrow_rows(warps: Warps, a: Addresses, count: int, ss: str, source: str) -> list[Array]:
    """What the lanes load of groups of eight rows, each element in a byte."""
    words = [warps.load(ss, row, "b32")[0] for row in _rows(warps, a, count, ss)]
    return [_widened(word, PACKED[source]) for word in words] if source else words


NARROW: Any = {"ss": SPACES, "ptx": 8.6, "sm": 100, "arch": "af"}


@instruction("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8  d*2:b32, [a]", num="x1", section=LDMATRIX, **NARROW)
@instruction("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8x16.source  d*2:b32, [a]", num="x1", source=PACKED, section=LDMATRIX, **NARROW)
@instruction("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8  d*4:b32, [a]", num="x2", section=LDMATRIX, **NARROW)
@instruction("ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8x16.source  d*4:b32, [a]", num="x2", source=PACKED, section=LDMATRIX, **NARROW)
def ldmatrix_columns(warps: Warps, a: Addresses, *, num: str, ss: str = "generic", source: str = "") -> tuple[Array, ...]:
    """d = two registers of each transposed 16x16 matrix of bytes, or of 6- or 4-bit elements in a byte each; 16 lanes name its rows."""
    count = 2 * int(num[1:])
    words = _narrow_rows(warps, a, count, ss, source)
    return tuple(register for i in range(0, count, 2) for register in _gathered(words[i : i + 2], COLUMNS))


@instruction("ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.source  d*1:b32, [a]", num="x1", source=PACKED, section=LDMATRIX, **NARROW)
@instruction("ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.source  d*2:b32, [a]", num="x2", source=PACKED, section=LDMATRIX, **NARROW)
@instruction("ldmatrix.sync.aligned.m8n16.num{.ss}.b8x16.source  d*4:b32, [a]", num="x4", source=PACKED, section=LDMATRIX, **NARROW)
def ldmatrix_packed(warps: Warps, a: Addresses, *, num: str, source: str, ss: str = "generic") -> tuple[Array, ...]:
    """d = one register of each 8x16 matrix of 6- or 4-bit elements, expanded to one byte each; eight lanes have the addresses of its rows."""
    return tuple(_narrow_rows(warps, a, int(num[1:]), ss, source))


@instruction("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8  [a], b*1:b32", num="x1", section=STMATRIX, **NARROW)
@instruction("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8  [a], b*2:b32", num="x2", section=STMATRIX, **NARROW)
@instruction("stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8  [a], b*4:b32", num="x4", section=STMATRIX, **NARROW)
def stmatrix_columns(warps: Warps, a: Addresses, b: tuple[Array, ...], *, num: str, ss: str = "generic") -> None:
    """Stores 16x8 matrices of bytes, of which b holds one register each, column after column to the places that the lanes name in a."""
    for column, word in zip(_rows(warps, a, int(num[1:]), ss), b, strict=True):
        warps.store(ss, column, "b32", list(_gathered([word], STORED)))
