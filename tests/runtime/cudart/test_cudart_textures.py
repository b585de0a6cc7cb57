"""Textures and surfaces in the runtime API: objects, and references as toolkits before CUDA 12 had them."""

from typing import Any

import numpy as np
import pytest

from warplab.isa.textures.resources import Texture
from warplab.runtime import cudart as rt
from warplab.runtime.driver.api import STATE

from ..conftest import Host
from ..driver.test_textures import VARIABLES
from .test_cudart import OK, good

Error = rt.cudaError_t
U8 = rt.cudaChannelFormatKind.cudaChannelFormatKindUnsigned
FLOAT = rt.cudaChannelFormatKind.cudaChannelFormatKindFloat


def texel(bits: int, channels: int, kind: Any) -> Any:
    return good(rt.cudaCreateChannelDesc(*[bits] * channels, *[0] * (4 - channels), kind))


def of_array(array: Any) -> Any:
    r = rt.cudaResourceDesc()
    r.resType, r.res.array.array = rt.cudaResourceType.cudaResourceTypeArray, array
    return r


def bound(handle: object) -> Texture:
    found = STATE.stack[-1].resources.get(int(handle))  # type: ignore[call-overload]
    assert isinstance(found, Texture)
    return found


@pytest.fixture
def picture(host: Host) -> Any:
    """An array of 8 x 4 bytes of four channels, counting up."""
    good(rt.cudaDeviceReset())
    a = good(rt.cudaMallocArray(texel(8, 4, U8), 8, 4, 0))
    data = np.arange(128, dtype=np.uint8)
    good(rt.cudaMemcpy2DToArray(a, 0, 0, data, 32, 32, 4, rt.cudaMemcpyKind.cudaMemcpyHostToDevice))
    return a


def test_an_object_says_what_it_was_made_from(picture: Any) -> None:
    t = rt.cudaTextureDesc()
    t.addressMode = [rt.cudaTextureAddressMode.cudaAddressModeMirror] * 3
    t.filterMode, t.readMode = rt.cudaTextureFilterMode.cudaFilterModeLinear, rt.cudaTextureReadMode.cudaReadModeNormalizedFloat
    t.normalizedCoords, t.sRGB, t.borderColor, t.maxAnisotropy = 1, 1, [1.0, 2.0, 3.0, 4.0], 2
    made = good(rt.cudaCreateTextureObject(of_array(picture), t, None))
    s = bound(made).sampler
    assert (s.address, s.filter, s.normalized, s.srgb, s.integer, s.border) == (("mirror",) * 3, "linear", True, True, False, (1, 2, 3, 4))
    back = good(rt.cudaGetTextureObjectTextureDesc(made))
    for name in t._names:
        assert getattr(back, name) == getattr(t, name), name
    assert good(rt.cudaGetTextureObjectResourceDesc(made)).res.array.array == picture
    assert rt.cudaGetTextureObjectResourceViewDesc(made)[0] == Error.cudaErrorInvalidValue
    good(rt.cudaDestroyTextureObject(made))
    assert rt.cudaDestroyTextureObject(made) == (Error.cudaErrorInvalidValue,)
    surface = good(rt.cudaCreateSurfaceObject(of_array(picture)))
    assert good(rt.cudaGetSurfaceObjectResourceDesc(surface)).res.array.array == picture
    good(rt.cudaDestroySurfaceObject(surface))


def test_how_integers_are_read(picture: Any) -> None:
    t = rt.cudaTextureDesc()
    assert bound(good(rt.cudaCreateTextureObject(of_array(picture), t, None))).sampler.integer, "as elements"
    t.filterMode = rt.cudaTextureFilterMode.cudaFilterModeLinear
    assert rt.cudaCreateTextureObject(of_array(picture), t, None)[0] == Error.cudaErrorInvalidFilterSetting
    words = good(rt.cudaMallocArray(texel(32, 1, U8), 8, 4, 0))
    t = rt.cudaTextureDesc()
    t.readMode = rt.cudaTextureReadMode.cudaReadModeNormalizedFloat
    assert rt.cudaCreateTextureObject(of_array(words), t, None)[0] == Error.cudaErrorInvalidNormSetting
    t.readMode = 7
    assert rt.cudaCreateTextureObject(of_array(words), t, None)[0] == Error.cudaErrorInvalidValue
    for kind in rt.cudaResourceType:
        r = rt.cudaResourceDesc()
        r.resType = kind
        known = Error.cudaErrorInvalidValue, Error.cudaErrorInvalidChannelDescriptor
        assert rt.cudaCreateTextureObject(r, rt.cudaTextureDesc(), None)[0] in known, f"{kind.name} of zeros"
        assert rt.cudaCreateSurfaceObject(r)[0] in known
    assert rt.cudaMallocArray(rt.cudaChannelFormatDesc(), 4, 4, 0)[0] == Error.cudaErrorInvalidChannelDescriptor
    assert rt.cudaCreateTextureObject(None, t, None)[0] == Error.cudaErrorInvalidValue
    assert rt.cudaCreateTextureObject(of_array(words), None, None)[0] == Error.cudaErrorInvalidValue


