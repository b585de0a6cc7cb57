"""Functions of the program's own objects that others must stand in for get a jump over their beginnings, before any of them has run.

A runtime that was linked in goes to ours, so NVIDIA's never runs; nvJitLink's calls are jitlink.py's; NVRTC hands out PTX where it is asked for machine code,
and nvFatbin takes that PTX where it is handed machine code.
"""

from __future__ import annotations

import itertools
import re
import struct
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..handlers.jitlink import OTHER
from ..handlers.lto import PREFIX
from ..process import NOT_THERE, PAGE, PRIVATE_ANONYMOUS, READ, WRITE, HostProgram
from . import maps
from .elf import MACHINE
from .unnamed import unnamed

MARKER = "__cudaRegisterFatBinary"
READ_EXECUTE, ALL = 5, 7  # protections
ENTRY_BYTES = 32  # of an entry point of one runtime
COPIES = 0x7000  # numbers of runtimes
JMP, NEAR_JUMP = 0xE9, struct.Struct("<Bi")
INSTEAD = {"nvrtcGetCUBIN": "nvrtcGetPTX", "nvrtcGetCUBINSize": "nvrtcGetPTXSize", "nvFatbinAddCubin": "nvFatbinAddPTX"}
COMPILERS = {"libnvrtc.so": "nvrtcGetPTX", "libnvfatbin.so": "nvFatbinAddPTX"}  # libraries with functions of INSTEAD, and one of them
NO_SIXTH = {"x86_64": b"\x45\x31\xc9", "aarch64": b"\xe5\x03\x1f\xaa"}.get(
    MACHINE, b""
)  # xor %r9d, %r9d; mov x5, xzr: nvFatbinAddPTX has one argument more
SIZE = {"x86_64": 14, "aarch64": 16}.get(MACHINE, 0)  # of a jump
ALIGNMENT = 16  # of functions: what lies between one and the next is not used
HARMLESS = f"{PREFIX}Version"  # takes no handle
RELEASE = re.compile(rf"__({PREFIX}\w+)_\d+_\d+")  # a function of nvJitLink's under the name that a release gave it


_copies = itertools.count()


@dataclass(frozen=True, slots=True)
class Stand:
    """What stands in for a function: where it is, and the number of its requests."""

    address: int
    number: int = 0
    before: bytes = b""  # machine code in front of the jump


@dataclass(frozen=True, slots=True)
class Redirection:
    """Functions of an object that others stand in for."""

    path: str
    symbols: Mapping[str, tuple[int, int]]  # what the object defines: (address, size)
    by_ours: bool  # with the functions of our library that have the same names, else with those of INSTEAD

    @property
    def is_runtime(self) -> bool:
        """Is it a runtime, whose functions have a last error of their own?"""
        return self.by_ours and f"{PREFIX}Create" not in self.symbols


def redirections(pid: int) -> list[Redirection]:
    """What is to be redirected in a process: runtimes that were linked in, and compilers that would hand out machine code."""
    out = []
    for o in maps.objects(pid):
        if MARKER in (found := maps.symbols(o, MARKER)) or (
            "libnvJitLink.so" in o.path and (found := maps.symbols(o, "nvJitLinkCreate", dynamic=True))
        ):
            out.append(Redirection(o.path, found, True))
        elif found := next((maps.symbols(o, known, dynamic=True) for name, known in COMPILERS.items() if name in o.path), {}):
            out.append(Redirection(o.path, found, False))
        elif found := unnamed(o):
            out.append(Redirection(o.path, found, True))
    return out


def absolute_jump(target: int) -> bytes:
    """Machine code that goes to any address."""
    if MACHINE == "x86_64":
        return b"\xff\x25\0\0\0\0" + struct.pack("<Q", target)  # jmp *0(%rip)
    return struct.pack("<IIQ", 0x5800_0051, 0xD61F_0220, target)  # ldr x17, #8; br x17


