"""The lines of a launch whose accesses conflict: two threads access a word there, one of them writes, and no barrier comes between.

Where a program depends on the order of its threads, it does so at these lines: at races, locks, flags, counters, and the last writers of a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .memory.spaces import LocalSpace
from .observe import Access, ObservedWave, Observer
from .plan.plan import Site
from .values import Array, LocalPlace, plain

MOST_ACCESSES = 1 << 21  # of lanes, that are kept
WORD_BITS = 2
WATCHED = frozenset({"global", "shared", "generic", "shared::cta", "shared::cluster"})


class ConflictWatch(Observer):
    """Keeps who accesses which word, and says at which lines that conflicts."""

    def __init__(self) -> None:
        self._parts: list[tuple[Array, ...]] = []
        self._kept = 0
        self._phases: dict[int, Array] = {}  # by wave: the barriers that each block has passed

    def wave(self, wave: ObservedWave) -> None:
        """See Observer."""
        self._phases[wave.first] = np.zeros(wave.count, np.int64)

    def met(self, site: Site, group: Any, number: int) -> None:
        """See Observer."""
        self._phases[group.wave.first] += 1

    def completion(self, wave: ObservedWave, number: int, blocks: Array) -> None:
        """See Observer."""
        self._phases[wave.first][blocks] += 1

    def access(self, access: Access) -> None:
        """See Observer."""
        address = access.address
        if access.space not in WATCHED or isinstance(address, LocalPlace | LocalSpace) or self._kept > MOST_ACCESSES:
            return
        group = access.group
        shape, wave = group.geometry.shape, group.wave
        active = np.ones(shape, np.bool_) if access.mask is None else np.broadcast_to(access.mask, shape)
        lane = np.broadcast_to(group.geometry.lane, shape)[active].astype(np.int64)
        word = np.broadcast_to(plain(address), shape)[active].astype(np.int64) >> WORD_BITS
        block = lane // wave.launch.threads
        phase = self._phases[wave.first][block]
        is_shared = access.space.startswith("shared")
        each = np.ones_like(lane)
        for k in range(max(1, access.type.bytes * access.count >> WORD_BITS)):
            self._parts.append((
                word + k, wave.first + block, wave.first * wave.launch.threads + lane, phase, each * is_shared,
                each * (access.kind != "ld"), each * access.site.instruction.span.line,
            ))  # fmt: skip
            self._kept += lane.size

    def lines(self) -> frozenset[int]:
        """The lines with accesses that conflict."""
        if not self._parts:
            return frozenset()
        word, block, thread, phase, is_shared, writes, line = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        within = _in_conflict((is_shared, block, phase, word), thread, writes)
        between = _in_conflict((is_shared, is_shared * block, word), block, writes)
        return frozenset(np.unique(line[within | between]).tolist())


def _in_conflict(places: tuple[Array, ...], who: Array, writes: Array) -> Array:
    """Which accesses are to a place that several access, at least one of whom writes."""
    _, place = np.unique(np.stack(places), axis=1, return_inverse=True)
    place = place.ravel()
    count = int(place.max()) + 1
    least, most = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(least, place, who)
    np.maximum.at(most, place, who)
    written = np.zeros(count, np.bool_)
    written[place[writes != 0]] = True
    found: Array = ((least < most) & written)[place]
    return found
