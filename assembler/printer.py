"""ir.Module to PTX text: parse(print_module(m)) says the same as m."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence

from .ir import (
    LISTED,
    Address,
    Alias,
    Arguments,
    Block,
    Declaration,
    Directive,
    Element,
    File,
    Function,
    Immediate,
    Initial,
    Instruction,
    Item,
    Label,
    Location,
    Minus,
    Module,
    Negated,
    Operand,
    Pair,
    Plus,
    Pragma,
    Prototype,
    Register,
    Section,
    Sink,
    SpecialRegister,
    Statement,
    Symbol,
    Targets,
    Variable,
    Vector,
)  # fmt: skip

INDENT = "    "


def print_module(module: Module) -> str:
    """The module as PTX text."""
    out = [f".version {module.version[0]}.{module.version[1]}"]
    if module.targets:
        out.append(f".target {', '.join(module.targets)}")
    if module.version >= (2, 3):  # an earlier one does not know it
        out.append(f".address_size {module.address_size}")
    for item in module.items:
        out += print_item(item, module.version >= LISTED)
    return "\n".join(out) + "\n"


def print_item(item: Item, listed: bool = True) -> Iterator[str]:
    """The lines of one item of a module; unless `listed`, an .entry declares its parameters in its body, as before PTX 1.4."""
    match item:
        case Function():
            yield ""
            yield from _function(item, listed)
        case Declaration():
            yield declaration(item)
        case Variable():
            yield _variables((item,))
        case File():
            extra = "".join(f", {n}" for n in item.numbers)
            yield f'.file {item.index} "{item.name}"{extra}'
        case Section(name="@@DWARF"):
            yield f"@@DWARF {' '.join(item.lines)}"
        case Section():
            yield f".section {item.name}\n{{"
            yield from (INDENT + line for line in item.lines)
            yield "}"
        case Alias():
            yield f".alias {item.name}, {item.target.name};"
        case Pragma():
            yield statement(item)


def _function(f: Function, listed: bool) -> Iterator[str]:
    attributes = [d.name[1:] for d in f.directives if d.name.startswith((".unified", ".managed"))]
    head = [f".{f.linkage}"] if f.linkage else []
    head.append(".entry" if f.is_entry else ".func")
    if attributes:
        head.append(f".attribute({', '.join('.' + a for a in attributes)})")
    if f.returns:
        head.append(f"({', '.join(parameter(v) for v in f.returns)})")
    inside = f.params if f.is_entry and not listed else ()
    params = f"(\n{INDENT}" + f",\n{INDENT}".join(parameter(v) for v in f.params) + "\n)" if f.params and not inside else "()"
    directives = [_directive(d) for d in f.directives if d.name[1:] not in attributes]
    if not f.is_entry:  # here the ';' of a .pragma ends the declaration
        directives = [d.rstrip(";") for d in directives]
    yield "\n".join([" ".join(head) + f" {f.name}{params}", *directives]) + (";" if f.body is None else "")
    if f.body is not None:
        brace, *lines = _block(f.body, 0)
        yield brace
        yield from (f"{INDENT}{parameter(v)};" for v in inside)
        yield from lines


def _directive(d: Directive) -> str:
    if d.name == ".pragma":
        return _pragma(d.values)
    return f"{d.name} {', '.join(map(str, d.values))}".rstrip()


def _pragma(texts: Sequence[object]) -> str:
    return ".pragma " + ", ".join(f'"{t}"' for t in texts) + ";"


def _block(block: Block, depth: int) -> Iterator[str]:
    indent = INDENT * depth
    yield indent + "{"
    for s in block.statements:
        if isinstance(s, Block):
            yield from _block(s, depth + 1)
        elif isinstance(s, Label):
            yield f"{indent}{s.name}:"
        else:
            yield f"{indent}{INDENT}{statement(s)}"
    yield indent + "}"


def statement(s: Statement) -> str:
    """One statement of a body, without indentation."""
    match s:
        case Instruction():
            return instruction(s)
        case Declaration():
            return declaration(s)
        case Label():
            return f"{s.name}:"
        case Location():
            text = f".loc {s.file} {s.line} {s.column}"
            if s.inlined_at is not None:
                plus = f"+{s.function_offset}" if s.function_offset else ""
                text += f", function_name {s.function}{plus}, inlined_at {' '.join(map(str, s.inlined_at))}"
            return text
        case Pragma():
            return _pragma(s.texts)
        case Targets():
            return f"{s.name}: .{s.kind}targets {', '.join(t.name for t in s.targets)};"
        case Prototype():
            returns = f"({', '.join(map(parameter, s.returns))}) " if s.returns else ""
            tail = " .noreturn" if s.noreturn else ""
            return f"{s.name}: .callprototype {returns}_ ({', '.join(map(parameter, s.params))}){tail};"
        case Block():
            return "\n".join(_block(s, 0))


def instruction(i: Instruction) -> str:
    """One instruction."""
    guard = f"@{'!' * i.guard_negated}{i.guard.name} " if i.guard is not None else ""
    head = ".".join((i.opcode, *i.modifiers))
    operands = ", ".join(map(operand, i.operands))
    return f"{guard}{head} {operands};" if operands else f"{guard}{head};"


def operand(o: Operand) -> str:
    """One operand."""
    match o:
        case Register() | Variable() | Label() | Targets() | Prototype() | Function():
            return o.name
        case Immediate():
            return o.text or _number(o)
        case SpecialRegister():
            return f"{o.name}.{o.component}" if o.component else o.name
        case Element():
            return f"{o.register.name}.{o.part}"
        case Sink():
            return "_"
        case Negated():
            return f"!{o.register.name}"
        case Minus():
            return f"-{operand(o.operand)}"
        case Plus():
            return f"{o.register.name}+{o.offset}"
        case Pair():
            return f"{operand(o.first)}|{operand(o.second)}"
        case Vector():
            return "{" + ", ".join(map(operand, o.elements)) + "}"
        case Arguments():
            return "(" + ", ".join(map(operand, o.elements)) + ")"
        case Symbol():
            return symbol(o)
        case Address():
            first = [operand(o.base)] if o.base is not None else []
            if o.offset or not first:
                first.append(str(o.offset))
            return "[" + ", ".join(["+".join(first), *map(operand, o.parts)]) + "]"


def _number(i: Immediate) -> str:
    if isinstance(i.value, float):
        return _float(i.value)
    if i.kind == "f32":
        return f"0f{i.value:08X}"
    if i.kind == "f64":
        return f"0d{i.value:016X}"
    return str(i.value)


def _float(value: float) -> str:
    if math.isfinite(value):
        text = repr(value)
        return text if "." in text or "e" in text else text + ".0"
    return f"0d{int.from_bytes(struct.pack('<d', value), 'little'):016X}"


def symbol(s: Symbol) -> str:
    """A symbol's address."""
    text = f"generic({s.target.name})" if s.generic else s.target.name
    if s.offset:
        text += f"+{s.offset}"
    return f"{s.mask:#x}({text})" if s.mask is not None else text


