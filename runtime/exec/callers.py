"""Who launches, in words: the calls that are under way in the program when it launches a kernel, the innermost first."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from ..errors import ApiError
from .binaries.lines import CallSite, call_site
from .binaries.maps import MappedObject, objects_by_address
from .binaries.unwind import CallFrame, calls, table_of

MOST = 8  # calls that are told
CUDA_HEADERS = "cuda_runtime"  # how the names of files begin whose inline functions launch on behalf of the program
OUTERMOST = "main"
SYSTEM = ("libc.so", "libc-", "libpthread", "ld-linux", "libstdc++")  # what calls main, and the functions of threads
STANDARD = ("std::", "_ZNSt", "_ZSt")  # how the names of functions begin that only pass calls on


class StoppedProgram(Protocol):
    """A program that waits for an answer; see process.HostProgram."""

    pid: int

    def word(self, address: int) -> int:
        """Eight bytes of its memory."""


@dataclass(frozen=True, slots=True)
class ProgramStack:
    """The stack of a thread that makes a call."""

    program: StoppedProgram
    innermost: CallFrame
    launch: int = 0  # where the <<<>>> stands that is being launched, if that is known
    object_of: Callable[[int], MappedObject | None] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "object_of", cache(objects_by_address(self.program.pid)))

    def places(self) -> list[int]:
        """Where the calls go on; what nvcc makes of <<<>>>, and calls inside of it, are no calls of the program's."""
        found: list[int] = []
        with suppress(ApiError):  # memory that can't be read ends the stack
            for call in calls(self.innermost, self.object_of, self.program.word):
                found.append(call.back)
        if not self.launch:
            return found
        holds = [n for n, back in enumerate(found) if self._function(back) == self._function(self.launch)]
        return [self.launch, *(found[holds[0] + 1 :] if holds else ())]

    def _function(self, back: int) -> tuple[str, int]:
        """What function goes on at an address."""
        o = self.object_of(back - 1)
        table = table_of(o) if o is not None else None
        return (o.path, table.function(back - 1 - o.base)) if o is not None and table is not None else ("", back)

    def sites(self) -> list[CallSite]:
        """The calls that the program's own code makes."""
        found: list[CallSite] = []
        for back in self.places():
            o = self.object_of(back - 1)
            if o is None or os.path.basename(o.path).startswith(SYSTEM):
                break
            found.append(call_site(o, back))
            if found[-1].function == OUTERMOST:
                break
        outside = [x for x in found if not x.file.startswith(CUDA_HEADERS) and not x.function.startswith(STANDARD)]
        return outside or [site.without_line() for site in found]


def told(sites: Sequence[CallSite]) -> str:
    """Calls in words: "at saxpy.cu:41 in step", and in the lines below it who calls step."""
    lines = [site.text for site in sites[:MOST]]
    if lines and not sites[0].line:
        lines[0] += " (nvcc -g keeps the line)"
    more = len(sites) - MOST
    return "\n    called ".join(lines) + (f"\n    and {more} more calls" if more > 0 else "")
