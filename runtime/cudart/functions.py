"""The runtime's calls about kernels: what is known of one, and its launch."""

from __future__ import annotations

from typing import Any

from .. import driver
from ..driver.api import integer, results_of
from ..errors import ApiError
from .api import api, call, context
from .structs import cudaFuncAttributes, cudaFunction_t, cudaKernel_t, dim3

_ATTRIBUTES = """
    sharedSizeBytes=SHARED_SIZE_BYTES constSizeBytes=CONST_SIZE_BYTES localSizeBytes=LOCAL_SIZE_BYTES
    maxThreadsPerBlock=MAX_THREADS_PER_BLOCK numRegs=NUM_REGS ptxVersion=PTX_VERSION binaryVersion=BINARY_VERSION
    maxDynamicSharedSizeBytes=MAX_DYNAMIC_SHARED_SIZE_BYTES preferredShmemCarveout=PREFERRED_SHARED_MEMORY_CARVEOUT
    clusterDimMustBeSet=CLUSTER_SIZE_MUST_BE_SET requiredClusterWidth=REQUIRED_CLUSTER_WIDTH
    requiredClusterHeight=REQUIRED_CLUSTER_HEIGHT requiredClusterDepth=REQUIRED_CLUSTER_DEPTH
    nonPortableClusterSizeAllowed=NON_PORTABLE_CLUSTER_SIZE_ALLOWED
""".split()


@api
def cudaGetKernel(entryFuncAddr: object) -> cudaKernel_t:
    """A kernel by its entry; here the handle of a function or of a library's kernel stands for it."""
    return cudaKernel_t(entryFuncAddr)


@api
def cudaFuncGetAttributes(func: object) -> cudaFuncAttributes:
    """What is known of a kernel."""
    context()
    out = cudaFuncAttributes()
    for pair in _ATTRIBUTES:
        name, _, attribute = pair.partition("=")
        which = driver.CUfunction_attribute[f"CU_FUNC_ATTRIBUTE_{attribute}"]
        setattr(out, name, int(results_of(driver.cuFuncGetAttribute, which, func)))
    return out


@api
def cudaKernelSetAttributeForDevice(kernel: object, attr: object, value: int, device: int) -> None:
    """Sets an attribute of a library's kernel."""
    call(driver.cuKernelSetAttribute, attr, value, kernel, device)


@api
def cudaLibraryEnumerateKernels(numKernels: int, lib: object) -> list[cudaKernel_t]:
    """The first so many kernels."""
    return [cudaKernel_t(k) for k in call(driver.cuLibraryEnumerateKernels, numKernels, lib)]


@api
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


@api
def cudaLaunchKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> None:
    """Launches a kernel; func is the handle of a kernel or function, args as in cuLaunchKernel."""
    _launch(driver.cuLaunchKernel, func, gridDim, blockDim, sharedMem, stream, args, 0)


@api
def cudaLaunchCooperativeKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> None:
    """Launches a kernel whose blocks are all resident together."""
    _launch(driver.cuLaunchCooperativeKernel, func, gridDim, blockDim, sharedMem, stream, args)
