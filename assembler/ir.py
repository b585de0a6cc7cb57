"""The typed IR: what a module says, with every name resolved to one declaration.

All nodes are read-only, which the type checker holds: at run time they are plain dataclasses, since a frozen one takes four times as long
to make and a big module has them by the hundred thousand.  Each node carries the Span of the text it came from; operands carry none (they
are shared between instructions), and verify/places.py finds theirs again when a message needs them.

Every operand has a `category`: one word for all of it that the verdict on its instruction depends on, as long as no value counts.  `u32` is
a register, `#int` a constant, `{b32,b32}` a vector, `[u64]` an address.  Opcode, modifiers and categories make an instruction's Shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, Union, dataclass_transform

from warplab.isa.notation import Form
from warplab.isa.types import ScalarType

from .shapes import Shape, spelling, under

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def node(cls: type[T]) -> type[T]:
    """A read-only node that is equal to itself alone."""
    return dataclass(slots=True, eq=False)(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """A read-only node that is equal to others with the same fields."""
    return dataclass(slots=True, unsafe_hash=True)(cls)


@value
class Span:
    """A stretch of the text: offsets of its first character and of the one after its last, and the line and column (from 1) of the first."""

    start: int
    end: int
    line: int
    column: int


# ---------------------------------------------------------------- declarations


@node
class Register:
    """One virtual register; identity is the declaration, so two scopes may each have a `%r1`."""

    name: str
    type: ScalarType
    vector: int  # 1, 2 or 4
    index: int  # number within its function, dense from 0: the same for all uses
    span: Span

    @property
    def category(self) -> str:
        return self.type.name if self.vector == 1 else f"{self.type.name}*{self.vector}"


Linkage = Literal["", "extern", "visible", "weak", "common"]


@node
class Symbol:
    """An address used as a value in an initialiser or operand: a variable or function, generic() or not, plus an offset, perhaps masked."""

    target: Variable | Function
    offset: int = 0
    generic: bool = False
    mask: int | None = None  # mask(0xff00, x): which byte of the address

    @property
    def category(self) -> str:
        return self.target.category + "+"


Initial = int | float | Symbol | tuple["Initial", ...]


def leaves_of(value: Initial | None) -> Iterator[int | float | Symbol]:
    """The values of an initialiser in order, however deep it is nested; a short inner list is not padded, what follows it closes up."""
    levels = [iter(() if value is None else (value,))]
    while levels:
        for v in levels[-1]:
            if isinstance(v, tuple):
                levels.append(iter(v))
                break
            yield v
        else:
            levels.pop()


@node
class Variable:
    """A variable or parameter in a state space."""

    name: str
    space: str  # global const shared local param tex sampler surf reg (a .reg parameter of a .func)
    type: ScalarType
    vector: int
    dims: tuple[int, ...]  # () for a scalar; (0,) for an unsized array; a flexible first dimension is 0 until the initialiser sets it
    align: int  # in bytes; the natural one where none is written
    linkage: Linkage
    span: Span
    initial: tuple[Initial, ...] | int | float | Symbol | None = None
    attributes: tuple[str, ...] = ()  # managed, unified(...)
    pointer: tuple[str, int] | None = None  # of a kernel parameter `.ptr .space .align n`
    register: Register | None = None  # for a .reg parameter of a .func

    @property
    def handle(self) -> str:
        """The kind of handle that it stands for, texref, samplerref or surfref, else ""; a .tex variable of PTX 1.4 is a texref."""
        return "texref" if self.space == "tex" else self.type.name if self.type.kind == "o" else ""

    @property
    def elements(self) -> int:
        n = self.vector
        for d in self.dims:
            n *= d
        return n

    @property
    def size(self) -> int:
        """Bytes; 0 for an unsized array."""
        return self.elements * self.type.bytes

    @property
    def category(self) -> str:
        return f"{self.space}:{self.type.name}"


@node
class Label:
    """A place in a body."""

    name: str
    span: Span

    @property
    def category(self) -> str:
        return "label"


@node
class Targets:
    """`name: .branchtargets L1, L2;` (labels) or `name: .calltargets f, g;` (functions)."""

    name: str
    kind: Literal["branch", "call"]
    targets: tuple[Label | Function, ...]
    span: Span

    @property
    def category(self) -> str:
        return self.kind + "targets"


@node
class Prototype:
    """`name: .callprototype (.param ...) _ (...)`."""

    name: str
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    span: Span
    noreturn: bool = False

    @property
    def category(self) -> str:
        return "prototype"


# ---------------------------------------------------------------- operands


@value
class Immediate:
    """A literal or folded constant expression.  value keeps an int as written (unbounded, perhaps negative); a 0f/0d literal keeps its bits."""

    value: int | float
    kind: Literal[
        "int", "f32", "f64"
    ]  # f32: 0fXXXXXXXX (value is its bits as int); f64: 0dXXXXXXXXXXXXXXXX (bits) ; a decimal float: kind f64, value float
    text: str = ""

    @property
    def category(self) -> str:
        if self.kind == "int":
            return "#int"
        return "#f32" if self.kind == "f32" else "#f64" if isinstance(self.value, int) else "#decimal"


@value
class SpecialRegister:
    """%tid.x: name with the percent sign, component "" or x y z w."""

    name: str
    component: str = ""

    @property
    def category(self) -> str:
        return f"{self.name}.{self.component}"


@value
class Element:
    """A part of a register: .x .y .z .w of a vector register, or .b0-.b3 .h0 .h1 of a video operand."""

    register: Register
    part: str

    @property
    def category(self) -> str:
        return f"{self.register.category}.{self.part}"


@value
class Sink:
    """`_`"""

    @property
    def category(self) -> str:
        return "_"


@value
class Negated:
    """`!%p`"""

    register: Register

    @property
    def category(self) -> str:
        return "!" + self.register.category


@value
class Plus:
    """`%r+4` as a value, outside of an address."""

    register: Register
    offset: int

    @property
    def category(self) -> str:
        return self.register.category + "+n"


@value
class Minus:
    """`-%r`, as the video instructions take it; the operand may be a part of a register."""

    operand: Register | Element

    @property
    def category(self) -> str:
        return "-" + self.operand.category


@value
class Pair:
    """`%r1|%p1`"""

    first: Operand
    second: Operand

    @property
    def category(self) -> str:
        return f"{self.first.category}|{self.second.category}"


@value
class Vector:
    """`{%f1, %f2}`"""

    elements: tuple[Operand, ...]

    @property
    def category(self) -> str:
        return "{" + ",".join([e.category for e in self.elements]) + "}"


@value
class Address:
    """`[base+offset]`; an absolute address has base None.  Tensor and texture forms carry their further parts."""

    base: Register | Element | Variable | Function | None
    offset: int
    parts: tuple[Operand, ...] = ()  # [tensorMap, {c0, c1}]  [tex, sampler, {u, v}]: all after the first

    @property
    def category(self) -> str:
        base = "#" if self.base is None else self.base.category
        return f"[{','.join([base, *[p.category for p in self.parts]])}]"


@value
class Arguments:
    """`(a, b, c)` of a call."""

    elements: tuple[Operand, ...]

    @property
    def category(self) -> str:
        return "(" + ",".join([e.category for e in self.elements]) + ")"


Operand = Union[
    Register, Immediate, SpecialRegister, Element, Sink, Negated, Minus, Plus, Pair, Vector, Address, Arguments,
    Variable, Symbol, Label, Targets, Prototype, "Function",
]  # fmt: skip


# ---------------------------------------------------------------- statements


Stretch = tuple[int, int, Callable[[int, int], Span]]  # from the blanks before a statement to its semicolon, and what makes its span


@node
class Instruction:
    """One instruction.  `form` and `settled` are None where no row fits (the verifier says so)."""

    shape: Shape
    operands: tuple[Operand, ...]
    guard: Register | None
    guard_negated: bool
    place: Span | Stretch

    @property
    def opcode(self) -> str:
        return self.shape.opcode

    @property
    def modifiers(self) -> tuple[str, ...]:
        """In the order written."""
        return self.shape.modifiers

    @property
    def form(self) -> Form | None:
        return self.shape.form

    @property
    def settled(self) -> dict[str, str | bool] | None:
        """The modifiers by the form's slot names."""
        return self.shape.settled

    @property
    def span(self) -> Span:
        """The whole statement, guard and semicolon included; counted when it is asked for."""
        place = self.place
        if isinstance(place, Span):
            return place
        start, end, spanning = place
        return spanning(start, end)

    def under(self, form: Form) -> Instruction:
        """The instruction under another row that has its words."""
        return replace(self, shape=under(self.shape, form))


