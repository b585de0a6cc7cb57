"""Device, Context, Stream, Event and GraphBuilder, as in cuda.core: each names others of them in its properties, so one file holds all.

Device(arch="sm_35") is a device of another model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import driver
from ..device.context import DeviceContext
from ..device.machine import machine
from ..driver.api import STATE, handle_of, initialise, object_of
from ..driver.devices import pci_bus_id
from .buffers import Buffer, MemoryResource
from .calls import Closable, CUDAError, Given, IsStreamType, do, needed_handle
from .properties import ComputeCapability, DeviceProperties
from .resources import DeviceMemoryResource

if TYPE_CHECKING:
    from .opaque import MipmappedArray, MipmappedArrayOptions, OpaqueArray, OpaqueArrayOptions
    from .textures import ResourceDescriptor, SurfaceObject, TextureObject, TextureObjectOptions

CAPTURE_MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


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
        try:
            do(driver.cuEventQuery, self.handle)
        except CUDAError as e:
            if e.name != "CUDA_ERROR_NOT_READY":
                raise
            return False
        return True

    @property
    def device(self) -> Device:
        """The device."""
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
        return GraphBuilder._of(self, False)

    def wait(self, event_or_stream: Event | Stream) -> None:
        """Later work waits for an event, or for all work of another stream."""
        event = event_or_stream if isinstance(event_or_stream, Event) else Stream.from_handle(needed_handle(event_or_stream)).record()
        do(driver.cuStreamWaitEvent, self.handle, event.handle, 0)

    @property
    def device(self) -> Device:
        """The device."""
        return Device(int(do(driver.cuStreamGetDevice, self.handle)))

    @property
    def context(self) -> Context:
        """The context."""
        return Context._of(do(driver.cuStreamGetCtx, self.handle))


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
        if mode not in CAPTURE_MODES:
            raise ValueError(f"mode {mode!r}; there are {' '.join(CAPTURE_MODES)}")
        do(driver.cuStreamBeginCapture, self._stream.handle, CAPTURE_MODES[mode])
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


class Context(Given):
    """A context of a device."""

    _context: driver.CUcontext
    _origin = "a Context comes from Device.set_current"

    @classmethod
    def _of(cls, handle: driver.CUcontext) -> Context:
        self = cls.__new__(cls)
        self._context = handle
        return self

    @property
    def handle(self) -> driver.CUcontext:
        """The driver's handle."""
        return self._context

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return not object_of(self._context, DeviceContext).alive

    @property
    def is_green(self) -> bool:
        """Whether it is a green context."""
        return False

    def create_stream(self, options: StreamOptions | None = None) -> Stream:
        """A stream of this context."""
        do(driver.cuCtxPushCurrent, self._context)
        try:
            return Stream._init(None, options)
        finally:
            do(driver.cuCtxPopCurrent)

    def __eq__(self, other: object) -> bool:
        return self._context == other._context if isinstance(other, Context) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._context)

    def __repr__(self) -> str:
        return f"<Context {int(self._context):#x} of device {int(do(driver.cuCtxGetDevice_v2, self._context))}>"


