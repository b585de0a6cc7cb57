"""Buffer, as in cuda.core, and what gives one; a numpy array may stand wherever a copy takes a Buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import driver
from ..device.memory.allocations import SPACE
from .calls import Given, IsStreamType, do, needed_handle, stream_handle

Array = NDArray[Any]


class MemoryResource:
    """The base class of memory resources."""

    def allocate(self, size: int, *, stream: IsStreamType | None = None) -> Buffer:
        """A new buffer."""
        raise NotImplementedError

    def deallocate(self, ptr: int, size: int, *, stream: IsStreamType | None = None) -> None:
        """Frees memory."""
        raise NotImplementedError

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can access it."""
        return True

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access it."""
        return False

    @property
    def is_managed(self) -> bool:
        """Whether it is managed memory."""
        return False

    @property
    def device_id(self) -> int:
        """The index of the device; -1 for the host."""
        return -1

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{'' if self.is_host_accessible else f' of device {self.device_id}'}>"


class Buffer(Given):
    """A range of memory with an owner."""

    _address: int
    _size: int
    _resource: MemoryResource | None
    _owner: object
    _stream: IsStreamType | None
    _origin = "a Buffer comes from Device.allocate, a memory resource, or Buffer.from_handle"

    @staticmethod
    def from_handle(
        ptr: object,
        size: int,
        mr: MemoryResource | None = None,
        owner: object | None = None,
        *,
        stream: IsStreamType | None = None,
    ) -> Buffer:
        """Wraps existing memory. With a resource, closing the buffer returns the memory to the resource."""
        if mr is not None and owner is not None:
            raise ValueError("either a resource or an owner frees the memory")
        self = Buffer.__new__(Buffer)
        self._address, self._size, self._resource, self._owner, self._stream = int(ptr or 0), int(size), mr, owner, stream  # type: ignore[call-overload]
        return self

    def close(self, stream: IsStreamType | None = None) -> None:
        """Frees the memory."""
        if self._address and self._resource is not None:
            self._resource.deallocate(self._address, self._size, stream=stream or self._stream)
        self._address, self._owner = 0, None

    def set_deallocation_stream(self, stream: IsStreamType) -> None:
        """Sets the stream in whose order the memory is freed."""
        self._stream = stream

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def copy_to(
        self, dst: Buffer | Array | None = None, *, stream: IsStreamType | None = None, options: object | None = None
    ) -> Buffer | Array:
        """Copies to a buffer or a numpy array; by default to a new buffer of the same resource."""
        if dst is None:
            if self._resource is None:
                raise ValueError("there is no resource to take a new buffer from")
            dst = self._resource.allocate(self._size, stream=stream)
        at, size, _ = _place(dst, True)
        if size != self._size:
            raise ValueError(f"the source has {self._size} bytes, the target {size}")
        _copy(at, self._address, size, stream, isinstance(dst, np.ndarray))
        return dst

    def copy_from(self, src: Buffer | Array, *, stream: IsStreamType | None = None, options: object | None = None) -> None:
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

    def fill(self, value: int | bytes | Any, *, stream: IsStreamType | None = None) -> None:
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
        do(work, self._address, int.from_bytes(raw, "little"), self._size // n, stream_handle(stream))

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
        """Whether the memory was freed."""
        return not self._address

    @property
    def size(self) -> int:
        """The size in bytes; 0 after close."""
        return self._size if self._address else 0

    @property
    def owner(self) -> object:
        """The owner of the memory, if it has no resource."""
        return self._owner

    @property
    def memory_resource(self) -> MemoryResource | None:
        """The memory resource that allocated it."""
        return self._resource

    def _kind(self) -> str:
        b = SPACE.buffer_at(self._address)
        return "device" if b is None else b.kind

    @property
    def device_id(self) -> int:
        """The index of the device; -1 for the host."""
        if self._resource is not None:  # which raises for memory that it never bound to a device
            return self._resource.device_id
        b = SPACE.buffer_at(self._address)
        return b.owner.ordinal if b is not None and b.kind == "device" else -1

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can access it."""
        return SPACE.is_device_range(self._address)

    @property
    def is_host_accessible(self) -> bool:
        """Whether the host can access it."""
        return self._kind() in ("host", "managed", "registered")

    @property
    def is_managed(self) -> bool:
        """Whether it is managed memory."""
        return self._kind() == "managed"

    @property
    def is_mapped(self) -> bool:
        """Whether another process owns it."""
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


def _copy(dst: int, src: int, size: int, stream: IsStreamType | None, host: bool) -> None:
    if stream is None:
        if not host:
            raise TypeError("a copy between buffers needs a stream")
        do(driver.cuMemcpy, dst, src, size)
    else:
        do(driver.cuMemcpyAsync, dst, src, size, needed_handle(stream))
