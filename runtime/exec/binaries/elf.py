"""Writes a shared library: exported functions that jump to given machine code with a number each, and a block of data behind the code."""

from __future__ import annotations

import functools
import platform
import struct
from collections.abc import Sequence
from dataclasses import dataclass

PAGE = 0x10000  # the largest that Linux has on these machines
PAD = 16  # bytes of an exported function
MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())  # that programs run on
MACHINES = {"x86_64": 62, "aarch64": 183}
DYNAMIC = {"SONAME": 14, "HASH": 4, "STRTAB": 5, "SYMTAB": 6, "STRSZ": 10, "SYMENT": 11, "VERSYM": 0x6FFF_FFF0, "VERDEF": 0x6FFF_FFFC,
           "VERDEFNUM": 0x6FFF_FFFD}  # fmt: skip
HEADER, SEGMENT, SECTION, SYMBOL = (
    struct.Struct("<16sHHIQQQIHHHHHH"),
    struct.Struct("<IIQQQQQQ"),
    struct.Struct("<IIQQQQIIQQ"),
    struct.Struct("<IBBHQQ"),
)
LOAD, DYNAMIC_SEGMENT, STACK = 1, 2, 0x6474_E551
READ_EXECUTE, READ_WRITE = 5, 6


@dataclass(frozen=True, slots=True)
class ElfExport:
    """An exported function: a place in the given code, or a jump to its beginning with a number."""

    name: str
    number: int = 0
    version: str = ""
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class LibraryImage:
    """A written library, and where its code and its data begin in memory, from its base."""

    image: bytes
    code: int
    data: int
    pads: dict[str, int]


