"""Writes the tables of names that warplab.runtime.driver and .cudart share with the cuda-bindings package: enums, structures,
and the signatures of what is not supported.  Run with a Python that has cuda-bindings; no GPU is needed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
BASIC = {
    "char": "char", "signed char": "char", "unsigned char": "u8", "short": "i16", "unsigned short": "u16", "int": "i32",
    "unsigned int": "u32", "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64", "size_t": "usize",
    "float": "f32", "double": "f64", "cuuint32_t": "u32", "cuuint64_t": "u64",
}  # fmt: skip
DRIVER_STRUCTS = """CUuuid CUdevprop CUDA_MEMCPY2D CUDA_MEMCPY3D CUDA_MEMCPY3D_PEER CUDA_ARRAY_DESCRIPTOR CUDA_ARRAY3D_DESCRIPTOR
    CUDA_ARRAY_MEMORY_REQUIREMENTS CUDA_RESOURCE_DESC CUDA_TEXTURE_DESC CUDA_RESOURCE_VIEW_DESC CUlaunchConfig CUlaunchAttribute
    CUlaunchAttributeValue CUaccessPolicyWindow CUmemPoolProps CUmemLocation CUmemAccessDesc CUextent3D CUoffset3D CUDA_LAUNCH_PARAMS
    CUmemcpyAttributes CUctxCreateParams CUmemAllocationProp CUlaunchMemSyncDomainMap CUtensorMap CUDA_KERNEL_NODE_PARAMS
    CUstreamBatchMemOpParams CUmemPoolPtrExportData"""
RUNTIME_STRUCTS = """dim3 cudaUUID_t cudaDeviceProp cudaMemcpy3DParms cudaMemcpy3DPeerParms cudaPitchedPtr cudaExtent cudaPos
    cudaChannelFormatDesc cudaPointerAttributes cudaFuncAttributes cudaMemPoolProps cudaMemLocation cudaMemAccessDesc cudaResourceDesc
    cudaTextureDesc cudaResourceViewDesc cudaMemcpyAttributes cudaAccessPolicyWindow cudaLaunchMemSyncDomainMap cudaLaunchAttribute
    cudaLaunchAttributeValue"""


def enums(module: ModuleType) -> Iterator[type[Any]]:
    """The enum classes of a module."""
    for name in dir(module):
        found = getattr(module, name)
        if isinstance(found, type) and name != "_FastEnum" and any("FastEnum" in str(c) for c in found.__mro__):
            yield found


def write_enums(module: ModuleType, what: str, path: Path) -> None:
    """One static class an enum."""
    out = [f'"""The enums of {what}: names and numbers, written by tests/runtime/derive_api.py."""', "", "from enum import IntEnum"]
    for e in enums(module):
        out += ["", "", f"class {e.__name__}(IntEnum):"]
        out += [f"    {name} = {int(value)}" for name, value in e.__members__.items()]
    path.write_text("\n".join(out) + "\n")


class Declarations:
    """The structures of a .pxd file."""

    def __init__(self, text: str, module: ModuleType) -> None:
        self.module = module
        self.bodies: dict[str, tuple[str, list[tuple[str, str]]]] = {}
        self.aliases: dict[str, str] = {}
        current: list[tuple[str, str]] | None = None
        for line in text.splitlines():
            if m := re.match(r"    (?:cdef|ctypedef) (struct|union) (\w+)(?: [\"'].*[\"'])?:", line):
                current = []
                self.bodies[m[2]] = (m[1], current)
            elif current is not None and (m := re.match(r"        ([\w ]+?\**) ?(\w+(?:\[\w+\])*)$", line)):
                current.append((m[1], m[2]))
            elif m := re.match(r"    ctypedef ([\w ]+?\**) (\w+)(?: '\w+')?$", line):
                self.aliases[m[2]] = m[1]
                current = None
            elif line and not line.startswith("        "):
                current = None
        self.handles: list[str] = []
        self.order: list[str] = []
        self.lines: dict[str, list[str]] = {}

    def resolve(self, name: str) -> str:
        """The name of the body that a name stands for."""
        seen = name
        while seen not in self.bodies and seen in self.aliases:
            seen = self.aliases[seen]
        return seen

    def field(self, owner: str, kind: str, name: str) -> str:
        """The annotation of a field."""
        plain, _, count = name.partition("[")
        count = count.rstrip("]").replace("CU_TENSOR_MAP_NUM_QWORDS", "16").replace("CU_IPC_HANDLE_SIZE", "64")
        base = self.kind(owner, plain, kind)
        if base == "char" and count:
            return f"Annotated[bytes, {count}]"
        return f"Annotated[list[{base}], {count}]" if count else base

    def kind(self, owner: str, name: str, kind: str) -> str:
        """The Python name of a C type."""
        if kind in BASIC:
            return BASIC[kind]
        if kind.endswith("*"):
            inner = kind.rstrip("*").strip()
            if self.resolve(inner) in self.bodies and self.bodies[self.resolve(inner)][1] and kind.count("*") == 1:
                return f'Annotated[list[{self.struct(inner)}], "pointer"]'
            return "pointer"
        known = getattr(self.module, kind, None)
        if known is not None and hasattr(known, "__members__"):
            return kind
        body = self.resolve(kind)
        if body in self.bodies and self.bodies[body][1]:
            return self.struct(f"{owner}_{name}" if "anon_pod" in kind else kind, body)
        if known is not None and isinstance(known, type):
            if kind not in self.handles:
                self.handles.append(kind)
            return kind
        target = self.aliases.get(kind)
        return self.kind(owner, name, target) if target else "pointer"

    def struct(self, name: str, body: str | None = None) -> str:
        """Adds a structure, after those that it needs; gives its name."""
        body = body or self.resolve(name)
        if name in self.lines:
            return name
        kind, fields = self.bodies[body]
        self.lines[name] = []
        notes = []
        for t, n in fields:
            shown = n.partition("[")[0]
            shown = shown + "_" if hasattr(getattr(self.module, name, None), shown + "_") else shown
            notes.append(f"    {shown}: {self.field(name, t, n)}")
        self.lines[name] = [f"class {name}({kind.capitalize()}):", *notes]
        self.order.append(name)
        return name


def handles(module: ModuleType, found: Declarations) -> list[str]:
    """Every class whose instances are handles."""
    out = []
    for name in dir(module):
        known = getattr(module, name)
        target = found.aliases.get(name, "")
        opaque = re.fullmatch(r"\w+_st\*", target) or name in found.handles or name in ("CUdevice", "CUdeviceptr")
        if isinstance(known, type) and opaque and name[:2] in ("CU", "cu"):
            out.append(name)
    return out


def write_structs(module: ModuleType, what: str, wanted: str, pxd: Path, path: Path, shared: str = "") -> None:
    """Handles and structures as classes with annotations."""
    found = Declarations(pxd.read_text(), module)
    for name in wanted.split():
        found.struct(name)
    text = "\n\n\n".join("\n".join(found.lines[n]) for n in found.order)
    known = {e.__name__ for e in enums(module)}
    used = sorted(n for n in known if re.search(rf"\b{n}\b", text))
    basics = sorted(
        {b for b in (*BASIC.values(), "pointer") if re.search(rf": {b}$|\[{b}\]", text, re.M)}
        | {"Struct", "Union", "Handle"}
        | ({"Number"} if not shared else set())
    )
    layout = ".layout" if not shared else "..driver.layout"
    out = [
        f'"""The handles and structures of {what}, with their fields, written by tests/runtime/derive_api.py."""', "",
        "import ctypes" if not shared else "", "from typing import Annotated", "",
        f"from .enums import {', '.join(used)}", f"from {layout} import {', '.join(basics)}",
    ]  # fmt: skip
    taken = shared.split()
    if taken:
        out.append(f"from ..driver.structs import {', '.join(taken)}")
    for h in handles(module, found):
        if h in taken:
            continue
        if h in ("CUdevice", "CUdeviceptr"):
            c = "c_int" if h == "CUdevice" else "c_ulonglong"
            out += ["", "", f"class {h}(Number):", "    __slots__ = ()", f"    c_type = ctypes.{c}"]
        else:
            out += ["", "", f"class {h}(Handle):", "    __slots__ = ()"]
    out += ["", "", text]
    aliases = []
    for name in dir(module):
        for n in found.order:
            if (
                name != n
                and name not in found.order
                and isinstance(getattr(module, name), type)
                and issubclass(getattr(module, name), getattr(module, n, ()))
            ):
                aliases.append(f"{name} = {n}")
    path.write_text(
        "\n".join(line for line in out if line is not None) + "\n" + ("\n" + "\n".join(sorted(set(aliases))) + "\n" if aliases else "")
    )


def outputs(function: Any) -> int:
    """How many values a call gives beside its code, read from the list of its results."""
    lines = (function.__doc__ or "").splitlines()
    try:
        at = lines.index("Returns") + 2
    except ValueError:
        return 0
    count = 0
    for line in lines[at:]:
        if re.match(r"(See Also|Notes|Raises)$", line):
            break
        count += bool(re.match(r"\w+ ?:|\w+$", line)) and not re.match(r"(CUresult|cudaError_t)$", line)
    return count


def functions(module: ModuleType) -> dict[str, tuple[str, int]]:
    """Every function of the module: its parameters as text, and its number of results."""
    out = {}
    for name in dir(module):
        f = getattr(module, name)
        if name.startswith("cu") and callable(f) and not isinstance(f, type):
            shown = [p.name + ("" if p.default is p.empty else f"={p.default}") for p in inspect.signature(f).parameters.values()]
            out[name] = (", ".join(shown), outputs(f))
    return out


def write_signatures(module: ModuleType, what: str, path: Path) -> None:
    """The whole list of functions, for those that answer NOT_SUPPORTED."""
    out = [
        f'"""Every function of {what}: name, number of results, parameters; written by tests/runtime/derive_api.py."""',
        "",
        'SIGNATURES = """\\',
    ]
    out += [f"{name} {count} {parameters}".rstrip() for name, (parameters, count) in functions(module).items()]
    end = '"""  # noqa: E501' if max(map(len, out)) > 140 else '"""'
    path.write_text("\n".join([*out, end]) + "\n")


