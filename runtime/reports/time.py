"""The predicted time of a launch in the terminal: cycles, what warps wait for, the limit, cycles against occupancy, the slowest lines."""

from __future__ import annotations

from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.profiler.launch_time import ROUNDS, LaunchTime

from .tables import number, percent, table

HOT = 6  # lines that are shown
REASONS = 5  # that are named
LEAST = 0.05  # cycles for each instruction, of a reason that is named

# What the limit means, and what helps.
MEANING = {
    ROUNDS: "no resource is busy: warps wait for results; more warps, or more independent instructions, hide the latency",
    "issue slots": "the schedulers issue in nearly every cycle: fewer instructions",
    "alu": "the port of integer and logic instructions", "fma": "the port of f32 arithmetic", "imad": "the port of integer products",
    "fp64": "the port of f64 arithmetic", "half": "the port of f16 arithmetic", "sfu": "the port of special functions and conversions",
    "lsu": "the port of memory instructions: fewer or wider accesses", "tensor": "the tensor cores",
    "L1": "passes of L1 and shared memory: fewer or wider accesses, fewer conflicts",
    "L2 reads": "reads from L2: reuse in shared memory or in registers, whole lines", "L2 writes": "writes to L2: whole lines",
    "atomics": "atomic operations: fewer of them, on more words", "DRAM": "device memory: fewer bytes",
    "block starts": "blocks that start: larger blocks, or more work for each",
}  # fmt: skip


def origin(t: LaunchTime) -> str:
    """How far a prediction can be trusted, in a few words."""
    return (
        "predicted; docs/timing.md has the measured errors"
        if t.recorded
        else "predicted from published tables; never compared with such a device"
    )


def limit(t: LaunchTime) -> str:
    """What bounds the launch."""
    name, part = t.limiter
    return f"bound by {name} ({percent(part)} of the cycles): {MEANING[name]}"


def waits(t: LaunchTime) -> str:
    """The greatest reasons to wait."""
    return ", ".join(f"{reason} {number(round(n, 2))}" for reason, n in list(t.waits.items())[:REASONS] if n >= LEAST)


def knee(t: LaunchTime) -> str:
    """Cycles against the warps that are resident."""
    if len(t.occupancy) < 2:
        return ""
    points = ", ".join(f"{warps}: {cycles:,.0f}" for warps, cycles in t.occupancy)
    return f"cycles by warps on a multiprocessor: {points}; from {t.knee} on more of them gain little"


def slow_lines(p: KernelProfile, t: LaunchTime, count: int = HOT) -> list[tuple[int, str, float, dict[str, float]]]:
    """The lines of the kernel that warps spend most time on: (line, text, part of all cycles of warps, reasons)."""
    total = sum(sum(r.values()) for r in t.by_line.values()) or 1.0
    texts = {(s.function, s.line): s.text for s in reversed(p.sites)}
    found = sorted(t.by_line.items(), key=lambda x: -sum(x[1].values()))[:count]
    return [(line, texts.get((name, line), ""), sum(r.values()) / total, dict(r)) for (name, line), r in found]


def time_report(p: KernelProfile) -> str:
    """All of it; empty if no time was predicted."""
    t = p.time
    if t is None:
        return ""
    parts = [
        f"time ({origin(t)})",
        f"  {t.cycles:,.0f} cycles, {1e6 * t.seconds:,.1f} us at {t.clock_hz / 1e6:,.0f} MHz; {percent(t.issue_slots)} of the issue slots are used",
        f"  warps wait, in cycles for each instruction: {waits(t)}",
        f"  {limit(t)}",
    ]
    if said := knee(t):
        parts.append(f"  {said}")
    rows = []
    for line, text, part, reasons in slow_lines(p, t):
        most = max(reasons, key=reasons.__getitem__)
        rows.append([str(line), text[:60], percent(part), most if most != "selected" else "issued"])
    return "\n".join(parts) + "\n\n" + table(["line", "text", "of warps' time", "waits for"], rows, left=2)
