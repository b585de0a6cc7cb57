"""The driver's calls that build graphs node by node: what a node does, from a structure, and other work for it later."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ...device.graphs.graphs import DeviceGraph, Node
from ...device.graphs.pending import Work
from ...device.memory.host import host
from ...device.modules.kernels import LaunchShape
from ...errors import invalid
from ..api import api, handle_of, member
from ..events import event_of
from ..launching import ATTRIBUTE_BYTES, KernelWork, parameters
from ..memory.copies import box_work
from ..memory.transfers import copy, fill
from ..modules.libraries import kernel_of
from ..streams import call_host
from ..tables.enums import CUlaunchAttributeID, CUmemorytype
from ..tables.structs import (
    CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUevent,
    CUfunction,
    CUgraph,
    CUgraphNode,
)
from .graphs import executable_of, graph_of, node_of, nodes_of

Made = tuple[Work, Any]  # (what a node does, what it was made of)
Make = Callable[[Any], Made]


def kernel_work(p: CUDA_KERNEL_NODE_PARAMS) -> Made:
    """A launch, with the parameters as they are now."""
    k = kernel_of(p.func if int(p.func) else p.kern)
    shape = LaunchShape((p.gridDimX, p.gridDimY, p.gridDimZ), (p.blockDimX, p.blockDimY, p.blockDimZ), p.sharedMemBytes)
    made = KernelWork(k, shape, parameters(k, p.kernelParams, p.extra))
    k.validate(shape, made.block)
    return made.launch, made


def memset_work(p: CUDA_MEMSET_NODE_PARAMS) -> Made:
    """A memset."""
    if p.elementSize not in (1, 2, 4):
        raise invalid(f"elements of {p.elementSize} bytes; there are 1, 2 and 4")
    at, pitch, value, size, width, height = int(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height
    return lambda: fill(at, pitch, value, size, width, height), p


def memcpy_work(p: CUDA_MEMCPY3D) -> Made:
    """A copy of a box."""
    return box_work(p), p


def host_work(p: CUDA_HOST_NODE_PARAMS) -> Made:
    """A call of a function of the host."""
    fn, data = int(p.fn), int(p.userData)
    return lambda: call_host(fn, data), p


def graph_work(graph: Any) -> Made:
    """A graph within a graph: as it is now."""
    inner = graph_of(graph).clone()
    return inner.run, inner


def record_work(event: Any) -> Made:
    """The recording of an event."""
    e = event_of(event)
    return e.record, e


def wait_work(event: Any) -> Made:
    """The wait for an event, which earlier work has reached."""
    return _nothing, event_of(event)


def _nothing() -> None:
    """What an empty node does."""


def add(hGraph: object, dependencies: object, count: object, kind: str, made: Made) -> CUgraphNode:
    """A new node."""
    work, what = made
    return CUgraphNode(handle_of(graph_of(hGraph).add(kind, work, nodes_of(dependencies, count), what)))


def given(p: Any) -> Any:
    """A structure that a call needs."""
    if p is None:
        raise invalid("the parameters are null")
    return p


@api
def cuGraphAddKernelNode(hGraph: object, dependencies: object, numDependencies: object, nodeParams: Any) -> CUgraphNode:
    """A launch."""
    return add(hGraph, dependencies, numDependencies, "KERNEL", kernel_work(given(nodeParams)))


@api
def cuGraphAddMemcpyNode(hGraph: object, dependencies: object, numDependencies: object, copyParams: Any, ctx: object) -> CUgraphNode:
    """A copy of a box."""
    return add(hGraph, dependencies, numDependencies, "MEMCPY", memcpy_work(given(copyParams)))


@api
def cuGraphAddMemsetNode(hGraph: object, dependencies: object, numDependencies: object, memsetParams: Any, ctx: object) -> CUgraphNode:
    """A memset."""
    return add(hGraph, dependencies, numDependencies, "MEMSET", memset_work(given(memsetParams)))


@api
def cuGraphAddHostNode(hGraph: object, dependencies: object, numDependencies: object, nodeParams: Any) -> CUgraphNode:
    """A call of a function of the host."""
    return add(hGraph, dependencies, numDependencies, "HOST", host_work(given(nodeParams)))


@api
def cuGraphAddChildGraphNode(hGraph: object, dependencies: object, numDependencies: object, childGraph: object) -> CUgraphNode:
    """A graph as one piece of work."""
    return add(hGraph, dependencies, numDependencies, "GRAPH", graph_work(childGraph))


@api
def cuGraphAddEmptyNode(hGraph: object, dependencies: object, numDependencies: object) -> CUgraphNode:
    """No work: others come after it, or before."""
    return add(hGraph, dependencies, numDependencies, "EMPTY", (_nothing, None))


@api
def cuGraphAddEventRecordNode(hGraph: object, dependencies: object, numDependencies: object, event: object) -> CUgraphNode:
    """The recording of an event."""
    return add(hGraph, dependencies, numDependencies, "EVENT_RECORD", record_work(event))


@api
def cuGraphAddEventWaitNode(hGraph: object, dependencies: object, numDependencies: object, event: object) -> CUgraphNode:
    """The wait for an event."""
    return add(hGraph, dependencies, numDependencies, "WAIT_EVENT", wait_work(event))


# ---------------------------------------------------------------- what a node is


def of_kind(hNode: object, kind: str) -> Node:
    """A node that is of a kind."""
    node = node_of(hNode)
    if node.kind != kind:
        raise invalid(f"the node is of the kind {node.kind}, not {kind}")
    return node


def kernel_parameters(w: KernelWork) -> CUDA_KERNEL_NODE_PARAMS:
    """The structure of a launch; its parameters stand in memory that stays."""
    out = CUDA_KERNEL_NODE_PARAMS()
    out.func = CUfunction(handle_of(w.kernel))
    out.gridDimX, out.gridDimY, out.gridDimZ = w.shape.grid
    out.blockDimX, out.blockDimY, out.blockDimZ = w.shape.block
    out.sharedMemBytes = w.shape.dynamic_shared
    at = host().keep(w.block) if w.block else 0
    offsets = [offset for _, offset, _ in w.kernel.parameters]
    out.kernelParams = host().keep(struct.pack(f"<{len(offsets)}Q", *(at + o for o in offsets))) if offsets else 0
    return out


@api
def cuGraphKernelNodeGetParams(hNode: object) -> CUDA_KERNEL_NODE_PARAMS:
    """What a node launches."""
    return kernel_parameters(of_kind(hNode, "KERNEL").what)


def what_of(hNode: object, kind: str, captured: Mapping[Callable[..., None], Callable[..., Any]]) -> Any:
    """What a node was made of; of one that was captured, what its work and the arguments of that make."""
    node = of_kind(hNode, kind)
    if node.what is not None:
        return node.what
    if isinstance(node.work, partial) and node.work.func in captured:
        return captured[node.work.func](*node.work.args)
    raise invalid("the node was captured: what it was made of is not kept")


def captured_set(at: int, pitch: int, value: int, size: int, width: int, height: int) -> CUDA_MEMSET_NODE_PARAMS:
    """The structure of a memset."""
    out = CUDA_MEMSET_NODE_PARAMS()
    out.dst, out.pitch, out.value, out.elementSize, out.width, out.height = at, pitch, value & (1 << 8 * size) - 1, size, width, height
    return out


def captured_copy(dst: int, src: int, size: int, to_host: bool | None = None, from_host: bool | None = None) -> CUDA_MEMCPY3D:
    """The structure of a copy of bytes."""
    out = CUDA_MEMCPY3D()
    kinds = {True: CUmemorytype.CU_MEMORYTYPE_HOST, False: CUmemorytype.CU_MEMORYTYPE_DEVICE, None: CUmemorytype.CU_MEMORYTYPE_UNIFIED}
    out.dstMemoryType, out.srcMemoryType = kinds[to_host], kinds[from_host]
    for end, address, is_host in (("dst", dst, to_host), ("src", src, from_host)):
        setattr(out, f"{end}{'Host' if is_host else 'Device'}", address)
        setattr(out, f"{end}Pitch", size)
    out.WidthInBytes, out.Height, out.Depth = size, 1, 1
    return out


@api
def cuGraphMemcpyNodeGetParams(hNode: object) -> Any:
    """What a node copies."""
    return what_of(hNode, "MEMCPY", {copy: captured_copy})


@api
def cuGraphMemsetNodeGetParams(hNode: object) -> Any:
    """What a node sets."""
    return what_of(hNode, "MEMSET", {fill: captured_set})


@api
def cuGraphHostNodeGetParams(hNode: object) -> Any:
    """What a node calls."""
    return what_of(hNode, "HOST", {})


@api
def cuGraphChildGraphNodeGetGraph(hNode: object) -> CUgraph:
    """The graph in a node."""
    found = of_kind(hNode, "GRAPH").what
    assert isinstance(found, DeviceGraph)
    return CUgraph(handle_of(found))


@api
def cuGraphEventRecordNodeGetEvent(hNode: object) -> CUevent:
    """The event that a node records."""
    return CUevent(handle_of(of_kind(hNode, "EVENT_RECORD").what))


@api
def cuGraphEventWaitNodeGetEvent(hNode: object) -> CUevent:
    """The event that a node waits for."""
    return CUevent(handle_of(of_kind(hNode, "WAIT_EVENT").what))


# ---------------------------------------------------------------- other work for a node


def change(hNode: object, kind: str, made: Made) -> None:
    """Gives a node of a graph other work."""
    node = of_kind(hNode, kind)
    node.work, node.what = _attributed(node, made)


def change_in(hGraphExec: object, hNode: object, kind: str, made: Made) -> None:
    """Gives a node other work in what was instantiated."""
    node = of_kind(hNode, kind)
    executable_of(hGraphExec).replace(node, *_attributed(node, made))


def _attributed(node: Node, made: Made) -> Made:
    """Other work for a node; a launch keeps the node's attributes."""
    if not isinstance(node.what, KernelWork):
        return made
    own = replace(made[1], shape=replace(made[1].shape, cooperative=node.what.shape.cooperative, cluster=node.what.shape.cluster))
    own = own.with_attributes(node.what.attributes)
    return own.launch, own


