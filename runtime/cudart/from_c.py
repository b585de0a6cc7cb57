"""The runtime's calls that C has and cuda.bindings.runtime has not: launches, and copies of what only C has addresses for."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

from .. import driver
from ..device.graphs.pending import Work
from ..driver.graphs.nodes import add, change, change_in
from ..errors import invalid
from .api import api, call
from .copies import COPIES, copy_symbol
from .graphs import bytes_work
from .structs import cudaGraphNode_t


@COPIES.queued
def cudaMemcpyToSymbolAsync(symbol: object, src: object, count: int, offset: int, kind: object) -> Work:
    """To a variable, in a stream."""
    return partial(copy_symbol, symbol, src, count, offset, kind, True)


@COPIES.queued
def cudaMemcpyFromSymbolAsync(dst: object, symbol: object, count: int, offset: int, kind: object) -> Work:
    """From a variable, in a stream."""
    return partial(copy_symbol, symbol, dst, count, offset, kind, False)


@api
def cudaGraphAddMemcpyNodeToSymbol(
    graph: object, pDependencies: object, numDependencies: object, symbol: int, src: int, count: int, offset: int, kind: object
) -> Any:
    """A copy to a variable."""
    return cudaGraphNode_t(add(graph, pDependencies, numDependencies, "MEMCPY", bytes_work(symbol + offset, src, count, kind)))


@api
def cudaGraphAddMemcpyNodeFromSymbol(
    graph: object, pDependencies: object, numDependencies: object, dst: int, symbol: int, count: int, offset: int, kind: object
) -> Any:
    """A copy from a variable."""
    return cudaGraphNode_t(add(graph, pDependencies, numDependencies, "MEMCPY", bytes_work(dst, symbol + offset, count, kind)))


@api
def cudaGraphMemcpyNodeSetParamsToSymbol(node: object, symbol: int, src: int, count: int, offset: int, kind: object) -> None:
    """Changes what a node copies, to a variable."""
    change(node, "MEMCPY", bytes_work(symbol + offset, src, count, kind))


@api
def cudaGraphMemcpyNodeSetParamsFromSymbol(node: object, dst: int, symbol: int, count: int, offset: int, kind: object) -> None:
    """Changes what a node copies, from a variable."""
    change(node, "MEMCPY", bytes_work(dst, symbol + offset, count, kind))


@api
def cudaGraphExecMemcpyNodeSetParamsToSymbol(
    hGraphExec: object, node: object, symbol: int, src: int, count: int, offset: int, kind: object
) -> None:
    """Changes what a node copies, to a variable, in what was instantiated."""
    change_in(hGraphExec, node, "MEMCPY", bytes_work(symbol + offset, src, count, kind))


@api
def cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    hGraphExec: object, node: object, dst: int, symbol: int, count: int, offset: int, kind: object
) -> None:
    """Changes what a node copies, from a variable, in what was instantiated."""
    change_in(hGraphExec, node, "MEMCPY", bytes_work(dst, symbol + offset, count, kind))


def _driver_config(config: Any) -> Any:
    """The driver's form of a launch configuration: the attributes are the same."""
    if config is None:
        raise invalid("the configuration is null")
    out = driver.CUlaunchConfig()
    out.gridDimX, out.gridDimY, out.gridDimZ = config.gridDim.x, config.gridDim.y, config.gridDim.z
    out.blockDimX, out.blockDimY, out.blockDimZ = config.blockDim.x, config.blockDim.y, config.blockDim.z
    out.sharedMemBytes, out.hStream = config.dynamicSmemBytes, driver.CUstream(int(config.stream))
    attributes = []
    for a in config.attrs[: config.numAttrs]:
        own = driver.CUlaunchAttribute()
        ctypes.memmove(own.getPtr(), a.getPtr(), ctypes.sizeof(own.c_type))
        attributes.append(own)
    out.attrs, out.numAttrs = attributes, len(attributes)
    return out


@api
def cudaLaunchKernelExC(config: Any, func: object, args: object) -> None:
    """Launches a kernel as a configuration says."""
    call(driver.cuLaunchKernelEx, _driver_config(config), func, args, 0)


@api
def cudaOccupancyMaxPotentialClusterSize(func: object, launchConfig: Any) -> int:
    """The largest cluster that a configuration allows."""
    return int(call(driver.cuOccupancyMaxPotentialClusterSize, func, _driver_config(launchConfig)))


@api
def cudaOccupancyMaxActiveClusters(func: object, launchConfig: Any) -> int:
    """Clusters that the device holds at once."""
    return int(call(driver.cuOccupancyMaxActiveClusters, func, _driver_config(launchConfig)))


@api
def cudaFuncGetName(func: object) -> bytes:
    """The function's name."""
    return bytes(call(driver.cuFuncGetName, func))


@api
def cudaFuncGetParamInfo(func: object, paramIndex: int) -> tuple[int, int]:
    """(offset, size) of a parameter."""
    offset, size = call(driver.cuFuncGetParamInfo, func, paramIndex)
    return int(offset), int(size)
