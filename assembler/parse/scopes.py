"""Names and what they stand for: one Scope for the module, a function's parameters, its body and each inner block.

A Scope maps an operand's text to its node, so that a text is read once in each scope: registers, numbers and `[%r+n]` by themselves, any
other text by lark.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from itertools import islice

from warplab.isa.foreign import in_ptx
from warplab.isa.special import COMPONENTS, SPECIAL
from warplab.isa.types import ScalarType

from ..diagnostics import nearest
from ..ir import Address, Function, Immediate, Instruction, Label, Operand, Prototype, Register, Span, SpecialRegister, Targets, Variable
from .constants import literal
from .operand_builders import operands_of
from .syntax_error import Flaw, Unexpected
from .trees import tree_of

_NAME = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,17}")  # below 2**63
_BITS = re.compile(r"0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}|0[xX][0-9A-Fa-f]{1,16}")
Entity = Register | Variable | Function | Label | Targets | Prototype


_NO_STEMS: dict[str, Stem] = {}
_NO_LABELS: dict[str, Label] = {}
NOWHERE = Span(-1, -1, 0, 0)


class Compound(Exception):
    """A text between commas that is not an operand by itself."""


class Unresolved:
    """A name without a declaration so far: a label that comes later, or nothing."""

    __slots__ = ("name",)
    category = "unresolved"

    def __init__(self, name: str) -> None:
        self.name = name


class Stem:
    """`%r<10>`: ten registers, of which only those that the text uses ever exist."""

    __slots__ = ("count", "span", "type", "vector")

    def __init__(self, count: int, type: ScalarType, vector: int, span: Span) -> None:
        self.count = count
        self.type = type
        self.vector = vector
        self.span = span


@functools.cache
def _special() -> tuple[str, ...]:
    """The special registers as an operand names them."""
    return tuple(f"{row.name}{c}" for row in SPECIAL.values() for c in ([f".{x}" for x in COMPONENTS] if row.vector else [""]))


def _meant(name: str, known: Sequence[str]) -> str:
    """The known name that a person most likely meant, as a question; "" if none is near."""
    near = next((k for k in known if k.lower() == name.lower()), None) or nearest(name, known)
    return f"is {near} meant?" if near else ""


class Scope(dict[str, Operand]):
    """One block's names, and the operand texts read in it.

    `forward` collects the names met since it was last emptied that nothing has declared yet.
    """

    __slots__ = ("blocks", "counted", "forward", "future", "names", "numbered", "parent", "pending", "registers", "stems")

    def __init__(self, parent: Scope | None, registers: list[Register], inner: bool = False) -> None:
        self.parent = parent
        self.registers = registers  # the function's, shared by its scopes
        self.names: dict[str, Entity] = {}
        self.stems: dict[str, Stem] = _NO_STEMS if inner else {}
        self.pending: list[tuple[Instruction | Targets, str]] = []  # what waits for a label of this name
        self.blocks = int(inner)  # open blocks in it that have no scope of their own so far; an inner scope's is never 0
        # Labels that statements outside of blocks name before they are declared.
        self.future: dict[str, Label] = _NO_LABELS if inner else {}
        self.forward: list[Unresolved] = parent.forward if parent is not None else []
        self.numbered: dict[str, list[str]] = {}  # names by what stands before their numbers, entered when `alike` is called
        self.counted = 0  # names that `numbered` holds

    # ------------------------------------------------------------ operand texts

    def __missing__(self, text: str) -> Operand:
        stem = text.rstrip("0123456789")
        entry = self.stems.get(stem)
        if entry is not None:  # a register of a range
            digits = text[len(stem) :]
            if digits >= "1" and len(digits) < 11 and int(digits) < entry.count:  # a leading zero sorts before "1"
                made = self.names.get(text)
                if made is None:
                    made = self.names[text] = Register(text, entry.type, entry.vector, len(self.registers), entry.span)
                    self.registers.append(made)
                self[text] = made
                return made
        elif text[:1] == "[" and text[-1:] == "]":
            name, plus, offset = text[1:-1].partition("+")
            if not plus or _DECIMAL.fullmatch(offset):
                base = self.get(name) or self.lookup(name)
                if isinstance(base, (Register, Variable)):
                    address = self[text] = Address(base, int(offset or 0))
                    return address
        elif _DECIMAL.fullmatch(text) or _BITS.fullmatch(text):
            number = self[text] = literal(text)
            return number
        elif text[:1] == "-" and _DECIMAL.fullmatch(text, 1):
            negative = self[text] = Immediate(int(text), "int")
            return negative
        return self.slow(text)

    def slow(self, text: str) -> Operand:
        """Looks the text up as a name, else leaves it to the grammar."""
        if (text[-1:] != "]" and "[" in text) or text[:1] == "(":
            raise Compound
        found = self.lookup(text)
        if found is not None:
            self[text] = found
            return found
        plain = text.strip()
        if plain != text:
            value = self[plain]
        elif _NAME.fullmatch(plain):
            return self.unknown(plain)
        else:
            try:
                values = operands_of(tree_of(plain, "operands"), self)
            except Unexpected as error:
                raise Compound from error
            if len(values) != 1:
                raise Compound
            value = values[0]
        if not self.forward:
            self[text] = value
        return value

    # ------------------------------------------------------------ names

    def own(self, name: str) -> Entity | None:
        """What this very scope declares under the name; a register of a range comes into being here."""
        found = self.names.get(name)
        if found is not None or not self.stems:
            return found
        # As ptxas does: all digits at the end are the number, so a range `a1<3>` declares nothing that can be named.
        stem = name.rstrip("0123456789")
        entry = self.stems.get(stem)
        if entry is None or stem == name or len(name) - len(stem) > 20:
            return None
        number = int(name[len(stem) :])
        return self._materialise(name, stem, number, entry) if number < entry.count else None

    def _materialise(self, name: str, stem: str, number: int, entry: Stem) -> Register:
        plain = f"{stem}{number}"
        if plain != name:  # %r01 is %r1
            found = self.own(plain)
            assert isinstance(found, Register)
            return found
        register = Register(name, entry.type, entry.vector, len(self.registers), entry.span)
        self.registers.append(register)
        self.names[name] = register
        return register

    def lookup(self, name: str) -> Operand | None:
        """What the name stands for in this scope; a label is looked up when its block is complete."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.own(name)
            if found is not None:
                return found
            scope = scope.parent
        return SpecialRegister(name) if name in SPECIAL else None

    def unknown(self, name: str) -> Operand:
        """Stands for a name that nothing has declared so far."""
        if name == "WARP_SZ":
            return literal(name)
        if not self.blocks:
            label = self.future.get(name)
            if label is None:
                label = self.future[name] = Label(name, NOWHERE)
            self[name] = label
            return label
        value = Unresolved(name)
        self.forward.append(value)
        return value  # type: ignore[return-value]

    def free(self, name: str) -> None:
        """Raises Flaw where a name is taken in this scope."""
        taken = self.own(name)
        if taken is not None:
            raise Flaw("duplicate-name", f"{name} is declared twice in this scope", name, other=taken.span)

    def enter(self, name: str, type: ScalarType, vector: int, span: Span) -> Register:
        """Declares a register."""
        made = Register(name, type, vector, len(self.registers), span)
        self.declare(name, made)
        self.registers.append(made)
        return made

    def declare(self, name: str, entity: Entity) -> None:
        """Enters a name, or raises Flaw where it is taken in this scope."""
        self.free(name)
        self.clear()  # texts read already may have named something of an outer scope
        self.names[name] = entity

    def declare_label(self, name: str, label: Label) -> None:
        """Enters a label; it may hide one of an outer block, but no other name of its own."""
        taken = self.own(name)
        if isinstance(taken, Register) and name.rstrip("0123456789") in self.stems:
            return  # ptxas lets a label have the name of a register of a range, and finds the register
        if taken is not None:
            raise Flaw("duplicate-label", f"{name} is declared twice in this scope", name, other=taken.span)
        self.names[name] = label
        if self.parent is not None and self.parent.parent is not None and self.blocks:
            self.pop(name, None)

    def alike(self, stem: str) -> Sequence[str]:
        """The names in this scope that begin with a text, those at least that digits follow."""
        if stem[-1:].isdigit():
            return [n for n in self.names if n.startswith(stem)]
        start, self.counted = self.counted, len(self.names)
        for name in islice(self.names, start, None):
            self.numbered.setdefault(name.rstrip("0123456789"), []).append(name)
        return self.numbered.get(stem, ())

    def declare_stem(self, name: str, stem: Stem) -> None:
        """Enters a range of registers."""
        taken = self.stems.get(name)
        if taken is None:
            other = next((self.names[n] for n in self.alike(name) if n[len(name) :].isdigit() and int(n[len(name) :]) < stem.count), None)
            if other is None:
                if self.stems is _NO_STEMS:
                    self.stems = {}
                self.stems[name] = stem
                self.clear()
                return
            raise Flaw("duplicate-name", f"{other.name} is declared twice in this scope", name, other=other.span)
        raise Flaw("duplicate-name", f"{name}<...> is declared twice in this scope", name, other=taken.span)

    def known(self) -> list[str]:
        """Names that one may have meant."""
        out: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            out += scope.names
            scope = scope.parent
        return out

    def hint(self, name: str) -> str:
        """What may have been meant by a name that nothing declares."""
        if not name.startswith("%") and self.lookup(f"%{name}") is not None:
            return f"is %{name} meant?"
        if foreign := in_ptx(name):
            return foreign
        said = _meant(name, self.known()) or self.range_hint(name)
        if said or not name.startswith("%"):
            return said
        return _meant(name, _special()) or f"a register is declared before its first use, as in .reg .b32 {name};"

    def range_hint(self, name: str) -> str:
        """Why a numbered name lies outside of its range."""
        scope: Scope | None = self
        stem = name.rstrip("0123456789")
        while scope is not None:
            entry = scope.stems.get(stem)
            if entry is not None and stem != name:
                return (
                    f"{stem}<{entry.count}> declares {stem}0 to {stem}{entry.count - 1}" if entry.count else f"{stem}<0> declares nothing"
                )
            scope = scope.parent
        return ""


class Inner(Scope):
    """The names of a block inside a body: a register of an outer block is found there unless a declaration here hides it."""

    __slots__ = ()

    def __init__(self, parent: Scope) -> None:
        super().__init__(parent, parent.registers, inner=True)

    def __missing__(self, text: str) -> Operand:
        parent = self.parent
        assert parent is not None
        if not self.stems and text not in self.names:
            found = parent.get(text)
            if found is None and text[:1] == "%":
                found = parent.lookup(text)
                if isinstance(found, Register) and found.name == text:
                    parent[text] = found
            # Only a plain name or number: any other text might name something that is declared here.
            if isinstance(found, Immediate) or (isinstance(found, Register) and found.name == text):
                self[text] = found
                return found
        return super().__missing__(text)
