"""The driver's calls about texture and surface objects: descriptors become what kernels read and write."""

from __future__ import annotations

import ctypes
from typing import TypeVar

from warplab.isa.textures.resources import Image, Surface, TexelFormat, Texture

from ...device.context import DeviceContext
from ...device.machine import machine
from ...device.memory.allocations import SPACE
from ...device.memory.arrays import CUBEMAP, LAYERED, DeviceArray, DeviceMipmap
from ...device.memory.textures import Kind, ResourceView, SamplerSettings, TexelMemory, array_image, memory_at, texel_format
from ...errors import invalid, unsupported
from ..api import api, current, device_of, integer
from ..memory.arrays import array_of, mipmap_of
from ..tables.enums import CUresourcetype, CUresourceViewFormat
from ..tables.layout import Struct
from ..tables.structs import CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUsurfObject, CUtexObject

S = TypeVar("S", bound=Struct)
FIRST_OBJECTS = (3, 0)  # the compute capability with which texture and surface objects came
KINDS = {"UINT": "u", "SINT": "s", "FLOAT": "f"}  # of channels, in the names of view formats


def own(a: DeviceArray) -> DeviceArray:
    """Refuses an array of another context."""
    if a.memory.owner is not current():
        raise invalid("the array belongs to another context")
    return a


def own_mipmap(a: DeviceMipmap) -> DeviceMipmap:
    """Refuses an array of another context."""
    own(a.levels[0])
    return a


def _attribute(name: str) -> int:
    return machine().device(current().ordinal).attribute(name)


@api
def cuDeviceGetTexture1DLinearMaxWidth(pformat: object, numChannels: object, dev: object) -> int:
    """The most texels of a line of memory."""
    texel_format(integer(pformat), integer(numChannels))
    return device_of(dev).attribute("MAXIMUM_TEXTURE1D_LINEAR_WIDTH")


def line_of(address: int, size: int, texel: TexelFormat) -> TexelMemory:
    """Memory as a line of texels."""
    most = _attribute("MAXIMUM_TEXTURE1D_LINEAR_WIDTH")
    if not 0 < size // texel.bytes <= most:
        raise invalid(f"{size} bytes are {size // texel.bytes} texels; a line has 1 to {most}")
    return memory_at(SPACE, _aligned(address), size)


def rows_of(address: int, texel: TexelFormat, width: int, height: int, pitch: int) -> TexelMemory:
    """Memory as rows of texels."""
    step = _attribute("TEXTURE_PITCH_ALIGNMENT")
    for what, n, name in (("width", width, "WIDTH"), ("height", height, "HEIGHT"), ("pitch", pitch, "PITCH")):
        most = _attribute(f"MAXIMUM_TEXTURE2D_LINEAR_{name}")
        if not 0 < n <= most:
            raise invalid(f"{what} {n}; it is 1 to {most}")
    if pitch % step or pitch < width * texel.bytes:
        raise invalid(f"pitch {pitch}; it is a multiple of {step}, and no less than the {width * texel.bytes} bytes of a row")
    return memory_at(SPACE, _aligned(address), pitch * (height - 1) + width * texel.bytes, width, height, pitch)


def alignment() -> int:
    """What the address of a texture's memory is a multiple of."""
    return _attribute("TEXTURE_ALIGNMENT")


def _aligned(address: int) -> int:
    if address % alignment():
        raise invalid(f"address {address:#x}; textures begin at multiples of {alignment()}")
    return address


def _view(d: CUDA_RESOURCE_VIEW_DESC, a: DeviceArray | DeviceMipmap) -> ResourceView:
    """The part of an array that a descriptor means."""
    s, levels = a.shape, len(a.levels) if isinstance(a, DeviceMipmap) else 1
    texel = view_format(d.format, s.texel)
    if texel.bytes != s.texel.bytes:
        raise invalid(f"{d.format.name} has {texel.bytes} bytes a texel, the array {s.texel.bytes}")
    if (d.width, d.height, d.depth) != (s.width, s.height, s.depth):
        raise invalid(f"the view has {d.width} x {d.height} x {d.depth} texels, the array {s.width} x {s.height} x {s.depth}")
    if not d.firstMipmapLevel <= d.lastMipmapLevel < levels:
        raise invalid(f"levels {d.firstMipmapLevel} to {d.lastMipmapLevel}; the array has {levels}")
    layers = s.depth if s.flags & (LAYERED | CUBEMAP) else 1
    if not d.firstLayer <= d.lastLayer < layers:
        raise invalid(f"layers {d.firstLayer} to {d.lastLayer}; the array has {layers}")
    return ResourceView(texel, (d.firstMipmapLevel, d.lastMipmapLevel), (d.firstLayer, d.lastLayer))


def view_format(format: CUresourceViewFormat, own: TexelFormat) -> TexelFormat:
    """The texels that a view's format means."""
    kind, _, size = format.name.removeprefix("CU_RES_VIEW_FORMAT_").partition("_")
    if kind == "NONE":
        return own
    if kind not in KINDS:
        raise unsupported(f"{format.name}: textures in compressed blocks")
    channels, bits = map(int, size.split("X"))
    return TexelFormat(KINDS[kind], bits, channels)


