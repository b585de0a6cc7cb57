"""The program as its server reaches it: memory, system calls, and functions, on behalf of the thread that is being answered."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import numpy as np

from ..device.memory.host import Bytes
from ..device.memory.host_maps import host_memory_at
from ..errors import ApiError, invalid
from .binaries.elf import MACHINE
from .binaries.unwind import CallFrame
from .callers import ProgramStack, told
from .frames import python_lines
from .wire import WireRequest

SYSTEM_CALLS = {
    "x86_64": {"close": 3, "mmap": 9, "mprotect": 10, "munmap": 11, "pread64": 17, "pwrite64": 18, "ftruncate": 77, "prctl": 157, "openat": 257,
        "memfd_create": 319},
    "aarch64": {"ftruncate": 46, "openat": 56, "close": 57, "pread64": 67, "pwrite64": 68, "prctl": 167, "munmap": 215, "mmap": 222, "mprotect": 226,
        "memfd_create": 279},
}  # fmt: skip
RETURN_AT = {"x86_64": -8, "aarch64": -136}.get(MACHINE, 0)  # of a return address, seen from the arguments on the stack
FRAME_AT = RETURN_AT - 8  # of the caller's frame: the next one's address, and where it returns to
PR_SET_PTRACER = 0x59616D61
KEPT, KEPT_BYTES = 0x1F00_0000_0000, 1 << 30  # address space; memory where something stands
PINNED = 0x1800_0000_0000  # where pinned and managed memory begins, in both processes
PAGE = os.sysconf("SC_PAGE_SIZE")
MOST_PIECES, MOST_BYTES = 1024, 1 << 30  # that one system call moves: UIO_MAXIOV, and less than Linux moves at once
BUFFER = 4 << 20  # of what the program copies itself where the system forbids the server to
NAME_AT = 128  # of a name for memfd_create in the library's data block: its own path


class _Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


LIBC = ctypes.CDLL(None, use_errno=True)
for _name in ("process_vm_readv", "process_vm_writev"):
    getattr(LIBC, _name).restype = ctypes.c_ssize_t
    getattr(LIBC, _name).argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
READ, WRITE = 1, 2
SHARED, FIXED, NO_RESERVE, FIXED_NOREPLACE = 0x1, 0x10, 0x4000, 0x100000
PRIVATE_ANONYMOUS, NOT_THERE = 0x22, (1 << 64) - 1  # of memory without a file


def mapped(address: int, size: int, file: int, fixed: bool = True) -> Bytes:
    """A part of the server's address space that is a file's contents."""
    flags = SHARED | NO_RESERVE | (FIXED_NOREPLACE if fixed else 0)
    at = LIBC.mmap(address if fixed else None, size, READ | WRITE, flags, file, 0)
    if at in (None, ctypes.c_void_p(-1).value) or (fixed and at != address):
        raise ApiError("CUDA_ERROR_OPERATING_SYSTEM", f"{size} bytes of address space at {address:#x} can't be had")
    return np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(at))


def _address(row: Bytes) -> int:
    """Where it lies; numpy's own answer takes three times as long."""
    return ctypes.addressof(ctypes.c_char.from_buffer(row.data)) if row.size and row.flags.writeable else row.ctypes.data


def _parts(addresses: Sequence[int], rows: Sequence[Bytes]) -> Iterator[list[tuple[int, Bytes]]]:
    """Rows and their addresses in portions that one system call moves."""
    if len(rows) == 1 and rows[0].size <= MOST_BYTES:
        yield [(addresses[0], rows[0])]
        return
    part, size = list[tuple[int, Bytes]](), 0
    for address, row in zip(addresses, rows, strict=True):
        for at in range(0, row.size, MOST_BYTES):
            piece = row[at : at + MOST_BYTES]
            if part and (len(part) == MOST_PIECES or size + piece.size > MOST_BYTES):
                yield part
                part, size = [], 0
            part.append((address + at, piece))
            size += piece.size
    if part:
        yield part


