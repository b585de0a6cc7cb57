"""Texture and surface references as toolkits before CUDA 12 had them: cudaBindTexture and its kin, over the driver's references.

In C a reference is a variable of the program; here it is asked for by its name in a library, as cudaLibraryGetGlobal does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import driver
from ..device.memory.textures import INTEGER, NO_TRILINEAR, NORMALIZED, SRGB, SurfaceReference, TexelMemory, TextureReference
from ..driver.api import integer, object_of
from ..driver.tables.compact import Structs
from ..driver.tables.enums import CUaddress_mode, CUfilter_mode
from ..driver.tables.layout import address_of
from ..driver.textures.objects import alignment
from ..errors import ApiError, invalid
from . import enums, structs
from .api import api, call
from .arrays import channel_desc, format_of
from .enums import cudaTextureReadMode
from .structs import cudaChannelFormatDesc

# readMode is a parameter of the C++ template, handle what the reserved words of C's structure hold.
_TABLE = """\
struct textureReference normalized:i32 filterMode:cudaTextureFilterMode addressMode:cudaTextureAddressMode[3]
    channelDesc:cudaChannelFormatDesc sRGB:i32 maxAnisotropy:u32 mipmapFilterMode:cudaTextureFilterMode mipmapLevelBias:f32
    minMipmapLevelClamp:f32 maxMipmapLevelClamp:f32 disableTrilinearOptimization:i32 readMode:cudaTextureReadMode handle:u64
struct surfaceReference channelDesc:cudaChannelFormatDesc handle:u64
"""
_STRUCTS = Structs(__name__, _TABLE, lambda name: getattr(structs, name, None) or getattr(enums, name))
textureReference: Any = _STRUCTS.attribute("textureReference")
surfaceReference: Any = _STRUCTS.attribute("surfaceReference")


def _reference(texref: Any) -> TextureReference:
    try:
        return object_of(texref.handle, TextureReference)
    except (AttributeError, ApiError):
        raise ApiError("cudaErrorInvalidTexture", "a texture reference comes from cudaGetTextureReference") from None


@api
def cudaGetTextureReference(library: object, name: object) -> Any:
    """The .texref variable of a library; what is set in its fields counts when something is bound."""
    module = call(driver.cuLibraryGetModule, library)
    out = textureReference()
    out.handle = int(call(driver.cuModuleGetTexRef, module, name))
    return out


@api
def cudaGetSurfaceReference(library: object, name: object) -> Any:
    """The .surfref variable of a library."""
    module = call(driver.cuLibraryGetModule, library)
    out = surfaceReference()
    out.handle = int(call(driver.cuModuleGetSurfRef, module, name))
    return out


def _set(texref: Any, desc: cudaChannelFormatDesc | None) -> TextureReference:
    """Passes the fields on to the driver."""
    r, ref = _reference(texref), texref.handle
    try:
        for k, mode in enumerate(texref.addressMode):
            call(driver.cuTexRefSetAddressMode, ref, k, CUaddress_mode(int(mode)))
        call(driver.cuTexRefSetFilterMode, ref, CUfilter_mode(int(texref.filterMode)))
        call(driver.cuTexRefSetMipmapFilterMode, ref, CUfilter_mode(int(texref.mipmapFilterMode)))
        element = texref.readMode == cudaTextureReadMode.cudaReadModeElementType
    except ValueError as e:
        raise invalid(str(e)) from None
    format, channels = format_of(desc)
    flags = INTEGER if element and format.value < driver.CUarray_format.CU_AD_FORMAT_HALF else 0
    for name, bit in (("normalized", NORMALIZED), ("sRGB", SRGB), ("disableTrilinearOptimization", NO_TRILINEAR)):
        flags |= bit if getattr(texref, name) else 0
    call(driver.cuTexRefSetFlags, ref, flags)
    call(driver.cuTexRefSetFormat, ref, format, channels)
    call(driver.cuTexRefSetMipmapLevelBias, ref, texref.mipmapLevelBias)
    call(driver.cuTexRefSetMipmapLevelClamp, ref, texref.minMipmapLevelClamp, texref.maxMipmapLevelClamp)
    call(driver.cuTexRefSetMaxAnisotropy, ref, texref.maxAnisotropy)
    return r


def _same(desc: cudaChannelFormatDesc | None, array: object) -> None:
    """Refuses a format that is not the array's."""
    d = call(driver.cuArrayGetDescriptor, array)
    if format_of(desc) != (d.Format, d.NumChannels):
        raise invalid(f"the format is not that of the array: {channel_desc(int(d.Format), d.NumChannels)}")


@api
def cudaBindTexture(texref: Any, devPtr: object, desc: cudaChannelFormatDesc | None, size: int) -> int:
    """Binds a line of memory; gives the bytes by which its address is off the alignment."""
    _set(texref, desc)
    return int(call(driver.cuTexRefSetAddress, texref.handle, address_of(devPtr), size))


@api
def cudaBindTexture2D(texref: Any, devPtr: object, desc: cudaChannelFormatDesc | None, width: int, height: int, pitch: int) -> int:
    """Binds rows of memory."""
    _set(texref, desc)
    d = driver.CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height = width, height
    d.Format, d.NumChannels = format_of(desc)
    call(driver.cuTexRefSetAddress2D, texref.handle, d, address_of(devPtr), pitch)
    return 0


@api
def cudaBindTextureToArray(texref: Any, array: object, desc: cudaChannelFormatDesc | None) -> None:
    """Binds an array."""
    _same(desc, array)
    _set(texref, desc)
    call(driver.cuTexRefSetArray, texref.handle, array, 1)


@api
def cudaBindTextureToMipmappedArray(texref: Any, mipmappedArray: object, desc: cudaChannelFormatDesc | None) -> None:
    """Binds an array with levels."""
    _same(desc, call(driver.cuMipmappedArrayGetLevel, mipmappedArray, 0))
    _set(texref, desc)
    call(driver.cuTexRefSetMipmappedArray, texref.handle, mipmappedArray, 1)


@api
def cudaUnbindTexture(texref: Any) -> None:
    """Nothing is bound any more: the texture reads zeros."""
    r = _reference(texref)
    r.settings = replace(r.settings, of=None)


@api
def cudaGetTextureAlignmentOffset(texref: Any) -> int:
    """The bytes by which the address that is bound is off the alignment."""
    s = _reference(texref).settings
    if s.of is None:
        raise ApiError("cudaErrorInvalidTextureBinding", "nothing is bound")
    return s.address % alignment() if isinstance(s.of, TexelMemory) else 0


@api
def cudaBindSurfaceToArray(surfref: Any, array: object, desc: cudaChannelFormatDesc | None) -> None:
    """Binds an array."""
    try:
        object_of(surfref.handle, SurfaceReference)
    except (AttributeError, ApiError):
        raise ApiError("cudaErrorInvalidSurface", "a surface reference comes from cudaGetSurfaceReference") from None
    _same(desc, array)
    call(driver.cuSurfRefSetArray, integer(surfref.handle), array, 0)
