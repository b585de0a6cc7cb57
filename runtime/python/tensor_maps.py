"""TensorMapDescriptor, as in cuda.core: the map of an array on a device, for kernels that copy boxes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import driver
from .buffers import Buffer
from .calls import Given, do

if TYPE_CHECKING:
    from .devices import Device


class Tensor(Protocol):
    """An array on a device, as a map describes it."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    buffer: Buffer


class TensorMapInterleave(IntEnum):
    """The interleaved layout: channels in slices of 16 or 32 bytes."""

    NONE, INTERLEAVE_16B, INTERLEAVE_32B = range(3)


class TensorMapSwizzle(IntEnum):
    """The permutation of the bytes of a box in shared memory."""

    NONE, SWIZZLE_32B, SWIZZLE_64B, SWIZZLE_128B = range(4)


class TensorMapL2Promotion(IntEnum):
    """The granularity with which a copy fetches into L2."""

    NONE, L2_64B, L2_128B, L2_256B = range(4)


class TensorMapOOBFill(IntEnum):
    """The value that a load returns outside of the tensor: zero, or NaN."""

    NONE, NAN_REQUEST_ZERO_FMA = range(2)


class TensorMapDataType(IntEnum):
    """The type of the elements, if the array's dtype does not determine it."""

    UINT8, UINT16, UINT32, INT32, UINT64, INT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ = range(13)


_T = TensorMapDataType
_TYPES = {
    "u1": _T.UINT8, "i1": _T.UINT8, "u2": _T.UINT16, "i2": _T.UINT16, "u4": _T.UINT32, "i4": _T.INT32, "u8": _T.UINT64, "i8": _T.INT64,
    "f2": _T.FLOAT16, "f4": _T.FLOAT32, "f8": _T.FLOAT64,
}  # fmt: skip


@dataclass
class TensorMapDescriptorOptions:
    """Options for as_tensor_map. Sizes follow the order of the array's axes."""

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: TensorMapDataType | Any = None
    interleave: TensorMapInterleave = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill = TensorMapOOBFill.NONE


class TensorMapDescriptor(Given):
    """The 128 bytes that describe an array to tensor copies; pass it by value to a kernel."""

    _origin = "a TensorMapDescriptor comes from as_tensor_map() of an array"
    _map: driver.CUtensorMap
    _array: Any  # kept alive, and what another array must be like

    @classmethod
    def of(cls, array: Tensor, options: TensorMapDescriptorOptions) -> TensorMapDescriptor:
        """The map of a contiguous array."""
        rank, size = len(array.shape), array.dtype.itemsize
        for name in ("box_dim", "element_strides"):
            given = getattr(options, name)
            if given is not None and len(given) != rank:
                raise ValueError(f"{name} has {len(given)} sizes, the array has {rank} axes")
        strides = [size * int(np.prod(array.shape[axis:])) for axis in range(rank - 1, 0, -1)]
        self = cls.__new__(cls)
        self._array = array
        self._map = do(
            driver.cuTensorMapEncodeTiled, _number(options.data_type, array.dtype), rank, array.buffer.handle, list(array.shape[::-1]),
            strides or [16], list(options.box_dim[::-1]), list((options.element_strides or (1,) * rank)[::-1]), int(options.interleave),
            int(options.swizzle), int(options.l2_promotion), int(options.oob_fill),
        )  # fmt: skip
        return self

    def replace_address(self, tensor: Tensor) -> None:
        """Lets the map describe another array of the same shape and dtype."""
        if (tensor.shape, tensor.dtype) != (self._array.shape, self._array.dtype):
            raise ValueError(f"the map is one of {self._array!r}, which {tensor!r} is not like")
        do(driver.cuTensorMapReplaceAddress, self._map, tensor.buffer.handle)
        self._array = tensor

    @property
    def device(self) -> Device:
        """The device of the array."""
        from .devices import Device

        return Device(self._array.buffer.device_id)

    def __bytes__(self) -> bytes:
        return np.array([int(word) for word in self._map.opaque], np.uint64).tobytes()

    def __repr__(self) -> str:
        return f"<tensor map of {self._array!r}>"


def _number(given: Any, dtype: np.dtype[Any]) -> int:
    """The driver's number of an element type."""
    if isinstance(given, int):
        return int(given)
    kind = dtype if given is None else np.dtype(given)
    found = _TYPES.get(kind.str[1:])
    if found is None or kind.itemsize != dtype.itemsize:
        raise TypeError(f"tensors are not made of {kind}" if found is None else f"{kind} does not have the size of {dtype}")
    return int(found)


def as_tensor_map(array: Tensor, options: TensorMapDescriptorOptions | None, changes: dict[str, Any]) -> TensorMapDescriptor:
    """The map of an array by options, or by options given one by one."""
    if options is None:
        options = TensorMapDescriptorOptions(**{"box_dim": array.shape, **changes})
    elif changes:
        options = replace(options, **changes)
    return TensorMapDescriptor.of(array, options)
