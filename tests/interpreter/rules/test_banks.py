"""Shared memory: the guide's figures for every capability, and passes and conflicts as the H200 counted them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.interpreter.rules.banks import (
    atomic_passes,
    fermi_banks,
    kepler_banks,
    matrix_passes,
    modern_banks,
    shared_passes,
    sixteen_banks,
)
from warplab.isa.profiles import profile

LANES = np.arange(32)
ALL = np.ones(32, dtype=bool)
GATHERS = np.load(Path(__file__).parents[2] / "data/memory/gathers.npz")
BUSY = [3, 4, 6, 7, 9]

# Figure F-3: a permutation; five lanes on one word of bank 5; two words that many lanes read, in each half-warp.
FIGURE_3 = {
    "permutation": LANES ^ 21,
    "one word": np.where(np.isin(LANES, BUSY), 5, LANES),
    "several words": np.where(LANES % 4 < 2, 12, 20),
}


@pytest.mark.parametrize(
    ("target", "free", "passes"),
    [
        ("1.0", 2, {1: 2, 2: 4, 3: 2}),
        ("2.0", 1, {1: 1, 2: 2, 3: 1}),
        ("3.0", 1, {1: 1, 2: 1, 3: 1}),
        ("9.0", 1, {1: 1, 2: 2, 3: 1}),
    ],
)
def test_figure_2_strides(target: str, free: int, passes: dict[int, int]) -> None:
    for stride, want in passes.items():
        got, conflicts = shared_passes(profile(target), LANES * stride * 4, ALL, 4)
        assert (got.tolist(), conflicts.tolist()) == ([want], [want - free]), stride


@pytest.mark.parametrize(("target", "passes"), [("1.3", (2, 2, 4)), ("2.0", (1, 1, 1)), ("3.0", (1, 1, 1)), ("9.0", (1, 1, 1))])
def test_figure_3_broadcasts(target: str, passes: tuple[int, int, int]) -> None:
    got = [int(shared_passes(profile(target), words * 4, ALL, 4)[0][0]) for words in FIGURE_3.values()]
    assert tuple(got) == passes


def test_bytes_and_wide_words_of_1_x() -> None:
    assert sixteen_banks(LANES, ALL, 1)[0].tolist() == [8]  # four bytes of each word, in each half-warp
    assert sixteen_banks(LANES * 4, ALL, 1)[0].tolist() == [2]
    assert sixteen_banks(LANES * 8, ALL, 8) == (np.array([8]), np.array([4]))  # split in two, stride 2 each


def test_wide_words_of_2_x() -> None:
    assert fermi_banks(LANES * 8, ALL, 8) == (np.array([2]), np.array([0]))
    assert fermi_banks(LANES * 16, ALL, 16) == (np.array([8]), np.array([4]))  # always two-way


def test_modes_of_3_x() -> None:
    assert kepler_banks(LANES * 8, ALL, 8, bank_bytes=8)[0].tolist() == [1]
    assert kepler_banks(LANES * 8, ALL, 4, bank_bytes=8)[0].tolist() == [1]
    assert kepler_banks(LANES % 2 * 128, ALL, 4, bank_bytes=4)[0].tolist() == [1]  # words 0 and 32
    assert kepler_banks(LANES % 2 * 128 + 128, ALL, 4, bank_bytes=4)[0].tolist() == [2]  # words 32 and 64
    assert kepler_banks(LANES * 16, ALL, 16, bank_bytes=8)[0].tolist() == [2]


RECORDED = sorted(name[:-8] for name in GATHERS if name.endswith(" offsets") and name.startswith("shared"))


@pytest.mark.parametrize("group", RECORDED)
def test_gathers_count_as_on_the_h200(group: str) -> None:
    offsets, counts = GATHERS[f"{group} offsets"].astype(np.int64), GATHERS[f"{group} counts"]
    _, kind, size = group.split()
    width, active = int(size), offsets >= 0
    if kind in ("ld", "st"):
        got = modern_banks(offsets, active, width, store=kind == "st")
    elif kind in ("ldmatrix", "stmatrix"):
        got = matrix_passes(offsets, width)
    else:
        got = atomic_passes(offsets, active, width, counting=kind == "counting", swap=kind == "swap")
    assert np.array_equal(np.stack(got, axis=1), counts)


@given(
    st.lists(st.integers(0, 300), min_size=32, max_size=32),
    st.lists(st.booleans(), min_size=32, max_size=32),
    st.sampled_from([1, 2, 4]),
)
def test_passes_equal_a_count_by_hand(elements: list[int], active: list[bool], width: int) -> None:
    words = {e * width // 4 for e, on in zip(elements, active, strict=True) if on}
    by_bank = [sum(word % 32 == bank for word in words) for bank in range(32)]
    mask = np.array(active)
    addresses = np.array(elements) * width
    assert modern_banks(addresses, mask, width)[0].tolist() == [max(by_bank)]
    assert fermi_banks(addresses, mask, width)[0].tolist() == [max(by_bank)]


@given(
    st.lists(st.integers(0, 40), min_size=32, max_size=32),
    st.lists(st.booleans(), min_size=32, max_size=32),
    st.sampled_from([1, 2, 4, 8, 16]),
    st.integers(0, 70),
    st.booleans(),
)
def test_banks_are_alike(elements: list[int], active: list[bool], width: int, further: int, store: bool) -> None:
    """What all lanes address by some words further on takes as long."""
    where, mask = np.array(elements) * width, np.array(active)
    passes = modern_banks(where, mask, width, store=store)
    moved = modern_banks(where + further * max(width, 4), mask, width, store=store)
    assert [x.tolist() for x in moved] == [x.tolist() for x in passes]


@given(st.lists(st.integers(0, 60), min_size=32, max_size=32), st.lists(st.booleans(), min_size=32, max_size=32))
def test_one_broadcast_a_pass_by_hand(words: list[int], active: list[bool]) -> None:
    """The 1.x rule step by step, as the guide words it."""
    want = 0
    for first in (0, 16):
        left = [w for w, on in zip(words[first : first + 16], active[first : first + 16], strict=True) if on]
        while left:
            want += 1
            most = max(left.count(w) for w in left)
            broadcast = next(w for w in left if left.count(w) == most)
            served, banks = [], {broadcast % 16}
            for w in left:
                if w != broadcast and w % 16 not in banks:
                    banks.add(w % 16)
                    served.append(w)
            left = [w for w in left if w != broadcast]
            for w in served:
                left.remove(w)
    assert sixteen_banks(np.array(words) * 4, np.array(active), 4)[0].tolist() == [want]
