"""Every name in a text with what it stands for.

The parser tells it for each statement that it can read; in other statements a name stands for what the function calls so, else the module.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from warplab.isa.types import ScalarType

from ..flow.analysis import accesses
from ..ir import (
    Alias,
    Block,
    Declaration,
    Element,
    Function,
    Instruction,
    Label,
    Minus,
    Module,
    Negated,
    Operand,
    Plus,
    Prototype,
    Register,
    Span,
    Statement,
    Symbol,
    Targets,
    Variable,
    leaves_of,
)
from ..listing import leaves

WORD = re.compile(r'"[^"]*"|(?<![\w$%.])(?<!::)(?:[A-Za-z][\w$]*|[_$%][\w$]+)', re.A)
Role = Literal["declared", "read", "written"]


@dataclass(frozen=True, slots=True, eq=False)
class RegisterRange:
    """`%r<10>`: ten registers that one declaration makes."""

    name: str
    count: int
    type: ScalarType
    span: Span

    def has(self, named: object) -> bool:
        """Is something a register of it?"""
        return isinstance(named, Register) and named.span.start == self.span.start


Named = Register | Variable | Function | Label | Targets | Prototype | RegisterRange


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a name stands."""

    start: int
    end: int
    named: Named
    role: Role


@dataclass(frozen=True, slots=True, eq=False)
class _Stretch:
    """A statement, and what its names stand for."""

    start: int
    end: int
    names: dict[str, Named]
    written: frozenset[str] = frozenset()
    opcode: str = ""


