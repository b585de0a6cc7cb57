"""The runtime's calls about texture and surface objects, over the driver's: its descriptors say the same in other words."""

from __future__ import annotations

import ctypes

from .. import driver
from ..device.memory.textures import INTEGER, NO_TRILINEAR, NORMALIZED, SEAMLESS, SRGB
from ..driver.tables.enums import CUaddress_mode, CUfilter_mode, CUresourcetype
from ..errors import ApiError, invalid
from .api import api, call
from .arrays import channel_desc, format_of
from .enums import cudaResourceType, cudaTextureAddressMode, cudaTextureFilterMode, cudaTextureReadMode
from .structs import cudaResourceDesc, cudaResourceViewDesc, cudaSurfaceObject_t, cudaTextureDesc, cudaTextureObject_t

_Kinds = cudaResourceType
_FLOATS = (driver.CUarray_format.CU_AD_FORMAT_HALF, driver.CUarray_format.CU_AD_FORMAT_FLOAT)
_WORDS = (driver.CUarray_format.CU_AD_FORMAT_SIGNED_INT32, driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32)


def _resource(d: cudaResourceDesc | None) -> driver.CUDA_RESOURCE_DESC:
    """The driver's words for what a texture reads."""
    if d is None:
        raise invalid("the resource descriptor is null")
    out = driver.CUDA_RESOURCE_DESC()
    try:
        kind = d.resType
    except ValueError as e:
        raise invalid(str(e)) from None
    out.resType = CUresourcetype(int(kind))
    match kind:
        case _Kinds.cudaResourceTypeArray:
            out.res.array.hArray = int(d.res.array.array)
        case _Kinds.cudaResourceTypeMipmappedArray:
            out.res.mipmap.hMipmappedArray = int(d.res.mipmap.mipmap)
        case _Kinds.cudaResourceTypeLinear:
            line = out.res.linear
            line.devPtr, line.sizeInBytes = d.res.linear.devPtr, d.res.linear.sizeInBytes
            line.format, line.numChannels = format_of(d.res.linear.desc)
        case _Kinds.cudaResourceTypePitch2D:
            rows, theirs = out.res.pitch2D, d.res.pitch2D
            rows.devPtr, rows.width, rows.height, rows.pitchInBytes = theirs.devPtr, theirs.width, theirs.height, theirs.pitchInBytes
            rows.format, rows.numChannels = format_of(theirs.desc)
    return out


def _resource_back(d: driver.CUDA_RESOURCE_DESC) -> cudaResourceDesc:
    out = cudaResourceDesc()
    out.resType = kind = _Kinds(int(d.resType))
    match kind:
        case _Kinds.cudaResourceTypeArray:
            out.res.array.array = int(d.res.array.hArray)
        case _Kinds.cudaResourceTypeMipmappedArray:
            out.res.mipmap.mipmap = int(d.res.mipmap.hMipmappedArray)
        case _Kinds.cudaResourceTypeLinear:
            line, theirs = out.res.linear, d.res.linear
            line.devPtr, line.sizeInBytes, line.desc = (
                int(theirs.devPtr),
                theirs.sizeInBytes,
                channel_desc(int(theirs.format), theirs.numChannels),
            )
        case _:
            rows, other = out.res.pitch2D, d.res.pitch2D
            rows.devPtr, rows.width, rows.height, rows.pitchInBytes = int(other.devPtr), other.width, other.height, other.pitchInBytes
            rows.desc = channel_desc(int(other.format), other.numChannels)
    return out


def _format(d: driver.CUDA_RESOURCE_DESC, view: cudaResourceViewDesc | None) -> driver.CUarray_format | None:
    """The format of the channels that a texture reads; None where a view says it, or where there is no array."""
    if view is not None:
        return None
    match d.resType:
        case CUresourcetype.CU_RESOURCE_TYPE_LINEAR:
            return driver.CUarray_format(d.res.linear.format)
        case CUresourcetype.CU_RESOURCE_TYPE_PITCH2D:
            return driver.CUarray_format(d.res.pitch2D.format)
        case CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
            whole = d.res.mipmap.hMipmappedArray
            array = call(driver.cuMipmappedArrayGetLevel, whole, 0) if int(whole) else whole
        case _:
            array = d.res.array.hArray
    return driver.CUarray_format(call(driver.cuArrayGetDescriptor, array).Format) if int(array) else None


_FLAGS = (("normalizedCoords", NORMALIZED), ("sRGB", SRGB), ("disableTrilinearOptimization", NO_TRILINEAR), ("seamlessCubemap", SEAMLESS))


