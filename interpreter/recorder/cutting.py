"""A track with fewer blocks, or up to an earlier end: what is left out is as if it had not been recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..values import Shifted
from .lanes import LaneSet, cut
from .track import RecordedEvent, Track


def cut_to_blocks(track: Track, blocks: NDArray[np.bool_]) -> Track:
    """A track of some of its blocks."""
    out = replace(
        track, kept_blocks=blocks, lanes=[], layout_of=[], lanes_of=[], depth_of=[], base_of=[], done=[], values=[], accesses=[], events=[]
    )
    pieces: list[tuple[int, Any, Any] | None] = []
    for lanes in track.lanes:
        some = lanes.among(blocks)
        pieces.append(None if some is None else (_added(out, some[0]), some[1], some[2]))
    place: list[int] = []  # of each execution
    for n, which in enumerate(track.lanes_of):
        place.append(len(out.layout_of))
        piece = pieces[which]
        if piece is None:
            continue
        out.layout_of.append(track.layout_of[n])
        out.lanes_of.append(piece[0])
        out.depth_of.append(track.depth_of[n])
        out.base_of.append(track.base_of[n])
        out.done.append(track.done[n])
        out.values.append(tuple([cut_value(v, *piece[1:]) for v in track.values[n]]))
    place.append(len(out.layout_of))
    for a in track.accesses:
        piece = pieces[a.lanes]
        if piece is not None:
            rows = piece[1:]
            out.accesses.append(replace(
                a, lanes=piece[0], execution=place[a.execution], address=cut_value(a.address, *rows), mask=cut_value(a.mask, *rows),
                after=tuple([cut_value(v, *rows) for v in a.after]), values=tuple([cut_value(v, *rows) for v in a.values]),
            ))  # fmt: skip
    for e in track.events:
        piece = pieces[e.lanes]
        if piece is not None:
            out.events.append(RecordedEvent(place[e.execution], e.step, e.kind, e.text, piece[0], cut_value(e.mask, *piece[1:])))
    return out


def cut_to_executions(track: Track, count: int) -> Track:
    """A track up to the execution of this number, which is left out."""
    return replace(
        track, layout_of=track.layout_of[:count], lanes_of=track.lanes_of[:count], depth_of=track.depth_of[:count],
        base_of=track.base_of[:count], done=track.done[:count], values=track.values[:count], accesses=[a for a in track.accesses if a.execution < count],
        events=[e for e in track.events if e.execution < count], stopped=True,
    )  # fmt: skip


def cut_value(value: Any, rows: Any, columns: Any) -> Any:
    """See lanes.cut; of any value that is kept."""
    if value is None or (rows is None and columns is None):
        return value
    if type(value) is tuple:
        return cut(value[0], rows, columns), value[1]
    if type(value) is Shifted:
        value = value.array()
    return cut(value, rows, columns)


def _added(track: Track, lanes: LaneSet) -> int:
    track.lanes.append(lanes)
    return len(track.lanes) - 1
