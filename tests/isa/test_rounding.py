"""Every exactly rounded operation and conversion against fractions: the true value, rounded once as the instruction says."""

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Evaluate = Callable[..., list[int]]
ROUNDING = ("rn", "rz", "rm", "rp")


class Format(NamedTuple):
    """A binary format: bits in all, precision with the leading one, exponent of the least normal and of the largest number."""

    bits: int
    precision: int
    least: int
    most: int

    def value(self, code: int) -> Fraction | None:
        """The number of a code; None for infinity and NaN."""
        fraction = code & (1 << self.precision - 1) - 1
        exponent = code >> self.precision - 1 & (1 << self.bits - self.precision) - 1
        if exponent == (1 << self.bits - self.precision) - 1:
            return None
        whole = fraction + (1 << self.precision - 1) * (exponent > 0)
        value = whole * Fraction(2) ** (max(exponent, 1) - 1 + self.least - self.precision + 1)
        return -value if code >> self.bits - 1 else value

    def code(self, value: Fraction, mode: str, negative: bool = False, ftz: bool = False) -> int:
        """The code of a value rounded; `negative` is the sign of a result that is zero, ftz flushes what is subnormal at full precision."""
        sign = (value < 0 or (negative and value == 0)) << self.bits - 1
        size = abs(value)
        if size == 0:
            return sign
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        exponent -= Fraction(2) ** exponent > size
        if ftz and self.steps(size, exponent, mode, bool(sign)) * self.unit(exponent) < Fraction(2) ** self.least:
            return sign
        exponent = max(exponent, self.least)
        steps = self.steps(size, exponent, mode, bool(sign))
        if steps * self.unit(exponent) >= Fraction(2) ** (self.most + 1):
            inward = mode == "rz" or mode == ("rp" if sign else "rm")
            return sign | ((1 << self.bits - self.precision) - 1 << self.precision - 1) - inward
        return sign | (exponent - self.least << self.precision - 1) + steps

    def unit(self, exponent: int) -> Fraction:
        return Fraction(2) ** (exponent - self.precision + 1)

    def steps(self, size: Fraction, exponent: int, mode: str, negative: bool) -> int:
        whole, rest = divmod(size / self.unit(exponent), 1)
        nearest = rest * 2 > 1 or (rest * 2 == 1 and whole % 2 == 1)
        up = {"rn": nearest, "rz": False, "rm": negative, "rp": not negative}[mode]
        return int(whole) + (up and rest > 0)


FORMATS = {
    "f16": Format(16, 11, -14, 15), "bf16": Format(16, 8, -126, 127), "f32": Format(32, 24, -126, 127), "f64": Format(64, 53, -1022, 1023),
}  # fmt: skip


def numbers(name: str) -> st.SearchStrategy[int]:
    """Codes of finite numbers: any, close to one, near the ends of the range, and with few bits (which make ties)."""
    f = FORMATS[name]
    p = f.precision
    one = (1 << f.bits - p - 1) - 1 << p - 1
    sign = st.sampled_from([0, 1 << f.bits - 1])
    edges = [0, 1, 2, (1 << p - 1) - 1, 1 << p - 1, (1 << p - 1) + 1, one - 1, one, one + 1, ((1 << f.bits - p) - 1 << p - 1) - 1]
    anything = st.integers(0, ((1 << f.bits - p) - 1 << p - 1) - 1)
    near = st.integers(one - (4 << p - 1), one + (4 << p - 1))
    short = st.builds(
        lambda e, t: max(one + (e << p - 1) + t, 0), st.integers(-p - 2, p + 2), st.sampled_from([0, 1, (1 << p - 1) - 1, 1 << p - 2])
    )
    tiny = st.integers(0, 4 << p - 1)
    return st.builds(lambda m, s: m | s, st.one_of(anything, near, short, tiny, st.sampled_from(edges)), sign)


def lanes(name: str, operands: int) -> st.SearchStrategy[list[tuple[int, ...]]]:
    return st.lists(st.tuples(*[numbers(name)] * operands), min_size=8, max_size=24)


