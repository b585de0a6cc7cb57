"""tex and tld4 in kernels: the operands they take, handles that differ by lane, guards, and handles that stand for nothing."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.runtime.driver.api import STATE

from ..conftest import POINTER, Host, driver
from ..driver.test_textures import descriptor, fill, of_array

cu: Any = driver
Words = NDArray[Any]
N = 8
SPARSE = 64
KERNEL = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 u, .param .u64 d)
{
    .reg .pred %p, %q;
    .reg .b64 %t, %u, %h, %d;
    .reg .b32 %i, %r, %g<5>;
    .reg .f32 %x, %y, %f<4>;
    .reg .b16 %b<4>;
    ld.param.u64 %t, [t];
    ld.param.u64 %u, [u];
    ld.param.u64 %d, [d];
    mov.u32 %i, %tid.x;
    mad.wide.u32 %d, %i, 4, %d;
    cvt.rn.f32.u32 %x, %i;
    mov.f32 %y, 0f3F800000;
    and.b32 %r, %i, 1;
    setp.eq.u32 %p, %r, 1;
    BODY
    st.global.b32 [%d], %r;
    ret;
}
"""


def texture(host: Host, data: Words, filter: int = 0, flags: int = 0) -> int:
    """A texture object of an array of rows."""
    rows, columns = data.shape
    array = host("cuArray3DCreate", descriptor(columns, rows, flags=flags))
    fill(host, array, data.reshape(1, rows, columns))
    t = cu.CUDA_TEXTURE_DESC()
    t.filterMode = cu.CUfilter_mode(filter)
    t.addressMode = [cu.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP] * 3
    return int(host("cuTexObjectCreate", of_array(array), t, None))


ROWS = np.arange(24, dtype=np.float32).reshape(3, N)


def run(host: Host, body: str, t: int, u: int = 0, target: str = "sm_90") -> Words:
    d = host.upload(np.full(N, 99, np.float32))
    f = host.function("k", KERNEL.replace("BODY", body).replace("sm_90", target))
    assert host.launch(f, 1, N, (t, u, d), (POINTER,) * 3) == "SUCCESS"
    host("cuCtxSynchronize")
    return host.download(d, np.zeros(N, np.float32))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, %u, {%x, %y}]; mov.b32 %r, %f0;", ROWS[1]),
        ("tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, %u, {%i, 20}]; mov.b32 %r, %f0;", ROWS[2]),
        ("tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, %u, {%x}]; mov.b32 %r, %f0;", 0 * ROWS[0]),
    ],
)
def test_independent_modules_name_a_sampler(host: Host, body: str, expected: Words) -> None:
    t = texture(host, ROWS)
    assert run(host, body, t, t, "sm_90, texmode_independent").tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}]; mov.b32 %r, %f0;", ROWS[1]),
        ("tex.2d.v4.f32.f32 {%f0, _, _, _}, [%t, {%x, %y, %x, %x}]; mov.b32 %r, %f0;", ROWS[1]),
        ("mov.b32 %x, %i; tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, %u, {%x, %x}]; mov.b32 %r, %f0;", ROWS[[0, 1, *[2] * 6], range(N)]),
        ("tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, {%i, 2}]; mov.b32 %r, %f0;", ROWS[2]),
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}], {2, 1}; mov.b32 %r, %f0;", ROWS[2][[2, 3, 4, 5, 6, 7, 7, 7]]),
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}], {2, 1}, %x; mov.b32 %r, %f0;", ROWS[2][[2, 3, 4, 5, 6, 7, 7, 7]]),
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}], %x; mov.b32 %r, %f0;", ROWS[1]),
        ("tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}], %x; mov.b32 %r, %f0;", ROWS[1]),
        ("tex.grad.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}], {%x, %y}, {%y, %x}; mov.b32 %r, %f0;", ROWS[1]),
        ("tex.2d.v4.f16.f32 {%b0, %b1, %b2, %b3}, [%t, {%x, %y}]; cvt.f32.f16 %f0, %b0; mov.b32 %r, %f0;", ROWS[1]),
        ("mov.b32 %r, 0f40A00000; @%p tex.2d.v4.f32.f32 {%r, %f1, %f2, %f3}, [%t, {%x, %y}];", np.where(np.arange(N) % 2, ROWS[1], 5)),
        ("tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%y, %y}]; mov.b32 %r, %f0;", np.full(N, ROWS[1, 0])),
    ],
)  # fmt: skip
def test_operands(host: Host, body: str, expected: Words) -> None:
    assert run(host, body, texture(host, ROWS), texture(host, -ROWS)).tolist() == expected.tolist()


def test_two_halves_in_a_register(host: Host) -> None:
    body = "tex.2d.v2.f16x2.f32 {%g0, %g1}, [%t, {%x, %y}]; mov.b32 {%b0, %b1}, %g0; cvt.f32.f16 %f0, %b0; mov.b32 %r, %f0;"
    assert run(host, body, texture(host, ROWS)).tolist() == ROWS[1].tolist()


def test_handles_may_differ_by_lane(host: Host) -> None:
    body = "selp.b64 %h, %u, %t, %p; tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%h, {%x, %y}]; mov.b32 %r, %f0;"
    first, second = texture(host, ROWS), texture(host, -ROWS, filter=1)
    found = run(host, body, first, second)
    assert found[::2].tolist() == ROWS[1][::2].tolist()
    halfway = -(ROWS[0] + ROWS[1]) / 2 + 0.5  # half a texel to the left and up
    assert found[1::2].tolist() == halfway[1::2].tolist()
    idle = body.replace("tex.2d", "@%p tex.2d").replace("selp", "mov.b32 %f0, 0f40A00000; selp")
    assert run(host, idle, 77, second).tolist() == np.where(np.arange(N) % 2, halfway, 5).tolist()


def test_a_sparse_array_without_memory_is_not_resident(host: Host) -> None:
    body = "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}|%q, [%t, {%x, %y}]; selp.f32 %f1, 0f40000000, 0f40400000, %q; add.f32 %f0, %f0, %f1; mov.b32 %r, %f0;"
    assert run(host, body, texture(host, ROWS)).tolist() == (ROWS[1] + 2).tolist()
    array = host("cuArray3DCreate", descriptor(512, 512, flags=SPARSE))
    handle = int(host("cuTexObjectCreate", of_array(array), cu.CUDA_TEXTURE_DESC(), None))
    assert run(host, body, handle).tolist() == [3.0] * N


def test_a_null_handle_reads_zeros_and_an_unknown_one_faults(host: Host) -> None:
    body = "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}]; mov.b32 %r, %f0;"
    assert not run(host, body, 0).any()
    f, d = host.function("k", KERNEL.replace("BODY", body)), host.upload(np.zeros(N, np.float32))
    assert host.launch(f, 1, N, (77, 0, d), (POINTER,) * 3) == "SUCCESS"
    assert host.code("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    fault = str(STATE.stack[-1].fault)
    assert "no texture or surface has the handle 0x4d" in fault and "tex.2d" in fault
