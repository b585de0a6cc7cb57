"""Launches of few uses, in caches that hold all they are asked for: who uses a sector first misses it, and there is no more to know."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .fresh import SILENT, Fresh
from .fresh_l1 import askers, have_room
from .fresh_order import BRING
from .fresh_tables import Used, once
from .uses import Way

Index = NDArray[np.int64]
USES = 1 << 17  # at most
CELLS = 1 << 21  # one for each sector and cache
_cells: list[NDArray[np.int32]] = []  # from launch to launch: nobody reads what he did not write


def followed(fresh: Fresh, caches: int, lines: int) -> tuple[list[int], list[int], int] | None:
    """By code, what loads miss in so many caches of so many lines, and what L2 has to fetch; and how many sectors become dirty there.

    None where that is not all: many uses, caches that may overflow, lines that are forgotten, or sectors of which a part is stored
    before they are loaded.
    """
    width = fresh.nowhere + 4  # sectors, and a line that stands for lanes that take no part
    if caches * width > CELLS or sum([t.sectors.size for t in fresh.tables]) > USES:
        return None
    chosen = askers(fresh)
    if any(u.way not in BRING for u in chosen) or not have_room(fresh, chosen, lines):
        return None
    if not _cells:
        _cells.append(np.empty(CELLS, np.int32))
    cells = _cells[0]
    sectors = [t.sectors.astype(np.intp) for t in fresh.tables]
    places = [s + (t.cache * width)[:, None] for s, t in zip(sectors, fresh.tables, strict=True)]
    first = _first(fresh, chosen, places, cells, slice(fresh.nowhere, caches * width, width))
    if any(n for u, n in first if u.parts):
        return None
    missed = _by_code(fresh, first)
    first = _first(
        fresh, [u for u in fresh.used if u.way is not Way.STORE or u.waiting.brings], sectors, cells, slice(fresh.nowhere, width)
    )
    writers = {u.turn: u for u in [*fresh.also, *(u for u in fresh.used if u.way in (Way.STORE, Way.ATOMIC))]}
    written = _first(fresh, [writers[turn] for turn in sorted(writers)], sectors, cells, slice(fresh.nowhere, width))
    return missed, _by_code(fresh, first), sum([n for _, n in written])


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
