"""A function to its plan: basic blocks cut into segments where lanes may wait, registers to slots, memory to the frame."""

from __future__ import annotations

import numpy as np

from warplab.assembler.flow import flow
from warplab.assembler.ir import Declaration, Function, Instruction, Variable
from warplab.assembler.listing import listing
from warplab.assembler.walk import outer_locals
from warplab.isa.control import CALLS

from ..memory.objects import Gap, object_of
from ..ptxas.contraction import DEFAULT, Fmad, contract
from ..ptxas.samplers import without_samplers
from .clocks import with_clocks
from .dtypes import choose_dtypes, pointer_registers
from .ends import Ends
from .masked import without_unused
from .operands import Operands, Symbols
from .ops import Ops
from .plan import FRAME_ALIGN, Home, InFrame, LoweringOptions, PlanFunction, Segment, Site
from .reconvergence import has_loops, meetings
from .roles import meets_others
from .shapes import Known, known
from .slots import assign, lives, masks_of
from .spinning import Patience

LOCAL_GAP = 64  # bytes at most that are left between variables of .local: each call has them
Cut = tuple[int, list[Instruction], Instruction | None]  # the block, the instructions that run, the one that ends the segment


def lower(
    function: Function, symbols: Symbols, lowering: LoweringOptions, fmad: Fmad = DEFAULT, *, flushes: bool = False, unified: bool = False,
    demotes: bool = False,
) -> PlanFunction:  # fmt: skip
    """Plans one function; `flushes`: it was written for devices that have no subnormal singles; `unified`: textures bring their samplers;
    `demotes`: it asks for single precision instead of double."""
    return Lowering(function, symbols, lowering._replace(demotes=lowering.demotes or demotes), fmad, flushes, unified).planned()


