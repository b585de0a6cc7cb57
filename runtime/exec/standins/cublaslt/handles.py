"""cuBLASLt's handles and version."""

from __future__ import annotations

from ....cudart.api import context
from ...handlers.special import DRIVER_VERSION, HandledCall
from ..calls import StandIn
from ..cublas.handles import STATUSES, VERSION

LIBRARY = StandIn("cuBLASLt", not_initialized=1, invalid_value=7, failed=13, not_supported=15)


class LightHandle:
    """What calls share."""


@LIBRARY.answers("cublasLtCreate")
def create(c: HandledCall) -> None:
    """A new handle."""
    context()
    c.out("lightHandle", "ptr", LIBRARY.made(LightHandle()))


@LIBRARY.answers("cublasLtDestroy")
def destroy(c: HandledCall) -> None:
    """The end of a handle."""
    LIBRARY.object(c.given["lightHandle"], LightHandle)
    del LIBRARY.objects[c.given["lightHandle"]]


@LIBRARY.answers("cublasLtGetVersion")
def version(c: HandledCall) -> int:
    """The release that the stand-in passes for."""
    return VERSION[0] * 10000 + VERSION[1] * 100 + VERSION[2]


@LIBRARY.answers("cublasLtGetCudartVersion")
def runtime_version(c: HandledCall) -> int:
    """The release of the runtime."""
    return DRIVER_VERSION


@LIBRARY.answers("cublasLtGetProperty")
def release(c: HandledCall) -> None:
    """A part of the release."""
    LIBRARY.check(0 <= c.given["type"] < 3)
    c.out("value", "i32", VERSION[c.given["type"]])


@LIBRARY.answers("cublasLtGetStatusName")
def status_name(c: HandledCall) -> int:
    """The name of a code."""
    return c.strings.string(STATUSES.get(c.given["status"], ("CUBLAS_STATUS_UNKNOWN", ""))[0].encode())


@LIBRARY.answers("cublasLtGetStatusString")
def status_text(c: HandledCall) -> int:
    """What a code means."""
    return c.strings.string(STATUSES.get(c.given["status"], ("", "unknown error"))[1].encode())
