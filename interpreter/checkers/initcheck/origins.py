"""Where undefined bits come from: a number for each instruction that loads, and for each register that may be read before it is written.

Bit 63 of an origin says that the value was computed from undefined bits, and not only copied; so the larger of two origins is one of those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...plan.plan import Site
from .masks import DEFINED, ZERO, Array, Mask

COMPUTED = np.uint64(1 << 63)
SPACES = ("global", "shared", "local", "register")
LANE = "lane"  # in place of a space: a lane that does not execute the shuffle


@dataclass(slots=True, eq=False)
class Origin:
    """Where undefined bits were first seen in a register."""

    site: Site | None  # that loaded them
    space: str
    register: str = ""  # that was never written
    address: int | None = None  # of an unset byte, the first one that was met
    size: int = 0
    nearby: str = ""  # where in global or shared memory that byte lies, in words


class Origins:
    """All origins of a program, by number; 0 stands for none."""

    def __init__(self) -> None:
        self.all: list[Origin | None] = [None]
        self._loads: dict[tuple[int, str], int] = {}

    def of_load(self, site: Site, space: str) -> int:
        """The number for what a load brings from a space."""
        key = (id(site.instruction), space)
        found = self._loads.get(key)
        if found is None:
            found = self._loads[key] = self.add(Origin(site, space))
        return found

    def of_lanes(self, site: Site) -> int:
        """The number for what an instruction brings from lanes that do not execute it."""
        return self.of_load(site, LANE)

    def add(self, origin: Origin) -> int:
        """A new number."""
        self.all.append(origin)
        return len(self.all) - 1

    def of(self, number: Any) -> Origin:
        """The origin that a number stands for."""
        found = self.all[int(number & ~COMPUTED)]
        assert found is not None
        return found


def joined(pairs: list[tuple[Mask, Array]]) -> Array:
    """The origin of what comes from several masked values: of those that have undefined bits, the largest."""
    out: Array = DEFINED
    for mask, origin in pairs:
        if mask is not DEFINED:
            out = np.maximum(out, np.where(mask != ZERO, origin, ZERO))
    return out
