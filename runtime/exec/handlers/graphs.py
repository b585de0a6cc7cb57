"""Answers to calls about graphs whose structures are written back, or hold a union of all kinds of nodes."""

from __future__ import annotations

import struct
from typing import Any

from ... import cudart, driver
from ...cudart.api import context
from ...device.memory.host import host
from ...driver.api import handle_of
from ...driver.graphs.graphs import executable_of, graph_of
from ...driver.graphs.nodes import of_kind
from ...driver.graphs.resources import add_conditional
from ...driver.tables.enums import CUgraphExecUpdateResult, CUresult
from ...errors import ApiError, invalid
from .abi import as_structure, raw_value, read_array, write
from .special import HandledCall, done, handles

KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT, RECORD, ALLOC, FREE, CONDITIONAL = 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 13
PAYLOAD = 16  # where the union of CUgraphNodeParams begins
COPY = 16  # where the copy stands in its part of the union: behind flags and a context
CONDITION = struct.Struct("<QiIQ")  # handle, kind, how many graphs, where their array is
# kind: (what the calls are named after, the structure that they take)
STRUCTURED = {
    KERNEL: ("KernelNode", "CUDA_KERNEL_NODE_PARAMS", "cudaKernelNodeParams", 0),
    MEMCPY: ("MemcpyNode", "CUDA_MEMCPY3D", "cudaMemcpy3DParms", COPY),
    MEMSET: ("MemsetNode", "CUDA_MEMSET_NODE_PARAMS", "cudaMemsetParams", 0),
    HOST: ("HostNode", "CUDA_HOST_NODE_PARAMS", "cudaHostNodeParams", 0),
    ALLOC: ("MemAllocNode", "CUDA_MEM_ALLOC_NODE_PARAMS", "cudaMemAllocNodeParams", 0),
}
# kind: (what the calls are named after, what the one that changes a node sets)
HANDLED = {
    GRAPH: ("ChildGraphNode", "Params"),
    WAIT: ("EventWaitNode", "Event"),
    RECORD: ("EventRecordNode", "Event"),
    FREE: ("MemFreeNode", ""),
}


def _named(c: HandledCall, *names: str) -> Any:
    return next(c.given[n] for n in names if n in c.given)


def _before(c: HandledCall) -> tuple[int, list[int], int]:
    """The graph, and the nodes that come first."""
    count = c.given["numDependencies"]
    return _named(c, "hGraph", "graph"), read_array("ptr", _named(c, "dependencies", "pDependencies"), count), count


def _allocated(result: tuple[Any, ...], c: HandledCall, at: int, p: Any) -> int:
    """Tells the program where the memory is, too."""
    if not result[0]:
        write(at, raw_value("", p))
        c.out("phGraphNode" if "phGraphNode" in c.given else "pGraphNode", "ptr", result[1])
    return int(result[0])


@handles("cuGraphAddMemAllocNode", "cudaGraphAddMemAllocNode")
def add_allocation(c: HandledCall) -> int:
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


@handles("cuGraphAddNode", "cuGraphAddNode_v2", "cuGraphAddNode_v3")
def add_node(c: HandledCall) -> int:
    """A node of any kind."""
    return _add_node(c, driver, "cu", 1)


@handles("cudaGraphAddNode", "cudaGraphAddNode@12", "cudaGraphAddNode_v2@12")
def add_runtime_node(c: HandledCall) -> int:
    """A node of any kind."""
    context()
    return _add_node(c, cudart, "cuda", 2)


def _add_node(c: HandledCall, api: Any, prefix: str, which: int) -> int:
    at = c.given["nodeParams"]
    raw = _raw(at, 256)
    kind = int.from_bytes(raw[:4], "little")
    graph, before, count = _before(c)
    if kind in STRUCTURED:
        p, ctx = _structured(raw, kind, which)
        result = getattr(api, f"{prefix}GraphAdd{STRUCTURED[kind][0]}")(graph, before, count, p, *ctx)
        if kind == ALLOC:
            return _allocated(result, c, at + PAYLOAD, p)
    elif kind in HANDLED:
        result = getattr(api, f"{prefix}GraphAdd{HANDLED[kind][0]}")(graph, before, count, _handled(raw))
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


def _structured(raw: bytes, kind: int, which: int) -> tuple[Any, tuple[int, ...]]:
    """The structure of a node, and the context that the driver's calls want behind some of them."""
    row = STRUCTURED[kind]
    return as_structure(str(row[which]), raw[PAYLOAD + int(row[3]) :]), (0,) if which == 1 and kind in (MEMCPY, MEMSET) else ()


def _handled(raw: bytes) -> int:
    return int.from_bytes(raw[PAYLOAD : PAYLOAD + 8], "little")


@handles("cuGraphNodeSetParams", "cuGraphNodeSetParams_v2", "cuGraphExecNodeSetParams")
def set_parameters(c: HandledCall) -> int:
    """Changes a node of any kind, in a graph or in what was instantiated."""
    return _set_parameters(c, driver, "cu", 1)


@handles("cudaGraphNodeSetParams", "cudaGraphExecNodeSetParams")
def set_runtime_parameters(c: HandledCall) -> int:
    """Changes a node of any kind, in a graph or in what was instantiated."""
    context()
    return _set_parameters(c, cudart, "cuda", 2)


