"""Integer arithmetic, carries and bit fields against plain Python integers, one lane at a time."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warplab.isa.notation import resolve
from warplab.isa.ops.integer import INTEGER

Evaluate = Callable[..., list[int]]
CORNERS = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]
WORDS = st.lists(st.tuples(*[st.integers(0, 2**64 - 1) | st.sampled_from(CORNERS)] * 4), min_size=1, max_size=12)
few = settings(max_examples=12)


def wrap(n: int, type: str) -> int:
    """n modulo 2**bits, in the range of the type."""
    bits = int(type[1:])
    n %= 2**bits
    return n - 2**bits if type[0] == "s" and n >= 2 ** (bits - 1) else n


def clamp(n: int) -> int:
    return min(max(n, -(2**31)), 2**31 - 1)


def truncated(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def bits_of(type: str) -> int:
    return int(type[1:])


def low24(n: int, type: str) -> int:
    n %= 2**24
    return n - 2**24 if type[0] == "s" and n >= 2**23 else n


ARITHMETIC: dict[str, Callable[[int, int, int, str], int]] = {
    "add": lambda a, b, c, t: a + b,
    "sub": lambda a, b, c, t: a - b,
    "mul.lo": lambda a, b, c, t: a * b,
    "mul.hi": lambda a, b, c, t: a * b >> bits_of(t),
    "mad.lo": lambda a, b, c, t: a * b + c,
    "mad.hi": lambda a, b, c, t: (a * b >> bits_of(t)) + c,
    "sad": lambda a, b, c, t: c + abs(a - b),
    "div": lambda a, b, c, t: truncated(a, b) if b else -1,
    "rem": lambda a, b, c, t: a - b * truncated(a, b) if b else -1,
    "min": lambda a, b, c, t: min(a, b),
    "max": lambda a, b, c, t: max(a, b),
}


@pytest.mark.parametrize("type", INTEGER.split())
@pytest.mark.parametrize("op", ARITHMETIC)
@given(rows=WORDS)
@few
def test_arithmetic(evaluate: Evaluate, op: str, type: str, rows: list[tuple[int, ...]]) -> None:
    a, b, c = ([wrap(row[k], type) for row in rows] for k in range(3))
    count = 3 if op in ("mad.lo", "mad.hi", "sad") else 2
    want = [wrap(ARITHMETIC[op](*lane, type), type) for lane in zip(a, b, c, strict=True)]
    assert evaluate(f"{op}.{type}", *[a, b, c][:count]) == want


@pytest.mark.parametrize("type", ["u16", "s16", "u32", "s32"])
@given(rows=WORDS)
@few
def test_wide(evaluate: Evaluate, type: str, rows: list[tuple[int, ...]]) -> None:
    wide = f"{type[0]}{2 * bits_of(type)}"
    a, b = ([wrap(row[k], type) for row in rows] for k in range(2))
    c = [wrap(row[2], wide) for row in rows]
    assert evaluate(f"mul.wide.{type}", a, b) == [wrap(x * y, wide) for x, y in zip(a, b, strict=True)]
    assert evaluate(f"mad.wide.{type}", a, b, c) == [wrap(x * y + z, wide) for x, y, z in zip(a, b, c, strict=True)]


SATURATED: dict[str, Callable[[int, int, int], int]] = {
    "add.sat.s32": lambda a, b, c: clamp(a + b),
    "sub.sat.s32": lambda a, b, c: clamp(a - b),
    "mad.hi.sat.s32": lambda a, b, c: clamp((a * b >> 32) + c),
    "mad24.hi.sat.s32": lambda a, b, c: clamp((low24(a, "s32") * low24(b, "s32") >> 16) + c),
    "min.relu.s32": lambda a, b, c: max(0, min(a, b)),
    "max.relu.s32": lambda a, b, c: max(0, a, b),
}


@pytest.mark.parametrize("spelling", SATURATED)
@given(rows=WORDS)
@few
def test_saturated(evaluate: Evaluate, spelling: str, rows: list[tuple[int, ...]]) -> None:
    a, b, c = ([wrap(row[k], "s32") for row in rows] for k in range(3))
    operands = [a, b, c] if spelling.startswith("mad") else [a, b]
    assert evaluate(spelling, *operands) == [SATURATED[spelling](*lane) for lane in zip(a, b, c, strict=True)]


@pytest.mark.parametrize("type", ["u32", "s32"])
@given(rows=WORDS)
@few
def test_24_bits(evaluate: Evaluate, type: str, rows: list[tuple[int, ...]]) -> None:
    a, b, c = ([wrap(row[k], type) for row in rows] for k in range(3))
    products = [low24(x, type) * low24(y, type) for x, y in zip(a, b, strict=True)]
    assert evaluate(f"mul24.lo.{type}", a, b) == [wrap(p, type) for p in products]
    assert evaluate(f"mul24.hi.{type}", a, b) == [wrap(p >> 16, type) for p in products]
    assert evaluate(f"mad24.lo.{type}", a, b, c) == [wrap(p + z, type) for p, z in zip(products, c, strict=True)]
    assert evaluate(f"mad24.hi.{type}", a, b, c) == [wrap((p >> 16) + z, type) for p, z in zip(products, c, strict=True)]


@pytest.mark.parametrize("op", ["add", "min", "max", "min.relu", "max.relu"])
@given(rows=WORDS)
@few
def test_pairs(evaluate: Evaluate, op: str, rows: list[tuple[int, ...]]) -> None:
    a, b = ([wrap(row[k], "u32") for row in rows] for k in range(2))
    reference = {
        "add": lambda x, y: x + y,
        "min": min,
        "max": max,
        "min.relu": lambda x, y: max(0, min(x, y)),
        "max.relu": lambda x, y: max(0, x, y),
    }
    for type in ["s16"] if "relu" in op else ["s16", "u16"]:
        halves = [
            [reference[op](wrap(x >> at, type), wrap(y >> at, type)) % 2**16 << at for at in (0, 16)] for x, y in zip(a, b, strict=True)
        ]
        assert evaluate(f"{op}.{type}x2", a, b) == [low | high for low, high in halves]


@pytest.mark.parametrize("type", ["s16", "s32", "s64"])
@given(rows=WORDS)
@few
def test_signs(evaluate: Evaluate, type: str, rows: list[tuple[int, ...]]) -> None:
    a = [wrap(row[0], type) for row in rows]
    assert evaluate(f"abs.{type}", a) == [wrap(abs(x), type) for x in a]
    assert evaluate(f"neg.{type}", a) == [wrap(-x, type) for x in a]


@pytest.mark.parametrize("type", ["u32", "s32", "u64", "s64"])
@given(rows=WORDS, flags=st.lists(st.booleans(), min_size=12, max_size=12))
@few
def test_carries(evaluate: Evaluate, type: str, rows: list[tuple[int, ...]], flags: list[bool]) -> None:
    bits, cc = bits_of(type), np.array([flags[: len(rows)]])
    mask = 2**bits - 1
    a, b, c = ([wrap(row[k], type) for row in rows] for k in range(3))
    lanes = list(zip(a, b, c, flags, strict=False))
    sums: dict[str, tuple[int, list[int]]] = {
        "add.cc": (2, [(x & mask) + (y & mask) for x, y, _, _ in lanes]),
        "addc.cc": (2, [(x & mask) + (y & mask) + f for x, y, _, f in lanes]),
        "sub.cc": (2, [(x & mask) + (~y & mask) + 1 for x, y, _, _ in lanes]),
        "subc.cc": (2, [(x & mask) + (~y & mask) + f for x, y, _, f in lanes]),
        "mad.lo.cc": (3, [(x * y & mask) + (z & mask) for x, y, z, _ in lanes]),
        "mad.hi.cc": (3, [(x * y >> bits & mask) + (z & mask) for x, y, z, _ in lanes]),
        "madc.lo.cc": (3, [(x * y & mask) + (z & mask) + f for x, y, z, f in lanes]),
        "madc.hi.cc": (3, [(x * y >> bits & mask) + (z & mask) + f for x, y, z, f in lanes]),
    }
    dtype = np.dtype(f"{'i' if type[0] == 's' else 'u'}{bits // 8}")
    for op, (count, totals) in sums.items():
        found = resolve(op.split(".")[0], (*op.split(".")[1:], type))
        assert found is not None
        form, modifiers = found
        given_flag = {"cc": cc} if "in" in form.carry.split() else {}
        arrays = [np.array([x], dtype) for x in (a, b, c)[:count]]
        d, carry = form.bind(modifiers)(*arrays, **given_flag)
        assert d[0].tolist() == [wrap(n, type) for n in totals]
        assert np.broadcast_to(carry, d.shape)[0].tolist() == [n >> bits == 1 for n in totals]
        if op.startswith(("addc", "subc", "madc")):
            assert evaluate(f"{op[:-3]}.{type}", *[a, b, c][:count], cc=cc) == [wrap(n, type) for n in totals]


def highest(n: int) -> int:
    return n.bit_length() - 1


@pytest.mark.parametrize("bits", [32, 64])
@given(rows=WORDS)
@few
def test_counts(evaluate: Evaluate, bits: int, rows: list[tuple[int, ...]]) -> None:
    a = [wrap(row[0], f"u{bits}") for row in rows]
    assert evaluate(f"popc.b{bits}", a) == [x.bit_count() for x in a]
    assert evaluate(f"clz.b{bits}", a) == [bits - x.bit_length() for x in a]
    assert evaluate(f"brev.b{bits}", a) == [int(f"{x:0{bits}b}"[::-1], 2) for x in a]
    for type in (f"u{bits}", f"s{bits}"):
        found = [highest(~y if y < 0 else y) for y in (wrap(x, type) for x in a)]
        assert evaluate(f"bfind.{type}", a) == [n % 2**32 for n in found]
        assert evaluate(f"bfind.shiftamt.{type}", a) == [(bits - 1 - n if n >= 0 else -1) % 2**32 for n in found]


@pytest.mark.parametrize("bits", [32, 64])
@given(rows=WORDS)
@few
def test_fields(evaluate: Evaluate, bits: int, rows: list[tuple[int, ...]]) -> None:
    a, b = ([wrap(row[k], f"u{bits}") for row in rows] for k in range(2))
    position, length = ([row[k] % 256 for row in rows] for k in (2, 3))
    lanes = list(zip(a, b, position, length, strict=True))
    assert evaluate(f"bfe.u{bits}", a, position, length) == [x >> p & 2**n - 1 for x, _, p, n in lanes]
    signed = []
    for x, _, p, n in lanes:
        top = min(p + n - 1, bits - 1)
        field = [x >> (p + i if p + i < bits and i < n else top) & 1 if n else 0 for i in range(bits)]
        signed.append(wrap(sum(bit << i for i, bit in enumerate(field)), f"s{bits}"))
    assert evaluate(f"bfe.s{bits}", a, position, length) == signed
    masks = [(2**n - 1 << p) % 2**bits for _, _, p, n in lanes]
    want = [y & ~m | x << p & m for (x, y, p, _), m in zip(lanes, masks, strict=True)]
    assert evaluate(f"bfi.b{bits}", a, b, position, length) == want


def nth_set_bit(mask: int, base: int, n: int) -> int:
    if n == 0:
        return base if base < 32 and mask >> base & 1 else -1
    places = range(base, 32) if n > 0 else range(base, -1, -1)
    found = [i for i in places if base < 32 and mask >> i & 1]
    return found[abs(n) - 1] if abs(n) <= len(found) else -1


@given(rows=st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(-34, 34)), min_size=1, max_size=30))
@settings(max_examples=40)
def test_fns(evaluate: Evaluate, rows: list[tuple[int, int, int]]) -> None:
    a, b, c = (list(column) for column in zip(*rows, strict=True))
    assert evaluate("fns.b32", a, b, c) == [nth_set_bit(*row) % 2**32 for row in rows]


@given(rows=WORDS)
@few
def test_masks_and_extensions(evaluate: Evaluate, rows: list[tuple[int, ...]]) -> None:
    a, b = ([wrap(row[k], "u32") for row in rows] for k in range(2))
    small = [row[2] % 70 for row in rows]
    for mode, count in {"wrap": lambda n: n % 32, "clamp": lambda n: min(n, 32)}.items():
        assert evaluate(f"bmsk.{mode}.b32", small, b) == [((1 << count(n)) - 1 << count(s)) % 2**32 for s, n in zip(small, b, strict=True)]
        for type in ("u32", "s32"):
            want = [wrap(x, f"{type[0]}{count(n)}") if count(n) else 0 for x, n in zip(a, small, strict=True)]
            assert evaluate(f"szext.{mode}.{type}", a, small) == want


@pytest.mark.parametrize("types", ["u32.u32", "u32.s32", "s32.u32", "s32.s32"])
@given(rows=WORDS)
@few
def test_dot_products(evaluate: Evaluate, types: str, rows: list[tuple[int, ...]]) -> None:
    a, b, c = ([wrap(row[k], "u32") for row in rows] for k in range(3))
    first, second = types.split(".")

    def parts(x: int, bits: int, type: str) -> list[int]:
        return [wrap(x >> at, f"{type[0]}{bits}") for at in range(0, 32, bits)]

    def dot(x: list[int], y: list[int], z: int) -> int:
        return wrap(z + sum(s * t for s, t in zip(x, y, strict=True)), "s32")

    lanes = list(zip(a, b, c, strict=True))
    assert evaluate(f"dp4a.{types}", a, b, c) == [dot(parts(x, 8, first), parts(y, 8, second), z) for x, y, z in lanes]
    assert evaluate(f"dp2a.lo.{types}", a, b, c) == [dot(parts(x, 16, first), parts(y, 8, second)[:2], z) for x, y, z in lanes]
    assert evaluate(f"dp2a.hi.{types}", a, b, c) == [dot(parts(x, 16, first), parts(y, 8, second)[2:], z) for x, y, z in lanes]


def test_uniform_operands_stay_uniform() -> None:
    one = np.full((1, 1), 5, np.uint32)
    many = np.arange(8, dtype=np.uint32)[None]
    for spelling, count in (
        ("add.u32", 2),
        ("mul.hi.u32", 2),
        ("div.u32", 2),
        ("bfe.u32", 3),
        ("bfi.b32", 4),
        ("prmt.b32", 3),
        ("shl.b32", 2),
    ):
        opcode, *words = spelling.split(".")
        found = resolve(opcode, tuple(words))
        assert found is not None
        meaning = found[0].bind(found[1])
        assert meaning(*[one] * count).shape == (1, 1)
        assert meaning(many, *[one] * (count - 1)).tolist()[0] == [
            int(meaning(many[:, k : k + 1], *[one] * (count - 1))[0, 0]) for k in range(8)
        ]
        before = many.copy()
        meaning(*[many] * count)
        assert (many == before).all()


@few
@given(WORDS)
def test_carryless_products(evaluate: Evaluate, lanes: list[tuple[int, int, int, int]]) -> None:
    a, b, c, _ = map(list, zip(*lanes, (2**64 - 1,) * 4, strict=True))  # and the product that carries most

    def product(x: int, y: int) -> int:
        result = 0
        for bit in range(64):
            result ^= (x << bit) * (y >> bit & 1)
        return result

    assert evaluate("clmad.lo.u64", a, b, c) == [product(x, y) % 2**64 ^ z for x, y, z in zip(a, b, c, strict=True)]
    assert evaluate("clmad.hi.u64", a, b, c) == [product(x, y) >> 64 ^ z for x, y, z in zip(a, b, c, strict=True)]
