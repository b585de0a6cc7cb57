"""Which launches are ordered before which: streams, events and what the host waits for.

Without a word about streams each launch comes after all before it.
"""

from __future__ import annotations


class Launches:
    """The launches so far, by the times from which and to which each ran."""

    def __init__(self) -> None:
        self._ran: list[tuple[int, int]] = []
        self._done: dict[str, set[int]] = {}  # stream -> the launches that what comes next on it comes after
        self._events: dict[str, set[int]] = {}
        self._all: set[int] = set()  # what the host has waited for
        self._stream: str | None = None
        self._begun = 0

    def queued(self, stream: str) -> None:
        """The next launch belongs to a stream."""
        self._stream = stream

    def recorded(self, event: str, stream: str) -> None:
        """An event stands behind what a stream has so far."""
        self._events[event] = self._before(stream)

    def awaited(self, event: str, stream: str) -> None:
        """A stream goes on behind an event."""
        self._done.setdefault(stream, set()).update(self._events.get(event, ()))

    def synchronized(self) -> None:
        """The host has waited for all."""
        self._all = set(range(len(self._ran)))

    def _before(self, stream: str) -> set[int]:
        return self._all | self._done.get(stream, set())

    def begin(self, now: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The time up to which all is before the launch that begins, and times of launches after that which are before it, too."""
        self._begun = now
        if self._stream is None:
            self.synchronized()
            return now, ()
        known = self._before(self._stream)
        unknown = [k for k in range(len(self._ran)) if k not in known]
        if not unknown:
            return now, ()
        first = unknown[0]
        return self._ran[first][0] - 1, tuple(self._ran[k] for k in sorted(known) if k > first)

    def end(self, now: int) -> None:
        """The launch is over."""
        number = len(self._ran)
        self._ran.append((self._begun, now))
        if self._stream is None:
            self._all.add(number)
        else:
            self._done.setdefault(self._stream, set()).add(number)
            self._stream = None
