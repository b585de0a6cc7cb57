"""ELF64 relocatable files, little-endian: bytes <-> sections, symbols and relocations.

It knows the container and nothing of PTX.  Whatever does not fit together in a file that is read becomes an ObjectError: offsets and
sizes are never trusted.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

# EM_CUDA (190) would promise NVIDIA's own machine code; the number is "WP", which is not registered.
MACHINE = 0x5750
TYPE_RELOCATABLE = 1

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOTE, SHT_NOBITS = 1, 2, 3, 4, 7, 8
SHF_WRITE, SHF_ALLOC, SHF_EXEC, SHF_MERGE, SHF_STRINGS, SHF_INFO_LINK = 1, 2, 4, 0x10, 0x20, 0x40
SHN_COMMON = 0xFFF2
Binding = Literal["local", "global", "weak"]
Kind = Literal["notype", "object", "func"]
BINDINGS: tuple[Binding, ...] = ("local", "global", "weak")
KINDS: tuple[Kind, ...] = ("notype", "object", "func")

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_IDENT = b"\x7fELF\x02\x01\x01" + bytes(9)


class ObjectError(ValueError):
    """The bytes are not an object file of warplab, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """The place at offset waits for the address of a symbol (by number, from 1) plus addend."""

    offset: int
    symbol: int
    type: int
    addend: int = 0


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A named stretch of bytes; one of type SHT_NOBITS has a size only."""

    name: str
    type: int
    flags: int = 0
    data: bytes = b""
    size: int = 0  # of SHT_NOBITS
    align: int = 1
    entry: int = 0  # bytes of one element, for SHF_MERGE
    relocations: tuple[Relocation, ...] = ()


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A name for a place in a section: "" where it is undefined, "COMMON" where the linker shall allot it (value is its alignment)."""

    name: str
    binding: Binding
    kind: Kind
    section: str
    value: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Elf:
    """A relocatable file: its sections in order, and its symbols, the local ones first."""

    sections: tuple[ElfSection, ...]
    symbols: tuple[ElfSymbol, ...]

    def section(self, name: str) -> ElfSection | None:
        return next((s for s in self.sections if s.name == name), None)


class _Strings:
    """A string table under construction."""

    def __init__(self) -> None:
        self.data = bytearray(1)
        self._places: dict[str, int] = {"": 0}

    def place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._places[text]


def write(elf: Elf) -> bytes:
    """The file: header, the sections each followed by its relocations, symbol and string tables, section headers."""
    places = {s.name: i for i, s in enumerate(_physical(elf.sections), 1)}
    names, strings = _Strings(), _Strings()
    symbols = bytearray(_SYMBOL.size)
    for symbol in elf.symbols:
        where = SHN_COMMON if symbol.section == "COMMON" else places[symbol.section] if symbol.section else 0
        info = BINDINGS.index(symbol.binding) << 4 | KINDS.index(symbol.kind)
        symbols += _SYMBOL.pack(strings.place(symbol.name), info, 0, where, symbol.value, symbol.size)
    locals_ = 1 + sum(s.binding == "local" for s in elf.symbols)
    symtab = len(places) + 1
    out = bytearray(_HEADER.size)
    headers = bytearray(_SECTION.size)

    def add(name: str, kind: int, flags: int, data: bytes, size: int, link: int, info: int, align: int, entry: int) -> None:
        out.extend(bytes(-len(out) % align))
        headers.extend(_SECTION.pack(names.place(name), kind, flags, 0, len(out), size, link, info, align, entry))
        out.extend(data)

    for s in elf.sections:
        size = s.size if s.type == SHT_NOBITS else len(s.data)
        add(s.name, s.type, s.flags, s.data, size, 0, 0, s.align, s.entry)
        if s.relocations:
            rela = b"".join(_RELA.pack(r.offset, r.symbol << 32 | r.type, r.addend) for r in s.relocations)
            add(".rela" + s.name, SHT_RELA, SHF_INFO_LINK, rela, len(rela), symtab, places[s.name], 8, _RELA.size)
    add(".symtab", SHT_SYMTAB, 0, bytes(symbols), len(symbols), symtab + 1, locals_, 8, _SYMBOL.size)
    add(".strtab", SHT_STRTAB, 0, bytes(strings.data), len(strings.data), 0, 0, 1, 0)
    names.place(".shstrtab")
    add(".shstrtab", SHT_STRTAB, 0, bytes(names.data), len(names.data), 0, 0, 1, 0)
    out.extend(bytes(-len(out) % 8))
    count = len(headers) // _SECTION.size
    if count >= 0xFF00:
        raise ObjectError(f"{count} sections are more than an ELF file holds")
    out[: _HEADER.size] = _HEADER.pack(
        _IDENT, TYPE_RELOCATABLE, MACHINE, 1, 0, 0, len(out), 0, _HEADER.size, 0, 0, _SECTION.size, count, count - 1
    )
    return bytes(out + headers)


def _physical(sections: Iterable[ElfSection]) -> Iterable[ElfSection]:
    """The sections as they are numbered, a stand-in for each section of relocations."""
    for s in sections:
        yield s
        if s.relocations:
            yield ElfSection(".rela" + s.name, SHT_RELA)


