"""What a module makes when it is asked for it: classes from tables, and the calls that have no code here.

Such a call takes its parameters and answers CUDA_ERROR_NOT_SUPPORTED.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from ..api.table import ApiCall, ApiTable
from .tables.compact import ClassTable

REFUSED = "Not supported."


def refusing(row: ApiCall, code: IntEnum) -> Callable[..., tuple[Any, ...]]:
    """The function of a row: it refuses."""
    result = (code, *(None,) * len(row.results))

    def refuse(*args: object, **kwargs: object) -> tuple[Any, ...]:
        row.signature.bind(*args, **kwargs)
        return result

    refuse.__name__ = refuse.__qualname__ = row.name
    refuse.__doc__ = REFUSED
    refuse.__signature__ = row.signature  # type: ignore[attr-defined]
    return refuse


def is_refusal(call: object) -> bool:
    """Does a call do nothing but refuse?"""
    return getattr(call, "__doc__", None) == REFUSED


def lazy(
    space: dict[str, Any], table: ApiTable, make: Callable[[ApiCall], Any], *classes: ClassTable
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """__getattr__ and __dir__ of a module whose enums, structures and calls without code are made when they are asked for."""

    def attribute(name: str) -> Any:
        found = next(filter(None, (kind.get(name) for kind in classes)), None)
        if found is None and name.startswith("cu") and name in table.rows and "C" not in table[name].words:
            found = make(table[name])
        if found is None:
            raise AttributeError(f"module {space['__name__']!r} has no attribute {name!r}")
        space[name] = found
        return found

    def names() -> list[str]:
        own = {name for name in space if name.lower().startswith(("cu", "make_cuda")) or name == "dim3"}
        return sorted(own.union(table.python_names(), *(kind.lines for kind in classes)))

    return attribute, names
