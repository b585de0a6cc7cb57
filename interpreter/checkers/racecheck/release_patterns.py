"""Release sequences: what a strong read may acquire from the release patterns whose writes it reads, by scope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .clocks import AT, Clock, Releases
from .memory_order import CLUSTER, CTA, GPU


class ReleaseSequence:
    """A write that releases, and the read-modify-writes that follow it."""

    __slots__ = ("length", "narrow", "wide")

    def __init__(self) -> None:
        self.wide = Releases()  # at gpu or system scope
        self.narrow: dict[tuple[int, int], Releases] = {}  # (block, scope) -> what the block's own threads have released
        self.length = 0

    def append(self, block: int, scope: int, clock: Clock, now: int) -> int:
        """One more release; its position."""
        self.length += 1
        position = now << AT | self.length
        if scope >= GPU:
            self.wide.append(position, clock)
        if (releases := self.narrow.get((block, scope))) is None:
            releases = self.narrow[block, scope] = Releases()
        releases.append(position, clock)
        return position

    def for_(self, block: int, scope: int, cluster_size: int) -> Iterator[Releases]:
        """What a thread of a block acquires at a scope."""
        if scope >= GPU:
            yield self.wide
        first = block // cluster_size * cluster_size
        for other in range(first, first + cluster_size) if scope >= CLUSTER else (block,):
            for released in range(CTA if other == block else CLUSTER, GPU if scope >= GPU else GPU + 2):
                if releases := self.narrow.get((other, released)):
                    yield releases


@dataclass(frozen=True, slots=True)
class ReleasePatterns:
    """A release sequence up to one of its writes."""

    sequence: ReleaseSequence = field(default_factory=ReleaseSequence)
    position: int = 0
    site_line: int = 0  # of the last release that is narrower
    size: int = 0  # of the write; a read of another size acquires nothing

    def more(self, block: int, scope: int, clock: Clock, now: int, line: int, size: int) -> ReleasePatterns:
        """With one more release."""
        position = self.sequence.append(block, scope, clock, now)
        return ReleasePatterns(self.sequence, position, line if scope < GPU else self.site_line, size)

    def for_(self, block: int, scope: int, cluster_size: int) -> Clock:
        """What a thread of a block acquires at a scope."""
        return {r: self.position for r in self.sequence.for_(block, scope, cluster_size) if r.began(self.position)}
