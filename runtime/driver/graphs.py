"""The driver's calls about graphs: capturing a stream, and running what was captured.  Graphs are not built node by node here."""

from __future__ import annotations

from collections.abc import Callable

from ..device.streams import LEGACY, Capture, DeviceGraph, DeviceStream, Executable, Node, in_order
from ..errors import ApiError, invalid
from .api import api, current, forget, handle_of, integer, member, object_of, stream_of
from .enums import CUgraphNodeType, CUstreamCaptureMode, CUstreamCaptureStatus
from .structs import CUgraph, CUgraphExec, CUgraphNode

Status = CUstreamCaptureStatus


def queue(stream: object, kind: str, work: Callable[[], None]) -> None:
    """Gives a stream a piece of work."""
    in_order(stream_of(stream), kind, work)


def uncaptured(s: DeviceStream, what: str) -> DeviceStream:
    """Refuses what can't be done with a stream that is being captured."""
    if s.capture is not None:
        raise s.capture.refuse(what)
    return s


@api()
def cuStreamBeginCapture(hStream: object, mode: object) -> None:
    """What the stream is given from now on becomes a graph and does not run."""
    s = stream_of(hStream)
    if s is s.context.default_stream(LEGACY):
        raise ApiError("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "the legacy default stream can't be captured")
    if s.capture is not None:
        raise ApiError("CUDA_ERROR_ILLEGAL_STATE", "the stream is being captured already")
    s.capture = Capture(int(member(CUstreamCaptureMode, mode)))
    s.context.captures.append(s.capture)


@api(1)
def cuStreamEndCapture(hStream: object) -> CUgraph:
    """The graph of what the stream was given."""
    s = stream_of(hStream)
    capture, s.capture = s.capture, None
    if capture is None:
        raise ApiError("CUDA_ERROR_ILLEGAL_STATE", "the stream is not being captured")
    s.context.captures.remove(capture)
    if capture.broken:
        raise ApiError("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "something was done that a capture does not allow")
    return CUgraph(handle_of(capture.graph))


@api(1)
def cuStreamIsCapturing(hStream: object) -> CUstreamCaptureStatus:
    """Is the stream being captured, and can its graph be had?"""
    c = stream_of(hStream).capture
    if c is None:
        return Status.CU_STREAM_CAPTURE_STATUS_NONE
    return Status.CU_STREAM_CAPTURE_STATUS_INVALIDATED if c.broken else Status.CU_STREAM_CAPTURE_STATUS_ACTIVE


def graph_of(handle: object) -> DeviceGraph:
    """A graph by its handle."""
    return object_of(handle, DeviceGraph, "CUDA_ERROR_INVALID_VALUE")


@api(1)
def cuGraphCreate(flags: object) -> CUgraph:
    """An empty graph."""
    current()
    if integer(flags):
        raise invalid("the flags must be 0")
    return CUgraph(handle_of(DeviceGraph()))


@api(1)
def cuGraphClone(originalGraph: object) -> CUgraph:
    """A copy of a graph."""
    return CUgraph(handle_of(DeviceGraph(list(graph_of(originalGraph).nodes))))


@api()
def cuGraphDestroy(hGraph: object) -> None:
    """Ends a graph; what was instantiated from it lives on."""
    forget(graph_of(hGraph))


@api(2)
def cuGraphGetNodes(hGraph: object, numNodes: object) -> tuple[list[CUgraphNode], int]:
    """(the first so many nodes, how many those are), or for none how many there are."""
    nodes, n = graph_of(hGraph).nodes, integer(numNodes)
    found = [CUgraphNode(handle_of(x)) for x in nodes[:n]]
    return found, len(found) if n else len(nodes)


@api(2)
def cuGraphGetRootNodes(hGraph: object, numRootNodes: object) -> tuple[list[CUgraphNode], int]:
    """(the node that the others come after, 1), or nothing of an empty graph."""
    nodes, n = graph_of(hGraph).nodes[:1], integer(numRootNodes)
    return [CUgraphNode(handle_of(x)) for x in nodes[:n]], len(nodes)


@api(1)
def cuGraphNodeGetType(hNode: object) -> CUgraphNodeType:
    """What kind of work a node is."""
    return CUgraphNodeType[f"CU_GRAPH_NODE_TYPE_{object_of(hNode, Node, 'CUDA_ERROR_INVALID_VALUE').kind}"]


@api(1)
def cuGraphInstantiate(hGraph: object, flags: object) -> CUgraphExec:
    """A graph that can be launched."""
    return CUgraphExec(handle_of(Executable(tuple(graph_of(hGraph).nodes))))


def executable_of(handle: object) -> Executable:
    """What can be launched, by its handle."""
    return object_of(handle, Executable, "CUDA_ERROR_INVALID_VALUE")


@api()
def cuGraphUpload(hGraphExec: object, hStream: object) -> None:
    """A graph needs no preparation here."""
    executable_of(hGraphExec)
    stream_of(hStream)


@api()
def cuGraphLaunch(hGraphExec: object, hStream: object) -> None:
    """Runs a graph in a stream's order."""
    x, s = executable_of(hGraphExec), stream_of(hStream)
    in_order(s, "GRAPH", lambda: x.run(s))


@api()
def cuGraphExecDestroy(hGraphExec: object) -> None:
    """Ends what can be launched."""
    forget(executable_of(hGraphExec))
