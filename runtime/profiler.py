"""Profiles from Python: `with profiling() as p:` leaves one frozen profile of each launch in `p.launches`.

It works on every context that launches inside the block, whichever API gave the launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from warplab.interpreter.profiler import Counters, KernelProfile
from warplab.interpreter.profiler.profile import show_with
from warplab.interpreter.timing import QuicklyTimedCounters, TimedCounters

from .device.launches.observing import observing


@dataclass(slots=True, eq=False)
class Profiling:
    """What was launched so far; counts become profiles when they are asked for."""

    counters: list[Counters]

    @property
    def launches(self) -> list[KernelProfile]:
        """A profile of each launch."""
        return [p for c in self.counters if (p := c.finish()) is not None]

    def __repr__(self) -> str:
        return f"<Profiling of {len(self.counters)} launches>"

    def _repr_html_(self) -> str:
        from .reports.page.html import page

        return page(self.launches, fragment=True)


def _page(profile: KernelProfile) -> str:
    from .reports.page.html import page

    return page([profile], fragment=True)


show_with(_page)


@contextmanager
def profiling(*, time: bool | None = False) -> Iterator[Profiling]:
    """Profiles every launch inside the with statement; with `time`, also predicts how long each takes (None: where that costs less than a second).

    The profile of a launch with a fault ends at the fault.
    """
    make = Counters if time is False else QuicklyTimedCounters if time is None else TimedCounters
    with observing(make) as counters:
        yield Profiling(counters)
