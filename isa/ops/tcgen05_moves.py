"""Tensor memory: loads and stores by warps, copies from shared memory, shifts (PTX ISA 9.7.18.8-9)."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..notation import instruction
from ..ports import Addresses, Array, Lanes, Warps
from ..tensor_columns import LANES, QUARTER, TensorMemory
from ..tensor_memory import descriptors, layouts
from ..tensor_memory.products import decompressed
from .tcgen05 import GROUP, ILLEGAL, NEED, OUTSIDE, at, cell, check_columns, issuers, one_warp, own_ctas, read_shared, same, whole_warps

F = TypeVar("F", bound=Callable[..., Any])

# ---------------------------------------------------------------- loads and stores

NUMBERS = (1, 2, 4, 8, 16, 32, 64, 128)
Registers = tuple[Array, ...]


def _places(warps: Warps, a: Addresses, shape: str, number: int, second: int, wide: int) -> list[tuple[TensorMemory, Array, Array]]:
    """For each warp the tensor memory of its CTA, and the lanes and first columns of its registers."""
    whole_warps(warps)
    lanes, columns = layouts.fragment(shape, number, second, wide)
    count = int(columns.max()) + wide
    numbers = np.broadcast_to(warps.special("%warpid"), warps.members.shape).max(axis=1)
    found = []
    for w, (cta, address) in enumerate(zip(own_ctas(warps), same(warps, a, "addresses"), strict=True)):
        lane, column = cell(address)
        quarter = int(numbers[w]) % 4 * QUARTER
        starts = (quarter,) if shape == "32x32b" else (quarter, quarter + 16)
        if lane not in starts:
            text = f"warp {numbers[w]} reaches lanes {quarter} to {quarter + QUARTER - 1} of tensor memory, with .{shape} from lane " + (
                f"{' or '.join(map(str, starts))} on; the address begins at lane {lane}"
            )
            warps.refuse(OUTSIDE, text, one_warp(warps, w))
        memory = warps.tensor_cores.memory(cta)
        check_columns(warps, memory, column, count, f".{shape}.x{number}", one_warp(warps, w))
        found.append((memory, lane + lanes, column + columns))
    return found


def _load(warps: Warps, a: Addresses, shape: str, num: str, second: int, packs: bool) -> Registers:
    out = []
    for memory, lane, column in _places(warps, a, shape, int(num[1:]), second, 1 + packs):
        words = memory.cells[lane, column]
        out.append(words & np.uint32(0xFFFF) | memory.cells[lane, column + 1] << np.uint32(16) if packs else words)
    return tuple(np.stack(out, axis=1))


def _store(warps: Warps, a: Addresses, b: Registers, shape: str, num: str, second: int, unpacks: bool) -> None:
    values = [np.broadcast_to(v, warps.members.shape) for v in b]
    for w, (memory, lane, column) in enumerate(_places(warps, a, shape, int(num[1:]), second, 1 + unpacks)):
        words = np.stack([v[w] for v in values]).view(np.uint32)
        there = np.broadcast_to(warps.members[w], words.shape)
        if unpacks:
            memory.cells[lane[there], column[there] + 1] = words[there] >> np.uint32(16)
            words = words & np.uint32(0xFFFF)
        memory.cells[lane[there], column[there]] = words[there]


def _widths(row: str, shapes: tuple[str, ...], section: str) -> Callable[[F], F]:
    """Registers a load or store for all numbers of registers, of which it may have 128."""

    def register(meaning: F) -> F:
        for shape in shapes:
            for n in NUMBERS:
                count = n * layouts.EACH[shape]
                if count <= 128:
                    instruction(row.replace("COUNT", str(count)), shape=shape, num=f"x{n}", section=section, **NEED)(meaning)
        return meaning

    return register


LOAD, STORE = "9.7.18.8.3", "9.7.18.8.4"
SHAPES = ("16x64b", "32x32b", "16x128b", "16x256b")


@_widths("tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32  d*COUNT, [a]", SHAPES, LOAD)
def ld(warps: Warps, a: Addresses, *, shape: str, num: str, pack_16b: bool = False) -> Registers:
    """d = the warp's part of the tensor memory at a; .pack::16b makes one register of the lower halves of two columns."""
    return _load(warps, a, shape, num, 0, pack_16b)


@_widths("tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32  [a], b*COUNT", SHAPES, STORE)
def st(warps: Warps, a: Addresses, b: Registers, *, shape: str, num: str, unpack_16b: bool = False) -> None:
    """Stores b to the warp's part of the tensor memory at a; .unpack::16b fills two columns from each register."""
    _store(warps, a, b, shape, num, 0, unpack_16b)


