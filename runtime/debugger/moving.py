"""Commands that move: breakpoints and watchpoints, and all ways to go on and back."""

from __future__ import annotations

import re

from warplab.assembler.demangle import short_name

from ..errors import UsageError
from ..recording.conditions import CellAccess, Change, Condition, Happens
from ..recording.telling import thread_text
from .prompt import CELL, Prompt
from .session import Arrival
from .words import command

CATCHES = {
    "fault": "fault",
    "divergence": "branch",
    "branch": "branch",
    "reconvergence": "reconverge",
    "barrier": "met",
    "wait": "wait",
    "finding": "finding",
}


# ---------------------------------------------------------------- breakpoints


def _break(p: Prompt, text: str, temporary: bool) -> None:
    if not text and p.session.step >= p.rec.step_count:
        raise UsageError("break needs a line, a label or a function")
    condition = p.breaking(text)
    stop = p.session.add("breakpoint", text or "here", condition, temporary)
    i = p.rec.track.instructions[min(condition.instructions)]
    p.say(f"{'Temporary breakpoint' if temporary else 'Breakpoint'} {stop.number} at line {i.line}: {i.text}")


@command("break", "LINE, LABEL, FUNCTION or FILE:LINE [if EXPRESSION]: stops there; for any lane", "b", "br", "hbreak")
def break_(p: Prompt, text: str) -> None:
    """See the table."""
    _break(p, text, False)


@command("tbreak", "the same, once", "tb", "thbreak")
def tbreak(p: Prompt, text: str) -> None:
    """See the table."""
    _break(p, text, True)


def _watch(p: Prompt, text: str, how: str, what: str) -> None:
    target = p.target(text)
    condition: Condition
    if isinstance(target, str):
        if how != "change":
            raise UsageError("a register can be watched for changes only: watch")
        condition = Change(target, p.session.lane)
    else:
        condition = CellAccess(target, how)
    stop = p.session.add(what, text.strip(), condition)
    p.say(f"{what[0].upper()}{what[1:]} {stop.number}: {text.strip()}")


@command("watch", "c[7] or %r5: stops where it changes")
def watch(p: Prompt, text: str) -> None:
    """See the table."""
    _watch(p, text, "change", "hardware watchpoint")


@command("rwatch", "c[7]: stops where it is read")
def rwatch(p: Prompt, text: str) -> None:
    """See the table."""
    _watch(p, text, "read", "hardware read watchpoint")


@command("awatch", "c[7]: stops where it is read or written")
def awatch(p: Prompt, text: str) -> None:
    """See the table."""
    _watch(p, text, "access", "hardware access (read/write) watchpoint")


@command("catch", "fault, divergence, reconvergence, barrier, wait or finding: stops there")
def catch(p: Prompt, text: str) -> None:
    """See the table."""
    if text not in CATCHES:
        raise UsageError(f"catch: there are {' '.join(CATCHES)}")
    stop = p.session.add("catchpoint", text, Happens(CATCHES[text]))
    p.say(f"Catchpoint {stop.number} ({text})")


# ---------------------------------------------------------------- ways


def _count(p: Prompt, text: str) -> int:
    n = p.integer(text) if text else 1
    if n < 1:
        raise UsageError("the count must be 1 or more")
    return n


def _moves(p: Prompt, text: str, how: str, back: bool) -> None:
    s = p.session
    lane = s.lane
    arrived = Arrival()
    for _ in range(_count(p, text)):
        arrived = _WAYS[how](s, back)
        if arrived.end:
            break
    _arrive(p, arrived, lane)


def _arrive(p: Prompt, arrived: Arrival, lane: int) -> None:
    """Says where it has come to, and lets the commands of a breakpoint follow."""
    commands = [] if arrived.stop is None else arrived.stop.commands
    if commands[:1] != ["silent"]:
        p.arrived(arrived, lane)
    p.queued = [line for line in commands if line != "silent"]


