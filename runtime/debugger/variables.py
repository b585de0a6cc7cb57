"""Commands that show the variables of the source, where the PTX carries DWARF."""

from __future__ import annotations

from ..dwarf.values import SourceValue
from ..errors import UsageError
from .prompt import Prompt
from .words import command


def shown(p: Prompt, arguments: bool) -> list[str]:
    """Arguments, or the other variables, that can be seen where the debugger looks; UsageError where the PTX names none."""
    s = p.session
    if s.names.why_not:
        raise UsageError(s.names.why_not)
    found = [(v, value) for v, value in s.names.variables(s.lane, s.step, s.looked_at) if v.is_argument == arguments]
    return [f"{v.name} = {value.text() if isinstance(value, SourceValue) else f'<{value}>'}" for v, value in found]


def locals_(p: Prompt, _: str) -> None:
    """What `info locals` prints."""
    for line in shown(p, False) or ["No locals."]:
        p.say(line)


@command("ptype", "p->next: the type of a variable of the source, with its members")
def ptype(p: Prompt, text: str) -> None:
    """See the table."""
    value = _value(p, text)
    t = value.type.plain
    pointed = t.of.plain if t.kind in ("pointer", "reference") else t
    if pointed.kind != "struct":
        p.say(f"type = {value.type}")
        return
    p.say(f"type = {pointed.keyword} {pointed.name} {{")
    for m in pointed.members:
        p.say(f"    {m.type.declared(m.name)};")
    p.say("}" + (" *" if t.kind == "pointer" else " &" if t.kind == "reference" else ""))


@command("whatis", "p->next: the type of a variable of the source")
def whatis(p: Prompt, text: str) -> None:
    """See the table."""
    p.say(f"type = {_value(p, text).type}")


def _value(p: Prompt, text: str) -> SourceValue:
    value = p.source_value(text)
    if value is None:
        raise UsageError(p.session.names.why_not or f"there is no variable {text} here")
    return value
