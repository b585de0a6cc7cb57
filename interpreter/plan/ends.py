"""How a segment ends: branches, tables, calls, returns, barriers, and the places where lanes wait for each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Arguments, Function, Instruction, Label, Operand, Prototype, Register, Sink, Targets, Variable
from warplab.isa.notation import Form
from warplab.isa.types import TYPES

from .operands import Operands
from .ops import Ops
from .plan import (
    EXIT,
    Barrier,
    Branch,
    Call,
    ClusterWait,
    End,
    Exits,
    InFrame,
    Jump,
    Leave,
    LoopExit,
    Reduction,
    RegisterResult,
    Source,
    Sync,
    Table,
    Turns,
)
from .reconvergence import Meetings
from .roles import needs_lanes
from .spinning import Patience, is_pure_loop

NO_EXITS: Exits = {}
NO_TURNS: Turns = {}


class Ends:
    """Plans the ends of one function's segments."""

    def __init__(
        self,
        flow: Flow,
        order: Mapping[int, int],
        first: Sequence[int],
        meetings: Meetings,
        patience: Patience,
        operands: Operands,
        ops: Ops,
    ) -> None:
        self.flow = flow
        self.order = order  # of the blocks in the plan
        self.first = first  # block -> its first place
        self.meetings = meetings
        self.patience = patience
        self.operands = operands
        self.ops = ops
        self.labels = {id(label): b.index for b in flow.blocks for label in b.labels}

    def end(self, b: int, last: Instruction | None, pc: int, following: int | None) -> End:
        """Of the segment at pc in block b; `following`: the place behind it, where that is in the same block."""
        if last is None or last.form is None or not (last.form.effect or needs_lanes(last)):
            if following is not None:
                return Jump(following, NO_EXITS, NO_TURNS)
            nexts = self.flow.blocks[b].successors
            return Jump(self.first[nexts[0]], NO_EXITS, self._turns(b)) if nexts else Leave("ret")
        guard = self.ops.guard(last)
        match last.form.effect:
            case "" | "warp_barrier":
                return self._sync(last, pc + 1)
            case "branch":
                return self._branch(b, last)
            case "branch_table":
                return self._table(b, last)
            case "call":
                return self._call(b, last, following)
            case "return" | "exit" | "trap" as effect:
                nexts = self.flow.blocks[b].successors
                what = "ret" if effect == "return" else effect
                if guard is None:
                    return Leave(what)
                return Leave(what, guard, self.first[nexts[-1]] if nexts else EXIT, self._join(b), self._turns(b))
            case "barrier":
                return self._barrier(last, pc + 1)
            case "cluster_wait":
                return ClusterWait(pc + 1, guard)
            case other:
                raise AssertionError(other)

    # ------------------------------------------------------------ places

    def _place(self, b: int | None) -> int:
        """The first place of a block; None stands for the function's end."""
        return EXIT if b is None else self.first[b]

    def _join(self, b: int) -> int:
        """The place where lanes that part at the end of a block reconverge."""
        return self._place(self.meetings.of[b])

    def _exits(self, b: int) -> Exits:
        """The ways out of loops at the end of a block, where there are lanes to leave behind."""
        found = self.meetings.departures.get(b)
        if not found:
            return NO_EXITS
        first = self.first
        return {first[s]: LoopExit(self._place(d.meeting), frozenset([first[x] for x in d.inside])) for s, d in found.items()}

    def _turns(self, b: int) -> Turns:
        """The ways back from the end of a block to the heads of loops."""
        order, at = self.order, self.order[b]
        heads = [s for s in self.flow.blocks[b].successors if order[s] <= at]
        return {self.first[s]: self.patience.of(s) for s in heads} if heads else NO_TURNS

    # ------------------------------------------------------------ ways on

    def _branch(self, b: int, i: Instruction) -> End:
        target = self.first[self.flow.blocks[b].successors[0]]
        guard = self.ops.guard(i)
        if guard is None:
            return Jump(target, self._exits(b), self._turns(b))
        successors = self.flow.blocks[b].successors
        others = [x for x in successors if self.first[x] != target]
        fall = self.first[others[0]] if others else target if successors else EXIT
        leaver = self.meetings.leavers.get(b)
        return Branch(
            guard, target, fall, self._join(b), self._exits(b), self._turns(b), is_pure_loop(self.flow, b),
            None if leaver is None else self.first[leaver],
        )  # fmt: skip

    def _table(self, b: int, i: Instruction) -> Table:
        targets = i.operands[1]
        assert isinstance(targets, Targets)
        places = tuple([self.first[self.labels[id(t)]] for t in targets.targets if isinstance(t, Label)])
        others = [x for x in self.flow.blocks[b].successors if self.first[x] not in places]
        fall = self.first[others[0]] if others else EXIT
        index = self.operands.source(i.operands[0], TYPES["u32"])
        return Table(index, places, self.ops.guard(i), fall, self._join(b), self._exits(b), self._turns(b))

    # ------------------------------------------------------------ calls

    def _call(self, b: int, i: Instruction, following: int | None) -> Call:
        nexts = self.flow.blocks[b].successors
        after = following if following is not None else self.first[nexts[0]] if nexts else EXIT
        ops = list(i.operands)
        results: tuple[Operand, ...] = ()
        if isinstance(ops[0], Arguments) and len(ops) > 1:
            results, ops = ops[0].elements, ops[1:]
        callee = ops.pop(0)
        given = next((o.elements for o in ops if isinstance(o, Arguments)), ())
        signature = next((o for o in ops if isinstance(o, Prototype | Targets)), None)
        function = callee if isinstance(callee, Function) else None
        pointer = None if function is not None else self.operands.source(callee, TYPES["u64"])
        formals = function.params if function is not None else signature.params if isinstance(signature, Prototype) else ()
        arguments = tuple([self._argument(a, formals[n] if n < len(formals) else None) for n, a in enumerate(given)])
        return Call(function, pointer, arguments, tuple([self._result(r) for r in results]), after, self.ops.guard(i))

    def _argument(self, a: Operand, formal: Variable | None) -> Source | InFrame:
        if isinstance(a, Variable) and a.register is None:
            return InFrame(self.operands.frame[id(a)])
        return self.operands.source(a, formal.type if formal is not None else a.type if isinstance(a, Register) else TYPES["b32"])

    def _result(self, r: Operand) -> RegisterResult | InFrame | None:
        if isinstance(r, Sink):
            return None
        if isinstance(r, Variable) and r.register is None:
            return InFrame(self.operands.frame[id(r)])
        register = r.register if isinstance(r, Variable) else r
        assert isinstance(register, Register)
        return RegisterResult(self.operands.target(r, register.type), self.operands.homes[register.index])

    # ------------------------------------------------------------ waiting

    def _sync(self, i: Instruction, past: int) -> Sync:
        assert i.form is not None
        mask = self.operands.source(i.operands[-1], TYPES["u32"]) if _has_mask(i.form) else None
        key = None if mask is None or i.settled is None else (i.opcode, tuple(sorted(i.settled.items())))
        return Sync(mask, key, past, self.ops.guard(i), bool(i.form.effect))

    def _barrier(self, i: Instruction, past: int) -> Barrier:
        words = set(i.modifiers)
        ops = list(i.operands)
        reduction = None
        if "red" in words:
            target = self.operands.target(ops.pop(0), TYPES["u32"] if "popc" in words else TYPES["pred"])
            value = self.operands.source(ops.pop(), TYPES["pred"])
            reduction = Reduction("popc" if "popc" in words else "and" if "and" in words else "or", value, target)
        number = self.operands.source(ops[0], TYPES["u32"])
        count = self.operands.source(ops[1], TYPES["u32"]) if len(ops) > 1 else None
        return Barrier(number, count, "arrive" not in words, reduction, past, self.ops.guard(i))


def _has_mask(form: Form) -> bool:
    """Is the last operand a mask of lanes?"""
    return form.effect == "warp_barrier" or any(place.name == "membermask" for place in form.operands)
