"""Pictures as SVG: accesses, timeline, residency.  Colours are CSS variables, so that a page chooses them for light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from warplab.interpreter.profiler import KernelProfile, Sample, TexelSample
from warplab.isa.profiles import DeviceProfile

from ..tables import counted, lane_ranges, number, percent
from .pictures import WARP, banks, transactions, words_together

STYLE = """
:root { --ink: #1c2430; --soft: #667085; --line: #d5dae2; --page: #ffffff; --card: #f6f8fb; }
:root { --good: #2f7ed8; --warm: #e8833a; --bad: #d03b3b; --calm: #c9dcf3; }
@media (prefers-color-scheme: dark) {
:root { --ink: #e6e9ef; --soft: #9aa4b2; --line: #3a4352; --page: #14181f; --card: #1d232d; }
:root { --good: #3f86d8; --warm: #c9752f; --bad: #d85050; --calm: #2b4566; }
}
svg text { font: 11px ui-sans-serif, system-ui, sans-serif; fill: var(--ink); }
svg .soft { fill: var(--soft); }
svg .axis { stroke: var(--line); fill: none; }
"""
HUES = ("var(--good)", "var(--warm)")
CELL = 20
MOST_LABELS = 12  # transactions that have room for their sizes and addresses


def svg(width: float, height: float, body: str, label: str, *, alone: bool = False) -> str:
    """One picture; `alone` adds what a file of its own needs."""
    style = f"<style>{STYLE}</style><rect width='100%' height='100%' fill='var(--page)'/>" if alone else ""
    space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    return (
        f'<svg{space} viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" '
        f'aria-label="{escape(label, quote=True)}">{style}{body}</svg>'
    )


def text(x: float, y: float, s: str, anchor: str = "start", soft: bool = False) -> str:
    """A line of text."""
    kind = ' class="soft"' if soft else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>{escape(s)}</text>'


def box(x: float, y: float, w: float, h: float, fill: str, title: str = "") -> str:
    """A rectangle, with what to say when it is pointed at."""
    inner = f"<title>{escape(title)}</title>" if title else ""
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="2" fill="{fill}">{inner}</rect>'


def _wires(lanes: Iterable[int], y: float, to: float, end: float, colour: str) -> str:
    """Lines from lanes to one place."""
    middle = (y + end) / 2
    path = "".join(f"M{x} {y:g}C{x} {middle:g} {to:g} {middle:g} {to:g} {end:g}" for x in (19 + lane * CELL for lane in lanes))
    return f'<path d="{path}" stroke="{colour}" fill="none" stroke-opacity=".65"/>'


Server = tuple[Sequence[int], str, str, tuple[str, str] | None]  # its lanes, colour, what it says, the words in it and below it


def _served(sample: Sample, servers: Sequence[Server], head: str, label: str, alone: bool) -> str:
    """The lanes of a warp above what serves them."""
    width, top, under = WARP * CELL + 20, 40, 130
    each = (width - 20) / max(1, len(servers))
    body = [text(10, 18, head)]
    for n, (lanes, colour, title, words) in enumerate(servers):
        x = 10 + n * each
        if lanes:
            body.append(_wires(lanes, top + CELL - 4, x + each / 2, under, colour))
        body.append(box(x + 1, under, max(1, each - 2), 26, colour, title))
        if words is not None:
            body.append(text(x + each / 2, under + 17, words[0], "middle") + text(x + each / 2, under + 42, words[1], "middle", True))
    for lane, a in enumerate(sample.addresses):
        fill = "var(--line)" if a is None else "var(--calm)"
        body.append(box(10 + lane * CELL, top, CELL - 2, CELL - 4, fill, f"lane {lane}: {'inactive' if a is None else hex(a)}"))
        body.append(text(19 + lane * CELL, top + 12, str(lane), "middle"))
    return svg(width, under + 52, "".join(body), label, alone=alone)


def memory(device: DeviceProfile, sample: Sample, *, cached: bool | None = None, alone: bool = False, title: str = "") -> str:
    """The lanes of a warp above the transactions that serve them."""
    rows = transactions(device, sample, cached=cached)
    asked = sample.width * sum(a is not None for a in sample.addresses)
    moved = sum(r.size * r.count for r in rows)
    servers: list[Server] = []
    for n, r in enumerate(rows):
        words = (r.label, str(r.base) if r.base < 1 << 16 else hex(r.base)) if len(rows) <= MOST_LABELS else None
        servers.append((r.lanes, HUES[n % 2], f"{r.label} at {r.base:#x}: lanes {lane_ranges(r.lanes)}", words))
    head = title or f"{sum(r.count for r in rows)} transactions, {moved} bytes moved for {asked} requested"
    return _served(sample, servers, head, title or "lanes against transactions", alone)


def shared(device: DeviceProfile, sample: Sample, *, alone: bool = False, title: str = "") -> str:
    """The lanes of a warp above the banks; a bank that many different words want is hot."""
    used = banks(device, sample)
    servers: list[Server] = []
    for bank in range(device.shared_banks):
        words = used.get(bank, {})
        turns = len(words_together(device, words))
        heat = "var(--card)" if not words else "var(--good)" if turns == 1 else "var(--warm)" if turns < 8 else "var(--bad)"
        shown = str(turns) if words else "", str(bank)
        said = f"bank {bank}: {counted(len(words), 'different word')}" + (f" in {counted(turns, 'turn')}" if turns < len(words) else "")
        servers.append((sorted(x for lanes in words.values() for x in lanes), heat, said, shown))
    head = f"{counted(sample.count, 'pass')}: the most different words that one bank must give, by the rule of {device.name}"
    return _served(sample, servers, title or head, title or "lanes against banks", alone)


DONE = {"ld": "read", "st": "written"}


def texels(sample: TexelSample, kind: str = "ld") -> str:
    """The texels that a warp reads, writes or updates, the darker the more often, within the part of the level around them."""
    xs, ys = [x for x, _, _ in sample.cells], [y for _, y, _ in sample.cells]
    left, top = max(min(xs) - 1, 0), max(min(ys) - 1, 0)
    columns, rows = min(max(xs) + 2, sample.width) - left, min(max(ys) + 2, sample.height) - top
    size = max(2.0, min(14.0, 620 / columns, 300 / rows))
    most = max(n for _, _, n in sample.cells)
    head = f"{counted(len(sample.cells), 'texel')} in {counted(sample.count, 'sector')}"
    where = (
        f"columns {left} to {left + columns - 1}, rows {top} to {top + rows - 1} of {sample.width} x {sample.height}, level {sample.level}"
    )
    body = [text(10, 18, head), text(10, 34, where, soft=True)]
    body.append(f'<rect class="axis" x="10" y="44" width="{columns * size:g}" height="{rows * size:g}"/>')
    for x, y, n in sample.cells:
        heat = "var(--calm)" if 3 * n <= most else "var(--good)" if 3 * n <= 2 * most else "var(--warm)"
        fill = "var(--good)" if most == 1 else heat
        body.append(
            box(
                10 + (x - left) * size,
                44 + (y - top) * size,
                size - 0.5,
                size - 0.5,
                fill,
                f"({x}, {y}): {DONE.get(kind, 'updated')} {counted(n, 'time')}",
            )
        )
    return svg(max(columns * size, 420) + 20, rows * size + 54, "".join(body), "texels that a warp accesses")


def timeline(p: KernelProfile) -> str:
    """Active lanes of the warp instructions, over the course of the launch."""
    width, height, left = 660, 150, 34
    total = max(1, sum(w for w, _ in p.timeline))
    points, at = [], 0.0
    for warps, threads in p.timeline:
        y = 110 - 90 * threads / (32 * warps)
        points += [
            f"{left + (width - left - 10) * at / total:.1f},{y:.1f}",
            f"{left + (width - left - 10) * (at + warps) / total:.1f},{y:.1f}",
        ]
        at += warps
    body = "".join(
        f'<path class="axis" d="M{left} {110 - 90 * n / 32:g} H{width - 10}"/>' + text(left - 6, 114 - 90 * n / 32, str(n), "end", True)
        for n in (0, 8, 16, 24, 32)
    )
    area = f"{left},110 {' '.join(points)} {width - 10},110"
    body += f'<polygon points="{area}" fill="var(--calm)"/>'
    body += f'<polyline points="{" ".join(points)}" fill="none" stroke="var(--good)" stroke-width="1.5"/>'
    body += text(left, 134, "first instruction", soft=True) + text(width - 10, 134, f"{number(total)} warp instructions", "end", True)
    return svg(width, height, body, "active lanes over the launch")


def residency(p: KernelProfile) -> str:
    """Blocks that each resource allows; the shortest bar decides."""
    o = p.occupancy
    most = max([1, *o.limits.values()])
    width, row = 660, 24
    body = [text(10, 16, f"{number(o.blocks)} blocks, {o.warps} of {p.device.max_warps} warps: {percent(o.fraction)}")]
    for n, (name, blocks) in enumerate(o.limits.items()):
        y = 26 + n * row
        fill = "var(--warm)" if blocks == o.blocks else "var(--calm)"
        body.append(text(120, y + 13, name, "end") + box(130, y, max(2, 440 * blocks / most), row - 6, fill))
        body.append(text(140 + 440 * blocks / most, y + 13, f"{blocks}" + ("  (limits)" if blocks == o.blocks else "")))
    return svg(width, 32 + len(o.limits) * row, "".join(body), "blocks that each resource allows")


def rates(p: KernelProfile) -> str:
    """Hit rates of the caches."""
    m = p.metrics
    rows = (
        ("L1, global loads", m["l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"]),
        ("L2, reads", m["lts__t_sector_op_read_hit_rate.pct"]),
    )
    body = []
    for n, (name, value) in enumerate(rows):
        y = 6 + 24 * n
        body.append(text(120, y + 13, name, "end") + box(130, y, 440, 18, "var(--card)") + box(130, y, 4.4 * value, 18, "var(--good)"))
        body.append(text(580, y + 13, f"{value:.1f} %"))
    return svg(660, 60, "".join(body), "cache hit rates")
