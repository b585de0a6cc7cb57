"""Chooses the compiler, and says what to install where there is none."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..errors import ApiError, UsageError

FAILED = "NVRTC_ERROR_COMPILATION"


@dataclass(frozen=True, slots=True)
class CppSource:
    """CUDA C++, and how it is to be compiled."""

    text: str
    name: str  # as errors name it
    architecture: str = "sm_90"
    words: tuple[str, ...] = ()  # options that nvcc and NVRTC spell alike
    expressions: tuple[str, ...] = ()  # names of kernels whose symbols are asked for; templates are instantiated by them
    path: Path | None = None  # the file that holds the text


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler made."""

    ptx: bytes
    log: str = ""  # its warnings
    symbols: dict[str, str] = field(default_factory=dict)  # of the expressions


def failed(name: str, log: str) -> ApiError:
    """The compiler found errors."""
    return ApiError(FAILED, f"error: {name} does not compile\n{log.strip()}")


def compile_cpp(source: CppSource, first: Literal["nvcc", "nvrtc"] = "nvrtc") -> Compiled:
    """Compiles with the first compiler, else with the other.  nvcc also takes the host code of a program, NVRTC has no headers for it."""
    from . import nvcc, nvrtc

    library, command = nvrtc.library(), shutil.which("nvcc")
    if command is not None and (first == "nvcc" or library is None):
        return nvcc.compile_cpp(source, command)
    if library is not None:
        return nvrtc.compile_cpp(source, library)
    raise UsageError(f"{source.name}: there is no compiler of CUDA C++: pip install 'warplab[cuda]' has one, or put nvcc on the PATH")


def compile_file(path: Path, text: bytes, architecture: str) -> Compiled:
    """A file as commands take it: perhaps a whole program, and with the lines of the source."""
    source = CppSource(text.decode(errors="surrogateescape"), str(path), architecture, ("-lineinfo",), path=path)
    return compile_cpp(source, "nvcc")
