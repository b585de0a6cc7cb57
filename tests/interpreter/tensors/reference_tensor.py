"""Tensor memory and its products, one element at a time in plain Python: written from PTX ISA 9.7.18, and sharing nothing with isa/.

Images: tensor[cta][lane][column] are words of 32 bits, shared[cta] bytes.  A finite sum is an integer of quanta; how it is cut and rounded is
what wgmma does with 16-bit elements on sm_90, which is all that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Tensor = Sequence[Sequence[Sequence[int]]]
Shared = Sequence[bytes]

# ---------------------------------------------------------------- numbers

FLOATS = {  # bits of exponent and fraction, bias
    "f16": (5, 10, 15), "bf16": (8, 7, 127), "f32": (8, 23, 127), "tf32": (8, 23, 127), "e4m3": (4, 3, 7), "e5m2": (5, 2, 15),
    "e2m3": (2, 3, 1), "e3m2": (3, 2, 3), "e2m1": (2, 1, 1), "ue4m3": (4, 3, 7),
}  # fmt: skip
WIDTHS = {"e2m1": 4, "e2m3": 6, "e3m2": 6}


def number(code: int, kind: str) -> tuple[Fraction, int | None]:
    """A finite number and the exponent that the adder goes by, None for zero."""
    if kind == "ue8m0":
        return Fraction(2) ** (code - 127), code - 127
    if kind == "ue4m3":
        code &= 0x7F
    if kind == "tf32":
        code &= ~0x1FFF
    exponent, fraction, bias = FLOATS[kind]
    field, low = code >> fraction & (1 << exponent) - 1, code & (1 << fraction) - 1
    least = max(field, 1) - bias
    size = Fraction(low + (1 << fraction if field else 0)) * Fraction(2) ** (least - fraction)
    if kind in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue4m3") and size:  # an f16 by then: no subnormal but of f16
        least = max(_floor_log2(size), -14)
    return (-size if code >> exponent + fraction & 1 else size), (least if size else None)


def _floor_log2(x: Fraction) -> int:
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def added(terms: Sequence[tuple[Fraction, int | None]]) -> Fraction:
    """All terms, cut to 25 bits below the largest."""
    exponents = [e for _, e in terms if e is not None]
    if not exponents:
        return Fraction(0)
    quantum = Fraction(2) ** (max(exponents) - 25)
    total = 0
    for value, _ in terms:
        steps = abs(value) / quantum
        total += (-1 if value < 0 else 1) * (steps.numerator // steps.denominator)
    return total * quantum


def f32_toward_zero(x: Fraction) -> int:
    """The bits of a normal float32."""
    if x == 0:
        return 0
    e = _floor_log2(abs(x))
    steps = abs(x) / Fraction(2) ** (e - 23)
    return (x < 0) << 31 | e + 127 << 23 | (steps.numerator // steps.denominator) - (1 << 23)


# ---------------------------------------------------------------- shared memory


def shared_code(memory: bytes, descriptor: int, row: int, k: int, bits: int, width: int, turned: bool) -> int:
    """One element of a matrix: of a place of `bits` bits, of which `width` count where 16 elements lie packed in 16 bytes."""
    start, leading, stride = ((descriptor >> at & 0x3FFF) * 16 for at in (0, 16, 32))
    mode = descriptor >> 61
    pattern = {0: 16, 1: 128, 2: 128, 4: 64, 6: 32}[mode]
    if turned:
        byte, bit = row * bits // 8, 0
        if mode == 0:
            place = start + byte // 16 * stride + k // 8 * leading + k % 8 * 16 + byte % 16
        else:
            deep = 4 if mode == 1 else 8
            place = start + byte // pattern * leading + k // deep * stride + k % deep * pattern + byte % pattern
    else:
        if bits == 8 and width < 8:
            byte, bit = k // 16 * 16 + k % 16 * width // 8, k % 16 * width % 8
        else:
            byte, bit = k * bits // 8, k * bits % 8
        if mode == 0:
            place = start + row // 8 * stride + row % 8 * 16 + byte // 16 * leading + byte % 16
        else:
            place = start + row // 8 * stride + row % 8 * pattern + byte // pattern * leading + byte % pattern
    count = -(-(bit + min(width, bits)) // 8)
    word = 0
    for i in range(count):
        at = place + i
        line = at >> 7 & 7
        at ^= {0: 0, 1: (line & 3) << 5, 2: line << 4, 4: (line & 3) << 4, 6: (line & 1) << 4}[mode]
        word |= memory[at] << 8 * i
    return word >> bit & (1 << min(width, bits)) - 1


# ---------------------------------------------------------------- products


@dataclass(frozen=True)
class Product:
    """What an instruction says: see the fields of the instruction descriptor."""

    kind: str
    m: int
    n: int
    a: str
    b: str
    d: str
    ctas: int = 1
    ws: bool = False
    sparse: bool = False
    turned: tuple[bool, bool] = (False, False)
    negates: tuple[bool, bool] = (False, False)
    saturates: bool = False
    selector: int = 0
    chunks: int = 0
    factors: str = ""
    ids: tuple[int, int] = (0, 0)
    k: int = 0

    def __post_init__(self) -> None:
        if not self.k:
            object.__setattr__(self, "k", 256 // self.bits * (2 if self.sparse else 1))

    @property
    def bits(self) -> int:
        """Of the place of an element."""
        return {"f16": 16, "tf32": 32, "mxf4": 4, "mxf4nvf4": 4}.get(self.kind, 8)

    @property
    def descriptor(self) -> int:
        """The instruction descriptor."""
        narrow = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
        codes = {"f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "i8": {"u8": 0, "s8": 1}, "mxf4": {"e2m1": 1}, "mxf4nvf4": {"e2m1": 1}}
        of = codes.get(self.kind, narrow)
        word = self.sparse << 2 | of[self.a] << 7 | of[self.b] << 10 | self.n >> 3 << 17
        for at, flag in zip((13, 14, 15, 16), (*self.negates, *self.turned), strict=True):
            word |= flag << at
        if self.chunks:
            return word | self.ids[1] << 4 | (self.factors == "ue8m0") << 23 | self.m >> 7 << 27 | self.ids[0] << 29 | (self.k == 96) << 31
        return word | self.selector | self.saturates << 3 | {"f16": 0, "f32": 1, "s32": 2}[self.d] << 4 | self.m >> 4 << 24


def place(p: Product, row: int, column: int) -> tuple[int, int, int]:
    """CTA, lane and column of an element of D, lanes and columns counted from its address: layouts A to G."""
    own = p.m // p.ctas
    cta, row = row // own, row % own
    if own == 128:
        return cta, row, column
    if own == 64 and not p.ws and (p.ctas == 1 or p.sparse):
        return cta, row // 16 * 32 + row % 16, column
    parts = 128 // own
    return cta, row + column // (p.n // parts) * own, column % (p.n // parts)


def multiply(
    p: Product, tensor: Tensor, shared: Shared, d: int, a: int, a_in_tensor: bool, b: int, e: int = 0, x: int = 0, y: int = 0,
    *, elements: Sequence[tuple[int, int]], keeps: bool = True, scale: int = 0, disabled: int = 0, shifts: bool = False, zero_mask: int = 0,
) -> dict[tuple[int, int, int], int]:  # fmt: skip
    """The cells that D = A * B + D * 2**-scale writes for some elements of D, by CTA, lane and column."""
    after = {}
    for row, column in elements:
        cta, lane, at = place(p, row, column)
        lane, at = lane + (d >> 16), at + (d & 0xFFFF)
        if disabled >> 128 * cta + lane & 1:
            after[cta, lane, at] = tensor[cta][lane][at]
            continue
        before = tensor[cta][lane][at] if keeps else 0
        pairs = _pairs(p, tensor, shared, row, column, (cta, lane), a, a_in_tensor, b, e, shifts, zero_mask)
        after[cta, lane, at] = _dot(p, tensor, pairs, row, column, (cta, lane), before, x, y, scale)
    return after


def _pairs(
    p: Product, tensor: Tensor, shared: Shared, row: int, column: int, at: tuple[int, int], a: int, a_in_tensor: bool, b: int, e: int,
    shifts: bool, zero_mask: int,
) -> list[tuple[int, int | None, int]]:  # fmt: skip
    """The elements of A and B that meet, None for one of B that counts as zero, and their k."""
    cta, lane = at
    own, each = p.m // p.ctas, p.n // p.ctas
    found = []
    for stored in range(p.k // 2 if p.sparse else p.k):
        if a_in_tensor:
            from_lane = lane if not shifts or lane == 127 else lane + 1
            bits = p.bits
            word = tensor[cta][from_lane][(a & 0xFFFF) + stored * bits // 32]
            left = word >> stored * bits % 32 & (1 << bits) - 1
            if p.a in WIDTHS and bits == 8:
                left = left >> 2 & 15 if p.a == "e2m1" else left & 63
        else:
            left = shared_code(shared[cta], a, row % own, stored, p.bits, WIDTHS.get(p.a, p.bits), p.turned[0])
        k = _kept(p, tensor[cta], row % own, lane, stored, e) if p.sparse else stored
        source = _source_column(p, column, zero_mask)
        right = None
        if source is not None:
            right = shared_code(shared[column // each], b, column % each + source - column, k, p.bits, WIDTHS.get(p.b, p.bits), p.turned[1])
        found.append((left, right, k))
    return found


def _source_column(p: Product, column: int, mask: int) -> int | None:
    """Which column of B counts as this one, None for zeros."""
    if not mask:
        return column
    parts = 128 // p.m
    part, at = column // (p.n // parts), column % (p.n // parts)
    if mask >> 39 & 1:
        used, zero = (mask >> 48 & 255) + 1, (mask >> 40 & 255) + 1
        bits = [0] * used + [1] * zero
        if mask >> 32 + part & 1:
            bits = [1] * zero + [0] * used
        if bits[((mask >> 8 * part & 255) + at) % (used + zero)]:
            return None
    return column + (mask >> 56 & 63)


def _kept(p: Product, cells: Sequence[Sequence[int]], row: int, lane: int, stored: int, e: int) -> int:
    """The k of a stored element of A."""
    column = e & 0xFFFF
    if p.bits >= 16:
        group = stored if p.bits == 32 else stored // 2
        first = lane - row % 16 + row % 8  # of the row's 16 lanes the first or the second eight
        half = cells[first + 8 * (group // 4)][column + p.selector] >> 16 * (row % 16 // 8)
        nibble = half >> 4 * (group % 4) & 15
        if p.bits == 32:
            return 2 * group + {0b1110: 1, 0b0100: 0}[nibble]
        return 4 * group + (nibble >> 2 * (stored % 2) & 3)
    each = 4 if p.bits == 4 else 2
    group = stored // each
    nibble = cells[lane][column + group // 8] >> 4 * (group % 8) & 15
    if p.bits == 4:
        return 8 * group + 2 * (nibble >> 2 * (stored % 4 // 2) & 3) + stored % 2
    return 4 * group + (nibble >> 2 * (stored % 2) & 3)


def _factor(cells: Sequence[Sequence[int]], address: int, row: int, byte: int, rows: int, lane: int) -> int:
    """The code of one factor, in the quarter of the lanes that the row of D lies in."""
    column = (address & 0xFFFF) + row // 32 + byte // 4 * 4 * (-(-rows // 128))
    return cells[lane // 32 * 32 + row % 32][column] >> 8 * (byte % 4) & 255


def _dot(
    p: Product, tensor: Tensor, pairs: Sequence[tuple[int, int | None, int]], row: int, column: int, at: tuple[int, int], before: int,
    x: int, y: int, scale: int,
) -> int:  # fmt: skip
    if p.kind == "i8":
        total = 0
        for left, right, _ in pairs:
            total += _signed(left, p.a) * (0 if right is None else _signed(right, p.b))
        total += before - (before >> 31 << 32)
        if p.saturates:
            total = min(max(total, -(2**31)), 2**31 - 1)
        return total % 2**32
    cta, lane = at
    own, width = p.m // p.ctas, p.n // (2 if p.ctas == 2 and p.m == 128 and not p.sparse else 1)
    terms: list[tuple[Fraction, Any]] = []
    for left, right, k in pairs:
        parts = [number(left, p.a), (Fraction(0), None) if right is None else number(right, p.b)]
        if p.chunks:
            chunk = k * p.chunks // p.k
            parts.append(number(_factor(tensor[cta], x, row % own, p.ids[0] + chunk, own, lane), p.factors))
            parts.append(number(_factor(tensor[cta], y, column % width, p.ids[1] + chunk, width, lane), p.factors))
        value, exponent = Fraction(1), 0
        for v, e in parts:
            value *= v
            exponent += e or 0
        value *= (-1) ** sum(p.negates)
        terms.append((value, exponent if value else None))
    c, e = number(before & 0xFFFF, "f16") if p.d == "f16" else number(before, "f32")
    terms.append((c / 2**scale, None if e is None else e - scale))
    total = added(terms)
    if p.d == "f16":
        with np.errstate(over="ignore"):
            return int(np.float16(float(total)).view(np.uint16))
    return f32_toward_zero(total)


def _signed(code: int, kind: str) -> int:
    return code - 256 if kind == "s8" and code > 127 else code
