"""mbarrier objects as race checks see them: what a phase releases to those who see it complete."""

from __future__ import annotations

from .issued import Clock
from .order import merge


class Phase:
    """One object."""

    __slots__ = ("completed", "current", "parity")

    def __init__(self, parity: int) -> None:
        self.parity = parity
        self.current: Clock = {}
        self.completed: Clock = {}


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
            completed = dict(found.completed)
            merge(completed, found.current)
            found.completed, found.current = completed, {}
        return found
