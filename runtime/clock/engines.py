"""What a device does with work at a time: an engine takes up each piece as soon as there is room for it."""

from __future__ import annotations

MOST = 64  # pieces that an engine looks back on
WHOLE = 1.0 + 1e-9


class Engine:
    """Pieces of work with a beginning, an end and the part of the engine that they take."""

    def __init__(self) -> None:
        self.pieces: list[tuple[float, float, float]] = []
        self.floor = 0.0  # nothing begins before it

    def room(self, ready: float, length: float, share: float = 1.0) -> float:
        """When a piece can begin that is ready at a time."""
        ready = max(ready, self.floor)
        for start in sorted({ready, *(end for _, end, _ in self.pieces if end > ready)}):
            if self._fits(start, start + length, share):
                return start
        return ready  # no piece ends later: there are none

    def _fits(self, start: float, end: float, share: float) -> bool:
        there = [p for p in self.pieces if p[0] < end and p[1] > start]
        moments = [start, *(begin for begin, _, _ in there if begin > start)]
        return all(share + sum(part for begin, stop, part in there if begin <= t < stop) <= WHOLE for t in moments)

    def take(self, start: float, end: float, share: float = 1.0) -> None:
        """A piece is done then."""
        self.pieces.append((start, end, share))
        if len(self.pieces) > MOST:
            self.pieces.sort(key=lambda p: p[1])
            self.floor = max(self.floor, self.pieces.pop(0)[1])

    def busy(self, start: float, end: float) -> float:
        """For how much of a stretch it is at work."""
        return sum(max(0.0, min(end, stop) - max(start, begin)) for begin, stop, _ in self.pieces)
