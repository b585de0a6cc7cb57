"""The memory resources of cuda.core: pools of a device, pinned and managed memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsInt

from .. import driver
from ..device.memory.pools import Pool
from ..driver.api import object_of
from .buffers import Buffer, MemoryResource
from .calls import IsStreamType, do, needed_handle, stream_handle

A = driver.CUmemPool_attribute


_POOL_ATTRIBUTES = (
    "reuse_follow_event_dependencies", "reuse_allow_opportunistic", "reuse_allow_internal_dependencies", "release_threshold",
    "reserved_mem_current", "reserved_mem_high", "used_mem_current", "used_mem_high",
)  # fmt: skip


class PoolAttributes:
    """What is known of a pool, by name; what begins with reuse_ is true or false, the rest are bytes."""

    def __init__(self, handle: driver.CUmemoryPool) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> int | bool:
        if name not in _POOL_ATTRIBUTES:
            raise AttributeError(f"no attribute is called {name}")
        value = int(do(driver.cuMemPoolGetAttribute, self._handle, A.__members__[f"CU_MEMPOOL_ATTR_{name.upper()}"]))
        return bool(value) if name.startswith("reuse_") else value

    def __dir__(self) -> list[str]:
        return sorted(_POOL_ATTRIBUTES)

    def __repr__(self) -> str:
        return f"<pool: {self.used_mem_current} bytes used of {self.reserved_mem_current} reserved>"


class PoolResource(MemoryResource):
    """A resource over one of the driver's pools."""

    def __init__(self, handle: driver.CUmemoryPool, owned: bool, device_id: int) -> None:
        self._handle = handle
        self._owned = owned
        self._device_id = device_id

    def allocate(self, size: int, *, stream: IsStreamType | None = None) -> Buffer:
        """Allocates memory in stream order."""
        if size < 0:
            raise OverflowError(f"{size} bytes")
        at = int(do(driver.cuMemAllocFromPoolAsync, size, self._handle, stream_handle(stream))) if size else 0
        return Buffer.from_handle(at, size, self, stream=stream)

    def deallocate(self, ptr: int, size: int, *, stream: IsStreamType | None = None) -> None:
        """Frees memory in stream order."""
        do(driver.cuMemFreeAsync, ptr, stream_handle(stream))

    def close(self) -> None:
        """Destroys the pool if this resource owns it."""
        if self._owned and int(self._handle):
            do(driver.cuMemPoolDestroy, self._handle)
        self._handle = driver.CUmemoryPool(0)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return not int(self._handle)

    @property
    def attributes(self) -> PoolAttributes:
        """The attributes of the pool."""
        return PoolAttributes(self._handle)

    @property
    def handle(self) -> driver.CUmemoryPool:
        """The driver's handle."""
        return self._handle

    @property
    def is_handle_owned(self) -> bool:
        """Whether this resource owns the pool."""
        return self._owned

    @property
    def is_ipc_enabled(self) -> bool:
        """Whether other processes can share it."""
        return False

    @property
    def is_mapped(self) -> bool:
        """Whether another process owns it."""
        return False

    @property
    def uuid(self) -> None:
        """None: pools cannot be shared with other processes."""
        return

    @property
    def device_id(self) -> int:
        """See MemoryResource."""
        return self._device_id


@dataclass
class DeviceMemoryResourceOptions:
    """Options for a pool of device memory."""

    ipc_enabled: bool = False
    max_size: int = 0


@dataclass
class PinnedMemoryResourceOptions:
    """Options for a pool of pinned memory."""

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None


@dataclass
class ManagedMemoryResourceOptions:
    """Options for a pool of managed memory."""

    preferred_location: int | None = None
    preferred_location_type: str | None = None


