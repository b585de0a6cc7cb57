"""Expressions and the debugger's own commands, as a client's console, watches and hovers send them."""

from __future__ import annotations

import re

from ..debugger.session import Arrival
from ..debugger.words import completed, execute, is_command
from ..errors import UsageError
from .adapter import Adapter, Body, request
from .arguments import RequestArguments
from .frames import look_at
from .handles import FrameAt, Slice, Variable
from .motion import stopped
from .variables import view_of

NEVER = (
    "a recording cannot be changed: the launch is over, and this is what it did; to try another value, change the program or its arguments and "
    "restart"
)


@request("evaluate")
def evaluate(a: Adapter, args: RequestArguments) -> Body:
    """An expression; in the console also a command, such as `why c[7]`."""
    text = args.text("expression").strip()
    context = args.text("context", "watch")
    number = args.whole("frameId", 0)
    s = a.session
    if number:
        look_at(a, a.handles.frame(number))
    if context == "repl" and not _names_value(a, text):
        return {"result": _command(a, text), "variablesReference": 0}
    try:
        return _value(a, text, args.inner("format").flag("hex"))
    except UsageError:
        if context == "hover" and re.fullmatch(r"\w+", text) and f"%{text}" in a.rec.track.registers.get(s.looked_at[0], {}):
            return _value(a, f"%{text}", args.inner("format").flag("hex"))
        raise
    finally:
        s.level = 0


def _names_value(a: Adapter, text: str) -> bool:
    """Is it an expression, and no command?  A name of an array comes before a command's."""
    first = re.match(r"[A-Za-z_$%][\w$.-]*", text)
    if first is None:
        return True
    if a.session.names.mentions(first[0]) and a.debugger.source_value(first[0]) is not None:
        return True
    if any(o.name == first[0] for o in a.rec.track.objects) or first[0] in a.rec.track.registers.get(a.session.looked_at[0], {}):
        return True
    return not is_command(first[0])


def _value(a: Adapter, text: str, hexadecimal: bool) -> Body:
    s, rec = a.session, a.rec
    if (value := a.debugger.source_value(text)) is not None:
        one = view_of(a, FrameAt(s.lane, s.level)).source(text, text, value, Slice(0, None, hexadecimal))
        return _result(one)
    found = next((o for o in rec.track.objects if o.name == text), None)
    if found is not None:
        one = view_of(a, FrameAt(s.lane, s.level)).array(found, Slice(0, None, hexadecimal))
        return {
            "result": one["value"],
            **{k: one[k] for k in ("type", "variablesReference", "indexedVariables", "memoryReference") if k in one},
        }
    return {"result": a.debugger.shown(f"/x {text}" if hexadecimal and text[:1] != "/" else text), "variablesReference": 0}


def _result(one: Variable) -> Body:
    """A variable as the answer to an expression."""
    return {
        "result": one["value"],
        **{k: one[k] for k in ("type", "variablesReference", "indexedVariables", "memoryReference") if k in one},
    }


def _command(a: Adapter, text: str) -> str:
    """Executes a command of the debugger; what it prints."""
    p = a.debugger
    said: list[str] = []
    before = (p.number, p.session.step, p.session.lane)
    outer, p.say = p.say, said.append
    try:
        execute(p, text)
    finally:
        p.say = outer
    if p.over:
        p.over = False
        a.afterwards("terminated")
    elif (p.number, p.session.step, p.session.lane) != before:
        if p.number != before[0]:
            a.breakpoints.apply()
        stopped(a, Arrival(), "goto")
    return "\n".join(line for line in said if line)


@request("completions")
def completions(a: Adapter, args: RequestArguments) -> Body:
    """Commands, and names of registers, arrays and labels."""
    text = args.text("text")
    column = args.whole("column") - a.first_column
    m = re.search(r"[%$]?[\w.-]*$", text[: max(column, 0)])
    word = m[0] if m is not None else ""
    start = max(column, 0) - len(word)
    return {"targets": [{"label": w, "start": start, "length": len(word)} for w in completed(a.debugger, word)[:500]]}


@request("setVariable", "setExpression", "writeMemory")
def set_variable(a: Adapter, args: RequestArguments) -> Body:
    """Refused: the launch is over."""
    raise UsageError(NEVER)
