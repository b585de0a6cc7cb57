"""nvcc as a process."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .source import Compiled, CppSource, failed

ENTRY = re.compile(r"\.entry\s+([\w$.]+)")


@cache
def version(command: str) -> str:
    """What it says of itself."""
    return subprocess.run([command, "--version"], capture_output=True, encoding="utf-8", errors="replace").stdout


@cache
def targets(command: str) -> list[str]:
    """The targets that it has."""
    return subprocess.run([command, "--list-gpu-arch"], capture_output=True, encoding="utf-8", errors="replace").stdout.split()


def compile_cpp(source: CppSource, command: str) -> Compiled:
    """Compiles a file, or a text that is written into one; what nvcc says of it names the source, not that file."""
    with TemporaryDirectory() as folder:
        path, ptx = source.path, Path(folder) / "out.ptx"
        if path is None or source.expressions:
            # a pointer to each kernel, in host code: nvcc then instantiates the template
            names = (f"warplab_name_{i}" for i in range(len(source.expressions)))
            more = "".join(
                f"\nextern const void *const {name}; const void *const {name} = (const void *)({e});"
                for name, e in zip(names, source.expressions, strict=True)
            )
            beside = [] if path is None else [f"-I{path.parent}"]
            path = Path(folder) / "program.cu"
            path.write_text(source.text + more + "\n", encoding="utf-8", errors="surrogateescape")
        else:
            beside = []
        words = [command, "-ptx", f"-arch={source.architecture}", *source.words, *beside, "-o", str(ptx), str(path)]
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace")
        log = (done.stdout + done.stderr).replace(str(path), source.name)
        if done.returncode:
            raise failed(source.name, log)
        made = ptx.read_bytes().replace(str(path).encode(), source.name.encode())
    return Compiled(made, source.architecture, log, _symbols(source, made) if source.expressions else {})


def _symbols(source: CppSource, made: bytes) -> dict[str, str]:
    """The kernels that a source's expressions name."""
    from warplab.assembler.demangle import matching  # here: what compiles a whole file does without the assembler

    entries = ENTRY.findall(made.decode(errors="replace"))
    symbols = {}
    for e in source.expressions:
        found = matching(entries, e.strip().removeprefix("&").strip())
        if len(found) != 1:
            raise failed(source.name, f"{e} is the name of {len(found)} kernels")
        symbols[e] = found[0]
    return symbols
