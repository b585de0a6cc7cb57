"""Floating point and conversions, in random straight-line programs, equal exact fractions rounded once, bit for bit."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from .harness import Machine, kernel
from .rational import (
    BF16,
    F16,
    F32,
    F64,
    Format,
    Number,
    decode,
    divided,
    encode,
    finish,
    infinite,
    ordered,
    root,
    saturated,
    summed,
    times,
    whole,
)

FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
ROUNDINGS = ("rn", "rz", "rm", "rp")
BANKS = dict(f32="f", f64="d", f16="h", bf16="h", s32="r", u32="r", s64="q", u64="q", s16="r", u16="r", s8="r", u8="r")
BITS = {"f": 32, "d": 64, "h": 16, "r": 32, "q": 64}
EACH = 5  # registers of a bank
LANES = 24


@dataclass(frozen=True)
class Row:
    """An instruction: its words, the banks of destination and sources, and what it means for the bits."""

    text: str
    banks: str
    meaning: Callable[..., int]


def chosen(nans: list[int], f: Format) -> int:
    """The NaN that operands make of a result: the canonical one, in double the given one made quiet."""
    return nans[0] | 1 << 51 if f is F64 else f.nan


def nans(operands: list[Number]) -> list[int]:
    """The NaNs among operands."""
    return [x.nan for x in operands if x.nan is not None]


def arithmetic() -> Iterator[Row]:
    """add, sub, mul, fma, div, rcp, sqrt, min, max, abs, neg of all widths and modifiers."""
    for kind, f in FORMATS.items():
        bank = BANKS[kind]
        rounds = ROUNDINGS if f in (F32, F64) else ("rn",)
        flushes = ("", ".ftz") if f in (F16, F32) else ("",)
        sats = ("", ".sat") if f in (F16, F32) else ("",)
        for rnd, ftz, sat in itertools.product(rounds, flushes, sats):
            for op in ("add", "sub", "mul"):
                yield Row(f"{op}.{rnd}{ftz}{sat}.{kind}", bank * 3, two(op, f, rnd[1], bool(ftz), bool(sat)))
            yield Row(f"fma.{rnd}{ftz}{sat}.{kind}", bank * 4, three(f, rnd[1], bool(ftz), bool(sat)))
        for rnd, ftz in itertools.product(rounds, flushes if f in (F32, F64) else ()):
            yield Row(f"div.{rnd}{ftz}.{kind}", bank * 3, two("div", f, rnd[1], bool(ftz), False))
            yield Row(f"rcp.{rnd}{ftz}.{kind}", bank * 2, one("rcp", f, rnd[1], bool(ftz)))
            yield Row(f"sqrt.{rnd}{ftz}.{kind}", bank * 2, one("sqrt", f, rnd[1], bool(ftz)))
        for op, ftz, nan in itertools.product(("min", "max"), flushes, ("",) if f is F64 else ("", ".NaN")):
            yield Row(f"{op}{ftz}{nan}.{kind}", bank * 3, extreme(op, f, bool(ftz), bool(nan)))
        for op, ftz in itertools.product(("abs", "neg"), flushes):
            yield Row(f"{op}{ftz}.{kind}", bank * 2, signs(op, f, bool(ftz)))


def two(op: str, f: Format, mode: str, ftz: bool, sat: bool) -> Callable[[int, int], int]:
    """a op b."""

    def meaning(x: int, y: int) -> int:
        a, b = decode(x, f, ftz), decode(y, f, ftz)
        if found := nans([a, b] if op == "div" else [b, a]):
            result = chosen(found, f)
        elif op == "mul":
            result = finish(times(a, b), f, mode, ftz)
        elif op == "div":
            result = finish(divided(a, b), f, mode, ftz)
        else:
            result = summed([a, Number(b.negative != (op == "sub"), b.magnitude)], f, mode, ftz)
        return saturated(result, f) if sat else result

    return meaning


def three(f: Format, mode: str, ftz: bool, sat: bool) -> Callable[[int, int, int], int]:
    """a * b + c."""

    def meaning(x: int, y: int, z: int) -> int:
        a, b, c = (decode(v, f, ftz) for v in (x, y, z))
        if found := nans([b, c, a]):
            result = chosen(found, f)
        else:
            product = times(a, b)
            result = f.nan if product is None else summed([product, c], f, mode, ftz)
        return saturated(result, f) if sat else result

    return meaning


def one(op: str, f: Format, mode: str, ftz: bool) -> Callable[[int], int]:
    """1 / a, or its square root."""

    def meaning(x: int) -> int:
        a = decode(x, f, ftz)
        if a.nan is not None:
            return chosen([a.nan], f)
        return finish(root(a) if op == "sqrt" else divided(Number(False, Fraction(1)), a), f, mode, ftz)

    return meaning


def extreme(op: str, f: Format, ftz: bool, nan: bool) -> Callable[[int, int], int]:
    """min and max: -0 is below +0; a NaN loses, or wins."""

    def meaning(x: int, y: int) -> int:
        a, b = decode(x, f, ftz), decode(y, f, ftz)
        found = nans([b, a])
        if len(found) == 2 or (found and nan):
            return chosen(found, f)
        if found:
            a = b = b if a.nan is not None else a
        first, second = sorted((a, b), key=lambda n: (*ordered(n), not n.negative))
        return finish(first if op == "min" else second, f, "z", False)

    return meaning


def signs(op: str, f: Format, ftz: bool) -> Callable[[int], int]:
    """abs and neg; in double the bits alone count."""

    def meaning(x: int) -> int:
        a, top = decode(x, f, ftz), 1 << (f.bits - 1)
        if a.nan is not None:
            return x | 1 << 51 if f is F64 else f.nan
        if a.magnitude == 0:
            x &= top
        return x & ~top if op == "abs" else x ^ top

    return meaning


def conversions() -> Iterator[Row]:
    """cvt between formats, to whole numbers within a format, from integers and to them."""
    for rnd, ftz, sat in itertools.product(ROUNDINGS, ("", ".ftz"), ("", ".sat")):
        yield Row(f"cvt.{rnd}{ftz}{sat}.f32.f64", "fd", narrowed(F64, F32, rnd[1], False, bool(ftz), bool(sat)))
    for ftz in ("", ".ftz"):
        yield Row(f"cvt{ftz}.f64.f32", "df", widened(F32, F64, bool(ftz)))
        yield Row(f"cvt.rn{ftz}.f16.f32", "hf", narrowed(F32, F16, "n", bool(ftz), False, False))
        yield Row(f"cvt{ftz}.f32.f16", "fh", widened(F16, F32, False))
    for rnd in ("rn", "rz"):
        yield Row(f"cvt.{rnd}.bf16.f32", "hf", narrowed(F32, BF16, rnd[1], False, False, False))
    for rnd in ROUNDINGS:
        yield Row(f"cvt.{rnd}.f16.f64", "hd", narrowed(F64, F16, rnd[1], False, False, False))
    yield Row("cvt.f64.f16", "dh", widened(F16, F64, False))
    for kind, rnd in itertools.product(("f16", "f32", "f64"), ROUNDINGS):
        f, bank = FORMATS[kind], BANKS[kind]
        for ftz in ("", ".ftz") if f is F32 else ("",):
            yield Row(f"cvt.{rnd}i{ftz}.{kind}.{kind}", bank * 2, rounded(f, rnd[1], bool(ftz)))
            for to in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
                yield Row(f"cvt.{rnd}i{ftz}.{to}.{kind}", BANKS[to] + bank, to_integer(f, to, rnd[1], bool(ftz)))
        for source in ("s32", "u32", "s64", "u64"):
            yield Row(f"cvt.{rnd}.{kind}.{source}", bank + BANKS[source], from_integer(f, source, rnd[1]))


def narrowed(source: Format, target: Format, mode: str, ftz_in: bool, ftz_out: bool, sat: bool) -> Callable[[int], int]:
    """A number in a smaller format."""

    def meaning(x: int) -> int:
        a = decode(x, source, ftz_in)
        if a.nan is None:
            result = finish(a, target, mode, ftz_out)
        elif source is F64:
            cut = x >> (source.precision - target.precision) & ((1 << (target.precision - 1)) - 1)
            result = infinite(a.negative, target) | cut | 1 << (target.precision - 2)
        else:
            result = target.nan
        return saturated(result, target) if sat else result

    return meaning


def widened(source: Format, target: Format, ftz: bool) -> Callable[[int], int]:
    """A number in a larger format, exactly; .ftz takes a NaN's payload."""

    def meaning(x: int) -> int:
        a = decode(x, source, ftz)
        if a.nan is None:
            return finish(a, target, "n", False)
        if target is F32:
            return target.nan
        payload = F32.nan if ftz else x
        fields = (payload & ((1 << (source.precision - 1)) - 1)) << (target.precision - source.precision)
        return infinite(a.negative and not ftz, target) | fields | 1 << (target.precision - 2)

    return meaning