class KeptMemory:
    """What calls return by address: it stands in memory that the program sees too."""

    def __init__(self, program: HostProgram, start: int) -> None:
        self._program = program
        self._start = start
        self._memory: Bytes | None = None
        self._strings: dict[bytes, int] = {}
        self._top = 0

    def string(self, text: bytes) -> int:
        """The address of a string, ended by zero; each stands there once."""
        found = self._strings.get(text)
        if found is None:
            found = self._strings[text] = self.add(text + b"\0")
        return found

    def add(self, raw: bytes) -> int:
        """The address of some bytes."""
        if self._memory is None:
            self._memory = self._program.share(self._start, KEPT_BYTES)
        if self._top + len(raw) > KEPT_BYTES:
            raise ApiError("CUDA_ERROR_OUT_OF_MEMORY", "no room for more of what calls return by address")
        at = self._top
        self._memory[at : at + len(raw)] = np.frombuffer(raw, np.uint8)
        self._top += -(-len(raw) // 16) * 16
        return self._start + at

    def view(self, address: int, size: int) -> memoryview:
        """Bytes that were added, as both see them."""
        assert self._memory is not None
        return memoryview(self._memory.data)[address - self._start :][:size]


class HostProgram:
    """The process that is served; `ask(kind, target, *arguments)` makes the calling thread do something and gives its result."""

    def __init__(self, pid: int, system_call: Callable[..., int], call: Callable[..., int], generation: int = 0) -> None:
        self.pid = pid
        self._system_call = system_call
        self._call = call
        self.kept = KeptMemory(self, KEPT + generation * KEPT_BYTES)  # what a parent was given stays
        self.data = 0  # where the library's data block stands
        self._numbers = SYSTEM_CALLS[MACHINE]
        self._copying: tuple[int, Bytes] | None = None  # (file of the program's, the same in the server)
        self._views: dict[int, tuple[int, int]] = {}  # first page of a registered stretch: the server's mapping
        self.originals: dict[str, int] = {}  # functions that were overwritten and can be called all the same
        self.speaks: Callable[[], bool] = lambda: True  # does the calling thread stand for one of the program's, which waits for an answer?
        self.others_run: Callable[[], Iterator[bool]] = lambda: iter(())  # see Host.patience
        self.calls_from: Callable[[], tuple[int, int]] = lambda: (0, 0)  # the stack of the call that is being answered, and its <<<>>>

    # ------------------------------------------------------------ system calls

    def system_call(self, name: str, *arguments: int) -> int:
        """Lets the program make a system call."""
        found = self._system_call(self._numbers[name], *arguments)
        out = found - (1 << 64) if found >= 1 << 63 else found
        if -4096 < out < 0:
            raise ApiError("CUDA_ERROR_OPERATING_SYSTEM", f"{name} in the program: {os.strerror(-out)}")
        return out

    @property
    def copies_itself(self) -> bool:
        """Does it have to be asked for the bytes of its memory?"""
        return self._copying is not None

    def kept_string(self, text: bytes) -> int:
        """The address of a string that stays in the program."""
        return self.kept.string(text)

    def keep(self, raw: bytes) -> int:
        """See Host."""
        return self.kept.add(raw)

    def call(self, function: int, *arguments: int) -> int:
        """See Host."""
        return self._call(function, *arguments)

    def returns_to(self, request: WireRequest) -> int:
        """Where the program goes on behind a call: stub.c has pushed it."""
        return self.word(request.stack + RETURN_AT)

    def patience(self) -> Iterator[bool]:
        """See Host."""
        return self.others_run()

    def launched_from(self) -> str:
        """See Host."""
        if not self.speaks():
            return ""
        with suppress(ApiError):  # what it asks for is not there after all
            if found := python_lines(self):
                return told(found)
        stack, launch = self.calls_from()
        if not stack:
            return ""
        innermost = CallFrame(self.word(stack + RETURN_AT), stack, self.word(stack + FRAME_AT))
        return told(ProgramStack(self, innermost, launch).sites())

    def memory_at(self, address: int) -> str:
        """See Host."""
        return host_memory_at(self.pid, address)

    def begin(self) -> None:
        """Sees whether the program's memory can be read; if not, lets the program copy."""
        if self._reachable():
            return
        with suppress(ApiError):  # where there is no Yama
            self.system_call("prctl", PR_SET_PTRACER, os.getpid())
        if not self._reachable():
            file, own = self.new_file(BUFFER)
            self._copying = file, mapped(0, BUFFER, own, fixed=False)
            os.close(own)

    def _reachable(self) -> bool:
        try:
            self._move("process_vm_readv", [self.data], [np.empty(8, np.uint8)])
        except ApiError:
            return False
        return True

    # ------------------------------------------------------------ memory

    def _move(self, how: str, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        for part in _parts(addresses, rows):
            n, wanted = len(part), sum(row.size for _, row in part)
            own, theirs = (_Piece * n)(), (_Piece * n)()
            for i, (address, row) in enumerate(part):
                own[i].base, theirs[i].base = _address(row), address
                own[i].size = theirs[i].size = row.size
            done = getattr(LIBC, how)(self.pid, own, n, theirs, n, 0)
            if done != wanted:
                raise invalid(f"{wanted} bytes at {part[0][0]:#x} of the program's memory can't be reached")

    def _copy(self, how: str, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        """As _move, by the program's own hands."""
        assert self._copying is not None
        file, buffer = self._copying
        for address, row in zip(addresses, rows, strict=True):
            for at in range(0, row.size, BUFFER):
                n = min(BUFFER, row.size - at)
                if how == "pread64":
                    buffer[:n] = row[at : at + n]
                try:
                    done = self.system_call(how, file, address + at, n, 0)
                except ApiError:
                    done = -1
                if done != n:
                    raise invalid(f"{row.size} bytes at {address:#x} of the program's memory can't be reached")
                if how == "pwrite64":
                    row[at : at + n] = buffer[:n]

    def read_rows(self, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        """See Host."""
        if self._copying is None:
            self._move("process_vm_readv", addresses, rows)
        else:
            self._copy("pwrite64", addresses, rows)

    def write_rows(self, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        """See Host."""
        if self._copying is None:
            self._move("process_vm_writev", addresses, [np.ascontiguousarray(row) for row in rows])
        else:
            self._copy("pread64", addresses, rows)

    def read(self, address: int, size: int) -> Bytes:
        """See Host."""
        out = np.empty(size, np.uint8)
        if size:
            self.read_rows([address], [out])
        return out

    def pieces(self, addresses: Sequence[int], sizes: Sequence[int]) -> list[bytes]:
        """See Host."""
        rows = [np.empty(size, np.uint8) for size in sizes]
        self.read_rows(addresses, rows)
        return [row.tobytes() for row in rows]

    def word(self, address: int) -> int:
        """Eight bytes of its memory."""
        return int(self.read(address, 8).view(np.uint64)[0])

    def write(self, address: int, data: Bytes) -> None:
        """See Host."""
        self.write_rows([address], [data])

    def string(self, address: int) -> bytes:
        """See Host."""
        out = b""
        step = 256
        while True:
            at = address + len(out)
            n = min(step, PAGE - at % PAGE)  # no further than the page, behind which there may be nothing
            out += self.read(at, n).tobytes()
            end = out.find(b"\0", max(len(out) - n, 0))
            if end >= 0:
                return out[:end]
            step = min(step * 4, 1 << 20)

    # ------------------------------------------------------------ memory that both see

    def new_file(self, size: int) -> tuple[int, int]:
        """A file in memory: (its number in the program, in the server)."""
        file = self.system_call("memfd_create", self.data + NAME_AT, 1)
        self.system_call("ftruncate", file, size)
        return file, self.take_file(file)

    def give_file(self, file: int) -> int:
        """See Host."""
        path = self.keep(f"/proc/{os.getpid()}/fd/{file}\0".encode())
        return self.system_call("openat", 0, path, os.O_RDWR | os.O_CLOEXEC, 0)

    def path(self, name: str) -> str:
        """See Host: the program may have gone to another folder."""
        return os.path.join(f"/proc/{self.pid}/cwd", name)

    def take_file(self, number: int) -> int:
        """See Host."""
        return os.open(f"/proc/{self.pid}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)

    def share(self, address: int, size: int) -> Bytes:
        """New memory at one address in both processes."""
        file, own = self.new_file(size)
        out = mapped(address, size, own)
        os.close(own)
        self.system_call("mmap", address, size, READ | WRITE, SHARED | FIXED | NO_RESERVE, file, 0)
        self.system_call("close", file)
        return out

    def shared_memory(self, size: int) -> tuple[int, Bytes]:
        """See Host."""
        return PINNED, self.share(PINNED, size)

    def view(self, address: int, size: int) -> Bytes:
        """See Host: the pages are moved into a file that both map."""
        first = address & -PAGE
        whole = -(-(address + size) // PAGE) * PAGE - first
        old = self.read(first, whole)
        file, own = self.new_file(whole)
        out = mapped(0, whole, own, fixed=False)
        os.close(own)
        out[:] = old
        self.system_call("mmap", first, whole, READ | WRITE, SHARED | FIXED, file, 0)
        self.system_call("close", file)
        self._views[first] = int(out.ctypes.data), whole
        return out[address - first : address - first + size]

    def end_view(self, address: int, size: int) -> None:
        """See Host: the program keeps its pages, the server lets go of them."""
        at, whole = self._views.pop(address & -PAGE, (0, 0))
        if at:
            LIBC.munmap(at, whole)
