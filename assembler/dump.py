"""The stages of the assembler as text, for bug reports and for study: lark's trees, the IR, the flow facts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from warplab.isa.notation import Form
from warplab.isa.types import ScalarType

from .flow import Flow, flow
from .flow.cfg import as_text, graph
from .ir import Block, Declaration, Function, Instruction, Label, Module, Prototype, Register, Span, Targets, Variable
from .objects import load
from .parse.text import Source
from .parse.trees import grammar
from .walk import statements


def tree(data: bytes, name: str) -> str:
    """The grammar's tree of every declaration and instruction."""
    module = load(data, name, verified=False)
    code = Source(module.text, name).code
    parser = grammar()
    out: list[str] = []
    for span in _spans(module):
        out.append(f"{span.line}: {' '.join(code[span.start : span.end].split())}")
        parsed = parser.parse(code[span.start : span.end], start="statement")
        out += ["    " + line for line in parsed.pretty("  ").rstrip().split("\n")]
    return "\n".join(out) + "\n"


def _spans(module: Module) -> Iterator[Span]:
    for item in module.items:
        if isinstance(item, Declaration):
            yield item.span
        elif isinstance(item, Function):
            yield from (s.span for s in statements(item.body) if isinstance(s, (Instruction, Declaration)))


def ir(data: bytes, name: str) -> str:
    """The typed IR as an outline."""
    module = load(data, name, verified=False)
    out = [f"Module {module.name} version {module.version[0]}.{module.version[1]} targets {' '.join(module.targets)}"]
    for item in module.items:
        out += _node(item, 1)
    return "\n".join(out) + "\n"


_INSTRUCTION = ("span", "opcode", "modifiers", "operands", "guard", "guard_negated", "form")
_HIDDEN = frozenset({"span", "body", "statements", "registers", "lines", "settled"})


def _node(node: object, depth: int) -> Iterator[str]:
    """A node with its fields on one line, what it holds below it."""
    assert dataclasses.is_dataclass(node)
    names = _INSTRUCTION if isinstance(node, Instruction) else [f.name for f in dataclasses.fields(node)]
    fields = {name: getattr(node, name) for name in names}
    span = fields.get("span")
    where = f"{span.line}:{span.column} " if isinstance(span, Span) else ""
    shown = {k: v for k, v in fields.items() if k not in _HIDDEN and v not in ("", (), None)}
    text = " ".join(f"{k}={_value(v)}" for k, v in shown.items())
    yield f"{'  ' * depth}{where}{type(node).__name__} {text}".rstrip()
    if isinstance(node, Instruction) and node.settled:
        yield f"{'  ' * depth}  settled {' '.join(f'{k}={v}' for k, v in node.settled.items())}"
    for v in fields.get("variables", ()):
        yield from _node(v, depth + 1)
    body = fields.get("body")
    for inner in [*fields.get("lines", ()), *(body.statements if isinstance(body, Block) else ()), *fields.get("statements", ())]:
        if isinstance(inner, str):
            yield "  " * (depth + 1) + inner
        else:
            yield from _node(inner, depth + 1)


def _value(value: object) -> str:
    match value:
        case Register():
            return f"{value.name}#{value.index}:{value.type}"
        case Form():
            return f"`{value.row}`"
        case ScalarType():
            return value.name
        case Variable() | Function() | Label() | Targets() | Prototype():
            return f"{type(value).__name__}({value.name})"
        case tuple():
            return f"({', '.join(map(_value, value))})"
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
            return f"{type(value).__name__}({', '.join(_value(v) for k, v in fields if k != 'text')})"
    return repr(value)


def flow_facts(data: bytes, name: str) -> str:
    """Blocks, edges, dominators, loops, reconvergence and live registers of every function."""
    module = load(data, name, verified=False)
    out: list[str] = []
    for item in module.items:
        if isinstance(item, Function) and item.body is not None:
            found = flow(item)
            out += [as_text(graph(item, module.text)), *_liveness(item, found), ""]
    return "\n".join(out)


def _liveness(function: Function, found: Flow) -> Iterable[str]:
    yield "order: " + " ".join(f"B{b}" for b in found.rpo)
    names = {r.index: r.name for r in function.registers}
    for b in found.blocks:
        for side, live in (("in", found.live_in[b.index]), ("out", found.live_out[b.index])):
            yield f"live {side:<3} B{b.index}: " + " ".join(n for i, n in names.items() if live >> i & 1)
