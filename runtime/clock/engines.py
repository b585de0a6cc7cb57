"""What a device does with work at a time: an engine takes up each piece as soon as there is room for it."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Sequence

MOST = 64  # pieces that an engine looks back on
WHOLE = 1.0 + 1e-9


class Engine:
    """Pieces of work with a beginning, an end and the part of the engine that they take."""

    def __init__(self) -> None:
        self.pieces: list[tuple[float, float, float]] = []  # (end, beginning, part), in this order
        self.floor = 0.0  # nothing begins before it

    def room(self, ready: float, length: float, share: float = 1.0) -> float:
        """When a piece can begin that is ready at a time."""
        ready = max(ready, self.floor)
        if not self.pieces or self.pieces[-1][0] <= ready:
            return ready
        later = self.pieces[bisect_right(self.pieces, (ready, math.inf)) :]
        starts = [ready, *(end for end, _, _ in later)]
        return next(start for start in starts if _fits(later, start, start + length, share))

    def take(self, start: float, end: float, share: float = 1.0) -> None:
        """A piece is done then."""
        piece = end, start, share
        if not self.pieces or self.pieces[-1] <= piece:
            self.pieces.append(piece)
        else:
            insort(self.pieces, piece)
        if len(self.pieces) > MOST:
            self.floor = max(self.floor, self.pieces.pop(0)[0])

    def busy(self, start: float, end: float) -> float:
        """For how much of a stretch it is at work."""
        return sum(max(0.0, min(end, stop) - max(start, begin)) for stop, begin, _ in self.pieces)


def _fits(pieces: Sequence[tuple[float, float, float]], start: float, end: float, share: float) -> bool:
    """Is there room beside some pieces?"""
    there = [p for p in pieces if p[1] < end and p[0] > start]
    moments = [start, *(begin for _, begin, _ in there if begin > start)]
    return all(share + sum(part for stop, begin, part in there if begin <= t < stop) <= WHOLE for t in moments)
