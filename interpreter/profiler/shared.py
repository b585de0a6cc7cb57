"""Shared memory as observers see it: passes over the banks, loops that read before they swap, and whose memory an address means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Immediate, Instruction
from warplab.isa.facts import facts_of
from warplab.isa.ops.atomic import CHANGES
from warplab.isa.profiles import DeviceProfile
from warplab.isa.types import TYPES

from ..flags import any_in_rows
from ..lanes import Geometry
from ..memory.access import WaveMemory
from ..ptxas.atomics import AtomicLoop, is_gathered, loop_of
from ..rules.atomic_loops import Rule, half_word_swaps, loop_passes
from ..rules.banks import atomic_passes, matrix_passes, shared_passes
from ..rules.contention import atomic_global
from ..values import Array, Shifted, Value, plain
from .lanes import WARP, WarpLanes, few_lanes, lanes_of
from .listener import AccessListener
from .loops.compiled import Loops, load
from .loops.words import TAKING_TURNS
from .patterns import Patterns, patterns
from .tally import Operation
from .touch import Memo

if TYPE_CHECKING:
    from ..observe import ObservedLanes

Index = NDArray[np.int64]

OFFSET = 0xFFFFFF  # of a shared address, below the rank of its block in the cluster
RANK_AT = 24
WORD = 4  # bytes of a bank
KEPT = 2048  # sets of patterns whose passes are remembered
LARGE = 1 << 14  # bytes of patterns that are not remembered


@dataclass(frozen=True, slots=True)
class Total:
    """What one access of a group counts."""

    lanes: int
    requests: int
    units: int
    conflicts: int
    sample: tuple[Index, NDArray[np.bool_], int]  # the worst warp: addresses, active lanes, passes
    passes: Index  # of each warp, or of each warp of a block if all blocks ask alike


class SharedMemory:
    """Counts the accesses of one launch."""

    def __init__(self, device: DeviceProfile, cluster: int, engine: str, listener: AccessListener | None = None) -> None:
        self.device, self.engine = device, engine
        self.listener = listener
        self.cluster = cluster
        self._rotates = cluster == 1 and device.shared_rule == "modern"  # all banks are alike, and addresses mean the own block
        self._further = False  # the matrix of an instruction that comes next is not its first one
        self._totals: Memo[Total] = Memo()
        self._passes: dict[tuple[str, int, bool, bytes, bytes], tuple[Index, Index]] = {}

    def begin(self) -> None:
        """A new instruction: its first matrix is a request, the further ones belong to it."""
        self._further = False

    def access(self, op: Operation, place: Value, mask: Array | None, space: str, *, others: bool) -> None:
        """One access; `others`: lanes of the same generic access mean other memory."""
        i, group, kind, width = op.tally.site.instruction, op.group, op.kind, op.width
        g = group.geometry
        if isinstance(place, Shifted) and mask is None and kind in ("ld", "st") and not facts_of(i.opcode).moves_matrix and self._rotates:
            whole = place
            self._count(
                op, *self._totals.of(g, whole, WORD, (kind, width), lambda: self._total(g, plain(whole), None, kind, width, apart=False))
            )
            return
        address = plain(place)
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
                self._read_in_loop(op, address, mask, loop)
        rule, apart = self._rule(i, kind, loop), others and width > 4
        if rule == "atom" and space != "generic" and address.shape[-1] == 1 and self.device.shared_rule == "modern":
            whole_warps = mask is None or bool(mask.all())
            if is_gathered(i, kind, uniform=op.operands[0].shape[-1] == 1, whole=whole_warps):
                rule = "gathered"
        half = loop is AtomicLoop.HALF_WORD
        total = self._swapped(op, address, mask) if half else self._total(g, address, mask, rule, width, apart=apart)
        further, self._further = self._further and rule == "matrix", rule == "matrix"
        self._count(op, total, further=further)

    def _count(self, op: Operation, total: Total, by: int = 0, *, further: bool = False) -> None:
        """Adds an access, so many bytes further on; `further`: it belongs to the request before."""
        if self.listener is not None:
            self.listener.near(op, "shared", total.passes)
        a = op.tally.count("shared", op.kind, op.width, lanes=total.lanes, requests=0 if further else total.requests, units=total.units,
                           ideal=total.units - total.conflicts, conflicts=total.conflicts, moved=total.lanes * op.width)  # fmt: skip
        if a.sample is None or total.sample[2] > a.sample[2]:
            where, active, most = total.sample
            a.sample = where + by, active, most

    def _total(self, g: Geometry, address: Array, mask: Array | None, rule: str, width: int, *, apart: bool) -> Total:
        lanes, times = few_lanes(g, address & address.dtype.type(OFFSET), mask)
        if rule in ("ld", "st") and self.device.shared_rule == "modern" and lanes.where.shape[1] == WARP:
            compiled = load(lanes.warps, self.engine)
            if compiled is not None:
                return _total_by_warps(lanes, times, width, compiled, pairs=rule == "ld" and not apart)
        rows = patterns(lanes, 128)
        passes, conflicts = self._of_patterns(rule, width, rows, apart=apart)
        worst = int(passes.argmax())
        return Total(
            lanes=lanes.count * times,
            requests=lanes.requests * times,
            units=int(passes @ rows.count) * times,
            conflicts=int(conflicts @ rows.count) * times,
            sample=(rows.where[worst].copy(), rows.mask[worst].copy(), int(passes[worst])),
            passes=rows.spread(passes),
        )

    def _swapped(self, op: Operation, address: Array, mask: Array | None) -> Total:
        """A 16-bit compare-and-swap or sum, whose tries depend on the values."""
        lanes = lanes_of(op.group.geometry, address, mask)
        words = swapped_words(op.group, "shared", address, mask, op.operands)
        passes, conflicts = swaps_of(op.tally.site.instruction, lanes, words, partial(atomic_passes, swap=True))
        worst = int(passes.argmax())
        sample = (lanes.full[worst].copy(), lanes.mask[worst].copy(), int(passes[worst]))
        return Total(lanes.count, lanes.requests, int(passes.sum()), int(conflicts.sum()), sample, passes)

    def _rule(self, i: Instruction, kind: str, loop: AtomicLoop | None) -> str:
        """By which of the rules below an access is counted."""
        if facts_of(i.opcode).moves_matrix:
            return "matrix"
        if kind not in ("red", "atom"):
            return kind
        swap = "cas" in i.modifiers
        last = i.operands[-1]
        if kind == "red" and {"add", "u32"} <= set(i.modifiers) and isinstance(last, Immediate) and last.value == 1:
            return "counting"
        return "swap" if swap else "spin" if loop else "atom"

    def _of_patterns(self, rule: str, width: int, rows: Patterns, *, apart: bool) -> tuple[Index, Index]:
        """(passes, conflicts) of each pattern; `apart`: lanes have partners in other memory, with which they share nothing."""
        if rows.where.nbytes > LARGE:
            return self._counted(rule, width, rows, apart=apart)
        key = (rule, width, apart, *rows.key)
        found = self._passes.get(key)
        if found is None:
            if len(self._passes) >= KEPT:
                self._passes.clear()
            found = self._passes[key] = self._counted(rule, width, rows, apart=apart)
        return found

    def _counted(self, rule: str, width: int, rows: Patterns, *, apart: bool) -> tuple[Index, Index]:
        where, mask = rows.where, rows.mask
        match rule:
            case "ld" | "st":
                return shared_passes(self.device, where, mask, width, store=rule == "st" or apart)
            case "loop" if width == WORD and (compiled := load(where.size, self.engine)) is not None:
                turns, beyond, room = np.empty(len(where), np.int64), np.empty(len(where), np.int64), np.empty(TAKING_TURNS, np.int64)
                compiled.take_turns(where, mask, len(where), room, turns, beyond)
                return turns, beyond
            case "loop":
                return loop_passes(where, mask, width)
            case "matrix":  # announced matrix by matrix: four lanes read a row of 16 bytes
                return matrix_passes(np.tile(where[:, ::4], 4), 1)
            case "gathered":  # one lane acts for its warp
                passes = any_in_rows(mask).astype(np.int64)
                return passes, np.zeros_like(passes)
            case _:
                passes, conflicts = atomic_passes(where, mask, width, counting=rule == "counting", swap=rule in ("swap", "spin"))
                return passes, np.zeros_like(conflicts) if rule == "spin" else conflicts  # a loop's conflicts are those of its reads

    def _read_in_loop(self, op: Operation, address: Array, mask: Array | None, loop: AtomicLoop) -> None:
        """The loads of an atomic operation that has no instruction of its own."""
        i, group, width = op.tally.site.instruction, op.group, op.width
        lanes = lanes_of(group.geometry, address, mask)
        if loop is AtomicLoop.HALF_WORD:
            passes, conflicts = shared_passes(self.device, lanes.full & ~3, lanes.mask, 4)
        elif width == 8:
            shape, spread = group.geometry.shape, group.geometry.warps.spread
            values = (np.broadcast_to(v, shape) for v in (_in_memory(group, "shared", address, "b64"), op.operands[0]))
            held, operand = (spread(np.ascontiguousarray(v).view(np.int64)) for v in values)
            leaves = not {"min", "max"}.isdisjoint(i.modifiers)
            passes, conflicts = loop_passes(lanes.full, lanes.mask, 8, held, operand, _change(i), leaves=leaves)
        else:
            rows = patterns(lanes, 128)
            passes, conflicts = (x * rows.count for x in self._of_patterns("loop", width, rows, apart=False))
        total, beyond = int(passes.sum()), int(conflicts.sum())
        op.tally.count(
            "shared", "ld", width, lanes=lanes.count, requests=lanes.requests, units=total, ideal=total - beyond, conflicts=beyond
        )


def _total_by_warps(lanes: WarpLanes, times: int, width: int, compiled: Loops, *, pairs: bool) -> Total:
    """What a load or store counts, found warp by warp; `pairs`: see modern_banks."""
    where, active = np.ascontiguousarray(lanes.where), lanes.whole_mask
    passes, conflicts = np.empty((2, lanes.warps), np.int64)
    compiled.bank_passes(where, active, active is not None, lanes.warps, width, pairs, np.empty(TAKING_TURNS, np.int64), passes, conflicts)
    worst = int(passes.argmax())
    mask = np.ones(WARP, np.bool_) if active is None else active[worst].copy()
    sample = where[worst] - (where[worst, mask.argmax()] & -128), mask, int(passes[worst])
    units, beyond = int(passes.sum()) * times, int(conflicts.sum()) * times
    return Total(lanes.count * times, lanes.requests * times, units, beyond, sample, passes)


def _near(group: ObservedLanes, address: Array) -> Array:
    """Which addresses mean the lane's own block: another block's memory is on another multiprocessor."""
    rank = (address >> address.dtype.type(RANK_AT)).astype(np.int64)
    own = group.wave.block_table("cluster_ctarank").astype(np.int64)[group.geometry.block[:, 0]].reshape(-1, 1)
    return np.asarray((rank == 0) | (rank == own + 1))


def _in_memory(group: ObservedLanes, space: str, address: Array, type: str) -> Array:
    """What memory holds at the addresses of a group."""
    return WaveMemory.load(group.wave.access, group, space, address, TYPES[type], 1)[0]


def swapped_words(group: ObservedLanes, space: str, address: Array, mask: Array | None, operands: Sequence[Array]) -> list[Index]:
    """Of 16-bit compare-and-swaps and sums, by warps: the words that memory holds, and the halves that lanes compare with and bring."""
    with nullcontext() if mask is None else group.only(mask):  # the others may mean another memory
        held = _in_memory(group, space, address & ~address.dtype.type(3), "b32")
    values = [held, *(np.asarray(o).view(np.uint16) for o in operands)]
    return [group.geometry.warps.spread(np.broadcast_to(v, group.geometry.shape).astype(np.int64)) for v in values]


def swaps_of(i: Instruction, lanes: WarpLanes, values: list[Index], rule: Rule = atomic_global) -> tuple[Index, Index]:
    """What a rule counts for all swaps of a loop around a 16-bit compare-and-swap or sum; `values`: see swapped_words."""
    held, *operands = values

    def sums(half: Index) -> tuple[Index, Index]:
        return half, _change(i)(half.astype(np.uint16), operands[0].astype(np.uint16)).astype(np.int64)

    compares = "cas" in i.modifiers
    return half_word_swaps(
        lanes.full, lanes.mask, held, (lambda half: (operands[0], operands[1])) if compares else sums, rule, compares=compares
    )


def _change(i: Instruction) -> Callable[[Array, Array], Array]:
    """What an atomic operation makes of the bits that memory holds and those that lanes bring."""
    type = i.modifiers[-1]
    change = next(CHANGES[word, type][0] for word in i.modifiers if (word, type) in CHANGES)
    dtype = TYPES[type].dtype
    return lambda old, b: np.asarray(change(old.view(dtype), b.view(dtype))).view(old.dtype)
