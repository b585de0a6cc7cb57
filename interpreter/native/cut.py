"""A plan cut into the rows that the scheduler runs: passes and regions of compiled code, rows that numpy runs, and what happens at ends of segments.

A segment is cut where lanes could see that vectors run one after another: before an access that might touch what another one of the same pass
touches, and around operations that are not compiled, which run in numpy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warplab.assembler.ir import Function

from ..plan import plan as P
from ..plan.uses import live_before, live_behind, mask_of, set_by, slots_of, written
from .emit.accesses import reached, reads_constants, space_of
from .emit.strip import computes
from .emit.together.moves import BranchSide
from .emit.together.stretches import addressed, checkable, hammock, moves, stretches
from .emit.tracing import Tracing
from .frame import Frame
from .regions import Region, regions, saved
from .schedule import layout as s
from .uniformity import UNIFORM, VARYING, Kinds, Uniformity, kind_in

SMALL = 2000  # lines of functions and regions that are compiled for speed: beyond that, to less code
LONGEST = 32  # operations of a pass of a large function, of one in strips four times as many: the compiler's time grows faster than a pass
SHORTEST = 12  # words of 32 bits that operations of a large function compute one after another, from which on they are a pass of their own


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One row of the program."""

    number: int
    kind: int
    segment: int
    first: int  # of the segment's operations that it runs
    last: int  # behind them
    live: int  # slots, as a mask, in front of it
    kinds: Kinds  # of the registers in front of it
    why: str = ""  # it begins where it does
    region: Region | None = None
    in_strips: bool = False  # it only computes, in strips of lanes
    is_small: bool = True  # its code may be repeated, for whole warps
    behind: int = 0  # of a stretch: the row that follows when it has run; the rows before that one are for when it may not
    side: int | None = None  # of a stretch that ends with one side of the branch behind it: that segment
    ahead: int = 0  # of such a stretch: operations of the segment behind the side that it executes, too

    @property
    def name(self) -> str:
        """Of the function that is compiled for it."""
        return f"{'region' if self.region is not None else 'stretch' if self.is_stretch else 'pass'}{self.number}"

    @property
    def is_stretch(self) -> bool:
        """Are its operations checked together?"""
        return bool(self.behind) or self.side is not None


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The rows of a function."""

    plan: P.PlanFunction
    uniformity: Uniformity
    rows: tuple[Row, ...]
    first: tuple[int, ...]  # by segment, its first row
    regions: Mapping[int, Region]  # by the segments that they begin with
    live: tuple[tuple[int, ...], ...]  # by segment: the slots that are live before each operation and behind the last, as masks

    def written(self, row: Row) -> list[int]:
        """The slots that a row sets."""
        segment = self.plan.segments[row.segment]
        if row.kind in (s.CALLOUT, s.BARRIER) and row.first == len(segment.ops):
            return set_by(segment.end)
        return [slot for op in segment.ops[row.first : row.last] for slot in written(op)]

    def needed(self, row: Row) -> dict[int, set[int]]:
        """In which kinds each slot must lie in memory behind a pass."""
        out: dict[int, set[int]] = {}
        if row.side is not None and not row.ahead:
            to = self.following(row)
            return {slot: {kind_in(self.uniformity.entry[to], slot)} for slot in slots_of(self.plan.live_in[to])}
        behind = self.rows[row.behind or row.number + 1]
        for slot in slots_of(behind.live):
            out.setdefault(slot, set()).add(kind_in(behind.kinds, slot))
        if behind.kind not in (s.RUN, s.CALLOUT, s.CLUSTER_ARRIVE) and not behind.is_stretch:
            for following in self.uniformity.graph.following[behind.segment]:
                for slot in slots_of(self.plan.live_in[following]):
                    out.setdefault(slot, set()).add(kind_in(self.uniformity.entry[following], slot))
        return out

    def operations(self, row: Row) -> tuple[Sequence[P.Op], BranchSide | None]:
        """Those of a row, and the side of the branch that it ends with."""
        segment = self.plan.segments[row.segment]
        ops = segment.ops[row.first : row.last]
        if row.side is None:
            return ops, None
        assert isinstance(segment.end, P.Branch)
        to = self.following(row)
        live, ahead = slots_of(self.plan.live_in[to]), self.plan.segments[to].ops[: row.ahead]
        return ops, BranchSide(self.plan.segments[row.side].ops, segment.end.guard, row.side == segment.end.taken, live, ahead)

    def following(self, row: Row) -> int:
        """The segment behind a stretch that ends with one side of a branch."""
        assert row.side is not None
        end = self.plan.segments[row.side].end
        assert isinstance(end, P.Jump)
        return end.to

    def place(self, frame: Frame) -> Frame:
        """A frame with places for what lives across rows, and for what operations in numpy read and write."""
        slots: set[int] = set()
        for row in self.rows:
            slots.update(slots_of(row.live & row.kinds))
            if row.kind in (s.CALLOUT, s.BARRIER):
                slots.update(self.written(row))
        ends = [x.end for x in self.plan.segments if isinstance(x.end, P.Table | P.Call)]
        ways = max((len(end.ways) + isinstance(end, P.Call) for end in ends), default=0)
        stretched = [self.operations(row) for row in self.rows if row.is_stretch]
        noted = max((addressed(ops, *([] if side is None else [side.ops, side.behind])) for ops, side in stretched), default=0)
        return frame.place(slots, ways, [saved(frame, self.plan, r) for r in self.regions.values()], noted)


def cut(uniformity: Uniformity, tracing: Tracing, frame: Frame, returns: Callable[[Function], bool], together: bool = True) -> Cut:
    """The rows of a plan; `returns`: do calls of a function return without waiting for anything?  `together`: accesses may be checked
    together, and lanes in strips.
    """
    cutter = _Cutter(uniformity, tracing, frame, returns, together)
    for n in range(len(uniformity.plan.segments)):
        cutter.segment(n)
    cutter.look_ahead()
    return Cut(uniformity.plan, uniformity, tuple(cutter.rows), tuple(cutter.first), cutter.regions, tuple(cutter.live))


class _Cutter:
    """What has been cut of a function."""

    def __init__(self, uniformity: Uniformity, tracing: Tracing, frame: Frame, returns: Callable[[Function], bool], together: bool) -> None:
        self.together = together
        self.uniformity, self.plan, self.tracing, self.frame, self.returns = uniformity, uniformity.plan, tracing, frame, returns
        self.regions = regions(self.plan, uniformity, tracing.quiet)
        self.again = {n for region in self.regions.values() for n in region.order}  # run one by one only where a region failed
        self.is_large = not self._is_small(range(len(self.plan.segments)))
        self.hammocks = dict(self._hammocks()) if self.together and not self.is_large else dict[int, tuple[int, int]]()
        self.sides = {side for side, _ in self.hammocks.values()}
        self.rows: list[Row] = []
        self.first: list[int] = []
        self.live: list[tuple[int, ...]] = []

    def _is_small(self, segments: Sequence[int]) -> bool:
        return self.tracing.lines(op for n in segments for op in self.plan.segments[n].ops) <= SMALL

    def _hammocks(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """The segments whose branch some lanes leave on the other side, with that side, and the operation from which on both are checked together."""
        plan, uniformity = self.plan, self.uniformity
        before = Counter(to for following in uniformity.graph.following for to in following)
        for n, segment in enumerate(plan.segments):
            end, kinds = segment.end, uniformity.before(n, uniformity.entry[n])
            if not isinstance(end, P.Branch) or end.exits or end.turns or kind_in(kinds[-1], end.guard.slot) == UNIFORM:
                continue
            for side, to in ((end.fall, end.taken), (end.taken, end.fall)):
                if P.EXIT in (side, to) or before[side] != 1 or {n, side} & self.again or plan.segments[side].end != P.Jump(to):
                    continue
                ops, more = plan.segments[side].ops, uniformity.before(side, uniformity.entry[side])
                first = hammock(segment.ops, ops, [*kinds[:-1], *more], end.guard.slot, self._lines, bool(self.frame.shared_gaps))
                if first is not None:
                    yield n, (side, first)
                    break

    def segment(self, n: int) -> None:
        """The rows of one."""
        segment, uniformity = self.plan.segments[n], self.uniformity
        ops = segment.ops
        live = _live(self.plan, self.frame, n)
        kinds = uniformity.before(n, uniformity.entry[n] | 1 << self.frame.carry)
        self.first.append(len(self.rows))
        self.live.append(live)

        def add(kind: int, first: int, last: int, why: str, **more: Any) -> None:
            self.rows.append(Row(len(self.rows), kind, n, first, last, live[first], kinds[first], why, **more))

        if n in self.regions:
            add(s.REGION, 0, 0, "", region=self.regions[n], is_small=self._is_small(self.regions[n].order))
        start, reason = 0, ""  # of the pass that has been begun
        checked: Row | None = None  # of the operations that are checked together and have not ended
        side, parts = self.hammocks.get(n, (None, len(ops)))  # from there on, the operations are checked together with a side of the branch
        apart = self.is_large or n in self.again or n in self.sides
        may_check = self.together and not apart and not isinstance(segment.end, P.Table | P.Call)
        together = stretches(ops[:parts], kinds, self._lines, bool(self.frame.shared_gaps)) if may_check else {}
        seen = set[tuple[str, bool]]()  # the memory that it touches, and whether it stores there
        may_repeat = not apart

        def end_pass(i: int, why: str) -> None:
            nonlocal start, reason
            if i > start:
                run(i, "")
            reason = why

        def run(last: int, why: str) -> None:
            nonlocal start, reason
            strips = self.together and self.is_large and start < last and all(computes(ops[i], kinds[i]) for i in range(start, last))
            add(s.RUN, start, last, reason, in_strips=strips, is_small=may_repeat and checked is None)
            start, reason = last, why
            seen.clear()

        def begin_side(i: int) -> None:
            nonlocal start, may_repeat
            end_pass(i, "")
            add(s.REGION, i, len(ops), "checked together with a side of the branch", side=side)
            start, may_repeat = i, False
            seen.clear()

        def end_checked() -> None:
            nonlocal checked
            if checked is not None:
                self.rows[checked.number] = replace(checked, behind=len(self.rows))
                checked = None

        computing = self._stretches(ops, kinds)
        for i, op in enumerate(ops):
            if i < start:
                continue
            if checked is not None and i == checked.last:
                end_pass(i, "behind what is checked together")
                end_checked()
            if i == parts:
                begin_side(i)
            if i in together:
                end_pass(i, "")
                add(s.REGION, i, together[i], "checked together")
                start, checked = i, self.rows[-1]
                seen.clear()
            if i in computing:
                end_pass(i, "only computes")
                run(computing[i], "behind what only computes")
                continue
            if self.is_large and i - start >= LONGEST:
                end_pass(i, "the pass before is long")
            if not self.tracing.compiles(op):
                end_pass(i, "")
                arrives = arrives_at_cluster(op) and op.guard is None
                add(s.CLUSTER_ARRIVE if arrives else s.CALLOUT, i, i + 1, "" if arrives else self.tracing.refusal(op))
                start, reason = i + 1, "behind the barrier of a cluster" if arrives else "behind what numpy runs"
            elif self.tracing.updates(op):  # nothing may fail behind it
                if seen or start == i:
                    end_pass(i, "an update, which must not be done twice")
                run(i + 1, "behind an update, which must not be done twice")
            elif self.tracing.touches(op):  # alone, for others may touch the same
                end_pass(i, "touches memory by itself")
                run(i + 1, "behind what touches memory by itself")
            elif op.how in ("load", "store") and not reads_constants(op):
                memories, write = reached(space_of(op)), op.how == "store"
                for m in memories:
                    if (write and (m, False) in seen) or (m != "local" and (m, True) in seen):  # no lane sees another's stack
                        end_pass(i, f"{m} memory, which the pass before {'loads from' if (m, False) in seen and write else 'stores to'}")
                        break
                seen.update((memory, write) for memory in memories)
        promoted = any(
            uniformity.entry[following] & self.plan.live_in[following] & ~kinds[-1] for following in uniformity.graph.following[n]
        )
        kind = end_kind(segment.end, kinds[-1], self.frame, self.plan.function.is_entry, self.returns)
        if side is not None and parts == len(ops):
            end_pass(len(ops), "")
            end_checked()
            begin_side(len(ops))
        if start < len(ops) or promoted or kind == s.BRANCH_MANY:
            run(len(ops), "")
        end_checked()
        if kind == s.BRANCH_MANY and isinstance(segment.end, P.Call):
            add(kind, len(ops), len(ops), "")
            kind = s.CALLOUT  # for a group of which lanes call something else
        if kind == s.CALLOUT:
            add(s.CALLOUT, len(ops), len(ops), "a call")
            kind = s.JUMP
            kinds[-1] |= mask_of(set_by(segment.end))
        add(kind, len(ops), len(ops), "")

    def look_ahead(self) -> None:
        """Stretches that end with a side of a branch go on where lanes reconverge, if what they access there can be checked with the rest."""
        for row in self.rows:
            if row.side is None:
                continue
            segment, side = self.plan.segments[row.segment], self.plan.segments[row.side]
            assert isinstance(side.end, P.Jump) and isinstance(segment.end, P.Branch)
            to = side.end.to
            first = self.rows[self.first[to]]
            ops = self.plan.segments[to].ops[: first.last]
            if (
                first.region is not None
                or first.side is not None
                or not (first.is_stretch or first.kind == s.RUN)
                or not any(map(moves, ops))
            ):
                continue
            kinds = [self.uniformity.before(n, self.uniformity.entry[n]) for n in (row.segment, row.side, to)]
            pieces = segment.ops[row.first :], side.ops, ops
            before = [*kinds[0][row.first : -1], *kinds[1][:-1], *kinds[2]]
            if checkable(pieces, before, segment.end.guard.slot, self._lines, bool(self.frame.shared_gaps)):
                self.rows[row.number] = replace(row, ahead=first.last, behind=first.behind or first.number + 1)

    def _lines(self, op: P.Op) -> int | None:
        """How many lines of LLVM IR an operation takes; None if it is not compiled."""
        return self.tracing.lines([op]) if self.tracing.compiles(op) else None

    def _stretches(self, ops: Sequence[P.Op], kinds: Sequence[Kinds]) -> dict[int, int]:
        """Where long computations of a large function begin, which are passes of their own, and where they end."""
        out, start, words = dict[int, int](), 0, 0
        for i in range(len(ops) + 1):
            ends = i == len(ops) or not computes(ops[i], kinds[i]) or not self.tracing.compiles(ops[i])
            if ends or i - start == 4 * LONGEST:
                if self.is_large and words >= SHORTEST:
                    out[start] = i
                start, words = i + ends, 0
            if not ends:
                words += max((self.frame.dtypes[slot].itemsize for slot in written(ops[i])), default=1) + 3 >> 2
        return out


def _live(plan: P.PlanFunction, frame: Frame, n: int) -> tuple[int, ...]:
    """What is live before each operation of a segment, and behind them."""
    segment, registers, carry = plan.segments[n], (1 << plan.first_constant) - 1, frame.carries << frame.carry
    out = [live_behind(plan, segment) & registers | carry]
    for op in reversed(segment.ops):
        out.append(live_before(op, out[-1]) & registers | carry)
    return tuple(out[::-1])


# ---------------------------------------------------------------- ends


def end_kind(end: P.End, kinds: Kinds, frame: Frame, is_entry: bool, returns: Callable[[Function], bool]) -> int:
    """What the scheduler does at the end of a segment; `returns`: do calls of a function return without waiting for anything?"""
    match end:
        case P.Jump():
            return s.JUMP
        case P.Branch(guard=guard):
            return s.BRANCH_UNIFORM if kind_in(kinds, guard.slot) == UNIFORM else s.BRANCH
        case P.Table(guard=None):
            return s.BRANCH_MANY
        case P.ClusterWait(guard=None):
            return s.CLUSTER_WAIT
        case P.Call(ways=[_, *_]):
            return s.BRANCH_MANY
        case P.Leave(what="ret" | "exit", guard=None) if is_entry:
            return s.EXIT
        case P.Leave(what="ret" | "exit", guard=guard) if is_entry:
            assert guard is not None
            return s.EXIT_UNIFORM if kind_in(kinds, guard.slot) == UNIFORM else s.EXIT_SOME
        case P.Barrier(number=number, count=count):
            plain = all(named_by(frame, x, kinds) is not None for x in (number, count) if x is not None)
            return s.BARRIER if plain and _reduces_plainly(end) else s.LEAVE
        case P.Sync(mask=mask):
            return s.WARP_SYNC if mask is None or named_by(frame, mask, kinds) is not None else s.LEAVE
        case P.Call(callee=callee) if callee is None or returns(callee):
            return s.CALLOUT  # numpy does what the end does, and all lanes go on
    return s.LEAVE


def arrives_at_cluster(op: P.Op) -> bool:
    """Does an operation arrive at the barrier of its cluster?"""
    return op.how == "effect" and op.meaning.form.effect == "cluster_arrive"


def _reduces_plainly(end: P.Barrier) -> bool:
    """Is what a barrier reduces, if anything, a register, and its result another?"""
    r = end.reduction
    return r is None or (type(r.target) is int and type(reduced_predicate(r)[0]) is int)


def reduced_predicate(reduction: P.Reduction) -> tuple[Any, bool]:
    """The register that a barrier reduces, and whether it is negated."""
    value = reduction.value
    return (value.slot, True) if isinstance(value, P.Not) else (value, False)


def named_by(frame: Frame, source: P.Source, kinds: Kinds) -> int | None:
    """How the scheduler finds an operand of 32 bits; None: not at all."""
    slot = source.slot if isinstance(source, P.SlotAs) else source
    if isinstance(slot, P.ScalarConstant) or slot in frame.constants:
        return s.NAMED_BY_TEXT
    if type(slot) is not int or frame.dtypes[slot].itemsize != 4:
        return None
    return s.NAMED_BY_LANES if kind_in(kinds, slot) == VARYING else s.NAMED_BY_ONE
