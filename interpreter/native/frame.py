"""Where registers lie between passes: one value for the wave among the uniforms, or a row of lanes in the frame of each vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory.objects import Gap
from ..plan import plan as P
from ..program import LoadedKernel

WIDTH = 32  # a vector is a warp
DType = np.dtype[Any]

_BLOCK = ("%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank", "%smid")
_LANE = ("%tid", "%laneid", "%warpid", "%lanemask")


def extent_of(name: str) -> str:
    """How far a special register varies: over the "block"s of a wave, over each "lane" of a block, or not at all ("one")."""
    return "block" if name.startswith(_BLOCK) else "lane" if name.startswith(_LANE) else "one"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """How a function's registers are kept, and, once the function is cut, where."""

    width: int  # lanes of a vector
    parameter: Callable[[P.ParameterPlace], int]  # where one lies
    constants: Mapping[int, NDArray[Any]]
    dtypes: Mapping[int, DType]
    carry: int  # the condition code register, as a slot behind all others
    carries: bool  # is it used?
    uniforms: int  # bytes in front of the frames
    start: int  # where the kernel's variables in local memory begin
    stack: int  # bytes of each lane
    gaps: Sequence[Gap]  # beside variables there
    shared_gaps: Sequence[Gap]  # and in shared memory
    has_shared: bool  # does the kernel use any?
    clusters: bool  # may generic addresses lie in the shared memory of other blocks?
    offsets: Mapping[int, int] = field(default_factory=dict)  # of the slots in the frame of a vector
    ways: int = 0  # the masks of the lanes that go each way of a table lie there,
    saved: int = 0  # and there what a region saves,
    notes: int = 0  # and there how addresses lie that are checked together,
    noted: int = 0  # of so many
    size: int = 64

    @classmethod
    def of(cls, kernel: LoadedKernel, plan: P.PlanFunction) -> Frame:
        """One in which nothing lies yet."""
        offsets = {id(v): at for v, at in kernel.parameters}
        carry = plan.first_constant + len(plan.constants)
        dtypes = {s: h.dtype for h in plan.homes.values() for s in range(h.slot, h.slot + h.width)}
        return cls(
            WIDTH,
            lambda p: offsets[id(p.variable)] + p.offset,
            {plan.first_constant + i: c for i, c in enumerate(plan.constants)},
            {**dtypes, carry: np.dtype(np.bool_)},
            carry,
            any(op.how == "carry" for s in plan.segments for op in s.ops),
            -(-8 * plan.first_constant // 64) * 64,
            kernel.stack_start,
            kernel.stack_start + plan.frame_size if plan.frame_size else 0,
            [gap.moved(kernel.stack_start) for gap in plan.gaps],
            kernel.shared_gaps,
            bool(kernel.shared_layout.places or kernel.reserved_shared),
            any(op.meaning.form.facts.variables == "shared" for s in plan.segments for op in s.ops),
        )

    def place(self, slots: Iterable[int], ways: int, saved: Iterable[Iterable[int]], noted: int = 0) -> Frame:
        """With places for these slots, the widest first, for the masks of the lanes that go so many ways of a table, for the slots that one of
        the regions saves at a time, and for what is noted of so many addresses.
        """
        at, offsets = 0, dict[int, int]()
        for s in sorted(slots, key=lambda s: (-self.bytes(s), s)):
            offsets[s] = at
            at += self.bytes(s)
        behind = -(-(at + ways * self.width // 8) // 64) * 64
        notes = -(-(behind + max((sum(map(self.bytes, slots)) for slots in saved), default=0)) // 8) * 8
        size = notes + (8 + 16 * noted if noted else 0)
        return replace(self, offsets=offsets, ways=at, saved=behind, notes=notes, noted=noted, size=max(-(-size // 64) * 64, 64))

    def bytes(self, slot: int) -> int:
        """What a slot takes in a frame."""
        dtype = self.dtypes[slot]
        return self.width // 8 if dtype.kind == "b" else self.width * dtype.itemsize

    def way(self, number: int) -> int:
        """Where in a frame the mask of a way lies."""
        return self.ways + number * self.width // 8

    def mask(self, slot: int) -> int:
        """Where a predicate of lanes lies, in units of 32 bits from the first uniform on."""
        return (self.uniforms + self.offsets[slot]) // 4
