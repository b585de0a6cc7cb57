"""Sizes and offsets of all structures against those that a C compiler finds in CUDA's headers."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from warplab.runtime.cudart.structs import OWN as RUNTIME
from warplab.runtime.driver.tables.compact import Structs
from warplab.runtime.driver.tables.structs import STRUCTS as DRIVER

PLACES = (Path("/usr/local/cuda/include"), Path(shutil.which("nvcc") or "/bin/nvcc").resolve().parents[1] / "include")
INCLUDE = next((p for p in PLACES if (p / "cuda.h").is_file()), None)
LONGER = "CUdevSmResource", "cudaDevSmResource"  # in later releases, whose fields lie in the padding of what holds them
BODY = re.compile(r"(?:struct|union)\s+(\w+)?\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}\s*(\w+)?;")


def measured(headers: str, names: dict[str, list[str]], folder: Path) -> dict[str, list[int]]:
    """name -> [size, offset of each field], -1 where C has no such field."""
    lines = []
    for name, fields in names.items():
        lines.append(f'printf("{name} %zu", sizeof({name}));')
        lines += [f'printf(" %zu", offsetof({name}, {field.rstrip("_")}));' for field in fields]
        lines.append('puts("");')
    source = folder / "sizes.cpp"
    source.write_text(f"{headers}\n#include <stdio.h>\n#include <stddef.h>\nint main(void) {{ {' '.join(lines)} return 0; }}\n")
    subprocess.run(["gcc", "-Wno-invalid-offsetof", f"-I{INCLUDE}", source, "-o", folder / "sizes"], check=True)
    rows = subprocess.run([folder / "sizes"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {row.split()[0]: list(map(int, row.split()[1:])) for row in rows}


@pytest.mark.parametrize(
    ("table", "headers"), [(DRIVER, "#include <cuda.h>"), (RUNTIME, "#include <cuda_runtime_api.h>")], ids=["driver", "runtime"]
)
def test_structures_are_laid_out_as_in_c(table: Structs, headers: str, tmp_path: Path) -> None:
    if INCLUDE is None or shutil.which("gcc") is None:
        pytest.skip("needs gcc and CUDA's headers")
    text = subprocess.run(
        ["gcc", "-E", f"-I{INCLUDE}", "-xc", "-"], input=headers + "\n", capture_output=True, text=True, check=True
    ).stdout
    bodies = {n: m[2] for m in BODY.finditer(re.sub(r"__attribute__\(\(.*?\)\)", "", text)) for n in (m[1], m[3]) if n}
    names = {}
    for name, (kind, words) in table.lines.items():
        body = next((bodies[n] for n in (name, f"{name}_v1", f"{name}_v2") if n in bodies), None)
        if kind in ("struct", "union") and body is not None:
            names[name] = [
                f
                for f in (w.partition(":")[0].removeprefix("|") for w in words)
                if f != "reserved" and re.search(rf"\b{f.rstrip('_')}(\[\w+\])?;", body)
            ]
    assert len(names) > 15
    wrong = []
    for name, (size, *offsets) in measured(headers, names, tmp_path).items():
        found = table.get(name)
        assert found is not None
        c = found.c_type
        if ctypes.sizeof(c) != size and not (name in LONGER and ctypes.sizeof(c) > size):
            wrong.append(f"{name}: {ctypes.sizeof(c)} bytes, {size} in C")
        wrong += [
            f"{name}.{f} at {getattr(c, f).offset}, {at} in C"
            for f, at in zip(names[name], offsets, strict=True)
            if getattr(c, f).offset != at
        ]
    assert not wrong, "\n".join(wrong)
