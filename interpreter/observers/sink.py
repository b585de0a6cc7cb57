"""Where accesses that have waited tell what they found: the counts of an instruction and of an allocation."""

from __future__ import annotations

from dataclasses import dataclass

from .footprint import Footprint
from .places import COLUMNS, HITS, Places
from .sectors import LINE, SECTOR
from .tally import AccessTally
from .touch import WARP
from .uses import Waiting


@dataclass(frozen=True, eq=False, slots=True)
class Sink:
    """The counts to which is added what accesses found that have waited."""

    a: AccessTally
    kind: str
    row: list[int] | None  # of the allocation
    places: Places
    counted: bool  # sectors have been counted, by a rule of their own

    def tell(self, w: Waiting, total: int, hits: int, l2: int, l2_hits: int) -> None:
        """See uses.Sink."""
        a = self.a
        if not self.counted:
            a.units += total
            a.moved += SECTOR * total
        a.hits += hits
        a.l2 += l2
        a.l2_hits += l2_hits
        if self.row is None:
            self.places.count(None, self.kind, w.f, w.start, hits)
        else:
            self.row[COLUMNS[self.kind]] += total
            self.row[HITS] += hits

    def sample(self, f: Footprint, start: int) -> None:
        """See uses.Sink."""
        if not self.counted and (self.a.sample is None or self.a.sample[2] < WARP):  # a lane touches one sector
            sample(self.a, f, start, *f.worst)


def sample(a: AccessTally, f: Footprint, start: int, worst: int, most: int) -> None:
    """Keeps the addresses of the warp that asks for the most sectors."""
    if a.sample is None or most > a.sample[2]:
        where, active = f.lanes_of_warp(worst)
        a.sample = (where + start * LINE, active, most)
