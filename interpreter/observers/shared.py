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
from warplab.isa.ops.atomic import CHANGES as SUMS
from warplab.isa.profiles import DeviceProfile
from warplab.isa.types import TYPES

from ..flags import any_in_rows
from ..memory.access import Access
from ..memory.banks import atomic_passes, matrix_passes, shared_passes
from ..memory.contention import atomic_global
from ..memory.loops import (
    ALL_BITS,
    Loop,
    Rule,
    changing_passes,
    compare_swaps,
    extreme_passes,
    loop_of,
    shares_halves,
    spin_passes,
    sum_swaps,
)
from ..vector.lanes import Geometry
from ..vector.values import Array, Shifted, Value, plain
from .lanes import few_lanes, lanes_of
from .static import is_gathered
from .tally import SiteTally
from .touch import Lanes, Patterns, patterns

if TYPE_CHECKING:
    from ..vector.group import Group

Index = NDArray[np.int64]

MATRICES = ("ldmatrix", "stmatrix")
OFFSET = 0xFFFFFF  # of a shared address, below the rank of its block in the cluster
RANK_AT = 24
WORD = 4  # bytes of a bank
KEPT = 2048  # sets of patterns whose passes are remembered
_passes: dict[tuple[str, str, int, bool, bytes, bytes], tuple[Index, Index]] = {}


CHANGES: dict[str, Callable[[int, int], int]] = {
    "add": lambda old, b: (old + b) & ALL_BITS,
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
}


@dataclass(frozen=True, slots=True)
class Whole:
    """What one access of a group counts."""

    lanes: int
    requests: int
    units: int
    conflicts: int
    sample: tuple[Index, NDArray[np.bool_], int]


SMALL = 1 << 13  # bytes of addresses that may be a key
LARGE = 1 << 14  # bytes of patterns that are not remembered
_whole: dict[
    tuple[str, str, int, bool, tuple[bytes, int, tuple[int, ...], tuple[int, ...], tuple[int, ...]], bytes, bytes | None], Whole
] = {}