@dataclass(frozen=True, slots=True)
class _Raw:
    name: str
    type: int
    flags: int
    data: bytes
    size: int
    link: int
    info: int
    align: int
    entry: int


def read(data: bytes) -> Elf:
    """Reads what `write` wrote; checks every offset, size and number against the file."""
    raw = _sections(data)
    tables = [s for s in raw if s.type == SHT_SYMTAB]
    if len(tables) != 1:
        raise ObjectError(f"{len(tables)} symbol tables instead of one")
    own = [s for s in raw[1:] if s.type not in (SHT_SYMTAB, SHT_STRTAB, SHT_RELA)]
    names = {s.name for s in own}
    if len(names) != len(own):
        raise ObjectError("two sections have one name")
    symbols = _symbols(tables[0], raw)
    relocations: dict[str, tuple[Relocation, ...]] = {}
    for s in raw:
        if s.type == SHT_RELA:
            if not 0 < s.info < len(raw) or raw[s.info].name not in names or raw[s.info].name in relocations:
                raise ObjectError(f"section {s.name} relocates a section that is not there")
            relocations[raw[s.info].name] = _relocations(s, raw[s.info], len(symbols))
    return Elf(
        tuple(ElfSection(s.name, s.type, s.flags, s.data, s.size, s.align, s.entry, relocations.get(s.name, ())) for s in own),
        symbols,
    )


def _sections(data: bytes) -> list[_Raw]:
    if data[:4] != _IDENT[:4]:
        raise ObjectError("no object file of warplab assemble: it does not begin as an ELF file does")
    if len(data) < _HEADER.size:
        raise ObjectError(f"truncated: an ELF header has {_HEADER.size} bytes, the file has {len(data)}")
    ident, kind, machine, _, _, _, offset, _, _, _, _, size, count, names_at = _HEADER.unpack_from(data)
    if ident[4] != 2 or ident[5] != 1:
        raise ObjectError("not a 64-bit little-endian ELF file")
    if machine != MACHINE:
        raise ObjectError(f"for another machine: e_machine is {machine:#x}{_KNOWN.get(machine, '')}, ours is {MACHINE:#x}")
    if kind != TYPE_RELOCATABLE:
        raise ObjectError("not a relocatable file")
    if size != _SECTION.size or not 0 < names_at < count or offset + count * size > len(data):
        raise ObjectError("cut off or damaged: the section headers lie outside the file")
    headers = [_SECTION.unpack_from(data, offset + i * size) for i in range(count)]

    def content(header: tuple[int, ...]) -> bytes:
        _, kind, _, _, at, length, *_ = header
        if kind == SHT_NOBITS:
            return b""
        if at + length > len(data):
            raise ObjectError("cut off or damaged: a section lies outside the file")
        return data[at : at + length]

    names = content(headers[names_at])
    return [_Raw(_text(names, h[0]), h[1], h[2], content(h), h[5], h[6], h[7], h[8], h[9]) for h in headers]


_KNOWN = {3: " (x86)", 62: " (x86-64)", 183: " (AArch64)", 190: " (CUDA machine code)"}


def _text(table: bytes, place: int) -> str:
    end = table.find(b"\0", place)
    if end < 0:
        raise ObjectError("damaged: a name lies outside its string table")
    try:
        return table[place:end].decode()
    except UnicodeDecodeError as e:
        raise ObjectError("damaged: a name is not UTF-8") from e


def _symbols(table: _Raw, raw: list[_Raw]) -> tuple[ElfSymbol, ...]:
    if not 0 < table.link < len(raw) or raw[table.link].type != SHT_STRTAB or len(table.data) % _SYMBOL.size:
        raise ObjectError("damaged: the symbol table does not fit together")
    found: list[ElfSymbol] = []
    for i, (name, info, _, where, value, size) in enumerate(_SYMBOL.iter_unpack(table.data)):
        if i == 0:
            continue
        if info >> 4 >= len(BINDINGS) or info & 15 >= len(KINDS) or (where >= len(raw) and where != SHN_COMMON):
            raise ObjectError(f"damaged: symbol {i} has a binding, kind or section that is not there")
        section = "COMMON" if where == SHN_COMMON else raw[where].name if where else ""
        found.append(ElfSymbol(_text(raw[table.link].data, name), BINDINGS[info >> 4], KINDS[info & 15], section, value, size))
    return tuple(found)


def _relocations(table: _Raw, target: _Raw, symbols: int) -> tuple[Relocation, ...]:
    if len(table.data) % _RELA.size:
        raise ObjectError(f"damaged: section {table.name} is cut off")
    found: list[Relocation] = []
    for offset, info, addend in _RELA.iter_unpack(table.data):
        if offset >= max(target.size, len(target.data)) or not 0 < info >> 32 <= symbols:
            raise ObjectError(f"damaged: a relocation in {table.name} names a place or symbol that is not there")
        found.append(Relocation(offset, info >> 32, info & 0xFFFFFFFF, addend))
    return tuple(found)
