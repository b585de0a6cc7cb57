"""From what a host program hands over (PTX text, an object file, a linked image, an address of one of them) to checked modules.

The same contents are parsed and checked once in a process.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from warplab.assembler.diagnostics import PtxError
from warplab.assembler.ir import Module
from warplab.assembler.link import Program, link_modules
from warplab.assembler.objects import ObjectError, load
from warplab.assembler.walk import outer_locals
from warplab.interpreter.ptxas.contraction import DEFAULT, TYPED, Fmad

from ...errors import ApiError, UsageError, invalid, unsupported
from ..devrt.library import driver_part
from ..memory.host import host
from . import fatbin
from .archives import fat_binaries, is_archive, is_host_object

ELF, CUDA_MACHINE = b"\x7fELF", (190).to_bytes(2, "little")  # and what such a file says of the machine that it is for
LINKED = b"\x7fWLINK3\n"  # a linked image: its size, the number of inputs, the options, and each input with its name
_HEAD = struct.Struct("<8sQI4sI")
_PART = struct.Struct("<IQ?")


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """One input: PTX text or an object file."""

    data: bytes
    name: str
    chosen: bool = False  # the best of what a compiler has put into a fat binary


@dataclass(frozen=True, slots=True)
class CodeOptions:
    """The options of a link or a load that matter here."""

    fmad: Fmad | None = None  # which products and sums are to be rounded together
    registers: int = 0  # that a thread may have, 0: no limit; directives of a kernel go before it

    def over(self, others: CodeOptions) -> CodeOptions:
        """These, and others where these say nothing."""
        return CodeOptions(self.fmad or others.fmad, self.registers or others.registers)


def image_at(address: int) -> bytes:
    """The image that stands at an address of host memory: its own header tells its size, a text ends with a zero byte."""
    if not address:
        raise invalid("the image is null")

    def read(size: int) -> bytes:
        return host().read(address, size).tobytes()

    head = read(4)
    if head == ELF:
        offset, size, count = _elf_table(read(64))
        if offset > fatbin.MOST_IMAGE:
            raise ApiError("CUDA_ERROR_INVALID_IMAGE", f"the object file is damaged: its sections begin at {offset}")
        return read(offset + size * count)
    if head == LINKED[:4]:
        return read(_HEAD.unpack(read(_HEAD.size))[1])
    if int.from_bytes(head, "little") in (fatbin.FATBIN, fatbin.WRAPPER):
        return fatbin.image_at(address, lambda at, size: host().read(at, size).tobytes())
    return host().string(address)


def _elf_table(head: bytes) -> tuple[int, int, int]:
    (offset,) = struct.unpack_from("<Q", head, 0x28)
    size, count = struct.unpack_from("<HH", head, 0x3A)
    return int(offset), int(size), int(count)


def sources(image: bytes, device: str, name: str = "<image>", rules_only: bool = False) -> list[ProgramSource]:
    """The inputs in an image that a device runs; with `rules_only` also those for newer ones."""
    try:
        return _sources(image, device, name, rules_only)
    except (struct.error, IndexError, OverflowError, UnicodeDecodeError):  # what reading behind the end of a part raises
        raise ApiError("CUDA_ERROR_INVALID_IMAGE", f"{name} is damaged or cut off") from None


def _sources(image: bytes, device: str, name: str, rules_only: bool) -> list[ProgramSource]:
    if is_archive(image) or is_host_object(image):
        return [s for part in fat_binaries(image) for s in sources(part, device, name, rules_only)]
    if fatbin.is_fatbin(image):
        return [ProgramSource(text, name, True) for text in fatbin.texts(image, device, rules_only)]
    if not image.startswith(LINKED):
        return [ProgramSource(image, name)]
    at, out = _HEAD.size, []
    for _ in range(_HEAD.unpack_from(image)[2]):
        n, size, chosen = _PART.unpack_from(image, at)
        at += _PART.size
        out.append(ProgramSource(image[at + n : at + n + size], image[at : at + n].decode(), chosen))
        at += n + size
    return out


def linked_image(inputs: Sequence[ProgramSource], options: CodeOptions) -> bytes:
    """The image of a link: its inputs, which were seen to fit together, and its options."""
    parts = [_PART.pack(len(s.name.encode()), len(s.data), s.chosen) + s.name.encode() + s.data for s in inputs]
    body = b"".join(parts)
    return _HEAD.pack(LINKED, _HEAD.size + len(body), len(inputs), (options.fmad or "").encode(), options.registers) + body


def options_of(image: bytes) -> CodeOptions:
    """What a link was told."""
    if not image.startswith(LINKED):
        return CodeOptions()
    _, _, _, raw, registers = _HEAD.unpack_from(image)
    word = raw.rstrip(b"\0").decode(errors="replace")
    if word and word not in TYPED:
        raise ApiError("CUDA_ERROR_INVALID_IMAGE", "the options of the image are damaged")
    return CodeOptions(contraction(word) if word else None, registers)


def contraction(word: str | None = None) -> Fmad:
    """Which products and sums are to be rounded together: the given word, else what WARPLAB_FMAD says, else all, as by ptxas."""
    given = word or os.environ.get("WARPLAB_FMAD") or DEFAULT
    said = f"fmad {word!r}" if word else f"WARPLAB_FMAD {given!r}"
    found = next((known for known in TYPED if known == given), None)
    if found is None:
        raise UsageError(f"{said} is unknown: write one of {', '.join(TYPED)}")
    return found


VERSION = re.compile(rb"(?:\s|//[^\n]*|/\*.*?\*/)*\.version\s+(\d{1,9})\.(\d{1,9})", re.S)
NEWEST_PTX = (9, 9)  # what the assembler reads, with a note where it is newer than all that is known here
MARKS = {b"\xef\xbb\xbf": "UTF-8", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # what editors put before a text
LARGE = 1 << 17  # bytes of a text that takes a tenth of a second to read
_known: dict[bytes, Module] = {}


def parsed(text: str | bytes, name: str, compiled: bool = False) -> Module:
    """A checked module; the same contents are read once in a process.  A large one that a compiler wrote, and an object file,
    which was checked when it was written, are read kernel by kernel."""
    raw = text.encode() if isinstance(text, str) else bytes(text)
    if raw[:4] != ELF:
        raw = raw.split(b"\0", 1)[0]
    found = _known.get(raw)
    if found is None:
        found = _known[raw] = _read(raw, name, raw[:4] == ELF or (compiled and len(raw) >= LARGE))
    return found


def _read(raw: bytes, name: str, in_parts: bool) -> Module:
    if raw[:4] == ELF and raw[18:20] == CUDA_MACHINE:
        message = (
            f"{name} is machine code (a cubin) and holds no PTX, which is needed here: nvcc -ptx writes it; under `warplab exec`, so does the compiler "
            "that the variable NVCC names, where it is asked for a cubin"
        )
        raise ApiError("CUDA_ERROR_NO_BINARY_FOR_GPU", message)
    if raw[:4] != ELF:
        version = VERSION.match(raw)
        if version is None:
            mark = next(
                (f"{name} begins with a byte order mark of {known}: save it as ASCII" for b, known in MARKS.items() if raw.startswith(b)),
                "",
            )
            empty = f"{name} is empty" if not raw.strip() else ""
            message = mark or empty or f"{name} is neither PTX, which begins with .version, nor an object file"
            raise ApiError("CUDA_ERROR_INVALID_IMAGE", message)
        if (given := (int(version[1]), int(version[2]))) > NEWEST_PTX:
            message = f"{name}: there is no PTX version {given[0]}.{given[1]}; the newest is 9.0"
            raise ApiError("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", message)
    try:
        return load(raw, name, in_parts=in_parts)
    except ObjectError as e:
        raise ApiError("CUDA_ERROR_INVALID_IMAGE", str(e)) from None
    except PtxError as e:
        raise ApiError("CUDA_ERROR_INVALID_PTX", str(e)) from None


# What the driver itself brings for kernels that decide what a graph does: the handle of a condition is the address of its value.
CONDITION = "cudaGraphSetConditional"
_CONDITION = f"""
.version 6.3
.target sm_30
.address_size 64
.visible .func {CONDITION}(.param .b64 handle, .param .b32 value)
{{
    .reg .b64 %at;
    .reg .b32 %v;
    ld.param.b64 %at, [handle];
    ld.param.b32 %v, [value];
    st.global.b32 [%at], %v;
    ret;
}}
"""


def with_libraries(inputs: Sequence[ProgramSource], libraries: Sequence[ProgramSource]) -> list[ProgramSource]:
    """Some inputs, and of the libraries what defines a function that is missing."""
    out, rest = list(inputs), list(libraries)
    while rest:
        missing = set(link([parsed(s.data, s.name) for s in out], complete=False).unresolved)
        found = [s for s in rest if missing and missing.intersection(strong_names(parsed(s.data, s.name, compiled=True)))]
        if not found:
            break
        out += found[:1]
        rest.remove(found[0])
    return out


def strong_names(m: Module) -> list[str]:
    """What a module defines for the others."""
    defined = [f.name for f in m.functions.values() if f.is_defined and f.linkage == "visible"]
    return defined + [v.name for v in m.variables.values() if v.linkage == "visible"]


def link(modules: Sequence[Module], code: str = "CUDA_ERROR_UNKNOWN", *, complete: bool = True, alone: bool = False) -> Program:
    """The modules as one program, where they fit together: see link_modules()."""
    named = [f for m in modules if (f := m.functions.get(CONDITION)) is not None]
    if named and not any(f.is_defined for f in named):
        modules = [*modules, parsed(_CONDITION, CONDITION)]
    own = [m for m in modules if any(v.space == "local" for v in m.variables.values())]  # PTX before 3.0; other bodies are not read for it
    for f in (f for m in own for f in m.functions.values() if not f.is_entry and f.body is not None):
        if outer_locals(f):
            raise unsupported(f"{f.name} uses a .local variable of the module: warplab executes that in kernels only")
    if text := driver_part(modules):
        modules = [*modules, parsed(text, "device launches")]
    try:
        return link_modules(modules, complete=complete, alone=alone)
    except PtxError as e:
        raise ApiError(code, str(e)) from None
