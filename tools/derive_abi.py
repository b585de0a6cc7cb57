"""Writes the tables of C functions that `warplab exec` answers, from CUDA's own headers: runtime/exec/handlers/driver_calls.py, runtime_calls.py.

python -m tools.derive_abi /usr/local/cuda/include

The headers are those of CUDA 13.5, which pip has: nvidia-cuda-runtime, nvidia-cuda-crt, nvidia-cuda-profiler-api, nvidia-cuda-cccl.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "runtime" / "exec"
BASIC = {
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "short": "i16", "unsigned short": "u16", "int": "i32", "unsigned": "u32",
    "unsigned int": "u32", "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64", "size_t": "u64",
    "float": "f32", "double": "f64", "cuuint32_t": "u32", "cuuint64_t": "u64", "uint32_t": "u32", "uint64_t": "u64",
}  # fmt: skip
OTHERS = ("cuda_profiler_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h")  # beside cuda_runtime_api.h
GRAPHICS = ("cudaGLTypedefs.h", "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h")  # their types are other libraries': no parameter is read
FORM = r"PFN_(\w+?)_v(\d+)(_pt[ds][sz])?\)\s*\((.*?)\);"  # of a driver call
HIDDEN = {  # what nvcc's host code calls; crt/host_runtime.h declares most of it
    "__cudaRegisterFatBinary": "wrapper:ptr",
    "__cudaRegisterFatBinaryEnd": "handle:ptr",
    "__cudaUnregisterFatBinary": "handle:ptr",
    "__cudaRegisterFunction": "handle:ptr hostFun:ptr deviceFun:str deviceName:str",
    "__cudaRegisterVar": "handle:ptr hostVar:ptr deviceAddress:str deviceName:str ext:i32 size:u64 constant:i32 global_:i32",
    "__cudaRegisterManagedVar": "handle:ptr hostVarPtrAddress:ptr deviceAddress:str deviceName:str ext:i32 size:u64 constant:i32 global_:i32",
    "__cudaRegisterHostVar": "handle:ptr deviceName:str hostVar:ptr size:u64",
    "__cudaRegisterUnifiedTable": "handle:ptr table:ptr",
    "__cudaInitModule": "handle:ptr",
    "__cudaPushCallConfiguration": "gridDim:dim3 blockDim:dim3 sharedMem:u64 stream:ptr",
    "__cudaPopCallConfiguration": "gridDim:dim3* blockDim:dim3* sharedMem:u64* stream:ptr*",
    "__cudaGetKernel": "kernel:ptr* entryFuncAddr:ptr",
    "__cudaLaunchKernel": "kernel:ptr gridDim:dim3 blockDim:dim3 args:ptr sharedMem:u64 stream:ptr",
    "__cudaGetProcAddress": "symbol:str pfn:ptr* version:i32 flags:u64",
}
MODULE = '''\
"""The C functions of {what}, written by tools/derive_abi.py: parameters, then the names of those that have them.

A parameter is name:type; type* is written or read through a pointer, type& only read; after a name stands the first version that has it.
"""

CALLS = """\\
{table}
"""
'''


def preprocessed(include: Path, header: str, *defines: str) -> str:
    """A header and all that it includes, without comments."""
    command = ["gcc", "-E", "-P", "-x", "c", f"-I{include}", *(f"-D{d}" for d in defines), "-"]
    return subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True, check=True).stdout


class CTypes:
    """What the names of types stand for."""

    def __init__(self, text: str) -> None:
        self.aliases: dict[str, str] = {}
        self.enums = set(re.findall(r"\benum (?:__attribute__\(\(.*?\)\) )?(\w+)\s*\{", text))
        self.structs = set(re.findall(r"\b(?:struct|union) (?:__attribute__\(\(.*?\)\) )?(\w+)\s*\{", text))
        for body in re.finditer(r"\}\s*(?:__attribute__\(\(.*?\)\)\s*)?(\w+);", text):
            self.structs.add(body[1])
        for target, name in re.findall(r"typedef ([\w ]+?\**) ?(\w+)(?:\[\w+\])?;", text):
            self.aliases[name] = target.strip()
        self.functions = set(re.findall(r"typedef [\w ]+\(\s*\*?\s*(\w+)\)\(", text))
        for name in re.findall(r"typedef enum \w*\s*\{[^}]*\}\s*(\w+);", text):
            self.enums.add(name)

    def kind(self, words: str) -> str:
        """The table's word for a type by value."""
        seen = re.sub(r"\b(struct|enum|union)\b", "", words).strip()
        first = seen
        while True:
            if seen in BASIC:
                return BASIC[seen]
            if seen.endswith("*") or seen in self.functions:
                return "ptr"
            if seen in self.enums:
                return "i32"
            if seen in self.aliases and (target := re.sub(r"\b(struct|enum|union|const)\b", "", self.aliases[seen]).strip()) != seen:
                seen = target
                continue
            assert seen in self.structs, (words, seen)
            return re.sub(r"(_v\d+|_st)+$", "", first)

    def parameter(self, text: str) -> str:
        """A parameter as the table has it."""
        text = " ".join(text.replace("*", " * ").split())
        m = re.fullmatch(r"(.*?)(\w+)( ?\[.*\])?", text)
        assert m is not None, text
        kind, name = m[1].strip(), m[2] + ("_" if m[2] in ("from", "typename", "input", "global") else "")
        if m[3]:
            kind += " *"
        stars = kind.count("*")
        constant = kind.startswith("const") or " const *" in kind
        plain = re.sub(r"\bconst\b|\*", "", kind).strip()
        if stars == 0:
            return f"{name}:{self.kind(plain)}"
        mark = "&" if constant else "*"
        if stars == 2:
            return f"{name}:{'ptr&' if kind.startswith('void * const') or 'void * const' in kind else 'ptr*'}"
        if plain == "void":
            return f"{name}:ptr"
        if plain == "char":
            return f"{name}:str" if constant else f"{name}:chars"
        kind = self.kind(plain)
        return f"{name}:{kind}{mark}"

    def parameters(self, text: str) -> str:
        """All parameters."""
        text = re.sub(r"\s+", " ", text).strip()
        return "" if text in ("", "void") else " ".join(self.parameter(p) for p in text.split(","))


