"""What one multiprocessor can do, in cycles: the figures of the model of time.

Those of compute capability 9.0 were recorded on an H200.  Another device has its published limits and throughputs; what is not published is the H200's, in
nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from warplab.isa.profiles import PROFILES, PUBLISHED_LATENCY, DeviceProfile
from warplab.isa.throughput import CLASSES

from ..ptxas.machine.kinds import KINDS, MachineKind

RECORDED = (9, 0)
FINE = 6  # ticks of a cycle where some port takes a fraction of one
USED = 0.72  # of the published bandwidth that launches reach
MMA = 2 / 3  # of the published rate of the H200's tensor cores that mma reaches; wgmma reaches all of it


@dataclass(frozen=True, slots=True)
class TimedDevice:
    """A device as the model of time sees it.  Costs are sixteenths of a cycle of one multiprocessor, all of which are at work."""

    name: str = "sm_90"
    recorded: bool = True  # else from published tables, not compared with hardware
    clock_hz: float = 1.98e9
    multiprocessors: int = 132
    schedulers: int = 4
    dual: bool = False  # a scheduler may issue two instructions of a warp
    ticks: int = 1  # of a cycle
    ports: tuple[tuple[str, float], ...] = ()  # class of instructions -> by which the cycles of their port are multiplied
    arithmetic: float = 1.0  # by which the latencies of arithmetic are multiplied
    l1_latency: int = 34
    l2_latency: int = 264
    dram_latency: int = 690
    atomic_latency: int = 511
    line_cost: int = 16  # L1, for each line or pass
    l2_cost: int = 13  # for each sector read
    l2_alone: int = 6  # the same, where no other multiprocessor is at work
    l2_line: int = 18  # and for each line
    store_cost: int = 25  # for each sector stored
    store_line: int = 64  # and at least so much for each line
    store_line_alone: int = 43
    slice_cost: int = 22  # a slice of L2, for each pass of an atomic operation
    slice_sector: int = 11  # and for each sector, where no lanes meet on a word
    dram_bytes: float = 1750.0  # a cycle, whole device
    dram_queue: int = 50  # cycles that a request to DRAM waits at half load
    dram_alone: int = 8  # for each sector, where no other multiprocessor is at work
    block_interval: float = 1.2  # cycles between two starts of blocks, whole device
    block_start: int = 75  # from the end of one to the start of the next in its place
    launch: int = 2880  # cycles before the first block starts and after the last one has ended, with one multiprocessor at work
    launch_more: int = 90  # and for each doubling of their number
    constant_miss: int = 50  # of the first warps: constants
    cold: int = 120  # and code
    fetch_miss: int = 6  # code that a multiprocessor has not executed before
    fetch_next: int = 3  # and for each of its instructions
    predicate: int = 8  # cycles that a branch waits for its predicate beyond what another instruction does
    mio_queue: int = 16  # cycles of work that wait for L1 before a warp with an access to shared memory has to
    lg_queue: int = 300  # cycles of work behind L1 that it does not wait for
    l2_bytes: float = 40e6  # that L2 keeps of what is written

    def port(self, kind: MachineKind) -> float:
        """The cycles for which an instruction occupies the port of its scheduler."""
        return kind.port * dict(self.ports).get(kind.rate, 1.0)


def cycles(d: DeviceProfile, kind: str) -> float:
    """The cycles for which a warp's instruction of a class occupies the port of its scheduler; one that stands for several counts as a multiply-add."""
    return d.warp_schedulers * d.warp_size / (d.throughput(kind) or d.throughput("f32"))


def scaled_ports(d: DeviceProfile) -> dict[str, float]:
    """Class of instructions -> the cycles of its port over those of the H200's."""
    recorded = PROFILES["sm_90"]
    scale = {c: cycles(d, c) / cycles(recorded, c) for c in CLASSES}
    return scale | {"tensor": scale["tensor"] * (1 if d.capability == RECORDED else MMA)}


def machine_of(d: DeviceProfile) -> TimedDevice:
    """A device from its published limits and throughputs (CUDA guide, tables 5-1 and F-2); compute capability 9.0 as it was recorded."""
    hz, h200 = d.clock_mhz * 1e6, TimedDevice()
    if d.capability == RECORDED and not d.words:
        return replace(h200, clock_hz=hz)
    ports = scaled_ports(d)
    taken = [k.port * ports[k.rate] for k in KINDS.values() if k.rate]
    scale = hz / h200.clock_hz
    dram = USED * d.memory_bandwidth / hz
    narrow = max(1.0, h200.multiprocessors / d.multiprocessors * dram / h200.dram_bytes)
    return replace(
        h200,
        name=d.name,
        recorded=False,
        clock_hz=hz,
        multiprocessors=d.multiprocessors,
        schedulers=d.warp_schedulers,
        dual=d.warps_per_latency_clock > d.warp_schedulers or d.capability[0] in (3, 5, 6),
        ticks=FINE if any(p < 2 and p % 1 for p in taken) else 1,
        ports=tuple(ports.items()),
        arithmetic=d.arithmetic_latency / 4,
        l2_latency=round(h200.l2_latency * scale),
        dram_latency=round(h200.dram_latency * scale if d.memory_latency == PUBLISHED_LATENCY else sum(d.memory_latency) / 2),
        atomic_latency=round(h200.atomic_latency * scale),
        l2_cost=max(1, round(h200.l2_cost / narrow)),
        dram_bytes=dram,
        launch=round(h200.launch * scale),
        launch_more=round(h200.launch_more * scale),
        l2_bytes=d.l2_cache * 2 / 3,
    )
