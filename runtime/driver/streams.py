"""The driver's calls about streams, and what else runs in their order: host functions, words in memory."""

from __future__ import annotations

import ctypes
from typing import Any

from warplab.interpreter.faults import Deadlock

from ..device.graphs.pending import HOST, Steps
from ..device.graphs.streams import CAPTURE_MODE, DeviceStream, announced, refuse_unfinished
from ..device.memory.allocations import SPACE
from ..device.memory.host import host
from ..errors import invalid, unsupported
from .api import STATE, api, current, forget, handle_of, integer, member, object_of, stream_of
from .graphs.graphs import queue, uncaptured
from .memory.pointers import managed_range
from .tables.enums import CUresult, CUstreamAttrID, CUstreamCaptureMode
from .tables.structs import CUcontext, CUdevice, CUgreenCtx, CUlaunchAttributeValue, CUstream

PRIORITIES = (-5, 0)


def new_stream(flags: int, priority: int) -> CUstream:
    """A new stream of the current context."""
    if flags not in (0, 1):
        raise invalid(f"flags {flags:#x}")
    c = current()
    c.check()
    priority = max(PRIORITIES[0], min(PRIORITIES[1], priority))
    if STATE.part is not None:
        return CUstream(handle_of(STATE.part.stream(flags, priority)))
    s = DeviceStream(c, flags, priority)
    c.streams.append(s)
    return CUstream(handle_of(s))


@api
def cuStreamCreate(Flags: object) -> CUstream:
    """A new stream."""
    return new_stream(integer(Flags), 0)


@api
def cuStreamCreateWithPriority(flags: object, priority: object) -> CUstream:
    """A new stream; the priority is kept within the device's range."""
    return new_stream(integer(flags), integer(priority))


@api
def cuStreamDestroy(hStream: object) -> None:
    """Ends a stream; its work is done all the same."""
    s = object_of(hStream, DeviceStream)
    s.alive = False
    if s in s.context.streams:
        s.context.streams.remove(s)
    forget(s)


@api
def cuStreamSynchronize(hStream: object) -> None:
    """Waits for the stream's work."""
    s = uncaptured(stream_of(hStream), "it is waited for")
    s.context.synchronize(s)


@api
def cuStreamQuery(hStream: object) -> None:
    """Is all work done?  Or what went wrong in it."""
    s = uncaptured(stream_of(hStream), "it is asked whether it is done")
    refuse_unfinished(s.context, s)
    s.context.tell()
    s.context.over(s)


@api
def cuStreamGetFlags(hStream: object) -> int:
    """The flags that the stream was made with."""
    return stream_of(hStream).flags


@api
def cuStreamGetPriority(hStream: object) -> int:
    """The stream's priority."""
    return stream_of(hStream).priority


@api
def cuStreamGetId(hStream: object) -> int:
    """A number that no other stream has."""
    return stream_of(hStream).number


@api
def cuStreamGetCtx(hStream: object) -> CUcontext:
    """The stream's context, or the part of a device that stands for one."""
    s = stream_of(hStream)
    return CUcontext(handle_of(s.part or s.context))


@api
def cuStreamGetCtx_v2(hStream: object) -> tuple[CUcontext, CUgreenCtx]:
    """The stream's context, and the part of a device that it belongs to."""
    s = stream_of(hStream)
    return CUcontext(handle_of(s.context)), CUgreenCtx(handle_of(s.part) if s.part is not None else 0)


@api
def cuStreamGetDevice(hStream: object) -> CUdevice:
    """The stream's device."""
    return CUdevice(stream_of(hStream).context.ordinal)


@api
def cuThreadExchangeStreamCaptureMode(mode: object) -> CUstreamCaptureMode:
    """Sets the thread's mode, which decides what captures forbid it; gives the one that was in force."""
    before, CAPTURE_MODE.now = CAPTURE_MODE.now, int(member(CUstreamCaptureMode, mode))
    return CUstreamCaptureMode(before)


@api
def cuStreamAttachMemAsync(hStream: object, dptr: object, length: object, flags: object) -> None:
    """Says which stream uses managed memory; any may, at any time."""
    stream_of(hStream)
    managed_range(integer(dptr), integer(length))