@api
def cuGraphKernelNodeGetAttribute(hNode: object, attr: object) -> Any:
    """One attribute of a launch."""
    work: KernelWork = of_kind(hNode, "KERNEL").what
    return work.attribute(member(CUlaunchAttributeID, attr))


@api
def cuGraphKernelNodeSetAttribute(hNode: object, attr: object, value: Any) -> None:
    """Sets one attribute of a launch."""
    node, which = of_kind(hNode, "KERNEL"), member(CUlaunchAttributeID, attr)
    work: KernelWork = node.what
    own = work.with_attributes({**work.attributes, which: ctypes.string_at(given(value).getPtr(), ATTRIBUTE_BYTES)})
    node.work, node.what = own.launch, own


@api
def cuGraphKernelNodeCopyAttributes(dst: object, src: object) -> None:
    """Gives a launch the attributes of another."""
    node = of_kind(dst, "KERNEL")
    theirs: KernelWork = of_kind(src, "KERNEL").what
    node.what = replace(node.what, shape=replace(node.what.shape, cooperative=theirs.shape.cooperative, cluster=theirs.shape.cluster))
    own = node.what.with_attributes(theirs.attributes)
    node.work, node.what = own.launch, own


@api
def cuGraphKernelNodeSetParams(hNode: object, nodeParams: Any) -> None:
    """Changes what a node launches."""
    change(hNode, "KERNEL", kernel_work(given(nodeParams)))