def rounded(f: Format, mode: str, ftz: bool) -> Callable[[int], int]:
    """The whole number next to one, in its format."""

    def meaning(x: int) -> int:
        a = decode(x, f, ftz)
        if a.nan is not None:
            return chosen([a.nan], f)
        if a.magnitude is None:
            return x
        return encode(a.negative, Fraction(whole(a.magnitude, mode, a.negative)), f)

    return meaning


def to_integer(f: Format, kind: str, mode: str, ftz: bool) -> Callable[[int], int]:
    """Rounded and clamped; narrow results extend to 32 bits by their type."""
    bits, is_signed = int(kind[1:]), kind[0] == "s"
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)

    def meaning(x: int) -> int:
        a = decode(x, f, ftz)
        if a.nan is not None:
            n = -(1 << (bits - 1)) if f is F64 or bits == 64 else 0
            n = n if is_signed else n & high
        elif a.magnitude is None:
            n = low if a.negative else high
        else:
            n = whole(a.magnitude, mode, a.negative)
            n = min(max(-n if a.negative else n, low), high)
        return n & ((1 << max(bits, 32)) - 1)

    return meaning


def from_integer(f: Format, kind: str, mode: str) -> Callable[[int], int]:
    """An integer in a format."""
    bits = int(kind[1:])

    def meaning(x: int) -> int:
        n = x - (1 << bits) if kind[0] == "s" and x >> (bits - 1) else x
        return encode(n < 0, Fraction(abs(n)), f, mode)

    return meaning


