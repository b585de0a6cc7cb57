"""L2, asked by all accesses of a launch, or of a chapter of it: as long as it has room, who uses a sector first has it fetched."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .fresh import Codes, Fresh, Marks
from .fresh_l1 import Missed
from .fresh_own import Own
from .fresh_parts import Quiet
from .fresh_seen import Seen, inside, merged, numbers, sectors_of_numbers
from .fresh_tables import DROPPED, PART, SILENT, Used
from .lanes import repeated
from .scattered import Scattered
from .sectors import SECTOR_WORDS
from .uses import SECTOR_BITS, WORD_BITS, Way

Index = NDArray[np.int64]


def overflows(fresh: Fresh, lines: int, seen: Seen) -> bool:
    """Are more lines used than that, with those that were before?"""
    before = seen.lines
    if fresh.lines + before.size <= lines:
        return False
    used = fresh.firsts(fresh.used).view(np.uint32) != 0
    again = numbers(before << SECTOR_BITS, fresh.stretches) >> SECTOR_BITS
    used[again] = True
    return int(np.count_nonzero(used)) + before.size - again.size > lines


def contested(fresh: Fresh, seen: Seen) -> bool:
    """Does anybody read past L1 where parts of sectors were stored first?  Then it matters which parts, and one must follow the other."""
    if fresh.streamed_late:
        return True
    some = [u for u in fresh.used if u.stretch.done & DROPPED and u.stretch.done & PART]
    if not some:
        return False
    first = fresh.firsts([u for u in some if u.way is not Way.STORE or u.waiting.brings], by_turn=True)
    parted = fresh.firsts([u for u in some if u.parts], by_turn=True)
    parted[numbers(seen.parted, fresh.stretches)] = 1
    past = fresh.firsts([u for u in some if u.way in (Way.PASS, Way.ATOMIC)]) > 0
    return bool((past & (parted > 0) & (parted < first)).any())


def lost_in_l2(fresh: Fresh, missed: Missed, seen: Seen, *, last: bool) -> tuple[list[int], int]:
    """The sectors that a cache that all ask has to fetch for each code, and how many become dirty.

    `last`: nobody will want to know what the cache holds then; else that is what has been `seen`.
    """
    used = [u for u in fresh.used if u.turn >= seen.told]
    readers = [u for u in used if u.way is not Way.STORE or u.waiting.brings]
    writers = {u.turn: u for u in [*fresh.also, *(u for u in used if u.way in (Way.STORE, Way.ATOMIC))]}
    if (missed.marks or missed.own) and last and not seen.last and not any(u.parts for u in used):
        first = _by_marks(fresh, readers, missed.marks, missed.own)
    else:
        first = _readers(fresh, readers, missed.quiet, seen)
    written = first
    if writers.keys() != {u.turn for u in readers}:
        written = fresh.all_of([writers[turn] for turn in sorted(writers)])
    elif seen.read.size or seen.dirty.size:
        written = first.copy()
    for codes, known in ((first, seen.read), (written, seen.dirty)):
        if known.size:
            codes[numbers(known, fresh.stretches)] = 0
    if not last:
        new = (sectors_of_numbers(np.flatnonzero(codes), fresh.stretches) for codes in (first, written))
        seen.read, seen.dirty = (merged(x, y) for x, y in zip((seen.read, seen.dirty), new, strict=True))
        _remember_parts(fresh, seen)
    return fresh.counts(first), int(np.count_nonzero(written))


def _by_marks(fresh: Fresh, readers: list[Used], marks: Marks | None, own: Own | None) -> Codes:
    """The same as _readers, as far as those who ask first in some cache of L1 tell who asks first of all: where one code follows the other."""
    known = own.stretches if own is not None else frozenset()
    told = _told(readers, marks) if marks is not None else set()
    first = fresh.firsts([u for u in readers if u.stretch.number not in told and u.stretch.number not in known])
    for s in fresh.stretches:
        a, b = (line << SECTOR_BITS for line in (s.number, s.number + s.lines))
        if own is not None and s.number in known:
            first[a:b] = own.first[a:b]
        elif marks is not None and s.number in told:
            some_marks = marks.codes[:, a - marks.low : b - marks.low]
            first[a:b] = np.minimum.reduce(some_marks - np.uint8(1), axis=0) + np.uint8(1)  # no mark is the highest for a while
    return first


def _told(readers: list[Used], marks: Marks) -> set[int]:
    """The stretches whose marks tell."""
    codes: dict[int, list[int]] = {}
    for u in readers:
        codes.setdefault(u.stretch.number, []).append(u.code if u.way is Way.LOAD else 0)
    end = marks.low + marks.codes.shape[1]
    return {
        line
        for line, some in codes.items()
        if marks.low <= line << SECTOR_BITS < end and some[0] > 0 and some[-1] < SILENT and some == sorted(some)
    }


def _words(fresh: Fresh, seen: Seen) -> NDArray[np.uint8]:
    """Those that were stored before of each sector that was not read; the last stands for lanes that take no part."""
    words = np.zeros(fresh.nowhere + 1, np.uint8)
    words[numbers(seen.parted, fresh.stretches)] = seen.words.take(inside(seen.parted, fresh.stretches))
    return words


def _remember_parts(fresh: Fresh, seen: Seen) -> None:
    """Adds the words that were stored of sectors that nobody read."""
    parts = [u for u in fresh.used if u.turn >= seen.told and u.way is Way.STORE and not u.waiting.brings]
    flags = np.unpackbits(_words(fresh, seen), bitorder="little")  # of each word
    for u in parts:
        mask = u.waiting.f.touched_words if isinstance(u.waiting.f, Scattered) else SECTOR_WORDS
        first = fresh.tables[u.table].sectors[u.begin : u.end].astype(np.intp)
        first <<= WORD_BITS
        first += u.waiting.f.first_word
        for word in range(mask.bit_length()):
            flags[first + word if word else first] = 1
    words = np.packbits(flags, bitorder="little")
    number = np.flatnonzero(words[:-1])
    seen.store(sectors_of_numbers(number, fresh.stretches), words[number], inside(seen.parted, fresh.stretches))


def _readers(fresh: Fresh, readers: list[Used], quiet: Quiet, seen: Seen) -> Codes:
    """The code of who has to have each sector fetched."""
    silenced = [fresh.tables[table].sectors[row, lane] for table, row, lane in quiet.places]
    for table, row, lane in quiet.places:
        fresh.tables[table].sectors[row, lane] = fresh.nowhere
    parts = [u for u in fresh.used if u.turn >= seen.told and u.parts]
    first = fresh.firsts([u for u in readers if u.turn not in quiet.turns], by_turn=bool(parts), alike=not quiet.places)
    if parts:
        codes = np.zeros(fresh.used[-1].turn + 2, np.uint8)
        codes[[u.turn + 1 for u in readers]] = [u.code for u in readers]
        first = codes.take(first) * ~_covered(fresh, parts, first, _words(fresh, seen))
    for (table, row, lane), sectors in zip(quiet.places, silenced, strict=True):
        fresh.tables[table].sectors[row, lane] = sectors
    return first


def _covered(fresh: Fresh, parts: list[Used], turns: Index, words: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Of which sectors do these accesses store all words before anybody reads them?

    `turns`: when each is read first, from 1 on; 0: never.  `words`: those that were stored before.
    """
    until = np.append(turns, 0)  # the last stands for lanes that take no part
    tables = [fresh.tables[u.table].sectors[u.begin : u.end].ravel() for u in parts]
    sizes = [t.size for t in tables]
    sectors = np.concatenate(tables)
    early = (until.take(sectors) > repeated([u.turn + 1 for u in parts], sizes, until.dtype)).nonzero()[0]
    masks = [u.waiting.f.touched_words if isinstance(u.waiting.f, Scattered) else SECTOR_WORDS for u in parts]
    if early.size and not words.any():
        sector = sectors.take(early)
        often = np.bincount(sector, minlength=words.size).take(sector)
        early = early.compress(often * max([mask.bit_count() for mask in masks]) >= SECTOR_WORDS.bit_count())  # others too seldom
    cuts = early.searchsorted(np.cumsum([0, *sizes])).tolist()
    for u, mask, begin, a, b in zip(parts, masks, accumulate([0, *sizes]), cuts, cuts[1:], strict=False):
        if b > a:
            stored = np.asarray(mask << u.waiting.f.first_word).astype(np.uint8)
            every = np.broadcast_to(stored, (u.end - u.begin, fresh.tables[u.table].sectors.shape[1])).ravel()
            np.bitwise_or.at(words, sectors[early[a:b]], every[early[a:b] - begin])
    found: NDArray[np.bool_] = words[:-1] == SECTOR_WORDS
    return found
