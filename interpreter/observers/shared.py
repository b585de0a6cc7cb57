"""Shared memory as observers see it: passes over the banks, loops that read before they swap, and whose memory an address means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Immediate, Instruction
from warplab.isa.profiles import DeviceProfile
from warplab.isa.types import TYPES

from ..memory.access import Access
from ..memory.banks import atomic_passes, matrix_passes, shared_passes
from ..memory.loops import Loop, extreme_passes, half_word_shared, loop_of, spin_passes
from ..values import Array
from .lanes import few_lanes, lanes_of
from .tally import SiteTally
from .touch import Patterns, patterns

if TYPE_CHECKING:
    from ..group import Group

Index = NDArray[np.int64]

MATRICES = ("ldmatrix", "stmatrix")
OFFSET = 0xFFFFFF  # of a shared address, below the rank of its block in the cluster
RANK_AT = 24
KEPT = 4096  # patterns whose passes are remembered


class SharedMemory:
    """Counts the accesses of one launch."""

    def __init__(self, device: DeviceProfile, cluster: int) -> None:
        self.device = device
        self.cluster = cluster
        self._passes: dict[tuple[int, str, int, bool, bytes, bytes], tuple[Index, Index]] = {}
        self._further = False

    def fresh(self) -> None:
        """A new instruction: its first matrix is a request, the further ones belong to it."""
        self._further = False

    def access(
        self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int, space: str, *, others: bool,
        operands: Sequence[Array],
    ) -> None:  # fmt: skip
        """One access; `others`: lanes of the same generic access mean other memory; `operands`: of an atomic operation."""
        i = tally.site.instruction
        if self.cluster > 1 and space in ("generic", "shared::cluster") and int(address.max()) > OFFSET:
            near = _near(group, address)
            mask = near if mask is None else mask & near
            if not mask.any():
                return
        address = address & address.dtype.type(OFFSET)
        loop = None
        if kind in ("red", "atom") and self.device.shared_rule == "modern":
            loop = loop_of(i.modifiers, "generic" if space == "generic" else "shared")
            if loop is not None:
                self._read_in_loop(tally, group, address, mask, width, loop, operands)
        lanes, times = few_lanes(group.geometry, address, mask)
        rows = patterns(lanes, 128)
        apart = others and width > 4
        passes, conflicts = self._known((id(i), kind, width, apart, *rows.key), i, kind, rows, width, loop)
        total, beyond = int(passes @ rows.count) * times, int(conflicts @ rows.count) * times
        asked = 0 if self._further else lanes.requests * times
        self._further = i.opcode in MATRICES
        a = tally.count("shared", kind, width, lanes=lanes.count * times, requests=asked, units=total,
                        ideal=total - beyond, conflicts=beyond, moved=lanes.count * times * width)  # fmt: skip
        worst = int(passes.argmax())
        if a.sample is None or passes[worst] > a.sample[2]:
            a.sample = (rows.where[worst], rows.mask[worst], int(passes[worst]))

    def _known(
        self, key: tuple[int, str, int, bool, bytes, bytes], i: Instruction, kind: str, rows: Patterns, width: int, loop: Loop | None
    ) -> tuple[Index, Index]:
        known = self._passes.get(key)
        if known is None:
            if len(self._passes) > KEPT:
                self._passes.clear()
            known = self._passes[key] = self._banks(i, kind, rows, width, loop, key[3])
        return known

    def _banks(self, i: Instruction, kind: str, rows: Patterns, width: int, loop: Loop | None, apart: bool) -> tuple[Index, Index]:
        """(passes, conflicts) of each pattern; `apart`: lanes have partners in other memory, with which they share nothing."""
        if kind == "loop":
            return spin_passes(rows.where, rows.mask, width)
        if i.opcode in MATRICES:  # announced matrix by matrix: four lanes read a row of 16 bytes
            return matrix_passes(np.tile(rows.where[:, ::4], 4), 1)
        if kind in ("red", "atom"):
            if loop is Loop.HALF_WORD:
                return half_word_shared(rows.where, rows.mask, once="cas" in i.modifiers)
            last = i.operands[-1]
            counting = kind == "red" and "add" in i.modifiers and isinstance(last, Immediate) and last.value == 1
            passes, conflicts = atomic_passes(rows.where, rows.mask, width, counting=counting, swap="cas" in i.modifiers)
            return passes, np.zeros_like(conflicts) if loop else conflicts  # a loop's conflicts are those of its reads
        return shared_passes(self.device, rows.where, rows.mask, width, store=kind == "st" or apart)

    def _read_in_loop(
        self, tally: SiteTally, group: Group, address: Array, mask: Array | None, width: int, loop: Loop, operands: Sequence[Array]
    ) -> None:
        """The loads of an atomic operation that has no instruction of its own."""
        i = tally.site.instruction
        lanes = lanes_of(group.geometry, address, mask)
        if loop is Loop.HALF_WORD:
            passes, conflicts = shared_passes(self.device, lanes.full & ~3, lanes.mask, 4)
        elif {"min", "max"} & set(i.modifiers):
            held, wanted = _ordered(group, address, i.modifiers, operands[0])
            passes, conflicts = extreme_passes(lanes.full, lanes.mask, width, held, wanted)
        else:
            rows = patterns(lanes, 128)
            passes, conflicts = (
                x * rows.count for x in self._known((id(i), "loop", width, False, *rows.key), i, "loop", rows, width, loop)
            )
        total, beyond = int(passes.sum()), int(conflicts.sum())
        tally.count("shared", "ld", width, lanes=lanes.count, requests=lanes.requests, units=total, ideal=total - beyond, conflicts=beyond)


def _near(group: Group, address: Array) -> Array:
    """Which addresses mean the lane's own block: another block's memory is on another multiprocessor."""
    rank = (address >> address.dtype.type(RANK_AT)).astype(np.int64)
    own = group.wave.block_table("cluster_ctarank").astype(np.int64)[group.geometry.block[:, 0]].reshape(-1, 1)
    return np.asarray((rank == 0) | (rank == own + 1))


def _ordered(group: Group, address: Array, modifiers: Sequence[str], operand: Array) -> tuple[Index, Index]:
    """What memory holds and what lanes want, by warps, such that the smaller number wins."""
    kind = "u64" if "u64" in modifiers else "s64"
    (held,) = Access.load(group.wave.access, group, "shared", address, TYPES[kind], 1)
    out = []
    for values in (held, operand):
        v = np.ascontiguousarray(np.broadcast_to(values, group.geometry.shape)).view(np.int64)
        v = v ^ np.iinfo(np.int64).min if kind == "u64" else v
        out.append(group.geometry.warps.spread(~v if "max" in modifiers else v))
    return out[0], out[1]
