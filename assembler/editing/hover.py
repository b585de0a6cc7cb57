"""What stands at a place of a text, in Markdown."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from warplab.isa.notation import Form
from warplab.isa.special import SPECIAL

from ..demangle import demangled
from ..ir import Function, Label, Prototype, Register, Targets, Variable
from .edited import EditedText
from .names import Named, RegisterRange
from .spelled import spelled_at

MANY = 6  # rows, lines
_NUMBER = re.compile(r"0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}|0[xX][0-9A-Fa-f]+U?", re.A)
_WORD = re.compile(r"%?[\w$]+(?:\.[xyzw]\b)?", re.A)


@dataclass(frozen=True, slots=True)
class Explained:
    """A text about a stretch."""

    start: int
    end: int
    markdown: str


def hover(edited: EditedText, offset: int) -> Explained | None:
    """What stands at an offset."""
    code = edited.source.code
    occurrence = edited.names.at(offset)
    if occurrence is not None:
        return Explained(occurrence.start, occurrence.end, about(edited, occurrence.named))
    spelled = spelled_at(code, offset)
    if spelled is not None and spelled.start <= offset <= spelled.end:
        return Explained(spelled.start, spelled.end, about_forms(spelled.forms))
    start, end = edited.line(edited.line_of(offset))
    for m in _WORD.finditer(code, start, end):
        if m.start() <= offset <= m.end():
            text = about_special(m.group()) or about_number(m.group())
            return Explained(m.start(), m.end(), text) if text else None
    return None


def about_forms(forms: list[Form]) -> str:
    """Rows of instructions with their meaning."""
    out = []
    for form in forms[:MANY]:
        facts = [f for f in (str(form.need), f"PTX ISA {form.section}" if form.section else "") if f]
        if form.meaning is None and not form.effect:
            facts.append("not executed" + (f": {form.facts.not_executed}" if form.facts.not_executed else ""))
        words = [f"`.{s.name}` = {' '.join(s.words)}" for s in form.slots if not s.is_flag]
        out.append("\n\n".join([f"```ptx\n{form.row}\n```", " ".join(form.doc.split()), *words, f"*{'; '.join(facts)}*" if facts else ""]))
    if len(forms) > MANY:
        out.append(f"and {len(forms) - MANY} forms more: `warplab isa {forms[0].opcode}`")
    return "\n\n---\n\n".join(text.strip() for text in out)


def about_special(word: str) -> str:
    """A special register, or a component of one."""
    name, _, component = word.partition(".")
    row = SPECIAL.get(name)
    if row is None:
        return ""
    kind = f".{row.type}, one of .x .y .z .w" if row.vector and not component else f".{row.type}"
    need = str(row.need)
    return f"`{word}` {kind}\n\n{row.doc}" + (f"\n\n*{need}*" if need else "")


def about_number(word: str) -> str:
    """The value of a constant that is written in hexadecimal digits."""
    if not _NUMBER.fullmatch(word):
        return ""
    bits = int(word[2:].rstrip("U"), 16)
    if word[1] in "fF":
        return f"`{word}` is {struct.unpack('<f', struct.pack('<I', bits))[0]:.9g} in .f32"
    if word[1] in "dD":
        return f"`{word}` is {struct.unpack('<d', struct.pack('<Q', bits))[0]!r} in .f64"
    return f"`{word}` is {bits}"


def about(edited: EditedText, named: Named) -> str:
    """What a name stands for."""
    match named:
        case Register():
            return _register(edited, named)
        case RegisterRange(name=name, count=count, type=type):
            return f"`.reg .{type} {name}<{count}>`\n\nregisters {name}0 to {name}{count - 1}, {_uses(edited, named)}"
        case Variable():
            return _variable(edited, named)
        case Function():
            return _function(named)
        case Label():
            return f"`{named.name}:`\n\na label at line {named.span.line}, {_uses(edited, named)}"
        case Targets():
            return f"`{named.name}: .{named.kind}targets {', '.join(t.name for t in named.targets)};`"
        case Prototype():
            return f"`{named.name}: .callprototype`"


def _lines(numbers: list[int]) -> str:
    found = sorted(set(numbers))
    shown = ", ".join(map(str, found[:MANY])) + (", ..." if len(found) > MANY else "")
    return f"line{'s' if len(found) > 1 else ''} {shown}"


def _uses(edited: EditedText, named: Named) -> str:
    lines = [edited.line_of(o.start) + 1 for o in edited.names.of(named) if o.role != "declared"]
    return f"used in {_lines(lines)}" if lines else "never used"


def _register(edited: EditedText, register: Register) -> str:
    vector = f".v{register.vector} " if register.vector > 1 else ""
    places = edited.names.of(register)
    written = [edited.line_of(o.start) + 1 for o in places if o.role == "written"]
    read = [edited.line_of(o.start) + 1 for o in places if o.role == "read"]
    parts = [f"written in {_lines(written)}" if written else "never written", f"read in {_lines(read)}" if read else "never read"]
    return f"`.reg {vector}.{register.type} {register.name}`\n\ndeclared in line {register.span.line}; {'; '.join(parts)}"


def declaration(v: Variable) -> str:
    """A variable as it is declared."""
    dims = "".join(f"[{d or ''}]" for d in v.dims)
    vector = f".v{v.vector} " if v.vector > 1 else ""
    return f".{v.space} {vector}.{v.type} {v.name}{dims}"


def _variable(edited: EditedText, v: Variable) -> str:
    size = f"{v.size} bytes, " if v.size else ""
    pointer = f"; points to .{v.pointer[0]}, aligned to {v.pointer[1]} bytes" if v.pointer else ""
    return f"`{declaration(v)}`\n\n{size}aligned to {v.align} bytes{pointer}; declared in line {v.span.line}; {_uses(edited, v)}"


def _function(f: Function) -> str:
    returns = f"({', '.join(map(declaration, f.returns))}) " if f.returns else ""
    text = f"{'.entry' if f.is_entry else '.func'} {returns}{f.name}({', '.join(map(declaration, f.params))})"
    known = demangled(f.name)
    said = f"\n\n`{known}`" if known != f.name else ""
    return f"```ptx\n{text}\n```{said}\n\ndeclared in line {f.span.line}"
