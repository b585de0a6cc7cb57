"""Facts about functions for people: parameters with offsets, memory by space, registers with the most that live at once, barriers.

Everything is read off the IR and its flow; `warplab info` prints it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warplab.isa.control import CALLS
from warplab.isa.types import ScalarType

from .flow import accesses, flow
from .ir import Declaration, Function, Immediate, Instruction, Module, Variable
from .listing import listing
from .walk import declared, functions, named, statements

CLASSES = ("pred", "16", "32", "64", "128")  # bits of a register; narrower ones count as 16


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter in the parameter space."""

    name: str
    type: str  # as declared: u64, v4.f32
    dims: tuple[int, ...]
    offset: int
    size: int
    align: int
    pointer: tuple[str, int] | None  # space and alignment of what it points to


@dataclass(frozen=True, slots=True)
class Registers:
    """Virtual registers of one class."""

    declared: int
    used: int
    live: int  # the most whose value is still needed at one place


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """What one function is made of and what it needs."""

    name: str
    is_entry: bool
    linkage: str
    line: int
    params: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]
    param_bytes: int
    shared_bytes: int  # static, of this function and of all that it may call
    dynamic_shared: bool  # does it use .extern .shared memory whose size the launch gives?
    const_bytes: int  # of the constants that it and its callees name
    local_bytes: int
    registers: dict[str, Registers]
    live_words: int  # the most 32-bit registers that live values fill at one place
    barriers: tuple[int, ...]
    any_barrier: bool  # does a register choose the barrier?
    directives: tuple[tuple[str, tuple[int | str, ...]], ...]
    instructions: int
    blocks: int
    loops: int
    calls: tuple[str, ...]
    indirect_calls: bool


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """What a module holds."""

    name: str
    version: tuple[int, int]
    targets: tuple[str, ...]
    address_size: int
    global_bytes: int
    const_bytes: int
    shared_bytes: int
    functions: tuple[FunctionInfo, ...]


def info(module: Module) -> ModuleInfo:
    """The facts about a module and about each function that it defines."""
    defined = [f for f in module.items if isinstance(f, Function) and f.body is not None]
    outer = [v for i in module.items for v in declared(i)]
    inner = [v for f in defined for s in statements(f.body) for v in declared(s)]

    def total(space: str) -> int:
        return layout(v for v in (*outer, *inner) if v.space == space and v.linkage != "extern")[1]

    return ModuleInfo(
        module.name, module.version, module.targets, module.address_size,
        total("global"), total("const"), total("shared"),
        tuple(function_info(f) for f in defined),
    )  # fmt: skip


def layout(variables: Iterable[Variable]) -> tuple[dict[Variable, int], int]:
    """The offset of each variable, one after the other as their alignments allow, and the size of all."""
    places: dict[Variable, int] = {}
    at = 0
    for v in variables:
        at += -at % max(v.align, 1)
        places[v] = at
        at += v.size
    return places, at


def sizes(function: Function) -> tuple[int, int, int]:
    """Bytes of parameters, of static shared memory (with all that it may call) and of local memory."""
    reached = _reached(function)
    mentioned = (v for f in reached for v in (*(d for s in listing(f).rest for d in declared(s)), *_named(f)))
    shared = dict.fromkeys(v for v in mentioned if v.space == "shared" and v.linkage != "extern")
    local = (v for s in listing(function).rest for v in declared(s) if v.space == "local")
    return layout(v for v in function.params if v.register is None)[1], layout(shared)[1], layout(local)[1]


