"""Expressions over the registers, special registers and cells of many lanes at once: `%r5 > 3 && tid.x == 7`, in C's words.

e  ::=  e || e  |  e && e  |  e (| ^ & == != < <= > >= << >> + - * / %) e  |  (! ~ -) e  |  (e)
     |  %r5  |  $r5  |  tid.x  |  path  |  12  |  0x1f  |  1.5  |  f(e)      f: isnan isinf abs, or a type, which reinterprets bits
path  ::=  name  |  path[e]  |  path.name  |  path->name  |  *path  |  &path  |  (path)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warplab.isa.types import TYPES

from ..errors import UsageError

Array = NDArray[Any]
WORD = re.compile(
    r"\s*(?:(?P<register>[%$][A-Za-z_$%][\w$.]*)|(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_$][\w$.]*)"
    r"|(?P<op>\|\||&&|==|!=|<=|>=|<<|>>|->|\.(?=[A-Za-z_])|[-+*/%&|^~!<>()\[\]]))"
)
LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
SPECIALS = frozenset({f"{r}.{axis}" for r in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"} | {"laneid", "warpid"})
DEEPEST = 64  # brackets in one another


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of a path: "member" by its name, "element" by one of the indices, "pointed", "address"."""

    kind: str
    name: str = ""
    index: int = 0


class NamedVariables(Protocol):
    """The variables of the source."""

    def knows(self, name: str, lane: int, step: int, frame: tuple[str, int]) -> bool:
        """Is there one of this name in a call of a thread?"""

    def mentions(self, name: str) -> bool:
        """Is there one of this name anywhere?"""

    def column(
        self, name: str, steps: Sequence[PathStep], indices: Sequence[Array], lanes: NDArray[np.int64], step: int, frame: tuple[str, int]
    ) -> Array:
        """What a path leads to, for each of some lanes."""


class LaneValues(Protocol):
    """Where an expression is evaluated: some lanes at one step."""

    def register(self, name: str) -> Array:
        """What they hold in a register."""

    def special(self, name: str) -> Array:
        """What they read from a special register."""

    def cell(self, name: str, index: Array | None) -> Array:
        """An element of an object in memory, for each of them."""

    def path(self, name: str, steps: tuple[PathStep, ...], indices: tuple[Array, ...]) -> Array:
        """What a path of the source leads to, for each of them."""

    def only(self, chosen: NDArray[np.bool_]) -> LaneValues:
        """Some of them."""

    @property
    def count(self) -> int:
        """How many they are."""


