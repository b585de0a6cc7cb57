"""When no group of a wave can go on: do spinning lanes still get anywhere, and which lanes wait for which?

As long as lanes end and pass barriers nothing is looked at.  When that has stopped for a while, stores are compared with what they replace, and
the registers of the waiting lanes with those of the round before; execution is deterministic, so rounds that change nothing never will.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...faults import Deadlock, Fault, Waiting
from ...launch import Launch
from ...memory.access import WaveMemory
from ...values import plain
from ..group import Group
from ..ports import WavePort

BEGINNING = 4  # rounds without events, from which on groups turn but once a round, and are not torn any more
NO_PROGRESS_ROUNDS = 64  # and before memory and registers are compared
PROVEN = 3  # rounds of every wave that must be alike
IMPATIENT = 256  # rounds, after which a launch that may be suspended is, though its registers change


class Postponed:
    """Why a group tries the instruction that it stands before again and again."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what

    def why(self, g: Group) -> tuple[str, str]:
        """See Wait."""
        return self.what, "no other thread can run"


class Watched:
    """A WaveMemory that tells the launch when a store changes something."""

    def __init__(self, inner: WaveMemory, launch: Launch) -> None:
        self.inner = inner
        self.launch = launch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def store(self, g: Group, space: str, address: Any, type: Any, values: Any) -> None:
        """See WaveMemory."""
        count = len(values) // type.elements
        before = WaveMemory.load(self.inner, g, space, address, type, count)
        self.inner.store(g, space, address, type, values)
        self._compare(before, WaveMemory.load(self.inner, g, space, address, type, count))

    def update(self, g: Group, space: str, address: Any, type: Any, change: Any, operands: Any, shortcut: Any, returns: bool) -> Any:
        """See WaveMemory."""
        before = WaveMemory.load(self.inner, g, space, address, type, 1)
        out = self.inner.update(g, space, address, type, change, operands, shortcut, returns)
        self._compare(before, WaveMemory.load(self.inner, g, space, address, type, 1))
        return out

    def _compare(self, before: Any, after: Any) -> None:
        if any(a.tobytes() != b.tobytes() for a, b in zip(before, after, strict=True)):
            self.launch.gets_on()


class Stillness:
    """What one wave looked like after its last round of spinning."""

    def __init__(self) -> None:
        self._events = -1
        self._state: frozenset[tuple[Any, ...]] | None = None

    def begins(self, launch: Launch) -> bool:
        """Does it look as if nobody got on?"""
        return launch.quiet_rounds >= BEGINNING * (launch.suspended_waves + 1)

    def proven(self, wave: WavePort, events: int, groups: Sequence[Group]) -> bool:
        """Counts one more round, after so many events; True if these groups and those of all other waves have come to a standstill."""
        launch = wave.launch
        waves = launch.suspended_waves + 1
        if events != self._events:
            self._events = events
            launch.gets_on()
            launch.turns = 0
        else:
            launch.quiet_rounds += 1
            launch.turns += 1
        if launch.options.suspends and launch.turns > IMPATIENT * waves:
            return True
        if launch.quiet_rounds < NO_PROGRESS_ROUNDS * waves:
            if isinstance(wave.access, Watched):
                wave.access = wave.access.inner
                self._state = None
            return False
        state = frozenset([_picture(g) for g in groups])  # a seed may change their order
        if state != self._state:
            self._state = state
            launch.quiet_rounds = NO_PROGRESS_ROUNDS * waves  # go on looking
        if not isinstance(wave.access, Watched):
            wave.access = Watched(wave.access, launch)  # type: ignore[assignment]
        return launch.quiet_rounds > (NO_PROGRESS_ROUNDS + PROVEN) * waves


def _picture(g: Group) -> tuple[Any, ...]:
    """Where a group is, and the values of its live registers."""
    live = g.act.function.live_in[g.pc]
    values = []
    while live:
        low = live & -live
        live ^= low
        v = g.fetch_or_none(low.bit_length() - 1)
        values.append(None if v is None else plain(v).tobytes())
    return g.act.function.name, g.act.base, g.pc, g.geometry.lane.tobytes(), hash(tuple(values))


def deadlock(wave: WavePort, groups: Sequence[Group]) -> Deadlock:
    """Which lanes wait where, for which."""
    launch = wave.launch
    out = []
    for g in groups:
        segments = g.act.function.plan.segments
        if g.blocked is None:  # it spins: named by the first instruction of its loop
            site = segments[g.pc].first_site
            wants, missing = "a change of memory", "they repeat a loop, and no other thread can run"
        elif isinstance(g.blocked, Postponed):
            site = segments[g.pc].first_site
            wants, missing = g.blocked.why(g)
        else:
            site = next((s.site for s in reversed(segments[: g.pc]) if s.site is not None), None)
            wants, missing = g.blocked.why(g)
        line = site.instruction.span.line if site else 0
        who = g.blame(Fault("", ""), None)
        name = f"block {who.block}, thread {who.thread}"
        out.append(Waiting(g.geometry.n, name, launch.text_of(site), line, launch.source_of(site), wants, missing, who.block, who.thread))
    return Deadlock(launch.name, out)
