"""What one access of a group touches: an entry for each different line that the warps of one multiprocessor touch.

Places are relative to the access's first line, so that what is found holds for all accesses that differ by a multiple of a line.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..memory.warps import count_in_rows
from ..vector.lanes import Geometry
from ..vector.values import Array, Shifted, Value, plain
from .disorder import goes_on
from .entries import HOME_BITS, Entries, covered_words, homes
from .lanes import lanes_active, lanes_of
from .packed import Packed
from .rows import Outline, Rows
from .sections import Sections
from .sectors import LINE, SECTOR, SECTOR_SHIFT, SECTOR_WORDS, Demand, Groups, Keys, marks_of
from .touch import WARP, Lanes, touch

Index = NDArray[np.int64]
FEW = 8  # lanes
NEAR = 64  # lines that are not counted for each cache
LARGE = 1 << 15  # lanes whose sections are sooner found than what each uses


class Footprint:
    """What an access touches; an entry for each home and line."""

    def __init__(
        self, g: Geometry, rows: Rows, address: Value, mask: Array | None, width: int, *, again: bool = False, run: int | None = None,
    ) -> None:  # fmt: skip
        self.geometry = g
        self.rows = rows  # when this was made
        self.address, self.mask = address, mask  # relative to a line
        self.width = width
        self.again = again  # its like may come
        self.lanewise: Footprint | None = None  # the same, lane by lane
        self._crowd: tuple[Rows, int] | None = None
        self._uses: tuple[Rows, Index, Index] | None = None
        self._same: Footprint | None = None
        self._from: tuple[Footprint, int] | None = None  # another one, and how many sectors further on this one is
        self.beside: Footprint | None = None  # one by the same lanes, some bytes before or behind
        self.run = run  # where lanes begin that, in order, use neighbouring places
        self.by_line = run == 0 and g.warps.aligned and width * WARP % LINE == 0  # a warp has lines of its own, as a whole
        self.by_row = g.warps.aligned and rows.apart
        self._each = g.shape[1] // WARP if g.warps.aligned else 1  # warps of a row
        self.active = lanes_active(g, mask)
        self.lanes_by_warp = None  # that take part, if not all do
        if self.active is not None:
            self.lanes_by_warp = g.warps.lanes if mask is None else count_in_rows(self.active)
        sizes: tuple[int, int, int] | None = g.warps.notes.get(width) if mask is None else None
        if sizes is None:
            sizes = _sizes(g.warps.count, self.lanes_by_warp, width)
            if mask is None:
                g.warps.notes[width] = sizes
        self.requests, self.count, self.ideal = sizes

    @cached_property
    def lanes(self) -> Lanes:
        """The address of each lane of each warp."""
        return lanes_of(self.geometry, plain(self.address), self.mask)

    @property
    def _base(self) -> tuple[Array, int]:
        """The addresses, fewer than lanes where some are the same for many, and how many bytes further on they are."""
        address = self.address
        return (address.base, address.delta) if isinstance(address, Shifted) else (address, 0)

    def lanes_of_warp(self, warp: int) -> tuple[Index, NDArray[np.bool_]]:
        """The addresses of one warp's lanes, and which of them take part."""
        base, by = self._base
        if self.mask is not None or base.size < self.geometry.n or "lanes" in self.__dict__:
            return self.lanes.full[warp], self.lanes.mask[warp].copy()
        lane, some = self.geometry.warps.of(warp)
        where, active = np.zeros(WARP, np.int64), np.zeros(WARP, np.bool_)
        where[lane], active[lane] = base.ravel()[some] + by, True
        return where, active

    @cached_property
    def outline(self) -> Outline:
        """The lines."""
        return (Outline.of if self.again else Outline)(self.entries.home, self.entries.line, self.by_row)

    @cached_property
    def total(self) -> int:
        """Sectors."""
        return int(self.units.sum())

    @cached_property
    def packed(self) -> Packed:
        """Its sectors, warp by warp: less than all there is to know."""
        g = self.geometry
        if self.run is not None:
            return Packed.of_run(g.warps.count, g.n, self.run, self.width)
        if self._from is not None:
            return self._from[0].packed.further(self._from[1])
        if self._is_uniform:
            return Packed(np.ones(g.warps.count, np.int64), g.warps.numbers, np.full(g.warps.count, self._lowest >> SECTOR_SHIFT))
        if g.n >= LARGE or self.beside is not None or "_sections" in self.__dict__ or goes_on(self._base[0]):
            sections = self._sections
            found = None if sections is None else sections.packed(self._base[1])
            if found is not None:
                return found
        if self.mask is None and g.n == self._base[0].size > 1 and (sector := self._sector) is not None:
            return Packed(np.ones(g.warps.count, np.int64), g.warps.numbers, np.full(g.warps.count, sector))
        if self.mask is None and not g.warps.aligned and g.n == self._base[0].size > 1:
            return Packed.of(Lanes(plain(self.address).ravel().take(g.warps.nearest), None, g.warps.count))
        return Packed.of(self.lanes)

    @property
    def _is_uniform(self) -> bool:
        """Do all lanes of the group use one place?"""
        return self.mask is None and self._base[0].size == 1

    @property
    def _lowest(self) -> int:
        """The place of the first lane."""
        base, by = self._base
        lowest: int = base.item(0) + by
        return lowest

    @property
    def _sector(self) -> int | None:
        """The one that all lanes use."""
        base, by = self._base
        first, last = (int(f(base)) + by >> SECTOR_SHIFT for f in (np.min, np.max))
        return first if first == last else None

    @cached_property
    def _sections(self) -> Sections | None:
        """Its lanes where they mostly go on from sector to sector."""
        base, g = self._base[0], self.geometry
        if self.beside is not None:
            return self.beside._sections
        return None if self.mask is not None or base.size < g.n or g.n == 1 else Sections.of(base, g.warps, self.width)

    @property
    def _known(self) -> bool:
        """Is it worked out, or easily so?"""
        return self.by_line or "entries" in self.__dict__

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The first line and the last one."""
        if self._known:
            return self.outline.line.item(0), self.outline.line.item(-1)
        if self.run is not None:
            return self.run // LINE, (self.run + self.geometry.n * self.width - 1) // LINE
        if self._is_uniform:
            return self._lowest // LINE, self._lowest // LINE
        sector = self.packed.sector
        return int(sector.min()) // (LINE // SECTOR), int(sector.max()) // (LINE // SECTOR)

    @cached_property
    def units(self) -> Index:
        """Sectors of each warp."""
        return self.entries.units if self._known else self.packed.units

    @cached_property
    def words(self) -> Index:
        """Those that any warp touches."""
        return self.entries.words

    @cached_property
    def first(self) -> Index:
        """Of each sector the words of the warp that comes first."""
        return self.entries.first

    @property
    def same(self) -> Footprint:
        """What stands for all that are known to use the same sectors."""
        return self._same or self

    def further(self, address: Value, by: int, same: Footprint | None) -> Footprint:
        """An access by the same lanes whose sectors all are so many further on; `same`: what uses just its sectors."""
        f = Footprint(self.geometry, self.rows, address, None, self.width)
        f._from, f._same = (self, by), same
        return f

    @property
    def each_sector(self) -> Index:
        """The sectors of each warp, or others of the same lines."""
        return np.repeat(self.outline.line << 2, self.each) if self._known else self.packed.sector

    @property
    def each(self) -> Index:
        """Sectors of each line, warp by warp."""
        return self.entries.each

    @cached_property
    def entries(self) -> Entries:
        """All there is to know."""
        if self.by_line:
            return Entries.of_run(self.geometry, self.rows, self.width)
        return Entries.of(self.geometry, self.rows, self.lanes, self.width)

    @cached_property
    def worst(self) -> tuple[int, int]:
        """The warp with the most sectors, and how many."""
        at = int(self.units.argmax())
        return at, self.units.item(at)

    @cached_property
    def asked(self) -> Demand:
        """What each home asks for first."""
        return Demand(self.first)

    @cached_property
    def touched(self) -> Demand:
        """What each home touches."""
        return Demand(self.words)

    @cached_property
    def marked(self) -> Demand:
        """What a store of bytes or halfwords leaves in L1: the words that warps cover, and a mark on each sector."""
        key, words = covered_words(self.lanes, self.width)
        covered = np.zeros_like(self.words)
        np.bitwise_or.at(covered, self._which(key & (1 << HOME_BITS) - 1, key >> HOME_BITS), words)
        return Demand(covered | marks_of(self.touched.sectors))

    def _which(self, warp: Index, line: Index) -> Index:
        """The entry of each of these lines of warps."""
        home = homes(self.geometry, self.rows)[warp]
        return np.searchsorted(self.outline.line << HOME_BITS | self.outline.home, line << HOME_BITS | home)

    @cached_property
    def _turns(self) -> tuple[Index, Index]:
        t = touch(self.lanes, self.width)
        entry = self._which(t.warp, t.line)
        order = np.argsort(entry, kind="stable")
        return np.searchsorted(entry[order], np.arange(self.outline.line.size + 1)), t.words[order]

    def turns(self, entry: int) -> list[int]:
        """The words that warps touch of an entry, one after the other."""
        starts, words = self._turns
        found: list[int] = words[starts[entry] : starts[entry + 1]].tolist()
        return found

    def uses(self, rows: Rows) -> tuple[Index, Keys, NDArray[np.bool_] | None]:
        """The cache and the sector of each use, and which are none."""
        if self._uses is None or self._uses[0] is not rows:
            if not self.by_line and self._is_uniform:
                self._uses = rows, rows.different, np.full(rows.different.size, self._lowest // SECTOR)
            else:
                self._uses = rows, self._caches(rows).take(self.packed.warp), self.packed.sector
        return self._uses[1], self._uses[2], None

    def _caches(self, rows: Rows) -> Index:
        """Of each warp."""
        return rows.warps(self._each)[0]

    def order(self, rows: Rows, bits: int) -> Index:
        """The part of the access, of 2**bits, that each use belongs to."""
        return np.zeros(1, np.int64)

    @property
    def some_sectors(self) -> Index:
        """A few of those that are used."""
        return self.packed.sector[:WARP]

    def crowds(self, rows: Rows, bits: int) -> tuple[Index, Index, Index]:
        """Of the access, by part and cache, how many uses; some may come more than once."""
        cache = self.uses(rows)[0]
        return np.zeros(1, np.int64), cache, np.ones(1, np.int64)

    def crowd(self, rows: Rows) -> int:
        """Lines at most that one cache is asked for, the same ones by several warps too."""
        if self._known:
            return self.outline.crowd(rows)
        if self.run is not None:
            return ((self.run % LINE + self.width * WARP - 1) // LINE + 1) * rows.warps(self._each)[1] // WARP
        if self.packed.most is not None:
            return self.packed.most * (rows.warps(self._each)[1] // WARP)
        if self._crowd is None or self._crowd[0] is not rows:
            self._crowd = rows, self.packed.crowd(self._caches(rows).take(self.packed.warp))
        return self._crowd[1]

    def most_lines(self, rows: Rows) -> int:
        """Different lines at most that one cache is asked for."""
        low, high = self.ends
        return high + 1 - low if high - low < NEAR else min(high + 1 - low, self.crowd(rows))

    def most_warps(self, rows: Rows) -> int:
        """Warps at most of one cache, if they are told apart."""
        return 1

    @property
    def is_shared(self) -> bool:
        """Do the first lanes and some in the middle use one sector?"""
        if self.run is not None:
            return False
        flat = self._base[0].ravel()
        middle = flat.size // 2
        first, other = ({x // SECTOR for x in some.tolist()} for some in (flat[:FEW], flat[middle : middle + FEW]))
        return flat.size < self.geometry.n or not first.isdisjoint(other)

    @cached_property
    def parts(self) -> bool:
        """Is no more than a part of some sector touched, or is that not easy to say?"""
        if self._known:
            return self.touched.ragged
        if self.run is not None:
            return bool((self.run | self.geometry.n * self.width) % SECTOR)
        return self._sections is None or self._sections.parts(self._base[1])

    @property
    def first_word(self) -> Keys:
        """Of each use, in its sector."""
        return np.zeros(1, np.uint32)

    @property
    def stored_words(self) -> int:
        """The words of a use, the first as bit 0."""
        return SECTOR_WORDS

    @property
    def alone(self) -> Index:
        """Sectors of each warp if every lane asks for itself."""
        return np.asarray(np.count_nonzero(self.lanes.mask, axis=1), np.int64)

    @cached_property
    def fetched(self) -> Demand:
        """Whole sectors of each line, as a cache that has none of them asks for them."""
        return Demand(self.outline.lines.united(self.asked.wanted))

    @cached_property
    def read(self) -> Demand:
        """What is read of each line past the caches, each sector as the first who comes wants it."""
        return self.asked if self.outline.lines.starts is None else self.read_exactly()

    def read_exactly(self) -> Demand:
        """The same, where several homes share lines."""
        groups = Groups.of(self.outline.line)
        return Demand(groups.united(self.first & ~(groups.earlier(self.asked.sectors) * SECTOR_WORDS)))

    @cached_property
    def written(self) -> Demand:
        """What is written of each line."""
        return self.touched if self.outline.lines.starts is None else Demand(self.outline.lines.united(self.words))

    @property
    def changed(self) -> Demand:
        """What is written of each line that was read before."""
        return self.written


def _sizes(warps: int, lanes: Index | None, width: int) -> tuple[int, int, int]:
    """(requests, lanes, sectors had each warp's active lanes been neighbours)."""
    if lanes is None:
        return warps, warps * WARP, warps * -(-WARP * width // SECTOR)
    return int(np.count_nonzero(lanes)), int(lanes.sum()), int((-(-lanes * width // SECTOR)).sum())
