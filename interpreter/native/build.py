"""A segment as steps of which some run compiled code."""

from __future__ import annotations

from typing import Any

from ..plan.plan import Op, PlanFunction, Segment, Site
from ..program import LoadedKernel
from ..vector.exchange import Exchange
from ..vector.function import Step, VectorSegment
from ..vector.steps.ends import terminator
from ..vector.steps.ops import step
from .emit import SPACES, Stretch, slots_read
from .run import NativeStep, runs_natively


def segment(s: Segment, pc: int, plan: PlanFunction, kernel: LoadedKernel) -> VectorSegment:
    """A segment's longest runs of operations that compiled code can do, and numpy's steps for the rest."""
    constants = {plan.first_constant + n: value for n, value in enumerate(plan.constants)}
    live = live_after(s, plan)
    steps: list[Step] = []
    sites: list[Any] = []
    exchange = None
    at = 0
    while at < len(s.ops):
        end = run_from(s.ops, at)
        if end - at > 1:
            made = NativeStep(Stretch(s.ops[at:end], live | read_by(s.ops[end:]), constants), kernel)
            steps.append(made)
            sites.append(made)
            at = end
            continue
        one = step(s.ops[at])
        if at == 0 and isinstance(one, Exchange):
            exchange = one
        steps.append(one)
        sites.append(s.ops[at].site)
        at += 1

    def site_of(failed: Step) -> Site:
        found = sites[steps.index(failed)]
        return found.failed.site if isinstance(found, NativeStep) else found  # type: ignore[union-attr, no-any-return]

    return VectorSegment(tuple(steps), terminator(s.end, pc), s.reads, s.writes, exchange, s, site_of)


def live_after(s: Segment, plan: PlanFunction) -> int:
    """The slots that may be read behind a segment's operations: by its end, or at places where it leads."""
    out = 0
    for p in places(s.end):
        out |= plan.live_in[p]
    return out | ends_reads(s)


def places(end: Any) -> list[int]:
    """Where an end may lead."""
    out = [getattr(end, name) for name in ("to", "taken", "fall", "after", "past", "join") if hasattr(end, name)]
    return [*out, *getattr(end, "targets", ())]


def ends_reads(s: Segment) -> int:
    """The slots that the end itself reads: those that the segment reads first or sets."""
    out = 0
    for slot in s.reads:
        out |= 1 << slot
    return out | s.writes  # what it sets may be the guard, an argument, a mask


def read_by(ops: tuple[Op, ...]) -> int:
    """The slots that operations read, or keep where their guard does not hold."""
    out = 0
    for op in ops:
        for slot in (*slots_read(op), *op.keeps):
            out |= 1 << slot
    return out


def run_from(ops: tuple[Op, ...], start: int) -> int:
    """The end of a run of operations that compiled code does: none that reads what another of them may have written for another lane."""
    seen: set[tuple[str, str]] = set()
    for n in range(start, len(ops)):
        op = ops[n]
        if not runs_natively(op):
            return n
        if op.how in ("load", "store"):
            assert op.meaning.access is not None
            space, kind = SPACES[op.meaning.access.space], op.how
            if ("store", space) in seen or (kind == "store" and ("load", space) in seen):
                return n
            seen.add((kind, space))
    return len(ops)
