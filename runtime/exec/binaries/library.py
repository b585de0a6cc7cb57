"""The library that a program loads for libcuda, for libcudart, and as its dynamic loader's auditor: one file with all exports."""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass

from ..answers.abi import CFunction, functions
from ..answers.driver_calls import CALLS as DRIVER_CALLS
from ..answers.jitlink import CALLS as JIT_LINK_CALLS
from ..answers.runtime_calls import CALLS as RUNTIME_CALLS
from .elf import ElfExport, LibraryImage, write
from .stub import CODE

DISTANCE = 0x80000  # stub.c has the same
ADDRESS, PATH, NAMES, SLOTS = 116, 128, 128, 8 * 1024  # sizes of the fields of its data block
USED_AT = 12 + ADDRESS + PATH + NAMES - 1  # a byte that says whether CUDA was used: the names end before
SONAME = "libcuda.so.1"
RUNTIME_VERSION = "libcudart.so.13"
STANDS_FOR = ("libcuda.so.1", "libcuda.so", "libcudart.so.13", "libcudart.so")
AUDITOR = ("la_version", "la_objsearch", "la_objopen", "la_activity")


@dataclass(frozen=True, slots=True)
class Exported:
    """A function that programs may call."""

    function: CFunction
    is_runtime: bool


def exported() -> list[Exported]:
    """All of them; a request names one by its place in this list."""
    out: dict[str, Exported] = {}
    for table, is_runtime in ((DRIVER_CALLS, False), (RUNTIME_CALLS, True), (JIT_LINK_CALLS, False)):
        for f in functions(table):
            known = out.get(f.name)
            if known is None or known.function.parameters is None:  # a name may have one form that is answered
                out[f.name] = Exported(f, is_runtime)
    return list(out.values())


def built(machine: str, listed: list[Exported], socket_name: bytes, path: str) -> LibraryImage:
    """The library for one run: its connections go to an abstract socket; `path` is where programs find it."""
    code, where = CODE[machine]
    exports = [ElfExport(name, offset=where[name]) for name in AUDITOR]
    exports += [ElfExport(e.function.name, n, RUNTIME_VERSION if e.is_runtime else "") for n, e in enumerate(listed)]
    address = struct.pack("<H", 1) + b"\0" + socket_name
    names = b"".join(name.encode() + b"\0" for name in STANDS_FOR)
    assert len(address) <= ADDRESS and len(path) < PATH and len(names) < NAMES - 1
    data = (
        struct.pack("<III", 0, 0, len(address))
        + address.ljust(ADDRESS, b"\0")
        + path.encode().ljust(PATH, b"\0")
        + names.ljust(NAMES, b"\0")
    )
    return write(machine, SONAME, exports, base64.b85decode("".join(code)), DISTANCE, data + bytes(SLOTS))
