"""What the code of a module asks of each launch: tables of special registers, room for what accesses remember, the address of the parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..frame import extent_of

_WIDE = ("%gridid", "%current_graph_exec")  # of 64 bits


class SpecialTable(NamedTuple):
    """The values of a special register."""

    number: int
    extent: str  # how far it varies
    dtype: np.dtype[Any]


@dataclass(slots=True)
class Tables:
    """Gathered while the code is written."""

    specials: dict[str, SpecialTable] = field(default_factory=dict)
    sites: list[int] = field(default_factory=list)  # of accesses: which rights each asks of its allocation
    has_parameter_address: bool = False  # an operation asks where the parameters lie

    def special(self, name: str) -> SpecialTable:
        """That of a special register."""
        found = self.specials.get(name)
        if found is None:
            dtype = np.dtype(np.uint64 if name in _WIDE or name.endswith("64") else np.uint32)
            found = self.specials[name] = SpecialTable(len(self.specials), extent_of(name), dtype)
        return found

    def site(self, rights: int = 0) -> int:
        """The number of another access, which asks for these rights."""
        self.sites.append(rights)
        return len(self.sites) - 1
