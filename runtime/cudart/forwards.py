"""The runtime's calls that are a driver's call under another name: the driver does the work and describes it."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any

from .. import driver
from ..api.table import ApiCall, CParameter
from ..driver.api import results_of
from ..driver.tables.layout import Handle
from . import enums, structs
from .api import api, call

_PLAIN: dict[str, Callable[[Any], Any]] = {"f32": float, "f64": float, "chars": bytes}


def _become(p: CParameter) -> Callable[[Any], Any]:
    """What a result of the driver becomes."""
    if p.count and p.type != "chars":
        return lambda value: value
    if p.type == "void":
        return lambda value: value if isinstance(value, list) else int(value)
    kind: Any = structs.OWN.get(p.type)
    if kind is None:
        enum = enums.OWN.get(p.type)
        return _PLAIN.get(p.type, int) if enum is None else lambda value: enum(int(value))
    return kind if issubclass(kind, Handle) else lambda value: _as(kind, value)


def _as(kind: Callable[[], Any], value: Any) -> Any:
    """A structure of the driver as the runtime's, which has the same form."""
    out = kind()
    ctypes.memmove(out.getPtr(), value.getPtr(), ctypes.sizeof(value.c_type))
    return out


def forward(row: ApiCall) -> Callable[..., tuple[Any, ...]]:
    """The function of a row that names a driver's call."""
    work: Callable[..., tuple[Any, ...]] = getattr(driver, row.forward)
    become = [_become(p) for p in row.results]
    through = results_of if "no-context" in row.words else call

    def forwarded(*args: object, **kwargs: object) -> Any:
        given = row.signature.bind(*args, **kwargs)
        given.apply_defaults()
        found = through(work, *given.args)
        if len(become) > 1:
            return tuple(f(value) for f, value in zip(become, found, strict=True))
        return become[0](found) if become else None

    forwarded.__name__ = forwarded.__qualname__ = row.name
    forwarded.__doc__ = inspect.getdoc(work)
    out = api(forwarded)
    out.__signature__ = row.signature  # type: ignore[attr-defined]
    return out