def entry_point(number: int, code: int) -> bytes:
    """Machine code that goes to the library's with the number of a request."""
    if MACHINE == "x86_64":
        return struct.pack("<BI", 0xB8, number) + absolute_jump(code)  # mov $number, %eax
    low, high = number & 0xFFFF, number >> 16
    return struct.pack("<II", 0x5280_0010 | low << 5, 0x72A0_0010 | high << 5) + absolute_jump(
        code
    )  # mov w16, #low; movk w16, #high, lsl #16


def entry_points(program: HostProgram, copy: int, numbers: Sequence[int], code: int) -> list[int]:
    """Entry points of a runtime that was linked in: a request's number says in its upper half which runtime it is."""
    raw = b"".join(entry_point(number | copy << 16, code).ljust(ENTRY_BYTES, b"\0") for number in numbers)
    at = program.system_call("mmap", 0, len(raw), READ | WRITE, PRIVATE_ANONYMOUS, NOT_THERE, 0)
    program.write(at, np.frombuffer(raw, np.uint8))
    program.system_call("mprotect", at, len(raw), READ_EXECUTE)
    return [at + n * ENTRY_BYTES for n in range(len(numbers))]


def targets(r: Redirection, ours: Mapping[str, Stand]) -> dict[str, Stand]:
    """What stands in for the functions of one object."""
    if not r.by_ours:
        known = {name: other for name, other in INSTEAD.items() if name in r.symbols and other in r.symbols}
        return {name: Stand(r.symbols[other][0], before=NO_SIXTH if name == "nvFatbinAddCubin" else b"") for name, other in known.items()}
    out = {name: ours[name] for name in r.symbols if name in ours}
    if not r.is_runtime:  # all of nvJitLink's: with a handle of ours its own functions would go astray
        plain = {name: m[1] if (m := RELEASE.fullmatch(name)) else name for name in r.symbols}
        out |= {name: ours.get(known, ours[OTHER]) for name, known in plain.items() if known.startswith(PREFIX) and known != HARMLESS}
    return out


def originals(program: HostProgram, r: Redirection) -> dict[str, int]:
    """Where the functions of an object go on that only jump: they can be called although they are overwritten."""
    out = {}
    for name, (at, size) in r.symbols.items():
        if size == NEAR_JUMP.size and MACHINE == "x86_64":
            code, distance = NEAR_JUMP.unpack(program.read(at, size).tobytes())
            if code == JMP:
                out[name] = at + size + distance
    return out


def redirect(program: HostProgram, r: Redirection, ours: Mapping[str, Stand], code: int) -> int:
    """Overwrites the beginnings of the functions of one object for which there is another; says how many.  `code`: the library's."""
    starts = sorted({at for at, _ in r.symbols.values()})
    places = {}
    for name, stand in targets(r, ours).items():
        at, size = r.symbols[name]
        room = [-(-(at + size) // ALIGNMENT) * ALIGNMENT, *starts[(n := bisect_right(starts, at)) : n + 1]]
        if min(room) - at >= len(stand.before) + SIZE:
            places[at] = stand
    at = next(iter(places), 0)
    if not at or program.read(at, SIZE).tobytes().startswith(
        places[at].before + absolute_jump(0)[:-8]
    ):  # done, and not loaded anew since then
        return 0
    jumps = [s.address for s in places.values()]
    if not r.is_runtime:
        program.originals |= originals(program, r)
    else:
        jumps = entry_points(program, next(_copies) % COPIES + 1, [s.number for s in places.values()], code)
    first = min(places) & -PAGE
    size = -(-(max(places) + len(NO_SIXTH) + SIZE) // PAGE) * PAGE - first
    program.system_call("mprotect", first, size, ALL)
    code_of = [s.before + absolute_jump(target) for s, target in zip(places.values(), jumps, strict=True)]
    program.write_rows(list(places), [np.frombuffer(x, np.uint8) for x in code_of])
    program.system_call("mprotect", first, size, READ_EXECUTE)
    return len(places)
