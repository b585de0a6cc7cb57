"""C++ names as people write them: `_ZN2ns4axpyIfEEvPT_i` is `ns::axpy<float>(float*, int)`.

Reads the mangling of the Itanium C++ ABI, which nvcc, clang and NVRTC use, without the expressions that hardly occur in names of kernels.
What it cannot read stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short", "t": "unsigned short",
    "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long", "n": "__int128",
    "o": "unsigned __int128", "f": "float", "d": "double", "e": "long double", "g": "__float128", "z": "...",
    "Dn": "decltype(nullptr)", "Dh": "half", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t", "Da": "auto", "Dc": "decltype(auto)",
}  # fmt: skip
_STANDARD = {
    "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string", "Si": "std::istream", "So": "std::ostream", "Sd": "std::iostream",
}  # fmt: skip
_OPERATORS = {
    "nw": " new", "na": " new[]", "dl": " delete", "da": " delete[]", "ps": "+", "ng": "-", "ad": "&", "de": "*", "co": "~", "pl": "+",
    "mi": "-", "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=", "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=",
    "rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=", "ls": "<<", "rs": ">>", "lS": "<<=", "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<",
    "gt": ">", "le": "<=", "ge": ">=", "ss": "<=>", "nt": "!", "aa": "&&", "oo": "||", "pp": "++", "mm": "--", "cm": ",", "pm": "->*",
    "pt": "->", "cl": "()", "ix": "[]",
}  # fmt: skip
_SUFFIX = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")


class _Unknown(Exception):
    """A mangling that is not read here."""


@dataclass(frozen=True, slots=True)
class _Type:
    """A type as what stands before and behind a declared name: `void (*` and `)(int)`."""

    left: str
    right: str = ""

    def __str__(self) -> str:
        return self.left + self.right

    def pointed(self, mark: str) -> _Type:
        """A pointer or reference to it."""
        if self.right and not self.right.startswith(")"):  # to an array or a function
            return _Type(f"{self.left} ({mark}", f"){self.right}")
        return _Type(self.left + mark, self.right)


@dataclass(frozen=True, slots=True)
class CppName:
    """A demangled name."""

    name: str  # with the scopes and the template's arguments
    parameters: str | None  # with the parentheses; None of a variable

    def __str__(self) -> str:
        return self.name + (self.parameters or "")

    @property
    def parameter_types(self) -> list[str]:
        """The types of the parameters, one by one."""
        found, depth = [""], 0
        for c in (self.parameters or "()").rpartition(")")[0][1:]:
            depth += (c in "(<[{") - (c in ")>]}")
            if c == "," and not depth:
                found.append("")
            else:
                found[-1] += c
        return [t.strip() for t in found if t.strip()]

    @property
    def spellings(self) -> tuple[str, ...]:
        """The name in all lengths, from the whole to the last word."""
        bare = _without_arguments(self.name)
        return str(self), self.name, _last(self.name), bare, _last(bare)


def _without_arguments(name: str) -> str:
    out, depth = "", 0
    for c in re.sub(r"operator(<<=?|>>=?|<=>|<=|>=|<|>|->\*?)", "operator", name):
        depth += c == "<"
        out += c if not depth else ""
        depth -= c == ">"
    return out


def _last(name: str) -> str:
    depth = 0
    for i in range(len(name) - 1, 0, -1):
        depth += (name[i] in ")>}") - (name[i] in "(<{")
        if depth == 0 and name[i - 1 : i + 1] == "::":
            return name[i + 1 :]
    return name


@lru_cache(4096)
def cpp_name(symbol: str) -> CppName | None:
    """The C++ name behind a symbol; None for what is none."""
    if not symbol.startswith("_Z"):
        return None
    reader = _Reader(symbol, 2)
    try:
        found = reader.encoding()
        rest = symbol[reader.at :]
    except (_Unknown, IndexError, RecursionError):
        return None
    if not found.name or (rest and not rest.startswith((".", "$"))):
        return None
    return CppName(_RUST_HASH.sub("", found.name), found.parameters)


def demangled(symbol: str) -> str:
    """The whole C++ name, or the symbol itself."""
    found = cpp_name(symbol)
    return symbol if found is None else str(found)


def short_name(symbol: str) -> str:
    """The C++ name without the parameters, or the symbol itself."""
    found = cpp_name(symbol)
    return symbol if found is None else found.name


def spellings(symbol: str) -> tuple[str, ...]:
    """All that a symbol may be called."""
    found = cpp_name(symbol)
    return (symbol,) if found is None else (symbol, *found.spellings)


def matching(symbols: Iterable[str], word: str) -> list[str]:
    """The symbols that a word can mean: the symbol itself, else those whose C++ name it spells, in the longest form that fits any."""
    said = "".join(word.split())
    names = [(s, ["".join(n.split()) for n in spellings(s)]) for s in symbols]
    for form in range(max((len(own) for _, own in names), default=0)):
        if found := [s for s, own in names if own[form : form + 1] == [said]]:
            return found
    return []


class _Reader:
    """Reads one mangled name, left to right."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.known: list[_Type] = []  # what S_, S0_ ... stand for
        self.arguments: list[str] = []  # what T_, T0_ ... stand for
        self.qualifiers = ""  # of the member function that is read

    # ------------------------------------------------------------ pieces of the text

    def next_is(self, *words: str) -> bool:
        return self.text.startswith(words, self.at)

    def take(self, *words: str) -> str:
        """The first of the words that stands here, "" if none does."""
        for w in words:
            if self.text.startswith(w, self.at):
                self.at += len(w)
                return w
        return ""

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise _Unknown

    def match(self, pattern: str) -> str:
        m = re.compile(pattern).match(self.text, self.at)
        if m is None:
            raise _Unknown
        self.at = m.end()
        return m[0]

    def index(self, base: int = 10) -> int:
        """`_` is 0, `0_` is 1."""
        digits = self.match(r"[0-9A-Z]*_" if base == 36 else r"\d*_")[:-1]
        return int(digits, base) + 1 if digits else 0

    # ------------------------------------------------------------ names

    def encoding(self) -> CppName:
        """A function with its parameters, or a variable."""
        if special := self.take("TV", "TI", "TS", "GV"):
            kind = {"TV": "vtable for ", "TI": "typeinfo for ", "TS": "typeinfo name for ", "GV": "guard variable for "}[special]
            return CppName(kind + (self.name(True)[0] if special == "GV" else str(self.type())), None)
        name, returns = self.name(True)
        if self.at >= len(self.text) or self.next_is("E", ".", "$"):
            return CppName(name, None)
        qualifiers = self.qualifiers
        if returns:
            self.type()
        parameters = []
        while self.at < len(self.text) and not self.next_is("E", ".", "$"):
            parameters.append(str(self.type()))
        return CppName(name, f"({', '.join(p for p in parameters if p != 'void')}){qualifiers}")

    def name(self, outermost: bool = False) -> tuple[str, bool]:
        """A name, and whether it is that of a template, whose return type is mangled, too."""
        if self.take("N"):
            return self.nested(outermost)
        if self.take("Z"):
            whole = str(self.encoding())
            self.expect("E")
            if self.take("s"):
                inner, template = "string literal", False
            else:
                if self.take("d"):
                    self.index()
                inner, template = self.name(outermost)
            if self.next_is("_"):
                self.match(r"__\d+_|_\d")
            return f"{whole}::{inner}", template
        if self.next_is("S") and not self.next_is("St"):
            found = str(self.substitution())
        else:
            found = ("std::" if self.take("St") else "") + self.unqualified("")
            if self.next_is("I"):
                self.known.append(_Type(found))
        if self.next_is("I"):
            return found + self.template_arguments(outermost), True
        return found, False

    def nested(self, outermost: bool) -> tuple[str, bool]:
        qualifiers = self.match("r?V?K?[RO]?")
        current, template, returns = "", False, True
        while not self.take("E"):
            if self.next_is("S") and not self.next_is("St"):
                current = str(self.substitution())
                continue
            if self.take("St"):
                current = "std"
                continue
            if self.next_is("I"):
                current += self.template_arguments(outermost)
                template = True
            elif self.next_is("T"):
                current, template = self.template_parameter(), False
            else:
                returns = not self.next_is("C", "D", "cv")
                part = self.unqualified(current)
                current, template = f"{current}::{part}" if current else part, False
            if not self.next_is("E"):
                self.known.append(_Type(current))
        if outermost:
            marks = (("K", " const"), ("V", " volatile"), ("R", " &"), ("O", " &&"))
            self.qualifiers = "".join(words for q, words in marks if q in qualifiers)
        return current, template and returns

    def unqualified(self, scope: str) -> str:
        self.take("L")
        if self.text[self.at].isdigit():
            name = self.identifier()
            found = "(anonymous namespace)" if name.startswith("_GLOBAL__N") else name
        elif self.next_is("C", "D") and self.match(r"C[1-5]|D[0-5]"):
            own = _last(_without_arguments(scope))
            if not own:
                raise _Unknown
            found = f"~{own}" if self.text[self.at - 2] == "D" else own
        elif self.take("Ul"):
            parameters = []
            while not self.take("E"):
                parameters.append(str(self.type()))
            found = f"{{lambda({', '.join(p for p in parameters if p != 'void')})#{self.index() + 1}}}"
        elif self.take("Ut"):
            found = f"{{unnamed type#{self.index() + 1}}}"
        elif self.take("cv"):
            found = f"operator {self.type()}"
        elif self.take("li"):
            found = f'operator""{self.unqualified("")}'
        else:
            found = "operator" + self.operator()
        while self.take("B"):  # a tag of the ABI: numba's is a hash of a hundred characters
            self.identifier()
        return found

    def identifier(self) -> str:
        length = int(self.match(r"\d+"))
        name = self.text[self.at : self.at + length]
        if not 0 < length == len(name):
            raise _Unknown
        self.at += length
        return name

    def operator(self) -> str:
        word = self.text[self.at : self.at + 2]
        if word not in _OPERATORS:
            raise _Unknown
        self.at += 2
        return _OPERATORS[word]

    # ------------------------------------------------------------ templates and repetitions

    def substitution(self) -> _Type:
        if word := self.take(*_STANDARD):
            return _Type(_STANDARD[word])
        self.expect("S")
        return self.known[self.index(36)]

    def template_parameter(self) -> str:
        self.expect("T")
        i = self.index()
        if i >= len(self.arguments):
            raise _Unknown
        return self.arguments[i]

    def template_arguments(self, outermost: bool = False) -> str:
        self.expect("I")
        found = []
        while not self.take("E"):
            found.append(self.argument())
        if outermost:
            self.arguments = found
        return f"<{', '.join(a for a in found if a)}>"

    def argument(self) -> str:
        if self.take("J"):
            pack = []
            while not self.take("E"):
                pack.append(self.argument())
            return ", ".join(pack)
        if self.take("X"):
            found = self.expression()
            self.expect("E")
            return found
        return self.literal() if self.next_is("L") else str(self.type())

    def literal(self) -> str:
        self.expect("L")
        if self.take("_Z"):
            outer, self.arguments = self.arguments, []
            found = self.encoding()
            self.arguments = outer
            self.expect("E")
            return str(found)
        kind = self.text[self.at]
        t = str(self.type())
        value = self.match("[^E]*").replace("n", "-", 1)
        self.expect("E")
        if t == "bool":
            return {"0": "false", "1": "true"}.get(value, value)
        if t == "decltype(nullptr)":
            return "nullptr"
        return value + _SUFFIX[kind] if kind in _SUFFIX else f"({t}){value}"

    def expression(self) -> str:
        if self.next_is("L"):
            return self.literal()
        if self.next_is("T"):
            return self.template_parameter()
        if self.take("st"):
            return f"sizeof ({self.type()})"
        if self.take("sz"):
            return f"sizeof ({self.expression()})"
        unary = self.next_is("ps", "ng", "ad", "de", "co", "nt")
        word = self.operator()
        first = self.expression()
        return f"{word}({first})" if unary else f"({first}){word}({self.expression()})"

    # ------------------------------------------------------------ types

    def type(self) -> _Type:
        """A type; each but the plain ones can be repeated as S_."""
        if self.next_is("S") and not self.next_is("St"):
            found = self.substitution()
            if not self.next_is("I"):
                return found
            found = _Type(str(found) + self.template_arguments())
        elif word := self.take("DF16_", "DF16b", *(w for w in _BUILTIN if len(w) == 2)):
            return _Type({"DF16_": "_Float16", "DF16b": "std::bfloat16_t"}.get(word) or _BUILTIN[word])
        elif self.text[self.at] in _BUILTIN:
            self.at += 1
            return _Type(_BUILTIN[self.text[self.at - 1]])
        else:
            found = self.compound()
        self.known.append(found)
        return found

    def compound(self) -> _Type:
        if qualifiers := self.match("r?V?K?"):
            inner = self.type()
            words = "".join(w for q, w in (("K", " const"), ("V", " volatile"), ("r", " __restrict")) if q in qualifiers)
            return _Type(inner.left + words, inner.right)
        if mark := self.take("P", "R", "O"):
            inner = self.type()
            if mark != "P" and inner.left.endswith("&"):  # a reference to a reference
                return inner if mark == "O" or not inner.left.endswith("&&") else _Type(inner.left[:-1], inner.right)
            return inner.pointed({"P": "*", "R": "&", "O": "&&"}[mark])
        if self.take("A"):
            size = self.match(r"\d*") or (self.expression() if not self.next_is("_") else "")
            self.expect("_")
            inner = self.type()
            return _Type(inner.left, f" [{size}]{inner.right.lstrip()}")
        if self.take("F"):
            self.take("Y")
            returned = self.type()
            parameters = []
            while not self.take("E"):
                parameters.append(str(self.type()))
            return _Type(str(returned), f"({', '.join(p for p in parameters if p != 'void')})")
        if self.take("M"):
            owner, member = self.type(), self.type()
            return member.pointed(f"{owner}::*") if member.right else _Type(f"{member.left} {owner}::*")
        if self.take("Dp"):
            return self.type()
        if self.take("DT", "Dt"):
            found = _Type(f"decltype({self.expression()})")
            self.expect("E")
            return found
        if self.take("Dv"):
            size = self.match(r"\d+")
            self.expect("_")
            return _Type(f"{self.type()} __vector({size})")
        if self.next_is("T") and not self.next_is("Ts", "Tu", "Te"):
            parameter = self.template_parameter()
            if not self.next_is("I"):
                return _Type(parameter)
            self.known.append(_Type(parameter))
            return _Type(parameter + self.template_arguments())
        if self.take("u"):
            return _Type(self.unqualified(""))
        if self.take("U"):
            qualifier = self.unqualified("")
            return _Type(f"{self.type()} {qualifier}")
        self.take("Ts", "Tu", "Te")
        return _Type(self.name()[0])
