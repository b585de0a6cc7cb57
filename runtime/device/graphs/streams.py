"""Streams and events.

Work runs when it is given.  That is one of the orders that CUDA allows: a stream only ever waits for work that was given earlier,
and an event that is waited for before it is recorded holds nobody up.  Only launches that spin, and what comes behind them, end later:
see pending.py.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from warplab.interpreter.faults import Deadlock
from warplab.interpreter.memory.arena import Arena

from ...errors import ApiError
from ..memory.allocations import AddressSpace
from ..state import DeviceState
from .graphs import GLOBAL, Capture, Node
from .pending import HOST, QUEUE, PendingWork, Steps, Work

LEGACY, PER_THREAD = 1, 2  # the handles of the two default streams
_numbers = itertools.count(1)


class _CaptureMode(threading.local):
    """How much of other threads' captures a thread heeds."""

    now: int = GLOBAL


CAPTURE_MODE = _CaptureMode()


class DeviceWork(DeviceState):
    """The streams of a device, its events, and the captures that are under way."""

    def __init__(self, architecture: str, memory: int | None, arena: Arena | None, space: AddressSpace | None, ordinal: int) -> None:
        super().__init__(architecture, memory, arena, space, ordinal)
        self.streams: list[DeviceStream] = []
        self.events: list[DeviceEvent] = []
        self.captures: list[Capture] = []
        self.legacy = DeviceStream(self, number=0)
        self._of_threads: dict[int, DeviceStream] = {}

    def default_stream(self, handle: int) -> DeviceStream:
        """The stream behind LEGACY or PER_THREAD; a thread's is made when it is first asked for."""
        if handle == LEGACY:
            return self.legacy
        found = self._of_threads.get(threading.get_ident())
        if found is None:
            found = self._of_threads[threading.get_ident()] = DeviceStream(self)
        return found

    def thread_streams(self) -> list[DeviceStream]:
        """The default stream of each thread that has used its own."""
        return list(self._of_threads.values())

    def synchronize(self, only: DeviceStream | DeviceEvent | None = None) -> None:
        """All work is done, or that of a stream or before an event; what went wrong in it is told here."""
        wait_for(self, only)
        self.ring.flush()
        self.over(only)
        self.tell()

    def copied(self) -> None:
        """A call that copies is about to return; its copy was work of the legacy default stream."""
        if (sanitizer := self.space.sanitizer) is not None:
            sanitizer.host("sync", "", self.legacy.name)
        if (clock := self.space.clock) is not None:
            clock.returned()

    def over(self, only: DeviceStream | DeviceEvent | None = None) -> None:
        """The host knows that all work is done, or that of a stream or before an event."""
        if (sanitizer := self.space.sanitizer) is not None:
            sanitizer.host("sync", only.name if isinstance(only, DeviceEvent) else "", only.name if isinstance(only, DeviceStream) else "")
        if (clock := self.space.clock) is not None:
            clock.wait(clock.ends(clock.of_device(self.ordinal)) if only is None else only.end)

    def unsafe(self, what: str, anywhere: bool = False) -> None:
        """Refuses what a capture that is under way forbids, or any capture for a call about all streams."""
        for capture in self.captures:
            if anywhere or capture.forbids(CAPTURE_MODE.now):
                raise capture.refuse(what)


@dataclass(eq=False)
class DeviceStream:
    """An order of work."""

    context: DeviceWork
    flags: int = 0  # 1: does not wait for the legacy default stream
    priority: int = 0
    number: int = field(default_factory=lambda: next(_numbers))
    alive: bool = True
    attributes: dict[int, bytes] = field(default_factory=dict)
    capture: Capture | None = None
    part: DevicePart | None = None  # where its kernels run, if not on the whole device
    name: str = field(init=False)  # how checkers know it

    def __post_init__(self) -> None:
        self.name = f"{self.context.ordinal}:{self.number}"

    @property
    def after(self) -> Sequence[str]:
        """The streams whose work so far comes before what this one is given next: the legacy default stream and others wait for each other."""
        c, legacy = self.context, self.context.legacy
        if self is legacy:
            return [s.name for s in (*c.streams, *c.thread_streams()) if not s.flags & 1]
        return [legacy.name] if not self.flags & 1 else []

    @property
    def end(self) -> float:
        """When its work is done, as the clock has it; that of the legacy default stream is done with that of all which it orders."""
        clock, legacy = self.context.space.clock, self.context.legacy
        return 0.0 if clock is None else clock.ends([self.name, *(self.after if self is legacy else ())])

    @property
    def title(self) -> str:
        """How people know it."""
        return f"stream {self.number}" if self.number else "the default stream"

    def is_ordered_with(self, other: DeviceStream) -> bool:
        """Does the legacy default stream, which one of them is, order their work?"""
        legacy = self.context.legacy
        return self.context is other.context and legacy in (self, other) and not (self.flags | other.flags) & 1

    def __enter__(self) -> None:
        """What is done from here on is work of this stream: checkers and the clock know."""
        sanitizer, clock = self.context.space.sanitizer, self.context.space.clock
        if sanitizer is not None:
            sanitizer.queued(self.name, self.after)
        if clock is not None:
            clock.begin(self.name, self.after, self.context.ordinal)

    def __exit__(self, *_: object) -> None:
        sanitizer, clock = self.context.space.sanitizer, self.context.space.clock
        if sanitizer is not None:
            sanitizer.queued(None)
        if clock is not None:
            clock.end()


