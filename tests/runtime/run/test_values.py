"""Values of arguments as --arg writes them."""

from __future__ import annotations

import pytest

from warplab.runtime.errors import UsageError
from warplab.runtime.run.inputs.values import BufferValue, parse_value


def test_a_list_may_hold_nan_and_infinities() -> None:
    value = parse_value("f32[4]:[1,nan,-inf,inf]")
    assert isinstance(value, BufferValue)
    assert str(value.array.tolist()) == "[1.0, nan, -inf, inf]"
    with pytest.raises(UsageError, match="is not a list of numbers"):
        parse_value("f32[2]:[1,infinite]")
