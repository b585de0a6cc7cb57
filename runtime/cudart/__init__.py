"""The CUDA runtime API in the shape of cuda.bindings.runtime, over the driver's calls: every call gives (cudaError_t, *results).

A function of the real module that has no code here answers cudaErrorNotSupported.
"""

from __future__ import annotations

from typing import Any

from ..driver.unsupported import refusing
from .constants import *  # noqa: F403
from .devices import *  # noqa: F403
from .enums import *  # noqa: F403
from .enums import cudaError_t
from .memory import *  # noqa: F403
from .signatures import SIGNATURES
from .structs import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A call that is not supported."""
    found = refusing(SIGNATURES, name, cudaError_t.cudaErrorNotSupported) if name.startswith("cuda") else None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """CUDA's own names, those of the calls that are not supported too."""
    own = {
        name
        for name in globals()
        if name.lower().startswith("cu") or name in ("dim3", "make_cudaExtent", "make_cudaPos", "make_cudaPitchedPtr")
    }
    return sorted(own.union(line.split(" ", 1)[0] for line in SIGNATURES.splitlines()))
