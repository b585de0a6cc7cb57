"""Gathers of addresses that repeat, by row or by column of a tile: what each lane gets is what its own address says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from warplab.interpreter.values import MANY, AddressFacts, repeat_of

MEMORY = np.arange(1 << 16, dtype=np.float32)


def tile(blocks: int, rows: int, columns: int, by_row: bool) -> NDArray[Any]:
    """An index array of which all lanes of a row, or of a column, of a tile are equal."""
    y, x = np.divmod(np.arange(rows * columns), columns)
    return ((y if by_row else x)[None, :] * 7 + np.arange(blocks)[:, None] * 1000).astype(np.intp)


@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (8, 32), (32, 8), (4, 64)])
def test_tiles_repeat(rows: int, columns: int, by_row: bool) -> None:
    index = tile(64, rows, columns, by_row)
    found = repeat_of(index)
    assert found is not None and found.index.size == 64 * (rows if by_row else columns)
    assert np.array_equal(found.spread(MEMORY.take(found.index)), MEMORY.take(index))


@given(st.integers(0, 3), st.sampled_from([1, 2, 4, 8, 16, 32]), st.integers(0, 64 * 256 - 1), st.booleans())
def test_one_lane_apart_is_seen(kind: int, columns: int, lane: int, touch: bool) -> None:
    index = tile(64, 256 // columns, columns, bool(kind & 1)) * (kind < 3)
    if touch:
        index[lane // 256, lane % 256] += 1
    found = repeat_of(index)
    got = MEMORY.take(index) if found is None else found.spread(MEMORY.take(found.index))
    assert np.array_equal(got, MEMORY.take(index))


def test_small_arrays_are_left_alone() -> None:
    assert repeat_of(np.zeros((1, MANY - 1), np.intp)) is None


def test_repeats_are_looked_for_from_the_second_use_on() -> None:
    index = tile(64, 16, 16, True)
    facts = AddressFacts(index.astype(np.uint64))
    assert facts.repeat((2, 0), index) is None
    found = facts.repeat((2, 0), index)
    assert found is not None and facts.repeat((2, 0), index) is found
