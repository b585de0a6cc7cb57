"""How many registers are live where a basic block begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..flow.analysis import flow
from ..ir import Span
from .edited import EditedText

SHOWN = 24  # names


@dataclass(frozen=True, slots=True)
class LiveHint:
    """A remark at the end of a line."""

    offset: int
    text: str
    names: str


def live_hints(edited: EditedText, start: int, end: int) -> Iterator[LiveHint]:
    """At the beginning of each basic block between two offsets: the registers whose values may still be read, counted by their type."""
    for function in edited.names.bodies:
        body = function.body
        if body is None or body.span.end < start or body.span.start > end:
            continue
        graph = flow(function)
        for block in graph.blocks:
            live = [r for r in function.registers if graph.live_in[block.index] >> r.index & 1]
            if not block.instructions or not live or block.index not in graph.reachable:
                continue
            if block.labels:
                at = block.labels[0].span.end + 1
            else:
                place = block.instructions[0].place
                at = place.end if isinstance(place, Span) else place[1] + 1
            if start <= at <= end:
                counts = Counter(f".{r.type}" for r in live)
                said = ", ".join(f"{n} {t}" for t, n in sorted(counts.items()))
                names = " ".join(r.name for r in live[:SHOWN]) + (" ..." if len(live) > SHOWN else "")
                yield LiveHint(at, f"live: {said}", names)
