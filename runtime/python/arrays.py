"""Arrays on a device: buffers that know their shape and dtype, and textures and surfaces of numpy arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import ApiError
from .buffers import Array, Buffer
from .devices import Stream
from .opaque import OpaqueArray, channels_of
from .tensor_maps import TensorMapDescriptor, TensorMapDescriptorOptions, as_tensor_map
from .textures import ResourceDescriptor, SurfaceObject, TextureObject, TextureObjectOptions

MOST_SHOWN = 1 << 20  # elements of an array whose values are shown: they are copied for it


class DeviceNDArray:
    """A buffer with a shape and a dtype."""

    def __init__(self, buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.buffer = buffer
        self.shape = shape
        self.dtype = dtype

    @property
    def size(self) -> int:
        """Elements."""
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.buffer.handle, False), "version": 3, "strides": None, "stream": 1,
        }  # fmt: skip

    def copy_to_host(self, out: Array | None = None) -> Array:
        """A numpy array with the contents."""
        if out is None:
            out = np.empty(self.shape, self.dtype)
        if self.nbytes:
            self.buffer.copy_to(out)
        return out

    def copy_from_host(self, array: Array) -> None:
        """Copies from a numpy array of the same shape."""
        self.buffer.copy_from(np.ascontiguousarray(array, self.dtype).reshape(self.shape))

    def as_tensor_map(self, options: TensorMapDescriptorOptions | None = None, **changes: Any) -> TensorMapDescriptor:
        """A tensor map of the array with these options; by default the box is the whole array."""
        return as_tensor_map(self, options, changes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = self.copy_to_host()
        return found if dtype is None else found.astype(dtype)

    def __getitem__(self, index: Any) -> DeviceNDArray:
        """A part of the array, in the same memory: indices, and a slice of the axis behind them."""
        given = index if isinstance(index, tuple) else (index,)
        if len(given) > len(self.shape):
            raise IndexError(f"{len(given)} indices for {len(self.shape)} axes")
        at, dims = 0, self.shape
        for n, i in enumerate(given):
            step = int(np.prod(dims[1:]))
            if isinstance(i, slice):
                start, stop, stride = i.indices(dims[0])
                if stride != 1 or any(j != slice(None) for j in given[n + 1 :]):
                    raise IndexError("a part of a device array lies in one piece: copy_to_host(), and index the copy")
                at, dims = at + start * step, (max(stop - start, 0), *dims[1:])
                break
            i = operator.index(i)
            if not -dims[0] <= i < dims[0]:
                raise IndexError(f"index {i} is outside of an axis of {dims[0]}")
            at, dims = at + i % dims[0] * step, dims[1:]
        size = int(np.prod(dims)) * self.dtype.itemsize
        part = Buffer.from_handle(self.buffer.handle + at * self.dtype.itemsize, size, owner=self.buffer)
        return DeviceNDArray(part, dims, self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        part = self[index]
        if part.nbytes:
            part.copy_from_host(np.broadcast_to(np.asarray(value, self.dtype), part.shape))

    def __repr__(self) -> str:
        """The values, too, if they can be read."""
        head = f"{self.dtype}{list(self.shape)} at {self.buffer.handle:#x} of device {self.buffer.device_id}"
        if self.size > MOST_SHOWN:
            return f"<{head}>"
        try:
            values = np.array2string(self.copy_to_host(), threshold=32, separator=", ")
        except ApiError as e:  # the context may be lost
            return f"<{head}: {e.name}>"
        return f"<{head}: {values}>"


def device_array(shape: int | tuple[int, ...], dtype: Any = np.float32, stream: Stream | None = None) -> DeviceNDArray:
    """An uninitialised array on the current device."""
    from .devices import Device

    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = np.dtype(dtype)
    size = int(np.prod(dims)) * kind.itemsize
    device = Device()
    device.set_current()
    return DeviceNDArray(device.allocate(size, stream=stream or device.default_stream), dims, kind)


def to_device(array: Any, stream: Stream | None = None) -> DeviceNDArray:
    """A copy of an array on the current device."""
    host = np.ascontiguousarray(array)
    out = device_array(np.shape(array), host.dtype, stream)
    if host.nbytes:
        out.buffer.copy_from(host)
    return out


def to_opaque(array: Any, num_channels: int = 1, is_surface_load_store: bool = False) -> OpaqueArray:
    """A copy of a numpy array (depth, height, width) as an opaque array; several channels are the last axis."""
    from .devices import Device

    host: Array = np.ascontiguousarray(array)
    channels_of(num_channels)
    if num_channels > 1 and (host.ndim < 2 or host.shape[-1] != num_channels):
        raise ValueError(f"the last axis of {host.shape} is not the {num_channels} channels")
    device = Device()
    device.set_current()
    sizes = host.shape[:-1] if num_channels > 1 else host.shape
    out = device.create_opaque_array({
        "shape": sizes[::-1], "format": host.dtype, "num_channels": num_channels, "is_surface_load_store": is_surface_load_store,
    })  # fmt: skip
    out.copy_from(host, stream=device.default_stream)
    return out


def to_texture(array: Any, num_channels: int = 1, **options: Any) -> TextureObject:
    """A texture of a copy of a numpy array, with the options of TextureObjectOptions."""
    found = array if isinstance(array, OpaqueArray) else to_opaque(array, num_channels)
    return TextureObject._init(found.device, ResourceDescriptor.from_opaque_array(found), TextureObjectOptions(**options))


def to_surface(array: Any, num_channels: int = 1) -> SurfaceObject:
    """A surface of a copy of a numpy array; `surface.resource.source.copy_to_host()` returns its content."""
    found = array if isinstance(array, OpaqueArray) else to_opaque(array, num_channels, True)
    return SurfaceObject._init(found.device, ResourceDescriptor.from_opaque_array(found))
