"""cvt.rs against fractions: of the two neighbours of a value, the one away from zero where the random bits carry."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

FORMATS: dict[str, tuple[int, int, int, int, int | None, int | None]] = {  # bits of the exponent, of the fraction; the bias; the largest finite code; infinity; NaN
    "f16": (5, 10, 15, 0x7BFF, 0x7C00, 0x7FFF), "bf16": (8, 7, 127, 0x7F7F, 0x7F80, 0x7FFF), "e4m3": (4, 3, 7, 0x7E, None, 0x7F),
    "e5m2": (5, 2, 15, 0x7B, 0x7C, 0x7F), "e2m3": (2, 3, 1, 0x1F, None, None), "e3m2": (3, 2, 3, 0x1F, None, None),
    "e2m1": (2, 1, 1, 7, None, None),
}  # fmt: skip

singles = st.one_of(
    st.floats(width=32).map(lambda x: int(np.float32(x).view(np.uint32))),
    st.integers(0x30000000, 0x4A000000),  # where the narrow formats lie
    st.sampled_from([0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 1, 0x477FE000, 0x477FF000, 0x43E00000]),
    st.integers(0, 2**32 - 1),
)
bits32 = st.integers(0, 2**32 - 1)


def value(code: int, name: str) -> Fraction:
    """The number that a code of a magnitude stands for."""
    _, fraction, bias, *_ = FORMATS[name]
    exponent, low = code >> fraction, code & (1 << fraction) - 1
    return Fraction(2) ** (max(exponent, 1) - bias - fraction) * (low + (1 << fraction if exponent else 0))


def rounded(bits: int, random: int, width: int, name: str, satfinite: bool, relu: bool) -> int:
    """One number as the manual describes it."""
    exponent, fraction, _, largest, infinity, nan = FORMATS[name]
    ends = largest if satfinite or infinity is None else infinity
    sign = bits >> 31
    size = bits & 0x7FFFFFFF
    if size > 0x7F800000:
        return largest if nan is None else nan
    if sign and relu:
        return 0
    if size == 0x7F800000:
        code = ends
    else:
        x = Fraction(float(np.uint32(size).view(np.float32)))
        code = next((c for c in range(largest, -1, -1) if value(c, name) <= x), 0) if name not in ("f16", "bf16") else below(x, name)
        step = value(code + 1, name) - value(code, name)
        cut = (x - value(code, name)) / step
        code += int(cut * 2**width) + random >= 2**width
        if code > largest:
            code = ends
    return code | sign << exponent + fraction


def below(x: Fraction, name: str) -> int:
    """The code of the largest magnitude that does not exceed x, found by halving."""
    low, high = 0, FORMATS[name][3] + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle, name) <= x else (low, middle)
    return low


@pytest.mark.parametrize("name", ["f16", "bf16"])
@given(st.data())
def test_pairs(evaluate: Callable[..., list[int]], name: str, data: st.DataObject) -> None:
    satfinite, relu = data.draw(st.booleans()), data.draw(st.booleans())
    lanes = data.draw(st.lists(st.tuples(singles, singles, bits32), min_size=1, max_size=8))
    words = f"cvt.rs{'.relu' * relu}{'.satfinite' * satfinite}.{name}x2.f32"
    width = 13 if name == "f16" else 16
    wanted = []
    for a, b, r in lanes:
        high, low = (rounded(x, part % 2**width, width, name, satfinite, relu) for x, part in ((a, r >> 16), (b, r)))
        wanted.append(high << 16 | low)
    assert evaluate(words, *map(list, zip(*lanes, strict=True))) == wanted


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"])
@given(st.data())
def test_fours(bound: Callable[[str], Callable[..., NDArray[Any]]], name: str, data: st.DataObject) -> None:
    relu = data.draw(st.booleans())
    elements, r = data.draw(st.lists(singles, min_size=4, max_size=4)), data.draw(bits32)
    d = bound(f"cvt.rs{'.relu' * relu}.satfinite.{name}x4.f32")(
        tuple(np.array([[x]], np.uint32).view(np.float32) for x in elements), np.array([[r]], np.uint32)
    )
    if name == "e2m1":
        parts, width, each = [r >> 24, r >> 8, r >> 16, r], 8, 4  # upper bytes of both halves for a and b, lower ones for e and f
    else:
        parts, width, each = [r >> 16, r >> 16, r, r], 16, 8
    wanted = 0
    for x, part in zip(elements, parts, strict=True):
        wanted = wanted << each | rounded(x, part % 2**width, width, name, True, relu)
    found = int(d.item()) if name == "e2m1" else int(np.ascontiguousarray(d).view(np.uint32).item())
    assert found == wanted, (hex(found), hex(wanted))


def test_the_mean_of_all_random_bits_is_the_value(evaluate: Callable[..., list[int]]) -> None:
    x = int(np.float32(1 + 3 / 2**12).view(np.uint32))  # three quarters of a step above 1
    all_bits = list(range(2**13))
    codes = evaluate("cvt.rs.f16x2.f32", [0] * 2**13, [x] * 2**13, all_bits)
    values = np.array(codes, np.uint32).astype(np.uint16).view(np.float16).astype(np.float64)
    assert values.mean() == 1 + 3 / 2**12
