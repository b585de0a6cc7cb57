"""Graphs: pieces of work and what each comes after, to be run any number of times; and streams that are captured into one."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...errors import ApiError, invalid
from ..state import DeviceState
from .pending import Steps, Work
from .running import within

GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2  # modes of a capture, and of a thread
DEVICE_LAUNCH = 4  # a flag of what can be launched: kernels can, too
BEHIND = 1 << 56  # the stream of a graph that begins when the one that launches it has ended; those of all others may begin at once
_numbers = itertools.count(1)


class Counted(Protocol):
    """Something whose users are counted."""

    def retain(self, count: int) -> None:
        """So many more use it."""

    def release(self, count: int) -> None:
        """So many no longer use it."""


class Condition(Protocol):
    """A value that decides what runs."""

    def begin(self) -> None:
        """The graph is launched."""


class CapturedStream(Protocol):
    """A stream, as graphs know it."""

    capture: Capture | None
    flags: int

    @property
    def name(self) -> str:
        """How checkers know it."""

    @property
    def context(self) -> DeviceState:
        """What it belongs to."""


@dataclass(eq=False)
class Node:
    """One piece of work."""

    kind: str  # as CUDA names it: KERNEL MEMCPY MEMSET HOST GRAPH EMPTY EVENT_RECORD WAIT_EVENT MEM_ALLOC MEM_FREE CONDITIONAL
    work: Work
    graph: DeviceGraph
    after: list[Node] = field(default_factory=list)
    what: Any = None  # what the work was made of: a structure, an event, a graph
    number: int = 0  # within its graph; the same in a copy


@dataclass(eq=False)
class DeviceGraph:
    """Pieces of work in the order in which they were added."""

    nodes: list[Node] = field(default_factory=list)
    number: int = field(default_factory=lambda: next(_numbers))
    objects: dict[Counted, int] = field(default_factory=dict)  # that it uses, so many times
    conditions: list[Condition] = field(default_factory=list)
    copies: dict[Node, Node] = field(default_factory=dict)  # of a copy: the copy of each node
    added: int = 0  # nodes until now
    parent: DeviceGraph | None = None  # of a body of a conditional node: the graph of that node

    def add(self, kind: str, work: Work, after: Iterable[Node] = (), what: Any = None) -> Node:
        """One more piece of work."""
        before = list(after)
        if any(n.graph is not self for n in before) or len(set(map(id, before))) < len(before):
            raise invalid("a dependency is of another graph, or is named twice")
        out = Node(kind, work, self, before, what, self.added)
        self.added += 1
        self.nodes.append(out)
        return out

    def remove(self, node: Node) -> None:
        """Takes a piece of work out; nothing comes after it any more."""
        self.keeps_form()
        self.nodes.remove(node)
        if node.kind == "GRAPH":
            node.what.close()
        for other in self.nodes:
            other.after = [n for n in other.after if n is not node]

    def keeps_form(self) -> None:
        """Refuses to take out nodes or dependencies of a graph that allocates or frees memory."""
        if any(n.kind in ("MEM_ALLOC", "MEM_FREE") for n in self.nodes):
            raise invalid("a graph that allocates or frees memory keeps its nodes and dependencies")

    @property
    def edges(self) -> list[tuple[Node, Node]]:
        """(what comes first, what comes after it)."""
        return [(before, node) for node in self.nodes for before in node.after]

    @property
    def roots(self) -> list[Node]:
        """What comes after nothing."""
        return [n for n in self.nodes if not n.after]

    def connect(self, before: Node, node: Node) -> None:
        """`node` comes after `before`."""
        if before.graph is not self or node.graph is not self or before is node or before in node.after:
            raise invalid("a node is of another graph, or the dependency is there already")
        node.after.append(before)

    def disconnect(self, before: Node, node: Node) -> None:
        """`node` no longer comes after `before`."""
        if before not in node.after:
            raise invalid("there is no such dependency")
        self.keeps_form()
        node.after.remove(before)

    def ordered(self) -> list[Node]:
        """All pieces, each behind those that it comes after; else in the order in which they were added.  A circle of dependencies has no order."""
        done: set[int] = set()
        out: list[Node] = []
        waiting = list(self.nodes)
        while waiting:
            later = []
            for n in waiting:
                if all(id(b) in done for b in n.after):
                    out.append(n)
                    done.add(id(n))
                else:
                    later.append(n)
            if len(later) == len(waiting):
                raise invalid(f"the dependencies of {len(later)} nodes close a circle")
            waiting = later
        return out

    def clone(self) -> DeviceGraph:
        """A copy, which knows the copy of each node."""
        out = DeviceGraph()
        copies = out.copies
        for n in self.nodes:
            work, what = n.work, n.what
            if n.kind == "GRAPH":
                what = what.clone()
                work = what.run
            copies[n] = out.add(n.kind, work, (), what)
            copies[n].number = n.number
        for n in self.nodes:
            copies[n].after = [copies[b] for b in n.after]
        out.objects, out.conditions, out.added = retained(self.objects), list(self.conditions), self.added
        return out

    def all_conditions(self) -> list[Condition]:
        """What decides in this graph, and in those within it."""
        within = [g for n in self.nodes for g in ([n.what] if n.kind == "GRAPH" else n.what.bodies if n.kind == "CONDITIONAL" else ())]
        return [*self.conditions, *(c for g in within for c in g.all_conditions())]

    def close(self) -> None:
        """The graph is destroyed, and those within it."""
        release(self.objects)
        for n in self.nodes:
            if n.kind == "GRAPH":
                n.what.close()

    def run(self) -> Steps:
        """Does all the work once."""
        for n in self.ordered():
            yield from n.work() or ()


def retained(objects: dict[Counted, int]) -> dict[Counted, int]:
    """The same objects, used once more each."""
    for o in objects:
        o.retain(1)
    return dict.fromkeys(objects, 1)


def release(objects: dict[Counted, int]) -> None:
    """Objects are no longer used."""
    for o, count in objects.items():
        if count:
            o.release(count)
    objects.clear()


def ancestors(nodes: Iterable[Node]) -> set[Node]:
    """All that some nodes come after."""
    out: set[Node] = set()
    waiting = [b for n in nodes for b in n.after]
    while waiting:
        n = waiting.pop()
        if n not in out:
            out.add(n)
            waiting += n.after
    return out


@dataclass(frozen=True, slots=True)
class GraphMisfit:
    """Where two graphs differ, and how, as CUDA names it."""

    node: Node
    why: str


class Executable:
    """A graph as it was when it was instantiated."""

    def __init__(self, graph: DeviceGraph, flags: int = 0) -> None:
        self.steps: dict[Node, Work] = {n: n.work for n in graph.ordered()}
        self.children = {n: Executable(n.what) for n in graph.nodes if n.kind == "GRAPH"}
        self.kinds = [n.kind for n in graph.nodes]
        self.nodes = list(graph.nodes)
        self.flags = flags
        self.number = next(_numbers)
        self.handle = 0  # by which kernels know it, if they can launch it
        self.off: set[Node] = set()  # nodes that are switched off
        self.objects = retained(graph.objects)
        self.conditions = graph.all_conditions()

    def run(self, stream: CapturedStream) -> Steps:
        """Runs everything, and the graphs that its kernels launch behind it; what comes behind a fault is dropped."""
        run = GraphRun(self)
        yield from self.once(stream, run)
        while run.behind and not stream.context.broken:
            run.now = run.behind.pop(0)
            yield from run.now.once(stream, run)

    def once(self, stream: CapturedStream, run: GraphRun, node_of: str = "") -> Steps:
        """Runs everything once.  `node_of`: the node of another graph that this one is.

        For checkers and the clock each node is a stream, behind those that it depends on, and behind the launch before, as launches of one executable are.
        """
        for condition in self.conditions:
            condition.begin()
        checkers, clock, device = stream.context.space.sanitizer, stream.context.space.clock, stream.context.ordinal
        begun, whole = node_of or stream.name, f"graph {self.number}"
        names = {node: f"{whole} node {n}" for n, node in enumerate(self.steps)}
        for node, work in self.steps.items():
            if stream.context.broken:
                return
            after = [begun, whole, *[names[n] for n in node.after]]
            if checkers is not None:
                checkers.queued(names[node], after)
            if clock is not None:
                clock.begin(names[node], after, device)
            if node in self.off:
                continue
            if node in self.children:
                yield from self.children[node].once(stream, run, names[node])
            else:
                yield from within(stream.context, run, work)
        for name in (whole, begun):
            if checkers is not None:
                checkers.queued(name, [*names.values()])
            if clock is not None:
                clock.begin(name, [*names.values()], device)

    def close(self) -> None:
        """What can be launched is destroyed."""
        LAUNCHABLE.pop(self.handle, None)
        release(self.objects)
        for n in self.nodes:
            if n.kind == "MEM_ALLOC":
                n.what.unmap()
        for child in self.children.values():
            child.close()

    def holding(self, node: Node) -> Executable:
        """The part of this executable that a node belongs to: itself, or what became of a graph within it."""
        if node in self.steps:
            return self
        for child in self.children.values():
            with suppress(ApiError):
                return child.holding(node)
        raise invalid("the node is of another graph")

    def replace(self, node: Node, work: Work, what: Any) -> None:
        """Gives a node other work, in this executable alone."""
        part = self.holding(node)
        if node in part.children:
            wrong = part.children[node].update(what)
            if wrong is not None:
                raise invalid(f"the graphs differ in a node of the kind {wrong.node.kind}")
        part.steps[node] = work

    def misfit(self, graph: DeviceGraph) -> GraphMisfit | None:
        """The node of a graph that keeps its work from being taken over."""
        for own, new in itertools.zip_longest(self.nodes, graph.nodes):
            if own is None or new is None or len(own.after) != len(new.after):
                return GraphMisfit(new or own, "TOPOLOGY_CHANGED")
            if own.kind != new.kind:
                return GraphMisfit(new, "NODE_TYPE_CHANGED")
            if own in self.children and (wrong := self.children[own].misfit(new.what)) is not None:
                return wrong
        return None

    def update(self, graph: DeviceGraph) -> GraphMisfit | None:
        """Takes over the work of a graph of the same form; gives what does not fit."""
        if (wrong := self.misfit(graph)) is not None:
            return wrong
        for own, new in zip(self.nodes, graph.nodes, strict=True):
            if own in self.children:
                self.children[own].update(new.what)
            self.steps[own] = new.work
        before, self.objects = self.objects, retained(graph.objects)
        release(before)
        self.conditions = graph.all_conditions()
        return None


@dataclass(eq=False)
class Capture:
    """Streams whose work becomes a graph."""

    mode: int
    origin: CapturedStream
    graph: DeviceGraph = field(default_factory=DeviceGraph)
    tails: dict[CapturedStream, list[Node]] = field(default_factory=dict)  # what a stream's next piece comes after
    broken: bool = False  # something was done that a capture does not allow
    ended: bool = False
    number: int = field(default_factory=lambda: next(_numbers))
    thread: int = field(default_factory=threading.get_ident)  # that began it

    def forbids(self, mode: int) -> bool:
        """Are calls forbidden that could touch the captured streams, for this thread, which is in a mode?"""
        own = self.thread == threading.get_ident()
        return RELAXED not in (self.mode, mode) and (own or self.mode == mode == GLOBAL)

    @property
    def is_awaited(self) -> bool:
        """Does the legacy default stream wait for a captured one?"""
        return any(not s.flags & 1 for s in (self.origin, *self.tails))

    def refuse(self, what: str, code: str = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED") -> ApiError:
        """What is not allowed ends the capture's use."""
        self.broken = True
        return ApiError(code, f"{what} while a stream is being captured")

    def add(self, stream: CapturedStream, kind: str, work: Work, what: Any = None) -> Node:
        """A piece of work that a stream was given."""
        node = self.graph.add(kind, work, self.tails.get(stream, ()), what)
        self.tails[stream] = [node]
        return node

    def join(self, stream: CapturedStream, after: Iterable[Node]) -> None:
        """The stream's later work comes after some nodes; with that it is captured, too."""
        own = self.tails.setdefault(stream, [])
        own += [n for n in after if n not in own]
        stream.capture = self

    def end(self) -> None:
        """No stream is captured any more."""
        self.ended = True
        joined = ancestors(self.tails.get(self.origin, ())) | set(self.tails.get(self.origin, ()))
        left = [n for tail in self.tails.values() for n in tail if n not in joined]
        for stream in (self.origin, *self.tails):
            stream.capture = None
        if self.broken:
            raise ApiError("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "something was done that a capture does not allow")
        if left:
            raise ApiError("CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "a stream that joined the capture was not joined to the one that began it")


@dataclass(slots=True)
class GraphRun:
    """A graph that the host has launched, and all that follow it."""

    now: Executable
    behind: list[Executable] = field(default_factory=list)


LAUNCHABLE: dict[int, Executable] = {}  # those that kernels can launch, by handle
