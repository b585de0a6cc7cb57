"""OpaqueArray and MipmappedArray, as in cuda.core.texture: arrays that kernels see through textures and surfaces."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from .. import driver
from ..device.memory.arrays import CHANNELS, SURFACE
from ..driver.tables.layout import address_of
from .buffers import Array, Buffer
from .calls import Closable, IsStreamType, do, needed_handle

T = TypeVar("T")
DTYPES = {np.dtype({"u": "u", "s": "i", "f": "f"}[kind] + str(bits // 8)): n for n, (kind, bits) in CHANNELS.items()}
Memory = driver.CUmemorytype


class ArrayHome(Protocol):
    """The device of an array: a Device."""

    @property
    def default_stream(self) -> IsStreamType:
        """Where copies go without another word."""


def format_name(format: object) -> str:
    """A format by its name, as float32: given as such, or as a dtype."""
    try:
        dtype = np.dtype(format)  # type: ignore[call-overload]
    except TypeError:
        dtype = None
    if dtype not in DTYPES:
        raise ValueError(f"{format!r} is not a format of an array; there are {', '.join(d.name for d in DTYPES)}")
    return str(dtype.name)


def format_number(name: str) -> driver.CUarray_format:
    """The driver's format."""
    return driver.CUarray_format(DTYPES[np.dtype(name)])


def channels_of(count: int) -> int:
    """A number of channels that there is."""
    if count not in (1, 2, 4):
        raise ValueError(f"num_channels is 1, 2 or 4, not {count!r}")
    return int(count)


def _shape(shape: object) -> tuple[int, ...]:
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if not 1 <= len(sizes) <= 3 or not all(isinstance(n, int | np.integer) and n >= 1 for n in sizes):
        raise ValueError(f"shape is (width,), (width, height) or (width, height, depth), not {shape!r}")
    return tuple(int(n) for n in sizes)


def options_of(kind: type[T], options: T | Mapping[str, Any] | None) -> T:
    """Options, given as such or as a mapping."""
    if isinstance(options, kind):
        return options
    if options is None or isinstance(options, Mapping):
        return kind(**(options or {}))
    raise TypeError(f"options are {kind.__name__} or a mapping, not {type(options).__name__}")


@dataclass
class OpaqueArrayOptions:
    """Options for Device.create_opaque_array."""

    shape: tuple[int, ...]  # (width,), (width, height) or (width, height, depth)
    format: object
    num_channels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.shape, self.format, self.num_channels = _shape(self.shape), format_name(self.format), channels_of(self.num_channels)


@dataclass
class MipmappedArrayOptions:
    """Options for Device.create_mipmapped_array."""

    shape: tuple[int, ...]
    format: object
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.shape, self.format, self.num_channels = _shape(self.shape), format_name(self.format), channels_of(self.num_channels)
        if not isinstance(self.num_levels, int) or self.num_levels < 1:
            raise ValueError(f"num_levels is at least 1, not {self.num_levels!r}")


def _descriptor(o: OpaqueArrayOptions | MipmappedArrayOptions) -> driver.CUDA_ARRAY3D_DESCRIPTOR:
    d = driver.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth = (*o.shape, 0, 0)[:3]
    d.Format, d.NumChannels, d.Flags = format_number(str(o.format)), o.num_channels, SURFACE if o.is_surface_load_store else 0
    return d


class _Texels(Closable):
    """What arrays with and without levels have in common."""

    _options: OpaqueArrayOptions | MipmappedArrayOptions
    _device: ArrayHome

    @property
    def shape(self) -> tuple[int, ...]:
        """(width,), (width, height) or (width, height, depth)."""
        return self._options.shape

    @property
    def format(self) -> str:
        """The format of a channel, such as float32."""
        return str(self._options.format)

    @property
    def num_channels(self) -> int:
        """The number of channels per texel."""
        return self._options.num_channels

    @property
    def is_surface_load_store(self) -> bool:
        """Whether it can be a surface."""
        return self._options.is_surface_load_store

    @property
    def device(self) -> ArrayHome:
        """The device."""
        return self._device

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed " if self.is_closed else ""
        size = " x ".join(map(str, self.shape))
        return f"<{state}{type(self).__name__} {size} of {self.num_channels} {self.format}>"


