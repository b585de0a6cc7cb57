"""Rows that no recording at hand executes: pairs of singles, sums of mixed precision, scales, packed integers, orders and hints."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .test_memory_operations import Port, perform, reference
from .test_rounding import FORMATS, ROUNDING, expected, lanes, numbers

Evaluate = Callable[..., list[int]]
few = settings(max_examples=5)
F32 = FORMATS["f32"]
words = st.integers(0, 2**32 - 1)

# ---------------------------------------------------------------- floats


@pytest.mark.parametrize("op", ["add", "sub", "mul", "fma"])
@pytest.mark.parametrize("mode", ROUNDING)
@pytest.mark.parametrize("ftz", ["", ".ftz"])
def test_pairs_of_singles(evaluate: Evaluate, op: str, mode: str, ftz: str) -> None:
    count = 3 if op == "fma" else 2

    @settings(max_examples=3, derandomize=True)
    @given(lanes("f32", 2 * count))
    def check(operands: list[tuple[int, ...]]) -> None:
        columns = list(zip(*operands, strict=True))
        packed = [[low | high << 32 for low, high in zip(*columns[2 * i : 2 * i + 2], strict=True)] for i in range(count)]
        for codes, got in zip(operands, evaluate(f"{op}.{mode}{ftz}.f32x2", *packed), strict=True):
            for half in range(2):
                true = expected(op, F32, mode, bool(ftz), codes[half::2])
                assert true is None or got >> 32 * half & 0xFFFFFFFF == true

    check()


def single(code: int, kind: str) -> int:
    """The code in f32 of a finite number of 16 bits."""
    value = FORMATS[kind].value(code)
    assert value is not None
    return F32.code(value, "rn", bool(code >> 15))


@pytest.mark.parametrize("op", ["add", "sub", "fma"])
@pytest.mark.parametrize("mode", ROUNDING)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_sums_of_mixed_precision(evaluate: Evaluate, op: str, mode: str, kind: str) -> None:
    narrow = 2 if op == "fma" else 1

    @settings(max_examples=3, derandomize=True)
    @given(st.lists(st.tuples(*[numbers(kind)] * narrow, numbers("f32")), min_size=8, max_size=16))
    def check(operands: list[tuple[int, ...]]) -> None:
        for sat in (False, True):
            got = evaluate(f"{op}.{mode}{'.sat' * sat}.f32.{kind}", *zip(*operands, strict=True))
            for codes, code in zip(operands, got, strict=True):
                true = expected(op, F32, mode, False, (*(single(c, kind) for c in codes[:-1]), codes[-1]))
                assert true is not None
                if sat:
                    true = 0 if true >> 31 else min(true, 0x3F800000)
                assert code == true, [hex(c) for c in codes]

    check()


@pytest.mark.parametrize("op", ["min", "max"])
@given(st.lists(st.tuples(*[numbers("f32")] * 3), min_size=4, max_size=12))
def test_the_least_and_greatest_of_three_magnitudes(evaluate: Evaluate, op: str, operands: list[tuple[int, ...]]) -> None:
    got = evaluate(f"{op}.abs.f32", *zip(*operands, strict=True))
    assert got == [(min if op == "min" else max)(code & 0x7FFFFFFF for code in codes) for codes in operands]


@pytest.mark.parametrize("mode", ["rz", "rp"])
@few
@given(st.lists(st.tuples(*[st.integers(0, 2**16 - 1)] * 3), min_size=4, max_size=12))
def test_directed_products_of_bf16_are_those_of_f16(evaluate: Evaluate, mode: str, operands: list[tuple[int, ...]]) -> None:
    columns = list(zip(*operands, strict=True))
    assert evaluate(f"fma.{mode}.bf16", *columns) == evaluate("fma.rn.f16", *columns)


def scale(code: int, mode: str, satfinite: bool) -> int:
    """The exponent of a single's magnitude, rounded up or toward zero."""
    size = code & 0x7FFFFFFF
    if size > 0x7F800000:
        return 255
    if size == 0x7F800000:
        return 254 if satfinite else 255
    value = F32.value(size)
    assert value is not None
    found = max((n for n in range(255) if Fraction(2) ** (n - 127) <= value), default=0)
    if mode == "rp" and Fraction(2) ** (found - 127) < value:
        found += 1
    return min(found, 254) if satfinite else found