def test_views_levels_and_memory(picture: Any) -> None:
    v, t = rt.cudaResourceViewDesc(), rt.cudaTextureDesc()
    v.format, v.width, v.height = rt.cudaResourceViewFormat.cudaResViewFormatUnsignedInt1, 8, 4
    made = good(rt.cudaCreateTextureObject(of_array(picture), t, v))
    assert bound(made).image.format.bits == 32
    assert good(rt.cudaGetTextureObjectResourceViewDesc(made)).format == v.format
    m = good(rt.cudaMallocMipmappedArray(texel(32, 1, FLOAT), rt.make_cudaExtent(16, 16, 0), 3, 0))
    r = rt.cudaResourceDesc()
    r.resType, r.res.mipmap.mipmap = rt.cudaResourceType.cudaResourceTypeMipmappedArray, m
    assert len(bound(good(rt.cudaCreateTextureObject(r, t, None))).image.levels) == 3
    assert good(rt.cudaArrayGetInfo(good(rt.cudaGetMipmappedArrayLevel(m, 2))))[1].width == 4
    assert rt.cudaGetMipmappedArrayLevel(m, 3)[0] == Error.cudaErrorInvalidValue
    good(rt.cudaFreeMipmappedArray(m))
    assert rt.cudaFreeMipmappedArray(0) == (OK,)
    at = good(rt.cudaMalloc(1024))
    r = rt.cudaResourceDesc()
    r.resType = rt.cudaResourceType.cudaResourceTypePitch2D
    p = r.res.pitch2D
    p.devPtr, p.width, p.height, p.pitchInBytes, p.desc = at, 10, 4, 64, texel(32, 1, FLOAT)
    made = good(rt.cudaCreateTextureObject(r, t, None))
    assert (bound(made).image.width, bound(made).image.height) == (10, 4)
    assert good(rt.cudaGetTextureObjectResourceDesc(made)).res.pitch2D.desc.x == 32
    r.resType = rt.cudaResourceType.cudaResourceTypeLinear
    line = r.res.linear
    line.devPtr, line.sizeInBytes, line.desc = at, 100, texel(16, 2, U8)
    assert bound(good(rt.cudaCreateTextureObject(r, t, None))).image.width == 25
    assert good(rt.cudaDeviceGetTexture1DLinearMaxWidth(texel(32, 1, FLOAT), 0)) == 1 << 28
    sparse = good(rt.cudaMallocArray(texel(32, 1, FLOAT), 512, 512, rt.cudaArraySparse))
    assert good(rt.cudaArrayGetSparseProperties(sparse)).tileExtent.width == 128


def test_references_are_bound_by_name(picture: Any) -> None:
    library = good(rt.cudaLibraryLoadData(VARIABLES.encode(), [], [], 0, [], [], 0))
    ref = good(rt.cudaGetTextureReference(library, b"picture"))
    (known,) = STATE.stack[-1].resources.references.values()
    ref.addressMode = [rt.cudaTextureAddressMode.cudaAddressModeClamp] * 3
    ref.filterMode, ref.normalized = rt.cudaTextureFilterMode.cudaFilterModeLinear, 1
    ref.readMode = rt.cudaTextureReadMode.cudaReadModeNormalizedFloat
    assert rt.cudaGetTextureAlignmentOffset(ref)[0] == Error.cudaErrorInvalidTextureBinding
    good(rt.cudaBindTextureToArray(ref, picture, texel(8, 4, U8)))
    assert known.bound.sampler.filter == "linear" and known.bound.sampler.normalized and not known.bound.sampler.integer
    assert rt.cudaBindTextureToArray(ref, picture, texel(8, 2, U8))[0] == Error.cudaErrorInvalidValue
    at = good(rt.cudaMalloc(4096))
    assert good(rt.cudaBindTexture(ref, at + 8, texel(32, 2, FLOAT), 800)) == 8
    assert good(rt.cudaGetTextureAlignmentOffset(ref)) == 8
    assert known.bound.image.linear and known.bound.image.width == 101
    assert good(rt.cudaBindTexture2D(ref, at, texel(32, 1, FLOAT), 16, 8, 64)) == 0
    assert (known.bound.image.width, known.bound.image.height) == (16, 8)
    m = good(rt.cudaMallocMipmappedArray(texel(32, 1, FLOAT), rt.make_cudaExtent(16, 16, 0), 3, 0))
    good(rt.cudaBindTextureToMipmappedArray(ref, m, texel(32, 1, FLOAT)))
    assert len(known.bound.image.levels) == 3
    good(rt.cudaUnbindTexture(ref))
    assert known.bound is None
    target = good(rt.cudaGetSurfaceReference(library, b"target"))
    good(rt.cudaBindSurfaceToArray(target, picture, texel(8, 4, U8)))
    assert rt.cudaGetTextureReference(library, b"nothing")[0] == Error.cudaErrorSymbolNotFound
    assert rt.cudaBindTextureToArray(None, picture, texel(8, 4, U8))[0] == Error.cudaErrorInvalidTexture
    assert rt.cudaBindSurfaceToArray(None, picture, texel(8, 4, U8))[0] == Error.cudaErrorInvalidSurface
