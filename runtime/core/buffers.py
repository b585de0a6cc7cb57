"""Buffer and the memory resources that give them, as in cuda.core; a numpy array may stand wherever a copy takes a Buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import driver
from ..driver.api import object_of
from ..memory import SPACE
from .calls import do
from .streams import IsStreamType, Stream, accept

if TYPE_CHECKING:
    from ..arrays import Pool
    from .devices import Device

Array = NDArray[Any]
A = driver.CUmemPool_attribute


class MemoryResource:
    """Something that gives memory."""

    def allocate(self, size: int, *, stream: Stream | IsStreamType | None = None) -> Buffer:
        """A new buffer."""
        raise NotImplementedError

    def deallocate(self, ptr: int, size: int, *, stream: Stream | IsStreamType | None = None) -> None:
        """Takes memory back."""
        raise NotImplementedError

    @property
    def is_device_accessible(self) -> bool:
        """Can kernels use it?"""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """Can the host use it?"""
        return False

    @property
    def is_managed(self) -> bool:
        """Is it managed memory?"""
        return False

    @property
    def device_id(self) -> int:
        """The device that it belongs to; -1 for the host."""
        return -1

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{'' if self.is_host_accessible else f' of device {self.device_id}'}>"


class Buffer:
    """A stretch of memory with an owner."""

    _address: int
    _size: int
    _resource: MemoryResource | None
    _owner: object
    _stream: Stream | IsStreamType | None

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError("a Buffer comes from Device.allocate, a memory resource, or Buffer.from_handle")

    @staticmethod
    def from_handle(
        ptr: object,
        size: int,
        mr: MemoryResource | None = None,
        owner: object | None = None,
        *,
        stream: Stream | IsStreamType | None = None,
    ) -> Buffer:
        """Memory that is there already; with a resource it is given back to that."""
        if mr is not None and owner is not None:
            raise ValueError("either a resource or an owner frees the memory")
        self = Buffer.__new__(Buffer)
        self._address, self._size, self._resource, self._owner, self._stream = int(ptr or 0), int(size), mr, owner, stream  # type: ignore[call-overload]
        return self

    def close(self, stream: Stream | IsStreamType | None = None) -> None:
        """Gives the memory back."""
        if self._address and self._resource is not None:
            self._resource.deallocate(self._address, self._size, stream=stream or self._stream)
        self._address, self._owner = 0, None

    def set_deallocation_stream(self, stream: Stream | IsStreamType) -> None:
        """The stream in whose order the memory is given back."""
        self._stream = stream

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def copy_to(
        self, dst: Buffer | Array | None = None, *, stream: Stream | IsStreamType | None = None, options: object | None = None
    ) -> Buffer | Array:
        """Copies to another buffer or to a numpy array; to a new buffer of the same resource where none is given."""
        if dst is None:
            if self._resource is None:
                raise ValueError("there is no resource to take a new buffer from")
            dst = self._resource.allocate(self._size, stream=stream)
        at, size, _ = _place(dst, True)
        if size != self._size:
            raise ValueError(f"the source has {self._size} bytes, the target {size}")
        _copy(at, self._address, size, stream, isinstance(dst, np.ndarray))
        return dst

    def copy_from(self, src: Buffer | Array, *, stream: Stream | IsStreamType | None = None, options: object | None = None) -> None:
        """Copies from another buffer or from a numpy array."""
        at, size, keep = _place(src, False)
        if size != self._size:
            raise ValueError(f"the source has {size} bytes, the target {self._size}")
        _copy(self._address, at, size, stream, keep is not None)

    def copy_to_host(self, dtype: Any = np.uint8, shape: tuple[int, ...] | None = None) -> Array:
        """A numpy array with the contents."""
        kind = np.dtype(dtype)
        out = np.empty(self._size // kind.itemsize if shape is None else shape, kind)
        if out.nbytes > self._size:
            raise ValueError(f"the buffer has {self._size} bytes, the array {out.nbytes}")
        do(driver.cuMemcpy, out.ctypes.data, self._address, out.nbytes)
        return out

    def fill(self, value: int | bytes | Any, *, stream: Stream | IsStreamType | None = None) -> None:
        """Sets every byte, or every 2- or 4-byte element of a pattern given as bytes or a numpy scalar."""
        if isinstance(value, int):
            if not 0 <= value < 256:
                raise OverflowError("an int is one byte; give a numpy scalar for wider elements")
            raw = bytes([value])
        else:
            raw = bytes(memoryview(value).tobytes()) if not isinstance(value, np.generic) else value.tobytes()
        n = len(raw)
        if n not in (1, 2, 4) or self._size % n:
            raise ValueError(f"a pattern of {n} bytes for a buffer of {self._size}")
        work = {1: driver.cuMemsetD8Async, 2: driver.cuMemsetD16Async, 4: driver.cuMemsetD32Async}[n]
        do(work, self._address, int.from_bytes(raw, "little"), self._size // n, _handle(stream))

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {"shape": (self._size,), "typestr": "|u1", "data": (self._address, False), "version": 3, "strides": None, "stream": 1}

    def __dlpack__(
        self, *, stream: int | None = None, max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:  # fmt: skip
        if not self.is_host_accessible:
            raise BufferError("numpy can't reach device memory; copy_to_host gives a copy")
        view = SPACE.bytes_at(self._address, self._size)
        return view.__dlpack__() if max_version is None else view.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if self.is_host_accessible else (2, self.device_id)

    @property
    def handle(self) -> int:
        """The address."""
        return self._address

    @property
    def is_closed(self) -> bool:
        """Was it given back?"""
        return not self._address

    @property
    def size(self) -> int:
        """Bytes; none once it was given back."""
        return self._size if self._address else 0

    @property
    def owner(self) -> object:
        """Who keeps the memory, where no resource does."""
        return self._owner

    @property
    def memory_resource(self) -> MemoryResource | None:
        """Where it came from."""
        return self._resource

    def _kind(self) -> str:
        b = SPACE.buffer_at(self._address)
        return "device" if b is None else b.kind

    @property
    def device_id(self) -> int:
        """The device that it belongs to; -1 for the host."""
        if self._resource is not None:  # which raises for memory that it never bound to a device
            return self._resource.device_id
        b = SPACE.buffer_at(self._address)
        return b.context.ordinal if b is not None and b.kind == "device" else -1

    @property
    def is_device_accessible(self) -> bool:
        """Can kernels use it?"""
        return SPACE.is_device_range(self._address)

    @property
    def is_host_accessible(self) -> bool:
        """Can the host use it?"""
        return self._kind() in ("host", "managed", "registered")

    @property
    def is_managed(self) -> bool:
        """Is it managed memory?"""
        return self._kind() == "managed"

    @property
    def is_mapped(self) -> bool:
        """Does another process own it?"""
        return False

    def __eq__(self, other: object) -> bool:
        return (self._address, self._size) == (other._address, other._size) if isinstance(other, Buffer) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._address, self._size))

    def __repr__(self) -> str:
        if self.is_closed:
            return f"<Buffer closed, {self._size} bytes>"
        where = "the host" if self.is_host_accessible else f"device {self.device_id}"
        return f"<Buffer {self._size} bytes at {self._address:#x} of {where}>"


ManagedBuffer = Buffer


def _handle(stream: Stream | IsStreamType | None) -> object:
    return 0 if stream is None else accept(stream).handle


def _place(thing: Buffer | Array, write: bool) -> tuple[int, int, Array | None]:
    if isinstance(thing, Buffer):
        return thing.handle, thing.size, None
    if not isinstance(thing, np.ndarray):
        raise TypeError(f"a Buffer or a numpy array, not {type(thing).__name__}")
    if not thing.flags.c_contiguous:
        if write:
            raise ValueError("the array must be contiguous")
        thing = np.ascontiguousarray(thing)
    return thing.ctypes.data, thing.nbytes, thing


def _copy(dst: int, src: int, size: int, stream: Stream | IsStreamType | None, host: bool) -> None:
    if stream is None:
        if not host:
            raise TypeError("a copy between buffers needs a stream")
        do(driver.cuMemcpy, dst, src, size)
    else:
        do(driver.cuMemcpyAsync, dst, src, size, accept(stream).handle)


# ---------------------------------------------------------------- resources


class PoolAttributes:
    """What is known of a pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __repr__(self) -> str:
        p = self._pool
        return f"<pool: {p.used} bytes used of {p.reserved} reserved>"

    @property
    def reuse_follow_event_dependencies(self) -> bool:
        """May memory be used again where events order its uses?"""
        return bool(self._pool.settings[1])

    @property
    def reuse_allow_opportunistic(self) -> bool:
        """May memory be used again where its use is over by chance?"""
        return bool(self._pool.settings[2])

    @property
    def reuse_allow_internal_dependencies(self) -> bool:
        """May an allocation wait for a free in another stream?"""
        return bool(self._pool.settings[3])

    @property
    def release_threshold(self) -> int:
        """Bytes that are kept rather than given back."""
        return self._pool.threshold

    @property
    def reserved_mem_current(self) -> int:
        """Bytes that the pool holds."""
        return self._pool.reserved

    @property
    def reserved_mem_high(self) -> int:
        """The most that it held."""
        return self._pool.reserved_high

    @property
    def used_mem_current(self) -> int:
        """Bytes that are in use."""
        return self._pool.used

    @property
    def used_mem_high(self) -> int:
        """The most that were in use."""
        return self._pool.used_high


