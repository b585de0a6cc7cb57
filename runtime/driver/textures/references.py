"""The driver's calls about texture and surface references: variables of modules, and what kernels read through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...device.memory.arrays import DeviceArray, DeviceMipmap
from ...device.memory.textures import (
    ADDRESS_MODES,
    FILTERS,
    SamplerSettings,
    SurfaceReference,
    TexelMemory,
    TextureReference,
    choice,
    texel_format,
)
from ...device.modules.kernels import LoadedModule
from ...errors import ApiError, invalid
from ..api import api, current, forget, handle_of, integer, object_of, text
from ..memory.arrays import array_of, mipmap_of
from ..modules.libraries import kernel_of
from ..tables.enums import CUaddress_mode, CUarray_format, CUfilter_mode
from ..tables.structs import CUDA_ARRAY_DESCRIPTOR, CUarray, CUdeviceptr, CUmipmappedArray, CUsurfref, CUtexref
from .objects import alignment, line_of, own, own_mipmap, rows_of

OVERRIDE_FORMAT = 1  # CU_TRSA_OVERRIDE_FORMAT: the format is the array's, which is the only way
DEFAULT_UNIT = -1  # CU_PARAM_TR_DEFAULT


def _reference(handle: object) -> TextureReference:
    found = object_of(handle, TextureReference)
    if not found.alive:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", f"the module of the texture reference {found.name} was unloaded")
    return found


def _surface(handle: object) -> SurfaceReference:
    found = object_of(handle, SurfaceReference)
    if not found.alive:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", f"the module of the surface reference {found.name} was unloaded")
    return found


@api
def cuModuleGetTexRef(hmod: object, name: object) -> CUtexref:
    """The reference that a .texref variable is."""
    return CUtexref(handle_of(object_of(hmod, LoadedModule).texture(text(name))))


@api
def cuModuleGetSurfRef(hmod: object, name: object) -> CUsurfref:
    """The reference that a .surfref variable is."""
    return CUsurfref(handle_of(object_of(hmod, LoadedModule).surface(text(name))))


@api
def cuTexRefCreate() -> CUtexref:
    """A reference that no module has."""
    current()
    return CUtexref(handle_of(TextureReference()))


@api
def cuTexRefDestroy(hTexRef: object) -> None:
    """Ends a reference that cuTexRefCreate made."""
    r = _reference(hTexRef)
    if r.name:
        raise invalid(f"{r.name} is a variable of a module; it ends with the module")
    r.alive = False
    forget(r)


@api
def cuParamSetTexRef(hfunc: object, texunit: object, hTexRef: object) -> None:
    """Kernels of the module read the reference without being told."""
    kernel_of(hfunc)
    _reference(hTexRef)
    if integer(texunit) != DEFAULT_UNIT:
        raise invalid(f"texture unit {integer(texunit)}; it is CU_PARAM_TR_DEFAULT, {DEFAULT_UNIT}")


# ---------------------------------------------------------------- what is bound


def _bind(r: TextureReference, of: DeviceArray | DeviceMipmap) -> None:
    r.settings = replace(r.settings, of=of, address=0, format=of.shape.format, channels=of.shape.channels)


def _override(flags: object) -> None:
    if integer(flags) != OVERRIDE_FORMAT:
        raise invalid(f"flags {integer(flags)}; they are CU_TRSA_OVERRIDE_FORMAT, {OVERRIDE_FORMAT}")


@api
def cuTexRefSetArray(hTexRef: object, hArray: object, Flags: object) -> None:
    """The reference reads an array, in the array's format."""
    r, a = _reference(hTexRef), own(array_of(hArray))
    _override(Flags)
    _bind(r, a)


@api
def cuTexRefSetMipmappedArray(hTexRef: object, hMipmappedArray: object, Flags: object) -> None:
    """The reference reads an array with levels, in the array's format."""
    r, a = _reference(hTexRef), own_mipmap(mipmap_of(hMipmappedArray))
    _override(Flags)
    _bind(r, a)