def square_root(value: Fraction) -> Fraction:
    """A square root with more bits than any rounding looks at, the last one sticky."""
    root = isqrt(value.numerator * 4**1200 // value.denominator)
    exact = root * root * value.denominator == value.numerator * 4**1200
    return Fraction(2 * root + (not exact), 2 * 2**1200)


def expected(op: str, f: Format, mode: str, ftz: bool, codes: tuple[int, ...]) -> int | None:
    """The code of the result; None where the operation has no finite true value."""

    def flushed(code: int) -> int:
        return code & 1 << f.bits - 1 if ftz and code >> f.precision - 1 & (1 << f.bits - f.precision) - 1 == 0 else code

    codes = tuple(flushed(c) for c in codes)
    values = [f.value(c) for c in codes]
    a, b, c = ([v for v in values if v is not None] + [Fraction(0)] * 2)[:3]
    signs = [bool(code >> f.bits - 1) for code in codes] + [False] * 2
    if op == "sub":
        b, signs[1] = -b, not signs[1]
    if op in ("add", "sub", "fma"):
        left, left_sign, right, right_sign = (a * b, signs[0] != signs[1], c, signs[2]) if op == "fma" else (a, signs[0], b, signs[1])
        zero = left_sign if left_sign == right_sign else mode == "rm"
        return f.code(left + right, mode, zero, ftz)
    if op == "mul":
        return f.code(a * b, mode, signs[0] != signs[1], ftz)
    if op == "sqrt":
        return None if a < 0 else f.code(square_root(a), mode, signs[0], ftz)
    if op == "rcp":
        a, b, signs = Fraction(1), a, [False, signs[0]]
    return None if b == 0 else f.code(a / b, mode, signs[0] != signs[1], ftz)


OPERANDS = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "rcp": 1, "sqrt": 1}
FORMS = [
    (op, name, mode, ftz)
    for op in OPERANDS
    for name in FORMATS
    for mode in ROUNDING
    for ftz in ("", ".ftz")
    if (name in ("f32", "f64") or (mode == "rn" and op in ("add", "sub", "mul", "fma"))) and not (ftz and name in ("f64", "bf16"))
]


