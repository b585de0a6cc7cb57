"""Tensor memory of a wave's blocks, and what their tensor cores see of shared memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplab.isa.tensor_columns import TensorMemory

from ..faults import Fault
from .spaces import SharedSpace


class TensorSpace:
    """The tensor memories of the blocks that have asked for theirs (see isa.ports.TensorCores)."""

    def __init__(self, shared: SharedSpace, cluster_size: int) -> None:
        self._shared = shared
        self._cluster_size = cluster_size
        self._made: dict[int, TensorMemory] = {}

    def memory(self, cta: int) -> TensorMemory:
        """See TensorCores."""
        found = self._made.get(cta)
        if found is None:
            found = self._made[cta] = TensorMemory()
        return found

    def shared(self, cta: int) -> NDArray[np.uint8]:
        """See TensorCores."""
        first = cta * self._shared.stride
        return self._shared.bytes[first : first + self._shared.size]

    def peer(self, cta: int) -> int | None:
        """See TensorCores."""
        rank = cta % self._cluster_size ^ 1
        return cta // self._cluster_size * self._cluster_size + rank if rank < self._cluster_size else None

    def leak(self) -> tuple[int, Fault] | None:
        """The first block that has ended with columns still allocated, and what that is."""
        for cta in sorted(self._made):
            if self._made[cta].allocations:
                text = f"tensor memory leak: a block ended and {self._made[cta].describe()}"
                return cta, Fault("tensor-memory-leak", text, "tensor", nearest="free what tcgen05.alloc gives with tcgen05.dealloc")
        return None
