"""What the rows of barriers and syncs say of their operands, and groups of which only some lanes stop there."""

from __future__ import annotations

from . import layout as s
from .convergence import go
from .divergence import lanes_taken, split
from .layout import BranchWay, GroupNode, RowRecord, WaveRecord
from .nodes import push, spare


def guarded(wave: WaveRecord, row: RowRecord) -> int:
    """0: the group stops here, perhaps without the lanes for which the guard does not hold, which go on; else a code for run() plus one."""
    if row.guarded == s.NAMED_BY_TEXT:
        return 0
    if row.guarded == s.NAMED_BY_ONE:
        if wave.masks[row.guard] & 1 != row.inverted:
            return 0
        go(wave, row.to)
        return 1
    flip = 0 - row.inverted
    n = lanes_taken(wave, row.guard, flip)
    if n == wave.running.lanes:
        return 0
    if n == 0:
        go(wave, row.to)
        return 1
    if not wave.apart:
        return s.DIVERGED + 1
    if not spare(wave, 3, 2 * wave.running.count + 2 * BranchWay.SIZE):
        return s.FULL + 1
    push(wave, split_beside(wave, row.guard, flip, row.to))
    return 0


def split_beside(wave: WaveRecord, place: int, flip: int, to: int) -> GroupNode:
    """As split, but both groups stand below the join."""
    if wave.running.parent:
        wave.running.parent.children += 1
    return split(wave, place, flip, to)


def first_value(wave: WaveRecord, place: int) -> int:
    """What the first lane of the group has in a register."""
    entry = wave.running.entries[0]
    lane = 0
    while entry >> lane & 1 == 0:
        lane += 1
    return int(wave.masks[(entry >> 32) * wave.frame + place + lane])


def number_of(wave: WaveRecord, row: RowRecord) -> int:
    """The number of the barrier at which the group arrives; NOWHERE if its lanes differ."""
    if row.numbered == s.NAMED_BY_TEXT:
        return row.number
    if row.numbered == s.NAMED_BY_ONE:
        return int(wave.masks[row.number])
    number = first_value(wave, row.number)
    for entry in wave.running.entries[: wave.running.count]:
        place = (entry >> 32) * wave.frame + row.number
        for lane in range(32):
            if entry >> lane & 1 and wave.masks[place + lane] != number:
                return s.NOWHERE
    return number


def count_of(wave: WaveRecord, row: RowRecord) -> int:
    """For how many threads the barrier waits; 0: for all."""
    if row.named == s.NAMED_BY_ONE:
        return int(wave.masks[row.operand])
    if row.named == s.NAMED_BY_LANES:
        return first_value(wave, row.operand)
    return row.constant
