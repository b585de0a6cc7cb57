"""A pass that only computes, as a loop over strips of the lanes of each vector.

A register of a strip fits one of the host's, where those of a whole warp need four or eight: so long computations spill less, and the code is that much
shorter to compile.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...plan import plan as P
from ..frame import Frame
from ..trace.code import VectorCode, scalar_type
from ..uniformity import UNIFORM, VARYING, Kinds, kind_of
from .accesses import space_of
from .emitter import Emitter
from .memory import Helpers
from .values import Guard

STRIP = 8  # lanes
_COMPUTE = ("pure", "carry", "move", "pointer", "factors", "parameter", "pack", "unpack")


def computes(op: P.Op, kinds: Kinds) -> bool:
    """May an operation be a part of such a pass?  Loads and stores may if they go to one address, which is checked once for all lanes, and if no lane
    can see what another stores there.
    """
    access = op.meaning.access
    if op.how in _COMPUTE:
        return True
    if access is None or op.how not in ("load", "store") or kind_of(op.sources[0], kinds) != UNIFORM:
        return False
    if isinstance(op.sources[0], P.ParameterPlace) or (space_of(op) == "global" and op.how == "load" and op.guard is None):
        return True
    return space_of(op) == "local" and access.type.bytes >= 4


class StripEmitter(Emitter):
    """Writes the function of such a pass."""

    def __init__(self, frame: Frame, kinds: Kinds, helpers: Helpers, name: str) -> None:
        super().__init__(frame, kinds, helpers, name)
        self.width = STRIP
        self.code = VectorCode(STRIP, self.module, "v")

    def place_of(self, slot: int, kind: int) -> tuple[str, int]:
        """See Values."""
        place, align = super().place_of(slot, kind)
        if kind != VARYING:
            return place, align
        dtype = self.frame.dtypes[slot]
        if dtype.kind == "b":
            return self.code.emit(f"getelementptr i{STRIP}, ptr {place}, i64 %strip"), STRIP // 8
        return self.code.emit(f"getelementptr {scalar_type(dtype)}, ptr {place}, i64 %lane0"), min(64, STRIP * dtype.itemsize)

    def first_thread(self) -> str:
        """See Values; of a strip."""
        return self.code.emit(f"add i64 {super().first_thread()}, %lane0")

    def may_store(self, guard: Guard) -> str:
        """See Stack: nothing fails once the pass has begun."""
        return self.mask(guard)

    # ------------------------------------------------------------ the function

    def strips(self, ops: Sequence[P.Op], needed: dict[int, set[int]]) -> str:
        """LLVM IR; `needed`: in which kinds each slot must lie in memory behind the pass."""
        for op in ops:
            self.operation(op)
        self.put_all(needed, VARYING)
        once = len(self.once.lines)
        self.put_all(needed, UNIFORM)
        w, count = STRIP, self.frame.width // STRIP
        return self.function(once, [
            "  br label %begin", "begin:", "  %strip = phi i64 [0, %loop], [%strip.next, %latch]", f"  %lane0 = mul i64 %strip, {w}",
            "  %e.strip = lshr i64 %e, %lane0", f"  %bits = trunc i64 %e.strip to i{w}", f"  %active = bitcast i{w} %bits to <{w} x i1>",
            *self.code.lines, "  br label %latch",
            "latch:", "  %strip.next = add i64 %strip, 1", f"  %rest = icmp ult i64 %strip.next, {count}", "  br i1 %rest, label %begin, label %next",
        ])  # fmt: skip
