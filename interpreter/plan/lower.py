"""A function to its plan: basic blocks cut into segments where lanes may wait, registers to slots, memory to the frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from warplab.assembler.flow import flow
from warplab.assembler.ir import Declaration, Function, Instruction, Variable
from warplab.assembler.listing import listing

from ..observe import announce
from ..ptxas.contraction import DEFAULT, Fmad, contract
from ..vector import ends as branches
from ..vector.group import EXIT
from .dtypes import choose_dtypes, pointer_registers
from .operands import Operands, Symbols
from .ops import InstructionSteps
from .plan import Home, Manner, PlanFunction, Segment, Site, Step
from .reconvergence import Meetings, loop_meetings
from .shapes import Known, known
from .slots import assign, has_loops, lives, masks_of, straight_meetings


def lower(function: Function, symbols: Symbols, manner: Manner, fmad: Fmad = DEFAULT, *, flushes: bool = False) -> PlanFunction:
    """Plans one function; `flushes`: it was written for devices that have no subnormal singles."""
    plan = Lowering(function, symbols, manner, fmad, flushes).plan
    if manner.observed:
        for s in plan.segments:
            announce(s, plan.homes)
    return plan


class Lowering(InstructionSteps):
    """The work of lower(), function by function."""

    def __init__(self, function: Function, symbols: Symbols, manner: Manner, fmad: Fmad, flushes: bool) -> None:
        self.function = function
        self.first_generation = manner.first_generation
        self.flushes = flushes or manner.first_generation
        f = flow(function)
        self.plan = PlanFunction(function, f)
        self.looping = has_loops(f)
        self.blocks = list(f.rpo if self.looping else f.depth_first)  # what follows a loop comes after all of it
        self.order = {b: n for n, b in enumerate(self.blocks)}
        self.meetings = loop_meetings(f, manner.lockstep) if self.looping else Meetings(straight_meetings(f))
        self.labels = {id(label): b.index for b in f.blocks for label in b.labels}
        self.locations = {id(i): at for b in f.blocks for i, at in zip(b.instructions, b.locations, strict=True) if at is not None}
        self.known = {id(i): known(i) for b in self.blocks for i in f.blocks[b].instructions}
        self.contraction = contract(f, self.known, "none" if manner.first_generation else fmad)
        self.known.update(self.contraction.known)
        pointers = pointer_registers(self.known.values())
        seen = {r.index: r for k in self.known.values() for r in k.registers}
        dtypes = choose_dtypes(self.known.values(), seen, pointers)
        formals = [v.register for v in (*function.params, *function.returns) if v.register is not None]
        for r in formals:
            dtypes.setdefault(r.index, r.type.dtype if r.type.elements == 1 else np.dtype(f"u{r.type.bytes}"))
        self.live_in, self.live_out = lives(f, self.known)
        self.plan.homes, top = assign(f, self.blocks, (self.live_in, self.live_out), seen, dtypes, pointers, 1, self.known)
        for r in formals:
            if r.index not in self.plan.homes:
                self.plan.homes[r.index] = Home(top, 1, dtypes[r.index])
                top += 1
        self._frame()
        self.exchanges = {}
        self.live_after: dict[int, int] = {}  # by id of a guarded Instruction
        self.watching: dict[int, bool] = {}  # by id of a Function: does it look at memory that others change?
        self.operands = Operands(self.plan.homes, symbols, self.plan.frame, top)
        self._segments()
        self._template(top)

    # ------------------------------------------------------------ memory of the frame

    def _frame(self) -> None:
        at = 0
        for v in frame_variables(self.function):
            align = max(v.align, 4)
            at = -(-at // align) * align
            self.plan.frame[id(v)] = at
            at += max(v.size, 1)
        self.plan.frame_size = -(-at // 16) * 16

    def _template(self, top: int) -> None:
        entry = self.live_in[self.blocks[0]] if self.blocks else 0
        template: list[Any] = [None] * top + self.operands.values
        for index, home in self.plan.homes.items():
            if entry >> index & 1:  # read before it is ever written: a fixed zero
                for s in range(home.slot, home.slot + home.width):
                    self.plan.zeros[s] = np.zeros((1, 1), home.dtype)
        self.plan.template = template
        self.plan.wanted = entry

    # ------------------------------------------------------------ segments

    def _segments(self) -> None:
        plan, f = self.plan, self.plan.flow
        plan.first = [-1] * len(f.blocks)
        cut: list[tuple[int, list[Instruction], Instruction | None]] = []
        for b in self.blocks:
            plan.first[b] = len(cut)
            body: list[Instruction] = []
            for i in f.blocks[b].instructions:
                shape = self.known[id(i)].shape
                if body and shape.stands_alone:
                    cut.append((b, body, None))
                    body = []
                if shape.is_stop:
                    cut.append((b, body, i))
                    body = [i] if shape.needs_lanes else []  # waits, then executes as the first of the next segment
                else:
                    body.append(i)
            last = body[-1] if body and self.known[id(body[-1])].shape.ends_block else None
            cut.append((b, body[:-1] if last else body, last))
            if last is not None and last.opcode == "call" and any(self.order[s] <= self.order[b] for s in f.blocks[b].successors):
                cut.append((b, [], None))  # from the call back to the head of a loop: that is a turn, too
        self.cut = cut
        self._liveness(cut)
        for pc, (b, body, last) in enumerate(cut):
            plan.segments.append(self._segment(pc, b, body, last))

    def _liveness(self, cut: list[tuple[int, list[Instruction], Instruction | None]]) -> None:
        plan, f = self.plan, self.plan.flow
        returned = 0
        for v in self.function.returns:
            if v.register is not None:
                returned |= 1 << v.register.index
        live_in: list[int] = [0] * len(cut)
        after = 0
        for pc in reversed(range(len(cut))):
            b, body, last = cut[pc]
            ends = pc + 1 == len(cut) or cut[pc + 1][0] != b
            if ends and pc == plan.first[b] and not any(i.guard is not None for i in body):  # a whole block
                live_in[pc] = after = self.live_in[b]
                continue
            live = self.live_out[b] if ends else after
            if ends and not f.blocks[b].successors:
                live |= returned
            if last is not None:
                k = self.known[id(last)]
                if not k.shape.needs_lanes:
                    live = _before(k, live)
                else:
                    for index in k.read:
                        live |= 1 << index
            for i in reversed(body):
                if i.guard is not None:
                    self.live_after[id(i)] = live
                live = _before(self.known[id(i)], live)
            live_in[pc] = after = live
        plan.live_in = masks_of([*live_in, returned], plan.homes)

    def _segment(self, pc: int, b: int, body: list[Instruction], last: Instruction | None) -> Segment:
        homes = self.plan.homes
        reads: dict[int, None] = {}
        writes = 0
        for i in (*body, *([last] if last is not None else [])):
            k = self.known[id(i)]
            read, written = k.read, k.written
            if not k.shape.kills:
                live = self.live_after.get(id(i), -1)
                read = read + [index for index in written if live >> index & 1]
            for index in read:
                home = homes[index]
                if home.width == 1:
                    if not writes >> home.slot & 1:
                        reads[home.slot] = None
                    continue
                for s in range(home.slot, home.slot + home.width):
                    if not writes >> s & 1:
                        reads[s] = None
            if i is last and k.shape.needs_lanes:
                continue
            for index in written:
                home = homes[index]
                writes |= ((1 << home.width) - 1) << home.slot
        steps: list[Step] = []
        sites: list[Site] = []
        for i in body:
            step = self.step(i)
            if step is not None:
                steps.append(step)
                sites.append(self.site(i, b))
        segment = Segment(b, tuple(steps), tuple(sites), None, None, tuple(reads), writes, len(body) + (last is not None))
        segment.exchange = self.exchanges.get(id(body[0])) if body else None
        if last is not None:
            segment.end = self.site(last, b)
        segment.terminate = branches.terminator(self, pc, b, last)
        return segment

    def place_of(self, b: int | None) -> int:
        """The first place of a block; None stands for the function's end."""
        return EXIT if b is None else self.plan.first[b]

    def site(self, i: Instruction, b: int) -> Site:
        """How messages name an instruction."""
        return Site(i, self.locations.get(id(i)), self.function.name)


def frame_variables(function: Function) -> list[Variable]:
    """What lives on the stack: .local variables, .param variables of the body, and a device function's own parameters and results."""
    out: list[Variable] = []
    if not function.is_entry:
        out += [v for v in (*function.params, *function.returns) if v.register is None]
    for s in listing(function).rest:
        if isinstance(s, Declaration):
            out += [v for v in s.variables if v.space in ("local", "param")]
    return out


def _before(k: Known, live: int) -> int:
    """What is live before an instruction."""
    if k.shape.kills:
        for index in k.written:
            live &= ~(1 << index)
    elif k.instruction.guard is None:  # written in part
        for index in k.written:
            live |= 1 << index
    for index in k.read:
        live |= 1 << index
    return live
