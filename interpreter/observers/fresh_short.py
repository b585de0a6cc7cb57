"""Launches of few uses, in caches that hold all they are asked for: who uses a sector first misses it, and there is no more to know."""

from __future__ import annotations

from itertools import accumulate
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
USES = 1 << 17  # at most
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
    if sum([w.f.count if isinstance(w.f, Scattered) else w.f.packed.sector.size for w in waiting]) > USES:
        return None, None
    fresh = Fresh.of(waiting, last=True, words=False)
    if fresh is None:
        return None, None
    told = None if fresh.lines > room or contested(fresh, Seen()) else _told(fresh, caches, lines)
    return None if told is None and any(s.mixed for s in fresh.stretches) else fresh, told


def _told(fresh: Fresh, caches: int, lines: int) -> Told | None:
    width = fresh.nowhere + 4  # sectors, and a line that stands for lanes that take no part
    chosen = askers(fresh)
    if caches * width > CELLS or any(u.way not in BRING for u in chosen) or not have_room(fresh, chosen, lines):
        return None
    if not _cells:
        _cells.append(np.empty(CELLS, np.int32))
    cells = _cells[0]
    sectors = [t.sectors.astype(np.intp) for t in fresh.tables]
    places = [s + (t.cache * width)[:, None] for s, t in zip(sectors, fresh.tables, strict=True)]
    missed = _first(fresh, chosen, places, cells, slice(fresh.nowhere, caches * width, width))
    if any(n for u, n in missed if u.parts):
        return None
    nobody = slice(fresh.nowhere, width)
    lost = _first(fresh, [u for u in fresh.used if u.way is not Way.STORE or u.waiting.brings], sectors, cells, nobody)
    writers = {u.turn: u for u in [*fresh.also, *(u for u in fresh.used if u.way in (Way.STORE, Way.ATOMIC))]}
    written = np.zeros(width, np.bool_)
    for run in fresh.runs(once([writers[turn] for turn in sorted(writers)])):
        written[sectors[run[0].table][run[0].begin : run[-1].end]] = True
    return Told(_by_code(fresh, missed), _by_code(fresh, lost), int(np.count_nonzero(written[: fresh.nowhere])))


def _first(fresh: Fresh, some: list[Used], places: list[Index], cells: NDArray[np.int32], nobody: slice) -> list[tuple[Used, int]]:
    """How many places each of these accesses, in order, is the first to use, but for those that stand for nobody; less those that use none."""
    begins = [0, *accumulate([p.size for p in places])]
    runs = []
    for run in fresh.runs(once(some)):
        table = run[0].table
        each = places[table].shape[1]
        at = places[table][run[0].begin : run[-1].end].ravel()
        low = begins[table] + run[0].begin * each
        runs.append((run, at, np.arange(low, low + at.size, dtype=np.int32), each))
    for _, at, number, _ in reversed(runs):
        cells[np.ascontiguousarray(at[::-1])] = number[::-1]  # the last that is written remains
    cells[nobody] = -1
    found: list[tuple[Used, int]] = []
    for run, at, number, each in runs:
        first = cells.take(at) == number
        cuts = [(u.begin - run[0].begin) * each for u in run]
        found += zip(run, np.add.reduceat(first, cuts, dtype=np.int64).tolist(), strict=True)
    return found


def _by_code(fresh: Fresh, counts: list[tuple[Used, int]]) -> list[int]:
    found = [0] * len(fresh.groups)
    for u, n in counts:
        if u.code != SILENT:
            found[u.code] += n
    return found
