"""Commands about breakpoints that exist: their conditions, counts and commands, and the list of them."""

from __future__ import annotations

from dataclasses import replace

from ..errors import UsageError
from ..recording.conditions import Break
from ..recording.expressions import parse_expression
from ..recording.places import instructions_at
from .prompt import Prompt
from .session import Stop
from .words import command


@command("condition", "N [EXPRESSION]: a breakpoint stops only where the expression holds")
def condition(p: Prompt, text: str) -> None:
    """See the table."""
    name, _, rest = text.partition(" ")
    stop = p.session.number(name)
    if not isinstance(stop.condition, Break):
        raise UsageError("only a breakpoint has a condition")
    changed = replace(stop.condition, when=parse_expression(rest) if rest.strip() else None)
    if changed.when is not None:
        p.session.check(changed)
    stop.condition = changed
    if not rest.strip():
        p.say(f"Breakpoint {stop.number} now unconditional.")


@command("delete", "[N...]: deletes breakpoints", "d")
def delete(p: Prompt, text: str) -> None:
    """See the table."""
    chosen = [p.session.number(n) for n in text.split()] if text else list(p.session.stops)
    for stop in chosen:
        p.session.stops.remove(stop)


@command("enable", "[N...]: breakpoints stop again")
def enable(p: Prompt, text: str) -> None:
    """See the table."""
    for stop in [p.session.number(n) for n in text.split()] or p.session.stops:
        stop.enabled = True


@command("disable", "[N...]: breakpoints do not stop")
def disable(p: Prompt, text: str) -> None:
    """See the table."""
    for stop in [p.session.number(n) for n in text.split()] or p.session.stops:
        stop.enabled = False


def breakpoints(p: Prompt) -> None:
    """What `info breakpoints` prints."""
    if not p.session.stops:
        p.say("No breakpoints or watchpoints.")
        return
    p.say("Num     Type                Enb  What")
    for s in p.session.stops:
        p.say(f"{s.number:<7} {_kind(s):<19} {'y' if s.enabled else 'n':<4} {s.text}" + (f"   ({s.hits} hits)" if s.hits else ""))


def _kind(s: Stop) -> str:
    return "hw watchpoint" if s.what.startswith("hardware watch") else s.what.replace("hardware ", "").replace(" (read/write)", "")


@command("ignore", "N COUNT: a breakpoint does not stop the first COUNT times that it is met in the launch")
def ignore(p: Prompt, text: str) -> None:
    """See the table."""
    name, _, count = text.partition(" ")
    stop = p.session.number(name)
    most = p.integer(count) if count.strip() else 0
    stop.counts, stop.times = (lambda n: n > most) if most > 0 else None, None
    p.say(
        f"Breakpoint {stop.number} is ignored the first {most} times that the launch meets it."
        if most > 0
        else f"Breakpoint {stop.number} stops each time."
    )


@command("commands", "[N]: the lines that follow, up to `end`, are executed where a breakpoint stops; `silent` first says nothing else")
def commands(p: Prompt, text: str) -> None:
    """See the table."""
    stops = [p.session.number(n) for n in text.split()] if text else p.session.stops[-1:]
    if not stops:
        raise UsageError("there is no breakpoint")
    for stop in stops:
        stop.commands = []
    p.collecting = stops


@command("clear", "LINE, LABEL or FUNCTION: deletes the breakpoints there")
def clear(p: Prompt, text: str) -> None:
    """See the table."""
    where = p.breaking(text).instructions if not text else instructions_at(p.rec, text)
    found = [s for s in p.session.stops if isinstance(s.condition, Break) and s.condition.instructions & where]
    if not found:
        raise UsageError(f"No breakpoint at {text or 'this place'}.")
    for stop in found:
        p.session.stops.remove(stop)
    p.say("Deleted breakpoint" + ("s " if len(found) > 1 else " ") + " ".join(str(s.number) for s in found))