class SharedMemory:
    """Counts the accesses of one launch."""

    def __init__(self, device: DeviceProfile, cluster: int) -> None:
        self.device = device
        self.cluster = cluster
        self._rotates = cluster == 1 and device.shared_rule == "modern"  # all banks are alike, and addresses mean the own block
        self._further = False

    def fresh(self) -> None:
        """A new instruction: its first matrix is a request, the further ones belong to it."""
        self._further = False

    def access(
        self, tally: SiteTally, group: Group, kind: str, place: Value, mask: Array | None, width: int, space: str, *, others: bool,
        operands: Sequence[Array],
    ) -> None:  # fmt: skip
        """One access; `others`: lanes of the same generic access mean other memory; `operands`: of an atomic operation."""
        i = tally.site.instruction
        if isinstance(place, Shifted) and mask is None and kind in ("ld", "st") and i.opcode not in MATRICES and self._rotates:
            self._count(tally, kind, width, *self._walked(group.geometry, place, kind, width))
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
                self._read_in_loop(tally, group, address, mask, width, loop, operands)
        rule, apart, g = self._rule(i, kind, loop), others and width > 4, group.geometry
        if rule == "atom" and space != "generic" and address.shape[-1] == 1 and self.device.shared_rule == "modern":
            whole_warps = mask is None or bool(mask.all())
            if is_gathered(i, kind, uniform=operands[0].shape[-1] == 1, whole=whole_warps):
                rule = "gathered"
        half = loop is Loop.HALF_WORD
        whole = self._swapped(i, group, address, mask, operands) if half else self._looked_up(g, address, mask, rule, width, apart)
        further, self._further = self._further and rule == "matrix", rule == "matrix"
        self._count(tally, kind, width, whole, further=further)

    def _count(self, tally: SiteTally, kind: str, width: int, whole: Whole, by: int = 0, *, further: bool = False) -> None:
        """Adds an access, so many bytes further on; `further`: it belongs to the request before."""
        a = tally.count("shared", kind, width, lanes=whole.lanes, requests=0 if further else whole.requests, units=whole.units,
                        ideal=whole.units - whole.conflicts, conflicts=whole.conflicts, moved=whole.lanes * width)  # fmt: skip
        if a.sample is None or whole.sample[2] > a.sample[2]:
            where, active, most = whole.sample
            a.sample = where + by, active, most

    def _walked(self, g: Geometry, place: Shifted, rule: str, width: int) -> tuple[Whole, int]:
        """What all lanes of a group ask for who walk from a base, and how many bytes further on: by words, which only turns the banks."""
        notes, note = place.facts.notes, ("shared", rule, width, place.delta % WORD, id(g))
        found: tuple[Whole, int, Geometry] | None = notes.get(note)
        if found is None or found[2] is not g:
            address = plain(place)
            found = notes[note] = self._looked_up(g, address & address.dtype.type(OFFSET), None, rule, width, False), place.delta, g
        return found[0], place.delta - found[1]

    def _looked_up(self, g: Geometry, address: Array, mask: Array | None, rule: str, width: int, apart: bool) -> Whole:
        """What an access asks for; few addresses are remembered."""
        if address.nbytes > SMALL or not (g.warps.aligned or g.thread.nbytes <= SMALL):
            return self._sum(g, address, mask, rule, width, apart)
        lanes = b"" if g.warps.aligned else g.thread.tobytes() + g.block.tobytes()  # whole warps need no names
        who = (lanes, g.warps_per_block if lanes else 0, g.shape, address.shape, () if mask is None else mask.shape)
        key = (self.device.shared_rule, rule, width, apart, who, address.tobytes(), None if mask is None else mask.tobytes())
        whole = _whole.get(key)
        if whole is None:
            if len(_whole) >= KEPT:
                _whole.clear()
            whole = _whole[key] = self._sum(g, address, mask, rule, width, apart)
        return whole

    def _sum(self, g: Geometry, address: Array, mask: Array | None, rule: str, width: int, apart: bool) -> Whole:
        lanes, times = few_lanes(g, address, mask)
        rows = patterns(lanes, 128, g.warps_per_block)
        passes, conflicts = self._known(rule, width, apart, rows)
        worst = int(passes.argmax())
        return Whole(
            lanes=lanes.count * times,
            requests=lanes.requests * times,
            units=int(passes @ rows.count) * times,
            conflicts=int(conflicts @ rows.count) * times,
            sample=(rows.where[worst].copy(), rows.mask[worst].copy(), int(passes[worst])),
        )

    def _swapped(self, i: Instruction, group: Group, address: Array, mask: Array | None, operands: Sequence[Array]) -> Whole:
        """A 16-bit compare-and-swap or sum, whose tries depend on the values."""
        lanes = lanes_of(group.geometry, address, mask)
        passes, conflicts = half_word_swaps(
            i, lanes, swapped_words(group, "shared", address, mask, operands), partial(atomic_passes, swap=True)
        )
        worst = int(passes.argmax())
        sample = (lanes.full[worst].copy(), lanes.mask[worst].copy(), int(passes[worst]))
        return Whole(lanes.count, lanes.requests, int(passes.sum()), int(conflicts.sum()), sample)

    def _rule(self, i: Instruction, kind: str, loop: Loop | None) -> str:
        """By which of the rules below an access is counted."""
        if i.opcode in MATRICES:
            return "matrix"
        if kind not in ("red", "atom"):
            return kind
        swap = "cas" in i.modifiers
        last = i.operands[-1]
        if kind == "red" and {"add", "u32"} <= set(i.modifiers) and isinstance(last, Immediate) and last.value == 1:
            return "counting"
        return "swap" if swap else "spin" if loop else "atom"

    def _known(self, rule: str, width: int, apart: bool, rows: Patterns) -> tuple[Index, Index]:
        """(passes, conflicts) of each pattern; `apart`: lanes have partners in other memory, with which they share nothing."""
        if rows.where.nbytes > LARGE:
            return self._counted(rule, width, apart, rows)
        key = (self.device.shared_rule, rule, width, apart, *rows.key)
        known = _passes.get(key)
        if known is None:
            if len(_passes) >= KEPT:
                _passes.clear()
            known = _passes[key] = self._counted(rule, width, apart, rows)
        return known

    def _counted(self, rule: str, width: int, apart: bool, rows: Patterns) -> tuple[Index, Index]:
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
            rows = patterns(lanes, 128, group.geometry.warps_per_block)
            passes, conflicts = (x * rows.count for x in self._known("loop", width, False, rows))
            if width == 8:
                more, further = _beyond(group, lanes, address, i.modifiers, operands[0])
                passes, conflicts = np.append(passes, more), np.append(conflicts, further)
        total, beyond = int(passes.sum()), int(conflicts.sum())
        tally.count("shared", "ld", width, lanes=lanes.count, requests=lanes.requests, units=total, ideal=total - beyond, conflicts=beyond)


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
