"""The CUDA runtime API in the shape of cuda.bindings.runtime, over the driver's calls: every call gives (cudaError_t, *results).

A function of the real module that has no code here answers cudaErrorNotSupported.
"""

from __future__ import annotations

from ..api.table import ApiCall, runtime_calls
from ..driver.unsupported import lazy, refusing
from .arrays import *  # noqa: F403
from .constants import CONSTANTS
from .copies import *  # noqa: F403
from .devices import *  # noqa: F403
from .enums import OWN as ENUMS
from .enums import cudaError_t
from .errors import *  # noqa: F403
from .forwards import forward
from .functions import *  # noqa: F403
from .graphs import *  # noqa: F403
from .memory import *  # noqa: F403
from .references import *  # noqa: F403
from .structs import OWN as STRUCTS
from .textures import *  # noqa: F403

globals().update(CONSTANTS)


def _made(row: ApiCall) -> object:
    return forward(row) if row.forward else refusing(row, cudaError_t.cudaErrorNotSupported)


__getattr__, __dir__ = lazy(globals(), runtime_calls(), _made, ENUMS, STRUCTS)
