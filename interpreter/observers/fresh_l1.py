"""The caches of all multiprocessors, empty at first, asked by all accesses of a launch at once: how much each group of accesses misses.

A cache that is emptied on the way is another one from then on.  Where none can overflow, who uses a sector first misses it; otherwise
uses are put in order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .fresh import DENSE, LARGE, PARTED, Fresh, Marks
from .fresh_order import Order
from .fresh_own import Own
from .fresh_parts import Quiet, are_stored, loaded_in_part
from .fresh_rows import Lives, Names, Some, Within
from .fresh_sets import Sets
from .fresh_tables import BRING, LOADED, Used, once, up_to_last_load
from .stays import Emptied
from .uses import SECTOR_BITS

Index = NDArray[np.int64]
WORTH = 1 << 17  # loads that are worth asking only some caches
SPREAD = 40  # sectors of caches for each use that may be marked
SOME = 2  # caches that are looked at
LEAST = 8  # of so many caches one is asked, where they are not many, or
PORTION = 1 << 17  # of more, so that they make so many loads
GOLDEN = 0.618  # multiples of it fall into step with nothing that repeats
GROUPS = 4  # of them, whose rates are compared
AGREE, APART = 0.02, 4  # how far the rate of a group may be from that of all, or times as far as chance may bring it
UNSURE = 0.02  # of the rate of all, by chance
QUIET = 128  # of so many loads one may be said to ask L2 though it does not
RARE = 64  # of so many loads one does not matter
FITS = 2
LIKELY = 1.05  # times as many lines in a cache as it has, if others are to have less
FOLLOWED = 2  # of so many lines one may be followed, if not all are


class Missed(NamedTuple):
    """By code, what loads ask L2 for."""

    sectors: list[int]
    marks: Marks | None = None
    quiet: Quiet = Quiet()
    own: Own | None = None


def missed_in_l1(fresh: Fresh, caches: int, lines: int, emptied: Emptied) -> Missed:
    """What loads miss in so many caches of so many lines, of which some are emptied before a turn."""
    chosen = fresh.askers
    if not chosen:
        return Missed([0] * len(fresh.groups))
    lives = Lives(fresh, caches, emptied)
    room = FITS if fresh.crowd <= lines else _room(fresh, lives, lines)
    if not room and all(u.way in BRING for u in fresh.used) and fresh.once_each:
        return Missed(Names.by_code(fresh, chosen).loads(chosen).tolist())
    own = Own.of(fresh, chosen, lives) if room == FITS and lives.count == caches else None
    if own is None:
        return _missed(fresh, chosen, lives, lines, room)
    rest = up_to_last_load([u for u in chosen if u.stretch.number not in own.stretches])
    missed = _missed(fresh, rest, lives, lines, room) if rest else Missed([0] * len(fresh.groups))
    return missed._replace(sectors=[a + b for a, b in zip(missed.sectors, own.missed, strict=True)], own=own)


def _missed(fresh: Fresh, chosen: list[Used], lives: Lives, lines: int, room: int) -> Missed:
    words = any(u.parts for u in chosen)
    if room and all(u.way in BRING for u in chosen):
        marks = _marks(fresh, chosen, lives, lines)
        if marks is None:
            sets = Sets(fresh, chosen, lives, lines)
            if sets.fits and (missed := sets.missed()) is not None:
                return Missed(missed)
        elif (by_marks := _by_marks(fresh, chosen, lives, lines, marks, words=words)) is not None:
            return by_marks
    if (words or not room) and (told := _by_some(fresh, chosen, lives, lines, words=words)) is not None:
        return Missed(told)
    order = Order(fresh, chosen, lives, lines, words=words)
    return Missed((Names.by_code(fresh, chosen).loads(chosen) - order.found()).tolist(), None, Quiet(places=order.quiet))


def _by_marks(fresh: Fresh, chosen: list[Used], lives: Lives, lines: int, marks: Marks, *, words: bool) -> Missed | None:
    """Who comes first misses; but lines that have to go or begin anew are followed.  None if these are many."""
    again, quiet = np.zeros(marks.flat.size >> SECTOR_BITS, np.bool_), Quiet()
    again.reshape(-1, (marks.codes.shape[1] >> SECTOR_BITS) + 1)[marks.over, :-1] = True
    if words:
        quiet, parted = loaded_in_part(chosen, marks)
        if parted.size and (marks.over.size or not are_stored(chosen, marks)):
            again[parted] = True
    every = marks.flat.view(np.uint32)
    if not again.any():
        codes = marks.flat if marks.flat.size <= LARGE else every.take(marks.used).view(np.uint8)
        return Missed(fresh.counts(codes), marks, quiet)
    if FOLLOWED * int(np.count_nonzero(again)) > marks.used.size:
        return None
    end = marks.low + marks.codes.shape[1]
    chosen = [u for u in chosen if marks.low <= u.stretch.number << SECTOR_BITS < end]
    within = Within.of(fresh, chosen, marks, again, lives)
    order = Order(fresh, within.users, lives, lines, words=words, within=within)
    found, rest = order.found(), marks.used.compress(~again.take(marks.used))
    missed = np.array(fresh.counts(every.take(rest).view(np.uint8))) + order.asked - found
    return Missed(missed.tolist(), marks, Quiet(places=order.quiet))


def _room(fresh: Fresh, lives: Lives, lines: int) -> int:
    """Can no cache overflow?  1: it does not look so, 0: some will."""
    most = max(lives.of, key=lambda of: of.size)
    for cache in {int(most[most.size * part // SOME]) for part in range(SOME)}:
        used = np.zeros(fresh.lines + 1, np.bool_)  # the last stands for lanes that take no part
        for t, of in zip(fresh.tables, lives.of, strict=True):
            line = t.sectors.take((of == cache).nonzero()[0], axis=0) >> np.uint32(SECTOR_BITS)
            used[line.astype(np.intp)] = True
        if int(np.count_nonzero(used[:-1])) > LIKELY * lines:
            return 0
    return 1


def _by_some(fresh: Fresh, chosen: list[Used], lives: Lives, lines: int, *, words: bool) -> list[int] | None:
    """What caches miss in all of which lines have to go, or begin anew, told by some of them for all.

    None where they are few, or do not agree as if it was chance that made them differ.
    """
    names = Names.by_code_and_table(chosen)
    loads = names.loads(chosen)
    if loads.size > PARTED or int(loads.sum()) < WORTH:
        return None
    uses = sum([np.bincount(of, minlength=lives.count) * t.sectors.shape[1] for of, t in zip(lives.of, fresh.tables, strict=True)])
    crowded = uses.reshape(-1, lives.caches).sum(axis=0)
    every = np.argsort(crowded, kind="stable")[np.count_nonzero(crowded == 0) :]  # those that are used alike stand together
    portions = min(every.size // (2 * GROUPS), max(LEAST, int(loads.sum()) // PORTION))
    if portions < LEAST:
        return None
    begins = np.arange(0, every.size - portions + 1, portions)
    some = every[begins + (portions * (GOLDEN * np.arange(begins.size) % 1)).astype(np.int64)]  # one of each portion, in no rhythm
    group = np.full(lives.caches, -1)
    group[some] = np.arange(some.size) % GROUPS
    only = Some.of(np.tile(group, lives.count // lives.caches), GROUPS)
    order = Order(fresh, chosen, lives, lines, words=words, only=only, names=names)
    order.found()
    found, asked = order.by_group(only)
    if not (words or order.full) or sum([rows.size for _, rows, _ in order.quiet]) * QUIET > asked.sum():
        return None
    rate = found.sum(axis=0) / np.maximum(asked.sum(axis=0), 1)
    chance = np.sqrt(rate * (1 - rate) / np.maximum(asked, 1))
    apart = np.abs(found / np.maximum(asked, 1) - rate) > np.maximum(AGREE, APART * chance)
    unsure = np.sqrt(rate * (1 - rate) / np.maximum(asked.sum(axis=0), 1)) > UNSURE
    if (apart | unsure)[:, loads * RARE > loads.sum()].any():
        return None
    missed: list[int] = np.rint(np.bincount(names.codes, loads * (1 - rate), len(fresh.groups))).astype(np.int64).tolist()
    return missed


def _marks(fresh: Fresh, chosen: list[Used], lives: Lives, lines: int) -> Marks | None:
    """Who uses each sector of each cache first; None where that is too much to mark."""
    loaded = [s for s in fresh.stretches if s.done & LOADED]
    low, end = loaded[0].number, loaded[-1].number + loaded[-1].lines
    count = end - low << SECTOR_BITS
    there = np.zeros(lives.count, np.bool_)
    homes = {id(u.waiting.rows): u.waiting.rows.different for u in fresh.used}
    for of in lives.of if lives.count > lives.caches or lives.count == 1 else homes.values():
        there[of] = True
    size = count + (1 << SECTOR_BITS)  # a line more for lanes that take no part
    if int(there.sum()) * size > max(DENSE, SPREAD * sum([u.waiting.f.count for u in chosen])) or len(fresh.groups) > PARTED:
        return None
    first = (np.cumsum(there) - 1) * size
    marks = np.zeros(int(first[-1]) + size, np.uint8)

    def places_of(table: int, rows: Any) -> Index:
        sectors = fresh.tables[table].sectors[rows] - np.uint32(low << SECTOR_BITS)
        if fresh.tables[table].masked:
            np.minimum(sectors, np.uint32(count), out=sectors)
        found: Index = sectors + first.take(lives.of[table][rows])[:, None]
        return found

    def places(table: int, begin: int, end: int) -> Index:
        return places_of(table, slice(begin, end))

    chosen = [u for u in chosen if low <= u.stretch.number < end]
    fresh.mark(marks, once(chosen) if lives.count == lives.caches else chosen, places)
    every = marks.reshape(-1, size)[:, :count]
    marks.reshape(-1, size)[:, count:] = 0
    used = (marks.view(np.uint32) != 0).nonzero()[0]
    most = np.diff(used.searchsorted(np.arange(len(every) + 1) * (size >> SECTOR_BITS)))
    over = (most > lines).nonzero()[0]
    return Marks(every, low << SECTOR_BITS, marks, places, places_of, used, there.nonzero()[0], over, lives.count > lives.caches)
