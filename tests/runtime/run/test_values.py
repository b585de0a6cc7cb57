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


@pytest.mark.parametrize("content", ["fill(nan)", "fill(-inf)", "[1,nan]"])
def test_integers_hold_no_nan(content: str) -> None:
    with pytest.raises(UsageError, match="no values of u16; take f32, or a number"):
        parse_value(f"u16[2]:{content}")
    value = parse_value(f"bf16[2]:{content}")
    assert isinstance(value, BufferValue) and value.array.tolist() != [0, 0]
