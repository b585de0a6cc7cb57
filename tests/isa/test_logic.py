"""Logic, shifts, byte permutation, comparison and selection against plain Python, one lane at a time."""

import math
import struct
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warplab.isa.notation import resolve
from warplab.isa.ops.compare import FLOAT, UNSIGNED
from warplab.isa.ops.logic import MODES, chain

Evaluate = Callable[..., list[int]]
WORDS = st.lists(st.tuples(*[st.integers(0, 2**64 - 1)] * 3), min_size=1, max_size=12)
SHIFTS = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 70) | st.integers(0, 2**32 - 1)), min_size=1, max_size=12)
few = settings(max_examples=15)
A, B, C = (np.array([[x]], np.uint32) for x in (0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA))


def test_every_table_of_lop3() -> None:
    found = resolve("lop3", ("b32",))
    assert found is not None
    meaning = found[0].bind(found[1])
    for table in range(256):
        assert meaning(A, B, C, table).item() == table * 0x01010101
        assert meaning(A, B, C, table - 256).item() == table * 0x01010101
        assert len(chain(table)) <= 5


@pytest.mark.parametrize("op", ["and", "or"])
def test_lop3_with_a_predicate(op: str) -> None:
    found = resolve("lop3", (op, "b32"))
    assert found is not None
    for table in (0x00, 0x80, 0xFE):
        for q in (False, True):
            d, p = found[0].bind(found[1])(A, B, C, table, np.array([[q]]))
            assert d.item() == table * 0x01010101
            assert p.item() == ((table != 0 and q) if op == "and" else (table != 0 or q))


@pytest.mark.parametrize("bits", [16, 32, 64])
@given(rows=WORDS)
@few
def test_bitwise(evaluate: Evaluate, bits: int, rows: list[tuple[int, ...]]) -> None:
    a, b = ([row[k] % 2**bits for row in rows] for k in range(2))
    pairs = list(zip(a, b, strict=True))
    assert evaluate(f"and.b{bits}", a, b) == [x & y for x, y in pairs]
    assert evaluate(f"or.b{bits}", a, b) == [x | y for x, y in pairs]
    assert evaluate(f"xor.b{bits}", a, b) == [x ^ y for x, y in pairs]
    assert evaluate(f"not.b{bits}", a) == [x ^ 2**bits - 1 for x in a]
    assert evaluate(f"cnot.b{bits}", [*a, 0]) == [int(x == 0) for x in [*a, 0]]


@pytest.mark.parametrize("op", ["and", "or", "xor"])
def test_predicates(evaluate: Evaluate, op: str) -> None:
    a, b = [0, 0, 1, 1], [0, 1, 0, 1]
    assert evaluate(f"{op}.pred", a, b) == {"and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "xor": [0, 1, 1, 0]}[op]
    assert evaluate("not.pred", b) == [1, 0, 1, 0]


@pytest.mark.parametrize("bits", [16, 32, 64])
@given(rows=SHIFTS)
@few
def test_shifts(evaluate: Evaluate, bits: int, rows: list[tuple[int, int]]) -> None:
    a, n = [row[0] % 2**bits for row in rows], [row[1] for row in rows]
    for amounts in (n, n[:1] * len(n)):
        lanes = list(zip(a, amounts, strict=True))
        assert evaluate(f"shl.b{bits}", a, amounts) == [(x << min(k, bits)) % 2**bits for x, k in lanes]
        assert evaluate(f"shr.u{bits}", a, amounts) == [x >> min(k, bits) for x, k in lanes]
        assert evaluate(f"shr.b{bits}", a, amounts) == [x >> min(k, bits) for x, k in lanes]
        signed = [(x - 2**bits if x >> bits - 1 else x, k) for x, k in lanes]
        assert evaluate(f"shr.s{bits}", a, amounts) == [x >> min(k, bits) for x, k in signed]


@given(rows=WORDS)
@few
def test_funnel_shifts(evaluate: Evaluate, rows: list[tuple[int, ...]]) -> None:
    a, b, c = ([row[k] % 2**32 if k < 2 else row[k] % 80 for row in rows] for k in range(3))
    for mode, count in {"wrap": lambda n: n % 32, "clamp": lambda n: min(n, 32)}.items():
        lanes = [(y << 32 | x, count(n)) for x, y, n in zip(a, b, c, strict=True)]
        assert evaluate(f"shf.l.{mode}.b32", a, b, c) == [(x << n >> 32) % 2**32 for x, n in lanes]
        assert evaluate(f"shf.r.{mode}.b32", a, b, c) == [(x >> n) % 2**32 for x, n in lanes]


def permuted(a: int, b: int, selectors: int) -> int:
    pool, d = (a | b << 32).to_bytes(8, "little"), 0
    for i in range(4):
        selector = selectors >> 4 * i & 15
        byte = pool[selector & 7]
        d |= (byte if selector < 8 else 255 * (byte >> 7)) << 8 * i
    return d


@given(rows=WORDS)
@few
def test_prmt(evaluate: Evaluate, rows: list[tuple[int, ...]]) -> None:
    a, b, c = ([row[k] % 2**32 for row in rows] for k in range(3))
    assert evaluate("prmt.b32", a, b, c) == [permuted(*lane) for lane in zip(a, b, c, strict=True)]
    for x, y, z in zip(a, b, c, strict=True):
        assert evaluate("prmt.b32", [x], [y], [z]) == [permuted(x, y, z)]
    for mode, selectors in MODES.items():
        assert evaluate(f"prmt.b32.{mode}", a, b, c) == [permuted(x, y, selectors[z & 3]) for x, y, z in zip(a, b, c, strict=True)]


# ---------------------------------------------------------------- comparisons

FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}
SMALLEST = {"f16": 2.0**-14, "f32": 2.0**-126, "f64": 0.0}
SPECIAL = {
    "f16": [0, 0x8000, 1, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0xFC01],
    "bf16": [0, 0x8000, 1, 0x807F, 0x0080, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0xFF81],
    "f32": [0, 2**31, 1, 2**31 + 0x7FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800001],
    "f64": [0, 2**63, 1, 2**63 + 2**52 - 1, 2**52, 0x3FF << 52, 0xBFF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0xFFF << 52) + 1],
}