def shape_of(opcode: str, modifiers: tuple[str, ...], operands: Iterable[Operand]) -> Shape:
    """The one Shape of these words and operands."""
    return spelling(opcode, modifiers)[tuple([o.category for o in operands])]


@node
class Location:
    """`.loc file line column {, function_name label+offset, inlined_at file line column}`"""

    file: int
    line: int
    column: int
    span: Span
    function: str = ""
    function_offset: int = 0
    inlined_at: tuple[int, int, int] | None = None


@node
class Pragma:
    """`.pragma "nounroll";`"""

    texts: tuple[str, ...]
    span: Span


@node
class Declaration:
    """`.reg .b32 %r<10>, a;` as one statement of a body, or any variable statement; `stems` keeps the written form for the printer."""

    registers: tuple[Register, ...]
    variables: tuple[Variable, ...]
    stems: tuple[tuple[str, int], ...]  # (name, count) as written; count -1 for a plain name
    span: Span
    type: ScalarType | None = None  # of the registers
    vector: int = 1


@node
class Block:
    """`{ ... }`"""

    statements: tuple[Statement, ...]
    span: Span


Statement = Instruction | Label | Location | Pragma | Declaration | Targets | Prototype | Block


# ---------------------------------------------------------------- module


@node
class Directive:
    """A performance or other directive of a function: .maxntid 256, 1, 1 / .noreturn / .reqnctapercluster 2."""

    name: str  # with the dot
    values: tuple[int | str, ...]
    span: Span


