"""An access as lanes of warps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.interpreter.warps import WARPS
from warplab.interpreter.lanes import Geometry, Selection
from warplab.interpreter.profiler.lanes import lanes_of, local_words
from warplab.interpreter.rules.local import local_sectors


@given(WARPS, st.booleans(), st.integers(1, 64))
def test_local_accesses_count_as_the_rule_does(case: tuple[list[list[int]], list[list[bool]], int], some: bool, threads: int) -> None:
    elements, active, width = case
    n = len(elements)
    g = (
        Geometry.whole(n, 32)
        if not some
        else Geometry.whole(n, 32).select(Selection.of(np.arange(n * 32).reshape(n, 32) % 65 < threads, (n, 32)))
    )
    shape = g.shape
    address = (np.array(elements).ravel()[: g.n] * width).reshape(shape).astype(np.uint64)
    mask = np.array(active).ravel()[: g.n].reshape(shape)
    lanes = lanes_of(g, address, mask)
    requests, sectors = local_sectors(lanes.full, lanes.mask, width)
    words = max(1, width // 4)
    found = local_words(g, address, mask)
    assert (found[0] * words, found[1] * words, found[2]) == (requests.sum(), sectors.sum(), lanes.count)
    same = lanes_of(g, address[:1, :1], None)
    requests, sectors = local_sectors(same.full, same.mask, width)
    found = local_words(g, address[:1, :1], None)
    assert (found[0] * words, found[1] * words, found[2]) == (requests.sum(), sectors.sum(), g.n)
