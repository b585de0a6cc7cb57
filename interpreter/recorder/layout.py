"""What a recording says of a segment of a plan once, and not each time it is executed: its instructions, and which values it writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warplab.assembler.ir import Address, Instruction, Register

from ..plan import uses
from ..plan.plan import Barrier, Branch, Call, ClusterWait, Guard, Home, Leave, Op, PlanFunction, Segment, Site, Sync, Table
from ..plan.roles import registers_of
from ..plan.shapes import known

MOST = 4  # values that are taken together: they are copied while they are in the processor's caches
ENTRY = -1  # the step of values that are there before a segment's first instruction


@dataclass(frozen=True, slots=True)
class RecordedInstruction:
    """An instruction as messages name it."""

    function: str
    module: int  # of the program's, whose text it stands in
    line: int
    column: int
    text: str
    opcode: str
    source: str  # file:line of the .loc in force
    guard: str  # the register, with a "!" where it is negated
    reads: tuple[str, ...]  # registers, in the order of the text; the guard left out
    bases: tuple[str, ...]  # those of them that are only read for an address
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One value that each execution of a segment leaves."""

    step: int  # of the segment's instructions, or ENTRY
    register: str
    role: str  # "write"; "guard", the predicate that lets lanes take part; "unset", what a register holds that nothing has written
    part: int  # which slot of a register that takes several
    at: int  # among the values that are kept of an execution
    negated: bool = False


@dataclass(slots=True, eq=False)
class SegmentLayout:
    """A segment, as the recording keeps its executions."""

    function: str
    pc: int
    first: int  # of its instructions, in the list of the recording
    count: int  # how many they are
    columns: tuple[Column, ...]
    captures: int  # so many times values are taken in an execution
    kept: int  # values


@dataclass(slots=True)
class Captures:
    """Before which operation which slots are to be taken; `tail`: behind the last one."""

    before: dict[int, tuple[int, ...]]
    tail: tuple[int, ...]
    head: tuple[int, ...]  # before the first one, in any case


def instructions_of(segment: Segment) -> list[Site]:
    """The instructions that an execution executes, in order."""
    sites, last = [op.site for op in segment.ops], segment.site
    form = None if last is None else last.instruction.form
    if last is None or (form is not None and not form.effect):  # lanes wait for it there; it is executed in the next segment
        return sites
    return [*sites, last]


def guard_of(segment: Segment) -> Guard | None:
    """What decides which lanes take part in the instruction that ends a segment."""
    match segment.end:
        case Branch() | Table() | Call() | Leave() | Barrier() | Sync() | ClusterWait():
            return segment.end.guard
        case _:
            return None


def registers_written(i: Instruction) -> list[Register]:
    """The registers that an instruction writes."""
    k = known(i)
    return [k.registers[n] for n in k.facts.written]


def registers_read(i: Instruction) -> list[Register]:
    """The registers that an instruction reads, its guard left out."""
    k = known(i)
    return list(dict.fromkeys(r for n in k.facts.read if (r := k.registers[n]) is not i.guard))


def bases_of(i: Instruction) -> list[Register]:
    """The registers that an instruction reads for nothing but an address."""
    inside = [r for o in i.operands if isinstance(o, Address) for r in registers_of(o)]
    outside = [r for o in i.operands if not isinstance(o, Address) for r in registers_of(o)]
    return [r for r in inside if r not in outside]


def slots_written(op: Op) -> list[int]:
    """The slots of the value that the text writes: not those of the factors of a product that is contracted."""
    if op.how in ("factors", "quotient"):
        return [] if op.product is None else uses.targets(op.product.target)
    return uses.targets(op.target)


