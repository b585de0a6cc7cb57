"""Module -> Elf: lays variables out in sections, numbers symbols, encodes bodies, collects relocations and line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..info import sizes
from ..ir import (
    Alias,
    Block,
    Declaration,
    File,
    Function,
    Instruction,
    Label,
    Location,
    Module,
    Pragma,
    Prototype,
    Section,
    Statement,
    Targets,
    Variable,
)
from ..walk import declared, statements
from . import elf
from .elf import Binding, Elf, ElfSection, Kind, Relocation
from .encoding import (
    END,
    PRAGMA,
    PROTOTYPE,
    REGISTERS,
    SCOPE,
    TARGETS,
    VARIABLES,
    Signature,
    Strings,
    Writer,
)
from .image import image
from .operands import Numbers, OperandWriter, relocation_type
from .records import write_function, write_tables, write_type, write_variable

PREFIX = ".warplab."
# Section of a variable with static storage: (with an initial value, without).
STORAGE: dict[str, tuple[str, str]] = {
    "global": (".data", ".bss"),
    "const": (".const", ".const.bss"),
    "shared": (".shared", ".shared"),
    "tex": (".tex", ".tex"),
    "sampler": (".tex", ".tex"),
    "surf": (".tex", ".tex"),
    "local": (".local", ".local"),  # of the module; those of a body are the function's own
}
_FLAGS = {".data": elf.SHF_ALLOC | elf.SHF_WRITE, ".bss": elf.SHF_ALLOC | elf.SHF_WRITE, ".const": elf.SHF_ALLOC}
ITEM_FUNCTION, ITEM_VARIABLES, ITEM_FILE, ITEM_SECTION, ITEM_ALIAS, ITEM_PRAGMA, ITEM_REGISTERS = range(7)
ITEMS: dict[int, tuple[str, str]] = {
    ITEM_FUNCTION: ("function", "number among the records of .warplab.functions"),
    ITEM_VARIABLES: ("variables", "as the statement of a body"),
    ITEM_FILE: ("file", "index, name string, number of further numbers, each"),
    ITEM_SECTION: ("section", "name string, string of the section that holds its lines"),
    ITEM_ALIAS: ("alias", "name string, symbol number of its target"),
    ITEM_PRAGMA: ("pragma", "number of texts, their strings"),
    ITEM_REGISTERS: ("registers", "as the statement of a body"),
}


@dataclass(slots=True)
class _ObjectEntry:
    """A symbol before its section is laid out."""

    name: str
    binding: Binding
    kind: Kind
    section: str = ""
    value: int = 0
    size: int = 0


def is_static(v: Variable) -> bool:
    """Does this variable of a body live as long as the module?"""
    return v.space in STORAGE and v.space != "local"


def emit(module: Module) -> Elf:
    """The object file of a verified module."""
    return _Emitter(module).run()


class _Emitter:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.strings = Strings()
        self.shapes: dict[Signature, int] = {}
        self.numbers: dict[Variable | Function, int] = {}
        self.entries: list[_ObjectEntry] = []
        self.data: dict[str, bytearray] = {}
        self.sizes: dict[str, int] = {}
        self.aligns: dict[str, int] = {}
        self.relocations: dict[str, list[Relocation]] = {}
        self.labels: dict[Label, int] = {}  # symbol numbers
        self.code: list[ElfSection] = []
        self.lines = Writer(self.strings)
        self.tables = Writer(self.strings)
        self.text: list[ElfSection] = []  # sections of the PTX, its DWARF

    def run(self) -> Elf:
        functions = [i for i in self.module.items if isinstance(i, Function)]
        self._symbols(functions)
        records = Writer(self.strings)
        records.number(len(functions))
        for f in functions:
            write_function(records, f, self.numbers[f])
            if f.body is not None:
                for size in sizes(f):
                    records.number(size)
                self._body(f)
        items = self._items(functions)
        table = Writer(self.strings)
        table.number(len(self.shapes))
        for shape in self.shapes:
            shape.encode(table)
        own = [("module", items.data), ("functions", records.data), ("tables", self.tables.data), ("shapes", table.data)]
        own += [("line", self.lines.data)] if self.lines.data else []
        sections = [*self.code, *self._storage()]
        sections += [ElfSection(PREFIX + name, elf.SHT_PROGBITS, 0, bytes(data)) for name, data in own]
        flags = elf.SHF_MERGE | elf.SHF_STRINGS
        sections.append(ElfSection(PREFIX + "strings", elf.SHT_PROGBITS, flags, self.strings.encode(), entry=1))
        symbols = tuple(elf.ElfSymbol(e.name, e.binding, e.kind, e.section, e.value, e.size) for e in self.entries)
        return Elf((*sections, *self.text), symbols)

    # ---------------------------------------------------------------- symbols and storage

    def _symbols(self, functions: list[Function]) -> None:
        """Numbers every symbol: static variables of bodies and local names of the module, labels, then the global names."""
        named: dict[str, list[Variable | Function]] = {}
        inner: list[Variable | Function] = []
        for item in self.module.items:
            if isinstance(item, Function):
                named.setdefault(item.name, []).append(item)
            for v in declared(item):
                named.setdefault(v.name, []).append(v)
        labels: list[tuple[Label, Function]] = []
        for f in functions:
            for s in statements(f.body):
                inner += [v for v in declared(s) if is_static(v)]
                if isinstance(s, Label):
                    labels.append((s, f))
        groups = [*named.values(), *([v] for v in inner)]
        for group in groups:
            if _binding(group) == "local":
                self._enter(group)
        for label, f in labels:
            self.entries.append(_ObjectEntry(label.name, "local", "notype", ".text." + f.name))
            self.labels[label] = len(self.entries)
        for group in groups:
            if _binding(group) != "local":
                self._enter(group)
        for item in self.module.items:
            if isinstance(item, Alias):
                target = item.target.definition or item.target
                self.entries.append(_ObjectEntry(item.name, "global", "func", ".text." + target.name if target.body else ""))

    def _enter(self, group: list[Variable | Function]) -> None:
        definition, binding = _definition(group), _binding(group)
        name = definition.name
        if isinstance(definition, Function):
            entry = _ObjectEntry(name, binding, "func", ".text." + name if definition.body is not None else "")
        else:
            entry = _ObjectEntry(name, binding, "object", size=definition.size)
        self.entries.append(entry)
        for one in group:
            self.numbers[one] = len(self.entries)
        if isinstance(definition, Variable):
            self._allot(definition, entry)

    def _allot(self, v: Variable, entry: _ObjectEntry) -> None:
        """Finds the variable's place; its bytes follow when all symbols have numbers."""
        if v.linkage == "common":
            entry.section, entry.value = "COMMON", v.align
        elif v.linkage != "extern":
            entry.section = STORAGE[v.space][v.initial is None]
            start = self.sizes.get(entry.section, 0)
            entry.value = start + -start % v.align
            self.sizes[entry.section] = entry.value + v.size
            self.aligns[entry.section] = max(self.aligns.get(entry.section, 1), v.align)

    def _storage(self) -> Iterator[ElfSection]:
        """The sections of variables."""
        for v, number in self.numbers.items():
            entry = self.entries[number - 1]
            if isinstance(v, Variable) and v.initial is not None and entry.section:
                data, symbols = image(v)
                content = self.data.setdefault(entry.section, bytearray())
                content.extend(bytes(entry.value - len(content)))
                content.extend(data)
                waiting = self.relocations.setdefault(entry.section, [])
                for at, s in sorted(symbols.items()):
                    waiting.append(Relocation(entry.value + at, self.numbers[s.target], relocation_type(s), s.offset))
        for name in sorted(self.sizes):
            flags, align = _FLAGS.get(name, elf.SHF_ALLOC), self.aligns[name]
            if name in self.data:
                relocations = tuple(self.relocations.get(name, ()))
                yield ElfSection(name, elf.SHT_PROGBITS, flags, bytes(self.data[name]), 0, align, 0, relocations)
            else:
                yield ElfSection(name, elf.SHT_NOBITS, flags, b"", self.sizes[name], align)

    # ---------------------------------------------------------------- items and bodies

    def _items(self, functions: list[Function]) -> Writer:
        """PTX version, targets, address size, then every item of the module in order."""
        out, module = Writer(self.strings), self.module
        out.number(module.version[0])
        out.number(module.version[1])
        out.texts(module.targets)
        out.number(module.address_size)
        places = {f: i for i, f in enumerate(functions)}
        out.number(len(module.items))
        for item in module.items:
            match item:
                case Function():
                    out.number(ITEM_FUNCTION)
                    out.number(places[item])
                case Variable():
                    out.number(ITEM_VARIABLES)
                    self._variables(out, Declaration((), (item,), (), item.span), None)
                case Declaration(_, variables):
                    out.number(ITEM_VARIABLES if variables else ITEM_REGISTERS)
                    self._variables(out, item, None) if variables else _registers(out, item, None)
                case File(index, name, _, numbers):
                    out.number(ITEM_FILE)
                    out.number(index)
                    out.string(name)
                    out.numbers(numbers)
                case Section(name, lines):
                    out.number(ITEM_SECTION)
                    out.string(name)
                    place = f"{PREFIX}text{len(self.text)}{name}"
                    out.string(place)
                    data = "".join(line + "\n" for line in lines).encode(errors="surrogateescape")
                    self.text.append(ElfSection(place, elf.SHT_PROGBITS, 0, data))
                case Alias(name, target):
                    out.number(ITEM_ALIAS)
                    out.string(name)
                    out.number(self.numbers[target])
                case Pragma(texts):
                    out.number(ITEM_PRAGMA)
                    out.texts(texts)
        return out

    def _variables(self, out: Writer, declaration: Declaration, numbers: Numbers | None) -> None:
        _stems(out, declaration)
        out.number(len(declaration.variables))
        for v in declaration.variables:
            write_variable(out, v, self.numbers.get(v, 0))
            if numbers is not None and v not in self.numbers:
                numbers.variables[v] = len(numbers.variables)

    def _body(self, f: Function) -> None:
        numbers = Numbers(self.numbers)
        for v in (*f.returns, *f.params):
            numbers.variables[v] = len(numbers.variables)
            if v.register is not None:
                numbers.registers.declare([(v.register.name, -1)])
        out = Writer(self.strings)
        operands = OperandWriter(out, numbers)
        lines: list[tuple[int, int, Location]] = []
        for named in statements(f.body):
            match named:
                case Label():
                    numbers.labels[named] = len(numbers.labels)
                case Targets():
                    numbers.targets[named] = len(numbers.targets)
                case Prototype():
                    numbers.prototypes[named] = len(numbers.prototypes)
        assert f.body is not None
        numbers.registers.open()
        stack: list[Iterator[Statement]] = [iter(f.body.statements)]
        labelled = (0, 0)  # a place in the code, and how many labels stand there so far
        while stack:
            s: Statement | None = next(stack[-1], None)
            place = len(out.data)
            if labelled[0] != place:
                labelled = (place, 0)
            match s:
                case None:
                    stack.pop()
                    numbers.registers.close()
                    out.number(END)
                case Instruction():
                    operands.instruction(s, self.shapes)
                case Label():
                    labelled = (place, labelled[1] + 1)
                    self.entries[self.labels[s] - 1].value = place
                case Location():
                    lines.append((place, labelled[1], s))
                case Block(inner):
                    out.number(SCOPE)
                    numbers.registers.open()
                    stack.append(iter(inner))
                case Declaration(_, variables):
                    out.number(VARIABLES if variables else REGISTERS)
                    self._variables(out, s, numbers) if variables else _registers(out, s, numbers)
                case Pragma(texts):
                    out.number(PRAGMA)
                    out.texts(texts)
                case Targets():
                    out.number(TARGETS)
                    out.number(numbers.targets[s])
                case Prototype():
                    out.number(PROTOTYPE)
                    out.number(numbers.prototypes[s])
        write_tables(self.tables, list(numbers.targets), list(numbers.prototypes), numbers.labels, self.numbers)
        self.entries[self.numbers[f] - 1].size = len(out.data)
        flags = elf.SHF_ALLOC | elf.SHF_EXEC
        relocations = tuple(operands.relocations)
        self.code.append(ElfSection(".text." + f.name, elf.SHT_PROGBITS, flags, bytes(out.data), 0, 1, 0, relocations))
        if lines:
            self._lines(self.numbers[f], lines)

    def _lines(self, symbol: int, lines: list[tuple[int, int, Location]]) -> None:
        out = self.lines
        out.number(symbol)
        out.number(len(lines))
        at = line = 0
        for place, labels, location in lines:
            out.number(place - at)
            out.number(labels)
            out.number(location.file)
            out.signed(location.line - line)
            out.number(location.column)
            out.string(location.function)
            if location.function:
                out.signed(location.function_offset)
            out.number(int(location.inlined_at is not None))
            for n in location.inlined_at or ():
                out.number(n)
            at, line = place, location.line


def _definition(group: list[Variable | Function]) -> Variable | Function:
    """Of what one name stands for: the definition, else the last declaration."""
    for one in group:
        if one.body is not None if isinstance(one, Function) else one.linkage != "extern":
            return one
    return group[-1]


def _binding(group: list[Variable | Function]) -> Binding:
    """How the linker sees a name: a function that says nothing of it has the linkage of its declaration."""
    definition = _definition(group)
    linkage = definition.linkage or next((one.linkage for one in group if one.linkage), "")
    if linkage == "weak":
        return "weak"
    undefined = isinstance(definition, Function) and definition.body is None
    return "local" if linkage == "" and not undefined else "global"


def _stems(out: Writer, declaration: Declaration) -> None:
    out.number(len(declaration.stems))
    for name, count in declaration.stems:
        out.string(name)
        out.number(count + 1)


def _registers(out: Writer, declaration: Declaration, numbers: Numbers | None) -> None:
    assert declaration.type is not None
    write_type(out, declaration.type)
    out.number(declaration.vector)
    _stems(out, declaration)
    if numbers is not None:
        numbers.registers.declare(declaration.stems)
