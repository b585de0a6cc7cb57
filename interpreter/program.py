"""A program loaded on a device: where its variables lie, what they hold at first, and its kernels, planned when they first run."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from warplab.assembler.ir import Address as AddressOperand
from warplab.assembler.ir import Arguments as ArgumentsOperand
from warplab.assembler.ir import (
    Declaration,
    Function,
    Immediate,
    Initial,
    SpecialRegister,
    Symbol,
    Targets,
    Variable,
    Vector,
    leaves_of,
)
from warplab.assembler.link import Program
from warplab.assembler.listing import listing
from warplab.isa.control import CALLS
from warplab.isa.spaces import RESERVED_SHARED, SHARED_BASE
from warplab.isa.textures.resources import VARIABLE_BIT

from .memory.arena import Allocation, Arena
from .memory.objects import Gap, Placed, object_of
from .plan.lower import frame_variables, lower
from .plan.operands import immediate_bits
from .plan.plan import FRAME_ALIGN, ORDINARY, LoweringOptions, PlanFunction
from .ptxas.contraction import DEFAULT, Fmad
from .ptxas.samplers import INDEPENDENT

CODE_BASE = 0x7C00_0000_0000  # where function addresses begin; no memory lies there
CODE_STEP = 16
CLOCK_BYTES = 8
MANY = 64  # numbers of an initial value that are worth an array
MOST_WITH_GAPS = 48 << 10  # bytes of shared memory that every kernel may declare: where gaps do not fit in, there are none
DEMOTES = "map_f64_to_f32"
FIRST_TARGETS = ("sm_10", "sm_11", "sm_12", "sm_13")


class ManagedVariables:
    """Where `.attribute(.managed)` variables lie, which the host reaches too: one place each, however many devices load the program."""

    def __init__(self, arena: Callable[[], Arena]) -> None:
        self._arena = arena
        self._placed: dict[str, Allocation] = {}

    def place(self, v: Variable, what: str) -> tuple[Arena, Allocation, bool]:
        """(the memory, a variable's place in it, whether it is a new one)."""
        arena, found = self._arena(), self._placed.get(v.name)
        if found is not None:
            return arena, found, False
        made = self._placed[v.name] = arena.allocate(max(v.size, 1), what, v.align)
        return arena, made, True

    def free(self) -> None:
        """No device needs them any more."""
        for a in self._placed.values():
            self._arena().free(a)
        self._placed = {}


class LoadedProgram:
    """The modules of one program, their variables placed in device memory."""

    def __init__(self, linked: Program, arena: Arena, managed: ManagedVariables | None = None, fmad: Fmad = DEFAULT, gap: int = 0) -> None:
        self.modules = linked.modules
        self.gap = gap  # bytes between two variables in shared memory that belong to neither
        self.fmad: Fmad = fmad  # which products and sums are rounded together
        # `.target sm_90, debug` asks for no optimisation: there each instruction is rounded on its own.
        self.unoptimised = {id(f) for m in self.modules if "debug" in m.targets for f in m.functions.values()}
        # What was written for 1.x flushes subnormal singles on every device.
        self.flushing = {id(f) for m in self.modules if m.target in FIRST_TARGETS for f in m.functions.values()}
        self.demoting = {id(f) for m in self.modules if DEMOTES in m.targets for f in m.functions.values()}
        self.unified = {id(f) for m in self.modules if INDEPENDENT not in m.targets for f in m.functions.values()}
        self.arena = arena
        self._managed = managed
        self.variables, self.functions, self.definition = linked.variables, linked.functions, linked.definition
        self.places: dict[int, int] = {}  # id(Variable) -> address
        self.constants_at = 0  # the upper half of the constant variables' addresses
        self.handles: dict[int, tuple[str, str]] = {}  # (type, name) of each texture, sampler or surface that is a variable, by its handle
        self.allocations: list[tuple[Arena, Allocation]] = []
        self._code: dict[str, int] = {}
        self.addressed: dict[int, Function] = {}  # functions whose addresses have been asked for
        self.kernels = {n: LoadedKernel(self, f) for n, f in linked.kernels.items()}
        self._place()

    # ------------------------------------------------------------ variables

    def _module_variables(self) -> Iterator[Variable]:
        for m in self.modules:
            for v in m.variables.values():
                if v.space in ("global", "const") or v.handle:
                    yield v
            for f in m.functions.values():
                if f.unread is None and f.body is not None:  # what is read later declares none of these
                    yield from [v for v in body_variables(f) if v.space in ("global", "const")]

    def _place(self) -> None:
        """Allocates the variables, then fills them in: they may hold each other's addresses."""
        new: list[tuple[Variable, Arena, Allocation]] = []
        for v in dict.fromkeys(v for v in self._module_variables() if self.definition(v) is v):
            what = f"{v.space} variable {v.name}" if v.space == "global" else f"constant variable {v.name}"
            if self._managed is not None and any("managed" in a for a in v.attributes):
                arena, a, empty = self._managed.place(v, what)
            else:
                arena, a, empty = self.arena, self.arena.allocate(max(v.size, 1), what, v.align, writable=v.space == "global"), True
                self.allocations.append((arena, a))
            a.object = object_of(v)
            self.places[id(v)] = a.start
            if v.space == "const":
                self.constants_at = a.start >> 32 << 32
            if v.handle:
                first = self.places[id(v)] = a.start | VARIABLE_BIT
                self.handles |= {first + n * v.type.bytes: (v.handle, v.name) for n in range(v.elements)}
            if empty:
                new.append((v, arena, a))
        for v, arena, a in new:
            data = self.initial_bytes(v)
            if a.reused:  # other memory is zero, and costs nothing until it is touched
                arena.bytes[a.start - arena.base :][: v.size] = 0
            arena.bytes[a.start - arena.base :][: len(data)] = np.frombuffer(data, np.uint8)

    def address(self, v: Variable) -> int:
        """The address of a .global or .const variable; the handle of one that is a texture, a sampler or a surface."""
        return self.places[id(self.definition(v))]

    def initial_bytes(self, v: Variable) -> bytes:
        """The first contents of a variable, without the zeros behind its initial value."""
        leaves = list(leaves_of(v.initial))
        plain = _plain_bytes(v, leaves)
        return b"".join(self._bits(v, value).to_bytes(v.type.bytes, "little") for value in leaves) if plain is None else plain

    def _bits(self, v: Variable, value: Any) -> int:
        mask = (1 << v.type.bits) - 1
        if isinstance(value, Symbol):
            bits = self._symbol_address(value.target, value.generic) + value.offset
            if value.mask is not None:
                shift = (value.mask & -value.mask).bit_length() - 1
                bits = (bits & value.mask) >> shift
            return bits & mask
        if isinstance(value, Variable | Function):
            return self._symbol_address(value, False) & mask
        if isinstance(value, Immediate):
            return immediate_bits(value, v.type) & mask
        if isinstance(value, float) or v.type.kind == "f":
            if v.type.bits == 64:
                return int.from_bytes(struct.pack("<d", float(value)), "little")
            with np.errstate(all="ignore"):
                if v.type.bits == 32:
                    return int(np.float32(value).view(np.uint32))
                return int(np.float16(value).view(np.uint16))
        return int(value) & mask

    def _symbol_address(self, target: Variable | Function, generic: bool) -> int:
        if isinstance(target, Function):
            return self.function_address(target)
        if target.space in ("global", "const"):
            return self.address(target)
        return SHARED_BASE if generic else 0

    # ------------------------------------------------------------ functions

    def function_address(self, f: Function) -> int:
        """The value that stands for a function; all declarations of one function share it."""
        target = self.definition(f)
        at = self._code.get(target.name)
        if at is None:
            at = self._code[target.name] = CODE_BASE + CODE_STEP * (len(self._code) + 1)
            self.addressed[at] = target
        return at

    def function_at(self, address: int) -> Function | None:
        """The function that an address stands for."""
        return self.addressed.get(address)

    def unload(self) -> None:
        """Frees the variables, but for managed ones."""
        for arena, a in self.allocations:
            arena.free(a)
        self.allocations = []


class SharedLayout(NamedTuple):
    """A block's shared memory; unsized arrays share the place behind the others."""

    places: dict[int, int]  # id(variable) -> offset
    static: int  # bytes that the program declares
    dynamic_start: int
    gaps: tuple[Gap, ...] = ()


def _lay_out(used: dict[int, Variable], gap: int) -> SharedLayout:
    places: dict[int, int] = {}
    gaps: list[Gap] = []
    at = end = 0
    before: Variable | None = None
    unsized = {key: v.align for key, v in used.items() if not v.size}
    align = max(unsized.values(), default=1)

    def place(align: int) -> int:
        start = -(-at // align) * align
        if gap and before is not None:
            gaps.append(Gap(end, start, object_of(before), end - before.size))
        return start

    for key, v in used.items():
        if v.size:
            places[key] = place(v.align)
            end = places[key] + v.size
            at, before = end + gap, v
    tail = place(align) if unsized else end
    return SharedLayout(places | dict.fromkeys(unsized, tail), end, tail, tuple(gaps))


@dataclass(eq=False)
class LoadedKernel:
    """An entry of a loaded program, with the layout of its shared memory and the plans of what it calls."""

    program: LoadedProgram
    function: Function
    _plans: dict[tuple[int, LoweringOptions], PlanFunction] = field(default_factory=dict)
    codes: dict[Any, Any] = field(default_factory=dict)  # what an engine made of them

    @cached_property
    def name(self) -> str:
        return self.function.name

    @cached_property
    def parameters(self) -> list[tuple[Variable, int]]:
        """(parameter, offset) in the parameter block."""
        out, at = [], 0
        for v in self.function.params:
            align = max(v.align, 1)
            at = -(-at // align) * align
            out.append((v, at))
            at += v.size
        return out

    @cached_property
    def parameter_bytes(self) -> int:
        """The size of the parameter block."""
        return max((o + v.size for v, o in self.parameters), default=0)

    @cached_property
    def offsets(self) -> dict[int, int]:
        """Of each parameter, by its id."""
        return {id(v): at for v, at in self.parameters}

    @cached_property
    def behind_parameters(self) -> bytes:
        """What stands behind the parameter block of a launch: room, so that no load of a vector ends behind it, and a clock."""
        return bytes(-self.parameter_bytes % 16 + 16 + CLOCK_BYTES)

    @cached_property
    def reached(self) -> list[Function]:
        """The entry and every function it may call, by calls or by address."""
        if len(self.program.functions) == 1:
            return [self.function]
        seen: dict[int, Function] = {}
        work = [self.function]
        while work:
            f = self.program.definition(work.pop())
            if id(f) in seen or f.body is None:
                continue
            seen[id(f)] = f
            work += [g for o in listing(f).naming for g in functions_in(o)]
            calls = (i for i in listing(f).instructions if i.opcode in CALLS)
            if any(not any(isinstance(o, Function) for o in i.operands[:2]) for i in calls):  # any in a table may be called
                work += [x for v in self.program._module_variables() for x in _initial_functions(v.initial)]
        return list(seen.values())

    def targets(self) -> dict[int, Function]:
        """The functions that it may call through pointers, by their addresses, as far as these have been asked for."""
        reached = {id(f) for f in self.reached}
        return {at: f for at, f in self.program.addressed.items() if id(f) in reached}

    @cached_property
    def recursive(self) -> Function | None:
        """A function that may come to call itself, by its name."""
        ended: set[int] = set()
        for start in self.reached:
            way: list[tuple[Function, Iterator[Function]]] = [(start, iter(self._called(start)))]
            open_: set[int] = {id(start)}
            while way:
                f, rest = way[-1]
                g = next(rest, None)
                if g is None:
                    way.pop()
                    open_.discard(id(f))
                    ended.add(id(f))
                elif id(g) in open_:
                    return g
                elif id(g) not in ended:
                    way.append((g, iter(self._called(g))))
                    open_.add(id(g))
        return None

    def _called(self, f: Function) -> list[Function]:
        calls = (i for i in listing(f).instructions if i.opcode in CALLS) if f.body is not None else ()
        return [self.program.definition(o) for i in calls for o in i.operands[:2] if isinstance(o, Function)]

    def named(self, handle: str) -> int:
        """How many variables that are textures (texref) or surfaces (surfref) the kernel names."""
        if not self.program.handles:
            return 0
        named = (self.program.definition(v) for f in self.reached for o in listing(f).naming for v in variables_in(o))
        return sum(v.elements for v in {id(v): v for v in named if v.handle == handle}.values())

    @cached_property
    def _shared_variables(self) -> list[Variable]:
        """The variables in shared memory that the kernel may reach."""
        used: dict[int, Variable] = {}
        for f in self.reached:
            used |= {id(v): v for v in body_variables(f) if v.space == "shared"}
            outer = (self.program.definition(v) for o in listing(f).naming for v in variables_in(o) if v.space == "shared")
            used |= {id(v): v for v in outer}
        return list(used.values())

    @cached_property
    def shared_layout(self) -> SharedLayout:
        """Where the kernel's variables in shared memory lie."""
        used = {id(v): v for v in self._shared_variables}
        laid_out = _lay_out(used, self.program.gap)
        return laid_out if laid_out.static <= MOST_WITH_GAPS else _lay_out(used, 0)

    @cached_property
    def shared_gaps(self) -> tuple[Gap, ...]:
        """What lies between variables in shared memory, by the addresses of a block."""
        first = self.reserved_shared
        return tuple(g.moved(first) for g in self.shared_layout.gaps)

    def shared_objects(self, dynamic: int) -> tuple[Placed, ...]:
        """The variables in shared memory by their addresses; those without a size share the dynamic bytes."""
        places = self.shared_layout.places
        found = [Placed(self.reserved_shared + places[id(v)], object_of(v, dynamic)) for v in self._shared_variables]
        return tuple(sorted(found, key=lambda o: o.start))

    @cached_property
    def reserved_shared(self) -> int:
        """Bytes that the system keeps before the program's shared memory: none, unless the program asks where they are."""
        # cooperative groups keep the state of tiles of more than 32 threads there
        asks = any(
            o.__class__ is SpecialRegister and o.name.startswith("%reserved_smem_offset")
            for f in self.reached
            for o in listing(f).others.values()
        )
        return RESERVED_SHARED if asks else 0

    @cached_property
    def stack_start(self) -> int:
        """Where the kernel's frame begins in local memory: a multiple of the alignments of all variables that may lie there."""
        return max((FRAME_ALIGN, *(v.align for f in self.reached for v in frame_variables(f))))

    @property
    def constants_at(self) -> int:
        """See Symbols."""
        return self.program.constants_at

    @property
    def gap(self) -> int:
        """See Symbols."""
        return self.program.gap

    @cached_property
    def static_shared(self) -> int:
        """Bytes of shared memory that the program declares."""
        return self.shared_layout.static

    @property
    def dynamic_start(self) -> int:
        """Where dynamic shared memory begins."""
        return self.shared_layout.dynamic_start

    # ------------------------------------------------------------ operands.Symbols

    def address(self, v: Variable) -> int:
        """A variable's address in its own space."""
        v = self.program.definition(v)
        return self.reserved_shared + self.shared_layout.places[id(v)] if v.space == "shared" else self.program.address(v)

    def generic(self, v: Variable) -> int:
        """A variable's generic address."""
        return self.address(v) + (SHARED_BASE if v.space == "shared" else 0)

    def function_address(self, f: Function) -> int:
        """See LoadedProgram."""
        return self.program.function_address(f)

    def resolve(self, f: Function) -> Function:
        """See LoadedProgram."""
        return self.program.definition(f)

    def plan(self, f: Function, lowering: LoweringOptions = ORDINARY) -> PlanFunction:
        """A function as it runs for this kernel."""
        found = self._plans.get((id(f), lowering))
        if found is None:
            fmad = "none" if id(f) in self.program.unoptimised else self.program.fmad
            found = self._plans[id(f), lowering] = lower(
                f, self, lowering, fmad, flushes=id(f) in self.program.flushing, unified=id(f) in self.program.unified,
                demotes=id(f) in self.program.demoting,
            )  # fmt: skip
        return found

    @property
    def is_planned(self) -> bool:
        """Has any function of it been planned?"""
        return bool(self._plans)


def body_variables(f: Function) -> Iterator[Variable]:
    """Every variable declared in a function's body."""
    for s in listing(f).rest:
        if isinstance(s, Declaration):
            yield from s.variables


def functions_in(op: object) -> list[Function]:
    """Functions that an operand names."""
    match op:
        case Function():
            return [op]
        case Symbol(target=Function() as f):
            return [f]
        case Targets():
            return [t for t in op.targets if isinstance(t, Function)]
        case Vector() | ArgumentsOperand():
            return [f for e in op.elements for f in functions_in(e)]
        case _:
            return []


def variables_in(op: object) -> list[Variable]:
    """Variables that an operand names."""
    match op:
        case Variable():
            return [op]
        case Symbol(target=Variable() as v):
            return [v]
        case AddressOperand(base=Variable() as v):
            return [v]
        case Vector() | ArgumentsOperand():
            return [v for e in op.elements for v in variables_in(e)]
        case _:
            return []


def _plain_bytes(v: Variable, leaves: Sequence[object]) -> bytes | None:
    """The bytes of many plain numbers of an integer or bit type at once; None where there are others."""
    if len(leaves) < MANY or v.type.kind == "f" or v.type.bits > 64 or set(map(type, leaves)) != {int}:
        return None
    kind: Any = f"<u{v.type.bytes}"
    try:
        return np.array(leaves, np.int64).astype(kind).tobytes()
    except OverflowError:
        return None


def _initial_functions(value: Initial | None) -> list[Function]:
    return [f for leaf in leaves_of(value) for f in functions_in(leaf)]
