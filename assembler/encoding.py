"""The encoding of statements: a body's statements <-> the bytes of its code section.

Every distinct shape of instruction (its row, the word in each slot, the pattern of its operands) stands once in the table of
shapes; an instruction is its shape's number followed by the fields that the pattern asks for.  Symbols are relocations.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from warplab.isa.notation import FORMS, Form, resolve

from .elf import ObjectError, Relocation
from .ir import (
    Address,
    Arguments,
    Element,
    Function,
    Immediate,
    Instruction,
    Label,
    Negated,
    Operand,
    Pair,
    Prototype,
    Register,
    Sink,
    Span,
    SpecialRegister,
    Symbol,
    Targets,
    Variable,
    Vector,
)

T = TypeVar("T")
NOWHERE = Span(0, 0, 1, 1)

# What stands in front of a statement; from FIRST_SHAPE on it is an instruction of shape code - FIRST_SHAPE.
END, SCOPE, REGISTERS, VARIABLES, PRAGMA, TARGETS, PROTOTYPE = range(7)
FIRST_SHAPE = 8
STATEMENTS: dict[int, tuple[str, str]] = {
    END: ("end", "of the body or of a scope"),
    SCOPE: ("scope", "its statements follow, up to their end"),
    REGISTERS: ("registers", "type string, vector, number of stems, for each: name string, count + 1 (0: a plain name)"),
    VARIABLES: ("variables", "number of stems (name string, count + 1), number of variables, for each its record"),
    PRAGMA: ("pragma", "number of texts, their strings"),
    TARGETS: ("targets", "number in the function's table of .branchtargets and .calltargets"),
    PROTOTYPE: ("prototype", "number in the function's table of .callprototype"),
}

# Letters of an operand pattern, and the fields that each asks for.
OPERANDS: dict[str, str] = {
    "@": "guard, before the operands: register number",
    "~": "negated guard, before the operands: register number",
    "r": "register: its number in the function, in the order of declaration",
    "!": "negated predicate: register number",
    ".": "part of a register: register number, string of the part",
    "i": "integer: signed number",
    "f": "0f constant: 4 bytes",
    "d": "0d constant: 8 bytes",
    "e": "decimal floating-point constant: 8 bytes of its double",
    "s": "special register: strings of its name and of its component",
    "_": "the sink `_`: nothing",
    "|": "pair: the two operands that follow in the pattern",
    "{ }": "vector: the elements between the braces",
    "( )": "arguments of a call: the operands between the parentheses",
    "[ ]": "address: the base (r . v g, or 0 for none), + and a signed offset unless that is 0, then further parts",
    "v": "parameter, or variable without a symbol: its number in the function",
    "w": "address of such a variable as a value: its number, signed offset, 1 if generic, mask + 1 or 0",
    "g": "symbol: 4 bytes of zero, relocated; the addend is the offset",
    "&": "symbol's address as a value: as g; the type of the relocation says whether generic or masked",
    "L": "label: its number among the symbols of the code section",
    "T": "branch or call targets: number in the function's table",
    "P": "prototype: number in the function's table",
}

R_ADDRESS, R_GENERIC, R_BYTE, R_GENERIC_BYTE = 1, 2, 16, 32
RELOCATIONS: dict[str, str] = {
    "1": "address of the symbol plus addend",
    "2": "generic address of the symbol plus addend",
    "16 + k": "byte k of the address",
    "32 + k": "byte k of the generic address",
}
_DEEPEST = 8  # nested operands; the grammar has no more than four


class Strings:
    """Strings by number, each once; number 0 is the empty one."""

    def __init__(self, texts: Iterable[str] = ("",)) -> None:
        self.texts = list(texts)
        self._numbers = {t: i for i, t in enumerate(self.texts)}

    def number(self, text: str) -> int:
        if text not in self._numbers:
            if "\0" in text:
                raise ObjectError("a text with a NUL character fits no object file")
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]

    def encode(self) -> bytes:
        return b"".join(t.encode(errors="surrogateescape") + b"\0" for t in self.texts)

    @staticmethod
    def decode(data: bytes) -> Strings:
        if data[-1:] != b"\0" or data[:1] != b"\0":
            raise ObjectError("damaged: the table of strings does not begin and end with NUL")
        return Strings(t.decode(errors="surrogateescape") for t in data[:-1].split(b"\0"))


class Writer:
    """Bytes under construction: LEB128 numbers, strings by their number."""

    def __init__(self, strings: Strings) -> None:
        self.data = bytearray()
        self.strings = strings

    def number(self, n: int) -> None:
        assert n >= 0, n
        while n > 127:
            self.data.append(n & 127 | 128)
            n >>= 7
        self.data.append(n)

    def signed(self, n: int) -> None:
        self.number(n << 1 if n >= 0 else (-n << 1) - 1)

    def string(self, text: str) -> None:
        self.number(self.strings.number(text))


class Reader:
    """Reads what Writer wrote; ObjectError where that is not there."""

    def __init__(self, data: bytes, strings: Strings, what: str) -> None:
        self.data, self.strings, self.what = data, strings, what
        self.at = 0

    def fail(self, why: str) -> ObjectError:
        return ObjectError(f"damaged: {self.what}, at byte {self.at}: {why}")

    def number(self, below: int | None = None) -> int:
        n = shift = 0
        while True:
            if self.at >= len(self.data):
                raise self.fail("it ends too early")
            byte = self.data[self.at]
            self.at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 1400:
                raise self.fail("a number has no end")
        if below is not None and n >= below:
            raise self.fail(f"number {n} where only {below} are there")
        return n

    def count(self) -> int:
        """A number of things of at least one byte each that follow."""
        return self.number(len(self.data) - self.at + 1)

    def signed(self) -> int:
        n = self.number()
        return -(n + 1 >> 1) if n & 1 else n >> 1

    def string(self) -> str:
        return self.strings.texts[self.number(len(self.strings.texts))]

    def bytes(self, n: int) -> bytes:
        if self.at + n > len(self.data):
            raise self.fail("it ends too early")
        self.at += n
        return self.data[self.at - n : self.at]


# ---------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class Shape:
    """What instructions share: the row, the word in each of its slots ("" for none), the order of the words as written, the operands."""

    opcode: str
    row: str
    slots: tuple[str, ...]
    order: tuple[int, ...]  # () for the row's own order
    pattern: str

    def encode(self, out: Writer) -> None:
        out.string(self.opcode)
        out.string(self.row)
        out.number(len(self.slots))
        for word in self.slots:
            out.string(word)
        out.number(len(self.order))
        for i in self.order:
            out.number(i)
        out.string(self.pattern)

    @staticmethod
    def decode(reader: Reader) -> Shape:
        opcode, row = reader.string(), reader.string()
        slots = tuple(reader.string() for _ in range(reader.count()))
        order = tuple(reader.number() for _ in range(reader.count()))
        return Shape(opcode, row, slots, order, reader.string())

    def words(self) -> tuple[str, ...]:
        """The modifiers as written."""
        present = [w for w in self.slots if w]
        if not self.order:
            return tuple(present)
        if sorted(self.order) != list(range(len(present))):
            raise ObjectError(f"damaged: the words of {self.opcode} stand in no order")
        return tuple(present[i] for i in self.order)

    def form(self) -> tuple[Form, dict[str, str | bool]]:
        """The row in this version's table."""
        found = resolve(self.opcode, self.words())
        if found is None or found[0].row != self.row:
            known = any(f.row == self.row for f in FORMS.get(self.opcode, ()))
            why = "other words fit it" if known else "this version has no such row"
            raise ObjectError(f"the object uses the row `{self.row}`, but {why}: assemble its source again")
        return found


