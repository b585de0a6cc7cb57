"""The driver's calls about graphs: capturing streams, copies of graphs, and running them.  nodes.py builds them node by node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...device.graphs.graphs import DEVICE_LAUNCH, LAUNCHABLE, Capture, DeviceGraph, Executable, Node
from ...device.graphs.pending import Work
from ...device.graphs.streams import LEGACY, DeviceStream, in_order
from ...device.memory.host import host
from ...errors import ApiError, invalid, unsupported
from ..api import api, current, forget, handle_of, integer, member, object_of, stream_of, text
from ..tables.enums import CUgraphExecUpdateResult, CUgraphNodeType, CUstreamCaptureMode, CUstreamCaptureStatus
from ..tables.structs import CUgraph, CUgraphEdgeData, CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphNode

Status = CUstreamCaptureStatus


def queue(stream: object, kind: str, work: Work) -> None:
    """Gives a stream a piece of work."""
    in_order(stream_of(stream), kind, work)


def uncaptured(s: DeviceStream, what: str) -> DeviceStream:
    """Refuses what can't be done with a stream that is being captured."""
    if s.capture is not None:
        raise s.capture.refuse(what)
    return s


# ---------------------------------------------------------------- capture


@api
def cuStreamBeginCapture(hStream: object, mode: object) -> None:
    """What the stream is given from now on becomes a graph and does not run."""
    begin_capture(hStream, mode, DeviceGraph())


