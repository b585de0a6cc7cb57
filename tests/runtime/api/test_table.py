"""The tables of CUDA's calls: they read as they say, and equal the functions here, cuda.bindings and CUDA's headers."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tools.api_table import BEYOND
from warplab.runtime import cudart, driver
from warplab.runtime.api.table import ApiTable, driver_calls, runtime_calls
from warplab.runtime.cudart import from_c
from warplab.runtime.driver.unsupported import is_refusal
from warplab.runtime.exec.handlers.abi import passed

TABLES = {"driver": (driver_calls(), driver, "cuda.bindings.driver"), "runtime": (runtime_calls(), cudart, "cuda.bindings.runtime")}
BASIC = {
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "short": "i16", "unsigned short": "u16", "int": "i32", "unsigned": "u32",
    "unsigned int": "u32", "long": "i64", "unsigned long": "u64", "long long": "i64", "unsigned long long": "u64", "float": "f32",
    "double": "f64", "unsigned long int": "u64",
}  # fmt: skip
# What cuda.bindings calls a parameter, by what C calls it.
SAID = {
    "type": "typename", "from": "from_", "input": "input_", "len": "length", "get": "attrib", "set": "attrib", "useFlags": "flags",
    "format": "pformat", "hfunc": "function", "bytes": "numbytes", "driverVersion": "cudaVersion", "graphExec": "hGraphExec", "node": "hNode",
    "leId": "baseLeId", "numParams": "numOps", "attrIdxs": "attrsIdxs", "hmod": "mod", "dev": "device", "global": "global_",
    "hGraph": "hGraphExec", "dstStream": "dst", "srcStream": "src", "param": "value", "value": "value_out",
}  # fmt: skip


def test_a_row_reads_as_it_says() -> None:
    call = driver_calls()["cuMemAllocPitch"]
    assert [(p.name, p.type, p.mark) for p in call.parameters] == [
        ("dptr", "CUdeviceptr", "*"), ("pPitch", "u64", "*"), ("WidthInBytes", "u64", ""), ("Height", "u64", ""), ("ElementSizeBytes", "u32", ""),
    ]  # fmt: skip
    assert str(call.signature) == "(WidthInBytes, Height, ElementSizeBytes)" and [r.name for r in call.results] == ["dptr", "pPitch"]
    new, old = call.forms
    assert (new.name, new.version, old.name, old.version, old.parameters) == ("cuMemAllocPitch_v2", 3020, "cuMemAllocPitch", 2000, None)
    edges = runtime_calls()["cudaGraphGetEdges"]
    assert str(edges.signature) == "(graph, numEdges=0)" and [r.name for r in edges.results] == ["from_", "to", "edgeData", "numEdges"]
    assert edges.forward == "cuGraphGetEdges" and [f.name for f in edges.forms][:2] == ["cudaGraphGetEdges", "cudaGraphGetEdges@12"]


@pytest.mark.parametrize("which", TABLES)
def test_every_word_of_a_table_is_read(which: str) -> None:
    table = TABLES[which][0]
    for call, form in table.forms():
        words = [] if form.text == "-" else form.text.split()
        assert form.parameters is None or len(form.parameters) + form.text.count("return:") == len(words), form.name
        counts = {p.count.partition("-")[0] for p in form.parameters or ()} - {""}
        assert counts <= {p.name for p in form.parameters or ()} | {"4"}, form.name
        assert {p.name for p in call.results}.isdisjoint(p.name for p in call.arguments if p.mark != "="), call.name


@pytest.mark.parametrize("which", TABLES)
def test_functions_have_the_parameters_of_their_rows(which: str) -> None:
    table, module, _ = TABLES[which]
    spaces = [module, from_c] if which == "runtime" else [module]
    found = {name: f for space in spaces for name, f in vars(space).items() if inspect.isfunction(f) and name in table.rows}
    assert len(found) > 80
    for name, f in found.items():
        said = [(p.name, p.default) for p in inspect.signature(f).parameters.values()]
        assert said == [(p.name, p.default) for p in table[name].signature.parameters.values()], name


@pytest.mark.parametrize("which", TABLES)
def test_calls_give_what_their_rows_say(which: str) -> None:
    """The annotation of a function names as many results as its row."""
    table, module, _ = TABLES[which]
    for name in table.python_names():
        f, row = getattr(module, name), table[name]
        if row.forward or is_refusal(f):
            continue
        said = str(inspect.signature(f).return_annotation)
        if said in ("Work", "NoReturn") or "..." in said:
            continue
        parts = re.split(r", (?![^\[]*\])", m[1]) if (m := re.fullmatch(r"tuple\[(.*)\]", said)) else [said] if said != "None" else []
        assert len(parts) == len(row.results) or (len(row.results) == 1 and m), (name, said)


def _results(f: object) -> int:
    """How many values a call of cuda.bindings gives beside its code, read from its documentation."""
    lines = (getattr(f, "__doc__", "") or "").splitlines()
    if "Returns" not in lines:
        return 0
    count = 0
    for line in lines[lines.index("Returns") + 2 :]:
        if re.match(r"(See Also|Notes|Raises)$", line):
            break
        count += bool(re.match(r"\w+ ?:|\w+$", line)) and not re.match(r"(CUresult|cudaError_t)$", line)
    return count


@pytest.mark.parametrize("which", TABLES)
def test_rows_equal_cuda_bindings(which: str) -> None:
    table, _, name = TABLES[which]
    real: ModuleType = pytest.importorskip(name, exc_type=ImportError)
    calls = {n: f for n, f in vars(real).items() if re.match("cu(da)?[A-Z]", n) and inspect.isroutine(f)}
    assert set(calls) == set(table.python_names()) - set(BEYOND)
    for n, f in calls.items():
        said = [(p.name, p.default) for p in inspect.signature(f).parameters.values()]
        assert said == [(p.name, p.default) for p in table[n].signature.parameters.values()], n
        if n not in ("cudaCreateChannelDesc", "cudaGetExportTable"):  # their documentation lists no result
            assert len(table[n].results) == _results(f), n


# ---------------------------------------------------------------- CUDA's headers


@cache
def preprocessed(*headers: str) -> str:
    """Headers of the nvcc on the PATH, and all that they include, without comments."""
    nvcc, gcc = shutil.which("nvcc"), shutil.which("gcc")
    said = subprocess.run([nvcc, "--dryrun", "-x", "cu", "-c", os.devnull], capture_output=True, text=True).stderr if nvcc else ""
    found = re.search(r'INCLUDES="-I([^"]+)"', said)
    if gcc is None or found is None:
        pytest.skip("needs gcc and nvcc")
    include = Path(found[1]).resolve()
    defines = ["-DCUDA_ENABLE_DEPRECATED", "-D__CUDA_API_VERSION_INTERNAL"] if headers[0] == "cudaTypedefs.h" else []
    text = "".join(f"#include <{header}>\n" for header in headers)
    command = [gcc, "-E", "-P", "-x", "c", f"-I{include}", *defines, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


class Header:
    """The types of a header, as far as the calling convention tells them apart."""

    def __init__(self, text: str) -> None:
        self.enums = set(re.findall(r"\benum (?:__attribute__\(\(.*?\)\) )?(\w+)\s*\{", text))
        self.enums |= set(re.findall(r"typedef enum \w*\s*\{[^}]*\}\s*(\w+);", text))
        self.functions = set(re.findall(r"typedef [\w ]+\(\s*\*?\s*(\w+)\)\(", text))
        self.aliases = {name: target.strip() for target, name in re.findall(r"typedef ([\w ]+?\**) ?(\w+)(?:\[\w+\])?;", text)}

    def passed(self, kind: str) -> str:
        """The kind of a parameter; "" of a structure."""
        seen = re.sub(r"\b(struct|enum|union|const)\b", "", kind).strip()
        while seen not in BASIC:
            if seen.endswith("*") or seen in self.functions:
                return "ptr"
            if seen in self.enums:
                return "i32"
            target = re.sub(r"\b(struct|enum|union|const)\b", "", self.aliases.get(seen, "")).strip()
            if target in ("", seen):
                return ""
            seen = target
        return BASIC[seen]

    def parameters(self, text: str) -> list[tuple[str, str]]:
        """(name, kind) of each."""
        out = []
        for part in " ".join(text.split()).split(",") if text.strip() not in ("", "void") else ():
            m = re.fullmatch(r"(.*?)(\w+)( ?\[.*\])?", part.replace("*", " * ").strip())
            assert m is not None, part
            out.append((m[2], "ptr" if m[3] else self.passed(m[1].strip())))
        return out


def differing(table: ApiTable, declared: Iterator[tuple[str, int, list[tuple[str, str]]]]) -> list[str]:
    """The functions of a header that a table does not have as they are."""
    forms = {form.name: form for _, form in table.forms()}
    wrong = []
    for name, version, parameters in declared:
        if name not in forms:
            wrong.append(f"{name} is missing")
            continue
        form = forms[name]
        if form.version != version:
            wrong.append(f"{name} is of {version}, not of {form.version}")
        if form.parameters is None:
            continue
        pairs = list(zip(form.parameters, parameters, strict=False))
        same = len(form.parameters) == len(parameters) and all(
            p.name in (n, SAID.get(n)) and kind in ("", passed(p)) for p, (n, kind) in pairs
        )
        if not same:
            wrong.append(f"{name}: {form.text} is {parameters}")
    return wrong


def test_the_driver_equals_its_header() -> None:
    text = preprocessed("cudaTypedefs.h", "cudaProfilerTypedefs.h")
    header = Header(text)
    found: dict[str, dict[int, dict[str, str]]] = {}
    for name, version, ending, parameters in re.findall(r"PFN_(\w+?)_v(\d+)(_pt[ds][sz])?\)\s*\((.*?)\);", text, re.S):
        found.setdefault(name, {}).setdefault(int(version), {})[ending] = parameters

    def declared() -> Iterator[tuple[str, int, list[tuple[str, str]]]]:
        for name, versions in found.items():
            plain = [v for v in sorted(versions) if "" in versions[v]]
            for version, forms in versions.items():
                rank = max(1, sum(v <= version for v in plain))
                own = name + (f"_v{rank}" if rank > 1 else "")
                own = "cuGraphInstantiateWithFlags" if (name, version) == ("cuGraphInstantiate", 12000) else own
                for ending, parameters in forms.items():
                    yield own + ending, version, header.parameters(parameters)

    assert len(found) > 400
    assert differing(driver_calls(), declared()) == []


def test_the_runtime_equals_its_header() -> None:
    text = re.sub(r"__attribute__\(\(.*?\)\)+|__dv\([^)]*\)", "", preprocessed("cuda_runtime_api.h", "cuda_profiler_api.h"))
    header = Header(text)
    found = dict(re.findall(r"\b(cuda[A-Z]\w*)\s*\(((?:[^();]|\([^()]*\))*)\)\s*;", text))
    known = {form.name for _, form in runtime_calls().forms()}
    assert len(found.keys() & known) > 300
    assert (
        differing(runtime_calls(), ((n, 0, header.parameters(p)) for n, p in found.items() if n in known or n not in runtime_calls().rows))
        == []
    )
