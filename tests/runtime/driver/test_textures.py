"""Arrays, textures and surfaces as the host makes them: what the driver takes and refuses, and what a launch is given."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warplab.isa.textures.resources import VARIABLE_BIT, Surface, Texture
from warplab.runtime.device.machine import machine
from warplab.runtime.driver.api import STATE

from ..conftest import Host, driver, model_only

cu: Any = driver
Formats = cu.CUarray_format
F32 = Formats.CU_AD_FORMAT_FLOAT
LAYERED, SURFACE, CUBE, GATHER, SPARSE = 1, 2, 4, 8, 64

VARIABLES = """.version 8.0
.target sm_90
.address_size 64
.global .texref picture;
.global .texref many[3];
.global .surfref target;
.visible .entry k() { ret; }
"""


def descriptor(width: int, height: int = 0, depth: int = 0, format: Any = F32, channels: int = 1, flags: int = 0) -> Any:
    d = cu.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth, d.Format, d.NumChannels, d.Flags = width, height, depth, format, channels, flags
    return d


def of_array(array: Any) -> Any:
    r = cu.CUDA_RESOURCE_DESC()
    r.resType, r.res.array.hArray = cu.CUresourcetype.CU_RESOURCE_TYPE_ARRAY, array
    return r


def of_mipmap(array: Any) -> Any:
    r = cu.CUDA_RESOURCE_DESC()
    r.resType, r.res.mipmap.hMipmappedArray = cu.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, array
    return r


def of_line(address: int, size: int, format: Any = F32, channels: int = 1) -> Any:
    r = cu.CUDA_RESOURCE_DESC()
    r.resType = cu.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
    p = r.res.linear
    p.devPtr, p.sizeInBytes, p.format, p.numChannels = address, size, format, channels
    return r


def of_rows(address: int, width: int, height: int, pitch: int) -> Any:
    r = cu.CUDA_RESOURCE_DESC()
    r.resType = cu.CUresourcetype.CU_RESOURCE_TYPE_PITCH2D
    p = r.res.pitch2D
    p.devPtr, p.width, p.height, p.pitchInBytes, p.format, p.numChannels = address, width, height, pitch, F32, 1
    return r


def fill(host: Host, array: Any, data: np.ndarray[Any, Any], back: bool = False) -> None:
    """Copies (slices, rows, columns) to an array, or from it."""
    c, kinds = cu.CUDA_MEMCPY3D(), cu.CUmemorytype
    far, near = ("src", "dst") if back else ("dst", "src")
    slices, rows = data.shape[:2]
    c.Depth, c.Height, c.WidthInBytes = slices, rows, data.nbytes // (slices * rows)
    for name, value in (
        ("MemoryType", kinds.CU_MEMORYTYPE_HOST),
        ("Host", data.ctypes.data),
        ("Pitch", c.WidthInBytes),
        ("Height", c.Height),
    ):
        setattr(c, near + name, value)
    setattr(c, far + "MemoryType", kinds.CU_MEMORYTYPE_ARRAY)
    setattr(c, far + "Array", array)
    host("cuMemcpy3D", c)


def bound(handle: object) -> Texture:
    """What a launch finds behind a texture's handle."""
    found = STATE.stack[-1].resources.get(int(handle))  # type: ignore[call-overload]
    assert isinstance(found, Texture)
    return found


# ---------------------------------------------------------------- arrays


def test_arrays_take_device_memory(host: Host) -> None:
    before = host("cuMemGetInfo")[0]
    a = host("cuArray3DCreate", descriptor(1024, 1024))
    assert before - host("cuMemGetInfo")[0] >= 4 << 20
    host("cuArrayDestroy", a)
    assert host("cuMemGetInfo")[0] == before
    assert host.code("cuArrayDestroy", a) == "INVALID_HANDLE"
    size = before // (65536 * 65536 * 4 * 4) + 1
    made = [cu.cuArray3DCreate(descriptor(65536, 65536, channels=4)) for _ in range(size + 1)]
    assert made[-1][0] == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    for code, array in made:
        if not code:
            host("cuArrayDestroy", array)
    assert host("cuMemGetInfo")[0] == before


