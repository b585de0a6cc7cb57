"""The driver's calls about memory nodes, conditional nodes and user objects of graphs."""

from __future__ import annotations

from typing import Any

from ...device.graphs.graphs import DeviceGraph
from ...device.graphs.resources import (
    Conditional,
    ConditionalWork,
    GraphMemory,
    UserObject,
    bodies,
    conditional,
    graph_memories,
    graph_memory,
    graph_memory_at,
    graph_sizes,
)
from ...errors import invalid, unsupported
from ..api import api, current, device_of, forget, handle_of, integer, object_of
from ..tables.enums import CUgraphMem_attribute, CUmemAllocationType, CUmemLocationType
from ..tables.structs import CUDA_MEM_ALLOC_NODE_PARAMS, CUdeviceptr, CUgraphConditionalHandle, CUgraphNode, CUuserObject
from .graphs import graph_of
from .nodes import add, given, of_kind

Attribute = CUgraphMem_attribute
MOVE = 1  # a flag of cuGraphRetainUserObject: the caller's use becomes the graph's
CONDITIONALS: dict[int, Conditional] = {}


@api
def cuGraphAddMemAllocNode(hGraph: object, dependencies: object, numDependencies: object, nodeParams: Any) -> CUgraphNode:
    """An allocation; nodeParams.dptr is its address."""
    p = given(nodeParams)
    if p.poolProps.location.type != CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        raise unsupported("graphs allocate memory of devices alone")
    m = graph_memory(current(), p.bytesize)
    p.dptr = m.range.start
    return add(hGraph, dependencies, numDependencies, "MEM_ALLOC", (m.begin, m))


@api
def cuGraphMemAllocNodeGetParams(hNode: object) -> CUDA_MEM_ALLOC_NODE_PARAMS:
    """What a node allocates, and where."""
    m: GraphMemory = of_kind(hNode, "MEM_ALLOC").what
    out = CUDA_MEM_ALLOC_NODE_PARAMS()
    out.poolProps.allocType = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    out.poolProps.location.type, out.poolProps.location.id = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, m.range.owner.ordinal
    out.bytesize, out.dptr = m.range.size, m.range.start
    return out


@api
def cuGraphAddMemFreeNode(hGraph: object, dependencies: object, numDependencies: object, dptr: object) -> CUgraphNode:
    """The end of a graph's allocation."""
    m = graph_memory_at(integer(dptr))
    if m is None:
        raise invalid(f"no graph has allocated memory at {integer(dptr):#x}")
    return add(hGraph, dependencies, numDependencies, "MEM_FREE", (m.end, m))


@api
def cuGraphMemFreeNodeGetParams(hNode: object) -> CUdeviceptr:
    """The address that a node frees."""
    return CUdeviceptr(of_kind(hNode, "MEM_FREE").what.range.start)


@api
def cuDeviceGetGraphMemAttribute(device: object, attr: object) -> int:
    """Bytes that graphs use on a device, or have reserved there."""
    d, which = device_of(device), int(attr)  # type: ignore[call-overload]
    if which not in [int(a) for a in Attribute]:
        raise invalid(f"no attribute has the number {which}")
    now, highest = graph_sizes(d.ordinal), d.arena.of_graphs
    return (now[0], max(now[0], highest.used), now[1], max(now[1], highest.reserved))[which]


@api
def cuDeviceSetGraphMemAttribute(device: object, attr: object, value: object) -> None:
    """High-water marks begin again."""
    highest, which = device_of(device).arena.of_graphs, integer(attr)
    if which not in (Attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, Attribute.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) or integer(value):
        raise invalid("only the high-water marks can be set, and only to 0")
    if which == Attribute.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
        highest.used = 0
    else:
        highest.reserved = 0


@api
def cuDeviceGraphMemTrim(device: object) -> None:
    """Gives back what graphs have reserved and do not use now; they take it again when they are launched."""
    for m in graph_memories(device_of(device).ordinal):
        m.trim()


# ---------------------------------------------------------------- conditional nodes


@api
def cuGraphConditionalHandleCreate(hGraph: object, ctx: object, defaultLaunchValue: object, flags: object) -> CUgraphConditionalHandle:
    """A value that kernels of the graph set, and that decides what runs."""
    c = conditional(current(), integer(defaultLaunchValue), integer(flags))
    graph_of(hGraph).conditions.append(c)
    CONDITIONALS[c.address] = c
    return CUgraphConditionalHandle(c.address)


def add_conditional(
    hGraph: object, dependencies: object, count: object, handle: int, kind: int, size: int
) -> tuple[CUgraphNode, list[DeviceGraph]]:
    """A conditional node, and the graphs that are to be filled."""
    condition, graph = CONDITIONALS.get(handle), graph_of(hGraph)
    around: DeviceGraph | None = graph
    while around is not None and condition not in around.conditions:
        around = around.parent
    if condition is None or around is None:
        raise invalid(f"{handle:#x} is not a handle of a condition of this graph, nor of one around it")
    work = ConditionalWork(condition, kind, [DeviceGraph(parent=graph) for _ in range(bodies(kind, size))])
    return add(hGraph, dependencies, count, "CONDITIONAL", (work.run, work)), work.bodies


# ---------------------------------------------------------------- user objects


def _user_object(handle: object) -> UserObject:
    return object_of(handle, UserObject, "CUDA_ERROR_INVALID_VALUE")


@api
def cuUserObjectCreate(ptr: object, destroy: object, initialRefcount: object, flags: object) -> CUuserObject:
    """An object that a function of the host destroys when nobody uses it any more."""
    if not integer(destroy) or integer(initialRefcount) < 1 or integer(flags) != 1:
        raise invalid("a user object needs a function, a user, and the flag CU_USER_OBJECT_NO_DESTRUCTOR_SYNC")
    return CUuserObject(handle_of(UserObject(integer(ptr), integer(destroy), integer(initialRefcount))))


@api
def cuUserObjectRetain(object: object, count: object) -> None:
    """So many more use an object."""
    _user_object(object).retain(integer(count))


@api
def cuUserObjectRelease(object: object, count: object) -> None:
    """So many no longer use an object."""
    o = _user_object(object)
    o.release(integer(count))
    if not o.users:
        forget(o)


@api
def cuGraphRetainUserObject(graph: object, object: object, count: object, flags: object) -> None:
    """A graph uses an object, so many times."""
    g, o, n = graph_of(graph), _user_object(object), integer(count)
    if integer(flags) & MOVE:
        if not 1 <= n <= o.users:
            raise invalid(f"{n} of {o.users} users")
    else:
        o.retain(n)
    g.objects[o] = g.objects.get(o, 0) + n


@api
def cuGraphReleaseUserObject(graph: object, object: object, count: object) -> None:
    """A graph no longer uses an object, so many times."""
    g, o, n = graph_of(graph), _user_object(object), integer(count)
    if not 1 <= n <= g.objects.get(o, 0):
        raise invalid(f"the graph uses it {g.objects.get(o, 0)} times")
    g.objects[o] -= n
    if not g.objects[o]:
        del g.objects[o]
    o.release(n)
