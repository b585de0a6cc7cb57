"""What warps touch: sectors as the rule counts them, words as the reference has them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.interpreter.profiler.ways import WAYS, go
from tests.interpreter.reference_caches import line_words, whole_words
from tests.interpreter.warps import WARPS
from warplab.interpreter.profiler.lanes import WarpLanes
from warplab.interpreter.profiler.patterns import patterns
from warplab.interpreter.profiler.sectors import touched
from warplab.interpreter.profiler.touch import covered, touch
from warplab.interpreter.rules.coalesce import modern_global


@WAYS
@given(case=WARPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_touch_counts_sectors_as_the_rule_does(
    case: tuple[list[list[int]], list[list[bool]], int], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(by, monkeypatch)
    elements, active, width = case
    where, mask = np.array(elements) * width, np.array(active)
    t = touch(WarpLanes(where, mask, len(where)), width)
    assert np.array_equal(t.sectors, modern_global(where, mask, width)[1])
    assert int(np.bitwise_count(touched(t.words)).sum()) == int(t.sectors.sum())
    rows = patterns(WarpLanes(where, mask, len(where)), 128)
    assert rows.count.sum() == len(where)
    assert np.array_equal(rows.spread(modern_global(rows.where, rows.mask, width)[1]), t.sectors)
    warp, line, words = line_words(where, mask, width)
    assert (t.warp.tolist(), t.line.tolist(), t.words.tolist()) == (warp.tolist(), line.tolist(), words.tolist())
    if width < 4:
        known = whole_words(where, mask, width)
        entries = zip(warp.tolist(), line.tolist(), strict=True)
        assert covered(WarpLanes(where, mask, len(where)), width, t).tolist() == [known.get(entry, 0) for entry in entries]


@WAYS
@pytest.mark.parametrize("width", [1, 4])
def test_blocks_may_share_one_mask(width: int, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    go(by, monkeypatch)
    where, mask = np.arange(96).reshape(3, 32) * width, np.arange(32)[None] % 5 == 0
    shared, own = (WarpLanes(where, m, 3) for m in (np.broadcast_to(mask, (3, 32)), np.repeat(mask, 3, axis=0)))
    found, wanted = touch(shared, width), touch(own, width)
    assert all(
        np.array_equal(a, b)
        for a, b in zip((found.sectors, found.line, found.words), (wanted.sectors, wanted.line, wanted.words), strict=True)
    )
    assert np.array_equal(covered(shared, 1, found), covered(own, 1, wanted))
