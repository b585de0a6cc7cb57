"""The CUDA driver API in the shape of cuda.bindings.driver, over the model: every call gives (CUresult, *results).

A function of the real module that has no code here answers CUDA_ERROR_NOT_SUPPORTED.
"""

from __future__ import annotations

from .arrays import *  # noqa: F403
from .constants import CONSTANTS
from .contexts import *  # noqa: F403
from .copies import *  # noqa: F403
from .devices import *  # noqa: F403
from .enums import ENUMS, CUresult
from .events import *  # noqa: F403
from .functions import *  # noqa: F403
from .graph_nodes import *  # noqa: F403
from .graph_parts import *  # noqa: F403
from .graphs import *  # noqa: F403
from .ipc import *  # noqa: F403
from .launching import *  # noqa: F403
from .libraries import *  # noqa: F403
from .linking import *  # noqa: F403
from .memory import *  # noqa: F403
from .modules import *  # noqa: F403
from .multicast import *  # noqa: F403
from .pointers import *  # noqa: F403
from .pools import *  # noqa: F403
from .references import *  # noqa: F403
from .signatures import SIGNATURES
from .streams import *  # noqa: F403
from .structs import STRUCTS
from .tensor_maps import *  # noqa: F403
from .textures import *  # noqa: F403
from .transfers import *  # noqa: F403
from .unsupported import lazy
from .virtual_memory import *  # noqa: F403

globals().update(CONSTANTS)
__getattr__, __dir__ = lazy(globals(), SIGNATURES, CUresult.CUDA_ERROR_NOT_SUPPORTED, ENUMS, STRUCTS)
