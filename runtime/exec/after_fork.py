"""A server as new: what a process has registered stays, whatever its parent's devices hold is not its own."""

from __future__ import annotations

from ..cudart.api import forget_contexts
from ..cudart.registration import REGISTRY
from ..device.graphs.pending import QUEUE
from ..device.machine import begin_machine
from ..device.memory.allocations import HOST_BYTES, SPACE
from ..device.memory.sharing import SHARING
from ..device.memory.virtual_memory import VIRTUAL
from ..driver.api import forget_all
from .process import LIBC, PINNED


def begin_again() -> None:
    """Forgets every device and all that stands for something on one."""
    if SPACE.has_host:
        LIBC.munmap(PINNED, HOST_BYTES)
    QUEUE.clear()
    SPACE.clear()
    VIRTUAL.clear()
    SHARING.clear()
    forget_contexts()
    forget_all()
    REGISTRY.forget_loaded()
    begin_machine()
