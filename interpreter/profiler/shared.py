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
from warplab.isa.ops.atomic import CHANGES as SUMS
from warplab.isa.profiles import DeviceProfile
from warplab.isa.types import TYPES

from ..flags import any_in_rows
from ..lanes import Geometry
from ..memory.access import Access
from ..ptxas.atomics import Loop, is_gathered, loop_of
from ..rules.atomic_loops import (
    ALL_BITS,
    Rule,
    changing_passes,
    compare_swaps,
    extreme_passes,
    shares_halves,
    spin_passes,
    sum_swaps,
)
from ..rules.banks import atomic_passes, matrix_passes, shared_passes
from ..rules.contention import atomic_global
from ..values import Array, Shifted, Value, plain
from .lanes import Lanes, few_lanes, lanes_of
from .patterns import Patterns, patterns
from .tally import Operation
from .touch import Memo

if TYPE_CHECKING:
    from ..vector.group import Group

Index = NDArray[np.int64]

OFFSET = 0xFFFFFF  # of a shared address, below the rank of its block in the cluster
RANK_AT = 24
WORD = 4  # bytes of a bank
KEPT = 2048  # sets of patterns whose passes are remembered
LARGE = 1 << 14  # bytes of patterns that are not remembered

CHANGES: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, b: (old + b) & ALL_BITS,
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
}


@dataclass(frozen=True, slots=True)
class Total:
    """What one access of a group counts."""

    lanes: int
    requests: int
    units: int
    conflicts: int
    sample: tuple[Index, NDArray[np.bool_], int]  # the worst warp: addresses, active lanes, passes


class SharedMemory:
    """Counts the accesses of one launch."""

    def __init__(self, device: DeviceProfile, cluster: int) -> None:
        self.device = device
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
        half = loop is Loop.HALF_WORD
        total = self._swapped(op, address, mask) if half else self._total(g, address, mask, rule, width, apart=apart)
        further, self._further = self._further and rule == "matrix", rule == "matrix"
        self._count(op, total, further=further)

    def _count(self, op: Operation, total: Total, by: int = 0, *, further: bool = False) -> None:
        """Adds an access, so many bytes further on; `further`: it belongs to the request before."""
        a = op.tally.count("shared", op.kind, op.width, lanes=total.lanes, requests=0 if further else total.requests, units=total.units,
                           ideal=total.units - total.conflicts, conflicts=total.conflicts, moved=total.lanes * op.width)  # fmt: skip
        if a.sample is None or total.sample[2] > a.sample[2]:
            where, active, most = total.sample
            a.sample = where + by, active, most

    def _total(self, g: Geometry, address: Array, mask: Array | None, rule: str, width: int, *, apart: bool) -> Total:
        lanes, times = few_lanes(g, address & address.dtype.type(OFFSET), mask)
        rows = patterns(lanes, 128, g.warps_per_block)
        passes, conflicts = self._of_patterns(rule, width, rows, apart=apart)
        worst = int(passes.argmax())
        return Total(
            lanes=lanes.count * times,
            requests=lanes.requests * times,
            units=int(passes @ rows.count) * times,
            conflicts=int(conflicts @ rows.count) * times,
            sample=(rows.where[worst].copy(), rows.mask[worst].copy(), int(passes[worst])),
        )

    def _swapped(self, op: Operation, address: Array, mask: Array | None) -> Total:
        """A 16-bit compare-and-swap or sum, whose tries depend on the values."""
        lanes = lanes_of(op.group.geometry, address, mask)
        words = swapped_words(op.group, "shared", address, mask, op.operands)
        passes, conflicts = half_word_swaps(op.tally.site.instruction, lanes, words, partial(atomic_passes, swap=True))
        worst = int(passes.argmax())
        sample = (lanes.full[worst].copy(), lanes.mask[worst].copy(), int(passes[worst]))
        return Total(lanes.count, lanes.requests, int(passes.sum()), int(conflicts.sum()), sample)

    def _rule(self, i: Instruction, kind: str, loop: Loop | None) -> str:
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
            case "loop":
                return spin_passes(where, mask, width)
            case "matrix":  # announced matrix by matrix: four lanes read a row of 16 bytes
                return matrix_passes(np.tile(where[:, ::4], 4), 1)
            case "gathered":  # one lane acts for its warp
                passes = any_in_rows(mask).astype(np.int64)
                return passes, np.zeros_like(passes)
            case _:
                passes, conflicts = atomic_passes(where, mask, width, counting=rule == "counting", swap=rule in ("swap", "spin"))
                return passes, np.zeros_like(conflicts) if rule == "spin" else conflicts  # a loop's conflicts are those of its reads

    def _read_in_loop(self, op: Operation, address: Array, mask: Array | None, loop: Loop) -> None:
        """The loads of an atomic operation that has no instruction of its own."""
        i, group, width = op.tally.site.instruction, op.group, op.width
        lanes = lanes_of(group.geometry, address, mask)
        if loop is Loop.HALF_WORD:
            passes, conflicts = shared_passes(self.device, lanes.full & ~3, lanes.mask, 4)
        elif {"min", "max"} & set(i.modifiers):
            held, wanted = _ordered(group, address, i.modifiers, op.operands[0])
            passes, conflicts = extreme_passes(lanes.full, lanes.mask, width, held, wanted)
        else:
            rows = patterns(lanes, 128, group.geometry.warps_per_block)
            passes, conflicts = (x * rows.count for x in self._of_patterns("loop", width, rows, apart=False))
            if width == 8:
                more, further = _beyond(group, lanes, address, i.modifiers, op.operands[0])
                passes, conflicts = np.append(passes, more), np.append(conflicts, further)
        total, beyond = int(passes.sum()), int(conflicts.sum())
        op.tally.count(
            "shared", "ld", width, lanes=lanes.count, requests=lanes.requests, units=total, ideal=total - beyond, conflicts=beyond
        )


