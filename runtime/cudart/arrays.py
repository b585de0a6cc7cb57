"""The runtime's calls about arrays, and the small structures that its copies take."""

from __future__ import annotations

from .. import driver
from ..driver.api import integer
from ..driver.memory.arrays import array_of
from ..driver.tables.layout import address_of
from ..errors import ApiError, invalid
from .api import api, call
from .enums import cudaChannelFormatKind
from .structs import cudaArray_t, cudaChannelFormatDesc, cudaExtent, cudaMipmappedArray_t, cudaPitchedPtr, cudaPos

Formats = driver.CUarray_format
_FORMATS = {
    (8, 0): Formats.CU_AD_FORMAT_SIGNED_INT8, (16, 0): Formats.CU_AD_FORMAT_SIGNED_INT16, (32, 0): Formats.CU_AD_FORMAT_SIGNED_INT32,
    (8, 1): Formats.CU_AD_FORMAT_UNSIGNED_INT8, (16, 1): Formats.CU_AD_FORMAT_UNSIGNED_INT16, (32, 1): Formats.CU_AD_FORMAT_UNSIGNED_INT32,
    (16, 2): Formats.CU_AD_FORMAT_HALF, (32, 2): Formats.CU_AD_FORMAT_FLOAT,
}  # fmt: skip


def make_cudaExtent(w: int, h: int, d: int) -> cudaExtent:
    """An extent."""
    out = cudaExtent()
    out.width, out.height, out.depth = w, h, d
    return out


def make_cudaPos(x: int, y: int, z: int) -> cudaPos:
    """A place."""
    out = cudaPos()
    out.x, out.y, out.z = x, y, z
    return out


def make_cudaPitchedPtr(d: object, p: int, xsz: int, ysz: int) -> cudaPitchedPtr:
    """An address with its pitch."""
    out = cudaPitchedPtr()
    out.ptr, out.pitch, out.xsize, out.ysize = address_of(d), p, xsz, ysz
    return out


@api
def cudaCreateChannelDesc(x: int, y: int, z: int, w: int, f: cudaChannelFormatKind) -> cudaChannelFormatDesc:
    """The format of an array's elements: the bits of each channel."""
    out = cudaChannelFormatDesc()
    out.x, out.y, out.z, out.w, out.f = x, y, z, w, f
    return out


def format_of(desc: cudaChannelFormatDesc | None) -> tuple[driver.CUarray_format, int]:
    """(format, channels) of a texel."""
    if desc is None:
        raise invalid("the format is null")
    bits = [b for b in (desc.x, desc.y, desc.z, desc.w) if b]
    found = _FORMATS.get((bits[0] if bits else 0, int(desc.f)))
    if found is None or len(set(bits)) != 1:
        raise ApiError("cudaErrorInvalidChannelDescriptor", f"channels of {bits} bits")
    return found, len(bits)


def channel_desc(format: int, channels: int) -> cudaChannelFormatDesc:
    """The runtime's words for a texel."""
    bits, kind = next(known for known, f in _FORMATS.items() if f == format)
    out = cudaChannelFormatDesc()
    out.x, out.y, out.z, out.w = [bits] * channels + [0] * (4 - channels)
    out.f = cudaChannelFormatKind(kind)
    return out


def _shape(desc: cudaChannelFormatDesc | None, width: int, height: int, depth: int, flags: int) -> driver.CUDA_ARRAY3D_DESCRIPTOR:
    d = driver.CUDA_ARRAY3D_DESCRIPTOR()
    d.Format, d.NumChannels = format_of(desc)
    d.Width, d.Height, d.Depth, d.Flags = width, height, depth, int(flags)
    return d


@api
def cudaMallocArray(desc: cudaChannelFormatDesc | None, width: int, height: int, flags: int) -> cudaArray_t:
    """An array of one or two dimensions."""
    return cudaArray_t(call(driver.cuArray3DCreate, _shape(desc, width, height, 0, flags)))


@api
def cudaMalloc3DArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, flags: int) -> cudaArray_t:
    """An array of up to three dimensions."""
    return cudaArray_t(call(driver.cuArray3DCreate, _shape(desc, extent.width, extent.height, extent.depth, flags)))


@api
def cudaMallocMipmappedArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, numLevels: int, flags: int) -> cudaMipmappedArray_t:
    """An array with levels."""
    shape = _shape(desc, extent.width, extent.height, extent.depth, flags)
    return cudaMipmappedArray_t(call(driver.cuMipmappedArrayCreate, shape, numLevels))


@api
def cudaFreeMipmappedArray(mipmappedArray: object) -> None:
    """Ends an array with its levels; null is ignored."""
    if integer(mipmappedArray):
        call(driver.cuMipmappedArrayDestroy, mipmappedArray)


@api
def cudaFreeArray(array: object) -> None:
    """Ends an array; null is ignored."""
    if integer(array):
        call(driver.cuArrayDestroy, array)


@api
def cudaArrayGetInfo(array: object) -> tuple[cudaChannelFormatDesc, cudaExtent, int]:
    """(format, extent, flags) of an array."""
    s = array_of(array).shape
    return channel_desc(s.format, s.channels), make_cudaExtent(s.width, s.height, s.depth), s.flags


@api
def cudaGetChannelDesc(array: object) -> cudaChannelFormatDesc:
    """The format of an array."""
    s = array_of(array).shape
    return channel_desc(s.format, s.channels)


@api
def cudaDeviceGetTexture1DLinearMaxWidth(fmtDesc: cudaChannelFormatDesc | None, device: int) -> int:
    """The most texels of a line of memory."""
    return int(call(driver.cuDeviceGetTexture1DLinearMaxWidth, *format_of(fmtDesc), device))
