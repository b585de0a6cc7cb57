"""Shuffles, votes, matches, reductions and elections against one-lane-at-a-time references and the H200 recordings of tests/data/warp."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa.notation import resolve

Bits = NDArray[Any]
RECORDED = np.load(Path(__file__).parents[1] / "data" / "warp" / "h200.npz")
LANES = range(32)
FULL = 2**32 - 1


@dataclass
class Warp:
    """All that a cross-lane meaning without memory asks of its port."""

    members: NDArray[np.bool_]

    @property
    def active(self) -> NDArray[np.bool_]:
        return self.members


def perform(spelling: str, members: Bits, *operands: Bits) -> tuple[Bits, ...]:
    """The results of one instruction, each in full shape."""
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None, spelling
    form, modifiers = found
    sources = [operand for operand in form.operands if not operand.is_destination]
    typed = []
    for operand, bits in zip(sources, operands, strict=False):
        kind = form.type_of(operand, modifiers)
        assert kind is not None
        typed.append(bits.astype(bool) if kind.name == "pred" else bits.astype(f"u{kind.bits // 8}").view(kind.dtype))
    with np.errstate(all="ignore"):
        results = form.bind(modifiers)(Warp(members), *typed)
    return tuple(np.broadcast_to(r, members.shape) for r in (results if isinstance(results, tuple) else (results,)))


def same(results: tuple[Bits, ...], expected: list[Bits], members: Bits) -> None:
    for result, wanted in zip(results, expected, strict=False):
        bits = result.astype(np.uint32) if result.dtype == bool else result.view(f"u{result.itemsize}")
        np.testing.assert_array_equal(bits[members], wanted[members])


def lanes_of(mask: Bits) -> Bits:
    return (mask.astype(np.uint32) >> np.arange(32, dtype=np.uint32) & 1).astype(bool)


@pytest.mark.parametrize("key", [key for key in RECORDED.files if key.startswith(("some.", "all.", "mixed.", "members."))])
def test_as_recorded(key: str) -> None:
    """Random inputs with all lanes, with some, with several membermasks in one warp, and with one membermask a warp."""
    group, _, spelling = key.partition(".")
    table = RECORDED[key]
    arity = {"shfl": 4, "elec": 1}.get(spelling[:4], 2)
    operands = [np.ascontiguousarray(table[..., k]) for k in range(arity)]
    if spelling == "elect.sync":
        operands = [np.ascontiguousarray(table[..., 1])]
    results = [np.ascontiguousarray(table[..., k]) for k in range(2 if spelling == "elect.sync" else arity, table.shape[-1])]
    members = lanes_of(operands[-1]) if group in ("some", "members") else np.ones(table.shape[:2], bool)
    if spelling == "elect.sync":
        np.testing.assert_array_equal(perform(spelling, members, *operands)[0], results[0])
    else:
        same(perform(spelling, members, *operands), results, members)


words = st.one_of(st.integers(0, FULL), st.sampled_from([0, 1, FULL, 0x80000000, 0x7FFFFFFF]))
warps = st.lists(words, min_size=32, max_size=32)
distances = st.lists(st.integers(0, 40), min_size=32, max_size=32)
masks = st.one_of(st.just(FULL), st.integers(1, FULL), st.sampled_from([1, 0x80000000, 0xFFFF, 0xAAAAAAAA]))


def one(values: list[int], dtype: str = "u4") -> Bits:
    return np.array([values], dtype)


def bits(mask: int) -> Bits:
    return lanes_of(np.full((1, 32), mask, np.uint32))


@given(
    warps,
    st.lists(st.integers(0, 40), min_size=32, max_size=32),
    st.integers(0, 0x1F1F),
    masks,
    st.sampled_from(["up", "down", "bfly", "idx"]),
)
def test_shfl(a: list[int], b: list[int], c: int, mask: int, mode: str) -> None:
    d, p = perform(f"shfl.sync.{mode}.b32", bits(mask), one(a), one(b), np.full((1, 1), c, np.uint32), np.full((1, 1), mask, np.uint32))
    for lane in LANES:
        if not mask >> lane & 1:
            continue
        fixed, distance = c >> 8 & 31, b[lane] & 31
        last = lane & fixed | c & 31 & ~fixed
        j = {"up": lane - distance, "down": lane + distance, "bfly": lane ^ distance, "idx": lane & fixed | distance & ~fixed}[mode]
        inside = j >= last if mode == "up" else j <= last
        j = j if inside else lane
        assert (d[0, lane], p[0, lane]) == (a[j] if mask >> j & 1 else 0, inside)


@given(warps, masks)
def test_shfl_of_uniform_operands_is_the_same(a: list[int], mask: int) -> None:
    narrow = perform("shfl.sync.bfly.b32", bits(mask), one(a[:1]), one([3]), one([31]), one([mask]))
    full = perform("shfl.sync.bfly.b32", bits(mask), one(a[:1] * 32), one([3] * 32), one([31] * 32), one([mask] * 32))
    same(narrow, [full[0], full[1].astype(np.uint32)], bits(mask))


REDUCTIONS: dict[str, Callable[[list[int]], int]] = {
    "add.u32": lambda x: sum(x) & FULL, "min.u32": min, "max.u32": max,
    "and.b32": lambda x: int(np.bitwise_and.reduce(np.array(x, "u4"))), "or.b32": lambda x: int(np.bitwise_or.reduce(np.array(x, "u4"))),
    "xor.b32": lambda x: int(np.bitwise_xor.reduce(np.array(x, "u4"))),
    "max.s32": lambda x: max(x, key=lambda v: v - 2**32 if v >> 31 else v),
    "min.s32": lambda x: min(x, key=lambda v: v - 2**32 if v >> 31 else v),
}  # fmt: skip


@given(warps, masks, st.sampled_from(sorted(REDUCTIONS)), st.integers(0, FULL))
def test_redux(a: list[int], mask: int, form: str, other: int) -> None:
    """Two groups of lanes with membermasks of their own, executing together."""
    rest = ~mask & FULL
    own = [mask if mask >> lane & 1 else rest for lane in LANES]
    (d,) = perform(f"redux.sync.{form}", bits(FULL), one(a), one(own))
    for lane in LANES:
        assert int(d[0, lane]) & FULL == REDUCTIONS[form]([a[k] for k in LANES if own[lane] >> k & 1])


@given(warps, masks, st.booleans(), st.booleans(), st.sampled_from(["min", "max"]))
def test_redux_f32(a: list[int], mask: int, absolute: bool, nan: bool, op: str) -> None:
    spelling = f"redux.sync.{op}{'.abs' * absolute}{'.NaN' * nan}.f32"
    (d,) = perform(spelling, bits(mask), one(a), one([mask]))
    members = [a[k] & (0x7FFFFFFF if absolute else FULL) for k in LANES if mask >> k & 1]
    numbers = [v for v in members if v & 0x7FFFFFFF <= 0x7F800000]
    order = {v: (-(v & 0x7FFFFFFF) - 1 if v >> 31 else v) for v in numbers}
    best = (
        0x7FFFFFFF
        if not numbers or (nan and len(numbers) < len(members))
        else (min if op == "min" else max)(numbers, key=order.__getitem__)
    )
    lane = (mask & -mask).bit_length() - 1
    assert int(d.view(np.uint32)[0, lane]) == best


@given(st.integers(0, FULL), masks)
def test_votes(held: int, mask: int) -> None:
    a, m = bits(held), one([mask])
    inside = held & mask
    results = {mode: bool(perform(f"vote.sync.{mode}.pred", bits(mask), a, m)[0][0, 0]) for mode in ("all", "any", "uni")}
    assert results == {"all": inside == mask, "any": inside != 0, "uni": inside in (0, mask)}
    assert int(perform("vote.sync.ballot.b32", bits(mask), a, m)[0][0, 0]) == inside
    assert int(perform("vote.ballot.b32", bits(mask), a)[0][0, 0]) == inside
    assert int(perform("activemask.b32", bits(mask))[0][0, 0]) == mask


@given(st.lists(st.sampled_from([0, 1, 2**40, 2**63 + 1]), min_size=32, max_size=32), masks)
def test_match(a: list[int], mask: int) -> None:
    inside = [lane for lane in LANES if mask >> lane & 1]
    (d,) = perform("match.any.sync.b64", bits(mask), one(a, "u8"), one([mask]))
    assert all(int(d[0, lane]) == sum(1 << k for k in inside if a[k] == a[lane]) for lane in inside)
    d, p = perform("match.all.sync.b64", bits(mask), one(a, "u8"), one([mask]))
    agree = len({a[lane] for lane in inside}) == 1
    assert all((int(d[0, lane]), bool(p[0, lane])) == (mask * agree, agree) for lane in inside)


@given(masks)
def test_elect(mask: int) -> None:
    d, p = perform("elect.sync", bits(mask), one([mask]))
    lowest = (mask & -mask).bit_length() - 1
    assert (d[bits(mask)] == lowest).all() and [lane for lane in LANES if mask >> lane & 1 and p[0, lane]] == [lowest]


ILLEGAL = """
    shfl.sync.up.u32 shfl.sync.b32 shfl.sync.left.b32 vote.sync.all vote.sync.ballot.pred vote.sync.none.pred match.any.b32 match.sync.b32
    match.any.sync.u32 redux.sync.add.b32 redux.sync.and.u32 redux.sync.add.u64 redux.sync.add.f32 redux.add.u32 activemask.u32 elect
    elect.sync.b32
"""


@pytest.mark.parametrize("spelling", ILLEGAL.split())
def test_illegal(spelling: str) -> None:
    opcode, *tail = spelling.split(".")
    assert resolve(opcode, tuple(tail)) is None
