"""Accesses by some lanes of their warps: how many sectors each warp asks for, however its lanes stand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.interpreter.observers.rows import Rows
from warplab.interpreter.observers.strays import Strays, count_strays, strays
from warplab.interpreter.vector.lanes import Geometry, Selection
from warplab.interpreter.vector.values import Array, Shifted

WHOLE = Geometry.whole(4, 96)
ORDERS = {
    "up": lambda places: np.sort(places),
    "down": lambda places: np.sort(places)[::-1],
    "up at first": lambda places: np.concatenate([np.sort(places[:12]), places[12:]]),
    "in disorder": lambda places: places,
    "all alike": lambda places: np.full_like(places, places[0]),
}


def made(some: Geometry, rows: Rows, places: Array) -> Strays:
    return strays(some, rows, Shifted(places.astype(np.uint64).reshape(some.shape)), None, 4)


@given(
    st.lists(st.integers(0, WHOLE.n - 1), min_size=20, max_size=200, unique=True),
    st.lists(st.sampled_from(sorted(ORDERS)), min_size=1, max_size=5),
    st.sampled_from([1 << 8, 1 << 14]),
    st.integers(0, 99),
)
def test_sectors_of_each_warp_are_counted(lanes: list[int], orders: list[str], span: int, seed: int) -> None:
    g, rng = WHOLE.select(Selection.of_lanes(WHOLE.shape, np.array(sorted(lanes)))), np.random.default_rng(seed)
    rows = Rows.of(g.warps.block[:, 0] % 3, 3)
    some = [(order, made(g, rows, 4 * ORDERS[order](rng.integers(0, span // 4, g.n)))) for order in orders]
    count_strays([(f, f.sector) for _, f in some], span // 32 + 1)
    for order, f in some:
        each: dict[int, set[int]] = {}
        for warp, place in zip(f.warp.tolist(), f.place[:, 0].tolist(), strict=True):
            each.setdefault(warp, set()).add(place // 32)
        assert f.total == sum(map(len, each.values())), order
        assert f.worst[1] == max(map(len, each.values())) == len(each[f.worst[0]]), order


@pytest.mark.parametrize("by", [-36, -4, 0, 20])
def test_bytes_of_some_lanes_in_their_sectors(by: int) -> None:
    g = WHOLE.select(Selection.of_lanes(WHOLE.shape, np.arange(5, 300)))
    places = 4 * np.random.default_rng(1).integers(100, 1000, g.n)
    f = made(g, Rows.of(g.warps.block[:, 0], 4), places).moved(by, (0, 40), None)
    row = np.array([0, 7, 200])
    want = (places[row] + by) % 32
    assert f.first_bytes(row, np.zeros(3, np.int64)).tolist() == f.first_byte[row, 0].tolist() == want.tolist()
    assert f.first_word[row, 0].tolist() == (want // 4).tolist()
