"""Lanes that wait at a join for siblings who cannot come, and groups that spin, when no group can run."""

from __future__ import annotations

from . import layout as s
from .convergence import go_node, has_more, still
from .layout import GroupNode, WaveRecord
from .loops import popcount
from .nodes import mark, new, pick, unmark
from .records import Array


def release(wave: WaveRecord) -> int:
    """Lanes that wait at a join for siblings that cannot come go on alone; 0 if some do, 1 if none, else a code for Python plus one."""
    first = wave.picked_count
    wave.looks += 1
    above_all(wave, wave.blocked, wave.blocked_count)
    above_all(wave, wave.spinning, wave.spinning_count)
    spinning = wave.spinning_count
    moved = 1
    for join in wave.picked[first : wave.picked_count]:
        arrived = lanes_at(wave, join)
        if arrived and not wave.apart and not only_ends(wave, join.pc):
            wave.picked_count = first
            return s.DIVERGED + 1
        if arrived:
            if spinning:
                wave.unmet[join.pc + 1] = 1
                wave.any_unmet = 1
            go_node(wave, take_arrived(wave, join))
            moved = 0
    wave.picked_count = first
    return moved


def only_ends(wave: WaveRecord, pc: int) -> bool:
    """Do lanes do nothing more from a place on?"""
    return pc == s.END or wave.rows[pc].kind == s.EXIT


def above_all(wave: WaveRecord, groups: Array[GroupNode], count: int) -> None:
    """Picks the joins above some groups at which lanes have arrived, each once."""
    for group in groups[:count]:
        join = group.parent
        while join:
            if join.left != wave.looks:
                join.left = wave.looks
                if lanes_at(wave, join):
                    pick(wave, join)
            join = join.parent


def mark_below(wave: WaveRecord, join: GroupNode) -> None:
    """Marks the lanes below a join as gone."""
    for i in range(wave.high):
        group = wave.nodes[i]
        if group.state != s.IS_UNUSED and group.parent == join:
            mark(wave, wave.gone, group)


def lanes_at(wave: WaveRecord, join: GroupNode) -> int:
    """How many living lanes have come to a join."""
    mark_below(wave, join)
    lanes = 0
    for entry in join.entries[: join.count]:
        vector = entry >> 32
        lanes += popcount(entry & wave.alive[vector] & ~wave.gone[vector])
    unmark(wave, wave.gone, join)
    return lanes


def take_arrived(wave: WaveRecord, join: GroupNode) -> GroupNode:
    """The lanes that have come to a join as a group that goes on without the others."""
    mark_below(wave, join)
    entries = wave.free
    n = lanes = kept = 0
    for entry in join.entries[: join.count]:
        vector = entry >> 32
        mask = entry & wave.alive[vector] & ~wave.gone[vector]
        entries[n] = vector << 32 | mask
        n += mask != 0
        lanes += popcount(mask)
        mask = entry & wave.gone[vector]
        wave.gone[vector] = 0
        join.entries[kept] = vector << 32 | mask
        kept += mask != 0
    wave.free += n
    join.count = kept
    join.lanes -= lanes
    join.turns = 0
    if join.parent:
        join.parent.children += 1
    return new(wave, s.IS_READY, join.pc, entries, n, lanes, join.parent)


def wake(wave: WaveRecord) -> int:
    """Groups that spin go on; a code for Python where others should run, or where it should look whether lanes get on."""
    code = still(wave)
    first = wave.picked_count
    for group in wave.spinning[: wave.spinning_count]:
        pick(wave, group)
    wave.spinning_count = 0
    for i in range(wave.picked_count - first):
        go_node(wave, wave.picked[wave.picked_count - 1 - i])
    wave.picked_count = first
    if has_more(wave):
        return s.SPINS
    return code
