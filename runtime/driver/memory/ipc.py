"""The driver's calls about memory and events that processes share."""

from __future__ import annotations

import os
import struct
from typing import Any

from ...device.graphs.streams import DeviceEvent
from ...device.memory.allocations import SPACE, DeviceArena
from ...device.memory.sharing import SHARING, unpacked
from ...errors import ApiError, invalid
from ..api import api, current, handle_of, integer
from ..events import event_of
from ..tables.structs import CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle

EVENT = b"WLEVENT1"
INTERPROCESS = 4  # a flag of events
LAZY_PEER_ACCESS = 1


@api
def cuIpcGetMemHandle(dptr: object) -> CUipcMemHandle:
    """What another process needs to use an allocation."""
    current()
    b = SPACE.buffer_at(integer(dptr))
    if b is None:
        raise invalid(f"no allocation holds {integer(dptr):#x}")
    out = CUipcMemHandle()
    out.reserved = SHARING.give(b).packed()
    return out


@api
def cuIpcOpenMemHandle(handle: Any, Flags: object) -> CUdeviceptr:
    """Another process's allocation, in this one."""
    c = current()
    if integer(Flags) & ~LAZY_PEER_ACCESS:
        raise invalid(f"flags {integer(Flags):#x}")
    shared = unpacked(bytes(handle.reserved))
    assert isinstance(c.arena, DeviceArena)
    return CUdeviceptr(SHARING.take(shared, c, c.arena))


@api
def cuIpcCloseMemHandle(dptr: object) -> None:
    """Another process's allocation is no longer used here."""
    current().synchronize()
    SHARING.close(integer(dptr))


@api
def cuIpcGetEventHandle(event: object) -> CUipcEventHandle:
    """What another process needs to wait for an event."""
    e = event_of(event)
    if not e.flags & INTERPROCESS:
        raise invalid("the event was made without CU_EVENT_INTERPROCESS")
    out = CUipcEventHandle()
    out.reserved = (EVENT + struct.pack("<I", os.getpid())).ljust(64, b"\0")
    return out


@api
def cuIpcOpenEventHandle(handle: Any) -> CUevent:
    """Another process's event: work runs when it is given, so whatever was recorded there has been reached."""
    raw, c = bytes(handle.reserved), current()
    if not raw.startswith(EVENT):
        raise invalid("the handle is none of another process's event")
    (process,) = struct.unpack_from("<I", raw, len(EVENT))
    if process == os.getpid():
        raise ApiError("CUDA_ERROR_INVALID_CONTEXT", "the process that has made a handle has the event already")
    e = DeviceEvent(c, INTERPROCESS | 2)
    c.events.append(e)
    return CUevent(handle_of(e))
