"""The order in which launches run, from Python, whichever API launches:

with scheduled(3):               # launches of the block run under --schedule 3
    ...
for seed in schedules(8):        # None, the default order, then 1 to 8: each turn's launches run in that order
    ...
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import UsageError


class SeededOrder:
    """A seed, and how many launches have run under it: the same ones run alike whatever ran before."""

    def __init__(self, seed: int | None) -> None:
        self.seed = seed
        self.launches = 0


_open: list[SeededOrder] = []  # of the blocks that are open


@contextmanager
def scheduled(seed: int | None) -> Iterator[None]:
    """Launches of the block run in the order of a seed; None: the default order."""
    order = SeededOrder(seed)
    _open.append(order)
    try:
        yield
    finally:
        _open.remove(order)


def schedules(count: int) -> Iterator[int | None]:
    """None and the seeds from 1 to `count`; what is launched between one and the next runs in that order."""
    if count < 1:
        raise UsageError(f"schedules({count}): give the number of seeds, 1 or more")
    for seed in (None, *range(1, count + 1)):
        with scheduled(seed):
            yield seed


def order_now(seed: int | None, number: int) -> tuple[int | None, int]:
    """The seed of a launch and its number under it, where a context says its own."""
    if not _open:
        return seed, number
    order = _open[-1]
    order.launches += 1
    return order.seed, order.launches
