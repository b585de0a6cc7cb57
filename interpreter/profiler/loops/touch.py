"""What the warps of one access touch: an entry for each warp and line, the lines of a warp in ascending order."""

from __future__ import annotations

from ...native.schedule.loops import Flags, Masks, Words, popcount
from . import words as s
from .caches import touched


def touch(where: Words, active: Flags, some: int, warps: int, lanes: int, width: int, found: Words, words: Masks) -> int:
    """Finds the entries, the sectors of each warp, and what they sum up to; gives the number of entries.

    `where`: the addresses of so many lanes a warp.  `some`: only the lanes in `active`.  `found`: the sums, room for a warp's words, then the sectors of
    each warp and the warp and the line of each entry, as touch.py of the profiler reads them; `words`: those of each entry.
    """
    i = 0
    while i < s.SUMS:
        found[i] = 0
        i += 1
    found[s.HIGH] = -1
    given = s.SUMS
    sectors = given + 2 * lanes
    warp = sectors + warps
    line = warp + warps * lanes
    each = 1
    if width > 4:
        each = width >> 2
    bits = (1 << each) - 1
    most = 0
    end = 0
    w = 0
    while w < warps:
        n = words_of(where, active, some, w * lanes, lanes, found, given)
        ordered = order(found, given, n)
        last = -1
        count = 0
        i = 0
        while i < n:
            word = found[ordered + i] >> s.LANE_BITS
            if word >> 5 != last:
                last = word >> 5
                if end == 0 or last < found[s.LOW]:
                    found[s.LOW] = last
                if last > found[s.HIGH]:
                    found[s.HIGH] = last
                found[line + end] = last
                found[warp + end] = w
                words[end] = 0
                end += 1
            before = words[end - 1]
            now = before | bits << (word & 31)
            words[end - 1] = now
            count += popcount(touched(now)) - popcount(touched(before))
            i += 1
        found[sectors + w] = count
        if count > most:
            most = count
            found[s.WORST] = w
        found[s.TOTAL] += count
        found[s.LANES] += n
        found[s.REQUESTS] += n > 0
        found[s.IDEAL] += n * width + s.SECTOR - 1 >> 5
        w += 1
    return end


def words_of(where: Words, active: Flags, some: int, first: int, lanes: int, out: Words, at: int) -> int:
    """Writes the words of a warp's active lanes, each with a number of its own in its low bits."""
    n = 0
    lane = 0
    while lane < lanes:
        out[at + n] = where[first + lane] >> 2 << s.LANE_BITS | n
        if some == 0 or active[first + lane]:
            n += 1
        lane += 1
    return n


def order(A: Words, at: int, n: int) -> int:
    """Sorts numbers, all different; gives the place of the result: where they do not ascend already, each goes where as many are smaller."""
    i = 1
    while i < n and A[at + i - 1] < A[at + i]:
        i += 1
    if i >= n:
        return at
    i = 0
    while i < n:
        x = A[at + i]
        smaller = 0
        j = 0
        while j < n:
            smaller += A[at + j] < x
            j += 1
        A[at + n + smaller] = x
        i += 1
    return at + n


def cover(
    where: Words, active: Flags, some: int, width: int, count: int, warp: Words, line: Words, pieces: Masks, covered: Masks
) -> int:  # fmt: skip
    """Writes the words that the bytes or halfwords of each entry cover in full; `pieces`: four zeros for each entry."""
    begin = 0
    while begin < count:
        w = warp[begin]
        end = begin
        while end < count and warp[end] == w:
            end += 1
        lane = 0
        while lane < s.WARP:
            if some == 0 or active[w * s.WARP + lane]:
                address = where[w * s.WARP + lane]
                i = begin
                while line[i] != address >> 7:
                    i += 1
                pieces[4 * i + (address & 3)] |= 1 << (address >> 2 & 31)
            lane += 1
        while begin < end:
            covered[begin] = pieces[4 * begin] & pieces[4 * begin + width]
            if width == 1:
                covered[begin] &= pieces[4 * begin + 2] & pieces[4 * begin + 3]
            begin += 1
    return 0


FUNCTIONS = touch, words_of, order, cover
