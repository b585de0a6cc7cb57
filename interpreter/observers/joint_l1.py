"""The caches of all multiprocessors, asked by many accesses at once: who misses what, and what the caches hold afterwards.

As long as no cache overflows, who uses a sector first misses it, and nothing else has to be known.  Where lines have to go, the uses of
each line in the order of turns tell when it was last used, and with that whether it was there still.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .footprint import LINE, SECTOR
from .l1 import HELD
from .l2 import ALIVE, RING
from .lanewise import LanewiseCaches
from .reuse import oldest_kept
from .sectors import MARKS, SECTOR_WORDS, brought_words, firsts, line_words
from .tables import USED
from .waiting import SECTOR_BITS, Frame, Numbers, Waiting, Way, span_of

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

SOME = 32  # accesses that tell how often lanes come back to a line
STEP = 6  # a step of use is no more than such a part of a cache
TIMES = 1 << 20  # entries of the table of last uses: caches x steps x steps


class Missed(NamedTuple):
    """What many accesses missed, and how to bring it in."""

    asked: Numbers  # in no order: (line, sector, turn), one for each sector that a cache asks for
    commit: Callable[[], None]


class Lines:
    """Lines of caches that are used, ascending."""

    def __init__(self, frame: Frame, line: Numbers, of_line: Index, caches: JointCaches) -> None:
        self.frame, self.caches = frame, caches
        self._all, self._first = line, of_line  # of each use; the first use of each

    @cached_property
    def _number(self) -> Numbers:
        return self._all.take(self._first)

    @cached_property
    def cache(self) -> Index:
        """The cache of each."""
        return self.frame.cache_of(self._number)

    @cached_property
    def line(self) -> Index:
        """Each, counted from the start of memory."""
        return self.frame.line_of(self._number)

    @cached_property
    def slot(self) -> Index:
        """Where what is kept of each stands; page 0: nothing is."""
        return self.caches.slots_of(self.cache, self.line)

    @cached_property
    def state(self) -> Index:
        """Of each, 0 where it is not held."""
        if self.caches.is_empty:
            return np.zeros(self._first.size, np.int64)
        return self.caches.states_of(self.slot, self.cache)

    @cached_property
    def known(self) -> Index:
        """Which are held."""
        return np.zeros(0, np.int64) if self.caches.is_empty else self.state.nonzero()[0]

    @property
    def new(self) -> Index:
        """How many are not held, by cache."""
        if self.caches.is_empty:
            kind = self._all.dtype.type
            starts = np.arange(self.caches.caches).astype(kind) << kind(self.frame.line_bits)
            counts: Index = np.diff(self._first.searchsorted(self._all.searchsorted(starts)), append=self._first.size)
            return counts
        return np.bincount(self.cache[self.state == 0], minlength=self.caches.caches)


class Settled(NamedTuple):
    """What becomes of them."""

    last: Index  # turn of the last use
    words: Index  # that are valid then
    kept: Flags | None  # None: all
    brought: Index  # (caches, turns): lines that were brought in
    floor: Index | None  # of each cache, counted from the step that is now: what was used before is gone; None: nothing


class JointCaches(LanewiseCaches):
    """Such caches."""

    def take_together(self, frame: Frame, waiting: list[Waiting], *, last: bool) -> Missed | None:
        """What these accesses miss; None where they have to be asked one after the other.  `last`: nobody will ask again."""
        ways = [w.way for w in waiting]
        loads, drops = np.array([w is Way.LOAD for w in ways]), np.array([w in (Way.PASS, Way.ATOMIC) for w in ways])
        chosen = list(enumerate(waiting))
        if last or not self.lines:  # what comes after the last load matters to nobody
            del chosen[int(np.flatnonzero(loads)[-1]) + 1 if loads.any() else 0 :]
        there = {w.way for _, w in chosen}
        if not self.lines or not there or (self.is_empty and not there & {Way.LOAD, Way.STORE}):
            return self._all(frame, [(turn, w) for turn, w in chosen if w.way is Way.LOAD])
        self._settle()
        self._tell_ring(self.inserted)
        found = None
        if not drops[: len(chosen)].any() and not self._is_tight(chosen):
            found = self._by_sector(frame, chosen, loads)
        return found or self._by_turn(frame, chosen, loads, drops)

    def _all(self, frame: Frame, chosen: list[tuple[int, Waiting]]) -> Missed:
        """Everything is missed."""
        use = frame.pack(chosen, private=True)
        use = use.take(firsts(use))
        return Missed(frame.shared(use), lambda: None)

    # ------------------------------------------------------------ nothing has to go

    def _by_sector(self, frame: Frame, chosen: list[tuple[int, Waiting]], loads: Flags) -> Missed | None:
        use = frame.pack(chosen, private=True)
        if not use.size:
            return self._all(frame, [])
        starts = firsts(frame.sector_of(use))
        first = use.take(starts)
        sector = frame.sector_of(first)
        line = sector >> sector.dtype.type(SECTOR_BITS)
        of_line = firsts(line)
        lines = Lines(frame, line, of_line, self)
        if self._may_overflow(lines):
            return None
        bits: Index | None = None
        missed, mixed = first, not loads[: len(chosen)].all()
        if mixed or lines.known.size:
            bits = line_words(sector)
            have = np.repeat(lines.state, np.diff(of_line, append=line.size))
            lost = have & bits != bits
            if mixed:
                by_load = loads.take(frame.turn_of(first))
                turn = frame.turn_of(use)
                if (np.logical_or.reduceat(loads.take(turn), starts) & ~by_load & lost).any():
                    return None
                lost &= by_load
            chosen_ones = lost.nonzero()[0]
            if _in_part(have.take(chosen_ones), bits.take(chosen_ones)):
                return None
            missed = first.take(chosen_ones)

        def commit() -> None:
            turn = frame.turn_of(first)
            last = frame.turn_of(use.take(np.append(starts[1:], use.size) - 1))
            brought = np.zeros((self.caches, loads.size), np.int64)
            new = lines.state == 0
            np.add.at(brought, (lines.cache[new], np.minimum.reduceat(turn, of_line)[new]), 1)
            words = line_words(sector) if bits is None else bits
            if mixed:
                self.ragged = self.ragged or frame.word_bits > 0
                words = brought_words(sector, by_load, frame.stored(use, starts, chosen))
            words = np.bitwise_or.reduceat(words, of_line) | lines.state & HELD
            self._put(lines, Settled(np.maximum.reduceat(last, of_line), words, None, brought, None))

        return Missed(frame.shared(missed), commit)

    # ------------------------------------------------------------ lines go, or are dropped

    def _by_turn(self, frame: Frame, chosen: list[tuple[int, Waiting]], loads: Flags, drops: Flags) -> Missed | None:
        some = max(w.f.crowd(w.rows) for _, w in chosen) // max(1, self.lines // STEP)
        frame = frame.finer(some.bit_length())
        if not frame.fits:
            return None
        loads, drops = (np.repeat(flags, 1 << frame.part_bits) for flags in (loads, drops))
        turns = loads.size
        use = frame.pack(chosen, private=True, by_turn=True)
        whole = use >> use.dtype.type(SECTOR_BITS + frame.word_bits)
        line, turn = whole >> use.dtype.type(frame.turn_bits), frame.counts(whole, frame.turn_bits)
        other = np.ones(line.size, np.bool_)
        np.not_equal(line[1:], line[:-1], out=other[1:])
        of_line, again = other.nonzero()[0], (~other).nonzero()[0]
        lines = Lines(frame, line, of_line, self)
        within = len(chosen) << frame.part_bits
        dropping = bool(drops[:within].any())
        if dropping:  # what was dropped is not there
            again = again[~drops.take(turn.take(again - 1))]
        steps, known, held = min(turns, self._most_steps), lines.known, self._held_by_age
        ages = held.shape[1]
        before = turn.take(again - 1).astype(np.int64) * steps // turns + ages
        if known.size:
            first = (lines.state.take(known) >> USED) - self.now.take(lines.cache.take(known)) + (ages - 1)
            before, again = np.concatenate([before, first]), np.concatenate([again, of_line.take(known)])
        kept = None
        if self._may_overflow(lines):
            if dropping:
                return None
            cache, step = frame.cache_of(line.take(again)), turn.take(again).astype(np.int64) * steps // turns
            used = self._used(frame, chosen, steps, turns)
            kept = oldest_kept(held, used, cache, before, step, self.lines)
            again = again[before >= kept[cache, step]]
        hit = np.zeros(use.size, np.bool_)
        hit[again] = True
        begins = ~hit
        begins[of_line.take(known)] = True
        there = lines.state.take(known[hit.take(of_line.take(known))]) if known.size else known
        found = self._found(frame, use, hit, begins, there, loads[:within])
        if found is None:
            return None
        missed = use
        mixed = not loads[:within].all()
        if found.size or mixed:
            lost = loads.take(turn) if mixed else np.ones(use.size, np.bool_)
            lost[found] = False
            missed = use[lost]
        if frame.word_bits:
            missed = _once(missed)

        def commit() -> None:
            final = np.append(of_line[1:], use.size) - 1
            brought = (begins & ~hit).nonzero()[0]
            if dropping:
                brought = brought[~drops.take(turn.take(brought))]
            counts = np.bincount(frame.cache_of(line.take(brought)) * turns + turn.take(brought), minlength=self.caches * turns)
            stay = np.cumsum(begins) - 1
            valid = np.zeros(int(stay[-1]) + 1, np.int64)
            of_known = of_line.take(known)
            valid[stay.take(of_known)] = np.where(hit.take(of_known), lines.state.take(known) & HELD, 0)
            np.bitwise_or.at(valid, stay, self._words(frame, use, chosen))
            stays = np.ones(of_line.size, np.bool_) if not dropping else ~drops.take(turn.take(final))
            floor = None
            if kept is not None:
                floor = kept[:, -1]
                stays &= turn.take(final).astype(np.int64) * steps // turns + ages >= floor.take(lines.cache)
                floor = floor - (ages - 1)
            self.ragged = self.ragged or frame.word_bits > 0
            last = turn.take(final).astype(np.int64)
            self._put(lines, Settled(last, valid.take(stay.take(final)), stays, counts.reshape(self.caches, turns), floor))

        return Missed(frame.by_sector(frame.shared(missed)), commit)

    def _used(self, frame: Frame, chosen: list[tuple[int, Waiting]], steps: int, turns: int) -> Index:
        """(caches, steps): uses, of which each counts."""
        used = np.zeros((turns, self.caches), np.int64)
        for turn, w in chosen:
            part, cache, count = w.f.crowds(w.rows, frame.part_bits)
            np.add.at(used, ((turn << frame.part_bits) + part, cache), count)
        return np.add.reduceat(used, -(-np.arange(steps) * turns // steps)).T

    def _found(self, frame: Frame, use: Numbers, hit: Flags, begins: Flags, state: Index, loads: Flags) -> Index | None:
        """Uses by loads of sectors that are there already; `state`: of the lines that were there, where their first use is a hit.

        None if something was written to a sector that is missed.
        """
        several = hit.copy()
        several[:-1] |= hit[1:]
        some = several.nonzero()[0]  # uses in a stay of several, or of a line that was there
        if not some.size:
            return some
        first = begins.take(some)
        stay = np.cumsum(first) - 1
        there = np.zeros(int(stay[-1]) + 1, np.int64)
        there[stay[first & hit.take(some)]] = state
        low = frame.counts(use.take(some) >> use.dtype.type(frame.word_bits), SECTOR_BITS + frame.turn_bits)
        load = None if loads.all() else loads.take(low >> SECTOR_BITS)
        found = []
        for sector in range(LINE // SECTOR):
            of_all = (low & 3 == sector).nonzero()[0]
            each = of_all if load is None else of_all[load.take(of_all)]
            place = stay.take(each)
            again = place[1:] == place[:-1]
            found.append(each[1:][again])
            if not state.size and load is None:
                continue
            new = np.append(each[:1], each[1:][~again])
            words = there.take(stay.take(new))
            whole = words >> 8 * sector & SECTOR_WORDS == SECTOR_WORDS
            if _in_part(words[~whole], np.array([SECTOR_WORDS << 8 * sector])):
                return None
            found.append(new[whole])
            new = new[~whole]
            before = of_all.searchsorted(new) - 1  # who used the sector before: a store
            if ((before >= 0) & (stay.take(of_all.take(before)) == stay.take(new))).any():
                return None
        return some.take(np.concatenate(found))

    def _words(self, frame: Frame, use: Numbers, chosen: list[tuple[int, Waiting]]) -> Index:
        """The words that each use makes valid, of its line."""
        u = use.astype(np.int64)
        words = frame.words_by_turn(chosen).take(u >> SECTOR_BITS + frame.word_bits & (1 << frame.turn_bits) - 1)
        found: Index = words << (u & (1 << frame.word_bits) - 1) << ((u >> frame.word_bits & 3) << 3)
        return found

    # ------------------------------------------------------------ what is held

    @property
    def _most_steps(self) -> int:
        """Steps of last uses that are told apart, of so many caches."""
        most = 64
        while 2 * most * self.caches * (2 * most + ALIVE) <= TIMES:
            most *= 2
        return most

    @property
    def _held_by_age(self) -> Index:
        """(caches, steps): lines by the step of their last use, the one that is now last."""
        if self.is_empty:
            return np.zeros((self.caches, 0), np.int64)
        alive = (self.now[:, None] - (ALIVE - 1) + np.arange(ALIVE)) & RING - 1
        return np.take_along_axis(self._ring.reshape(-1, RING), alive, axis=1)

    def slots_of(self, cache: Index, line: Index) -> Index:
        """Where what is kept of lines stands."""
        return self._tables.find_lines(cache, line)

    def states_of(self, slot: Index, cache: Index) -> Index:
        """What is kept there, of lines of these caches; 0 where they are not held."""
        return self._alive(slot, cache)

    def _is_tight(self, chosen: list[tuple[int, Waiting]]) -> bool:
        """Is it likely that lines have to go?"""
        room = self.lines - int((self.inserted - self.gone).max())
        low, high = span_of([w for _, w in chosen])
        crowd = sum([w.f.crowd(w.rows) for _, w in chosen])
        if self._full or min(high - low + 1, crowd) <= room:
            return self._full
        some = np.concatenate([(w.f.some_sectors >> SECTOR_BITS) + w.start for _, w in chosen[:: -(-len(chosen) // SOME)]])
        some.sort()  # if lanes come back to their lines, it is fewer
        return crowd * firsts(some).size > room * some.size

    def _may_overflow(self, lines: Lines) -> bool:
        return bool((self.inserted - self.gone + lines.new > self.lines).any())

    def _put(self, lines: Lines, to: Settled) -> None:
        """Writes down what the caches hold now."""
        kept, cache = to.kept, lines.cache
        inserted = self.inserted + to.brought.sum(axis=1)
        steps = (self.inserted[:, None] + np.cumsum(to.brought, axis=1)) // self.step
        now, before = inserted // self.step, self.now
        stamp = steps[cache, to.last]
        floor = self.floor if to.floor is None else np.maximum(self.floor, before + np.minimum(to.floor, 1))
        floor = np.minimum(np.maximum(floor, now - (ALIVE - 1)), now)
        if to.floor is not None:
            stamp = np.maximum(stamp, floor.take(cache))
        alive = stamp >= floor.take(cache)
        if kept is not None:
            alive &= kept
        ring = self._ring.reshape(-1, RING)
        ages = np.arange(RING)
        there = lines.state > 0
        np.subtract.at(ring, (cache[there], lines.state[there] >> USED & RING - 1), 1)
        age = (before[:, None] - ages) & RING - 1  # of a column's step, looking back from the one that was now
        ring[(age > (before - floor)[:, None]) | (age >= ALIVE + 1)] = 0
        np.add.at(ring, (cache[alive], stamp[alive] & RING - 1), 1)
        table, gone = self._tables, there & ~alive
        if gone.any():
            table.forget(lines.slot[gone])
        if alive.any():
            slot = table.insert_lines(cache[alive], lines.line[alive], self.floor)
            table.state[slot] = (stamp << USED | to.words)[alive]
        self.inserted = self._told = inserted
        self.gone = inserted - ring.sum(axis=1)
        if (floor > self.floor).any():
            self._level, self._full = False, True
        self.floor = floor
        self._set_clock(now)
        self.version += 1
        self._set_bound()
        self._evict()


def _once(ordered: Numbers) -> Numbers:
    """The different ones."""
    starts = firsts(ordered)
    return ordered if starts.size == ordered.size else ordered.take(starts)


def _in_part(state: Index, bits: Index) -> bool:
    """Was something written to a sector that is lost?"""
    marks = (bits & 0x01010101) * 0x01020408 >> 24 & 15
    return bool((state & (bits | marks << MARKS)).any())
