"""Caches followed use by use: lines of 128 bytes with valid words, the least recently used evicted first.

The memory of caches is one array C; a cache is a head, a table that finds a line, and a log of uses, whose entries are places of the table.  A place
knows the entry of its last use; older entries of it mean nothing.  So the oldest entry that means something is the line to evict.
"""

from __future__ import annotations

from ...native.schedule.loops import Masks, Words, popcount, prefetch
from . import words as s


def follow(
    C1: Words, C2: Words, found: Words, size: int, caches: int, numbers: Words, warp: Words, line: Words, words: Masks, covered: Masks, partly: int,
    hits: Masks, start: int, count: int, first: int, second: int,
) -> int:  # fmt: skip
    """The uses of one access, in L1 each in its warp's cache (of `size` words; 0: there is no L1), and what misses, in L2.

    The number of a cache, less a multiple of `caches`, is its place; the multiple is its generation.  `covered`: the words that stores write in full,
    if they write some `partly`.
    """
    sectors_all = 0
    hits_all = 0
    l2_all = 0
    last = -1
    cache = 0
    missed = 1
    i = 0
    while i < count:
        if i + s.AHEAD < count:
            at = line[i + s.AHEAD] + start
            if size:
                prefetch(C1, home(C1, cache, at))  # in most cases of the same cache
            if missed:  # as the use before: so will many after it
                prefetch(C2, home(C2, 0, at))
        at = line[i] + start
        wanted = words[i]
        sectors = touched(wanted)
        hit = 0
        if size:
            number = numbers[warp[i]]
            if number != last:
                last = number
                generation = number // caches
                cache = (number - generation * caches) * size
                if C1[cache + s.GENERATION] != generation:
                    empty(C1, cache, generation)
            full = wanted
            if partly:
                full = covered[i]
            hit = use(C1, cache, at, wanted, full, first, 1, found)
        hits[i] = hit
        missed = sectors & ~hit
        if missed:
            if first <= s.STREAM:  # L1 asks for whole sectors
                wanted = missed * s.SECTOR_WORDS
            l2_all += popcount(use(C2, 0, at, wanted, wanted, second, 0, found))
        sectors_all += popcount(sectors)
        hits_all += popcount(hit)
        i += 1
    found[s.SECTORS] = sectors_all
    found[s.HITS] = hits_all
    found[s.L2_HITS] = l2_all
    return 0


def use(C: Words, cache: int, line: int, words: int, covered: int, kind: int, clash: int, found: Words) -> int:
    """One use of a line: the sectors that it finds.  `clash`: see find() of ..caches; a cache without it is L2, where sectors written are counted."""
    if C[cache + s.NEXT] == C[cache + s.LOG_END] or C[cache + s.TAKEN] == C[cache + s.MOST]:
        rebuild(C, cache)
    tag = C[cache + s.GENERATION] << s.GENERATION_AT | line
    place = search(C, cache, tag)
    state = C[place + 1]
    used = state >> s.USED_AT
    if C[place] != tag or used < C[cache + s.OLDEST]:
        if kind == s.DROP or kind == s.STREAM or kind == s.PATCH:
            return 0
        take(C, cache, place, tag)
        used = noted(C, cache, place)
        state = 0
    elif kind == s.DROP:
        C[place + 1] = 0
        C[cache + s.HELD] -= 1
        return 0
    elif used != C[cache + s.NEXT] - 1:
        used = noted(C, cache, place)
    valid = state & 0xFFFFFFFF
    marks = (state >> s.MARKS_AT & 15) * 0x204081 & s.FIRST_WORDS  # of 4 bits, each as the first one of a byte
    sectors = touched(words)
    hit = 0
    if kind != s.STORE and kind != s.PATCH:
        lack = words & ~valid
        hit = sectors
        if lack:
            if clash and lack & (touched(valid) | marks) * s.SECTOR_WORDS:
                valid = 0
                marks = 0
                lack = words
            lost = touched(lack)
            hit = sectors & ~lost
            valid = valid | lost * s.SECTOR_WORDS
    if kind != s.LOAD and kind != s.STREAM:
        valid = valid | covered
        if clash == 0:
            found[s.WRITTEN] += popcount(sectors & ~marks)
        marks = marks | sectors
    C[place + 1] = used << s.USED_AT | (marks * 0x1020408 >> 24 & 15) << s.MARKS_AT | valid
    return hit