@pytest.mark.parametrize("mode", ["rz", "rp"])
@pytest.mark.parametrize("satfinite", [False, True])
@few
@given(st.lists(st.tuples(words, words), min_size=1, max_size=8))
def test_scales(evaluate: Evaluate, mode: str, satfinite: bool, operands: list[tuple[int, ...]]) -> None:
    name = f"cvt.{mode}{'.satfinite' * satfinite}.ue8m0x2"
    wanted = [scale(a, mode, satfinite) << 8 | scale(b, mode, satfinite) for a, b in operands]
    assert evaluate(f"{name}.f32", *zip(*operands, strict=True)) == wanted
    halves = [(a >> 16, b >> 16) for a, b in operands]
    wanted = [scale(a << 16, mode, satfinite) << 8 | scale(b << 16, mode, satfinite) for a, b in halves]
    assert evaluate(f"{name}.bf16x2", [a << 16 | b for a, b in halves]) == wanted


def test_scales_as_powers_of_two(evaluate: Evaluate) -> None:
    codes = list(range(256))
    got = evaluate("cvt.rn.bf16x2.ue8m0x2", [c << 8 | 255 - c for c in codes])
    for c, pair in zip(codes, got, strict=True):
        for code, bits in ((c, pair >> 16), (255 - c, pair & 0xFFFF)):
            value = np.array([bits << 16], np.uint32).view(np.float32)[0]
            assert np.isnan(value) if code == 255 else float(value) == 2.0 ** (code - 127)


@pytest.mark.parametrize("kind", ["u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"])
@few
@given(st.lists(st.tuples(words, words, words), min_size=1, max_size=8))
def test_packed_integers(evaluate: Evaluate, kind: str, operands: list[tuple[int, ...]]) -> None:
    bits = int(kind[1:])
    least = 0 if kind[0] == "u" else -(1 << bits - 1)

    def clamped(code: int) -> int:
        return min(max(code - (code >> 31 << 32), least), least + (1 << bits) - 1) % (1 << bits)

    a, b, c = (list(column) for column in zip(*operands, strict=True))
    pairs = [clamped(x) << bits | clamped(y) for x, y in zip(a, b, strict=True)]
    if bits == 16:
        assert evaluate(f"cvt.pack.sat.{kind}.s32", a, b) == pairs
    else:
        wanted = [(z << 2 * bits | pair) % 2**32 for z, pair in zip(c, pairs, strict=True)]
        assert evaluate(f"cvt.pack.sat.{kind}.s32.b32", a, b, c) == wanted


# ---------------------------------------------------------------- memory: an order, a scope or a hint changes no value


RED = [("add", t) for t in ("u32", "s32", "u64", "s64")] + [(op, "u32") for op in ("inc", "dec")]
RED += [(op, t) for op in ("min", "max") for t in ("u32", "s32")] + [(op, "b32") for op in ("and", "or", "xor")]


@pytest.mark.parametrize("order", ["relaxed.gpu", "release.sys"])
@pytest.mark.parametrize(("op", "kind"), RED)
@given(st.lists(st.tuples(st.integers(0, 2), st.one_of(st.integers(0, 4), words)), min_size=4, max_size=4))
def test_red_async_to_global_memory(order: str, op: str, kind: str, changes: list[tuple[int, int]]) -> None:
    port, bits = Port(), int(kind[1:])
    port.memory[:24] = np.arange(24) * 11
    width = bits // 8
    state = [int(port.memory[8 * k :][:width].view(f"u{width}")[0]) for k in range(3)]
    address = np.array([[8 * place for place, _ in changes]], np.uint64)
    b = np.array([[value % 2**bits for _, value in changes]], f"u{width}").view(f"{'i' if kind[0] == 's' else 'u'}{width}")
    perform(port, f"red.async.{order}.global.{op}.{kind}", address, b)
    for place, value in changes:
        state[place] = reference(op, kind, state[place], value % 2**bits, 0)
    assert [int(port.memory[8 * k :][:width].view(f"u{width}")[0]) for k in range(3)] == state


@given(st.lists(words, min_size=4, max_size=4))
def test_st_async_to_global_memory(values: list[int]) -> None:
    port = Port()
    perform(port, "st.async.release.gpu.global.u32", np.arange(4, dtype=np.uint64)[None] * np.uint64(4), np.array([values], np.uint32))
    assert port.memory[:16].view(np.uint32).tolist() == values


ORDERED = [
    "expect_tx", "complete_tx", "arrive", "arrive_drop", "arrive.expect_tx", "arrive_drop.expect_tx", "try_wait", "test_wait",
    "try_wait.parity", "test_wait.parity",
]  # fmt: skip