@api
def cuGraphMemcpyNodeSetParams(hNode: object, nodeParams: Any) -> None:
    """Changes what a node copies."""
    change(hNode, "MEMCPY", memcpy_work(given(nodeParams)))


@api
def cuGraphMemsetNodeSetParams(hNode: object, nodeParams: Any) -> None:
    """Changes what a node sets."""
    change(hNode, "MEMSET", memset_work(given(nodeParams)))


@api
def cuGraphHostNodeSetParams(hNode: object, nodeParams: Any) -> None:
    """Changes what a node calls."""
    change(hNode, "HOST", host_work(given(nodeParams)))


@api
def cuGraphEventRecordNodeSetEvent(hNode: object, event: object) -> None:
    """Changes the event that a node records."""
    change(hNode, "EVENT_RECORD", record_work(event))


@api
def cuGraphEventWaitNodeSetEvent(hNode: object, event: object) -> None:
    """Changes the event that a node waits for."""
    change(hNode, "WAIT_EVENT", wait_work(event))


@api
def cuGraphExecKernelNodeSetParams(hGraphExec: object, hNode: object, nodeParams: Any) -> None:
    """Changes what a node launches, in what was instantiated."""
    change_in(hGraphExec, hNode, "KERNEL", kernel_work(given(nodeParams)))


@api
def cuGraphExecMemcpyNodeSetParams(hGraphExec: object, hNode: object, copyParams: Any, ctx: object) -> None:
    """Changes what a node copies, in what was instantiated."""
    change_in(hGraphExec, hNode, "MEMCPY", memcpy_work(given(copyParams)))


@api
def cuGraphExecMemsetNodeSetParams(hGraphExec: object, hNode: object, memsetParams: Any, ctx: object) -> None:
    """Changes what a node sets, in what was instantiated."""
    change_in(hGraphExec, hNode, "MEMSET", memset_work(given(memsetParams)))


@api
def cuGraphExecHostNodeSetParams(hGraphExec: object, hNode: object, nodeParams: Any) -> None:
    """Changes what a node calls, in what was instantiated."""
    change_in(hGraphExec, hNode, "HOST", host_work(given(nodeParams)))


@api
def cuGraphExecChildGraphNodeSetParams(hGraphExec: object, hNode: object, childGraph: object) -> None:
    """Changes the graph in a node, in what was instantiated."""
    change_in(hGraphExec, hNode, "GRAPH", graph_work(childGraph))


@api
def cuGraphExecEventRecordNodeSetEvent(hGraphExec: object, hNode: object, event: object) -> None:
    """Changes the event that a node records, in what was instantiated."""
    change_in(hGraphExec, hNode, "EVENT_RECORD", record_work(event))


@api
def cuGraphExecEventWaitNodeSetEvent(hGraphExec: object, hNode: object, event: object) -> None:
    """Changes the event that a node waits for, in what was instantiated."""
    change_in(hGraphExec, hNode, "WAIT_EVENT", wait_work(event))
