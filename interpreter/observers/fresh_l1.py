"""The caches of all multiprocessors, empty at first, asked by all accesses of a launch at once: how much each group of accesses misses.

A cache that is emptied on the way is another one from then on.  Where none can overflow, who uses a sector first misses it; otherwise
uses are put in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .fresh import DENSE, DROPPED, LOADED, SILENT, Codes, Fresh, Used
from .fresh_order import BRING, Lives, Order
from .fresh_sets import Sets
from .stays import Emptied
from .uses import SECTOR_BITS, Way

Index = NDArray[np.int64]


class Missed(NamedTuple):
    """By code, what loads ask L2 for, and, if that was found on the way, the sectors that their warps use."""

    sectors: list[int]
    used: list[int] | None
    quiet: list[tuple[int, Index, Index]]  # uses that L2 is not asked for, though others may not have asked before: table, row, lane


def missed_in_l1(fresh: Fresh, caches: int, lines: int, emptied: Emptied, *, count: bool) -> Missed:
    """What loads miss in so many caches of so many lines, of which some are emptied before a turn.

    `count`: what warps use is wanted, if that is no trouble.
    """
    chosen = [u for u in fresh.used if u.way in BRING or u.stretch.done != DROPPED]
    while chosen and (chosen[-1].code == SILENT or chosen[-1].way is not Way.LOAD):  # what comes after the last load matters to nobody
        chosen.pop()
    if not chosen:
        return Missed([0] * len(fresh.groups), None, [])
    lives = Lives(fresh, caches, emptied)
    asked: dict[int, int] = {}
    for u in chosen:
        asked[u.stretch.number] = asked.get(u.stretch.number, 0) + u.waiting.f.crowd(u.waiting.rows)
    drops, words = any(u.way not in BRING for u in chosen), any(u.parts for u in chosen)
    if not drops and not words and sum([min(s.lines, asked.get(s.number, 0)) for s in fresh.stretches]) <= lines:  # none can overflow
        loaded = [s for s in fresh.stretches if s.done & LOADED]
        low, end = loaded[0].number, loaded[-1].number + loaded[-1].lines
        if lives.count * (end - low) << SECTOR_BITS <= max(DENSE, sum([u.waiting.f.count for u in chosen])):
            return Missed(fresh.counts(_firsts(fresh, [u for u in chosen if low <= u.stretch.number < end], lives, low, end)), None, [])
    if not drops:
        sets = Sets(fresh, chosen, lives, lines, count=count)
        if sets.likely and (found := sets.missed()) is not None:
            return Missed(*found, [])
    order = Order(fresh, chosen, lives, lines, words=words, count=count)
    missed, used = order.loads - order.found(), order.loads - order.twice
    return Missed(missed.tolist(), used.tolist() if order.by_warp else None, order.quiet)


def _firsts(fresh: Fresh, chosen: list[Used], lives: Lives, low: int, end: int) -> Codes:
    """Who uses each sector of the lines `low` to `end` of each cache first."""
    count = end - low << SECTOR_BITS
    marks = np.zeros(lives.count * (count + 1), np.uint8)  # one more for lanes that take no part

    def places(table: int, begin: int, end: int) -> Index:
        sectors = fresh.tables[table].sectors[begin:end] - np.uint32(low << SECTOR_BITS)
        if fresh.tables[table].masked:
            np.minimum(sectors, np.uint32(count), out=sectors)
        found: Index = sectors + (lives.of[table][begin:end] * (count + 1))[:, None]
        return found

    fresh.mark(marks, chosen, places)
    return marks.reshape(lives.count, -1)[:, :count]
