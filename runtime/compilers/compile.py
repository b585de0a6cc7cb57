"""Chooses the compiler, and says what to install where there is none."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Literal

from warplab.isa.profiles import target_capability

from ..errors import UsageError
from . import nvcc, nvrtc
from .cache import cached
from .source import Compiled, CppSource

INSTALL = "pip install 'warplab[cuda]' has one, or put nvcc on the PATH"


def compile_cpp(source: CppSource, first: Literal["nvcc", "nvrtc"] = "nvrtc") -> Compiled:
    """Compiles with the first compiler, else with the other.  nvcc also takes the host code of a program, NVRTC has no headers for it."""
    library, command = nvrtc.library(), shutil.which("nvcc")
    if command is not None and (first == "nvcc" or library is None):
        return nvcc.compile_cpp(source, command)
    if library is not None:
        return nvrtc.compile_cpp(source, library)
    raise UsageError(f"{source.name}: there is no compiler of CUDA C++: {INSTALL}")


def fitted(source: CppSource, first: Literal["nvcc", "nvrtc"] = "nvrtc") -> CppSource:
    """The source for a target that the compiler has: the newest that is not newer than the one asked for, else its oldest."""
    library, command = nvrtc.library(), shutil.which("nvcc")
    if command is not None and (first == "nvcc" or library is None):
        targets = nvcc.targets(command)
    elif library is not None:
        targets = nvrtc.targets(library)
    else:
        return source  # what compiles says that there is none
    wanted, known = target_capability(source.architecture), sorted(map(target_capability, targets))
    if wanted in known or not known:
        return source
    major, minor = max((t for t in known if t < wanted), default=known[0])
    return replace(source, architecture=f"sm_{major}{minor}")


def is_installed() -> bool:
    """Is there a compiler?"""
    return shutil.which("nvcc") is not None or nvrtc.library() is not None


def compiler(name: str) -> str:
    """Which compiler of which version takes the file of that name."""
    if (command := shutil.which("nvcc")) is not None:
        return nvcc.version(command)
    if (library := nvrtc.library()) is not None:
        return nvrtc.version(library)
    raise UsageError(f"{name}: there is no compiler of CUDA C++: {INSTALL}")


def compile_file(path: Path, text: bytes, architecture: str, debug: bool = False, instances: tuple[str, ...] = ()) -> Compiled:
    """A file as commands take it: perhaps a whole program, and with the lines of the source; `debug`: with its variables, not optimized."""
    words = ("-G" if debug else "-lineinfo",)
    source = fitted(CppSource(text.decode(errors="surrogateescape"), str(path), architecture, words, instances, path), "nvcc")
    return cached(source, compiler(source.name), lambda: compile_cpp(source, "nvcc"))
