"""Whether blocks of a kernel may run at the same time: it has nothing to synchronise by beyond the block, and nothing that shows in which order blocks run.

Then the blocks of a program without data races do not see each other (PTX ISA 8), and its results are the same in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warplab.isa.ops.atomic import CHANGES

from ..plan.plan import Call, ClusterWait, Op, PlanFunction, Special
from ..plan.uses import leaves, slots_of, written
from ..vector.special import CLOCKS
from .emit.tracing import Tracing

_BEYOND_THE_BLOCK = frozenset({"gpu", "gl", "sys", "volatile", "mmio"})  # words of instructions that synchronise with other blocks
_ACQUIRES = frozenset({"acquire", "acq_rel"})


def side_by_side(plan: PlanFunction, tracing: Tracing, live: Sequence[Sequence[int]]) -> bool:
    """May blocks of a kernel run at the same time?  `live` gives, by segment, the slots that are live before each operation and behind them, as masks."""
    for n, segment in enumerate(plan.segments):
        if isinstance(segment.end, Call | ClusterWait) or not all(_is_for_its_block(op, tracing) for op in segment.ops):
            return False
        updates = [i for i, op in enumerate(segment.ops) if _updates_global(op, tracing)]
        if any(set(written(segment.ops[i])) & set(slots_of(live[n][i + 1])) for i in updates):
            return False  # what an update finds shows the order of blocks
    return True


def _is_for_its_block(op: Op, tracing: Tracing) -> bool:
    """Is an operation compiled, and does it neither look at a clock, nor synchronise with other blocks, nor update memory in a way that shows their order?"""
    words = frozenset(op.site.instruction.modifiers)
    if not tracing.compiles(op) or any(isinstance(x, Special) and x.name in CLOCKS for source in op.sources for x in leaves(source)):
        return False
    if not _updates_global(op, tracing):
        return _is_shared(op) or not words & _BEYOND_THE_BLOCK
    change, _ = CHANGES.get((str(op.meaning.settled.get("op")), str(op.meaning.settled.get("type"))), (None, None))
    return isinstance(change, np.ufunc) and not words & _ACQUIRES  # sums, extremes and logic of integers: the same in any order


def _updates_global(op: Op, tracing: Tracing) -> bool:
    return tracing.updates(op) and not _is_shared(op)


def _is_shared(op: Op) -> bool:
    return str(op.meaning.settled.get("ss")).startswith("shared")
