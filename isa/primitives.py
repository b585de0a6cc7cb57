"""Functions of arrays that an engine may compute in a way of its own.

A meaning may be called with symbolic arrays, which record what is done to them: so an engine that compiles learns a row's meaning.  Numpy's own
functions and operators hand such calls over by themselves; a function that is decorated here does the same.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])


def primitive(f: F) -> F:
    """A function that asks its arguments first: one that has a method `primitive` is given the function and all arguments."""

    @functools.wraps(f)
    def ask(*arguments: Any, **modes: Any) -> Any:
        for a in arguments:
            if type(a) is not np.ndarray and hasattr(a, "primitive"):
                return a.primitive(ask, arguments, modes)
        return f(*arguments, **modes)

    return ask  # type: ignore[return-value]


@primitive
def look_up(index: Array, table: Array) -> Array:
    """table[index]: what stands in a table of one dimension at each index."""
    found: Array = np.take(table, index)
    return found
