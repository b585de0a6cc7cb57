"""The CUDA runtime API in the shape of cuda.bindings.runtime, over the driver's calls: every call gives (cudaError_t, *results).

A function of the real module that has no code here answers cudaErrorNotSupported.
"""

from __future__ import annotations

from typing import Any

from ..driver.unsupported import named, refusing
from .arrays import *  # noqa: F403
from .constants import CONSTANTS
from .copies import *  # noqa: F403
from .devices import *  # noqa: F403
from .enums import OWN as ENUMS
from .enums import cudaError_t
from .errors import *  # noqa: F403
from .forwards import forwards
from .functions import *  # noqa: F403
from .memory import *  # noqa: F403
from .signatures import SIGNATURES
from .structs import OWN as STRUCTS

globals().update(CONSTANTS | forwards())


def __getattr__(name):  # type: ignore[no-untyped-def]  # with types, mypy knows no name here within an import cycle
    """An enum, a structure, or a call that is not supported."""
    found: Any = ENUMS.get(name) or STRUCTS.get(name) or refusing(SIGNATURES, name, cudaError_t.cudaErrorNotSupported)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """CUDA's own names, those of the calls that are not supported too."""
    own = {name for name in globals() if name.lower().startswith(("cu", "make_cuda")) or name == "dim3"}
    return sorted(own.union(named(SIGNATURES, ENUMS, STRUCTS)))
