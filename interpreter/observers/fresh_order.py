"""The uses of a launch's accesses by cache, line and turn: which of them find their line there still, and their sector.

Of a line that was used before, the number of lines used in between tells whether it had to go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..flags import numbered, rows_and_columns
from .fresh import Fresh
from .fresh_parts import BYTE_BITS, Parts, Place
from .fresh_rows import Lives, Names, Rows, Some, Within
from .fresh_tables import BRING, NOBODY, SILENT, Used
from .reuse import oldest_kept
from .stays import STEP
from .uses import PIECE, SECTOR_BITS, WORD, WORD_BITS

Index = NDArray[np.int64]
Keys = NDArray[Any]
Flags = NDArray[np.bool_]

TABLE = 1 << 22  # entries of the table of last uses: caches x steps x steps
APART = 512  # uses of a cache that are worth sorting on their own
NUMBER, TURN = 28, 18  # bits of a sector's number, and of a turn
SPARE, LEAST = 6, 2  # bits for the caches of a piece
DIGIT = 16  # bits of numbers that are put in order by counting
WORTH = 1 << 13  # uses that are worth a piece
CODE_BITS = 8
LAST = (1 << SECTOR_BITS) - 1
FINE = 12  # steps in the time in which a cache is filled once


def _name_of(cache: Keys, turn: Keys, sector: Keys) -> Index:
    found: Index = (cache.astype(np.int64) << TURN | turn.astype(np.int64)) << NUMBER | sector.astype(np.int64)
    return found


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

    def __init__(
        self,
        fresh: Fresh,
        chosen: list[Used],
        lives: Lives,
        lines: int,
        *,
        words: bool,
        only: Some | None = None,
        within: Within | None = None,
        names: Names | None = None,
    ) -> None:
        names = names or Names.by_code(fresh, chosen)
        self.full = False  # have lines to go in most caches?
        # Where words matter, uses that find their line but not their words: caches, codes, sectors.
        self.missed: tuple[Index, Keys, Index] = NOBODY, NOBODY, NOBODY
        self.told: list[tuple[int, Index]] = []  # what was found in some caches of a group, by the first of them
        self.groups, self.nowhere, self.lines = len(names.codes), fresh.nowhere, lines
        self.count = lives.count if only is None else only.caches.size
        self.owners = (np.arange(lives.count) if only is None else only.caches) % lives.caches
        self.groups_begin = [] if only is None else only.begins.tolist()
        most = max([u.waiting.f.crowd(u.waiting.rows) for u in chosen])
        bits = (most // max(1, lines // STEP)).bit_length()
        # Where words matter, or bytes.
        self.word_bits = BYTE_BITS if words and any(u.waiting.f.width < WORD for u in chosen) else WORD_BITS if words else 0
        self.low_bits = SECTOR_BITS + self.word_bits
        self.finer = 0
        if words:
            apart = (max([u.waiting.f.most_warps(u.waiting.rows) for u in chosen]) - 1).bit_length()  # a part a warp
            self.finer = max(0, apart - bits)
            bits += self.finer
        self.codes = np.repeat(np.array(names.of, np.uint8), 1 << bits)
        self.drops = np.repeat([u.way not in BRING for u in chosen], 1 << bits)
        self.alike = self.codes.item(0) != SILENT and bool((self.codes == self.codes[0]).all())
        self.turn_bits = (len(chosen) - 1).bit_length() + bits
        beyond = max([u.stretch.number + u.stretch.lines for u in chosen])  # the line that stands for lanes that take no part
        self.line_bits = (beyond if any(t.masked for t in fresh.tables) else beyond - 1).bit_length()
        self.place = self.turn_bits + self.low_bits + self.line_bits  # bits of all but the cache
        self.quiet: list[Place] = []  # uses that don't ask L2: table, row, lane
        self._chosen, self._bits = chosen, bits
        tables = sorted({u.table for u in chosen})
        if within is None:
            self.tables = [Rows.of(fresh, table, chosen, lives, bits, words=self.word_bits, only=only) for table in tables]
        else:
            self.tables = [Rows.of_lines(fresh, table, lives, bits, words=self.word_bits, within=within) for table in tables]
        self.begin, self.length = np.zeros(self.count, np.int64), self.codes.size  # the first turn of each cache, and how many one has
        if lives.count > lives.caches:
            end = np.zeros(self.count, np.int64)
            self.begin += self.codes.size
            for t in self.tables:
                np.minimum.at(self.begin, t.cache, t.turn)
                np.maximum.at(end, t.cache, t.turn)
            self.length = int((end - self.begin).max()) + 1
        self.uses = sum([t.count(t.cache, self.count) for t in self.tables], np.zeros(self.count, np.int64))

    @cached_property
    def parts(self) -> Parts:
        """What turns say of parts of sectors."""
        return Parts.of([u.waiting for u in self._chosen], self.turn_bits, self._bits, self.word_bits)

    @cached_property
    def _in_turn(self) -> bool:
        """Are uses of lines of short numbers in the order of their turns, as far as that matters?"""
        return self.line_bits <= DIGIT and self.word_bits != BYTE_BITS and len(self.tables) == 1 and self.tables[0].in_turn

    def found(self) -> Index:
        """How often loads of each code find a sector."""
        pieces = list(self._pieces())
        over = np.zeros(self.uses.size, np.bool_)
        for p in pieces:
            over[p.caches] = p.lines > self.lines
        self.full = bool(2 * np.count_nonzero(over) > np.count_nonzero(self.uses))
        hits = self._kept(pieces, over) if over.any() else [p.again for p in pieces]
        found, uses, there = np.zeros(self.groups, np.int64), [], []
        for p, cache, keys, hit in self._by_group(pieces, hits):
            stays, before = self._stays(keys, hit), found.copy()
            if self.word_bits and (at := self.parts.apart(keys, *stays)).size:
                inside, hits_line = np.zeros((2, keys.size), np.bool_)
                inside[at], hits_line[hit] = True, True
                uses.append(keys.take(at).astype(np.uint64) + np.uint64(p.first << self.place))
                there.append(hits_line.take(at))
                found += self._by_code(keys, inside)
                stays = self._stays(keys, hit.compress(~inside.take(hit)))
            found += self._found(keys, *stays)
            self.told.append((cache, found - before))
        if uses:
            lines, turns, misses, in_part = self.parts.follow(np.concatenate(uses), np.concatenate(there))
            self.missed = (lines >> lines.dtype.type(self.line_bits)).astype(np.int64), self.codes.take(turns), misses
            found -= np.bincount(self.missed[1], misses, SILENT + 1).astype(np.int64)[: self.groups]
            self.quiet = self._where(self._named(in_part))
        return found

    @property
    def asked(self) -> Index:
        """How many uses of each code load."""
        found = sum([t.count(self.codes.take(t.turn), SILENT + 1) for t in self.tables], np.zeros(SILENT + 1, np.int64))[: self.groups]
        found[0] = 0
        return found

    def by_group(self, only: Some) -> tuple[Index, Index]:
        """(groups, codes): what was found in each group of caches, and how many uses loaded."""
        many = only.begins.size - 1
        found = np.zeros((many, self.groups), np.int64)
        for first, some in self.told:
            found[only.groups[first]] += some
        cache, code, misses = self.missed
        less = np.bincount((only.groups.take(cache) << CODE_BITS) + code, misses, many << CODE_BITS).astype(np.int64)
        found -= less.reshape(many, -1)[:, : self.groups]
        cells = [t.count((only.groups.take(t.cache) << CODE_BITS) + self.codes.take(t.turn), many << CODE_BITS) for t in self.tables]
        return found, sum(cells, np.zeros(many << CODE_BITS, np.int64)).reshape(many, -1)[:, : self.groups]

    def _by_group(self, pieces: list[Piece], hits: list[Index]) -> Iterator[tuple[Piece, int, Keys, Index]]:
        """The uses of each group of caches that a piece has, with the first of them, and which of these uses hit."""
        for p, hit in zip(pieces, hits, strict=True):
            cuts = [cut - p.first for cut in self.groups_begin if 0 < cut - p.first < p.starts.size - 1]
            for low, high in pairwise([0, *cuts, p.starts.size - 1]):
                begin, end = p.starts[low], p.starts[high]
                a, b = hit.searchsorted([begin, end]).tolist() if cuts else (0, hit.size)
                if begin < end:
                    yield p, p.first + low, p.keys[begin:end], hit[a:b] - begin if begin else hit[a:b]

    def _named(self, found: Keys) -> Index:
        """Sectors that some warps use: cache, turn and sector, a number each."""
        turn = found >> found.dtype.type(SECTOR_BITS) & found.dtype.type((1 << self.turn_bits) - 1)
        line = found >> found.dtype.type(SECTOR_BITS + self.turn_bits)
        number = (line & line.dtype.type((1 << self.line_bits) - 1)) << line.dtype.type(SECTOR_BITS) | found & found.dtype.type(LAST)
        return _name_of(line >> line.dtype.type(self.line_bits), turn, number)

    def _where(self, names: Index) -> list[Place]:
        """Where in the tables the uses stand that have these names."""
        named = np.zeros(self.nowhere + (1 << SECTOR_BITS), np.bool_)
        named[names & (1 << NUMBER) - 1] = True
        found = []
        for t in self.tables if names.size else []:
            rows = self.parts.loads.take(t.turn).nonzero()[0]
            where = t.order.take(rows)
            row, lane = rows_and_columns(named.take(t.sectors.take(where, axis=0)))
            rows, where = rows.take(row), where.take(row)
            mine = np.isin(_name_of(t.cache.take(rows), t.turn.take(rows), t.sectors[where, lane]), names)
            where, lane = where.compress(mine), lane.compress(mine)
            found.append((t.table, where, lane) if t.places is None else (t.table, t.places[0].take(where), t.places[1].take(where)))
        return found

    def _pieces(self) -> Iterator[Piece]:
        """Uses of a few caches at a time, so that they fit into the host's own caches."""
        part = (np.cumsum(self.uses) - self.uses) // PIECE
        some = {*(np.flatnonzero(np.diff(part)) + 1).tolist()}
        room = 32 - self.place  # bits for caches, if a number is to stay short
        if LEAST <= room < SPARE and int(self.uses.sum()) >= WORTH * (self.uses.size >> room):
            some.update(range(0, self.uses.size, 1 << room))
        cuts = sorted({0, *(cut for cut in some if cut < self.uses.size), self.uses.size})
        for low, high in pairwise(cuts):
            if (many := int(self.uses[low:high].sum())) == 0:
                continue
            kind: Any = np.uint32 if self.place + (high - low - 1).bit_length() <= 32 else np.uint64
            if many < (high - low) * APART:
                blocks = [self._keys(t, *t.range(low, high), kind, low).ravel() for t in self.tables]
                keys: Keys = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
                keys.sort()
                keys = keys[:many]
            else:
                keys = self._one_by_one(low, high, many, kind)
            starts = np.append(keys.searchsorted(np.arange(high - low).astype(kind) << kind(self.place)), many)
            again = ((keys[1:] ^ keys[:-1]) < kind(1 << self.turn_bits + self.low_bits)).nonzero()[0] + 1
            if self.drops.any():  # what was dropped is not there
                again = again.compress(~self.drops.take(self._turn(keys.take(again - 1))))
            yield Piece(keys, low, starts, again, again.searchsorted(starts))

    def _one_by_one(self, low: int, high: int, many: int, kind: Any) -> Keys:
        """The uses of some caches: what is short is put in order much faster."""
        short: Any = np.uint32 if self.place <= 32 else np.uint64
        blocks = []
        for t in self.tables:
            cuts = t.cache.searchsorted(np.arange(low, high + 1, dtype=t.cache.dtype)).tolist()
            each = t.sectors.shape[1]
            blocks.append((self._keys(t, cuts[0], cuts[-1], short, None).ravel(), [(cut - cuts[0]) * each for cut in cuts]))
        out, end = np.empty(many, kind), 0
        for at, n in enumerate(self.uses[low:high].tolist()):
            parts = [keys[cuts[at] : cuts[at + 1]] for keys, cuts in blocks]
            one = np.concatenate(parts) if len(parts) > 1 else parts[0]
            if self._in_turn:  # then it is enough to put lines in order, digit by digit
                one = one.take((one >> short(self.turn_bits + self.low_bits)).astype(np.uint16).argsort(kind="stable"))
            else:
                one.sort()
            np.add(one[:n], kind(at << self.place), out=out[end : end + n], casting="unsafe")
            end += n
        return out

    def _keys(self, t: Rows, a: int, b: int, kind: Any, low: int | None) -> Keys:
        """The uses of some rows, caches counted from `low` on, if they are to be told apart; what is none stands at the end."""
        keys: Keys = t.sectors.take(t.order[a:b], axis=0)
        none = keys == self.nowhere if t.lanes is not None and int(t.lanes[a:b].sum()) < keys.size else None
        keys = keys.astype(kind, copy=False)
        sector = keys & kind(LAST)
        keys ^= sector
        keys <<= kind(self.turn_bits)
        keys |= sector
        if self.word_bits:
            keys <<= kind(self.word_bits)
            keys |= t.words.take(t.order[a:b], axis=0)
        rest = t.turn[a:b].astype(kind)
        if low is not None:
            rest |= (t.cache[a:b].astype(kind) - kind(low)) << kind(self.turn_bits + self.line_bits)
        rest <<= kind(self.low_bits)
        keys += rest[:, None]
        if none is not None:
            np.putmask(keys, none, kind(np.iinfo(kind).max))
        return keys

    def _kept(self, pieces: list[Piece], over: Flags) -> list[Index]:
        """Uses whose line is there still, of each piece; `over`: caches in which some have to go."""
        rank = np.cumsum(over) - 1
        count, many = int(rank[-1]) + 1, self.length
        wanted, step = FINE * int(np.bincount(self.owners, self.uses).max()) // self.lines, self.finer
        while (many >> step) ** 2 * count > TABLE or many >> step > 2 * wanted:
            step += 1
        steps = (many - 1 >> step) + 1
        used = np.zeros((count, steps), np.int64)
        for t in self.tables:
            cell = t.cache.astype(np.int64)
            turn = t.turn - self.begin.take(cell) if self.length < self.codes.size else t.turn
            cell *= steps
            cell += turn >> step
            some = ~self.drops.take(t.turn) if self.drops.any() else None
            used += t.count(cell, over.size * steps, some).reshape(-1, steps)[over]
        moved = np.zeros((count, steps, steps), np.int64)
        moves = []  # (cache, step, step of the use before), a number each
        for p in pieces:
            mine = over[p.caches]
            begin, end = int(rank[p.first]) + (not mine[0]), int(rank[p.caches[-1]]) + 1
            move = self._moves(p.keys, p.again if mine.all() else p.of(mine), p.first, np.cumsum(mine) - 1, step, steps)
            moved[begin:end] = np.bincount(move, minlength=(end - begin) * steps * steps).reshape(end - begin, steps, steps)
            moves.append((p, mine, begin, end, move))
        kept = oldest_kept(np.zeros((count, 0), np.int64), used, moved, self.lines)[:, :steps]
        stays = np.arange(steps) >= kept[:, :, None]
        hits = []
        for p, mine, begin, end, move in moves:
            there = stays[begin:end].ravel().take(move) if move.size else np.zeros(0, np.bool_)
            if move.size < p.again.size:
                some, there = there, np.ones(p.again.size, np.bool_)
                there[np.repeat(mine, np.diff(p.begins))] = some
            hits.append(p.again.take(there.nonzero()[0]))
        return hits

    def _moves(self, keys: Keys, again: Index, first: int, rank: Index, step: int, steps: int) -> Index:
        """Of some uses of lines that were used before: the rank of the cache, the step, and the step of the use before, a number each."""
        kind = keys.dtype.type
        now, before = keys.take(again), keys.take(again - 1)
        move = now >> kind(self.place)
        begin = self.begin[first : first + rank.size].astype(keys.dtype).take(move) if self.length < self.codes.size else None
        if rank.size > rank[-1] + 1:
            move = rank.astype(keys.dtype).take(move)
        for key in (now, before):
            key >>= kind(self.low_bits)
            key &= kind((1 << self.turn_bits) - 1)
            if begin is not None:
                key -= begin
            key >>= kind(step)
            move *= kind(steps)
            move += key
        found: Index = move.astype(np.int64)
        return found

    def _stays(self, keys: Keys, hit: Index) -> tuple[Index, Index]:
        """The uses that began stays of which others found the line, then those others: where they stand, and the stay and the sector, a number."""
        start = np.ones(hit.size, np.bool_)  # the use before found nothing
        np.not_equal(hit[1:], hit[:-1] + 1, out=start[1:])
        begins = hit.compress(start) - 1
        use = np.concatenate([begins, hit])
        stay = np.concatenate([np.arange(begins.size), numbered(start) - 1])
        stay <<= SECTOR_BITS
        stay |= (keys.take(use) >> keys.dtype.type(self.word_bits)).astype(np.int64) & LAST
        return use, stay

    def _found(self, keys: Keys, use: Index, stay: Index) -> Index:
        """How often each code finds a sector: always, but for the first use of the sector in a stay."""
        first = np.zeros(int(stay[-1]) + LAST + 1 if stay.size else 0, np.uint8)
        if self.alike:
            first[stay] = 1
            found = np.zeros(self.groups, np.int64)
            found[self.codes[0]] = use.size - np.count_nonzero(first)
            return found
        codes = self.codes.take(self._turn(keys.take(use)))
        first[stay[::-1].copy()] = codes[::-1].copy()  # the last that is written remains
        both = np.bincount(codes, minlength=SILENT + 1) - np.bincount(first, minlength=SILENT + 1)
        each: Index = both[: self.groups]
        each[0] = 0
        return each

    def _by_code(self, use: Keys, which: Flags) -> Index:
        """How many of these uses each code has."""
        if self.alike:
            found = np.zeros(self.groups, np.int64)
            found[self.codes[0]] = np.count_nonzero(which)
            return found
        each: Index = np.bincount(self.codes.take(self._turn(use.compress(which))), minlength=SILENT + 1)[: self.groups]
        return each

    def _turn(self, use: Keys) -> Index:
        kind = use.dtype.type
        turn: Index = (use >> kind(self.low_bits) & kind((1 << self.turn_bits) - 1)).astype(np.int64)
        return turn