def touched(words: int) -> int:
    """The sectors that some words lie in, each as the bit of its first word."""
    t = words | words >> 4
    t = t | t >> 2
    t = t | t >> 1
    return t & s.FIRST_WORDS


def home(C: Words, cache: int, tag: int) -> int:
    """The place where a line would like to stand: a block holds neighbours, so that they lie in one line of the host's cache."""
    line = tag & (1 << s.GENERATION_AT) - 1
    number = line >> s.BLOCK_BITS
    block = ((number ^ number >> 16) * s.HASH & 0xFFFFFFFF) * C[cache + s.BLOCKS] >> 32
    return int(C[cache + s.TABLE] + s.PLACE * (block << s.BLOCK_BITS | (line ^ number) & (1 << s.BLOCK_BITS) - 1))


def search(C: Words, cache: int, tag: int) -> int:
    """The place of a line, or one where it may stand."""
    place = home(C, cache, tag)
    gone = 0
    while C[place] != tag:
        if C[place] >> s.GENERATION_AT != tag >> s.GENERATION_AT:
            if gone:
                return gone
            return place
        if gone == 0 and C[place + 1] >> s.USED_AT < C[cache + s.OLDEST]:
            gone = place
        place += s.PLACE
        if place == C[cache + s.TABLE_END]:
            place = C[cache + s.TABLE]
    return place


def take(C: Words, cache: int, place: int, tag: int) -> int:
    """A line gets a place, if need be for the least recently used one."""
    if C[cache + s.HELD] == C[cache + s.LINES]:
        entry = C[cache + s.OLDEST]
        while C[C[entry] + 1] >> s.USED_AT != entry:
            entry += 1
        prefetch(C, C[entry + s.AHEAD])
        C[cache + s.OLDEST] = entry + 1
    else:
        C[cache + s.HELD] += 1
    C[cache + s.TAKEN] += C[place] >> s.GENERATION_AT != tag >> s.GENERATION_AT
    C[place] = tag
    return 0


def noted(C: Words, cache: int, place: int) -> int:
    """A place is the one used last: the entry of the log that says so."""
    entry = C[cache + s.NEXT]
    C[entry] = place
    C[cache + s.NEXT] = entry + 1
    return int(entry)


def rebuild(C: Words, cache: int) -> int:
    """The table and the log hold what the cache holds, and nothing else."""
    room = C[cache + s.ROOM]
    entry = C[cache + s.OLDEST]
    while entry < C[cache + s.NEXT]:
        prefetch(C, C[entry + s.AHEAD])
        place = C[entry]
        if C[place + 1] >> s.USED_AT == entry:
            C[room] = C[place]
            C[room + 1] = C[place + 1]
            room += s.PLACE
        entry += 1
    place = C[cache + s.TABLE]
    while place < C[cache + s.TABLE_END]:
        C[place] = -1
        place += s.PLACE
    entry = C[cache + s.LOG]
    C[cache + s.OLDEST] = entry
    line = C[cache + s.ROOM]
    while line < room:
        place = search(C, cache, C[line])
        C[place] = C[line]
        C[place + 1] = entry << s.USED_AT | C[line + 1] & (1 << s.USED_AT) - 1
        C[entry] = place
        entry += 1
        line += s.PLACE
    C[cache + s.NEXT] = entry
    C[cache + s.TAKEN] = entry - C[cache + s.LOG]
    return 0


def empty(C: Words, cache: int, generation: int) -> int:
    """A cache holds no line of an earlier generation."""
    C[cache + s.GENERATION] = generation
    C[cache + s.HELD] = 0
    C[cache + s.TAKEN] = 0
    C[cache + s.OLDEST] = C[cache + s.LOG]
    C[cache + s.NEXT] = C[cache + s.LOG]
    return 0


FUNCTIONS = follow, use, touched, home, search, take, noted, rebuild, empty
