"""What an operand is, in one short word that holds all that matters for the verdict on an instruction: `u32`, `#int`, `{b32,b32}`, `[u64]`.

`kind` gives the word of an operand, `Words` that of each token of a text: statements with equal words have the same layout and the same
verdict, so that a statement whose words have been met before costs one look-up.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from lark.exceptions import UnexpectedInput

from warplab.isa.notation import FORMS

from . import shapes
from .flaw import Flaw
from .heads import HEADS, Slow, head_of
from .ir import (
    Address,
    Arguments,
    Element,
    Function,
    Immediate,
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
)
from .patterns import NAME
from .scopes import NUMBERS, OFFSETS

if TYPE_CHECKING:
    from .scopes import Scope


def kind(operand: Operand) -> str:
    """All that the verdict on an instruction depends on, in one word."""
    match operand:
        case Register(type=t, vector=n):
            return t.name if n == 1 else f"{t.name}*{n}"
        case Immediate(kind="int"):
            return "#int"
        case Immediate(kind=k, value=v):
            return "#f32" if k == "f32" else "#f64" if isinstance(v, int) else "#decimal"
        case Element(register=r, part=part):
            return f"{kind(r)}.{part}"
        case SpecialRegister(name=name, component=part):
            return f"{name}.{part}"
        case Sink():
            return "_"
        case Negated(register=r):
            return "!" + kind(r)
        case Minus(operand=inner):
            return "-" + kind(inner)
        case Plus(register=r):
            return kind(r) + "+n"
        case Pair(first=a, second=b):
            return f"{kind(a)}|{kind(b)}"
        case Vector(elements=elements):
            return "{" + ",".join(map(kind, elements)) + "}"
        case Arguments(elements=elements):
            return "(" + ",".join(map(kind, elements)) + ")"
        case Address(base=base, parts=parts):
            return "[" + ",".join(("#" if base is None else kind(base), *map(kind, parts))) + "]"
        case Variable(space=space, type=t):
            return f"{space}:{t.name}"
        case Symbol(target=target):
            return kind(target) + "+"
        case Function(is_entry=is_entry):
            return "entry" if is_entry else "func"
        case Label():
            return "label"
        case Targets(kind=k):
            return k + "targets"
        case Prototype():
            return "prototype"
    return type(operand).__name__


KINDS = {"#int", "label"}  # the words of single tokens that may be operands, or parts of a vector
NAMING: set[str] = set()  # those of them that name variables or functions
_NAME = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)
_DOTTED = re.compile(r"[.({}\"|+=:]|\w+\.[A-Za-z]", re.ASCII)  # what is no operand, or one that the grammar had better read
REGISTERS: dict[str, str] = {}  # the words of registers, each with that of an address in such a register
_KINDS_OF_NUMBERS: dict[str, str] = {}
# What means the same in all scopes: commas and opcodes; those without modifiers, if nothing has their name.
COMMON = {",": ",", "$" + NAME: "label", **dict.fromkeys(map(str, range(33)), "#int")}
NAMES: dict[str, list[str]] = {}  # what a declaration of a name would take from them


class Unreadable(Exception):
    """A token that stands for nothing by itself."""


class Words(dict[str, str]):
    """The words of the tokens of one scope; a token is looked at when it is first met.

    Commas are tokens, and stand for themselves, as opcodes do with their modifiers.  `@%p`, `{%r` and `%r}` are tokens as well.
    """

    __slots__ = ("hidden", "scope", "stems")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.stems = scope.stems
        self.hidden = {token for name in hidden(scope) for token in NAMES[name]}

    def __missing__(self, token: str) -> str:
        word = COMMON.get(token)
        if word is not None and token not in self.hidden:
            return word
        first = token[:1]
        if first == "[" and token[-1] == "]":
            name, plus, offset = token[1:-1].partition("+")
            if not plus or offset in OFFSETS:
                base = self.get(name)
                if base is None:
                    variable = self.scope.names.get(name)
                    if variable.__class__ is Variable:
                        word = self[token] = f"[{variable.space}:{variable.type.name}]"
                        KINDS.add(word)
                        NAMING.add(word)
                        return word
                    if name.rstrip("0123456789") in self.stems:
                        base = self[name]
                if base is not None and (found := REGISTERS.get(base)) is not None:
                    self[token] = found
                    return found
        elif first == "$":  # as compilers call labels
            scope = self.scope
            if not (token in scope.names or token in scope.parent.names or scope.blocks):  # type: ignore[union-attr]
                if not _NAME.fullmatch(token):
                    raise Unreadable
                scope.unknown(token)
                self[token] = "label"
                return "label"
        elif first == "@":
            word = self[token.lstrip("@!")]
            if word in REGISTERS and token.count("!") < 2:
                self[token] = found = ("@!" if token[1] == "!" else "@") + word
                return found
            raise Unreadable
        elif not token:  # behind an @ or a |
            raise Unreadable
        elif token in NUMBERS:
            word = self[token] = _KINDS_OF_NUMBERS.get(token) or self.number(token)
            return word
        else:
            # The next register of a range.
            stem = token.rstrip("0123456789")
            entry = self.stems.get(stem)
            if entry is not None:
                digits = token[len(stem) :]
                if (digits >= "1" or digits == "0") and len(digits) < 11 and int(digits) < entry.count:  # a leading zero sorts before "1"
                    word = self[token] = entry.word
                    if word not in REGISTERS:
                        _learn(word)
                    return word
        word = self[token] = self.other(token)
        return word

    def number(self, token: str) -> str:
        """The word of a number that some text had before."""
        word = _KINDS_OF_NUMBERS[token] = kind(NUMBERS[token])
        KINDS.add(word)
        return word

    def other(self, token: str) -> str:
        """The word of a token that is none of the usual ones."""
        if token[0] == "{" or token[-1] == "}":
            inner = self[token.removeprefix("{").removesuffix("}") or ","]
            if inner not in KINDS:
                raise Unreadable
            return "{" * (token[0] == "{") + inner + "}" * (token[-1] == "}")
        one, bar, two = token.partition("|")
        if bar and two and (word := f"{self[one]}|{self[two]}") in KINDS:
            return word
        scope = self.scope
        numbered = token[-1].isdigit() and token.rstrip("0123456789") in self.stems
        if not numbered and token not in scope.names and (scope.parent is None or scope.parent.lookup(token) is None):
            if token.partition(".")[0] in FORMS:
                with suppress(Slow):
                    head_of(token)
                if token in HEADS:
                    if len(COMMON) < 512:
                        COMMON[token] = token
                        NAMES[token] = [token]
                    return token
            if _DOTTED.match(token):
                raise Unreadable
            if token not in scope.operands and not scope.blocks and _NAME.fullmatch(token) and token != "WARP_SZ":
                scope.unknown(token)
                return "label"
        return self.operand(token)

    def operand(self, token: str) -> str:
        """The word of an operand that the grammar reads, in a scope apart: registers are numbered when their statements are made."""
        aside = self.scope.aside()
        try:
            operand = aside.operands[token]
        except (Flaw, UnexpectedInput, shapes.Compound, ValueError) as error:
            raise Unreadable from error
        word = kind(operand)
        if aside.future or aside.forward:
            self.scope.forget_copies()
            raise Unreadable
        if " " in word or ";" in word or token in HEADS:
            raise Unreadable
        if isinstance(operand, Register):
            _learn(word)
        KINDS.add(word)
        if isinstance(operand, SpecialRegister) and len(COMMON) < 512:
            COMMON[token] = word
            NAMES.setdefault(operand.name, []).append(token)
        elif isinstance(operand, (Variable, Function, Symbol, Address, Targets)):
            NAMING.add(word)
            named = operand.base if isinstance(operand, Address) else operand.target if isinstance(operand, Symbol) else operand
            if isinstance(named, (Variable, Function)) and self.scope.names.get(named.name) is not named:
                self.scope.outer[named.name] = named
        return word


def hidden(scope: Scope) -> set[str]:
    """The names of common tokens that a body or its module gives to something else."""
    found = NAMES.keys() & scope.names.keys()
    if scope.parent is not None:
        found |= NAMES.keys() & scope.parent.names.keys()
    return found


def _learn(word: str) -> None:
    """Enters the kind of a register."""
    REGISTERS[word] = f"[{word}]"
    KINDS.update((word, f"[{word}]"))
