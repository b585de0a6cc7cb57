"""The caches of all multiprocessors, empty at first, asked by all accesses of a launch at once: how much each group of accesses misses.

A cache that is emptied on the way is another one from then on.  Where none can overflow, who uses a sector first misses it.  Otherwise
uses are sorted by line and turn: of a line that was used before, the number of lines used in between tells whether it was there still.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .fresh import DENSE, LOADED, SILENT, Codes, Fresh, Used
from .reuse import oldest_kept
from .stays import STEP, Emptied
from .uses import PIECE, SECTOR_BITS, Way

Index = NDArray[np.int64]
Keys = NDArray[Any]
Flags = NDArray[np.bool_]

TABLE = 1 << 22  # entries of the table of last uses: caches x steps x steps
FINE = 12  # steps in the time in which a cache is filled once


def missed_in_l1(fresh: Fresh, caches: int, lines: int, emptied: Emptied) -> list[int]:
    """The sectors that loads of each code ask L2 for, in so many caches of so many lines, of which some are emptied before a turn."""
    chosen = [u for u in fresh.used if not u.waiting.there and u.way in (Way.LOAD, Way.STORE)]
    while chosen and chosen[-1].code == SILENT:  # what comes after the last load matters to nobody
        chosen.pop()
    if not chosen:
        return [0] * len(fresh.groups)
    lives = Lives(caches, emptied)
    asked = np.zeros(len(fresh.stretches), np.int64)
    for u in chosen:
        asked[u.stretch] += u.waiting.f.crowd(u.waiting.rows)
    if int(np.minimum(asked, [s.lines for s in fresh.stretches]).sum()) <= lines:  # none can overflow
        loaded = [s for s in fresh.stretches if s.done & LOADED]
        low, end = loaded[0].first, loaded[-1].first + loaded[-1].lines
        sectors = end - low << SECTOR_BITS
        if lives.count * sectors <= max(DENSE, sum([u.count for u in chosen])):
            some = [u for u in chosen if low <= fresh.stretches[u.stretch].first < end]
            return fresh.counts(_firsts(some, lives, low << SECTOR_BITS, sectors))
    return (_loads(fresh, chosen) - Order(fresh, chosen, lives, lines).found()).tolist()  # type: ignore[no-any-return]


class Lives:
    """Caches, each of them another one when it has been emptied."""

    def __init__(self, caches: int, emptied: Emptied) -> None:
        self.caches = caches
        self._since = np.zeros((caches, 1 + max([turn for turn, _ in emptied], default=0)), np.int64)  # how often before each turn
        for turn, some in emptied:
            self._since[some, turn:] += 1
        self.count = caches * (1 + int(self._since.max()))

    def of(self, used: Used) -> Index:
        """For each sector of an access, or each row of them."""
        cache = used.cache
        turn = min(used.turn, self._since.shape[1] - 1)
        return cache + self.caches * self._since[:, turn].take(cache) if turn else cache


def _firsts(chosen: list[Used], lives: Lives, low: int, count: int) -> Codes:
    """Who uses each of so many sectors, from `low` on, of each cache first."""
    marks = np.zeros((lives.count, count + 1), np.uint8)
    for u in reversed(chosen):
        place = lives.of(u) * (count + 1) + u.sectors - low if u.whole else lives.of(u) * (count + 1) + np.minimum(u.sectors - low, count)
        marks.ravel()[place] = u.code
    return marks[:, :count]


def _loads(fresh: Fresh, chosen: list[Used]) -> Index:
    """The uses by loads of each code."""
    total = np.zeros(len(fresh.groups), np.int64)
    for u in chosen:
        if u.code != SILENT:
            total[u.code] += u.count
    return total


@dataclass(frozen=True, slots=True)
class Table:
    """Sectors in rows of one length, and of each row, by cache: where it stands, its cache, its turn and how many lanes take part."""

    sectors: NDArray[np.uint32]
    order: Index
    cache: Index
    turn: Index
    lanes: Index

    @staticmethod
    def of(some: list[tuple[int, Used]], lives: Lives, bits: int) -> Table:
        """The sectors of accesses, with a turn for each, which has 2**bits parts."""
        sectors = np.concatenate([u.sectors.reshape(u.cache.size, -1) for _, u in some])
        cache = np.concatenate([lives.of(u).ravel() for _, u in some])
        turn = np.repeat([turn << bits for turn, _ in some], [u.cache.size for _, u in some])
        lanes = np.full(cache.size, sectors.shape[1])
        at = 0
        for _, u in some:
            end = at + u.cache.size
            if bits:
                turn[at:end] += u.order(bits)
            if not u.whole:
                lanes[at:end] = u.lanes
            at = end
        order = np.argsort(cache, kind="stable")
        return Table(sectors, order, cache.take(order), turn.take(order), lanes.take(order))


@dataclass(frozen=True, slots=True)
class Piece:
    """Uses of some caches, in order, a number each: cache, line, turn, sector."""

    keys: Keys
    first: int  # cache
    starts: Index  # where the uses of each cache begin, and the end
    again: Index  # uses of lines that were used before
    begins: Index  # where those of each cache begin, and the end

    @property
    def lines(self) -> Index:
        """How many lines each cache is asked for."""
        found: Index = np.diff(self.starts) - np.diff(self.begins)
        return found

    @property
    def caches(self) -> Index:
        """Of which caches."""
        return np.arange(self.first, self.first + self.starts.size - 1)

    def of(self, caches: Flags) -> Index:
        """Those in `again` of some caches."""
        return self.again.compress(np.repeat(caches, np.diff(self.begins)))


class Order:
    """The uses of accesses by cache, line and turn; turns have so many parts that their order tells which lines had to go."""

    def __init__(self, fresh: Fresh, chosen: list[Used], lives: Lives, lines: int) -> None:
        self.groups, self.nowhere, self.lines = len(fresh.groups), fresh.lines << SECTOR_BITS, lines
        self.caches = lives.caches
        bits = (max([u.waiting.f.crowd(u.waiting.rows) for u in chosen]) // max(1, lines // STEP)).bit_length()
        self.codes = np.repeat([u.code for u in chosen], 1 << bits)
        self.turn_bits, self.line_bits = (len(chosen) - 1).bit_length() + bits, fresh.lines.bit_length()
        self.place = self.turn_bits + SECTOR_BITS + self.line_bits  # bits of all but the cache
        by_row = [[(turn, u) for turn, u in enumerate(chosen) if (u.sectors.ndim > 1) is rows] for rows in (True, False)]
        self.tables = [Table.of(some, lives, bits) for some in by_row if some]
        self.uses = sum([np.bincount(t.cache, t.lanes, lives.count).astype(np.int64) for t in self.tables], np.zeros(lives.count, np.int64))

    def found(self) -> Index:
        """How often loads of each code find a sector."""
        pieces = list(self._pieces())
        over = np.zeros(self.uses.size, np.bool_)
        for p in pieces:
            over[p.caches] = p.lines > self.lines
        hits = self._kept(pieces, over) if over.any() else [p.again for p in pieces]
        found = np.zeros(self.groups, np.int64)
        for p, hit in zip(pieces, hits, strict=True):
            found += self._found(p.keys, hit)
        return found

    def _pieces(self) -> Iterator[Piece]:
        """Uses of a few caches at a time, so that they fit into the host's own caches."""
        part = (np.cumsum(self.uses) - self.uses) // PIECE
        cuts = [0, *(1 + np.flatnonzero(np.diff(part))).tolist(), self.uses.size]
        for low, high in pairwise(cuts):
            if (many := int(self.uses[low:high].sum())) == 0:
                continue
            kind: Any = np.uint32 if self.place + (high - low - 1).bit_length() <= 32 else np.uint64
            blocks = [self._keys(t, low, high, kind).ravel() for t in self.tables]
            keys = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
            keys.sort()
            keys = keys[:many]
            starts = np.append(keys.searchsorted(np.arange(high - low).astype(kind) << kind(self.place)), many)
            again = ((keys[1:] ^ keys[:-1]) < kind(1 << self.turn_bits + SECTOR_BITS)).nonzero()[0] + 1
            yield Piece(keys, low, starts, again, again.searchsorted(starts))

    def _keys(self, t: Table, low: int, high: int, kind: Any) -> Keys:
        """The uses of the caches `low` to `high`; what is none stands at the end."""
        a, b = t.cache.searchsorted([low, high]).tolist()
        keys: Keys = t.sectors.take(t.order[a:b], axis=0)
        none = keys == self.nowhere if int(t.lanes[a:b].sum()) < keys.size else None
        keys = keys.astype(kind, copy=False)
        sector = keys & kind(3)
        keys ^= sector
        keys <<= kind(self.turn_bits)
        keys |= sector
        keys += (t.cache[a:b] - low << self.place | t.turn[a:b] << SECTOR_BITS).astype(kind)[:, None]
        if none is not None:
            keys[none] = -1 & (1 << 8 * keys.itemsize) - 1
        return keys

    def _turn(self, keys: Keys) -> Index:
        kind = keys.dtype.type
        turn: Index = (keys >> kind(SECTOR_BITS) & kind((1 << self.turn_bits) - 1)).astype(np.int64)
        return turn

    def _kept(self, pieces: list[Piece], over: Flags) -> list[Index]:
        """Uses whose line is there still, of each piece; `over`: caches in which some have to go."""
        rank = np.cumsum(over) - 1
        count, many = int(rank[-1]) + 1, self.codes.size
        wanted, step = FINE * int(self.uses.reshape(-1, self.caches).sum(axis=0).max()) // self.lines, 0
        while (many >> step) ** 2 * count > TABLE or many >> step > 2 * wanted:
            step += 1
        steps = (many - 1 >> step) + 1
        used = np.zeros((count, steps), np.int64)
        for t in self.tables:
            rows = over.take(t.cache).nonzero()[0]
            cell = rank.take(t.cache.take(rows)) * steps + (t.turn.take(rows) >> step)
            used += np.bincount(cell, t.lanes.take(rows), used.size).astype(np.int64).reshape(used.shape)
        moved = np.zeros((count, steps, steps), np.int64)
        moves = []  # (cache, step, step of the use before), a number each
        for p in pieces:
            mine = over[p.caches]
            begin, end = int(rank[p.first]) + (not mine[0]), int(rank[p.caches[-1]]) + 1
            move = self._moves(p.keys, p.again if mine.all() else p.of(mine), np.cumsum(mine) - 1, step, steps)
            moved[begin:end] = np.bincount(move, minlength=(end - begin) * steps * steps).reshape(end - begin, steps, steps)
            moves.append((p, mine, begin, end, move))
        kept = oldest_kept(np.zeros((count, 0), np.int64), used, moved, self.lines)[:, :steps]
        stays = np.arange(steps) >= kept[:, :, None]
        hits = []
        for p, mine, begin, end, move in moves:
            there = stays[begin:end].ravel().take(move) if move.size else np.zeros(0, np.bool_)
            if mine.all():
                hits.append(p.again.take(there.nonzero()[0]))
            else:
                hits.append(np.sort(np.concatenate([p.of(mine).compress(there), p.of(~mine)])))
        return hits

    def _moves(self, keys: Keys, again: Index, rank: Index, step: int, steps: int) -> Index:
        """Of some uses of lines that were used before: the rank of the cache, the step, and the step of the use before, a number each."""
        kind = keys.dtype.type
        now, before = keys.take(again), keys.take(again - 1)
        move = now >> kind(self.place)
        if rank.size > rank[-1] + 1:
            move = rank.astype(keys.dtype).take(move)
        for key in (now, before):
            key >>= kind(SECTOR_BITS + step)
            key &= kind((1 << self.turn_bits) - 1 >> step)
            move *= kind(steps)
            move += key
        found: Index = move.astype(np.int64)
        return found

    def _found(self, keys: Keys, hit: Index) -> Index:
        """How often each code finds a sector, where some uses find their lines."""
        start = np.ones(hit.size, np.bool_)  # of a stay: the use before brought the line in
        np.not_equal(hit[1:], hit[:-1] + 1, out=start[1:])
        stay = np.cumsum(start)
        begin = hit.take(start.nonzero()[0]) - 1
        spot = (stay - 1 << SECTOR_BITS) + (keys.take(hit) & keys.dtype.type(3)).astype(np.int64)
        first, number = np.empty(begin.size << SECTOR_BITS, np.int64), np.arange(hit.size)
        first[spot[::-1]] = number[::-1]  # the last that is written remains
        first[(np.arange(begin.size) << SECTOR_BITS) + (keys.take(begin) & keys.dtype.type(3)).astype(np.int64)] = -1
        found = first.take(spot) != number
        if (self.codes == self.codes[0]).all():
            every = np.zeros(self.groups, np.int64)
            every[self.codes[0]] = np.count_nonzero(found)
            return every
        turn = self._turn(keys.take(hit.take(found.nonzero()[0])))
        each: Index = np.bincount(self.codes.take(turn), minlength=self.groups)[: self.groups]
        return each
