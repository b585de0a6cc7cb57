"""Object files: `assemble` writes a verified module as relocatable ELF64, `disassemble` prints such a file as PTX again.

assemble(disassemble(assemble(text))) is assemble(text), byte for byte.  docs/object-format.md describes the format.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from ..diagnostics import PtxError
from ..ir import Module
from ..parse import parse
from ..printer import print_module
from ..verify import verify, verify_body
from . import elf
from .decode import decode
from .elf import Elf, ElfSection, ObjectError
from .emit import PREFIX, emit

VERSION = 1
_NOTE = struct.Struct("<III8sII")  # the sizes of name and contents, type, name, format version, checksum
_CHECKSUM_AT = 64 + _NOTE.size - 4  # the note is the first section


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """An object file whose container was verified; the contents are decoded on demand."""

    name: str
    data: bytes
    elf: Elf

    def module(self) -> Module:
        """The module, without positions in a text."""
        return decode(self.elf, self.name)


def write_object(module: Module) -> bytes:
    """The object file of a verified module."""
    contents = emit(module)
    note = ElfSection(".note.warplab", elf.SHT_NOTE, 0, _NOTE.pack(8, 8, 1, b"warplab\0", VERSION, 0), align=4)
    data = bytearray(elf.write(Elf((note, *contents.sections), contents.symbols)))
    struct.pack_into("<I", data, _CHECKSUM_AT, zlib.crc32(data))
    return bytes(data)


def read_object(data: bytes, name: str = "<object>") -> ObjectFile:
    """Reads the container of an object file; ObjectError where it is damaged or of another kind."""
    try:
        contents = elf.read(data)
        note = contents.section(".note.warplab")
        if note is None or len(note.data) != _NOTE.size:
            raise ObjectError(f"the note of the format is missing ({PREFIX[1:-1]} did not write this file)")
        version, checksum = struct.unpack("<II", note.data[-8:])
        if version != VERSION:
            raise ObjectError(f"format version {version}; this program reads version {VERSION}")
        if zlib.crc32(data[:_CHECKSUM_AT] + bytes(4) + data[_CHECKSUM_AT + 4 :]) != checksum:
            raise ObjectError("damaged: the checksum does not fit")
    except ObjectError as e:
        raise ObjectError(f"{name}: {e}") from None
    return ObjectFile(name, bytes(data), contents)


def load(source: str | bytes | Module | ObjectFile, name: str = "<text>", verified: bool = True, in_parts: bool = False) -> Module:
    """The module of a PTX text, of an object file, or as it is; PtxError or ObjectError where it is not legal.

    A name that nothing defines is not an error yet: another module may.  A text that a compiler wrote, and an object file, may be read `in_parts`:
    each kernel when something looks at it.
    """
    if isinstance(source, bytes) and source.startswith(b"\x7fELF"):
        source = read_object(source, name)
    if isinstance(source, ObjectFile):
        # Printed and parsed, so that spans lead to a text that people can look at.
        name, source = source.name, print_module(source.module())
    if in_parts and not isinstance(source, Module):
        return parse(source, name, verify_body)
    module = source if isinstance(source, Module) else parse(source, name=name)
    if verified:
        errors = [d for d in verify(module, warnings=()) if d.severity == "error" and d.code != "unresolved"]
        if errors:
            raise PtxError(errors, module.text, module.name)
    return module


def assemble(source: str | bytes | Module, name: str = "<text>") -> bytes:
    """The object file of PTX or of a module; raises PtxError if the PTX is invalid."""
    return write_object(load(source, name))


def disassemble(data: bytes, name: str = "<object>") -> str:
    """The PTX of an object file; raises ObjectError if it is not an object file."""
    return print_module(read_object(data, name).module())
