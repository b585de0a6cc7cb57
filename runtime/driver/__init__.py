"""The CUDA driver API in the shape of cuda.bindings.driver, over the model: every call gives (CUresult, *results).

A function of the real module that has no code here answers CUDA_ERROR_NOT_SUPPORTED.
"""

from __future__ import annotations

from ..api.table import ApiCall, driver_calls
from .contexts import *  # noqa: F403
from .devices import *  # noqa: F403
from .events import *  # noqa: F403
from .graphs.graphs import *  # noqa: F403
from .graphs.nodes import *  # noqa: F403
from .graphs.resources import *  # noqa: F403
from .launching import *  # noqa: F403
from .memory.arrays import *  # noqa: F403
from .memory.copies import *  # noqa: F403
from .memory.ipc import *  # noqa: F403
from .memory.linear import *  # noqa: F403
from .memory.multicast import *  # noqa: F403
from .memory.pointers import *  # noqa: F403
from .memory.pools import *  # noqa: F403
from .memory.transfers import *  # noqa: F403
from .memory.virtual_memory import *  # noqa: F403
from .modules.functions import *  # noqa: F403
from .modules.libraries import *  # noqa: F403
from .modules.linking import *  # noqa: F403
from .modules.modules import *  # noqa: F403
from .partitions import *  # noqa: F403
from .prepared import *  # noqa: F403
from .streams import *  # noqa: F403
from .tables.constants import CONSTANTS
from .tables.enums import ENUMS
from .tables.enums import CUresult as CUresult
from .tables.structs import STRUCTS
from .textures.objects import *  # noqa: F403
from .textures.references import *  # noqa: F403
from .textures.tensor_maps import *  # noqa: F403
from .unsupported import lazy, refusing

globals().update(CONSTANTS)


def _made(row: ApiCall) -> object:
    return refusing(row, CUresult.CUDA_ERROR_NOT_SUPPORTED)


__getattr__, __dir__ = lazy(globals(), driver_calls(), _made, ENUMS, STRUCTS)
