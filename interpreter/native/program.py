"""A planned function as the rows that the scheduler runs: passes of compiled code, and what happens between them.

A segment is cut where lanes could see that vectors run one after another: before an access that might touch what another one of the same pass
touches, and around operations that are not compiled, which run in numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Function

from ..plan import plan as P
from ..plan.uses import leaves, read, set_by, slots_of, written
from ..program import LoadedKernel
from ..vector.function import VectorFunction
from ..vector.steps import build
from .emit.accesses import reached, reads_constants, space_of
from .emit.emitter import Emitter
from .emit.memory import Helpers
from .emit.region import RegionEmitter
from .emit.strip import StripEmitter, computes
from .emit.tracing import Tracing
from .frame import Frame
from .jit import CompiledLibrary, NativeSource
from .regions import regions, saved
from .rows import Row, RowTable, end_kind
from .schedule import layout as s
from .schedule.compiled import scheduler, scheduler_source
from .side_by_side import side_by_side
from .trace.code import LLVMModule, Untraceable
from .uniformity import UNIFORM, VARYING, Kinds, Uniformity

WIDTH = 32  # a vector is a warp
SMALL = 2000  # lines of functions and regions that are compiled for speed: beyond that, to less code
LONGEST = 32  # operations of a pass of a large function, of one in strips four times as many: the compiler's time grows faster than a pass
SHORTEST = 8  # operations of a large function that only compute, from which on they are a pass of their own


class NativeProgram:
    """A function compiled."""

    def __init__(self, kernel: LoadedKernel, plan: P.PlanFunction, width: int = WIDTH, apart: bool = False) -> None:
        self.kernel = kernel
        self.apart = apart
        self.plan = plan
        self.width = width
        offsets = {id(v): at for v, at in kernel.parameters}
        self.frame = Frame(plan, width, lambda p: offsets[id(p.variable)] + p.offset, kernel.stack_start, kernel.shared_gaps)
        if any(op.meaning.form.effect in ("alloca", "stacksave", "stackrestore") for segment in plan.segments for op in segment.ops):
            raise Untraceable("a stack that grows while the function runs")
        self.tracing = Tracing(self.frame)
        self.uniformity = Uniformity(plan, self.tracing.compiles, apart)
        self.regions = regions(plan, self.uniformity, self.tracing.quiet)
        ops = [op for segment in plan.segments for op in segment.ops]
        self.large = self.tracing.lines(ops) > SMALL
        self.rows: list[Row] = []
        self.computing: set[int] = set()  # the rows that only compute, in strips
        self.first: list[int] = []  # row of each segment
        for n in range(len(plan.segments)):
            self._cut(n)
        self._place()
        self.side_by_side = self.frame.side_by_side = side_by_side(plan, self.tracing, self._live)
        self.source = self._written()
        self._library: CompiledLibrary | None = None
        self.function, self.observed = (
            VectorFunction(plan, partial(build.segment, observed=o)) for o in (False, True)
        )  # for what numpy runs of it
        self.memories: list[Any] = []  # of earlier launches

    # ------------------------------------------------------------ cutting

    def _cut(self, n: int) -> None:
        segment = self.plan.segments[n]
        ops = segment.ops
        self.first.append(len(self.rows))
        live = self._live(n)
        kinds = [{**self.uniformity.entry[n], self.frame.carry: VARYING}]
        if n in self.regions:
            self.rows.append(Row(s.REGION, n, 0, 0, live[0], kinds[0], len(self.rows), self.regions[n]))
        for op in ops:
            after = dict(kinds[-1])
            self.uniformity.through(n, op, after)
            kinds.append(after)

        def add(kind: int, first: int, last: int) -> None:
            if kind == s.RUN and self.large and first < last and all(computes(ops[i], kinds[i]) for i in range(first, last)):
                self.computing.add(len(self.rows))
            self.rows.append(Row(kind, n, first, last, live[first], kinds[first], len(self.rows)))

        start, seen = 0, set[tuple[str, bool]]()
        stretches = self._stretches(ops, kinds)
        for i, op in enumerate(ops):
            if i in stretches:
                if i > start:
                    add(s.RUN, start, i)
                add(s.RUN, i, stretches[i])
                start, seen = stretches[i], set()
            if i < start:
                continue
            if self.large and i - start >= LONGEST:
                add(s.RUN, start, i)
                start, seen = i, set()
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
            if any(
                (write and (m, False) in seen) or (m != "local" and (m, True) in seen) for m in memories
            ):  # no lane sees another's stack
                add(s.RUN, start, i)
                start, seen = i, set()
            seen |= {(memory, write) for memory in memories}
        promoted = any(
            kinds[-1].get(slot, UNIFORM) == UNIFORM and self.uniformity.entry[following].get(slot, UNIFORM) == VARYING
            for following in self.uniformity.next[n]
            for slot in slots_of(self.plan.live_in[following])
        )
        kind = end_kind(segment.end, kinds[-1], self.frame, self.plan.function.is_entry, self._is_external)
        if start < len(ops) or promoted or kind == s.BRANCH_MANY:
            add(s.RUN, start, len(ops))
        if kind == s.CALLOUT:
            add(s.CALLOUT, len(ops), len(ops))
            kind = s.JUMP
            kinds[-1] = kinds[-1] | dict.fromkeys(set_by(segment.end), VARYING)
        self.rows.append(Row(kind, n, len(ops), len(ops), live[-1], kinds[-1], len(self.rows)))

    def _stretches(self, ops: Sequence[P.Op], kinds: Sequence[Kinds]) -> dict[int, int]:
        """Where long computations of a large function begin, which are passes of their own, and where they end."""
        out, start = dict[int, int](), 0
        for i in range(len(ops) + 1):
            ends = i == len(ops) or not computes(ops[i], kinds[i]) or not self.tracing.compiles(ops[i])
            if ends or i - start == 4 * LONGEST:
                if self.large and i - start >= SHORTEST:
                    out[start] = i
                start = i + ends
        return out

    def _live(self, n: int) -> list[int]:
        """What is live before each operation of a segment, and behind them."""
        segment, live_in = self.plan.segments[n], self.plan.live_in
        live = 0
        for following in self.uniformity.next[n]:
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

    def _is_external(self, function: Function) -> bool:
        return self.kernel.program.definition(function).body is None

    # ------------------------------------------------------------ registers

    def _place(self) -> None:
        """Places for what lives across passes, and for what operations in numpy read and write."""
        slots: set[int] = set()
        for row in self.rows:
            slots.update(slot for slot in slots_of(row.live) if row.kinds.get(slot, UNIFORM) == VARYING)
            if row.kind in (s.CALLOUT, s.BARRIER):
                slots.update(self.written(row))
        ways = max(
            (len(x.end.ways) + isinstance(x.end, P.Call) for x in self.plan.segments if isinstance(x.end, P.Table | P.Call)), default=0
        )
        self.frame.place(sorted(slots), ways, [saved(self.frame, self.plan, r) for r in self.regions.values()])

    def written(self, row: Row) -> list[int]:
        """The slots that a row sets."""
        segment = self.plan.segments[row.segment]
        if row.kind in (s.CALLOUT, s.BARRIER) and row.first == len(segment.ops):
            return set_by(segment.end)
        return [slot for op in segment.ops[row.first : row.last] for slot in written(op)]

    def needed(self, row: Row) -> dict[int, set[int]]:
        """In which kinds each slot must lie in memory behind a pass."""
        out: dict[int, set[int]] = {}
        behind = self.rows[row.number + 1]
        for slot in slots_of(behind.live):
            out.setdefault(slot, set()).add(behind.kinds.get(slot, UNIFORM))
        if behind.kind not in (s.RUN, s.CALLOUT):
            for following in self.uniformity.next[row.segment]:
                for slot in slots_of(self.plan.live_in[following]):
                    out.setdefault(slot, set()).add(self.uniformity.entry[following].get(slot, UNIFORM))
        return out

    # ------------------------------------------------------------ code

    def sources(self) -> list[NativeSource]:
        """What has to be compiled, as far as it is not on disk."""
        return [source for source in (scheduler_source(), self.source) if not source.is_kept]

    def load(self, compiling: bool = True) -> bool:
        """Gets the machine code, from the disk or else, if that is wanted, from the compiler; True if it is there."""
        if self._library is None:
            self._library = self.source.compiled() if compiling else self.source.kept()
        if self._library is None:
            return False
        scheduler()  # now, for no launch's time counts yet
        return True

    def words(self, at: int) -> NDArray[np.int64]:
        """The rows as the scheduler reads them, where they begin at a word."""
        assert self._library is not None
        return RowTable(self.plan, self.frame, self.rows, self.first).write(self._library.addresses, at)

    def _written(self) -> NativeSource:
        helpers = Helpers(LLVMModule(), self.width, bool(self.frame.shared_gaps))
        texts, names = [], []
        again = {n for region in self.regions.values() for n in region.order}  # run one by one only where a region failed
        for row in self.rows:
            if row.region is not None:
                name = f"region{row.number}"
                small = self.tracing.lines(op for n in row.region.order for op in self.plan.segments[n].ops) <= SMALL
                texts.append(RegionEmitter(self.frame, self.plan, row.region, helpers, name, small=small).text())
                names.append(name)
            if row.kind != s.RUN:
                continue
            name = f"pass{row.number}"
            segment = self.plan.segments[row.segment]
            ops = segment.ops[row.first : row.last]
            parts = segment.end if isinstance(segment.end, P.Table | P.Call) and self.rows[row.number + 1].kind == s.BRANCH_MANY else None
            if row.number in self.computing and parts is None:
                texts.append(StripEmitter(self.frame, row.kinds, helpers, name).strips(ops, self.needed(row)))
            else:
                e = Emitter(self.frame, row.kinds, helpers, name)
                texts.append(e.text(ops, self.needed(row), parts, twice=not self.large and row.segment not in again))
            names.append(name)
        return NativeSource("\n".join([*helpers.module.head(), helpers.text(), *texts]), names)


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
