"""Literals and constant expressions, folded as ptxas folds them: 64 bits, signed unless the value or a U says otherwise.

A folded value is a Python int (an unsigned one is `Unsigned`) or a float.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable

from ..ir import Immediate
from .syntax_error import Flaw

MASK = (1 << 64) - 1
SIGN = 1 << 63


class Unsigned(int):
    """A folded value of type .u64."""


Constant = int | float


@functools.lru_cache(maxsize=1 << 16)
def literal(text: str) -> Immediate:
    """The value of one literal, shared by all its uses."""
    if text == "WARP_SZ":
        return Immediate(32, "int", text)
    head = text[:2]
    if head in ("0f", "0F") and len(text) == 10:
        return Immediate(int(text[2:], 16), "f32", text)
    if head in ("0d", "0D") and len(text) == 18:
        return Immediate(int(text[2:], 16), "f64", text)
    digits = text[:-1] if text[-1] == "U" else text
    if head in ("0x", "0X"):
        value = _integer(digits[2:], 16, text)
    elif head in ("0b", "0B"):
        value = _integer(digits[2:], 2, text)
    elif "." in text or "e" in text or "E" in text:
        return Immediate(float(text), "f64", text)
    else:
        value = _integer(digits, 8 if digits[0] == "0" else 10, text)
    return Immediate(value, "int", text)


def _integer(digits: str, base: int, text: str) -> int:
    """The value of digits modulo 2**64; ptxas sees an overflow only where what it has so far has the sign bit and a digit follows."""
    if len(digits) < 17:
        return int(digits, base)
    value = 0
    for digit in digits:
        if value & SIGN:
            raise Flaw("constant-overflow", f"{text[:40]} needs more than 64 bits", text)
        value = (value * base + int(digit, base)) & MASK
    return value


def integer(text: str, bits: int = 32) -> int:
    """The value of a literal that counts something."""
    value = literal(text).value
    assert isinstance(value, int)
    if value >> bits:
        raise Flaw("constant-overflow", f"{text} needs more than {bits} bits", str(text))
    return value


def constant(i: Immediate) -> Constant:
    """An immediate as a value to calculate with."""
    if i.kind == "f32":  # ptxas calculates with the pattern of the single as if it were that of a double
        return float(struct.unpack("<d", struct.pack("<Q", i.value))[0])
    if i.kind == "f64":
        return i.value if isinstance(i.value, float) else float(struct.unpack("<d", struct.pack("<Q", i.value))[0])
    assert isinstance(i.value, int)
    return Unsigned(i.value) if i.value >= SIGN or i.text.endswith("U") else i.value


def signed(value: int) -> int:
    """The low 64 bits as a signed number."""
    value &= MASK
    return value - (1 << 64) if value & SIGN else value


def _typed(value: int, unsigned: bool) -> int:
    return Unsigned(value & MASK) if unsigned else signed(value)


def _divide(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def binary(op: str, a: Constant, b: Constant) -> Constant:
    """a op b."""
    if isinstance(a, float) and isinstance(b, float):
        return _float_binary(op, a, b)
    if isinstance(a, float) or isinstance(b, float):
        raise Flaw("not-a-constant", f"{op} needs two integers or two floating-point numbers, not one of each")
    unsigned = isinstance(a, Unsigned) or isinstance(b, Unsigned)
    if op in _COMPARE:
        x, y = (a & MASK, b & MASK) if unsigned else (signed(a), signed(b))
        return int(_COMPARE[op](x, y))
    if op == "<<":
        return _typed((a & MASK) << (b & 63), isinstance(a, Unsigned))
    if op == ">>":
        return _typed((a & MASK if isinstance(a, Unsigned) else signed(a)) >> (b & 63), isinstance(a, Unsigned))
    if op in "/%" and not b & MASK:
        raise Flaw("division-by-zero", "a constant expression divides by zero")
    if op == "/":
        return _typed((a & MASK) // (b & MASK) if unsigned else _divide(signed(a), signed(b)), unsigned)
    if op == "%":
        return Unsigned((a & MASK) % (b & MASK))
    if op == "&&":
        return int(bool(a) and bool(b))
    if op == "||":
        return int(bool(a) or bool(b))
    return _typed(_ARITHMETIC[op](a, b), unsigned)


_COMPARE: dict[str, Callable[[Constant, Constant], bool]] = {
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
}  # fmt: skip


def _float_binary(op: str, a: float, b: float) -> Constant:
    if op in _COMPARE:
        return int(_COMPARE[op](a, b))
    if op == "+":
        return a + b
    if op == "-":
        return a - b
    if op == "*":
        return a * b
    if op == "/":
        if not b:
            raise Flaw("division-by-zero", "a constant expression divides by zero")
        return a / b
    raise Flaw("not-a-constant", f"the operator {op} needs integers")


def prefix(op: str, a: Constant) -> Constant:
    """op a."""
    if op == "+":
        return a
    if isinstance(a, float):
        if op == "-":
            return -a
        raise Flaw("not-a-constant", f"the operator {op} needs integers")
    if op == "!":
        return int(not a)
    return _typed(-a, isinstance(a, Unsigned)) if op == "-" else Unsigned(~a & MASK)


def cast(word: str, a: Constant) -> Constant:
    """(.s64) a or (.u64) a."""
    if word not in (".s64", ".u64") or isinstance(a, float):
        raise Flaw("not-a-constant", "a cast makes .s64 or .u64 of an integer", word)
    return _typed(a, word == ".u64")


def choose(test: Constant, yes: Constant, no: Constant) -> Constant:
    """test ? yes : no."""
    if isinstance(test, float) or isinstance(yes, float) or isinstance(no, float):
        raise Flaw("not-a-constant", "? : needs integers")
    return yes if test else no