def write_constants(module: ModuleType, what: str, path: Path) -> None:
    """Plain numbers; the versions are those of the model, not of the package."""
    out = [f'"""The plain numbers of {what}, written by tests/runtime/derive_api.py."""', ""]
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, int) and not isinstance(value, type) and name.lower().startswith("cu"):
            out.append(f"{name} = {13000 if name in ('CUDA_VERSION', 'CUDART_VERSION') else int(value)}")
    path.write_text("\n".join(out) + "\n")


def main() -> None:
    """Writes all tables."""
    from cuda.bindings import driver, runtime  # type: ignore[import-not-found, unused-ignore]

    folder = Path(driver.__file__).parent
    d, r = ROOT / "runtime" / "driver", ROOT / "runtime" / "cudart"
    write_enums(driver, "the CUDA driver API", d / "enums.py")
    write_enums(runtime, "the CUDA runtime API", r / "enums.py")
    write_structs(driver, "the CUDA driver API", DRIVER_STRUCTS, folder / "cydriver.pxd", d / "structs.py")
    write_structs(runtime, "the CUDA runtime API", RUNTIME_STRUCTS, folder / "cyruntime.pxd", r / "structs.py", "CUuuid")
    write_constants(driver, "the CUDA driver API", d / "constants.py")
    write_constants(runtime, "the CUDA runtime API", r / "constants.py")
    write_signatures(driver, "the CUDA driver API", d / "signatures.py")
    write_signatures(runtime, "the CUDA runtime API", r / "signatures.py")


if __name__ == "__main__":
    main()
