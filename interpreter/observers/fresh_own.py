"""Lines that one multiprocessor has for itself, as where each block walks through its part of an array: its cache asks L2 once for each sector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .fresh import Codes, Fresh
from .fresh_rows import Lives
from .fresh_tables import LOADED, NOBODY, USES, WHOLE, Used, once
from .lanes import repeated

Index = NDArray[np.int64]
FEW = 4  # of so many uses one may be of a sector that others use, too


@dataclass(frozen=True, slots=True)
class Own:
    """Stretches of which nearly each sector is used by one cache alone."""

    stretches: frozenset[int]  # by number
    first: Codes  # of who uses each sector first
    missed: list[int]  # how many sectors each code misses in its caches

    @staticmethod
    def of(fresh: Fresh, chosen: list[Used], lives: Lives) -> Own | None:
        """Those that accesses in order alone load from, and store whole sectors to."""
        others = {u.stretch.number for u in chosen if u.table != USES}
        some = once([u for u in chosen if u.stretch.number not in others and not u.stretch.done & ~(LOADED | WHOLE)])
        caches = (lives.of[USES] + 1).astype(np.uint16)
        runs = [(run, fresh.tables[USES].sectors[run[0].begin : run[-1].end, 0].astype(np.intp)) for run in fresh.runs(some)]
        owner = np.zeros(fresh.nowhere if some else 0, np.uint16)
        shared = np.zeros(owner.size, np.bool_)
        for run, at in runs:
            owner[at] = caches[run[0].begin : run[-1].end]
        for run, at in runs:
            strange = owner.take(at) != caches[run[0].begin : run[-1].end]
            if strange.any():
                shared[at.compress(strange)] = True
        border, strangers = [], set()  # uses of shared sectors
        for run, at in runs:
            which = shared.take(at)
            if which.any():
                begin = run[0].begin
                codes = repeated([u.code for u in run], [u.end - u.begin for u in run]).compress(which)
                border.append((at.compress(which), caches[begin : run[-1].end].compress(which), codes))
                strangers |= {u.stretch.number for u in run if which[u.begin - begin : u.end - begin].any()}
        own = frozenset(u.stretch.number for u in some)
        if FEW * sum([at.size for at, _, _ in border]) > sum([at.size for _, at in runs]):
            own, border = own - strangers, []
        if not own:
            return None
        first = fresh.firsts([u for u in fresh.used if u.stretch.number in own])
        return Own(own, first, (_first_each(border, len(fresh.groups)) + fresh.counts(np.where(shared, np.uint8(0), first))).tolist())


def _first_each(border: list[tuple[Index, NDArray[np.uint16], Index]], codes: int) -> Index:
    """How many sectors each code is the first to use in a cache; uses stand in order."""
    sector, cache, code = (np.concatenate([part[k] for part in border]) if border else NOBODY for k in range(3))
    first = np.unique(sector << 16 | cache, return_index=True)[1]
    found: Index = np.bincount(code.take(first), minlength=codes)[:codes]
    found[0] = 0
    return found
