"""Who wrote an element last: the run is repeated with an observer that looks at one address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.faults import Fault
from warplab.interpreter.observe import Silent
from warplab.interpreter.vector.values import Value, plain
from warplab.isa.types import ScalarType

from .runner import Runner

Array = NDArray[Any]

if TYPE_CHECKING:
    from warplab.interpreter.plan.plan import Site
    from warplab.interpreter.vector.group import Group


class Watch(Silent):
    """Remembers the last store to [low, low + size)."""

    def __init__(self, size: int) -> None:
        self.low = 0
        self.size = size
        self.found: Fault | None = None
        self.line = 0

    def access(
        self, site: Site, group: Group, kind: str, space: str, address: Value, mask: Array | None, type: ScalarType, count: int
    ) -> None:
        """See Observer."""
        if kind == "ld" or space not in ("global", "generic"):
            return
        a = np.broadcast_to(plain(address), group.geometry.shape).astype(np.int64)
        hit = (a < self.low + self.size) & (a + type.bytes * count > self.low)
        if mask is not None:
            hit &= np.broadcast_to(mask, hit.shape)
        if hit.any():
            last = np.zeros(hit.shape, bool)
            last.reshape(-1)[np.flatnonzero(hit)[-1]] = True
            self.found = group.blame(Fault("", ""), last)
            self.line = site.instruction.span.line


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
