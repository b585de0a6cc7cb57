"""The encoding of statements: a body's statements <-> the bytes of its code section.

Every distinct shape of instruction (its row, the word in each slot, the pattern of its operands) stands once in the table of
shapes; an instruction is its shape's number followed by the fields that the pattern asks for.  Symbols are relocations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from warplab.isa.notation import FORMS, Form, resolve

from ..ir import (
    Instruction,
    Span,
)
from .elf import ObjectError

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
    "r": "register: its number in the function; a declaration gives numbers to all of its registers, in order, used or not",
    "!": "negated predicate: register number",
    ".": "part of a register: register number, string of the part",
    "i": "integer: signed number",
    "f": "0f constant: 4 bytes",
    "d": "0d constant: 8 bytes",
    "e": "decimal floating-point constant: 8 bytes of its double",
    "s": "special register: strings of its name and of its component",
    "_": "the sink `_`: nothing",
    "|": "pair: the two operands that follow in the pattern",
    "-": "negated value: the operand that follows in the pattern",
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

    def texts(self, texts: Collection[str]) -> None:
        """Their number, and each."""
        self.number(len(texts))
        for text in texts:
            self.string(text)

    def numbers(self, numbers: Collection[int]) -> None:
        """Their number, and each."""
        self.number(len(numbers))
        for n in numbers:
            self.number(n)


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

    def texts(self) -> tuple[str, ...]:
        return tuple([self.string() for _ in range(self.count())])

    def bytes(self, n: int) -> bytes:
        if self.at + n > len(self.data):
            raise self.fail("it ends too early")
        self.at += n
        return self.data[self.at - n : self.at]


# ---------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class Signature:
    """What instructions share: the row, the word in each of its slots ("" for none), the order of the words as written, the operands."""

    opcode: str
    row: str
    slots: tuple[str, ...]
    order: tuple[int, ...]  # () for the row's own order
    pattern: str

    def encode(self, out: Writer) -> None:
        out.string(self.opcode)
        out.string(self.row)
        out.texts(self.slots)
        out.numbers(self.order)
        out.string(self.pattern)

    @staticmethod
    def decode(reader: Reader) -> Signature:
        opcode, row = reader.string(), reader.string()
        slots = reader.texts()
        order = tuple(reader.number() for _ in range(reader.count()))
        return Signature(opcode, row, slots, order, reader.string())

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


def signature_of(instruction: Instruction, pattern: str) -> Signature:
    form, settled = instruction.form, instruction.settled
    assert form is not None and settled is not None, f"{instruction.opcode} was not verified"
    slots = tuple("" if s.name not in settled else s.name if settled[s.name] is True else str(settled[s.name]) for s in form.slots)
    present = [w for w in slots if w]
    order: list[int] = []
    if tuple(present) != instruction.modifiers:
        for word in instruction.modifiers:
            order.append(next(i for i, w in enumerate(present) if w == word and i not in order))
    return Signature(instruction.opcode, form.row, slots, tuple(order), pattern)
