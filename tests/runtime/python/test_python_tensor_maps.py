"""Tensor maps of arrays, as cuda.core makes them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warplab.isa.tensor_map.descriptor import TensorMap, decode
from warplab.runtime import (
    CUDAError,
    Device,
    LaunchConfig,
    Program,
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapInterleave,
    TensorMapOOBFill,
    TensorMapSwizzle,
    device_array,
    launch,
    to_device,
)

from ..conftest import forget_contexts

TEXT = (Path(__file__).parents[1] / "kernels" / "tensor_copy.ptx").read_text()


@pytest.fixture(autouse=True)
def device() -> Iterator[Device]:
    one = Device()
    one.set_current()
    yield one
    forget_contexts()


def words(m: TensorMapDescriptor) -> TensorMap:
    found = decode(tuple(np.frombuffer(bytes(m), np.uint64).tolist()))
    assert found is not None
    return found


def test_boxes_of_an_array_are_copied(device: Device) -> None:
    x, y = to_device(np.arange(96 * 64, dtype=np.float16).reshape(96, 64)), device_array((96, 64), np.float16)
    kernel = Program(TEXT, "ptx").compile("cubin").get_kernel("k")
    options = TensorMapDescriptorOptions((32, 64), swizzle=TensorMapSwizzle.SWIZZLE_128B)
    launch(device.default_stream, LaunchConfig(grid=3, block=32), kernel, x.as_tensor_map(options), y.as_tensor_map(options))
    device.default_stream.sync()
    assert (y.copy_to_host() == x.copy_to_host()).all()


def test_axes_are_turned_round() -> None:
    x = device_array((6, 4, 16), np.float32)
    m = x.as_tensor_map(
        box_dim=(3, 2, 8), element_strides=(2, 1, 1), data_type=TensorMapDataType.TFLOAT32, oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA
    )
    found = words(m)
    assert (found.dims, found.strides, found.box, found.steps) == ((16, 4, 6), (64, 256), (8, 2, 3), (1, 1, 2))
    assert (found.type.name, found.nan_fill, found.address) == ("tf32", True, x.buffer.handle)
    assert words(device_array(64, np.uint8).as_tensor_map()).box == (64,), "the whole array, where nothing else is said"
    assert m.device.device_id == 0 and "tensor map of" in repr(m)
    assert words(device_array((4, 16), np.uint32).as_tensor_map(data_type=np.int32)).type.name == "s32"


def test_another_array_takes_its_place() -> None:
    x, y = device_array((8, 16)), device_array((8, 16))
    m = x.as_tensor_map()
    m.replace_address(y)
    assert words(m).address == y.buffer.handle
    with pytest.raises(ValueError, match="is not like"):
        m.replace_address(device_array((16, 8)))


@pytest.mark.parametrize(
    ("shape", "dtype", "options", "error"),
    [
        ((8, 16), "f4", {"box_dim": (8,)}, ValueError), ((8, 16), "c8", {}, TypeError), ((8, 16), "f4", {"data_type": "f8"}, TypeError),
        ((8, 15), "f4", {}, CUDAError), ((8, 16), "f4", {"box_dim": (8, 300)}, CUDAError), ((8, 16), "f4", {"box": (8, 8)}, TypeError),
        ((8, 16), "u4", {"oob_fill": TensorMapOOBFill.NAN_REQUEST_ZERO_FMA}, CUDAError), ((1,) * 6, "f4", {}, CUDAError),
        ((8, 16), "f4", {"interleave": TensorMapInterleave.INTERLEAVE_16B}, CUDAError),
    ],
)  # fmt: skip
def test_refusals(shape: tuple[int, ...], dtype: str, options: dict[str, Any], error: type[Exception]) -> None:
    array = device_array(shape, dtype)
    with pytest.raises(error):
        array.as_tensor_map(**options)
    with pytest.raises(RuntimeError, match="as_tensor_map"):
        TensorMapDescriptor()
