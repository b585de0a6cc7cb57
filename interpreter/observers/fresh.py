"""All accesses of a launch at once, where all have waited, or those of a chapter of it: caches that nobody asks again.

Then it is enough to know who uses a sector first, and which uses of a line come too late to find it still; nothing is written down.
Sectors are numbered without the gaps between the stretches of memory that are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .footprint import Footprint
from .fresh_tables import (
    BRING,
    DROPPED,
    LANES,
    SILENT,
    STREAMED,
    USES,
    WARPS,
    Stretch,
    Table,
    Used,
    by_lane,
    by_use,
    by_warp,
    name_of,
    once,
    stretches_of,
    up_to_last_load,
    what_it_does,
)
from .lanes import repeated
from .scattered import Scattered, count_sectors
from .strays import Strays, count_strays, lane_by_lane
from .uses import SECTOR_BITS, Waiting, Way

Index = NDArray[np.int64]
Codes = NDArray[Any]
Changed = list[tuple[Waiting, Footprint, bool, bool]]  # how accesses were before

DENSE = 1 << 20  # sectors that may be numbered in any case
SPARSE = 8  # sectors for each use that may be numbered
PARTED = 254  # the code of those who only store parts of sectors
WORTH = 256  # uses that are worth marking on their own
MANY = 1 << 17  # marks
LARGE = 1 << 21  # marks that are not looked at for each code
FEW = 12  # codes that are counted one by one
AT_ONCE = 1 << 15  # uses that are looked at together
FIRST = 1 << 10  # uses of a table that are looked at first
SOME = np.uint32(63)  # bits of a sector that are zero if it is looked at then


@dataclass(frozen=True, slots=True)
class Marks:
    """The code of who uses each sector first in each cache: (caches, sectors), from one sector on."""

    codes: Codes
    low: int
    flat: Codes  # with a line more for each cache, that nobody uses
    places: Callable[[int, int, int], Index]  # of some rows of a table, in `flat`
    places_of: Callable[[int, Index], Index]  # of rows here and there
    used: Index  # the lines of `flat` that have marks
    caches: Index  # that have marks
    over: Index  # the rows of caches that have no room for all
    lives: bool  # are there caches that were emptied on the way, and are others since?

    def life(self, u: Used) -> int:
        """The same for accesses to the same caches."""
        return u.turn if self.lives else 0


class Fresh:
    """All accesses, less those that find everything anyway."""

    def __init__(
        self, used: list[Used], stretches: list[Stretch], groups: list[list[Waiting]], also: list[Waiting], changed: Changed, *, exact: bool
    ) -> None:
        self.exact = exact  # also where it matters which words of its sector a use wants
        self.used, self.stretches, self.groups, self.changed = used, stretches, groups, changed  # groups by code
        self.lines = stretches[-1].number + stretches[-1].lines  # that have numbers
        for u in used:
            u.table = LANES if isinstance(u.waiting.f, Strays) else WARPS if isinstance(u.waiting.f, Scattered) else USES
        by_name = {u.name[:2]: u for u in used} if also else {}
        self.also = [by_name[name_of(w)] for w in also]  # who store what these have brought in

    @cached_property
    def tables(self) -> list[Table]:
        """What they use; made when somebody asks, and then accesses know their rows."""
        kinds: list[list[Used]] = [[], [], []]
        for u in self.used:
            kinds[u.table].append(u)
        return [by_warp(kinds[WARPS], self.nowhere), by_use(kinds[USES]), by_lane(kinds[LANES])]

    def undo(self) -> None:
        """The accesses are to be followed in another way."""
        for w, f, there, again in self.changed:
            w.f, w.there, w.again = f, there, again

    @property
    def nowhere(self) -> int:
        """The number of what is used by lanes that take no part."""
        return self.lines << SECTOR_BITS

    @staticmethod
    def of(waiting: list[Waiting], *, last: bool, words: bool = True) -> Fresh | None:
        """Numbers what these use; None where they get in each other's way; `last`: nobody will want to know what the caches hold then.

        `words`: it may matter which words of its sector a use wants; if not, L1 shall not forget lines either.
        """
        stretches, where = stretches_of(waiting)
        if not words and any(s.done & DROPPED and s.stays for s in stretches):
            return None
        lines = 0
        for s in stretches:
            s.number, lines = lines, lines + s.lines
        each = [(waiting[turn], s) for turn, s in where.items()]
        changed = _by_words(each, last) if words else []
        exact = words or not any(_is_by_lane(w, s, last) or (s.mixed and (w.there or w.again)) for w, s in each)
        if lines << SECTOR_BITS > max(DENSE, SPARSE * sum([w.f.count for w in waiting])):
            return None
        codes: dict[object, int] = {}
        groups: list[list[Waiting]] = [[]]
        used = []
        also = [w for w in waiting if w.there and w.way is Way.STORE]
        for turn in sorted(where):
            w = waiting[turn]
            if w.there or (w.again and (last or not w.other_words)):
                continue
            code = SILENT if w.silent or w.way is Way.STORE else codes.setdefault((w.way, w.sink), len(groups))
            if code == len(groups):
                groups.append([])
            if code != SILENT:
                groups[code].append(w)
            used.append(Used(w, turn, code, where[turn]))
        if len(groups) > PARTED:
            return None
        return Fresh(used, stretches, groups, also, changed, exact=exact)

    @cached_property
    def askers(self) -> list[Used]:
        """Who uses what L1 holds, up to the last load."""
        return up_to_last_load([u for u in self.used if u.way in BRING or (u.stretch.stays and u.way is not Way.STREAM)])

    @cached_property
    def crowd(self) -> int:
        """Lines at most that one cache of L1 is asked for, as far as that is easily seen."""
        asked = dict.fromkeys([s.number for s in self.stretches], 0)
        for u in self.askers:
            asked[u.stretch.number] += u.waiting.f.most_lines(u.waiting.rows)
        return sum([min(s.lines, asked[s.number]) for s in self.stretches])

    def uses(self, u: Used) -> int:
        """How many of its table are one access's."""
        each = int(self.tables[u.table].sectors.shape[1])  # first, for tables that are made only now give accesses their rows
        return (u.end - u.begin) * each

    @cached_property
    def once_each(self) -> bool:
        """Does nobody use a sector that was used before?  Then nobody finds one."""
        if any(t.masked for t in self.tables):
            return False
        uses = dict.fromkeys([s.number for s in self.stretches], 0)
        for u in self.used:
            uses[u.stretch.number] += self.uses(u)
        if any(uses[s.number] > s.lines << SECTOR_BITS for s in self.stretches):
            return False
        for t in self.tables:  # mostly some uses of one of them tell, or those of some sectors
            flat = t.sectors.ravel()
            if _come_again(flat[:: max(1, flat.size // FIRST)]) or _come_again(flat[flat & SOME == 0]):
                return False
        return int(np.count_nonzero(self.all_of(self.used))) == sum(uses.values())

    @cached_property
    def streamed_late(self) -> bool:
        """Are there loads that bring no line, of lines that may be in some L1 already?"""
        some = [u for u in self.used if u.stretch.done & STREAMED and u.stretch.stays]
        if not some:
            return False
        first = self.firsts([u for u in some if u.way is not Way.STREAM], by_turn=True).reshape(-1, 1 << SECTOR_BITS)
        first -= np.uint16(1)  # nobody goes round
        for u in once([u for u in reversed(some) if u.way is Way.STREAM]):  # the last of its like tells
            lines = self.tables[u.table].sectors[u.begin : u.end].ravel() >> np.uint32(SECTOR_BITS)
            if bool((first.take(lines.compress(lines < self.lines), axis=0) < u.turn).any()):
                return True
        return False

    def measure(self) -> None:
        """See scattered.measure, of all those whose lanes are in disorder; nobody asks for the order of sectors in a row afterwards."""
        by_root = {id(u.waiting.f.root): u for u in self.used if isinstance(u.waiting.f, Scattered) and not u.waiting.f.measured}
        some = sorted(by_root.values(), key=lambda u: (u.table, u.begin))
        for run in self.runs([u for u in some if u.table != LANES]):
            roots = [u.waiting.f.root for u in run if isinstance(u.waiting.f, Scattered)]
            count_sectors(roots, self.tables[run[0].table].sectors[run[0].begin : run[-1].end], self.nowhere)
        for _, group in groupby([u for u in some if u.table == LANES], lambda u: u.begin // AT_ONCE):
            each = [(u.waiting.f.root, self.tables[LANES].sectors[u.begin : u.end]) for u in group if isinstance(u.waiting.f, Scattered)]
            count_strays([(f, sectors) for f, sectors in each if isinstance(f, Strays)], self.nowhere)

    def firsts(self, some: list[Used], *, by_turn: bool = False, alike: bool = True) -> Codes:
        """Who of these uses each sector first: the code, or the turn, counted from 1 on; `alike`: what has one name uses the same still."""
        marks = np.zeros(self.lines + 1 << SECTOR_BITS, np.uint16 if by_turn else np.uint8)
        self.mark(
            marks,
            once(some) if alike else some,
            lambda table, begin, end: self.tables[table].sectors[begin:end].astype(np.intp),
            by_turn=by_turn,
        )
        return marks[: self.nowhere]

    def all_of(self, some: list[Used]) -> NDArray[np.bool_]:
        """The sectors that these use."""
        found = np.zeros(self.lines + 1 << SECTOR_BITS, np.bool_)
        for run in self.runs(once(some)):
            found[self.tables[run[0].table].sectors[run[0].begin : run[-1].end].astype(np.intp)] = True
        return found[: self.nowhere]

    def mark(self, marks: Codes, some: list[Used], places: Callable[[int, int, int], Index], *, by_turn: bool = False) -> None:
        """Leaves the code of the first of some accesses, or its turn, at each place; `places` are those of some rows of a table."""
        for run in reversed(list(self.runs(some))):
            at = places(run[0].table, run[0].begin, run[-1].end)
            names = [u.turn + 1 if by_turn else PARTED if u.parts else u.code for u in run]
            if len(set(names)) == 1:
                marks[at] = names[0]
            elif at.size > len(run) * WORTH:
                for u, name in zip(reversed(run), reversed(names), strict=True):
                    marks[at[u.begin - run[0].begin : u.end - run[0].begin]] = name
            else:
                codes = repeated(reversed(names), [self.uses(u) for u in reversed(run)], marks.dtype)
                marks[at.ravel()[::-1].copy()] = codes  # the last that is written remains

    def runs(self, some: list[Used]) -> Iterator[list[Used]]:
        """Accesses that stand one after the other in a table, not too many at once."""
        run: list[Used] = []
        each = [t.sectors.shape[1] for t in self.tables]
        for u in [*some, None]:
            if run and (u is None or u.table != run[0].table or u.begin != run[-1].end or (u.end - run[0].begin) * each[u.table] > AT_ONCE):
                yield run
                run = []
            if u is not None:
                run.append(u)

    def counts(self, marks: Codes) -> list[int]:
        """How many sectors each code has."""
        if len(self.groups) <= FEW and marks.size <= LARGE:
            return [0, *(int(np.count_nonzero(marks == code)) for code in range(1, len(self.groups)))]
        lines = marks.view(np.uint32)
        if lines.size > MANY:
            lines = lines.take((lines != 0).nonzero()[0])  # often few
        codes = lines.view(np.uint8)
        if len(self.groups) <= FEW:
            return [0, *(int(np.count_nonzero(codes == code)) for code in range(1, len(self.groups)))]
        if codes.size > MANY:  # two at a time
            pairs = np.bincount(codes.view(np.uint16), minlength=1 << 16).reshape(1 << 8, 1 << 8)
            found: Index = pairs.sum(axis=0) + pairs.sum(axis=1)
        else:
            found = np.bincount(codes, minlength=len(self.groups))
        return [0, *found[1 : len(self.groups)].tolist()]


def _come_again(sectors: NDArray[np.uint32]) -> bool:
    ordered = np.sort(sectors)
    return bool((ordered[1:] == ordered[:-1]).any())


def _by_words(each: list[tuple[Waiting, Stretch]], last: bool) -> Changed:
    """Makes accesses ready to be followed where words of sectors matter, and says how they were before."""
    changed: Changed = []
    for w, stretch in each:
        before = w.f, w.there, w.again
        if stretch.mixed:  # lines may have begun anew
            w.there = w.again = False
            stretch.done |= what_it_does(w)
        if _is_by_lane(w, stretch, last):
            w.f = lane_by_lane(w.f)
        if before != (w.f, w.there, w.again):
            changed.append((w, *before))
    return changed


def _is_by_lane(w: Waiting, stretch: Stretch, last: bool) -> bool:
    """Must each lane of an access stand for itself, as words of sectors matter?"""
    if isinstance(w.f, Scattered):
        return False
    parted = w.way is Way.STORE and not w.brings and (stretch.mixed or not last)  # or later chapters may read what was stored
    return parted or (stretch.mixed and (w.f.parts or (w.way is Way.LOAD and not w.f.by_line)))
