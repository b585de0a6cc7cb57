"""Follows undefined bits from where they lie to where they matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Function

from ...faults import ExecutionError
from ...launch import Launch
from ...memory.arena import Allocation, Arena
from ...observe import LaunchProof, ObservedLanes, ObservedWave, Observer
from ...plan.plan import LoweringOptions, Site
from ...program import LoadedKernel
from ...values import Array
from .function import ShadowedFunction
from .memory import ArenaShadows, WaveShadow
from .origins import Origins
from .uses import UnsetUses


class UnsetValues(Observer):
    """Watches launches for uses of bits that nobody has set."""

    def __init__(self) -> None:
        self.origins = Origins()
        self.uses = UnsetUses(self.origins)
        self._masks, self._sources = ArenaShadows(), ArenaShadows()
        self._all_set = set[tuple[int, int, int]]()  # allocations in which no byte is unset, by arena, start and end
        self._running = 0  # launches
        self._codes: dict[tuple[int, int, LoweringOptions], tuple[LoadedKernel, ShadowedFunction]] = {}

    # ------------------------------------------------------------ what the host does

    def unset(self, arena: Arena, address: int, size: int) -> None:
        """Memory holds what nobody has set."""
        self._all_set.clear()
        self.undefined(arena, address, size)[:] = 0xFF

    def set(self, arena: Arena, address: int, size: int) -> None:
        """The host has written memory."""
        self.undefined(arena, address, size)[:] = 0

    def undefined(self, arena: Arena, address: int, size: int) -> NDArray[np.uint8]:
        """The undefined bits of bytes of global memory; a view."""
        return self._masks.of(arena).bytes[address - arena.base :][:size]

    # ------------------------------------------------------------ launches

    def begin(self, launch: Launch) -> None:
        """See Observer."""
        self._running += 1

    def end(self, launch: Launch) -> None:
        """See Observer."""
        self._running -= 1

    def aborted(self, launch: Launch, error: ExecutionError) -> None:
        """See Observer."""
        self._running -= 1

    def takes_proof(self, launch: Launch) -> bool:
        """See Observer."""
        return True

    def has_unset(self, arena: Arena, a: Allocation) -> bool:
        """See Observer."""
        key = id(arena), a.start, a.end
        if key in self._all_set:
            return False
        if _some(self.undefined(arena, a.start, a.size)):
            return True
        if self._running == 1:  # no suspended launch may store what is not set later
            self._all_set.add(key)
        return False

    def proved(self, proof: LaunchProof) -> None:
        """See Observer."""
        for a, units in proof.set:
            unset = self.undefined(proof.launch.arena, a.start, a.size)[: proof.unit * units.size].view(f"u{proof.unit}")
            unset[slice(None) if units.all() else units] = 0

    def wave(self, wave: ObservedWave) -> None:
        self._all_set.clear()  # its threads may store what is not set
        wave.shadow = WaveShadow(wave, self._masks, self._sources, self.origins)

    def allocated(self, site: Site, group: ObservedLanes, addresses: Array, sizes: Array) -> None:
        each = zip(addresses.ravel().tolist(), np.broadcast_to(sizes, addresses.shape).ravel().tolist(), strict=True)
        for address, size in each:
            if address:
                self.unset(group.wave.launch.arena, address, size)

    def code(self, kernel: LoadedKernel, f: Function, lowering: LoweringOptions) -> ShadowedFunction:
        key = (id(kernel), id(f), lowering)
        found = self._codes.get(key)
        if found is None:
            made = ShadowedFunction(kernel.plan(f, lowering), self.origins, self.uses)
            found = self._codes[key] = (kernel, made)
        return found[1]


def _some(bits: NDArray[np.uint8]) -> bool:
    """Are any bits undefined?  Looked at by words, which is faster."""
    whole = bits.size // 8 * 8
    return bool(bits[:whole].view(np.uint64).any()) or bool(bits[whole:].any())