@api
def cuTexRefSetAddress(hTexRef: object, dptr: object, numbytes: object) -> int:
    """The reference reads a line of memory in the format that is set; gives the bytes by which the address is off the alignment."""
    r, address = _reference(hTexRef), integer(dptr)
    off = address % alignment()
    line = line_of(address - off, integer(numbytes) + off, texel_format(r.settings.format, r.settings.channels))
    r.settings = replace(r.settings, of=line, address=address)
    return off


@api
def cuTexRefSetAddress2D(hTexRef: object, desc: CUDA_ARRAY_DESCRIPTOR | None, dptr: object, Pitch: object) -> None:
    """The reference reads rows of memory."""
    r = _reference(hTexRef)
    if desc is None:
        raise invalid("the descriptor is null")
    try:
        format = int(desc.Format)
    except ValueError as e:
        raise invalid(str(e)) from None
    texel = texel_format(format, desc.NumChannels)
    rows = rows_of(integer(dptr), texel, desc.Width, desc.Height, integer(Pitch))
    r.settings = replace(r.settings, of=rows, address=integer(dptr), format=format, channels=desc.NumChannels)


@api
def cuTexRefGetAddress(hTexRef: object) -> CUdeviceptr:
    """The memory that the reference reads."""
    s = _reference(hTexRef).settings
    if not isinstance(s.of, TexelMemory):
        raise invalid("the reference reads no memory")
    return CUdeviceptr(s.address)


@api
def cuTexRefGetArray(hTexRef: object) -> CUarray:
    """The array that the reference reads."""
    a = _reference(hTexRef).settings.of
    if not isinstance(a, DeviceArray):
        raise invalid("the reference reads no array")
    return CUarray(handle_of(a))


@api
def cuTexRefGetMipmappedArray(hTexRef: object) -> CUmipmappedArray:
    """The array with levels that the reference reads."""
    a = _reference(hTexRef).settings.of
    if not isinstance(a, DeviceMipmap):
        raise invalid("the reference reads no mipmapped array")
    return CUmipmappedArray(handle_of(a))


@api
def cuTexRefSetFormat(hTexRef: object, fmt: object, NumPackedComponents: object) -> None:
    """The format of the memory that the reference reads."""
    r, channels = _reference(hTexRef), integer(NumPackedComponents)
    texel_format(integer(fmt), channels)
    r.settings = replace(r.settings, format=integer(fmt), channels=channels)


@api
def cuTexRefGetFormat(hTexRef: object) -> tuple[CUarray_format, int]:
    """(format, channels) of what the reference reads."""
    s = _reference(hTexRef).settings
    return CUarray_format(s.format), s.channels


# ---------------------------------------------------------------- how it is read


def _dimension(dim: object) -> int:
    if not 0 <= integer(dim) < 3:
        raise invalid(f"dimension {integer(dim)}; there are 0, 1 and 2")
    return integer(dim)


@api
def cuTexRefSetAddressMode(hTexRef: object, dim: object, am: object) -> None:
    """What coordinates beyond the texels of a dimension mean."""
    r, d = _reference(hTexRef), _dimension(dim)
    choice(ADDRESS_MODES, integer(am), "address mode")
    modes = list(r.settings.sampling.address)
    modes[d] = integer(am)
    r.sample(address=(modes[0], modes[1], modes[2]))


@api
def cuTexRefGetAddressMode(hTexRef: object, dim: object) -> CUaddress_mode:
    """The address mode of a dimension."""
    return CUaddress_mode(_reference(hTexRef).settings.sampling.address[_dimension(dim)])


@api
def cuTexRefSetFilterMode(hTexRef: object, fm: object) -> None:
    """Whether texels are blended."""
    r = _reference(hTexRef)
    choice(FILTERS, integer(fm), "filter mode")
    r.sample(filter=integer(fm))


