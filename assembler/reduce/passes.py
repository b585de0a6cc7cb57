"""What may be left out of a module or be simpler: each pass makes changes, any of which may turn out to be wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from ..format import format_text
from ..ir import (
    Address,
    Block,
    Declaration,
    Function,
    Immediate,
    Instruction,
    Label,
    Location,
    Module,
    Operand,
    Register,
    Span,
    SpecialRegister,
    Statement,
)
from ..verify.places import Places, places, without_comments
from ..walk import statements
from .edits import Change, Edit

Pass = Callable[[Module], Iterator[Change]]
ZEROS = {"f16": "0x0000", "f32": "0f00000000", "f64": "0d0000000000000000"}
_LINE = re.compile(r"\s*\.(version|target|address_size|file|loc)\b[^\n;]*;?")
_HEADER = re.compile(r"\s*((\.\w+)\s+)*\.(entry|func)\b")
_ATOM = re.compile(r'"[^"\n]*"|[{};]')
_COMMENT = re.compile(r'"[^"\n]*"|/\*.*?\*/|//[^\n]*', re.DOTALL)


def statement(module: Module, s: Statement) -> Edit:
    """Leaves out a statement; a label goes with its colon."""
    return Edit(s.span.start, module.text.index(":", s.span.end) + 1) if isinstance(s, Label) else Edit(s.span.start, s.span.end)


def defined(module: Module) -> Iterator[Function]:
    """The functions with a body."""
    return (f for f in module.items if isinstance(f, Function) and f.is_defined)


def body(function: Function) -> list[Statement]:
    """All statements of a function."""
    return list(statements(function.body))


def instructions(module: Module) -> Iterator[tuple[Instruction, Places]]:
    """All instructions, and where their parts are."""
    for function in defined(module):
        for s in body(function):
            if isinstance(s, Instruction):
                yield s, places(module, s)


def items(module: Module) -> Iterator[Change]:
    """Functions, variables, sections and files of the module."""
    text = without_comments(module.text)
    at = 0
    while at < len(text):
        line = _LINE.match(text, at)
        if line:
            if line[1] in ("file", "loc"):
                yield (Edit(at, line.end()),)
            at = line.end()
            continue
        end = _item_end(text, at)
        if text[at:end].strip():
            yield (Edit(at, end),)
        at = end


def _item_end(text: str, start: int) -> int:
    """The end of the item that begins here: its semicolon, or the brace that closes a body."""
    depth = 0
    for m in _ATOM.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(m[0], 0)
        if depth > 0:
            continue
        if m[0] == ";" or depth < 0:
            return m.end()
        if m[0] == "}" and (_HEADER.match(text, start) or text[start:].lstrip().startswith(".section")):
            return m.end()
    return len(text)


def initial_values(module: Module) -> Iterator[Change]:
    """What variables of the module hold at the beginning."""
    for variable in module.variables.values():
        end = module.text.find(";", variable.span.end)
        start = module.text.find("=", variable.span.end, end)
        if variable.initial is not None and start >= 0:
            yield (Edit(start, end),)


def blocks(module: Module) -> Iterator[Change]:
    """A label, what follows it up to the next one, and the branches to it."""
    for function in defined(module):
        everything = body(function)
        starts = [n for n, s in enumerate(everything) if isinstance(s, Label)]
        for n, end in pairwise([*starts, len(everything)]):
            label = everything[n]
            removable = (Instruction, Label, Location)
            branches = [s for s in everything if isinstance(s, Instruction) and label in s.operands]
            yield tuple(statement(module, s) for s in [*everything[n:end], *branches] if isinstance(s, removable))


def single_statements(module: Module) -> Iterator[Change]:
    """Single statements, and scopes with all that they hold."""
    for function in defined(module):
        for s in body(function):
            if not isinstance(s, Declaration):
                yield (statement(module, s),)


def scopes(module: Module) -> Iterator[Change]:
    """The braces around a scope within a body."""
    for function in defined(module):
        for s in body(function):
            if isinstance(s, Block):
                yield Edit(s.span.start, s.span.start + 1), Edit(s.span.end - 1, s.span.end)


def guards(module: Module) -> Iterator[Change]:
    """Guards of instructions."""
    for instruction, at in instructions(module):
        if instruction.guard is not None:
            yield (Edit(at.whole.start, at.opcode.start),)


def words(module: Module) -> Iterator[Change]:
    """Words of an opcode, such as `.ftz`."""
    for _, at in instructions(module):
        for word in at.words:
            yield (Edit(word.start, word.end),)


def operands(module: Module) -> Iterator[Change]:
    """Sources become zero, addresses lose their offset."""
    for instruction, at in instructions(module):
        for n, (operand, span) in enumerate(zip(instruction.operands, at.operands, strict=False)):
            simpler = _simpler(operand, _text(module, span)) if n or isinstance(operand, Address) else ""
            if simpler:
                yield (Edit(span.start, span.end, simpler),)


def _simpler(operand: Operand, text: str) -> str:
    """The text of an operand that says less; empty where there is none."""
    match operand:
        case Register(type=kind) if kind.name != "pred":
            return ZEROS.get(kind.name, "0")
        case SpecialRegister():
            return "0"
        case Immediate(value, "int") if value != 0:
            return "0"
        case Immediate(value, "f32") if value != 0:
            return ZEROS["f32"]
        case Immediate(value, "f64") if value != 0:
            return ZEROS["f64"]
        case Address(offset=offset) if offset:
            return re.sub(r"\s*\+\s*-?\s*\w+(?=\s*\])", "", text)
    return ""


def declarations(module: Module) -> Iterator[Change]:
    """Registers and variables of a body that nothing uses; a declaration of registers keeps those that are used."""
    for function in defined(module):
        everything = body(function)
        used = {
            name for s in everything if not isinstance(s, Declaration | Block) for name in re.findall(r"[%$\w]+", _text(module, s.span))
        }
        for s in everything:
            if isinstance(s, Declaration):
                yield (statement(module, s),)
                head = re.match(r"\s*\.reg[.\w\s]*(?=\s)", _text(module, s.span))
                kept = [name for stem, count in s.stems for name in _names(stem, count) if name in used]
                if head and kept:
                    yield (Edit(s.span.start, s.span.end, f"{head[0].rstrip()} {', '.join(kept)};"),)


def _names(stem: str, count: int) -> list[str]:
    """The registers that one name of a declaration stands for."""
    return [stem] if count < 0 else [f"{stem}{n}" for n in range(count)]


def _text(module: Module, span: Span) -> str:
    return module.text[span.start : span.end]


def parameters(module: Module) -> Iterator[Change]:
    """Parameters of functions."""
    text = without_comments(module.text)
    for function in module.items:
        if not isinstance(function, Function):
            continue
        for p in function.params:
            start = max(text.rfind(c, 0, p.span.start) for c in "(,")
            end = min((e for c in "),{" if (e := text.find(c, p.span.end)) >= 0), default=-1)
            if start >= 0 and end >= 0:
                yield (Edit(start + 1, end + 1) if text[end] == "," else Edit(start if text[start] == "," else start + 1, end),)


def comments(module: Module) -> Iterator[Change]:
    """Comments, all of them at once."""
    yield tuple(Edit(m.start(), m.end()) for m in _COMMENT.finditer(module.text) if m[0][0] != '"')


def blank_lines(module: Module) -> Iterator[Change]:
    """Lines without text, all of them at once."""
    yield tuple(Edit(m.start(), m.end()) for m in re.finditer(r"^[ \t]*\n", module.text, re.MULTILINE))


def layout(module: Module) -> Iterator[Change]:
    """The layout of `warplab fmt`."""
    yield (Edit(0, len(module.text), format_text(module.text, module.name)),)


PASSES: tuple[Pass, ...] = (
    items, comments, initial_values, blocks, single_statements, scopes, guards, operands, words, declarations, parameters, blank_lines, layout,
)  # fmt: skip


def lines(text: str) -> Iterator[Change]:
    """Single lines: all that can be left out of a text that is no PTX."""
    at = 0
    for line in text.splitlines(keepends=True):
        yield (Edit(at, at + len(line)),)
        at += len(line)
