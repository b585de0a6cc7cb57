"""A row's meaning, called with symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import functions, rules  # noqa: F401  they fill FUNCTIONS and PRIMITIVES
from .code import VectorCode
from .symbol import SymbolicArray, lift


def traced(code: VectorCode, meaning: Callable[..., Any], operands: Sequence[Any]) -> tuple[SymbolicArray | None, ...]:
    """The results of a pure meaning on symbols of a piece of code, which grows by what the meaning does."""
    result = meaning(*operands)
    results = result if isinstance(result, tuple) else (result,)
    return tuple(r if r is None or isinstance(r, SymbolicArray) else lift(code, r, r.dtype, code.width) for r in results)
