"""Driver calls that raise: what the driver face tells as a code, this face tells as an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from ..driver.api import initialise, results_of
from ..errors import ApiError

CUDAError = ApiError


class IsStreamType(Protocol):
    """What other packages' streams offer, and Stream does."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """(0, handle)."""


class Given:
    """What another object's call gives; the class itself is not called."""

    _origin: ClassVar[str]

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(self._origin)


class Closable(Given):
    """A handle of the driver's, until it is closed."""

    _handle: Any | None
    _null: ClassVar[Any]  # makes the handle that is shown from then on
    _destroy: ClassVar[Callable[..., Any]]

    def close(self) -> None:
        """Destroys it."""
        if self._handle is not None:
            do(self._destroy, self._handle)
            self._handle = None

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    @property
    def handle(self) -> Any:
        """The driver's handle."""
        return self._handle if self._handle is not None else self._null(0)


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