def _shape(instruction: Instruction, pattern: str) -> Shape:
    form, settled = instruction.form, instruction.settled
    assert form is not None and settled is not None, f"{instruction.opcode} was not verified"
    slots = tuple("" if s.name not in settled else s.name if settled[s.name] is True else str(settled[s.name]) for s in form.slots)
    present = [w for w in slots if w]
    order: list[int] = []
    if tuple(present) != instruction.modifiers:
        for word in instruction.modifiers:
            order.append(next(i for i, w in enumerate(present) if w == word and i not in order))
    return Shape(instruction.opcode, form.row, slots, tuple(order), pattern)


# ---------------------------------------------------------------- operands


@dataclass(slots=True)
class Numbers:
    """How the things that a function's operands name are numbered, for writing."""

    symbols: Mapping[Variable | Function, int]
    registers: dict[Register, int] = field(default_factory=dict)
    variables: dict[Variable, int] = field(default_factory=dict)
    labels: dict[Label, int] = field(default_factory=dict)
    targets: dict[Targets, int] = field(default_factory=dict)
    prototypes: dict[Prototype, int] = field(default_factory=dict)

    def symbol(self, target: Variable | Function) -> int:
        return self.symbols[target]


def relocation_type(symbol: Symbol) -> int:
    """The relocation that yields this value."""
    if symbol.mask is None:
        return R_GENERIC if symbol.generic else R_ADDRESS
    byte = (symbol.mask.bit_length() - 1) // 8
    if symbol.mask != 0xFF << 8 * byte or byte > 7:
        raise ObjectError(f"mask({symbol.mask:#x}) does not choose one byte")
    return (R_GENERIC_BYTE if symbol.generic else R_BYTE) + byte


