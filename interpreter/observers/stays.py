"""Caches in which lines have to go, or are dropped, asked by many accesses at once: how long each line stays.

Sorted by line and turn, uses of a line stand one after the other.  A line that was not there, or not any more, begins a new stay; of a
stay, who uses a sector first misses it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..flags import numbered
from .l1 import HELD
from .l2 import ALIVE
from .lines import Flags, Lines, Missed, Settled, in_part, joined, once
from .reuse import oldest_kept
from .sectors import LINE, SECTOR, SECTOR_WORDS
from .tables import USED
from .uses import SECTOR_BITS, Frame, Numbers, Waiting, Way

if TYPE_CHECKING:
    from .joint_l1 import JointCaches

Index = NDArray[np.int64]

Chosen = list[tuple[int, Waiting]]
Emptied = list[tuple[int, Index]]

STEP = 6  # a step of use is no more than such a part of a cache
TIMES = 1 << 20  # entries of the table of last uses: caches x steps x steps


class Turns:
    """What all pieces of one question have in common: turns, in so many parts that their order tells which lines had to go."""

    def __init__(
        self, caches: JointCaches, frame: Frame, chosen: Chosen, emptied: Emptied, loads: Flags, brings: Flags, drops: Flags
    ) -> None:
        parts = max([w.f.crowd(w.rows) for _, w in chosen]) // max(1, caches.lines // STEP)
        self.caches, self.chosen = caches, chosen
        self.frame = frame.finer(parts.bit_length())
        self.loads, self.brings, self.drops = (np.repeat(flags, 1 << self.frame.part_bits) for flags in (loads, brings, drops))
        ways = {w.way for _, w in chosen}
        self.all_load, self.some_drop = ways == {Way.LOAD}, bool(ways & {Way.PASS, Way.ATOMIC})
        self.many = self.loads.size
        self.emptied = [(turn << self.frame.part_bits, some) for turn, some in emptied]
        self.since = np.zeros((caches.caches, self.many if emptied else 0), np.int32)  # how often each cache was emptied before each turn
        for turn, some in self.emptied:
            self.since[some, turn:] += 1
        self.held = caches.held_by_age
        self.ages = self.held.shape[1]  # steps from before the first turn

    @cached_property
    def used(self) -> Index:
        """(turns, caches): uses after which a line is there, of which each counts."""
        used = np.zeros((self.many, self.caches.caches), np.int64)
        for turn, w in self.chosen:
            if w.way not in (Way.LOAD, Way.STORE):
                continue
            part, cache, count = w.f.crowds(w.rows, self.frame.part_bits)
            np.add.at(used, ((turn << self.frame.part_bits) + part, cache), count)
        return used


def by_turn(
    caches: JointCaches, frame: Frame, chosen: Chosen, emptied: Emptied, loads: Flags, brings: Flags, drops: Flags
) -> Missed | None:
    """What these accesses miss, of which some load and some drop lines; None where they have to be asked one after the other."""
    t = Turns(caches, frame, chosen, emptied, loads, brings, drops)
    if not t.frame.fits:
        return None
    pieces = list(t.frame.pieces(t.frame.pack(chosen, private=True, by_turn=True), caches.caches))
    missed = joined(_of_piece(t, *piece) for piece in pieces)
    if missed is None or not emptied:
        return missed

    def commit() -> None:
        missed.commit()
        used = np.zeros(caches.caches, np.bool_)
        for _, low, high in pieces:
            used[low:high] = True
        for _, some in emptied:
            caches.empty(some[~used[some]])

    return Missed(missed.asked, commit)


def _of_piece(t: Turns, use: Numbers, low: int, high: int) -> Missed | None:
    """The same of the caches `low` to `high`."""
    frame, caches = t.frame, t.caches
    whole = use >> use.dtype.type(SECTOR_BITS + frame.word_bits)
    line, turn = whole >> use.dtype.type(frame.turn_bits), frame.counts(whole, frame.turn_bits)
    other = np.ones(line.size, np.bool_)
    np.not_equal(line[1:], line[:-1], out=other[1:])
    of_line, again = other.nonzero()[0], (~other).nonzero()[0]
    lines = Lines(frame, line, of_line, caches)
    if t.some_drop:  # what was dropped is not there
        again = again[~t.drops.take(turn.take(again - 1))]
    steps, known = min(t.many, _most_steps(high - low)), lines.known
    before = turn.take(again - 1).astype(np.int64) * steps // t.many + t.ages
    if known.size:
        first = (lines.state.take(known) >> USED) - caches.now.take(lines.cache.take(known)) + (t.ages - 1)
        before, again = np.concatenate([before, first]), np.concatenate([again, of_line.take(known)])
    if t.emptied:  # what was there before is not
        now, then = turn.take(again), np.where(other.take(again), 0, turn.take(again - 1))
        cache = frame.cache_of(line.take(again))
        same = t.since[cache, now] == np.where(other.take(again), 0, t.since[cache, then])
        before, again = before[same], again[same]
    kept = None
    if caches.may_overflow(lines):
        cache, step = frame.cache_of(line.take(again)) - low, turn.take(again).astype(np.int64) * steps // t.many
        used = np.add.reduceat(t.used[:, low:high], -(-np.arange(steps) * t.many // steps)).T
        every = t.ages + steps
        moved = np.bincount((cache * steps + step) * every + before, minlength=(high - low) * steps * every)
        kept = oldest_kept(t.held[low:high], used, moved.reshape(high - low, steps, every), caches.lines)
        again = again[before >= kept[cache, step]]
    elif t.emptied:
        kept = np.zeros((high - low, steps + 1), np.int64)
    hit = np.zeros(use.size, np.bool_)
    hit[again] = True
    begins = ~hit
    begins[of_line.take(known)] = True
    found = _found(t, use, hit, begins, lines.state.take(known[hit.take(of_line.take(known))]) if known.size else known)
    if found is None:
        return None
    missed = use
    if found.size or not t.all_load:
        lost = np.ones(use.size, np.bool_) if t.all_load else t.loads.take(turn)
        lost[found] = False
        missed = use[lost]
    if frame.word_bits:
        missed = once(missed)

    def commit() -> None:
        final = np.append(of_line[1:], use.size) - 1
        brought = (begins & ~hit).nonzero()[0]
        if t.some_drop:
            brought = brought[~t.drops.take(turn.take(brought))]
        counts = np.bincount(frame.cache_of(line.take(brought)) * t.many + turn.take(brought), minlength=caches.caches * t.many)
        last = turn.take(final)
        stays = ~t.drops.take(last)
        floor = None
        if kept is not None:
            stays &= last.astype(np.int64) * steps // t.many + t.ages >= kept[:, -1].take(lines.cache - low)
            floor = np.full(caches.caches, -ALIVE)
            floor[low:high] = kept[:, -1] - (t.ages - 1)
            for at, some in t.emptied:  # the clock goes on, so that older lines are told from newer ones
                some = some[(low <= some) & (some < high)]
                counts[some * t.many + at] += caches.step
                floor[some] = 1
                stays &= t.since[lines.cache, last] == t.since[lines.cache, -1]
        stay = stays.nonzero()[0]
        words = _valid(t, use, begins, final.take(stay))
        if known.size:  # and what was valid before, if the line has stayed since
            before_all = np.zeros(lines.count, np.int64)
            since = known[np.logical_and.reduceat(hit, of_line).take(known)]
            before_all[since] = lines.state.take(since) & HELD
            words |= before_all.take(stay)
        caches.ragged = caches.ragged or frame.word_bits > 0
        brought_by = counts.reshape(caches.caches, t.many)
        caches.put(lines, Settled(stay, last.take(stay).astype(np.int64), words, brought_by, floor))

    return Missed(frame.by_sector(frame.shared(missed)), commit)


def _found(t: Turns, use: Numbers, hit: Flags, begins: Flags, state: Index) -> Index | None:
    """Uses by loads of sectors that are there already; `state`: of the lines that were there, where their first use is a hit.

    None if something was written to a sector that is missed.
    """
    frame = t.frame
    several = hit.copy()
    several[:-1] |= hit[1:]
    some = several.nonzero()[0]  # uses in a stay of several, or of a line that was there
    if not some.size:
        return some
    first = begins.take(some)
    stay = numbered(first) - 1
    there = np.zeros(int(stay[-1]) + 1, np.int64)
    there[stay[first & hit.take(some)]] = state
    low = frame.counts(use.take(some) >> use.dtype.type(frame.word_bits), SECTOR_BITS + frame.turn_bits)
    name, turn, found = (low & 3).astype(np.uint8), low >> SECTOR_BITS, []
    for sector in range(LINE // SECTOR):
        every = (name == sector).nonzero()[0]
        at = np.arange(every.size) if t.all_load else t.brings.take(turn.take(every)).nonzero()[0]
        each = every.take(at)
        place = stay.take(each)
        again = np.zeros(each.size, np.bool_)
        np.equal(place[1:], place[:-1], out=again[1:])
        found.append(each[again])
        if not state.size and t.all_load:
            continue
        new = (~again & t.loads.take(turn.take(each))).nonzero()[0]  # loads that come first
        if state.size:
            words = there.take(place.take(new))
            whole = words >> 8 * sector & SECTOR_WORDS == SECTOR_WORDS
            if in_part(words[~whole], np.array([SECTOR_WORDS << 8 * sector])):
                return None
            found.append(each.take(new[whole]))
            new = new[~whole]
        before = every.take(at.take(new) - 1, mode="clip")  # who used the sector before: a store of parts
        same = (at.take(new) > 0) & (stay.take(before) == place.take(new))
        if (same & ~t.drops.take(turn.take(before))).any():
            return None
    return some.take(np.concatenate(found))


def _valid(t: Turns, use: Numbers, begins: Flags, final: Index) -> Index:
    """The words of lines that were made valid in their last stays, which end with these uses."""
    starts = begins.nonzero()[0]
    first = starts.take(starts.searchsorted(final, side="right") - 1)
    sizes = final - first + 1
    ends = np.cumsum(sizes)
    some = use.take(np.repeat(final - ends + 1, sizes) + np.arange(ends[-1] if ends.size else 0)).astype(np.int64)
    words = t.frame.words_by_turn(t.chosen).take(some >> SECTOR_BITS + t.frame.word_bits & (1 << t.frame.turn_bits) - 1)
    words <<= (some & (1 << t.frame.word_bits) - 1) + ((some >> t.frame.word_bits & 3) << 3)
    found: Index = np.bitwise_or.reduceat(words, ends - sizes) if ends.size else words
    return found


def _most_steps(caches: int) -> int:
    """Steps of last uses that are told apart, of so many caches."""
    most = 64
    while 2 * most * caches * (2 * most + ALIVE) <= TIMES:
        most *= 2
    return most
