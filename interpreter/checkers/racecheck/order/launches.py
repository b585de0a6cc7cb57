"""Which launches are ordered before which: streams, events and what the host waits for.

Each stream counts its launches; what a stream, an event or the host knows is how many of each stream are over.  A launch of which nobody says
the stream comes after all before it.
"""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[int, int]  # times from which and to which a launch ran
Counts = dict[str, int]


class Launches:
    """The launches so far."""

    def __init__(self) -> None:
        self._ran: dict[str, list[Span]] = {}
        self._known: dict[str, Counts] = {}
        self._events: dict[str, Counts] = {}
        self._host: Counts = {}
        self._stream: str | None = None
        self._begun = 0

    def queued(self, stream: str | None, after: Sequence[str] = ()) -> None:
        """What comes next belongs to a stream, and comes after all that some others have so far; None: after all."""
        self._stream = stream
        for other in after if stream is not None else ():
            self._learn(stream or "", self._before(other))

    def recorded(self, event: str, stream: str | None) -> None:
        """An event stands behind what a stream has so far; None: behind all."""
        self._events[event] = self._all() if stream is None else self._before(stream)

    def awaited(self, event: str, stream: str) -> None:
        """A stream goes on behind an event."""
        self._learn(stream, self._events.get(event, {}))

    def synchronized(self, event: str = "", stream: str = "") -> None:
        """The host has waited for an event, for a stream, or for all."""
        counts = self._before(stream) if stream else self._events.get(event, {}) if event else self._all()
        self._host = later(self._host, counts)

    def _learn(self, stream: str, counts: Counts) -> None:
        self._known[stream] = later(self._known.get(stream, {}), counts)

    def _all(self) -> Counts:
        return {s: len(r) for s, r in self._ran.items()}

    def _before(self, stream: str) -> Counts:
        return later(self._host, self._known.get(stream, {}), {stream: len(self._ran.get(stream, ()))})

    def unordered(self) -> list[Span]:
        """The launches that what comes next does not come after, by time."""
        if self._stream is None:
            return []
        known = self._before(self._stream)
        return sorted(span for s, ran in self._ran.items() for span in ran[known.get(s, 0) :])

    def begin(self, now: int) -> tuple[int, tuple[Span, ...]]:
        """The time up to which all is before the launch that begins, and times after that which are before it, too."""
        self._begun = now
        unknown = self.unordered()
        if not unknown:
            return now, ()
        gaps = zip(unknown, [*unknown[1:], (now + 1, now + 1)], strict=True)
        return unknown[0][0] - 1, tuple((last + 1, first - 1) for (_, last), (first, _) in gaps if last + 1 < first)

    def end(self, now: int) -> None:
        """The launch is over."""
        stream = self._stream or ""
        self._ran.setdefault(stream, []).append((self._begun, now))
        if self._stream is None:
            self.synchronized()


def later(*known: Counts) -> Counts:
    """What any of them knows."""
    out: Counts = {}
    for counts in known:
        for stream, n in counts.items():
            out[stream] = max(n, out.get(stream, 0))
    return out
