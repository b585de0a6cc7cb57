"""Global, local and constant memory: the guide's figures, the H200's counters, and a count by hand of any access."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from warplab.interpreter.rules.coalesce import (
    Transactions,
    async_copy_global,
    global_transactions,
    half_warp_segments,
    half_warp_words,
    modern_global,
)
from warplab.interpreter.rules.constant import constant_passes
from warplab.interpreter.rules.contention import atomic_global, line_slice
from warplab.interpreter.rules.local import interleaved, local_sectors
from warplab.isa.profiles import profile

LANES = np.arange(32)
ALL = np.ones(32, dtype=bool)
GATHERS = np.load(Path(__file__).parents[2] / "data/memory/gathers.npz")
Groups = list[tuple[int, int, int]]

# Figure F-1: a warp reads 4-byte words from address 128.  In the second case lanes 1 and 2 change places.
FIGURE_1 = {
    "aligned": 128 + LANES * 4,
    "permuted": 128 + np.r_[0, 2, 1, LANES[3:16], 16, 18, 17, LANES[19:]] * 4,
    "misaligned": 132 + LANES * 4,
}


def summary(transactions: Transactions) -> Groups:
    """(count, size, base) as the figure lists them."""
    base = transactions.of_warp(0)
    return sorted(((base.count(each), *each) for each in set(base)), key=lambda row: row[2])


@pytest.mark.parametrize("target", ["1.0", "1.1", "1.2", "1.3", "2.0", "2.1", "3.0"])
@pytest.mark.parametrize("cached", [True, False])
def test_figure_1(target: str, cached: bool) -> None:
    device = profile(target)
    segments = [(1, 32, base) for base in (128, 160, 192, 224)]
    halves, lines = [(1, 64, 128), (1, 64, 192)], [(1, 128, 128)]
    words = [(8, 32, base) for base in (128, 160, 192, 224)]
    if device.global_rule == "half-warp-words":
        want = {"aligned": halves, "permuted": words, "misaligned": [(7, 32, 128), *words[1:], (1, 32, 256)]}
    elif device.global_rule == "half-warp-segments":
        want = {"aligned": halves, "permuted": halves, "misaligned": [(1, 128, 128), (1, 64, 192), (1, 32, 256)]}
    elif cached:
        want = {"aligned": lines, "permuted": lines, "misaligned": [*lines, (1, 128, 256)]}
    else:
        want = {"aligned": segments, "permuted": segments, "misaligned": [*segments, (1, 32, 256)]}
    for name, addresses in FIGURE_1.items():
        assert summary(global_transactions(device, addresses, ALL, 4, cached=cached)[1]) == want[name], name


@pytest.mark.parametrize(("width", "sizes"), [(4, [64, 64]), (8, [128, 128]), (16, [128] * 4)])
def test_ordered_half_warps_of_1_0(width: int, sizes: list[int]) -> None:
    in_order = half_warp_words(256 + LANES * width, LANES % 3 != 1, width)
    assert in_order.size.tolist() == sizes
    assert half_warp_words(256 + LANES * width + width, ALL, width).size.tolist() == [32] * 32
    assert half_warp_words(256 + LANES, ALL, 1).size.tolist() == [32] * 32


@pytest.mark.parametrize(("width", "want"), [(1, [(32, 0), (32, 0)]), (2, [(32, 0), (32, 32)]), (8, [(128, 0), (128, 128)])])
def test_segments_of_1_2_shrink(width: int, want: list[tuple[int, int]]) -> None:
    assert half_warp_segments(LANES * width, ALL, width).of_warp(0) == want


def test_wide_words_of_2_x_make_more_requests() -> None:
    for width, requests in ((4, 1), (8, 2), (16, 4)):
        for cached, size in ((True, 128), (False, 32)):
            count, found = global_transactions(profile("2.0"), LANES * width, ALL, width, cached=cached)
            assert count.tolist() == [requests]
            assert found.per_warp(1).tolist() == [32 * width // size]
            assert found.bytes_per_warp(1).tolist() == [32 * width]


def test_kepler_reads_past_l1_unless_told() -> None:
    assert global_transactions(profile("3.0"), LANES * 4, ALL, 4)[1].size.tolist() == [32] * 4
    assert global_transactions(profile("3.7"), LANES * 4, ALL, 4)[1].size.tolist() == [128]


def rule(group: str) -> Callable[[NDArray[np.int64]], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    space, kind, size = group.split()
    if kind == "copy":
        width, bypass = int(size[2:]), size.startswith("cg")
        return lambda t: async_copy_global(t[:, :32], t[:, 32:], t[:, :32] >= 0, width, bypass=bypass)
    if space == "local":
        return lambda t: local_sectors(t, t >= 0, int(size))
    return lambda t: modern_global(t, t >= 0, int(size))


RECORDED = sorted(name[:-8] for name in GATHERS if name.endswith(" offsets") and not name.startswith("shared"))


@pytest.mark.parametrize("group", [name for name in RECORDED if "atomic" not in name])
def test_gathers_count_as_on_the_h200(group: str) -> None:
    offsets, counts = GATHERS[f"{group} offsets"].astype(np.int64), GATHERS[f"{group} counts"]
    assert np.array_equal(np.stack(rule(group)(offsets), axis=1), counts)


@pytest.mark.parametrize("width", [4, 8, 16])
def test_atomics_count_as_on_the_h200(width: int) -> None:
    offsets, counts = GATHERS[f"global atomic {width} offsets"].astype(np.int64), GATHERS[f"global atomic {width} counts"]
    got = np.stack(atomic_global(offsets, offsets >= 0, width), axis=1)
    off = np.nonzero((got != counts).any(axis=1))[0]
    assert len(off) <= (1 if width == 4 else 0)  # one of 360: a lane behind its own word and one behind another line's


@pytest.mark.parametrize(
    ("offsets", "sectors"),
    [
        (LANES * 0, 32),
        (LANES * 4, 4),
        (LANES * 128, 32),
        (LANES // 2 * 4, 4),
        (LANES % 8 * 4, 4),
        (LANES // 16 * 4, 16),
    ],
)
def test_contended_words(offsets: NDArray[np.int64], sectors: int) -> None:
    assert atomic_global(offsets, ALL, 4)[1].tolist() == [sectors]
    assert atomic_global(offsets, ALL & False, 4) == (np.array([0]), np.array([0]))


def test_lines_of_one_slice_get_in_each_others_way() -> None:
    three = LANES < 3
    for line in range(1, 64):
        apart = np.where(LANES == 1, line * 128 + 4, LANES * 2)
        together = int(line_slice(np.array([line]))[0]) == 0
        assert atomic_global(apart, three, 4)[1].tolist() == [3 if together else 2]
        assert atomic_global(np.where(LANES == 0, line * 128 + 4, np.maximum(LANES - 1, 0) * 4), three, 4)[1].tolist() == [2]


def sectors_by_hand(addresses: list[int], active: list[bool], width: int) -> int:
    return len({byte // 32 for a, on in zip(addresses, active, strict=True) if on for byte in range(a, a + width)})


warps = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.integers(0, 200), min_size=32, max_size=32), min_size=n, max_size=n),
        st.lists(st.lists(st.booleans(), min_size=32, max_size=32), min_size=n, max_size=n),
        st.sampled_from([1, 2, 4, 8, 16]),
    )
)


@given(warps)
def test_sectors_equal_a_count_by_hand(case: tuple[list[list[int]], list[list[bool]], int]) -> None:
    elements, active, width = case
    addresses = np.array(elements) * width
    requests, sectors = modern_global(addresses, np.array(active), width)
    assert sectors.tolist() == [sectors_by_hand(a, m, width) for a, m in zip(addresses.tolist(), active, strict=True)]
    assert requests.tolist() == [int(any(row)) for row in active]


@given(warps)
def test_every_rule_covers_every_byte_once_asked_for(case: tuple[list[list[int]], list[list[bool]], int]) -> None:
    elements, active, width = case
    addresses, mask = np.array(elements) * width, np.array(active)
    for target in ("1.0", "1.3", "2.0", "3.5", "6.1"):
        _, found = global_transactions(profile(target), addresses, mask, width)
        for warp in range(len(mask)):
            spans = found.of_warp(warp)
            wanted = addresses[warp][mask[warp]].tolist()
            assert all(any(base <= a and a + width <= base + size for size, base in spans) for a in wanted)
            assert all(any(base < a + width and a < base + size for a in wanted) for size, base in spans)


@given(warps)
def test_segments_are_shrunk_as_the_guide_says(case: tuple[list[list[int]], list[list[bool]], int]) -> None:
    elements, active, width = case
    addresses, mask = np.array(elements) * width, np.array(active)
    found = half_warp_segments(addresses, mask, width)
    for warp in range(len(mask)):
        want = []
        for first in (0, 16):
            left = [int(a) for a, on in zip(addresses[warp, first : first + 16], mask[warp, first : first + 16], strict=True) if on]
            while left:
                size = {1: 32, 2: 64}.get(width, 128)
                base = left[0] // size * size
                inside = [a for a in left if base <= a < base + size]
                left = [a for a in left if a not in inside]
                while size > 32 and (max(inside) + width <= base + size // 2 or min(inside) >= base + size // 2):
                    base += size // 2 if min(inside) >= base + size // 2 else 0
                    size //= 2
                want.append((size, base))
        assert found.of_warp(warp) == want


def test_local_words_are_interleaved() -> None:
    assert interleaved(np.full((1, 32), 6))[0, :2].tolist() == [130, 134]
    requests, sectors = local_sectors(np.stack([LANES * 0, LANES % 2 * 4, LANES * 4]), np.ones((3, 32), bool), 4)
    assert (requests.tolist(), sectors.tolist()) == ([1, 1, 1], [4, 8, 32])


def test_constant_takes_a_pass_for_each_address() -> None:
    addresses = np.stack([LANES * 0, LANES // 16 * 4, LANES % 4 * 4])
    mask = np.ones((3, 32), bool)
    assert constant_passes(profile("1.3"), addresses, mask).tolist() == [2, 2, 8]
    assert constant_passes(profile("2.0"), addresses, mask).tolist() == [1, 2, 4]
