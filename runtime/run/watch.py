"""Who wrote an element last: the run is repeated with an observer that looks at one address."""

from __future__ import annotations

import numpy as np

from warplab.interpreter.faults import Fault
from warplab.interpreter.observe import Access, Observer
from warplab.interpreter.values import plain

from .runner import Runner


class Watch(Observer):
    """Remembers the last store to [low, low + size)."""

    def __init__(self, size: int) -> None:
        self.low = 0
        self.size = size
        self.found: Fault | None = None
        self.line = 0

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
            self.found = group.blame(Fault("", ""), last)
            self.line = access.site.instruction.span.line


def last_writer(runner: Runner, name: str, index: tuple[int, ...]) -> str:
    """A sentence about the thread that wrote a buffer's element last, or that none did."""
    element = runner.outcome.buffers[name].before
    watch = Watch(element.dtype.itemsize)
    again = Runner(runner.texts, runner.names, runner.spec, runner.folder, (watch,))
    at = int(np.ravel_multi_index(index, element.shape)) * element.dtype.itemsize
    again.on_buffer = lambda b: setattr(watch, "low", b.address + at) if b.name == name else None
    again.run()
    if watch.found is None:
        return "no thread wrote it"
    return f"written last by block {watch.found.block}, thread {watch.found.thread}, at line {watch.line}"
