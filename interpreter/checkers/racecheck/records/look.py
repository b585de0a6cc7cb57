"""One access, lane by lane, as racecheck looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....observe import Access
from ..order.happens_before import KnownAtIssue
from ..order.memory_order import Kind
from ..thread_ids import NumberedLanes
from .shadow_memory import Array, Shadow


@dataclass(slots=True)
class Look:
    """Some lanes that access one memory."""

    access: Access
    kind: Kind
    what: str  # the kind of its records
    shadow: Shadow
    memory: Any
    lanes: NumberedLanes
    number: int  # of its instruction
    floor: Any  # records up to this stamp are ordered before
    offset: Array  # the first byte of each lane
    chosen: Array | None  # which lanes of the group these are; None: all
    before: KnownAtIssue | None = None  # what a copy of each lane comes after
    who: Array | None = None  # the numbers of the lanes' copies in records
    part: int = 0  # which of the units that each lane accesses is looked at

    @property
    def strong(self) -> bool:
        """Is it one of the strong accesses, which do not race among each other?"""
        return self.what.startswith("strong") or (self.what == "copied to" and self.access.kind in ("atom", "red"))

    @property
    def in_shared(self) -> bool:
        """Is it shared memory?"""
        return self.shadow.name == "shared"

    @property
    def shared_by_blocks(self) -> bool:
        """Do several blocks access this memory?"""
        return not self.in_shared or self.access.group.wave.launch.cluster_size > 1

    def stored(self, index: Array) -> tuple[Array, Array] | None:
        """What some lanes store in this part, and where, where that is known."""
        a = self.access
        element = self.part * self.shadow.unit // a.type.bytes
        if a.kind != "st" or element >= len(a.values) or a.values[0].ndim != 2:
            return None
        at = index if self.chosen is None else self.chosen[index]
        values = np.broadcast_to(a.values[element], a.group.geometry.shape).ravel()[at]
        return values, self.offset[index] + element * a.type.bytes