@dataclass(frozen=True, slots=True)
class LaneExpression:
    """One operation."""

    kind: str  # number register special cell path call unary binary
    word: str
    parts: tuple[LaneExpression, ...] = ()
    value: int | float = 0
    steps: tuple[PathStep, ...] = ()  # of a path; its parts are the indices

    def evaluate(self, at: LaneValues) -> Array:
        """Its value for each lane."""
        match self.kind:
            case "number":
                return np.full(at.count, self.value)
            case "register":
                return _wide(at.register(self.word))
            case "special":
                return _wide(at.special(self.word))
            case "cell":
                return _wide(at.cell(self.word, self.parts[0].evaluate(at) if self.parts else None))
            case "path":
                return _wide(at.path(self.word, self.steps, tuple(p.evaluate(at) for p in self.parts)))
            case "call":
                return _called(self.word, self.parts[0], at)
            case "unary":
                v = self.parts[0].evaluate(at)
                return (
                    ~truth(v)
                    if self.word == "!"
                    else -v.astype(np.int64 if v.dtype.kind == "b" else v.dtype)
                    if self.word == "-"
                    else ~_integer(v, "~")
                )
            case _:
                return self._binary(at)

    def _binary(self, at: LaneValues) -> Array:
        left, right = self.parts
        if self.word in ("&&", "||"):
            if self.word == "&&" and right.cost < left.cost:
                left, right = right, left
            out = truth(left.evaluate(at))
            rest = out if self.word == "&&" else ~out
            if rest.any():
                out[rest] = truth(right.evaluate(at.only(rest)))
            return out
        a, b = left.evaluate(at), right.evaluate(at)
        if self.word in ("|", "^", "&", "<<", ">>"):
            a, b = _integer(a, self.word), _integer(b, self.word)
        if self.word in ("/", "%") and a.dtype.kind in "ib" and b.dtype.kind in "ib":
            safe = np.where(b == 0, 1, b)
            q = np.abs(a) // np.abs(safe) * np.sign(a) * np.sign(safe)
            return np.where(b == 0, 0, q if self.word == "/" else a - q * safe)
        with np.errstate(all="ignore"):
            out = _OPERATORS[self.word](a, b)
        return out

    @property
    def cost(self) -> int:
        """What is cheap is evaluated first: where it decides, the rest is not looked at."""
        own = {"register": 1, "cell": 10, "path": 10}.get(self.kind, 0)
        return own + sum(p.cost for p in self.parts)

    @property
    def cells(self) -> bool:
        """Does it look at memory, or at names that may be cells?"""
        return self.kind in ("cell", "path") or any(p.cells for p in self.parts)

    @property
    def registers(self) -> frozenset[str]:
        """The registers in it."""
        own = {self.word} if self.kind == "register" else set()
        return frozenset(own.union(*[p.registers for p in self.parts]))

    def then(self, step: PathStep, index: LaneExpression | None = None) -> LaneExpression:
        """A path that is longer by a step."""
        steps = self.steps or tuple(PathStep("element", index=n) for n in range(len(self.parts)))
        if index is None:
            return LaneExpression("path", self.word, self.parts, steps=(*steps, step))
        return LaneExpression("path", self.word, (*self.parts, index), steps=(*steps, PathStep("element", index=len(self.parts))))