@api
def cuStreamGetAttribute(hStream: object, attr: object) -> CUlaunchAttributeValue:
    """One attribute of a stream."""
    s, out = stream_of(hStream), CUlaunchAttributeValue()
    which = member(CUstreamAttrID, attr)
    raw = s.attributes.get(which)
    if raw is not None:
        ctypes.memmove(out.getPtr(), raw, len(raw))
    elif which.name.endswith("PRIORITY"):
        out.priority = s.priority
    elif which.name.endswith("SYNCHRONIZATION_POLICY"):
        out.syncPolicy = 1
    return out


@api
def cuStreamSetAttribute(hStream: object, attr: object, value: CUlaunchAttributeValue | None) -> None:
    """Sets an attribute of a stream, of which no result depends."""
    s = stream_of(hStream)
    which = member(CUstreamAttrID, attr)
    if value is None:
        raise invalid("the value is null")
    if which.name.endswith("PRIORITY"):
        s.priority = max(PRIORITIES[0], min(PRIORITIES[1], value.priority))
    s.attributes[which] = ctypes.string_at(value.getPtr(), 64)


@api
def cuStreamCopyAttributes(dst: object, src: object) -> None:
    """Copies all attributes."""
    stream_of(dst).attributes = dict(stream_of(src).attributes)


def call_host(fn: Any, user_data: object) -> None:
    """Calls a function of the host: a Python callable, a ctypes one, or the address of one in C."""
    if callable(fn):
        fn(user_data)
    else:
        host().call(integer(fn), integer(user_data))


@api
def cuLaunchHostFunc(hStream: object, fn: object, userData: object) -> None:
    """Calls a function of the host in the stream's order."""
    queue(hStream, HOST, lambda: call_host(fn, userData))


@api
def cuLaunchHostFunc_v2(hStream: object, fn: object, userData: object, syncMode: object) -> None:
    """As cuLaunchHostFunc."""
    queue(hStream, HOST, lambda: call_host(fn, userData))


@api
def cuStreamAddCallback(hStream: object, callback: Any, userData: object, flags: object) -> None:
    """Calls back with the stream, the state of its work, and the caller's data; also where the work went wrong."""
    s = uncaptured(stream_of(hStream), "a callback is added")
    if integer(flags):
        raise invalid("the flags must be 0")

    def call_back() -> None:
        failed = s.context.pending or s.context.error
        code = CUresult[failed.name] if failed else CUresult.CUDA_SUCCESS
        if callable(callback):
            callback(hStream, code, userData)
        else:
            host().call(integer(callback), integer(hStream), int(code), integer(userData))

    announced(s, HOST, call_back)


def _word(stream: object, addr: object, bits: int) -> tuple[DeviceStream, Any]:
    s = stream_of(stream)
    if s.capture is not None:
        raise unsupported("words in memory as a part of graphs")
    return s, SPACE.device_bytes(integer(addr), bits // 8).view(f"u{bits // 8}")


def _wait(stream: object, addr: object, value: object, flags: object, bits: int) -> None:
    s, view = _word(stream, addr, bits)
    mask = (1 << bits) - 1
    want, how = integer(value) & mask, integer(flags) & 3

    def is_met() -> bool:
        have = int(view[0])
        return (
            ((have - want) & mask) < 1 << (bits - 1) if how == 0 else have == want if how == 1
            else bool(have & want) if how == 2 else bool(~(have | want) & mask)
        )  # fmt: skip

    def until_met() -> Steps:
        while not is_met():
            yield Deadlock("", moved=False, note=f"it waits for the value {want} at {integer(addr):#x}")

    if not s.context.broken:
        announced(s, "WAIT_VALUE", until_met)


def _write(stream: object, addr: object, value: object, bits: int) -> None:
    s, view = _word(stream, addr, bits)

    def write() -> None:
        view[0] = integer(value) & ((1 << bits) - 1)

    if not s.context.broken:
        announced(s, "WRITE_VALUE", write)


@api
def cuStreamWaitValue32(stream: object, addr: object, value: object, flags: object) -> None:
    """The stream's later work waits for a word in memory."""
    _wait(stream, addr, value, flags, 32)


@api
def cuStreamWaitValue64(stream: object, addr: object, value: object, flags: object) -> None:
    """As cuStreamWaitValue32, for 64 bits."""
    _wait(stream, addr, value, flags, 64)


@api
def cuStreamWriteValue32(stream: object, addr: object, value: object, flags: object) -> None:
    """Writes a word in the stream's order."""
    _write(stream, addr, value, 32)


@api
def cuStreamWriteValue64(stream: object, addr: object, value: object, flags: object) -> None:
    """As cuStreamWriteValue32, for 64 bits."""
    _write(stream, addr, value, 64)
