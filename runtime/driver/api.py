"""What every driver call does around its work: results as tuples, errors as codes, handles for objects, the current context."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable
from enum import IntEnum
from typing import Any, ParamSpec, TypeVar

from warplab.assembler.diagnostics import PtxError

from ..api.table import ApiCall, driver_calls
from ..device.context import DeviceContext
from ..device.graphs.streams import LEGACY, PER_THREAD, DevicePart, DeviceStream
from ..device.machine import SimulatedDevice, machine
from ..device.state import DeviceState
from ..errors import ApiError, UsageError
from .tables.enums import CUresult

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=IntEnum)


class State(threading.local):
    """What belongs to one host thread."""

    def __init__(self) -> None:
        self.stack: list[DeviceContext | DevicePart] = []
        self.last: ApiError | None = None

    @property
    def top(self) -> DeviceContext | None:
        """The context that is current, or that of the part of a device that is."""
        found = self.stack[-1] if self.stack else None
        return found if found is None or isinstance(found, DeviceContext) else behind(found)

    @property
    def part(self) -> DevicePart | None:
        """The part of a device that is current."""
        found = self.stack[-1] if self.stack else None
        return found if isinstance(found, DevicePart) else None


def behind(found: DeviceState | DevicePart) -> DeviceContext:
    """A context, which modules and streams know as less than that, or that of a part of its device."""
    if isinstance(found, DeviceContext):
        return found
    assert isinstance(found, DevicePart)
    return behind(found.context)


STATE = State()
SUCCESS = CUresult.CUDA_SUCCESS
_ready: list[bool] = []


def initialise() -> None:
    """cuInit was called."""
    if not _ready:
        try:
            machine()
        except UsageError as e:
            raise ApiError("CUDA_ERROR_NO_DEVICE", str(e)) from None
        _ready.append(True)


def api(work: Callable[P, object]) -> Callable[P, tuple[Any, ...]]:
    """A function that returns its results, or raises ApiError, as the driver call of its name: (code, *results)."""

    row: ApiCall | None = None  # a start reads no row

    @functools.wraps(work)
    def call(*args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...]:
        nonlocal row
        row = row or driver_calls()[work.__name__]
        try:
            if not _ready and "early" not in row.words:
                raise ApiError("CUDA_ERROR_NOT_INITIALIZED", "cuInit comes first")
            if (top := STATE.top) is not None and top.alive and "calm" not in row.words:
                top.check()
            out = work(*args, **kwargs)
        except (ApiError, PtxError) as e:  # PtxError: of a kernel that is read when something looks at it
            STATE.last = e if isinstance(e, ApiError) else ApiError("CUDA_ERROR_INVALID_PTX", str(e))
            return (CUresult[STATE.last.name], *(None,) * len(row.results))
        return (SUCCESS, *given(out, row))

    return call


def given(out: Any, row: ApiCall) -> tuple[Any, ...]:
    """What a function returned, as the results of a call."""
    return () if not row.results else (out,) if len(row.results) == 1 else tuple(out)


def results_of(work: Callable[..., tuple[Any, ...]], *args: object) -> Any:
    """The results of a call: the one, or all of them; its failure as ApiError."""
    code, *results = work(*args)
    if code:
        found = STATE.last
        kind = ApiError if found is None else type(found)
        raise kind(code.name, found.message if found else "", found.cause if found else None)
    return results[0] if len(results) == 1 else tuple(results)


# ---------------------------------------------------------------- handles

_objects: dict[int, object] = {}
_handles: dict[int, int] = {}
_next = itertools.count(0x10_0000, 0x10)


def handle_of(thing: object) -> int:
    """The number that stands for an object."""
    found = _handles.get(id(thing))
    if found is None:
        found = _handles[id(thing)] = next(_next)
        _objects[found] = thing
    return found


def forget_all() -> None:
    """No handle stands for anything."""
    _objects.clear()
    _handles.clear()


def anything_of(handle: object) -> object:
    """The object that a handle stands for, of whatever kind; None where there is none."""
    return _objects.get(integer(handle))


def object_of(handle: object, kind: type[T], code: str = "CUDA_ERROR_INVALID_HANDLE") -> T:
    """The object that a handle stands for."""
    found = anything_of(handle)
    if not isinstance(found, kind):
        raise ApiError(code, f"{handle!r} stands for no {kind.__name__.removeprefix('Device')}")
    return found


def forget(thing: object) -> None:
    """The object is gone, and its handle with it."""
    number = _handles.pop(id(thing), None)
    if number is not None:
        del _objects[number]


def integer(value: object) -> int:
    """The number of an argument: an int, a handle, an enum member, None."""
    if value is None:
        return 0
    return int(value)  # type: ignore[call-overload, no-any-return]


def member(kind: type[E], value: object) -> E:
    """The member of an enum that an argument means."""
    try:
        return kind(integer(value))
    except ValueError:
        raise ApiError("CUDA_ERROR_INVALID_VALUE", f"{value!r} is no {kind.__name__}") from None


def text(value: object) -> str:
    """A name, given as bytes."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    raise ApiError("CUDA_ERROR_INVALID_VALUE", "a name is bytes")


# ---------------------------------------------------------------- contexts, streams, kernels


def device_of(dev: object) -> SimulatedDevice:
    """A device by its number."""
    return machine().device(integer(dev))


def current() -> DeviceContext:
    """The calling thread's context."""
    c = STATE.top
    if c is None:
        raise ApiError("CUDA_ERROR_INVALID_CONTEXT", "no context is current: cuCtxSetCurrent comes first")
    if not c.alive:
        raise ApiError("CUDA_ERROR_CONTEXT_IS_DESTROYED", "the current context was destroyed")
    return c


def context_of(handle: object) -> DeviceContext:
    """A context by its handle; the current one for null."""
    return behind(context_or_part(handle)) if integer(handle) else current()


def context_or_part(handle: object) -> DeviceContext | DevicePart:
    """A context by its handle, or a part of a device that stands for one."""
    found = anything_of(handle)
    return found if isinstance(found, DevicePart) else object_of(handle, DeviceContext, "CUDA_ERROR_INVALID_CONTEXT")


def stream_of(handle: object) -> DeviceStream:
    """A stream by its handle; 0, 1 and 2 are the default ones."""
    number = integer(handle)
    if number in (0, LEGACY):
        current()  # tells if there is none
        return STATE.stack[-1].legacy
    if number == PER_THREAD:
        return current().default_stream(PER_THREAD)
    s = object_of(handle, DeviceStream)
    if not s.alive:
        raise ApiError("CUDA_ERROR_CONTEXT_IS_DESTROYED", "the stream's context was destroyed")
    return s
