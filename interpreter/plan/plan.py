"""The plan of a function: what must happen, as data that any engine can read.

A function is a list of segments, numbered by their places (pcs).  A segment is a stretch of instructions that lanes run without stopping: its
operations, in order, and how it ends.  Operations and ends name registers by slots.  Nothing here is a closure, and no array stands here but
the constants.  vector/ is the first consumer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Function, Instruction, Location, Variable
from warplab.isa.notation import Form
from warplab.isa.types import ScalarType

from ..memory.objects import Gap

EXIT = -1  # the place behind a function's last instruction
FRAME_ALIGN = 16  # the least of a frame's first byte
DType = np.dtype[Any]


@dataclass(slots=True, eq=False)
class Site:
    """One instruction of a plan, as messages and observers name it."""

    instruction: Instruction
    location: Location | None
    function: str

    @property
    def index(self) -> int:
        """Where in the program it stands."""
        return self.instruction.span.start


@dataclass(slots=True)
class Home:
    """Where a register lives: its first slot, how many, and the dtype its bits are kept in."""

    slot: int
    width: int
    dtype: DType
    pointer: bool = False  # an engine may keep it as a base and an offset
    name: str = "a factor"  # of the register, if the text has it


# ---------------------------------------------------------------- operands that are read; an int is a slot, taken as it is kept


class SlotAs(NamedTuple):
    """A slot whose bits are wanted as another dtype, or one that may hold a base and an offset and is wanted as a number."""

    slot: int
    kept: DType
    wanted: DType
    pointer: bool = False


class Packed(NamedTuple):
    """A slot as the elements of a packed type, on an axis of their own."""

    slot: int
    type: ScalarType


class Tuple(NamedTuple):
    """Several sources as one tuple; a source that is a tuple itself adds its elements."""

    sources: tuple[Source, ...]


class Special(NamedTuple):
    """A special register."""

    name: str
    dtype: DType
    offset: int = 0  # of a clock: the cycles from the start of its segment until it is read
    segment: int = 0  # and those of a segment


class Not(NamedTuple):
    """A predicate negated."""

    slot: int


class PlusConstant(NamedTuple):
    """A register plus a constant."""

    source: Source
    by: int
    dtype: DType


class ScalarConstant(NamedTuple):
    """A constant that the instruction takes as a number, not as a value of each lane."""

    value: int


class Pointer(NamedTuple):
    """The address in a pointer's slot plus a constant, as the engine keeps it: the instruction only hands it on to memory."""

    slot: int
    offset: int


class AddressSource(NamedTuple):
    """An address: a base plus a constant; `opaque`: the instruction only hands it on to memory."""

    base: Source
    offset: int
    opaque: bool


class FrameAddress(NamedTuple):
    """The address of a place in the function's frame; `window`: where local memory begins, for a generic address."""

    offset: int
    dtype: DType
    window: int = 0


class ParameterAddress(NamedTuple):
    """The generic address of a kernel's parameter."""

    variable: Variable
    offset: int
    dtype: DType


class FramePlace(NamedTuple):
    """A place in the function's frame, for ld.param and st.param."""

    offset: int


class ParameterPlace(NamedTuple):
    """A place in the kernel's parameters, for ld.param, and for the handle of a texture that is a parameter."""

    variable: Variable
    offset: int
    dtype: DType | None = None  # of a single value


Source = (
    int | SlotAs | Packed | Tuple | Special | Not | PlusConstant | ScalarConstant | Pointer | AddressSource
    | FrameAddress | ParameterAddress | FramePlace | ParameterPlace
)  # fmt: skip


# ---------------------------------------------------------------- operands that are written; an int is a slot that is kept as the result is


class Convert(NamedTuple):
    """A slot that keeps another dtype than the result's: the same bits, extended where the slot is wider."""

    slot: int
    kept: DType
    type: ScalarType


class Pack(NamedTuple):
    """A slot that holds the elements of a packed result as one number."""

    slot: int
    kept: DType
    type: ScalarType


class Each(NamedTuple):
    """The first elements of a tuple go to one target each; `halves`: two elements, a 128-bit value, to each."""

    targets: tuple[Target, ...]
    halves: bool = False


Target = int | Convert | Pack | Each | None  # None: the result is thrown away


# ---------------------------------------------------------------- operations


class Guard(NamedTuple):
    """The predicate that an instruction is guarded by."""

    slot: int
    negated: bool


class LoadStore(NamedTuple):
    """What ld and st do: the state space, the type of an element, how many elements."""

    space: str
    type: ScalarType
    elements: int


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """A row of the instruction set with its modifiers settled; instructions of one shape share it."""

    form: Form
    settled: Mapping[str, str | bool]
    words: tuple[tuple[str, Any], ...] = ()  # further keywords: signs and parts of operands, what a generation of devices does otherwise
    named: tuple[str, ...] = ()  # the operands that are there, where an optional one before them may be missing
    optional: tuple[str, ...] = ()
    access: LoadStore | None = None
    minus_product: bool = False  # a fused multiply-add of which an operand changes its sign
    minus_addend: bool = False
    demoted: bool = False  # doubles are rounded to single precision before and behind it


class Op(NamedTuple):
    """One instruction.

    `how` it runs: "pure" on arrays of lanes; with the condition code register ("carry"); knowing its "lanes", or whole "warps"; as a "load",
    "store" or load of a "parameter"; as a "move", "pack" or "unpack" of bits; a "pointer" handed on or moved; an "effect" of the engine;
    "unsupported"; the "factors" of a product, or those of an approximate "quotient", handed on to the sums that it is fused with.
    """

    how: str
    meaning: Meaning
    target: Target
    sources: tuple[Source, ...]
    site: Site
    guard: Guard | None = None
    keeps: tuple[int, ...] = ()  # slots that keep their value in lanes where the guard does not hold
    product: Op | None = None  # of factors: the product or quotient itself, where it is read