def number(bits: int, type: str, ftz: bool) -> float:
    if type == "bf16":
        type, bits = "f32", bits << 16
    x: float = struct.unpack(FORMATS[type], bits.to_bytes(struct.calcsize(FORMATS[type]), "little"))[0]
    return 0.0 if ftz and abs(x) < SMALLEST[type] else x


def holds(cmp: str, a: float, b: float) -> bool:
    unordered = math.isnan(a) or math.isnan(b)
    if cmp in ("num", "nan"):
        return unordered == (cmp == "nan")
    if unordered:
        return cmp.endswith("u")
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[cmp[:2]]


@pytest.mark.parametrize("spelled", ["f16", "ftz.f16", "bf16", "f32", "ftz.f32", "f64"])
@pytest.mark.parametrize("cmp", FLOAT)
def test_float_comparisons(evaluate: Evaluate, cmp: str, spelled: str) -> None:
    type = spelled.removeprefix("ftz.")
    pairs = [(x, y) for x in SPECIAL[type] for y in SPECIAL[type]]
    a, b = (list(column) for column in zip(*pairs, strict=True))
    want = [holds(cmp, number(x, type, "ftz" in spelled), number(y, type, "ftz" in spelled)) for x, y in pairs]
    q = [k % 2 for k in range(len(pairs))]
    found = resolve("setp", (cmp, *spelled.split(".")))
    assert found is not None
    result = evaluate_pair(found, a, b) if found[0].operands[0].second else None
    if result is not None:
        assert result == (want, [not t for t in want])
    else:
        assert evaluate(f"setp.{cmp}.{spelled}", a, b) == want
        assert evaluate(f"setp.{cmp}.xor.{spelled}", a, b, q) == [t != bool(k) for t, k in zip(want, q, strict=True)]
    assert evaluate(f"set.{cmp}.{spelled.replace(type, '')}u32.{type}", a, b) == [0xFFFFFFFF * t for t in want]
    if type in ("f16", "bf16"):
        one = 0x3C00 if type == "f16" else 0x3F80
        both = [x << 16 | y for x, y in pairs], [y << 16 | y for _, y in pairs]
        low = [holds(cmp, number(y, type, "ftz" in spelled), number(y, type, "ftz" in spelled)) for y in b]
        assert evaluate(f"set.{cmp}.{spelled}x2.{type}x2", *both) == [one * s | one * t << 16 for s, t in zip(low, want, strict=True)]
        assert evaluate(f"set.{cmp}.{spelled.replace(type, '')}u32.{type}x2", *both) == [
            0xFFFF * s | 0xFFFF0000 * t for s, t in zip(low, want, strict=True)
        ]
        assert evaluate(f"set.{cmp}.and.{spelled}x2.{type}x2", *both, q) == [
            (one * s | one * t << 16) * k for s, t, k in zip(low, want, q, strict=True)
        ]


