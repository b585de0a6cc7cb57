"""The object files that a process has mapped, and their symbols, as /proc and the files themselves tell."""

from __future__ import annotations

import mmap
import os
import re
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .elf import MACHINE, MACHINES

LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) (\S+) (\d+) +(.*)")
SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")])
SYMTAB, DYNSYM = 2, 11  # types of sections
OBJECT, FUNCTION = 1, 2  # types of symbols


@dataclass(frozen=True, slots=True)
class MappedObject:
    """An object file in a process, and what is added to its addresses there."""

    path: str  # to be opened from outside the process
    base: int
    first: int = 0  # the address in the file that stands there


def objects(pid: int) -> list[MappedObject]:
    """The object files that have code in a process."""
    first: dict[str, int] = {}
    code: set[str] = set()
    with open(f"/proc/{pid}/maps", encoding="utf-8") as lines:
        for line in lines:
            m = LINE.match(line)
            if m is None or not m[7].startswith("/") or m[7].startswith("/memfd:"):
                continue
            if m[4] == "00000000":
                first.setdefault(m[7], int(m[1], 16))
            if "x" in m[3]:
                code.add(m[7])
    return [MappedObject(f"/proc/{pid}/root{path}", base) for path, base in first.items() if path in code]


def path_at(pid: int, address: int) -> str:
    """The file that is mapped at an address of a process; empty where there is none."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as lines:
        for line in lines:
            m = LINE.match(line)
            if m is not None and int(m[1], 16) <= address < int(m[2], 16):
                return m[7]
    return ""


def object_at(pid: int, address: int) -> MappedObject | None:
    """The object file that is mapped at an address of a process."""
    return objects_by_address(pid)(address)


def objects_by_address(pid: int) -> Callable[[int], MappedObject | None]:
    """What gives the object file that is mapped at an address of a process, as it is now: who asks for many addresses reads its maps once."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as lines:
        found = [m for m in map(LINE.match, lines) if m is not None]
    ends = [int(m[2], 16) for m in found]
    code = {m[7] for m in found if "x" in m[3]}
    bases = {m[7]: int(m[1], 16) for m in reversed(found) if m[4] == "00000000"}

    def at(address: int) -> MappedObject | None:
        m = found[n] if (n := bisect_right(ends, address)) < len(ends) else None
        if m is None or int(m[1], 16) > address or m[7] not in code or m[7] not in bases or not m[7].startswith("/"):
            return None
        path = f"/proc/{pid}/root{m[7]}"
        try:
            return MappedObject(path, bases[m[7]], _first_address(path, os.stat(path).st_mtime_ns))
        except (OSError, ValueError, struct.error):
            return None

    return at


@lru_cache(maxsize=64)
def _first_address(path: str, changed: int) -> int:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        return first_address(raw)


def symbol_at(found: MappedObject, address: int) -> str:
    """The name of the function or variable that holds an address of a process; empty where the file has no such symbol."""
    for kind in (SYMTAB, DYNSYM):
        try:
            stat = os.stat(found.path)
            begins, ends, names = _in_order(found.path, stat.st_dev, stat.st_ino, stat.st_mtime_ns, kind)
        except (OSError, ValueError, struct.error, IndexError):  # gone, or no object file after all
            return ""
        if begins:
            n = bisect_right(begins, address - found.base) - 1
            return names[n] if n >= 0 and address - found.base < ends[n] else ""
    return ""


@lru_cache(maxsize=64)
def _in_order(path: str, device: int, inode: int, changed: int, kind: int) -> tuple[list[int], list[int], list[str]]:
    """Where functions and variables begin, where they end, and their names: of several in one place the first of the table."""
    known = {at: (at + size, name) for name, (at, size) in reversed(_symbols(path, device, inode, changed, b"", kind).items()) if size}
    return sorted(known), [known[at][0] for at in sorted(known)], [known[at][1] for at in sorted(known)]


def sections(raw: mmap.mmap) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The name and the header of each section of an object file for this machine; an emulator of another one maps its own, too."""
    if raw[:4] != b"\x7fELF" or raw[4] != 2 or struct.unpack_from("<H", raw, 0x12)[0] != MACHINES[MACHINE]:
        return
    (table,) = struct.unpack_from("<Q", raw, 0x28)
    size, count, names = struct.unpack_from("<HHH", raw, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", raw, table + i * size) for i in range(count)]
    for s in headers:
        at = headers[names][4] + s[0]
        yield raw[at : raw.find(b"\0", at)].decode(errors="replace"), s


@lru_cache(maxsize=256)
def _symbols(path: str, device: int, inode: int, changed: int, marker: bytes, kind: int) -> dict[str, tuple[int, int]]:
    """name -> (address, size) of the functions and variables that the file defines; none where its table lacks the marker."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        headers = [header for _, header in sections(raw)]
        loaded_at = first_address(raw) if headers else 0
        for s in headers:
            if s[1] != kind:
                continue
            start, length = headers[s[6]][4], headers[s[6]][5]
            if raw.find(marker + b"\0", start, start + length) < 0:
                continue
            strings = raw[start : start + length]
            entries = np.frombuffer(raw[s[4] : s[4] + s[5]], SYMBOL)
            found = entries[np.isin(entries["info"] & 15, (OBJECT, FUNCTION)) & (entries["section"] != 0)]
            return {
                strings[int(e["name"]) : strings.index(b"\0", int(e["name"]))].decode(errors="replace"): (
                    int(e["value"]) - loaded_at,
                    int(e["size"]),
                )
                for e in found
            }
    return {}


def first_address(raw: mmap.mmap) -> int:
    """The address of the file's beginning, zero but for executables that are not PIE."""
    (offset,) = struct.unpack_from("<Q", raw, 0x20)
    size, count = struct.unpack_from("<HH", raw, 0x36)
    for i in range(count):
        kind, _, at, address = struct.unpack_from("<IIQQ", raw, offset + i * size)
        if kind == 1:
            return int(address - at)
    return 0


def symbols(found: MappedObject, marker: str, dynamic: bool = False) -> dict[str, tuple[int, int]]:
    """name -> (address in the process, size) of an object's functions and variables, where it defines the marker."""
    try:
        stat = os.stat(found.path)
        known = _symbols(found.path, stat.st_dev, stat.st_ino, stat.st_mtime_ns, marker.encode(), DYNSYM if dynamic else SYMTAB)
    except (OSError, ValueError, struct.error, IndexError):  # gone, or no object file after all
        return {}
    return {name: (found.base + at, size) for name, (at, size) in known.items()}
