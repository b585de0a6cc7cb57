"""Moving 8x8 matrices between shared memory and fragments: ldmatrix, stmatrix, movmatrix (PTX ISA 9.7.16.5.15-17).

A row of a matrix is 16 bytes; lane 8 i + r holds the address of row r of matrix i, lane 4 r + t gets its columns 2 t and 2 t + 1.
"""

from typing import Any

import numpy as np

from .. import fragments
from ..facts import facts, when
from ..notation import Need, accepted, instruction
from ..ports import Addresses, Array, Warps

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
def ldmatrix(warps: Warps, a: Addresses, *, num: str, trans: bool = False, ss: str = "generic") -> tuple[Array, ...]:
    """d = one register of each 8x8 matrix, whose rows the lanes' addresses a name; .trans gives the transposed matrices."""
    words = [warps.load(ss, row, "b32")[0] for row in _rows(warps, a, int(num[1:]), ss)]
    return tuple(map(transpose, words)) if trans else tuple(words)


@instruction("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  [a], b*1:b32", num="x1", **STORE)
@instruction("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  [a], b*2:b32", num="x2", **STORE)
@instruction("stmatrix.sync.aligned.m8n8.num{.trans}{.ss}.b16  [a], b*4:b32", num="x4", **STORE)
def stmatrix(warps: Warps, a: Addresses, b: tuple[Array, ...], *, num: str, trans: bool = False, ss: str = "generic") -> None:
    """Stores 8x8 matrices, of which b holds one register each, to the rows that the lanes name in a; .trans stores them transposed."""
    for row, word in zip(_rows(warps, a, int(num[1:]), ss), b, strict=True):
        warps.store(ss, row, "b32", [transpose(word) if trans else word])


@instruction("movmatrix.sync.aligned.m8n8.trans.b16  d:b32~, a:b32~", ptx=7.8, sm=75, section=MOVMATRIX)
def movmatrix(warps: Warps, a: Array) -> Array:
    """d = the fragment of the transposed 8x8 matrix."""
    return transpose(a)


_SOURCE: Any = {"source": "b6x16_p32 b4x16_p64"}
for _trans, _shape, _counts in ((".trans", "m16n16", {"x1": 2, "x2": 4}), ("", "m8n16", {"x1": 1, "x2": 2, "x4": 4})):
    for _num, _count in _counts.items():
        for _types in (".b8",) * bool(_trans) + (".b8x16.source",):
            accepted(
                f"ldmatrix.sync.aligned.shape.num{_trans}{{.ss}}{_types}  d*{_count}:b32, [a]",
                shape=_shape, num=_num, ss=SPACES, ptx=8.6, sm=100, arch="af", section=LDMATRIX,
                doc="d = registers of matrices of 8-bit elements, or of 6- and 4-bit ones which it widens to 8 bits.",
                **_SOURCE if "source" in _types else {},
            )  # fmt: skip
for _num in ("x1", "x2", "x4"):
    accepted(
        f"stmatrix.sync.aligned.m16n8.num.trans{{.ss}}.b8  [a], b*{_num[1:]}:b32",
        num=_num, ss=SPACES, ptx=8.6, sm=100, arch="af", section=STMATRIX, doc="Stores transposed matrices of 8-bit elements.",
    )  # fmt: skip
