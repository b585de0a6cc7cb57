"""An explanation as a picture: a column for each thread, an event for each row, and arrows for the relations between them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from warplab.interpreter.litmus.relations import bits
from warplab.interpreter.litmus.why import AXIOMS, RELATIONS, Explanation, RelationStep

from ..reports.drawn.svg import box, svg, text
from .explain import NameOf, event_text, thread_text

NARROWEST, HEIGHT = 150, 26  # of an event
CHARACTER = 6.4  # the width of one, in the mean
GAP, ROW, TOP = 70, 52, 56
COLOURS = {
    "po": "var(--soft)", "rf": "var(--good)", "fr": "var(--bad)", "co": "var(--warm)", "sync": "var(--good)", "bar": "var(--good)",
    "sc": "var(--warm)", "obs": "var(--good)", "dep": "var(--soft)",
}  # fmt: skip


def as_svg(x: Explanation, name_of: NameOf, title: str) -> str:
    """The events of an execution; of one that may not be, the cycle in thick arrows."""
    c = x.candidate
    if c is None:
        return svg(500, 60, text(16, 34, f"{title}: no way through the threads leaves these values"), title, alone=True)
    columns: dict[str, list[int]] = {}
    for i in range(c.n):
        columns.setdefault(thread_text(x, i), []).append(i)
    texts = [event_text(x, i, name_of) for i in range(c.n)]
    width = max(NARROWEST, 16 + CHARACTER * max(map(len, texts)))
    places = {i: (16 + n * (width + GAP), TOP + 22 + ROW * row) for n, each in enumerate(columns.values()) for row, i in enumerate(each)}
    body = [_arrowheads(), text(16, 22, title), text(16, 40, _verdict(x), soft=True)]
    body += [text(16 + n * (width + GAP) + width / 2, TOP + 12, name, "middle", soft=True) for n, name in enumerate(columns)]
    inside = {step.i for step in x.cycle}
    body += [_arrow(places, width, step, thick=False) for step in _background(x) if step not in x.cycle]
    for i, (left, top) in places.items():
        body.append(box(left, top, width, HEIGHT, "var(--calm)" if i in inside else "var(--card)", f"line {c.events[i].line}"))
        body.append(text(left + width / 2, top + 17, texts[i], "middle"))
    body += [_arrow(places, width, step, thick=True) for step in x.cycle]
    words = dict.fromkeys(step.relation for step in (*x.cycle, *_background(x)))
    rows = max(map(len, columns.values()))
    bottom = TOP + 22 + ROW * rows
    body += [text(16, bottom + 16 * n, f"{word}: {RELATIONS[word]}", soft=True) for n, word in enumerate(words)]
    whole = max(16 + len(columns) * (width + GAP), CHARACTER * max(len(title), len(_verdict(x))) + 32)
    return svg(whole, bottom + 16 * len(words) + 8, "".join(body), title, alone=True)


def _verdict(x: Explanation) -> str:
    return "allowed: this execution breaks no axiom" if x.is_allowed else f"forbidden by {x.axiom}: {AXIOMS[x.axiom]}"


def _background(x: Explanation) -> list[RelationStep]:
    """What is always drawn: program order from event to event, and where reads get their values."""
    c = x.candidate
    assert c is not None
    steps = [RelationStep(i, "po", i + 1) for i in range(c.n - 1) if c.thread[i] is not None and c.thread[i] is c.thread[i + 1]]
    steps += [RelationStep(w, "rf", r) for w, row in enumerate(x.sources) for r in bits(row)]
    if x.is_allowed:
        steps += [
            RelationStep(a, "co", b) for order in x.coherence.values() for a, row in enumerate(order) for b in bits(row) if c.thread[a]
        ]
    return steps


def _arrowheads() -> str:
    heads = "".join(
        f'<marker id="head{n}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
        for n, colour in enumerate(dict.fromkeys(COLOURS.values()))
    )
    return f"<defs>{heads}</defs>"


def _arrow(places: Mapping[int, tuple[float, float]], width: float, step: RelationStep, *, thick: bool) -> str:
    (left, top), (right, bottom) = places[step.i], places[step.j]
    if left == right:  # within a column: beside the boxes if it passes one
        down = bottom > top
        x, y = left + width / 2, top + HEIGHT * down
        x2, y2 = right + width / 2, bottom + HEIGHT * (not down)
        bend = 0.0 if abs(bottom - top) == ROW and down else width / 2 + 24
        path = f"M{x:g} {y:g}C{x + bend:g} {y:g} {x2 + bend:g} {y2:g} {x2:g} {y2:g}"
        at = x + 0.75 * bend + 6, (y + y2) / 2 + 4
    else:
        forward = right > left
        x, y = left + width * forward, top + HEIGHT / 2
        x2, y2 = right + width * (not forward), bottom + HEIGHT / 2
        reach = GAP / 2 if forward else -GAP / 2
        path = f"M{x:g} {y:g}C{x + reach:g} {y:g} {x2 - reach:g} {y2:g} {x2:g} {y2:g}"
        at = (x + x2) / 2, (y + y2) / 2 - 3
    colour = COLOURS[step.relation]
    head = list(dict.fromkeys(COLOURS.values())).index(colour)
    weight = 2.4 if thick else 1
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{weight}" marker-end="url(#head{head})">'
        f"<title>{escape(RELATIONS[step.relation])}</title></path>"
    ) + (text(*at, step.relation, "middle" if left != right else "start", soft=not thick) if thick or step.relation != "po" else "")