def _shift(f: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: f(a, np.clip(b, 0, 63))


_OPERATORS: dict[str, Callable[[Array, Array], Array]] = {
    "|": np.bitwise_or, "^": np.bitwise_xor, "&": np.bitwise_and, "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal, "<<": _shift(np.left_shift), ">>": _shift(np.right_shift), "+": lambda a, b: a + b,
    "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": np.true_divide, "%": np.fmod,
}  # fmt: skip


def truth(v: Array) -> NDArray[np.bool_]:
    """What is not zero."""
    return v if v.dtype.kind == "b" else v != 0


def _wide(v: Array) -> Array:
    """Integers as 64 bits and floats as doubles, so that C's promotions need no thought."""
    if v.dtype.kind in "iu":
        return v.astype(np.int64)
    return v.astype(np.float64) if v.dtype.kind == "f" else v


def _integer(v: Array, word: str) -> Array:
    if v.dtype.kind == "f":
        raise UsageError(f"{word} needs integers, and one of its sides is a floating-point number")
    return v.astype(np.int64)


def _called(name: str, part: LaneExpression, at: LaneValues) -> Array:
    if name in ("isnan", "isinf", "abs"):
        v = part.evaluate(at)
        return np.abs(v) if name == "abs" else (np.isnan if name == "isnan" else np.isinf)(v.astype(np.float64))
    t = TYPES[name]
    raw = at.register(part.word) if part.kind == "register" else at.cell(part.word, part.parts[0].evaluate(at) if part.parts else None)
    bits = raw.view(np.uint8) if raw.dtype.kind == "b" else raw.view(f"u{raw.dtype.itemsize}")
    kind = t.dtype if t.elements == 1 else np.dtype(f"u{t.bytes}")
    return _wide(bits.astype(f"u{kind.itemsize}").view(kind))


class _ExpressionReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.words: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text.rstrip()):
            m = WORD.match(text, at)
            if m is None:
                raise self.wrong(at + len(text[at:]) - len(text[at:].lstrip()), "a register, a number, a name or an operator is expected")
            kind = str(m.lastgroup)
            self.words.append((kind, m[kind], m.start(kind)))
            at = m.end()
        self.at = 0
        self.depth = 0

    def wrong(self, at: int, why: str) -> UsageError:
        """An error with a caret."""
        return UsageError(f"{why}\n  {self.text}\n  {' ' * at}^")

    def peek(self) -> tuple[str, str, int]:
        """The next word."""
        return self.words[self.at] if self.at < len(self.words) else ("end", "", len(self.text))

    def take(self, word: str) -> None:
        """A word that must come."""
        if self.peek()[1] != word:
            raise self.wrong(self.peek()[2], f"`{word}` is expected")
        self.at += 1

    def level(self, n: int) -> LaneExpression:
        """Operators of one strength and above."""
        if n == len(LEVELS):
            return self.unary()
        out = self.level(n + 1)
        while self.peek()[0] == "op" and self.peek()[1] in LEVELS[n]:
            word = self.peek()[1]
            self.at += 1
            out = LaneExpression("binary", word, (out, self.level(n + 1)))
        return out

    def unary(self) -> LaneExpression:
        """A sign, or a single thing."""
        kind, word, at = self.peek()
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.wrong(at, "the expression is nested too deeply")
        try:
            if kind == "op" and word in ("-", "!", "~"):
                self.at += 1
                return LaneExpression("unary", word, (self.unary(),))
            if kind == "op" and word in ("*", "&"):
                self.at += 1
                inner = self.unary()
                if inner.kind not in ("cell", "path"):
                    raise self.wrong(at, f"{word} needs a variable of the source")
                return inner.then(PathStep("pointed" if word == "*" else "address"))
            self.at += 1
            match kind:
                case "number":
                    return LaneExpression(
                        "number",
                        word,
                        (),
                        int(word, 16) if word[:2] in ("0x", "0X") else float(word) if re.search("[.eE]", word) else int(word),
                    )
                case "register":
                    name = "%" + word[1:]
                    return LaneExpression("special", name[1:]) if name[1:] in SPECIALS else LaneExpression("register", name)
                case "name":
                    return self.named(word, at)
                case "op" if word == "(":
                    inner = self.level(0)
                    self.take(")")
                    return self.postfix(inner) if inner.kind in ("cell", "path") else inner
            raise self.wrong(at, "a register, a number or a name is expected")
        finally:
            self.depth -= 1

    def named(self, word: str, at: int) -> LaneExpression:
        """A special register, a function, or an object in memory."""
        following = self.peek()[1]
        if following == "(":
            if word not in ("isnan", "isinf", "abs") and word not in TYPES:
                raise self.wrong(at, f"there is no function {word}; there are isnan, isinf, abs and the types of PTX, such as f32")
            self.take("(")
            inner = self.level(0)
            self.take(")")
            if word in TYPES and inner.kind not in ("register", "cell"):
                raise self.wrong(at, f"{word}(...) reinterprets the bits of a register or of an element of an array")
            return LaneExpression("call", word, (inner,))
        if word in SPECIALS:
            return LaneExpression("special", word)
        base, *members = word.split(".")
        if "" in members:
            raise self.wrong(at + len(word), "the name of a member is expected")
        out = LaneExpression("cell", base)
        for m in members:
            out = out.then(PathStep("member", m))
        return self.postfix(out)

    def postfix(self, out: LaneExpression) -> LaneExpression:
        """A path with the steps that follow it."""
        while (word := self.peek()[1]) in ("[", "->", ".") and self.peek()[0] == "op":
            self.at += 1
            if word == "[":
                index = self.level(0)
                self.take("]")
                is_first = out.kind == "cell" and not out.parts
                out = LaneExpression("cell", out.word, (index,)) if is_first else out.then(PathStep("element"), index)
                continue
            kind, name, at = self.peek()
            if kind != "name" or "" in name.split("."):
                raise self.wrong(at, "the name of a member is expected")
            self.at += 1
            for m in name.split("."):
                out = out.then(PathStep("member", m))
        return out


def parse_expression(text: str) -> LaneExpression:
    """An expression of a text."""
    reader = _ExpressionReader(text)
    if not reader.words:
        raise UsageError("an expression is expected, such as %r5 > 3 && tid.x == 7")
    out = reader.level(0)
    if reader.peek()[0] != "end":
        raise reader.wrong(reader.peek()[2], "an operator is expected")
    return out