class OpaqueArray(_Texels):
    """An array in the device's own layout, accessible through copies, textures and surfaces, but not through pointers."""

    _options: OpaqueArrayOptions
    _parent: MipmappedArray | None  # of a level
    _origin = "an OpaqueArray comes from Device.create_opaque_array"
    _null, _destroy = driver.CUarray, staticmethod(driver.cuArrayDestroy)

    @classmethod
    def _init(cls, device: ArrayHome, options: OpaqueArrayOptions | Mapping[str, Any]) -> OpaqueArray:
        self = cls.__new__(cls)
        self._options, self._device, self._parent = options_of(OpaqueArrayOptions, options), device, None
        self._handle = do(driver.cuArray3DCreate, _descriptor(self._options))
        return self

    @classmethod
    def _level(cls, parent: MipmappedArray, handle: driver.CUarray) -> OpaqueArray:
        self, d = cls.__new__(cls), do(driver.cuArray3DGetDescriptor, handle)
        shape = tuple(n for n in (d.Width, d.Height, d.Depth) if n)
        self._options = OpaqueArrayOptions(shape, parent.format, parent.num_channels, parent.is_surface_load_store)
        self._handle, self._device, self._parent = handle, parent.device, parent
        return self

    def close(self) -> None:
        """Destroys the array; a level is destroyed with its mipmapped array."""
        if self._parent is not None:
            self._handle = None
        super().close()

    @property
    def element_bytes(self) -> int:
        """The size of a texel in bytes."""
        return np.dtype(self.format).itemsize * self.num_channels

    @property
    def size_bytes(self) -> int:
        """The size of all texels in bytes."""
        return int(np.prod(self.shape)) * self.element_bytes

    def _copy(self, other: Any, stream: IsStreamType, to_array: bool) -> None:
        if self.is_closed:
            raise RuntimeError("the array was closed")
        c = driver.CUDA_MEMCPY3D()
        width, height, depth = (*self.shape, 1, 1)[:3]
        c.WidthInBytes, c.Height, c.Depth = width * self.element_bytes, height, depth
        here, there = ("dst", "src") if to_array else ("src", "dst")
        setattr(c, here + "MemoryType", Memory.CU_MEMORYTYPE_ARRAY)
        setattr(c, here + "Array", self._handle)
        setattr(c, there + "Pitch", c.WidthInBytes)
        setattr(c, there + "Height", height)
        if isinstance(other, Buffer):
            size = other.size
            setattr(c, there + "MemoryType", Memory.CU_MEMORYTYPE_UNIFIED)
            setattr(c, there + "Device", int(other.handle))
        else:
            view = memoryview(other)
            if not view.c_contiguous or (view.readonly and not to_array):
                raise ValueError("host memory must be contiguous, and writable where it is copied to")
            size = view.nbytes
            setattr(c, there + "MemoryType", Memory.CU_MEMORYTYPE_HOST)
            setattr(c, there + "Host", _host_address(other))
        if size < self.size_bytes:
            raise ValueError(f"{size} bytes; the array has {self.size_bytes}")
        do(driver.cuMemcpy3DAsync, c, needed_handle(stream))

    def copy_from(self, src: Any, *, stream: IsStreamType) -> None:
        """Copies texels from a Buffer or from host memory, row by row."""
        self._copy(src, stream, True)

    def copy_to(self, dst: Any, *, stream: IsStreamType) -> Any:
        """Copies the texels to a Buffer or to host memory."""
        self._copy(dst, stream, False)
        return dst

    def copy_to_host(self) -> Array:
        """A numpy array of the texels: (depth, height, width, channels), without dimensions of size 1."""
        sizes = self.shape[::-1] + ((self.num_channels,) if self.num_channels > 1 else ())
        out = np.empty(sizes, self.format)
        self.copy_to(out, stream=self.device.default_stream)
        return out


def _host_address(thing: object) -> int:
    if isinstance(thing, bytes):
        return ctypes.cast(ctypes.c_char_p(thing), ctypes.c_void_p).value or 0
    return address_of(thing)


class MipmappedArray(_Texels):
    """A mipmapped array: each level is half as large as the level before."""

    _options: MipmappedArrayOptions
    _origin = "a MipmappedArray comes from Device.create_mipmapped_array"
    _null, _destroy = driver.CUmipmappedArray, staticmethod(driver.cuMipmappedArrayDestroy)

    @classmethod
    def _init(cls, device: ArrayHome, options: MipmappedArrayOptions | Mapping[str, Any]) -> MipmappedArray:
        self = cls.__new__(cls)
        self._options, self._device = options_of(MipmappedArrayOptions, options), device
        self._handle = do(driver.cuMipmappedArrayCreate, _descriptor(self._options), self._options.num_levels)
        return self

    @property
    def num_levels(self) -> int:
        """The number of levels."""
        return self._options.num_levels

    def get_level(self, level: int) -> OpaqueArray:
        """One level; it is destroyed with this array."""
        if self.is_closed:
            raise RuntimeError("the array was closed")
        if not 0 <= level < self.num_levels:
            raise ValueError(f"level {level}; there are {self.num_levels}")
        return OpaqueArray._level(self, do(driver.cuMipmappedArrayGetLevel, self._handle, level))
