"""Line charts as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .svg import svg, text

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 300, 56, 110, 34, 44
COLOURS = ("var(--good)", "var(--warm)", "var(--bad)", "var(--soft)", "var(--ink)")
Points = Sequence[tuple[float, float]]


def chart(
    title: str, across: str, up: str, series: Mapping[str, Points], xticks: Sequence[float], yticks: Sequence[float], *,
    steps: bool = False, mark: str = "{:g}", markx: str = "{:g}", spots: Points = (), alone: bool = True,
) -> str:  # fmt: skip
    """One chart; with `steps` a value holds until the next one; `spots` are marked."""
    low, high = min(xticks), max(xticks)
    top = max(yticks)

    def x(v: float) -> float:
        return LEFT + (v - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(v: float) -> float:
        return HEIGHT - BOTTOM - v / top * (HEIGHT - TOP - BOTTOM)

    out = [text(LEFT, 18, title)]
    for v in yticks:
        out.append(f'<path class="axis" d="M{LEFT} {y(v):g}H{WIDTH - RIGHT}"/>' + text(LEFT - 6, y(v) + 4, mark.format(v), "end", True))
    for v in xticks:
        out.append(text(x(v), HEIGHT - BOTTOM + 16, markx.format(v), "middle", True))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, across, "middle", True))
    out.append(text(LEFT - 44, TOP - 2, up, "start", True))
    labels: list[float] = []
    for k, (name, points) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        path = f"M{x(points[0][0]):g} {y(points[0][1]):g}"
        for a, b in points[1:]:
            path += f"H{x(a):g}V{y(b):g}" if steps else f"L{x(a):g} {y(b):g}"
        out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = y(points[-1][1])
        while any(abs(at - other) < 13 for other in labels):
            at -= 13
        labels.append(at)
        out.append(f'<path d="M{WIDTH - RIGHT + 6} {at:g}h12" stroke="{colour}" stroke-width="2"/>')
        out.append(text(WIDTH - RIGHT + 22, at + 4, name))
    out += [f'<circle cx="{x(a):g}" cy="{y(b):g}" r="6" fill="none" stroke="var(--ink)" stroke-width="2"/>' for a, b in spots]
    return svg(WIDTH, HEIGHT, "".join(out), title, alone=alone) + "\n"
