"""Copies of boxes between arrays and memory, against slices of numpy arrays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..conftest import Host, driver
from .test_textures import LAYERED, descriptor, fill

cu: Any = driver
Kinds = cu.CUmemorytype


@st.composite
def boxes(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """(extent of an array, where the box begins in it, its size, where it begins in another of the same extent); x in texels."""
    extent = tuple(draw(st.integers(1, n)) for n in (9, 6, 4))
    size = tuple(draw(st.integers(1, n)) for n in extent)
    places = [tuple(draw(st.integers(0, n - k)) for n, k in zip(extent, size, strict=True)) for _ in range(2)]
    return extent, places[0], size, places[1]


def part(at: tuple[int, ...], size: tuple[int, ...]) -> tuple[slice, ...]:
    """The box of an array (planes, rows, columns)."""
    return tuple(slice(a, a + n) for a, n in zip(at[::-1], size[::-1], strict=True))


def copy(host: Host, size: tuple[int, ...], source: dict[str, Any], target: dict[str, Any]) -> None:
    """One cuMemcpy3D of words."""
    c = cu.CUDA_MEMCPY3D()
    c.WidthInBytes, c.Height, c.Depth = size[0] * 4, size[1], size[2]
    for end, fields in (("src", source), ("dst", target)):
        for name, value in fields.items():
            setattr(c, end + name, value)
    host("cuMemcpy3D", c)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(boxes(), st.booleans(), st.booleans())
def test_a_box_between_arrays_and_memory(host: Host, box: Any, layered: bool, through_memory: bool) -> None:
    extent, at, size, to = box
    shape = extent[::-1]
    source, target = (np.arange(k, k + int(np.prod(shape)), dtype=np.int32).reshape(shape) for k in (0, 1000))
    a, b = (
        host("cuArray3DCreate", descriptor(*extent, cu.CUarray_format.CU_AD_FORMAT_SIGNED_INT32, 1, LAYERED if layered else 0))
        for _ in "ab"
    )
    fill(host, a, source)
    fill(host, b, target)
    source_end = {"MemoryType": Kinds.CU_MEMORYTYPE_ARRAY, "Array": a, "XInBytes": at[0] * 4, "Y": at[1], "Z": at[2]}
    target_end = {"MemoryType": Kinds.CU_MEMORYTYPE_ARRAY, "Array": b, "XInBytes": to[0] * 4, "Y": to[1], "Z": to[2]}
    if through_memory:  # with a pitch and a height of its own
        memory = host("cuMemAlloc", 64 * 8 * 8)
        between = {"MemoryType": Kinds.CU_MEMORYTYPE_DEVICE, "Device": memory, "Pitch": 64, "Height": 8}
        copy(host, size, source_end, between)
        copy(host, size, between, target_end)
        host("cuMemFree", memory)
    else:
        copy(host, size, source_end, target_end)
    target[part(to, size)] = source[part(at, size)]
    got = np.empty_like(target)
    fill(host, b, got, back=True)
    assert np.array_equal(got, target)
    for array in (a, b):
        host("cuArrayDestroy", array)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_box_beyond_an_array_is_not_copied_in_part(host: Host, axis: int) -> None:
    a = host("cuArray3DCreate", descriptor(4, 3, 2))
    before = np.ones((2, 3, 4), np.float32)
    fill(host, a, before)
    size = [4, 3, 2]
    size[axis] += 1
    assert_refused(host, a, np.zeros(tuple(size[::-1]), np.float32))
    fill(host, a, got := np.empty_like(before), back=True)
    assert np.array_equal(got, before)


def assert_refused(host: Host, array: Any, data: np.ndarray[Any, Any]) -> None:
    with pytest.raises(AssertionError, match="INVALID_VALUE"):
        fill(host, array, data)


def test_arrays_that_are_gone_are_not_copied(host: Host) -> None:
    line = host("cuArray3DCreate", descriptor(16))
    stream = host("cuStreamCreate", 0)
    data = np.arange(16, dtype=np.float32)
    host("cuStreamBeginCapture", stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    host("cuMemcpyHtoAAsync", line, 0, data.ctypes.data, 64, stream)
    run = host("cuGraphInstantiate", host("cuStreamEndCapture", stream), 0)
    host("cuGraphLaunch", run, stream)
    out = np.empty_like(data)
    host("cuMemcpyAtoH", out.ctypes.data, line, 0, 64)
    assert np.array_equal(out, data)
    host("cuArrayDestroy", line)
    assert host.code("cuGraphLaunch", run, stream) == "INVALID_VALUE"
    for name, args in (
        ("cuMemcpyHtoA", (line, 0, data.ctypes.data, 64)),
        ("cuMemcpyAtoH", (out.ctypes.data, line, 0, 64)),
        ("cuMemcpyAtoA", (line, 0, line, 32, 16)),
    ):
        assert host.code(name, *args) == "INVALID_HANDLE"
