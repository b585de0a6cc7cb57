"""Arrays on a device: buffers that know their shape and dtype, and textures and surfaces of numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .buffers import Array, Buffer
from .opaque import OpaqueArray, channels_of
from .streams import Stream
from .tensor_maps import TensorMapDescriptor, TensorMapDescriptorOptions, as_tensor_map
from .textures import ResourceDescriptor, SurfaceObject, TextureObject, TextureObjectOptions


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

    def __repr__(self) -> str:
        return f"<{self.dtype}{list(self.shape)} at {self.buffer.handle:#x} of device {self.buffer.device_id}>"


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
