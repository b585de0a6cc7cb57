"""The caches of all multiprocessors, asked by many accesses at once: who misses what, and what the caches hold afterwards.

As long as no cache overflows, who uses a sector first misses it, and nothing else has to be known.  Where lines have to go, the uses of
each line in the order of turns tell when it was last used, and with that whether it was there still.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .l1 import HELD
from .l2 import ALIVE, RING
from .lanewise import LanewiseCaches
from .lines import Flags, Lines, Missed, Settled, in_part, joined
from .sectors import brought_words, firsts, line_words
from .stays import by_turn
from .tables import USED
from .uses import SECTOR_BITS, Frame, Numbers, Waiting, Way, span_of

Index = NDArray[np.int64]

SOME = 32  # accesses that tell how often lanes come back to a line


class JointCaches(LanewiseCaches):
    """Such caches."""

    def take_together(self, frame: Frame, waiting: list[Waiting], emptied: list[tuple[int, Index]], *, last: bool) -> Missed | None:
        """What these accesses miss; None where they have to be asked one after the other.

        `emptied`: caches that are emptied before the access of a turn; `last`: nobody will ask again.
        """
        ways = [w.way for w in waiting]
        loads, drops = np.array([w is Way.LOAD for w in ways]), np.array([w in (Way.PASS, Way.ATOMIC) for w in ways])
        brings = np.array([w.brings for w in waiting])
        chosen = [(turn, w) for turn, w in enumerate(waiting) if not w.there]
        if last or not self.lines:  # what comes after the last load matters to nobody
            while chosen and chosen[-1][1].way is not Way.LOAD:
                chosen.pop()
        there = {w.way for _, w in chosen}
        if not self.lines or not there or (self.is_empty and not there & {Way.LOAD, Way.STORE}):
            return self._all(frame, [(turn, w) for turn, w in chosen if w.way is Way.LOAD])
        chosen = chosen if emptied else self._without_idle(chosen)
        if not chosen:
            return self._all(frame, [])
        self._settle()
        self._tell_ring(self.inserted)
        found = None
        emptied = [x for x in emptied if x[0] <= chosen[-1][0]]
        if not emptied and not {w.way for _, w in chosen} & {Way.PASS, Way.ATOMIC} and not self._is_tight(chosen):
            pieces = frame.pieces(frame.pack(chosen, private=True), self.caches)
            found = joined(self._by_sector(frame, piece, chosen, loads, brings) for piece, _, _ in pieces)
        return found or by_turn(self, frame, chosen, emptied, loads, brings, drops)

    def _without_idle(self, chosen: list[tuple[int, Waiting]]) -> list[tuple[int, Waiting]]:
        """Less those that could only drop lines, where none can be."""
        reach = self._tables.reach
        others = [w for _, w in chosen if w.way in (Way.LOAD, Way.STORE)]
        if reach is None or len(others) == len(chosen):
            return chosen
        ends = [reach, *([span_of(others)] if others else [])]

        def matters(w: Waiting) -> bool:
            first, last = span_of([w])
            return w.way in (Way.LOAD, Way.STORE) or any(first <= high and low <= last for low, high in ends)

        return [(turn, w) for turn, w in chosen if matters(w)]

    def _all(self, frame: Frame, chosen: list[tuple[int, Waiting]]) -> Missed:
        """Everything is missed."""
        use = frame.pack(chosen, private=True)
        use = use.take(firsts(use))
        return Missed(frame.shared(use), lambda: None)

    # ------------------------------------------------------------ nothing has to go

    def _by_sector(self, frame: Frame, use: Numbers, chosen: list[tuple[int, Waiting]], loads: Flags, brings: Flags) -> Missed | None:
        starts = firsts(frame.sector_of(use))
        first = use.take(starts)
        sector = frame.sector_of(first)
        line = sector >> sector.dtype.type(SECTOR_BITS)
        of_line = firsts(line)
        lines = Lines(frame, line, of_line, self)
        if self.may_overflow(lines):
            return None
        bits: Index | None = None
        missed, mixed = first, any(w.way is not Way.LOAD for _, w in chosen)
        if mixed or lines.known.size:
            bits = line_words(sector)
            have = np.repeat(lines.state, np.diff(of_line, append=line.size))
            lost = have & bits != bits
            if mixed:
                brought_whole = brings.take(frame.turn_of(first))
                parted = ~brought_whole & lost  # someone stored a part of these first
                if parted.any() and (np.logical_or.reduceat(loads.take(frame.turn_of(use)), starts) & parted).any():
                    return None
                lost &= loads.take(frame.turn_of(first))
            chosen_ones = lost.nonzero()[0]
            if in_part(have.take(chosen_ones), bits.take(chosen_ones)):
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
                words = brought_words(sector, brought_whole, frame.stored(use, starts, chosen))
            words = np.bitwise_or.reduceat(words, of_line) | lines.state & HELD
            self.put(lines, Settled(np.arange(lines.count), np.maximum.reduceat(last, of_line), words, brought, None))

        return Missed(frame.shared(missed), commit)

    # ------------------------------------------------------------ what is held

    @property
    def held_by_age(self) -> Index:
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
        if self._full:
            return True
        met: set[int] = set()  # if lanes come back to lines, these are fewer
        step, stretches = -(-len(chosen) // SOME), []
        for _, w in chosen[::step]:
            some = ((w.f.some_sectors >> SECTOR_BITS) + w.start).tolist()
            new = set(some) - met
            met |= new
            stretches.append((w.f.ends[0] + w.start, w.f.ends[1] + w.start + 1, step * w.f.crowd(w.rows) * len(new) / len(some)))
        lines, low, high, used = 0.0, 0, 0, 0.0  # of each stretch of memory no more than it has
        for begin, end, more in [*sorted(stretches), (1 << 62, 1 << 62, 0.0)]:
            if begin >= high:
                lines += min(used, high - low)
                low, used = begin, 0.0
            high, used = max(high, end), used + more
        return lines > self.lines - int((self.inserted - self.gone).max())

    def may_overflow(self, lines: Lines) -> bool:
        """Is there less room in some cache than lines that it does not hold?"""
        return bool((self.inserted - self.gone + lines.new > self.lines).any())

    def put(self, lines: Lines, to: Settled) -> None:
        """Writes down what the caches hold now."""
        turns = to.brought.shape[1]
        inserted = self.inserted + to.brought.sum(axis=1)
        steps = (self.inserted[:, None] + np.cumsum(to.brought, axis=1)) // self.step
        now, before = inserted // self.step, self.now
        floor = self.floor if to.floor is None else np.maximum(self.floor, before + np.minimum(to.floor, 1))
        floor = np.minimum(np.maximum(floor, now - (ALIVE - 1)), now)
        cache = lines.cache.take(to.stay)
        stamp = steps.ravel().take(cache * turns + to.last)
        oldest = floor.take(cache)
        stamp = np.maximum(stamp, oldest) if to.floor is not None else stamp
        alive = (stamp >= oldest).nonzero()[0]
        stay, words = to.stay.take(alive), to.words.take(alive)
        cache, stamp = cache.take(alive), stamp.take(alive)
        held, table = lines.known, self._tables
        ring = self._ring.reshape(-1, RING)
        if held.size:
            ring -= self._by_step(lines.cache.take(held), lines.state.take(held) >> USED)
            gone = np.ones(lines.count, np.bool_)
            gone[stay] = False
            out = held[gone.take(held)]  # looked up anew: other pieces may have moved them
            if out.size:
                table.forget(table.find_lines(lines.cache.take(out), lines.line_of(out)))
        age = (before[:, None] - np.arange(RING)) & RING - 1  # of a column's step, looking back from the one that was now
        ring[(age > (before - floor)[:, None]) | (age >= ALIVE + 1)] = 0
        ring += self._by_step(cache, stamp)
        if stay.size:
            slot = table.insert_lines(cache, lines.line_of(stay), floor)
            table.state[slot] = stamp << USED | words
        self.inserted = self._told = inserted
        self.gone = inserted - ring.sum(axis=1)
        if (floor > self.floor).any():
            self._level, self._full = False, True
        self.floor = floor
        self._set_clock(now)
        self.version += 1
        self._set_bound()
        self._evict()

    def _by_step(self, cache: Index, step: Index) -> Index:
        """(caches, steps of the ring): how many lines of a cache were used last in a step."""
        return np.bincount(cache * RING + (step & RING - 1), minlength=self.caches * RING).reshape(-1, RING)