class NameIndex:
    """The names of one text."""

    def __init__(self, code: str, module: Module) -> None:
        self.code = code
        self.module = module
        self.scopes: dict[Named, Span | None] = {}  # where each name can be used; None: in the whole module
        self.ranges: dict[int, RegisterRange] = {}  # by the place of its declaration
        self._declared: dict[int, Named] = {}  # by the place of its name
        self._stretches: list[_Stretch] = []
        for item in module.items:
            self._item(item)
        self._stretches.sort(key=lambda s: s.start)
        self.bodies = [f for f in module.items if isinstance(f, Function) and f.body is not None]
        self.occurrences = list(self._found())
        self._starts = [o.start for o in self.occurrences]

    # ------------------------------------------------------------ questions

    def at(self, offset: int) -> Occurrence | None:
        """What stands at an offset, or ends there."""
        i = bisect_right(self._starts, offset) - 1
        return self.occurrences[i] if i >= 0 and offset <= self.occurrences[i].end else None

    def of(self, named: Named) -> list[Occurrence]:
        """All places of a name, in the order of the text; of a range those of all its registers."""
        if isinstance(named, RegisterRange):
            return [o for o in self.occurrences if o.named is named or named.has(o.named)]
        return [o for o in self.occurrences if o.named is named]

    def function_at(self, offset: int) -> Function | None:
        """The function whose body an offset is in."""
        return next((f for f in self.bodies if f.body is not None and f.body.span.start < offset < f.body.span.end), None)

    def visible(self, offset: int) -> Iterator[Named]:
        """All names that can be used at an offset."""
        for named, scope in self.scopes.items():
            if scope is None or scope.start < offset <= scope.end:
                yield named

    def range_of(self, register: Register) -> RegisterRange | None:
        """The range that declares a register, if one does."""
        return self.ranges.get(register.span.start)

    # ------------------------------------------------------------ reading

    def _declare(self, named: Named, scope: Span | None) -> None:
        self._declared[named.span.start] = named
        self.scopes[named] = scope

    def _item(self, item: object) -> None:
        match item:
            case Function():
                known = self._one(item)
                self._declared[item.span.start] = known
                self.scopes[known] = None
                scope = item.body.span if item.body is not None else item.span
                for v in (*item.returns, *item.params):
                    self._declare(v.register or v, scope)
                if item.body is not None:
                    self._block(item.body)
            case Declaration():
                self._declaration(item, None)
            case Alias(name=name, target=target, span=span):
                self._stretches.append(_Stretch(span.start, span.end, {name: target, target.name: target}))

    def _one(self, f: Function) -> Function:
        """A function for all its declarations."""
        return self.module.functions.get(f.name, f)

    def _block(self, body: Block) -> None:
        blocks = [body]
        while blocks:
            block = blocks.pop()
            for s in block.statements:
                if isinstance(s, Block):
                    blocks.append(s)
                else:
                    self._statement(s, block.span)

    def _statement(self, s: Statement, scope: Span) -> None:
        match s:
            case Instruction():
                start, end = (s.place.start, s.place.end) if isinstance(s.place, Span) else s.place[:2]
                names = self._names_in(s.operands)
                if s.guard is not None:
                    names[s.guard.name] = s.guard
                written = frozenset([r.name for r in accesses(s)[1]])
                self._stretches.append(_Stretch(start, end, names, written, s.opcode))
            case Label():
                self._declare(s, scope)
            case Targets(name=name, targets=targets, span=span):
                self.scopes[s] = scope
                self._declared[span.start] = s
                self._stretches.append(_Stretch(span.start, span.end, {name: s, **self._names_in(targets)}))
            case Prototype(span=span):
                self.scopes[s] = scope
                self._declared[span.start] = s
            case Declaration():
                self._declaration(s, scope)
            case _:
                pass

    def _declaration(self, d: Declaration, scope: Span | None) -> None:
        declared: tuple[Named, ...] = (*d.registers, *d.variables)
        for named in declared:
            self._declare(named, scope)
        for name, count in d.stems:
            if count >= 0 and d.type is not None:
                found = re.compile(re.escape(name) + r"\s*<").search(self.code, d.span.start, d.span.end)
                if found is not None:
                    span = Span(found.start(), found.start() + len(name), d.span.line, d.span.column)
                    made = self.ranges[span.start] = RegisterRange(name, count, d.type, span)
                    self._declare(made, scope)
        symbols = [leaf for v in d.variables for leaf in leaves_of(v.initial) if isinstance(leaf, Symbol)]
        self._stretches.append(_Stretch(d.span.start, d.span.end, self._names_in(symbols)))

    def _names_in(self, operands: Iterable[Operand]) -> dict[str, Named]:
        found: dict[str, Named] = {}
        for operand in operands:
            for leaf in leaves(operand):
                named = self._named(leaf)
                if named is not None:
                    found[named.name] = named
                    self.scopes.setdefault(named, self._scope_of_range(named))
        return found

    def _scope_of_range(self, named: Named) -> Span | None:
        made = self.ranges.get(named.span.start) if isinstance(named, Register) else None
        return self.scopes.get(made) if made is not None else None

    def _named(self, leaf: Operand) -> Named | None:
        match leaf:
            case Function():
                return self._one(leaf)
            case Register() | Variable() | Label() | Targets() | Prototype():
                return leaf
            case Element(register=register) | Negated(register=register) | Plus(register=register):
                return register
            case Minus(operand=inner):
                return self._named(inner)
            case Symbol(target=target):
                return self._named(target)
            case _:
                return None

    def _found(self) -> Iterator[Occurrence]:
        """All places, in the order of the text."""
        spoken: dict[int, dict[str, Named]] = {}  # what a function calls so, for statements that cannot be read
        seen: set[tuple[_Stretch, str]] = set()  # results come first in a statement; where the name stands again, it is read
        at, stretches = 0, self._stretches
        for m in WORD.finditer(self.code):
            word, start, end = m.group(), m.start(), m.end()
            if word[0] == '"':
                continue
            named = self._declared.get(start)
            if named is not None:
                yield Occurrence(start, end, named, "declared")
                continue
            while at < len(stretches) and stretches[at].end <= start:
                at += 1
            here = stretches[at] if at < len(stretches) and stretches[at].start <= start else None
            if here is not None:
                named = here.names.get(word)
                if named is not None and (word != here.opcode or self._is_operand(start)):
                    written = word in here.written and (here, word) not in seen and self._before(start)[-1:] not in ("@", "!")
                    if written:
                        seen.add((here, word))
                    yield Occurrence(start, end, named, "written" if written else "read")
                continue
            named = self._called(word, start, spoken)
            if named is not None and self._is_operand(start):
                yield Occurrence(start, end, named, "read")

    def _is_operand(self, start: int) -> bool:
        """Does a word stand behind others of its statement, rather than begin it?"""
        return self._before(start)[-1:] not in (";", "{", "}", ":", "")

    def _before(self, start: int) -> str:
        return self.code[max(0, start - 200) : start].rstrip()

    def _called(self, word: str, offset: int, spoken: dict[int, dict[str, Named]]) -> Named | None:
        f = self.function_at(offset)
        key = id(f)
        if key not in spoken:
            inside = f.body.span if f is not None and f.body is not None else None
            spoken[key] = {
                n.name: n for n, s in self.scopes.items()
                if s is None or (inside is not None and inside.start <= s.start and s.end <= inside.end)
            }  # fmt: skip
        return spoken[key].get(word)
