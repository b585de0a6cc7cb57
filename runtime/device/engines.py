"""What runs launches: the numpy engine, machine code of the host, or, by itself, what is faster."""

from __future__ import annotations

import os
from importlib.util import find_spec

from ..errors import UsageError

ENGINES = ("auto", "numpy", "native")
VARIABLE = "WARPLAB_ENGINE"


def engine_of(word: str = "") -> str:
    """An engine by its name; without one, what WARPLAB_ENGINE says, else auto."""
    name = word or os.environ.get(VARIABLE, "") or ENGINES[0]
    if name not in ENGINES:
        raise UsageError(f"{VARIABLE if not word else 'the engine'} is {name!r}; there are auto, numpy and native")
    if name == "native" and find_spec("llvmlite") is None:
        raise UsageError("the native engine needs llvmlite: pip install 'warplab[native]'")
    return name
