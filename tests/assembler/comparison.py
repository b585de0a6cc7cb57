"""A comparison of modules by structure: nodes compare by identity, so `fingerprint` numbers declarations in the order of the text."""

from __future__ import annotations

import struct

from warplab.assembler.ir import (
    Address,
    Alias,
    Arguments,
    Block,
    Declaration,
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
)
from warplab.assembler.printer import operand

Print = tuple[object, ...]


class _Numbers:
    """Declarations by the order in which they are met."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}

    def of(self, node: object) -> int:
        return self.seen.setdefault(id(node), len(self.seen))


def fingerprint(module: Module) -> Print:
    """Nested tuples that are equal for modules that say the same, wherever it stands in their texts."""
    numbers = _Numbers()
    head = (module.version, module.targets, module.address_size)
    items = tuple(_item_print(i, numbers) for i in module.items)
    tables = (tuple(sorted(module.variables)), tuple(sorted(module.functions)), tuple(sorted(module.aliases)), tuple(module.files.items()))
    return head, items, tables


def equal(a: Module, b: Module) -> bool:
    """Whether two modules say the same."""
    return fingerprint(a) == fingerprint(b)


def _item_print(item: Item, n: _Numbers) -> Print:
    match item:
        case Function():
            returns, params = (tuple(_variable_print(v, n) for v in vs) for vs in (item.returns, item.params))
            directives = tuple((d.name, d.values) for d in item.directives)
            body = _statement_print(item.body, n) if item.body is not None else None
            defined = n.of(item.definition) if item.definition is not None else None
            registers = tuple(sorted((r.name, r.type.name, r.vector) for r in item.registers))  # however they are numbered
            return "function", n.of(item), item.name, item.is_entry, item.linkage, returns, params, directives, body, defined, registers
        case Variable():
            return _variable_print(item, n)
        case File():
            return "file", item.index, item.name, item.numbers
        case Section():
            return "section", item.name, "".join("".join(item.lines).split())
        case Alias():
            return "alias", item.name, n.of(item.target)
        case _:
            return _statement_print(item, n)


def _variable_print(v: Variable, n: _Numbers) -> Print:
    number = n.of(v.register) if v.register is not None else n.of(v)
    shape = (v.space, v.type.name, v.vector, v.dims, v.align, v.linkage)
    return "variable", number, v.name, shape, _initial_print(v.initial, n), v.attributes, v.pointer


def _initial_print(value: Initial | None, n: _Numbers) -> object:
    if isinstance(value, tuple):
        return tuple(_initial_print(v, n) for v in value)
    if isinstance(value, Symbol):
        return _operand_print(value, n)
    return struct.pack("<d", value) if isinstance(value, float) else value


def _statement_print(s: Statement, n: _Numbers) -> Print:
    match s:
        case Instruction():
            guard = n.of(s.guard) if s.guard is not None else None
            settled = tuple(s.settled.items()) if s.settled is not None else None
            row = s.form.row if s.form is not None else None
            return s.opcode, s.modifiers, tuple(_operand_print(o, n) for o in s.operands), guard, s.guard_negated, row, settled
        case Block():
            return "block", tuple(_statement_print(x, n) for x in s.statements)
        case Label():
            return "label", n.of(s), s.name
        case Declaration():
            registers = tuple((n.of(r), r.name, r.type.name, r.vector) for r in s.registers)
            return "declaration", registers, tuple(_variable_print(v, n) for v in s.variables), s.stems, s.type, s.vector
        case Location():
            return "loc", s.file, s.line, s.column, s.function, s.function_offset, s.inlined_at
        case Pragma():
            return "pragma", s.texts
        case Targets():
            return "targets", n.of(s), s.name, s.kind, tuple(n.of(t) for t in s.targets)
        case Prototype():
            returns, params = (tuple(_variable_print(v, n) for v in vs) for vs in (s.returns, s.params))
            return "prototype", n.of(s), s.name, returns, params, s.noreturn


def _operand_print(o: Operand, n: _Numbers) -> Print:
    match o:
        case Register() | Variable() | Label() | Targets() | Prototype() | Function():
            return "name", n.of(o), o.name
        case Immediate():
            value = struct.pack("<d", o.value) if isinstance(o.value, float) else o.value
            return "immediate", o.kind, value
        case Element():
            return "element", n.of(o.register), o.part
        case Negated():
            return "not", n.of(o.register)
        case Minus():
            return "minus", _operand_print(o.operand, n)
        case Plus():
            return "plus", n.of(o.register), o.offset
        case Pair():
            return "pair", _operand_print(o.first, n), _operand_print(o.second, n)
        case Vector() | Arguments():
            return type(o).__name__, tuple(_operand_print(e, n) for e in o.elements)
        case Symbol():
            return "symbol", n.of(o.target), o.offset, o.generic, o.mask
        case Address():
            base = _operand_print(o.base, n) if o.base is not None else None
            return "address", base, o.offset, tuple(_operand_print(p, n) for p in o.parts)
        case SpecialRegister() | Sink():
            return "special", operand(o)