def columns_of(
    plan: PlanFunction, segment: Segment, pc: int, entries: Sequence[tuple[int, Register]]
) -> tuple[list[Column], Captures, int, int]:
    """The columns of a segment; how its steps leave them; how often, and how many values.

    A slot is taken when it is about to be written again, or at the end: all that the segment has written by then is taken with it.
    """
    columns: list[Column] = []
    pending: dict[int, list[tuple[int, str, str, int, bool]]] = {}  # by slot
    before: dict[int, tuple[int, ...]] = {}
    kept = 0

    def take() -> tuple[int, ...]:
        nonlocal kept
        slots = tuple(pending)
        for n, slot in enumerate(slots):
            columns.extend(Column(step, name, role, part, kept + n, negated) for step, name, role, part, negated in pending[slot])
        kept += len(slots)
        pending.clear()
        return slots

    for slot, name, role, part in _at_entry(plan, pc, entries):
        pending.setdefault(slot, []).append((ENTRY, name, role, part, False))
    head = take()
    for n, op in enumerate(segment.ops):
        if op.guard is not None:
            pending.setdefault(op.guard.slot, []).append((n, _name(op.site.instruction.guard), "guard", 0, op.guard.negated))
        written = uses.written(op)
        if len(pending) >= MOST or any(slot in pending for slot in written):
            before[n] = take()
        own = {home.slot + k: (r.name, k) for r in registers_written(op.site.instruction)
               if (home := plan.homes.get(r.index)) is not None for k in range(home.width)}  # fmt: skip
        for slot in slots_written(op):
            if slot in own:
                name, part = own[slot]
                pending.setdefault(slot, []).append((n, name, "write", part, False))
    guard = guard_of(segment)
    if guard is not None and segment.site is not None and len(instructions_of(segment)) > len(segment.ops):
        pending.setdefault(guard.slot, []).append((len(segment.ops), _name(segment.site.instruction.guard), "guard", 0, guard.negated))
    tail = take()
    captures = len(before) + bool(tail) + bool(head)
    return columns, Captures(before, tail, head), captures, kept


def _name(guard: Register | None) -> str:
    return "" if guard is None else guard.name


def _at_entry(plan: PlanFunction, pc: int, entries: Sequence[tuple[int, Register]]) -> Iterator[tuple[int, str, str, int]]:
    """The values that are new before the first instruction: arguments, what a call or a barrier before has given, what nothing has set."""
    seen: set[int] = set()
    if pc == 0:
        for v, place in zip(plan.function.params, plan.parameters, strict=False):
            if isinstance(place, Home):
                for k in range(place.width):
                    seen.add(place.slot + k)
                    yield place.slot + k, v.name if v.register is None else v.register.name, "write", k
    for slot, register in entries:
        home = plan.homes.get(register.index)
        if home is not None and plan.live_in[pc] >> slot & 1 and slot not in seen:
            seen.add(slot)
            yield slot, register.name, "write", slot - home.slot
    if pc == 0 and plan.zeros:
        live = plan.live_in[0]
        for register in registers_of_function(plan):
            home = plan.homes[register.index]
            for k in range(home.width):
                slot = home.slot + k
                if slot in plan.zeros and slot not in seen and live >> slot & 1:
                    seen.add(slot)
                    yield slot, register.name, "unset", k


def registers_of_function(plan: PlanFunction) -> list[Register]:
    """Every register that has a home, in the order of the text."""
    found: dict[int, Register] = {}
    for segment in plan.segments:
        for site in [*[op.site for op in segment.ops], *([] if segment.site is None else [segment.site])]:
            for r in known(site.instruction).registers:
                found.setdefault(r.index, r)
    for v in (*plan.function.params, *plan.function.returns):
        if v.register is not None:
            found.setdefault(v.register.index, v.register)
    return [r for r in found.values() if r.index in plan.homes]


def results_before(plan: PlanFunction) -> dict[int, list[tuple[int, Register]]]:
    """For each place behind a call or a barrier, the slots that this has set."""
    out: dict[int, list[tuple[int, Register]]] = {}
    for segment in plan.segments:
        end, site = segment.end, segment.site
        slots = uses.set_by(end)
        if not slots or site is None:
            continue
        own = {home.slot + k: r for r in registers_written(site.instruction)
               if (home := plan.homes.get(r.index)) is not None for k in range(home.width)}  # fmt: skip
        after = end.after if isinstance(end, Call) else end.past if isinstance(end, Barrier) else None
        if after is not None and after >= 0:
            out.setdefault(after, []).extend((slot, own[slot]) for slot in slots if slot in own)
    return out
