"""The roofline of a launch as SVG, a roof for each memory and each kind of arithmetic; both axes are logarithmic."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

from warplab.assembler.demangle import short_name
from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.timing.roofs import attainable, bandwidths, memories, roofs, units
from warplab.isa.profiles import DeviceProfile

from ..tables import number, scaled
from .svg import svg, text

WIDTH, LEFT, RIGHT, TOP, BASE, ROW = 660, 60, 20, 30, 270, 17
HOLLOW = "hollow"  # instead of a colour
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


class Dot(NamedTuple):
    """A place below the roofs."""

    intensity: float
    rate: float
    fill: str
    says: str


def roofline(p: KernelProfile, *, alone: bool = False) -> str:
    """Where a launch is below the roofs of its device: at one height, at the intensity that each memory sees."""
    flops = sum(p.flops.values())
    reached = flops / p.time.seconds if p.time is not None else attainable(p)
    name = short_name(p.kernel)
    dots = [
        Dot(r.intensity, reached, COLOURS[r.name], f"{name}: {number(r.intensity)} FLOP per byte of {r.name}")
        for r in memories(p)
        if r.intensity
    ]
    if p.text_intensity:
        dots.append(Dot(p.text_intensity, reached, HOLLOW, f"{number(p.text_intensity)} FLOP per byte that the threads load and store"))
    return drawn(p.device, {r.name for r in roofs(p)}, dots, _legend(p, reached), alone=alone)


def drawn(
    device: DeviceProfile, used: Collection[str], dots: Sequence[Dot], legend: Sequence[tuple[str, str]], *, alone: bool = False
) -> str:
    """The roofs of a device, those of arithmetic that are used in bold; `legend` has a colour or nothing and words in each row."""
    peaks, rates = {name: rate for name, rate in units(device).items() if rate}, bandwidths(device)
    highest = max(peaks.values())
    low = min([0.1, *(d.intensity / 2 for d in dots)])
    xs = [low, *(highest / rate for rate in rates.values()), *(2 * d.intensity for d in dots)]
    axes = Axes(xs, [low * min(rates.values()), *(d.rate / 2 for d in dots), highest])
    body = [STYLE, axes.lines(), *(_ceiling(axes, name, rate, name in used, max(rates.values())) for name, rate in peaks.items())]
    body += [_slope(axes, name, rate, highest) for name, rate in rates.items()]
    body += [text(WIDTH - RIGHT, BASE + 32, "FLOP per byte", "end", True), text(LEFT, 18, f"{device.device}: FLOP/s", soft=True)]
    body += _dots(axes, dots)
    y = BASE + 52.0
    for fill, words in legend:
        if fill:
            body.append(f'<circle cx="{LEFT + 5}" cy="{y - 4:g}" r="5" {_filled(fill)}/>')
        body.append(text(LEFT + 18 if fill else LEFT, y, words))
        y += ROW
    return svg(WIDTH, y - ROW + 10, "".join(body), "roofline", alone=alone)


def _filled(fill: str) -> str:
    return 'fill="var(--page)" stroke="var(--ink)" stroke-width="2"' if fill == HOLLOW else f'fill="{fill}"'


def _ceiling(axes: Axes, name: str, rate: float, used: bool, fastest: float) -> str:
    """A roof of arithmetic, from where the fastest memory meets it."""
    x0, y = axes.at(max(10.0**axes.x0, rate / fastest), rate)
    style = 'stroke="var(--ink)" stroke-width="2"' if used else 'stroke="var(--soft)" stroke-dasharray="4 4"'
    line = f'<path d="M{x0:g} {y:g} H{WIDTH - RIGHT}" fill="none" {style}/>'
    return line + text(WIDTH - RIGHT, y - 4, f"{name}: {scaled(rate, 'FLOP/s')}", "end", not used)


def _slope(axes: Axes, name: str, rate: float, highest: float) -> str:
    """A roof of a memory."""
    start = max(10.0**axes.x0, 10.0**axes.y0 / rate)
    (x0, y0), (x1, y1) = axes.at(start, start * rate), axes.at(highest / rate, highest)
    dashes = ' stroke-dasharray="7 7"' if name == "L1" else ""  # as fast as shared memory on many devices
    return f'<path d="M{x0:g} {y0:g} L{x1:g} {y1:g}" stroke="{COLOURS[name]}" stroke-width="2" fill="none"{dashes}/>'


def _dots(axes: Axes, dots: Sequence[Dot]) -> list[str]:
    places = [axes.at(d.intensity, d.rate) for d in dots]
    out = []
    if places and len({y for _, y in places}) == 1:
        out.append(f'<path d="M{min(places)[0]:g} {places[0][1]:g} H{max(places)[0]:g}" stroke="var(--soft)" fill="none"/>')
    for d, (x, y) in zip(dots, places, strict=True):
        out.append(f'<circle cx="{x:g}" cy="{y:g}" r="6" {_filled(d.fill)}><title>{escape(d.says)}</title></circle>')
    return out


def _legend(p: KernelProfile, reached: float) -> list[tuple[str, str]]:
    """What the colours are, with the intensities."""
    rows = [(HOLLOW, f"{number(p.text_intensity)} FLOP per byte, as the program's text has it: of all that the threads load and store")]
    for r in memories(p):
        said = f"{number(r.intensity)} FLOP per byte of {r.name}" if r.intensity else f"{r.name}: not used"
        rows.append((COLOURS[r.name], f"{said} ({scaled(r.rate, 'B/s')})"))
    how = "predicted" if p.time is not None else "allowed by the lowest roof"
    return [*rows, ("", f"height of the dots: {scaled(reached, 'FLOP/s')}, {how}")]
