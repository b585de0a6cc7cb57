"""Launches as programs wrote them before CUDA 4: a kernel keeps its block and its parameters from call to call, until a launch names the grid."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from warplab.interpreter.launch import Dim3

from ..device.memory.host import host
from ..device.modules.kernels import KernelHandle, LaunchShape
from ..errors import invalid
from .api import api, integer
from .launching import start
from .modules.libraries import kernel_of

MOST = 4096  # bytes of parameters


@dataclass(eq=False)
class PreparedLaunch:
    """What was said of the next launch of a kernel."""

    block: Dim3 = (1, 1, 1)
    shared: int = 0
    size: int = 0  # of the parameters
    parameters: bytearray = field(default_factory=lambda: bytearray(MOST))


_PREPARED: WeakKeyDictionary[KernelHandle, PreparedLaunch] = WeakKeyDictionary()


def _of(function: object) -> PreparedLaunch:
    return _PREPARED.setdefault(kernel_of(function), PreparedLaunch())


def _put(function: object, offset: object, value: bytes) -> None:
    at = integer(offset)
    if not 0 <= at <= MOST - len(value):
        raise invalid(f"{len(value)} bytes at offset {at}; a kernel has at most {MOST} bytes of parameters")
    _of(function).parameters[at : at + len(value)] = value


def _launch(function: object, grid: Dim3, stream: object) -> None:
    p = _of(function)
    start(kernel_of(function), LaunchShape(grid, p.block, p.shared), stream, bytes(p.parameters[: p.size]))


@api
def cuFuncSetBlockShape(hfunc: object, x: object, y: object, z: object) -> None:
    """The block of the launches that follow."""
    block = integer(x), integer(y), integer(z)
    if min(block) < 1:
        raise invalid(f"block {block}")
    _of(hfunc).block = block


@api
def cuFuncSetSharedSize(hfunc: object, numbytes: object) -> None:
    """The dynamic shared memory of the launches that follow."""
    _of(hfunc).shared = integer(numbytes)


@api
def cuParamSetSize(hfunc: object, numbytes: object) -> None:
    """How many bytes of parameters the launches that follow have."""
    size = integer(numbytes)
    if size > MOST:
        raise invalid(f"{size} bytes; a kernel has at most {MOST} bytes of parameters")
    _of(hfunc).size = size


@api
def cuParamSeti(hfunc: object, offset: object, value: object) -> None:
    """A parameter of four bytes."""
    _put(hfunc, offset, struct.pack("<I", integer(value) & 0xFFFFFFFF))


@api
def cuParamSetf(hfunc: object, offset: object, value: float) -> None:
    """A parameter in single precision."""
    _put(hfunc, offset, struct.pack("<f", value))


@api
def cuParamSetv(hfunc: object, offset: object, ptr: object, numbytes: object) -> None:
    """A parameter of any size."""
    if not integer(ptr):
        raise invalid("the pointer is null")
    _put(hfunc, offset, host().read(integer(ptr), integer(numbytes)).tobytes())


@api
def cuLaunch(f: object) -> None:
    """Launches one block."""
    _launch(f, (1, 1, 1), 0)


@api
def cuLaunchGrid(f: object, grid_width: object, grid_height: object) -> None:
    """Launches a grid."""
    _launch(f, (integer(grid_width), integer(grid_height), 1), 0)


@api
def cuLaunchGridAsync(f: object, grid_width: object, grid_height: object, hStream: object) -> None:
    """Launches a grid into a stream."""
    _launch(f, (integer(grid_width), integer(grid_height), 1), hStream)
