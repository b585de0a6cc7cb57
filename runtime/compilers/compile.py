"""Chooses the compiler, and says what to install where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from warplab.isa.profiles import target_capability

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
    nearest: bool = False  # another target may stand for one that the compiler does not have


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler made."""

    ptx: bytes
    log: str = ""  # its warnings
    symbols: dict[str, str] = field(default_factory=dict)  # of the expressions
    instead: str = ""  # the target that stands for the one that was asked for


def failed(name: str, log: str) -> ApiError:
    """The compiler found errors."""
    return ApiError(FAILED, f"error: {name} does not compile\n{log.strip()}")


def compile_cpp(source: CppSource, first: Literal["nvcc", "nvrtc"] = "nvrtc") -> Compiled:
    """Compiles with the first compiler, else with the other.  nvcc also takes the host code of a program, NVRTC has no headers for it."""
    from . import nvcc, nvrtc

    library, command = nvrtc.library(), shutil.which("nvcc")
    if command is not None and (first == "nvcc" or library is None):
        instead = _instead(source, nvcc.targets(command)) if source.nearest else ""
        made = nvcc.compile_cpp(replace(source, architecture=instead or source.architecture), command)
    elif library is not None:
        instead = _instead(source, nvrtc.targets(library)) if source.nearest else ""
        made = nvrtc.compile_cpp(replace(source, architecture=instead or source.architecture), library)
    else:
        raise UsageError(f"{source.name}: there is no compiler of CUDA C++: pip install 'warplab[cuda]' has one, or put nvcc on the PATH")
    return replace(made, instead=instead)


def _instead(source: CppSource, targets: Sequence[str]) -> str:
    """The newest target of a compiler that is not newer than the one asked for, else its oldest; "" where it has the one asked for."""
    wanted, known = target_capability(source.architecture), sorted(map(target_capability, targets))
    if wanted in known or not known:
        return ""
    major, minor = max((t for t in known if t < wanted), default=known[0])
    return f"sm_{major}{minor}"


def compile_file(path: Path, text: bytes, architecture: str) -> Compiled:
    """A file as commands take it: perhaps a whole program, and with the lines of the source."""
    source = CppSource(text.decode(errors="surrogateescape"), str(path), architecture, ("-lineinfo",), path=path, nearest=True)
    return compile_cpp(source, "nvcc")
