"""Instructions in a region for which the lanes of a warp wait: a comparison of masks, as long as all that are named are there (schedule/waiting.py)."""

from __future__ import annotations

from collections.abc import Sequence

from ...plan import plan as P
from ..trace.symbol import SymbolicArray, lift
from ..trace.ufuncs import select
from ..uniformity import UNIFORM
from .memory import field
from .segment import RegionSegment

LOOK, LOOKED = "; look", "; looked"  # around lines that a warp needs only if lanes of it may be elsewhere


def elsewhere(width: int) -> list[str]:
    """Lines that find the living lanes of a warp that are not in the group."""
    return [
        *field("alive", "%alive"), "  %living.at = add i64 %alive, %vec", "  %living.p = getelementptr i64, ptr %ctx, i64 %living.at",
        "  %living.l = load i64, ptr %living.p, align 8", f"  %living = trunc i64 %living.l to i{width}",
        f"  %absent = xor i{width} %bits, -1", f"  %elsewhere = and i{width} %living, %absent",
    ]  # fmt: skip


def looked(e: RegionSegment, end: P.Sync) -> list[str]:
    """Lines that leave the region where lanes name others that are elsewhere."""
    assert end.mask is not None
    t = f"i{e.width}"
    return [
        LOOK, f"  %lacking = and {t} {_named(e, end.mask)}, %elsewhere", f"  %are.here = icmp eq {t} %lacking, 0",
        "  br i1 %are.here, label %here, label %bad, !prof !9", "here:", LOOKED,
    ]  # fmt: skip


def without_looks(body: Sequence[str]) -> list[str]:
    """What a region does for a whole warp, none of whose lanes is elsewhere."""
    out, wanted = list[str](), True
    for line in body:
        wanted = wanted and line != LOOK
        if wanted:
            out.append(line)
        wanted = wanted or line == LOOKED
    return out


def _named(e: RegionSegment, mask: P.Source) -> str:
    """All lanes that those of a warp name."""
    kind, value = e.source(mask)
    if kind == UNIFORM:
        return e.once.emit(f"extractelement {value.type} {value.value}, i32 0")
    asked = select(SymbolicArray(e.code, "%active", "?"), value, lift(e.code, 0, value.dtype, e.width))
    return e.code.call(f"llvm.vector.reduce.or.v{e.width}i32", "i32", f"{asked.type} {asked.value}")