def test_levels_halve_every_side_but_layers(host: Host) -> None:
    m = host("cuMipmappedArrayCreate", descriptor(20, 9, 5), 100)
    sizes = []
    for k in range(5):
        d = host("cuArray3DGetDescriptor", host("cuMipmappedArrayGetLevel", m, k))
        sizes.append((d.Width, d.Height, d.Depth))
    assert sizes == [(20, 9, 5), (10, 4, 2), (5, 2, 1), (2, 1, 1), (1, 1, 1)]
    assert host.code("cuMipmappedArrayGetLevel", m, 5) == "INVALID_VALUE"
    level = host("cuMipmappedArrayGetLevel", m, 1)
    assert host("cuMipmappedArrayGetLevel", m, 1) == level
    assert host.code("cuArrayDestroy", level) == "INVALID_VALUE", "a level is a part of its array"
    host("cuMipmappedArrayDestroy", m)
    assert host.code("cuArray3DGetDescriptor", level) == "INVALID_HANDLE"
    assert host.code("cuMipmappedArrayDestroy", m) == "INVALID_HANDLE"
    m = host("cuMipmappedArrayCreate", descriptor(8, 4, 7, flags=LAYERED), 3)
    d = host("cuArray3DGetDescriptor", host("cuMipmappedArrayGetLevel", m, 2))
    assert (d.Width, d.Height, d.Depth) == (2, 1, 7)
    host("cuMipmappedArrayDestroy", m)


@pytest.mark.parametrize(
    "size, flags, channels",
    [
        ((0, 0, 0), 0, 1), ((4, 0, 0), 0, 3), ((4, 0, 5), 0, 1), ((8, 8, 5), CUBE, 1), ((8, 7, 6), CUBE, 1), ((8, 8, 12), CUBE, 1),
        ((8, 0, 0), GATHER, 1), ((8, 8, 6), CUBE | GATHER, 1), ((8, 8, 0), LAYERED, 1), ((8, 8, 0), 16, 1), ((131073, 0, 0), 0, 1),
        ((32769, 8, 0), GATHER, 1),
    ],
)  # fmt: skip
def test_shapes_that_no_array_has(host: Host, size: tuple[int, int, int], flags: int, channels: int) -> None:
    assert host.code("cuArray3DCreate", descriptor(*size, channels=channels, flags=flags)) == "INVALID_VALUE"
    assert host.code("cuMipmappedArrayCreate", descriptor(*size, channels=channels, flags=flags), 2) == "INVALID_VALUE"


