"""Graphs: work that a stream was given while it was being captured, to be run any number of times.

A captured stream is a chain: each piece of work comes after the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import ApiError

if TYPE_CHECKING:
    from .streams import Stream

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2


@dataclass(eq=False)
class Node:
    """One piece of work."""

    kind: str  # as CUDA names it: KERNEL MEMCPY MEMSET HOST GRAPH
    work: Callable[[], None]


@dataclass(eq=False)
class Graph:
    """Pieces of work, one after the other."""

    nodes: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Executable:
    """A graph as it was when it was instantiated."""

    nodes: tuple[Node, ...]

    def run(self, stream: Stream) -> None:
        """Runs everything; what comes behind a fault is dropped."""
        for node in self.nodes:
            if stream.context.broken:
                return
            node.work()


@dataclass(eq=False)
class Capture:
    """A stream is being captured."""

    mode: int
    graph: Graph = field(default_factory=Graph)
    broken: bool = False  # something was done that a capture does not allow

    def refuse(self, what: str, code: str = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED") -> ApiError:
        """What is not allowed ends the capture's use."""
        self.broken = True
        return ApiError(code, f"{what} while a stream is being captured")


def in_order(stream: Stream, kind: str, work: Callable[[], None]) -> None:
    """Does a piece of work in a stream's order: now, or where the stream is captured whenever its graph runs."""
    capture = stream.capture
    if capture is None:
        if not stream.context.broken:
            work()
    elif capture.broken:
        raise ApiError("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture was spoilt before")
    else:
        capture.graph.nodes.append(Node(kind, work))
