"""What the compilers are given, and what they make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..errors import ApiError

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
    architecture: str  # for which target
    log: str = ""  # its warnings
    symbols: dict[str, str] = field(default_factory=dict)  # of the expressions


def failed(name: str, log: str) -> ApiError:
    """The compiler found errors."""
    return ApiError(FAILED, f"error: {name} does not compile\n{log.strip()}")