class PoolResource(MemoryResource):
    """A resource over one of the driver's pools."""

    def __init__(self, handle: driver.CUmemoryPool, owned: bool, device_id: int) -> None:
        self._handle = handle
        self._owned = owned
        self._device_id = device_id

    def allocate(self, size: int, *, stream: Stream | IsStreamType | None = None) -> Buffer:
        """Memory in a stream's order."""
        if size < 0:
            raise OverflowError(f"{size} bytes")
        at = int(do(driver.cuMemAllocFromPoolAsync, size, self._handle, _handle(stream))) if size else 0
        return Buffer.from_handle(at, size, self, stream=stream)

    def deallocate(self, ptr: int, size: int, *, stream: Stream | IsStreamType | None = None) -> None:
        """Takes memory back, in a stream's order."""
        do(driver.cuMemFreeAsync, ptr, _handle(stream))

    def close(self) -> None:
        """Ends the pool where it is this resource's own."""
        if self._owned and int(self._handle):
            do(driver.cuMemPoolDestroy, self._handle)
        self._handle = driver.CUmemoryPool(0)

    @property
    def is_closed(self) -> bool:
        """Was it ended?"""
        return not int(self._handle)

    @property
    def attributes(self) -> PoolAttributes:
        """What is known of the pool."""
        from ..arrays import Pool

        return PoolAttributes(object_of(self._handle, Pool))

    @property
    def handle(self) -> driver.CUmemoryPool:
        """The driver's handle."""
        return self._handle

    @property
    def is_handle_owned(self) -> bool:
        """Does the pool end with this resource?"""
        return self._owned

    @property
    def is_ipc_enabled(self) -> bool:
        """Can other processes share it?"""
        return False

    @property
    def is_mapped(self) -> bool:
        """Does another process own it?"""
        return False

    @property
    def uuid(self) -> None:
        """The name for other processes, which none has."""
        return

    @property
    def device_id(self) -> int:
        """See MemoryResource."""
        return self._device_id


