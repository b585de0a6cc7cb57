"""L2 asked for more lines than it holds: what a part of all lines finds in as large a part of the cache tells what all find.

Which lines are looked at depends on their address alone.  Sorted by line and time, the uses of each stand together; how many lines were
used in between tells which had to go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..flags import numbered, rows_and_columns
from .fresh import Fresh
from .fresh_seen import AGES, BROUGHT, DIRTY, KINDS, Held, Seen, inside, is_chosen, numbers, sectors_of_numbers
from .fresh_tables import SILENT, WARPS, Used
from .reuse import oldest_kept
from .sectors import firsts
from .uses import SECTOR_BITS, Way

Index = NDArray[np.int64]

ENOUGH = 18  # bits of a number of uses that need not be thinned out
MOST = 4  # bits: one line of 16 at least is looked at
FINE, STEPS = 16, 256  # steps in the time in which the cache is filled once, and at most
BEFORE = AGES * KINDS  # turns for what the cache held before
LAST = (1 << SECTOR_BITS) - 1


@dataclass(frozen=True, slots=True)
class Uses:
    """Uses of lines, in order by line and time."""

    sector: Index  # by number
    time: Index  # the turn, and the part of it
    bits: int  # of the part

    @property
    def turn(self) -> Index:
        """The turn; the first ones stand for what was there before."""
        return self.time >> self.bits

    @property
    def line(self) -> Index:
        """The line's number."""
        return self.sector >> SECTOR_BITS


def lost_in_full_l2(fresh: Fresh, seen: Seen, lines: int, *, last: bool) -> tuple[list[int], int]:
    """The sectors that a cache of so many lines, that all ask, has to fetch for each code, and how many become dirty.

    `last`: nobody will want to know what the cache holds then; else that is what has been `seen`.
    """
    used = [u for u in fresh.used if u.turn >= seen.told]
    asked = np.zeros(SILENT + 1, np.int64)
    for u in used:
        asked[u.code] += _count(u)
    if last and seen.is_empty and fresh.once_each:
        write = {u.turn: u for u in [*fresh.also, *(u for u in used if u.way in (Way.STORE, Way.ATOMIC))]}
        return asked[: len(fresh.groups)].tolist(), sum(map(_count, write.values()))
    if seen.held is None:
        seen.held = Held.of(seen, min(MOST, max(0, int(asked.sum()).bit_length() - ENOUGH)))
    held = seen.held
    codes = np.full(BEFORE + fresh.used[-1].turn + 1, SILENT, np.uint8)
    kind = np.arange(codes.size) % KINDS
    kind[BEFORE:] = 0
    for u in used:
        codes[BEFORE + u.turn] = u.code
        kind[BEFORE + u.turn] = BROUGHT * (u.way is not Way.STORE or u.waiting.brings) + DIRTY * (u.way in (Way.STORE, Way.ATOMIC))
    for u in fresh.also:
        kind[BEFORE + u.turn] |= DIRTY
    outside = Outside(fresh, held)
    uses = _uses(fresh, used, held, outside, lines >> held.thin)
    stay, there = _stays(uses, lines >> held.thin)
    spot, turn = stay << SECTOR_BITS | uses.sector & LAST, uses.turn
    does, code = kind.take(turn), codes.take(turn)
    first = np.zeros(int(stay[-1]) + 1 << SECTOR_BITS if stay.size else 0, np.uint8)  # the code of who brings a sector in; 0: nobody
    who = (does & BROUGHT).nonzero()[0][::-1]  # who comes first is written last
    first[spot.take(who)] = code.take(who)
    dirty = np.zeros((2, first.size), np.bool_)  # those that were so before, and all
    writes = (does & DIRTY) > 0
    dirty[0, spot.compress(writes & (turn < BEFORE))] = True
    dirty[1, spot.compress(writes)] = True
    if not last:
        seen.hold(outside.remembered(uses, stay, there, BROUGHT * (first > 0) + DIRTY * dirty[1]))
    looked_at = np.bincount(code.compress(turn >= BEFORE), minlength=SILENT + 1)
    lost = np.bincount(first, minlength=SILENT + 1) * asked / np.maximum(looked_at, 1)
    writers = {u.turn: _count(u) for u in [*used, *fresh.also] if kind[BEFORE + u.turn] & DIRTY}
    share = sum(writers.values()) / max(1, int(np.count_nonzero(writes & (turn >= BEFORE))))
    written = round(int((dirty[1] & ~dirty[0]).sum()) * share)
    return [0, *np.rint(lost[1 : len(fresh.groups)]).astype(np.int64).tolist()], written


