"""The driver's calls about arrays, with and without levels."""

from __future__ import annotations

import itertools
from typing import NoReturn

from ...device.machine import SimulatedDevice, machine
from ...device.memory.arrays import CHANNELS, CUBEMAP, GATHER, LAYERED, SPARSE, SURFACE, ArrayShape, DeviceArray, DeviceMipmap, new_array
from ...errors import invalid, unsupported
from ..api import api, current, device_of, forget, handle_of, integer, object_of
from ..tables.enums import CUarray_format
from ..tables.structs import CUDA_ARRAY3D_DESCRIPTOR, CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY_SPARSE_PROPERTIES, CUarray, CUmipmappedArray

COLOR_ATTACHMENT, DEFERRED_MAPPING = 32, 128  # flags for graphics, and for memory that is mapped later
FLAGS = LAYERED | SURFACE | CUBEMAP | GATHER | SPARSE | COLOR_ATTACHMENT
# The tiles of sparse arrays, 64 KiB each, by the bytes of a texel.
TILES = {1: (256, 256), 2: (256, 128), 4: (128, 128), 8: (128, 64), 16: (64, 64)}
TILES_3D = {1: (64, 32, 32), 2: (32, 32, 32), 4: (32, 32, 16), 8: (32, 16, 16), 16: (16, 16, 16)}


def array_of(handle: object) -> DeviceArray:
    """An array that lives, by its handle."""
    found = object_of(handle, DeviceArray)
    if found.gone():
        raise invalid(found.gone())
    return found


def mipmap_of(handle: object) -> DeviceMipmap:
    """A mipmapped array that lives, by its handle."""
    found = object_of(handle, DeviceMipmap)
    if found.gone():
        raise invalid(found.gone())
    return found


def shape_of(d: CUDA_ARRAY3D_DESCRIPTOR | CUDA_ARRAY_DESCRIPTOR | None) -> ArrayShape:
    """What a descriptor asks for, where an array can be that."""
    if d is None:
        raise invalid("the descriptor is null")
    flat = isinstance(d, CUDA_ARRAY_DESCRIPTOR)
    try:
        format = d.Format
    except ValueError as e:
        raise invalid(str(e)) from None
    if int(format) not in CHANNELS:
        raise unsupported(f"arrays of {format.name}")
    out = ArrayShape(d.Width, d.Height, 0 if flat else d.Depth, int(format), d.NumChannels, 0 if flat else d.Flags)
    if out.channels not in (1, 2, 4):
        raise invalid(f"{out.channels} channels; an array has 1, 2 or 4")
    if out.width < 1:
        raise invalid("the width is 0")
    if out.flags & DEFERRED_MAPPING:
        raise unsupported("arrays whose memory is mapped later")
    if out.flags & ~FLAGS:
        raise invalid(f"array flags {out.flags:#x}")
    return out


def check_extent(d: SimulatedDevice, s: ArrayShape, mipmapped: bool = False) -> None:
    """Refuses an array that the device's attributes do not allow, or that is not a shape of its kind."""
    width, height, depth, flags = s.width, s.height, s.depth, s.flags
    have = {"WIDTH": width, "HEIGHT": height, "DEPTH": depth}
    if flags & CUBEMAP:
        layers = depth // 6
        if width != height or depth % 6 or not layers or (layers > 1 and not flags & LAYERED):
            raise invalid(f"{width} x {height} x {depth} is not a cube map: six square faces a layer")
        kind, have = ("CUBEMAP_LAYERED", {"WIDTH": width, "LAYERS": depth}) if flags & LAYERED else ("CUBEMAP", {"WIDTH": width})
    elif flags & LAYERED:
        if not depth:
            raise invalid("a layered array has no layers: the depth is their number")
        kind, have = ("2D_LAYERED", {"WIDTH": width, "HEIGHT": height}) if height else ("1D_LAYERED", {"WIDTH": width})
        have["LAYERS"] = depth
    elif depth:
        if not height:
            raise invalid("an array with a depth has a height")
        kind = "3D"
        if not flags & SURFACE and any(n > d.attribute(f"MAXIMUM_TEXTURE3D_{axis}") for axis, n in have.items()):
            have = {f"{axis}_ALTERNATE": n for axis, n in have.items()}
    else:
        kind, have = ("2D", {"WIDTH": width, "HEIGHT": height}) if height else ("1D", {"WIDTH": width})
    kinds = [("SURFACE" if flags & SURFACE else "TEXTURE") + kind]
    if flags & GATHER:
        if kind != "2D":
            raise invalid("only arrays of two dimensions are made for gathering (CUDA_ARRAY3D_TEXTURE_GATHER)")
        kinds.append("TEXTURE2D_GATHER")
    if mipmapped and kind in ("1D", "2D"):
        kinds.append(f"TEXTURE{kind}_MIPMAPPED")
    for k, (axis, n) in itertools.product(kinds, have.items()):
        most = d.attribute(f"MAXIMUM_{k}_{axis}")
        if n > most:
            raise invalid(f"the array is {width} x {height} x {depth}; MAXIMUM_{k}_{axis} of the device is {most}")