_WAYS = {
    "continue": lambda s, back: s.go_on(back), "stepi": lambda s, back: s.move(1, back), "nexti": lambda s, back: s.move(1, back, True),
    "step": lambda s, back: s.move_line(back), "next": lambda s, back: s.move_line(back, True), "finish": lambda s, back: s.finish(back),
}  # fmt: skip
for _name, _says, *_short in (
    ("continue", "[N]: to the next breakpoint", "c", "fg"), ("stepi", "[N]: one instruction of the thread", "si"),
    ("nexti", "[N]: the same; calls are one step", "ni"), ("step", "[N]: to another line of the source", "s"),
    ("next", "[N]: the same; calls are one step", "n"), ("finish", "to the return from the function", "fin"),
):  # fmt: skip
    command(_name, _says, *_short)(lambda p, text, how=_name: _moves(p, text, how, False))  # type: ignore[misc]
    _back = {"continue": "rc", "stepi": "rsi", "nexti": "rni", "step": "rs", "next": "rn"}.get(_name)
    command(f"reverse-{_name}", f"{_name}, backwards", *([_back] if _back else []))(
        lambda p, text, how=_name: _moves(p, text, how, True)  # type: ignore[misc]
    )


def _until(p: Prompt, text: str, back: bool) -> None:
    s = p.session
    lane = s.lane
    p.arrived(s.until(p.breaking(text), back) if text else s.past_line(back), lane)


@command(
    "until", "[LINE, LABEL or FUNCTION]: until this thread comes there; without one, to a line past this one, out of a loop", "u", "advance"
)
def until(p: Prompt, text: str) -> None:
    """See the table."""
    _until(p, text, False)


@command("reverse-until", "until, backwards", "reverse-advance")
def reverse_until(p: Prompt, text: str) -> None:
    """See the table."""
    _until(p, text, True)


@command("run", "to the first breakpoint, from the beginning", "r")
def run(p: Prompt, text: str) -> None:
    """See the table."""
    p.session.start()
    lane = p.session.lane
    _arrive(p, p.session.go_on(), lane)


@command("start", "to the beginning", "starti")
def start(p: Prompt, text: str) -> None:
    """See the table."""
    p.session.start()
    p.session.is_new = False
    p.arrived(Arrival(), p.session.lane)


@command("goto", "STEP, `end`, or c[7]: to a step by its number, to the end, or to the step that wrote an element last", "jump")
def goto(p: Prompt, text: str) -> None:
    """See the table."""
    if CELL.match(text) and ("[" in text or any(o.name == text for o in p.rec.track.objects)):
        _goto_writer(p, text)
        return
    n = p.rec.step_count if text == "end" else p.integer(text)
    if not 0 <= n <= p.rec.step_count:
        raise UsageError(f"there is no step {n}; the recording has {p.rec.step_count}")
    p.session.go(n)
    p.show_place(full=True)


def _goto_writer(p: Prompt, text: str) -> None:
    """To the step that wrote an element last, in this launch or in one before it."""
    for n in range(p.number, -1, -1):
        if n != p.number and all(o.name != text.partition("[")[0] for o in p.launches[n].track.objects):
            continue
        before, p.number = p.number, n
        rec = p.rec
        found = rec.last_write(p.cell(text), p.session.lane, rec.step_count + 1)
        if found is None:
            p.number = before
            continue
        if n != before:
            p.say(f"[Switching to launch {n + 1}: {short_name(rec.track.kernel)}]")
        step, lane = found
        if lane != p.session.lane:
            p.session.focus(lane)
            p.say(f"[Switching focus to {thread_text(rec, lane)}]")
        p.session.go(step)
        p.show_place(full=True)
        return
    raise UsageError(f"nothing writes {text}")


@command("launch", "N: looks at another launch of the run")
def launch(p: Prompt, text: str) -> None:
    """See the table."""
    if not re.fullmatch(r"\d+", text) or not 1 <= int(text) <= len(p.launches):
        raise UsageError(f"launch: a number from 1 to {len(p.launches)} is expected")
    p.number = int(text) - 1
    p.say(f"[Switching to launch {text}: {short_name(p.rec.track.kernel)}]")
    p.show_place(full=True)
