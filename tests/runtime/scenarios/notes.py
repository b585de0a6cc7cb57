"""What a scenario notes: each step with its code and results, without what differs from run to run."""

from __future__ import annotations

import ctypes
import importlib
import time
from collections.abc import Callable
from typing import Any

from ..ptx import BOTH

PACKAGES = {"real": ("cuda.bindings.driver", "cuda.bindings.runtime", "cuda.core"),
            "model": ("warplab.runtime.driver", "warplab.runtime.cudart", "warplab.runtime")}  # fmt: skip
POINTER, U32 = ctypes.c_void_p, ctypes.c_uint32


def plain(value: Any) -> Any:
    """A result without what differs from run to run."""
    if isinstance(value, bool | float | str) or value is None:
        return value
    name = getattr(value, "name", None)
    if isinstance(name, str) and hasattr(value, "value"):
        return name
    if isinstance(value, int):
        return int(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).split(b"\0")[0].decode(errors="replace")
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if type(value).__name__ == "CUdeviceptr":
        return "address" if int(value) else "null"
    if hasattr(value, "__int__"):
        return "handle" if int(value) else "null"
    return type(value).__name__


class Notes:
    """A scenario's steps."""

    def __init__(self, packages: tuple[str, str, str]) -> None:
        self.packages = packages
        self.steps: list[list[Any]] = []
        self.cu: Any = importlib.import_module(packages[0])
        self.emit: Callable[[list[Any]], None] = self.steps.append

    @property
    def rt(self) -> Any:
        """The runtime API."""
        return importlib.import_module(self.packages[1])

    @property
    def core(self) -> Any:
        """cuda.core."""
        return importlib.import_module(self.packages[2])

    def note(self, step: str, *what: Any) -> None:
        """One step."""
        self.emit([step, *map(plain, what)])

    def __call__(self, name: str, *args: Any, step: str = "", quiet: bool = False) -> Any:
        """A call, noted with its results, or only with its code; its results."""
        try:
            code, *values = getattr(self.rt if name.startswith("cuda") else self.cu, name)(*args)
        except Exception as e:
            self.note(step or name, "raises", type(e).__name__)
            return None
        self.note(step or name, code, *(() if quiet else values))
        return values[0] if len(values) == 1 else tuple(values)

    def pause(self, seconds: float) -> None:
        """Gives a real device time to get on."""
        if self.packages == PACKAGES["real"]:
            time.sleep(seconds)

    def start(self) -> Any:
        """A current primary context."""
        self.cu.cuInit(0)
        c = self.cu.cuDevicePrimaryCtxRetain(0)[1]
        self.cu.cuCtxSetCurrent(c)
        return c

    def module(self, text: str = BOTH) -> Any:
        """A module, loaded without a note."""
        code, m = self.cu.cuModuleLoadData(text.encode() + b"\0")
        assert code == 0, code
        return m

    def function(self, name: str, text: str = BOTH) -> Any:
        """A kernel, without a note."""
        code, f = self.cu.cuModuleGetFunction(self.module(text), name.encode())
        assert code == 0, code
        return f

    def memory(self, size: int) -> int:
        """Device memory of zeros, without a note."""
        code, at = self.cu.cuMemAlloc(size)
        assert code == 0, code
        self.cu.cuMemsetD8(at, 0, size)
        return int(at)

    def launch(self, f: Any, grid: Any, block: Any, params: Any, shared: int = 0, stream: Any = 0, step: str = "launch") -> None:
        """A launch, noted with its code."""
        g, b = ((*x, 1, 1)[:3] if isinstance(x, tuple) else (x, 1, 1) for x in (grid, block))
        self("cuLaunchKernel", f, *g, *b, shared, stream, params, 0, step=step)

    def config(self, grid: Any, block: Any, shared: int = 0, **attributes: Any) -> Any:
        """A launch configuration."""
        cu, c = self.cu, self.cu.CUlaunchConfig()
        g, b = ((*x, 1, 1)[:3] if isinstance(x, tuple) else (x, 1, 1) for x in (grid, block))
        c.gridDimX, c.gridDimY, c.gridDimZ = g
        c.blockDimX, c.blockDimY, c.blockDimZ = b
        c.sharedMemBytes, c.hStream = shared, 0
        out = []
        for name, value in attributes.items():
            a = cu.CUlaunchAttribute()
            a.id = getattr(cu.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name.upper()}")
            if name.endswith("cluster_dimension"):
                d = a.value.clusterDim
                d.x, d.y, d.z = value
            elif name == "cooperative":
                a.value.cooperative = value
            elif name == "priority":
                a.value.priority = value
            out.append(a)
        c.attrs, c.numAttrs = out, len(out)
        return c


SCENARIOS: dict[str, Callable[[Notes], None]] = {}


def scenario(work: Callable[[Notes], None]) -> Callable[[Notes], None]:
    """Enters a scenario under its name."""
    SCENARIOS[work.__name__] = work
    return work


NONE: Any = ((), ())
