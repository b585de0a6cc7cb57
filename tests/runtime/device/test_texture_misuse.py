"""What a kernel finds behind a handle that stands for nothing any more: a fault that says so, and nothing lost on the host."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warplab.runtime.driver.api import STATE

from ..conftest import POINTER, Host, driver
from ..driver.test_textures import VARIABLES, descriptor, fill, of_array, of_line

cu: Any = driver
SURFACE = 2
READS = (
    VARIABLES
    + """
.visible .entry by_handle(.param .u64 h, .param .u64 d)
{
    .reg .b64 %h, %d;
    .reg .b32 %x, %r<4>;
    ld.param.u64 %h, [h];
    ld.param.u64 %d, [d];
    mov.u32 %x, %tid.x;
    tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%h, {%x}];
    mad.wide.u32 %d, %x, 4, %d;
    st.global.u32 [%d], %r0;
    ret;
}
.visible .entry to_surface(.param .u64 h, .param .u64 d)
{
    .reg .b64 %h;
    .reg .b32 %x, %y;
    ld.param.u64 %h, [h];
    mov.u32 %x, %tid.x;
    shl.b32 %y, %x, 2;
    sust.b.1d.b32.trap [%h, {%y}], %x;
    ret;
}
.visible .entry by_variable(.param .u64 d)
{
    .reg .b64 %d;
    .reg .b32 %x, %r<4>;
    ld.param.u64 %d, [d];
    mov.u32 %x, %tid.x;
    tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [picture, {%x}];
    mad.wide.u32 %d, %x, 4, %d;
    st.global.u32 [%d], %r0;
    ret;
}
"""
)


def line_texture(host: Host) -> tuple[int, int]:
    """(address, handle) of eight words as a texture."""
    at = host.upload(np.arange(8, dtype=np.uint32))
    t = cu.CUDA_TEXTURE_DESC()
    t.flags = 1
    return at, int(host("cuTexObjectCreate", of_line(at, 32, cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32), t, None))


def array_surface(host: Host) -> tuple[Any, int]:
    """(array, handle) of eight words as a surface."""
    a = host("cuArray3DCreate", descriptor(8, format=cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32, flags=SURFACE))
    return a, int(host("cuSurfObjectCreate", of_array(a)))


def freed_memory(host: Host) -> int:
    at, handle = line_texture(host)
    host("cuMemFree", at)
    return handle


def destroyed_texture(host: Host) -> int:
    _, handle = line_texture(host)
    host("cuTexObjectDestroy", handle)
    return handle


def destroyed_array(host: Host) -> int:
    a, handle = array_surface(host)
    host("cuArrayDestroy", a)
    return handle


def destroyed_surface(host: Host) -> int:
    _, handle = array_surface(host)
    host("cuSurfObjectDestroy", handle)
    return handle


@pytest.mark.parametrize(
    ("entry", "misuse", "words"),
    [
        ("by_handle", freed_memory, "was freed"), ("by_handle", destroyed_texture, "texture object 1 was destroyed"),
        ("by_handle", lambda _: 77, "no texture or surface has the handle 0x4d"), ("to_surface", destroyed_array, "the array was destroyed"),
        ("to_surface", destroyed_surface, "surface object 1 was destroyed"),
    ],
)  # fmt: skip
def test_a_fault_says_what_is_gone(host: Host, entry: str, misuse: Callable[[Host], int], words: str) -> None:
    f = host.function(entry, READS)
    d = host.upload(np.zeros(8, np.uint32))
    handle = misuse(host)
    assert host.launch(f, 1, 8, (handle, d), (POINTER, POINTER)) == "SUCCESS"
    assert host.code("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    assert words in str(STATE.stack[-1].fault)


def test_what_lives_is_read_and_written(host: Host) -> None:
    f, d = host.function("by_handle", READS), host.upload(np.zeros(8, np.uint32))
    _, handle = line_texture(host)
    assert host.launch(f, 1, 8, (handle, d), (POINTER, POINTER)) == "SUCCESS"
    assert host.download(d, np.zeros(8, np.uint32)).tolist() == list(range(8))
    array, handle = array_surface(host)
    assert host.launch(host.function("to_surface", READS), 1, 8, (handle, d), (POINTER, POINTER)) == "SUCCESS"
    fill(host, array, got := np.zeros((1, 1, 8), np.uint32), back=True)
    assert got.ravel().tolist() == list(range(8))


def test_an_unbound_variable_reads_zeros_until_something_is_bound(host: Host) -> None:
    module, d = host.load(READS), host.upload(np.full(8, 9, np.uint32))
    f = host("cuModuleGetFunction", module, b"by_variable")
    assert host.launch(f, 1, 8, (d,), (POINTER,)) == "SUCCESS"
    assert not host.download(d, np.zeros(8, np.uint32)).any()
    at = host.upload(np.arange(8, dtype=np.uint32) + 100)
    r = host("cuModuleGetTexRef", module, b"picture")
    host("cuTexRefSetFormat", r, cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32, 1)
    host("cuTexRefSetFlags", r, 1)
    host("cuTexRefSetAddress", r, at, 32)
    assert host.launch(f, 1, 8, (d,), (POINTER,)) == "SUCCESS"
    assert host.download(d, np.zeros(8, np.uint32)).tolist() == list(range(100, 108))