@dataclass
class DeviceMemoryResourceOptions:
    """How a pool of device memory is made."""

    ipc_enabled: bool = False
    max_size: int = 0


@dataclass
class PinnedMemoryResourceOptions:
    """How a pool of pinned memory is made."""

    ipc_enabled: bool = False
    max_size: int = 0
    numa_id: int | None = None


@dataclass
class ManagedMemoryResourceOptions:
    """How a pool of managed memory is made."""

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
    """Device memory: the device's own pool, or with options a new one."""

    def __init__(self, device_id: Device | int, options: DeviceMemoryResourceOptions | None = None) -> None:
        ordinal = int(device_id)
        if options is None:
            super().__init__(do(driver.cuDeviceGetDefaultMemPool, ordinal), False, ordinal)
            return
        _no_ipc(options.ipc_enabled)
        super().__init__(_new_pool(driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, ordinal, options.max_size), True, ordinal)
        do(driver.cuMemPoolSetAttribute, self._handle, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 2**64 - 1)

    @property
    def peer_accessible_by(self) -> set[int]:
        """The other devices that may use this memory."""
        from ..arrays import Pool

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
    """Pinned host memory, which kernels reach under the same address."""

    def __init__(self, options: PinnedMemoryResourceOptions | None = None) -> None:
        o = options or PinnedMemoryResourceOptions()
        _no_ipc(o.ipc_enabled)
        super().__init__(_new_pool(driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0, o.max_size), True, -1)
        self._numa = -1 if o.numa_id is None else o.numa_id

    @property
    def numa_id(self) -> int:
        """The host's node that was asked for; -1 for none."""
        return self._numa

    @property
    def is_host_accessible(self) -> bool:
        """See MemoryResource."""
        return True


