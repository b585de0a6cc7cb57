"""Names and what they stand for: one Scope for the module, a function's parameters, its body and each inner block.

`scope.operands` maps an operand's text to its node and remembers it, so that a text is looked at once in each scope.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from lark.exceptions import UnexpectedInput

from warplab.isa.special import SPECIAL
from warplab.isa.types import ScalarType

from . import shapes
from .flaw import Flaw
from .ir import Address, Function, Immediate, Instruction, Label, Operand, Prototype, Register, Span, SpecialRegister, Targets, Variable
from .making import FastRegister, make_address, make_register

if TYPE_CHECKING:
    from .chunks import Chunk
    from .recipes import Recipe

_NAME = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)
Entity = Register | Variable | Function | Label | Targets | Prototype


_NO_STEMS: dict[str, Stem] = {}
_NO_LABELS: dict[str, Label] = {}
NOWHERE = Span(-1, -1, 0, 0)


class Unresolved:
    """A name without a declaration so far: a label that comes later, or nothing."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Stem:
    """`%r<10>`: ten registers, of which only those that the text uses ever exist."""

    __slots__ = ("count", "span", "type", "vector", "word")

    def __init__(self, count: int, type: ScalarType, vector: int, span: Span) -> None:
        self.count = count
        self.type = type
        self.vector = vector
        self.span = span
        self.word = type.name if vector == 1 else f"{type.name}*{vector}"  # as kinds.kind has it


class Operands(dict[str, Operand]):
    """Operand texts already seen in a scope; an unseen one is resolved on first sight."""

    __slots__ = ("scope", "stems")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.stems = scope.stems

    def __missing__(self, text: str) -> Operand:
        # The next register of a range: what compilers' text asks for with every other instruction.
        stem = text.rstrip("0123456789")
        entry = self.stems.get(stem)
        if entry is not None:
            digits = text[len(stem) :]
            if digits >= "1" and len(digits) < 11 and int(digits) < entry.count:  # a leading zero sorts before "1"
                scope = self.scope
                known = scope.names.get(text)
                if known is not None:
                    self[text] = known
                    return known
                registers = scope.registers
                fresh = FastRegister()
                fresh.name = text
                fresh.type = entry.type
                fresh.vector = entry.vector
                fresh.index = len(registers)
                fresh.span = entry.span
                fresh.__class__ = Register  # type: ignore[assignment]
                made: Register = fresh  # type: ignore[assignment]
                scope.names[text] = self[text] = made
                registers.append(made)
                return made
        elif text[:1] == "[" and text[-1:] == "]":
            # `[N]` and `[N+I]`, two shapes that the grammar knows, put together from parts that it has read before.
            name, plus, offset = text[1:-1].partition("+")
            base = self.get(name)
            if base is None and name.rstrip("0123456789") in self.stems:
                base = self[name]
            number = OFFSETS.get(offset) if plus else 0
            if number is not None and (base.__class__ is Register or base.__class__ is Variable):
                address = self[text] = make_address(base, number)
                return address
        elif text in NUMBERS:
            value = self[text] = NUMBERS[text]
            return value
        return self.slow(text)

    def slow(self, text: str) -> Operand:
        """Looks the text up as a name, else leaves it to the grammar."""
        scope = self.scope
        if (text[-1:] != "]" and "[" in text) or text[:1] == "(":
            raise shapes.Compound
        special = _SPECIALS.get(text)
        if special is not None and scope.lookup(special.name) == _SPECIALS[special.name]:
            self[text] = special
            return special
        found = scope.lookup(text)
        if found is not None:
            self[text] = found
            return found
        plain = text.strip()
        if plain != text:
            value = self[plain]
        elif _NAME.fullmatch(plain):
            return scope.unknown(plain)
        else:
            try:
                values = shapes.build("operands", plain, scope)
            except UnexpectedInput as error:
                raise shapes.Compound from error
            if len(values) != 1:
                raise shapes.Compound
            value = values[0]
            if isinstance(value, Address) and isinstance(value.base, Register):
                m = _OFFSET.fullmatch(plain)
                if m and value.offset < 1 << 16:
                    OFFSETS[m[1]] = value.offset
        if not scope.forward:
            self[text] = value
            if isinstance(value, Immediate) and text[0] in "0123456789-" and len(NUMBERS) < MOST:
                NUMBERS[text] = value
            elif isinstance(value, SpecialRegister) and len(_SPECIALS) < MOST:
                _SPECIALS[text] = value
                _SPECIALS[value.name] = SpecialRegister(value.name)
        return value


class InnerOperands(Operands):
    """Operand texts of a block inside a body: a register of an outer block is found there unless a declaration here hides it."""

    __slots__ = ()

    def __missing__(self, text: str) -> Operand:
        scope = self.scope
        parent = scope.parent
        assert parent is not None
        if not self.stems and text not in scope.names:
            found = parent.operands.get(text)
            if found is None and text[:1] == "%":
                found = parent.lookup(text)
                if isinstance(found, Register) and found.name == text:
                    parent.operands[text] = found
            # Only a plain name or number: any other text might name something that is declared here.
            if isinstance(found, Immediate) or (isinstance(found, Register) and found.name == text):
                self[text] = found
                return found
        return super().__missing__(text)


