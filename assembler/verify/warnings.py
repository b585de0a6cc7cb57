"""What is legal and surely wrong: unused or unwritten registers, unreachable code, barriers that a part of the lanes misses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from warplab.isa.control import BARRIERS, CALLS, ENDS

from ..codes import CODES
from ..diagnostics import Diagnostic, Note
from ..flow import Flow, accesses, flow, passed_on
from ..ir import Address, Declaration, Function, Instruction, Module, Pragma, Register, Span, Variable
from ..listing import listing
from . import uninitialized_reads
from .places import places

NAMES = tuple(word for word, code in CODES.items() if code.severity == "warning")
BOILERPLATE = "temp_param_reg"  # nvcc declares it at every call
PRAGMAS = ("nounroll", "used_bytes_mask", "enable_smem_spilling", "frequency")


def warnings(module: Module, chosen: Collection[str] | None) -> Iterator[Diagnostic]:
    """The warnings of a legal module, all or those chosen by name."""
    wanted = frozenset(NAMES if chosen is None else chosen)
    if not wanted:
        return
    for item in module.items:
        if isinstance(item, Function):
            if "ignored-directive" in wanted:
                yield from _directives(module, item)
            if item.body is not None:
                yield from _function(module, item, wanted)


def _warning(module: Module, code: str, message: str, span: Span, *notes: Note) -> Diagnostic:
    return Diagnostic("warning", code, message, span, notes, file=module.name)


def _directives(module: Module, f: Function) -> Iterator[Diagnostic]:
    least = f.directive(".minnctapersm")
    if least is not None and f.directive(".maxntid") is None and f.directive(".reqntid") is None:
        yield _warning(module, "ignored-directive", ".minnctapersm has no effect without .maxntid or .reqntid", least.span)


def _pragma(module: Module, texts: tuple[str, ...], span: Span) -> Iterator[Diagnostic]:
    for text in texts:
        if not text.startswith(PRAGMAS):
            yield _warning(module, "unknown-pragma", f'the pragma "{text}" is not known and has no effect', span)


def _function(module: Module, f: Function, wanted: frozenset[str]) -> Iterator[Diagnostic]:
    columns = listing(f)
    if "unknown-pragma" in wanted:
        for statement in columns.rest:
            if isinstance(statement, Pragma):
                yield from _pragma(module, statement.texts, statement.span)
    graph = flow(f)
    if wanted & {"unused-register", "never-written", "read-first"}:
        yield from _registers(module, f, graph, wanted)
    if "unreachable-code" in wanted:
        yield from _unreachable(module, graph)
    if "missing-return" in wanted:
        yield from _falls_off(module, f, graph)
    if "parameter-address" in wanted and f.is_entry:
        yield from _parameter_addresses(module, f)
    if "divergent-barrier" in wanted and not listing(f).opcodes.isdisjoint(BARRIERS):
        yield from _barriers(module, f, graph)


def _parameter_addresses(module: Module, f: Function) -> Iterator[Diagnostic]:
    """Numbers among the parameters whose addresses are taken in a kernel that has no use for addresses in .param."""
    columns = listing(f)
    through = [s for s in columns.on_parameters(("ld",)) if isinstance(s.operands[1], Address) and isinstance(s.operands[1].base, Register)]
    if through or any("param" in s.modifiers for s in columns.shapes_of(("cvta",))):
        return
    moves = columns.shapes_of(("mov",))
    for s in columns.instructions:
        v = s.operands[1] if s.shape in moves and len(s.operands) == 2 else None
        if isinstance(v, Variable) and v in f.params and not v.dims:
            text = f"{getattr(s.operands[0], 'name', 'the result')} gets the address of the parameter {v.name}, not its value"
            help = f"write ld.param.{v.type} to get the value of [{v.name}]"
            yield replace(_warning(module, "parameter-address", text, places(module, s).whole, Note("declared here", v.span)), help=help)


def _registers(module: Module, f: Function, graph: Flow, wanted: frozenset[str]) -> Iterator[Diagnostic]:
    columns = listing(f)
    given = {v.register for v in (*f.params, *f.returns) if v.register is not None}
    missing = (columns.used & set(map(id, f.registers))) - uninitialized_reads.written(columns) - set(map(id, given))
    early = uninitialized_reads.read_early(columns, graph) if "read-first" in wanted else set()
    if missing or early:
        yield from _read_wrongly(module, graph, wanted, missing, early, given, columns.touching(missing | early))
    if "unused-register" in wanted:
        declared = [r for s in columns.rest if isinstance(s, Declaration) for r in s.registers]
        yield from _unused(module, [r for r in declared if id(r) not in columns.used and r.name != BOILERPLATE])


def _unused(module: Module, registers: Sequence[Register]) -> Iterator[Diagnostic]:
    for r in registers:
        yield _warning(module, "unused-register", f"{r.name} is declared and not used", r.span)


def _read_wrongly(
    module: Module, graph: Flow, wanted: frozenset[str], missing: set[int], early: set[int], given: set[Register],
    instructions: Sequence[Instruction],
) -> Iterator[Diagnostic]:  # fmt: skip
    """Registers that are read and never written, and those that are read first on some way, out of those that these instructions name."""
    unwritten = {r for s in instructions for r in accesses(s)[0] if id(r) in missing}
    for s in instructions:
        if s.opcode not in CALLS:
            unwritten.difference_update(r for r in passed_on(s) if r is not s.guard)
    if early:
        yield from _read_first(module, graph, given | unwritten, early, instructions)
    if "never-written" in wanted:
        for s in instructions:
            for r in dict.fromkeys(accesses(s)[0]):
                if r in unwritten:
                    unwritten.discard(r)
                    where = places(module, s)
                    span = next((p for p in (where.guard, *where.operands) if r.name in module.text[p.start : p.end]), where.whole)
                    yield _warning(module, "never-written", f"{r.name} is read here and never written", span, Note("declared here", r.span))


def _read_first(
    module: Module, graph: Flow, known: Collection[Register], early: set[int], instructions: Sequence[Instruction]
) -> Iterator[Diagnostic]:
    """Registers that some way through the function reads before anything has written them."""
    at_start = graph.live_at_start(instructions) if graph.blocks else 0
    if not at_start:
        return
    sometimes: set[Register] = set(known)  # written under a guard, or in parts: then the reader may know better
    for s in instructions:
        _, results = accesses(s)
        if s.guard is not None or any(not isinstance(o, Register) for o in s.operands[:1]):
            sometimes.update(results)
    reached = {id(s) for b in graph.reachable for s in graph.blocks[b].instructions}
    for s in instructions:
        if id(s) not in reached:
            continue
        passed = set(map(id, passed_on(s)))
        for r in dict.fromkeys(accesses(s)[0]):
            if id(r) in passed and r is not s.guard:
                continue
            if id(r) in early and at_start >> r.index & 1 and r not in sometimes:
                sometimes.add(r)
                where = places(module, s)
                span = next((p for p in (where.guard, *where.operands[1:]) if r.name in module.text[p.start : p.end]), where.whole)
                text = f"{r.name} may be read here before it is written"
                yield _warning(module, "read-first", text, span, Note("declared here", r.span))


def _unreachable(module: Module, graph: Flow) -> Iterator[Diagnostic]:
    previous = True
    for block in graph.blocks:
        reached = block.index in graph.reachable
        if not reached and previous and block.instructions:
            yield _warning(module, "unreachable-code", "nothing leads to this instruction", places(module, block.instructions[0]).whole)
        previous = reached


def _falls_off(module: Module, f: Function, graph: Flow) -> Iterator[Diagnostic]:
    assert f.body is not None
    for index in graph.reachable:
        block = graph.blocks[index]
        last = block.terminator
        leaves = last is not None and last.guard is None and last.opcode in ENDS
        if not block.successors and not leaves:
            end = Span(max(f.body.span.end - 1, 0), f.body.span.end, *_line(module, f.body.span.end - 1))
            yield _warning(module, "missing-return", f"{f.name} can run to its end without ret or exit", end)
            return


def _line(module: Module, at: int) -> tuple[int, int]:
    return module.text.count("\n", 0, at) + 1, at - module.text.rfind("\n", 0, at)


def _barriers(module: Module, f: Function, graph: Flow) -> Iterator[Diagnostic]:
    """A barrier of the whole CTA between a branch on a value that lanes differ in and the place where they meet again."""
    barriers = {
        block.index: instruction
        for block in graph.blocks
        if block.index in graph.reachable
        for instruction in block.instructions
        if instruction.opcode in BARRIERS
        and "sync" in instruction.modifiers
        and not {"warp", "cluster"} & set(instruction.modifiers)
        and len(instruction.operands) == 1
    }
    if not barriers:
        return
    told: set[int] = set()
    for branch, meet in uninitialized_reads.uneven_branches(listing(f), graph):
        for index in sorted(_missed(graph, branch, meet, barriers) - told):
            told.add(index)
            note = Note("the lanes diverge here", places(module, graph.blocks[branch].instructions[-1]).whole)
            where = places(module, barriers[index]).whole
            found = _warning(module, "divergent-barrier", "not all lanes reach this barrier together", where, note)
            yield replace(found, help="move the barrier to where all threads execute it, behind the place where the branches join")


def _missed(graph: Flow, branch: int, meet: int, barriers: Collection[int]) -> set[int]:
    """The barriers on one side of a branch where the lanes of the other side come to the meeting place without one."""
    sides = [_side(graph, s, meet) for s in dict.fromkeys(graph.blocks[branch].successors)]
    free = [_side(graph, s, meet, barriers) for s in dict.fromkeys(graph.blocks[branch].successors)]
    missed: set[int] = set()
    for i, side in enumerate(sides):
        if any(meet in other for k, other in enumerate(free) if k != i):
            missed |= side & set(barriers)
    return missed - {meet}


def _side(graph: Flow, start: int, meet: int, closed: Collection[int] = ()) -> set[int]:
    """The blocks from `start` to `meet`, not past `meet` and not through closed ones."""
    found: set[int] = set()
    work = [start]
    while work:
        b = work.pop()
        if b in found or (b in closed and b != meet):
            continue
        found.add(b)
        if b != meet:
            work += graph.blocks[b].successors
    return found
