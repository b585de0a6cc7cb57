"""Answers to calls about graphs whose structures are written back, or hold a union of all kinds of nodes."""

from __future__ import annotations

import struct
from typing import Any

from ... import cudart, driver
from ...cudart.api import context
from ...device.memory.host import host
from ...driver.api import handle_of
from ...driver.graphs.resources import add_conditional
from ...errors import ApiError, invalid
from .abi import as_structure, raw_value, read_array, write
from .special import AnsweredCall, answers

KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT, RECORD, ALLOC, FREE, CONDITIONAL = 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 13
PAYLOAD = 16  # where the union of CUgraphNodeParams begins
COPY = 16  # where the copy stands in its part of the union: behind flags and a context
CONDITION = struct.Struct("<QiIQ")  # handle, kind, how many graphs, where their array is
# kind: (the calls that add such a node, the structure that they take)
STRUCTURED = {
    KERNEL: ("GraphAddKernelNode", "CUDA_KERNEL_NODE_PARAMS", "cudaKernelNodeParams", 0),
    MEMCPY: ("GraphAddMemcpyNode", "CUDA_MEMCPY3D", "cudaMemcpy3DParms", COPY),
    MEMSET: ("GraphAddMemsetNode", "CUDA_MEMSET_NODE_PARAMS", "cudaMemsetParams", 0),
    HOST: ("GraphAddHostNode", "CUDA_HOST_NODE_PARAMS", "cudaHostNodeParams", 0),
    ALLOC: ("GraphAddMemAllocNode", "CUDA_MEM_ALLOC_NODE_PARAMS", "cudaMemAllocNodeParams", 0),
}
HANDLED = {GRAPH: "GraphAddChildGraphNode", WAIT: "GraphAddEventWaitNode", RECORD: "GraphAddEventRecordNode", FREE: "GraphAddMemFreeNode"}


def _named(c: AnsweredCall, *names: str) -> Any:
    return next(c.given[n] for n in names if n in c.given)


def _before(c: AnsweredCall) -> tuple[int, list[int], int]:
    """The graph, and the nodes that come first."""
    count = c.given["numDependencies"]
    return _named(c, "hGraph", "graph"), read_array("ptr", _named(c, "dependencies", "pDependencies"), count), count


def _allocated(result: tuple[Any, ...], c: AnsweredCall, at: int, p: Any) -> int:
    """Tells the program where the memory is, too."""
    if not result[0]:
        write(at, raw_value("", p))
        c.out("phGraphNode" if "phGraphNode" in c.given else "pGraphNode", "ptr", result[1])
    return int(result[0])


@answers("cuGraphAddMemAllocNode", "cudaGraphAddMemAllocNode")
def add_allocation(c: AnsweredCall) -> int:
    """An allocation, whose address is written into the structure."""
    is_runtime = "pGraphNode" in c.given
    at = c.given["nodeParams"]
    p = as_structure("cudaMemAllocNodeParams" if is_runtime else "CUDA_MEM_ALLOC_NODE_PARAMS", _raw(at, 120))
    call = cudart.cudaGraphAddMemAllocNode if is_runtime else driver.cuGraphAddMemAllocNode
    return _allocated(call(*_before(c), p), c, at, p)


def _raw(address: int, size: int) -> bytes:
    if not address:
        raise invalid("the parameters are null")
    return host().read(address, size).tobytes()


@answers("cuGraphAddNode", "cuGraphAddNode_v2")
def add_node(c: AnsweredCall) -> int:
    """A node of any kind."""
    return _add_node(c, driver, "cu", 1)


@answers("cudaGraphAddNode")
def add_runtime_node(c: AnsweredCall) -> int:
    """A node of any kind."""
    context()
    return _add_node(c, cudart, "cuda", 2)


def _add_node(c: AnsweredCall, api: Any, prefix: str, which: int) -> int:
    at = c.given["nodeParams"]
    raw = _raw(at, 256)
    kind = int.from_bytes(raw[:4], "little")
    graph, before, count = _before(c)
    if kind in STRUCTURED:
        row = STRUCTURED[kind]
        offset = PAYLOAD + int(row[3])
        p = as_structure(str(row[which]), raw[offset:])
        ctx = (0,) if prefix == "cu" and kind in (MEMCPY, MEMSET) else ()
        result = getattr(api, f"{prefix}{row[0]}")(graph, before, count, p, *ctx)
        if kind == ALLOC:
            return _allocated(result, c, at + offset, p)
    elif kind in HANDLED:
        result = getattr(api, f"{prefix}{HANDLED[kind]}")(graph, before, count, int.from_bytes(raw[PAYLOAD : PAYLOAD + 8], "little"))
    elif kind == EMPTY:
        result = getattr(api, f"{prefix}GraphAddEmptyNode")(graph, before, count)
    elif kind == CONDITIONAL:
        handle, how, size, _ = CONDITION.unpack_from(raw, PAYLOAD)
        node, bodies = add_conditional(graph, before, count, handle, how, size)
        array = host().keep(struct.pack(f"<{len(bodies)}Q", *map(handle_of, bodies)))
        write(at + PAYLOAD + CONDITION.size - 8, struct.pack("<Q", array))
        result = 0, node
    else:
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"graph nodes of the kind {kind}")
    if not result[0]:
        c.out("phGraphNode" if "phGraphNode" in c.given else "pGraphNode", "ptr", result[1])
    return int(result[0])


@answers("cuDeviceGetGraphMemAttribute", "cudaDeviceGetGraphMemAttribute")
def graph_memory_attribute(c: AnsweredCall) -> int:
    """One attribute of the memory of graphs: 64 bits."""
    result, value = driver.cuDeviceGetGraphMemAttribute(c.given["device"], c.given["attr"])
    if not result:
        c.out("value", "u64", value)
    return int(result)
