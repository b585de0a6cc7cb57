"""What a strong read of a place may acquire: the clocks of the release patterns whose writes it reads, by scope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .clocks import Clock, merge
from .memory_order import CLUSTER, CTA, GPU

MANY = 8  # clocks that are kept apart


@dataclass(frozen=True, slots=True)
class ReleasePatterns:
    """Those of one place; a new one for each write."""

    wide: Clock = field(default_factory=dict)  # of patterns at gpu or system scope
    narrow: dict[tuple[int, int], tuple[Clock, ...]] = field(
        default_factory=dict
    )  # (block, scope) -> what the block's own threads have released
    site_line: int = 0  # of the last release that is narrower
    size: int = 0  # of the write; a read of another size acquires nothing

    def more(self, block: int, scope: int, clock: Clock, line: int, size: int) -> ReleasePatterns:
        """With one more release."""
        wide, narrow = self.wide, dict(self.narrow)
        if scope >= GPU:
            wide = dict(wide)
            merge(wide, clock)
        narrow[block, scope] = (*_few(narrow.get((block, scope), ())), clock)
        return ReleasePatterns(wide, narrow, line if scope < GPU else self.site_line, size)

    def with_(self, others: ReleasePatterns) -> ReleasePatterns:
        """With what other releases have published."""
        wide, narrow = dict(self.wide), dict(self.narrow)
        merge(wide, others.wide)
        for key, clocks in others.narrow.items():
            narrow[key] = _few((*narrow.get(key, ()), *clocks))
        return ReleasePatterns(wide, narrow, self.site_line or others.site_line, self.size)

    def for_(self, block: int, scope: int, cluster_size: int) -> Iterator[Clock]:
        """What a thread of a block acquires at a scope."""
        if scope >= GPU and self.wide:
            yield self.wide
        for (other, released), clocks in self.narrow.items():
            near = other == block
            if released >= CLUSTER and scope >= CLUSTER:
                near = near or other // cluster_size == block // cluster_size
            if near and (scope == CTA or released < GPU or scope < GPU):
                yield from clocks


def _few(clocks: tuple[Clock, ...]) -> tuple[Clock, ...]:
    """The same, as one where they have become many."""
    if len(clocks) < MANY:
        return clocks
    whole: Clock = {}
    for clock in clocks:
        merge(whole, clock)
    return (whole,)