def evaluate_pair(found: tuple, a: list[int], b: list[int]) -> tuple[list[bool], list[bool]]:  # type: ignore[type-arg]
    form, modifiers = found
    dtype = np.uint32 if "f32" in form.slots[-1].words else np.uint64
    x, y = (np.array([n], dtype).view(np.float32 if dtype == np.uint32 else np.float64) for n in (a, b))
    meaning = form.bind(modifiers)
    p, q = meaning(x, y)
    assert (meaning(x, y, pair=False) == p).all()
    return p[0].tolist(), q[0].tolist()


ORDERS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "lo": lambda a, b: a < b, "ls": lambda a, b: a <= b, "hi": lambda a, b: a > b, "hs": lambda a, b: a >= b,
}  # fmt: skip


@pytest.mark.parametrize("type", ["u16", "u32", "u64", "s16", "s32", "s64", "b16", "b32", "b64"])
def test_integer_comparisons(evaluate: Evaluate, type: str) -> None:
    bits = int(type[1:])
    corners = [0, 1, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1]
    pairs = [(x, y) for x in corners for y in corners]
    a, b = (list(column) for column in zip(*pairs, strict=True))
    values = [tuple(n - 2**bits if type[0] == "s" and n >> bits - 1 else n for n in pair) for pair in pairs]
    for cmp in {"u": list(UNSIGNED), "s": ["eq", "ne", "lt", "le", "gt", "ge"], "b": ["eq", "ne"]}[type[0]]:
        want = [ORDERS[cmp](x, y) for x, y in values]
        assert evaluate(f"set.{cmp}.u32.{type}", a, b) == [0xFFFFFFFF * t for t in want]
        assert evaluate(f"set.{cmp}.s32.{type}", a, b) == [-t for t in want]
        assert evaluate(f"set.{cmp}.f32.{type}", a, b) == [0x3F800000 * t for t in want]
        assert evaluate(f"set.{cmp}.bf16.{type}", a, b) == [0x3F80 * t for t in want]
        for op, combine in {"and": lambda t, c: t and c, "or": lambda t, c: t or c, "xor": lambda t, c: t != c}.items():
            found = resolve("setp", (cmp, op, type))
            assert found is not None
            dtype = np.dtype(f"{'i' if type[0] == 's' else 'u'}{bits // 8}")
            x, y = (np.array([n], f"u{bits // 8}").view(dtype) for n in (a, b))
            for c in (False, True):
                p, q = found[0].bind(found[1])(x, y, np.array([[c]]))
                assert p[0].tolist() == [combine(t, c) for t in want]
                assert q[0].tolist() == [combine(not t, c) for t in want]
                assert found[0].bind(found[1])(x, y, np.array([[c]]), pair=False)[0].tolist() == p[0].tolist()


@pytest.mark.parametrize("type", ["b16", "u32", "s64", "f32", "f64"])
def test_selection(evaluate: Evaluate, type: str) -> None:
    a, b = [1, 2, 0x7FC1, 0xFFFF], [5, 0x7F81, 7, 8]
    signed = [0, 1, -1, -(2**31)]
    floats = [0x80000000, 0x7FC00000, 0x80000001, 0xFF800000]
    signs = {"selp": [1, 0, 1, 0], "slct": [1, 1, 0, 0]}

    def chosen(which: list[int]) -> list[int]:
        return [x if w else y for x, y, w in zip(a, b, which, strict=True)]

    for count in (4, 1):  # also one selector for all lanes
        assert evaluate(f"selp.{type}", a[:count], b[:count], signs["selp"][:count]) == chosen(signs["selp"])[:count]
        assert evaluate(f"slct.{type}.s32", a[:count], b[:count], signed[:count]) == chosen(signs["slct"])[:count]
        assert evaluate(f"slct.{type}.f32", a[:count], b[:count], floats[:count]) == chosen([1, 0, 0, 0])[:count]
        assert evaluate(f"slct.ftz.{type}.f32", a[:count], b[:count], floats[:count]) == chosen([1, 0, 1, 0])[:count]
