"""Groups that do not run, joins, and the lists of their lanes.

A list has an entry for each vector with lanes in the group, in ascending order: `vector << 32 | mask`.  It belongs to one group.  New lists lie behind all
others; when there is no room left, they move together.
"""

from __future__ import annotations

from . import layout as s
from .layout import GroupNode, WaveRecord
from .loops import popcount
from .records import Array


def new(wave: WaveRecord, state: int, pc: int, entries: Array[int], count: int, lanes: int, parent: GroupNode) -> GroupNode:
    """A group with these lanes."""
    group = wave.unused
    if group:
        wave.unused = group.parent
    else:
        group = wave.nodes[wave.high]
        wave.high += 1
    wave.used += 1
    group.state = state
    group.pc = pc
    group.entries = entries
    group.count = count
    group.lanes = lanes
    group.parent = parent
    group.turns = group.children = group.yields = group.left = 0
    return group


def drop(wave: WaveRecord, group: GroupNode) -> None:
    """A group is no more."""
    group.state = s.IS_UNUSED
    group.parent = wave.unused
    wave.unused = group
    wave.used -= 1


def park(wave: WaveRecord, state: int, pc: int) -> GroupNode:
    """The group that runs as one that does not; none runs."""
    running = wave.running
    group = new(wave, state, pc, running.entries, running.count, running.lanes, running.parent)
    group.turns = running.turns
    running.count = 0
    return group


def push(wave: WaveRecord, group: GroupNode) -> None:
    """A group is ready: it runs before those that were."""
    group.state = s.IS_READY
    wave.ready[wave.ready_count] = group
    wave.ready_count += 1


def pop(wave: WaveRecord) -> None:
    """The group that became ready last runs."""
    wave.ready_count -= 1
    group = wave.ready[wave.ready_count]
    running = wave.running
    running.pc = group.pc
    running.entries = group.entries
    running.count = group.count
    running.lanes = group.lanes
    running.turns = group.turns
    running.parent = group.parent
    wave.stop = s.NOWHERE
    if running.parent:
        wave.stop = running.parent.pc
    drop(wave, group)


def block(wave: WaveRecord, group: GroupNode, state: int) -> None:
    """A group waits."""
    group.state = state
    wave.blocked[wave.blocked_count] = group
    wave.blocked_count += 1


def unblock(wave: WaveRecord, group: GroupNode) -> None:
    """A group waits no more."""
    at = 0
    while wave.blocked[at] != group:
        at += 1
    wave.blocked_count -= 1
    for i in range(at, wave.blocked_count):
        wave.blocked[i] = wave.blocked[i + 1]


def pick(wave: WaveRecord, group: GroupNode) -> None:
    """Puts a group on the list of those of which something is about to be done."""
    wave.picked[wave.picked_count] = group
    wave.picked_count += 1


def keep(wave: WaveRecord, group: GroupNode, masks: Array[int], flip: int) -> None:
    """Drops the lanes of a group that are not among masks, each of them combined with `flip` by exclusive or."""
    entries = group.entries
    kept = lanes = 0
    for entry in entries[: group.count]:
        mask = entry & 0xFFFFFFFF & (masks[entry >> 32] ^ flip)
        entries[kept] = (entry >> 32) << 32 | mask
        kept += mask != 0
        lanes += popcount(mask)
    group.count = kept
    group.lanes = lanes


def mark(wave: WaveRecord, masks: Array[int], group: GroupNode) -> None:
    """Adds the lanes of a group to masks."""
    for entry in group.entries[: group.count]:
        masks[entry >> 32 & 0x3FFFFFFF] |= entry & 0xFFFFFFFF


def unmark(wave: WaveRecord, masks: Array[int], group: GroupNode) -> None:
    """Clears the masks of the vectors of a group."""
    for entry in group.entries[: group.count]:
        masks[entry >> 32 & 0x3FFFFFFF] = 0


def forget(wave: WaveRecord, group: GroupNode) -> None:
    """Drops the lanes of a group that are marked as gone."""
    keep(wave, group, wave.gone, -1)
    group.turns = 0


def spare(wave: WaveRecord, groups: int, entries: int) -> bool:
    """Is there room for so many groups and entries, and for what may become of groups that wait?"""
    if wave.used + groups + 8 > s.NODES:
        return False
    for group in wave.blocked[: wave.blocked_count]:
        entries += group.count
    if wave.free + entries > wave.room:
        compact(wave)
    return not wave.free + entries > wave.room


def compact(wave: WaveRecord) -> None:
    """Moves all lists together."""
    first = wave.picked_count
    if wave.running.count:
        pick(wave, wave.running)
    for i in range(wave.high):
        group = wave.nodes[i]
        if group.state != s.IS_UNUSED:
            pick(wave, group)
            at = wave.picked_count - 1
            while at > first and wave.picked[at - 1].entries > group.entries:
                wave.picked[at] = wave.picked[at - 1]
                at -= 1
            wave.picked[at] = group
    to = wave.lists
    for group in wave.picked[first : wave.picked_count]:
        entries = group.entries
        group.entries = to
        for entry in entries[: group.count]:
            to[0] = entry
            to += 1
    wave.picked_count = first
    wave.free = to
