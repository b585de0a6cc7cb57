"""A profile as plain data, for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warplab.interpreter.profiler import AccessProfile, KernelProfile, SiteProfile
from warplab.interpreter.profiler.launch_time import REASONS, LaunchTime
from warplab.interpreter.timing.roofs import roofs

from .advice import advice

Data = Mapping[str, "Data"] | Sequence["Data"] | str | int | float | bool | None


def as_data(p: KernelProfile, names: tuple[str, ...] = (), launched: str = "") -> Data:
    """Everything a profile knows; with names, only those counters; `launched`: who has made the launch, if that is known."""
    metrics = {k: v for k, v in p.metrics.items() if not names or k in names}
    head: dict[str, Data] = {"kernel": p.kernel, "device": p.device.name, "grid": list(p.grid), "block": list(p.block), "metrics": metrics}
    if launched:
        head["launched"] = [line.strip() for line in launched.splitlines()]
    if names:
        return head
    return {
        **head,
        "registers": p.registers,
        "occupancy": {"blocks": p.occupancy.blocks, "fraction": p.occupancy.fraction, "limiters": list(p.occupancy.limiters)},
        "flops": p.flops,
        "useful_arithmetic": p.useful_arithmetic,
        "intensity": {"loaded": p.intensity, "loaded_and_stored": p.text_intensity},
        "roofs": [
            {"name": r.name, "kind": r.kind, "rate": r.rate, "work": r.work, "intensity": r.intensity, "seconds": r.seconds}
            for r in roofs(p)
        ],
        "instructions": [_site(s) for s in p.sites],
        "allocations": [
            {"name": a.name, "size": a.size, "loaded": a.loaded, "stored": a.stored, "atomics": a.atomics, "hits": a.hits}
            for a in p.allocations
        ],
        "timeline": [list(t) for t in p.timeline],
        "time": _time(p.time),
        "advice": [{"kind": a.kind, "line": a.line, "text": a.text, "page": a.page} for a in advice(p)],
    }


def _time(t: LaunchTime | None) -> Data:
    """A prediction."""
    if t is None:
        return None
    name, part = t.limiter
    return {
        "predicted": True, "recorded_device": t.recorded,
        "cycles": t.cycles, "microseconds": 1e6 * t.seconds, "clock_hz": t.clock_hz, "issue_slots": t.issue_slots,
        "stalls": dict(t.stalls), "limiter": {"name": name, "busy": part}, "busy": dict(t.busy), "knee": t.knee,
        "occupancy": [{"warps": warps, "cycles": cycles} for warps, cycles in t.occupancy],
        "lines": [{"function": f, "line": line, "warp_cycles": dict(r)} for (f, line), r in t.by_line.items()],
        "timeline": {"bucket": t.bucket, "reasons": list(REASONS), "warps": [list(row) for row in t.timeline]},
    }  # fmt: skip


def _site(s: SiteProfile) -> Data:
    out: dict[str, Data] = {
        "function": s.function,
        "line": s.line,
        "text": s.text,
        "warps": s.warps,
        "machine": s.machine,
        "threads": s.threads,
    }
    if s.source:
        out["source"] = list(s.source)
    if s.accesses:
        out["accesses"] = [_access(a) for a in s.accesses]
    if s.branch:
        out["branch"] = {"executed": s.branch.executed, "divergent": s.branch.divergent, "masks": [list(m) for m in s.branch.masks]}
    if s.waits:
        out["waits"] = dict(s.waits)
    return out


def _access(a: AccessProfile) -> Data:
    return {
        "space": a.space, "kind": a.kind, "width": a.width, "requests": a.requests,
        "passes" if a.space == "shared" else "sectors": a.units, "ideal": a.ideal, "conflicts": a.conflicts, "l1_hits": a.hits,
        "l2_sectors": a.l2_sectors, "l2_hits": a.l2_hits, "bytes": a.bytes,
    }  # fmt: skip
