"""Tensor maps in the driver: what the calls take and refuse, and what a launch says of maps that describe nothing."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warplab.isa.tensor_map.descriptor import decode
from warplab.runtime import last_fault

from ..conftest import POINTER, Host, model_only

TEXT = (Path(__file__).parents[1] / "kernels" / "tensor_copy.ptx").read_text()


def arguments(cu: Any, address: int = 1 << 20, **others: object) -> list[object]:
    """Arguments of cuTensorMapEncodeTiled that are right but for some."""
    given = {
        "kind": cu.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_UINT16, "rank": 2, "address": address, "dims": [64, 96], "strides": [128],
        "box": [64, 32], "steps": [1, 1], "interleave": cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        "swizzle": cu.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE, "l2": cu.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
        "fill": cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    }  # fmt: skip
    assert others.keys() <= given.keys()
    return list({**given, **others}.values())


def encoded(host: Host, address: int) -> Any:
    """A map of 96 rows of 64 halves, in boxes of 32 rows."""
    return host("cuTensorMapEncodeTiled", *arguments(host.cu, address))


def launched(host: Host, x: Any, y: Any) -> str:
    """What a copy from one map's tensor to the other's says."""
    f = host("cuModuleGetFunction", host.load(TEXT), b"k")
    code = host.code("cuLaunchKernel", f, 3, 1, 1, 32, 1, 1, 0, 0, ((x, y), (None, None)), 0)
    return host.code("cuCtxSynchronize") if code == "SUCCESS" else code


def test_a_map_is_an_argument_of_a_launch(host: Host) -> None:
    x = np.arange(96 * 64, dtype=np.uint16)
    a, b = host.upload(x), host.upload(np.zeros_like(x))
    assert launched(host, encoded(host, a), encoded(host, b)) == "SUCCESS"
    assert (host.download(b, x) == x).all()


def test_a_map_moves_to_another_address(host: Host) -> None:
    x = np.arange(96 * 64, dtype=np.uint16)
    a, b = host.upload(x), host.upload(np.zeros_like(x))
    m = encoded(host, a)
    other = host.cu.CUtensorMap()
    other.opaque = list(m.opaque)
    host("cuTensorMapReplaceAddress", other, b)
    assert launched(host, m, other) == "SUCCESS" and (host.download(b, x) == x).all()


@model_only
@pytest.mark.parametrize(
    "wrong",
    [
        {"rank": 0}, {"rank": 6}, {"rank": -1}, {"address": 8}, {"dims": [64]}, {"dims": []}, {"dims": None}, {"dims": [64, 0]}, {"strides": None},
        {"strides": [8]}, {"strides": [-16]}, {"strides": [1 << 40]}, {"box": [64, 257]}, {"box": [4, 32]}, {"box": [64]}, {"steps": [1, 9]},
        {"steps": [0, 1]}, {"kind": 99}, {"swizzle": 7}, {"interleave": 3}, {"l2": -1}, {"fill": 2}, {"fill": 1}, {"kind": 13}, {"swizzle": 4},
        {"swizzle": 1},
    ],
    ids=str,
)  # fmt: skip
def test_what_no_map_is_made_of(host: Host, wrong: dict[str, object]) -> None:
    assert host.code("cuTensorMapEncodeTiled", *arguments(host.cu, **wrong)) == "INVALID_VALUE"


@model_only
def test_addresses_that_no_map_moves_to(host: Host) -> None:
    m = encoded(host, 1 << 20)
    before = list(m.opaque)
    for given, address in ((m, 8), (host.cu.CUtensorMap(), 1 << 20), (None, 1 << 20)):
        assert host.code("cuTensorMapReplaceAddress", given, address) == "INVALID_VALUE"
    assert list(m.opaque) == before


@model_only
def test_devices_without_tensor_copies(host: Host) -> None:
    from warplab.runtime.driver.textures.tensor_maps import FIRST_CAPABILITY

    capability = tuple(
        host("cuDeviceGetAttribute", getattr(host.cu.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{part}"), 0)
        for part in ("MAJOR", "MINOR")
    )
    assert capability >= FIRST_CAPABILITY
    assert host("cuDeviceGetAttribute", host.cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0) == 1


def test_zeros_are_no_map(host: Host) -> None:
    x = host.upload(np.zeros(96 * 64, np.uint16))
    assert launched(host, host.cu.CUtensorMap(), encoded(host, x)) == "ILLEGAL_INSTRUCTION"


MADE = """
.version 8.3
.target sm_90a
.address_size 64
.visible .entry make(.param .u64 map, .param .u64 tensor) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p;
    .shared .align 128 .b8 m[128];
    mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.b32 %r3, m; add.s32 %r2, %r2, %r3; st.shared.b32 [%r2], 0;
    ld.param.u64 %rd1, [map]; ld.param.u64 %rd2, [tensor]; cvt.u64.u32 %rd3, %r3;
    bar.warp.sync -1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra $copy;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd3], %rd2;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd3], 1;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd3], 0, 64;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%rd3], 1, 32;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd3], 0, 64;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%rd3], 1, 96;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd3], 0, 128;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd3], 0, 1;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%rd3], 1, 1;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%rd3], 1;
