"""docs/api-coverage.md: which calls of cuda.bindings and cuda.core exist here."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import warplab.runtime
from warplab.runtime import cudart, driver
from warplab.runtime.api.table import driver_calls, runtime_calls
from warplab.runtime.driver.unsupported import is_refusal

from .markdown import page

ROOT = Path(__file__).parents[1]
FACES = {"driver": (driver, "cuda.bindings.driver"), "cudart": (cudart, "cuda.bindings.runtime")}
# Functions of CUDA's C API that cuda.bindings lacks; texture references ended with CUDA 12.
BEYOND = (
    "cudaBindSurfaceToArray", "cudaBindTexture", "cudaBindTexture2D", "cudaBindTextureToArray", "cudaBindTextureToMipmappedArray",
    "cudaGetFuncBySymbol", "cudaGetSurfaceReference", "cudaGetTextureAlignmentOffset", "cudaGetTextureReference",
    "cudaLaunchCooperativeKernel", "cudaLaunchKernel", "cudaMemcpyFromSymbol", "cudaMemcpyToSymbol", "cudaUnbindTexture",
)  # fmt: skip
# Why a call is not supported: the first expression that matches its name.
REASONS = {
    "EGL|GL[A-Z]|VDPAU|Graphics|NvSci": "graphics interoperation, as there is no graphics driver",
    "External|Cig": "memory and semaphores of other APIs",
    "ExecAffinity|Recapture": "partitions of a device for other processes, and captures that begin again",
    "Ipc|Shareable|ImportPointer|ExportPointer|HandleForAddressRange|LogicalEndpoint|Fabric|Clique": "handles for other processes and machines, except cuIpc and cudaIpc",
    "Checkpoint|Coredump|Logs|AsyncNotification": "checkpoints, core dumps and logs of the driver",
    "GetExportTable": "NVIDIA's private interface to the driver",
    "GetProcAddress": "addresses of functions, except in `warplab exec`",
    "cuParamSet|cuLaunch$|cuLaunchGrid|cuFuncSet|cuCtxAttach|cuCtxDetach": "launches as in CUDA 3",
    "BatchMemOp|ExecNodeSet|NodeSetParams|NodeGetParams|KernelNode|NodeGet|AddNode": "parameters and attributes of nodes of any kind, and memory operations as nodes; "
    "`warplab exec` supports cuGraphAddNode and cudaGraphAddNode",
    "": "others",
}
# Names of cuda.core 1.x that are not here, and why.
MISSING = {
    "DeviceResources": "parts of a device", "SMResource": "parts of a device", "SMResourceOptions": "parts of a device",
    "WorkqueueResource": "parts of a device", "WorkqueueResourceOptions": "parts of a device", "ContextOptions": "parts of a device",
    "GraphMemoryResource": "graphs", "GraphicsResource": "graphics", "Host": "prefetching to a host node",
    "VirtualMemoryResource": "mapping of address ranges", "VirtualMemoryResourceOptions": "mapping of address ranges",
}  # fmt: skip


def calls(module: ModuleType) -> list[str]:
    """The names of a module's functions that cuda.bindings has."""
    table = driver_calls() if module is driver else runtime_calls()
    return sorted(n for n in table.python_names() if n not in BEYOND)


def supported(module: Any, name: str) -> bool:
    """Has the call code of its own?"""
    return not is_refusal(getattr(module, name))


def refused(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by the reason why they are not supported, in the order of REASONS."""
    out: dict[str, list[str]] = {why: [] for why in REASONS.values()}
    for name in names:
        out[next(why for words, why in REASONS.items() if re.search(words, name))].append(name)
    return {why: those for why, those in out.items() if those}


def called_in() -> dict[str, str]:
    """The first file of the tests, or else of the CUDA programs that they run, in which each call's name occurs."""
    out: dict[str, str] = {}
    for path in [*sorted((ROOT / "tests" / "runtime").rglob("*.py")), *sorted((ROOT / "samples" / "exec").rglob("*.cu"))]:
        for name in re.findall(r"\bcu(?:da)?[A-Z]\w+", path.read_text(encoding="utf-8")):
            out.setdefault(name, path.relative_to(ROOT).as_posix())
    return out


def pages() -> dict[str, str]:
    """The coverage page."""
    out = ["# Which calls exist", ""]
    tests = called_in()
    for title, (module, real) in FACES.items():
        names = calls(module)
        have = [n for n in names if supported(module, n)]
        out += [f"## warplab.runtime.{title} ({real})", "", f"{len(have)} of {len(names)} functions. The others return "
                f"`{'CUDA_ERROR_NOT_SUPPORTED' if title == 'driver' else 'cudaErrorNotSupported'}`.", ""]  # fmt: skip
        places: dict[str, list[str]] = {}
        for n in have:
            places.setdefault(tests.get(n, ""), []).append(n)
        out += ["| first test with the call | calls |", "|---|---|"]
        for place, those in sorted(places.items(), key=lambda item: (not item[0], item[0])):
            out.append(f"| {f'`{place}`' if place else 'none by name'} | {' '.join(f'`{n}`' for n in those)} |")
        out += ["", "Not supported, by what is missing:", ""]
        for why, those in refused(n for n in names if n not in have).items():
            out += [*textwrap.wrap(f"- {why}: " + " ".join(f"`{n}`" for n in those), 138, subsequent_indent="  ", break_on_hyphens=False)]
        out.append("")
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