def _image(d: CUDA_RESOURCE_DESC, view: CUDA_RESOURCE_VIEW_DESC | None) -> Image:
    """What a descriptor names."""
    kinds, r = CUresourcetype, d.res
    if d.flags:
        raise invalid(f"resource flags {d.flags:#x}; they are 0")
    match d.resType:
        case kinds.CU_RESOURCE_TYPE_ARRAY | kinds.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY as kind:
            whole = kind == kinds.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
            handle = r.mipmap.hMipmappedArray if whole else r.array.hArray
            if not int(handle):
                raise invalid("the array is null")
            a = own_mipmap(mipmap_of(handle)) if whole else own(array_of(handle))
            return array_image(a, None if view is None else _view(view, a))
        case _ if view is not None:
            raise invalid("memory has no resource view: the view is null, or the resource an array")
        case kinds.CU_RESOURCE_TYPE_LINEAR:
            texel = texel_format(int(r.linear.format), r.linear.numChannels)
            return line_of(int(r.linear.devPtr), r.linear.sizeInBytes, texel).image(texel)
        case _:
            p = r.pitch2D
            texel = texel_format(int(p.format), p.numChannels)
            return rows_of(int(p.devPtr), texel, p.width, p.height, p.pitchInBytes).image(texel)


def _settings(d: CUDA_TEXTURE_DESC) -> SamplerSettings:
    x, y, z = (int(mode) for mode in d.addressMode)
    r, g, b, a = d.borderColor
    return SamplerSettings(
        (x, y, z), int(d.filterMode), int(d.mipmapFilterMode), d.flags, d.mipmapLevelBias, (d.minMipmapLevelClamp, d.maxMipmapLevelClamp),
        d.maxAnisotropy, (r, g, b, a),
    )  # fmt: skip


def _copy(d: S) -> S:
    """A structure of its own."""
    out = type(d)()
    ctypes.memmove(out.getPtr(), d.getPtr(), ctypes.sizeof(d.c_type))
    return out


def _with_objects() -> DeviceContext:
    """The current context, on a device that has texture and surface objects."""
    c = current()
    if c.profile.capability < FIRST_OBJECTS:
        raise unsupported(f"{c.profile.name} has texture references alone: bind a variable of the module with cuTexRefSetArray")
    return c


Made = tuple[CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC | None, CUDA_RESOURCE_VIEW_DESC | None]


@api
def cuTexObjectCreate(
    pResDesc: CUDA_RESOURCE_DESC | None, pTexDesc: CUDA_TEXTURE_DESC | None, pResViewDesc: CUDA_RESOURCE_VIEW_DESC | None
) -> CUtexObject:
    """A texture of an array, of levels, or of memory."""
    c = _with_objects()
    if pResDesc is None or pTexDesc is None:
        raise invalid("the resource descriptor or the texture descriptor is null")
    try:
        texture = Texture(_image(pResDesc, pResViewDesc), _settings(pTexDesc).sampler())
    except ValueError as e:  # a number that no enum has
        raise invalid(str(e)) from None
    made: Made = _copy(pResDesc), _copy(pTexDesc), None if pResViewDesc is None else _copy(pResViewDesc)
    return CUtexObject(c.resources.add(texture, made))


@api
def cuTexObjectDestroy(texObject: object) -> None:
    """Ends a texture object; what it reads stays."""
    current().resources.destroy(integer(texObject), Texture)


def _made(handle: object, kind: Kind) -> Made:
    found = current().resources.described(integer(handle), kind)
    assert isinstance(found, tuple)
    return found


@api
def cuTexObjectGetResourceDesc(texObject: object) -> CUDA_RESOURCE_DESC:
    """What a texture object reads."""
    return _copy(_made(texObject, Texture)[0])


@api
def cuTexObjectGetTextureDesc(texObject: object) -> CUDA_TEXTURE_DESC:
    """How a texture object reads."""
    found = _made(texObject, Texture)[1]
    assert found is not None
    return _copy(found)


@api
def cuTexObjectGetResourceViewDesc(texObject: object) -> CUDA_RESOURCE_VIEW_DESC:
    """The part of the array that a texture object reads."""
    found = _made(texObject, Texture)[2]
    if found is None:
        raise invalid("the texture was made without a resource view")
    return _copy(found)


@api
def cuSurfObjectCreate(pResDesc: CUDA_RESOURCE_DESC | None) -> CUsurfObject:
    """A surface of an array."""
    c = _with_objects()
    if pResDesc is None:
        raise invalid("the resource descriptor is null")
    try:
        kind = pResDesc.resType
        if kind != CUresourcetype.CU_RESOURCE_TYPE_ARRAY:
            raise invalid(f"{kind.name}; a surface is of an array (of one level of a mipmapped one)")
        made: Made = _copy(pResDesc), None, None
        return CUsurfObject(c.resources.add(Surface(_image(pResDesc, None)), made))
    except ValueError as e:
        raise invalid(str(e)) from None


@api
def cuSurfObjectDestroy(surfObject: object) -> None:
    """Ends a surface object; the array stays."""
    current().resources.destroy(integer(surfObject), Surface)


@api
def cuSurfObjectGetResourceDesc(surfObject: object) -> CUDA_RESOURCE_DESC:
    """The array that a surface object writes."""
    return _copy(_made(surfObject, Surface)[0])
