"""Operands of recorded kernels, made again from a number: 48 rows of 64-bit words for 128 lanes; and the checksum of what they leave.

What was recorded stands for these very words: each draw of a random number belongs to them.
"""

import random
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
LANES, ROWS = 128, 48
POISON = np.uint64(0xCDCD_CDCD_CDCD_CDCD)  # what results held before
MIXER = np.uint64(0xBF58_476D_1CE4_E5B9)
SINGLES = [
    *(0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x7F7FFFFF, 0xFF7FFFFF),
    *(0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0x40490FDB, 0x4B000000, 0x4B800001, 0x4F000000, 0xCF000000),
    *(0x4F800000, 0x5F000000, 0x3F000000, 0x3E99999A, 0x00000200, 0x33800000, 0x477FE000, 0x47800000, 0x43E00000, 0x447A0000, 0x34000000),
    0x7E800000,
]
DOUBLES = [
    *(0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001),
    *(0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8123456789ABC),
    *(0x400921FB54442D18, 0x41E0000000000000, 0xC1E0000000000000, 0x43E0000000000000, 0x36A0000000000000, 0x3810000000000000),
    *(0x47EFFFFFE0000000, 0x3E70000000000000, 0x40EFFC0000000000, 0x3FE0000000000000),
]
HALVES = [
    *(0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x3C01, 0x3BFF, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE12, 0x7FFF),
    *(0x3800, 0x5640, 0x6400, 0x1400),
]
BRAINS = [
    *(0, 0x8000, 1, 0x8001, 0x7F, 0x80, 0x3F80, 0xBF80, 0x3F81, 0x3F7F, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFC1, 0x7FFF),
    *(0x4049, 0x4300),
]
INTEGERS = [
    *(0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 30, 31, 32, 33, 47, 48, 63, 64, 65, 100, 127, 128, 255, 256, 1000, 32767, 32768, 65535, 65536),
    *(0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x55555555, 0xAAAAAAAA, 0x01010101, 0x80808080),
]
FORMATS = {
    "f16": (16, 5, 10),
    "bf16": (16, 8, 7),
    "f32": (32, 8, 23),
    "tf32": (32, 8, 23),
    "e4m3": (8, 4, 3),
    "e5m2": (8, 5, 2),
    "f64": (64, 11, 52),
}


def _near_one(r: random.Random, bits: int, exponent: int, mantissa: int) -> int:
    bias, full = (1 << exponent - 1) - 1, (1 << exponent) - 2
    sign = r.getrandbits(1) << bits - 1
    power = max(0, min(full, bias + r.randint(-12, 12))) << mantissa
    return sign | power | (r.getrandbits(mantissa) & r.choice([-1, -1, ~((1 << mantissa // 2) - 1), 0]))


def _word(r: random.Random) -> int:
    match r.randrange(14):
        case 1:
            return r.choice(SINGLES) | r.choice(SINGLES) << 32
        case 2:
            return _near_one(r, 32, 8, 23) | _near_one(r, 32, 8, 23) << 32
        case 3:
            return r.choice(DOUBLES)
        case 4:
            return _near_one(r, 64, 11, 52)
        case 5:
            return sum(r.choice(HALVES) << 16 * i for i in range(4))
        case 6:
            return sum(r.choice(BRAINS) << 16 * i for i in range(4))
        case 7:
            return sum(_near_one(r, 16, 5, 10) << 16 * i for i in range(4))
        case 8:
            return sum(_near_one(r, 16, 8, 7) << 16 * i for i in range(4))
        case 9:
            return r.choice(INTEGERS) | r.choice(INTEGERS) << 32
        case 10:
            return -r.choice(INTEGERS) & (1 << 64) - 1
        case 11:
            return r.randint(-40, 40) & (1 << 64) - 1
        case 12:
            return r.randint(-40, 40) & 0xFFFFFFFF | (r.randint(-300, 300) & 0xFFFFFFFF) << 32
        case 13:
            return r.getrandbits(64) & r.getrandbits(64)
    return r.getrandbits(64)


def _mixed(seed: int) -> Words:
    """Special and random words of all types."""
    r, out = random.Random(seed), []
    for _ in range(ROWS):
        r.randrange(3)
        out += [_word(r) for _ in range(LANES)]
    return np.array(out, np.uint64).reshape(ROWS, LANES)


def _elements(kind: str, flavour: str, r: np.random.Generator) -> Words:
    """A row of elements of one type: near one, of all sizes, or with special ones among them."""
    if kind not in FORMATS or flavour == "bits":
        return r.integers(0, 1 << 64, LANES, dtype=np.uint64)
    bits, exponent, mantissa = FORMATS[kind]
    many, bias, full = LANES * 64 // bits, (1 << exponent - 1) - 1, (1 << exponent) - 1
    spread = min({"nice": 3, "wide": bias, "special": 6}[flavour], bias)
    power = np.clip(bias + r.integers(-spread, spread + 1, many), 0, full - 1).astype(np.uint64)
    sign = r.integers(0, 2, many, dtype=np.uint64) << np.uint64(bits - 1)
    v = sign | power << np.uint64(mantissa) | r.integers(0, 1 << mantissa, many, dtype=np.uint64)
    if kind == "tf32":
        v &= np.uint64(0xFFFFE000) if r.integers(2) else np.uint64(0xFFFFFFFF)
    v[r.random(many) < 0.08] &= np.uint64(1 << bits - 1)
    if flavour == "special":
        p = r.random(many)
        v[p < 0.01] = np.uint64(full << mantissa)
        v[(p >= 0.01) & (p < 0.015)] = np.uint64(full << mantissa | 1 << bits - 1)
        v[(p >= 0.015) & (p < 0.018)] = np.uint64(full << mantissa | 1)
        v[(p >= 0.02) & (p < 0.1)] &= np.uint64(1 << bits - 1 | (1 << mantissa) - 1)
    v &= np.uint64((1 << bits) - 1)
    short: Any = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]
    return v.astype(short).view(np.uint64)


def operands(number: int, mode: str) -> Words:
    """Those of one kernel: "mix", or "mma:A:B:C:metadata:flavour", rows of the elements of three matrices and of metadata."""
    if mode == "mix":
        return _mixed(number % 20)
    r, out = np.random.default_rng(1000 + number), np.empty((ROWS, LANES), np.uint64)
    _, a, b, c, metadata, flavour = ("mma:f64:f64:f64:x:nice" if mode == "f64" else mode).split(":")
    for row in range(ROWS):
        out[row] = _elements(a if row < 12 else b if row < 24 else c if row < 40 else "int", flavour, r)
        if 40 <= row < 44:  # two of four chosen elements, 16 times
            chosen = r.choice([4, 14] if metadata == "tf32" else [4, 8, 9, 12, 13, 14], (LANES, 16)).astype(np.uint64)
            out[row] = np.bitwise_or.reduce(chosen << (4 * np.arange(16, dtype=np.uint64)), axis=1)
    return out


def checksum(rows: Words) -> int:
    """Of a number for each row, in which each lane's word counts at its place."""
    mixed = (rows ^ rows >> np.uint64(31)) * MIXER
    mixed ^= mixed >> np.uint64(29)
    place = np.arange(LANES, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15) | np.uint64(1)
    return zlib.crc32((mixed * place).sum(axis=1, dtype=np.uint64).astype("<u8").tobytes())