class ManagedMemoryResource(PoolResource):
    """Memory that host and devices use under one address."""

    def __init__(self, options: ManagedMemoryResourceOptions | None = None) -> None:
        o = options or ManagedMemoryResourceOptions()
        super().__init__(_new_pool(driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0, managed=True), True, -1)
        self._preferred = o.preferred_location

    @property
    def preferred_location(self) -> tuple[str, int | None] | None:
        """Where the memory should be, on which no result depends."""
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

    def allocate(self, size: int, *, stream: Stream | IsStreamType | None = None) -> Buffer:
        """Pinned memory."""
        return Buffer.from_handle(int(do(driver.cuMemAllocHost, size)) if size else 0, size, self)

    def deallocate(self, ptr: int, size: int, *, stream: Stream | IsStreamType | None = None) -> None:
        """Takes pinned memory back."""
        if stream is not None:
            accept(stream).sync()
        do(driver.cuMemFreeHost, ptr)

    @property
    def is_host_accessible(self) -> bool:
        """See MemoryResource."""
        return True

    @property
    def device_id(self) -> int:
        """It belongs to no device."""
        raise RuntimeError("pinned memory belongs to no device")


# ---------------------------------------------------------------- arrays on the device


class DeviceNDArray:
    """A buffer that knows its shape and its dtype."""

    def __init__(self, buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.buffer = buffer
        self.shape = shape
        self.dtype = dtype

    @property
    def size(self) -> int:
        """Elements."""
        return int(np.prod(self.shape))

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.buffer.handle, False), "version": 3, "strides": None, "stream": 1,
        }  # fmt: skip

    def copy_to_host(self, out: Array | None = None) -> Array:
        """A numpy array with the contents."""
        if out is None:
            out = np.empty(self.shape, self.dtype)
        if self.nbytes:
            self.buffer.copy_to(out)
        return out

    def copy_from_host(self, array: Array) -> None:
        """Takes the contents of a numpy array of the same shape."""
        self.buffer.copy_from(np.ascontiguousarray(array, self.dtype).reshape(self.shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        found = self.copy_to_host()
        return found if dtype is None else found.astype(dtype)

    def __repr__(self) -> str:
        return f"<{self.dtype}{list(self.shape)} at {self.buffer.handle:#x} of device {self.buffer.device_id}>"


def device_array(shape: int | tuple[int, ...], dtype: Any = np.float32, stream: Stream | None = None) -> DeviceNDArray:
    """An array on the current device, with whatever its memory holds."""
    from .devices import Device

    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = np.dtype(dtype)
    size = int(np.prod(dims)) * kind.itemsize
    device = Device()
    device.set_current()
    return DeviceNDArray(device.allocate(size, stream=stream or device.default_stream), dims, kind)


def to_device(array: Any, stream: Stream | None = None) -> DeviceNDArray:
    """A copy of an array on the current device."""
    host = np.ascontiguousarray(array)
    out = device_array(np.shape(array), host.dtype, stream)
    if host.nbytes:
        out.buffer.copy_from(host)
    return out
