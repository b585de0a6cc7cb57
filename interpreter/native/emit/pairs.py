"""Regions that take two vectors at once: a loop that computes one value from the one before leaves most of the host idle, unless there are others to compute.

All branches of such a region go the same way for all vectors, so the lines that compute with the lanes of a vector can be repeated for another one, with
registers of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...plan import plan as P
from ...plan.uses import mask_of, read, slots_of, written
from ..frame import Frame
from ..regions import Region
from .emitter import for_all, renamed

LANES, END = "; lanes", "; end"  # around lines that compute with the lanes of a vector
FEW = 24  # operations of loops at most,
NARROW = 8  # and bytes of each lane that they compute with: those of two vectors fit into the registers of a host with AVX2


def takes_two(frame: Frame, plan: P.PlanFunction, region: Region, live: Mapping[int, int]) -> bool:
    """Do the loops of a region only compute, with few registers?  `live`: the slots that are, at the start of each segment."""
    order = region.order
    turning = {n for i, heads in enumerate(region.loops) for h in heads for n in order[order.index(h) : i + 1]}
    ops = [op for n in turning for op in plan.segments[n].ops]
    used = mask_of(slot for op in ops for slot in (*read(op), *written(op)))
    held = [sum(frame.dtypes[slot].itemsize for slot in slots_of(live[n] & region.kinds[n] & used)) for n in turning]
    computes = all(op.how in ("pure", "move") and not op.meaning.form.facts.divides for op in ops)
    return not region.diverges and computes and len(ops) <= FEW and 0 < max(held, default=0) <= NARROW


def two_at_once(body: Sequence[str], out: Sequence[str], variables: Iterable[str], size: int, width: int) -> list[str]:
    """Lines that see whether the next vector is whole, too, and then execute a region for both, whose frames have a size; `out` is done behind the region."""
    one = (".one", ".one.raw", ".offset")  # variables that are the same for all vectors
    known = {name: f"{name}.b" for name in ("%frame", "%vec", *(v for v in variables if not v.endswith(one)))}
    return [
        "look:", "  %k.b = add i64 %k, 1", "  %has.b = icmp ult i64 %k.b, %count", "  br i1 %has.b, label %look.b, label %all",
        "look.b:", "  %entry.b = getelementptr i64, ptr %list, i64 %k.b", "  %e.b = load i64, ptr %entry.b, align 8", "  %vec.b = lshr i64 %e.b, 32",
        f"  %fo.b = mul i64 %vec.b, {size}", "  %frame.b = getelementptr i8, ptr %frames.b, i64 %fo.b", f"  %bits.b = trunc i64 %e.b to i{width}",
        f"  %whole.b = icmp eq i{width} %bits.b, -1", "  br i1 %whole.b, label %both, label %all", "both:",
        *for_all([*_twofold(body, known), "leave:", *_twofold(out, known), "  br label %passed"], width, ".pair"),
    ]  # fmt: skip


def _twofold(lines: Sequence[str], known: Mapping[str, str]) -> list[str]:
    """Lines that do for two vectors what others do for one; `known`: the names of what is one vector's, and those of the other's."""
    out, first = list[str](), 0
    for i, line in enumerate(lines):
        out.append(line)
        if line.startswith(LANES):
            first = i
        elif line.startswith(END):
            out += renamed(lines[first:i], known, ".b")
    return out
