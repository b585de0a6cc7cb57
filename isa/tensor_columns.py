"""The tensor memory of one CTA: 128 lanes of 512 columns of 32 bits, which warps allocate by columns (PTX ISA 9.7.18.1, 9.7.18.7)."""

from __future__ import annotations

import numpy as np

LANES, COLUMNS, UNIT = 128, 512, 32
QUARTER = 32  # the lanes that one warp of four reaches


class TensorMemory:
    """The cells, and which columns are allocated.

    Two CTAs that allocate as a pair get the same columns: the one that comes first takes them in both, and its peer finds them in `promised`.
    """

    def __init__(self) -> None:
        self.cells = np.zeros((LANES, COLUMNS), np.uint32)
        self.allocations: dict[int, int] = {}  # first column -> how many
        self.promised: list[tuple[int, int]] = []  # allocations that the peer has made for both
        self.released: list[int] = []  # first columns that only the peer has freed
        self.relinquished = False
        self.group = 0  # the cta_group of the instructions so far, 0: none
        self._taken = np.zeros(COLUMNS, np.bool_)

    def free(self, count: int) -> list[int]:
        """The columns at which so many free ones begin."""
        windows = np.lib.stride_tricks.sliding_window_view(self._taken, count)[::UNIT]
        return [UNIT * int(i) for i in np.flatnonzero(~windows.any(axis=1))]

    def allocate(self, first: int, count: int) -> None:
        """Takes columns that are free."""
        self.allocations[first] = count
        self._taken[first : first + count] = True

    def deallocate(self, first: int) -> None:
        """Frees an allocation."""
        count = self.allocations.pop(first)
        self._taken[first : first + count] = False

    def holds(self, first: int, count: int) -> bool:
        """Are these columns allocated, all of them?"""
        return first + count <= COLUMNS and bool(self._taken[first : first + count].all())

    def describe(self) -> str:
        """What is allocated, in words."""
        if not self.allocations:
            return "the CTA has allocated no columns"
        parts = [f"{first} to {first + count - 1}" for first, count in sorted(self.allocations.items())]
        return f"the CTA has allocated columns {', '.join(parts)}"