class UnreadBody(Protocol):
    """A body that is read when it is first looked at."""

    def read(self) -> None:
        """Sets `body` and `registers`; PtxError if it is wrong."""

    def mentions(self, name: str) -> bool:
        """Can it name something of the module?"""


LISTED = (1, 4)  # the PTX version since which an .entry lists its parameters; before, its body declared them


@dataclass(
    slots=True, eq=False
)  # not frozen: a body may call functions declared later and itself, so `body` is set last, once, by the parser
class Function:
    """An .entry or .func, declared or defined."""

    name: str
    is_entry: bool
    linkage: Linkage
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    directives: tuple[Directive, ...]
    span: Span
    body: Block | None = None
    registers: tuple[Register, ...] = ()  # by index
    definition: Function | None = None  # of a declaration: the definition in this module, where there is one
    listing: object = field(default=None, init=False, repr=False)  # what listing.py keeps
    unread: UnreadBody | None = field(default=None, init=False, repr=False)

    def leave(self, body: UnreadBody) -> None:
        """The function has a body, which is read when something looks at it or at the registers."""
        self.unread = body
        del self.body, self.registers

    if not TYPE_CHECKING:  # the checker knows all attributes

        def __getattr__(self, name: str) -> object:
            unread = self.unread if name in ("body", "registers") else None
            if unread is None:
                raise AttributeError(f"a function has no {name}")
            self.body, self.registers = None, ()
            try:
                unread.read()
            except BaseException:
                self.leave(unread)
                raise
            self.unread = None
            return getattr(self, name)

    @property
    def is_defined(self) -> bool:
        """Has it a body, read or not?"""
        return self.unread is not None or self.body is not None

    @property
    def category(self) -> str:
        return "entry" if self.is_entry else "func"

    def directive(self, name: str) -> Directive | None:
        return next((d for d in self.directives if d.name == name), None)


@node
class File:
    """`.file index "name" {, timestamp, size}`"""

    index: int
    name: str
    span: Span
    numbers: tuple[int, ...] = ()


@node
class Section:
    """`.section .debug_info { ... }`: its lines as they stand."""

    name: str
    lines: tuple[str, ...]
    span: Span


@node
class Alias:
    """`.alias a, b;`"""

    name: str
    target: Function
    span: Span


Item = Variable | Function | File | Section | Alias | Pragma | Declaration


@node
class Module:
    """A PTX module."""

    name: str
    text: str
    version: tuple[int, int]
    targets: tuple[str, ...]  # ("sm_90a",) and options such as "debug", "texmode_independent"
    address_size: int
    items: tuple[Item, ...]
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)  # a definition hides its declarations
    aliases: dict[str, Function] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)

    @property
    def target(self) -> str:
        """The architecture: sm_90a."""
        return next((t for t in self.targets if t.startswith(("sm_", "compute_"))), "sm_10")
