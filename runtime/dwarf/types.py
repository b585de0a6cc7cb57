"""Types of the source, and its functions, scopes and variables, as DWARF describes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

ADDRESS = 8  # bytes of a pointer
DEEPEST = 64  # aliases of aliases: what is damaged may go in a circle


@dataclass(eq=False)
class VariableType:
    """A type.  `kind`: base, pointer, reference, struct, array, enum, void, or alias, which stands for its target."""

    kind: str
    name: str = ""
    size: int = 0
    encoding: str = ""  # of a base type: float, signed, unsigned, bool, char
    target: VariableType | None = None  # what is pointed to, an element, what an alias stands for
    members: list[SourceMember] = field(default_factory=list)
    count: int = 0  # elements
    names: dict[int, str] = field(default_factory=dict)  # of an enumeration's values
    variants: dict[int, SourceMember] = field(
        default_factory=dict
    )  # of a variable that has several types: the member for each value of the first one
    keyword: str = ""  # what a type without a name is called by: struct, class, union

    @property
    def plain(self) -> VariableType:
        """Without aliases."""
        t = self
        for _ in range(DEEPEST):
            if t.kind != "alias" or t.target is None:
                return t
            t = t.target
        return VOID

    @property
    def of(self) -> VariableType:
        """What a pointer points to, or an array consists of."""
        return self.target or VOID

    @property
    def bytes(self) -> int:
        """The size."""
        t = self.plain
        return ADDRESS if t.kind in ("pointer", "reference") else t.of.bytes * t.count if t.kind == "array" and not t.size else t.size

    def __str__(self) -> str:
        """As the source writes it."""
        return self._spelled(0)

    def _spelled(self, depth: int) -> str:
        if depth > DEEPEST:
            return "..."
        inner = self.of._spelled(depth + 1) if self.kind in ("pointer", "reference", "array") or (not self.name and self.target) else ""
        match self.kind:
            case "pointer":
                return f"{inner}*" if inner.endswith("*") else f"{inner} *"
            case "reference":
                return f"{inner} &"
            case "array":
                base, bracket, counts = inner.partition(" [")
                return f"{base} [{self.count}]" + (f"[{counts}" if bracket else "")
        return self.name or inner or f"<{self.keyword or self.kind}>"

    def declared(self, name: str) -> str:
        """A declaration of a name."""
        text = str(self)
        before, bracket, counts = text.partition(" [")
        if bracket:
            return f"{before} {name}[{counts}"
        return f"{text}{name}" if text.endswith(("*", "&")) else f"{text} {name}".rstrip()

    def member(self, name: str) -> SourceMember | None:
        """A member by its name, also one of a base class or of a union without a name."""
        for m in self.plain.members:
            if m.name == name:
                return m
            if not m.name or m.is_base:
                inner = m.type.member(name)
                if inner is not None:
                    return SourceMember(inner.name, inner.type, m.offset + inner.offset, bits=inner.bits)
        return None


@dataclass(eq=False)
class SourceMember:
    """A member of a structure; `bits`: the first bit and the number of bits of a bit field."""

    name: str
    type: VariableType
    offset: int
    is_base: bool = False
    bits: tuple[int, int] | None = None


VOID = VariableType("void", "void")


@dataclass(frozen=True, slots=True)
class LocatedAt:
    """Where a variable is, for instructions in [low, high): an expression of DWARF's."""

    low: int
    high: int
    expression: bytes


@dataclass(eq=False)
class SourceVariable:
    """A variable, or an argument."""

    name: str
    type: VariableType
    places: list[LocatedAt]
    space: int | None  # DW_AT_address_class
    is_argument: bool = False
    line: int = 0

    def place(self, address: int) -> bytes | None:
        """Where it is when an instruction is about to be executed; None where it is nowhere."""
        return next((p.expression for p in self.places if p.low <= address < p.high), None)


@dataclass(eq=False)
class SourceScope:
    """A block of the source, with the addresses of its code."""

    ranges: list[tuple[int, int]]
    variables: list[SourceVariable] = field(default_factory=list)
    scopes: list[SourceScope] = field(default_factory=list)
    name: str = ""  # of a function

    def holds(self, address: int) -> bool:
        """Is an instruction in it?"""
        return any(low <= address < high for low, high in self.ranges)

    def every(self) -> Iterator[SourceScope]:
        """It and all inside."""
        yield self
        for inner in self.scopes:
            yield from inner.every()

    def around(self, address: int) -> Iterator[SourceScope]:
        """The scopes around an instruction, the innermost first."""
        for inner in self.scopes:
            if inner.holds(address):
                yield from inner.around(address)
        yield self
