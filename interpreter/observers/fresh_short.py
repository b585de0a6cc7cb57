"""Launches of few uses, in caches that hold all they are asked for: who uses a sector first misses it, and there is no more to know."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .fresh import SILENT, Fresh
from .fresh_l1 import askers, have_room
from .fresh_l2 import contested
from .fresh_order import BRING
from .fresh_seen import Seen
from .fresh_tables import Used, once
from .scattered import Scattered
from .uses import Waiting, Way

Index = NDArray[np.int64]
Name = tuple[int, int, int]  # of a run of accesses: the table, its rows
Firsts = dict[Name, Index]
USES = 1 << 17  # at most, or
MOST = 1 << 20  # where two caches at most use a sector
SOME, FEWER = 7, 63  # bits of a sector that are zero if it tells whether that may be so
FEW = 3  # runs of accesses that are looked at
CELLS = 1 << 21  # one for each sector and cache
_cells: list[NDArray[np.int32]] = []  # from launch to launch: nobody reads what he did not write


class Told(NamedTuple):
    """By code, what loads miss in L1, and what L2 has to fetch; and how many sectors become dirty there."""

    missed: list[int]
    lost: list[int]
    written: int


def told_shortly(waiting: list[Waiting], caches: int, lines: int, room: int) -> tuple[Fresh | None, Told | None]:
    """Some accesses, numbered, and what they find in so many caches of so many lines and an L2 with room for so many.

    None where there is more to know: many uses, caches that may overflow, lines that are forgotten, or sectors of which a part is
    stored before they are loaded.
    """
    uses = sum([w.f.count if isinstance(w.f, Scattered) else min(w.f.count, 2 * w.f.ideal) for w in waiting])  # about
    if uses > MOST or (uses > USES and any(not isinstance(w.f, Scattered) and w.f.is_shared for w in waiting)):
        return None, None
    fresh = Fresh.of(waiting, last=True, words=False)
    if fresh is None:
        return None, None
    told = None
    if fresh.lines <= room and not contested(fresh, Seen()):
        cells = _cells.pop() if _cells else np.empty(CELLS, np.int32)  # mine, as long as I need them
        told = _told(fresh, caches, lines, cells)
        _cells[:] = [cells]
    return fresh if fresh.exact or told is not None else None, told


def _told(fresh: Fresh, caches: int, lines: int, cells: NDArray[np.int32]) -> Told | None:
    width = fresh.nowhere + 4  # sectors, and a line that stands for lanes that take no part
    chosen = askers(fresh)
    if any(u.way not in BRING for u in chosen):
        return None
    room, few = have_room(fresh, chosen, lines), sum([t.sectors.size for t in fresh.tables]) <= USES
    each_cache = few and caches * width <= CELLS  # has places of its own
    if (few and not room) or not (each_cache or (2 * width <= CELLS and _may_be_two(fresh, chosen))):
        return None
    if each_cache:
        places, sides = partial(_by_cache, fresh, width), caches
    elif (strangers := _of_two(fresh, chosen)) is not None:
        places, sides = partial(_by_side, fresh, width, strangers), 2
    else:
        return None
    missed, firsts = _first(fresh, chosen, places, cells, slice(fresh.nowhere, sides * width, width))
    if not room and _most(fresh, firsts, caches) > lines:  # sectors, if not lines
        return None
    if any(n for u, n in missed if u.parts):
        return None
    asking = [u for u in fresh.used if u.way is not Way.STORE or u.waiting.brings]
    lost, _ = _first(
        fresh, asking, partial(_sectors, fresh), cells, slice(fresh.nowhere, width), firsts
    )  # who is first of all is first in his cache
    writers = {u.turn: u for u in [*fresh.also, *(u for u in fresh.used if u.way in (Way.STORE, Way.ATOMIC))]}
    written = fresh.all_of([writers[turn] for turn in sorted(writers)])
    return Told(_by_code(fresh, missed), _by_code(fresh, lost), int(np.count_nonzero(written)))


def _most(fresh: Fresh, firsts: Firsts, caches: int) -> int:
    """How many sectors the cache has that has the most."""
    each = np.zeros(caches, np.int64)
    for (table, begin, end), first in firsts.items():
        t = fresh.tables[table]
        each += np.bincount(t.cache[begin:end].take(first // t.sectors.shape[1]), minlength=caches)
    return int(each.max())


def _may_be_two(fresh: Fresh, chosen: list[Used]) -> bool:
    """May it be that no more than two caches use a sector?  Some uses of some sectors tell."""
    runs = list(fresh.runs(once(chosen)))
    looks = [(run, FEWER) for run in runs[:1]]  # which mostly tells
    for run, some in looks + [(run, SOME) for run in runs[:: max(1, len(runs) // FEW)]]:
        t, rows = fresh.tables[run[0].table], slice(run[0].begin, run[-1].end)
        sector = t.sectors[rows].ravel()
        at = (sector & np.uint32(some) == 0).nonzero()[0]
        cache = t.cache[rows].take(at // t.sectors.shape[1]).astype(np.int16)
        if _strangers([(sector.take(at).astype(np.int64), cache)], fresh.nowhere) is None:
            return False
    return True


def _of_two(fresh: Fresh, chosen: list[Used]) -> Firsts | None:
    """Which uses of each run are by the second of two caches; None where more caches use some sector."""
    uses, names = [], []
    for run in fresh.runs(once(chosen)):
        name = table, begin, end = run[0].table, run[0].begin, run[-1].end
        t = fresh.tables[table]
        cache, each = t.cache[begin:end].astype(np.int16), t.sectors.shape[1]
        uses.append((t.sectors[begin:end].ravel().astype(np.intp), cache if each == 1 else np.repeat(cache, each)))
        names.append(name)
    found = _strangers(uses, fresh.nowhere)
    return None if found is None else dict(zip(names, found, strict=True))


def _sectors(fresh: Fresh, name: Name) -> Index:
    """The place of each use of a run."""
    table, begin, end = name
    return fresh.tables[table].sectors[begin:end].astype(np.intp).ravel()


def _by_cache(fresh: Fresh, width: int, name: Name) -> Index:
    """The same, if each cache has so many places of its own."""
    table, begin, end = name
    t = fresh.tables[table]
    return (t.sectors[begin:end] + (t.cache[begin:end] * width)[:, None]).ravel()


def _by_side(fresh: Fresh, width: int, strangers: Firsts, name: Name) -> Index:
    """The same, if the second of two caches has."""
    found = _sectors(fresh, name)
    found[strangers[name]] += width
    return found


def _strangers(uses: list[tuple[Index, NDArray[np.int16]]], nowhere: int) -> list[Index] | None:
    """Of sectors and the caches that use them, which uses are by the second of two; None where there are more."""
    owner, other, found = np.empty(nowhere + 1, np.int16), np.empty(nowhere + 1, np.int16), []
    for sector, cache in uses:
        owner[sector] = cache
    for sector, cache in uses:
        at = ((owner.take(sector) != cache) & (sector != nowhere)).nonzero()[0]
        found.append(at)
        other[sector.take(at)] = cache.take(at)
    if any(bool((other.take(sector.take(at)) != cache.take(at)).any()) for (sector, cache), at in zip(uses, found, strict=True)):
        return None
    return found


def _first(
    fresh: Fresh, some: list[Used], places: Callable[[Name], Index], cells: NDArray[np.int32], nobody: slice, among: Firsts | None = None
) -> tuple[list[tuple[Used, int]], Firsts]:
    """How many places each of these accesses, in order, is the first to use, but for those that stand for nobody; less those that use none.

    And where those stand in each run.  `among`: in these runs nobody but these can be first.
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
    for _, _, _, at, numbers in reversed(runs):
        cells[np.ascontiguousarray(at[::-1])] = numbers[::-1]  # the last that is written remains
    cells[nobody] = -1
    found: list[tuple[Used, int]] = []
    firsts: Firsts = {}
    for run, name, which, at, numbers in runs:
        first = (cells.take(at) == numbers).nonzero()[0]
        firsts[name] = first if which is None else which.take(first)
        each = fresh.tables[name[0]].sectors.shape[1]
        cuts = firsts[name].searchsorted([(u.begin - name[1]) * each for u in run[1:]]).tolist() if len(run) > 1 else []
        found += [(u, end - begin) for u, (begin, end) in zip(run, pairwise([0, *cuts, first.size]), strict=True)]
    return found, firsts


def _by_code(fresh: Fresh, counts: list[tuple[Used, int]]) -> list[int]:
    found = [0] * len(fresh.groups)
    for u, n in counts:
        if u.code != SILENT:
            found[u.code] += n
    return found