@dataclass(eq=False)
class DevicePart:
    """Some multiprocessors of a device: a green context. It has all of the device's memory and code."""

    context: DeviceWork  # the primary context of the device
    multiprocessors: int
    number: int = field(default_factory=lambda: next(_numbers))
    streams: list[DeviceStream] = field(default_factory=list)
    default: DeviceStream | None = None  # what work is given to without a stream, while the part is current

    def stream(self, flags: int = 1, priority: int = 0) -> DeviceStream:
        """A new stream, whose kernels run on these multiprocessors."""
        s = DeviceStream(self.context, flags, priority, part=self)
        self.streams.append(s)
        self.context.streams.append(s)
        return s

    @property
    def legacy(self) -> DeviceStream:
        """The stream that needs no handle."""
        if self.default is None:
            self.default = self.stream(flags=0)
        return self.default

    def close(self) -> None:
        """Ends its streams."""
        for s in self.streams:
            s.alive = False
            if s in self.context.streams:
                self.context.streams.remove(s)


@dataclass(eq=False)
class DeviceEvent:
    """A place in a stream's work, and when it was reached."""

    context: DeviceWork
    flags: int = 0  # 1 blocking, 2 no timing, 4 for other processes
    reached: float | None = None  # microseconds
    alive: bool = True
    recorded: PendingWork | None = None  # the work that records it
    captured: Capture | None = None  # what it was last recorded in
    place: list[Node] = field(default_factory=list)  # where in that
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def name(self) -> str:
        """How checkers know it."""
        return str(self.number)

    def record_in(self, stream: DeviceStream) -> None:
        """The stream's next work is to reach the event."""
        self.captured, self.reached = None, None
        self.recorded = announced(stream, "EVENT_RECORD", lambda: self.record(stream))

    @property
    def end(self) -> float:
        """When it is reached, as the clock has it."""
        return self.reached or 0.0

    @property
    def is_recorded(self) -> bool:
        """Is there work that reaches it?"""
        return self.reached is not None or self.is_ahead

    @property
    def is_ahead(self) -> bool:
        """Is there work before it that has not ended?"""
        return self.recorded is not None and not self.recorded.done

    def record(self, stream: DeviceStream | None = None) -> None:
        """The stream, or all work, reaches the event."""
        if (sanitizer := self.context.space.sanitizer) is not None:
            sanitizer.host("record", self.name, stream.name if stream else None)
        self.captured = None
        clock = self.context.space.clock
        self.reached = (
            time.perf_counter_ns() / 1000 if clock is None else clock.record(stream.name if stream else None, self.context.ordinal)
        )

    def milliseconds_since(self, start: DeviceEvent) -> float:
        """Time between two events."""
        clock = self.context.space.clock
        if (self.flags | start.flags) & 2 or not self.is_recorded or not start.is_recorded:
            raise ApiError("CUDA_ERROR_INVALID_HANDLE", "both events must be recorded, and made with timing")
        for event in (self, start):
            if event.is_ahead or (clock is not None and not clock.look(event.end)):
                raise ApiError("CUDA_ERROR_NOT_READY", "work before one of the events has not ended")
        if clock is not None:
            clock.tell()
        return (self.end - start.end) / 1000


def announced(stream: DeviceStream, kind: str, work: Work) -> PendingWork:
    """Does a piece of a stream's work."""

    def told() -> Steps:
        with stream:
            steps = work() or iter(())
            standstill = next(steps, None)
            if kind == HOST and stream.context.space.clock is not None:
                stream.context.space.clock.hosted()
            if standstill is not None and stream.context.space.sanitizer is not None:
                raise standstill  # under checkers nothing is suspended
        while standstill is not None:
            try:
                yield standstill
            except Deadlock as end:
                with stream, suppress(StopIteration):
                    steps.throw(end)  # type: ignore[attr-defined]
                return
            with stream:
                standstill = next(steps, None)

    return QUEUE.give(stream, kind, told)


def in_order(stream: DeviceStream, kind: str, work: Work, what: object = None) -> None:
    """Does a piece of work in a stream's order: now, or where the stream is captured whenever its graph runs."""
    capture = stream.capture
    if capture is None:
        for other in stream.context.captures:
            if stream is stream.context.legacy and other.is_awaited:
                raise other.refuse("work is given to the legacy default stream", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT")
        if not stream.context.broken:
            announced(stream, kind, work)
    elif capture.broken:
        raise ApiError("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture was spoilt before")
    else:
        capture.add(stream, kind, work, what)


def wait_for(context: DeviceWork, only: DeviceStream | DeviceEvent | None = None) -> None:
    """The host waits for all work of a context, or that of a stream or before an event."""
    what = "all work" if only is None else only.title if isinstance(only, DeviceStream) else "an event behind it"
    QUEUE.wait(lambda: unfinished(context, only), what)


def unfinished(context: DeviceWork, only: DeviceStream | DeviceEvent | None = None) -> list[PendingWork]:
    """The work that the host would wait for."""
    if isinstance(only, DeviceEvent):
        return [only.recorded] if only.recorded is not None and only.is_ahead else []
    if only is None:
        return QUEUE.of_context(context)
    if only is context.legacy:
        return QUEUE.of_stream(only)
    return [p for p in QUEUE.of_context(context) if p.stream is only]


def refuse_unfinished(context: DeviceWork, only: DeviceStream | DeviceEvent) -> None:
    """A query: is the work of a stream, or that before an event, done?"""
    QUEUE.progress()
    clock = context.space.clock
    if unfinished(context, only) or (clock is not None and not clock.look(only.end)):
        raise ApiError("CUDA_ERROR_NOT_READY", "work has not ended")
