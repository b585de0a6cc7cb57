"""Device, its properties and its context, as in cuda.core; Device(arch="sm_35") is a device of another model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import driver
from ..device.context import DeviceContext
from ..device.machine import machine
from ..driver.api import STATE, handle_of, initialise, object_of
from ..driver.devices import pci_bus_id
from .buffers import Buffer, MemoryResource
from .calls import CUDAError, Given, IsStreamType, do
from .properties import ABSENT, FLAGS
from .resources import DeviceMemoryResource
from .streams import LEGACY_DEFAULT_STREAM, Event, EventOptions, Stream, StreamOptions

if TYPE_CHECKING:
    from .graph import GraphBuilder
    from .opaque import MipmappedArray, MipmappedArrayOptions, OpaqueArray, OpaqueArrayOptions
    from .textures import ResourceDescriptor, SurfaceObject, TextureObject, TextureObjectOptions


class ComputeCapability(NamedTuple):
    """A compute capability: 9 and 0 for sm_90."""

    major: int
    minor: int


SHOWN = ("multiprocessor_count", "max_threads_per_multiprocessor", "max_threads_per_block", "max_shared_memory_per_block_optin", "l2_cache_size",
         "warp_size")  # fmt: skip


class DeviceProperties:
    """The attributes of a device by name."""

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id

    def __getattr__(self, name: str) -> int | bool:
        if name not in dir(self):
            raise AttributeError(f"no property is called {name}")
        value = machine().device(self._device_id).attribute(name.upper())
        return bool(value) if name in FLAGS else value

    def __dir__(self) -> list[str]:
        return sorted({name.lower() for name in machine().device(self._device_id).attributes} - set(ABSENT))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in SHOWN)
        return f"<DeviceProperties of device {self._device_id}: {shown}; dir() lists all {len(dir(self))}>"


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
        from .graph import GraphBuilder

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
