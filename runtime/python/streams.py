"""Stream and Event, as in cuda.core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import driver
from .calls import Closable, IsStreamType, do, needed_handle

if TYPE_CHECKING:
    from .devices import Context, Device
    from .graph import GraphBuilder


@dataclass
class StreamOptions:
    """Options for a stream."""

    nonblocking: bool = True
    priority: int | None = None


@dataclass
class EventOptions:
    """Options for an event."""

    timing_enabled: bool | None = False
    blocking_sync: bool | None = False
    ipc_enabled: bool | None = False


class Event(Closable):
    """An event in a stream. The difference of two events is the time between them in milliseconds."""

    _origin = "an Event comes from Device.create_event or Stream.record"
    _null, _destroy = driver.CUevent, staticmethod(driver.cuEventDestroy)
    _options: EventOptions
    _device_id: int

    @classmethod
    def _init(cls, options: EventOptions | None) -> Event:
        o = options or EventOptions()
        if o.ipc_enabled:
            raise NotImplementedError("events that other processes see are not supported")
        self = cls.__new__(cls)
        flags = driver.CUevent_flags
        bits = (0 if o.timing_enabled else flags.CU_EVENT_DISABLE_TIMING) | (flags.CU_EVENT_BLOCKING_SYNC if o.blocking_sync else 0)
        self._options = o
        self._handle = do(driver.cuEventCreate, int(bits))
        self._device_id = int(do(driver.cuCtxGetDevice))
        return self

    def __sub__(self, other: Event) -> float:
        if not isinstance(other, Event):
            return NotImplemented
        if not (self.is_timing_enabled and other.is_timing_enabled):
            raise RuntimeError("both events must be made with timing_enabled=True")
        return float(do(driver.cuEventElapsedTime, other.handle, self.handle))

    def __hash__(self) -> int:
        return hash(int(self.handle))

    def __eq__(self, other: object) -> bool:
        return self.handle == other.handle if isinstance(other, Event) else NotImplemented

    def __repr__(self) -> str:
        return f"<Event {int(self._handle or 0):#x}{' closed' if self.is_closed else ''}>"

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can use it."""
        return False

    @property
    def is_timing_enabled(self) -> bool:
        """Whether it records its time."""
        return bool(self._options.timing_enabled)

    @property
    def is_blocking_sync(self) -> bool:
        """Whether waiting for it yields the processor."""
        return bool(self._options.blocking_sync)

    def sync(self) -> None:
        """Waits until it has completed."""
        do(driver.cuEventSynchronize, self.handle)

    @property
    def is_done(self) -> bool:
        """Whether it has completed."""
        do(driver.cuEventQuery, self.handle)
        return True

    @property
    def device(self) -> Device:
        """The device."""
        from .devices import Device

        return Device(self._device_id)

    @property
    def context(self) -> Context:
        """The context."""
        return self.device.context


class Stream(Closable):
    """A stream: a queue of work that executes in order."""

    _origin = "a Stream comes from Device.create_stream or Stream.from_handle"
    _null = driver.CUstream
    _owned: bool

    @classmethod
    def _of(cls, handle: driver.CUstream, owned: bool) -> Stream:
        self = cls.__new__(cls)
        self._handle, self._owned = handle, owned
        return self

    @classmethod
    def _init(cls, obj: IsStreamType | None = None, options: StreamOptions | None = None) -> Stream:
        if obj is not None:
            return cls.from_handle(needed_handle(obj))
        o = options or StreamOptions()
        flags = int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING if o.nonblocking else driver.CUstream_flags.CU_STREAM_DEFAULT)
        if o.priority is not None:
            least, greatest = do(driver.cuCtxGetStreamPriorityRange)
            if not greatest <= o.priority <= least:
                raise ValueError(f"priority {o.priority}; the device has {greatest} to {least}")
        return cls._of(do(driver.cuStreamCreateWithPriority, flags, o.priority or 0), True)

    @staticmethod
    def from_handle(handle: object) -> Stream:
        """A stream that another library owns."""
        return Stream._of(driver.CUstream(handle), False)

    def close(self) -> None:
        """Destroys the stream; its work still completes."""
        if self._handle is not None and self._owned:
            do(driver.cuStreamDestroy, self._handle)
        self._handle = None

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self.handle)

    def __hash__(self) -> int:
        return hash(int(self.handle))

    def __eq__(self, other: object) -> bool:
        return int(self.handle) == int(other.handle) if isinstance(other, Stream) else NotImplemented

    def __repr__(self) -> str:
        kind = {0: "legacy default", 1: "legacy default", 2: "per-thread default"}.get(int(self.handle), f"{int(self.handle):#x}")
        return "<Stream closed>" if self.is_closed else f"<Stream {kind}>"

    @property
    def is_nonblocking(self) -> bool:
        """Whether it does not synchronise with the legacy default stream."""
        return bool(do(driver.cuStreamGetFlags, self.handle) & 1)

    @property
    def priority(self) -> int:
        """The priority."""
        return int(do(driver.cuStreamGetPriority, self.handle))

    def sync(self) -> None:
        """Waits for the work of the stream; raises the error of a failed launch."""
        do(driver.cuStreamSynchronize, self.handle)

    def record(self, event: Event | None = None, options: EventOptions | None = None) -> Event:
        """Records an event after all work so far."""
        if event is None:
            event = Event._init(options)
        elif options is not None:
            raise ValueError("options are for a new event")
        do(driver.cuEventRecord, event.handle, self.handle)
        return event

    def create_graph_builder(self) -> GraphBuilder:
        """A graph builder, which captures the work of this stream."""
        from .graph import GraphBuilder

        return GraphBuilder._of(self, False)

    def wait(self, event_or_stream: Event | Stream) -> None:
        """Later work waits for an event, or for all work of another stream."""
        event = event_or_stream if isinstance(event_or_stream, Event) else Stream.from_handle(needed_handle(event_or_stream)).record()
        do(driver.cuStreamWaitEvent, self.handle, event.handle, 0)

    @property
    def device(self) -> Device:
        """The device."""
        from .devices import Device

        return Device(int(do(driver.cuStreamGetDevice, self.handle)))

    @property
    def context(self) -> Context:
        """The context."""
        from .devices import Context

        return Context._of(do(driver.cuStreamGetCtx, self.handle))


LEGACY_DEFAULT_STREAM = Stream.from_handle(driver.CU_STREAM_LEGACY)
PER_THREAD_DEFAULT_STREAM = Stream.from_handle(driver.CU_STREAM_PER_THREAD)
