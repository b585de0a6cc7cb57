"""The libraries that a program loads for libcuda and libcudart, which are its dynamic loader's auditors, too.

They have the same content, but for their names: a library that wants versions of `libcudart.so.13` is loaded only where one of this name is,
and one file has one name.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...api.libraries import functions
from ...api.table import ApiCall, CForm, driver_calls, runtime_calls
from ..handlers.abi import SENT_WHOLE, other_library
from ..handlers.cuda12 import exported_names
from ..handlers.jitlink import CALLS as JIT_LINK_CALLS
from ..handlers.lto import PREFIX as JIT_LINK
from ..handlers.nvml import CALLS as NVML_CALLS
from ..handlers.nvml import OTHERS as NVML_OTHERS
from .elf import ElfExport, LibraryImage, write
from .stub import CODE

DISTANCE = 0x80000  # stub.c has the same
ADDRESS, PATH, NAMES, SLOTS = 116, 128, 128, 16 * 1024  # sizes of the fields of its data block
# Calls that stub.c knows, in its order: those that it answers, and launches, whose arguments on the stack it sends, too.
LOCAL = (
    "__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "__cudaGetKernel", "cudaGetDevice", "cudaGetLastError", "cudaPeekAtLastError",
)  # fmt: skip
KNOWN = LOCAL + SENT_WHOLE
NOWHERE = 0xFFFF_FFFF  # the number of a call that a library does not have
USED_AT = 12 + ADDRESS + PATH + NAMES - 1  # a byte that says whether CUDA was used: the names end before
RUNTIME_VERSION, OLDER_RUNTIME = "libcudart.so.13", "libcudart.so.12"
STANDS_FOR = {
    "libcuda.so.1": ("libcuda.so.1", "libcuda.so"),
    RUNTIME_VERSION: (RUNTIME_VERSION, "libcudart.so"),
    OLDER_RUNTIME: (OLDER_RUNTIME,),
    "libnvidia-ml.so.1": ("libnvidia-ml.so.1", "libnvidia-ml.so"),
}  # by SONAME
# NVIDIA's other libraries of which there are stand-ins: by SONAME the table of their functions, and their names as files.
STAND_INS = {
    "libcublas.so.13": ("cublas", ("libcublas.so.13", "libcublas.so")),
    "libcublas.so.12": ("cublas", ("libcublas.so.12",)),
    "libcublasLt.so.13": ("cublaslt", ("libcublasLt.so.13", "libcublasLt.so")),
    "libcublasLt.so.12": ("cublaslt", ("libcublasLt.so.12",)),
    "libcurand.so.10": ("curand", ("libcurand.so.10", "libcurand.so")),
    "libcufft.so.12": ("cufft", ("libcufft.so.12", "libcufft.so")),
    "libcufft.so.11": ("cufft", ("libcufft.so.11",)),
    "libcusparse.so.12": ("cusparse", ("libcusparse.so.12", "libcusparse.so")),
    "libcusolver.so.12": ("cusolver", ("libcusolver.so.12", "libcusolver.so")),
    "libcusolver.so.11": ("cusolver", ("libcusolver.so.11",)),
}
# Of older releases: found through LD_LIBRARY_PATH only.  glibc takes twelve auditors, and a user may bring some.
UNAUDITED = {"libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11", "libcusolver.so.11"}
AUDITOR = ("la_version", "la_objsearch", "la_objopen", "la_activity")
WATCHING = ("la_objopen", "la_activity")  # what the loader calls for each object; one of the libraries is enough for it


@dataclass(frozen=True, slots=True)
class Exported:
    """A function that programs may call."""

    function: CForm
    is_runtime: bool = False
    call: ApiCall | None = None  # of which it is a form; None in other libraries
    library: str = ""  # the table of a stand-in


def exported(stand_ins: bool = True) -> list[Exported]:
    """All of them; a request names one by its place in this list."""
    out = [Exported(form, False, call) for call, form in driver_calls().forms()]
    out += [Exported(form, True, call) for call, form in runtime_calls().forms()]
    out += [Exported(form) for table in (JIT_LINK_CALLS, NVML_CALLS, NVML_OTHERS) for form in other_library(table)]
    tables = dict.fromkeys(table for table, _ in STAND_INS.values()) if stand_ins else ()
    return out + [Exported(form, library=table) for table in tables for form in functions(table)]


def sonames(listed: list[Exported]) -> dict[str, tuple[str, ...]]:
    """The libraries that have these functions, by SONAME, and their names as files."""
    tables = {e.library for e in listed}
    return STANDS_FOR | {soname: names for soname, (table, names) in STAND_INS.items() if table in tables}


def built(machine: str, listed: list[Exported], socket_name: bytes, paths: Mapping[str, str]) -> dict[str, LibraryImage]:
    """The libraries for one run by SONAME: their connections go to an abstract socket; `paths` tells where programs find them."""
    own = [(n, e) for n, e in enumerate(listed) if not e.library]
    out = {soname: _built(machine, own, soname, socket_name, paths[soname]) for soname in STANDS_FOR}
    layouts = [(i.code, i.data, {e.function.name: i.pads[e.function.name] for _, e in own}) for i in out.values()]
    assert all(x == layouts[0] for x in layouts), "a request is understood whatever library it comes from"
    for soname, (table, _) in STAND_INS.items():
        if soname in paths:
            others = [(n, e) for n, e in enumerate(listed) if e.library == table]
            out[soname] = _built(machine, others, soname, socket_name, paths[soname])
    return out


def names_in(soname: str, listed: list[Exported]) -> dict[str, str]:
    """What a library calls our functions, where that is not their name.  A program is not to find nvJitLink's here, but in NVIDIA's library."""
    names = [e.function.name for e in listed]
    out = exported_names(names) if soname == OLDER_RUNTIME else {}
    return out | {name: f".{name}" for name in names if name.startswith(JIT_LINK)}


def _built(machine: str, listed: list[tuple[int, Exported]], soname: str, socket_name: bytes, path: str) -> LibraryImage:
    code, where = CODE[machine]
    watches = soname == next(iter(STANDS_FOR))
    own = names_in(soname, [e for _, e in listed])
    version = soname if soname in STAND_INS or soname == OLDER_RUNTIME else RUNTIME_VERSION
    exports = [ElfExport(name if watches or name not in WATCHING else name.upper(), offset=where[name]) for name in AUDITOR]
    exports += [ElfExport(own.get(e.function.name, e.function.name), n, version if e.is_runtime or e.library else "") for n, e in listed]
    address = struct.pack("<H", 1) + b"\0" + socket_name
    files = STANDS_FOR[soname] if soname in STANDS_FOR else STAND_INS[soname][1]
    names = b"".join(name.encode() + b"\0" for name in files)
    assert len(address) <= ADDRESS and len(path) < PATH and len(names) < NAMES - 1
    data = (
        struct.pack("<III", 0, 0, len(address))
        + address.ljust(ADDRESS, b"\0")
        + path.encode().ljust(PATH, b"\0")
        + names.ljust(NAMES, b"\0")
    )
    numbers = {e.function.name: n for n, e in listed}
    data += struct.pack(f"<{len(KNOWN)}I", *(numbers.get(name, NOWHERE) for name in KNOWN)) + bytes(SLOTS)
    out = write(machine, soname, exports, base64.b85decode("".join(code)), DISTANCE, data)
    return replace(out, pads=out.pads | {name: out.pads[exported] for name, exported in own.items()})
