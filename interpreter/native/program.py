"""A planned function as the rows that the scheduler runs: passes of compiled code, and what happens between them.

A segment is cut where lanes could see that vectors run one after another: before an access that might touch what another one of the same pass
touches, and around operations that are not compiled, which run in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan import plan as P
from ..plan.uses import leaves, read, set_by, slots_of, written
from ..program import LoadedKernel
from ..vector.function import VectorFunction
from ..vector.steps import build
from .emit.accesses import reached, reads_constants, space_of
from .emit.emitter import Emitter
from .emit.memory import Helpers
from .emit.tracing import Tracing
from .frame import Frame
from .jit import CompiledLibrary, NativeSource
from .schedule import words as s
from .trace.code import LLVMModule, Untraceable
from .variance import LANE, ONE, Kinds, Variance

WIDTH = 32  # a vector is a warp


@dataclass(slots=True, eq=False)
class Row:
    """One row of the program."""

    kind: int
    segment: int
    first: int = 0  # of the segment's operations that it runs
    last: int = 0  # behind them
    live: int = 0  # slots, as a mask, in front of it
    kinds: Kinds = field(default_factory=dict)  # of the registers in front of it
    number: int = 0


class NativeProgram:
    """A function compiled."""

    def __init__(self, kernel: LoadedKernel, plan: P.PlanFunction, width: int = WIDTH) -> None:
        self.kernel = kernel
        self.plan = plan
        self.width = width
        offsets = {id(v): at for v, at in kernel.parameters}
        self.frame = Frame(plan, width, lambda p: offsets[id(p.variable)] + p.offset)
        if any(op.meaning.form.effect in ("alloca", "stacksave", "stackrestore") for segment in plan.segments for op in segment.ops):
            raise Untraceable("a stack that grows while the function runs")
        self.tracing = Tracing(self.frame)
        self.variance = Variance(plan, self.tracing.compiles)
        self.rows: list[Row] = []
        self.first: list[int] = []  # row of each segment
        for n in range(len(plan.segments)):
            self._cut(n)
        self._place()
        self.source = self._written()
        self._library: CompiledLibrary | None = None
        self.function = VectorFunction(plan, partial(build.segment, observed=False))  # for what numpy runs of it
        self.memories: dict[Any, Any] = {}  # memory of an earlier launch, by its shape

    # ------------------------------------------------------------ cutting

    def _cut(self, n: int) -> None:
        segment = self.plan.segments[n]
        ops = segment.ops
        self.first.append(len(self.rows))
        live = self._live(n)
        kinds = [{**self.variance.entry[n], self.frame.carry: LANE}]
        for op in ops:
            after = dict(kinds[-1])
            self.variance.through(n, op, after)
            kinds.append(after)

        def add(kind: int, first: int, last: int) -> None:
            self.rows.append(Row(kind, n, first, last, live[first], kinds[first], len(self.rows)))

        start, seen = 0, set[tuple[str, bool]]()
        for i, op in enumerate(ops):
            if not self.tracing.compiles(op):
                if i > start:
                    add(s.RUN, start, i)
                add(s.CALLOUT, i, i + 1)
                start, seen = i + 1, set()
                continue
            if self.tracing.updates(op):  # nothing may fail behind it
                if i > start and seen:
                    add(s.RUN, start, i)
                    start = i
                add(s.RUN, start, i + 1)
                start, seen = i + 1, set()
                continue
            if self.tracing.touches(op):  # alone, for others may touch the same
                if i > start:
                    add(s.RUN, start, i)
                add(s.RUN, i, i + 1)
                start, seen = i + 1, set()
                continue
            if op.how not in ("load", "store"):
                continue
            memories, write = reached(space_of(op)), op.how == "store"
            if reads_constants(op):
                continue
            if any((write and (m, False) in seen) or (m != "local" and (m, True) in seen) for m in memories):  # no lane sees another's stack
                add(s.RUN, start, i)
                start, seen = i, set()
            seen |= {(memory, write) for memory in memories}
        promoted = any(
            kinds[-1].get(slot, ONE) == ONE and self.variance.entry[following].get(slot, ONE) == LANE
            for following in self.variance.next[n]
            for slot in slots_of(self.plan.live_in[following])
        )
        kind = self._end_kind(n, kinds[-1])
        if start < len(ops) or promoted or kind == s.BRANCH_MANY:
            add(s.RUN, start, len(ops))
        if kind == s.CALLOUT:  # numpy does what the end does, and all lanes go on
            add(s.CALLOUT, len(ops), len(ops))
            kind = s.JUMP
            kinds[-1] = kinds[-1] | dict.fromkeys(set_by(segment.end), LANE)
        self.rows.append(Row(kind, n, len(ops), len(ops), live[-1], kinds[-1], len(self.rows)))

    def _live(self, n: int) -> list[int]:
        """What is live before each operation of a segment, and behind them."""
        segment, live_in = self.plan.segments[n], self.plan.live_in
        live = 0
        for following in self.variance.next[n]:
            live |= live_in[following]
        if isinstance(segment.end, P.Leave):
            live |= live_in[-1]
        for value in _values_of(segment.end):
            for slot in (x for x in leaves(value) if type(x) is int):
                live |= 1 << slot
        registers = (1 << self.plan.first_constant) - 1
        carry = self.frame.carries << self.frame.carry
        live = live & registers | carry
        out = [live]
        for op in reversed(segment.ops):
            if op.guard is None:
                for slot in written(op):
                    live &= ~(1 << slot)
            for slot in read(op):
                live |= 1 << slot
            live = live & registers | carry
            out.append(live)
        return out[::-1]

    def _end_kind(self, n: int, kinds: Kinds) -> int:
        match self.plan.segments[n].end:
            case P.Jump():
                return s.JUMP
            case P.Branch(guard=guard):
                return s.BRANCH_UNIFORM if kinds.get(guard.slot, ONE) == ONE else s.BRANCH
            case P.Table(guard=None):
                return s.BRANCH_MANY
            case P.Leave(what="ret" | "exit", guard=None) if self.plan.function.is_entry:
                return s.EXIT
            case P.Leave(what="ret" | "exit", guard=guard) if self.plan.function.is_entry:
                assert guard is not None
                return s.LEAVE if kinds.get(guard.slot, ONE) == ONE else s.EXIT_SOME
            case P.Barrier(count=None, waits=True, reduction=None, guard=None):
                return s.BARRIER
            case P.Sync(guard=None):
                return s.WARP_SYNC
            case P.Call(callee=callee, guard=None) if callee is not None and self.kernel.program.definition(callee).body is None:
                return s.CALLOUT
        return s.LEAVE

    # ------------------------------------------------------------ registers

    def _place(self) -> None:
        """Places for what lives across passes, and for what operations in numpy read and write."""
        slots: set[int] = set()
        for row in self.rows:
            slots.update(slot for slot in slots_of(row.live) if row.kinds.get(slot, ONE) == LANE)
            if row.kind == s.CALLOUT:
                slots.update(self.written(row))
        self.frame.place(sorted(slots), max((len(x.end.ways) for x in self.plan.segments if isinstance(x.end, P.Table)), default=0))

    def written(self, row: Row) -> list[int]:
        """The slots that a row sets."""
        segment = self.plan.segments[row.segment]
        if row.kind == s.CALLOUT and row.first == len(segment.ops):
            return set_by(segment.end)
        return [slot for op in segment.ops[row.first : row.last] for slot in written(op)]

    def needed(self, row: Row) -> dict[int, set[int]]:
        """In which kinds each slot must lie in memory behind a pass."""
        out: dict[int, set[int]] = {}
        behind = self.rows[row.number + 1]
        for slot in slots_of(behind.live):
            out.setdefault(slot, set()).add(behind.kinds.get(slot, ONE))
        if behind.kind not in (s.RUN, s.CALLOUT):
            for following in self.variance.next[row.segment]:
                for slot in slots_of(self.plan.live_in[following]):
                    out.setdefault(slot, set()).add(self.variance.entry[following].get(slot, ONE))
        return out

    # ------------------------------------------------------------ code

    def load(self, compiling: bool = True) -> bool:
        """Gets the machine code, from the disk or else, if that is wanted, from the compiler; True if it is there."""
        if self._library is None:
            self._library = self.source.compiled() if compiling else self.source.kept()
        return self._library is not None

    def _written(self) -> NativeSource:
        helpers = Helpers(LLVMModule(), self.width)
        texts, names = [], []
        for row in self.rows:
            if row.kind != s.RUN:
                continue
            name = f"pass{row.number}"
            e = Emitter(self.frame, row.kinds, helpers, name)
            segment = self.plan.segments[row.segment]
            table = segment.end if self.rows[row.number + 1].kind == s.BRANCH_MANY else None
            texts.append(e.text(segment.ops[row.first : row.last], self.needed(row), table))
            names.append(name)
        return NativeSource("\n".join([*helpers.module.head(), helpers.text(), *texts]), names)

    def words(self, at: int) -> NDArray[np.int64]:
        """The rows as the scheduler reads them, where they begin at a word."""
        assert self._library is not None
        table = np.zeros((len(self.rows), s.ROW), np.int64)
        behind: list[int] = []  # lists behind the table
        base = at + table.size
        for row, words in zip(self.rows, table, strict=True):
            end = self.plan.segments[row.segment].end
            words[s.KIND] = row.kind
            words[s.FIRST] = s.NOWHERE
            if row.kind == s.RUN:
                words[s.A] = self._library.addresses[f"pass{row.number}"]
                continue
            if row.kind in (s.CALLOUT, s.LEAVE, s.EXIT):
                continue
            guard = getattr(end, "guard", None)
            if guard is not None:
                lane = row.kind != s.BRANCH_UNIFORM
                words[s.PREDICATE] = self.frame.mask(guard.slot) if lane else 2 * guard.slot
                words[s.NEGATED] = guard.negated
            match end:
                case P.Jump():
                    words[s.A] = self._row(end.to)
                case P.Branch():
                    words[s.A], words[s.B], words[s.JOIN] = self._row(end.taken), self._row(end.fall), self._row(end.join)
                    if end.first is not None:
                        words[s.FIRST] = self._row(end.first)
                case P.Table():
                    words[s.A], words[s.JOIN] = base + len(behind), self._row(end.join)
                    words[s.PREDICATE] = (self.frame.uniforms + self.frame.way(0)) // 4
                    behind += [len(end.ways), *map(self._row, end.ways)]
                case P.Leave():
                    words[s.B] = self._row(end.fall)
                case P.Barrier() | P.Sync():
                    words[s.A] = self._row(end.past)
                case P.Call():
                    words[s.A] = self._row(end.after)
            exits: P.Exits = getattr(end, "exits", {})
            if exits:
                words[s.EXITS] = base + len(behind)
                behind.append(len(exits))
                for to, way in exits.items():
                    inside = [self._row(pc) for pc in way.inside]
                    behind += [self._row(to), self._row(way.join), len(inside), *inside]
            turns: P.Turns = getattr(end, "turns", {})
            if turns:
                words[s.TURNS] = base + len(behind)
                behind.append(len(turns))
                for to, limit in turns.items():
                    behind += [self._row(to), limit]
        return np.concatenate([table.ravel(), np.array(behind, np.int64)])

    def _row(self, pc: int) -> int:
        return s.END if pc == P.EXIT else self.first[pc]


def _values_of(end: P.End) -> Sequence[Any]:
    """What an end reads."""
    out: list[Any] = []
    guard = getattr(end, "guard", None)
    if guard is not None:
        out.append(guard.slot)
    match end:
        case P.Table():
            out.append(end.index)
        case P.Call():
            out += [end.pointer, *end.arguments]
        case P.Barrier():
            out += [end.number, end.count, *([] if end.reduction is None else [end.reduction.value])]
        case P.Sync():
            out.append(end.mask)
    return out
