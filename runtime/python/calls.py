"""Driver calls that raise: what the driver face tells as a code, this face tells as an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..driver.api import initialise, results_of
from ..driver.enums import CUresult
from ..errors import ApiError

CUDAError = ApiError


class IsStreamType(Protocol):
    """What other packages' streams offer, and Stream does."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """(0, handle)."""


def stream_handle(stream: IsStreamType | None) -> int:
    """The driver's handle of a stream, 0 for none."""
    return 0 if stream is None else needed_handle(stream)


def needed_handle(stream: IsStreamType | None) -> int:
    """The driver's handle of a stream that must be given."""
    if stream is None or not hasattr(stream, "__cuda_stream__"):
        raise TypeError(f"a Stream is needed, not {type(stream).__name__}")
    return stream.__cuda_stream__()[1]


def do(work: Callable[..., tuple[Any, ...]], *args: object) -> Any:
    """The results of a driver call."""
    initialise()
    return results_of(work, *args)


def raised(code: str, message: str) -> ApiError:
    """An error of a given name."""
    assert code in CUresult.__members__
    return ApiError(code, message)
