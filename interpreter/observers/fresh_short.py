"""Launches of few uses, in caches that hold all they are asked for: who uses a sector first misses it, and there is no more to know."""

from __future__ import annotations

from itertools import accumulate, pairwise
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
Firsts = dict[tuple[int, int, int], Index]  # of runs, by their table and rows
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
    sectors = [t.sectors.astype(np.intp) for t in fresh.tables]
    if each_cache:
        places, sides = [s + (t.cache * width)[:, None] for s, t in zip(sectors, fresh.tables, strict=True)], caches
    elif (found := _of_two(fresh, chosen, sectors, width)) is not None:
        places, sides = found, 2
    else:
        return None
    missed, firsts = _first(fresh, chosen, places, cells, slice(fresh.nowhere, sides * width, width))
    if not room and _most(fresh, firsts, caches) > lines:  # sectors, if not lines
        return None
    if any(n for u, n in missed if u.parts):
        return None
    asking = [u for u in fresh.used if u.way is not Way.STORE or u.waiting.brings]
    lost, _ = _first(fresh, asking, sectors, cells, slice(fresh.nowhere, width), firsts)  # who is first of all is first in his cache
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


def _of_two(fresh: Fresh, chosen: list[Used], sectors: list[Index], width: int) -> list[Index] | None:
    """The sectors that accesses use, so many further on for the second cache of two; None where more caches use some."""
    runs = [(run[0].table, run[0].begin, run[-1].end) for run in fresh.runs(once(chosen))]
    uses = []
    for table, a, b in runs:
        cache, each = fresh.tables[table].cache[a:b].astype(np.int16), sectors[table].shape[1]
        uses.append((sectors[table][a:b].ravel(), cache if each == 1 else np.repeat(cache, each)))
    found = _strangers(uses, fresh.nowhere)
    if found is None:
        return None
    places = [s.copy() for s in sectors]
    for (table, a, b), at in zip(runs, found, strict=True):
        places[table][a:b].reshape(-1)[at] += width
    return places


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
    fresh: Fresh, some: list[Used], places: list[Index], cells: NDArray[np.int32], nobody: slice, among: Firsts | None = None
) -> tuple[list[tuple[Used, int]], Firsts]:
    """How many places each of these accesses, in order, is the first to use, but for those that stand for nobody; less those that use none.

    And where those stand in each run.  `among`: in these runs nobody but these can be first.
    """
    begins = [0, *accumulate([p.size for p in places])]
    runs = []
    for run in fresh.runs(once(some)):
        name = table, begin, end = run[0].table, run[0].begin, run[-1].end
        each = places[table].shape[1]
        at, low = places[table][begin:end].ravel(), begins[table] + begin * each
        number = np.arange(low, low + at.size, dtype=np.int32)
        which = None if among is None else among.get(name)
        runs.append((run, name, which, at, number) if which is None else (run, name, which, at.take(which), number.take(which)))
    for _, _, _, at, number in reversed(runs):
        cells[np.ascontiguousarray(at[::-1])] = number[::-1]  # the last that is written remains
    cells[nobody] = -1
    found: list[tuple[Used, int]] = []
    firsts: Firsts = {}
    for run, name, which, at, number in runs:
        first = (cells.take(at) == number).nonzero()[0]
        firsts[name] = first if which is None else which.take(first)
        cuts = firsts[name].searchsorted([(u.begin - name[1]) * places[name[0]].shape[1] for u in run[1:]]).tolist() if len(run) > 1 else []
        found += [(u, end - begin) for u, (begin, end) in zip(run, pairwise([0, *cuts, first.size]), strict=True)]
    return found, firsts


def _by_code(fresh: Fresh, counts: list[tuple[Used, int]]) -> list[int]:
    found = [0] * len(fresh.groups)
    for u, n in counts:
        if u.code != SILENT:
            found[u.code] += n
    return found
