"""The rows of a launch's tables by cache: which multiprocessor asks, and when."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..flags import rows_and_columns
from .fresh import Fresh, Marks
from .fresh_parts import BYTE_BITS
from .fresh_tables import SILENT, USES, WARPS, Used
from .lanes import repeated
from .scattered import Scattered
from .stays import Emptied
from .uses import SECTOR_BITS, Way

Index = NDArray[np.int64]
Keys = NDArray[Any]
Flags = NDArray[np.bool_]


class Lives:
    """Caches, each of them another one when it has been emptied."""

    def __init__(self, fresh: Fresh, caches: int, emptied: Emptied) -> None:
        since = np.zeros((caches, 1 + max([turn for turn, _ in emptied], default=0)), np.int64)  # how often before each turn
        for turn, some in emptied:
            since[some, turn:] += 1
        self.caches, self.count = caches, caches * (1 + int(since.max()))
        last = since.shape[1] - 1
        self.of = [t.cache + caches * since[t.cache, np.minimum(t.turn, last)] if emptied else t.cache for t in fresh.tables]  # each row


@dataclass(frozen=True, slots=True)
class Some:
    """Some caches, which stand together by group and are numbered anew."""

    caches: Index
    groups: Index  # of each
    begins: Index  # of each group, and the end
    numbers: Index  # by the old number; -1: none of them

    @staticmethod
    def of(group: Index, many: int) -> Some:
        """Those that belong to a group."""
        caches = np.argsort(group, kind="stable")[np.count_nonzero(group < 0) :]
        numbers = np.full(group.size, -1)
        numbers[caches] = np.arange(caches.size)
        groups = group.take(caches)
        return Some(caches, groups, groups.searchsorted(np.arange(many + 1)), numbers)


@dataclass(frozen=True, slots=True)
class Within:
    """The uses of some lines of some caches: of each access that has any, the rows of its table and the lanes in them."""

    users: list[Used]
    uses: list[tuple[Index, Index]]

    @staticmethod
    def of(fresh: Fresh, chosen: list[Used], marks: Marks, lines: Flags, lives: Lives) -> Within:
        """Those that some accesses use; `lines` by their places among the marks."""
        caches = np.zeros(lives.count, np.bool_)
        caches[marks.caches] = lines.reshape(marks.caches.size, -1).any(axis=1)
        found = Within([], [])
        for run in fresh.runs(chosen):
            table, begin, end = run[0].table, run[0].begin, run[-1].end
            rows = caches.take(lives.of[table][begin:end]).nonzero()[0]
            rows += begin
            row, lane = rows_and_columns(lines.take(marks.places_of(table, rows) >> SECTOR_BITS))
            row = rows.take(row)
            for u, (a, b) in zip(run, pairwise([0, *row.searchsorted([u.begin for u in run[1:]]).tolist(), row.size]), strict=True):
                if a < b:
                    found.users.append(u)
                    found.uses.append((row[a:b], lane[a:b]))
        return found


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of sectors by cache: where in its table each stands, its cache, its turn, and how many lanes take part."""

    table: int
    sectors: NDArray[np.uint32]
    order: Index
    cache: Keys
    turn: NDArray[np.int32]
    lanes: Index | None  # None: all of each row
    words: NDArray[np.uint32]  # in their sectors, where that matters
    places: tuple[Index, Index] | None = None  # the row and the lane in the table, if these are some of its lanes, a row each

    @staticmethod
    def of_lines(fresh: Fresh, table: int, lives: Lives, bits: int, *, words: int, within: Within) -> Rows:
        """Those that use some lines alone, of accesses whose turns have 2**bits parts."""
        t, some = fresh.tables[table], [(turn, u, *within.uses[turn]) for turn, u in enumerate(within.users) if u.table == table]
        sizes = [row.size for _, _, row, _ in some]
        turns = repeated([turn << bits for turn, _, _, _ in some], sizes, np.int32)
        word, end = np.zeros((turns.size, 1), np.uint32), 0
        for _, u, row, lane in some if table != USES and (bits or words) else ():
            f, mine, begin, end = u.waiting.f, row - u.begin, end, end + row.size
            if bits:
                turns[begin:end] += f.order(u.waiting.rows, bits).ravel().take(mine).astype(np.int32)
            if words and isinstance(f, Scattered):
                word[begin:end, 0] = f.first_bytes(mine, lane) >> np.uint32(BYTE_BITS - words)
        row, lane = np.concatenate([row for _, _, row, _ in some]), np.concatenate([lane for _, _, _, lane in some])
        cache: Keys = lives.of[table].take(row)
        cache = cache.astype(np.uint16) if lives.count < 1 << 16 else cache
        order = np.argsort(cache, kind="stable")
        return Rows(table, t.sectors[row, lane][:, None], order, cache.take(order), turns.take(order), None, word, (row, lane))

    @staticmethod
    def of(fresh: Fresh, table: int, chosen: list[Used], lives: Lives, bits: int, *, words: int, only: Some | None) -> Rows:
        """Those of some accesses, whose turns have 2**bits parts; `only`: of these caches."""
        t = fresh.tables[table]
        some = [(turn, u) for turn, u in enumerate(chosen) if u.table == table]
        sizes = [u.end - u.begin for _, u in some]
        turn: NDArray[np.int32] = repeated([turn << bits for turn, _ in some], sizes, np.int32)
        if bits and table != USES:
            turn += np.concatenate([u.waiting.f.order(u.waiting.rows, bits).ravel() for _, u in some], dtype=np.int32, casting="unsafe")
        begin, end = some[0][1].begin, some[-1][1].end
        where = None if end - begin == turn.size else np.concatenate([np.arange(u.begin, u.end) for _, u in some])
        every = lives.of[table]
        cache: Keys = every[begin:end] if where is None else every.take(where)
        if only is not None:
            cache = only.numbers.take(cache)
            some_rows = (cache >= 0).nonzero()[0]
            cache, turn = cache.take(some_rows), turn.take(some_rows)
            where = some_rows + begin if where is None else where.take(some_rows)
        cache = cache.astype(np.uint16) if lives.count < 1 << 16 else cache
        word = np.zeros((len(t.sectors) if words else 0, 1), np.uint32)
        if words and table != USES:
            word = np.zeros(t.sectors.shape, np.uint32)
            for _, u in some:
                f = u.waiting.f
                word[u.begin : u.end] = f.first_byte if words == BYTE_BITS and isinstance(f, Scattered) else f.first_word
        order = np.argsort(cache, kind="stable")
        cache, turn = cache.take(order), turn.take(order)
        order = order + begin if where is None else where.take(order)
        return Rows(table, t.sectors, order, cache, turn, None if t.lanes is None else t.lanes.take(order), word)

    @property
    def in_turn(self) -> bool:
        """Are the rows of each cache in the order of their turns?"""
        back = self.turn[1:] < self.turn[:-1]
        back &= self.cache[1:] == self.cache[:-1]
        return not back.any()

    def range(self, low: int, high: int) -> tuple[int, int]:
        """The rows of the caches `low` to `high`, where they are in order."""
        a, b = self.cache.searchsorted(np.array([low, high], self.cache.dtype)).tolist()
        return a, b

    def count(self, cell: Keys, many: int, some: Flags | None = None) -> Index:
        """How many lanes of rows fall into each of so many cells; of some of the rows."""
        lanes: Index | Flags | None = self.lanes
        if some is not None:
            lanes = some if lanes is None else lanes * some
        found: Index = np.bincount(cell, lanes, many).astype(np.int64)
        return found if self.lanes is not None else found * self.sectors.shape[1]


@dataclass(frozen=True, slots=True)
class Names:
    """Under which numbers what loads find is counted."""

    of: list[int]  # of each access; SILENT: it does not count
    codes: list[int]  # of the numbers; the first is nobody's

    @staticmethod
    def by_code(fresh: Fresh, chosen: list[Used]) -> Names:
        """As they are told."""
        return Names([u.code if u.way is Way.LOAD else SILENT for u in chosen], list(range(len(fresh.groups))))

    @staticmethod
    def by_code_and_table(chosen: list[Used]) -> Names:
        """Lanes that stand for themselves apart from others: they often find what their neighbours have brought in."""
        known: dict[tuple[int, int], int] = {}
        of = [SILENT if u.code == SILENT or u.way is not Way.LOAD else known.setdefault((u.code, u.table), len(known) + 1) for u in chosen]
        return Names(of, [0, *(code for code, _ in known)])

    def loads(self, chosen: list[Used]) -> Index:
        """How many uses of each number load."""
        found = np.zeros(len(self.codes), np.int64)
        for u, name in zip(chosen, self.of, strict=True):
            if name != SILENT:
                found[name] += u.waiting.f.count if u.table == WARPS else u.end - u.begin
        return found
