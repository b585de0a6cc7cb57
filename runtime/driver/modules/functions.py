"""The driver's calls about functions: attributes, parameters, what was asked of their caches."""

from __future__ import annotations

from collections.abc import Callable

from ...device.modules.kernels import KernelHandle
from ...errors import invalid
from ..api import api, device_of, handle_of, integer, member
from ..tables.enums import CUclusterSchedulingPolicy, CUfunc_cache, CUfunction_attribute, CUfunctionLoadingState, CUsharedconfig
from ..tables.structs import CUmodule
from .libraries import kernel_of

FunctionAttribute = CUfunction_attribute


def attribute(k: KernelHandle, attrib: object) -> int:
    """One attribute of a kernel."""
    which = member(FunctionAttribute, attrib)
    own = k.directive(".reqnctapercluster")
    cluster = (*own, 1, 1)[:3] if own else k.cluster
    k.wanted = True
    c = k.context.profile.capability
    values: dict[CUfunction_attribute, Callable[[], int]] = {
        FunctionAttribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: lambda: k.max_threads,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: lambda: k.static_shared,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: lambda: k.const_bytes,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: lambda: k.local_bytes,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_NUM_REGS: lambda: k.registers,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_PTX_VERSION: lambda: k.ptx_version,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION: lambda: c[0] * 10 + c[1],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: lambda: 0,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: lambda: k.dynamic_limit,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: lambda: k.carveout,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: lambda: int(bool(k.directive(".explicitcluster"))),
        FunctionAttribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: lambda: cluster[0],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: lambda: cluster[1],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: lambda: cluster[2],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: lambda: int(k.nonportable_cluster),
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: lambda: k.scheduling_policy,
    }
    found = values.get(which)
    if found is None:
        raise invalid(f"{which.name} is not an attribute to ask for")
    return found()


def set_attribute(k: KernelHandle, attrib: object, value: int) -> None:
    """Sets one of the attributes that can be set."""
    axes = (
        "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH",
        "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT",
        "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH",
    )
    which = member(FunctionAttribute, attrib)
    if which is FunctionAttribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        k.set_dynamic_shared(value)
    elif which is FunctionAttribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if not -1 <= value <= 100:
            raise invalid(f"a carve-out of {value} per cent")
        k.carveout = value
    elif which.name in axes:
        if value < 0:
            raise invalid(f"a cluster of {value}")
        own = k.directive(".reqnctapercluster")
        if own and (*own, 1, 1)[axes.index(which.name)] != value:
            raise invalid("the kernel's own directive sets its cluster")
        k.cluster[axes.index(which.name)] = value
    elif which is FunctionAttribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        k.nonportable_cluster = bool(value)
    elif which is FunctionAttribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        k.scheduling_policy = int(member(CUclusterSchedulingPolicy, value))
    else:
        raise invalid(f"{which.name} can't be set")


@api
def cuFuncGetAttribute(attrib: object, hfunc: object) -> int:
    """One attribute of a function."""
    return attribute(kernel_of(hfunc), attrib)


@api
def cuFuncSetAttribute(hfunc: object, attrib: object, value: object) -> None:
    """Sets an attribute of a function."""
    set_attribute(kernel_of(hfunc), attrib, integer(value))


@api
def cuKernelGetAttribute(attrib: object, kernel: object, dev: object) -> int:
    """One attribute of a library's kernel on a device."""
    device_of(dev)
    return attribute(kernel_of(kernel), attrib)


@api
def cuKernelSetAttribute(attrib: object, val: object, kernel: object, dev: object) -> None:
    """Sets an attribute of a library's kernel."""
    device_of(dev)
    set_attribute(kernel_of(kernel), attrib, integer(val))


def _cache(k: KernelHandle, config: object) -> None:
    k.cache_config = member(CUfunc_cache, config)


@api
def cuFuncSetCacheConfig(hfunc: object, config: object) -> None:
    """Says how L1 and shared memory should share."""
    _cache(kernel_of(hfunc), config)


@api
def cuKernelSetCacheConfig(kernel: object, config: object, dev: object) -> None:
    """As cuFuncSetCacheConfig."""
    device_of(dev)
    _cache(kernel_of(kernel), config)


@api
def cuFuncSetSharedMemConfig(hfunc: object, config: object) -> None:
    """Asks for a width of shared memory's banks, which only devices of capability 3.x listen to."""
    kernel_of(hfunc).bank_config = member(CUsharedconfig, config)


@api
def cuFuncGetModule(hfunc: object) -> CUmodule:
    """The function's module."""
    return CUmodule(handle_of(kernel_of(hfunc).module))


@api
def cuFuncGetName(hfunc: object) -> bytes:
    """The function's name."""
    if not integer(hfunc):
        raise invalid("the function is null")
    return kernel_of(hfunc).name.encode()


cuKernelGetName = cuFuncGetName


def _parameter(k: KernelHandle, index: object) -> tuple[int, int]:
    n = integer(index)
    k.wanted = True
    if not 0 <= n < len(k.parameters):
        raise invalid(f"{k.name} has {len(k.parameters)} parameters")
    return k.parameters[n][1:]


@api
def cuFuncGetParamInfo(func: object, paramIndex: object) -> tuple[int, int]:
    """(offset, size) of a parameter."""
    return _parameter(kernel_of(func), paramIndex)


@api
def cuKernelGetParamInfo(kernel: object, paramIndex: object) -> tuple[int, int]:
    """(offset, size) of a parameter."""
    return _parameter(kernel_of(kernel), paramIndex)


@api
def cuFuncGetParamCount(func: object) -> int:
    """How many parameters the function takes."""
    return len(kernel_of(func).parameters)


@api
def cuKernelGetParamCount(kernel: object) -> int:
    """How many parameters the kernel takes."""
    return len(kernel_of(kernel).parameters)


@api
def cuFuncIsLoaded(function: object) -> CUfunctionLoadingState:
    """Has more of the function been asked for than its name?"""
    state, k = CUfunctionLoadingState, kernel_of(function)
    return state.CU_FUNCTION_LOADING_STATE_LOADED if k.wanted or k.kernel.is_planned else state.CU_FUNCTION_LOADING_STATE_UNLOADED


@api
def cuFuncLoad(function: object) -> None:
    """Plans a function before its first launch."""
    k = kernel_of(function)
    k.kernel.plan(k.function)
