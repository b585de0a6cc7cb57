"""Functions of the program's own objects that others must stand in for get a jump over their beginnings, before any of them has run.

A runtime that was linked in goes to ours, so NVIDIA's never runs; nvJitLink's calls are jitlink.py's; NVRTC hands out PTX where it is asked for machine code.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..answers.jitlink import OTHER, PREFIX
from ..process import PAGE, HostProgram
from . import maps
from .elf import MACHINE
from .unnamed import unnamed

MARKER = "__cudaRegisterFatBinary"
READ_EXECUTE, ALL = 5, 7  # protections
INSTEAD = {"nvrtcGetCUBIN": "nvrtcGetPTX", "nvrtcGetCUBINSize": "nvrtcGetPTXSize"}
SIZE = {"x86_64": 14, "aarch64": 16}.get(MACHINE, 0)  # of a jump
ALIGNMENT = 16  # of functions: what lies between one and the next is not used
HARMLESS = f"{PREFIX}Version"  # takes no handle
RELEASE = re.compile(rf"__({PREFIX}\w+)_\d+_\d+")  # a function of nvJitLink's under the name that a release gave it


@dataclass(frozen=True, slots=True)
class Redirection:
    """Functions of an object that others stand in for."""

    path: str
    symbols: Mapping[str, tuple[int, int]]  # what the object defines: (address, size)
    by_ours: bool  # with the functions of our library that have the same names, else with those of INSTEAD


def redirections(pid: int) -> list[Redirection]:
    """What is to be redirected in a process: runtimes that were linked in, and compilers that would hand out machine code."""
    out = []
    for o in maps.objects(pid):
        if MARKER in (found := maps.symbols(o, MARKER)) or (
            "libnvJitLink.so" in o.path and (found := maps.symbols(o, "nvJitLinkCreate", dynamic=True))
        ):
            out.append(Redirection(o.path, found, True))
        elif "libnvrtc.so" in o.path and (found := maps.symbols(o, "nvrtcGetPTX", dynamic=True)):
            out.append(Redirection(o.path, found, False))
        elif found := unnamed(o):
            out.append(Redirection(o.path, found, True))
    return out


def absolute_jump(target: int) -> bytes:
    """Machine code that goes to any address."""
    if MACHINE == "x86_64":
        return b"\xff\x25\0\0\0\0" + struct.pack("<Q", target)  # jmp *0(%rip)
    return struct.pack("<IIQ", 0x5800_0051, 0xD61F_0220, target)  # ldr x17, #8; br x17


def targets(r: Redirection, ours: Mapping[str, int]) -> dict[str, int]:
    """What stands in for the functions of one object."""
    if not r.by_ours:
        return {name: r.symbols[other][0] for name, other in INSTEAD.items() if name in r.symbols and other in r.symbols}
    out = {name: ours[name] for name in r.symbols if name in ours}
    if PREFIX + "Create" in out:  # all of nvJitLink's: with a handle of ours its own functions would go astray
        plain = {name: m[1] if (m := RELEASE.fullmatch(name)) else name for name in r.symbols}
        out |= {name: ours.get(known, ours[OTHER]) for name, known in plain.items() if known.startswith(PREFIX) and known != HARMLESS}
    return out


def redirect(program: HostProgram, r: Redirection, ours: Mapping[str, int]) -> int:
    """Overwrites the beginnings of the functions of one object for which there is another; says how many."""
    starts = sorted({at for at, _ in r.symbols.values()})
    places = {}
    for name, target in targets(r, ours).items():
        at, size = r.symbols[name]
        room = [-(-(at + size) // ALIGNMENT) * ALIGNMENT, *starts[(n := bisect_right(starts, at)) : n + 1]]
        if min(room) - at >= SIZE:
            places[at] = target
    at = next(iter(places), 0)
    if not at or program.read(at, SIZE).tobytes() == absolute_jump(places[at]):  # done, and not loaded anew since then
        return 0
    first = min(places) & -PAGE
    size = -(-(max(places) + SIZE) // PAGE) * PAGE - first
    program.system_call("mprotect", first, size, ALL)
    program.write_rows(list(places), [np.frombuffer(absolute_jump(target), np.uint8) for target in places.values()])
    program.system_call("mprotect", first, size, READ_EXECUTE)
    return len(places)