COMPARE: dict[str, Callable[[int], bool]] = {
    "eq": lambda s: s == 0, "ne": lambda s: s != 0, "lt": lambda s: s < 0, "le": lambda s: s <= 0, "gt": lambda s: s > 0, "ge": lambda s: s >= 0,
}  # fmt: skip


def comparisons() -> Iterator[Row]:
    """set in all its orders: all ones or zero."""
    for kind in ("f16", "f32", "f64"):
        f = FORMATS[kind]
        for name, ftz in itertools.product((*COMPARE, *(f"{c}u" for c in COMPARE), "num", "nan"), ("",) if f is F64 else ("", ".ftz")):
            yield Row(f"set.{name}{ftz}.u32.{kind}", "r" + BANKS[kind] * 2, compared(f, name, bool(ftz)))


def compared(f: Format, name: str, ftz: bool) -> Callable[[int, int], int]:
    """Are two numbers in an order, or unordered?"""

    def meaning(x: int, y: int) -> int:
        a, b = decode(x, f, ftz), decode(y, f, ftz)
        unordered = bool(nans([a, b]))
        if name in ("num", "nan"):
            true = unordered == (name == "nan")
        elif unordered:
            true = len(name) == 3
        else:
            true = COMPARE[name[:2]]((ordered(a) > ordered(b)) - (ordered(a) < ordered(b)))
        return 0xFFFFFFFF if true else 0

    return meaning


ROWS = [*arithmetic(), *conversions(), *comparisons()]


