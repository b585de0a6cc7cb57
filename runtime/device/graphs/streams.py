"""Streams and events.

Work runs when it is given.  That is one of the orders that CUDA allows: a stream only ever waits for work that was given earlier,
and an event that is waited for before it is recorded holds nobody up.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...errors import ApiError
from .graphs import GLOBAL, Capture, Node

if TYPE_CHECKING:
    from ..context import DeviceContext

LEGACY, PER_THREAD = 1, 2  # the handles of the two default streams
_numbers = itertools.count(1)


class _CaptureMode(threading.local):
    """How much of other threads' captures a thread heeds."""

    now: int = GLOBAL


CAPTURE_MODE = _CaptureMode()


@dataclass(eq=False)
class DeviceStream:
    """An order of work."""

    context: DeviceContext
    flags: int = 0  # 1: does not wait for the legacy default stream
    priority: int = 0
    number: int = field(default_factory=lambda: next(_numbers))
    alive: bool = True
    attributes: dict[int, bytes] = field(default_factory=dict)
    capture: Capture | None = None

    @property
    def name(self) -> str:
        """How checkers know it."""
        return f"{self.context.ordinal}:{self.number}"

    @property
    def after(self) -> Sequence[str]:
        """The streams whose work so far comes before what this one is given next: the legacy default stream and others wait for each other."""
        c, legacy = self.context, self.context.default_stream(LEGACY)
        if self is legacy:
            return [s.name for s in (*c.streams, c.default_stream(PER_THREAD)) if not s.flags & 1]
        return [legacy.name] if not self.flags & 1 else []


@dataclass(eq=False)
class DeviceEvent:
    """A place in a stream's work, and when it was reached."""

    context: DeviceContext
    flags: int = 0  # 1 blocking, 2 no timing, 4 for other processes
    reached: float | None = None  # microseconds
    alive: bool = True
    captured: Capture | None = None  # what it was last recorded in
    place: list[Node] = field(default_factory=list)  # where in that
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def name(self) -> str:
        """How checkers know it."""
        return str(self.number)

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
        if (self.flags | start.flags) & 2 or self.reached is None or start.reached is None:
            raise ApiError("CUDA_ERROR_INVALID_HANDLE", "both events must be recorded, and made with timing")
        if (clock := self.context.space.clock) is not None:
            clock.tell()
        return (self.reached - start.reached) / 1000


def announced(stream: DeviceStream, work: Callable[[], None]) -> None:
    """Does a piece of a stream's work, of which checkers and the clock know the stream."""
    sanitizer, clock = stream.context.space.sanitizer, stream.context.space.clock
    if sanitizer is None and clock is None:
        work()
        return
    after = stream.after
    if sanitizer is not None:
        sanitizer.queued(stream.name, after)
    if clock is not None:
        clock.begin(stream.name, after, stream.context.ordinal)
    try:
        work()
    finally:
        if sanitizer is not None:
            sanitizer.queued(None)
        if clock is not None:
            clock.end()


def in_order(stream: DeviceStream, kind: str, work: Callable[[], None], what: object = None) -> None:
    """Does a piece of work in a stream's order: now, or where the stream is captured whenever its graph runs."""
    capture = stream.capture
    if capture is None:
        for other in stream.context.captures:
            if stream is stream.context.default_stream(LEGACY) and other.is_awaited:
                raise other.refuse("work is given to the legacy default stream", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT")
        if not stream.context.broken:
            announced(stream, work)
    elif capture.broken:
        raise ApiError("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture was spoilt before")
    else:
        capture.add(stream, kind, work, what)
