"""Pictures of the predicted time: what warps do over the launch, and cycles against occupancy."""

from __future__ import annotations

from warplab.interpreter.profiler.launch_time import REASONS, LaunchTime

from .svg import svg, text

WIDTH, LEFT, RIGHT = 660, 44, 10
SHADES = ("var(--good)", "var(--warm)", "var(--calm)", "var(--line)")  # the greatest reasons in this order, the rest together


def states(t: LaunchTime) -> str:
    """The warps of a multiprocessor by what they wait for, over the launch; the greatest reasons have shades of their own."""
    named = [r for r in t.waits if r in REASONS][: len(SHADES) - 2]
    layers = ["selected", *named]
    columns = [[row[REASONS.index(r)] for r in layers] + [sum(row) - sum(row[REASONS.index(r)] for r in layers)] for row in t.timeline]
    columns = _fewer(columns, 220)
    most = max((sum(c) for c in columns), default=0) or 1
    step = (WIDTH - LEFT - RIGHT) / max(1, len(columns))
    body = []
    for n, column in enumerate(columns):
        y = 130.0
        for value, shade in zip(column, SHADES, strict=False):
            height = 110 * value / most
            y -= height
            if height > 0.05:
                body.append(f'<rect x="{LEFT + n * step:.2f}" y="{y:.2f}" width="{step + 0.1:.2f}" height="{height:.2f}" fill="{shade}"/>')
    body.append(text(LEFT - 6, 24, f"{most:.0f}", "end", True) + text(LEFT - 6, 134, "0", "end", True))
    x = float(LEFT)
    for name, shade in zip([*layers, "other reasons"], SHADES, strict=False):
        name = "issues" if name == "selected" else name
        body.append(f'<rect x="{x:.0f}" y="141" width="10" height="10" fill="{shade}"/>' + text(x + 14, 150, name, soft=True))
        x += 24 + 7 * len(name)
    body.append(text(WIDTH - RIGHT, 168, f"{len(t.timeline) * t.bucket:,} cycles of one multiprocessor", "end", True))
    return svg(WIDTH, 176, "".join(body), "what the warps of a multiprocessor do over the launch")


def _fewer(columns: list[list[float]], most: int) -> list[list[float]]:
    """Neighbours put together until there are few enough."""
    while len(columns) > most:
        pairs = zip(columns[::2], [*columns[1::2], columns[-1]], strict=False)
        columns = [[(a + b) / 2 for a, b in zip(one, two, strict=True)] for one, two in pairs]
    return columns


def by_occupancy(t: LaunchTime) -> str:
    """Cycles of the launch with fewer warps on each multiprocessor; the knee is marked."""
    base, top = 120, 20
    most_warps, most = max(w for w, _ in t.occupancy), max(c for _, c in t.occupancy)

    def at(warps: int, cycles: float) -> tuple[float, float]:
        return LEFT + 30 + (WIDTH - LEFT - 30 - RIGHT - 20) * warps / most_warps, base - (base - top) * cycles / most

    points = [at(*p) for p in t.occupancy]
    body = [f'<path class="axis" d="M{LEFT + 30} {base} H{WIDTH - RIGHT}"/>']
    body.append(
        f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="var(--good)" stroke-width="1.5"/>'
    )
    for (warps, cycles), (x, y) in zip(t.occupancy, points, strict=True):
        marked = warps == t.knee
        body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if marked else 4}" fill="var(--{"warm" if marked else "good"})"/>')
        body.append(text(x, base + 16, str(warps), "middle", True) + text(x, y - 10, f"{cycles:,.0f}", "middle", True))
    body.append(text(WIDTH - RIGHT, base + 34, "warps on a multiprocessor; cycles of the launch", "end", True))
    return svg(WIDTH, base + 42, "".join(body), "cycles against occupancy")
