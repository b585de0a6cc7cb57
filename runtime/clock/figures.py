"""What calls, copies and fills cost, in microseconds.

Recorded on two hosts with H100s (PCI Express 5, 16 lanes; NVLink, 18 links): tests/interpreter/timing/recorded/transfers.json and host_calls.json.  For other
devices the rates follow their links and memory; what a call costs is taken to be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from warplab.isa.profiles import DeviceProfile

from .links import INTEGRATED, link_of

PlaceKind = Literal["device", "pinned", "managed", "pageable"]
MIB = 1 << 20

# The host: what its calls take until they return.
LAUNCH_CALL, GRAPH_CALL, COPY_CALL, FILL_CALL, EVENT_CALL, WAIT_CALL, LOOK_CALL = 3.8, 3.8, 1.3, 1.0, 1.1, 0.2, 1.4
SUBMIT, TELL = 1.0, 1.7  # until a device takes up what a call gave it; until the host knows that it is done
ALLOCATION = {"device": (36.0, 0.45), "managed": (36.0, 0.45), "host": (371.0, 213.0)}  # each of a pair of calls, and more for each MiB
HOST_COPY = 12e9  # bytes a second from one place of host memory to another
# A kernel: until one begins that finds its stream idle, and what is not its blocks' time.
IDLE_START, KERNEL = 2.0, 0.9
HOST_FUNCTION = 30.0  # that a stream calls: until the stream goes on
# Copies: setting one up, by direction; small ones travel with the command.
SMALL, TO_DEVICE_SMALL, TO_DEVICE, TO_HOST, ACROSS, TO_PEER, THROUGH_HOST = 4096, 2.1, 4.1, 2.55, 2.9, 3.0, 11.2
USED = 0.87  # of the published rate of PCI Express and of NVLink
ROW, STAGED_ROW = 0.0022, 0.008  # of a rectangle, at least
SLOWER = 0.1  # of the time for which both directions are at work
# Pageable memory: the host copies to pinned memory and from it, and small pieces into the command.
INLINE, INLINE_CALL, INLINE_HOST, INLINE_SETUP, INLINE_DEVICE = 64 << 10, 3.3, 4.6e9, 0.7, 9.6e9
STAGING, FIRST_PIECE, STAGED_SETUP = 18.8e9, 35e9, (4.5, 3.1)
CACHED = 32 * MIB  # of host memory; what is larger the host reads and writes more slowly
SLOW_STAGING = {"h2d": 9.4e9, "d2h": 14.5e9}
PEER_THROUGH_HOST, PEER_FIRST_PIECE = 0.7, 50e9  # of the rate of one direction
REACHED, REACHED_PEER = 0.75, 0.59  # of the rate of one direction: what kernels load and store at once
# Device memory: of the published bandwidth, and by how much L2 is faster.
READ_AND_WRITTEN, WRITTEN, L2_READ_AND_WRITTEN, L2_WRITTEN, IN_L2 = 0.445, 0.95, 1.5, 1.25, 0.8


class MemoryPlace(NamedTuple):
    """Where an end of a copy lies."""

    kind: PlaceKind
    device: int | None = None  # whose memory it is; None: the device whose stream does the work


class CopyCost(NamedTuple):
    """What a copy or a fill costs."""

    engine: str  # h2d, d2h, peer, device: what does it; host: only the host is at work
    call: float  # until the call has given it to the device
    busy: float  # of the engine
    waits: bool = False  # does even an asynchronous call return only when the copy is done?
    returns: bool = False  # does even a synchronous call return before that?


@dataclass(frozen=True, slots=True)
class DeviceFigures:
    """The rates of a device, in bytes a microsecond."""

    host: float  # each direction
    peer: float
    memory: float
    l2: int
    copy_engines: int
    concurrent: bool  # may kernels run beside each other?

    @classmethod
    def of(cls, device: DeviceProfile) -> DeviceFigures:
        """Those of a device model."""
        link, bandwidth = link_of(device), float(device.memory_bandwidth)
        host = bandwidth / 2 if device.capability in INTEGRATED else link.host
        return cls(
            host * USED / 1e6, link.nvlink * USED / 1e6, bandwidth / 1e6, device.l2_cache, link.copy_engines, device.capability >= (2, 0)
        )

    # ------------------------------------------------------------ copies

    def copy(self, source: MemoryPlace, target: MemoryPlace, size: int, rows: int, access: bool) -> CopyCost:
        """Of bytes in so many rows; `access`: may the devices reach each other's memory?"""
        kinds = source.kind, target.kind
        if kinds == ("device", "device"):
            return self._across(size) if source.device == target.device else self._to_peer(size, access)
        if "device" not in kinds:
            return CopyCost("host", COPY_CALL + size / HOST_COPY * 1e6, 0.0)
        engine = "h2d" if target.kind == "device" else "d2h"
        if "pageable" in kinds:
            return self._staged(engine, size, rows)
        setup = TO_HOST if engine == "d2h" else TO_DEVICE_SMALL if size <= SMALL else TO_DEVICE
        return CopyCost(engine, COPY_CALL, setup + max(size / self.host, rows * ROW if rows > 1 else 0.0))

    def _staged(self, engine: str, size: int, rows: int) -> CopyCost:
        if engine == "h2d" and size <= INLINE and rows == 1:
            return CopyCost(engine, INLINE_CALL + size / INLINE_HOST * 1e6, INLINE_SETUP + size / INLINE_DEVICE * 1e6, returns=True)
        staging = (STAGING if size <= CACHED else SLOW_STAGING[engine]) / 1e6
        time = size / staging + size / self.host
        if rows > 1:
            time = max(time, rows * STAGED_ROW)
        first = min(size, MIB) / FIRST_PIECE * 1e6 if engine == "d2h" else 0.0
        return CopyCost(engine, COPY_CALL, STAGED_SETUP[engine == "d2h"] + time + first, waits=True)

    def _across(self, size: int) -> CopyCost:
        rate = self.memory * READ_AND_WRITTEN * (L2_READ_AND_WRITTEN if 2 * size <= IN_L2 * self.l2 else 1.0)
        return CopyCost("device", LAUNCH_CALL, ACROSS + size / rate, returns=True)

    def _to_peer(self, size: int, access: bool) -> CopyCost:
        if access:
            return CopyCost("peer", COPY_CALL, TO_PEER + size / (self.peer or self.host))
        rate = self.host * PEER_THROUGH_HOST
        return CopyCost("peer", COPY_CALL, THROUGH_HOST + size / rate + min(size, MIB) / PEER_FIRST_PIECE * 1e6)

    def reach(self, kind: PlaceKind, loaded: int, stored: int) -> float:
        """Of a kernel's accesses to pinned memory or a peer's: bytes each way, both at once; managed memory is taken to be on the device."""
        rates = {"pinned": self.host * REACHED, "device": (self.peer * REACHED_PEER or self.host * REACHED)}
        return max(loaded, stored) / rates[kind] if kind in rates else 0.0

    def fill(self, size: int) -> CopyCost:
        """Of device memory."""
        if size <= SMALL:
            return CopyCost("device", FILL_CALL, TO_DEVICE_SMALL)
        rate = self.memory * WRITTEN * (L2_WRITTEN if size <= IN_L2 * self.l2 else 1.0)
        return CopyCost("device", LAUNCH_CALL, ACROSS + size / rate)


def allocation_call(kind: str, size: int) -> float:
    """What it takes to give memory of a kind, or to take it back."""
    once, each = ALLOCATION.get(kind, (LOOK_CALL, 0.0))
    return once + each * size / MIB