def _near(group: Group, address: Array) -> Array:
    """Which addresses mean the lane's own block: another block's memory is on another multiprocessor."""
    rank = (address >> address.dtype.type(RANK_AT)).astype(np.int64)
    own = group.wave.block_table("cluster_ctarank").astype(np.int64)[group.geometry.block[:, 0]].reshape(-1, 1)
    return np.asarray((rank == 0) | (rank == own + 1))


def _values(group: Group, address: Array, operand: Array) -> tuple[Index, Index]:
    """What memory holds and what lanes bring, by warps, as bits."""
    (held,) = Access.load(group.wave.access, group, "shared", address, TYPES["b64"], 1)
    spread = group.geometry.warps.spread
    bits = [np.ascontiguousarray(np.broadcast_to(v, group.geometry.shape)).view(np.int64) for v in (held, operand)]
    return spread(bits[0]), spread(bits[1])


def swapped_words(group: Group, space: str, address: Array, mask: Array | None, operands: Sequence[Array]) -> list[Index]:
    """Of 16-bit compare-and-swaps and sums, by warps: the words that memory holds, and the halves that lanes compare with and bring."""
    with nullcontext() if mask is None else group.only(mask):  # the others may mean another memory
        (held,) = Access.load(group.wave.access, group, space, address & ~address.dtype.type(3), TYPES["b32"], 1)
    values = [held, *(np.asarray(o).view(np.uint16) for o in operands)]
    return [group.geometry.warps.spread(np.broadcast_to(v, group.geometry.shape).astype(np.int64)) for v in values]


def half_word_swaps(i: Instruction, lanes: Lanes, values: list[Index], rule: Rule = atomic_global) -> tuple[Index, Index]:
    """What a rule counts for all swaps of a loop around a 16-bit compare-and-swap or sum; `values`: see swapped_words."""
    if "cas" in i.modifiers:
        held, wanted, new = values
        return compare_swaps(lanes.full, lanes.mask, held, wanted, new, rule)
    held, added = values
    type = "bf16" if "bf16" in i.modifiers else "f16"
    change, dtype = SUMS["add", type][0], TYPES[type].dtype

    def sum_of(old: NDArray[np.uint16], b: NDArray[np.uint16]) -> NDArray[np.uint16]:
        with np.errstate(all="ignore"):
            return np.asarray(change(old.view(dtype), b.view(dtype))).view(np.uint16)

    return sum_swaps(lanes.full, lanes.mask, held, added, sum_of, rule)


def _beyond(group: Group, lanes: Lanes, address: Array, modifiers: Sequence[str], operand: Array) -> tuple[int, int]:
    """How many more passes and conflicts 64-bit loops have where lanes change nothing, so that lanes of the other half do not lose."""
    held, wanted = _values(group, address, operand)
    word = next(word for word in CHANGES if word in modifiers)
    if "f64" in modifiers:
        with np.errstate(all="ignore"):
            idle = (held.view(np.float64) + wanted.view(np.float64)).view(np.int64) == held
    else:
        idle = np.asarray(wanted == 0) if word in ("add", "xor") else np.ones_like(lanes.mask)
    some = np.flatnonzero(any_in_rows(idle & lanes.mask))
    some = some[shares_halves(lanes.full[some], lanes.mask[some])]
    if not some.size:
        return 0, 0
    where, mask = lanes.full[some], lanes.mask[some]
    change = _add_doubles if "f64" in modifiers else CHANGES[word]
    now, plain = changing_passes(where, mask, held[some], wanted[some], change), spin_passes(where, mask, 8)
    return int(now[0].sum() - plain[0].sum()), int(now[1].sum() - plain[1].sum())


def _add_doubles(old: int, b: int) -> int:
    with np.errstate(all="ignore"):
        one, other = (np.array([bits], np.uint64).view(np.float64) for bits in (old, b))
        return int((one + other).view(np.uint64)[0])


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
