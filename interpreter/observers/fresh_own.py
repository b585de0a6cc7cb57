"""Lines that one multiprocessor has for itself, as where each block walks through its part of an array: its cache asks L2 once for each sector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .fresh import LOADED, USES, WHOLE, Codes, Fresh, Used, once
from .fresh_rows import Lives


@dataclass(frozen=True, slots=True)
class Own:
    """Stretches of which each sector is used by one cache alone, and the code of who uses it first: there and in the cache that all share."""

    stretches: frozenset[int]  # by number
    first: Codes

    @staticmethod
    def of(fresh: Fresh, chosen: list[Used], lives: Lives) -> Own | None:
        """Those that accesses in order alone load from, and store whole sectors to."""
        others = {u.stretch.number for u in chosen if u.table != USES}
        some = once([u for u in chosen if u.stretch.number not in others and not u.stretch.done & ~(LOADED | WHOLE)])
        caches = (lives.of[USES] + 1).astype(np.uint16)
        runs = [(run, fresh.tables[USES].sectors[run[0].begin : run[-1].end, 0].astype(np.intp)) for run in fresh.runs(some)]
        owner = np.zeros(fresh.nowhere if some else 0, np.uint16)
        for run, at in runs:
            owner[at] = caches[run[0].begin : run[-1].end]
        shared = set()
        for run, at in runs:
            strange = owner.take(at) != caches[run[0].begin : run[-1].end]
            if strange.any():
                shared |= {u.stretch.number for u in run if strange[u.begin - run[0].begin : u.end - run[0].begin].any()}
        own = frozenset(u.stretch.number for u in some) - shared
        return Own(own, fresh.firsts([u for u in fresh.used if u.stretch.number in own])) if own else None
