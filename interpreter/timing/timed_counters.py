"""The profiler's counters with a prediction of time: both are fed by the same events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from warplab.isa.profiles import DeviceProfile

from ..profiler.counters import Counters
from .compiled import is_compiled
from .launch import Timing
from .machine import machine_of
from .trace import Tracer
from .traced_blocks import TracedBlocks

if TYPE_CHECKING:
    from ..launch import Launch
    from ..observe import ObservedLanes, ObservedWave
    from ..plan.plan import Site
    from ..profiler.launch_time import LaunchTime
    from ..values import Array


QUICK, QUICK_AS_PYTHON = 500_000, 12_000  # instructions whose simulations take less than a second


class TimedCounters(Counters):
    """Counts one launch and traces what a few of its blocks execute."""

    samples = False  # are only some blocks of a larger launch observed?  Then nothing but the time says anything of the whole

    def __init__(self, device: DeviceProfile) -> None:
        self.tracer = Tracer(device, self.samples)
        super().__init__(device, self.tracer)

    def begin(self, launch: Launch) -> None:
        super().begin(launch)
        self.tracer.begin(launch)

    def wanted(self, first: int) -> int | None:
        return self.tracer.wanted(first)

    def wave(self, wave: ObservedWave) -> None:
        super().wave(wave)
        self.tracer.wave(wave)

    def stretch(self, sites: Sequence[Site], group: ObservedLanes) -> None:
        super().stretch(sites, group)
        self.tracer.stretch(sites, group)

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        super().instruction(site, group, mask)
        self.tracer.instruction(site, group, mask)

    def mbarrier(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        self.tracer.mbarrier(site, group, what, space, address, amounts)

    def end(self, launch: Launch) -> None:
        self.tracer.end(launch)
        super().end(launch)

    def _timed(self, launch: Launch) -> Callable[[], LaunchTime] | None:
        trace, machine, engine = self.tracer.trace, machine_of(self.device), launch.options.engine
        if trace is None or not trace.entries.size or not self._is_wanted(trace, engine):
            return None
        return cache(lambda: Timing(trace, machine, engine).time)

    def _is_wanted(self, trace: TracedBlocks, engine: str) -> bool:
        return True


class QuicklyTimedCounters(TimedCounters):
    """The same, of launches whose prediction costs less than a second."""

    def _is_wanted(self, trace: TracedBlocks, engine: str) -> bool:
        return trace.steps < (QUICK if is_compiled(engine) else QUICK_AS_PYTHON)


class SampledTime(TimedCounters):
    """Predicts how long a launch takes from its first blocks alone: the others run unobserved."""

    samples = True
