"""What threads know of others as clocks; and what asynchronous copies come after, however late a schedule performs them."""

from __future__ import annotations

from dataclasses import dataclass

from .shadow_memory import Array

Clock = dict[int, int]  # who -> the time up to which all that this one did is known
Views = dict[int, list[Clock]]


@dataclass(frozen=True, slots=True)
class KnownAtIssue:
    """Of each thread that issued: the time, its last barriers and synchronisations before that, and what it had learnt otherwise."""

    at: Array
    barrier: Array
    warp: Array
    partial: tuple[tuple[Array, Array], ...]
    views: Views

    def take(self, index: Array) -> KnownAtIssue:
        """That of some."""
        partial = tuple([(times[index], masks[index]) for times, masks in self.partial])
        return KnownAtIssue(self.at[index], self.barrier[index], self.warp[index], partial, self.views)


def merge(into: Clock, more: Clock) -> None:
    """The later time of each."""
    if not into:
        into.update(more)
        return
    for key, time in more.items():
        if into.get(key, -1) < time:
            into[key] = time