def _set_parameters(c: HandledCall, api: Any, prefix: str, which: int) -> int:
    raw = _raw(c.given["nodeParams"], 256)
    kind = int.from_bytes(raw[:4], "little")
    graph = [c.given[n] for n in ("hGraphExec", "graphExec") if n in c.given]
    begin = f"{prefix}GraphExec" if graph else f"{prefix}Graph"
    call: Any = None
    what: tuple[Any, ...] = ()
    if kind in STRUCTURED:
        p, ctx = _structured(raw, kind, which)
        call, what = getattr(api, f"{begin}{STRUCTURED[kind][0]}SetParams", None), (p, *(ctx if graph else ()))
    elif kind in HANDLED:
        name, ending = HANDLED[kind]
        call, what = getattr(api, f"{begin}{name}Set{ending}", None), (_handled(raw),)
    if call is None:
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"other parameters for graph nodes of the kind {kind}")
    return done(call(*graph, _named(c, "hNode", "node"), *what))


@handles("cuGraphNodeGetParams")
def get_parameters(c: HandledCall) -> int:
    """What a node of any kind does."""
    return _get_parameters(c, driver, "cu")


@handles("cudaGraphNodeGetParams")
def get_runtime_parameters(c: HandledCall) -> int:
    """What a node of any kind does."""
    context()
    return _get_parameters(c, cudart, "cuda")


def _get_parameters(c: HandledCall, api: Any, prefix: str) -> int:
    node = _named(c, "hNode", "node")
    result, kind = driver.cuGraphNodeGetType(node)
    if result:
        return int(result)
    name, at = (STRUCTURED[kind][0], int(STRUCTURED[kind][3])) if kind in STRUCTURED else (HANDLED.get(kind, ("",))[0], 0)
    if kind == CONDITIONAL:
        work = of_kind(node, "CONDITIONAL").what
        array = host().keep(struct.pack(f"<{len(work.bodies)}Q", *map(handle_of, work.bodies)))
        head = struct.pack("<i", kind).ljust(PAYLOAD, b"\0") + CONDITION.pack(work.condition.address, work.kind, len(work.bodies), array)
        write(c.given["nodeParams"], head.ljust(256, b"\0"))
        return 0
    what = {GRAPH: "Graph", WAIT: "Event", RECORD: "Event"}.get(kind, "Params")
    call: Any = getattr(api, f"{prefix}Graph{name}Get{what}", None)
    if kind != EMPTY and call is None:
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"the parameters of graph nodes of the kind {int(kind)}")
    raw = bytearray(256)
    raw[:4] = int(kind).to_bytes(4, "little")
    if kind != EMPTY:
        result, value = call(node)
        if result:
            return int(result)
        part = raw_value("" if kind in STRUCTURED else "ptr", value)
        raw[PAYLOAD + at : PAYLOAD + at + len(part)] = part
    write(c.given["nodeParams"], bytes(raw))
    return 0


@handles("cuGraphExecUpdate_v2", "cudaGraphExecUpdate")
def update(c: HandledCall) -> int:
    """The work of another graph; where that does not fit, the structure says how and at which node."""
    call = cudart.cudaGraphExecUpdate if c.is_runtime else driver.cuGraphExecUpdate
    result, _ = call(c.given["hGraphExec"], c.given["hGraph"])
    if result in (CUresult.CUDA_SUCCESS, CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE):
        wrong = executable_of(c.given["hGraphExec"]).misfit(graph_of(c.given["hGraph"]))
        why = CUgraphExecUpdateResult[f"CU_GRAPH_EXEC_UPDATE_{f'ERROR_{wrong.why}' if wrong else 'SUCCESS'}"]
        write(c.given["resultInfo"], struct.pack("<i4xQQ", why, handle_of(wrong.node) if wrong else 0, 0))
    return int(result)


@handles(
    "cuStreamGetCaptureInfo_v2",
    "cuStreamGetCaptureInfo_v3",
    "cudaStreamGetCaptureInfo",
    "cudaStreamGetCaptureInfo@12",
    "cudaStreamGetCaptureInfo_v2@12",
    "cudaStreamGetCaptureInfo_v3@12",
)
def capture_info(c: HandledCall) -> int:
    """The capture of a stream; its lists stand in memory of ours."""
    if "stream" in c.given:
        context()
    name = "stream" if "stream" in c.given else "hStream"
    result, status, number, graph, nodes, edges, count = driver.cuStreamGetCaptureInfo(c.stream(name))
    if result:
        return int(result)
    lists = [host().keep(b"".join(raw_value(kind, v) for v in values)) if values else 0 for kind, values in (("ptr", nodes), ("", edges))]
    kinds = (
        ("captureStatus_out", "i32", status),
        ("id_out", "u64", number),
        ("graph_out", "ptr", graph),
        ("numDependencies_out", "u64", count),
    )
    for out, kind, value in (*kinds, ("dependencies_out", "ptr", lists[0]), ("edgeData_out", "ptr", lists[1])):
        if out in c.given:
            c.out(out, kind, value)
    return 0


@handles("cuThreadExchangeStreamCaptureMode", "cudaThreadExchangeStreamCaptureMode")
def exchange_capture_mode(c: HandledCall) -> int:
    """Sets the thread's mode; the one that was in force stands in the same place."""
    if not c.given["mode"]:
        raise invalid("the mode is null")
    (mode,) = read_array("i32", c.given["mode"], 1)
    result, before = driver.cuThreadExchangeStreamCaptureMode(mode)
    if not result:
        c.out("mode", "i32", before)
    return int(result)
