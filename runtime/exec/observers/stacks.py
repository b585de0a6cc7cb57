"""Who has made each launch, for its profile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest

from warplab.interpreter.profiler import Counters, KernelProfile

from ...device.memory.host import host


class LaunchStacks:
    """The calls that were under way at each launch of one served process, in words."""

    def __init__(self) -> None:
        self.told: list[str] = []

    @contextmanager
    def launch(self, *launch: object) -> Iterator[None]:
        """One launch."""
        self.told.append(host().launched_from())
        yield


def profiles_with(stacks: LaunchStacks | None, counters: Sequence[Counters]) -> tuple[list[KernelProfile], list[str]]:
    """The profiles of launches, and who has made each."""
    told = stacks.told if stacks is not None else []
    found = [(p, text or "") for c, text in zip_longest(counters, told) if c is not None and (p := c.finish()) is not None]
    return [p for p, _ in found], [text for _, text in found]
