"""Fixtures for the host's tests: a fresh primary context, and small kernels."""

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from warplab.runtime import driver
from warplab.runtime.driver.api import STATE

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNELS = (
    HEAD
    + """
.global .align 4 .u32 counter = 5;
.const .align 8 .f64 factor = 2.5;
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<9>;
    .reg .pred %p;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p bra DONE;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd1, %rd1, %rd4;
    add.u64 %rd2, %rd2, %rd4;
    add.u64 %rd3, %rd3, %rd4;
    ld.global.u32 %r2, [%rd1];
    ld.global.u32 %r3, [%rd2];
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd3], %r2;
DONE:
    ret;
}
.visible .entry poke(.param .u64 at, .param .u32 value)
{
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.u64 %rd, [at];
    ld.param.u32 %r, [value];
    st.global.u32 [%rd], %r;
    ret;
}
.visible .entry bounded(.param .u64 at) .maxntid 128, 1, 1
{
    ret;
}
.visible .entry fixed() .reqntid 32, 2, 1
{
    ret;
}
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared_size(.param .u64 out)
{
    .shared .align 4 .b8 own[1024];
    .reg .b32 %r;
    .reg .b64 %rd;
    ld.param.u64 %rd, [out];
    mov.u32 %r, own;
    mov.u32 %r, %total_smem_size;
    st.global.u32 [%rd], %r;
    mov.u32 %r, dynamic;
    st.global.u32 [%rd+4], %r;
    ret;
}
"""
)


class Host:
    """Driver calls that must succeed."""

    cu = driver

    def __call__(self, name: str, *args: object) -> Any:
        code, *results = getattr(driver, name)(*args)
        assert code == 0, f"{name}: {code!r} {STATE.last}"
        return results[0] if len(results) == 1 else tuple(results)

    def code(self, name: str, *args: object) -> str:
        """What a call says."""
        return str(getattr(driver, name)(*args)[0].name).removeprefix("CUDA_ERROR_").removeprefix("CUDA_")

    def load(self, text: str = KERNELS) -> Any:
        """A module."""
        return self("cuModuleLoadData", text.encode())

    def function(self, name: str, text: str = KERNELS) -> Any:
        """A kernel of a module."""
        return self("cuModuleGetFunction", self.load(text), name.encode())

    def upload(self, array: np.ndarray[Any, Any]) -> int:
        """A copy of an array on the device."""
        at = int(self("cuMemAlloc", max(array.nbytes, 1)))
        self("cuMemcpyHtoD", at, array, array.nbytes)
        return at

    def download(self, address: object, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What stands in device memory."""
        out = np.empty_like(like)
        self("cuMemcpyDtoH", out, address, out.nbytes)
        return out

    def launch(
        self, function: object, grid: int, block: int, values: tuple[object, ...], types: tuple[object, ...], shared: int = 0
    ) -> str:
        """Launches with the bindings' tuples; gives the code."""
        return self.code("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared, 0, (values, types), 0)


@pytest.fixture
def host() -> Iterator[Host]:
    """A current context as new."""
    g = Host()
    g("cuInit", 0)
    g("cuDevicePrimaryCtxReset", 0)
    g("cuCtxSetCurrent", g("cuDevicePrimaryCtxRetain", 0))
    yield g
    g("cuDevicePrimaryCtxReset", 0)
    g("cuDevicePrimaryCtxRelease", 0)
    STATE.stack.clear()


POINTER, U32 = ctypes.c_void_p, ctypes.c_uint32
