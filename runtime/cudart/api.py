"""What every runtime call does around the driver calls that it makes: a context when one is needed, codes, the last error."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec

from ..api.table import ApiCall, runtime_calls
from ..device.context import DeviceContext
from ..device.machine import SimulatedDevice, machine
from ..driver.api import STATE, current, given, initialise, results_of
from ..driver.tables.enums import CUresult
from ..errors import ApiError
from .enums import cudaError_t

P = ParamSpec("P")
_retained: set[int] = set()
# Where the runtime's code has another number than the driver's.
_OTHER = {"CUDA_ERROR_INVALID_CONTEXT": cudaError_t.cudaErrorDeviceUninitialized}


class Runtime(threading.local):
    """What belongs to one host thread."""

    def __init__(self) -> None:
        self.device = 0
        self.copy: object = None  # which of a program's runtimes is called: each has a last error of its own
        self._last: dict[object, cudaError_t] = {}
        self.configurations: list[tuple[Any, Any, int, int]] = []  # grid, block, shared memory, stream of launches that follow

    @property
    def last(self) -> cudaError_t:
        """The last error."""
        return self._last.get(self.copy, cudaError_t.cudaSuccess)

    @last.setter
    def last(self, code: cudaError_t) -> None:
        self._last[self.copy] = code

    @property
    def is_calm(self) -> bool:
        """Has none of them one?"""
        return not any(self._last.values())


RUNTIME = Runtime()


def forget_contexts() -> None:
    """The runtime holds no context."""
    _retained.clear()


def code_of(e: ApiError) -> cudaError_t:
    """The runtime's code for what a driver call said."""
    if e.name.startswith("cuda"):
        return cudaError_t[e.name]
    if e.name in _OTHER:
        return _OTHER[e.name]
    return cudaError_t(CUresult[e.name].value)


def api(work: Callable[P, object]) -> Callable[P, tuple[Any, ...]]:
    """A function that returns its results, or raises ApiError, as the runtime call of its name: (code, *results)."""

    row: ApiCall | None = None  # a start reads no row

    @functools.wraps(work)
    def call(*args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...]:
        nonlocal row
        row = row or runtime_calls()[work.__name__]
        try:
            initialise()
            out = work(*args, **kwargs)
        except ApiError as e:
            code = code_of(e)
            STATE.last = e
            if code is not cudaError_t.cudaErrorNotReady and "calm" not in row.words:
                RUNTIME.last = code
            return (code, *(None,) * len(row.results))
        return (cudaError_t.cudaSuccess, *given(out, row))

    return call


def device() -> SimulatedDevice:
    """The calling thread's device."""
    return machine().device(RUNTIME.device)


def context() -> DeviceContext:
    """The primary context of the thread's device, made at the first call that needs one; or what the driver API made current."""
    d = device()
    if (top := STATE.top) is not None and top.alive and top.ordinal == d.ordinal:
        return current()
    if d.primary is None or d.ordinal not in _retained:
        d.retain()
        _retained.add(d.ordinal)
    assert d.primary is not None
    STATE.stack[-1:] = [d.primary]
    return d.primary


def call(work: Callable[..., tuple[Any, ...]], *args: object) -> Any:
    """The results of a driver call in the thread's context; its failure as ApiError."""
    context()
    return results_of(work, *args)