def _count(u: Used) -> int:
    """Its uses."""
    return u.waiting.f.count if u.table == WARPS else u.end - u.begin


class Outside:
    """The sectors that the cache held before, of which some lie outside the stretches that have numbers: those get further ones."""

    def __init__(self, fresh: Fresh, held: Held) -> None:
        self.fresh, self.held = fresh, held
        self.number = np.zeros(held.sectors.size, np.int64)
        at = inside(held.sectors, fresh.stretches)
        self.number[at] = numbers(held.sectors, fresh.stretches)
        rest = np.ones(held.sectors.size, np.bool_)
        rest[at] = False
        line = held.sectors[rest] >> SECTOR_BITS
        starts = firsts(line)
        self.lines = line.take(starts)
        self.number[rest] = fresh.lines + np.repeat(np.arange(starts.size), np.diff(starts, append=line.size)) << SECTOR_BITS
        self.number[rest] |= held.sectors[rest] & LAST

    def remembered(self, uses: Uses, stay: Index, there: Index, kinds: Index) -> Held:
        """The sectors of lines that are `there`, given the last use of each, with what is known of each stay's sectors."""
        each = np.arange(1 << SECTOR_BITS)
        kind = kinds.take((stay.take(there) << SECTOR_BITS)[:, None] | each)
        row, sector = kind.nonzero()
        line = uses.line.take(there).take(row)
        age = np.empty(there.size, np.int64)
        age[np.argsort(uses.time.take(there), kind="stable")] = np.arange(there.size) * AGES // max(1, there.size)
        inner = int(line.searchsorted(self.fresh.lines))
        found = np.empty(line.size, np.int64)
        found[:inner] = sectors_of_numbers(line[:inner] << SECTOR_BITS | sector[:inner], self.fresh.stretches)
        found[inner:] = self.lines.take(line[inner:] - self.fresh.lines) << SECTOR_BITS | sector[inner:]
        order = np.argsort(found)
        return Held(self.held.thin, found.take(order), kind[row, sector].take(order), age.take(row).take(order))


def _uses(fresh: Fresh, used: list[Used], held: Held, outside: Outside, lines: int) -> Uses:
    """Of the lines that are looked at."""
    most = max([u.waiting.f.count for u in used], default=0) >> held.thin
    bits = (most // max(1, lines // FINE)).bit_length()
    sectors, times = [outside.number], [held.age * KINDS + held.kind << bits]
    for u in used:
        every = fresh.tables[u.table].sectors[u.begin : u.end]
        line = every >> np.uint32(SECTOR_BITS)
        line += np.uint32(u.stretch.low - u.stretch.number & (1 << 32) - 1)  # what is too much goes round
        chosen = is_chosen(line, held.thin)
        if fresh.tables[u.table].masked:
            chosen &= every != fresh.nowhere
        row, lane = rows_and_columns(chosen)
        sectors.append(every[row, lane].astype(np.int64))
        times.append((BEFORE + u.turn << bits) + (row << bits) // len(every))
    sector, time = np.concatenate(sectors), np.concatenate(times)
    time_bits = int(time.max(initial=0)).bit_length()
    key: Index = (sector >> SECTOR_BITS << time_bits | time) << SECTOR_BITS | sector & LAST
    key.sort()
    return Uses(key >> time_bits + SECTOR_BITS << SECTOR_BITS | key & LAST, key >> SECTOR_BITS & (1 << time_bits) - 1, bits)


def _stays(uses: Uses, lines: int) -> tuple[Index, Index]:
    """The stay in the cache that each use belongs to, and the last uses of the lines that are there in the end."""
    line = uses.line
    new = np.ones(line.size, np.bool_)
    np.not_equal(line[1:], line[:-1], out=new[1:])
    begins = new.nonzero()[0]
    ends = np.append(begins[1:], line.size) - 1
    if begins.size <= lines:
        return numbered(new) - 1, ends
    again = (~new).nonzero()[0]
    since, width = BEFORE << uses.bits, 0  # steps begin with the first turn; what was before has one for each age
    while int(uses.time.max()) + 1 - since >> width > min(STEPS, FINE * line.size // lines):
        width += 1
    step = np.where(uses.time < since, uses.turn // KINDS, AGES + (uses.time - since >> width))
    steps = int(step.max()) + 1
    moved = np.bincount(step.take(again) * steps + step.take(again - 1), minlength=steps * steps).reshape(1, steps, steps)
    kept = oldest_kept(np.zeros((1, 0), np.int64), np.bincount(step, minlength=steps)[None], moved, lines)[0]
    new[again] = step.take(again - 1) < kept.take(step.take(again))
    return numbered(new) - 1, ends.compress(step.take(ends) >= kept[steps])