def _new_pool(where: driver.CUmemLocationType, ordinal: int, max_size: int = 0, managed: bool = False) -> driver.CUmemoryPool:
    props = driver.CUmemPoolProps()
    kinds = driver.CUmemAllocationType
    props.allocType = kinds.CU_MEM_ALLOCATION_TYPE_MANAGED if managed else kinds.CU_MEM_ALLOCATION_TYPE_PINNED
    props.location.type, props.location.id, props.maxSize = where, ordinal, max_size
    handle: driver.CUmemoryPool = do(driver.cuMemPoolCreate, props)
    return handle


def _no_ipc(wanted: bool) -> None:
    if wanted:
        raise NotImplementedError("memory that other processes share is not supported")


class DeviceMemoryResource(PoolResource):
    """Device memory of the device's default pool, or with options of a new pool."""

    def __init__(self, device_id: SupportsInt, options: DeviceMemoryResourceOptions | None = None) -> None:
        ordinal = int(device_id)
        if options is None:
            super().__init__(do(driver.cuDeviceGetDefaultMemPool, ordinal), False, ordinal)
            return
        _no_ipc(options.ipc_enabled)
        super().__init__(_new_pool(driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, ordinal, options.max_size), True, ordinal)
        do(driver.cuMemPoolSetAttribute, self._handle, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 2**64 - 1)

    @property
    def peer_accessible_by(self) -> set[int]:
        """The other devices that can access this memory."""
        return {n for n, flags in object_of(self._handle, Pool).access.items() if flags == 3}

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices: object) -> None:
        wanted = {int(d) for d in devices}  # type: ignore[attr-defined]
        for n in wanted | self.peer_accessible_by:
            d = driver.CUmemAccessDesc()
            d.location.type, d.location.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, n
            d.flags = driver.CUmemAccess_flags(3 if n in wanted else 0)
            do(driver.cuMemPoolSetAccess, self._handle, [d], 1)


class PinnedMemoryResource(PoolResource):
    """Pinned host memory, which kernels access at the same address."""

    def __init__(self, options: PinnedMemoryResourceOptions | None = None) -> None:
        o = options or PinnedMemoryResourceOptions()
        _no_ipc(o.ipc_enabled)
        super().__init__(_new_pool(driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0, o.max_size), True, -1)
        self._numa = -1 if o.numa_id is None else o.numa_id

    @property
    def numa_id(self) -> int:
        """The requested NUMA node of the host; -1 for none."""
        return self._numa

    @property
    def is_host_accessible(self) -> bool:
        """See MemoryResource."""
        return True


class ManagedMemoryResource(PoolResource):
    """Memory that the host and all devices access at the same address."""

    def __init__(self, options: ManagedMemoryResourceOptions | None = None) -> None:
        o = options or ManagedMemoryResourceOptions()
        super().__init__(_new_pool(driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0, managed=True), True, -1)
        self._preferred = o.preferred_location

    @property
    def preferred_location(self) -> tuple[str, int | None] | None:
        """The preferred location of the memory; it has no effect."""
        return None if self._preferred is None else ("host", None) if self._preferred < 0 else ("device", self._preferred)

    @property
    def is_host_accessible(self) -> bool:
        """See MemoryResource."""
        return True

    @property
    def is_managed(self) -> bool:
        """See MemoryResource."""
        return True


class LegacyPinnedMemoryResource(MemoryResource):
    """Pinned host memory without a pool."""

    def allocate(self, size: int, *, stream: IsStreamType | None = None) -> Buffer:
        """Allocates pinned memory."""
        return Buffer.from_handle(int(do(driver.cuMemAllocHost, size)) if size else 0, size, self)

    def deallocate(self, ptr: int, size: int, *, stream: IsStreamType | None = None) -> None:
        """Frees pinned memory."""
        if stream is not None:
            do(driver.cuStreamSynchronize, needed_handle(stream))
        do(driver.cuMemFreeHost, ptr)

    @property
    def is_host_accessible(self) -> bool:
        """See MemoryResource."""
        return True

    @property
    def device_id(self) -> int:
        """It belongs to no device."""
        raise RuntimeError("pinned memory belongs to no device")
