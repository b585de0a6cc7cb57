"""What came of a run: buffers, mismatches, what ended it, findings of the checkers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.demangle import short_name
from warplab.interpreter.checkers.findings import Finding
from warplab.interpreter.faults import ExecutionError, LimitReached

from ..device.modules.kernels import KernelHandle, LaunchShape
from .expect import Mismatch
from .inputs.resources import RunTexels
from .inputs.values import POISON

Array = NDArray[Any]
DOUBTFUL = ("never-written", "read-first", "divergent-barrier", "missing-return")  # warnings that a run shows


@dataclass(slots=True)
class RunBuffer:
    """A named array in device memory."""

    name: str
    type: str
    way: str
    before: Array
    address: int
    poisoned: bool = False
    after: Array | None = None
    texels: RunTexels | None = None  # of a texture or a surface, whose address is then its handle

    @property
    def unwritten(self) -> Array | None:
        """Which cells still hold the poison, of a buffer that began with it."""
        if not self.poisoned or self.after is None:
            return None
        cells: Array = self.after.reshape(-1).view(np.uint8).reshape(-1, self.after.dtype.itemsize) == POISON
        return np.asarray(cells.all(axis=1)).reshape(self.after.shape)

    @property
    def changed(self) -> bool:
        """Did the launches write to it?"""
        assert self.after is not None
        return self.after.tobytes() != self.before.tobytes()


@dataclass(slots=True)
class Outcome:
    """What came of a run."""

    buffers: dict[str, RunBuffer] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)
    checked: int = 0
    failure: str = ""  # what ended it early, in words
    error: str = ""  # CUDA's name for that
    cause: ExecutionError | None = None
    assertions: list[str] = field(default_factory=list)  # a line for each thread whose assert failed
    findings: tuple[Finding, ...] = ()  # of the checkers that the run asked for
    suppressed: int = 0  # findings that are known

    @property
    def code(self) -> int:
        """The exit code: 0 ok, 1 a check failed, 4 device fault or deadlock, 5 limit."""
        if self.failure:
            return 5 if isinstance(self.cause, LimitReached) else 4
        return 1 if self.mismatches or self.errors else 0

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What the checkers call an error."""
        return tuple(f for f in self.findings if f.severity == "error")


def describe_launches(trail: Sequence[tuple[KernelHandle, LaunchShape]]) -> str:
    """`vecadd<<<4, 256>>>`, or the first and how many more."""
    if not trail:
        return "no launch"
    handle, shape = trail[0]

    def short(d: tuple[int, int, int]) -> str:
        kept = list(d)
        while len(kept) > 1 and kept[-1] == 1:
            kept.pop()
        return str(kept[0]) if len(kept) == 1 else str(tuple(kept))

    more = f" and {len(trail) - 1} more" if len(trail) > 1 else ""
    return f"{short_name(handle.name)}<<<{short(shape.grid)}, {short(shape.block)}>>>{more}"
