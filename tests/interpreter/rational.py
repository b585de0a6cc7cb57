"""Floating point in plain Python: bits to exact fractions, exact results, rounded once; NaNs and zeros by their own rules.

Nothing is shared with the meanings that it judges: no numpy, no float.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt


@dataclass(frozen=True)
class Format:
    """A binary format: bits, bits of the significand with the hidden one, and its NaN."""

    bits: int
    precision: int
    nan: int

    @property
    def bias(self) -> int:
        """Of the exponent field."""
        return (1 << (self.bits - self.precision - 1)) - 1

    @property
    def infinity(self) -> int:
        """The bits of +inf."""
        return ((2 << self.bits - self.precision - 1) - 1) << self.precision - 1

    @property
    def lowest(self) -> Fraction:
        """The smallest normal number."""
        return Fraction(2) ** (1 - self.bias)


F16, BF16 = Format(16, 11, 0x7FFF), Format(16, 8, 0x7FFF)
F32, F64 = Format(32, 24, 0x7FFFFFFF), Format(64, 53, 0xFFF8000000000000)


@dataclass(frozen=True)
class Number:
    """What bits stand for: a sign and a magnitude, or infinity (magnitude None), or a NaN with its bits."""

    negative: bool
    magnitude: Fraction | None = Fraction(0)
    nan: int | None = None

    @property
    def value(self) -> Fraction:
        """Of a finite number."""
        assert self.magnitude is not None and self.nan is None
        return -self.magnitude if self.negative else self.magnitude


def decode(bits: int, f: Format, flush: bool = False) -> Number:
    """What bits of a format stand for; subnormal ones are zeros where they are flushed."""
    negative = bool(bits >> (f.bits - 1))
    rest = bits & ((1 << (f.bits - 1)) - 1)
    if rest > f.infinity:
        return Number(negative, nan=bits)
    if rest == f.infinity:
        return Number(negative, None)
    exponent, field = rest >> (f.precision - 1), rest & ((1 << (f.precision - 1)) - 1)
    if exponent == 0:
        return Number(negative, Fraction(0) if flush else field * f.lowest / (1 << (f.precision - 1)))
    return Number(negative, ((1 << (f.precision - 1)) + field) * Fraction(2) ** (exponent - f.bias - f.precision + 1))


def infinite(negative: bool, f: Format) -> int:
    """The bits of an infinity."""
    return f.infinity | negative << f.bits - 1


def whole(x: Fraction, mode: str, negative: bool = False) -> int:
    """A magnitude as a whole number, rounded to nearest even (n), to zero (z), up (p) or down (m) in the sense of its sign."""
    low = x.numerator // x.denominator
    rest = x - low
    if rest == 0 or mode == "z" or (mode == "p" and negative) or (mode == "m" and not negative):
        return low
    if mode == "n":
        return low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low & 1))
    return low + 1


def floor_log2(x: Fraction) -> int:
    """The exponent of a positive fraction."""
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if x >= Fraction(2) ** guess else guess - 1


def encode(negative: bool, x: Fraction, f: Format, mode: str = "n", flush: bool = False) -> int:
    """A magnitude rounded into a format; what stays below the normal numbers, however small exponents may be, is flushed."""
    sign = negative << f.bits - 1
    if x == 0:
        return sign
    exponent = floor_log2(x)
    if flush:
        unit = Fraction(2) ** (exponent - f.precision + 1)
        if whole(x / unit, mode, negative) * unit < f.lowest:
            return sign
    unit = Fraction(2) ** (max(exponent, 1 - f.bias) - f.precision + 1)
    n = whole(x / unit, mode, negative)
    if n * unit >= Fraction(2) ** (f.bias + 1):
        away = mode == "n" or (mode == "p" and not negative) or (mode == "m" and negative)
        return sign | (f.infinity if away else f.infinity - 1)
    exponent = max(exponent, 1 - f.bias)
    return sign | (((exponent + f.bias - 1) << (f.precision - 1)) + n if n >= 1 << (f.precision - 1) or exponent > 1 - f.bias else n)


def summed(terms: list[Number], f: Format, mode: str, flush: bool) -> int:
    """The rounded sum of numbers none of which is a NaN."""
    endless = {t.negative for t in terms if t.magnitude is None}
    if endless:
        return f.nan if len(endless) == 2 else infinite(endless.pop(), f)
    total = sum((t.value for t in terms), Fraction(0))
    if total == 0:
        signs = {t.negative for t in terms}
        negative = signs == {True} if len(signs) == 1 and all(t.magnitude == 0 for t in terms) else mode == "m"
        return encode(negative, total, f)
    return encode(total < 0, abs(total), f, mode, flush)


def times(a: Number, b: Number) -> Number | None:
    """The exact product; None where it is invalid."""
    negative = a.negative != b.negative
    if a.magnitude is None or b.magnitude is None:
        return None if 0 in (a.magnitude, b.magnitude) else Number(negative, None)
    return Number(negative, a.magnitude * b.magnitude)


def finish(x: Number | None, f: Format, mode: str, flush: bool) -> int:
    """An exact result, or an invalid one, as bits."""
    if x is None:
        return f.nan
    return infinite(x.negative, f) if x.magnitude is None else encode(x.negative, x.magnitude, f, mode, flush)


def divided(a: Number, b: Number) -> Number | None:
    """The exact quotient."""
    negative = a.negative != b.negative
    if a.magnitude is None:
        return None if b.magnitude is None else Number(negative, None)
    if b.magnitude is None:
        return Number(negative)
    if b.magnitude == 0:
        return None if a.magnitude == 0 else Number(negative, None)
    return Number(negative, a.magnitude / b.magnitude)


def root(a: Number) -> Number | None:
    """The square root, exact or with a bit far behind that says it is not."""
    if a.magnitude == 0:
        return a
    if a.negative:
        return None
    if a.magnitude is None:
        return a
    scale = 1 << 1300  # square roots of subnormal doubles keep their bits
    n = a.magnitude.numerator * scale * scale // a.magnitude.denominator
    r = isqrt(n)
    inexact = r * r != a.magnitude * scale * scale
    return Number(False, Fraction(2 * r + inexact, 2 * scale))


def saturated(bits: int, f: Format) -> int:
    """.sat: into [0, 1], a NaN to zero."""
    x = decode(bits, f)
    if x.nan is not None or x.negative:
        return 0
    return encode(False, Fraction(1), f) if x.magnitude is None or x.magnitude > 1 else bits


def ordered(x: Number) -> tuple[int, Fraction]:
    """A key of numbers that are no NaNs; a zero's sign does not count."""
    return (0, x.value) if x.magnitude is not None else (-1 if x.negative else 1, Fraction(0))
