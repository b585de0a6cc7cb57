"""What the warps of one access touch: an entry for each warp and line, the lines of a warp in ascending order."""

from __future__ import annotations

from ...native.schedule.loops import Flags, Masks, Words, popcount, smaller
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
    low = s.LARGEST
    high = -1
    given = s.SUMS
    room = (lanes + s.VECTOR - 1) // s.VECTOR * s.VECTOR
    sectors = given + 2 * room
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
        ordered = order(found, given, n, room)
        last = -1
        now = 0
        count = 0
        i = 0
        while i < n:
            word = found[ordered + i] >> s.LANE_BITS
            if word >> 5 != last:
                if now:
                    words[end - 1] = now
                    count += popcount(touched(now))
                now = 0
                last = word >> 5
                found[line + end] = last
                found[warp + end] = w
                end += 1
            now |= bits << (word & 31)
            i += 1
        if now:
            words[end - 1] = now
            count += popcount(touched(now))
            first = found[ordered] >> s.LANE_BITS + 5
            if first < low:
                low = first
            if last > high:
                high = last
        found[sectors + w] = count
        if count > most:
            most = count
            found[s.WORST] = w
        found[s.TOTAL] += count
        found[s.LANES] += n
        found[s.REQUESTS] += n > 0
        found[s.IDEAL] += n * width + s.SECTOR - 1 >> 5
        w += 1
    if end:
        found[s.LOW] = low
    found[s.HIGH] = high
    return end


def words_of(where: Words, active: Flags, some: int, first: int, lanes: int, out: Words, at: int) -> int:
    """Writes the words of a warp's active lanes, each with a number of its own in its low bits."""
    n = 0
    lane = 0
    if some:
        while lane < lanes:
            out[at + n] = where[first + lane] >> 2 << s.LANE_BITS | n
            n += active[first + lane]
            lane += 1
        return n
    while lane < lanes:
        out[at + lane] = where[first + lane] >> 2 << s.LANE_BITS | lane
        lane += 1
    return lanes


def order(A: Words, at: int, n: int, room: int) -> int:
    """Sorts numbers, all different; gives the place of the result: where they do not ascend already, each goes where as many are smaller."""
    i = 1
    while i < n and A[at + i - 1] < A[at + i]:
        i += 1
    if i >= n:
        return at
    i = n
    while i < room:
        A[at + i] = s.LARGEST
        i += 1
    i = 0
    while i < n:
        x = A[at + i]
        place = at + room
        j = 0
        while j < n:
            place += smaller(A, at + j, x)
            j += s.VECTOR
        A[place] = x
        i += 1
    return at + room


def cover(
    where: Words, active: Flags, some: int, width: int, count: int, warp: Words, line: Words, ordered: Words, pieces: Masks, covered: Masks
) -> int:  # fmt: skip
    """Writes the words that the bytes or halfwords of each entry cover in full.

    `ordered`: room for the lines of a warp, which has no more than lanes; `pieces`: four zeros for each entry.
    """
    begin = 0
    while begin < count:
        w = warp[begin]
        end = begin
        i = 0
        while i < s.WARP:
            ordered[i] = s.LARGEST
            if end < count and warp[end] == w:
                ordered[i] = line[end]
                end += 1
            i += 1
        lane = 0
        while lane < s.WARP:
            if some == 0 or active[w * s.WARP + lane]:
                address = where[w * s.WARP + lane]
                i = begin + smaller(ordered, 0, address >> 7)
                pieces[4 * i + (address & 3)] |= 1 << (address >> 2 & 31)
            lane += 1
        while begin < end:
            covered[begin] = pieces[4 * begin] & pieces[4 * begin + width]
            if width == 1:
                covered[begin] &= pieces[4 * begin + 2] & pieces[4 * begin + 3]
            begin += 1
    return 0


FUNCTIONS = touch, words_of, order, cover
