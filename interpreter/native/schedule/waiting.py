"""Groups that wait for lanes of their warps, and what goes on when no group can run (vector/waiting/sync.py)."""

from __future__ import annotations

from . import layout as s
from .barrier_release import release
from .convergence import clear_passed, gather, go
from .divergence import lanes_taken
from .layout import BranchWay, GroupNode, RowRecord, WaveRecord
from .loops import popcount
from .nodes import block, mark, new, park, pick, push, spare, unblock, unmark
from .predicated_sync import guarded, split_beside


def sync(wave: WaveRecord, row: RowRecord) -> int:
    """The group waits where it lacks lanes of its warps that a membermask names."""
    running = wave.running
    if row.parts:
        code = guarded(wave, row)
        if code:
            return code - 1
    if running.lanes == wave.living or not misses(wave, row):
        go(wave, row.to)
        return 0
    if not wave.apart:
        return s.DIVERGED
    if not spare(wave, 3, 2 * running.count + 2 * BranchWay.SIZE):
        return s.FULL
    if not row.parts and row.guarded == s.NAMED_BY_LANES:  # lanes whose guard does not hold wait for nobody
        flip = 0 - row.inverted
        if lanes_taken(wave, row.guard, flip) < running.lanes:
            push(wave, split_beside(wave, row.guard, flip, row.to))
        if not misses(wave, row):
            push(wave, park(wave, s.IS_READY, row.to))
            return 0
    group = park(wave, s.IS_AT_SYNC, row.to)
    group.row = row
    block(wave, group, s.IS_AT_SYNC)
    return 0


def misses(wave: WaveRecord, row: RowRecord) -> bool:
    """Does the group lack living lanes that its lanes name?"""
    missing = 0
    for entry in wave.running.entries[: wave.running.count]:
        missing |= named(wave, row, entry) & wave.alive[entry >> 32] & ~entry
    return missing != 0


def named(wave: WaveRecord, row: RowRecord, entry: int) -> int:
    """The lanes of a warp that those of an entry name which execute the sync."""
    frame = (entry >> 32) * wave.frame
    asking = entry & 0xFFFFFFFF
    if row.guarded == s.NAMED_BY_ONE:
        asking = asking * (wave.masks[row.guard] & 1 ^ row.inverted)
    if row.guarded == s.NAMED_BY_LANES:
        asking = asking & (wave.masks[frame + row.guard] ^ (0 - row.inverted))
    if asking == 0:
        return 0
    if row.named == s.NAMED_BY_ONE:
        return int(wave.masks[row.operand])
    if row.named == s.NAMED_BY_TEXT:
        return row.constant
    out = 0
    for lane in range(32):
        out |= wave.masks[frame + row.operand + lane] * (asking >> lane & 1)
    return out


# ---------------------------------------------------------------- when no group can run


def free_one(wave: WaveRecord) -> int:
    """0: some group can run, 1: none can, else a code for Python plus one."""
    code = split_passed(wave)
    if code != 1:
        return code
    code = unite_blocked(wave)
    if code != 1:
        return code
    return release(wave)


def split_passed(wave: WaveRecord) -> int:
    """Groups of which some blocks have passed their barrier part, so that those go on."""
    first = wave.picked_count
    for group in wave.blocked[: wave.blocked_count]:
        if group.state == s.IS_AT_BARRIER and group.left < group.count:
            pick(wave, group)
    end = wave.picked_count
    if end == first:
        return 1
    if not wave.apart:
        wave.picked_count = first
        return s.DIVERGED + 1
    for i in range(first, end):
        number = wave.picked[i].number
        wave.picked[i] = take_free(wave, wave.picked[i])
        wave.picked[i].number = number
    for i in range(first, end):
        group = wave.picked[i]
        if group:
            number = group.number
            for j in range(i, end):
                group = wave.picked[j]
                if group and group.number == number:
                    wave.picked[j] = GroupNode(wave, 0)
                    pick(wave, group)
            gather(wave, end)
    wave.picked_count = first
    return 0


def unite_blocked(wave: WaveRecord) -> int:
    """Lanes that wait at equal instructions, and for no others, go on, those at one place as one group."""
    first = wave.picked_count
    for group in wave.blocked[: wave.blocked_count]:
        if group.state == s.IS_AT_SYNC:
            pick(wave, group)
    end = wave.picked_count
    code = 1
    for i in range(first, end):
        if code < 2 and wave.picked[i]:
            found = unite_equal(wave, i, end)
            if found != 1:
                code = found
    wave.picked_count = first
    return code


def unite_equal(wave: WaveRecord, first: int, end: int) -> int:
    """The same for those that wait at instructions equal to that of a picked group; they are picked no more."""
    key = wave.picked[first].row.key
    for i in range(first, end):
        group = wave.picked[i]
        if group and group.row.key == key:
            wave.picked[i] = GroupNode(wave, 0)
            pick(wave, group)
            mark(wave, wave.here, group)
    exchange = key > 0 and free_places(wave, end) > 1
    last = wave.picked_count
    for group in wave.picked[end:last]:
        if not exchange and can_go(wave, group):
            pick(wave, take_free(wave, group))
    for group in wave.picked[end : wave.picked_count]:
        unmark(wave, wave.here, group)
    some = wave.picked_count > last
    gather(wave, last)
    wave.picked_count = end
    if exchange:
        return s.STUCK + 1
    return not some


def free_places(wave: WaveRecord, first: int) -> int:
    """At how many places groups stand, of those picked from a number on, that can go on with some of their warps."""
    places = 0
    for i in range(first, wave.picked_count):
        group = wave.picked[i]
        another = can_go(wave, group)
        for other in wave.picked[first:i]:
            if other.pc == group.pc and can_go(wave, other):
                another = 0
        places += another != 0
    return places


def can_go(wave: WaveRecord, group: GroupNode) -> int:
    """How many warps of a group wait no more."""
    n = 0
    for entry in group.entries[: group.count]:
        n += is_free(wave, group, entry)
    return n


def is_free(wave: WaveRecord, group: GroupNode, entry: int) -> bool:
    """Has a warp of a waiting group passed its barrier, or are the lanes that it lacks marked as here?"""
    if group.state == s.IS_AT_BARRIER:
        return entry >= s.PASSED
    vector = entry >> 32
    return named(wave, group.row, entry) & wave.alive[vector] & ~entry & ~wave.here[vector] == 0


def take_free(wave: WaveRecord, group: GroupNode) -> GroupNode:
    """The warps of a waiting group that wait no more, as a group; the others wait on."""
    unblock(wave, group)
    if can_go(wave, group) == group.count:
        return clear_passed(wave, group)
    entries = wave.free
    n = lanes = kept = 0
    for entry in group.entries[: group.count]:
        if is_free(wave, group, entry):
            entries[n] = entry
            n += 1
            lanes += popcount(entry & 0xFFFFFFFF)
        else:
            group.entries[kept] = entry
            kept += 1
    wave.free += n
    group.count = group.left = kept
    group.lanes -= lanes
    group.turns = 0
    if group.parent:
        group.parent.children += 1
    block(wave, group, group.state)
    return clear_passed(wave, new(wave, s.IS_READY, group.pc, entries, n, lanes, group.parent))
