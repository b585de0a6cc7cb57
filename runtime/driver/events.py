"""The driver's calls about events."""

from __future__ import annotations

from collections.abc import Sequence

from ..device.graphs.pending import QUEUE, PendingWork
from ..device.graphs.streams import LEGACY, DeviceEvent, DeviceStream, in_order, refuse_unfinished
from ..errors import ApiError, invalid
from .api import api, context_of, current, forget, handle_of, integer, object_of, stream_of
from .tables.structs import CUevent

NO_TIMING = 2


@api
def cuStreamWaitEvent(hStream: object, hEvent: object, Flags: object) -> None:
    """The stream's later work waits for the event."""
    s, e = stream_of(hStream), event_of(hEvent)
    if integer(Flags) & ~1:
        raise invalid(f"flags {integer(Flags):#x}")
    if integer(Flags):
        if s.capture is None:
            raise ApiError("CUDA_ERROR_ILLEGAL_STATE", "a graph waits for an external event: the stream is not being captured")
        in_order(s, "WAIT_EVENT", lambda: None, e)
        return
    if e.captured is None:
        if s.capture is not None:
            raise s.capture.refuse("work outside of the capture is waited for", "CUDA_ERROR_STREAM_CAPTURE_ISOLATION")
        space = s.context.space
        if (sanitizer := space.sanitizer) is not None:
            sanitizer.host("wait", e.name, s.name)

        def follow() -> None:
            if (clock := space.clock) is not None:
                clock.follow(s.name, s.context.ordinal, e.reached or 0.0)

        if e.recorded is not None and e.is_ahead:
            QUEUE.give(s, "WAIT_EVENT", follow, [e.recorded])
        else:
            follow()
        return
    if s.capture is None and e.captured.ended:
        raise ApiError("CUDA_ERROR_CAPTURED_EVENT", "the event was recorded in a capture that has ended")
    if s.capture is not None and s.capture is not e.captured:
        raise s.capture.refuse("another capture is waited for", "CUDA_ERROR_STREAM_CAPTURE_MERGE")
    e.captured.join(s, e.place)


def event_of(handle: object) -> DeviceEvent:
    """An event by its handle."""
    e = object_of(handle, DeviceEvent, "CUDA_ERROR_CONTEXT_IS_DESTROYED" if integer(handle) else "CUDA_ERROR_INVALID_HANDLE")
    if not e.alive:
        raise ApiError("CUDA_ERROR_CONTEXT_IS_DESTROYED", "the event's context was destroyed")
    return e


@api
def cuEventCreate(Flags: object) -> CUevent:
    """A new event."""
    flags, c = integer(Flags), current()
    if flags & ~7 or (flags & 4 and not flags & 2):
        raise invalid(f"flags {flags:#x}")
    c.check()
    e = DeviceEvent(c, flags)
    c.events.append(e)
    if not flags & NO_TIMING and (clock := c.space.clock) is not None:
        clock.timed = True
    return CUevent(handle_of(e))


@api
def cuEventDestroy(hEvent: object) -> None:
    """Ends an event."""
    e = object_of(hEvent, DeviceEvent)
    if e in e.context.events:
        e.context.events.remove(e)
    forget(e)


def record(hEvent: object, hStream: object) -> None:
    """The event stands for all work that the stream was given."""
    e, s = event_of(hEvent), stream_of(hStream)
    if e.context is not s.context:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the event and the stream are of different contexts")
    if s.capture is not None:
        if s.capture.broken:
            raise ApiError("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "the capture was spoilt before")
        e.captured, e.place = s.capture, list(s.capture.tails.get(s, ()))  # it stands for a place in the graph, not for a time
    elif not s.context.broken:
        e.record_in(s)


def reachable(hEvent: object) -> DeviceEvent:
    """An event that stands for work that runs, not for a place in a graph."""
    e = event_of(hEvent)
    if e.captured is not None:
        raise e.captured.refuse("the event was captured into a graph: it has no state", "CUDA_ERROR_CAPTURED_EVENT")
    return e


@api
def cuEventRecord(hEvent: object, hStream: object) -> None:
    """Records an event."""
    record(hEvent, hStream)


@api
def cuEventRecordWithFlags(hEvent: object, hStream: object, flags: object) -> None:
    """As cuEventRecord."""
    if integer(flags) & ~1:
        raise invalid(f"flags {integer(flags):#x}")
    if not integer(flags):
        record(hEvent, hStream)
        return
    e, s = event_of(hEvent), stream_of(hStream)
    if s.capture is None:
        raise ApiError("CUDA_ERROR_ILLEGAL_STATE", "an external event is recorded by a graph: the stream is not being captured")
    in_order(s, "EVENT_RECORD", lambda: e.record(s), e)


@api
def cuEventQuery(hEvent: object) -> None:
    """Was the event reached?  One that was never recorded counts as reached."""
    e = reachable(hEvent)
    refuse_unfinished(e.context, e)
    e.context.tell()
    e.context.over(e)


@api
def cuEventSynchronize(hEvent: object) -> None:
    """Waits for an event."""
    e = reachable(hEvent)
    e.context.synchronize(e)


@api
def cuEventElapsedTime(hStart: object, hEnd: object) -> float:
    """Milliseconds between two events."""
    start, end = reachable(hStart), reachable(hEnd)
    if start.context is not end.context:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the events are of different contexts")
    return end.milliseconds_since(start)


@api
def cuCtxRecordEvent(hCtx: object, hEvent: object) -> None:
    """Records an event behind all work of a context."""
    c = context_of(hCtx)
    record_behind(event_of(hEvent), QUEUE.of_context(c), c.default_stream(LEGACY))


@api
def cuCtxWaitEvent(hCtx: object, hEvent: object) -> None:
    """All later work of a context waits for an event."""
    c = context_of(hCtx)
    hold_up([*c.streams, *c.thread_streams(), c.default_stream(LEGACY)], event_of(hEvent))


def record_behind(e: DeviceEvent, work: Sequence[PendingWork], stream: DeviceStream) -> None:
    """An event is reached when some work has ended, and that of a stream."""
    if not stream.context.broken:
        e.captured, e.reached = None, None
        e.recorded = QUEUE.give(stream, "EVENT_RECORD", e.record, work)


def hold_up(streams: Sequence[DeviceStream], e: DeviceEvent) -> None:
    """The later work of streams waits for an event."""
    if e.recorded is not None and e.is_ahead:
        for s in streams:
            QUEUE.give(s, "WAIT_EVENT", lambda: None, [e.recorded])
