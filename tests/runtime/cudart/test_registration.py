"""What the host code of nvcc registers, and what is left of it when a fat binary is gone."""

from __future__ import annotations

import pytest

from warplab.runtime.cudart.registration import Registry
from warplab.runtime.errors import ApiError


def test_a_fat_binary_takes_with_it_what_stands_for_it_and_no_more() -> None:
    registry = Registry()
    first, second = registry.add(0x1000), registry.add(0x2000)
    registry.add_function(first, 1, "f")
    registry.add_function(first, 2, "g")
    registry.add_variable(first, 3, "x")
    registry.add_function(second, 2, "other")  # a library that stands at the same place later
    registry.remove(first)
    assert {k: name for k, (_, name) in registry.functions.items()} == {2: "other"}
    assert not registry.variables and list(registry.binaries) == [second]
    registry.remove(first)
    registry.remove(second)
    assert not registry.functions and not registry.binaries


def test_an_address_that_stands_for_no_kernel() -> None:
    """As an H200 has it, null is no function, and anything else no handle."""
    for address, code in ((0, "cudaErrorInvalidDeviceFunction"), (0x1234, "CUDA_ERROR_INVALID_HANDLE")):
        with pytest.raises(ApiError) as e:
            Registry().kernel(address)
        assert e.value.name == code
