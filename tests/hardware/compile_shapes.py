"""Compiles tests/data/shapes/shapes.cu, each kernel without and with each of its errors, to shapes.ptx.xz beside it.  It needs nvcc."""

from __future__ import annotations

import lzma
import re
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "data/shapes/shapes.cu"


def main() -> None:
    text = SOURCE.read_text()
    kernels = re.findall(r"^// launch: \d+ \d+ (\d+)\nKERNEL (\w+)", text, re.M)
    instances = [f"template __global__ void {name}<{bug}>(ARGUMENTS);\n" for errors, name in kernels for bug in range(int(errors) + 1)]
    with tempfile.TemporaryDirectory() as folder:
        every = Path(folder) / "every.cu"
        every.write_text(f'#include "{SOURCE}"\n{"".join(instances)}')
        words = ["nvcc", "-std=c++17", "-arch=sm_80", "-lineinfo", "-ptx", str(every), "-o", str(every.with_suffix(".ptx"))]
        subprocess.run(words, check=True)
        ptx = every.with_suffix(".ptx").read_text()
    ptx = re.sub(r'"[^"\n]*/([^/"\n]+)"', r'"\1"', ptx)  # files without their folders
    SOURCE.with_suffix(".ptx.xz").write_bytes(lzma.compress(ptx.encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
