"""The driver's calls that make tensor maps: descriptors of tensors in global memory, for cp.async.bulk.tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warplab.isa.tensor_map.descriptor import IM2COL, IM2COL_W, IM2COL_W128, TensorMap, decode, encode
from warplab.isa.tensor_map.elements import BY_NAME, ElementType
from warplab.isa.tensor_map.encoder import wrong

from ...errors import ApiError, invalid
from ..api import api, current, integer, member
from ..tables.enums import (
    CUtensorMapDataType,
    CUtensorMapFloatOOBfill,
    CUtensorMapIm2ColWideMode,
    CUtensorMapInterleave,
    CUtensorMapL2promotion,
    CUtensorMapSwizzle,
)
from ..tables.structs import CUtensorMap

_T = CUtensorMapDataType
_TYPES = {
    _T.CU_TENSOR_MAP_DATA_TYPE_UINT8: "u8", _T.CU_TENSOR_MAP_DATA_TYPE_UINT16: "u16", _T.CU_TENSOR_MAP_DATA_TYPE_UINT32: "u32",
    _T.CU_TENSOR_MAP_DATA_TYPE_INT32: "s32", _T.CU_TENSOR_MAP_DATA_TYPE_UINT64: "u64", _T.CU_TENSOR_MAP_DATA_TYPE_INT64: "s64",
    _T.CU_TENSOR_MAP_DATA_TYPE_FLOAT16: "f16", _T.CU_TENSOR_MAP_DATA_TYPE_FLOAT32: "f32", _T.CU_TENSOR_MAP_DATA_TYPE_FLOAT64: "f64",
    _T.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: "bf16", _T.CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ: "f32.ftz",
    _T.CU_TENSOR_MAP_DATA_TYPE_TFLOAT32: "tf32", _T.CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: "tf32.ftz",
}  # fmt: skip
_S = CUtensorMapSwizzle
_SWIZZLES = {
    _S.CU_TENSOR_MAP_SWIZZLE_NONE: 0, _S.CU_TENSOR_MAP_SWIZZLE_32B: 32, _S.CU_TENSOR_MAP_SWIZZLE_64B: 64, _S.CU_TENSOR_MAP_SWIZZLE_128B: 128,
}  # fmt: skip
_ATOMS = {  # swizzles of 128 bytes that move pieces of another size, as tensormap.replace numbers them
    _S.CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B: 1, _S.CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B: 2, _S.CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B: 3,
}  # fmt: skip
_I = CUtensorMapInterleave
_INTERLEAVES = {_I.CU_TENSOR_MAP_INTERLEAVE_NONE: 0, _I.CU_TENSOR_MAP_INTERLEAVE_16B: 16, _I.CU_TENSOR_MAP_INTERLEAVE_32B: 32}
_WIDE = {
    CUtensorMapIm2ColWideMode.CU_TENSOR_MAP_IM2COL_WIDE_MODE_W: IM2COL_W,
    CUtensorMapIm2ColWideMode.CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128: IM2COL_W128,
}
_MAX_RANK = 5
FIRST_CAPABILITY = (9, 0)
ATOMS_SINCE = (10, 0)


def _numbers(values: Sequence[object] | None, count: int, what: str) -> tuple[int, ...]:
    """The first numbers of a list."""
    if values is None or (count and not len(values)):
        raise invalid(f"{what} is null or empty")
    if len(values) < count:
        raise invalid(f"{what} has {len(values)} numbers; {count} are needed")
    return tuple(integer(v) for v in values[:count])


def _element(kind: object) -> ElementType:
    name = _TYPES.get(member(CUtensorMapDataType, kind))
    if name is None:
        raise invalid(f"{kind!r}: this device has no tensors of 4- and 6-bit elements")
    return BY_NAME[name]


def _plain(
    kind: object, rank: object, address: object, dims: Sequence[object], strides: Sequence[object], steps: Sequence[object],
    interleave: object, swizzle: object, promotion: object, fill: object,
) -> TensorMap:  # fmt: skip
    """What all kinds of maps have."""
    if current().profile.capability < FIRST_CAPABILITY:
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", "tensor maps need compute capability 9.0")
    n = integer(rank)
    if not 1 <= n <= _MAX_RANK:
        raise invalid(f"tensorRank is {n}; 1 to {_MAX_RANK} are allowed")
    pattern = member(CUtensorMapSwizzle, swizzle)
    if pattern in _ATOMS and current().profile.capability < ATOMS_SINCE:
        raise invalid(f"{swizzle!r}: this device has no swizzles of other atoms than 16 bytes")
    if strides is None or not len(strides):
        raise invalid("globalStrides is null or empty, which it may not even be for rank 1")
    return TensorMap(
        _element(kind),
        integer(address),
        _numbers(dims, n, "globalDim"),
        _numbers(strides, n - 1, "globalStrides"),
        steps=_numbers(steps, n, "elementStrides"),
        interleave=_INTERLEAVES[member(CUtensorMapInterleave, interleave)],
        swizzle=_SWIZZLES.get(pattern, 128),
        atomicity=_ATOMS.get(pattern, 0),
        promotion=int(member(CUtensorMapL2promotion, promotion)),
        nan_fill=bool(member(CUtensorMapFloatOOBfill, fill)),
    )


def _made(m: TensorMap) -> CUtensorMap:
    why = wrong(m)
    if why:
        raise invalid(why)
    out = CUtensorMap()
    out.opaque = list(encode(m))
    return out


@api
def cuTensorMapEncodeTiled(
    tensorDataType: object, tensorRank: object, globalAddress: object, globalDim: Sequence[object], globalStrides: Sequence[object],
    boxDim: Sequence[object], elementStrides: Sequence[object], interleave: object, swizzle: object, l2Promotion: object, oobFill: object,
) -> CUtensorMap:  # fmt: skip
    """A map whose copies are boxes."""
    m = _plain(
        tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle, l2Promotion, oobFill
    )
    return _made(replace(m, box=_numbers(boxDim, m.rank, "boxDim")))


@api
def cuTensorMapEncodeIm2col(
    tensorDataType: object, tensorRank: object, globalAddress: object, globalDim: Sequence[object], globalStrides: Sequence[object],
    pixelBoxLowerCorner: Sequence[object], pixelBoxUpperCorner: Sequence[object], channelsPerPixel: object, pixelsPerColumn: object,
    elementStrides: Sequence[object], interleave: object, swizzle: object, l2Promotion: object, oobFill: object,
) -> CUtensorMap:  # fmt: skip
    """A map whose copies are columns of pixels of an image."""
    m = _plain(
        tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle, l2Promotion, oobFill
    )
    corners = max(m.rank - 2, 0)
    lower, upper = (
        _numbers(pixelBoxLowerCorner, corners, "pixelBoxLowerCorner"),
        _numbers(pixelBoxUpperCorner, corners, "pixelBoxUpperCorner"),
    )
    return _made(replace(m, mode=IM2COL, lower=lower, upper=upper, channels=integer(channelsPerPixel), pixels=integer(pixelsPerColumn)))


@api
def cuTensorMapEncodeIm2colWide(
    tensorDataType: object, tensorRank: object, globalAddress: object, globalDim: Sequence[object], globalStrides: Sequence[object],
    pixelBoxLowerCornerWidth: object, pixelBoxUpperCornerWidth: object, channelsPerPixel: object, pixelsPerColumn: object,
    elementStrides: Sequence[object], interleave: object, mode: object, swizzle: object, l2Promotion: object, oobFill: object,
) -> CUtensorMap:  # fmt: skip
    """A map whose copies are pixels along the width of an image."""
    m = _plain(
        tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle, l2Promotion, oobFill
    )
    way = _WIDE[member(CUtensorMapIm2ColWideMode, mode)]
    lower, upper = (integer(pixelBoxLowerCornerWidth),), (integer(pixelBoxUpperCornerWidth),)
    return _made(replace(m, mode=way, lower=lower, upper=upper, channels=integer(channelsPerPixel), pixels=integer(pixelsPerColumn)))


@api
def cuTensorMapReplaceAddress(tensorMap: CUtensorMap, globalAddress: object) -> None:
    """The map describes a tensor at another address."""
    m = decode(tuple(integer(word) for word in tensorMap.opaque)) if isinstance(tensorMap, CUtensorMap) else None
    if m is None:
        raise invalid("tensorMap was made by no cuTensorMapEncode call")
    moved = replace(m, address=integer(globalAddress))
    why = wrong(moved)
    if why:
        raise invalid(why)
    tensorMap.opaque = list(encode(moved))
