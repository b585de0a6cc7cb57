"""The CUDA driver API in the shape of cuda.bindings.driver, over the model: every call gives (CUresult, *results).

A function of the real module that has no code here answers CUDA_ERROR_NOT_SUPPORTED.
"""

from __future__ import annotations

from typing import Any

from .constants import CONSTANTS
from .contexts import *  # noqa: F403
from .copies import *  # noqa: F403
from .devices import *  # noqa: F403
from .enums import ENUMS, CUresult
from .events import *  # noqa: F403
from .functions import *  # noqa: F403
from .graphs import *  # noqa: F403
from .launching import *  # noqa: F403
from .libraries import *  # noqa: F403
from .linking import *  # noqa: F403
from .memory import *  # noqa: F403
from .modules import *  # noqa: F403
from .pointers import *  # noqa: F403
from .pools import *  # noqa: F403
from .signatures import SIGNATURES
from .streams import *  # noqa: F403
from .structs import STRUCTS
from .transfers import *  # noqa: F403
from .unsupported import named, refusing

globals().update(CONSTANTS)


def __getattr__(name):  # type: ignore[no-untyped-def]  # with types, mypy knows no name here within an import cycle
    """An enum, a structure, or a call that is not supported."""
    found: Any = ENUMS.get(name) or STRUCTS.get(name) or refusing(SIGNATURES, name, CUresult.CUDA_ERROR_NOT_SUPPORTED)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """CUDA's own names, those of the calls that are not supported too."""
    own = {name for name in globals() if name.lower().startswith("cu")}
    return sorted(own.union(named(SIGNATURES, ENUMS, STRUCTS)))
