"""Draws a control flow graph as SVG: blocks in layers from the entry down, forward edges as curves, back edges along the
right side.

Layers are longest paths; within a layer blocks stand by the mean place of their neighbours, moved as near to it as the widths allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from .cfg import Edge, FlowGraph, FlowNode, notes

_CHARACTER, _LINE, _MARGIN, _GAP, _BETWEEN, _LANE = 6.6, 15.0, 10.0, 28.0, 46.0, 12.0
_MOST_LINES = 16  # of a block; the rest is counted
_WIDEST = 64  # characters
_SWEEPS = 12
_MANY, _FAR = 4000, 8  # layers that all edges cross together, from where on no edge between blocks is longer than so many layers

_ROLES = "paper ink soft box taken fall back meet"
_LIGHT = dict(zip(_ROLES.split(), ["#ffffff", "#1c1e21", "#6a737d", "#f6f8fa", "#1a7f37", "#b3541e", "#8250df", "#0969da"], strict=True))
_DARK = dict(zip(_ROLES.split(), ["#0d1117", "#e6edf3", "#8b949e", "#161b22", "#3fb950", "#e3894f", "#bc8cff", "#58a6ff"], strict=True))
_SHAPES = """
  text { font: 11px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre } .name { font-weight: bold }
  .gathers { stroke-width: 2.5 } .dead { stroke-dasharray: 4 3 } .loop { stroke-width: 3 } .edge { fill: none; stroke-width: 1.3 }"""
# Written out for both grounds: many viewers know media queries but not CSS variables.
_COLOURS = """
  .paper { fill: %(paper)s } text { fill: %(ink)s } .note { fill: %(soft)s } .meet { fill: %(meet)s } .head { fill: %(back)s }
  .box { fill: %(box)s; stroke: %(soft)s } .gathers { stroke: %(meet)s } .loop { stroke: %(back)s } .edge { stroke: %(soft)s }
  .edge.taken, .edge.case { stroke: %(taken)s } .edge.fall { stroke: %(fall)s } .edge.back { stroke: %(back)s }
  .tip { fill: %(soft)s } .tip.taken, .tip.case { fill: %(taken)s } .tip.fall { fill: %(fall)s } .tip.back { fill: %(back)s }"""


@dataclass(slots=True, eq=False)
class _Box:
    """A block, or the place where a long edge crosses a layer."""

    node: FlowNode | None
    layer: int
    width: float
    height: float
    lines: list[tuple[str, str]] = field(default_factory=list)  # class, text
    x: float = 0.0  # of the centre
    y: float = 0.0  # of the top
    end: float = 0.0  # of its layer: below this and above the next layer nothing stands in an edge's way
    key: float = 0.0  # its place in its layer while those are sorted
    above: list[_Box] = field(default_factory=list)
    below: list[_Box] = field(default_factory=list)


def as_svg(g: FlowGraph) -> str:
    """The drawing, complete in itself; readable on light and on dark ground."""
    boxes = {n.index: _box(g, n) for n in g.nodes}
    _layers(g, boxes)
    rows: list[list[_Box]] = [[] for _ in range(1 + max(b.layer for b in boxes.values()))]
    for index in g.order:
        rows[boxes[index].layer].append(boxes[index])
    near, far = _near_and_far(g, boxes)
    routes = [(e, _route(boxes[e.source], boxes[e.target], rows)) for e in near]
    _order(rows)
    _place(rows)
    width = max(b.x + b.width / 2 for row in rows for b in row)
    lanes = _lanes(far, boxes, rows)
    width = max([width, *lanes.values()]) + _GAP
    height = max(b.y + b.height for row in rows for b in row) + _GAP
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="g" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>control flow of {escape(g.name)}</title>",
        f"<style>{_SHAPES}{_COLOURS % _LIGHT}\n  @media (prefers-color-scheme: dark) {{{_COLOURS % _DARK}\n  }}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
    ]
    starts = _ports(g, boxes)
    for e, path in routes:
        out += _forward(e, path, starts[e.source, e.target])
    for e, lane in lanes.items():
        out += _aside(e, boxes[e.source], boxes[e.target], lane, starts[e.source, e.target])
    for b in boxes.values():
        out += _drawn(b)
    return "\n".join([*out, "</svg>"]) + "\n"


def _box(g: FlowGraph, n: FlowNode) -> _Box:
    lines = [("name", f"{n.name} {n.label}".strip() + (f"  line {n.lines[0]}" if n.lines[0] else "  end"))]
    for note in notes(g, n):
        lines.append(("note head" if "head of" in note else "note meet" if "reconvergence" in note else "note", note))
    if n.idom is not None:
        lines.append(("note", f"dominated by B{n.idom}"))
    shown = n.text if len(n.text) <= _MOST_LINES else n.text[: _MOST_LINES - 2]
    lines += [("", t if len(t) <= _WIDEST else t[: _WIDEST - 1] + "…") for t in shown]
    if len(shown) < len(n.text):
        lines.append(("note", f"… {len(n.text) - len(shown) - 1} more"))
        last = n.text[-1]
        lines.append(("", last if len(last) <= _WIDEST else last[: _WIDEST - 1] + "…"))
    width = max(len(t) for _, t in lines) * _CHARACTER + 2 * _MARGIN
    return _Box(n, 0, width, len(lines) * _LINE + _MARGIN, lines)


def _layers(g: FlowGraph, boxes: dict[int, _Box]) -> None:
    """Each block one layer below the lowest of its predecessors; blocks that nothing reaches stand beside the entry."""
    forward: dict[int, list[int]] = {}
    for e in g.edges:
        if not e.back:
            forward.setdefault(e.source, []).append(e.target)
    for index in g.order:
        for target in forward.get(index, ()):
            boxes[target].layer = max(boxes[target].layer, boxes[index].layer + 1)


def _route(source: _Box, target: _Box, rows: list[list[_Box]]) -> list[_Box]:
    """The boxes that an edge passes; new empty ones in the layers between."""
    path = [source]
    for layer in range(source.layer + 1, target.layer):
        path.append(_Box(None, layer, _GAP / 2, 0))
        rows[layer].append(path[-1])
    path.append(target)
    for a, b in pairwise(path):
        if a.layer < b.layer:
            a.below.append(b)
            b.above.append(a)
    return path


def _order(rows: list[list[_Box]]) -> None:
    """Sorts each layer by the mean place of the neighbours in the layer before, downwards and upwards in turn."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            for i, b in enumerate(rows[layer - 1 if down else layer + 1]):
                b.key = i
            for i, b in enumerate(rows[layer]):
                near = b.above if down else b.below
                b.key = sum(n.key for n in near) / len(near) if near else i
            rows[layer].sort(key=lambda b: b.key)