@_widths("tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32  d*COUNT, [a], #n", ("16x32bx2",), LOAD)
def ld_halves(warps: Warps, a: Addresses, n: int, *, shape: str, num: str, pack_16b: bool = False) -> Registers:
    """d = the warp's part of the tensor memory at a and, for lanes 16 to 31, n columns on."""
    return _load(warps, a, shape, num, n, pack_16b)


@_widths("tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32  [a], #n, b*COUNT", ("16x32bx2",), STORE)
def st_halves(warps: Warps, a: Addresses, n: int, b: Registers, *, shape: str, num: str, unpack_16b: bool = False) -> None:
    """Stores b to the warp's part of the tensor memory at a and, of lanes 16 to 31, n columns on."""
    _store(warps, a, b, shape, num, n, unpack_16b)


# ---------------------------------------------------------------- copies

COPY = "9.7.18.9.2"
SOURCES = {"b6x16_p32": 6, "b4x16_p64": 4}


def _copies(row: str) -> Callable[[F], F]:
    """Registers tcgen05.cp for all shapes, without and with decompression."""

    def register(meaning: F) -> F:
        for shape, multicast in (
            ("128x256b 4x256b 128x128b", ""), ("64x128b", "warpx2::02_13 warpx2::01_23"), ("32x128b", "warpx4"),
        ):  # fmt: skip
            for form in (".b8x16.source", ""):  # first, as in other instructions ptxas overlooks these words
                words: dict[str, Any] = {"multicast": multicast} if multicast else {}
                if form:
                    words["source"] = SOURCES
                whole = row.replace("{.multicast}", ".multicast" if multicast else "").replace("{.form}", form)
                instruction(whole, group=GROUP, shape=shape, section=COPY, **words, **NEED)(meaning)
        return meaning

    return register


@_copies("tcgen05.cp.group.shape{.multicast}{.form}  [a], b:b64")
def cp(lanes: Lanes, a: Addresses, b: Array, *, group: str, shape: str, multicast: str = "", source: str = "") -> None:
    """Copies from shared memory, as the descriptor b says, to the tensor memory at a, in each CTA of the group from its own.

    Elements of 6 and 4 bits, 16 in each 16 bytes, come to stand in a byte each, as kind::f8f6f4 has them.
    """
    rows, columns = layouts.COPIES[shape]
    to = layouts.copied_to(shape, multicast)
    for place, mask, ctas in issuers(lanes, group):
        lane, column = cell(at(a, place, mask.shape))
        if lane:
            lanes.refuse(OUTSIDE, f".{shape} fills lanes from 0 on; the address begins at lane {lane}", mask)
        try:
            matrix = descriptors.matrix(at(b, place, mask.shape))
        except ValueError as wrong:
            lanes.refuse(ILLEGAL, str(wrong), mask)
        for cta in ctas:
            memory = lanes.tensor_cores.memory(cta)
            check_columns(lanes, memory, column, columns, f".{shape}", mask)
            pieces = read_shared(lanes, cta, matrix.pieces(rows, columns // 4, False), f".{shape}", mask)
            if source:
                pieces = decompressed(pieces, SOURCES[source])
            memory.cells[to, column : column + columns] = np.ascontiguousarray(pieces).view(np.uint32).reshape(rows, columns)


SHIFTED = 8  # columns of 32-bit cells


@instruction("tcgen05.shift.group.down  [a]", group=GROUP, section="9.7.18.9.3", ptx=8.6, sm=100, arch="a")
def shift(lanes: Lanes, a: Addresses, *, group: str) -> None:
    """Of the 32 lanes at a, whose rows have 32 bytes here, each but the last gets what the next one had.

    The manual says that rows go "down" by one "except the last"; that this is toward lower lanes is how its users read it.
    """
    for place, mask, ctas in issuers(lanes, group):
        lane, column = cell(at(a, place, mask.shape))
        if lane % QUARTER or lane >= LANES:
            lanes.refuse(OUTSIDE, f"the lane of the address is a multiple of 32; here it is {lane}", mask)
        for cta in ctas:
            memory = lanes.tensor_cores.memory(cta)
            check_columns(lanes, memory, column, SHIFTED, "the shift", mask)
            part = memory.cells[lane : lane + QUARTER, column : column + SHIFTED]
            part[:-1] = part[1:].copy()
