"""The time of a program: its host makes calls, and devices do what the calls give them, stream by stream, engine by engine.

Nothing here runs any work.  Work runs when it is given; this says when it would have been done.  What the host does between calls takes no time, so that
the same program tells the same times everywhere.  Times are microseconds since the program began.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from warplab.assembler.demangle import short_name
from warplab.isa.profiles import DeviceProfile

from . import figures as f
from .engines import Engine
from .figures import CopyCost, DeviceFigures, MemoryPlace

STEP = 0.032  # of an event's time
MOST_LOOKS = 40  # in a row of which each takes twice as long as the one before
OTHER = {"h2d": "d2h", "d2h": "h2d"}
HOST, KERNELS = "host", "kernels"
PREDICTED = "the times that the program is told are predicted; with --clock host they are those of this machine"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """Something that takes time."""

    engine: str  # host, kernels, h2d, d2h, peer, device
    name: str
    begin: float
    end: float
    device: int = 0
    stream: str = ""
    bytes: int = 0

    @property
    def length(self) -> float:
        """Microseconds."""
        return self.end - self.begin


class Timeline:
    """The time of one host program; `profile_of` gives the model of a device by its number."""

    def __init__(self, profile_of: Callable[[int], DeviceProfile]) -> None:
        self.host = 0.0
        self.spans: list[TimeSpan] | None = None  # kept where someone wants them
        self.label = ""  # the call that is being made
        self.say: Callable[[str], None] | None = None  # tells the user something; it is asked once
        self.timed = False  # may it ask, so that launches have to be timed?
        self.access: set[tuple[int, int]] = set()  # devices of which the first may reach the memory of the second
        self._profile_of = profile_of
        self._figures: dict[int, DeviceFigures] = {}
        self._engines: dict[tuple[int, str], Engine] = defaultdict(Engine)
        self._done: dict[str, float] = defaultdict(float)  # by stream: when all its work is
        self._devices: dict[str, int] = {}  # of each stream
        self._stream: str | None = None  # whose work is being given
        self._device = 0
        self._charged = False  # has the host paid for the call?
        self._ends = 0.0  # when the last copy is done, if a call may wait for it
        self._own: int | None = None  # the span of the call that is being made, among those kept
        self._looks = 0  # in a row that found work under way

    def figures(self, device: int) -> DeviceFigures:
        """What a device's links and memory do."""
        if device not in self._figures:
            self._figures[device] = DeviceFigures.of(self._profile_of(device))
        return self._figures[device]

    def keep(self) -> list[TimeSpan]:
        """From now on everything that takes time is kept, and launches are timed."""
        self.timed = True
        if self.spans is None:
            self.spans = []
        return self.spans

    # ------------------------------------------------------------ the host

    def _call(self, cost: float, name: str) -> None:
        """The host makes a call, which it pays for once, whatever the call gives to devices."""
        if self._charged and self._stream is not None:
            return
        self._charged = True
        self._host(self.host + cost, name)

    def _host(self, until: float, name: str) -> None:
        if until <= self.host:
            return
        if self.spans is not None:
            if self._own is None:
                self._own = len(self.spans)
                self.spans.append(TimeSpan(HOST, self.label or name, self.host, until))
            else:  # the call goes on
                self.spans[self._own] = replace(self.spans[self._own], end=until)
        self.host = until

    def tell(self) -> None:
        """The program asks for a time, which is a prediction: that is said once."""
        if self.say is not None:
            self.say(PREDICTED)
            self.say = None

    def called(self, name: str) -> None:
        """The program makes a call, of this name."""
        self.label, self._own = name.lstrip("_"), None

    def allocated(self, kind: str, size: int) -> None:
        """Memory was given, or taken back."""
        self._call(f.allocation_call(kind, size), "allocation")

    def ends(self, streams: Iterable[str]) -> float:
        """When all that some streams were given is done."""
        return max(map(self._done.__getitem__, streams), default=0.0)

    def of_device(self, device: int) -> list[str]:
        """The streams that a device has had work of."""
        return [s for s, d in self._devices.items() if d == device]

    def wait(self, until: float) -> None:
        """The host waits for a time, at which work ends."""
        self._looks = 0
        if until > self.host:
            self._host(until + f.TELL, "wait")
        else:
            self._host(self.host + f.LOOK_CALL, "wait")

    def look(self, until: float) -> bool:
        """The host asks whether a time, at which work ends, will be past when it has the answer.

        Who asks in a loop is at that time after a few dozen calls: each call in a row that finds work under way takes twice as long as the one before it.
        """
        if until <= self.host + f.LOOK_CALL:
            return True
        step = f.LOOK_CALL * 2.0 ** min(self._looks, MOST_LOOKS)
        self._looks += 1
        self._host(min(self.host + step, until), "look")
        return False

    def reach(self, device: int, moved: Mapping[int, tuple[int, int]], place_of: Callable[[int], MemoryPlace]) -> float:
        """How long a device's kernel needs for what it loads from and stores to memory elsewhere: bytes each way, by the start of each allocation."""
        return sum(self.figures(device).reach(place_of(start).kind, *both) for start, both in moved.items())

    # ------------------------------------------------------------ streams

    def begin(self, stream: str, after: Sequence[str], device: int) -> None:
        """The next work is a stream's, behind all that some streams have so far."""
        if self._stream is None:
            self._charged, self._own, self._looks = False, self._own if self.label else None, 0
        self._stream, self._device = stream, device
        self._devices[stream] = device
        if after:
            self._done[stream] = max(self._done[s] for s in (stream, *after))

    def end(self) -> None:
        """The work was given."""
        self._stream = None

    def record(self, stream: str | None, device: int) -> float:
        """When a stream reaches an event: all of a device's, if none is named; in a graph, what comes before the event's node."""
        self._call(f.EVENT_CALL, "event")
        streams = [self._stream or stream] if stream else self.of_device(device)
        found = max(self.host + f.SUBMIT, self.ends(streams))
        found = round(found / STEP) * STEP
        for s in streams:
            self._done[s] = found
        return found

    def hosted(self) -> None:
        """A stream has called a function of the host."""
        self._call(f.LAUNCH_CALL, "host function")
        stream, arrival, done = self._queue()
        self._done[stream] = max(arrival, done) + f.HOST_FUNCTION

    def follow(self, stream: str, device: int, reached: float) -> None:
        """What a stream is given from now on comes after an event."""
        self._host(self.host + f.WAIT_CALL, "event")
        self._devices[stream] = device
        self._done[stream] = max(self._done[stream], reached)

    # ------------------------------------------------------------ work

    def _queue(self) -> tuple[str, float, float]:
        """The stream that is given work, when a device takes it up, and when the stream has done all before it."""
        stream = self._stream or "0:0"
        return stream, self.host + f.SUBMIT, self._done[stream]

    def _engine(self, device: int, name: str) -> Engine:
        if name in OTHER and (engines := self.figures(device).copy_engines) < 2:
            name = "h2d" if engines else KERNELS
        return self._engines[device, name]

    def copied(self, source: MemoryPlace, target: MemoryPlace, size: int, rows: int = 1) -> None:
        """Bytes were copied."""
        own = self._device
        source, target = (MemoryPlace(p.kind, own) if p.kind == "device" and p.device is None else p for p in (source, target))
        device = next((p.device for p in (source, target) if p.kind == "device" and p.device is not None), own)
        access = (source.device, target.device) in self.access or (target.device, source.device) in self.access
        cost = self.figures(device).copy(source, target, size, rows, access)
        self._work(cost, f"{source.kind} to {target.kind}", device, size)

    def filled(self, size: int) -> None:
        """Device memory was set."""
        self._work(self.figures(self._device).fill(size), "set", self._device, size)

    def _work(self, cost: CopyCost, name: str, device: int, size: int) -> None:
        self._call(cost.call, "copy")
        if cost.engine == HOST:
            return
        stream, arrival, done = self._queue()
        engine = self._engine(device, cost.engine)
        start = engine.room(max(arrival, done), cost.busy)
        busy = cost.busy
        if cost.engine in OTHER and self.figures(device).copy_engines > 1:
            busy += f.SLOWER * self._engine(device, OTHER[cost.engine]).busy(start, start + busy)
        engine.take(start, start + busy)
        self._done[stream] = start + busy
        if self.spans is not None:
            self.spans.append(TimeSpan(cost.engine, name, start, start + busy, device, stream, size))
        if cost.waits:
            self._host(start + busy + f.TELL, "copy")
        self._ends = 0.0 if cost.returns else start + busy

    def returned(self) -> None:
        """The call that gave the last copy returns only when it is done, except where such calls never wait."""
        if self._ends > self.host:
            self._host(self._ends + f.TELL, "copy")

    def launch_begins(self) -> float:
        """When the next kernel begins, if the device has room for it."""
        _, arrival, done = self._queue()
        return max(arrival + f.LAUNCH_CALL + f.IDLE_START, done)

    def launched(self, name: str, seconds: float, share: float, device: int, *, by_host: bool = True) -> None:
        """A kernel's blocks have run for so long, on a part of the device; another kernel may have launched it."""
        if by_host:
            self._call(f.LAUNCH_CALL, "launch")
        stream, arrival, done = self._queue()
        ready = done if done > arrival else arrival + f.IDLE_START
        length = f.KERNEL + seconds * 1e6
        part = min(1.0, share) if self.figures(device).concurrent else 1.0
        engine = self._engine(device, KERNELS)
        start = engine.room(ready, length, part)
        engine.take(start, start + length, part)
        self._done[stream] = start + length
        if self.spans is not None:
            self.spans.append(TimeSpan(KERNELS, short_name(name), start, start + length, device, stream))