def _place(rows: list[list[_Box]]) -> None:
    """Heights by layer; across, each box as near to the mean of its neighbours as the boxes beside it allow."""
    y = _GAP
    for row in rows:
        tallest = max((b.height for b in row), default=0)
        for b in row:
            b.y, b.end = y, y + tallest
        y += tallest + _BETWEEN
        x = 0.0
        for b in row:
            b.x = x + b.width / 2
            x += b.width + _GAP
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = []
            for b in row:
                near = [n.x for n in (b.above if sweep % 2 == 0 else b.below)]
                wanted.append(sum(near) / len(near) if near else b.x)
            _settle(row, wanted)
    left = min(b.x - b.width / 2 for row in rows for b in row) - _GAP
    for row in rows:
        for b in row:
            b.x -= left


def _settle(row: list[_Box], wanted: list[float]) -> None:
    """The places nearest to those wanted (least squares) that keep order and distance: pools neighbours that would overlap."""
    offset = 0.0
    pools: list[tuple[float, int]] = []  # mean of wanted - offset, members
    offsets: list[float] = []
    for i, b in enumerate(row):
        if i:
            offset += (row[i - 1].width + b.width) / 2 + _GAP
        offsets.append(offset)
        mean, count = wanted[i] - offset, 1
        while pools and pools[-1][0] > mean:
            other, n = pools.pop()
            mean, count = (mean * count + other * n) / (count + n), count + n
        pools.append((mean, count))
    places = [mean for mean, count in pools for _ in range(count)]
    for b, place, start in zip(row, places, offsets, strict=True):
        b.x = place + start


def _ports(g: FlowGraph, boxes: dict[int, _Box]) -> dict[tuple[int, int], float]:
    """Where on the lower side of its block each edge begins: left to right as the targets stand."""
    found: dict[tuple[int, int], float] = {}
    ways: dict[int, list[Edge]] = {}
    for e in g.edges:
        ways.setdefault(e.source, []).append(e)
    for source, edges in ways.items():
        b = boxes[source]
        out = sorted(edges, key=lambda e: (e.back, boxes[e.target].x))
        for i, e in enumerate(out, 1):
            found[source, e.target] = b.x - b.width / 2 + b.width * i / (len(out) + 1)
    return found


