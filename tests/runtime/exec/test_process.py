"""The program's memory, reached by the server's own hands and by the program's: here both are this process."""

from __future__ import annotations

import ctypes
import os
import sys

import numpy as np
import pytest

from warplab.runtime.errors import ApiError

if sys.platform != "linux":
    pytest.skip("needs Linux", allow_module_level=True)

from warplab.runtime.exec import process
from warplab.runtime.exec.process import LIBC, NAME_AT, PAGE, HostProgram


def system_call(number: int, *arguments: int) -> int:
    ctypes.set_errno(0)
    LIBC.syscall.restype = ctypes.c_long
    out = LIBC.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in arguments))
    return (-ctypes.get_errno() if out == -1 else out) & (1 << 64) - 1


@pytest.fixture(params=["reached", "copied"])
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> HostProgram:
    if request.param == "copied":
        monkeypatch.setattr(HostProgram, "_reachable", lambda self: False)
    out = HostProgram(os.getpid(), system_call, lambda *_: 0)
    request.node.block = block = ctypes.create_string_buffer(NAME_AT * 2)
    block[NAME_AT : NAME_AT + 4] = b"name"
    out.data = ctypes.addressof(block)
    out.begin()
    return out


def test_bytes_come_and_go(program: HostProgram) -> None:
    there = np.arange(10_000_000 % 251, 10_000_000, dtype=np.int64).view(np.uint8)
    at = int(there.ctypes.data)
    assert (program.read(at, there.size) == there).all()
    program.write(at + 3, np.array([1, 2, 3], np.uint8))
    assert there[3:6].tolist() == [1, 2, 3]
    rows = [np.zeros(5, np.uint8) for _ in range(2000)]
    program.read_rows([at + 7 * n for n in range(2000)], rows)
    assert all((row == there[7 * n : 7 * n + 5]).all() for n, row in enumerate(rows))
    program.write_rows([at, at + 100], [np.full(3, 9, np.uint8), np.full(4, 8, np.uint8)])
    assert there[[0, 2, 100, 103]].tolist() == [9, 9, 8, 8]
    assert program.read(0, 0).size == 0


def test_more_than_one_system_call_moves(program: HostProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux moves no more than 2 GiB at once, and 1024 pieces."""
    monkeypatch.setattr(process, "MOST_BYTES", 1000)
    monkeypatch.setattr(process, "MOST_PIECES", 7)
    there = np.arange(12345, dtype=np.uint8)
    at = int(there.ctypes.data)
    assert (program.read(at, there.size) == there).all()
    sizes = [1, 0, 999, 1000, 1001, 3000, *range(20)]
    places = np.cumsum([0, *sizes[:-1]]).tolist()
    rows = [np.zeros(size, np.uint8) for size in sizes]
    program.read_rows([at + place for place in places], rows)
    assert all((row == there[place : place + row.size]).all() for place, row in zip(places, rows, strict=True))
    program.write(at, there[::-1].copy())
    assert there[0] == 12344 % 256


def test_a_wrong_pointer_is_an_error(program: HostProgram) -> None:
    LIBC.mmap.restype = ctypes.c_void_p
    gone = LIBC.mmap(None, PAGE, 3, 0x22, -1, 0)
    LIBC.munmap(ctypes.c_void_p(gone), PAGE)
    for at in (0, 4096, gone):
        with pytest.raises(ApiError, match="INVALID_VALUE"):
            program.read(at, 8)
        with pytest.raises(ApiError, match="INVALID_VALUE"):
            program.write(at, np.zeros(8, np.uint8))


def test_strings_end_where_a_page_ends(program: HostProgram) -> None:
    LIBC.mmap.restype = ctypes.c_void_p
    at = LIBC.mmap(None, 2 * PAGE, 3, 0x22, -1, 0)
    LIBC.munmap(at + PAGE, PAGE)
    ctypes.memmove(at + PAGE - 6, b"hello\0", 6)
    assert program.string(at + PAGE - 6) == b"hello"
    long = ctypes.create_string_buffer(b"x" * 100_000)
    assert program.string(ctypes.addressof(long)) == b"x" * 100_000


def test_registered_memory_is_seen_by_both(program: HostProgram) -> None:
    at = LIBC.mmap(None, 4 * PAGE, 3, 0x22, -1, 0)
    ctypes.memmove(at + 100, b"before", 6)
    seen = program.view(at + 100, PAGE)
    assert seen[:6].tobytes() == b"before"
    seen[:6] = np.frombuffer(b"kernel", np.uint8)
    assert ctypes.string_at(at + 100, 6) == b"kernel"
    ctypes.memmove(at + 100, b"host", 4)
    assert seen[:6].tobytes() == b"hostel"
    program.end_view(at + 100, PAGE)
    assert ctypes.string_at(at + 100, 6) == b"hostel"
