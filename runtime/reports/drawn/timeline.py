"""The timeline of a program as a picture: a lane for the host, one for each engine of a device, and one for each stream."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...clock.timeline import HOST, KERNELS, TimeSpan
from ..programs.timeline import ENGINES, stream_names
from .svg import box, svg, text

WIDTH, LEFT, RIGHT, LANE, HIGH = 1040, 170, 12, 24, 16
STREAMS = 24  # that have lanes of their own
LEAST = 0.6  # of a box, in pixels; what is narrower joins its neighbour
COLOURS = {
    KERNELS: "var(--good)",
    "h2d": "var(--warm)",
    "d2h": "var(--calm)",
    "device": "var(--soft)",
    "peer": "var(--soft)",
    HOST: "var(--line)",
}
LETTER = 6.3  # pixels of a letter


def lanes(spans: Sequence[TimeSpan]) -> str:
    """From the first work of a device to the last."""
    work = [s for s in spans if s.engine != HOST]
    if not work:
        return ""
    start, end = min(s.begin for s in work), max(s.end for s in work)
    start -= (end - start) * 0.02
    scale = (WIDTH - LEFT - RIGHT) / (end - start)
    rows: list[tuple[str, list[TimeSpan]]] = [("host", [s for s in spans if s.engine == HOST and s.end > start and s.begin < end])]
    devices = sorted({s.device for s in work})
    for d in devices:
        before = f"device {d}: " if len(devices) > 1 else ""
        own = [s for s in work if s.device == d]
        rows += [(before + name, found) for engine, name in ENGINES.items() if (found := [s for s in own if s.engine == engine])]
        names = stream_names(own)
        shown = list(dict.fromkeys(names.values()))
        rows += [(before + name, [s for s in own if names[s.stream] == name]) for name in shown[:STREAMS]] if len(shown) > 1 else []
        if len(shown) > STREAMS:
            rows.append((f"{before}{len(shown) - STREAMS} more streams", [s for s in own if names[s.stream] in shown[STREAMS:]]))
    body, y = [], 26.0
    bottom = y + LANE * len(rows)
    step = _step((end - start) / 8)
    first = math.ceil(start / step)
    for n in range(first, int(end / step) + 1):
        x = LEFT + (n * step - start) * scale
        body.append(f'<path class="axis" d="M{x:.1f} 20V{bottom:.1f}"/>' + text(x, 14, f"{n * step:,g}", "middle", True))
    body.append(text(LEFT - 8, 14, "us", "end", True))
    for name, found in rows:
        body.append(text(LEFT - 8, y + 13, name if len(name) < 26 else name[:24] + "...", "end"))
        for x0, x1, s, count in _boxes(found, start, end, scale):
            title = f"{s.name}: {s.length:,.1f} us from {s.begin:,.1f}" if count == 1 else f"{count} pieces, the first of them {s.name}"
            body.append(box(x0, y, max(LEAST, x1 - x0), HIGH, COLOURS[s.engine], title))
            room = int((x1 - x0 - 8) / LETTER)
            if count == 1 and room >= min(len(s.name), 6):
                body.append(text(x0 + 4, y + 12, s.name if len(s.name) <= room else s.name[: max(1, room - 1)] + "…"))
        y += LANE
    return svg(WIDTH, bottom + 6, "".join(body), "the host, the engines and the streams over time")


def _step(least: float) -> float:
    """1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= least)


def _boxes(spans: Sequence[TimeSpan], start: float, end: float, scale: float) -> list[tuple[float, float, TimeSpan, int]]:
    """(left, right, the first span, how many spans) of each box; narrow neighbours of one engine become one."""
    out: list[tuple[float, float, TimeSpan, int]] = []
    for s in sorted(spans, key=lambda s: s.begin):
        x0, x1 = (LEFT + (min(max(t, start), end) - start) * scale for t in (s.begin, s.end))
        if out and x1 - out[-1][1] < LEAST and x0 - out[-1][1] < LEAST and out[-1][2].engine == s.engine:
            out[-1] = out[-1][0], max(x1, out[-1][1]), out[-1][2], out[-1][3] + 1
        else:
            out.append((x0, x1, s, 1))
    return out
