"""The typed IR: what a module says, with every name resolved to one declaration.

All nodes are frozen.  Each carries the Span of the text it came from; operands carry none (they are shared between instructions):
`Instruction.spans(module)` finds theirs again when a message needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Union

from warplab.isa.notation import Form
from warplab.isa.types import ScalarType


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of the text: offsets of its first character and of the one after its last, and the line and column (from 1) of the first."""

    start: int
    end: int
    line: int
    column: int


# ---------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """One virtual register; identity is the declaration, so two scopes may each have a `%r1`."""

    name: str
    type: ScalarType
    vector: int  # 1, 2 or 4
    index: int  # number within its function, dense from 0: the same for all uses
    span: Span


Linkage = Literal["", "extern", "visible", "weak", "common"]


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """An address used as a value in an initialiser or operand: a variable or function, generic() or not, plus an offset, perhaps masked."""

    target: Variable | Function
    offset: int = 0
    generic: bool = False
    mask: int | None = None  # mask(0xff00, x): which byte of the address


Initial = int | float | Symbol | tuple["Initial", ...]


@dataclass(frozen=True, slots=True, eq=False)
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
    def elements(self) -> int:
        n = self.vector
        for d in self.dims:
            n *= d
        return n

    @property
    def size(self) -> int:
        """Bytes; 0 for an unsized array."""
        return self.elements * self.type.bytes


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """A place in a body."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """`name: .branchtargets L1, L2;` (labels) or `name: .calltargets f, g;` (functions)."""

    name: str
    kind: Literal["branch", "call"]
    targets: tuple[Label | Function, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Prototype:
    """`name: .callprototype (.param ...) _ (...)`."""

    name: str
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    span: Span
    noreturn: bool = False


# ---------------------------------------------------------------- operands


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal or folded constant expression.  value keeps an int as written (unbounded, perhaps negative); a 0f/0d literal keeps its bits."""

    value: int | float
    kind: Literal[
        "int", "f32", "f64"
    ]  # f32: 0fXXXXXXXX (value is its bits as int); f64: 0dXXXXXXXXXXXXXXXX (bits) ; a decimal float: kind f64, value float
    text: str = ""


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """%tid.x: name with the percent sign, component "" or x y z w."""

    name: str
    component: str = ""


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a register: .x .y .z .w of a vector register, or .b0-.b3 .h0 .h1 of a video operand."""

    register: Register
    part: str


@dataclass(frozen=True, slots=True)
class Sink:
    """`_`"""


@dataclass(frozen=True, slots=True)
class Negated:
    """`!%p`"""

    register: Register


@dataclass(frozen=True, slots=True)
class Plus:
    """`%r+4` as a value, outside of an address."""

    register: Register
    offset: int


@dataclass(frozen=True, slots=True)
class Minus:
    """`-%r`, as the video instructions take it; the operand may be a part of a register."""

    operand: Register | Element


@dataclass(frozen=True, slots=True)
class Pair:
    """`%r1|%p1`"""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Vector:
    """`{%f1, %f2}`"""

    elements: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`; an absolute address has base None.  Tensor and texture forms carry their further parts."""

    base: Register | Element | Variable | Function | None
    offset: int
    parts: tuple[Operand, ...] = ()  # [tensorMap, {c0, c1}]  [tex, sampler, {u, v}]: all after the first


@dataclass(frozen=True, slots=True)
class Arguments:
    """`(a, b, c)` of a call."""

    elements: tuple[Operand, ...]


Operand = Union[
    Register, Immediate, SpecialRegister, Element, Sink, Negated, Minus, Plus, Pair, Vector, Address, Arguments,
    Variable, Symbol, Label, Targets, Prototype, "Function",
]  # fmt: skip


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """One instruction.  `form` and `settled` are None where no row fits (the verifier says so)."""

    opcode: str
    modifiers: tuple[str, ...]  # in the order written
    operands: tuple[Operand, ...]
    guard: Register | None
    guard_negated: bool
    form: Form | None
    settled: dict[str, str | bool] | None  # modifiers by the form's slot names
    span: Span  # the whole statement, guard and semicolon included


@dataclass(frozen=True, slots=True, eq=False)
class Location:
    """`.loc file line column {, function_name label+offset, inlined_at file line column}`"""

    file: int
    line: int
    column: int
    span: Span
    function: str = ""
    function_offset: int = 0
    inlined_at: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Pragma:
    """`.pragma "nounroll";`"""

    texts: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """`.reg .b32 %r<10>, a;` as one statement of a body, or any variable statement; `stems` keeps the written form for the printer."""

    registers: tuple[Register, ...]
    variables: tuple[Variable, ...]
    stems: tuple[tuple[str, int], ...]  # (name, count) as written; count -1 for a plain name
    span: Span
    type: ScalarType | None = None  # of the registers
    vector: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """`{ ... }`"""

    statements: tuple[Statement, ...]
    span: Span


Statement = Instruction | Label | Location | Pragma | Declaration | Targets | Prototype | Block


# ---------------------------------------------------------------- module


@dataclass(frozen=True, slots=True, eq=False)
class Directive:
    """A performance or other directive of a function: .maxntid 256, 1, 1 / .noreturn / .reqnctapercluster 2."""

    name: str  # with the dot
    values: tuple[int | str, ...]
    span: Span


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

    def directive(self, name: str) -> Directive | None:
        return next((d for d in self.directives if d.name == name), None)


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """`.file index "name" {, timestamp, size}`"""

    index: int
    name: str
    span: Span
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """`.section .debug_info { ... }`: its lines as they stand."""

    name: str
    lines: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """`.alias a, b;`"""

    name: str
    target: Function
    span: Span


Item = Variable | Function | File | Section | Alias | Pragma | Declaration


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A whole PTX text."""

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
