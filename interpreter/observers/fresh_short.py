"""Launches of few uses, in caches that hold all they are asked for: who uses a sector first misses it, and there is no more to know."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .fresh import AT_ONCE, WORTH, Fresh
from .fresh_l2 import contested
from .fresh_seen import Seen
from .fresh_tables import BRING, SILENT, USES, Used, once
from .scattered import Scattered
from .uses import SECTOR_BITS, Waiting, Way

Index = NDArray[np.int64]
Name = tuple[int, int, int]  # of a run of accesses: the table, its rows
Places = dict[Name, Index]  # in runs
MANY = 1 << 17  # uses at most, or
MOST = 1 << 20  # where two caches at most use a sector
SOME, FEWER = 7, 63  # bits of a sector that are zero if it tells whether that may be so
FEW = 3  # pieces of a table that are looked at
CELLS = 1 << 21  # one for each sector and cache
BESIDE = 1 << SECTOR_BITS  # a line that stands for lanes that take no part
_cells: list[NDArray[np.int32]] = []  # from launch to launch: nobody reads what he did not write


class Told(NamedTuple):
    """By code, what loads miss in L1, and what L2 has to fetch; and how many sectors become dirty there."""

    missed: list[int]
    lost: list[int]
    written: int


class Firsts(NamedTuple):
    """Who uses a place first."""

    counts: list[tuple[Used, int]]  # how many places each is the first to use
    firsts: Places
    strangers: Places  # who uses a place that another cache was the first to use

    @property
    def have_strangers(self) -> bool:
        return any(some.size for some in self.strangers.values())


def told_shortly(waiting: list[Waiting], caches: int, lines: int, room: int) -> tuple[Fresh | None, Told | None]:
    """Some accesses, numbered, and what they find in so many caches of so many lines and an L2 with room for so many.

    None where there is more to know: many uses, caches that may overflow, lines that are forgotten, or sectors of which a part is
    stored before they are loaded.
    """
    uses = sum([w.f.count if isinstance(w.f, Scattered) else min(w.f.count, 2 * w.f.ideal) for w in waiting])  # about
    if uses > MOST or (uses > MANY and any(not isinstance(w.f, Scattered) and w.f.is_shared for w in waiting)):
        return None, None
    fresh = Fresh.of(waiting, last=True, words=False)
    if fresh is None or not (fresh.exact or fresh.crowd <= lines):
        return None, None
    told = None
    if fresh.lines <= room and not contested(fresh, Seen()):
        cells = _cells.pop() if _cells else np.empty(CELLS, np.int32)  # mine, as long as I need them
        told = _told(fresh, caches, lines, cells)
        _cells[:] = [cells]
    return fresh if fresh.exact or told is not None else None, told


def _told(fresh: Fresh, caches: int, lines: int, cells: NDArray[np.int32]) -> Told | None:
    width = fresh.nowhere + BESIDE
    chosen = fresh.askers
    if any(u.way not in BRING for u in chosen):
        return None
    writers = {u.turn: u for u in [*fresh.also, *(u for u in fresh.used if u.way in (Way.STORE, Way.ATOMIC))]}
    if fresh.once_each:
        every = _by_code(fresh, [(u, fresh.uses(u)) for u in fresh.used])
        return Told(every, every, sum([fresh.uses(u) for u in writers.values()]))
    room, few = fresh.crowd <= lines, sum([t.sectors.size for t in fresh.tables]) <= MANY
    each_cache = few and caches * width <= CELLS  # has places of its own
    if (few and not room) or not (each_cache or (width <= CELLS and _may_be_two(fresh))):
        return None
    sectors, nobody = partial(_sectors, fresh), slice(fresh.nowhere, width)
    if each_cache:
        some = [_first(fresh, chosen, partial(_by_cache, fresh, width), cells, slice(fresh.nowhere, caches * width, width))]
    else:
        some = [_first(fresh, chosen, sectors, cells, nobody, told_apart=True)]
        if some[0].have_strangers:
            some.append(_first(fresh, chosen, sectors, cells, nobody, some[0].strangers, told_apart=True))
        if some[-1].have_strangers and len(some) > 1:  # a third cache
            return None
    if not room and _most(fresh, some, caches) > lines:  # sectors, if not lines
        return None
    if any(n for found in some for u, n in found.counts if u.parts):
        return None
    asking = [u for u in fresh.used if u.way is not Way.STORE or u.waiting.brings]
    while asking and asking[-1].code == SILENT:  # nobody is told what comes after
        asking.pop()
    if each_cache or not {u.turn for u in asking} <= {u.turn for u in chosen}:  # who is first of all is first in his cache
        lost = _first(fresh, asking, sectors, cells, nobody, some[0].firsts).counts
    else:
        lost = some[0].counts
    written = fresh.all_of([writers[turn] for turn in sorted(writers)])
    missed = [one for found in some for one in found.counts]
    return Told(_by_code(fresh, missed), _by_code(fresh, lost), int(np.count_nonzero(written)))


def _most(fresh: Fresh, some: list[Firsts], caches: int) -> int:
    """How many sectors the cache has that has the most."""
    each = np.zeros(caches, np.int64)
    for found in some:
        for name, first in found.firsts.items():
            each += np.bincount(_caches(fresh, name, first), minlength=caches)
    return int(each.max())


def _may_be_two(fresh: Fresh) -> bool:
    """May it be that no more than two caches use a sector?  Some uses of some sectors tell."""
    tables = sorted([t for t in fresh.tables if t.used], key=lambda t: t.used[0].table == USES)  # lanes in disorder mostly tell
    for t in tables:
        each = t.sectors.shape[1]
        many = AT_ONCE // each
        looks = [(0, FEWER), *((begin, SOME) for begin in range(0, len(t.sectors), max(many, len(t.sectors) // FEW)))]
        for begin, some in looks:
            sector = t.sectors[begin : begin + many].ravel()
            at = (sector & np.uint32(some) == 0).nonzero()[0]
            cache = t.cache[begin : begin + many].take(at // each).astype(np.int16)
            if _are_three(sector.take(at).astype(np.intp), cache, fresh.nowhere):
                return False
    return True


def _are_three(sector: Index, cache: NDArray[np.int16], nowhere: int) -> bool:
    """Do more than two caches use a sector?"""
    owner = np.empty(nowhere + 1, np.int16)
    for _ in range(2):  # what is left belongs to others
        owner[sector] = cache
        others = ((owner.take(sector) != cache) & (sector != nowhere)).nonzero()[0]
        sector, cache = sector.take(others), cache.take(others)
    return bool(sector.size)


def _sectors(fresh: Fresh, name: Name) -> Index:
    """The place of each use of a run."""
    table, begin, end = name
    return fresh.tables[table].sectors[begin:end].astype(np.intp).ravel()


def _by_cache(fresh: Fresh, width: int, name: Name) -> Index:
    """The same, if each cache has so many places of its own."""
    table, begin, end = name
    t = fresh.tables[table]
    return (t.sectors[begin:end] + (t.cache[begin:end] * width)[:, None]).ravel()


def _caches(fresh: Fresh, name: Name, which: Index | None) -> NDArray[np.int16]:
    """The cache of each use of a run, or of some."""
    table, begin, end = name
    cache, each = fresh.tables[table].cache[begin:end].astype(np.int16), fresh.tables[table].sectors.shape[1]
    if which is not None:
        return cache.take(which // each if each > 1 else which)
    return np.repeat(cache, each) if each > 1 else cache


def _first(
    fresh: Fresh,
    some: list[Used],
    places: Callable[[Name], Index],
    cells: NDArray[np.int32],
    nobody: slice,
    among: Places | None = None,
    *,
    told_apart: bool = False,
) -> Firsts:
    """Who of these accesses, in order, is the first to use a place, but for those that stand for nobody.

    `among`: in these runs nobody but these can be first; `told_apart`: caches are.
    """
    runs, number = [], 0
    for run in fresh.runs(once(some)):
        name = run[0].table, run[0].begin, run[-1].end
        at = places(name)
        which = None if among is None else among.get(name)
        if which is not None:
            at = at.take(which)
        runs.append((run, name, which, at, np.arange(number, number + at.size, dtype=np.int32)))
        number += at.size
    for run, _, which, at, numbers in reversed(runs):  # the last that is written remains
        if at.size < len(run) * WORTH:
            cells[at[::-1].copy()] = numbers[::-1].copy()  # much faster than without copies
            continue
        cuts = _cuts(fresh, run) if which is None else which.searchsorted(_cuts(fresh, run)).tolist()
        for begin, end in reversed(list(pairwise([0, *cuts, at.size]))):  # it does not matter which of their lanes comes first
            cells[at[begin:end]] = numbers[begin:end]
    cells[nobody] = -1
    owners = [_caches(fresh, name, which) for _, name, which, _, _ in runs] if told_apart else []
    owner = np.concatenate([*owners, np.zeros(1, np.int16)])  # the last stands for nobody
    found = Firsts([], {}, {})
    for n, (run, name, which, at, numbers) in enumerate(runs):
        winner = cells.take(at)
        first = (winner == numbers).nonzero()[0]
        found.firsts[name] = first if which is None else which.take(first)
        cuts = found.firsts[name].searchsorted(_cuts(fresh, run)).tolist() if len(run) > 1 else []
        found.counts.extend((u, end - begin) for u, (begin, end) in zip(run, pairwise([0, *cuts, first.size]), strict=True))
        if told_apart:
            strangers = ((owner.take(winner) != owners[n]) & (winner >= 0)).nonzero()[0]
            found.strangers[name] = strangers if which is None else which.take(strangers)
    return found


def _cuts(fresh: Fresh, run: list[Used]) -> list[int]:
    """Where in a run the uses of each access but the first begin."""
    each = fresh.tables[run[0].table].sectors.shape[1]
    return [(u.begin - run[0].begin) * each for u in run[1:]]


def _by_code(fresh: Fresh, counts: list[tuple[Used, int]]) -> list[int]:
    found = [0] * len(fresh.groups)
    for u, n in counts:
        if u.code != SILENT:
            found[u.code] += n
    return found
