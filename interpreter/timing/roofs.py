"""The roofs of a device: how fast each of its units and memories can be, and what a launch asks of each.

Rates of arithmetic are those of table 5-1, of device memory the published bandwidth, of L2 the sectors that the model of time lets a multiprocessor read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from warplab.isa.profiles import DeviceProfile

from ..profiler.profile import KernelProfile
from .machine import machine_of

LINE, SECTOR = 128, 32  # bytes
ARITHMETIC = {  # roof -> types of the counts, class of the throughput table, operations of one of its results
    "FP32": (("f32",), "f32", 2),
    "FP64": (("f64",), "f64", 2),
    "FP16": (("f16", "bf16"), "f16", 2),
    "tensor": (("tensor",), "tensor", 2),
}
SPECIAL = "special functions"


@dataclass(frozen=True, slots=True)
class Roof:
    """One limit, and the launch below it."""

    name: str
    kind: Literal["arithmetic", "memory", "results"]
    rate: float  # a second, of the device: FLOP, bytes, or results
    work: float  # of the launch
    intensity: float = 0.0  # FLOP of the launch for each byte of a memory

    @property
    def seconds(self) -> float:
        """What the launch takes if only this limits it."""
        return self.work / self.rate if self.work else 0.0

    def ridge(self, peak: float) -> float:
        """FLOP for each byte from which on arithmetic limits rather than this memory."""
        return peak / self.rate


def roofs(p: KernelProfile) -> tuple[Roof, ...]:
    """The roofs that a launch has work for."""
    return tuple(r for r in (*arithmetic(p), *memories(p)) if r.work)


def lowest(p: KernelProfile) -> Roof | None:
    """The roof that limits a launch most; None: it has work for none."""
    return max(roofs(p), key=lambda r: r.seconds, default=None)


def peak(p: KernelProfile) -> float:
    """FLOP/s that the units allow for the types of a launch's operations, in their proportion."""
    flops = sum(p.flops.values())
    seconds = sum(r.seconds for r in arithmetic(p) if r.kind == "arithmetic")
    return flops / seconds if seconds else p.device.peak_fp32


def attainable(p: KernelProfile) -> float:
    """FLOP/s below the lowest roof."""
    roof = lowest(p)
    return sum(p.flops.values()) / roof.seconds if roof is not None else 0.0


def units(d: DeviceProfile) -> dict[str, float]:
    """The kinds of arithmetic of a device -> FLOP a second; a multiply-add is two."""
    return {name: operations * d.throughput(kind) * cycles_a_second(d) for name, (_, kind, operations) in ARITHMETIC.items()}


def bandwidths(d: DeviceProfile) -> dict[str, float]:
    """The memories of a device -> bytes a second, the nearest to a multiprocessor first."""
    each = cycles_a_second(d)
    found = {"shared memory": d.shared_bandwidth * each}
    if d.l1_size and d.l1_caches_global:
        found["L1"] = LINE * each
    if d.l2_cache:
        found["L2"] = l2_bandwidth(d) * each
    return found | {"device memory": float(d.memory_bandwidth)}


def cycles_a_second(d: DeviceProfile) -> float:
    """Of all multiprocessors."""
    return d.multiprocessors * d.clock_mhz * 1e6


def arithmetic(p: KernelProfile) -> Iterator[Roof]:
    """The roofs of the device's units."""
    d = p.device
    for name, rate in units(d).items():
        work = sum(p.flops.get(t, 0) for t in ARITHMETIC[name][0])
        if work and not rate:  # a launch that the device refuses, profiled by its rules alone
            rate = d.peak_fp32
        yield Roof(name, "arithmetic", rate, work)
    results = d.warp_size * sum(s.issued.get("special", 0) for s in p.sites)
    yield Roof(SPECIAL, "results", d.throughput("special") * cycles_a_second(d), results)


def memories(p: KernelProfile) -> Iterator[Roof]:
    """The roofs of the device's memories, the nearest to a multiprocessor first."""
    d, flops = p.device, sum(p.flops.values())
    moved = {
        "shared memory": p.total("units", "shared") * d.shared_banks * d.shared_bank_bytes,
        "L1": p.total("moved", "global local"),
        "L2": SECTOR * p.total("l2_sectors", "global bulk texture surface") + p.total("moved", "local"),
        "device memory": p.dram_bytes,
    }
    for name, rate in bandwidths(d).items():
        yield Roof(name, "memory", rate, moved[name], flops / moved[name] if moved[name] else 0.0)


def l2_bandwidth(d: DeviceProfile) -> float:
    """Bytes that a multiprocessor reads from L2 in a cycle, in whole lines and with all multiprocessors at work."""
    m = machine_of(d)
    return 16 * SECTOR / (m.l2_cost + m.l2_line * SECTOR / LINE)
