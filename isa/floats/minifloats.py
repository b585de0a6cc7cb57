"""The formats of 4 to 8 bits: e4m3, e5m2, e2m3, e3m2, e2m1 and the scale ue8m0; decoding by table, encoding by one rounding."""

import functools
from dataclasses import dataclass

import numpy as np

from ..ports import Array
from ..primitives import look_up
from .binary64 import in_chunks


@dataclass(frozen=True, slots=True)
class Format:
    """A sign, `exponent` bits with a bias, `fraction` bits; `largest` is the code of the largest finite magnitude."""

    exponent: int
    fraction: int
    bias: int
    largest: int
    infinity: int = -1  # codes of specials, -1 where the format has none
    nan: int = -1

    @property
    def sign(self) -> int:
        """The code of the sign bit."""
        return 1 << self.exponent + self.fraction


FORMATS = {
    "e4m3": Format(4, 3, 7, 0x7E, nan=0x7F),
    "e5m2": Format(5, 2, 15, 0x7B, infinity=0x7C, nan=0x7F),
    "e2m3": Format(2, 3, 1, 0x1F),
    "e3m2": Format(3, 2, 3, 0x1F),
    "e2m1": Format(2, 1, 1, 0x7),
}


@functools.cache
def table(name: str) -> Array:
    """The float32 value of every code; bits above the format's own are ignored."""
    f = FORMATS[name]
    codes = np.arange(256)
    magnitude = codes & f.sign - 1
    exponent, fraction = magnitude >> f.fraction, magnitude & (1 << f.fraction) - 1
    unit = np.ldexp(1.0, np.maximum(exponent, 1) - f.bias - f.fraction)
    values: Array = (fraction + np.where(exponent > 0, 1 << f.fraction, 0)) * unit
    if f.nan >= 0:
        values = np.where(magnitude > f.largest, np.nan, values)
    if f.infinity >= 0:
        values = np.where(magnitude == f.infinity, np.inf, values)
    values = np.where(codes & f.sign, -values, values).astype(np.float32)
    values[np.isnan(values)] = np.array(0x7FFFFFFF, np.uint32).view(np.float32)
    return values


def decode(codes: Array, name: str) -> Array:
    """float32 values of codes."""
    values: Array = look_up(codes, table(name))
    return values


def encode(x: Array, name: str, relu: bool = False) -> Array:
    """Codes of float32 values, to nearest even, too large ones becoming the largest finite: uint8."""
    return _encode(x, name=name, relu=relu)


@in_chunks
def _encode(x: Array, *, name: str, relu: bool) -> Array:
    f = FORMATS[name]
    size = np.abs(x).astype(np.float64)
    # The grid step of a value: that of its binade, or of the subnormals below the least normal number.
    exponent = np.maximum(np.where(size > 0, np.frexp(size)[1] - 1, 1 - f.bias), 1 - f.bias)
    steps = np.rint(np.ldexp(np.where(np.isfinite(size), size, 0.0), f.fraction - exponent)).astype(np.int64)
    # A step count is the fraction with its leading one; a carry into the next binade adds up by itself.
    code = steps + (exponent + f.bias - 1 << f.fraction)
    code = np.where(np.isinf(size), f.largest, np.minimum(code, f.largest))
    code = np.where(np.signbit(x), 0 if relu else code | f.sign, code)
    code = np.where(np.isnan(x), f.nan if f.nan >= 0 else f.largest, code)
    return code.astype(np.uint8)


def scale(x: Array, rnd: str, satfinite: bool) -> Array:
    """The ue8m0 code of a float32 magnitude, a power of two rounded toward zero or up; NaN is 0xff."""
    size = np.abs(x).astype(np.float64)
    m, e = np.frexp(np.where(np.isfinite(size), size, 0.0))
    power = np.where(m == 0, -127, e - 1 + ((m > 0.5) & (rnd == "rp")))
    code = np.clip(power, -127, 128) + 127
    code = np.where(np.isinf(size), 255, code)
    if satfinite:
        code = np.minimum(code, 254)
    return np.where(np.isnan(x), 255, code).astype(np.uint8)


def scale_to_bf16(codes: Array) -> Array:
    """bf16 bits of ue8m0 codes, 2**(code - 127); 0xff is NaN."""
    bits = codes.astype(np.uint16) << np.uint16(7)
    return np.where(codes == 0, np.uint16(0x0040), np.where(codes == 255, np.uint16(0x7FFF), bits))