class Lowering:
    """The work of lower()."""

    def __init__(self, function: Function, symbols: Symbols, lowering: LoweringOptions, fmad: Fmad, flushes: bool, unified: bool) -> None:
        self.function = function
        f = without_unused(flow(function))
        f = self.flow = without_samplers(f) if unified else f
        self.known = {id(i): known(i) for b in f.depth_first for i in f.blocks[b].instructions}
        contraction = contract(f, self.known, "none" if lowering.first_generation or lowering.demotes else fmad)
        self.known.update(contraction.known)
        self.origin = contraction.origin
        f = self.flow = contraction.flow or f
        looping = has_loops(f)
        self.blocks = list(f.rpo if looping else f.depth_first)  # what follows a loop comes after all of it
        self.order = {b: n for n, b in enumerate(self.blocks)}
        self.locations = {id(i): at for b in f.blocks for i, at in zip(b.instructions, b.locations, strict=True) if at is not None}
        self.live_in, self.live_out = lives(f, self.known)
        self.homes, self.slots = self._homes()
        self.gaps: list[Gap] = []
        self.frame, self.frame_size = self._frame(symbols.gap)
        self.live_after: dict[int, int] = {}  # by id of a guarded Instruction
        self.cut = self._cut(lowering.stops)
        self.operands = Operands(self.homes, symbols, {id(v): at for v, at in self.frame}, self.slots, function.is_entry)
        first = [-1] * len(f.blocks)
        for pc, (b, _, _) in reversed(list(enumerate(self.cut))):
            first[b] = pc
        self.first = first
        self.ops = Ops(
            self.operands,
            self.known,
            contraction,
            first_generation=lowering.first_generation,
            flushes=flushes or lowering.first_generation,
            demotes=lowering.demotes,
        )
        met = meetings(f, looping, lowering.lockstep)
        self.ends = Ends(f, self.order, first, met, Patience(f, symbols.resolve), self.operands, self.ops)

    def planned(self) -> PlanFunction:
        """The whole function."""
        live_in = self._liveness()
        segments = with_clocks([self._segment(pc, b, body, last) for pc, (b, body, last) in enumerate(self.cut)])
        entry = self.live_in[self.blocks[0]] if self.blocks else 0
        zeros = {}  # of what is read before it is ever written
        for index, home in self.homes.items():
            if entry >> index & 1:
                for s in range(home.slot, home.slot + home.width):
                    zeros[s] = home.dtype
        return PlanFunction(
            self.function, segments, live_in, self.homes, self.slots, self.operands.values, zeros,
            self._places(self.function.params, entry), self._places(self.function.returns, -1), self.frame, self.frame_size,
            tuple(self.gaps), max((FRAME_ALIGN, *(v.align for v, _ in self.frame))),
        )  # fmt: skip

    # ------------------------------------------------------------ registers and memory

    def _homes(self) -> tuple[dict[int, Home], int]:
        """The home of each register, and the first slot behind them; slot 0 is the engine's."""
        pointers = pointer_registers(self.known.values())
        seen = {r.index: r for k in self.known.values() for r in k.registers}
        dtypes = choose_dtypes(self.known.values(), seen, pointers)
        formals = [v.register for v in (*self.function.params, *self.function.returns) if v.register is not None]
        for r in formals:
            dtypes.setdefault(r.index, r.type.dtype if r.type.elements == 1 else np.dtype(f"u{r.type.bytes}"))
        homes, top = assign(self.flow, self.blocks, (self.live_in, self.live_out), seen, dtypes, pointers, 1, self.known)
        for r in formals:
            if r.index not in homes:
                homes[r.index] = Home(top, 1, dtypes[r.index], name=r.name)
                top += 1
        return homes, top

    def _frame(self, gap: int) -> tuple[tuple[tuple[Variable, int], ...], int]:
        """The variables and the frame's size; `gap` bytes are left before and behind each variable of .local."""
        frame = []
        at = 0
        for v in frame_variables(self.function):
            align, own = max(v.align, 4), min(gap, LOCAL_GAP) if v.space == "local" else 0
            start = -(-(at + own) // align) * align
            frame.append((v, start))
            end = start + max(v.size, 1)
            at = end + own
            if own:
                self.gaps += (Gap(start - own, start, object_of(v), start), Gap(end, at, object_of(v), start))
        return tuple(frame), -(-at // FRAME_ALIGN) * FRAME_ALIGN

    def _places(self, formals: tuple[Variable, ...], wanted: int) -> tuple[Home | InFrame | None, ...]:
        """Where arguments or results lie, of the registers that are wanted; a kernel's parameters are the launch's."""
        out: list[Home | InFrame | None] = []
        for v in () if self.function.is_entry else formals:
            if v.register is None:
                out.append(InFrame(self.operands.frame[id(v)]))
            else:
                out.append(self.homes[v.register.index] if wanted >> v.register.index & 1 else None)
        return tuple(out)

    # ------------------------------------------------------------ segments

    def _cut(self, stops: bool) -> list[Cut]:
        """Cuts the blocks into segments; `stops`: also before each instruction that others may notice, or that may notice them."""
        f = self.flow
        cut: list[Cut] = []
        for b in self.blocks:
            body: list[Instruction] = []
            for i in f.blocks[b].instructions:
                facts = self.known[id(i)].facts
                if body and (facts.stands_alone or (stops and meets_others(i))):
                    cut.append((b, body, None))
                    body = []
                if facts.is_stop:
                    cut.append((b, body, i))
                    body = [i] if facts.needs_lanes else []  # waits, then executes as the first of the next segment
                else:
                    body.append(i)
            last = body[-1] if body and self.known[id(body[-1])].facts.ends_block else None
            cut.append((b, body[:-1] if last else body, last))
            if last is not None and last.opcode in CALLS and any(self.order[s] <= self.order[b] for s in f.blocks[b].successors):
                cut.append((b, [], None))  # from the call back to the head of a loop: that is a turn, too
        return cut

    def _liveness(self) -> list[int]:
        """The slots that are live at each place, and at the function's end."""
        f, cut = self.flow, self.cut
        returned = 0
        for v in self.function.returns:
            if v.register is not None:
                returned |= 1 << v.register.index
        live_in: list[int] = [0] * len(cut)
        after = 0
        for pc in reversed(range(len(cut))):
            b, body, last = cut[pc]
            ends = pc + 1 == len(cut) or cut[pc + 1][0] != b
            if ends and pc == self.first[b] and not any(i.guard is not None for i in body):  # a whole block
                live_in[pc] = after = self.live_in[b]
                continue
            live = self.live_out[b] if ends else after
            if ends and not f.blocks[b].successors:
                live |= returned
            if last is not None:
                k = self.known[id(last)]
                if not k.facts.needs_lanes:
                    live = _before(k, live)
                else:
                    for index in k.read:
                        live |= 1 << index
            for i in reversed(body):
                if i.guard is not None:
                    self.live_after[id(i)] = live
                live = _before(self.known[id(i)], live)
            live_in[pc] = after = live
        return masks_of([*live_in, returned], self.homes)

    def _segment(self, pc: int, b: int, body: list[Instruction], last: Instruction | None) -> Segment:
        homes = self.homes
        reads: dict[int, None] = {}
        writes = 0
        for i in (*body, *([last] if last is not None else [])):
            k = self.known[id(i)]
            read, written = k.read, k.written
            if not k.facts.kills:
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
            if i is last and k.facts.needs_lanes:
                continue
            for index in written:
                home = homes[index]
                writes |= ((1 << home.width) - 1) << home.slot
        ops = []
        for i in body:
            op = self.ops.op(i, self._site(i))
            if op is not None:
                ops.append(op)
        following = pc + 1 if pc + 1 < len(self.cut) and self.cut[pc + 1][0] == b else None
        end = self.ends.end(b, last, pc, following)
        site = None if last is None else self._site(last)
        return Segment(b, tuple(ops), end, site, tuple(reads), writes, len(body) + (last is not None))

    def _site(self, i: Instruction) -> Site:
        return Site(self.origin.get(id(i), i), self.locations.get(id(i)), self.function.name)


def frame_variables(function: Function) -> list[Variable]:
    """What lives on the stack: .local variables, .param variables of the body, and a device function's own parameters and results."""
    out: list[Variable] = []
    if function.is_entry:
        out += outer_locals(function)
    else:
        out += [v for v in (*function.params, *function.returns) if v.register is None]
    for s in listing(function).rest:
        if isinstance(s, Declaration):
            out += [v for v in s.variables if v.space in ("local", "param")]
    return out


def _before(k: Known, live: int) -> int:
    """What is live before an instruction."""
    if k.facts.kills:
        for index in k.written:
            live &= ~(1 << index)
    elif k.instruction.guard is None:  # written in part
        for index in k.written:
            live |= 1 << index
    for index in k.read:
        live |= 1 << index
    return live
