"""The source line of an address of the program, from the line tables (.debug_line, DWARF 2 to 5) of its object files."""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from warplab.assembler.demangle import short_name

from .maps import MappedObject, sections, symbol_at

COMPRESSED, ZLIB = 0x800, 1  # a section's flag, and how
# Forms of the attributes of files and folders, as DWARF 5 has them: those of a fixed size, strings, and numbers of LEB128.
FIXED = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}
STRING, LINE_STRP, STRP, UDATA, BLOCK = 0x08, 0x1F, 0x0E, 0x0F, 0x09
PATH, FOLDER = 1, 2  # what such an attribute is
COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC, FIXED_ADVANCE_PC = 1, 2, 3, 4, 8, 9
END_SEQUENCE, SET_ADDRESS = 1, 2  # extended opcodes


@dataclass(slots=True)
class ByteReader:
    """Numbers and strings, one behind another."""

    raw: bytes
    at: int = 0
    wide: bool = False  # 64-bit DWARF

    def number(self, size: int) -> int:
        """An unsigned number of so many bytes."""
        self.at += size
        return int.from_bytes(self.raw[self.at - size : self.at], "little")

    def offset(self) -> int:
        """An offset into another section."""
        return self.number(8 if self.wide else 4)

    def leb(self, signed: bool = False) -> int:
        """A number of variable size."""
        value = shift = 0
        while True:
            byte = self.raw[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def string(self) -> str:
        """What stands before the next zero byte."""
        end = self.raw.index(b"\0", self.at)
        text = self.raw[self.at : end].decode(errors="replace")
        self.at = end + 1
        return text


@dataclass(slots=True)
class LineTable:
    """The rows of one file's sequences: where each line begins, and where a sequence ends (line 0)."""

    sequences: list[list[tuple[int, str, int]]] = field(default_factory=list)

    def find(self, address: int) -> tuple[str, int] | None:
        """(file, line) of an address."""
        for rows in self.sequences:
            if rows[0][0] <= address < rows[-1][0]:
                before = [row for row in rows if row[0] <= address]
                return before[-1][1:]
        return None


def _strings(r: ByteReader, form: int, tables: dict[str, bytes]) -> str | int:
    if form == STRING:
        return r.string()
    if form in (LINE_STRP, STRP):
        return ByteReader(tables[".debug_line_str" if form == LINE_STRP else ".debug_str"], r.offset()).string()
    if form == UDATA:
        return r.leb()
    if form == BLOCK:
        r.at += r.leb()
        return 0
    return r.number(FIXED[form])


def _entries(r: ByteReader, tables: dict[str, bytes]) -> list[tuple[str, int]]:
    """(path, number of its folder) of the files, or the folders, of a header of DWARF 5."""
    forms = [(r.leb(), r.leb()) for _ in range(r.number(1))]
    out = []
    for _ in range(r.leb()):
        values = {what: _strings(r, form, tables) for what, form in forms}
        out.append((str(values.get(PATH, "")), int(values.get(FOLDER, 0))))
    return out


def _files(r: ByteReader) -> list[tuple[str, int]]:
    """The same of DWARF 2 to 4, where files count from one."""
    while r.raw[r.at]:
        r.string()
    r.at += 1
    out = [("", 0)]
    while r.raw[r.at]:
        out.append((r.string(), r.leb()))
        r.leb(), r.leb()
    return out


def tables(line: bytes, others: dict[str, bytes]) -> LineTable:
    """All sequences of a .debug_line."""
    out, r = LineTable(), ByteReader(line)
    while r.at < len(line):
        length = r.number(4)
        r.wide = length == 0xFFFF_FFFF
        length = r.number(8) if r.wide else length
        end = r.at + length
        version = r.number(2)
        if 2 <= version <= 5:
            out.sequences += _sequences(r, version, end, others)
        r.at = end
    return out


def _sequences(r: ByteReader, version: int, end: int, others: dict[str, bytes]) -> Iterator[list[tuple[int, str, int]]]:
    if version >= 5:
        r.number(2)  # sizes of addresses and of segments
    program = r.offset() + r.at
    least = r.number(1)
    r.at += 1 + (version >= 4)  # operations of an instruction, and whether lines are statements
    base = struct.unpack_from("<b", r.raw, r.at)[0]
    r.at += 1
    span, first = r.number(1), r.number(1)
    counts = [0, *(r.number(1) for _ in range(first - 1))]
    if version >= 5:
        _entries(r, others)
        files = _entries(r, others)
    else:
        files = _files(r)
    r.at = program
    rows: list[tuple[int, str, int]] = []
    address, file, line = 0, 1, 1
    while r.at < end:
        code = r.number(1)
        if code >= first:
            address += (code - first) // span * least
            line += base + (code - first) % span
        elif code == 0:
            size = r.leb()
            then = r.at + size
            extended = r.number(1)
            if extended == END_SEQUENCE:
                rows.append((address, "", 0))
                if rows[0][0] < address:
                    yield rows
                rows, address, file, line = [], 0, 1, 1
            elif extended == SET_ADDRESS:
                address = r.number(size - 1)
            r.at = then
            continue
        elif code == ADVANCE_PC:
            address += r.leb() * least
            continue
        elif code == ADVANCE_LINE:
            line += r.leb(signed=True)
            continue
        elif code == SET_FILE:
            file = r.leb()
            continue
        elif code == CONST_ADD_PC:
            address += (255 - first) // span * least
            continue
        elif code == FIXED_ADVANCE_PC:
            address += r.number(2)
            continue
        elif code != COPY:
            for _ in range(counts[code]):
                r.leb()
            continue
        rows.append((address, files[file][0] if file < len(files) else "", line))


@lru_cache(maxsize=32)
def _table(path: str, changed: int) -> LineTable:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        found = {name: _content(raw, s) for name, s in sections(raw) if name.startswith(".debug_")}
    return tables(found.get(".debug_line", b""), found)


def _content(raw: mmap.mmap, section: tuple[int, ...]) -> bytes:
    content = raw[section[4] : section[4] + section[5]]
    if not section[2] & COMPRESSED:
        return content
    (kind,) = struct.unpack_from("<I", content)
    return zlib.decompress(content[24:]) if kind == ZLIB else b""


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where a call stands: its file and line, if there is a table of lines, else its function alone, or what stands for it."""

    file: str
    line: int
    function: str
    of: str = ""  # the object file

    @property
    def text(self) -> str:
        """In words: "at saxpy.cu:41 in step"."""
        if not self.line:
            return f"in {self.function} of {self.of}"
        return f"at {self.file}:{self.line}" + (f" in {self.function}" if self.function else "")

    def without_line(self) -> CallSite:
        """The same where the line tells nothing."""
        return replace(self, file="", line=0)


def call_site(found: MappedObject, back: int) -> CallSite:
    """Where a call stands that goes on at an address of an object's."""
    try:
        place = _table(found.path, os.stat(found.path).st_mtime_ns).find(back - 1 - found.base + found.first)
    except (OSError, ValueError, IndexError, KeyError, struct.error, zlib.error):  # no table, or one that nobody can read
        place = None
    function = short_name(symbol_at(found, back - 1))
    file, line = place if place is not None else ("", 0)
    return CallSite(os.path.basename(file), line, function if function or line else f"{back - found.base:#x}", os.path.basename(found.path))