@pytest.mark.parametrize(("op", "name", "mode", "ftz"), FORMS)
def test_operation(evaluate: Evaluate, op: str, name: str, mode: str, ftz: str) -> None:
    @settings(max_examples=5, derandomize=True)
    @given(lanes(name, OPERANDS[op]))
    def check(operands: list[tuple[int, ...]]) -> None:
        got = evaluate(f"{op}.{mode}{ftz}.{name}", *zip(*operands, strict=True))
        for codes, code in zip(operands, got, strict=True):
            true = expected(op, FORMATS[name], mode, bool(ftz), codes)
            assert true is None or code == true, [hex(c) for c in codes] + [hex(code), hex(true)]

    check()


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_the_last_bit_of_a_fused_product_decides(evaluate: Evaluate, name: str) -> None:
    """(1 + u)(1 - u) lies u * u below a power of two that is half a unit of c: where c is odd, only that remainder forbids rounding up."""
    f = FORMATS[name]
    bias = f.most
    u = f.precision - 1
    operands = []
    for shift in (0, 3, f.least + u + 40):
        for low in range(16):
            a = (bias + shift << u) + 1
            b = (bias - 1 << u) + (1 << u) - 2
            c = (bias + shift + u + 1 << u) + low
            operands.append((a, b, c))
            operands.append((a | 1 << f.bits - 1, b, c | 1 << f.bits - 1))
    for low in range(16):  # the same where c and the result are subnormal
        x = (f.least - u) // 2
        operands.append(((bias + x << u) + 1, bias + f.least - u - 1 - x << u, low))
        operands.append(((bias + x << u) + 1, (bias + f.least - u - 2 - x << u) + (1 << u) - 2, low))
    for mode in ROUNDING:
        got = evaluate(f"fma.{mode}.{name}", *zip(*operands, strict=True))
        assert got == [expected("fma", f, mode, False, codes) for codes in operands]


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_ftz_looks_at_the_result_before_it_becomes_subnormal(evaluate: Evaluate, name: str) -> None:
    """Products within a unit or two of the least normal number, on both sides."""
    f = FORMATS[name]
    pairs = []
    for fraction in range(1, 1 << f.precision - 1, (1 << f.precision - 1) // 200):
        a = (f.most - 3 << f.precision - 1) + fraction
        value = f.value(a)
        assert value is not None
        b = f.code(Fraction(2) ** f.least / value, "rz")
        pairs += [(a, b + d) for d in (-1, 0, 1, 2)]
    got = evaluate(f"mul.ftz.{name}", *zip(*pairs, strict=True))
    assert got == [expected("mul", f, "rn", True, pair) for pair in pairs]
    assert 0 in got
    assert 1 << f.precision - 1 in got
    fused = [(*pair, 0) for pair in pairs]
    assert evaluate(f"fma.rn.ftz.{name}", *zip(*fused, strict=True)) == got


INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def integer_range(name: str) -> tuple[int, int]:
    bits = int(name[1:])
    return (0, 2**bits - 1) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_float(evaluate: Evaluate, source: str, target: str) -> None:
    lo, hi = integer_range(source)
    powers = st.builds(lambda k, d: min(max(2**k + d, lo), hi), st.integers(0, 64), st.integers(-9, 9))
    values = st.lists(st.one_of(st.integers(lo, hi), powers, powers.map(lambda n: max(-n, lo))), min_size=8, max_size=24)

    @settings(max_examples=5, derandomize=True)
    @given(values)
    def check(integers: list[int]) -> None:
        for mode in ROUNDING:
            got = evaluate(f"cvt.{mode}.{target}.{source}", integers)
            assert got == [FORMATS[target].code(Fraction(n), mode) for n in integers]

    check()


def rounded_integer(value: Fraction, mode: str) -> int:
    return {"rni": round(value), "rzi": int(value), "rmi": value.__floor__(), "rpi": value.__ceil__()}[mode]


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_float_to_integer(evaluate: Evaluate, source: str, target: str) -> None:
    f = FORMATS[source]
    lo, hi = integer_range(target)
    edges = [f.code(Fraction(v) + d, "rz") for v in (lo, hi, hi + 1, 2**24, 2**53) for d in (Fraction(-1, 2), 0, Fraction(1, 2), 1)]
    codes = st.lists(st.one_of(numbers(source), st.sampled_from(edges)), min_size=8, max_size=24)

    @settings(max_examples=5, derandomize=True)
    @given(codes)
    def check(given_codes: list[int]) -> None:
        values = [f.value(c) or Fraction(0) for c in given_codes]
        for mode in ("rni", "rzi", "rmi", "rpi"):
            got = evaluate(f"cvt.{mode}.{target}.{source}", given_codes)
            assert got == [min(max(rounded_integer(v, mode), lo), hi) for v in values]

    check()


@pytest.mark.parametrize(
    ("source", "target"), [("f64", "f32"), ("f64", "f16"), ("f64", "bf16"), ("f32", "f16"), ("f32", "bf16"), ("f16", "bf16"),
     ("bf16", "f16")],
)  # fmt: skip
def test_float_to_narrower_float(evaluate: Evaluate, source: str, target: str) -> None:
    f, t = FORMATS[source], FORMATS[target]
    halfway = st.builds(
        lambda n, d: f.code(Fraction(2 * n + 1) * Fraction(2) ** (t.least - t.precision) + d * Fraction(2) ** (t.least - 52), "rz"),
        st.integers(0, 2**t.precision), st.integers(-1, 1),
    )  # fmt: skip

    @settings(max_examples=5, derandomize=True)
    @given(st.lists(st.one_of(numbers(source), halfway), min_size=8, max_size=24))
    def check(codes: list[int]) -> None:
        for mode in ROUNDING:
            got = evaluate(f"cvt.{mode}.{target}.{source}", codes)
            assert got == [t.code(f.value(c) or Fraction(0), mode, bool(c >> f.bits - 1)) for c in codes]

    check()


NARROW: dict[str, tuple[int, int, int | Fraction]] = {
    "e4m3": (4, -6, 448),
    "e5m2": (3, -14, 57344),
    "e2m3": (4, 0, Fraction(15, 2)),
    "e3m2": (3, -2, 28),
    "e2m1": (2, 0, 6),
}


@pytest.mark.parametrize("name", NARROW)
def test_float_to_eight_bits_and_less(evaluate: Evaluate, name: str) -> None:
    precision, least, largest = NARROW[name]
    exponent_bits = {"e4m3": 4, "e5m2": 5, "e2m3": 2, "e3m2": 3, "e2m1": 2}[name]
    wide = Format(1 + exponent_bits + precision - 1, precision, least, 1000)  # without an upper limit; codes stay in order
    f = FORMATS["f32"]
    top = wide.code(Fraction(largest), "rz")
    shift = wide.bits if name == "e2m1" else 8
    ties = st.builds(
        lambda n, d: f.code(Fraction(2 * n + 1) * Fraction(2) ** (least - precision) + d * Fraction(2) ** (least - 20), "rz"),
        st.integers(0, 2 ** (precision + 4)), st.integers(-1, 1),
    )  # fmt: skip

    @settings(max_examples=5, derandomize=True)
    @given(st.lists(st.tuples(st.one_of(numbers("f32"), ties), st.one_of(numbers("f32"), ties)), min_size=8, max_size=24))
    def check(pairs: list[tuple[int, int]]) -> None:
        def narrow(code: int) -> int:
            value = f.value(code) or Fraction(0)
            size = min(wide.code(abs(value), "rn"), top)
            return size | (code >> 31) << wide.bits - 1

        got = evaluate(f"cvt.rn.satfinite.{name}x2.f32", *zip(*pairs, strict=True))
        assert got == [narrow(a) << shift | narrow(b) for a, b in pairs]

    check()


@pytest.mark.parametrize("name", NARROW)
def test_every_narrow_code_survives_the_way_through_halves(evaluate: Evaluate, name: str) -> None:
    bits = 8 if name.startswith(("e4", "e5")) else 4 if name == "e2m1" else 6
    largest = {"e4m3": 0x7E, "e5m2": 0x7B}.get(name, (1 << bits - 1) - 1)
    codes = [c for c in range(1 << bits) if c & (1 << bits - 1) - 1 <= largest]
    shift = 4 if name == "e2m1" else 8
    pairs = [c << shift | d for c, d in zip(codes, reversed(codes), strict=True)]
    halves = evaluate(f"cvt.rn.f16x2.{name}x2", pairs)
    if name in ("e4m3", "e5m2", "e2m1"):
        assert evaluate(f"cvt.rn.satfinite.{name}x2.f16x2", halves) == pairs
    else:
        high, low = ([evaluate("cvt.f32.f16", [h])[0] for h in part] for part in ([h >> 16 for h in halves], [h & 0xFFFF for h in halves]))
        assert evaluate(f"cvt.rn.satfinite.{name}x2.f32", high, low) == pairs
