"""cuSOLVER's handles, and settings on which no result depends."""

from __future__ import annotations

from dataclasses import dataclass

from ....cudart.api import context
from ...handlers.special import HandledCall
from ..calls import StandIn

CUSOLVER = StandIn("cuSOLVER", not_initialized=1, invalid_value=3, failed=6, not_supported=9)
VERSION = (12, 0, 0)


@dataclass
class SolverHandle:
    """What calls share."""

    stream: int = 0


@dataclass
class SolverParams:
    """Settings of an algorithm."""


def solver_of(c: HandledCall) -> SolverHandle:
    """The handle of a call."""
    return CUSOLVER.object(c.given["handle"], SolverHandle)


@CUSOLVER.answers("cusolverDnCreate")
def create(c: HandledCall) -> None:
    """A new handle."""
    context()
    c.out("handle", "ptr", CUSOLVER.made(SolverHandle()))


@CUSOLVER.answers("cusolverDnDestroy")
def destroy(c: HandledCall) -> None:
    """The end of a handle."""
    solver_of(c)
    del CUSOLVER.objects[c.given["handle"]]


@CUSOLVER.answers("cusolverDnSetStream")
def set_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    solver_of(c).stream = c.given["streamId"]


@CUSOLVER.answers("cusolverDnGetStream")
def get_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    c.out("streamId", "ptr", solver_of(c).stream)


@CUSOLVER.answers("cusolverDnSetDeterministicMode")
def deterministic(c: HandledCall) -> None:
    """All results are the same every time."""
    solver_of(c)


@CUSOLVER.answers("cusolverGetVersion")
def version(c: HandledCall) -> None:
    """The release that the stand-in passes for."""
    c.out("version", "i32", VERSION[0] * 1000 + VERSION[1] * 100 + VERSION[2])


@CUSOLVER.answers("cusolverGetProperty")
def release(c: HandledCall) -> None:
    """A part of the release."""
    CUSOLVER.check(0 <= c.given["type"] < 3)
    c.out("value", "i32", VERSION[c.given["type"]])


@CUSOLVER.answers("cusolverDnCreateParams", "cusolverDnCreateSyevjInfo", "cusolverDnCreateGesvdjInfo")
def create_params(c: HandledCall) -> None:
    """New settings."""
    c.out("params", "ptr", CUSOLVER.made(SolverParams()))


@CUSOLVER.answers("cusolverDnDestroyParams", "cusolverDnDestroySyevjInfo", "cusolverDnDestroyGesvdjInfo")
def destroy_params(c: HandledCall) -> None:
    """The end of settings."""
    CUSOLVER.object(c.given["params"], SolverParams)
    del CUSOLVER.objects[c.given["params"]]


@CUSOLVER.answers(
    "cusolverDnSetAdvOptions", "cusolverDnXsyevjSetTolerance", "cusolverDnXgesvdjSetTolerance", "cusolverDnXsyevjSetMaxSweeps",
    "cusolverDnXgesvdjSetMaxSweeps", "cusolverDnXsyevjSetSortEig", "cusolverDnXgesvdjSetSortEig",
)  # fmt: skip
def set_params(c: HandledCall) -> None:
    """Settings, of which the exact methods need none."""
    CUSOLVER.object(c.given["params"], SolverParams)
