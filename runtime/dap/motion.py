"""Requests that move the debugger through the recording, and the events that say where it has come to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..debugger.session import Arrival
from ..errors import UsageError
from ..recording.conditions import Break, Hit
from .adapter import Adapter, Body, request
from .arguments import RequestArguments
from .sources import instructions_of

MOST_LOGGED = 10_000  # lines that log points print before a `continue` stops


@dataclass(frozen=True, slots=True)
class Filter:
    """An event of the launch that a client can stop at."""

    kind: str  # see conditions.Happens
    label: str
    says: str
    default: bool


FILTERS = {
    "fault": Filter("fault", "Faults", "stops at the instruction that ends the launch", True),
    "finding": Filter("finding", "Findings", "stops where a checker has found an error (sanitize)", True),
    "divergence": Filter("branch", "Divergence", "stops where lanes of a warp go different ways", False),
    "reconvergence": Filter("reconverge", "Reconvergence", "stops where they come together again", False),
    "barrier": Filter("met", "Barriers", "stops where all threads have come to a barrier", False),
}


# ---------------------------------------------------------------- saying where it is


def stopped(a: Adapter, arrived: Arrival, reason: str) -> None:
    """Says why the debugger stands, and where."""
    a.handles.clear()
    s = a.session
    body: dict[str, Any] = {"reason": reason, "threadId": a.thread_id(s.lane), "allThreadsStopped": True}
    if arrived.stop is not None and arrived.hit is not None:
        body |= _why(a, arrived)
    elif arrived.end == "begin":
        body |= {"reason": "entry", "description": "Beginning of the launch"}
    elif arrived.end == "end":
        ended = a.rec.track.ended
        body |= {"reason": "end", "description": "End of the launch" if not ended else "The launch ended early"}
        body |= {"text": ended.splitlines()[0]} if ended else {}
    a.afterwards("stopped", **body)


def _why(a: Adapter, arrived: Arrival) -> dict[str, Any]:
    stop, hit = arrived.stop, arrived.hit
    assert stop is not None and hit is not None
    lanes = f"{len(hit.lanes)} {'lane' if len(hit.lanes) == 1 else 'lanes'}"
    number = a.breakpoints.number_of(stop)
    out: dict[str, Any] = {} if number is None else {"hitBreakpointIds": [number]}
    if stop.what == "catchpoint":
        found = a.rec.events_at(hit.step)
        said = "; ".join(e.text for e in found if e.kind == getattr(stop.condition, "kind", "")) or stop.text
        return out | {"reason": "exception", "description": stop.text, "text": said}
    if stop.what == "breakpoint":
        kind = a.breakpoints.kind_of(stop)
        return out | {"reason": kind, "description": f"Breakpoint, {lanes}"}
    shown = [a.debugger.watched_at(stop.condition, hit.step + n) for n in (0, 1)] if "read" not in stop.what else []
    return out | {"reason": "data breakpoint", "description": f"{stop.text}: {' -> '.join(shown) or 'accessed'}"}


def run_to_first_stop(a: Adapter) -> None:
    """From the beginning to the first breakpoint; with stopOnEntry it stays."""
    s = a.session
    s.start()
    if a.launched is not None and a.launched.flag("stopOnEntry"):
        s.is_new = False
        stopped(a, Arrival(), "entry")
    else:
        _continue(a, False)


def _continue(a: Adapter, back: bool) -> None:
    """To the next breakpoint; log points print and do not stop."""
    for _ in range(MOST_LOGGED):
        arrived = a.session.go_on(back)
        text = None if arrived.stop is None else a.breakpoints.logged(arrived.stop)
        if text is None:
            break
        a.say(_message(a, text))
    else:
        a.say(f"{MOST_LOGGED} lines are logged: continue goes on")
    if arrived.end == "end" and not a.stops_at_end:
        _end(a)
    else:
        stopped(a, arrived, "pause")


def _message(a: Adapter, text: str) -> str:
    """A log message with the values of the expressions in braces."""

    def value(m: re.Match[str]) -> str:
        try:
            return a.debugger.shown(m[1].strip())
        except UsageError as e:
            return f"<{str(e).splitlines()[0]}>"

    return re.sub(r"\{([^{}]+)\}", value, text)


def _end(a: Adapter) -> None:
    a.handles.clear()
    a.afterwards("exited", exitCode=1 if a.rec.track.ended else 0)
    a.afterwards("terminated")


# ---------------------------------------------------------------- requests


@request("continue")
def continue_(a: Adapter, args: RequestArguments) -> Body:
    """To the next breakpoint; at the end of the launch it ends the debugging."""
    _at(a, args)
    if a.session.at_end:
        _end(a)
    else:
        _continue(a, False)
    return {"allThreadsContinued": True}


@request("reverseContinue")
def reverse_continue(a: Adapter, args: RequestArguments) -> Body:
    """To the last breakpoint before."""
    _at(a, args)
    _continue(a, True)
    return None


@request("next")
def next_(a: Adapter, args: RequestArguments) -> Body:
    """To another line; calls are one step."""
    return _step(a, args, over=True)


@request("stepIn")
def step_in(a: Adapter, args: RequestArguments) -> Body:
    """To another line, also of a function that is called."""
    return _step(a, args, over=False)


@request("stepBack")
def step_back(a: Adapter, args: RequestArguments) -> Body:
    """To the line before; calls are one step."""
    return _step(a, args, over=True, back=True)


@request("stepOut")
def step_out(a: Adapter, args: RequestArguments) -> Body:
    """To the return from the function."""
    _at(a, args)
    stopped(a, a.session.finish(), "step")
    return None


def _step(a: Adapter, args: RequestArguments, over: bool, back: bool = False) -> Body:
    _at(a, args)
    s = a.session
    by_instruction = args.text("granularity", "statement") == "instruction"
    arrived = s.move(1, back, over) if by_instruction else s.move_line(back, over)
    stopped(a, arrived, "step")
    return None


def _at(a: Adapter, args: RequestArguments) -> None:
    """The thread that a request names is the one that is moved."""
    a.focus(args.whole("threadId", a.thread_id(a.session.lane)))


@request("pause")
def pause(a: Adapter, args: RequestArguments) -> Body:
    """The launch is over, so the debugger stands already."""
    _at(a, args)
    stopped(a, Arrival(), "pause")
    return None


@request("gotoTargets")
def goto_targets(a: Adapter, args: RequestArguments) -> Body:
    """The next time that the thread executes a line, and the last time before."""
    s = a.session
    chosen = instructions_of(a, args.inner("source"), args.whole("line"))
    here = Break(chosen, None, (s.lane,))
    targets = []
    for way, label in ((1, "next time"), (-1, "last time before")):
        hit = _nearest(a, here, way)
        if hit is not None:
            targets.append({"id": hit.step + 1, "label": f"{label}, step {hit.step}", "line": args.whole("line")})
    if not targets:
        raise UsageError("the thread does not execute this line")
    return {"targets": targets}


def _nearest(a: Adapter, condition: Break, way: int) -> Hit | None:
    from ..recording.conditions import hits

    return next(hits(a.rec, condition, a.session.step + (way > 0), way), None)


@request("goto")
def goto(a: Adapter, args: RequestArguments) -> Body:
    """To a step that gotoTargets has named."""
    step = args.whole("targetId") - 1
    if not 0 <= step <= a.rec.step_count:
        raise UsageError(f"there is no step {step}")
    a.session.go(step)
    stopped(a, Arrival(), "goto")
    return None


@request("exceptionInfo")
def exception_info(a: Adapter, args: RequestArguments) -> Body:
    """The fault or the finding at which the debugger stands."""
    s, rec = a.session, a.rec
    lanes = np.array(a.lanes_of(args.whole("threadId")))
    found = [e for e in rec.events_at(s.step, lanes) if e.kind in {f.kind for f in FILTERS.values()}]
    if not found:
        raise UsageError("no fault, finding or divergence is here")
    e = found[0]
    full = rec.track.ended if e.kind == "fault" and rec.track.ended else e.text
    name = re.split(r"[:(]", e.text, maxsplit=1)[0].strip() or e.kind
    return {"exceptionId": name, "description": full, "breakMode": "always", "details": {"message": e.text, "typeName": e.kind}}
