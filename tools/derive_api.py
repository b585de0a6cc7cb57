"""Writes the tables of names that warplab.runtime.driver and .cudart share with the cuda-bindings package: enums, structures and constants.

Run with a Python that has cuda-bindings; no GPU is needed.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from warplab.runtime.driver.tables.compact import camel

ROOT = Path(__file__).parents[1]
BASIC = {
    "char": "char", "signed char": "char", "unsigned char": "u8", "short": "i16", "unsigned short": "u16", "int": "i32",
    "unsigned int": "u32", "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64", "size_t": "usize",
    "float": "f32", "double": "f64", "cuuint32_t": "u32", "cuuint64_t": "u64", "uint32_t": "u32", "uint64_t": "u64",
}  # fmt: skip
FUNCTIONS = (
    "CUhostFn",
    "CUstreamCallback",
    "CUoccupancyB2DSize",
    "CUasyncCallback",
    "cudaHostFn_t",
    "cudaStreamCallback_t",
    "cudaAsyncCallback",
)
DRIVER_STRUCTS = """CUuuid CUdevprop CUDA_MEMCPY2D CUDA_MEMCPY3D CUDA_MEMCPY3D_PEER CUDA_ARRAY_DESCRIPTOR CUDA_ARRAY3D_DESCRIPTOR
    CUDA_ARRAY_MEMORY_REQUIREMENTS CUDA_ARRAY_SPARSE_PROPERTIES CUDA_RESOURCE_DESC CUDA_TEXTURE_DESC CUDA_RESOURCE_VIEW_DESC CUlaunchConfig CUlaunchAttribute
    CUlaunchAttributeValue CUaccessPolicyWindow CUmemPoolProps CUmemLocation CUmemAccessDesc CUextent3D CUoffset3D CUDA_LAUNCH_PARAMS
    CUmemcpyAttributes CUctxCreateParams CUmemAllocationProp CUmulticastObjectProp CUlaunchMemSyncDomainMap CUtensorMap CUDA_KERNEL_NODE_PARAMS
    CUstreamBatchMemOpParams CUmemPoolPtrExportData CUDA_MEMSET_NODE_PARAMS CUDA_HOST_NODE_PARAMS CUDA_MEM_ALLOC_NODE_PARAMS
    CUDA_GRAPH_INSTANTIATE_PARAMS CUgraphEdgeData CUgraphExecUpdateResultInfo CUipcEventHandle CUipcMemHandle CUDA_MEMCPY3D_BATCH_OP
    CUdevResource CU_DEV_SM_RESOURCE_GROUP_PARAMS"""
RUNTIME_STRUCTS = """dim3 cudaUUID_t cudaDeviceProp cudaMemcpy3DParms cudaMemcpy3DPeerParms cudaPitchedPtr cudaExtent cudaPos
    cudaChannelFormatDesc cudaArraySparseProperties cudaPointerAttributes cudaFuncAttributes cudaMemPoolProps cudaMemLocation cudaMemAccessDesc cudaResourceDesc
    cudaTextureDesc cudaResourceViewDesc cudaMemcpyAttributes cudaAccessPolicyWindow cudaLaunchMemSyncDomainMap cudaLaunchAttribute
    cudaLaunchAttributeValue cudaLaunchConfig_t cudaKernelNodeParams cudaMemsetParams cudaHostNodeParams cudaMemAllocNodeParams
    cudaGraphInstantiateParams cudaGraphEdgeData cudaGraphExecUpdateResultInfo cudaIpcEventHandle_t cudaIpcMemHandle_t
    cudaArrayMemoryRequirements cudaMemPoolPtrExportData cudaMemcpy3DBatchOp cudaDevResource cudaDevSmResourceGroupParams"""


# Fields that share the place of the one before them: the package's declarations do not say so.
OVERLAID = {
    ("CUmemLocation", "localized"), ("cudaMemLocation", "localized"), ("cudaPointerAttributes", "unused"),
    *((name, field) for name in ("CUdevResource", "cudaDevResource") for field in ("wqConfig", "wq", "_oversize[40]")),
    ("CUstreamMemOpWaitValueParams_st", "value64"), ("CUstreamMemOpWriteValueParams_st", "value64"),
}  # fmt: skip


def enums(module: ModuleType) -> Iterator[type[Any]]:
    """The enum classes of a module."""
    for name in dir(module):
        found = getattr(module, name)
        if isinstance(found, type) and name != "_FastEnum" and any("FastEnum" in str(c) for c in found.__mro__):
            yield found


def common_prefix(names: list[str]) -> str:
    """What all names of an enum begin with, up to a place where a word ends."""
    first, last = min(names), max(names)
    start = first[: next((i for i, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), min(len(first), len(last)))]

    def fits(n: str) -> bool:
        rest = n[len(start) :]
        return bool(re.match(r"[A-Za-z]", rest)) and (start.endswith("_") or rest[0].isupper())

    while start and not all(map(fits, names)):
        start = start[:-1]
    return start


def listed(values: dict[str, int]) -> list[str]:
    """Names and numbers as words: the number only where it is not one more than the one before."""
    out, number = [], -1
    for name, value in values.items():
        out.append(name if value == number + 1 else f"{name}={value}")
        number = value
    return out


def enum_line(name: str, own: dict[str, int], others: dict[str, tuple[str, dict[str, int]]]) -> str:
    """An enum's line: written out, or as another API's enum in its own spelling where that is shorter."""
    prefix = common_prefix(list(own))
    best = f"{name} {prefix or '-'}: {' '.join(listed({n.removeprefix(prefix): v for n, v in own.items()}))}"
    for other, (theirs, values) in others.items():
        have = {prefix + camel(n.removeprefix(theirs)): v for n, v in values.items()}
        gone = [f"-{n.removeprefix(prefix)}" for n, v in have.items() if own.get(n) != v]
        more = listed({n.removeprefix(prefix): v for n, v in own.items() if have.get(n) != v})
        line = f"{name} {prefix or '-'} < {other}: {' '.join([*gone, *(f'+{w}' for w in more)])}".rstrip()
        in_order = list(own.values()) == sorted(own.values()) and len(set(own.values())) == len(own)
        if in_order and len(line) < len(best):
            best = line
    return best


def wrapped(line: str) -> str:
    """A line of a table, folded."""
    return textwrap.fill(line, 140, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def write_enums(module: ModuleType, what: str, path: Path, source: ModuleType | None = None) -> None:
    """All enums as a table."""
    others = {}
    for e in enums(source) if source is not None else ():
        prefix = common_prefix(list(e.__members__))
        others[e.__name__] = prefix, {n: int(v) for n, v in e.__members__.items()}
    lines: list[str] = []
    known: dict[str, str] = {}  # the line of a list of members: its enum
    for e in enums(module):
        line = enum_line(e.__name__, {n: int(v) for n, v in e.__members__.items()}, others)
        head, _, rest = line.removeprefix(e.__name__).partition(":")
        twin = f"{e.__name__}{head} = {known.setdefault(f'{head}:{rest}', e.__name__)}:"
        lines.append(wrapped(line if len(line) < 140 or known[f"{head}:{rest}"] == e.__name__ else twin))
    if source is None:
        write_table(path, f"The enums of {what}", "from .compact import Enums", lines, "ENUMS = Enums(__name__, _TABLE)")
    else:
        imports = "from ..driver.tables.compact import Enums\nfrom ..driver.tables.enums import ENUMS"
        write_table(path, f"The enums of {what}", imports, lines, "OWN = Enums(__name__, _TABLE, ENUMS)")


MODULE = """\
\"\"\"{title}: a table that tools/derive_api.py writes, in the form that driver/tables/compact.py reads.\"\"\"

