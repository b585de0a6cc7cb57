"""The process whose host memory and host functions a call names: this one, or another one that this one serves."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.memory.address_space import address_space

from ...errors import invalid
from .host_maps import host_memory_at

Bytes = NDArray[np.uint8]
LAST = sys.maxsize  # address of a process
MEMORY = memoryview((ctypes.c_ubyte * LAST).from_address(0)).cast("B")  # of this process, by its addresses


class Host(Protocol):
    """A process, reached by its own addresses."""

    def read(self, address: int, size: int) -> Bytes:
        """Bytes of its memory: a copy, or a view of what the caller may not write."""

    def write(self, address: int, data: Bytes) -> None:
        """Writes bytes of its memory."""

    def read_rows(self, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        """Reads stretches of its memory into given places."""

    def pieces(self, addresses: Sequence[int], sizes: Sequence[int]) -> list[bytes]:
        """Short stretches of its memory."""

    def write_rows(self, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        """Writes stretches of its memory from given places."""

    def string(self, address: int) -> bytes:
        """What stands before the first zero byte."""

    def keep(self, raw: bytes) -> int:
        """The address of memory that holds these bytes from now on."""

    def call(self, function: int, *arguments: int) -> int:
        """Calls one of its functions, whose arguments and result are integers or pointers."""

    def patience(self) -> Iterator[bool]:
        """A call waits, and can do nothing: lets other threads of the process run, and gives True, as long as they may change something."""

    def launched_from(self) -> str:
        """Where the launch that is under way stands, as "at saxpy.cu:41"; empty where nobody knows."""

    def memory_at(self, address: int) -> str:
        """What memory of its own lies at an address, as "the program's stack"; empty where there is none."""

    def view(self, address: int, size: int) -> Bytes:
        """Its memory as bytes that kernels can read and write from now on; for memory that is registered."""

    def end_view(self, address: int, size: int) -> None:
        """The bytes of a view are no longer used."""

    def shared_memory(self, size: int) -> tuple[int, Any]:
        """(address, a buffer): memory that kernels and the process reach under one address; less of it where there is not so much."""

    def give_file(self, file: int) -> int:
        """The number that it knows one of this process's open files by from now on."""

    def path(self, name: str) -> str:
        """A file that it names, as this process names it."""

    def take_file(self, number: int) -> int:
        """One of its open files, opened in this process; OSError where it has no such file."""


class OwnProcess:
    """This process."""

    def __init__(self) -> None:
        self._kept: list[Any] = []

    def keep(self, raw: bytes) -> int:
        """See Host."""
        self._kept.append(ctypes.create_string_buffer(raw, len(raw)))
        return ctypes.addressof(self._kept[-1])

    def patience(self) -> Iterator[bool]:
        """See Host: of the threads of this process only one calls."""
        return iter(())

    def launched_from(self) -> str:
        """See Host."""
        return ""

    def memory_at(self, address: int) -> str:
        """See Host."""
        return host_memory_at("self", address)

    def read(self, address: int, size: int) -> Bytes:
        """See Host."""
        return self.view(address, size)

    def write(self, address: int, data: Bytes) -> None:
        """See Host."""
        self.view(address, data.size)[:] = data

    def read_rows(self, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        """See Host."""
        for address, row in zip(addresses, rows, strict=True):
            row[:] = self.view(address, row.size)

    def pieces(self, addresses: Sequence[int], sizes: Sequence[int]) -> list[bytes]:
        """See Host."""
        if max(addresses, default=0) > LAST:
            raise invalid(f"{max(addresses):#x} lies beyond the last address")
        return [MEMORY[address : address + size].tobytes() for address, size in zip(addresses, sizes, strict=True)]

    def write_rows(self, addresses: Sequence[int], rows: Sequence[Bytes]) -> None:
        """See Host."""
        for address, row in zip(addresses, rows, strict=True):
            self.view(address, row.size)[:] = row

    def string(self, address: int) -> bytes:
        """See Host."""
        return ctypes.string_at(address)

    def call(self, function: int, *arguments: int) -> int:
        """See Host."""
        return int(ctypes.CFUNCTYPE(ctypes.c_size_t, *[ctypes.c_size_t] * len(arguments))(function)(*arguments))

    def view(self, address: int, size: int) -> Bytes:
        """See Host."""
        if address == 0:
            raise invalid("a null host pointer")
        if address + size > LAST:
            raise invalid(f"{size} bytes at {address:#x} lie beyond the last address")
        return np.frombuffer(MEMORY, np.uint8, size, address)

    def end_view(self, address: int, size: int) -> None:
        """See Host."""

    def shared_memory(self, size: int) -> tuple[int, Any]:
        """See Host."""
        memory = address_space(size)
        return int(np.frombuffer(memory, np.uint8).ctypes.data), memory

    def give_file(self, file: int) -> int:
        """See Host."""
        return os.dup(file)

    def path(self, name: str) -> str:
        """See Host."""
        return name

    def take_file(self, number: int) -> int:
        """See Host."""
        return os.dup(number)


_host: list[Host] = [OwnProcess()]


def host() -> Host:
    """The process that the calls come from."""
    return _host[0]


def serve(process: Host) -> None:
    """From now on calls come from another process."""
    _host[0] = process