def relocated(target: Variable | Function, relocation: Relocation) -> Symbol:
    """The value that a relocation asks for."""
    kind = relocation.type
    if kind in (R_ADDRESS, R_GENERIC):
        return Symbol(target, relocation.addend, kind == R_GENERIC)
    if kind & 15 < 8 and kind & ~15 in (R_BYTE, R_GENERIC_BYTE):
        return Symbol(target, relocation.addend, kind >= R_GENERIC_BYTE, 0xFF << 8 * (kind & 15))
    raise ObjectError(f"damaged: relocation of type {kind}")


class OperandWriter:
    """Appends the fields of operands and collects relocations."""

    def __init__(self, out: Writer, numbers: Numbers) -> None:
        self.out, self.numbers = out, numbers
        self.relocations: list[Relocation] = []

    def instruction(self, instruction: Instruction, shapes: dict[Shape, int]) -> None:
        """Its shape's number, then the fields."""
        start = len(self.out.data)
        fields, self.out.data = self.out.data, bytearray()
        kept = len(self.relocations)
        pattern = ""
        if instruction.guard is not None:
            pattern = "~" if instruction.guard_negated else "@"
            self.out.number(self.numbers.registers[instruction.guard])
        pattern += "".join(map(self.operand, instruction.operands))
        fields, self.out.data = self.out.data, fields
        shape = _shape(instruction, pattern)
        self.out.number(FIRST_SHAPE + shapes.setdefault(shape, len(shapes)))
        shift = len(self.out.data)
        assert shift > start
        for i in range(kept, len(self.relocations)):
            r = self.relocations[i]
            self.relocations[i] = Relocation(r.offset + shift, r.symbol, r.type, r.addend)
        self.out.data += fields

    def operand(self, operand: Operand) -> str:
        """Writes the fields, returns the pattern."""
        out, numbers = self.out, self.numbers
        match operand:
            case Register():
                out.number(numbers.registers[operand])
                return "r"
            case Immediate(value, kind):
                return self._immediate(value, kind)
            case Negated(register):
                out.number(numbers.registers[register])
                return "!"
            case Element(register, part):
                out.number(numbers.registers[register])
                out.string(part)
                return "."
            case SpecialRegister(name, component):
                out.string(name)
                out.string(component)
                return "s"
            case Sink():
                return "_"
            case Pair(first, second):
                return "|" + self.operand(first) + self.operand(second)
            case Vector(elements):
                return "{" + "".join(map(self.operand, elements)) + "}"
            case Arguments(elements):
                return "(" + "".join(map(self.operand, elements)) + ")"
            case Address(base, offset, parts):
                return "[" + self._base(base, offset) + "".join(map(self.operand, parts)) + "]"
            case Variable() | Function():
                return self._named(operand)
            case Symbol(target, offset, generic, mask):
                if isinstance(target, Variable) and target in numbers.variables:
                    out.number(numbers.variables[target])
                    out.signed(offset)
                    out.number(int(generic))
                    out.number(0 if mask is None else mask + 1)
                    return "w"
                self._relocation(target, relocation_type(operand), offset)
                return "&"
            case Label():
                out.number(numbers.labels[operand])
                return "L"
            case Targets():
                out.number(numbers.targets[operand])
                return "T"
            case Prototype():
                out.number(numbers.prototypes[operand])
                return "P"
        raise AssertionError(operand)

    def _immediate(self, value: int | float, kind: str) -> str:
        if kind == "int":
            self.out.signed(int(value))
            return "i"
        if isinstance(value, float):
            self.out.data += struct.pack("<d", value)
            return "e"
        self.out.data += value.to_bytes(4 if kind == "f32" else 8, "little")
        return "f" if kind == "f32" else "d"

    def _named(self, target: Variable | Function, offset: int = 0) -> str:
        if isinstance(target, Variable) and target in self.numbers.variables:
            self.out.number(self.numbers.variables[target])
            return "v"
        self._relocation(target, R_ADDRESS, offset)
        return "g"

    def _base(self, base: Register | Element | Variable | Function | None, offset: int) -> str:
        pattern = "0" if base is None else ""
        if isinstance(base, (Register, Element)):
            pattern = self.operand(base)
        elif base is not None:
            pattern = self._named(base, offset)
        if offset and pattern != "g":
            self.out.signed(offset)
            pattern += "+"
        return pattern

    def _relocation(self, target: Variable | Function, kind: int, addend: int) -> None:
        if not -(2**63) <= addend < 2**63:
            raise ObjectError(f"offset {addend} to {target.name} does not fit into 64 bits")
        self.relocations.append(Relocation(len(self.out.data), self.numbers.symbol(target), kind, addend))
        self.out.data += bytes(4)


