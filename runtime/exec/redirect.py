"""Programs with NVIDIA's runtime linked in: its functions get a jump to ours over their beginnings, before any of them has run."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

from . import maps
from .process import MACHINE, PAGE, HostProgram

MARKER = "__cudaRegisterFatBinary"
READ_EXECUTE, ALL = 5, 7  # protections
SIZES = {"x86_64": 14, "aarch64": 16}


def static_runtimes(pid: int) -> list[tuple[maps.MappedObject, dict[str, tuple[int, int]]]]:
    """The objects of a process that define the runtime's functions themselves, with all that they define."""
    return [(o, found) for o in maps.objects(pid) if MARKER in (found := maps.symbols(o, MARKER))]


def absolute_jump(target: int) -> bytes:
    """Machine code that goes to any address."""
    if MACHINE == "x86_64":
        return b"\xff\x25\0\0\0\0" + struct.pack("<Q", target)  # jmp *0(%rip)
    return struct.pack("<IIQ", 0x5800_0051, 0xD61F_0220, target)  # ldr x17, #8; br x17


def redirect(program: HostProgram, found: Mapping[str, tuple[int, int]], targets: Mapping[str, int]) -> int:
    """Overwrites the beginnings of the functions of one object for which there is a target; says how many."""
    places = {found[name][0]: target for name, target in targets.items() if name in found and found[name][1] >= SIZES[MACHINE]}
    if not places:
        return 0
    first = min(places) & -PAGE
    size = -(-(max(places) + SIZES[MACHINE]) // PAGE) * PAGE - first
    program.system_call("mprotect", first, size, ALL)
    program.write_rows(list(places), [np.frombuffer(absolute_jump(target), np.uint8) for target in places.values()])
    program.system_call("mprotect", first, size, READ_EXECUTE)
    return len(places)
