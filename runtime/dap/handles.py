"""References that the client holds while the debugger stands: to frames, and to what has variables inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError

Variable = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Slice:
    """Which variables of a container are asked for."""

    start: int
    count: int | None  # None: all
    hexadecimal: bool

    def of(self, size: int) -> range:
        """The places of those among so many."""
        start = min(max(self.start, 0), size)
        return range(start, size if self.count is None else min(start + max(self.count, 0), size))


@dataclass(frozen=True, slots=True)
class Container:
    """What has variables inside; `path` gives the expression of one of them by its name, "" where it has none."""

    variables: Callable[[Slice], list[Variable]]
    path: Callable[[str], str] = lambda name: ""
    lane: int = 0


@dataclass(frozen=True, slots=True)
class FrameAt:
    """A call of a thread."""

    lane: int
    level: int


@dataclass(slots=True)
class Handles:
    """Numbers for both, until the debugger moves."""

    items: list[Container | FrameAt] = field(default_factory=list)

    def add(self, item: Container | FrameAt) -> int:
        """A number for it."""
        self.items.append(item)
        return len(self.items)

    def clear(self) -> None:
        """The debugger has moved: what the numbers meant is gone."""
        self.items.clear()

    def container(self, number: int) -> Container:
        """By its number."""
        found = self.items[number - 1] if 1 <= number <= len(self.items) else None
        if not isinstance(found, Container):
            raise UsageError(f"there are no variables {number}: the debugger has moved")
        return found

    def frame(self, number: int) -> FrameAt:
        """By its number."""
        found = self.items[number - 1] if 1 <= number <= len(self.items) else None
        if not isinstance(found, FrameAt):
            raise UsageError(f"there is no frame {number}: the debugger has moved")
        return found