def test_surfaces_and_levels_have_limits_of_their_own(host: Host) -> None:
    def most(name: str) -> int:
        return int(host("cuDeviceGetAttribute", getattr(cu.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_MAXIMUM_{name}"), 0))

    surface, levels = most("SURFACE1D_WIDTH"), most("TEXTURE1D_MIPMAPPED_WIDTH")
    assert surface < most("TEXTURE1D_WIDTH") > levels
    host("cuArray3DCreate", descriptor(surface, flags=SURFACE))
    host("cuArray3DCreate", descriptor(surface + 1))
    assert host.code("cuArray3DCreate", descriptor(surface + 1, flags=SURFACE)) == "INVALID_VALUE"
    host("cuMipmappedArrayCreate", descriptor(levels), 2)
    assert host.code("cuMipmappedArrayCreate", descriptor(levels + 1), 1) == "INVALID_VALUE"
    cubes = most("TEXTURECUBEMAP_LAYERED_LAYERS")
    host("cuArray3DCreate", descriptor(1, 1, cubes // 6 * 6, flags=LAYERED | CUBE))
    assert host.code("cuArray3DCreate", descriptor(1, 1, cubes // 6 * 6 + 6, flags=LAYERED | CUBE)) == "INVALID_VALUE"


def test_null_and_nonsense_descriptors(host: Host) -> None:
    for name in ("cuArrayCreate", "cuArray3DCreate", "cuSurfObjectCreate"):
        assert host.code(name, None) == "INVALID_VALUE"
    assert host.code("cuMipmappedArrayCreate", None, 1) == "INVALID_VALUE"
    d = descriptor(4)
    d.Format = 77
    assert host.code("cuArray3DCreate", d) == "INVALID_VALUE"
    assert host.code("cuTexObjectCreate", None, None, None) == "INVALID_VALUE"
    assert host.code("cuTexObjectCreate", cu.CUDA_RESOURCE_DESC(), cu.CUDA_TEXTURE_DESC(), None) == "INVALID_VALUE", "a null array"
    r = cu.CUDA_RESOURCE_DESC()
    r.resType = 9
    assert host.code("cuTexObjectCreate", r, cu.CUDA_TEXTURE_DESC(), None) == "INVALID_VALUE"
    a = host("cuArray3DCreate", descriptor(4))
    for name, value in (("filterMode", 5), ("mipmapFilterMode", 2), ("addressMode", [0, 4, 0]), ("flags", 128)):
        t = cu.CUDA_TEXTURE_DESC()
        setattr(t, name, value)
        assert host.code("cuTexObjectCreate", of_array(a), t, None) == "INVALID_VALUE", name
    r = of_array(a)
    r.flags = 1
    assert host.code("cuTexObjectCreate", r, cu.CUDA_TEXTURE_DESC(), None) == "INVALID_VALUE"
    assert host.code("cuTexObjectCreate", of_mipmap(a), cu.CUDA_TEXTURE_DESC(), None) == "INVALID_HANDLE", "it has no levels"
    assert host.code("cuSurfObjectCreate", of_line(host.upload(np.zeros(4)), 32)) == "INVALID_VALUE"


def test_a_sparse_array_takes_no_memory(host: Host) -> None:
    before = host("cuMemGetInfo")[0]
    a = host("cuArray3DCreate", descriptor(512, 512, flags=SPARSE))
    assert host("cuMemGetInfo")[0] == before
    p = host("cuArrayGetSparseProperties", a)
    assert (p.tileExtent.width, p.tileExtent.height, p.tileExtent.depth) == (128, 128, 1)
    data = np.ones((1, 512, 512), np.float32)
    fill(host, a, data)
    fill(host, a, data, back=True)
    assert not data.any(), "nothing is mapped"
    assert not bound(host("cuTexObjectCreate", of_array(a), cu.CUDA_TEXTURE_DESC(), None)).image.resident
    plain = host("cuArray3DCreate", descriptor(512, 512))
    assert host.code("cuArrayGetSparseProperties", plain) == "INVALID_VALUE"


# ---------------------------------------------------------------- objects


def test_a_texture_reads_the_memory_of_its_array(host: Host) -> None:
    m = host("cuMipmappedArrayCreate", descriptor(8, 4, channels=2), 3)
    data = [np.arange(64 >> 2 * k, dtype=np.float32).reshape(1, 4 >> k, 16 >> k) for k in range(3)]
    for k, one in enumerate(data):
        fill(host, host("cuMipmappedArrayGetLevel", m, k), one)
    t = cu.CUDA_TEXTURE_DESC()
    t.addressMode, t.filterMode, t.flags = [cu.CUaddress_mode(n) for n in (1, 2, 3)], cu.CUfilter_mode(1), 2 | 64
    t.mipmapFilterMode, t.mipmapLevelBias, t.minMipmapLevelClamp, t.maxMipmapLevelClamp = cu.CUfilter_mode(1), 0.5, 1.0, 2.0
    t.maxAnisotropy, t.borderColor = 4, [0.25, 0.5, 0.75, 1.0]
    texture = bound(host("cuTexObjectCreate", of_mipmap(m), t, None))
    image, s = texture.image, texture.sampler
    assert (image.width, image.height, image.depth, len(image.levels)) == (8, 4, 0, 3)
    for level, one in zip(image.levels, data, strict=True):
        assert np.array_equal(level, one.reshape(level.shape))
    assert (s.address, s.filter, s.mip_filter, s.normalized, s.integer, s.seamless) == (
        ("clamp", "mirror", "border"),
        "linear",
        "linear",
        True,
        False,
        True,
    )
    assert (s.bias, s.clamp, s.anisotropy, s.border) == (0.5, (1.0, 2.0), 4, (0.25, 0.5, 0.75, 1.0))
    fill(host, host("cuMipmappedArrayGetLevel", m, 1), data[1] + 5)
    assert np.array_equal(image.levels[1], (data[1] + 5).reshape(image.levels[1].shape)), "the memory itself"
    host("cuMipmappedArrayDestroy", m)
    assert image.gone() == "the array was destroyed"


def test_handles_are_small_and_not_given_twice(host: Host) -> None:
    a, t = host("cuArray3DCreate", descriptor(4, flags=SURFACE)), cu.CUDA_TEXTURE_DESC()
    first, second = (host("cuTexObjectCreate", of_array(a), t, None) for _ in range(2))
    surface = host("cuSurfObjectCreate", of_array(a))
    assert [int(h) for h in (first, second, surface)] == [1, 2, 3]
    table = STATE.stack[-1].resources
    assert isinstance(table.get(3), Surface)
    assert host.code("cuTexObjectDestroy", surface) == "INVALID_VALUE", "it is a surface"
    host("cuTexObjectDestroy", second)
    assert table.get(2) is None
    assert table.explain(2) == "texture object 2 was destroyed"
    for name in ("cuTexObjectDestroy", "cuTexObjectGetResourceDesc", "cuTexObjectGetTextureDesc", "cuSurfObjectGetResourceDesc"):
        assert host.code(name, second) == "INVALID_VALUE"
    assert int(host("cuTexObjectCreate", of_array(a), t, None)) == 4
    assert "0x4d" in table.explain(77)
    host("cuSurfObjectDestroy", surface)
    assert host.code("cuSurfObjectDestroy", surface) == "INVALID_VALUE"


def test_what_an_object_was_made_from(host: Host) -> None:
    a, t, v = host("cuArray3DCreate", descriptor(4, 4)), cu.CUDA_TEXTURE_DESC(), cu.CUDA_RESOURCE_VIEW_DESC()
    t.maxAnisotropy = 7
    v.format, v.width, v.height = cu.CUresourceViewFormat.CU_RES_VIEW_FORMAT_UINT_1X32, 4, 4
    plain, seen = host("cuTexObjectCreate", of_array(a), t, None), host("cuTexObjectCreate", of_array(a), t, v)
    t.maxAnisotropy = 8
    assert host("cuTexObjectGetResourceDesc", plain).res.array.hArray == a
    assert host("cuTexObjectGetTextureDesc", plain).maxAnisotropy == 7
    assert host.code("cuTexObjectGetResourceViewDesc", plain) == "INVALID_VALUE"
    assert host("cuTexObjectGetResourceViewDesc", seen).format == v.format
    assert host("cuSurfObjectGetResourceDesc", host("cuSurfObjectCreate", of_array(a))).res.array.hArray == a


def view(format: str, width: int, height: int, depth: int = 0, levels: tuple[int, int] = (0, 0), layers: tuple[int, int] = (0, 0)) -> Any:
    v = cu.CUDA_RESOURCE_VIEW_DESC()
    v.format = getattr(cu.CUresourceViewFormat, f"CU_RES_VIEW_FORMAT_{format}")
    v.width, v.height, v.depth = width, height, depth
    (v.firstMipmapLevel, v.lastMipmapLevel), (v.firstLayer, v.lastLayer) = levels, layers
    return v


def test_views_are_the_same_memory(host: Host) -> None:
    a, t = host("cuArray3DCreate", descriptor(4, 2, 3, flags=LAYERED)), cu.CUDA_TEXTURE_DESC()
    data = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    fill(host, a, data)
    image = bound(host("cuTexObjectCreate", of_array(a), t, view("UINT_2X16", 4, 2, 3, layers=(1, 2)))).image
    assert (image.depth, image.format.kind, image.format.bits, image.format.channels) == (2, "u", 16, 2)
    assert np.array_equal(image.levels[0].reshape(2, 2, 8), data[1:].view(np.uint16))
    refused: tuple[Callable[[], Any], ...] = (
        lambda: view("UINT_1X8", 4, 2, 3), lambda: view("UINT_1X32", 8, 2, 3), lambda: view("UINT_1X32", 4, 2, 3, levels=(0, 1)),
        lambda: view("UINT_1X32", 4, 2, 3, layers=(0, 3)), lambda: view("UINT_1X32", 4, 2, 3, layers=(2, 1)),
    )  # fmt: skip
    for make in refused:
        assert host.code("cuTexObjectCreate", of_array(a), t, make()) == "INVALID_VALUE"
    m = host("cuMipmappedArrayCreate", descriptor(8, 8), 4)
    image = bound(host("cuTexObjectCreate", of_mipmap(m), t, view("FLOAT_1X32", 8, 8, levels=(1, 2)))).image
    assert (image.width, image.height, len(image.levels)) == (4, 4, 2)
    at = host.upload(np.zeros(64))
    assert host.code("cuTexObjectCreate", of_line(at, 64), t, view("FLOAT_1X32", 16, 0)) == "INVALID_VALUE"


def test_memory_as_texels(host: Host) -> None:
    data, t = np.arange(64 * 3, dtype=np.float32), cu.CUDA_TEXTURE_DESC()
    at = host.upload(data)
    line = bound(host("cuTexObjectCreate", of_line(at, 400), t, None)).image
    assert line.linear and line.width == 100 and np.array_equal(line.levels[0].ravel(), data[:100])
    rows = bound(host("cuTexObjectCreate", of_rows(at, 50, 3, 256), t, None)).image
    assert not rows.linear and np.array_equal(rows.levels[0][0, :, :, 0], data.reshape(3, 64)[:, :50])
    for bad in (of_line(at + 4, 400), of_line(0, 400), of_line(at, 0), of_line(at, 1 << 40), of_line(at, data.nbytes + 4),
                of_rows(at, 50, 3, 16), of_rows(at, 50, 3, 208), of_rows(at, 50, 4, 256), of_rows(at, 0, 3, 256), of_rows(at, 50, 65001, 256),
                of_rows(at, 65, 3, 256), of_line(at, 400, channels=3)):  # fmt: skip
        assert host.code("cuTexObjectCreate", bad, t, None) == "INVALID_VALUE"
    host("cuMemFree", at)
    assert "was freed" in line.gone() and "was freed" in rows.gone()


def test_an_array_of_another_context(host: Host) -> None:
    a = host("cuArray3DCreate", descriptor(4))
    home = host("cuCtxGetCurrent")
    other = host("cuCtxCreate", None, 0, 0)
    assert host.code("cuTexObjectCreate", of_array(a), cu.CUDA_TEXTURE_DESC(), None) == "INVALID_VALUE"
    theirs = host("cuArray3DCreate", descriptor(4))
    host("cuCtxDestroy", other)
    host("cuCtxSetCurrent", home)
    assert host.code("cuTexObjectCreate", of_array(theirs), cu.CUDA_TEXTURE_DESC(), None) == "INVALID_VALUE", "its context is gone"
    assert host.code("cuArrayDestroy", theirs) == "INVALID_VALUE"


# ---------------------------------------------------------------- references


def test_references_of_a_module(host: Host) -> None:
    m = host.load(VARIABLES)
    r = host("cuModuleGetTexRef", m, b"picture")
    assert host("cuModuleGetTexRef", m, b"picture") == r
    for name in (b"many", b"target", b"other"):
        assert host.code("cuModuleGetTexRef", m, name) == "NOT_FOUND"
    assert host.code("cuModuleGetSurfRef", m, b"picture") == "NOT_FOUND"
    table = STATE.stack[-1].resources
    (handle,) = table.references
    assert handle & VARIABLE_BIT and table.kind(handle) == "texref" and table.get(handle) is None
    assert table.explain(handle) == "nothing is bound to the variable picture"
    a = host("cuArray3DCreate", descriptor(4, 4, format=Formats.CU_AD_FORMAT_UNSIGNED_INT8, channels=4))
    assert host.code("cuTexRefSetArray", r, a, 0) == "INVALID_VALUE"
    host("cuTexRefSetArray", r, a, 1)
    host("cuTexRefSetFilterMode", r, cu.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR)
    host("cuTexRefSetAddressMode", r, 1, cu.CUaddress_mode.CU_TR_ADDRESS_MODE_MIRROR)
    host("cuTexRefSetFlags", r, 2)
    texture = bound(handle)
    assert bound(handle) is texture, "made once"
    assert texture.sampler.address == ("wrap", "mirror", "wrap") and texture.sampler.filter == "linear" and texture.sampler.normalized
    assert host("cuTexRefGetArray", r) == a and host("cuTexRefGetFormat", r) == (Formats.CU_AD_FORMAT_UNSIGNED_INT8, 4)
    assert host.code("cuTexRefGetAddress", r) == "INVALID_VALUE" and host.code("cuTexRefGetMipmappedArray", r) == "INVALID_VALUE"
    for call in (("cuTexRefSetAddressMode", r, 3, 0), ("cuTexRefSetAddressMode", r, 0, 9), ("cuTexRefSetFilterMode", r, 2), ("cuTexRefSetFlags", r, 128),
                 ("cuTexRefSetFormat", r, F32, 3), ("cuTexRefSetFormat", r, 77, 1), ("cuTexRefDestroy", r)):  # fmt: skip
        assert host.code(*call) == "INVALID_VALUE", call
    surface = host("cuModuleGetSurfRef", m, b"target")
    assert host.code("cuSurfRefGetArray", surface) == "INVALID_VALUE"
    assert host.code("cuSurfRefSetArray", surface, a, 1) == "INVALID_VALUE"
    host("cuSurfRefSetArray", surface, a, 0)
    assert host("cuSurfRefGetArray", surface) == a
    host("cuArrayDestroy", a)
    assert bound(handle).image.gone() == "the array was destroyed"
    host("cuModuleUnload", m)
    assert host.code("cuTexRefGetFlags", r) == "INVALID_HANDLE"
    assert table.get(handle) is None and not table.kind(handle)


def test_texture_variables_of_the_first_versions(host: Host) -> None:
    m = host.load(".version 1.4\n.target sm_13\n.tex .u32 old;\n.entry k() { exit; }\n")
    a, r = host("cuArray3DCreate", descriptor(4)), host("cuModuleGetTexRef", m, b"old")
    host("cuTexRefSetArray", r, a, 1)
    (handle,) = STATE.stack[-1].resources.references
    assert STATE.stack[-1].resources.kind(handle) == "texref" and bound(handle).image.width == 4
    assert host.code("cuModuleGetGlobal", m, b"old") == "NOT_FOUND"


def test_settings_of_a_reference(host: Host) -> None:
    r = host("cuTexRefCreate")
    for name, given in (("MipmapFilterMode", cu.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR), ("MipmapLevelBias", 1.5), ("MaxAnisotropy", 8), ("Flags", 1),
                        ("BorderColor", [1.0, 2.0, 3.0, 4.0])):  # fmt: skip
        host(f"cuTexRefSet{name}", r, given)
        assert host(f"cuTexRefGet{name}", r) == given
    host("cuTexRefSetMipmapLevelClamp", r, 0.5, 3.0)
    assert host("cuTexRefGetMipmapLevelClamp", r) == (0.5, 3.0)
    at = host.upload(np.zeros(1024, np.float32))
    host("cuTexRefSetFormat", r, Formats.CU_AD_FORMAT_HALF, 2)
    assert host("cuTexRefSetAddress", r, at + 16, 64) == 16, "the bytes behind an aligned address"
    assert int(host("cuTexRefGetAddress", r)) == at + 16
    d = cu.CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = 8, 4, F32, 1
    host("cuTexRefSetAddress2D", r, d, at, 32)
    assert host("cuTexRefGetFormat", r) == (F32, 1)
    assert host.code("cuTexRefSetAddress2D", r, d, at + 16, 32) == "INVALID_VALUE"
    assert host.code("cuTexRefSetAddress2D", r, d, at, 33) == "INVALID_VALUE"
    assert host.code("cuTexRefSetAddress2D", r, None, at, 32) == "INVALID_VALUE"
    levels = host("cuMipmappedArrayCreate", descriptor(8, 8), 2)
    host("cuTexRefSetMipmappedArray", r, levels, 1)
    assert host("cuTexRefGetMipmappedArray", r) == levels
    host("cuTexRefDestroy", r)
    assert host.code("cuTexRefGetFlags", r) == "INVALID_HANDLE"


@model_only
def test_old_devices_have_references_alone(host: Host) -> None:
    old = machine().of_architecture("sm_20")
    host("cuCtxSetCurrent", host("cuDevicePrimaryCtxRetain", old.ordinal))
    a = host("cuArray3DCreate", descriptor(4, 4))
    assert host.code("cuTexObjectCreate", of_array(a), cu.CUDA_TEXTURE_DESC(), None) == "NOT_SUPPORTED"
    assert host.code("cuSurfObjectCreate", of_array(a)) == "NOT_SUPPORTED"
    r = host("cuTexRefCreate")
    host("cuTexRefSetArray", r, a, 1)
    assert host("cuTexRefGetArray", r) == a
    host("cuDevicePrimaryCtxReset", old.ordinal)
