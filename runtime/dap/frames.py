"""Requests about threads and their calls.  A thread of the protocol is a warp, or with `threads: lanes` a lane of the warp in focus."""

from __future__ import annotations

import numpy as np

from warplab.assembler.demangle import short_name
from warplab.interpreter.recorder.layout import RecordedInstruction

from ..debugger.session import groups_at, standing
from ..errors import UsageError
from ..recording.telling import dim3
from .adapter import Adapter, Body, request
from .arguments import RequestArguments
from .calls import calls_of
from .code import code_reference
from .handles import FrameAt
from .sources import place_of
from .variables import scopes_of

MOST_THREADS = 64  # that a client is told of: those of the block in focus, and of others where they are few


@request("threads")
def threads(a: Adapter, args: RequestArguments) -> Body:
    """The warps of the block that is looked at, or of all blocks where these are few; or the lanes of the warp."""
    rec, s = a.rec, a.session
    if a.by_lanes:
        return {"threads": [{"id": a.thread_id(n), "name": _lane_name(a, n)} for n in rec.warp_of(s.lane).tolist()]}
    blocks = [n for n in range(len(rec.track.blocks)) if rec.is_recorded(n)]
    if len(blocks) * a.warps > MOST_THREADS:
        blocks = [s.lane // rec.threads]
    out = []
    for block in blocks:
        first = block * rec.threads
        groups = groups_at(rec, np.arange(first, first + rec.threads), s.step)
        for warp in range(a.warps):
            out.append({"id": block * a.warps + warp + 1, "name": _warp_name(a, block, warp, groups)})
    return {"threads": out}


def _lane_name(a: Adapter, lane: int) -> str:
    t = a.rec.thread(lane)
    return f"block {dim3(t.block)} thread {dim3(t.thread)}"


def _warp_name(a: Adapter, block: int, warp: int, groups: list[tuple[int, list[int]]]) -> str:
    """`block (0,0,0) warp 1`, and where its lanes are if they have diverged."""
    rec = a.rec
    places: dict[str, int] = {}
    for step, lanes in groups:
        count = int(np.count_nonzero((np.array(lanes) % rec.threads) >> 5 == warp))
        if count:
            where = standing(rec, step) if step == -1 else f"at {standing(rec, step)}"
            places[where] = places.get(where, 0) + count
    name = f"block {dim3(rec.thread(block * rec.threads).block)} warp {warp}"
    return name + (f": {', '.join(f'{count} lanes {where}' for where, count in places.items())}" if len(places) > 1 else "")


@request("stackTrace")
def stack_trace(a: Adapter, args: RequestArguments) -> Body:
    """The calls of a thread: of a warp those of the lane that is looked at."""
    lane = a.lane_of(args.whole("threadId"))
    calls = calls_of(a, lane)
    ended = a.rec.next_step(lane, a.session.step) is None
    start = max(args.whole("startFrame", 0), 0)
    count = args.whole("levels", 0) or len(calls)
    out = []
    for level, call in list(enumerate(calls))[start : start + max(count, 0)]:
        out.append(_frame(a, lane, level, call.instruction, ended))
    return {"stackFrames": out, "totalFrames": len(calls)}


def _frame(a: Adapter, lane: int, level: int, i: RecordedInstruction, ended: bool) -> dict[str, object]:
    source, line, column = place_of(a, i)
    return {
        "id": a.handles.add(FrameAt(lane, level)), "name": short_name(i.function) + (" (ended)" if ended else ""), "source": source,
        "line": line, "column": column, "instructionPointerReference": code_reference(i.module, i.line),
    }  # fmt: skip


@request("scopes")
def scopes(a: Adapter, args: RequestArguments) -> Body:
    """What can be looked at in a call."""
    return {"scopes": scopes_of(a, a.handles.frame(args.whole("frameId")))}


def look_at(a: Adapter, frame: FrameAt) -> None:
    """The debugger looks at a call, for expressions."""
    s = a.session
    if frame.lane != s.lane:
        s.focus(frame.lane)
    s.level = frame.level
    calls = calls_of(a, frame.lane)
    if frame.level >= len(calls):
        raise UsageError("there is no such frame any more")