@pytest.mark.parametrize("name", ORDERED)
@given(st.integers(1, 9), st.integers(1, 8), st.integers(0, 1))
def test_orders_of_mbarriers(name: str, expected_: int, given_: int, parity: int) -> None:
    order = "acquire.cta" if "wait" in name else "relaxed.cluster"
    found: list[Any] = []
    for words_ in ("", f".{order}"):
        port = Port()
        perform(port, "mbarrier.init.shared.b64", [[0]], expected_)
        value: Any = (
            np.array([[parity << 63]], np.uint64)
            if name in ("try_wait", "test_wait")
            else parity
            if "wait" in name
            else min(given_, expected_)
        )
        result = perform(port, f"mbarrier.{name}{words_}.shared.b64", [[0]], value)
        found.append((None if result is None else result.tolist(), port.shared.tobytes(), port.pauses))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["arrive", "arrive_drop"])
@given(st.integers(2, 9))
def test_arrivals_that_complete_nothing(name: str, expected_: int) -> None:
    found = []
    for words_ in (name, f"{name}.noComplete", f"{name}.noComplete.release.cta"):
        port = Port()
        perform(port, "mbarrier.init.shared.b64", [[0]], expected_)
        found.append((perform(port, f"mbarrier.{words_}.shared.b64", [[0]], expected_ - 1).tolist(), port.shared.tobytes()))
    assert found[0] == found[1] == found[2]


def place(at: int) -> Any:
    return np.array([[at]], np.uint64)


@given(st.integers(0, 0xFFFF), st.booleans())
def test_masked_bulk_copies(bound: Callable[[str], Callable[..., Any]], mask: int, hint: bool) -> None:
    port = Port()
    port.shared[0, :64] = np.arange(64) + 1
    row = f"cp.async.bulk.global.shared::cta.bulk_group{'.L2::cache_hint' * hint}.cp_mask"
    bound(row)(port, place(128), place(16), np.array([[32]], np.uint32), *[place(0)] * hint, np.array([[mask]], np.uint16))
    wanted = [int(port.shared[0, 16 + i]) if mask >> i % 16 & 1 else 0 for i in range(32)]
    assert port.memory[128:160].tolist() == wanted and not port.memory[160:].any()


@pytest.mark.parametrize("multicast", [False, True])
def test_a_hint_changes_no_copy(bound: Callable[[str], Callable[..., Any]], multicast: bool) -> None:
    found = []
    for hint in (False, True):
        port = Port()
        port.memory[:64] = np.arange(64)
        port.place("shared", 256, 8)[:] = 0
        word = ".multicast::cluster" * multicast + ".L2::cache_hint" * hint
        row = f"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{word}"
        more = [np.array([[0b101]], np.uint16)] * multicast + [place(0)] * hint
        bound(row)(port, place(64), place(16), np.array([[48]], np.uint32), place(256), *more)
        found.append(port.shared.tobytes())
    assert found[0] == found[1] and any(found[0])


@pytest.mark.parametrize("space", ["global", "shared::cta"])
@pytest.mark.parametrize("order", ["relaxed", "release"])
@given(st.lists(words, min_size=8, max_size=8))
def test_ordered_stores(bound: Callable[[str], Callable[..., Any]], space: str, order: str, values: list[int]) -> None:
    port = Port()
    pairs = tuple(np.array([values[k::2]], np.uint32) for k in range(2))
    bound(f"st.{order}.gpu.{space}.L1::no_allocate.v2.u32")(port, 8 * np.arange(4, dtype=np.uint64)[None], pairs)
    memory = port.memory if space == "global" else port.shared[0]
    assert memory[:32].view(np.uint32).tolist() == values


@given(st.integers(2, 9))
def test_arrivals_of_finished_copies(bound: Callable[[str], Callable[..., Any]], expected_: int) -> None:
    """With .noinc it is one of the expected arrivals, else an extra one, of which no phase hears."""
    for word, arrived in (("", 0), (".noinc", 1)):
        port = Port()
        perform(port, "mbarrier.init.shared.b64", [[0]], expected_)
        bound(f"cp.async.mbarrier.arrive{word}.shared.b64")(port, place(0))
        state = port.shared[0, :8].view(np.uint64)[None]
        assert bound("mbarrier.pending_count.b64")(state).item() == expected_ - arrived