def driver(include: Path) -> Iterator[tuple[str, str]]:
    """(parameters, exported name=name:version) of every form of every driver call."""
    types = CTypes(preprocessed(include, "cudaProfiler.h", "__CUDA_API_VERSION_INTERNAL"))
    text = preprocessed(include, "cudaTypedefs.h", "CUDA_ENABLE_DEPRECATED", "__CUDA_API_VERSION_INTERNAL") + (
        include / "cudaTypedefs.h"
    ).read_text(encoding="utf-8")
    text += (include / "cudaProfilerTypedefs.h").read_text(encoding="utf-8")
    graphics = "".join((include / header).read_text(encoding="utf-8") for header in GRAPHICS)
    forms: dict[str, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for name, version, ending, parameters in re.findall(FORM, text, re.S) + [(*form[:3], "") for form in re.findall(FORM, graphics, re.S)]:
        forms[name][int(version)][ending] = parameters
    for name, versions in forms.items():
        plain = [v for v in sorted(versions) if "" in versions[v]]
        for version in sorted(versions):
            for ending, parameters in versions[version].items():
                rank = max(1, sum(v <= version for v in plain))
                exported = name + (f"_v{rank}" if rank > 1 else "") + ending
                if name == "cuGraphInstantiate" and version == 12000:
                    exported = "cuGraphInstantiateWithFlags"
                yield (
                    (
                        "-"
                        if re.search(r"CUdeviceptr_v1|CUDA_(MEMCPY[23]D|ARRAY\w*_DESCRIPTOR)_v1", parameters)
                        else types.parameters(parameters)
                    ),
                    f"{exported}:{version}",
                )


def runtime(include: Path, library: Path) -> Iterator[tuple[str, str]]:
    """(parameters, exported name) of every export of the runtime library."""
    text = preprocessed(include, "cuda_runtime_api.h")
    for header in OTHERS:
        text += re.sub(r"/\*.*?\*/|//[^\n]*", "", (include / header).read_text(encoding="utf-8"), flags=re.S)
    types = CTypes(text)
    declared = dict(
        re.findall(r"\b(cuda[A-Z]\w*)\s*\(((?:[^();]|\([^()]*\))*)\)\s*;", re.sub(r"__attribute__\(\(.*?\)\)+|__dv\([^)]*\)", "", text))
    )
    listed = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    for line in sorted(line.split()[-1].split("@")[0] for line in listed.splitlines() if " T " in line):
        name = re.sub(r"_pt[ds][sz]$", "", line)
        if name in HIDDEN:
            yield HIDDEN[name], line
        elif name not in declared or re.search("EGL|Egl|GL[A-Z]|VDPAU|GLGet|GLSet|GLMap", name):
            yield "-", line
        else:
            yield types.parameters(declared[name]), line


def write(path: Path, what: str, rows: Iterator[tuple[str, str]]) -> None:
    """A table: one line for each list of parameters."""
    found: dict[str, list[str]] = defaultdict(list)
    for parameters, name in rows:
        if name not in found[parameters]:
            found[parameters].append(name)
    lines = []
    for parameters, names in sorted(found.items()):
        line = f"{parameters} | {' '.join(names)}".strip()
        lines.append(textwrap.fill(line, 140, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False))
    path.write_text(MODULE.format(what=what, table="\n".join(lines)), encoding="utf-8")


def main() -> None:
    """Writes both tables."""
    include = Path(sys.argv[1])
    write(ROOT / "handlers" / "driver_calls.py", "the driver library", driver(include))
    library = next(include.parent.glob("lib*/libcudart.so*"))
    write(ROOT / "handlers" / "runtime_calls.py", "the runtime library", runtime(include, library))


if __name__ == "__main__":
    main()