def function_info(function: Function) -> FunctionInfo:
    """The facts about a function that has a body."""
    graph = flow(function)
    reached = _reached(function)
    named = [v for f in reached for v in _named(f)]
    param_bytes, shared_bytes, local_bytes = sizes(function)
    constants = dict.fromkeys(v for v in named if v.space == "const")
    instructions = [i for b in graph.blocks for i in b.instructions]
    used = 0
    for i in instructions:
        for r in (r for side in accesses(i) for r in side):
            used |= 1 << r.index
    barriers, any_barrier = _barriers(instructions)
    registers, words = _registers(function, used)
    return FunctionInfo(
        name=function.name,
        is_entry=function.is_entry,
        linkage=function.linkage,
        line=function.span.line,
        params=_parameters(function.params),
        returns=_parameters(function.returns),
        param_bytes=param_bytes,
        shared_bytes=shared_bytes,
        dynamic_shared=any(v.space == "shared" and v.linkage == "extern" and v.size == 0 for v in named),
        const_bytes=layout(v for v in constants if v.linkage != "extern")[1],
        local_bytes=local_bytes,
        registers=registers,
        live_words=words,
        barriers=barriers,
        any_barrier=any_barrier,
        directives=tuple((d.name, d.values) for d in function.directives),
        instructions=len(instructions),
        blocks=sum(bool(b.instructions) for b in graph.blocks),
        loops=len(graph.loops),
        calls=tuple(dict.fromkeys(f.name for i in instructions if i.opcode in CALLS for f in functions(i.operands[:2]))),
        indirect_calls=any(i.opcode in CALLS and next(functions(i.operands[:2]), None) is None for i in instructions),
    )


def _parameters(variables: tuple[Variable, ...]) -> tuple[Parameter, ...]:
    places, _ = layout(variables)
    return tuple(
        Parameter(v.name, f"v{v.vector}.{v.type}" if v.vector > 1 else str(v.type), v.dims, at, v.size, v.align, v.pointer)
        for v, at in places.items()
    )


def _class(kind: ScalarType) -> str:
    return "pred" if kind.kind == "p" else str(max(kind.bits, 16))


def _registers(function: Function, used: int) -> tuple[dict[str, Registers], int]:
    """Registers by class, and the most words that are live at once."""
    masks = dict.fromkeys(CLASSES, 0)
    written = dict.fromkeys(CLASSES, 0)
    for s in statements(function.body):
        if isinstance(s, Declaration) and s.type is not None:
            written[_class(s.type)] += s.vector * sum(abs(count) for _, count in s.stems)
    weights: dict[tuple[str, int], int] = {}  # class and vector length -> registers
    for r in function.registers:
        kind = _class(r.type)
        masks[kind] |= 1 << r.index
        weights[kind, r.vector] = weights.get((kind, r.vector), 0) | 1 << r.index
    most = dict.fromkeys(CLASSES, 0)
    words = 0
    per = {"pred": 0, "16": 1, "32": 1, "64": 2, "128": 4}
    graph = flow(function)
    for block in graph.reachable:
        lives = {graph.live_in[block], *(live for _, live in graph.live_after(block))}
        for live in lives:
            counts = dict.fromkeys(CLASSES, 0)
            for (kind, vector), mask in weights.items():
                counts[kind] += (live & mask).bit_count() * vector
            words = max(words, sum(per[k] * n for k, n in counts.items()))
            most = {k: max(most[k], n) for k, n in counts.items()}
    found = {k: Registers(written[k], (m & used).bit_count(), most[k]) for k, m in masks.items() if written[k] or m}
    return found, words


def _barriers(instructions: Iterable[Instruction]) -> tuple[tuple[int, ...], bool]:
    """The numbered barriers of the CTA that are named, and whether a register names one."""
    found: set[int] = set()
    chosen = False
    for i in instructions:
        if i.form is None or i.form.effect != "barrier":
            continue
        operand = i.operands[1 if i.form.operands[0].is_destination else 0]
        if isinstance(operand, Immediate):
            found.add(int(operand.value))
        else:
            chosen = True
    return tuple(sorted(found)), chosen


def _named(function: Function) -> Iterator[Variable]:
    return (o for o in named(listing(function).naming) if isinstance(o, Variable))


def _reached(function: Function) -> list[Function]:
    """The function and all whose names it, or one that it reaches, mentions."""
    found = {function: None}
    work = [function]
    while work:
        for f in functions(listing(work.pop()).naming):
            f = f.definition or f
            if f not in found:
                found[f] = None
                work.append(f)
    return list(found)
