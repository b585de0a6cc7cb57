"""Sectors of which parts are stored before they are loaded: which words are there, for lines on which that happens.

A load that wants words which a sector lacks, to which something was written, makes its line begin anew (see memory/cache.py).  Such lines
are few; all of them take their next step together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..flags import rows_and_columns
from .fresh import PARTED, Marks
from .fresh_tables import WARPS, Used
from .scattered import Scattered
from .sectors import ALL_WORDS, SECTOR_WORDS, count_bits, firsts, sectors_of
from .uses import SECTOR_BITS, WORD, WORD_BITS, Waiting, Way

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Keys = NDArray[Any]
Place = tuple[int, Index, Index]  # of uses: table, row, lane
WARP_BITS = 5
BYTE_BITS = 5  # of a byte in its sector


@dataclass(frozen=True, slots=True)
class Quiet:
    """Loads that do not ask L2, though others may not have asked it before."""

    turns: Collection[int] = ()  # of those of which no lane asks
    places: Sequence[Place] = ()  # other uses


def loaded_in_part(chosen: list[Used], marks: Marks) -> tuple[Quiet, Index]:
    """Loads of sectors of which parts were stored first, which are PARTED among the marks, where no line has to go; and their lines there."""
    lanes: dict[tuple[int, ...], tuple[Index, Index]] = {}  # who load of these, by those who use the same
    turns: set[int] = set()
    found: list[Place] = []
    lines = [np.zeros(0, np.int64)]
    for u in chosen:
        if u.way is Way.LOAD and u.stretch.mixed:
            name = id(u.waiting.f.same), u.waiting.start, id(u.waiting.rows), marks.life(u)
            if name not in lanes:
                at = marks.places(u.table, u.begin, u.end)
                lanes[name] = rows_and_columns(marks.flat.take(at) == PARTED)
                lines.append(at[lanes[name]] >> SECTOR_BITS)
            row, lane = lanes[name]
            if row.size == u.end - u.begin << (WARP_BITS if u.table == WARPS else 0):
                turns.add(u.turn)
            elif row.size:
                found.append((u.table, row + u.begin, lane))
    return Quiet(turns, found), np.concatenate(lines)


def are_stored(chosen: list[Used], marks: Marks) -> bool:
    """Do these loads want no more than was stored?  Else it matters what becomes of their lines."""
    some = [u for u in chosen if u.stretch.mixed]
    if any(u.parts and u.waiting.f.width < WORD for u in some):
        return False
    stored = np.zeros(marks.flat.size << WORD_BITS, np.bool_)  # which words
    for u in _new_words(some, marks):
        f, at = u.waiting.f, marks.places(u.table, u.begin, u.end)
        words = (at << WORD_BITS) + (f.first_word if isinstance(f, Scattered) else 0)
        if u.way is Way.LOAD:
            words = words.ravel().compress((marks.flat.take(at) == PARTED).ravel())
        for word in range((f.touched_words if isinstance(f, Scattered) else SECTOR_WORDS).bit_length()):
            if u.way is not Way.LOAD:
                stored[words + word if word else words] = True
            elif not stored.take(words + word if word else words).all():
                return False
    return True


def _new_words(some: list[Used], marks: Marks) -> list[Used]:
    """Accesses, in order, less those whose words all were stored by the same lanes before."""
    stored: set[tuple[int, ...]] = set()
    found = []
    for u in some:
        f = u.waiting.f
        root, by = (f.root, f.by) if isinstance(f, Scattered) else (f, 0)
        name = id(root), by, u.waiting.start, id(u.waiting.rows), marks.life(u)
        if name not in stored:
            found.append(u)
            if u.way is Way.STORE:
                stored.add(name)
    return found


@dataclass(frozen=True, slots=True)
class Parts:
    """What the turns of uses say: a number each has the turn, the sector and the word."""

    turn_bits: int
    loads: Flags  # which turns load
    stores: Flags  # which store parts
    words: Index  # of a use, the first as bit 0
    bytes: Index  # of a use that stores no whole word
    word_bits: int  # of a use's first word in its sector, or its first byte

    @staticmethod
    def of(chosen: list[Waiting], turn_bits: int, bits: int, word_bits: int) -> Parts:
        """Of some accesses, whose turns have 2**bits parts."""
        loads, stores = [w.way is Way.LOAD for w in chosen], [w.way is Way.STORE and not w.brings for w in chosen]
        words, short = [], []
        for w in chosen:
            short.append(w.f.width if w.way is Way.STORE and w.f.width < WORD and not w.brings else 0)
            words.append(0 if short[-1] else w.f.touched_words if isinstance(w.f, Scattered) else SECTOR_WORDS)
        every = [np.repeat(np.array(x), 1 << bits) for x in (loads, stores, words, short)]
        return Parts(turn_bits, every[0], every[1], every[2], every[3], word_bits)

    @property
    def low_bits(self) -> int:
        """Of all that a use's turn and line do not say."""
        return SECTOR_BITS + self.word_bits

    def turn(self, keys: Keys) -> Index:
        """The turn of each use."""
        kind = keys.dtype.type
        found: Index = (keys >> kind(self.low_bits) & kind((1 << self.turn_bits) - 1)).astype(np.int64)
        return found

    def apart(self, keys: Keys, use: Index, stay: Index) -> Index:
        """Where uses of lines stand of which a part of a sector was stored first, and the sector loaded then.

        `use`, `stay`: see fresh_order.Order.
        """
        turn, kind = self.turn(keys.take(use)), keys.dtype.type
        stores, loads = self.stores.take(turn), self.loads.take(turn)
        parted, loaded = np.zeros((2, int(stay[-1]) + 4 if stay.size else 0), np.bool_)
        parted[stay[::-1].copy()] = stores[::-1].copy()  # the last that is written remains
        loaded[stay.compress(loads)] = True
        parted &= loaded
        some = np.zeros(keys.size, np.bool_)
        some[use.compress(parted.take(stay))] = True
        beyond = kind((1 << self.turn_bits + self.low_bits) - 1)  # the bits of a use that its line does not have
        lines = keys.take(some.nonzero()[0]) | beyond
        lines = lines.take(firsts(lines))
        begins, ends = keys.searchsorted(lines ^ beyond), keys.searchsorted(lines, side="right")
        sizes = ends - begins
        found: Index = np.repeat(begins - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        return found

    def follow(self, use: Keys, there: Flags) -> tuple[Keys, Index, Index, Keys]:
        """The lines and turns at which uses miss, warp by warp, and how many sectors; and which are found though not all their words are there.

        `there`: they find their line.
        """
        kind, turn = use.dtype.type, self.turn(use)
        spot = (use & kind((1 << self.low_bits) - 1)).astype(np.int64) >> self.word_bits - WORD_BITS  # of the first word, in its line
        groups = use >> kind(self.low_bits)
        first = firsts(groups)
        want = self.words.take(turn) << spot
        short = self.bytes.take(turn) if self.bytes.any() else None
        if short is not None:
            want |= self._covered(use, short) << spot
        mark = np.zeros(1, np.int64) if short is None else (short > 0) * sectors_of(np.int64(1) << spot)
        if first.size < use.size:
            want = np.bitwise_or.reduceat(want, first)
            mark = mark if short is None else np.bitwise_or.reduceat(mark, first)
            turn, there, groups = turn.take(first), there.take(first), groups.take(first)
        starts = firsts(groups >> kind(self.turn_bits))
        sizes = np.diff(starts, append=groups.size)
        rank = np.arange(groups.size, dtype=np.int32) - np.repeat(starts.astype(np.int32), sizes)
        line = np.repeat(np.arange(starts.size), sizes)
        steps = int(rank.max()) + 1 if rank.size else 0
        order = np.argsort(rank.astype(np.uint16) if steps < 1 << 16 else rank, kind="stable")  # short numbers are put in order much faster
        ends = np.cumsum(np.bincount(rank)).tolist() if rank.size else []
        wanted, loads = want.take(order), self.loads.take(turn.take(order))
        held, missed = _step_by_step(
            list(pairwise([0, *ends])), wanted, loads, there.take(order), line.take(order), None if short is None else mark.take(order)
        )
        misses, in_part = np.zeros((2, groups.size), np.int64)
        misses[order] = count_bits(missed)
        in_part[order] = sectors_of(wanted) & ~missed & sectors_of(~held & ALL_WORDS) * loads
        some = in_part.nonzero()[0]
        at, sector = (in_part.take(some)[:, None] >> np.arange(0, 32, 8) & 1).nonzero()
        quiet = groups.take(some.take(at)) << kind(SECTOR_BITS) | sector.astype(use.dtype)
        return groups >> kind(self.turn_bits), turn, misses, quiet

    def _covered(self, use: Keys, short: Index) -> Index:
        """Which uses are the first of a word that a warp stores byte by byte, and all of it: 1, else 0."""
        kind = use.dtype.type
        starts = firsts(use >> kind(self.word_bits - WORD_BITS))
        new = np.zeros(use.size, np.bool_)
        new[firsts(use)] = True
        found, stored = np.zeros(use.size, np.int64), np.add.reduceat(short * new, starts)
        found[starts] = stored == WORD
        return found


def _step_by_step(
    steps: list[tuple[int, int]], wanted: Index, loads: Flags, there: Flags, which: Index, marks: Index | None
) -> tuple[Index, Index]:
    """Uses of some lines, of which each step has no line twice: the words that each finds, and the sectors that it misses.

    `there`: they find their line; `which` line; `marks`: sectors of which a use stores bytes.
    """
    valid, written = np.zeros((2, int(which.max()) + 1 if which.size else 0), np.int64)
    found, missing = np.zeros((2, wanted.size), np.int64)
    many = np.add.reduceat(loads, [begin for begin, _ in steps], dtype=np.int64).tolist() if steps else []
    for (begin, end), loading in zip(steps, many, strict=True):
        now, want, held, missed = which[begin:end], wanted[begin:end], found[begin:end], missing[begin:end]
        np.multiply(valid.take(now), there[begin:end], out=held)
        marked = None if marks is None else written.take(now) * there[begin:end]
        if not loading:
            valid[now] = held | want
        else:
            missed[:] = sectors_of(want & ~held)
            if loading < end - begin:
                missed *= loads[begin:end]
            anew = (missed & (sectors_of(held) if marked is None else sectors_of(held) | marked)).nonzero()[0]
            held[anew], missed[anew] = 0, sectors_of(want.take(anew))
            if marked is not None:
                marked[anew] = 0
            brought = missed * SECTOR_WORDS
            valid[now] = held | (brought if loading == end - begin else np.where(loads[begin:end], brought, want))
        if marks is not None and marked is not None:
            written[now] = marked | marks[begin:end]
    return found, missing