_OFFSET = re.compile(r"\[[\w$%]+\+([0-9]+)\]", re.ASCII)
OFFSETS: dict[str, int] = {}  # offsets of addresses that the grammar has read
# Texts that mean the same in all scopes, the latter where nothing else has their name.
NUMBERS: dict[str, Immediate] = {}
_SPECIALS: dict[str, SpecialRegister] = {}
MOST = 1 << 16  # texts remembered


class Scope:
    """One block's names.  `forward` collects the names met since it was last emptied that nothing has declared yet."""

    __slots__ = (
        "blocks",
        "chunks",
        "copies",
        "forward",
        "future",
        "names",
        "numbered",
        "operands",
        "outer",
        "parent",
        "pending",
        "registers",
        "stems",
        "told",
        "words",
    )

    def __init__(self, parent: Scope | None, registers: list[Register], inner: bool = False) -> None:
        self.parent = parent
        self.registers = registers  # the function's, shared by its scopes
        self.names: dict[str, Entity] = {}
        self.stems: dict[str, Stem] = _NO_STEMS if inner else {}
        self.pending: list[tuple[Instruction | Targets, str]] = []  # what waits for a label of this name
        self.blocks = int(inner)  # open blocks in it that have no scope of their own so far; an inner scope's is never 0
        self.future: dict[str, Label] = (
            _NO_LABELS if inner else {}
        )  # labels that statements outside of blocks name and that are still to come
        self.forward: list[Unresolved] = parent.forward if parent is not None else []
        self.operands = InnerOperands(self) if inner else Operands(self)
        self.words: dict[str, Recipe | None] = {}  # what statements mean, see bulk.py
        self.outer: dict[str, Entity] = {}  # what such stretches name of the module's
        self.numbered: dict[str, list[str]] = {}  # names by what stands before their numbers, as far as somebody asked
        self.told = 0  # so many of them
        self.copies: dict[str, Scope] = {}  # where operands are looked at that nobody holds yet
        self.chunks: list[Chunk] = []  # stretches whose names have been looked up by kind alone, see chunks.py

    def aside(self, key: str = "") -> Scope:
        """A scope in which the same is declared, and whose registers nobody counts; another one for each key."""
        made = self.copies.get(key)
        if made is None:
            made = self.copies[key] = Scope(self.parent, [])
            made.names = self.names.copy()
            made.stems = made.operands.stems = self.stems
            made.outer = self.outer
            made.forward = []
        return made

    def close(self) -> None:
        """Parts with the memory of texts, and with what else would keep the whole module alive while the collector is off."""
        self.operands.clear()
        self.operands.scope = None  # type: ignore[assignment]
        self.operands = None  # type: ignore[assignment]
        if self.chunks:
            self.chunks = []
            self.parent = Outer(self.outer)
        self.forget_copies()
        self.words = {}

    @contextmanager
    def opened(self) -> Iterator[Operands]:
        """The meaning of texts, of a scope that may be closed."""
        closed = self.operands is None
        if closed:
            self.operands = Operands(self)
        yield self.operands
        if closed:
            self.close()

    def forget(self) -> None:
        """Drops the memory of texts: what follows may mean another thing by them."""
        self.operands.clear()
        self.words.clear()
        self.forget_copies()

    def forget_copies(self) -> None:
        """Drops what aside() made."""
        for made in self.copies.values():
            made.close()
        self.copies.clear()

    def settle(self) -> None:
        """Gives all names their meaning now: a declaration is about to come that may hide one of them."""
        for chunk in self.chunks:
            chunk.settle()
        self.chunks.clear()

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
        register = make_register(name, entry.type, entry.vector, len(self.registers), entry.span)
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
            return shapes.literal(name)
        if not self.blocks:
            label = self.future.get(name)
            if label is None:
                label = self.future[name] = Label(name, NOWHERE)
            self.operands[name] = label
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
        """Enters a register under a free name."""
        made = make_register(name, type, vector, len(self.registers), span)
        self.names[name] = self.operands[name] = made
        self.registers.append(made)
        return made

    def declare(self, name: str, entity: Entity) -> None:
        """Enters a name, or raises Flaw where it is taken in this scope."""
        self.free(name)
        if self.operands or self.words:  # texts seen already may have named something of an outer scope
            self.settle()
            self.forget()
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
            self.operands.pop(name, None)

    def alike(self, stem: str) -> Sequence[str]:
        """The names in this scope that begin with a text, those at least that digits follow."""
        if stem[-1:].isdigit():
            return [n for n in self.names if n.startswith(stem)]
        told, self.told = self.told, len(self.names)
        for name in islice(self.names, told, None):
            self.numbered.setdefault(name.rstrip("0123456789"), []).append(name)
        return self.numbered.get(stem, ())

    def declare_stem(self, name: str, stem: Stem) -> None:
        """Enters a range of registers."""
        taken = self.stems.get(name)
        if taken is None:
            other = next((self.names[n] for n in self.alike(name) if n[len(name) :].isdigit() and int(n[len(name) :]) < stem.count), None)
            if other is None:
                self.settle()
                if self.stems is _NO_STEMS:
                    self.stems = self.operands.stems = {}
                self.stems[name] = stem
                self.forget()
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


class Outer(Scope):
    """What a body that is read names of its module."""

    __slots__ = ()

    def __init__(self, names: dict[str, Entity]) -> None:
        self.names = names
        self.stems = _NO_STEMS
        self.parent = None
