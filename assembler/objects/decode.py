"""Elf -> Module: the opposite of emit.py.  Every number is checked, so that a damaged file gives an ObjectError and nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from ..ir import (
    Alias,
    Block,
    Declaration,
    File,
    Function,
    Instruction,
    Item,
    Label,
    Location,
    Module,
    Pragma,
    Section,
    Statement,
    Symbol,
    Variable,
)
from .elf import Elf, ElfSection, ObjectError, Relocation
from .emit import (
    ITEM_ALIAS,
    ITEM_FILE,
    ITEM_FUNCTION,
    ITEM_PRAGMA,
    ITEM_REGISTERS,
    ITEM_SECTION,
    ITEM_VARIABLES,
    PREFIX,
    is_static,
)
from .encoding import (
    END,
    FIRST_SHAPE,
    NOWHERE,
    PRAGMA,
    PROTOTYPE,
    REGISTERS,
    SCOPE,
    TARGETS,
    VARIABLES,
    Reader,
    Signature,
    Strings,
)
from .image import BIGGEST, values
from .operands import Names, OperandReader, RegisterTable, relocated
from .records import SIZES, read_function, read_tables, read_type, read_variable

_DEEPEST = 500  # scopes within scopes, as the parser has it

Line = tuple[int, int, Location]  # place in the code, labels that stand there before it
Known = tuple[Signature, tuple[str, ...]]


def decode(elf: Elf, name: str) -> Module:
    """The module that emit made this from, without spans."""
    return _Decoder(elf).run(name)


class _Decoder:
    def __init__(self, elf: Elf) -> None:
        self.elf = elf
        self.strings = Strings.decode(self._content("strings"))
        self.symbols: list[Variable | Function | None] = [None] * (len(elf.symbols) + 1)
        self.names = ["", *(s.name for s in elf.symbols)]
        self.shapes: list[Signature] = []
        self.known: dict[int, Known] = {}
        self.lines: dict[int, list[Line]] = {}
        self.sorted: dict[str, tuple[list[int], list[Relocation]]] = {}

    def run(self, name: str) -> Module:
        table = self._reader("shapes")
        self.shapes = [Signature.decode(table) for _ in range(table.count())]
        self._lines()
        records = self._reader("functions")
        # Bodies and initial values name variables and functions, whichever stands first in the text, so those come first.
        found: list[Function] = []
        bodies: list[tuple[Function, int]] = []
        for _ in range(records.count()):
            function, symbol, defined = read_function(records, self.names)
            found.append(function)
            if defined or self.symbols[symbol] is None:
                self.symbols[symbol] = function
            if defined:
                bodies.append((function, symbol))
                for _ in SIZES:
                    records.number()
        module = self._module(name, found)
        tables, labels = self._reader("tables"), self._labels()
        for function, symbol in bodies:
            self._body(function, symbol, tables, labels.get(".text." + function.name, []))
        return module

    def _content(self, name: str) -> bytes:
        section = self.elf.section(PREFIX + name)
        if section is None:
            raise ObjectError(f"section {PREFIX}{name} is missing")
        return section.data

    def _reader(self, name: str) -> Reader:
        return Reader(self._content(name), self.strings, f"section {PREFIX}{name}")

    def _labels(self) -> dict[str, list[Label]]:
        found: dict[str, list[Label]] = {}
        for s in self.elf.symbols:
            if s.kind == "notype":
                found.setdefault(s.section, []).append(Label(s.name, NOWHERE))
        return found

    def _lines(self) -> None:
        if self.elf.section(PREFIX + "line") is None:
            return
        reader = self._reader("line")
        while reader.at < len(reader.data):
            lines = self.lines.setdefault(reader.number(len(self.names)), [])
            at = line = 0
            for _ in range(reader.count()):
                at += reader.number()
                labels, file = reader.number(), reader.number()
                line += reader.signed()
                column, function = reader.number(), reader.string()
                offset = reader.signed() if function else 0
                inlined = (reader.number(), reader.number(), reader.number()) if reader.number(2) else None
                lines.append((at, labels, Location(file, line, column, NOWHERE, function, offset, inlined)))

    # ---------------------------------------------------------------- the module

    def _module(self, name: str, functions: Sequence[Function]) -> Module:
        reader = self._reader("module")
        version = (reader.number(), reader.number())
        targets = reader.texts()
        address_size = reader.number(65)
        items = [i for _ in range(reader.count()) if (i := self._item(reader, functions)) is not None]
        variables: dict[str, Variable] = {}
        for item in items:
            for v in item.variables if isinstance(item, Declaration) else (item,) if isinstance(item, Variable) else ():
                if v.name not in variables or v.linkage != "extern":
                    variables[v.name] = v
        by_name = {f.name: f for f in (*functions, *(f for f in self.symbols if isinstance(f, Function)))}
        aliases = {i.name: i.target for i in items if isinstance(i, Alias)}
        files = {i.index: i.name for i in items if isinstance(i, File)}
        return Module(name, "", version, targets, address_size, tuple(items), variables, by_name, aliases, files)

    def _item(self, reader: Reader, functions: Sequence[Function]) -> Item:
        kind = reader.number(ITEM_REGISTERS + 1)
        if kind == ITEM_FUNCTION:
            return functions[reader.number(len(functions))]
        if kind == ITEM_VARIABLES:
            return self._variables(reader, None)
        if kind == ITEM_FILE:
            index, name = reader.number(), reader.string()
            return File(index, name, NOWHERE, tuple(reader.number() for _ in range(reader.count())))
        if kind == ITEM_SECTION:
            name, place = reader.string(), reader.string()
            section = self.elf.section(place)
            if section is None:
                raise ObjectError(f"section {place} is missing")
            return Section(name, tuple(section.data.decode(errors="surrogateescape").split("\n")[:-1]), NOWHERE)
        if kind == ITEM_ALIAS:
            name, target = reader.string(), self.symbols[reader.number(len(self.symbols))]
            if not isinstance(target, Function):
                raise reader.fail(f"the alias {name} names no function")
            return Alias(name, target, NOWHERE)
        if kind == ITEM_PRAGMA:
            return Pragma(reader.texts(), NOWHERE)
        assert kind == ITEM_REGISTERS
        return self._registers(reader, RegisterTable())

    def _stems(self, reader: Reader) -> tuple[tuple[str, int], ...]:
        return tuple((reader.string(), reader.number(1 << 40) - 1) for _ in range(reader.count()))

    def _registers(self, reader: Reader, known: RegisterTable) -> Declaration:
        kind, vector = read_type(reader), reader.number(9)
        stems = self._stems(reader)
        known.declare(stems, kind, vector)
        return Declaration((), (), stems, NOWHERE, kind, vector)

    def _variables(self, reader: Reader, local: list[Variable] | None) -> Declaration:
        stems = self._stems(reader)
        found: list[Variable] = []
        for _ in range(reader.count()):
            record = read_variable(reader)
            v = self._initial(record.variable, record.symbol) if record.initialised else record.variable
            if record.symbol:
                if record.symbol >= len(self.symbols):
                    raise reader.fail(f"there is no symbol {record.symbol}")
                if self.symbols[record.symbol] is None or v.linkage != "extern":
                    self.symbols[record.symbol] = v
            elif local is not None and not is_static(v):
                local.append(v)
            else:
                raise reader.fail(f"the variable {v.name} has no symbol")
            found.append(v)
        if not found:
            raise reader.fail("a declaration of nothing")
        return Declaration((), tuple(found), stems, NOWHERE)

    def _initial(self, v: Variable, number: int) -> Variable:
        if not 0 < number < len(self.symbols):
            raise ObjectError(f"damaged: the initialised variable {v.name} has no symbol")
        symbol = self.elf.symbols[number - 1]
        section = self.elf.section(symbol.section)
        if section is None or v.size > BIGGEST or symbol.value + v.size > len(section.data):
            raise ObjectError(f"damaged: the initial value of {v.name} lies outside its section")
        symbols: dict[int, Symbol] = {}
        for r in self._between(section, symbol.value, symbol.value + v.size):
            target = self.symbols[r.symbol]
            if target is None:
                raise ObjectError(f"damaged: the initial value of {v.name} names a symbol that is not there yet")
            symbols[r.offset - symbol.value] = relocated(target, r)
        return replace(v, initial=values(v, section.data[symbol.value : symbol.value + v.size], symbols))

    def _between(self, section: ElfSection, start: int, end: int) -> list[Relocation]:
        if section.name not in self.sorted:
            relocations = sorted(section.relocations, key=lambda r: r.offset)
            self.sorted[section.name] = [r.offset for r in relocations], relocations
        places, relocations = self.sorted[section.name]
        return relocations[bisect_left(places, start) : bisect_left(places, end)]

    # ---------------------------------------------------------------- bodies

    def _body(self, f: Function, symbol: int, tables: Reader, labels: list[Label]) -> None:
        name = ".text." + f.name
        section = self.elf.section(name)
        if section is None:
            raise ObjectError(f"section {name} is missing")
        targets, prototypes = read_tables(tables, labels, self.symbols)
        registers = RegisterTable()
        for v in (*f.returns, *f.params):
            if v.register is not None:
                registers.declare([(v.register.name, -1)], v.type, v.vector)
        variables = [*f.returns, *f.params]
        names = Names(self.symbols, {r.offset: r for r in section.relocations}, registers, variables, labels, targets, prototypes)
        reader = Reader(section.data, self.strings, f"section {name}")
        operands = OperandReader(reader, names)
        places = [s.value for s in self.elf.symbols if s.kind == "notype" and s.section == name]
        marks = _Marks(sorted(zip(places, range(len(labels)), strict=True)), labels, self.lines.get(symbol, []))
        stack: list[list[Statement]] = [[]]
        while True:
            stack[-1] += marks.at(reader.at)
            code = reader.number()
            if code == END:
                block = Block(tuple(stack.pop()), NOWHERE)
                if not stack:
                    f.body = block
                    break
                stack[-1].append(block)
            elif code == SCOPE:
                if len(stack) > _DEEPEST:
                    raise reader.fail("scopes are nested too deep")
                stack.append([])
            elif code == REGISTERS:
                stack[-1].append(self._registers(reader, registers))
            elif code == VARIABLES:
                stack[-1].append(self._variables(reader, variables))
            elif code == PRAGMA:
                stack[-1].append(Pragma(reader.texts(), NOWHERE))
            elif code == TARGETS:
                stack[-1].append(targets[reader.number(len(targets))])
            elif code == PROTOTYPE:
                stack[-1].append(prototypes[reader.number(len(prototypes))])
            else:
                stack[-1].append(self._instruction(operands, code - FIRST_SHAPE))
        if reader.at != len(section.data) or not marks.done:
            raise reader.fail("bytes, labels or lines are left over")
        f.registers = tuple(registers.used.values())

    def _instruction(self, operands: OperandReader, number: int) -> Instruction:
        if not 0 <= number < len(self.shapes):
            raise operands.reader.fail(f"there is no shape {number}")
        if number not in self.known:
            shape = self.shapes[number]
            shape.form()  # raises where this version has no such row
            self.known[number] = (shape, shape.words())
        return operands.instruction(*self.known[number])


class _Marks:
    """Labels and lines in the order of their places in the code."""

    def __init__(self, places: list[tuple[int, int]], labels: list[Label], lines: list[Line]) -> None:
        self._labels, self._lines = [(at, labels[i]) for at, i in places], lines
        self._label = self._line = 0

    def at(self, place: int) -> list[Statement]:
        """What stands at a place."""
        found: list[Statement] = []
        labels = 0
        while True:
            line = self._lines[self._line] if self._line < len(self._lines) else None
            if line is not None and line[0] == place and line[1] <= labels:
                found.append(line[2])
                self._line += 1
            elif self._label < len(self._labels) and self._labels[self._label][0] == place:
                found.append(self._labels[self._label][1])
                self._label += 1
                labels += 1
            else:
                return found

    @property
    def done(self) -> bool:
        return self._label == len(self._labels) and self._line == len(self._lines)