def jump(machine: str, number: int, distance: int) -> bytes:
    """Loads a number and jumps so many bytes from the beginning of this."""
    if machine == "x86_64":
        return struct.pack("<BIBi", 0xB8, number, 0xE9, distance - 10)  # mov $number, %eax; jmp
    return struct.pack("<II", 0x5280_0010 | number << 5, 0x1400_0000 | (distance - 4) // 4 & 0x3FF_FFFF)  # mov w16, #number; b


class StringTable:
    """A string table."""

    def __init__(self) -> None:
        self.raw = bytearray(1)
        self._known: dict[str, int] = {}

    def at(self, text: str) -> int:
        """Where a string begins."""
        if text not in self._known:
            self._known[text] = len(self.raw)
            self.raw += text.encode() + b"\0"
        return self._known[text]


@functools.cache  # the libraries of a run have the same names
def _hash(name: str) -> int:
    h = 0
    for c in name.encode():
        h = (h << 4) + c
        h = (h ^ (h & 0xF000_0000) >> 24) & 0x0FFF_FFFF
    return h


def _hash_table(names: Sequence[str]) -> bytes:
    count = max(1, len(names) // 2)
    buckets, chain = [0] * count, [0] * (len(names) + 1)
    for i, name in enumerate(names, 1):
        slot = _hash(name) % count
        chain[i], buckets[slot] = buckets[slot], i
    return struct.pack(f"<II{count}I{len(chain)}I", count, len(chain), *buckets, *chain)


def _versions(soname: str, versions: Sequence[str], strings: StringTable) -> bytes:
    """The versions that the library defines; the first is the library itself."""
    out = b""
    for i, name in enumerate([soname, *versions], 1):
        following = 0 if i > len(versions) else 28
        out += struct.pack("<HHHHIIIII", 1, int(i == 1), i, 1, _hash(name), 20, following, strings.at(name), 0)
    return out


def write(machine: str, soname: str, exports: Sequence[ElfExport], code: bytes, distance: int, data: bytes) -> LibraryImage:
    """A library whose data begin `distance` bytes behind its code."""
    strings = StringTable()
    versions = list(dict.fromkeys(e.version for e in exports if e.version))
    verdef = _versions(soname, versions, strings)
    versym = struct.pack(f"<{len(exports) + 1}H", 0, *(2 + versions.index(e.version) if e.version else 1 for e in exports))
    table = _hash_table([e.name for e in exports])
    for e in exports:
        strings.at(e.name)
    own = strings.at(soname)

    parts = {
        "symbols": SYMBOL.size * (len(exports) + 1),
        "strings": len(strings.raw),
        "hash": len(table),
        "versym": len(versym),
        "verdef": len(verdef),
    }
    at, place = HEADER.size + 4 * SEGMENT.size, {}
    for name, size in parts.items():
        at = -(-at // 8) * 8
        place[name] = at
        at += size
    start = -(-at // PAGE) * PAGE
    pads_at = start + -(-len(code) // PAD) * PAD
    pads, text = {}, bytearray(code.ljust(pads_at - start, b"\0"))
    symbols = bytearray(SYMBOL.size)
    text_section = 6
    for e in exports:
        here = start + len(text)
        if e.offset is None:
            text += jump(machine, e.number, start - here).ljust(PAD, b"\0")
        pads[e.name] = here if e.offset is None else start + e.offset
        symbols += SYMBOL.pack(strings.at(e.name), 0x12, 0, text_section, pads[e.name], PAD)
    behind = start + distance
    assert start + len(text) <= behind
    dynamic = [
        (DYNAMIC["SONAME"], own), (DYNAMIC["HASH"], place["hash"]), (DYNAMIC["STRTAB"], place["strings"]),
        (DYNAMIC["SYMTAB"], place["symbols"]), (DYNAMIC["STRSZ"], len(strings.raw)), (DYNAMIC["SYMENT"], SYMBOL.size),
        (DYNAMIC["VERSYM"], place["versym"]), (DYNAMIC["VERDEF"], place["verdef"]), (DYNAMIC["VERDEFNUM"], 1 + len(versions)), (0, 0),
    ]  # fmt: skip
    dynamic_at = -(-(behind + len(data)) // 16) * 16
    raw_dynamic = b"".join(struct.pack("<QQ", *pair) for pair in dynamic)
    file_data = -(-(start + len(text)) // PAGE) * PAGE + behind % PAGE
    data_size = dynamic_at - behind + len(raw_dynamic)
    segments = [
        (LOAD, READ_EXECUTE, 0, 0, start + len(text), start + len(text), PAGE),
        (LOAD, READ_WRITE, file_data, behind, data_size, data_size, PAGE),
        (DYNAMIC_SEGMENT, READ_WRITE, file_data + dynamic_at - behind, dynamic_at, len(raw_dynamic), len(raw_dynamic), 8),
        (STACK, READ_WRITE, 0, 0, 0, 0, 16),
    ]
    sections, names = _sections(
        place, parts, start, len(text), dynamic_at, file_data + dynamic_at - behind, len(raw_dynamic), 1 + len(versions)
    )
    names_at = file_data + data_size
    sections_at = -(-(names_at + len(names)) // 8) * 8
    sections.append((names.index(b".shstrtab"), 3, 0, 0, names_at, len(names), 0, 0, 1, 0))
    image = bytearray(sections_at + SECTION.size * len(sections))
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    HEADER.pack_into(image, 0, ident, 3, MACHINES[machine], 1, 0, HEADER.size, sections_at, 0, HEADER.size, SEGMENT.size, len(segments),
                     SECTION.size, len(sections), len(sections) - 1)  # fmt: skip
    for i, (kind, flags, offset, address, in_file, in_memory, align) in enumerate(segments):
        SEGMENT.pack_into(image, HEADER.size + i * SEGMENT.size, kind, flags, offset, address, address, in_file, in_memory, align)
    for offset, raw in (
        (place["symbols"], symbols), (place["strings"], strings.raw), (place["hash"], table), (place["versym"], versym), (place["verdef"], verdef),
        (start, text), (file_data, data), (file_data + dynamic_at - behind, raw_dynamic), (names_at, names),
    ):  # fmt: skip
        image[offset : offset + len(raw)] = raw
    for i, section in enumerate(sections):
        SECTION.pack_into(image, sections_at + i * SECTION.size, *section)
    return LibraryImage(bytes(image), start, behind, pads)


def _sections(
    place: dict[str, int],
    sizes: dict[str, int],
    text: int,
    text_size: int,
    dynamic: int,
    dynamic_offset: int,
    dynamic_size: int,
    versions: int,
) -> tuple[list[tuple[int, ...]], bytes]:
    """The section headers, which linkers read and loaders do not, but for that of their names; and these."""
    rows = [  # name, type, flags, address, offset, size, link, info, alignment, entry size
        (".dynsym", 11, 2, place["symbols"], place["symbols"], sizes["symbols"], 2, 1, 8, SYMBOL.size),
        (".dynstr", 3, 2, place["strings"], place["strings"], sizes["strings"], 0, 0, 1, 0),
        (".hash", 5, 2, place["hash"], place["hash"], sizes["hash"], 1, 0, 8, 4),
        (".gnu.version", 0x6FFF_FFFF, 2, place["versym"], place["versym"], sizes["versym"], 1, 0, 2, 2),
        (".gnu.version_d", 0x6FFF_FFFD, 2, place["verdef"], place["verdef"], sizes["verdef"], 2, versions, 8, 0),
        (".text", 1, 6, text, text, text_size, 0, 0, 16, 0),
        (".dynamic", 6, 3, dynamic, dynamic_offset, dynamic_size, 2, 0, 8, 16),
    ]
    names = StringTable()
    out: list[tuple[int, ...]] = [(0,) * 10]
    for name, *rest in rows:
        out.append((names.at(name), *rest))
    names.at(".shstrtab")
    return out, bytes(names.raw)
