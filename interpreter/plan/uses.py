"""Which slots operations and ends read and write, and which special registers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from . import plan as P


def leaves(s: Any) -> Iterator[Any]:
    """The innermost parts of an operand: slots, special registers, constants."""
    match s:
        case P.SlotAs() | P.Packed() | P.Not() | P.Pointer():
            yield s.slot
        case P.Tuple():
            for e in s.sources:
                yield from leaves(e)
        case P.PlusConstant():
            yield from leaves(s.source)
        case P.AddressSource():
            yield from leaves(s.base)
        case _:
            yield s


def slots_in(sources: Iterable[Any]) -> list[int]:
    """The slots that operands read."""
    return [x for s in sources for x in leaves(s) if type(x) is int]


def read(op: P.Op) -> list[int]:
    """The slots that an operation reads, its guard's included, and those that keep their value where the guard does not hold."""
    out = [] if op.guard is None else [op.guard.slot, *op.keeps]
    out += slots_in(op.sources)
    return out + ([] if op.product is None else read(op.product))


def written(op: P.Op) -> list[int]:
    """The slots that an operation sets."""
    return targets(op.target) + ([] if op.product is None else written(op.product))


def read_by(end: P.End) -> list[int]:
    """The slots that an end reads."""
    sources: list[Any] = [] if (guard := getattr(end, "guard", None)) is None else [guard.slot]
    match end:
        case P.Table():
            sources.append(end.index)
        case P.Call():
            sources += [end.pointer, *end.arguments]
        case P.Barrier():
            sources += [end.number, end.count, *([] if end.reduction is None else [end.reduction.value])]
        case P.Sync():
            sources.append(end.mask)
    return slots_in(sources)


def set_by(end: P.End) -> list[int]:
    """The slots that an end sets: what a call returns, or a barrier's reduction."""
    if isinstance(end, P.Barrier) and end.reduction is not None:
        return targets(end.reduction.target)
    results = end.results if isinstance(end, P.Call) else ()
    return [slot for r in results if isinstance(r, P.RegisterResult) for slot in targets(r.target)]


def targets(t: P.Target) -> list[int]:
    """The slots of a target."""
    match t:
        case None:
            return []
        case int():
            return [t]
        case P.Each():
            return [x for e in t.targets for x in targets(e)]
        case _:
            return [t.slot]


def successors(end: P.End) -> list[int]:
    """The places to which an end may lead; EXIT is not one."""
    match end:
        case P.Jump():
            out = [end.to]
        case P.Branch():
            out = [end.taken, end.fall]
        case P.Table():
            out = [*end.targets, *([end.fall] if end.guard is not None else [])]
        case P.Call():
            out = [*[to for _, to in end.ways], end.after]
        case P.Leave():
            out = [end.fall] if end.guard is not None else []
        case _:
            out = [end.past]
    return [pc for pc in dict.fromkeys(out) if pc != P.EXIT]


def live_behind(plan: P.PlanFunction, segment: P.Segment) -> int:
    """The slots that are live behind the operations of a segment, as a mask."""
    live = plan.live_in[-1] if isinstance(segment.end, P.Leave) else 0
    for following in successors(segment.end):
        live |= plan.live_in[following]
    return live | mask_of(read_by(segment.end))


def live_before(op: P.Op, live: int) -> int:
    """The slots that are live before an operation, if those of a mask are behind it."""
    kept = 0 if op.guard is not None else mask_of(written(op))
    return live & ~kept | mask_of(read(op))


def mask_of(slots: Iterable[int]) -> int:
    """Slots as a mask."""
    out = 0
    for slot in slots:
        out |= 1 << slot
    return out


def slots_of(mask: int) -> list[int]:
    """The slots of a mask."""
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out
