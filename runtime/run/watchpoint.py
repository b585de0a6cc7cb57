"""Who wrote an element last: the run is repeated with an observer that looks at one address."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.faults import Fault
from warplab.interpreter.observe import Access, Observer
from warplab.interpreter.values import plain

from ..device.output import quiet
from .runner import Runner

Dim3 = tuple[int, int, int]
KEPT = 64  # stores to one place that are remembered


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


class Watch(Observer):
    """Remembers the last stores to [low, low + size), and what each of them left there, as far as that is known."""

    def __init__(self) -> None:
        self.low = 0
        self.size = 1
        self.stores: deque[tuple[bytes, LastWriter]] = deque(maxlen=KEPT)

    def access(self, access: Access) -> None:
        """See Observer."""
        if access.kind == "ld" or access.space not in ("global", "generic"):
            return
        group, size = access.group, access.type.bytes * access.count
        a = np.broadcast_to(plain(access.address), group.geometry.shape).astype(np.int64)
        hit = (a < self.low + self.size) & (a + size > self.low)
        if access.mask is not None:
            hit &= np.broadcast_to(access.mask, hit.shape)
        site = access.site
        for lane in np.flatnonzero(hit)[-KEPT:]:
            own = np.zeros(hit.shape, bool)
            own.reshape(-1)[lane] = True
            who = group.blame(Fault("", ""), own)
            writer = LastWriter(who.block, who.thread, site.instruction.span.line, group.wave.launch.source_of(site))
            self.stores.append((self._left(access, int(a.reshape(-1)[lane]), own), writer))

    def _left(self, access: Access, address: int, lane: NDArray[np.bool_]) -> bytes:
        """What a lane's store leaves there; nothing where that is not a whole element of it."""
        n, inside = divmod(self.low - address, access.type.dtype.itemsize)
        if not 0 <= n < len(access.values) or inside or self.size != access.type.dtype.itemsize:
            return b""
        return np.broadcast_to(access.values[n], lane.shape)[lane].tobytes()

    def last(self, held: bytes) -> LastWriter | None:
        """Who wrote what is there now: under a seed the store that was issued last need not be the one that stayed."""
        if not self.stores:
            return None
        return next((writer for left, writer in reversed(self.stores) if left == held), self.stores[-1][1])


def last_writer(runner: Runner, name: str, index: tuple[int, ...]) -> LastWriter | None:
    """The thread that writes an element of a buffer or a variable last in a run that has not begun; None where none does."""
    watch = Watch()
    runner.context.observers = (*runner.context.observers, watch)

    def found(address: int, shape: tuple[int, ...], size: int) -> None:
        watch.low, watch.size = address + (int(np.ravel_multi_index(index, shape)) if index else 0) * size, size

    variable = runner.module.program.variables.get(name)
    if variable is not None:
        found(runner.module.variable(name)[0], (variable.size // variable.type.dtype.itemsize,), variable.type.dtype.itemsize)
    runner.memory.on_buffer = lambda b: found(b.address, b.before.shape, b.before.dtype.itemsize) if b.name == name else None
    with quiet():
        runner.run()
    return watch.last(runner.context.bytes_at(watch.low, watch.size).tobytes() if watch.stores else b"")