def made(s: ArrayShape, levels: int = 0) -> tuple[DeviceArray, ...]:
    """The levels of a new array; without levels of its own it is one."""
    c = current()
    c.check()
    c.unsafe("memory is allocated")
    check_extent(machine().device(c.ordinal), s, levels > 0)
    return new_array(c.space, c.arena, c, s, max(levels, 1))


@api
def cuArrayCreate(pAllocateArray: CUDA_ARRAY_DESCRIPTOR | None) -> CUarray:
    """An array of one or two dimensions."""
    return CUarray(handle_of(made(shape_of(pAllocateArray))[0]))


@api
def cuArray3DCreate(pAllocateArray: CUDA_ARRAY3D_DESCRIPTOR | None) -> CUarray:
    """An array of up to three dimensions."""
    return CUarray(handle_of(made(shape_of(pAllocateArray))[0]))


@api
def cuArrayDestroy(hArray: object) -> None:
    """Ends an array."""
    a = array_of(hArray)
    if a.of_mipmap:
        raise invalid("the array is a level; cuMipmappedArrayDestroy ends the array that it belongs to")
    forget(a)
    _release(a)


def _release(a: DeviceArray) -> None:
    c = a.memory.owner
    c.synchronize()
    current().space.release(a.memory.start, ("array",))


@api
def cuArrayGetDescriptor(hArray: object) -> CUDA_ARRAY_DESCRIPTOR:
    """What an array was made as."""
    s, d = array_of(hArray).shape, CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = s.width, s.height, CUarray_format(s.format), s.channels
    return d


@api
def cuArray3DGetDescriptor(hArray: object) -> CUDA_ARRAY3D_DESCRIPTOR:
    """What an array was made as."""
    s, d = array_of(hArray).shape, CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth, d.Format, d.NumChannels, d.Flags = s.width, s.height, s.depth, CUarray_format(s.format), s.channels, s.flags
    return d


@api
def cuArrayGetMemoryRequirements(array: object, device: object) -> NoReturn:
    """The memory that an array takes whose memory is mapped later, which none here is."""
    device_of(device)
    array_of(array)
    raise invalid("the array is not one whose memory is mapped later")


@api
def cuArrayGetSparseProperties(array: object) -> CUDA_ARRAY_SPARSE_PROPERTIES:
    """How a sparse array lies in memory."""
    a = array_of(array)
    return _sparse(a.shape, 1)


def _sparse(s: ArrayShape, levels: int) -> CUDA_ARRAY_SPARSE_PROPERTIES:
    if not s.flags & SPARSE:
        raise invalid("the array is not sparse")
    out, texel = CUDA_ARRAY_SPARSE_PROPERTIES(), s.texel.bytes
    flat = s.flags & (LAYERED | CUBEMAP) or not s.depth
    tile = (*TILES[texel], 1) if flat else TILES_3D[texel]
    out.tileExtent.width, out.tileExtent.height, out.tileExtent.depth = tile
    shapes = [s.level(k) for k in range(levels)]
    fits = [x.width >= tile[0] and x.height >= tile[1] and (flat or x.depth >= tile[2]) for x in shapes]
    out.miptailFirstLevel = fits.index(False) if False in fits else levels
    out.miptailSize = 0 if all(fits) else 1 << 16
    return out


@api
def cuArrayGetPlane(hArray: object, planeIdx: object) -> NoReturn:
    """A plane of a planar array, which none here is."""
    array_of(hArray)
    raise invalid("the array has no planes")


# ---------------------------------------------------------------- levels


@api
def cuMipmappedArrayCreate(pMipmappedArrayDesc: CUDA_ARRAY3D_DESCRIPTOR | None, numMipmapLevels: object) -> CUmipmappedArray:
    """An array with levels; at most as many as halve its largest side down to 1."""
    s = shape_of(pMipmappedArrayDesc)
    levels = made(s, max(1, min(integer(numMipmapLevels), s.most_levels)))
    return CUmipmappedArray(handle_of(DeviceMipmap(s, levels)))


@api
def cuMipmappedArrayGetLevel(hMipmappedArray: object, level: object) -> CUarray:
    """A level, as an array."""
    return CUarray(handle_of(mipmap_of(hMipmappedArray).level(integer(level))))


@api
def cuMipmappedArrayDestroy(hMipmappedArray: object) -> None:
    """Ends an array with its levels."""
    a = mipmap_of(hMipmappedArray)
    forget(a)
    for level in a.levels:
        forget(level)
    _release(a.levels[0])


@api
def cuMipmappedArrayGetMemoryRequirements(mipmap: object, device: object) -> NoReturn:
    """The memory that an array takes whose memory is mapped later, which none here is."""
    device_of(device)
    mipmap_of(mipmap)
    raise invalid("the array is not one whose memory is mapped later")


@api
def cuMipmappedArrayGetSparseProperties(mipmap: object) -> CUDA_ARRAY_SPARSE_PROPERTIES:
    """How a sparse array lies in memory."""
    a = mipmap_of(mipmap)
    return _sparse(a.shape, len(a.levels))
