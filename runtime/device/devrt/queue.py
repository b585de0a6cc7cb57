"""The launches that kernels have queued.

A launch is a record in the device heap: its head, and behind it the parameters, which the kernel writes. The records form a list
that begins in a variable of the program, the last launch first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from warplab.interpreter.launch import Dim3
from warplab.interpreter.memory.arena import Arena
from warplab.interpreter.program import LoadedProgram

from ..memory.heap import DeviceHeap

QUEUE = "cnpQueue"
HEAD = struct.Struct("<QQQ7I")  # the launch before, the kernel's address, the stream, grid, block, dynamic shared memory
PARAMETERS = 64  # where they begin in a record
MOST = 4096  # bytes of them
TAIL = 3  # the stream of launches that begin when the kernel and all its others have ended


@dataclass(frozen=True, slots=True)
class DeviceLaunch:
    """A launch that a kernel has queued."""

    kernel: str  # empty where the address is not a function's
    grid: Dim3
    block: Dim3
    dynamic_shared: int
    parameters: bytes  # and what stands behind them
    stream: int
    graph: int = 0  # the handle of a graph that it is, in place of a kernel


def queued(program: LoadedProgram, arena: Arena, heap: DeviceHeap) -> list[DeviceLaunch]:
    """What a kernel that has ended has launched, in order, but last what is to follow all others."""
    if QUEUE not in program.variables:
        return []
    begin = program.address(program.variables[QUEUE]) - arena.base
    found, at = [], int(arena.bytes[begin : begin + 8].view("<u8")[0])
    arena.bytes[begin : begin + 8] = 0
    while at:
        raw = arena.bytes[at - arena.base :][: PARAMETERS + MOST].tobytes()
        heap.free(at)
        at, address, stream, *sizes = HEAD.unpack_from(raw)
        x, y, z, width, height, depth, shared = sizes
        function = program.function_at(address) if x else None
        name = function.name if function is not None else ""
        found.append(DeviceLaunch(name, (x, y, z), (width, height, depth), shared, raw[PARAMETERS:], stream, 0 if x else address))
    found.reverse()
    return sorted(found, key=lambda one: one.stream == TAIL)
