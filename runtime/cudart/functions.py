"""The runtime's calls about kernels: what is known of one, and its launch."""

from __future__ import annotations

from typing import Any

from .. import driver
from ..driver.api import integer
from ..errors import ApiError
from .api import api, bare, call, context
from .structs import cudaFuncAttributes, cudaFunction_t, cudaKernel_t, dim3

F = driver.CUfunction_attribute


@api(1)
def cudaGetKernel(entryFuncAddr: object) -> cudaKernel_t:
    """A kernel by its entry; here the handle of a function or of a library's kernel stands for it."""
    return cudaKernel_t(entryFuncAddr)


@api(1)
def cudaFuncGetAttributes(func: object) -> cudaFuncAttributes:
    """What is known of a kernel."""
    context()
    out = cudaFuncAttributes()

    def get(which: driver.CUfunction_attribute) -> int:
        return int(bare(driver.cuFuncGetAttribute, which, func))

    out.sharedSizeBytes = get(F.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    out.constSizeBytes = get(F.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
    out.localSizeBytes = get(F.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    out.maxThreadsPerBlock = get(F.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    out.numRegs = get(F.CU_FUNC_ATTRIBUTE_NUM_REGS)
    out.ptxVersion = get(F.CU_FUNC_ATTRIBUTE_PTX_VERSION)
    out.binaryVersion = get(F.CU_FUNC_ATTRIBUTE_BINARY_VERSION)
    out.maxDynamicSharedSizeBytes = get(F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    out.preferredShmemCarveout = get(F.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    out.clusterDimMustBeSet = get(F.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)
    out.requiredClusterWidth = get(F.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)
    out.requiredClusterHeight = get(F.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)
    out.requiredClusterDepth = get(F.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
    out.nonPortableClusterSizeAllowed = get(F.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    return out


@api()
def cudaKernelSetAttributeForDevice(kernel: object, attr: object, value: int, device: int) -> None:
    """Sets an attribute of a library's kernel."""
    call(driver.cuKernelSetAttribute, attr, value, kernel, device)


@api(1)
def cudaLibraryEnumerateKernels(numKernels: int, lib: object) -> list[cudaKernel_t]:
    """The first so many kernels."""
    return [cudaKernel_t(k) for k in call(driver.cuLibraryEnumerateKernels, numKernels, lib)]


@api(1)
def cudaGetFuncBySymbol(symbolPtr: object) -> cudaFunction_t:
    """The function of a kernel's handle."""
    context()
    return cudaFunction_t(symbolPtr)


def _three(d: object) -> tuple[int, int, int]:
    if isinstance(d, dim3):
        return d.x, d.y, d.z
    values = tuple(d) if isinstance(d, tuple | list) else (integer(d),)
    x, y, z = (*values, 1, 1)[:3]
    return int(x), int(y), int(z)


def _launch(work: Any, func: object, grid: object, block: object, shared: int, stream: object, args: object, *rest: object) -> None:
    g, b = _three(grid), _three(block)
    profile = context().profile
    wrong = min(*g, *b) < 1 or b[0] * b[1] * b[2] > profile.max_threads_per_block
    if wrong or any(x > m for x, m in zip((*g, *b), (*profile.max_grid, *profile.max_block), strict=True)):
        raise ApiError("cudaErrorInvalidConfiguration", f"grid {g}, block {b}")
    call(work, func, *g, *b, shared, stream, args, *rest)


@api()
def cudaLaunchKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> None:
    """Launches a kernel; func is the handle of a kernel or function, args as in cuLaunchKernel."""
    _launch(driver.cuLaunchKernel, func, gridDim, blockDim, sharedMem, stream, args, 0)


@api()
def cudaLaunchCooperativeKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> None:
    """Launches a kernel whose blocks are all resident together."""
    _launch(driver.cuLaunchCooperativeKernel, func, gridDim, blockDim, sharedMem, stream, args)
