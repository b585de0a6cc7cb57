"""Parts of parts of a group."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warplab.interpreter.lanes import Selection

KINDS = {"rows": lambda r, c: r, "cols": lambda r, c: c, "flat": lambda r, c: r * c}


def some(data: st.DataObject, shape: tuple[int, int]) -> Selection:
    """Some lanes of a group of this shape, in ascending order."""
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    lanes = data.draw(st.sets(st.integers(0, KINDS[kind](*shape) - 1), min_size=1))
    return Selection(shape, kind, np.array(sorted(lanes)))


@given(st.data(), st.integers(1, 5), st.integers(1, 9))
def test_a_part_of_a_part_is_one_part_in_order(data: st.DataObject, rows: int, columns: int) -> None:
    outer = some(data, (rows, columns))
    inner = some(data, outer.shape_out)
    lanes = outer.then(inner).grid().ravel().tolist()
    assert lanes == sorted(inner.take_array(outer.grid()).ravel().tolist())
