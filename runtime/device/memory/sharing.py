"""Device memory that several processes use: the pages of an allocation become those of a file in memory, which others map into theirs.

One file for each device of a process stands for all of its memory; only what is exported is taken from it.  A descriptor of 64 bytes names
the process, the file and the place in it: who may read /proc of that process may open it.

Physical memory has a file of its own once it is exported, and who has the file has the memory.  A last page behind the memory says what
the file is.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from dataclasses import dataclass

from ...errors import ApiError, invalid, unsupported
from .allocations import SPACE, AddressRange, DeviceArena
from .allocations import Owner as MemoryOwner
from .host import host

PAGE = mmap.PAGESIZE
MAGIC = b"WLSHARE1"
_HEAD = struct.Struct("<8sIiQQQI")  # process, file, address there, size, number of the allocation, device
FILE_MAGIC = b"WLMEMORY"
_TAIL = struct.Struct("<8sI")  # device
PIECE = 1 << 20  # bytes that are looked at together
READ_WRITE, SHARED, FIXED, PRIVATE, ANONYMOUS, NO_RESERVE = 3, 0x1, 0x10, 0x2, 0x20, 0x4000


@dataclass(frozen=True, slots=True)
class ExportedMemory:
    """What a descriptor says."""

    process: int
    file: int
    address: int  # in the process that has made it
    size: int
    number: int
    device: int

    def packed(self) -> bytes:
        """64 bytes."""
        return _HEAD.pack(MAGIC, self.process, self.file, self.address, self.size, self.number, self.device).ljust(64, b"\0")


def unpacked(raw: bytes) -> ExportedMemory:
    """What 64 bytes say."""
    magic, *rest = _HEAD.unpack_from(raw)
    if magic != MAGIC:
        raise invalid("the handle is none of another process's memory")
    return ExportedMemory(*rest)


@dataclass(eq=False)
class OpenedMemory:
    """Another process's memory in this one."""

    allocation: AddressRange
    address: int
    users: int = 1


class Sharing:
    """What this process has given to others, and what it has taken from them."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nothing is shared."""
        self._files: dict[DeviceArena, int] = {}
        self._given: dict[DeviceArena, set[int]] = {}  # pages that are the file's
        self._opened: dict[ExportedMemory, OpenedMemory] = {}

    def give(self, b: AddressRange) -> ExportedMemory:
        """A descriptor of an allocation, whose pages are shared from now on."""
        arena = b.arena
        if b.kind != "device" or b.pool is not None or not isinstance(arena, DeviceArena):
            raise invalid("only memory of cudaMalloc and cuMemAlloc can be shared")
        if sys.platform != "linux":
            raise unsupported("memory that processes share, on another system than Linux")
        if arena not in self._files:
            self._files[arena] = os.memfd_create("device memory", 0)
            os.ftruncate(self._files[arena], arena.reserved)
        given = self._given.setdefault(arena, set())
        for page in range((b.start - arena.base) // PAGE, -(-(b.start + b.size - arena.base) // PAGE)):
            if page not in given:
                given.add(page)
                content = arena.bytes[page * PAGE : (page + 1) * PAGE]
                if content.any():
                    os.pwrite(self._files[arena], content.tobytes(), page * PAGE)
                _map(arena, page * PAGE, PAGE, self._files[arena], page * PAGE)
        return ExportedMemory(os.getpid(), self._files[arena], b.start - arena.base, b.size, b.number, b.owner.ordinal)

    def take(self, s: ExportedMemory, owner: MemoryOwner, arena: DeviceArena) -> int:
        """The address of another process's memory in this one; several times it is the same."""
        if s.process == os.getpid():
            raise ApiError("CUDA_ERROR_INVALID_CONTEXT", "the process that has made a handle has the memory already")
        known = self._opened.get(s)
        if known is not None:
            known.users += 1
            return known.address
        try:
            file = os.open(f"/proc/{s.process}/fd/{s.file}", os.O_RDWR | os.O_CLOEXEC)
        except OSError as e:
            raise ApiError("CUDA_ERROR_MAP_FAILED", f"the memory of process {s.process} can't be reached: {e.strerror}") from None
        inside = s.address % PAGE
        whole = -(-(inside + s.size) // PAGE) * PAGE
        b = SPACE.allocate(arena, whole, "device", owner, align=PAGE)
        try:
            _map(arena, b.start - arena.base, whole, file, s.address - inside)
        finally:
            os.close(file)
        if (sanitizer := SPACE.sanitizer) is not None:
            sanitizer.written(arena, b.start, whole)
        self._opened[s] = OpenedMemory(b, b.start + inside)
        return b.start + inside

    def close(self, address: int) -> None:
        """Another process's memory is no longer used here."""
        for s, opened in self._opened.items():
            if opened.address == address:
                opened.users -= 1
                if not opened.users:
                    del self._opened[s]
                    b = opened.allocation
                    SPACE.release(b.start, ("device",))
                    _map(b.arena, b.start - b.arena.base, b.size, -1, 0)
                return
        raise invalid(f"{address:#x} is not memory of another process")


class MemoryFile:
    """A file whose bytes are a stretch of a device's memory."""

    def __init__(self, file: int, size: int, ordinal: int) -> None:
        self.file, self.size, self.ordinal = file, size, ordinal

    @classmethod
    def of(cls, arena: DeviceArena, start: int, size: int, ordinal: int) -> MemoryFile:
        """Moves whole pages of a device into a new file."""
        if sys.platform != "linux":
            raise unsupported("memory as a file, on another system than Linux")
        file = os.memfd_create("device memory")
        os.ftruncate(file, size + PAGE)
        os.pwrite(file, _TAIL.pack(FILE_MAGIC, ordinal), size)
        at = start - arena.base
        for piece in range(0, size, PIECE):
            content = arena.bytes[at + piece : at + min(piece + PIECE, size)]
            if content.any():
                os.pwrite(file, content.data, piece)
        out = cls(file, size, ordinal)
        out.show(arena, start)
        return out

    @classmethod
    def opened(cls, number: int) -> MemoryFile:
        """What another process has made, by a file of the program's."""
        try:
            file = host().take_file(number)
            size = os.fstat(file).st_size - PAGE
            magic, ordinal = _TAIL.unpack(os.pread(file, _TAIL.size, max(size, 0)))
        except (OSError, struct.error):
            magic = b""
        if magic != FILE_MAGIC:
            raise invalid(f"the file {number} is not device memory")
        return cls(file, size, ordinal)

    def number(self) -> int:
        """A new file of the program's."""
        return host().give_file(self.file)

    def show(self, arena: DeviceArena, start: int) -> None:
        """Makes it the memory at an address."""
        _map(arena, start - arena.base, self.size, self.file, 0)

    def end(self, arena: DeviceArena, start: int) -> None:
        """It is not the memory at that address any more."""
        _map(arena, start - arena.base, self.size, -1, 0)
        os.close(self.file)


def _map(arena: object, at: int, size: int, file: int, offset: int) -> None:
    """Puts a part of a file (-1: zeros of this process's own) where a part of a device's memory stands."""
    assert isinstance(arena, DeviceArena)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    flags = FIXED | NO_RESERVE | (SHARED if file >= 0 else PRIVATE | ANONYMOUS)
    address = arena.host_address + at
    if libc.mmap(address, size, READ_WRITE, flags, file, offset) != address:
        raise ApiError("CUDA_ERROR_OPERATING_SYSTEM", f"memory can't be shared: {os.strerror(ctypes.get_errno())}")


SHARING = Sharing()
