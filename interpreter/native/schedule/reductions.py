"""Barriers that reduce predicates: whether one holds for all threads of a block, for any, or for how many."""

from __future__ import annotations

from . import layout as s
from .layout import RowRecord, WaveRecord
from .loops import popcount


def holds(wave: WaveRecord, row: RowRecord, vector: int) -> int:
    """The lanes of a warp for which the predicate holds that a barrier reduces."""
    if row.valued == s.NAMED_BY_ONE:
        return int((0 - (wave.masks[row.value] & 1)) ^ (0 - row.negated))
    return int(wave.masks[vector * wave.frame + row.value] ^ (0 - row.negated))


def reduce_blocks(wave: WaveRecord, row: RowRecord) -> None:
    """Writes, for the threads of each block, of how many of them a predicate holds, or whether of all or of any."""
    entries = wave.running.entries
    at = 0
    while at < wave.running.count:
        block = (entries[at] >> 32) // wave.each
        first = at
        threads = result = 0
        while at < wave.running.count and (entries[at] >> 32) // wave.each == block:
            mask = entries[at] & 0xFFFFFFFF
            threads += popcount(mask)
            result += popcount(holds(wave, row, entries[at] >> 32) & mask)
            at += 1
        for entry in entries[first:at]:
            put(wave, row, entry, row.reduced, result, threads)


def put(wave: WaveRecord, row: RowRecord, entry: int, how: int, count: int, threads: int) -> None:
    """Writes a result for the lanes of an entry: the predicate holds for `count` of so many threads."""
    result = count
    if how == s.BY_AND:
        result = count == threads
    if how == s.BY_OR:
        result = count != 0
    place = (entry >> 32 & 0x3FFFFFFF) * wave.frame + row.result
    mask = entry & 0xFFFFFFFF
    if row.reduced == s.BY_POPC:
        for lane in range(32):
            if mask >> lane & 1:
                wave.masks[place + lane] = result
    else:
        wave.masks[place] = wave.masks[place] & ~mask | mask * (result != 0)
