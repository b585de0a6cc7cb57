"""The reference of the Python API: every public name of warplab.assembler and warplab.runtime with its signature and its sentence."""

from __future__ import annotations

import dataclasses
import inspect
import re
from types import ModuleType

import warplab.assembler
import warplab.runtime
import warplab.runtime.texture

from .markdown import page, paragraph, table

NAME = "python-reference.md"
GROUPS: dict[str, tuple[str, str]] = {
    "Devices and launches": ("warplab.runtime", "Device Context ComputeCapability LaunchConfig launch CUDAError last_fault profiling observing sanitizing Sanitizer SanitizerError scheduled schedules"),
    "Programs and kernels": ("warplab.runtime", "Program ProgramOptions Linker LinkerOptions ObjectCode Kernel"),
    "Memory": (
        "warplab.runtime",
        "Buffer DeviceNDArray to_device device_array to_opaque to_texture to_surface MemoryResource DeviceMemoryResource DeviceMemoryResourceOptions "
        "PinnedMemoryResource PinnedMemoryResourceOptions LegacyPinnedMemoryResource ManagedBuffer ManagedMemoryResource "
        "ManagedMemoryResourceOptions",
    ),
    "Textures and surfaces": (
        "warplab.runtime.texture",
        "OpaqueArray OpaqueArrayOptions MipmappedArray MipmappedArrayOptions ResourceDescriptor TextureObject TextureObjectOptions SurfaceObject",
    ),
    "Tensor maps": (
        "warplab.runtime",
        "TensorMapDescriptor TensorMapDescriptorOptions TensorMapDataType TensorMapInterleave TensorMapSwizzle TensorMapL2Promotion TensorMapOOBFill",
    ),
    "Streams and events": (
        "warplab.runtime", "Stream StreamOptions Event EventOptions LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM",
    ),
    "Assembler": (
        "warplab.assembler",
        "parse check assemble disassemble link format_text Module Program ObjectFile Diagnostic PtxError LinkError ObjectError",
    ),
}  # fmt: skip
FRONT = """Every public name, with its signature and docstring. [The Python API](python.md) is the introduction. The functions of CUDA's driver and
runtime API are listed in [which calls exist](api-coverage.md)."""


def grouped() -> dict[str, list[str]]:
    """The names of each module that the page has."""
    out: dict[str, list[str]] = {}
    for module, names in GROUPS.values():
        out.setdefault(module, []).extend(names.split())
    return out


def _sentence(thing: object) -> str:
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n")[0].split())


def _signature(thing: object) -> str:
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "()"
    text = re.sub(r"(= '[^']*')|'([^']*)'", lambda m: m[1] or m[2], str(signature))  # annotations without quotes, defaults with them
    text = re.sub(r"\b(?:[a-z_]+\.)+([A-Z])", r"\1", text)  # names without their modules
    text = re.sub(r"ForwardRef\((\w+)\)", r"\1", text)
    return re.sub(r"^\((self|cls)(, )?", "(", text)


def _members(thing: type) -> list[tuple[str, str]]:
    """Public methods and properties that the class itself or a base of ours defines."""
    out = []
    for name, member in inspect.getmembers(thing):
        if name.startswith("_"):
            continue
        home = next((c for c in thing.__mro__ if name in vars(c)), thing)
        if not home.__module__.startswith("warplab"):
            continue
        raw = vars(home)[name]
        if isinstance(raw, property):
            out.append((f"`{name}`", _sentence(raw.fget)))
        elif isinstance(raw, (staticmethod, classmethod)) or callable(raw):
            out.append((f"`{name}{_signature(member)}`", _sentence(member)))
    if dataclasses.is_dataclass(thing):
        known = {n for n, _ in out}
        out += [(f"`{f.name}`", "") for f in dataclasses.fields(thing) if not f.name.startswith("_") and f"`{f.name}`" not in known]
    return out


def _entry(module: ModuleType, name: str) -> list[str]:
    thing = getattr(module, name)
    heading = f"### {name}"
    if inspect.isclass(thing):
        own = "" if issubclass(thing, Exception) else f"`{name}{_signature(thing)}`"
        members = _members(thing)
        return [heading, own, paragraph(_sentence(thing)), table(("member", ""), members) if members else ""]
    if callable(thing):
        return [heading, f"`{name}{_signature(thing)}`", paragraph(_sentence(thing))]
    return [heading, f"A `{type(thing).__name__}`."]


def pages() -> dict[str, str]:
    """The page by its place in docs/."""
    modules = {m.__name__: m for m in (warplab.runtime, warplab.runtime.texture, warplab.assembler)}
    parts = ["# Python reference", FRONT]
    for title, (module, names) in GROUPS.items():
        parts += [f"## {title}", f"From `{module}`."]
        for name in names.split():
            parts += _entry(modules[module], name)
    return {NAME: page(*parts, source="the signatures of `warplab.runtime` and `warplab.assembler`")}