def specials(bank: str, rng: np.random.Generator) -> list[int]:
    """Bits of a bank: numbers near one another, edges of the formats, anything."""
    bits = BITS[bank]
    if bank in "rq":
        edges = [0, 1, 2, 3, 5, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, 1 << 24, (1 << 24) + 1, 0x7FFFFFBF, 0x7FFFFFC0]
        return [*edges, *((int(rng.integers(1 << 63)) * 2 + 1) >> int(rng.integers(bits)) & ((1 << bits) - 1) for _ in range(20))]
    f = {"f": F32, "d": F64, "h": F16}[bank]
    one = f.bias << (f.precision - 1)
    near = [one + int(rng.integers(-40, 40)) * (1 << int(rng.integers(f.precision))) for _ in range(14)]
    edges = [0, 1, 2, one, one + 1, f.infinity, f.infinity - 1, f.infinity + 1, f.infinity + (1 << (f.precision - 2)) + 5]
    edges += [1 << (f.precision - 1), (1 << (f.precision - 1)) - 1, (1 << (f.precision - 1)) + 1, one + (3 << (f.precision - 2))]
    whole_ones = [encode(False, Fraction(n), f) for n in (2, 3, 127, 128, 255, 256, 32767, 32768)]
    halves = [encode(False, Fraction(n, 2), f) for n in (1, 3, 5, 255, 509)]
    anything = [int(rng.integers(1 << 62)) >> (62 - bits) if bits < 62 else int(rng.integers(1 << 62)) << 2 for _ in range(6)]
    return [(x ^ int(rng.integers(2)) << (bits - 1)) & ((1 << bits) - 1) for x in (*near, *near, *edges, *whole_ones, *halves, *anything)]


def judge(seed: int, length: int, rows: list[Row] | None = None) -> None:
    """A random straight-line program: every instruction's result goes to a register and to memory."""
    rng = np.random.default_rng(seed)
    use = rows or [ROWS[int(rng.integers(len(ROWS)))] for _ in range(length)]
    registers: list[dict[str, int]] = [{} for _ in range(LANES)]
    given = np.zeros((LANES, len(BITS) * EACH), np.uint64)
    body = ["mov.u32 %t, %tid.x; ld.param.u64 %to, [to]; ld.param.u64 %in, [in]; .reg .u64 %n;"]
    body.append(f"mad.wide.u32 %in, %t, {8 * given.shape[1]}, %in; mad.wide.u32 %to, %t, {8 * len(use)}, %to;")
    for n, (bank, i) in enumerate(itertools.product(BITS, range(EACH))):
        pool = specials(bank, rng)
        for lane in range(LANES):
            registers[lane][f"%{bank}{i}"] = bits = pool[int(rng.integers(len(pool)))]
            given[lane, n] = bits
        body.append(f"ld.global.b{BITS[bank]} %{bank}{i}, [%in+{8 * n}];")
    want = np.zeros((LANES, len(use)), np.uint64)
    lines = []
    for n, row in enumerate(use):
        target, *sources = (f"%{bank}{int(rng.integers(EACH))}" for bank in row.banks)
        lines.append(f"{row.text} {', '.join([target, *sources])};")
        guard = "@%p " if rng.integers(4) == 0 else ""
        body.append(f"{guard}{lines[-1]} st.global.b{BITS[target[1]]} [%to+{8 * n}], {target};")
        for lane in range(LANES):
            r = registers[lane]
            if not guard or lane & 2:
                r[target] = row.meaning(*[r[s] for s in sources])
            want[lane, n] = r[target]
    declared = ".reg .u64 %to, %in; .reg .u32 %t, %e; .reg .pred %p; " + "".join(
        f".reg .b{bits} %{bank}<{EACH}>; " for bank, bits in BITS.items()
    )
    body.insert(1, "and.b32 %e, %t, 2; setp.ne.u32 %p, %e, 0;")
    machine = Machine(kernel("p in, p to", "\n".join([declared, *body, "ret;"])))
    out = machine.upload(np.zeros_like(want))
    machine.launch(1, LANES, [machine.upload(given), out])
    got = machine.download(out, np.uint64).reshape(want.shape)
    wrong = np.argwhere(got != want)
    if wrong.size:
        lane, n = min(wrong.tolist(), key=lambda w: w[1])
        raise AssertionError(f"{lines[n]} in lane {lane}: {int(got[lane, n]):#x}, not {int(want[lane, n]):#x}")


@pytest.mark.parametrize("seed", range(12))
def test_straight_lines_equal_rounded_fractions(seed: int) -> None:
    judge(seed, 40)


@pytest.mark.parametrize("part", range(10))
def test_every_row_equals_rounded_fractions(part: int) -> None:
    judge(part, 0, ROWS[part::10])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 2100))
def test_many_straight_lines_equal_rounded_fractions(seed: int) -> None:
    judge(seed, 80)
