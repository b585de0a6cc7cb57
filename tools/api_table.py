"""docs/api-coverage.md: which calls of cuda.bindings and cuda.core exist here."""

from __future__ import annotations

import inspect
import re
import textwrap
from types import ModuleType
from typing import Any

import warplab.runtime
from warplab.runtime import cudart, driver

from .markdown import page

FACES = {"driver": (driver, "cuda.bindings.driver"), "cudart": (cudart, "cuda.bindings.runtime")}
# Functions of CUDA's C API that cuda.bindings lacks; texture references ended with CUDA 12.
BEYOND = (
    "cudaBindSurfaceToArray", "cudaBindTexture", "cudaBindTexture2D", "cudaBindTextureToArray", "cudaBindTextureToMipmappedArray",
    "cudaGetFuncBySymbol", "cudaGetSurfaceReference", "cudaGetTextureAlignmentOffset", "cudaGetTextureReference",
    "cudaLaunchCooperativeKernel", "cudaLaunchKernel", "cudaMemcpyFromSymbol", "cudaMemcpyToSymbol", "cudaUnbindTexture",
)  # fmt: skip
# Names of cuda.core 1.x that are not here, and why.
MISSING = {
    "DeviceResources": "parts of a device", "SMResource": "parts of a device", "SMResourceOptions": "parts of a device",
    "WorkqueueResource": "parts of a device", "WorkqueueResourceOptions": "parts of a device", "ContextOptions": "parts of a device",
    "GraphMemoryResource": "graphs", "GraphicsResource": "graphics", "Host": "prefetching to a host node",
    "VirtualMemoryResource": "mapping of address ranges", "VirtualMemoryResourceOptions": "mapping of address ranges",
}  # fmt: skip


def calls(module: ModuleType) -> list[str]:
    """The names of a module's functions that cuda.bindings has."""
    return [n for n in dir(module) if re.match("cu(da)?[A-Z]", n) and inspect.isroutine(getattr(module, n)) and n not in BEYOND]


def supported(module: Any, name: str) -> bool:
    """Has the call code of its own?"""
    return inspect.isfunction(getattr(module, name)) and getattr(module, name).__doc__ != "Not supported."


def pages() -> dict[str, str]:
    """The coverage page."""
    out = ["# Which calls exist", ""]
    for title, (module, real) in FACES.items():
        names = calls(module)
        have = [n for n in names if supported(module, n)]
        out += [f"## warplab.runtime.{title} ({real})", "", f"{len(have)} of {len(names)} functions. The others return "
                f"`{'CUDA_ERROR_NOT_SUPPORTED' if title == 'driver' else 'cudaErrorNotSupported'}`.", ""]  # fmt: skip
        out += textwrap.wrap(" ".join(f"`{n}`" for n in have), 138, break_on_hyphens=False)
        out += ["", "Not supported:", ""]
        out += [*textwrap.wrap(" ".join(f"`{n}`" for n in names if n not in have), 138, break_on_hyphens=False), ""]
    out += ["Calls of CUDA's C API that cuda.bindings does not have:", "", " ".join(f"`{n}`" for n in BEYOND), ""]
    out += ["## warplab.runtime (cuda.core)", "", "| name | |", "|---|---|"]
    out += [f"| `{n}` | {summary(getattr(warplab.runtime, n))} |" for n in warplab.runtime.__all__]
    out += ["", "These names of cuda.core are missing:", ""]
    out += [f"- `{n}`: {why}" for n, why in sorted(MISSING.items())]
    return {"api-coverage.md": page("\n".join(out), source="the calls of `warplab.runtime`")}


def summary(thing: object) -> str:
    """The first line of a docstring."""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return f"a {type(thing).__name__}"
    return (inspect.getdoc(thing) or "").split("\n", 1)[0]
