"""Accesses in disorder of which each warp does what the one before does, some whole lines further on: rows of a matrix, structures in an array.

The first warp tells for all of them, unless somebody else uses the same lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..vector.lanes import Geometry
from ..vector.values import Array, Facts, Shifted
from .disorder import are_in_disorder
from .footprint import Footprint
from .rows import Rows
from .scattered import Keys, Scattered
from .sectors import LINE, SECTOR
from .strays import Crew, Strays
from .touch import WARP, Lanes

Index = NDArray[np.int64]
FEW = 4  # warps
NEAR = 8  # bytes: neighbours that hardly are in disorder


@dataclass(frozen=True, slots=True)
class March:
    """Where the first warp's lanes are, less a constant that differs from access to access, and how many bytes further on each next warp is."""

    first: Index
    low: int  # of these
    high: int
    step: int

    @staticmethod
    def of(base: Array, g: Geometry) -> March | None:
        """If the warps of a group march."""
        if base.size != g.n or not g.warps.dense or g.n < FEW * WARP or base.itemsize < 8:
            return None
        step = base.item(WARP) - base.item(0)
        if step <= 0 or step % LINE or abs(base.item(1) - base.item(0)) < NEAR:
            return None
        lanes = base.view(np.int64).ravel()
        full = lanes.size // WARP * WARP
        warps, rest = lanes[:full].reshape(-1, WARP), lanes[full:]
        first = warps[0].copy()
        if int(warps[-1, -1]) - int(first[-1]) != step * (len(warps) - 1) or not are_in_disorder(first[None]):
            return None
        if (warps[:FEW] - warps[0, 0] != first - first[0] + step * np.arange(FEW)[:, None]).any():  # this is often enough to know
            return None
        each = step * np.arange(len(warps)) + warps[0, 0]
        if (warps[:, 0] != each).any() or (warps - each[:, None] != first - first[0]).any():
            return None
        if (rest - step * len(warps) != first[: rest.size]).any():
            return None
        return March(first, int(first.min()), int(first.max()), step)

    @staticmethod
    def of_facts(facts: Facts, g: Geometry) -> March | None:
        """The same, looked at once."""
        found: tuple[Geometry, March | None] | None = facts.notes.get(("march", id(g)))
        if found is None or found[0] is not g:
            found = facts.notes["march", id(g)] = g, March.of(facts.base, g)
        return found[1]


class Marching(Scattered):
    """What such an access touches."""

    march: March
    delta: int  # of the first warp's lanes
    full: int

    def __init__(self, g: Geometry, rows: Rows, address: Shifted, width: int, march: March) -> None:
        Footprint.__init__(self, g, rows, address, None, width)
        del self.address
        self.march, self.delta = march, address.delta
        self.full = g.n // WARP  # warps; the last one may have less lanes
        self._begin(dict(self.__dict__), march.first[None])
        self.ends = (address.facts.low + address.delta) // LINE, (address.facts.high + address.delta) // LINE

    @property
    def kind(self) -> tuple[int, Geometry, Rows]:
        """Equal for those of which the first warps tell together."""
        return self.march.step, self.geometry, self.rows

    @property
    def span(self) -> tuple[int, int]:
        """Of the first warp, the lowest byte and the highest."""
        by: int = self.delta + self.by
        return self.march.low + by, self.march.high + by + self.width - 1

    @cached_property
    def leader(self) -> Leader:
        """What the first warp touches."""
        return Leader(self, self.march.first[None] + (self.delta + self.by))

    @cached_property
    def tail(self) -> Tail:
        """What the lanes of a last warp touch that are not so many."""
        return Tail(self, self.march.first[: self.geometry.n % WARP] + (self.delta + self.by + self.march.step * self.full))

    @property
    def height(self) -> int:
        return int(self.geometry.warps.count)

    @property
    def place(self) -> Keys:
        every: Keys = self.march.first + (self.delta + self.by) + self.march.step * np.arange(self.height)[:, None]
        return every.astype(np.uint32) if (self.ends[1] + 1) * LINE <= 1 << 32 else every

    @property
    def measured(self) -> bool:
        return True

    @property
    def root(self) -> Marching:
        return self._root if isinstance(self._root, Marching) else self

    @cached_property
    def of_a_warp(self) -> int:
        """Sectors."""
        return _sectors(self.march.first + (self.delta + self.by)) if self.root is self else self.root.of_a_warp

    @cached_property
    def total(self) -> int:
        rest = self.geometry.n % WARP
        return self.of_a_warp * self.full + (_sectors(self.tail.place[:, 0]) if rest else 0)

    @cached_property
    def worst(self) -> tuple[int, int]:
        return 0, self.of_a_warp

    def lanes_of_warp(self, warp: int) -> tuple[Index, NDArray[np.bool_]]:
        return self.march.first + (self.delta + self.by + warp * self.march.step), np.ones(WARP, np.bool_)


def _sectors(places: Keys) -> int:
    """How many different ones some lanes use."""
    return len(set((places // SECTOR).tolist()))  # numpy calls would take longer


class Leader(Scattered):
    """The first of the warps, as if it was alone in the only multiprocessor."""

    _others: Leader | None  # the first of those that use just the same

    def __init__(self, whole: Marching, place: Index) -> None:
        self.__dict__.update(whole._crew)
        self.total, same = whole.of_a_warp, whole.same
        self._others = same.leader if isinstance(same, Marching) and same is not whole else None
        self.count, self.requests, self.active, self.lanes_by_warp = WARP, 1, None, None
        self._begin(dict(self.__dict__), place)
        low, high = whole.span
        self.ends = low // LINE, high // LINE

    @property
    def measured(self) -> bool:
        return True

    @property
    def same(self) -> Footprint:
        return self._others or self

    @property
    def lanes(self) -> Lanes:
        return Lanes(self.place.astype(np.int64), None, 1)

    def caches(self, rows: Rows) -> Index:
        return np.zeros(1, np.int64)

    def order(self, rows: Rows, bits: int) -> Index:
        return np.zeros((1, 1), np.int64)

    def crowd(self, rows: Rows) -> int:
        return WARP

    def most_warps(self, rows: Rows) -> int:
        return 1


class Tail(Strays):
    """The lanes of a last warp that has less than the others."""

    _others: Tail | None  # those of an access that uses just the same

    def __init__(self, whole: Marching, place: Index) -> None:
        super().__init__(_crew_of_tail(whole.geometry, whole.rows), place, whole.width)
        same = whole.same
        self._others = same.tail if isinstance(same, Marching) and same is not whole else None

    @property
    def same(self) -> Footprint:
        return self._others or self


_latest: list[Crew] = []  # of a tail


def _crew_of_tail(g: Geometry, rows: Rows) -> Crew:
    if not _latest or _latest[0].geometry is not g or _latest[0].rows is not rows:
        _latest[:] = [Crew(g, rows, np.arange(g.n // WARP * WARP, g.n))]
    return _latest[0]
