"""What runs launches: the numpy engine, or machine code of the host."""

from __future__ import annotations

import os
from importlib.util import find_spec

from ..errors import UsageError

ENGINES = ("numpy", "native")
VARIABLE = "WARPLAB_ENGINE"


def engine_of(word: str = "") -> str:
    """An engine by its name; without one, what WARPLAB_ENGINE says, else numpy."""
    name = word or os.environ.get(VARIABLE, "") or ENGINES[0]
    if name not in ENGINES:
        raise UsageError(f"{VARIABLE if not word else 'the engine'} is {name!r}; there are {' and '.join(ENGINES)}")
    if name == "native" and find_spec("llvmlite") is None:
        raise UsageError("the native engine needs llvmlite: pip install 'warplab[native]'")
    return name
