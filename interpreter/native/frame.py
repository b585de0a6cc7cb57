"""Where registers lie between passes: one value for the wave among the uniforms, or a row of lanes in the frame of each vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory.objects import Gap
from ..plan import plan as P

DType = np.dtype[Any]

_BLOCK = ("%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank", "%smid")
_LANE = ("%tid", "%laneid", "%warpid", "%lanemask")
_WIDE = ("%gridid", "%current_graph_exec")  # of 64 bits


def extent_of(name: str) -> str:
    """How far a special register varies: over the "block"s of a wave, over each "lane" of a block, or not at all ("one")."""
    return "block" if name.startswith(_BLOCK) else "lane" if name.startswith(_LANE) else "one"


class Frame:
    """The places of a function's registers, of its special registers, and of what its accesses remember."""

    def __init__(
        self, plan: P.PlanFunction, width: int, parameter: Callable[[P.ParameterPlace], int], start: int, shared_gaps: Sequence[Gap] = ()
    ) -> None:  # fmt: skip
        self.width = width
        self.parameter = parameter
        self.constants: dict[int, NDArray[Any]] = {plan.first_constant + i: c for i, c in enumerate(plan.constants)}
        self.dtypes: dict[int, DType] = {s: h.dtype for h in plan.homes.values() for s in range(h.slot, h.slot + h.width)}
        self.carry = plan.first_constant + len(plan.constants)  # the condition code register, as a slot behind all others
        self.dtypes[self.carry] = np.dtype(np.bool_)
        self.carries = any(op.how == "carry" for s in plan.segments for op in s.ops)
        self.offsets: dict[int, int] = {}
        self.uniforms = -(-8 * plan.first_constant // 64) * 64  # bytes in front of the frames
        self.size = 64
        self.specials: dict[str, tuple[int, str, DType]] = {}
        self.sites = 0
        self.addresses_parameters = False  # an operation asks where they lie
        self.side_by_side = False  # blocks may run at the same time: what they update in global memory is updated atomically
        self.start = start  # where the kernel's variables in local memory begin
        self.stack = start + plan.frame_size if plan.frame_size else 0  # bytes of each lane
        self.gaps = [gap.moved(start) for gap in plan.gaps]  # beside variables there
        self.shared_gaps = shared_gaps

    def place(self, slots: list[int], ways: int, saved: Iterable[Iterable[int]]) -> None:
        """Gives these slots places, the widest first, and the masks of the lanes that go so many ways of a table, and the slots that one of the
        regions saves at a time.
        """
        at = 0
        for s in sorted(slots, key=lambda s: -self.bytes(s)):
            self.offsets[s] = at
            at += self.bytes(s)
        self._ways = at
        at += ways * self.width // 8
        self.saved = -(-at // 64) * 64
        at = self.saved + max((sum(map(self.bytes, slots)) for slots in saved), default=0)
        self.size = max(-(-at // 64) * 64, 64)

    def bytes(self, slot: int) -> int:
        """What a slot takes in a frame."""
        dtype = self.dtypes[slot]
        return self.width // 8 if dtype.kind == "b" else self.width * dtype.itemsize

    def way(self, number: int) -> int:
        """Where in a frame the mask of a way lies."""
        return self._ways + number * self.width // 8

    def mask(self, slot: int) -> int:
        """Where a predicate of lanes lies, in units of 32 bits from the first uniform on."""
        return (self.uniforms + self.offsets[slot]) // 4

    def special(self, name: str) -> tuple[int, str, DType]:
        """The number of a special register's table, how far it varies, and its dtype."""
        found = self.specials.get(name)
        if found is None:
            extent = extent_of(name)
            found = self.specials[name] = (
                len(self.specials),
                extent,
                np.dtype(np.uint64 if name in _WIDE or name.endswith("64") else np.uint32),
            )
        return found

    def site(self) -> int:
        """The number of another access."""
        self.sites += 1
        return self.sites - 1