class Device:
    """A device. All uses of a device share one object."""

    _known: dict[int, Device] = {}  # noqa: RUF012
    _device_id: int
    _resource: MemoryResource | None
    _retained: bool

    def __new__(cls, device_id: Device | int | None = None, *, arch: str | None = None, rules_only: bool = False) -> Device:
        """The current device, or one by number; `arch` names a model, which becomes a device where there is none.

        With `rules_only`, that device also runs code for newer ones, under its own limits and memory rules.
        """
        initialise()
        if arch is not None:
            ordinal = machine().of_architecture(arch, rules_only).ordinal
        elif device_id is None:
            ordinal = STATE.top.ordinal if STATE.top is not None else 0
        else:
            ordinal = int(device_id)
        if not 0 <= ordinal < len(machine().devices):
            raise ValueError(f"device {ordinal}; there are {len(machine().devices)}")
        self = cls._known.get(ordinal)
        if self is None:
            self = super().__new__(cls)
            self._device_id, self._resource, self._retained = ordinal, None, False
            cls._known[ordinal] = self
        return self

    @classmethod
    def get_all_devices(cls) -> tuple[Device, ...]:
        """All devices."""
        initialise()
        return tuple(cls(n) for n in range(len(machine().devices)))

    @property
    def device_id(self) -> int:
        """The index of the device."""
        return self._device_id

    @property
    def pci_bus_id(self) -> str:
        """A PCI bus identifier."""
        return pci_bus_id(machine().device(self._device_id))

    def can_access_peer(self, peer: Device | int) -> bool:
        """Whether this device can access the memory of another one."""
        return bool(do(driver.cuDeviceCanAccessPeer, self._device_id, int(peer)))

    @property
    def uuid(self) -> str:
        """An identifier that is the same in all processes."""
        h = machine().device(self._device_id).uuid.hex()
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    @property
    def name(self) -> str:
        """The name of the device."""
        return machine().device(self._device_id).name

    @property
    def properties(self) -> DeviceProperties:
        """The attributes."""
        return DeviceProperties(self._device_id)

    @property
    def compute_capability(self) -> ComputeCapability:
        """The compute capability: (9, 0) for sm_90."""
        return ComputeCapability(*machine().device(self._device_id).profile.capability)

    @property
    def arch(self) -> str:
        """ "90" of sm_90."""
        return "".join(map(str, self.compute_capability))

    @property
    def context(self) -> Context:
        """The current context, which must be this device's."""
        self._check()
        return Context._of(do(driver.cuCtxGetCurrent))

    @property
    def memory_resource(self) -> MemoryResource:
        """The memory resource that allocate uses."""
        if self._resource is None:
            self._resource = DeviceMemoryResource(self._device_id)
        return self._resource

    @memory_resource.setter
    def memory_resource(self, mr: MemoryResource) -> None:
        if not isinstance(mr, MemoryResource):
            raise TypeError("a MemoryResource is needed")
        self._resource = mr

    @property
    def default_stream(self) -> Stream:
        """The legacy default stream."""
        return LEGACY_DEFAULT_STREAM

    def _check(self) -> None:
        if STATE.top is None or STATE.top.ordinal != self._device_id:
            raise CUDAError("CUDA_ERROR_INVALID_CONTEXT", f"device {self._device_id} is not current: call set_current() first")

    def set_current(self, ctx: Context | None = None) -> Context | None:
        """Makes the primary context current, or the given context; then the previous context is returned."""
        if ctx is not None:
            if int(do(driver.cuCtxGetDevice_v2, ctx.handle)) != self._device_id:
                raise RuntimeError("the context is of another device")
            old = do(driver.cuCtxGetCurrent)
            do(driver.cuCtxSetCurrent, ctx.handle)
            return Context._of(old) if int(old) else None
        d = machine().device(self._device_id)
        if not self._retained or d.primary is None:
            d.retain()
            self._retained = True
        do(driver.cuCtxSetCurrent, driver.CUcontext(handle_of(d.primary)))
        return None

    def create_context(self, options: object | None = None) -> Context:
        """Green contexts are not supported: this raises an error."""
        raise NotImplementedError("parts of a device can't be had")

    def create_stream(self, obj: IsStreamType | None = None, options: StreamOptions | None = None) -> Stream:
        """A new stream, or a wrapper of another package's stream."""
        self._check()
        return Stream._init(obj, options)

    def create_event(self, options: EventOptions | None = None) -> Event:
        """A new event."""
        self._check()
        return Event._init(options)

    def create_opaque_array(self, options: OpaqueArrayOptions | Mapping[str, Any]) -> OpaqueArray:
        """A new array for textures and surfaces."""
        from .opaque import OpaqueArray

        self._check()
        return OpaqueArray._init(self, options)

    def create_mipmapped_array(self, options: MipmappedArrayOptions | Mapping[str, Any]) -> MipmappedArray:
        """A new array with levels."""
        from .opaque import MipmappedArray

        self._check()
        return MipmappedArray._init(self, options)

    def create_texture_object(
        self, *, resource: ResourceDescriptor, options: TextureObjectOptions | Mapping[str, Any] | None = None
    ) -> TextureObject:
        """A new texture."""
        from .textures import TextureObject

        self._check()
        return TextureObject._init(self, resource, options)

    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """A new surface."""
        from .textures import SurfaceObject

        self._check()
        return SurfaceObject._init(self, resource)

    def create_graph_builder(self) -> GraphBuilder:
        """A graph builder, which captures work on a stream of its own."""
        return GraphBuilder._of(self.create_stream(), True)

    def allocate(self, size: int, *, stream: Stream | IsStreamType | None = None) -> Buffer:
        """Allocates memory from the device's memory resource."""
        self._check()
        return self.memory_resource.allocate(size, stream=stream)

    def sync(self) -> None:
        """Waits for all work; raises the error of a failed launch."""
        self._check()
        do(driver.cuCtxSynchronize)

    def reset(self) -> None:
        """Replaces the primary context by a new one: memory, modules and a pending error are gone."""
        is_current = STATE.top is not None and STATE.top is machine().device(self._device_id).primary
        do(driver.cuDevicePrimaryCtxReset, self._device_id)
        if is_current:
            self.set_current()

    def __int__(self) -> int:
        return self._device_id

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return hash(self._device_id)

    def __repr__(self) -> str:
        return f"<Device {self._device_id}: {self.name}, {machine().device(self._device_id).profile.name}>"


LEGACY_DEFAULT_STREAM = Stream.from_handle(driver.CU_STREAM_LEGACY)
PER_THREAD_DEFAULT_STREAM = Stream.from_handle(driver.CU_STREAM_PER_THREAD)
