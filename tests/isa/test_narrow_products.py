"""mma on floats of 8, 6 and 4 bits, with factors for blocks and with a sparse A: lane by lane, element by element, in fractions.

The adder is the recorded one: terms are cut to 25 bits below the largest, added exactly, and the sum is cut to f32 or rounded to f16.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warplab.isa.floats import tensor

Bound = Callable[[str], Callable[..., Any]]
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
few = settings(max_examples=4)
NARROW = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"]
SHAPE = {"e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "e3m2": (3, 2, 3), "e2m3": (2, 3, 1), "e2m1": (2, 1, 1)}  # exponent, fraction, bias
Registers = list[list[int]]  # of each lane


class Number(NamedTuple):
    """A value, and the exponent that the adder goes by."""

    value: Fraction
    exponent: int


def number(code: int, kind: str) -> Number:
    """What a code stands for; the least subnormal of a narrow format is a normal number to the adder."""
    exponent, fraction, bias = SHAPE[kind]
    field, low = code >> fraction & (1 << exponent) - 1, code & (1 << fraction) - 1
    whole = low + (1 << fraction if field else 0)
    value = Fraction(2) ** (max(field, 1) - bias - fraction) * whole
    top = max(field, 1) - bias - fraction + whole.bit_length() - 1
    return Number(-value if code >> exponent + fraction & 1 else value, max(top, -14))


def single(bits: int) -> Number:
    return Number(Fraction(float(np.uint32(bits).view(np.float32))), max(bits >> 23 & 255, 1) - 127)


def half(bits: int) -> Number:
    return Number(Fraction(float(np.uint16(bits).view(np.float16))), max(bits >> 10 & 31, 1) - 15)


def total(terms: list[Number], to: str) -> Number:
    """One addition, its sum rounded."""
    terms = [t for t in terms if t.value]
    top = max((t.exponent for t in terms), default=0)
    unit = Fraction(2) ** (top - 25)
    found = sum((int(t.value / unit) * unit for t in terms), Fraction(0))
    rounded = tensor.to_f32 if to == "f32" else tensor.to_f16
    result = rounded(np.array([float(found)]))
    return single(int(result.view(np.uint32)[0])) if to == "f32" else half(int(result.view(np.uint16)[0]))


def product(pairs: list[tuple[Number, Number]], c: Number, to: str, bytes_: bool) -> Fraction:
    """A row of a times a column of b, + c; elements in bytes make two sums, of the low and high halves of the registers."""

    def term(x: Number, y: Number) -> Number:
        return Number(x.value * y.value, x.exponent + y.exponent)

    if not bytes_:
        return total([term(x, y) for x, y in pairs] + [c], to).value
    low = total([term(*p) for k, p in enumerate(pairs) if k % 4 < 2], to)
    high = total([term(*p) for k, p in enumerate(pairs) if k % 4 >= 2] + [low], to)
    dtype: Any = np.float32 if to == "f32" else np.float16
    return Fraction(float(dtype(float(high.value)) + dtype(float(c.value))))


class Case:
    """Registers of a warp full of numbers, and what each element of the matrices is, by the manual's formulas for lanes."""

    def __init__(self, rng: np.random.Generator, k: int, bits: int, kinds: tuple[str, str], to: str, sparse: bool) -> None:
        self.k, self.bits, self.kinds, self.to, self.sparse = k, bits, kinds, to, sparse
        self.stored = k // 2 if sparse else k
        each = 32 // bits
        self.a = self.fill(rng, 16 * self.stored // 32 // each, kinds[0])
        self.b = self.fill(rng, 8 * k // 32 // each, kinds[1])
        if to == "f32":
            self.c = (rng.standard_normal((4, 32)) * np.exp2(rng.integers(-4, 5, (4, 32)))).astype(np.float32).view(np.uint32)
        else:
            self.c = np.ascontiguousarray(rng.standard_normal((2, 32, 2)).astype(np.float16)).view(np.uint32)[..., 0]
        # Two of each four (4-bit elements: pairs of each eight) are kept, in ascending order.
        self.e = rng.choice(np.array([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], np.uint32), (32, 8))

    def fill(self, rng: np.random.Generator, count: int, kind: str) -> Any:
        exponent, fraction, _ = SHAPE[kind]
        codes = rng.integers(0, 1 << exponent + fraction + 1, (count, 32, 32 // self.bits))
        if kind in ("e4m3", "e5m2"):  # neither infinity nor NaN, and nothing that is too large for f16
            codes &= ~4 if self.to == "f32" else ~0x44
        if self.bits == 4:
            return sum(codes[..., i].astype(np.uint32) << np.uint32(4 * i) for i in range(8))
        codes = codes << 2 if kind == "e2m1" else codes
        return np.ascontiguousarray(codes.astype(np.uint8)).view(np.uint32)[..., 0]

    def part(self, word: int, place: int, kind: str) -> Number:
        code = int(word) >> place * self.bits & (1 << self.bits) - 1
        return number(code >> 2 if kind == "e2m1" and self.bits == 8 else code, kind)

    def metadata(self) -> Any:
        return np.sum(self.e.astype(np.uint32) << np.arange(0, 32, 4, dtype=np.uint32), axis=1, dtype=np.uint32)[None]

    def stored_a(self, row: int, i: int) -> Number:
        """The i-th stored element of a row of A."""
        each = 32 // self.bits
        register = row // 8 + 2 * (i // (4 * each))
        return self.part(self.a[register, 4 * (row % 8) + i % (4 * each) // each], i % each, self.kinds[0])

    def column_a(self, row: int, i: int) -> int:
        """The column that it stands in."""
        if not self.sparse:
            return i
        pair = i // 2 if self.bits == 4 else i  # what one half of a nibble is about
        group = pair // 2
        lane = 4 * (row % 8) + row // 8 + 2 * (group // 8)
        chosen = int(self.e[lane, group % 8]) >> 2 * (pair % 2) & 3
        return 8 * group + 2 * chosen + i % 2 if self.bits == 4 else 4 * group + chosen

    def element_b(self, k: int, n: int) -> Number:
        each = 32 // self.bits
        return self.part(self.b[k // (4 * each), 4 * n + k % (4 * each) // each], k % each, self.kinds[1])

    def element_c(self, of: Any, row: int, n: int) -> Number:
        if self.to == "f32":
            return single(int(of[2 * (row // 8) + n % 2, 4 * (row % 8) + n // 2]))
        return half(int(of[row // 8, 4 * (row % 8) + n // 2]) >> 16 * (n % 2) & 0xFFFF)

    def wanted(self, row: int, n: int, scale_a: Callable[[int, int], Number], scale_b: Callable[[int, int], Number]) -> Fraction:
        pairs = []
        for i in range(self.stored):
            k = self.column_a(row, i)
            x, y = self.stored_a(row, i), self.element_b(k, n)
            p, q = scale_a(row, k), scale_b(n, k)
            pairs.append((Number(x.value * p.value, x.exponent + p.exponent), Number(y.value * q.value, y.exponent + q.exponent)))
        return product(pairs, self.element_c(self.c, row, n), self.to, self.bits == 8)

    def check(self, bound: Bound, spelling: str, tail: tuple[Any, ...], rng: np.random.Generator, scales: Any = None) -> None:
        one = Number(Fraction(1), 0)
        scale_a, scale_b = scales or ((lambda r, k: one), (lambda n, k: one))
        c = tuple(x[None].view(np.float32) for x in self.c) if self.to == "f32" else tuple(x[None] for x in self.c)
        sparse = (self.metadata(), 0) if self.sparse else ()
        with np.errstate(all="ignore"):
            d = bound(spelling)(None, tuple(x[None] for x in self.a), tuple(x[None] for x in self.b), c, *sparse, *tail)
        found = np.stack([np.broadcast_to(x, (1, 32))[0].view(np.uint32) for x in d])
        for row, n in zip(rng.integers(0, 16, 12).tolist(), rng.integers(0, 8, 12).tolist(), strict=True):
            assert self.element_c(found, row, n).value == self.wanted(row, n, scale_a, scale_b), (row, n)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("to", ["f32", "f16"])
@few
@given(seeds, st.sampled_from(NARROW), st.sampled_from(NARROW))
def test_products_of_narrow_floats(bound: Bound, to: str, sparse: bool, rng: np.random.Generator, a: str, b: str) -> None:
    case = Case(rng, 64 if sparse else 32, 8, (a, b), to, sparse)
    head = "mma.sp::ordered_metadata.sync.aligned.m16n8k64" if sparse else "mma.sync.aligned.m16n8k32"
    case.check(bound, f"{head}.row.col.kind::f8f6f4.{to}.{a}.{b}.{to}", (), rng)


def test_the_sparse_row_without_a_kind(bound: Bound) -> None:
    rng = np.random.default_rng(5)
    case = Case(rng, 64, 8, ("e5m2", "e4m3"), "f16", True)
    case.check(bound, "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e5m2.e4m3.f16", (), rng)


def factor(code: int, kind: str) -> Number:
    if kind == "ue8m0":
        return Number(Fraction(2) ** (code - 127), code - 127)
    return number(code & 0x7F, "e4m3")


SCALED = [("mxf8f6f4", "1X", 1, "ue8m0"), ("mxf4", "2X", 2, "ue8m0"), ("mxf4nvf4", "2X", 2, "ue8m0"), ("mxf4nvf4", "4X", 4, "ue4m3")]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("kind", "vector", "chunks", "stype"), SCALED)
@few
@given(seeds, st.sampled_from(NARROW), st.sampled_from(NARROW), st.integers(0, 3), st.integers(0, 3))
def test_products_with_factors(
    bound: Bound, kind: str, vector: str, chunks: int, stype: str, sparse: bool, rng: np.random.Generator, a: str, b: str, byte: int, thread: int
) -> None:  # fmt: skip
    bits = 8 if kind == "mxf8f6f4" else 4
    if bits == 4:
        a = b = "e2m1"
    k = (32 if bits == 8 else 64) * (1 + sparse)
    case = Case(rng, k, bits, (a, b), "f32", sparse)
    byte_a, byte_b = ((byte, 3 - byte), (byte // 2 * 2, 2 - byte // 2 * 2), (0, 0))[{1: 0, 2: 1, 4: 2}[chunks]]
    thread_a, thread_b = thread % 2, thread
    low, high = (120, 134) if stype == "ue8m0" else (0, 0x7F)
    data = rng.integers(low, high, (2, 32, 4), np.uint8)

    def scale_a(row: int, column: int) -> Number:
        lane = 4 * (row % 8) + 2 * thread_a + row // 8
        return factor(int(data[0, lane, byte_a + column // (k // chunks)]), stype)

    def scale_b(n: int, row: int) -> Number:
        return factor(int(data[1, 4 * n + thread_b, byte_b + row // (k // chunks)]), stype)

    x, z = (np.ascontiguousarray(d).view(np.uint32)[None, :, 0] for d in data)
    y, w = (tuple(np.array([[v]], np.uint16) for v in ids) for ids in ((byte_a, thread_a), (byte_b, thread_b)))
    head = f"mma.sp::ordered_metadata.sync.aligned.m16n8k{k}" if sparse else f"mma.sync.aligned.m16n8k{k}"
    spelling = f"{head}.row.col.kind::{kind}.block_scale.scale_vec::{vector}.f32.{a}.{b}.f32.{stype}"
    case.check(bound, spelling, (x, y, z, w), rng, (scale_a, scale_b))


def test_a_factor_that_is_nan_makes_its_row_nan(bound: Bound) -> None:
    rng = np.random.default_rng(1)
    case = Case(rng, 64, 4, ("e2m1", "e2m1"), "f32", False)
    x = np.full((1, 32), 0x7F7F7F7F, np.uint32)
    x[0, 4 * 3 + 1] = 0x7F7FFF7F  # the second factor of row 11
    ids = (np.zeros((1, 1), np.uint16),) * 2
    one = np.full((1, 1), 0x7F7F7F7F, np.uint32)
    registers = [tuple(r[None] for r in regs) for regs in (case.a, case.b)]
    c = tuple(r[None].view(np.float32) for r in case.c)
    with np.errstate(all="ignore"):
        d = bound("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0")(None, *registers, c, x, ids, one, ids)
    assert [bool(v) for v in np.isnan(np.stack(d)[:, 0]).any(axis=0)] == [lane // 4 == 3 for lane in range(32)]
    assert not np.isnan(np.stack(d)[:2]).any()
