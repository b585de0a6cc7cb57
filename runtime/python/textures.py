"""TextureObject and SurfaceObject, as in cuda.core.texture, and textures of numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import driver
from ..device.memory.textures import ADDRESS_MODES, FILTERS, INTEGER, NO_TRILINEAR, NORMALIZED, SEAMLESS, SRGB
from .buffers import Buffer
from .calls import Closable, Given, do
from .opaque import ArrayHome, MipmappedArray, OpaqueArray, channels_of, format_name, format_number, options_of

READ_MODES = ("element_type", "normalized_float")
Kinds = driver.CUresourcetype


class ResourceDescriptor(Given):
    """The memory of a texture or a surface."""

    kind: str
    source: Any
    format: str | None
    num_channels: int | None
    size_bytes: int | None
    width: int | None
    height: int | None
    pitch_bytes: int | None
    _origin = "a ResourceDescriptor comes from one of its from_ methods"

    @classmethod
    def _of(cls, kind: str, source: Any, **fields: Any) -> ResourceDescriptor:
        self = cls.__new__(cls)
        self.kind, self.source = kind, source
        for name in ("format", "num_channels", "size_bytes", "width", "height", "pitch_bytes"):
            setattr(self, name, fields.get(name))
        return self

    @classmethod
    def from_opaque_array(cls, array: OpaqueArray) -> ResourceDescriptor:
        """An opaque array."""
        if not isinstance(array, OpaqueArray):
            raise TypeError(f"an OpaqueArray is needed, not {type(array).__name__}")
        return cls._of("array", array)

    @classmethod
    def from_mipmapped_array(cls, mipmapped_array: MipmappedArray) -> ResourceDescriptor:
        """A mipmapped array, for a texture."""
        if not isinstance(mipmapped_array, MipmappedArray):
            raise TypeError(f"a MipmappedArray is needed, not {type(mipmapped_array).__name__}")
        return cls._of("mipmapped_array", mipmapped_array)

    @classmethod
    def from_linear(cls, buffer: Buffer, *, format: object, num_channels: int, size_bytes: int | None = None) -> ResourceDescriptor:
        """Linear memory, read with integer coordinates."""
        size = buffer.size if size_bytes is None else size_bytes
        if not 0 < size <= buffer.size:
            raise ValueError(f"size_bytes is 1 to {buffer.size}, not {size}")
        return cls._of("linear", buffer, format=format_name(format), num_channels=channels_of(num_channels), size_bytes=size)

    @classmethod
    def from_pitch2d(
        cls, buffer: Buffer, *, format: object, num_channels: int, width: int, height: int, pitch_bytes: int
    ) -> ResourceDescriptor:
        """Pitched memory: rows at a distance of pitch_bytes."""
        name, channels = format_name(format), channels_of(num_channels)
        row = width * np.dtype(name).itemsize * channels
        if min(width, height) < 1 or pitch_bytes < row:
            raise ValueError(f"{height} rows of {width} texels take {row} bytes each; pitch_bytes is {pitch_bytes}")
        if pitch_bytes * (height - 1) + row > buffer.size:
            raise ValueError(f"{height} rows {pitch_bytes} bytes apart do not fit {buffer.size} bytes")
        return cls._of(
            "pitch2d", buffer, format=name, num_channels=channels, width=width, height=height, pitch_bytes=pitch_bytes,
        )  # fmt: skip

    def driver_descriptor(self) -> driver.CUDA_RESOURCE_DESC:
        """The driver's structure for it."""
        if self.source.is_closed:
            raise RuntimeError(f"the {type(self.source).__name__} was closed")
        out = driver.CUDA_RESOURCE_DESC()
        match self.kind:
            case "array":
                out.resType, out.res.array.hArray = Kinds.CU_RESOURCE_TYPE_ARRAY, self.source.handle
            case "mipmapped_array":
                out.resType, out.res.mipmap.hMipmappedArray = Kinds.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, self.source.handle
            case "linear":
                out.resType, line = Kinds.CU_RESOURCE_TYPE_LINEAR, out.res.linear
                line.devPtr, line.sizeInBytes = int(self.source.handle), self.size_bytes
                line.format, line.numChannels = format_number(str(self.format)), self.num_channels
            case _:
                out.resType, rows = Kinds.CU_RESOURCE_TYPE_PITCH2D, out.res.pitch2D
                rows.devPtr, rows.width, rows.height, rows.pitchInBytes = int(self.source.handle), self.width, self.height, self.pitch_bytes
                rows.format, rows.numChannels = format_number(str(self.format)), self.num_channels
        return out

    def __repr__(self) -> str:
        return f"<ResourceDescriptor of {self.source!r}>"


