"""The roofline of a launch as SVG, a roof for each memory and each kind of arithmetic; both axes are logarithmic."""

from __future__ import annotations

import math
from html import escape

from warplab.assembler.demangle import short_name
from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.timing.roofs import Roof, arithmetic, attainable, memories, roofs

from .svg import svg, text
from .tables import number, scaled

WIDTH, LEFT, RIGHT, TOP, BASE, ROW = 660, 60, 20, 30, 270, 17
STYLE = "<style>:root { --leaf: #2f9e68; } @media (prefers-color-scheme: dark) { :root { --leaf: #46b583; } }</style>"
COLOURS = {"shared memory": "var(--leaf)", "L1": "var(--good)", "L2": "var(--warm)", "device memory": "var(--bad)"}


class Axes:
    """The place of an intensity and a rate."""

    def __init__(self, xs: list[float], ys: list[float]) -> None:
        self.x0, self.x1 = math.floor(math.log10(min(xs))), math.ceil(math.log10(max(xs)))
        self.y0, self.y1 = math.floor(math.log10(min(ys))), math.log10(max(ys)) + 0.15

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where it is in the picture."""
        across = (math.log10(x) - self.x0) / (self.x1 - self.x0)
        return LEFT + (WIDTH - LEFT - RIGHT) * across, BASE - (BASE - TOP) * (math.log10(y) - self.y0) / (self.y1 - self.y0)

    def lines(self) -> str:
        """The powers of ten."""
        out = ""
        for e in range(self.x0, self.x1 + 1):
            x, _ = self.at(10.0**e, 10.0**self.y0)
            out += f'<path class="axis" d="M{x:g} {BASE} V{TOP}"/>' + text(x, BASE + 16, f"{10.0**e:g}", "middle", True)
        for e in range(self.y0, math.floor(self.y1) + 1):
            _, y = self.at(10.0**self.x0, 10.0**e)
            out += f'<path class="axis" d="M{LEFT} {y:g} H{WIDTH - RIGHT}"/>' + text(LEFT - 6, y + 4, scaled(10.0**e, ""), "end", True)
        return out


def roofline(p: KernelProfile, *, alone: bool = False) -> str:
    """Where a launch is below the roofs of its device: at one height, at the intensity that each memory sees."""
    units, there = [r for r in arithmetic(p) if r.kind == "arithmetic" and r.rate], list(memories(p))
    used = {r.name for r in roofs(p)}
    flops = sum(p.flops.values())
    reached = flops / p.time.seconds if p.time is not None else attainable(p)
    dots = [r for r in there if r.intensity]
    seen = [r.intensity for r in dots] + ([p.text_intensity] if p.text_intensity else [])
    highest = max(r.rate for r in units)
    ridges = [highest / r.rate for r in there]
    low = min([0.1, *(x / 2 for x in seen)])
    axes = Axes([low, *ridges, *(2 * x for x in seen)], [low * min(r.rate for r in there), reached / 2, highest])
    body = [axes.lines(), *(_ceiling(axes, r, r.name in used, there) for r in units), *(_slope(axes, r, highest) for r in there)]
    if dots:
        body.append(_dots(axes, p, dots, reached))
    body.append(text(WIDTH - RIGHT, BASE + 32, "FLOP per byte", "end", True) + text(LEFT, 18, f"{p.device.device}: FLOP/s", soft=True))
    end, legend = _legend(p, there, reached)
    return svg(WIDTH, end, STYLE + "".join(body) + legend, "roofline", alone=alone)


def _ceiling(axes: Axes, r: Roof, used: bool, there: list[Roof]) -> str:
    """A roof of arithmetic, from where the fastest memory meets it."""
    x0, y = axes.at(max(10.0**axes.x0, r.rate / max(m.rate for m in there)), r.rate)
    style = 'stroke="var(--ink)" stroke-width="2"' if used else 'stroke="var(--soft)" stroke-dasharray="4 4"'
    return f'<path d="M{x0:g} {y:g} H{WIDTH - RIGHT}" fill="none" {style}/>' + text(
        WIDTH - RIGHT, y - 4, f"{r.name}: {scaled(r.rate, 'FLOP/s')}", "end", not used
    )


def _slope(axes: Axes, r: Roof, highest: float) -> str:
    """A roof of a memory."""
    start = max(10.0**axes.x0, 10.0**axes.y0 / r.rate)
    (x0, y0), (x1, y1) = axes.at(start, start * r.rate), axes.at(highest / r.rate, highest)
    dashes = ' stroke-dasharray="7 7"' if r.name == "L1" else ""  # as fast as shared memory on many devices
    return f'<path d="M{x0:g} {y0:g} L{x1:g} {y1:g}" stroke="{COLOURS[r.name]}" stroke-width="2" fill="none"{dashes}/>'


def _dots(axes: Axes, p: KernelProfile, dots: list[Roof], reached: float) -> str:
    ends = sorted(axes.at(r.intensity, reached)[0] for r in dots)
    _, y = axes.at(1, reached)
    out = f'<path d="M{ends[0]:g} {y:g} H{ends[-1]:g}" stroke="var(--soft)" fill="none"/>'
    for r in dots:
        x, _ = axes.at(r.intensity, reached)
        said = f"{short_name(p.kernel)}: {number(r.intensity)} FLOP per byte of {r.name}"
        out += f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="{COLOURS[r.name]}"><title>{escape(said)}</title></circle>'
    if p.text_intensity:
        x, _ = axes.at(p.text_intensity, reached)
        said = f"{number(p.text_intensity)} FLOP per byte that the threads load and store"
        out += f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="var(--page)" stroke="var(--ink)" stroke-width="2"><title>{said}</title></circle>'
    return out


def _legend(p: KernelProfile, there: list[Roof], reached: float) -> tuple[float, str]:
    """What the colours are, with the intensities; and where it ends."""
    said = f"{number(p.text_intensity)} FLOP per byte, as the program's text has it: of all that the threads load and store"
    y = BASE + 52.0
    out = f'<circle cx="{LEFT + 5}" cy="{y - 4:g}" r="5" fill="var(--page)" stroke="var(--ink)" stroke-width="2"/>' + text(
        LEFT + 18, y, said
    )
    for r in there:
        y += ROW
        said = f"{number(r.intensity)} FLOP per byte of {r.name}" if r.intensity else f"{r.name}: not used"
        out += f'<circle cx="{LEFT + 5}" cy="{y - 4:g}" r="5" fill="{COLOURS[r.name]}"/>'
        out += text(LEFT + 18, y, f"{said} ({scaled(r.rate, 'B/s')})", soft=not r.intensity)
    y += ROW
    how = "predicted" if p.time is not None else "allowed by the lowest roof"
    out += text(LEFT, y, f"height of the dots: {scaled(reached, 'FLOP/s')}, {how}")
    return y + 10, out