from __future__ import annotations

{imports}

_TABLE = \"\"\"\\
{table}
\"\"\"
{make}
__getattr__ = {own}.attribute
__dir__ = {own}.names
"""
CONSTANTS = """\
\"\"\"The plain numbers of {what}: a table that tools/derive_api.py writes.\"\"\"

from {tables} import members

CONSTANTS = members(
    \"\"\"\\
{table}
\"\"\".split()
)
"""


def write_table(path: Path, title: str, imports: str, lines: list[str], make: str) -> None:
    """A module that holds a table and makes its classes."""
    own = make.split(" ", 1)[0]
    path.write_text(MODULE.format(title=title, imports=imports, table="\n".join(lines), make=make, own=own), encoding="utf-8")


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
            if self.resolve(inner) == self.resolve(owner):  # the next one of its kind
                return "pointer"
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
            notes.append(f"    {'|' if (name, n) in OVERLAID else ''}{shown}: {self.field(name, t, n)}")
        self.lines[name] = [f"class {name}({kind.capitalize()}):", *notes]
        self.order.append(name)
        return name


def handles(module: ModuleType, found: Declarations) -> tuple[list[str], dict[str, list[str]]]:
    """(classes whose instances stand for objects, or are addresses of functions; basic type -> classes that are numbers)."""
    plain: list[str] = []
    numbers: dict[str, list[str]] = {}
    for name in dir(module):
        known, target = getattr(module, name), found.aliases.get(name, "")
        if not isinstance(known, type) or name[:2] not in ("CU", "cu"):
            continue
        while target not in BASIC and target in found.aliases:
            target = found.aliases[target]
        if target in BASIC and name not in ("CUdeviceptr", "CUdevice"):
            numbers.setdefault(BASIC[target], []).append(name)
        elif name in ("CUdevice", "CUdeviceptr"):
            numbers.setdefault("i32" if name == "CUdevice" else "u64", []).append(name)
        elif re.fullmatch(r"\w+_st\*", target) or name in found.handles or name in FUNCTIONS:
            plain.append(name)
    return plain, numbers


def table_line(lines: list[str]) -> str:
    """A structure's class as a line of a table."""
    name, kind = re.fullmatch(r"class (\w+)\((\w+)\):", lines[0]).groups()  # type: ignore[union-attr]
    words = []
    for line in lines[1:]:
        field, _, note = line.strip().partition(": ")
        note = re.sub(r'Annotated\[list\[(\w+)\], "pointer"\]', r"\1*", note)
        note = re.sub(r"Annotated\[bytes, (\d+)\]", r"bytes[\1]", note)
        note = re.sub(r"Annotated\[list\[(\w+)\], (\d+)\]", r"\1[\2]", note)
        words.append(f"{field}:{note}")
    return f"{kind.lower()} {name} {' '.join(words)}"