def declaration(d: Declaration) -> str:
    """A declaration of registers or variables."""
    if d.variables:
        return _variables(d.variables)
    type = d.type or (d.registers[0].type if d.registers else None)
    vector = f".v{d.vector} " if d.vector > 1 else ""
    names = d.stems or tuple((r.name, -1) for r in d.registers)
    return f".reg {vector}.{type} {', '.join(n if c < 0 else f'{n}<{c}>' for n, c in names)}".rstrip() + ";"


def _specs(v: Variable) -> list[str]:
    words = [f".{v.linkage}"] if v.linkage else []
    words.append(f".{v.space}")
    attributes = [f".{a}" for a in v.attributes if "=" not in a]
    if attributes:
        words.append(f".attribute({', '.join(attributes)})")
    if v.align != max(1, v.type.bytes * v.vector):
        words.append(f".align {v.align}")
    if v.vector > 1:
        words.append(f".v{v.vector}")
    words.append(f".{v.type}")
    return words


def _declarator(v: Variable) -> str:
    text = v.name + "".join(f"[{n or ''}]" for n in v.dims)
    settings = [a.replace("=", " = ") for a in v.attributes if "=" in a]
    if settings:
        return f"{text} = {{ {', '.join(settings)} }}"
    return f"{text} = {initial(v.initial)}" if v.initial is not None else text


def _variables(variables: Sequence[Variable]) -> str:
    # What one statement declares shares its words, save the fields of textures.
    return f"{' '.join(_specs(variables[0]))} {', '.join(map(_declarator, variables))};"


def initial(value: Initial) -> str:
    """An initial value."""
    levels: list[tuple[Iterator[Initial], list[str]]] = [(iter((value,)), [])]
    while True:
        values, texts = levels[-1]
        for v in values:
            if isinstance(v, tuple):
                levels.append((iter(v), []))
                break
            texts.append(symbol(v) if isinstance(v, Symbol) else _float(v) if isinstance(v, float) else str(v))
        else:
            if len(levels) == 1:
                return texts[0]
            levels.pop()
            levels[-1][1].append("{" + ", ".join(texts) + "}")


def parameter(v: Variable) -> str:
    """A parameter of a function or prototype."""
    words = _specs(v)
    if v.pointer is not None:
        words += [".ptr", *([f".{v.pointer[0]}"] if v.pointer[0] else []), f".align {v.pointer[1]}"]
    return f"{' '.join(words)} {v.name}" + "".join(f"[{n or ''}]" for n in v.dims)
