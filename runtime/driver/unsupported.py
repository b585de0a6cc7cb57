"""Every driver call that has no code here: it takes its parameters and answers CUDA_ERROR_NOT_SUPPORTED."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import IntEnum
from typing import Any


def refusing(signatures: str, name: str, code: IntEnum) -> Callable[..., tuple[Any, ...]] | None:
    """The function of that name, made from its line in a table of signatures; None where the table has no such line."""
    line = next((s for s in signatures.splitlines() if s.split(" ", 1)[0] == name), None)
    if line is None:
        return None
    _, count, *rest = line.split(" ", 2)
    parameters = []
    for word in rest[0].split(", ") if rest else []:
        plain, _, default = word.partition("=")
        parameters.append(
            inspect.Parameter(plain, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=int(default) if default else inspect.Parameter.empty)
        )
    signature = inspect.Signature(parameters)
    result = (code, *(None,) * int(count))

    def refuse(*args: object, **kwargs: object) -> tuple[Any, ...]:
        signature.bind(*args, **kwargs)
        return result

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Not supported."
    refuse.__signature__ = signature  # type: ignore[attr-defined]
    return refuse
