"""Barriers of a block: groups arrive there, and wait for others (vector/waiting/barriers.py)."""

from __future__ import annotations

from . import layout as s
from .convergence import check, go
from .layout import RowRecord, WaveRecord
from .loops import popcount
from .nodes import block, new, park, push, spare
from .predicated_sync import count_of, guarded, number_of
from .reductions import holds, reduce_blocks


def barrier(wave: WaveRecord, row: RowRecord) -> int:
    """The group arrives at a barrier, or those of its lanes for which a guard holds."""
    code = guarded(wave, row)
    if code:
        return code - 1
    number = number_of(wave, row)
    if number == s.NOWHERE:
        return several(wave, row)
    if number >= s.BARRIERS:
        return s.STUCK
    running = wave.running
    if wave.shared_part:
        if running.lanes != wave.wave_blocks * wave.block_lanes:
            return s.STUCK  # not what is to be proved
        wave.interval += 1
    wanted = count_of(wave, row)
    all_there = wanted == 0 and (running.lanes == wave.living or whole_blocks(wave))
    if wave.pending[number] == 0 and (all_there or (wanted and enough(wave, wanted))):
        if row.reduced:
            reduce_blocks(wave, row)
        wave.events += running.lanes != wave.living
        go(wave, row.to)
        return 0
    if not spare(wave, 2, running.count):
        return s.FULL
    note(wave, row, number, wanted)
    if row.waits:
        group = park(wave, s.IS_AT_BARRIER, row.to)
        group.row = row
        group.number = number
        group.left = group.count
        block(wave, group, s.IS_AT_BARRIER)
        check(wave, number)
    else:
        check(wave, number)
        go(wave, row.to)
    return 0


def several(wave: WaveRecord, row: RowRecord) -> int:
    """Lanes name different barriers: those of each number part, and arrive there one group after another."""
    running = wave.running
    if not wave.apart:
        return s.DIVERGED
    if not spare(wave, s.BARRIERS, s.BARRIERS * running.count):
        return s.FULL
    first = wave.ready_count
    for number in range(s.BARRIERS):
        entries = wave.free
        count = lanes = 0
        for entry in running.entries[: running.count]:
            place = (entry >> 32) * wave.frame + row.number
            mask = 0
            for lane in range(32):
                if entry >> lane & 1 and wave.masks[place + lane] == number:
                    mask |= 1 << lane
            entries[count] = (entry >> 32) << 32 | mask
            count += mask != 0
            lanes += popcount(mask)
        if count:
            wave.free += count
            push(wave, new(wave, s.IS_READY, running.pc, entries, count, lanes, running.parent))
    if running.parent:
        running.parent.children += wave.ready_count - first - 1
    running.count = 0
    return 0


def note(wave: WaveRecord, row: RowRecord, number: int, wanted: int) -> None:
    """Notes the lanes of the group as arrived."""
    first = number * wave.per_wave * wave.each
    wave.pending[number] = 1
    if row.reduced:
        wave.reduces[number] = row.reduced
    for entry in wave.running.entries[: wave.running.count]:
        vector = entry >> 32
        mask = entry & 0xFFFFFFFF
        wave.arrived[first + vector] |= mask
        wave.wanted[number * wave.per_wave + vector // wave.each] = wanted
        wave.holds[first + vector] &= ~mask
        if row.reduced:
            wave.holds[first + vector] |= holds(wave, row, vector) & mask


def whole_blocks(wave: WaveRecord) -> bool:
    """Does the group hold every living lane of each block that it touches?"""
    running = wave.running
    entries = running.entries
    at = 0
    while at < running.count:
        first = (entries[at] >> 32) // wave.each * wave.each
        for vector in range(first, first + wave.each):
            alive = wave.alive[vector]
            if alive:
                if at == running.count or entries[at] != vector << 32 | alive:
                    return False
                at += 1
    return True


def enough(wave: WaveRecord, wanted: int) -> bool:
    """Does the group hold, of each block that it touches, whole warps of so many threads?"""
    running = wave.running
    entries = running.entries
    at = 0
    while at < running.count:
        block = (entries[at] >> 32) // wave.each
        threads = 0
        while at < running.count and (entries[at] >> 32) // wave.each == block:
            if entries[at] & 0xFFFFFFFF == wave.alive[entries[at] >> 32]:
                threads += 32
            at += 1
        if threads < wanted:
            return False
    return True
