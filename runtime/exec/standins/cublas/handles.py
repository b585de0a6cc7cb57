"""cuBLAS's handles: the stream, where scalars and results are, and other settings; copies of vectors and matrices between host and device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ....api.libraries import functions
from ....cudart.api import context
from ....device.memory.boxes import Side, copy_box
from ....device.memory.host import host
from ...handlers.special import DRIVER_VERSION, HandledCall
from ..calls import StandIn, read_host, wait_for_stream, work_in
from ..memory import LETTERS, Array, NumberType, vector

CUBLAS = StandIn("cuBLAS", not_initialized=1, invalid_value=7, failed=13, not_supported=15)
HOST_POINTERS, DEVICE_POINTERS = 0, 1
VERSION = (13, 0, 0)
STATUSES = {
    0: ("CUBLAS_STATUS_SUCCESS", "success"),
    1: ("CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"),
    3: ("CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"),
    7: ("CUBLAS_STATUS_INVALID_VALUE", "an invalid value was passed"),
    8: ("CUBLAS_STATUS_ARCH_MISMATCH", "the function requires an architectural feature absent from the architecture of the device"),
    11: ("CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"),
    13: ("CUBLAS_STATUS_EXECUTION_FAILED", "the function failed to launch on the GPU"),
    14: ("CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"),
    15: ("CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"),
    16: ("CUBLAS_STATUS_LICENSE_ERROR", "the functionality requested requires some license"),
}
SETTINGS = ("PointerMode", "AtomicsMode", "MathMode", "SmCountTarget")


@dataclass
class BlasHandle:
    """What calls share."""

    stream: int = 0
    settings: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SETTINGS, 0))

    @property
    def on_host(self) -> bool:
        """Are scalars and results in the host's memory?"""
        return self.settings["PointerMode"] == HOST_POINTERS


def handle_of(c: HandledCall) -> BlasHandle:
    """The handle of a call."""
    return CUBLAS.object(c.given["handle"], BlasHandle)


def letter_of(c: HandledCall, name: str) -> NumberType:
    """The type that the name of a function has behind "cublas"."""
    return LETTERS[name.removeprefix("cublas").removeprefix("I")[0].upper()]


def both(*names: str) -> tuple[str, ...]:
    """Functions, and their twins with lengths of 64 bits, where there are such."""
    known = {f.name for f in functions("cublas")}
    return (*names, *(twin for name in names if (twin := f"{name}_64") in known))


def scalar(h: BlasHandle, address: int, kind: NumberType) -> Callable[[], Any]:
    """A scalar: what the host has is read now, what a device has when the work is done."""
    CUBLAS.check(address != 0)
    if h.on_host:
        value = kind.load(read_host(address, kind.stored))[0]
        return lambda: value
    return lambda: kind.load(vector(address, 1, 1, kind, False))[0]


def give(h: BlasHandle, address: int, kind: NumberType, compute: Callable[[], Any]) -> None:
    """Computes a result, in the order of the stream; the host waits for one that it gets itself."""
    CUBLAS.check(address != 0)
    if not h.on_host:
        work_in(h.stream, lambda: kind.store(vector(address, 1, 1, kind), compute()))
        return
    found: list[Array] = []

    def work() -> None:
        out = np.zeros(1, kind.stored)
        kind.store(out, compute())
        found.append(out)

    work_in(h.stream, work)
    wait_for_stream(h.stream)
    if found:
        host().write(address, found[0].view(np.uint8))


# ---------------------------------------------------------------- handles


@CUBLAS.answers("cublasCreate_v2")
def create(c: HandledCall) -> None:
    """A new handle."""
    context()
    CUBLAS.check(c.given["handle"] != 0)
    c.out("handle", "ptr", CUBLAS.made(BlasHandle()))


@CUBLAS.answers("cublasDestroy_v2")
def destroy(c: HandledCall) -> None:
    """The end of a handle."""
    h = handle_of(c)
    wait_for_stream(h.stream)
    del CUBLAS.objects[c.given["handle"]]


@CUBLAS.answers("cublasGetVersion_v2")
def version(c: HandledCall) -> None:
    """The release that the stand-in passes for."""
    c.out("version", "i32", VERSION[0] * 10000 + VERSION[1] * 100 + VERSION[2])


@CUBLAS.answers("cublasGetProperty")
def release(c: HandledCall) -> None:
    """A part of the release."""
    CUBLAS.check(0 <= c.given["type"] < 3)
    c.out("value", "i32", VERSION[c.given["type"]])


@CUBLAS.answers("cublasGetCudartVersion")
def runtime_version(c: HandledCall) -> int:
    """The release of the runtime."""
    return DRIVER_VERSION


@CUBLAS.answers("cublasSetStream_v2")
def set_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    handle_of(c).stream = c.given["streamId"]


@CUBLAS.answers("cublasGetStream_v2")
def get_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    c.out("streamId", "ptr", handle_of(c).stream)


@CUBLAS.answers("cublasSetWorkspace_v2")
def set_workspace(c: HandledCall) -> None:
    """Memory to work in, which nothing here needs."""
    handle_of(c)


def _setting(name: str) -> None:
    ending = "_v2" if name == "PointerMode" else ""

    @CUBLAS.answers(f"cublasSet{name}{ending}")
    def set_(c: HandledCall) -> None:
        handle_of(c).settings[name] = c.given["mode"]

    @CUBLAS.answers(f"cublasGet{name}{ending}")
    def get(c: HandledCall) -> None:
        c.out("mode", "i32", handle_of(c).settings[name])


for _name in SETTINGS:
    _setting(_name)


@CUBLAS.answers("cublasGetStatusName")
def status_name(c: HandledCall) -> int:
    """The name of a code."""
    return c.strings.string(STATUSES.get(c.given["status"], ("CUBLAS_STATUS_UNKNOWN", ""))[0].encode())


@CUBLAS.answers("cublasGetStatusString")
def status_text(c: HandledCall) -> int:
    """What a code means."""
    return c.strings.string(STATUSES.get(c.given["status"], ("", "unknown error"))[1].encode())


# ---------------------------------------------------------------- copies


def _moved(c: HandledCall, source: Side, target: Side, width: int, height: int) -> None:
    work = partial(copy_box, source, target, width, height, 1)
    stream = c.given.get("stream", 0)
    work_in(stream, work)
    if "stream" not in c.given:
        wait_for_stream(stream)


@CUBLAS.answers(*both(*(f"cublas{way}Vector{end}" for way in ("Set", "Get") for end in ("", "Async"))))
def move_vector(c: HandledCall) -> None:
    """Copies a vector, whose elements are rows of a rectangle."""
    g = c.given
    CUBLAS.check(g["elemSize"] > 0 and g["incx"] > 0 and g["incy"] > 0)
    size = g["elemSize"]
    if g["n"] > 0:
        _moved(c, Side(None, g["x"], g["incx"] * size), Side(None, g["y"], g["incy"] * size), size, g["n"])


@CUBLAS.answers(*both(*(f"cublas{way}Matrix{end}" for way in ("Set", "Get") for end in ("", "Async"))))
def move_matrix(c: HandledCall) -> None:
    """Copies a matrix, column by column."""
    g = c.given
    CUBLAS.check(g["elemSize"] > 0 and g["lda"] >= max(g["rows"], 1) and g["ldb"] >= max(g["rows"], 1))
    size = g["elemSize"]
    if g["rows"] > 0 and g["cols"] > 0:
        _moved(c, Side(None, g["A"], g["lda"] * size), Side(None, g["B"], g["ldb"] * size), g["rows"] * size, g["cols"])