def begin_capture(hStream: object, mode: object, graph: DeviceGraph, after: list[Node] | None = None) -> None:
    """Captures a stream into a graph, behind some of its nodes."""
    s = stream_of(hStream)
    if s is s.context.default_stream(LEGACY):
        raise ApiError("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "the legacy default stream can't be captured")
    if s.capture is not None:
        raise ApiError("CUDA_ERROR_ILLEGAL_STATE", "the stream is being captured already")
    s.capture = Capture(int(member(CUstreamCaptureMode, mode)), s, graph, {s: list(after or ())})
    s.context.captures.append(s.capture)


@api
def cuStreamEndCapture(hStream: object) -> CUgraph:
    """The graph of what the stream was given."""
    s = stream_of(hStream)
    capture = s.capture
    if capture is None:
        raise ApiError("CUDA_ERROR_ILLEGAL_STATE", "the stream is not being captured")
    if capture.origin is not s:
        raise capture.refuse("a stream ends it that did not begin it", "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED")
    s.context.captures.remove(capture)
    capture.end()
    return CUgraph(handle_of(capture.graph))


def _asked(stream: object) -> DeviceStream:
    """A stream about whose capture a call asks: of the legacy default stream none may while one that waits for it is captured, which goes on."""
    s = stream_of(stream)
    if s is s.context.default_stream(LEGACY) and any(c.is_awaited for c in s.context.captures):
        raise ApiError(
            "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "the legacy default stream is asked while a stream that waits for it is captured"
        )
    return s


@api
def cuStreamIsCapturing(hStream: object) -> CUstreamCaptureStatus:
    """Is the stream being captured, and can its graph be had?"""
    c = _asked(hStream).capture
    if c is None:
        return Status.CU_STREAM_CAPTURE_STATUS_NONE
    return Status.CU_STREAM_CAPTURE_STATUS_INVALIDATED if c.broken else Status.CU_STREAM_CAPTURE_STATUS_ACTIVE


@api
def cuStreamGetCaptureInfo(hStream: object) -> tuple[Any, ...]:
    """(status, number of the capture, its graph, what the stream's next work comes after, as edges, how many those are)."""
    s = _asked(hStream)
    c = s.capture
    if c is None or c.broken:
        status = Status.CU_STREAM_CAPTURE_STATUS_NONE if c is None else Status.CU_STREAM_CAPTURE_STATUS_INVALIDATED
        return status, 0, CUgraph(0), [], [], 0
    tails = [CUgraphNode(handle_of(n)) for n in c.tails.get(s, ())]
    return (
        Status.CU_STREAM_CAPTURE_STATUS_ACTIVE, c.number, CUgraph(handle_of(c.graph)), tails,
        [CUgraphEdgeData() for _ in tails], len(tails),
    )  # fmt: skip


@api
def cuStreamUpdateCaptureDependencies(
    hStream: object, dependencies: object, dependencyData: object, numDependencies: object, flags: object
) -> None:
    """Says what the stream's next work comes after: these nodes too, or (flags 1) these alone."""
    s = stream_of(hStream)
    if s.capture is None:
        raise ApiError("CUDA_ERROR_ILLEGAL_STATE", "the stream is not being captured")
    named = nodes_of(dependencies, numDependencies)
    if integer(flags) & 1:
        s.capture.tails[s] = named
    else:
        s.capture.join(s, named)


@api
def cuStreamBeginCaptureToGraph(
    hStream: object, hGraph: object, dependencies: object, dependencyData: object, numDependencies: object, mode: object
) -> None:
    """Captures a stream into a graph that exists."""
    begin_capture(hStream, mode, graph_of(hGraph), nodes_of(dependencies, numDependencies))


# ---------------------------------------------------------------- graphs


def graph_of(handle: object) -> DeviceGraph:
    """A graph by its handle."""
    return object_of(handle, DeviceGraph, "CUDA_ERROR_INVALID_VALUE")


def node_of(handle: object) -> Node:
    """A node by its handle."""
    return object_of(handle, Node, "CUDA_ERROR_INVALID_VALUE")


def nodes_of(handles: Any, count: object) -> list[Node]:
    """The first so many nodes of a list."""
    return [node_of(h) for h in list(handles or ())[: integer(count)]]


@api
def cuGraphCreate(flags: object) -> CUgraph:
    """An empty graph."""
    current()
    if integer(flags):
        raise invalid("the flags must be 0")
    return CUgraph(handle_of(DeviceGraph()))


@api
def cuGraphClone(originalGraph: object) -> CUgraph:
    """A copy of a graph."""
    g = graph_of(originalGraph)
    if any(n.kind in ("MEM_ALLOC", "MEM_FREE", "CONDITIONAL") for n in g.nodes):
        raise unsupported("a graph with conditional nodes, or with nodes that allocate or free memory, has no copies")
    return CUgraph(handle_of(g.clone()))


@api
def cuGraphNodeFindInClone(hOriginalNode: object, hClonedGraph: object) -> CUgraphNode:
    """The copy of a node in a copy of its graph."""
    found = graph_of(hClonedGraph).copies.get(node_of(hOriginalNode))
    if found is None:
        raise invalid("the graph is not a copy of the node's")
    return CUgraphNode(handle_of(found))


@api
def cuGraphDestroy(hGraph: object) -> None:
    """Ends a graph; what was instantiated from it lives on."""
    g = graph_of(hGraph)
    g.close()
    forget(g)


@api
def cuGraphGetId(hGraph: object) -> int:
    """A number that no other graph has."""
    return graph_of(hGraph).number


def _listed(nodes: list[Node], wanted: object) -> tuple[list[CUgraphNode], int]:
    n = integer(wanted)
    found = [CUgraphNode(handle_of(x)) for x in nodes[:n]]
    return found, len(found) if n else len(nodes)


@api
def cuGraphGetNodes(hGraph: object, numNodes: object = 0) -> tuple[list[CUgraphNode], int]:
    """(the first so many nodes, how many those are), or for none how many there are."""
    return _listed(graph_of(hGraph).nodes, numNodes)


@api
def cuGraphGetRootNodes(hGraph: object, numRootNodes: object = 0) -> tuple[list[CUgraphNode], int]:
    """(the nodes that come after nothing, how many those are)."""
    return _listed(graph_of(hGraph).roots, numRootNodes)


@api
def cuGraphGetEdges(hGraph: object, numEdges: object = 0) -> tuple[Any, ...]:
    """(nodes, what comes after each, the edges' data, how many those are), or for none how many there are."""
    edges, n = graph_of(hGraph).edges, integer(numEdges)
    before, after = ([CUgraphNode(handle_of(edge[end])) for edge in edges[:n]] for end in (0, 1))
    return before, after, [CUgraphEdgeData() for _ in before], len(before) if n else len(edges)


def _dependencies(nodes: list[Node], wanted: object) -> tuple[Any, ...]:
    found, count = _listed(nodes, wanted)
    return found, [CUgraphEdgeData() for _ in found], count


@api
def cuGraphNodeGetDependencies(hNode: object, numDependencies: object = 0) -> tuple[Any, ...]:
    """(what a node comes after, the edges' data, how many those are)."""
    return _dependencies(node_of(hNode).after, numDependencies)


@api
def cuGraphNodeGetDependentNodes(hNode: object, numDependentNodes: object = 0) -> tuple[Any, ...]:
    """(what comes after a node, the edges' data, how many those are)."""
    node = node_of(hNode)
    return _dependencies([n for n in node.graph.nodes if node in n.after], numDependentNodes)


def _pairs(first: object, second: object, count: object) -> list[tuple[Node, Node]]:
    return list(zip(nodes_of(first, count), nodes_of(second, count), strict=True))


@api
def cuGraphAddDependencies(hGraph: object, from_: object, to: object, edgeData: object, numDependencies: object) -> None:
    """Nodes come after others."""
    for before, node in _pairs(from_, to, numDependencies):
        graph_of(hGraph).connect(before, node)


@api
def cuGraphRemoveDependencies(hGraph: object, from_: object, to: object, edgeData: object, numDependencies: object) -> None:
    """Nodes no longer come after others."""
    for before, node in _pairs(from_, to, numDependencies):
        graph_of(hGraph).disconnect(before, node)


@api
def cuGraphNodeGetType(hNode: object) -> CUgraphNodeType:
    """What kind of work a node is."""
    return CUgraphNodeType[f"CU_GRAPH_NODE_TYPE_{node_of(hNode).kind}"]


@api
def cuGraphNodeGetContainingGraph(hNode: object) -> CUgraph:
    """The graph that a node belongs to."""
    return CUgraph(handle_of(node_of(hNode).graph))


@api
def cuGraphNodeGetLocalId(hNode: object) -> int:
    """A number that no other node of its graph has; its copy in a copy of the graph has the same."""
    return node_of(hNode).number


@api
def cuGraphNodeGetToolsId(hNode: object) -> int:
    """A number that no other node of the process has."""
    n = node_of(hNode)
    return n.graph.number << 32 | n.number


@api
def cuGraphDestroyNode(hNode: object) -> None:
    """Takes a node out of its graph."""
    node = node_of(hNode)
    node.graph.remove(node)
    forget(node)


@api
def cuGraphDebugDotPrint(hGraph: object, path: object, flags: object) -> None:
    """Writes a graph for Graphviz."""
    nodes = graph_of(hGraph).ordered()
    number = {n: i for i, n in enumerate(nodes)}
    lines = [f'  n{i} [label="{i}\\n{n.kind}"];' for n, i in number.items()]
    lines += [f"  n{number[b]} -> n{number[n]};" for n in nodes for b in n.after]
    try:
        Path(host().path(text(path))).write_text("digraph dot {\n" + "\n".join(lines) + "\n}\n", encoding="utf-8")
    except OSError as e:
        raise ApiError("CUDA_ERROR_OPERATING_SYSTEM", f"{text(path)}: {e.strerror}") from None


# ---------------------------------------------------------------- executables


@api
def cuGraphInstantiate(hGraph: object, flags: object) -> CUgraphExec:
    """A graph that can be launched."""
    return CUgraphExec(_instantiated(graph_of(hGraph), integer(flags)))


@api
def cuGraphInstantiateWithParams(hGraph: object, instantiateParams: Any) -> CUgraphExec:
    """As cuGraphInstantiate."""
    return CUgraphExec(_instantiated(graph_of(hGraph), instantiateParams.flags if instantiateParams is not None else 0))


def _instantiated(graph: DeviceGraph, flags: int) -> int:
    """The handle of a graph that can be launched; kernels may launch it, too, if the flags say so."""
    x = Executable(graph, flags)
    if flags & DEVICE_LAUNCH:
        x.handle = handle_of(x)
        LAUNCHABLE[x.handle] = x
    return handle_of(x)


def executable_of(handle: object) -> Executable:
    """What can be launched, by its handle."""
    return object_of(handle, Executable, "CUDA_ERROR_INVALID_VALUE")


@api
def cuGraphUpload(hGraphExec: object, hStream: object) -> None:
    """A graph needs no preparation here."""
    executable_of(hGraphExec)
    stream_of(hStream)


@api
def cuGraphLaunch(hGraphExec: object, hStream: object) -> None:
    """Runs a graph in a stream's order."""
    x, s = executable_of(hGraphExec), stream_of(hStream)
    in_order(s, "GRAPH", lambda: x.run(s))


@api
def cuGraphExecDestroy(hGraphExec: object) -> None:
    """Ends what can be launched."""
    x = executable_of(hGraphExec)
    x.close()
    forget(x)


@api
def cuGraphExecGetFlags(hGraphExec: object) -> int:
    """The flags that it was made with."""
    return executable_of(hGraphExec).flags


@api
def cuGraphExecGetId(hGraphExec: object) -> int:
    """A number that nothing else that can be launched has."""
    return executable_of(hGraphExec).number


@api
def cuGraphExecUpdate(hGraphExec: object, hGraph: object) -> CUgraphExecUpdateResultInfo:
    """Takes over the work of a graph of the same form; says what does not fit."""
    out, wrong = CUgraphExecUpdateResultInfo(), executable_of(hGraphExec).update(graph_of(hGraph))
    if wrong is not None:
        raise ApiError("CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE", f"the graphs differ in a node of the kind {wrong.node.kind}")
    out.result = CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
    return out


@api
def cuGraphNodeSetEnabled(hGraphExec: object, hNode: object, isEnabled: object) -> None:
    """Switches a node of an executable on or off."""
    node = node_of(hNode)
    x = executable_of(hGraphExec).holding(node)
    if node.kind not in ("KERNEL", "MEMCPY", "MEMSET"):
        raise invalid("only kernels, copies and memsets can be switched")
    x.off.discard(node) if integer(isEnabled) else x.off.add(node)


@api
def cuGraphNodeGetEnabled(hGraphExec: object, hNode: object) -> int:
    """Is a node switched on?"""
    node = node_of(hNode)
    return int(node not in executable_of(hGraphExec).holding(node).off)
