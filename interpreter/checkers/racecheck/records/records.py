"""Whether an access races with the records of earlier ones, and its own record."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....memory.spaces import ArenaSpace
from ..context import RaceContext
from ..order.fences import Fences
from ..order.memory_order import CTA
from ..thread_ids import NumberedLanes
from .lockstep import Lockstep
from .look import Look
from .shadow_memory import (
    BLOCK,
    GRID,
    HALF,
    LEVEL_AT,
    LOW,
    MIXED,
    NEVER,
    NUMBER,
    OF_GRID,
    READS,
    THREAD,
    U64,
    WARP,
    WRITES,
    Array,
    Cells,
    stamps,
)

AGAINST = dict.fromkeys(WRITES, WRITES + READS) | dict.fromkeys(READS, WRITES)


class Records:
    """The records of one launch."""

    def __init__(self, context: RaceContext, fences: Fences) -> None:
        self.context = context
        self._fences = fences
        self._lockstep = Lockstep(context)

    def check(self, look: Look, i: Array) -> None:
        """Looks at the units that an access touches, one for each lane, and keeps it."""
        u, before, who, strong = look.lanes, look.before, look.who, look.strong
        for other in AGAINST[look.what]:
            cells = look.shadow.cells.get(other)
            if cells is None or (strong and other.startswith("strong") and not look.shadow.uneven and before is None):
                continue
            stamp = cells.stamp[i]
            late = stamp > look.floor
            if who is not None:
                late &= (stamp & LOW).astype(np.int64) != who
            if late.any():
                index = np.flatnonzero(late)
                mask = None if cells.mask is None else cells.mask[i[index]]
                bad = ~self.context.order.happens_before(
                    stamp[index], mask, u.take(index), None if before is None else before.take(index), shared=look.in_shared
                )
                index = index[bad]
                if index.size:
                    self._suspect(look, other, cells, i, index, strong)
            if before is not None and look.kind.async_proxy and other == "weak write":
                self._check_proxy(look, other, cells, i, stamp)
        if strong:
            self._lockstep.check(look, i)
        self._note(look, i)

    def _suspect(self, look: Look, other: str, cells: Cells, i: Array, index: Array, strong: bool) -> None:
        """Unordered accesses: which of them race?"""
        stamp, u = cells.stamp[i[index]], look.lanes
        if (strong or look.what.startswith("strong write")) and other.startswith(("strong", "copied to")):
            size, sites = look.access.type.bytes, cells.site[i[index]]  # of a record of several, the reporter looks at each
            held = None if cells.mask is None else cells.mask[i[index]]
            index = index[(sites >= MIXED) | ~self.context.reporter.morally_strong(look.kind, size, sites, stamp, held, u.block[index])]
        elif other.startswith("strong write"):  # what a thread has read with a strong load is before what follows
            for reads in ("strong read", "strong read near"):
                if (read := look.shadow.cells.get(reads)) is not None:
                    at, own = i[index], u.take(index)
                    low = (read.stamp[at] & LOW).astype(np.int64)
                    among = np.zeros(index.size, np.uint32) if read.mask is None else read.mask[at]
                    lane = (own.thread % self.context.launch.threads & 31).astype(np.uint32)
                    has = (low == own.warp | WARP << LEVEL_AT) & (among >> lane & 1 != 0)
                    has &= (cells.stamp[at] & LOW) >> U64(LEVEL_AT) == THREAD  # of several writes, only the last was read
                    has |= low == own.thread
                    index = index[~has | (read.stamp[at] >> HALF <= cells.stamp[at] >> HALF)]
        if not index.size:
            return
        equal = False
        if other == look.what == "weak write" and (stored := look.stored(index)) is not None:
            values, place = stored
            equal = bool((_content(look, place, values.dtype) == values).all())
        self.context.reporter.race(look, other, cells, i, index, equal)

    def _check_proxy(self, look: Look, other: str, cells: Cells, i: Array, stamp: Array) -> None:
        """What a copy accesses through the async proxy was written by plain stores: is a proxy fence between?"""
        time, u = (stamp >> HALF).astype(np.int64), look.lanes
        index = np.flatnonzero(time > self.context.order.floor)
        if not index.size:
            return
        if (fences := self._fences.proxy.get("shared" if look.in_shared else "global")) is not None:
            fenced, barrier = fences
            threads, order = self.context.launch.threads, self.context.order
            time = time[index]
            low = (stamp[index] & LOW).astype(np.int64)
            one = low >> LEVEL_AT == THREAD
            number = np.where(one, low & NUMBER, 0)
            own = u.take(index)
            same = (number // threads == own.block) & (number != own.thread)
            covered = (fenced[number] >= time) & one
            covered |= np.where(same, barrier[own.thread], fenced[own.thread]) >= time
            warp = number // threads * order.per_block + number % threads // 32
            covered |= same & one & (fenced[own.thread] >= time) & (order.warp[own.warp] >= time) & (own.warp == warp)
            if order.sequences.any_acquired:
                covered |= fenced[own.thread] >= time
            index = index[~covered]
        if index.size:
            self.context.reporter.race(look, other, cells, i, index, False, proxy=True)

    def _note(self, look: Look, i: Array) -> None:
        """Keeps this access; lanes of it that touch one unit meet here."""
        cells, u, what = look.shadow.of(look.what), look.lanes, look.what
        mine = stamps(NEVER, look.who) if look.who is not None else u.words(THREAD) | U64(self.context.now << 32)
        old = cells.stamp[i]
        late = old > look.floor
        sites, held = (cells.site[i], None if cells.mask is None else cells.mask[i]) if late.any() else (None, None)
        named = None if sites is None or cells.threads is None else cells.threads[:, i]
        cells.stamp[i] = mine
        cells.site[i] = look.number
        if i.size > 1:
            back = cells.stamp[i]
            met = np.flatnonzero(back != mine)
        else:
            back, met = mine, np.zeros(0, np.int64)
        if met.size and what in ("weak write", "copied to") and look.access.kind == "st":
            self._within(look, cells, i, met)
        if look.who is not None or what == "weak write":
            return
        if met.size:
            if what == "strong write near":
                size = 1 if look.kind.scope == CTA else self.context.launch.cluster_size
                apart = ((back[met] & LOW).astype(np.int64) & NUMBER) // self.context.launch.threads // size != u.block[met] // size
                if apart.any():
                    self.context.reporter.race(look, what, cells, i, met[apart], False)
            self._merge(look, cells, i, met, back)
        if sites is not None:
            same = late & (sites == look.number) & ((old ^ cells.stamp[i]) & LOW == 0)  # the new record has all that the old one has
            if held is not None:
                same &= held & ~cells.masks()[i] == 0
            index = np.flatnonzero(late & ~same)
            masks = None if held is None else held[index]
            last = _last_of_each(i[index])  # if it comes after the old record, whatever comes after all of the new one does
            before = self.context.order.happens_before(old[index], masks, u.take(index), shared=look.in_shared, asking=last)
            if look.shadow.uneven and look.strong:
                before &= self._as_strong(look, old[index], sites[index], u.block[index])
            if last is not None:
                before |= np.isin(i[index], i[index[before & last]])
            open_ = ~before
            index = index[open_]
            if index.size:
                masks = None if masks is None else masks[open_]
                cells.remember(i[index], old[index], masks, sites[index], mine[index], look.number)
                self._join(cells, i[index], old[index], masks, u.take(index))
                cells.name_joined(
                    i[index], old[index], None if named is None else named[:, index], u.thread[index], self.context.launch.threads
                )

    def _as_strong(self, look: Look, old: Array, sites: Array, block: Array) -> Array:
        """Does whatever races with one of these records race with the lane's access, too?  It may be morally strong with that alone."""
        low, order = (old & LOW).astype(np.int64), self.context.order
        level, number = low >> LEVEL_AT, low & NUMBER
        theirs = np.where(level == THREAD, number // order.threads, np.where(level == WARP, number // order.per_block, number))
        return np.asarray((theirs == block) & self.context.reporter.as_wide(look.kind, look.access.type.bytes, sites))

    def _within(self, look: Look, cells: Cells, i: Array, met: Array) -> None:
        """Lanes of one store write one unit: do they write one value?"""
        equal, every = False, np.arange(i.size)
        if (stored := look.stored(every)) is not None:
            values, first = stored[0], int(i.min())
            winner = np.zeros(int(i.max()) - first + 1, values.dtype)
            winner[i - first] = values
            equal = bool((winner[i[met] - first] == values[met]).all())
        self.context.reporter.race(look, look.what, cells, i, met, equal)

    # ------------------------------------------------------------ records of several threads

    def _merge(self, look: Look, cells: Cells, i: Array, met: Array, back: Array) -> None:
        """Several lanes at one unit become a record of their warp, block or the grid."""
        where, mine = i[met], look.lanes.take(met)
        threads, now = self.context.launch.threads, self.context.now
        rep = (back[met] & LOW).astype(np.int64) & NUMBER
        cells.name(where, rep, mine.thread)
        if self.context.only_barriers and not look.shared_by_blocks:
            cells.stamp[where] = stamps(now, mine.block | BLOCK << LEVEL_AT)
            return
        block = rep // threads
        if self.context.only_barriers:
            cells.stamp[where] = stamps(now, mine.block | BLOCK << LEVEL_AT)
        else:
            warp = block * self.context.order.per_block + rep % threads // 32
            cells.stamp[where] = stamps(now, mine.warp | WARP << LEVEL_AT)
            wider = np.flatnonzero(warp != mine.warp)
            cells.stamp[where[wider]] = stamps(now, mine.block[wider] | BLOCK << LEVEL_AT)
        across = np.flatnonzero(block != mine.block)
        cells.stamp[where[across]] = stamps(now, OF_GRID)
        if not self.context.only_barriers:
            self._mask(cells, i, look.lanes)
        if across.size:
            self._keep_cluster(cells, where[across], self._cluster(block[across]), mine.block[across])

    def _cluster(self, block: Array) -> Array:
        """The cluster of each block, as the mask of a record of several blocks names it: 0 is none."""
        return (block // self.context.launch.cluster_size + 1).astype(np.uint32)

    def _keep_cluster(self, cells: Cells, where: Array, cluster: Array, block: Array) -> None:
        """Records of several blocks name the cluster that all of these are in."""
        if self.context.launch.cluster_size == 1:
            return
        masks, one = cells.masks(), cluster == self._cluster(block)
        masks[where[one]] = cluster[one]
        masks[where[~one]] = 0

    def _mask(self, cells: Cells, i: Array, u: NumberedLanes) -> None:
        """The lanes of a warp, or the warps of a block, that a record has."""
        masks = cells.masks()
        level = (cells.stamp[i] & LOW).astype(np.int64) >> LEVEL_AT
        some = np.flatnonzero((level == WARP) | (level == BLOCK))
        bit = np.where(level == WARP, u.thread % self.context.launch.threads & 31, u.warp % self.context.order.per_block).astype(np.uint32)
        masks[i[some]] = 0
        np.bitwise_or.at(masks, i[some], np.uint32(1) << bit[some])

    def _join(self, cells: Cells, where: Array, old: Array, held: Array | None, mine: NumberedLanes) -> None:
        """Records of others that are unordered with these lanes are kept with them."""
        low = (old & LOW).astype(np.int64)
        level, number = low >> LEVEL_AT, low & NUMBER
        threads, per = self.context.launch.threads, self.context.order.per_block
        block = np.where(level == THREAD, number // threads, np.where(level == WARP, number // per, number))  # that of GRID is no block
        cur = (cells.stamp[where] & LOW).astype(np.int64)
        grid = (block != mine.block) | (cur == OF_GRID)
        held = np.zeros(where.size, np.uint32) if held is None else held
        theirs = np.where(low == OF_GRID, held, self._cluster(block))
        if self.context.launch.cluster_size > 1:
            theirs[(cur == OF_GRID) & (cells.masks()[where] != theirs)] = 0
        if self.context.only_barriers:
            cells.stamp[where] = stamps(self.context.now, np.where(grid, GRID, mine.block) | BLOCK << LEVEL_AT)
            self._keep_cluster(cells, where[grid], theirs[grid], mine.block[grid])
            return
        warp = np.where(level == THREAD, number // threads * per + number % threads // 32, np.where(level == WARP, number, -1))
        now_level = cur >> LEVEL_AT
        masks = cells.masks()
        lane = np.where(level == THREAD, number % threads & 31, 0).astype(np.uint32)
        old_lanes = np.where(level == THREAD, np.uint32(1) << lane, held)
        warp_bit = np.uint32(1) << np.where(warp >= 0, warp % per, 0).astype(np.uint32)
        old_warps = np.where(level == BLOCK, held, warp_bit)
        mine_lane = np.uint32(1) << (mine.thread % threads & 31).astype(np.uint32)
        mine_warp = np.uint32(1) << (mine.warp % per).astype(np.uint32)
        one = (warp == mine.warp) & (now_level <= WARP) & ~grid
        key = np.where(grid, OF_GRID, np.where(one, mine.warp | WARP << LEVEL_AT, mine.block | BLOCK << LEVEL_AT))
        fresh = np.where(one, mine_lane | old_lanes, mine_warp | old_warps)
        have = np.where(now_level == THREAD, np.uint32(0), masks[where])
        lift = ~one & (now_level == WARP)
        cells.stamp[where] = stamps(self.context.now, key)
        masks[where] = np.where(lift, np.uint32(0), have) | fresh
        np.bitwise_or.at(masks, where, fresh)
        self._keep_cluster(cells, where[grid], theirs[grid], mine.block[grid])


def _last_of_each(units: Array) -> Array | None:
    """Which lanes are the last ones at their units?  None: all are."""
    if units.size < 2 or (units[1:] > units[:-1]).all():
        return None
    last = np.zeros(units.size, bool)
    last[units.size - 1 - np.unique(units[::-1], return_index=True)[1]] = True
    return last


def _content(look: Look, place: Array, dtype: Any) -> Array:
    memory = look.memory
    base = look.shadow.origin - memory.arena.base if isinstance(memory, ArenaSpace) else 0
    return np.asarray(memory.view(dtype)[(place + base) // dtype.itemsize])
