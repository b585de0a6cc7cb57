"""The footprints of accesses that were met lately: loops that walk through memory, and waves that do the same further on, meet few different ones.

Mostly the facts that an address carries tell which.
"""

from __future__ import annotations

import numpy as np

from ..vector.lanes import Geometry
from ..vector.values import Array, Shifted, Value, plain
from .disorder import MANY, are_apart, are_few, is_scattered
from .footprint import Footprint
from .marching import March, Marching
from .rows import Outline, Rows
from .scattered import Scattered, scattered
from .sectors import LINE, SECTOR
from .strays import SMALL, Strays, strays

MASKED = 2
SOME = 8  # lanes
ROOM = 1 << 26  # bytes of footprints that are remembered
EACH = 24  # of them for a lane, about
Key = tuple[int, int, int, int, tuple[int, int]]


class Footprints:
    """The footprints that were met lately, by any launch."""

    def __init__(self) -> None:
        self.known: dict[Key, Footprint] = {}
        self.room = ROOM
        self._masked: list[Scattered] = []  # the last ones of some lanes in disorder
        self._guarded: list[Footprint] = []  # and in order

    def of(
        self, g: Geometry, rows: Rows, address: Value, mask: Array | None, width: int, *, waits: bool = True, like: Scattered | None = None
    ) -> tuple[Footprint, int]:
        """The footprint of an access by a group whose rows run on these multiprocessors, and the line that it is relative to.

        `waits`: it may wait for others, so that nothing has to be remembered of lanes in disorder; `like`: the one before
        by the same instruction, if its lanes were.
        """
        if mask is not None or not isinstance(address, Shifted):
            return self._plain(g, rows, plain(address), mask, width, waits, like)
        facts = address.facts
        low, beyond = facts.low + address.delta, 1 << min(63, 8 * facts.base.itemsize)
        if low < 0 or facts.high + max(address.delta, 0) >= beyond:  # it goes round
            return self._plain(g, rows, plain(address), mask, width, waits, like)
        start, offset = divmod(low, LINE)
        note = (offset, width, id(g))
        moved = None
        if facts.notes:
            found: tuple[Footprint, Geometry, Rows, int] | None = facts.notes.get(note)
            if found is not None and found[1] is g and found[2] is rows and (start == found[3] or not isinstance(found[0], Scattered)):
                return found[0], start - found[3]
            moved = self._moved(g, rows, address, width) if waits else None
        f, at = moved or self._by_facts(g, rows, address, offset, width, waits, like)
        facts.notes[note] = (f, g, rows, start - at)
        if isinstance(f, Scattered) and f.root is f:
            facts.notes["disorder", width, id(g)] = f, address.delta
        return f, at

    def _moved(self, g: Geometry, rows: Rows, address: Shifted, width: int) -> tuple[Scattered, int] | None:
        """If it is that, the footprint of an access whose sectors are as far from those of one before by the same lanes in disorder."""
        notes = address.facts.notes
        f, delta = notes.get(("disorder", width, id(g)), (None, 0))
        if f is None or f.geometry is not g or f.rows is not rows or address.facts.high + address.delta >= 1 << 32:
            return None
        further = _sectors_further(address, delta)
        if further is None:
            return None
        key = ("further", further, id(f))
        low, high = address.facts.low + address.delta, address.facts.high + address.delta
        made = f.moved(address.delta - delta, (low // LINE, high // LINE), notes.get(key) if further else f)
        notes.setdefault(key, made)
        return made, 0

    def _by_facts(
        self, g: Geometry, rows: Rows, address: Shifted, offset: int, width: int, waits: bool, like: Scattered | None
    ) -> tuple[Footprint, int]:
        facts = address.facts
        base, start = facts.base, (facts.low + address.delta) // LINE
        if waits and g.warps.dense and (march := March.of_facts(facts, g)) is not None:
            return Marching(g, rows, address, width, march), 0
        if like is not None and waits and (f := like.another(g, rows, address, width)) is not None:
            return f, 0
        if base.size > 1 and (base.size < g.n or not facts.is_run(width.bit_length() - 1)):
            return _further(g, rows, address, width, start) or self._others(g, rows, address, width, start, waits, like)
        key = (width, offset, -1, min(base.size, 2), g.shape)
        found = self.known.get(key)
        if found is None or not _same(found, g, rows, None):
            run = offset if base.size == g.n > 1 and g.warps.dense else None
            relative = Shifted(_integers(base), offset - facts.low)  # nobody may ask for it
            found = self._remember(key, Footprint(g, rows, relative, None, width, again=True, run=run))
        return found, start

    def _plain(
        self, g: Geometry, rows: Rows, address: Array, mask: Array | None, width: int, waits: bool, like: Scattered | None
    ) -> tuple[Footprint, int]:
        if mask is None:
            return self._others(g, rows, address, width, int(address.min()) // LINE, waits, like)
        if waits and 1 < address.size == g.n and are_few(g, mask):
            few = strays(g, rows, address, mask, width)
            if 0 < few.count <= SMALL or (few.count and are_apart(few.place[:, 0])):
                return few, 0
        elif (waits or g.n >= MANY) and is_scattered(g, address, width):
            f = scattered(g, rows, address, mask, width, waits=waits)
            if f is not None:
                for before in self._masked:
                    if f.is_like(before):
                        return before, 0
                self._masked = [f, *self._masked][:MASKED]
                return f, 0
        if address.size == 1:
            lowest = address.min()
        else:
            wide, where = np.broadcast_arrays(address, mask)
            lowest = wide.min(where=where, initial=address.max())
        start = int(lowest) // LINE
        relative = _integers(address) - start * LINE
        for known in self._guarded:
            if _is_like(known, g, rows, relative, mask, width):
                return known, start
        found = Footprint(g, rows, relative, mask, width)
        self._guarded = [found, *self._guarded][:MASKED]
        return found, start

    def _others(
        self, g: Geometry, rows: Rows, address: Value, width: int, start: int, waits: bool, like: Scattered | None
    ) -> tuple[Footprint, int]:
        """The footprint of what is no run, by its addresses."""
        base, less = (address.base, start * LINE - address.delta) if isinstance(address, Shifted) else (address, start * LINE)
        if waits and not g.warps.dense and 1 < base.size == g.n:
            were_apart = isinstance(like, Strays) and like.count > SMALL
            if g.n <= SMALL or were_apart or are_apart(base.ravel()):
                return strays(g, rows, address, None, width), 0
        corners = (int(base[0, 0]) - less, int(base[0, -1]) - less, int(base[-1, -1]) - less)
        key = (width, *corners, g.shape)
        found = self.known.get(key)
        relative = Shifted(_integers(base), -less)
        if found is not None and _same(found, g, rows, relative):
            return _noted(found, address, start), start
        if (g.warps.dense or not waits) and (waits or g.n >= MANY) and is_scattered(g, base, width):
            f = scattered(g, rows, address, None, width, waits=waits)
            if f is not None:
                return f, 0
        made = self._remember(key, Footprint(g, rows, relative, None, width, again=True))
        if isinstance(address, Shifted):
            made.ends = 0, (address.facts.high + address.delta) // LINE - start
            first = address.facts.notes.setdefault(("beside", width, id(g)), made)
            made.beside = first if first is not made and first.geometry is g else None
        return _noted(made, address, start), start

    def _remember(self, key: Key, made: Footprint) -> Footprint:
        self.room -= EACH * made.count + 1000
        if self.room < 0:
            self.forget()
        self.known[key] = made
        return made

    def forget(self) -> None:
        """Remembers none from now on."""
        self.known.clear()
        Outline.known.clear()
        self._masked, self._guarded = [], []
        self.room = ROOM


def _noted(f: Footprint, address: Value, start: int) -> Footprint:
    """Keeps what was found for those who walk from the same base."""
    if isinstance(address, Shifted):
        address.facts.notes[f.width, id(f.geometry)] = f, start, address.delta
    return f


def _further(g: Geometry, rows: Rows, address: Shifted, width: int, start: int) -> tuple[Footprint, int] | None:
    """If it is that, the footprint of an access in order whose sectors are as far from those of one before by the same lanes."""
    notes = address.facts.notes
    f, before, delta = notes.get((width, id(g)), (None, 0, 0))
    if f is None or f.geometry is not g or f.rows is not rows:
        return None
    by = _sectors_further(address, delta)
    if by is None:
        return None
    by -= (start - before) * (LINE // SECTOR)
    key = ("in order", by, id(f))
    made = f.further(Shifted(_integers(address.base), address.delta - start * LINE), by, notes.get(key) if by else f)
    notes.setdefault(key, made)
    return made, start


def _sectors_further(address: Shifted, before: int) -> int | None:
    """How many sectors further on all lanes are than with that added to their bases; None where it is not the same for all."""
    now, base, notes = address.delta, address.base, address.facts.notes
    further, rest = divmod(now - before, SECTOR)
    if not rest:
        return further
    some = base[0, :SOME].tolist()
    further = (some[0] + now) // SECTOR - (some[0] + before) // SECTOR
    if any((place + now) // SECTOR - (place + before) // SECTOR != further for place in some):  # which mostly tells
        return None
    ends: tuple[int, int] | None = notes.get("places in sectors")
    if ends is None:
        place = base & base.dtype.type(SECTOR - 1)
        ends = notes["places in sectors"] = int(place.min()), int(place.max())
    last, new = ({(end + by) // SECTOR for end in ends} for by in (before, now))
    return new.pop() - last.pop() if len(last) == len(new) == 1 else None


def _integers(address: Array) -> Array:
    return address.view(np.int64) if address.dtype.itemsize == 8 else address.astype(np.int64, copy=False)


def _same(f: Footprint, g: Geometry, rows: Rows, relative: Shifted | None) -> bool:
    if f.rows is not rows and not (f.by_row and rows.apart):
        return False
    if relative is not None and not _are_equal(f.address, relative):
        return False
    return f.geometry is g or _alike(f.geometry, g)


def _is_like(f: Footprint, g: Geometry, rows: Rows, relative: Array, mask: Array, width: int) -> bool:
    """Is this what some lanes under a guard touch?"""
    if f.geometry is not g or f.rows is not rows or f.width != width or f.mask is None:
        return False
    return _equal(plain(f.address), relative) and (f.mask is mask or _equal(f.mask, mask))


def _alike(a: Geometry, b: Geometry) -> bool:
    """Are these the same lanes of the same warps?"""
    if a.warps.aligned or b.warps.aligned:
        return bool(a.warps.aligned and b.warps.aligned)
    return a.shape == b.shape and _equal(a.thread, b.thread) and _equal(a.block, b.block)


def _are_equal(a: Value, b: Shifted) -> bool:
    if isinstance(a, Shifted) and a.base is b.base:
        return a.delta == b.delta
    return _equal(plain(a.moved(-b.delta)) if isinstance(a, Shifted) else a - b.delta, b.base)


def _equal(a: Array, b: Array) -> bool:
    return a.shape == b.shape and np.count_nonzero(a == b) == a.size


footprints = Footprints()
