"""Caches followed use by use: lines of 128 bytes with valid words, the least recently used evicted first.

The uses of a chapter are followed through one cache after another: each L1, then L2.  All of them have one table, with a word for each line of memory
in use: the time of its last use, its written sectors and its valid words.  Time goes on from cache to cache, so what another one has left there is older than
the oldest use that counts, and means that the line is not resident.  The log has the line that was used at each time: the oldest entry
that is still the last use of its line is the line to evict.
"""

from __future__ import annotations

from ...native.schedule.loops import Masks, Words, popcount, prefetch
from . import words as s


def enter(
    warp: Words, line: Words, words: Masks, count: int, start: int, numbers: Words, first: int, second: int, accesses: Words, at: int, begin: int,
    to_lines: Words, to_words: Masks, runs: Words, run: int,
) -> int:  # fmt: skip
    """Enters the uses of an access into a chapter, behind `begin` others, `start` lines further on; gives the place behind its runs, uses of one L1.

    `numbers`: of the L1 of each warp.
    """
    last = -1
    cache = -1
    sectors = 0
    i = 0
    while i < count:
        if warp[i] != last:
            last = warp[i]
            if numbers[last] != cache:
                cache = numbers[last]
                runs[run + s.NUMBER] = cache
                runs[run + s.WHICH] = at
                runs[run + s.BEGIN] = begin + i
                run += s.RUN
        i += 1
        runs[run - s.RUN + s.STOP] = begin + i
        to_lines[begin + i - 1] = line[i - 1] + start
        to_words[begin + i - 1] = words[i - 1]
        sectors += popcount(touched(words[i - 1]))
    accesses[at + s.END] = begin + count
    accesses[at + s.FIRST] = first
    accesses[at + s.SECOND] = second
    accesses[at + s.SECTORS] = sectors
    accesses[at + s.HITS] = 0
    accesses[at + s.L2_HITS] = 0
    return run


def find_places(line: Words, count: int, pages: Words, low: int, bases: Words, places: Masks) -> int:
    """Finds the places of lines in the table, page by page as they come, and gives how many pages there are.

    `pages`: the number of each from page `low` on; `bases`: the first line of each.
    """
    found = 0
    i = 0
    while i < count:
        page = (line[i] >> s.PAGE_BITS) - low
        if pages[page] < 0:
            pages[page] = found
            bases[found] = line[i] >> s.PAGE_BITS << s.PAGE_BITS
            found += 1
        places[i] = pages[page] << s.PAGE_BITS | line[i] & s.IN_PAGE
        i += 1
    return found


def follow(
    level: int, capacity: int, accesses: Words, runs: Words, order: Words, count: int, places: Masks, words: Masks, covered: Masks, partly: int,
    hits: Masks, table: Words, log: Masks, state: Words, bases: Words, keep: int, held: Words,
) -> int:  # fmt: skip
    """Follows runs of uses, in the order of caches and time, through L1s (level 0) or through L2 (level 1), which sees what L1 has missed.

    `covered`: the words that stores write in full, if they write some `partly`.  `hits`: the sectors that each use finds in L1.  `keep`: writes the resident
    lines of each cache to `held`, the least recently used first, and gives their number.
    """
    begin = state[s.TIME]
    time = begin
    written = 0
    left = 0
    r = 0
    while r < count:
        number = runs[order[r] * s.RUN + s.NUMBER]
        oldest = time
        holds = 0
        mine = 1
        while mine:
            run = order[r] * s.RUN
            access = runs[run + s.WHICH]
            kind = accesses[access + s.FIRST + level]
            sectorwise = level and accesses[access + s.FIRST] <= s.STREAM  # L1 asks L2 for whole sectors
            allocates = kind != s.DROP and kind != s.STREAM and kind != s.PATCH
            reads = kind == s.LOAD or kind == s.STREAM or kind == s.UPDATE
            marks_lines = kind != s.LOAD and kind != s.STREAM
            found = 0
            i = runs[run + s.BEGIN]
            stop = runs[run + s.STOP]
            while i < stop:
                if i + s.AHEAD < stop:
                    prefetch(table, places[i + s.AHEAD])
                wanted = words[i]
                full = wanted
                if kind == s.RESTORE:
                    full = covered[i]
                elif level:
                    missed = touched(wanted) & ~hits[i]
                    if sectorwise:
                        wanted = missed * s.SECTOR_WORDS
                    elif missed == 0:
                        wanted = 0
                    full = wanted
                elif partly:
                    full = covered[i]
                if wanted or kind == s.RESTORE:
                    place = places[i]
                    entry = table[place]
                    fresh = entry >> s.USED_AT < oldest  # as numbers, without branches: which uses find their line is hard to predict
                    if kind == s.DROP:
                        if fresh == 0:
                            table[place] = 0
                            holds -= 1
                    elif allocates or fresh == 0:
                        full_up = fresh & (holds == capacity)
                        if full_up:
                            while table[log[oldest - begin]] >> s.USED_AT != oldest:
                                oldest += 1
                            prefetch(table, log[oldest - begin + s.AHEAD])
                            oldest += 1
                        holds += fresh - full_up
                        entry = entry & (fresh - 1)
                        valid = entry & 0xFFFFFFFF
                        marks = (entry >> s.MARKS_AT & 15) * 0x204081 & s.FIRST_WORDS  # of 4 bits, each as the first one of a byte
                        sectors = touched(wanted)
                        if reads:
                            lack = wanted & ~valid
                            if (
                                level == 0 and lack & (touched(valid) | marks) * s.SECTOR_WORDS
                            ):  # a written sector lacks words: the line comes anew
                                valid = 0
                                marks = 0
                                lack = wanted
                            lack = touched(lack)
                            valid = valid | lack * s.SECTOR_WORDS
                            if level == 0:
                                hits[i] = sectors & ~lack
                            found += popcount(sectors & ~lack)
                        if kind == s.RESTORE:
                            valid = wanted
                            marks = full
                        elif marks_lines:
                            valid = valid | full
                            written += popcount(sectors & ~marks)
                            marks = marks | sectors
                        table[place] = time << s.USED_AT | (marks * 0x1020408 >> 24 & 15) << s.MARKS_AT | valid
                        log[time - begin] = place
                        time += 1
                i += 1
            accesses[access + s.HITS + level] += found
            r += 1
            mine = 0
            if r < count:
                mine = runs[order[r] * s.RUN + s.NUMBER] == number
        if keep:
            while oldest < time:
                place = log[oldest - begin]
                entry = table[place]
                if entry >> s.USED_AT == oldest:
                    held[left] = number
                    held[left + 1] = bases[place >> s.PAGE_BITS] + (place & s.IN_PAGE)
                    held[left + 2] = entry & 0xFFFFFFFF
                    held[left + 3] = (entry >> s.MARKS_AT & 15) * 0x204081 & s.FIRST_WORDS
                    left += s.LINE_HELD
                oldest += 1
    state[s.TIME] = time
    state[s.WRITTEN] += written
    return left // s.LINE_HELD


def touched(words: int) -> int:
    """The sectors that some words lie in, each as the bit of its first word."""
    t = words | words >> 4
    t = t | t >> 2
    t = t | t >> 1
    return t & s.FIRST_WORDS


FUNCTIONS = enter, find_places, follow, touched
