"""Who wrote an element last: the run is repeated with an observer that looks at one address."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass

import numpy as np

from warplab.interpreter.faults import Fault
from warplab.interpreter.observe import Access, Observer
from warplab.interpreter.values import plain

from .runner import Runner

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class LastWriter:
    """The thread that wrote an element last, and where."""

    block: Dim3 | None
    thread: Dim3 | None
    line: int
    source: str = ""  # file:line of the .loc in force

    def __str__(self) -> str:
        return f"written last by block {self.block}, thread {self.thread}, at line {self.line}" + (
            f" ({self.source})" if self.source else ""
        )


@contextmanager
def quiet() -> Iterator[None]:
    """What a repeated run prints was printed before."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


class Watch(Observer):
    """Remembers the last store to [low, low + size)."""

    def __init__(self, size: int) -> None:
        self.low = 0
        self.size = size
        self.found: LastWriter | None = None

    def access(self, access: Access) -> None:
        """See Observer."""
        if access.kind == "ld" or access.space not in ("global", "generic"):
            return
        group, size = access.group, access.type.bytes * access.count
        a = np.broadcast_to(plain(access.address), group.geometry.shape).astype(np.int64)
        hit = (a < self.low + self.size) & (a + size > self.low)
        if access.mask is not None:
            hit &= np.broadcast_to(access.mask, hit.shape)
        if hit.any():
            last = np.zeros(hit.shape, bool)
            last.reshape(-1)[np.flatnonzero(hit)[-1]] = True
            who = group.blame(Fault("", ""), last)
            site = access.site
            self.found = LastWriter(who.block, who.thread, site.instruction.span.line, group.wave.launch.source_of(site))


def last_writer(runner: Runner, name: str, index: tuple[int, ...]) -> LastWriter | None:
    """The thread that writes an element of a buffer or a variable last in a run that has not begun; None where none does."""
    watch = Watch(1)
    runner.context.observers = (*runner.context.observers, watch)

    def found(address: int, shape: tuple[int, ...], size: int) -> None:
        watch.low, watch.size = address + (int(np.ravel_multi_index(index, shape)) if index else 0) * size, size

    variable = runner.module.program.variables.get(name)
    if variable is not None:
        found(runner.module.variable(name)[0], (variable.size // variable.type.dtype.itemsize,), variable.type.dtype.itemsize)
    runner.on_buffer = lambda b: found(b.address, b.before.shape, b.before.dtype.itemsize) if b.name == name else None
    with quiet():
        runner.run()
    return watch.found
