"""How long launches take: the model of time sees the first blocks of each that is new; one like it takes as long."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from warplab.interpreter.launch import Launch
from warplab.interpreter.plan.clocks import reads_clock
from warplab.interpreter.ptxas.register_count import residency
from warplab.isa.profiles import DeviceProfile

from .figures import MemoryPlace
from .timeline import Timeline

if TYPE_CHECKING:
    from warplab.interpreter.timing import SampledTime

Moved = Mapping[int, tuple[int, int]]  # bytes loaded and stored, by the start of each allocation
SECTOR = 32
MOST = 8  # launches of a kernel with one shape that are seen; others with other numbers take as long as these on average


@dataclass(slots=True)
class KnownTimes:
    """What the launches of a kernel with one shape took."""

    share: float  # of the device that its blocks fill, as often as they do
    reads_clock: bool  # does the kernel look at a clock?  Then it takes as long as the clock says
    seconds: dict[bytes, float] = field(default_factory=dict)  # by the numbers that it was given

    def observer(self, numbers: bytes, device: DeviceProfile) -> SampledTime | None:
        """What has to observe a launch; None where its time is known."""
        if self.reads_clock or numbers in self.seconds or len(self.seconds) >= MOST:
            return None
        from warplab.interpreter.timing import SampledTime  # here, since few programs need it and each start would pay

        return SampledTime(device)

    def learn(self, numbers: bytes, observer: SampledTime, reach: Callable[[Moved], float]) -> None:
        """A launch was observed; `reach` says how many microseconds it needs for bytes of memory that is elsewhere."""
        found, trace = observer.finish(), observer.tracer.trace
        time = found.time if found is not None else None
        blocks = time.active / time.clock_hz if time is not None else 0.0
        moved = {start: (loaded * SECTOR, stored * SECTOR) for start, (loaded, stored) in trace.far.items()} if trace is not None else {}
        self.seconds[numbers] = max(blocks, reach(moved) / 1e6)

    def time(self, numbers: bytes) -> float:
        """How many seconds the blocks of a launch run; 0 if none was ever observed."""
        known = self.seconds
        return known.get(numbers, sum(known.values()) / len(known) if known else 0.0)


def known_times(launch: Launch, device: DeviceProfile) -> KnownTimes:
    """Those of launches as this one; the kernel keeps them."""
    key = "times", launch.grid, launch.block, launch.dynamic_shared, device.name
    found: KnownTimes | None = launch.kernel.codes.get(key)
    if found is None:
        resident = max(1, residency(device, launch.kernel, launch.threads, launch.total_shared).blocks)
        found = KnownTimes(launch.blocks / (resident * device.multiprocessors), _reads_clock(launch))
        launch.kernel.codes[key] = found
    return found


def _reads_clock(launch: Launch) -> bool:
    kernel = launch.kernel
    plans = (kernel.plan(f, launch.lowering) for f in kernel.reached if f.body is not None)
    return any(reads_clock(op) for plan in plans for s in plan.segments for op in s.ops)


class MemoryMap(Protocol):
    """What lies at addresses."""

    def is_device_range(self, address: int) -> bool:
        """Does an address mean memory that kernels reach?"""

    def place(self, address: int, is_host: bool | None) -> MemoryPlace:
        """What kind of memory it is."""


@dataclass(slots=True)
class TimedLaunch:
    """A launch that a clock is to hear of."""

    clock: Timeline | None
    space: MemoryMap
    launch: Launch | None = None
    hertz: float = 0.0
    known: KnownTimes | None = None
    numbers: bytes = b""
    observers: tuple[SampledTime, ...] = ()

    def done(self, name: str, device: int, *, by_host: bool) -> None:
        """It has run; `by_host`: no kernel has launched it."""
        if self.clock is None or self.launch is None:
            return
        if self.known is None:  # nobody has made an event that could tell
            self.clock.launched(name, self.launch.cycles / self.hertz, 1.0, device, by_host=by_host)
            return
        clock, space = self.clock, self.space
        for observer in self.observers:
            self.known.learn(self.numbers, observer, lambda moved: clock.reach(device, moved, lambda start: space.place(start, None)))
        seconds = self.known.time(self.numbers) if not self.known.reads_clock else self._by_its_clock()
        self.clock.launched(name, seconds, self.known.share, device, by_host=by_host)

    def _by_its_clock(self) -> float:
        """The cycles that the last reader saw; the device runs more blocks at once than a wave has."""
        assert self.known is not None and self.launch is not None
        waves = -(-self.launch.blocks // self.launch.most_blocks_per_wave)
        return self.launch.cycles / self.hertz * math.ceil(self.known.share) / waves


def _seen(word: int, space: MemoryMap) -> bytes:
    """What of a number the time may depend on: of an address only what kind of memory is there."""
    return "{0.kind} {0.device};".format(space.place(word, None)).encode() if space.is_device_range(word) else word.to_bytes(8, "little")


def launch_timed(clock: Timeline | None, launch: Launch, device: DeviceProfile, parameters: bytes, space: MemoryMap) -> TimedLaunch:
    """A launch before it runs; `space` tells addresses from numbers, of which the time may depend."""
    if clock is None:
        return TimedLaunch(None, space)
    hertz = device.clock_mhz * 1e6
    launch.epoch = int(clock.launch_begins() * hertz / 1e6)
    if not clock.timed:
        return TimedLaunch(clock, space, launch, hertz)
    known = known_times(launch, device)
    words = np.frombuffer(parameters[: len(parameters) & ~7], np.uint64).tolist()
    numbers = b"".join(_seen(w, space) for w in words) + parameters[len(parameters) & ~7 :]
    observer = known.observer(numbers, device)
    return TimedLaunch(clock, space, launch, hertz, known, numbers, (observer,) if observer is not None else ())
