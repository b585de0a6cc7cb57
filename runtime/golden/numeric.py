"""Numbers in CHECK lines, as LLVM's FileCheck has them: `[[#%FORMAT,NAME: == EXPRESSION]]`, each part of which may be missing.

`[[#N:]]` reads a number into N, `[[#N+1]]` matches the value of an expression.  The format is %u, %d, %x or %X, also with a number of digits
(`%.8X`) and a prefix 0x (`%#x`); without one it is that of the expression's variables.  Operands are variables, numbers, @LINE, `+`, `-`,
parentheses, and add, sub, mul, div, min and max of two expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_BLOCK = re.compile(
    r"\[\[#?\s*(?:%(?P<alternate>#?)(?:\.(?P<digits>\d+))?(?P<kind>[udxX]?)\s*,)?\s*"
    r"(?:(?P<name>\$?[A-Za-z_]\w*)\s*:)?\s*(?:==)?\s*(?P<expression>[^%:=]*?)\s*\]\]"
)
_TOKEN = re.compile(r"\s*(0[xX][0-9A-Fa-f]+|\d+|@LINE|\$?[A-Za-z_]\w*|[-+(),])")
_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),  # towards zero
    "min": min,
    "max": max,
}


class NumericError(Exception):
    """A block that cannot be read, or whose value cannot be computed."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a number is written."""

    kind: str = "u"
    digits: int = 0  # at least so many, with zeros in front
    alternate: bool = False  # 0x in front

    @property
    def pattern(self) -> str:
        """The regular expression of any number in this format."""
        digit = {"x": "0-9a-f", "X": "0-9A-F"}.get(self.kind, "0-9")
        number = f"(?:[{digit.replace('0', '1', 1)}][{digit}]*)?[{digit}]{{{self.digits}}}" if self.digits else f"[{digit}]+"
        return "-?" * (self.kind == "d") + "0x" * self.alternate + number

    def read(self, text: str) -> int:
        """The value of a text that the pattern matched."""
        value = int(text.removeprefix("-").removeprefix("0x"), 16 if self.kind in "xX" else 10)
        return -value if text[0] == "-" else value

    def write(self, value: int) -> str:
        """A value in this format."""
        if value < 0 and self.kind != "d":
            raise NumericError(f"the value is {value}, and %{self.kind} has no sign")
        digits = format(abs(value), self.kind.replace("u", "d")).zfill(self.digits)
        return "-" * (value < 0) + "0x" * self.alternate + digits


@dataclass(frozen=True, slots=True)
class Number:
    """What a numeric variable stands for."""

    value: int
    format: NumberFormat


def read_block(block: str, names: Mapping[str, str | Number], line: int) -> tuple[str, str, NumberFormat]:
    """The regular expression of a block, the name of the variable that it defines or "", and its format."""
    m = _BLOCK.fullmatch(block)
    if m is None:
        raise NumericError(f"{block} cannot be read: write [[#NAME:]], [[#%x,NAME:]] or [[#NAME+1]]")
    explicit = NumberFormat(m["kind"] or "u", int(m["digits"] or 0), bool(m["alternate"])) if m["kind"] is not None else None
    if explicit is not None and explicit.alternate and explicit.kind not in "xX":
        raise NumericError(f"{block}: # goes with %x and %X")
    if not m["expression"]:
        found = explicit or NumberFormat()
        return found.pattern, m["name"] or "", found
    expression = _Expression(m["expression"], names, line)
    value = expression.sum()
    expression.expect("")
    formats = list(dict.fromkeys(expression.formats))
    if explicit is None and len(formats) > 1:
        raise NumericError(f"{block}: the variables have different formats: name one, as in [[#%u,...]]")
    found = explicit or (formats[0] if formats else NumberFormat())
    return re.escape(found.write(value)), m["name"] or "", found


class _Expression:
    """The value of an expression, and the formats of its variables."""

    def __init__(self, text: str, names: Mapping[str, str | Number], line: int) -> None:
        self.text, self.names, self.line = text, names, line
        self.tokens = [m[1] for m in _TOKEN.finditer(text)]
        self.formats: list[NumberFormat] = []
        if _TOKEN.sub("", text).strip():
            raise NumericError(f"{text} is not an expression of +, -, variables and numbers")

    def expect(self, token: str) -> None:
        """The next token is this one; "" for the end."""
        if (self.tokens.pop(0) if self.tokens else "") != token:
            raise NumericError(f"{self.text} cannot be read" + (f": {token} is missing" if token else ""))

    def sum(self) -> int:
        value = self.operand()
        while self.tokens[:1] in (["+"], ["-"]):
            sign = -1 if self.tokens.pop(0) == "-" else 1
            value += sign * self.operand()
        return value

    def operand(self) -> int:
        token = self.tokens.pop(0) if self.tokens else ""
        if token == "(":
            value = self.sum()
            self.expect(")")
            return value
        if token == "-" and self.tokens and self.tokens[0][0].isdigit():
            return -self.operand()
        if token[:1].isdigit():
            return int(token, 16 if token[:2] in ("0x", "0X") else 10)
        if token == "@LINE":
            return self.line
        if self.tokens[:1] == ["("] and token in _FUNCTIONS:
            return self.call(token)
        return self.variable(token)

    def call(self, name: str) -> int:
        self.expect("(")
        a = self.sum()
        self.expect(",")
        b = self.sum()
        self.expect(")")
        if name == "div" and b == 0:
            raise NumericError(f"{self.text} divides by zero")
        return _FUNCTIONS[name](a, b)

    def variable(self, name: str) -> int:
        if not name or name in "+-(),":
            raise NumericError(f"{self.text} cannot be read: a number or a variable is missing")
        found = self.names.get(name)
        if isinstance(found, str):
            raise NumericError(f"{name} stands for a text: [[#{name}:]] reads a number")
        if found is None:
            raise NumericError(f"no line above reads {name}: [[#{name}:]] does")
        self.formats.append(found.format)
        return found.value