def _texture(d: cudaTextureDesc, format: driver.CUarray_format | None) -> driver.CUDA_TEXTURE_DESC:
    """The driver's words for how a texture is read; refuses what the runtime refuses before the driver is asked."""
    out = driver.CUDA_TEXTURE_DESC()
    try:
        out.addressMode = [CUaddress_mode(int(mode)) for mode in d.addressMode]
        out.filterMode, out.mipmapFilterMode = CUfilter_mode(int(d.filterMode)), CUfilter_mode(int(d.mipmapFilterMode))
        as_element = d.readMode == cudaTextureReadMode.cudaReadModeElementType
    except ValueError as e:
        raise invalid(str(e)) from None
    if format is not None and format not in _FLOATS:
        if as_element and d.filterMode == cudaTextureFilterMode.cudaFilterModeLinear:
            raise ApiError(
                "cudaErrorInvalidFilterSetting", "integers are not blended: read them as normalized floats, or with the point filter"
            )
        if not as_element and format in _WORDS:
            raise ApiError("cudaErrorInvalidNormSetting", "only 8-bit and 16-bit integers are read as normalized floats")
    out.flags = (INTEGER if as_element and format not in _FLOATS else 0) | sum(bit for name, bit in _FLAGS if getattr(d, name))
    out.maxAnisotropy, out.mipmapLevelBias, out.borderColor = d.maxAnisotropy, d.mipmapLevelBias, d.borderColor
    out.minMipmapLevelClamp, out.maxMipmapLevelClamp = d.minMipmapLevelClamp, d.maxMipmapLevelClamp
    return out


def _texture_back(d: driver.CUDA_TEXTURE_DESC, format: driver.CUarray_format | None) -> cudaTextureDesc:
    out = cudaTextureDesc()
    out.addressMode = [cudaTextureAddressMode(int(mode)) for mode in d.addressMode]
    out.filterMode, out.mipmapFilterMode = cudaTextureFilterMode(int(d.filterMode)), cudaTextureFilterMode(int(d.mipmapFilterMode))
    modes = cudaTextureReadMode
    as_element = d.flags & INTEGER or format in _FLOATS
    out.readMode = modes.cudaReadModeElementType if as_element else modes.cudaReadModeNormalizedFloat
    for name, bit in _FLAGS:
        setattr(out, name, int(bool(d.flags & bit)))
    out.maxAnisotropy, out.mipmapLevelBias, out.borderColor = d.maxAnisotropy, d.mipmapLevelBias, d.borderColor
    out.minMipmapLevelClamp, out.maxMipmapLevelClamp = d.minMipmapLevelClamp, d.maxMipmapLevelClamp
    return out


@api
def cudaCreateTextureObject(
    pResDesc: cudaResourceDesc | None, pTexDesc: cudaTextureDesc | None, pResViewDesc: cudaResourceViewDesc | None
) -> cudaTextureObject_t:
    """A texture of an array, of levels, or of memory."""
    resource, view = _resource(pResDesc), None
    if pTexDesc is None:
        raise invalid("the texture descriptor is null")
    if pResViewDesc is not None:
        view = driver.CUDA_RESOURCE_VIEW_DESC()
        ctypes.memmove(view.getPtr(), pResViewDesc.getPtr(), ctypes.sizeof(pResViewDesc.c_type))
    texture = _texture(pTexDesc, _format(resource, pResViewDesc))
    return cudaTextureObject_t(int(call(driver.cuTexObjectCreate, resource, texture, view)))


@api
def cudaGetTextureObjectResourceDesc(texObject: object) -> cudaResourceDesc:
    """What a texture object reads."""
    return _resource_back(call(driver.cuTexObjectGetResourceDesc, texObject))


@api
def cudaGetTextureObjectTextureDesc(texObject: object) -> cudaTextureDesc:
    """How a texture object reads."""
    resource = call(driver.cuTexObjectGetResourceDesc, texObject)
    return _texture_back(call(driver.cuTexObjectGetTextureDesc, texObject), _format(resource, None))


@api
def cudaCreateSurfaceObject(pResDesc: cudaResourceDesc | None) -> cudaSurfaceObject_t:
    """A surface of an array."""
    return cudaSurfaceObject_t(int(call(driver.cuSurfObjectCreate, _resource(pResDesc))))


@api
def cudaGetSurfaceObjectResourceDesc(surfObject: object) -> cudaResourceDesc:
    """The array that a surface object writes."""
    return _resource_back(call(driver.cuSurfObjectGetResourceDesc, surfObject))
