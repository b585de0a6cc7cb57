"""The functions of a runtime that was linked in and has lost its symbols.

Each of them reports to tools by its name: it takes the address of that text, which no other function does. So what takes the address of a
name is the function that has it. Where functions begin, the table for unwinding the stack tells.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from bisect import bisect_right
from collections import Counter
from functools import lru_cache

import numpy as np

from .elf import MACHINE
from .host_code import HostCode
from .maps import MappedObject, first_address, sections
from .registration import descriptions, registration

NAME = re.compile(rb"(?<=\0)cuda[A-Z]\w+(?=\0)")
SOME = (b"\0libcuda.so.1\0", b"\0cudaPeekAtLastError\0")  # what it loads, and one of the names; who only calls it has no use for the first
LEAST = 300  # functions; a runtime has more
AT_A_FIXED_ADDRESS = 2  # a type of object files
LARGEST = 1 << 26  # bytes of constants that are searched: others are data, or libraries of kernels
TABLE = b"\1\x1b\3\x3b"  # the form of .eh_frame_hdr: pairs of 32-bit numbers, relative to the section, behind its head of 12 bytes


def unnamed(found: MappedObject) -> dict[str, tuple[int, int]]:
    """name -> (address in the process, size) of the runtime's functions; empty where an object has none."""
    if MACHINE != "x86_64":
        return {}
    try:
        stat = os.stat(found.path)
        known = _unnamed(found.path, stat.st_dev, stat.st_ino, stat.st_mtime_ns)
    except (OSError, ValueError, struct.error):  # gone, or no object file after all
        return {}
    return {name: (found.base + at, size) for name, (at, size) in known.items()}


@lru_cache(maxsize=256)
def _unnamed(path: str, device: int, inode: int, changed: int) -> dict[str, tuple[int, int]]:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        parts = {name: (s[3], s[4], s[5]) for name, s in sections(raw)}  # (address, offset, size)
        if not {".rodata", ".text", ".eh_frame_hdr"} <= parts.keys() or parts[".rodata"][2] > LARGEST:
            return {}
        address, at, size = parts[".rodata"]
        if any(raw.find(word, at, at + size) < 0 for word in SOME):
            return {}
        names = {address + m.start(): m[0].decode() for m in NAME.finditer(raw[at : at + size])}
        starts = _starts(raw, *parts[".eh_frame_hdr"])
        address, at, size = parts[".text"]
        code = HostCode(raw[at : at + size], address, struct.unpack_from("<H", raw, 0x10)[0] == AT_A_FIXED_ADDRESS)
        address, at, size = parts.get(".nvFatBinSegment", (0, 0, 0))
        described = descriptions(raw[at : at + size], address)
        loaded_at = first_address(raw)
    takes: dict[str, set[int]] = {}
    for end, taken in zip(*(x.tolist() for x in code.taken), strict=True):
        if (name := names.get(taken)) is not None:
            takes.setdefault(name, set()).add(bisect_right(starts, end - 1) - 1)
    found = _settled(takes)
    if found and described:
        found |= registration(code, starts, described, found)
    return {name: (starts[n] - loaded_at, starts[n + 1] - starts[n]) for name, n in found.items() if 0 <= n < len(starts) - 1}


def _starts(raw: mmap.mmap, address: int, at: int, size: int) -> list[int]:
    """Where the functions of an object begin, in order."""
    if raw[at : at + 4] != TABLE:
        return []
    (count,) = struct.unpack_from("<I", raw, at + 8)
    pairs = np.frombuffer(raw[at + 12 : at + 12 + 8 * count], "<i4").reshape(-1, 2)
    found: list[int] = (pairs[:, 0] + np.int64(address)).tolist()
    return found


def _settled(takes: dict[str, set[int]]) -> dict[str, int]:
    """The function of each name: it takes the address of no other, and of several, it is the one among the runtime's functions."""
    many = {n for n, count in Counter(n for places in takes.values() for n in places).items() if count > 1}
    alone = sorted(n for places in takes.values() if len(places) == 1 for n in places - many)
    if len(alone) < LEAST:
        return {}
    middle = alone[len(alone) // 2]
    return {name: min(places - many, key=lambda n: abs(n - middle)) for name, places in takes.items() if places - many}
