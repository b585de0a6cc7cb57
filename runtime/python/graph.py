"""GraphBuilder and Graph, as in cuda.core.graph: what one stream is given between begin_building and end_building, run as often as wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import driver
from .calls import Closable, Given, do
from .streams import Stream

_MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


class Graph(Closable):
    """A graph that can be launched."""

    _origin = "a Graph comes from GraphBuilder.complete"
    _null, _destroy = driver.CUgraphExec, staticmethod(driver.cuGraphExecDestroy)

    @classmethod
    def _of(cls, handle: driver.CUgraphExec) -> Graph:
        self = cls.__new__(cls)
        self._handle = handle
        return self

    def launch(self, stream: Stream) -> None:
        """Runs it in a stream's order."""
        do(driver.cuGraphLaunch, self.handle, stream.handle)

    def upload(self, stream: Stream) -> None:
        """Prepares it for its first launch."""
        do(driver.cuGraphUpload, self.handle, stream.handle)

    def __repr__(self) -> str:
        return f"<Graph {'closed' if self.is_closed else hex(int(self.handle))}>"


class GraphBuilder(Given):
    """Captures a stream; stands for that stream in launch() and in copies."""

    _stream: Stream
    _owned: bool
    _building: bool
    _graph: driver.CUgraph | None
    _closed: bool
    _origin = "a GraphBuilder comes from Device.create_graph_builder or Stream.create_graph_builder"

    @classmethod
    def _of(cls, stream: Stream, owned: bool) -> GraphBuilder:
        self = cls.__new__(cls)
        self._stream, self._owned, self._building, self._graph, self._closed = stream, owned, False, None, False
        return self

    @property
    def stream(self) -> Stream:
        """The stream that is captured."""
        return self._stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return self._stream.__cuda_stream__()

    @property
    def is_building(self) -> bool:
        """Is the stream being captured?"""
        return self._building

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def is_join_required(self) -> bool:
        """Was it split off another one?  Graphs of several streams can't be had."""
        return False

    def begin_building(self, mode: str | None = "relaxed") -> GraphBuilder:
        """From now on work is not run but remembered."""
        if mode not in _MODES:
            raise ValueError(f"mode {mode!r}; there are {' '.join(_MODES)}")
        do(driver.cuStreamBeginCapture, self._stream.handle, _MODES[mode])
        self._building = True
        return self

    def end_building(self) -> GraphBuilder:
        """The graph is whole."""
        if not self._building:
            raise RuntimeError("begin_building comes first")
        self._building = False
        self._graph = do(driver.cuStreamEndCapture, self._stream.handle)
        return self

    def complete(self, options: object | None = None) -> Graph:
        """What can be launched."""
        if self._graph is None:
            raise RuntimeError("end_building comes first")
        return Graph._of(do(driver.cuGraphInstantiate, self._graph, 0))

    def callback(self, fn: Callable[..., Any] | Any, *, user_data: object = None) -> None:
        """Calls a function of the host: without arguments, or with user_data where that is given."""
        call = fn if user_data is not None or not callable(fn) else lambda _: fn()
        do(driver.cuLaunchHostFunc, self._stream.handle, call, user_data)

    def close(self) -> None:
        """Ends it; graphs that it gave live on."""
        if self._building:
            self._building = False
            driver.cuStreamEndCapture(self._stream.handle)
        if self._graph is not None:
            do(driver.cuGraphDestroy, self._graph)
            self._graph = None
        if self._owned and not self._closed:
            self._stream.close()
        self._closed = True

    def __repr__(self) -> str:
        return f"<GraphBuilder of {self._stream!r}{', building' if self._building else ''}>"