def _near_and_far(g: FlowGraph, boxes: dict[int, _Box]) -> tuple[list[Edge], list[Edge]]:
    """Which edges run between the blocks, and which along the right side: back edges, in huge graphs also those over many layers."""
    lengths = [1 + bottom - top for top, bottom in (_span(e, boxes) for e in g.edges)]
    longest = _FAR if sum(lengths) > _MANY else sum(lengths)
    near = [e for e, n in zip(g.edges, lengths, strict=True) if not e.back and n <= longest]
    return near, [e for e, n in zip(g.edges, lengths, strict=True) if e.back or n > longest]


def _lanes(edges: list[Edge], boxes: dict[int, _Box], rows: list[list[_Box]]) -> dict[Edge, float]:
    """The x of the upright stretch of each edge on the right: beside everything it passes, short ones further in."""
    found: dict[Edge, float] = {}
    right = [max((b.x + b.width / 2 for b in row), default=0.0) for row in rows]
    spans = {e: _span(e, boxes) for e in edges}
    for e in sorted(edges, key=lambda e: spans[e][1] - spans[e][0]):
        top, bottom = spans[e]
        found[e] = max(right[top : bottom + 1]) + _LANE
        right[top : bottom + 1] = [found[e]] * (bottom + 1 - top)
    return found


def _span(e: Edge, boxes: dict[int, _Box]) -> tuple[int, int]:
    """The layers between which an edge runs, from above."""
    a, b = boxes[e.source].layer, boxes[e.target].layer
    return min(a, b), max(a, b)


def _tip(e: Edge, x: float, y: float) -> str:
    kind = "back" if e.back else e.kind
    return f'<path class="tip {kind}" d="M{x:.1f},{y:.1f} l-4,-8 h8 z"/>'


def _caption(e: Edge, x: float, y: float, to: float) -> list[str]:
    """The guard beside the beginning of an edge, on the side from which the edge turns away."""
    where = f'x="{x - 4:.1f}" text-anchor="end"' if to > x else f'x="{x + 4:.1f}"'
    return [f'<text class="note" {where} y="{y + 12:.1f}">{escape(e.text)}</text>'] if e.text else []


def _forward(e: Edge, path: list[_Box], start: float) -> list[str]:
    x, y = start, path[0].y + path[0].height
    d = f"M{x:.1f},{y:.1f}"
    for a, b in pairwise(path):
        y, end = a.end, b.y - (8 if b.node is not None else 0)
        d += f" V{y:.1f} C{x:.1f},{(y + end) / 2:.1f} {b.x:.1f},{(y + end) / 2:.1f} {b.x:.1f},{end:.1f}"
        x = b.x
    line = f'<path class="edge {e.kind}" d="{d}"/>'
    return [line, _tip(e, x, path[-1].y), *_caption(e, start, path[0].y + path[0].height, path[1].x)]


def _aside(e: Edge, source: _Box, target: _Box, lane: float, start: float) -> list[str]:
    bottom, low, high = source.y + source.height, source.end + _LANE, target.y - _BETWEEN / 2.5
    end = target.x + target.width / 4
    d = f"M{start:.1f},{bottom:.1f} V{low:.1f} H{lane:.1f} V{high:.1f} H{end:.1f} V{target.y - 8:.1f}"
    kind = "back" if e.back else e.kind
    return [f'<path class="edge {kind}" d="{d}"/>', _tip(e, end, target.y), *_caption(e, start, bottom, lane)]


def _drawn(b: _Box) -> list[str]:
    n = b.node
    assert n is not None
    left = b.x - b.width / 2
    kind = "box" + " gathers" * bool(n.gathers) + " dead" * (not n.reachable)
    out = [f'<rect class="{kind}" x="{left:.1f}" y="{b.y:.1f}" width="{b.width:.1f}" height="{b.height:.1f}" rx="4"/>']
    for level in range(n.depth):  # one bar for each loop around the block
        x = left + 2.5 + 4 * level
        out.append(f'<path class="loop" d="M{x:.1f},{b.y + 2:.1f} V{b.y + b.height - 2:.1f}"/>')
    for i, (kind, text) in enumerate(b.lines, 1):
        x = left + _MARGIN + 4 * max(n.depth - 1, 0)
        out.append(f'<text class="{kind}" x="{x:.1f}" y="{b.y + i * _LINE:.1f}">{escape(text)}</text>')
    return out
