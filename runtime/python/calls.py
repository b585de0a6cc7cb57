"""Driver calls that raise: what the driver face tells as a code, this face tells as an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..driver.api import STATE, initialise
from ..driver.enums import CUresult
from ..errors import ApiError

CUDAError = ApiError


def do(work: Callable[..., tuple[Any, ...]], *args: object) -> Any:
    """The results of a driver call."""
    initialise()
    code, *results = work(*args)
    if code:
        found = STATE.last
        raise ApiError(code.name, found.message if found else "", found.cause if found else None)
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def raised(code: str, message: str) -> ApiError:
    """An error of a given name."""
    assert code in CUresult.__members__
    return ApiError(code, message)
