"""The operands of instructions <-> the fields that a shape's pattern asks for, with registers, labels and symbols by number."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from warplab.isa.types import ScalarType

from ..ir import (
    Address,
    Arguments,
    Element,
    Function,
    Immediate,
    Instruction,
    Label,
    Minus,
    Negated,
    Operand,
    Pair,
    Plus,
    Prototype,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Targets,
    Variable,
    Vector,
    shape_of,
)
from .elf import ObjectError, Relocation
from .encoding import FIRST_SHAPE, NOWHERE, R_ADDRESS, R_BYTE, R_GENERIC, R_GENERIC_BYTE, Reader, Signature, Writer, signature_of

T = TypeVar("T")
_DEEPEST = 8  # nested operands; the grammar has no more than four

# ---------------------------------------------------------------- registers

Stems = Sequence[tuple[str, int]]


class RegisterNumbers(dict[Register, int]):
    """The number of each register of a function.

    `%r<10>` takes ten numbers, but only registers that the text uses exist: a register finds its declaration by its name, when it is
    met in a scope for the first time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._scopes: list[dict[str, tuple[int, int]]] = [{}]  # name or stem -> first number, count (-1 for a name)
        self._count = 0

    def open(self) -> None:
        """A scope begins."""
        self._scopes.append({})

    def close(self) -> None:
        """The innermost scope ends."""
        self._scopes.pop()

    def declare(self, stems: Stems) -> None:
        """Gives numbers to what a declaration declares."""
        for name, count in stems:
            self._scopes[-1][name if count < 0 else name + "<"] = self._count, count
            self._count += abs(count)  # -1 stands for one plain name

    def __missing__(self, register: Register) -> int:
        name = register.name
        stem = len(name.rstrip("0123456789"))
        for scope in reversed(self._scopes):
            if name in scope:
                self[register] = scope[name][0]
                return self[register]
            for i in range(stem, len(name)):
                first, count = scope.get(name[:i] + "<", (0, 0))
                if int(name[i:]) < count:
                    self[register] = first + int(name[i:])
                    return self[register]
        raise AssertionError(name)


class RegisterTable:
    """The registers of a function by number, for reading; each comes into being when it is first named."""

    def __init__(self) -> None:
        self.count = 0
        self.used: dict[int, Register] = {}
        self._firsts: list[int] = []
        self._ranges: list[tuple[str, int, ScalarType, int]] = []

    def declare(self, stems: Stems, kind: ScalarType, vector: int) -> None:
        """What a declaration declares."""
        for name, count in stems:
            if count:
                self._firsts.append(self.count)
                self._ranges.append((name, count, kind, vector))
                self.count += abs(count)

    def register(self, number: int) -> Register:
        """The register of a number below count."""
        if number not in self.used:
            place = bisect_right(self._firsts, number) - 1
            name, count, kind, vector = self._ranges[place]
            full = name if count < 0 else f"{name}{number - self._firsts[place]}"
            self.used[number] = Register(full, kind, vector, len(self.used), NOWHERE)
        return self.used[number]


# ---------------------------------------------------------------- operands


@dataclass(slots=True)
class Numbers:
    """How the things that a function's operands name are numbered, for writing."""

    symbols: Mapping[Variable | Function, int]
    registers: RegisterNumbers = field(default_factory=lambda: RegisterNumbers())
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

    def instruction(self, instruction: Instruction, shapes: dict[Signature, int]) -> None:
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
        shape = signature_of(instruction, pattern)
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
            case Minus(negated):
                return "-" + self.operand(negated)
            case Plus(register, offset):
                out.number(numbers.registers[register])
                out.signed(offset)
                return "+"
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
    registers: RegisterTable = field(default_factory=lambda: RegisterTable())
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
            "r": self._register,
            "!": lambda: Negated(self._register()),
            "+": lambda: Plus(self._register(), reader.signed()),
            ".": lambda: Element(self._register(), reader.string()),
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

    def instruction(self, shape: Signature, words: tuple[str, ...]) -> Instruction:
        """The instruction whose fields come next."""
        self._pattern, self._at = shape.pattern, 0
        guard: Register | None = None
        if shape.pattern[:1] in ("@", "~") and shape.pattern:
            self._at = 1
            guard = self._register()
        operands: list[Operand] = []
        while self._at < len(self._pattern):
            operands.append(self._operand(0))
        return Instruction(shape_of(shape.opcode, words, operands), tuple(operands), guard, shape.pattern[:1] == "~", NOWHERE)

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
            case "-":
                negated = self._operand(depth + 1)
                if not isinstance(negated, (Register, Element)):
                    raise self.reader.fail(f"the pattern `{self._pattern}` negates what is not a register")
                return Minus(negated)
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

    def _register(self) -> Register:
        return self.names.registers.register(self.reader.number(self.names.registers.count))

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
