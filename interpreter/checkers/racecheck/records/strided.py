"""Accesses whose addresses walk by constants: which units the lanes touch together is found once, and then looked at without the repetitions.

What may be a race, or is anything but a plain access by all lanes of a group, is left to the look at each lane.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....memory.spaces import ArenaSpace, SharedSpace
from ....observe import Access
from ....values import AddressFacts, Shifted
from ..context import RaceContext
from ..thread_ids import NumberedLanes
from .records import AGAINST
from .shadow_memory import BLOCK, HALF, LEVEL_AT, LOW, NUMBER, OF_GRID, THREAD, U64, WARP, Array, Cells, Shadow, stamps

WORD = 4
KEPT = 256


class Tile:
    """The words that the lanes of a group touch, each once: in order as long as no two lanes touch the same."""

    __slots__ = ("distinct", "lanes", "last", "low", "masks", "run", "units")

    def __init__(
        self,
        units: Array,
        lanes: NumberedLanes,
        low: Array,
        masks: Array | None,
        distinct: bool,
        run: bool = False,
        last: Array | None = None,
    ) -> None:
        self.units = units
        self.lanes = lanes  # one for each word
        self.low = low  # the lower half of each record
        self.masks = masks
        self.last = last  # another thread that touches each word, where several do
        self.distinct = distinct
        self.run = run  # consecutive words

    def select(self, by: int) -> Any:
        """The words, moved; as an index."""
        if self.run:
            first = int(self.units[0]) + by
            return slice(first, first + self.units.size)
        return self.units + by


class Tiles:
    """Those of one launch, by addresses and lanes."""

    def __init__(self, context: RaceContext) -> None:
        self.context = context
        self._tiles: dict[tuple[int, int], tuple[AddressFacts, Any, Tile | None]] = {}

    def settle(self, a: Access, address: Shifted) -> bool:
        """Keeps an access that races with nothing; False: look at each lane."""
        size = a.type.bytes * a.count
        order = self.context.order
        if (
            size & 3 or a.group.active is not None or order.floor < order.start
        ):  # threads of launches that are not ordered have equal numbers
            return False
        found = a.group.wave.access.common(a.space, address, size, write=a.kind != "ld")
        if found is None:
            return False
        memory, _ = found
        facts, delta = address.facts, address.delta
        if isinstance(memory, SharedSpace):
            shadow, by = self.context.of_wave(a.group.wave), delta
        elif isinstance(memory, ArenaSpace):
            allocation = memory.arena.find(facts.low + delta)
            if allocation is None or facts.high + delta + size > allocation.end:
                return False
            shadow, by = self.context.of_allocation(allocation), delta - allocation.start
        else:
            return False
        if shadow.unit != WORD or by & 3:
            return False
        tile = self._tile(a, facts, memory)
        return tile is not None and self._look(a, tile, shadow, by // WORD, size // WORD)

    def _tile(self, a: Access, facts: AddressFacts, memory: Any) -> Tile | None:
        g = a.group
        key = id(facts), id(g.geometry)
        found = self._tiles.get(key)
        if found is not None and found[0] is facts and found[1] is g.geometry:
            if found[2] is not None:
                return found[2]
        elif not (isinstance(memory, ArenaSpace) and facts.base.size == g.geometry.n > 1 and facts.is_run(2)):
            if len(self._tiles) > KEPT:
                self._tiles.clear()
            self._tiles[key] = facts, g.geometry, None
            return None
        places = facts.base.astype(np.int64)
        if isinstance(memory, SharedSpace):
            places = places + g.geometry.block * memory.stride
        made = self._made(np.broadcast_to(places, g.geometry.shape).ravel() >> 2, self.context.lanes_of(g), isinstance(memory, SharedSpace))
        self._tiles[key] = facts, g.geometry, made
        return made

    def _made(self, words: Array, u: NumberedLanes, shared: bool) -> Tile:
        if words.size == 1 or (words[1:] - words[:-1] == 1).all():
            return Tile(words, u, u.words(THREAD), None, True, True)
        order = np.argsort(words, kind="stable")
        ascending = words[order]
        starts = np.flatnonzero(np.concatenate(([True], ascending[1:] != ascending[:-1])))
        if starts.size == words.size:
            return Tile(words, u, u.words(THREAD), None, True)
        counts = np.diff(starts, append=words.size)
        first = u.take(order[starts])

        def apart(numbers: Array) -> Array:
            sorted_ = numbers[order]
            out: Array = np.minimum.reduceat(sorted_, starts) != np.maximum.reduceat(sorted_, starts)
            return out

        block = first.block | BLOCK << LEVEL_AT
        masks = None
        if self.context.only_barriers:
            low = np.where(counts == 1, first.thread, block)
        else:
            wider = apart(u.warp)
            low = np.where(counts == 1, first.thread, np.where(wider, block, first.warp | WARP << LEVEL_AT))
            bits = np.where(
                np.repeat(wider, counts), u.warp[order] % self.context.order.per_block, u.thread[order] % self.context.launch.threads & 31
            )
            masks = np.bitwise_or.reduceat(np.uint32(1) << bits.astype(np.uint32), starts)
        if not shared:
            low = np.where(apart(u.block), OF_GRID, low)
        last = u.thread[order[starts + counts - 1]]
        return Tile(ascending[starts], first, low.astype(np.uint64), masks, False, last=last)

    def _look(self, a: Access, tile: Tile, shadow: Shadow, by: int, words: int) -> bool:
        context = self.context
        floor = context.floor(shadow, tile.lanes)
        what = "weak read" if a.kind == "ld" else "weak write"
        if what == "weak write" and (not tile.distinct or shadow.has_releases):
            return False
        parts = [tile.select(by + k) for k in range(words)]
        for other in AGAINST[what]:
            cells = shadow.cells.get(other)
            if cells is not None and not all(self._ordered(cells, tile, part, floor) for part in parts):
                return False
        cells = shadow.of(what)
        for part in parts:
            if what == "weak read":
                if not self._read(cells, tile, part, floor, context.number(a.site)):
                    return False
            else:
                cells.stamp[part] = tile.low | U64(context.now << 32)
                cells.site[part] = context.number(a.site)
        if not context.only_barriers and (shadow.name == "global" or context.launch.cluster_size > 1):
            context.order.activity[context.lanes_of(a.group).warp] = context.now
        return True

    def _ordered(self, cells: Cells, tile: Tile, part: Any, floor: Any) -> bool:
        """Do all lanes come after these records, or have made them?"""
        stamp = cells.stamp[part]
        late = stamp > floor
        if not late.any():
            return True
        return tile.distinct and bool((late <= ((stamp & LOW) == tile.low)).all())

    def _read(self, cells: Cells, tile: Tile, part: Any, floor: Any, number: int) -> bool:
        now = self.context.now
        old = cells.stamp[part]
        late = old > floor
        fresh = tile.low | U64(now << 32)
        if not late.any():
            cells.stamp[part] = fresh
            cells.site[part] = number
            if tile.masks is not None:
                cells.masks()[part] = tile.masks
            if tile.last is not None:
                cells.name(part, tile.lanes.thread, tile.last)
            return True
        if not self.context.only_barriers:
            return False
        old, sites = old.copy() if tile.run else old, cells.site[part].copy()
        named = None if cells.threads is None else cells.threads[:, part].copy()
        theirs = (old & LOW).astype(np.int64)
        level = theirs >> LEVEL_AT
        block = np.where(level == THREAD, theirs // self.context.launch.threads, theirs & NUMBER)
        mine = tile.lanes.block
        near = block == mine
        late &= ~(near & ((old >> HALF).astype(np.int64) <= self.context.order.barrier[mine]))
        same = (theirs == tile.low.astype(np.int64)) & ((level == THREAD) | (sites == number))
        index = np.flatnonzero(late & ~same)
        cells.stamp[part] = fresh
        cells.site[part] = number
        if tile.last is not None:
            cells.name(part, tile.lanes.thread, tile.last)
        if index.size:
            where = tile.units[index] + ((part.start if tile.run else int(part[0])) - int(tile.units[0]))
            cells.remember(where, old[index], None, sites[index], fresh[index], number)
            grid = ~near[index] | (tile.low[index] == U64(OF_GRID))
            cells.stamp[where] = stamps(now, np.where(grid, OF_GRID, mine[index] | BLOCK << LEVEL_AT))
            mates = None if named is None else named[:, index]
            cells.name_joined(where, old[index], mates, tile.lanes.thread[index], self.context.launch.threads)
        return True
