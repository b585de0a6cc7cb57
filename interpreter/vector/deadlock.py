"""Do spinning lanes still get anywhere?  Proves that they don't: the same places, registers and memory, round after round.

As long as lanes part, meet and end nobody looks.  When that has stopped for a while, stores are compared with what they replace, and the
registers of the waiting lanes with those of the round before; execution is deterministic, so rounds that change nothing never will.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..memory.access import Access
from .values import plain

if TYPE_CHECKING:
    from .group import Group
    from .wave import Wave

CALM = 64  # rounds without events before somebody looks
PROVEN = 3  # rounds of every wave that must be alike


class Watched:
    """An Access that tells the launch when a store changes something."""

    def __init__(self, inner: Access, wave: Wave) -> None:
        self.inner = inner
        self.wave = wave

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def store(self, g: Group, space: str, address: Any, type: Any, values: Any) -> None:
        """See Access."""
        count = len(values) // type.elements
        before = Access.load(self.inner, g, space, address, type, count)
        self.inner.store(g, space, address, type, values)
        self._compare(before, Access.load(self.inner, g, space, address, type, count))

    def update(self, g: Group, space: str, address: Any, type: Any, change: Any, operands: Any, shortcut: Any, returns: bool) -> Any:
        """See Access."""
        before = Access.load(self.inner, g, space, address, type, 1)
        out = self.inner.update(g, space, address, type, change, operands, shortcut, returns)
        self._compare(before, Access.load(self.inner, g, space, address, type, 1))
        return out

    def _compare(self, before: Any, after: Any) -> None:
        if any(a.tobytes() != b.tobytes() for a, b in zip(before, after, strict=True)):
            self.wave.launch.still = 0


class Stillness:
    """What one wave looked like after its last round of spinning."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self._events = -1
        self._state: tuple[Any, ...] | None = None

    def proven(self) -> bool:
        """Counts one more round; True if this wave and all others have come to a standstill."""
        wave, launch = self.wave, self.wave.launch
        waves = launch.waves_begun()
        if wave.room.events != self._events:
            self._events = wave.room.events
            launch.still = 0
        else:
            launch.still += 1
        if launch.still < CALM * waves:
            self._look_away()
            return False
        state = tuple(self._picture(g) for g in (*wave.room.waiting, *wave.room.resting))
        if state != self._state:
            self._state = state
            launch.still = CALM * waves  # go on looking
        if not isinstance(wave.access, Watched):
            wave.access = Watched(wave.access, wave)  # type: ignore[assignment]
        return launch.still > (CALM + PROVEN) * waves

    def _look_away(self) -> None:
        access = self.wave.access
        if isinstance(access, Watched):
            self.wave.access = access.inner
            self._state = None

    @staticmethod
    def _picture(g: Group) -> tuple[Any, ...]:
        live = g.act.function.live_in[g.pc]
        values = []
        while live:
            low = live & -live
            live ^= low
            v = g.fetch_or_none(low.bit_length() - 1)
            values.append(None if v is None else plain(v).tobytes())
        return g.act.function.name, g.act.base, g.pc, g.geometry.lane.tobytes(), hash(tuple(values))