@dataclass
class TextureObjectOptions:
    """Options with which a texture is read."""

    address_mode: str | tuple[str, ...] = "clamp"
    filter_mode: str = "point"
    read_mode: str = "element_type"
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: str = "point"
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        modes = (self.address_mode,) if isinstance(self.address_mode, str) else tuple(self.address_mode)
        if not 1 <= len(modes) <= 3:
            raise ValueError(f"address_mode is one mode or up to three, not {self.address_mode!r}")
        for value in modes:
            _number(ADDRESS_MODES, value, "address_mode")
        _number(FILTERS, self.filter_mode, "filter_mode")
        _number(FILTERS, self.mipmap_filter_mode, "mipmap_filter_mode")
        _number(READ_MODES, self.read_mode, "read_mode")
        if self.border_color is not None and len(self.border_color) != 4:
            raise ValueError(f"border_color has four channels, not {len(self.border_color)}")

    def driver_descriptor(self) -> driver.CUDA_TEXTURE_DESC:
        """The driver's structure for them."""
        out, modes = driver.CUDA_TEXTURE_DESC(), driver.CUaddress_mode
        given = (self.address_mode,) if isinstance(self.address_mode, str) else tuple(self.address_mode)
        out.addressMode = [modes(_number(ADDRESS_MODES, m, "address_mode")) for m in (*given, given[-1], given[-1])[:3]]
        out.filterMode = driver.CUfilter_mode(FILTERS.index(self.filter_mode))
        out.mipmapFilterMode = driver.CUfilter_mode(FILTERS.index(self.mipmap_filter_mode))
        bits = ((self.read_mode == "element_type", INTEGER), (self.normalized_coords, NORMALIZED), (self.srgb, SRGB),
                (self.disable_trilinear_optimization, NO_TRILINEAR), (self.seamless_cubemap, SEAMLESS))  # fmt: skip
        out.flags = sum(bit for wanted, bit in bits if wanted)
        out.maxAnisotropy, out.mipmapLevelBias = self.max_anisotropy, self.mipmap_level_bias
        out.minMipmapLevelClamp, out.maxMipmapLevelClamp = self.min_mipmap_level_clamp, self.max_mipmap_level_clamp
        out.borderColor = list(self.border_color or (0.0, 0.0, 0.0, 0.0))
        return out


def _number(words: Sequence[str], value: str, what: str) -> int:
    if value not in words:
        raise ValueError(f"{what} is one of {', '.join(words)}, not {value!r}")
    return words.index(value)


class _Seen(Closable):
    """A texture or a surface: a number for kernels."""

    _resource: ResourceDescriptor
    _device: ArrayHome

    @property
    def handle(self) -> int:
        """The handle that is passed to a .u64 parameter."""
        return int(super().handle)

    @property
    def resource(self) -> ResourceDescriptor:
        """The resource."""
        return self._resource

    @property
    def device(self) -> ArrayHome:
        """The device."""
        return self._device

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'closed' if self.is_closed else self.handle} of {self.resource.source!r}>"


class TextureObject(_Seen):
    """A texture; pass it for a .u64 parameter of a kernel."""

    _options: TextureObjectOptions
    _origin = "a TextureObject comes from Device.create_texture_object"
    _null, _destroy = driver.CUtexObject, staticmethod(driver.cuTexObjectDestroy)

    @classmethod
    def _init(
        cls, device: ArrayHome, resource: ResourceDescriptor, options: TextureObjectOptions | Mapping[str, Any] | None
    ) -> TextureObject:
        self = cls.__new__(cls)
        self._resource, self._options, self._device = _descriptor(resource), options_of(TextureObjectOptions, options), device
        self._handle = do(driver.cuTexObjectCreate, resource.driver_descriptor(), self._options.driver_descriptor(), None)
        return self

    @property
    def options(self) -> TextureObjectOptions:
        """The options with which it is read."""
        return self._options


class SurfaceObject(_Seen):
    """A surface; pass it for a .u64 parameter of a kernel."""

    _origin = "a SurfaceObject comes from Device.create_surface_object"
    _null, _destroy = driver.CUsurfObject, staticmethod(driver.cuSurfObjectDestroy)

    @classmethod
    def _init(cls, device: ArrayHome, resource: ResourceDescriptor) -> SurfaceObject:
        self = cls.__new__(cls)
        self._resource, self._device = _descriptor(resource), device
        if resource.kind != "array" or not resource.source.is_surface_load_store:
            raise ValueError("a surface is made of an OpaqueArray with is_surface_load_store=True")
        self._handle = do(driver.cuSurfObjectCreate, resource.driver_descriptor())
        return self


def _descriptor(resource: object) -> ResourceDescriptor:
    if not isinstance(resource, ResourceDescriptor):
        raise TypeError(f"a ResourceDescriptor is needed, not {type(resource).__name__}")
    return resource
