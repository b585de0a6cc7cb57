"""Streams and events.

Work runs when it is given.  That is one of the orders that CUDA allows: a stream only ever waits for work that was given earlier,
and an event that is waited for before it is recorded holds nobody up.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...errors import ApiError
from .graphs import GLOBAL, Capture, Node

if TYPE_CHECKING:
    from ..context import DeviceContext
    from ..launches.sanitizing import Sanitizer

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

    def announce(self, sanitizer: Sanitizer) -> None:
        """What comes next is work of this stream, which the legacy default stream may order with others."""
        c = self.context
        legacy, after = c.default_stream(LEGACY), [c.default_stream(LEGACY).name]
        if self is legacy:
            after = [s.name for s in (*c.streams, c.default_stream(PER_THREAD)) if not s.flags & 1]
        sanitizer.queued(self.name, after if not self.flags & 1 else ())


@dataclass(eq=False)
class DeviceEvent:
    """A place in a stream's work, and when it was reached."""

    context: DeviceContext
    flags: int = 0  # 1 blocking, 2 no timing, 4 for other processes
    reached: int | None = None  # nanoseconds
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
        self.reached = time.perf_counter_ns()

    def milliseconds_since(self, start: DeviceEvent) -> float:
        """Time between two events, in steps of about half a microsecond as CUDA's clock has."""
        if (self.flags | start.flags) & 2 or self.reached is None or start.reached is None:
            raise ApiError("CUDA_ERROR_INVALID_HANDLE", "both events must be recorded, and made with timing")
        return (self.reached - start.reached) / 1e6


def announced(stream: DeviceStream, work: Callable[[], None]) -> None:
    """Does a piece of a stream's work, of which checkers know the stream."""
    sanitizer = stream.context.space.sanitizer
    if sanitizer is None:
        work()
        return
    stream.announce(sanitizer)
    try:
        work()
    finally:
        sanitizer.queued(None)


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