# ---------------------------------------------------------------- how a segment ends


class LoopExit(NamedTuple):
    """A way out of loops: where the lanes that take it meet again, and the places in the outermost loop that they leave."""

    join: int
    inside: frozenset[int]


Exits = Mapping[int, LoopExit]  # by the place to which each leads
Turns = Mapping[int, int]  # places of loop heads to which a way leads back, and how often a loop may turn before others run


@dataclass(frozen=True, slots=True)
class Jump:
    """All lanes go on at one place."""

    to: int
    exits: Exits = field(default_factory=dict)
    turns: Turns = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Branch:
    """Lanes whose guard holds go to one place, the others to another; those that part reconverge at the join."""

    guard: Guard
    taken: int
    fall: int
    join: int
    exits: Exits
    turns: Turns
    rides: bool  # a loop of pure instructions: lanes that have left it may stay among the others
    first: int | None  # lanes that go there go before the others


@dataclass(frozen=True, slots=True)
class Table:
    """brx.idx: each lane goes where its index says; the last target takes what lies beyond it."""

    index: Source
    targets: tuple[int, ...]
    guard: Guard | None
    fall: int
    join: int
    exits: Exits
    turns: Turns

    @property
    def ways(self) -> list[int]:
        """The targets, each once; lanes that take the first run first."""
        return list(dict.fromkeys(self.targets))


class InFrame(NamedTuple):
    """An argument or result that lies in the frame of a function."""

    offset: int


class RegisterResult(NamedTuple):
    """A result that a call puts in registers."""

    target: Target
    home: Home


@dataclass(frozen=True, slots=True)
class Call:
    """A call: of a function, or through a pointer."""

    callee: Function | None
    pointer: Source | None
    arguments: tuple[Source | InFrame, ...]
    results: tuple[RegisterResult | InFrame | None, ...]  # None: thrown away
    after: int
    guard: Guard | None
    top: int | None = None  # where its caller's frame ends in that of a plan with other calls inlined
    ways: tuple[
        tuple[int, int], ...
    ] = ()  # through a pointer, where functions are inlined: their addresses, the highest first, and their places


@dataclass(frozen=True, slots=True)
class Leave:
    """ret, exit or trap (`what`); lanes whose guard does not hold go on."""

    what: str
    guard: Guard | None = None
    fall: int = EXIT
    join: int = EXIT
    turns: Turns = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reduction:
    """barrier.red: what all threads' predicates are reduced to."""

    operation: str  # and, or, popc
    value: Source
    target: Target


@dataclass(frozen=True, slots=True)
class Barrier:
    """bar and barrier: lanes arrive at a barrier of their block, and perhaps wait there."""

    number: Source
    count: Source | None  # threads that it waits for; None: all
    waits: bool
    reduction: Reduction | None
    past: int
    guard: Guard | None


SyncKey = tuple[str, tuple[tuple[str, object], ...]]  # the opcode and its settled words


@dataclass(frozen=True, slots=True)
class Sync:
    """Lanes wait for those of their warp that the mask names; with a key, at equal instructions anywhere."""

    mask: Source | None  # None: the whole warp
    key: SyncKey | None
    past: int
    guard: Guard | None
    parts: bool  # lanes whose guard does not hold do not wait; else one lane's guard is enough for all to go on


@dataclass(frozen=True, slots=True)
class ClusterWait:
    """barrier.cluster.wait."""

    past: int
    guard: Guard | None


End = Jump | Branch | Table | Call | Leave | Barrier | Sync | ClusterWait


# ---------------------------------------------------------------- the whole


@dataclass(slots=True, eq=False)
class Segment:
    """Instructions that run without a stop."""

    block: int
    ops: tuple[Op, ...]
    end: End
    site: Site | None  # of the instruction that ends it
    reads: tuple[int, ...]  # slots that it reads before it writes them
    writes: int  # slots that it writes, as a mask
    length: int  # instructions, the one that ends it included

    @property
    def first_site(self) -> Site | None:
        """Its first instruction."""
        return self.ops[0].site if self.ops else self.site


class LoweringOptions(NamedTuple):
    """In which of its ways a function is to run."""

    first_generation: bool = False  # of devices, which calculates otherwise
    demotes: bool = False  # double precision to single: the device has none
    lockstep: bool = False  # no lane passes others of its warp by
    stops: bool = False  # lanes may be stopped before each access to memory, where a seed says in which order they run


ORDINARY = LoweringOptions()


@dataclass(slots=True, eq=False)
class PlanFunction:
    """A function, planned."""

    function: Function
    segments: list[Segment]
    live_in: list[int]  # by place: the slots that are live there, as a mask; the last entry is for EXIT
    homes: dict[int, Home]  # by Register.index
    first_constant: int  # the slot of the first constant; they are the last slots
    constants: list[NDArray[Any]]  # (1, 1) each
    zeros: dict[int, DType]  # slots that may be read before they are written
    parameters: tuple[Home | InFrame | None, ...]  # where arguments go; None: the function does not read it
    returns: tuple[Home | InFrame | None, ...]  # where results lie
    frame: tuple[tuple[Variable, int], ...]  # variables in the function's frame, with their offsets
    frame_size: int
    gaps: tuple[Gap, ...] = ()  # of the frame, beside variables of .local
    frame_align: int = FRAME_ALIGN

    def frame_behind(self, top: int) -> int:
        """Where the frame begins behind the callers', which end at `top`."""
        return -(-top // self.frame_align) * self.frame_align

    @property
    def name(self) -> str:
        """The function's."""
        return self.function.name
