"""The one door through which a file becomes a program: PTX and object files as they are, CUDA C++ through a compiler of NVIDIA."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run.runspec import RunSpec

STDIN = "<stdin>"
PTX, CPP = ".ptx", ".cu"
_PTX = re.compile(r"^\s*\.(?:version|target|visible|entry|func)\b", re.M)
DEFAULT_DEVICE = "sm_90"


@dataclass(frozen=True, slots=True)
class InputFile:
    """What a file holds."""

    name: str
    data: bytes
    cpp: bytes = b""  # the CUDA C++ that it was compiled from
    too_new: bool = False  # was it compiled for a newer device than the one that it is for, as the compiler has no older target?
    log: str = ""  # what the compiler said, and for which other device it compiled

    @property
    def is_object(self) -> bool:
        return self.data.startswith(b"\x7fELF")

    @property
    def is_stdin(self) -> bool:
        return self.name == STDIN

    def text(self) -> str:
        """As text; bytes that are no UTF-8 survive a round trip."""
        return self.data.decode(errors="surrogateescape")


def suffix_of(text: str) -> str:
    """The end that the name of a file with this text has: PTX shows by its directives."""
    return PTX if _PTX.search(text) else CPP


def program_of(path: str, data: bytes, device: str = "", debug: bool = False, kernel: str = "") -> InputFile:
    """The program that a file holds; CUDA C++ is compiled for the device, or for that of the runs that it describes.

    A kernel template is instantiated where the runs, or `kernel`, name it with its arguments: `scale<float>`.
    Raises ApiError with the compiler's messages, and UsageError where there is no compiler.
    """
    if not path.endswith(CPP):
        return InputFile(path, data)
    from warplab.isa.profiles import runs_on

    from .compilers import compile_file
    from .run.runspec import LaunchSpec

    runs = _runs(path, data)
    device = device or oldest_device(runs)
    kernels = [kernel, *(step.kernel for spec in runs for step in spec.launches if isinstance(step, LaunchSpec))]
    instances = tuple(dict.fromkeys(k for k in kernels if k.endswith(">")))
    made = compile_file(Path(path), data, device, debug, instances)
    said = [made.log.strip()] if made.log.strip() else []
    if made.architecture != device:
        said.append(f"note: {path} is compiled for {made.architecture}: the compiler has no {device}")
    return InputFile(path, made.ptx, data, not runs_on(made.architecture, device), "\n".join(said))


def _runs(path: str, text: bytes) -> list[RunSpec]:
    """The runs that a file describes; none where they cannot be read, which is said where they are wanted."""
    from .errors import UsageError
    from .run.runspec import runs_beside

    try:
        return runs_beside(Path(path), text)
    except UsageError:
        return []


def oldest_device(runs: Sequence[RunSpec]) -> str:
    """The oldest device of the runs: code for it runs on the others, too."""
    from warplab.isa.profiles import target_capability

    from .device.described import target_of
    from .errors import UsageError

    try:
        return min((target_of(s.device or DEFAULT_DEVICE) for s in runs), key=target_capability, default=DEFAULT_DEVICE)
    except (ValueError, UsageError):
        return DEFAULT_DEVICE
