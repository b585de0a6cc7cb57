"""Launches as Chrome trace events, which ui.perfetto.dev and chrome://tracing open.

Time is modelled: a launch takes what its issue slots, its memory traffic or its shared passes need on the device, whichever is most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warplab.assembler.demangle import short_name
from warplab.interpreter.profiler import KernelProfile

Event = Mapping[str, str | int | float | Mapping[str, str | int | float]]
MICROSECOND = 1e6


def seconds(p: KernelProfile) -> dict[str, float]:
    """What each part of the device would need for a launch, on its own."""
    d = p.device
    busy = max(1, min(p.blocks, d.multiprocessors))
    clock = d.clock_mhz * 1e6
    return {
        "issue": p.instructions / (busy * d.warp_schedulers * clock),
        "device memory": p.dram_bytes / d.memory_bandwidth,
        "shared memory": p.total("units", "shared") / (busy * clock),
        "latency": d.memory_latency[0] / clock,
    }


def trace(profiles: Sequence[KernelProfile]) -> dict[str, list[Event] | str]:
    """The launches one after the other, with lanes a warp instruction as a counter over time."""
    events: list[Event] = [{"ph": "M", "pid": 1, "tid": 1, "name": "process_name", "args": {"name": "warplab (modelled time)"}}]
    at = 0.0
    for p in profiles:
        parts = seconds(p)
        length = max(parts.values()) * MICROSECOND
        bound = max(parts, key=lambda k: parts[k])
        facts: dict[str, str | int | float] = {
            "grid": str(p.grid),
            "block": str(p.block),
            "bound by": bound,
            "occupancy": p.occupancy.fraction,
        }
        events.append({"ph": "X", "pid": 1, "tid": 1, "name": short_name(p.kernel), "ts": at, "dur": length, "args": facts})
        for row, (name, s) in enumerate(parts.items(), 2):
            events.append({"ph": "X", "pid": 1, "tid": row, "name": name, "ts": at, "dur": s * MICROSECOND, "args": {"kernel": p.kernel}})
        issued, total = 0, max(1, p.instructions)
        for warps, threads in p.timeline:
            events.append(
                {"ph": "C", "pid": 1, "name": "lanes", "ts": at + length * issued / total, "args": {"active": round(threads / warps, 2)}}
            )
            issued += warps
        at += length
    for row, name in enumerate(["kernels", "issue", "device memory", "shared memory", "latency"], 1):
        events.append({"ph": "M", "pid": 1, "tid": row, "name": "thread_name", "args": {"name": name}})
    return {"traceEvents": events, "displayTimeUnit": "ns"}