def write_structs(module: ModuleType, what: str, wanted: str, pxd: Path, path: Path, shared: str = "") -> None:
    """Handles and structures as a table."""
    found = Declarations(pxd.read_text(encoding="utf-8"), module)
    for name in wanted.split():
        found.struct(name)
    lines = [table_line(found.lines[n]) for n in found.order]
    plain, numbers = handles(module, found)
    taken = shared.split()
    lines = [f"handle {' '.join(n for n in plain if n not in taken)}", *(f"number {k} {' '.join(v)}" for k, v in numbers.items()), *lines]
    known = {w for line in lines for w in line.split()}
    aliases: list[str] = []
    endings: dict[str, list[str]] = {}
    for name in dir(module):
        real = getattr(module, name)
        if name in known or not isinstance(real, type) or name.startswith("_"):
            continue
        for n in (*found.order, *plain):
            if real is getattr(module, n, None) or issubclass(real, getattr(module, n, ())) or issubclass(getattr(module, n, object), real):
                if real is not object and name.startswith(f"{n}_"):
                    endings.setdefault(name.removeprefix(n), []).append(n)
                elif real is not object:
                    aliases.append(f"{name}={n}")
                break
    lines += [f"ending {ending} {' '.join(names)}" for ending, names in endings.items()]
    lines.append("alias " + " ".join(aliases))
    lines = list(map(wrapped, lines))
    title = f"The handles and structures of {what}"
    if not shared:
        imports = "from .compact import Structs\nfrom .enums import ENUMS"
        write_table(path, title, imports, lines, "STRUCTS = Structs(__name__, _TABLE, ENUMS.get)")
    else:
        imports = (
            "from ..driver.tables.compact import Structs\nfrom ..driver.tables.structs import STRUCTS\nfrom .enums import OWN as ENUMS"
        )
        write_table(path, title, imports, lines, "OWN = Structs(__name__, _TABLE, lambda name: ENUMS.get(name) or STRUCTS.get(name))")


def write_constants(module: ModuleType, what: str, path: Path) -> None:
    """Plain numbers; the versions are those of the model, not of the package."""
    found = {}
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, int) and not isinstance(value, type) and name.lower().startswith("cu"):
            found[name] = 13000 if name in ("CUDA_VERSION", "CUDART_VERSION") else int(value)
    tables = ".compact" if path.parent.name == "tables" else "..driver.tables.compact"
    table = textwrap.fill(" ".join(f"{n}={v}" for n, v in found.items()), 140, break_long_words=False, break_on_hyphens=False)
    path.write_text(CONSTANTS.format(what=what, tables=tables, table=table), encoding="utf-8")


def main() -> None:
    """Writes all tables."""
    from cuda.bindings import driver, runtime  # type: ignore[import-not-found, unused-ignore]

    folder = Path(driver.__file__).parent
    d, r = ROOT / "runtime" / "driver", ROOT / "runtime" / "cudart"
    write_enums(driver, "the CUDA driver API", d / "tables" / "enums.py")
    write_enums(runtime, "the CUDA runtime API", r / "enums.py", driver)
    write_structs(driver, "the CUDA driver API", DRIVER_STRUCTS, folder / "cydriver.pxd", d / "tables" / "structs.py")
    write_structs(runtime, "the CUDA runtime API", RUNTIME_STRUCTS, folder / "cyruntime.pxd", r / "structs.py", "CUuuid")
    write_constants(driver, "the CUDA driver API", d / "tables" / "constants.py")
    write_constants(runtime, "the CUDA runtime API", r / "constants.py")


if __name__ == "__main__":
    main()
