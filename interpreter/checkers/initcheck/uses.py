"""The uses of undefined bits that are faults: deciding a guard or branch, an address, an atomic operation, a result in global memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ...faults import Fault
from ...launch import Launch
from ...plan.plan import Site
from ...values import Value, plain
from ...vector.group import Group
from .masks import ZERO, Array, Mask, everything
from .origins import COMPUTED, LANE, Origin, Origins

COMPUTED_RESULT = "a result that depends on {} goes to global memory"


@dataclass(slots=True, eq=False)
class Use:
    """One instruction that uses what one origin brought, however often it does."""

    site: Site
    what: str
    origin: Origin
    launch: Launch
    block: tuple[int, int, int]  # of the first thread
    thread: tuple[int, int, int]
    count: int = 0

    @property
    def text(self) -> str:
        """What happens, in words."""
        o = self.origin
        if o.space == LANE:
            return self.what.format("what a shuffle reads from a lane that does not execute it")
        return self.what.format(f"the unset register {o.register}" if o.site is None else f"unset {o.space} memory")


class UnsetUses:
    """All that were found."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.found: dict[tuple[int, int], Use] = {}

    def guard(self, g: Group, site: Site, mask: Mask, source: Array) -> None:
        """A predicate decides whether an instruction is executed, or where lanes go on."""
        self._note(g, site, "a guard depends on {}", mask != ZERO, source)

    def decides(self, g: Group, site: Site, masks: Sequence[Mask], source: Array) -> None:
        """Operands of a branch or a barrier."""
        self._note(g, site, "the way that threads take depends on {}", everything(masks) != ZERO, source)

    def address(self, g: Group, site: Site, masks: Sequence[Mask], source: Array) -> None:
        """Registers serve as addresses."""
        self._note(g, site, "an address depends on {}", everything(masks) != ZERO, source)

    def copied(self, g: Group, site: Site, masks: Sequence[Mask], source: Array) -> None:
        """Registers say how much is copied, or whether."""
        self._note(g, site, "what is copied depends on {}", everything(masks) != ZERO, source)

    def atomic(self, g: Group, site: Site, masks: Sequence[Mask], source: Array) -> None:
        """An atomic operation has these operands, or finds this in memory."""
        self._note(g, site, "an atomic operation works with {}", everything(masks) != ZERO, source)

    def stored(self, g: Group, site: Site, space: str, address: Value, some: Array, source: Array) -> None:
        """Results are stored, some of them computed from undefined bits."""
        if space == "generic":
            where = plain(address)
            windows = [(where >= np.uint64(base)) & (where < np.uint64(base + WINDOW_SIZE)) for base in (SHARED_BASE, LOCAL_BASE)]
            some = some & ~(windows[0] | windows[1])
        elif space != "global":
            return
        self._note(g, site, COMPUTED_RESULT, some, source)

    def _note(self, g: Group, site: Site, what: str, some: Array, source: Array) -> None:
        shape = g.geometry.shape
        for only in (g.active, g.alive):
            if only is not None:
                some = some & only
        lanes = np.flatnonzero(np.broadcast_to(some, shape))
        if not lanes.size:
            return
        numbers = np.broadcast_to(source & ~COMPUTED, shape).ravel()[lanes]
        for number, first, count in zip(*np.unique(numbers, return_index=True, return_counts=True), strict=True):
            key = (id(site.instruction), int(number))
            found = self.found.get(key)
            if found is None:
                who = Fault("", "")
                launch = g.wave.launch
                launch.name_fault(g.wave.first, g.wave.count, who, int(np.broadcast_to(g.geometry.lane, shape).ravel()[lanes[first]]))
                assert who.block is not None and who.thread is not None
                found = self.found[key] = Use(site, what, self.origins.of(number), launch, who.block, who.thread)
            found.count += int(count)
