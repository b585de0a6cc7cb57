"""Every driver call that has no code here: it takes its parameters and answers CUDA_ERROR_NOT_SUPPORTED."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from .tables.compact import ClassTable

REFUSED = "Not supported."


@functools.cache
def _table(signatures: str) -> dict[str, tuple[int, str]]:
    """name -> (number of results, parameters), of a table of signatures."""
    out: dict[str, tuple[int, str]] = {}
    for line in signatures.replace("\n    ", " ").splitlines():
        head, _, names = line.partition(":")
        count, _, parameters = head.partition(" ")
        out |= dict.fromkeys(names.split(), (int(count), parameters))
    return out


def signature_of(signatures: str, name: str) -> inspect.Signature | None:
    """The signature that a table has for a name."""
    if name not in _table(signatures):
        return None
    parameters = []
    for word in filter(None, _table(signatures)[name][1].split(", ")):
        plain, _, default = word.partition("=")
        parameters.append(
            inspect.Parameter(plain, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=int(default) if default else inspect.Parameter.empty)
        )
    return inspect.Signature(parameters)


def refusing(signatures: str, name: str, code: IntEnum) -> Callable[..., tuple[Any, ...]] | None:
    """The function of that name, made from its line in a table of signatures; None where the table has no such line."""
    signature = signature_of(signatures, name)
    if signature is None:
        return None
    result = (code, *(None,) * _table(signatures)[name][0])

    def refuse(*args: object, **kwargs: object) -> tuple[Any, ...]:
        signature.bind(*args, **kwargs)
        return result

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__dict__["results"] = _table(signatures)[name][0]
    refuse.__doc__ = REFUSED
    refuse.__signature__ = signature  # type: ignore[attr-defined]
    return refuse


def is_refusal(call: object) -> bool:
    """Does a call do nothing but refuse?"""
    return getattr(call, "__doc__", None) == REFUSED


def lazy(
    space: dict[str, Any], signatures: str, code: IntEnum, *tables: ClassTable
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """__getattr__ and __dir__ of a module whose enums, structures and calls without code are made from tables when they are asked for."""

    def attribute(name: str) -> Any:
        found = next(filter(None, (table.get(name) for table in tables)), None) or refusing(signatures, name, code)
        if found is None:
            raise AttributeError(f"module {space['__name__']!r} has no attribute {name!r}")
        space[name] = found
        return found

    def names() -> list[str]:
        own = {name for name in space if name.lower().startswith(("cu", "make_cuda")) or name == "dim3"}
        return sorted(own.union(_table(signatures), *(table.lines for table in tables)))

    return attribute, names
