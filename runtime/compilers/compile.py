"""Chooses the compiler, and says what to install where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
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
        instead = _instead(source, nvcc.targets(command)) if source.nearest else ""
        made = nvcc.compile_cpp(replace(source, architecture=instead or source.architecture), command)
    elif library is not None:
        instead = _instead(source, nvrtc.targets(library)) if source.nearest else ""
        made = nvrtc.compile_cpp(replace(source, architecture=instead or source.architecture), library)
    else:
        raise UsageError(f"{source.name}: there is no compiler of CUDA C++: {INSTALL}")
    return replace(made, instead=instead)


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


def _instead(source: CppSource, targets: Sequence[str]) -> str:
    """The newest target of a compiler that is not newer than the one asked for, else its oldest; "" where it has the one asked for."""
    wanted, known = target_capability(source.architecture), sorted(map(target_capability, targets))
    if wanted in known or not known:
        return ""
    major, minor = max((t for t in known if t < wanted), default=known[0])
    return f"sm_{major}{minor}"


def compile_file(path: Path, text: bytes, architecture: str, debug: bool = False, instances: tuple[str, ...] = ()) -> Compiled:
    """A file as commands take it: perhaps a whole program, and with the lines of the source; `debug`: with its variables, not optimized."""
    words = ("-G" if debug else "-lineinfo",)
    source = CppSource(text.decode(errors="surrogateescape"), str(path), architecture, words, instances, path, nearest=True)
    return cached(source, compiler(source.name), lambda: compile_cpp(source, "nvcc"))
