"""A profile in the terminal: what was launched, the counters, the lines that cost most, allocations, branches, advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from warplab.assembler.demangle import short_name
from warplab.interpreter.profiler import KernelProfile, LineProfile
from warplab.interpreter.profiler.metrics import METRICS, TIME_METRICS, Metric
from warplab.interpreter.profiler.sites import IN_SECTORS
from warplab.interpreter.timing.roofs import roofs

from .advice import advice
from .page.sources import line_of, source_text
from .roofs import bound, intensities, quantization, roofs_table
from .tables import number, percent, scaled, table
from .time import time_report

HOT = 12  # lines that are shown


def heading(p: KernelProfile) -> str:
    """`vecadd<<<4, 256>>> on sm_90 (H200)`."""
    return f"{short_name(p.kernel)}<<<{_dim(p.grid)}, {_dim(p.block)}>>> on {p.device.name} ({p.device.device})"


def _dim(d: tuple[int, int, int]) -> str:
    x, y, z = d
    return str(x) if y == z == 1 else f"({x}, {y})" if z == 1 else f"({x}, {y}, {z})"


def chosen_metrics(full: bool = False, names: tuple[str, ...] = ()) -> tuple[Metric, ...]:
    """The counters to show: some by name, the basic ones, or all."""
    if names:
        return tuple(m for m in METRICS + TIME_METRICS if m.name in names or m.plain in names)
    return tuple(m for m in METRICS if full or m.basic)


def metrics_table(p: KernelProfile, full: bool = False, names: tuple[str, ...] = ()) -> str:
    """Counters with their values; a short table leaves out what is zero."""
    values = p.metrics
    rows = [[m.plain, number(values[m.name]), m.name] for m in chosen_metrics(full, names) if full or names or values[m.name]]
    width = max((len(r[1]) for r in rows), default=0)
    return table(["counter", "value", "name"], [[a, b.rjust(width), c] for a, b, c in rows], left=3)


def hottest(lines: Sequence[LineProfile], count: int = HOT) -> tuple[LineProfile, ...]:
    """Those that cost most, in the order of the text."""
    return tuple(sorted(sorted(lines, key=lambda x: -cost(x))[:count], key=lambda x: x.line))


def cost(line: LineProfile) -> float:
    """One number for heat: machine instructions issued, and what memory has to do for them."""
    return line.machine + 0.5 * line.sectors + line.shared_passes + line.local_sectors


def lines_table(p: KernelProfile, count: int = HOT) -> str:
    """The hottest lines with their text."""
    return _table_of(hottest(p.lines(), count), line_texts(p), "text")


def source_tables(p: KernelProfile, count: int = HOT) -> list[str]:
    """The hottest lines of each source file whose text is there."""
    found = ((file, source_text(file), lines) for file, lines in p.source_lines().items())
    return [
        _table_of(hottest(lines, count), {x.line: line_of(text, x.line).strip() for x in lines}, Path(file).name)
        for file, text, lines in found
        if text
    ]


def _table_of(lines: Sequence[LineProfile], texts: Mapping[int, str], what: str) -> str:
    rows = []
    for x in lines:
        shared = sum(a.requests for a in x.accesses if a.space == "shared")
        loads = sum(a.units for a in x.accesses if a.space in IN_SECTORS and a.kind == "ld")
        hits = sum(a.hits for a in x.accesses if a.space in IN_SECTORS)
        rows.append([
            str(x.line), texts.get(x.line, "")[:60], number(x.warps), number(x.machine), f"{32 * x.efficiency:.1f}",
            f"{x.sectors / x.requests:.1f}" if x.requests else "",
            f"{x.shared_passes / shared:.1f}" if shared else "",
            percent(hits / loads) if loads else "",
            number(x.divergent) if x.divergent else "",
        ])  # fmt: skip
    return table(["line", what, "warps", "machine", "lanes", "sectors/req", "passes/req", "hits", "diverged"], rows, left=2)


def line_texts(p: KernelProfile) -> dict[int, str]:
    """The instructions of each line that ran."""
    out: dict[int, str] = {}
    for s in p.sites:
        out[s.line] = f"{out[s.line]} {s.text}" if s.line in out else s.text
    return out


def allocations_table(p: KernelProfile) -> str:
    """Traffic by allocation."""
    rows = [[a.name, scaled(a.size, "B"), number(a.loaded), number(a.stored), number(a.atomics), number(a.hits)] for a in p.allocations]
    return table(["allocation", "size", "loaded", "stored", "atomics", "L1 hits"], rows)


def balance(p: KernelProfile) -> str:
    """Residency, quantization and intensity."""
    o = p.occupancy
    by_type = ", ".join(f"{scaled(n, 'FLOP')} {t}" for t, n in sorted(p.flops.items()) if n)
    lines = [
        f"occupancy {percent(o.fraction)}: {number(o.blocks)} blocks of {p.block_threads} threads per multiprocessor "
        f"({p.registers} registers, {p.static_shared + p.dynamic_shared} B shared; bound by {' and '.join(o.limiters)})",
        f"waves {p.waves:.2f}; {percent(p.wave_efficiency)} of their block slots are filled"
        + (f"; {number(p.padding_lanes)} lanes have no thread" if p.padding_lanes else "")
        + (f"; {number(p.idle_threads)} threads write nothing" if p.idle_threads and p.idle_threads < p.threads else ""),
        quantization(p),
        f"{intensities(p)}; {by_type}" if by_type else "",
    ]
    return "\n".join(line for line in lines if line)


def report(p: KernelProfile, full: bool = False, launched: str = "") -> str:
    """All of it; `launched`: who has made the launch, if that is known."""
    count = 40 if full else HOT
    head = f"{heading(p)}\nlaunched {launched}" if launched else heading(p)
    parts = [head, balance(p), *([f"{roofs_table(p)}\n{bound(p)}"] if roofs(p) else []), metrics_table(p, full)]
    parts += [*source_tables(p, count), lines_table(p, count)]
    if p.allocations:
        parts.append(allocations_table(p))
    if timed := time_report(p):
        parts.append(timed)
    said = advice(p)
    if said:
        parts.append("\n".join(["advice", *(f"  {a} ({a.page})" for a in said)]))
    return "\n\n".join(parts)
