"""What the descriptors of tcgen05 instructions say: of a matrix in shared memory, of an instruction, of columns that count as zeros.

PTX ISA 9.7.18.4.  A descriptor that says what no instruction does raises a ValueError, whose text says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..ports import Array
from ..shared_matrices import SharedMatrix

# Swizzling mode: bytes of a row of the pattern, which bits of its number move chunks, bytes of a chunk.
SWIZZLES = {0: (16, 0, 16), 1: (128, 3, 32), 2: (128, 7, 16), 4: (64, 3, 16), 6: (32, 1, 16)}
VERSION = 1


def matrix(descriptor: int) -> SharedMatrix:
    """The matrix in shared memory that a descriptor describes."""
    if descriptor >> 46 & 7 != VERSION:
        raise ValueError(f"bits 46 to 48 of the matrix descriptor {descriptor:#018x} are {descriptor >> 46 & 7:03b}, not 001")
    mode = descriptor >> 61
    if mode not in SWIZZLES:
        raise ValueError(f"the matrix descriptor {descriptor:#018x} has swizzling mode {mode}; there are 0, 1, 2, 4 and 6")
    start, leading, stride = ((descriptor >> at & 0x3FFF) << 4 for at in (0, 16, 32))
    absolute = descriptor >> 52 & 1
    if absolute and (mode != 2 or leading % 128):
        raise ValueError("an absolute leading dimension goes with 128-byte swizzling and is a multiple of 128")
    width, mask, chunk = SWIZZLES[mode]
    return SharedMatrix(start, 0 if absolute else leading, stride, descriptor >> 49 & 7, width, mask, chunk, leading if absolute else -1)


# ---------------------------------------------------------------- instructions

NARROW = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
FORMATS = {
    "f16": {0: "f16", 1: "bf16"}, "tf32": {2: "tf32"}, "f8f6f4": NARROW, "i8": {0: "u8", 1: "s8"},
    "mxf8f6f4": NARROW, "mxf4": {1: "e2m1"}, "mxf4nvf4": {1: "e2m1"},
}  # fmt: skip
RESULTS = {"f16": {0: "f16", 1: "f32"}, "tf32": {1: "f32"}, "f8f6f4": {0: "f16", 1: "f32"}, "i8": {2: "s32"}}
BITS = {"f16": 16, "tf32": 32, "f8f6f4": 8, "i8": 8, "mxf8f6f4": 8, "mxf4": 4, "mxf4nvf4": 4}  # of the place of an element
FACTORS = {0: "ue4m3", 1: "ue8m0"}
SHIFTS = (0, 8, 16, 32)  # the most that the columns of B may be shifted by


@dataclass(frozen=True, slots=True)
class MmaShape:
    """What an instruction descriptor, and the words of its instruction, say of a multiplication."""

    kind: str
    m: int
    n: int
    k: int
    a: str
    b: str
    d: str
    sparse: bool
    negates: tuple[bool, bool]
    turned: tuple[bool, bool]
    ctas: int = 1
    weights_stay: bool = False
    selector: int = 0  # of the columns of sparsity metadata
    saturates: bool = False
    factors: str = ""  # their type, "" without
    factor_ids: tuple[int, int] = (0, 0)
    most_shift: int = 0

    @property
    def bits(self) -> int:
        """Of the place of an element of A or B."""
        return BITS[self.kind]

    @property
    def stored(self) -> int:
        """Elements of a row of A in memory."""
        return self.k // 2 if self.sparse else self.k


def _named(names: dict[int, str], code: int, what: str, kind: str) -> str:
    if code not in names:
        known = ", ".join(f"{c} ({name})" for c, name in names.items())
        raise ValueError(f"the instruction descriptor gives {what} the type {code}; .kind::{kind} has {known}")
    return names[code]


def instruction(descriptor: int, kind: str, ctas: int, sparse: bool, weights_stay: bool) -> MmaShape:
    """The multiplication that an instruction of a kind, with its descriptor, stands for."""
    scaled = kind.startswith("mx")
    if bool(descriptor >> 2 & 1) != sparse:
        raise ValueError(
            f"the instruction descriptor says {'dense' if sparse else 'sparse'}, the instruction {'.sp' if sparse else 'no .sp'}"
        )
    a = _named(FORMATS[kind], descriptor >> 7 & 7, "A", kind)
    b = _named(FORMATS[kind], descriptor >> 10 & (3 if BITS[kind] == 4 else 7), "B", kind)
    d = "f32" if scaled else _named(RESULTS[kind], descriptor >> 4 & 3, "D", kind)
    negates, turned = (bool(descriptor >> 13 & 1), bool(descriptor >> 14 & 1)), (bool(descriptor >> 15 & 1), bool(descriptor >> 16 & 1))
    if d == "f16" and "bf16" in (a, b):
        raise ValueError("D of type f16 goes with A and B of type f16")
    if kind == "i8" and any(negates):
        raise ValueError(".kind::i8 negates neither A nor B")
    if BITS[kind] == 4 and any(turned):
        raise ValueError(f".kind::{kind} transposes neither A nor B")
    for name, is_turned, matrix_type in (("A", turned[0], a), ("B", turned[1], b)):
        if is_turned and matrix_type in ("e2m3", "e3m2", "e2m1"):
            raise ValueError(f"{name} of type {matrix_type} cannot be transposed")
    m = (descriptor >> 27 & 3) << 7 if scaled else (descriptor >> 24 & 31) << 4
    n = (descriptor >> 17 & 63) << 3
    k = 256 // BITS[kind] * (2 if sparse else 1)
    if BITS[kind] == 4 and descriptor >> 31:
        if sparse:
            raise ValueError("a sparse A has no K of 96")
        k = 96
    _check_shape(kind, m, n, ctas, sparse, weights_stay, turned[1])
    factors = FACTORS[descriptor >> 23 & 1] if scaled else ""
    if factors == "ue4m3" and kind != "mxf4nvf4":
        raise ValueError(f"the factors of .kind::{kind} have the type ue8m0: bit 23 of the instruction descriptor is 1")
    return MmaShape(
        kind, m, n, k, a, b, d, sparse, negates, turned, ctas, weights_stay,
        0 if scaled else descriptor & 3, kind == "i8" and bool(descriptor >> 3 & 1), factors,
        (descriptor >> 29 & 3, descriptor >> 4 & 3) if scaled else (0, 0),
        SHIFTS[descriptor >> 30] if weights_stay else 0,
    )  # fmt: skip


def _check_shape(kind: str, m: int, n: int, ctas: int, sparse: bool, weights_stay: bool, turned_b: bool) -> None:
    """PTX ISA 9.7.18.2.1."""
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    if weights_stay:
        rows, columns = (32, 64, 128), (64, 128) if sparse else (64, 128, 256)
    else:
        rows = (64, 128) if ctas == 1 else (128, 256)
        if kind.startswith("mx"):
            rows = (128,) if ctas == 1 else (256,) if sparse else (128, 256)
        step = 8 * ctas
        columns = tuple(range(step, 257, step))
        if kind == "i8":
            columns = (8, 24, *range(16, 257, 16)) if ctas == 1 else tuple(range(32, 257, 32))
        if turned_b and BITS[kind] == 8:
            columns = tuple(c for c in columns if c % (16 * ctas) == 0)
    words = f".kind::{kind}{'.ws' if weights_stay else ''} with cta_group::{ctas}{' and a sparse A' if sparse else ''}"
    if m not in rows:
        raise ValueError(f"{words} has M = {' or '.join(map(str, rows))}; the instruction descriptor says {m}")
    if n not in columns:
        raise ValueError(f"{words} has no N = {n}")


# ---------------------------------------------------------------- columns of zeros


def zero_columns(descriptor: int, m: int, n: int) -> Array:
    """Which columns of B count as zeros: of the 128 / M parts of B each has a mask of its own, in which spans of both sorts take turns.

    PTX ISA 9.7.18.4.3 calls the span of columns that count "skip" and the other one "use" in its table, and the other way round in its
    examples; CUTLASS agrees with the examples, and so does this.
    """
    parts = 128 // m
    place = np.arange(n // parts)
    if not descriptor >> 39 & 1:
        return np.zeros(n, np.bool_)
    used, zero = (descriptor >> 48 & 255) + 1, (descriptor >> 40 & 255) + 1
    masks = []
    for part in range(parts):
        zeros_first = descriptor >> 32 + part & 1
        first = zero if zeros_first else used
        at = (place + min(descriptor >> 8 * part & 255, first - 1)) % (used + zero)
        masks.append(at < zero if zeros_first else at >= used)
    return np.concatenate(masks)


def column_shift(descriptor: int, shape: MmaShape) -> int:
    """How many columns of B come before the first that is multiplied."""
    shift = descriptor >> 56 & 63
    most = min(shape.most_shift, 16 if shape.m == 32 else 32)
    if shift > most:
        raise ValueError(f"a column shift of {shift}, where the instruction descriptor and M = {shape.m} allow {most}")
    return shift