@dataclass(slots=True)
class Names:
    """What the numbers in a function's operands mean, for reading."""

    symbols: Sequence[Variable | Function | None]  # by symbol number
    relocations: Mapping[int, Relocation]
    registers: list[Register] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    targets: list[Targets] = field(default_factory=list)
    prototypes: list[Prototype] = field(default_factory=list)


class OperandReader:
    """Reads the fields that patterns ask for."""

    def __init__(self, reader: Reader, names: Names) -> None:
        self.reader, self.names = reader, names
        self._pattern, self._at = "", 0
        pick = self._pick
        self._simple: dict[str, Callable[[], Operand]] = {
            "r": lambda: pick(names.registers),
            "!": lambda: Negated(pick(names.registers)),
            ".": lambda: Element(pick(names.registers), reader.string()),
            "i": lambda: Immediate(reader.signed(), "int"),
            "f": lambda: Immediate(int.from_bytes(reader.bytes(4), "little"), "f32"),
            "d": lambda: Immediate(int.from_bytes(reader.bytes(8), "little"), "f64"),
            "e": lambda: Immediate(float(struct.unpack("<d", reader.bytes(8))[0]), "f64"),
            "s": lambda: SpecialRegister(reader.string(), reader.string()),
            "_": Sink,
            "v": lambda: pick(names.variables),
            "w": self._local_symbol,
            "g": lambda: self._relocation().target,
            "&": self._relocation,
            "L": lambda: pick(names.labels),
            "T": lambda: pick(names.targets),
            "P": lambda: pick(names.prototypes),
        }

    def instruction(self, shape: Shape, form: Form, settled: dict[str, str | bool], words: tuple[str, ...]) -> Instruction:
        """The instruction whose fields come next."""
        self._pattern, self._at = shape.pattern, 0
        guard: Register | None = None
        if shape.pattern[:1] in ("@", "~") and shape.pattern:
            self._at = 1
            guard = self._pick(self.names.registers)
        operands: list[Operand] = []
        while self._at < len(self._pattern):
            operands.append(self._operand(0))
        return Instruction(shape.opcode, words, tuple(operands), guard, shape.pattern[:1] == "~", form, settled, NOWHERE)

    def _operand(self, depth: int) -> Operand:
        if depth > _DEEPEST:
            raise self.reader.fail("operands are nested too deep")
        letter = self._pattern[self._at : self._at + 1]
        self._at += 1
        if letter in self._simple:
            return self._simple[letter]()
        match letter:
            case "|":
                first = self._operand(depth + 1)
                return Pair(first, self._operand(depth + 1))
            case "{":
                return Vector(self._until("}", depth))
            case "(":
                return Arguments(self._until(")", depth))
            case "[":
                return self._address(depth)
        raise self.reader.fail(f"the pattern `{self._pattern}` is none")

    def _until(self, end: str, depth: int) -> tuple[Operand, ...]:
        found: list[Operand] = []
        while self._pattern[self._at : self._at + 1] != end:
            found.append(self._operand(depth + 1))
        self._at += 1
        return tuple(found)

    def _address(self, depth: int) -> Address:
        base: Register | Element | Variable | Function | None = None
        offset = 0
        letter = self._pattern[self._at : self._at + 1]
        if letter == "g":
            self._at += 1
            symbol = self._relocation()
            base, offset = symbol.target, symbol.offset
        elif letter == "0":
            self._at += 1
        else:
            found = self._operand(depth + 1)
            if not isinstance(found, (Register, Element, Variable, Function)):
                raise self.reader.fail(f"the pattern `{self._pattern}` has an address without a base")
            base = found
        if self._pattern[self._at : self._at + 1] == "+":
            self._at += 1
            offset = self.reader.signed()
        return Address(base, offset, self._until("]", depth))

    def _pick(self, things: Sequence[T]) -> T:
        return things[self.reader.number(len(things))]

    def _relocation(self) -> Symbol:
        relocation = self.names.relocations.get(self.reader.at)
        if relocation is None or self.reader.bytes(4) != bytes(4):
            raise self.reader.fail("a symbol without its relocation")
        target = self.names.symbols[relocation.symbol]
        if target is None:
            raise self.reader.fail(f"symbol {relocation.symbol} is neither a variable nor a function")
        return relocated(target, relocation)

    def _local_symbol(self) -> Symbol:
        variable = self._pick(self.names.variables)
        offset, generic, mask = self.reader.signed(), self.reader.number(2), self.reader.number()
        return Symbol(variable, offset, bool(generic), mask - 1 if mask else None)