$copy:
    bar.warp.sync -1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%rd3], 128;
    ret;
}
"""


def made(host: Host, tensor: int, text: str = MADE) -> Any:
    """The map of encoded() as a kernel makes it of zeros."""
    at = host.upload(np.zeros(32, np.uint64))
    aligned = -(-at // 128) * 128
    assert host.launch(host.function("make", text), 1, 32, (aligned, tensor), (POINTER, POINTER)) == "SUCCESS"
    words = np.zeros(16, np.uint64)
    host("cuMemcpyDtoH", words, aligned, 128)
    out = host.cu.CUtensorMap()
    out.opaque = words.tolist()
    return out


def test_a_kernel_makes_a_map_of_zeros(host: Host) -> None:
    x = np.arange(96 * 64, dtype=np.uint16)
    a, b = host.upload(x), host.upload(np.zeros_like(x))
    assert launched(host, made(host, a), made(host, b)) == "SUCCESS"
    assert (host.download(b, x) == x).all()


def test_a_map_without_its_sizes_is_none(host: Host) -> None:
    x = host.upload(np.zeros(96 * 64, np.uint16))
    text = "\n".join(line for line in MADE.splitlines() if "box_dim" not in line)
    assert launched(host, encoded(host, x), made(host, x, text)) != "SUCCESS"


@pytest.mark.parametrize("which", [0, 1])
def test_a_map_of_memory_that_was_freed(host: Host, which: int) -> None:
    places = [host.upload(np.zeros(96 * 64, np.uint16)) for _ in range(2)]
    x, y = (encoded(host, a) for a in places)
    host("cuMemFree", places[which])
    assert launched(host, x, y) == "ILLEGAL_ADDRESS"


def test_a_map_that_reaches_beyond_its_memory(host: Host) -> None:
    small, large = host.upload(np.zeros(95 * 64, np.uint16)), host.upload(np.zeros(96 * 64, np.uint16))
    assert launched(host, encoded(host, small), encoded(host, large)) == "ILLEGAL_ADDRESS"


@model_only
def test_the_words_are_those_that_the_arguments_say(host: Host) -> None:
    m = host("cuTensorMapEncodeIm2col", *arguments(host.cu, rank=4, dims=[64, 7, 6, 2], strides=[128, 896, 5376], steps=[1, 2, 1, 1])[:5],
             [-1, -2], [0, 1], 32, 16, [1, 2, 1, 1], *arguments(host.cu, swizzle=2)[7:])  # fmt: skip
    found = decode(tuple(int(w) for w in m.opaque))
    assert found is not None and (found.lower, found.upper, found.channels, found.pixels) == ((-1, -2), (0, 1), 32, 16)
    assert (found.dims, found.strides, found.steps, found.swizzle) == ((64, 7, 6, 2), (128, 896, 5376), (1, 2, 1, 1), 64)
    assert ctypes.sizeof(ctypes.c_uint64) * len(m.opaque) == 128


@model_only
def test_faults_say_which_tensor_and_which_copies(host: Host) -> None:
    place = host.upload(np.zeros(96 * 64, np.uint16))
    x = encoded(host, place)
    host("cuMemFree", place)
    assert launched(host, x, x) == "ILLEGAL_ADDRESS"
    said = str(last_fault())
    assert f"the tensor map describes 64 x 96 elements of u16 from {place:#x} on" in said and "use after free" in said
    assert "thread (0, 0, 0) and 2 more lanes" in said, "three blocks copy"
