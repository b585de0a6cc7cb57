"""mbarrier objects as race checks see them: what a phase releases to those who see it complete."""

from __future__ import annotations

from .clocks import Clock, merge
from .release_patterns import ReleasePatterns


class PhaseRelease:
    """What one phase releases: arrivals to the scopes that both sides name, the end of copies to whoever waits."""

    __slots__ = ("arrivals", "copies")

    def __init__(self, arrivals: ReleasePatterns) -> None:
        self.arrivals = arrivals
        self.copies: Clock = {}

    def to(self, block: int, scope: int, cluster_size: int) -> list[Clock]:
        """What threads of a block acquire at a scope."""
        return [c for c in (self.copies, self.arrivals.for_(block, scope, cluster_size)) if c]

    def after(self, earlier: PhaseRelease) -> PhaseRelease:
        """With what earlier phases have released; the arrivals of all phases are one sequence."""
        out = PhaseRelease(self.arrivals)
        for clock in (earlier.copies, self.copies):
            merge(out.copies, clock)
        return out


class Phase:
    """One object."""

    __slots__ = ("completed", "current", "parity")

    def __init__(self, parity: int) -> None:
        self.parity = parity
        self.current, self.completed = PhaseRelease(ReleasePatterns()), PhaseRelease(ReleasePatterns())


class Phases:
    """All objects of a launch, by wave and place in its shared memory."""

    def __init__(self) -> None:
        self._objects: dict[tuple[int, int], Phase] = {}

    def at(self, wave: int, place: int, parity: int, fresh: bool) -> Phase:
        """The object at a place, whose word has this parity now; another one than before says that a phase is over."""
        found = self._objects.get((wave, place))
        if found is None or fresh:
            found = self._objects[wave, place] = Phase(0 if fresh else parity)
        elif found.parity != parity:
            found.parity = parity
            found.completed, found.current = found.current.after(found.completed), PhaseRelease(found.current.arrivals)
        return found
