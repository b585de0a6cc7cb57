"""Sectors by warp, found from where lanes do not go on, equal those found lane by lane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.interpreter.observers.disorder import goes_on
from warplab.interpreter.observers.lanes import lanes_of
from warplab.interpreter.observers.packed import Packed
from warplab.interpreter.observers.sections import Sections
from warplab.interpreter.vector.lanes import Geometry, Selection

WHOLE = Geometry.whole(3, 96)
STEPS = st.sampled_from([0, 4, 4, 4, 8, 32, 33, 64, 4096])


def geometry(left_out: set[int]) -> Geometry:
    """All lanes, or all but some."""
    lanes = np.setdiff1d(np.arange(WHOLE.n), sorted(left_out))
    return WHOLE if lanes.size == WHOLE.n else WHOLE.select(Selection.of_lanes(WHOLE.shape, lanes))


@given(
    st.sets(st.integers(0, WHOLE.n - 1), max_size=40),
    st.lists(STEPS, min_size=WHOLE.n, max_size=WHOLE.n),
    st.lists(st.integers(0, WHOLE.n - 1), max_size=3),
    st.integers(0, 300),
)
def test_sectors_are_those_of_all_lanes(left_out: set[int], steps: list[int], back: list[int], by: int) -> None:
    g = geometry(left_out)
    place = np.cumsum(steps)[: g.n]
    for at in back:
        place[at % g.n :] -= place[at % g.n] // 2  # some go back
    sections = Sections.of(place.reshape(g.shape), g.warps, 4)
    found = None if sections is None else sections.packed(by)
    want = Packed.of(lanes_of(g, (place + by).reshape(g.shape), None))
    assert (found is None) is (sections is None)
    if found is not None:
        for name in ("units", "warp", "sector"):
            assert getattr(found, name).tolist() == getattr(want, name).tolist(), name
        if found.most is not None:
            lines = {(warp, sector // 4) for warp, sector in zip(found.warp.tolist(), found.sector.tolist(), strict=True)}
            assert found.most == max(sum(w == warp for w, _ in lines) for warp in range(g.warps.count))


@pytest.mark.parametrize(("first", "width", "parts"), [(0, 4, False), (32, 8, False), (4, 4, True), (0, 1, False), (0, 2, False)])
def test_neighbours_use_whole_sectors_or_parts(first: int, width: int, parts: bool) -> None:
    place = first + width * np.arange(WHOLE.n).reshape(WHOLE.shape)
    sections = Sections.of(place, WHOLE.warps, width)
    assert sections is not None and sections.parts(0) is parts and sections.parts(32) is parts and sections.parts(width)
    assert goes_on(place) and not goes_on(place[:, ::-1])
    wider = Sections.of(2 * place, WHOLE.warps, width)  # gaps in between
    assert wider is not None and wider.parts(0)