@api
def cuTexRefGetFilterMode(hTexRef: object) -> CUfilter_mode:
    """Whether texels are blended."""
    return CUfilter_mode(_reference(hTexRef).settings.sampling.filter)


@api
def cuTexRefSetMipmapFilterMode(hTexRef: object, fm: object) -> None:
    """Whether levels are blended."""
    r = _reference(hTexRef)
    choice(FILTERS, integer(fm), "filter mode")
    r.sample(mip_filter=integer(fm))


@api
def cuTexRefGetMipmapFilterMode(hTexRef: object) -> CUfilter_mode:
    """Whether levels are blended."""
    return CUfilter_mode(_reference(hTexRef).settings.sampling.mip_filter)


@api
def cuTexRefSetMipmapLevelBias(hTexRef: object, bias: float) -> None:
    """What is added to every level."""
    _reference(hTexRef).sample(bias=float(bias))


@api
def cuTexRefGetMipmapLevelBias(hTexRef: object) -> float:
    """What is added to every level."""
    return _reference(hTexRef).settings.sampling.bias


@api
def cuTexRefSetMipmapLevelClamp(hTexRef: object, minMipmapLevelClamp: float, maxMipmapLevelClamp: float) -> None:
    """The least and the largest level that is read."""
    _reference(hTexRef).sample(clamp=(float(minMipmapLevelClamp), float(maxMipmapLevelClamp)))


@api
def cuTexRefGetMipmapLevelClamp(hTexRef: object) -> tuple[float, float]:
    """The least and the largest level that is read."""
    return _reference(hTexRef).settings.sampling.clamp


@api
def cuTexRefSetMaxAnisotropy(hTexRef: object, maxAniso: object) -> None:
    """How long the footprint of a fetch may be."""
    _reference(hTexRef).sample(anisotropy=integer(maxAniso))


@api
def cuTexRefGetMaxAnisotropy(hTexRef: object) -> int:
    """How long the footprint of a fetch may be."""
    return _reference(hTexRef).settings.sampling.anisotropy


@api
def cuTexRefSetBorderColor(hTexRef: object, pBorderColor: float | Sequence[float]) -> None:
    """The colour beyond the texels: four floats, or the red alone."""
    r = _reference(hTexRef)
    given = [float(pBorderColor)] if isinstance(pBorderColor, int | float) else [float(x) for x in pBorderColor]
    if not 1 <= len(given) <= 4:
        raise invalid(f"{len(given)} channels of a border colour; there are four")
    red, green, blue, alpha = (*given, 0.0, 0.0, 0.0)[:4]
    r.sample(border=(red, green, blue, alpha))


@api
def cuTexRefGetBorderColor(hTexRef: object) -> list[float]:
    """The colour beyond the texels, as four floats."""
    return list(_reference(hTexRef).settings.sampling.border)


@api
def cuTexRefSetFlags(hTexRef: object, Flags: object) -> None:
    """CU_TRSF_ flags."""
    r = _reference(hTexRef)
    SamplerSettings(flags=integer(Flags)).sampler()
    r.sample(flags=integer(Flags))


@api
def cuTexRefGetFlags(hTexRef: object) -> int:
    """CU_TRSF_ flags."""
    return _reference(hTexRef).settings.sampling.flags


# ---------------------------------------------------------------- surfaces


@api
def cuSurfRefSetArray(hSurfRef: object, hArray: object, Flags: object) -> None:
    """The reference writes an array."""
    r, a = _surface(hSurfRef), own(array_of(hArray))
    if integer(Flags):
        raise invalid("the flags must be 0")
    r.bind(a)


@api
def cuSurfRefGetArray(hSurfRef: object) -> CUarray:
    """The array that the reference writes."""
    a = _surface(hSurfRef).array
    if a is None:
        raise invalid("no array is bound")
    return CUarray(handle_of(a))
