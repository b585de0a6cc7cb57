"""The runtime's calls that build graphs node by node, where its structures are not the driver's; forwards.py has the others."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import driver
from ..driver.graphs.nodes import (
    Made,
    add,
    captured_set,
    change,
    change_in,
    given,
    host_work,
    kernel_parameters,
    kernel_work,
    memset_work,
    of_kind,
    what_of,
)  # fmt: skip
from ..driver.memory.transfers import copy, fill
from ..driver.tables.layout import Struct
from .api import api, call, context
from .copies import box_work, direction, sides
from .enums import cudaMemcpyKind
from .registration import REGISTRY
from .structs import (
    cudaGraphConditionalHandle,
    cudaGraphNode_t,
    cudaHostNodeParams,
    cudaKernelNodeParams,
    cudaMemAllocNodeParams,
    cudaMemcpy3DParms,
    cudaMemsetParams,
    dim3,
)


def _same(kind: Any, value: Struct) -> Any:
    """A structure of the other API that has the same form."""
    out = kind()
    ctypes.memmove(out.getPtr(), value.getPtr(), ctypes.sizeof(out.c_type))
    return out


def _kernel(p: Any) -> Made:
    given(p)
    context()
    own = driver.CUDA_KERNEL_NODE_PARAMS()
    own.func = driver.CUfunction(REGISTRY.kernel(p.func))
    own.gridDimX, own.gridDimY, own.gridDimZ = p.gridDim.x, p.gridDim.y, p.gridDim.z
    own.blockDimX, own.blockDimY, own.blockDimZ = p.blockDim.x, p.blockDim.y, p.blockDim.z
    own.sharedMemBytes, own.kernelParams, own.extra = p.sharedMemBytes, p.kernelParams, p.extra
    return kernel_work(own)


def _box(p: Any) -> Made:
    return box_work(given(p)), p


def bytes_work(dst: int, src: int, count: int, kind: object) -> Made:
    """A copy of bytes, which is a box of one row."""
    source, target = sides(kind)
    row = cudaMemcpy3DParms()
    for end, at in ((row.srcPtr, src), (row.dstPtr, dst)):
        end.ptr, end.pitch, end.xsize, end.ysize = int(at), int(count), int(count), 1
    row.extent.width, row.extent.height, row.extent.depth = int(count), 1, 1
    row.kind = cudaMemcpyKind(int(kind))  # type: ignore[call-overload]
    return lambda: copy(int(dst), int(src), int(count), target, source), row


def _memset(p: Any) -> Made:
    return memset_work(_same(driver.CUDA_MEMSET_NODE_PARAMS, given(p)))


def _host(p: Any) -> Made:
    return host_work(_same(driver.CUDA_HOST_NODE_PARAMS, given(p)))


@api
def cudaGraphAddKernelNode(graph: object, pDependencies: object, numDependencies: object, pNodeParams: Any) -> Any:
    """A launch."""
    return cudaGraphNode_t(add(graph, pDependencies, numDependencies, "KERNEL", _kernel(pNodeParams)))


@api
def cudaGraphAddMemcpyNode(graph: object, pDependencies: object, numDependencies: object, pCopyParams: Any) -> Any:
    """A copy of a box."""
    return cudaGraphNode_t(add(graph, pDependencies, numDependencies, "MEMCPY", _box(pCopyParams)))


@api
def cudaGraphAddMemcpyNode1D(
    graph: object, pDependencies: object, numDependencies: object, dst: Any, src: Any, count: int, kind: object
) -> Any:
    """A copy of bytes."""
    return cudaGraphNode_t(add(graph, pDependencies, numDependencies, "MEMCPY", bytes_work(dst, src, count, kind)))


@api
def cudaGraphAddMemsetNode(graph: object, pDependencies: object, numDependencies: object, pMemsetParams: Any) -> Any:
    """A memset."""
    return cudaGraphNode_t(add(graph, pDependencies, numDependencies, "MEMSET", _memset(pMemsetParams)))


@api
def cudaGraphAddHostNode(graph: object, pDependencies: object, numDependencies: object, pNodeParams: Any) -> Any:
    """A call of a function of the host."""
    return cudaGraphNode_t(add(graph, pDependencies, numDependencies, "HOST", _host(pNodeParams)))


@api
def cudaGraphAddMemAllocNode(graph: object, pDependencies: object, numDependencies: object, nodeParams: Any) -> Any:
    """An allocation; nodeParams.dptr is its address."""
    own = _same(driver.CUDA_MEM_ALLOC_NODE_PARAMS, given(nodeParams))
    context()
    out = call(driver.cuGraphAddMemAllocNode, graph, pDependencies, numDependencies, own)
    nodeParams.dptr = int(own.dptr)
    return cudaGraphNode_t(out)


@api
def cudaGraphConditionalHandleCreate(graph: object, defaultLaunchValue: object, flags: object) -> Any:
    """A value that kernels of the graph set, and that decides what runs."""
    context()
    return cudaGraphConditionalHandle(int(call(driver.cuGraphConditionalHandleCreate, graph, 0, defaultLaunchValue, flags)))


@api
def cudaGraphConditionalHandleCreate_v2(graph: object, ctx: object, defaultLaunchValue: object, flags: object) -> Any:
    """The same, for a context."""
    context()
    return cudaGraphConditionalHandle(int(call(driver.cuGraphConditionalHandleCreate, graph, ctx, defaultLaunchValue, flags)))


@api
def cudaGraphMemAllocNodeGetParams(node: object) -> Any:
    """What a node allocates, and where."""
    return _same(cudaMemAllocNodeParams, call(driver.cuGraphMemAllocNodeGetParams, node))


@api
def cudaGraphKernelNodeGetParams(node: object) -> Any:
    """What a node launches."""
    own, out = kernel_parameters(of_kind(node, "KERNEL").what), cudaKernelNodeParams()
    out.func, out.sharedMemBytes, out.kernelParams = REGISTRY.function(int(own.func)), own.sharedMemBytes, own.kernelParams
    for field, values in (
        ("gridDim", (own.gridDimX, own.gridDimY, own.gridDimZ)),
        ("blockDim", (own.blockDimX, own.blockDimY, own.blockDimZ)),
    ):
        d = dim3()
        d.x, d.y, d.z = values
        setattr(out, field, d)
    return out


def _captured_copy(dst: int, src: int, size: int, to_host: bool | None = None, from_host: bool | None = None) -> cudaMemcpy3DParms:
    return bytes_work(dst, src, size, direction(from_host, to_host))[1]


@api
def cudaGraphMemcpyNodeGetParams(node: object) -> Any:
    """What a node copies."""
    return what_of(node, "MEMCPY", {copy: _captured_copy})


@api
def cudaGraphMemsetNodeGetParams(node: object) -> Any:
    """What a node sets."""
    return _same(cudaMemsetParams, what_of(node, "MEMSET", {fill: captured_set}))


@api
def cudaGraphHostNodeGetParams(node: object) -> Any:
    """What a node calls."""
    return _same(cudaHostNodeParams, what_of(node, "HOST", {}))


@api
def cudaGraphKernelNodeSetParams(node: object, pNodeParams: Any) -> None:
    """Changes what a node launches."""
    change(node, "KERNEL", _kernel(pNodeParams))


@api
def cudaGraphMemcpyNodeSetParams(node: object, pNodeParams: Any) -> None:
    """Changes what a node copies."""
    change(node, "MEMCPY", _box(pNodeParams))


@api
def cudaGraphMemcpyNodeSetParams1D(node: object, dst: Any, src: Any, count: int, kind: object) -> None:
    """Changes what a node copies, to bytes."""
    change(node, "MEMCPY", bytes_work(dst, src, count, kind))


@api
def cudaGraphMemsetNodeSetParams(node: object, pNodeParams: Any) -> None:
    """Changes what a node sets."""
    change(node, "MEMSET", _memset(pNodeParams))


@api
def cudaGraphHostNodeSetParams(node: object, pNodeParams: Any) -> None:
    """Changes what a node calls."""
    change(node, "HOST", _host(pNodeParams))


@api
def cudaGraphExecKernelNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> None:
    """Changes what a node launches, in what was instantiated."""
    change_in(hGraphExec, node, "KERNEL", _kernel(pNodeParams))


@api
def cudaGraphExecMemcpyNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> None:
    """Changes what a node copies, in what was instantiated."""
    change_in(hGraphExec, node, "MEMCPY", _box(pNodeParams))


@api
def cudaGraphExecMemcpyNodeSetParams1D(hGraphExec: object, node: object, dst: Any, src: Any, count: int, kind: object) -> None:
    """Changes what a node copies, to bytes, in what was instantiated."""
    change_in(hGraphExec, node, "MEMCPY", bytes_work(dst, src, count, kind))


@api
def cudaGraphExecMemsetNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> None:
    """Changes what a node sets, in what was instantiated."""
    change_in(hGraphExec, node, "MEMSET", _memset(pNodeParams))


@api
def cudaGraphExecHostNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> None:
    """Changes what a node calls, in what was instantiated."""
    change_in(hGraphExec, node, "HOST", _host(pNodeParams))
