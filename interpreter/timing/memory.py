"""What an access takes of L1 and of what is behind it: servers with a time at which they are free, in sixteenths of a tick.

See multiprocessor.py for the language and the arrays.
"""

from __future__ import annotations

from ..native.schedule.loops import Words
from . import words as s


def greater(a: int, b: int) -> int:
    if a > b:
        return a
    return b


def less(a: int, b: int) -> int:
    if a < b:
        return a
    return b


def access(
    P: Words, code: Words, warps: Words, w: int, o: int, starts: Words, cursors: Words, records: Words, uses: Words, fresh: Words, sectors: Words,
    lines: Words, slices: Words, result: int,
) -> int:  # fmt: skip
    """When an access is done; what it takes of L1 and of what is behind it."""
    cell = w * P[s.SITES] + code[o + s.SITE]
    k = cursors[cell]
    token = warps[w * s.WARP + s.TOKEN]
    if k >= starts[cell + 1] or records[k * s.RECORD + s.R_TOKEN] != token:
        return result
    r = k * s.RECORD
    units = records[r + s.R_UNITS]
    cursors[cell] = k + 1
    other = k + 1
    while other < less(k + code[o + s.TAKES], starts[cell + 1]):  # the accesses that one instruction stands for
        if records[other * s.RECORD + s.R_TOKEN] == token:
            units = greater(units, records[other * s.RECORD + s.R_UNITS])
            cursors[cell] = other + 1
        other += 1
    if units == 0:
        return result
    P[s.L1_FREE] = greater(P[s.L1_FREE], P[s.NOW] * s.SIXTEENTHS) + units * P[s.LINE_COST]
    end = P[s.L1_FREE] // s.SIXTEENTHS
    kind = records[r + s.R_KIND]
    behind = 0
    if code[o + s.CLASS] == s.LONG:
        end = greater(end, P[s.FAR_FREE] // s.SIXTEENTHS)
    if kind == s.GLOBAL_LOAD or kind == s.GLOBAL_PAST:
        result = load(P, records, uses, fresh, sectors, lines, r, end, units)
        behind = P[s.L2_FREE]
    elif kind == s.TEXEL:
        filtering = code[o + s.LATENCY] - P[s.L1_LATENCY] + s.TEXEL_DEPTH * units * P[s.TICKS]
        result = filtering + load(P, records, uses, fresh, sectors, lines, r, end, units)
        behind = P[s.L2_FREE]
    elif kind == s.GLOBAL_STORE:
        behind = store(P, records, uses, sectors, lines, r, end, units)
    elif kind == s.GLOBAL_ATOMIC:
        most = update(P, records, uses, sectors, slices, r, end, units)
        result = most // s.SIXTEENTHS + P[s.ATOMIC_LATENCY]
        behind = most - s.DEEP * P[s.LG_QUEUE]
    elif kind == s.SHARED:
        result = end - 1 + code[o + s.LATENCY]
    elif kind == s.CONSTANT:
        result = end - 1 + s.CONSTANT_LATENCY
    else:
        result = end - 1 + P[s.L1_LATENCY]
    if kind == s.GLOBAL_STORE or (kind == s.GLOBAL_ATOMIC and code[o + s.WRITES] == code[o + s.END]):
        warps[w * s.WARP + s.STORED] = greater(warps[w * s.WARP + s.STORED], behind // s.SIXTEENTHS)
    P[s.FAR_FREE] = greater(P[s.FAR_FREE], behind - s.SIXTEENTHS * P[s.LG_QUEUE])
    return result


def keep(P: Words, lines: Words, line: int) -> int:
    """A line is used that L1 may have to take in."""
    at = line * s.LINE_SIZE
    if P[s.BORN] - lines[at + s.LINE_BORN] >= P[s.L1_LINES]:
        P[s.BORN] += 1
        lines[at + s.LINE_BORN] = P[s.BORN]
        lines[at + s.LINE_STAY] += 1
    return 0


def load(P: Words, records: Words, uses: Words, fresh: Words, sectors: Words, lines: Words, r: int, end: int, units: int) -> int:
    """When the sectors of a load of so many lines are there: those in L1, those under way, those that L2 or DRAM is asked for."""
    result = end + P[s.L1_LATENCY]
    fetched = 0
    i = records[r + s.R_FIRST]
    last = i + records[r + s.R_COUNT]
    past = records[r + s.R_KIND] == s.GLOBAL_PAST or records[r + s.R_KIND] == s.BULK
    while i < last:
        at = uses[i] * s.SECTOR
        line = sectors[at + s.LINE]
        if not past:
            keep(P, lines, line)
        stay = lines[line * s.LINE_SIZE + s.LINE_STAY]
        if past or sectors[at + s.FILL] == 0 or sectors[at + s.STAY] != stay:
            fetched += 1
            P[s.L2_FREE] = greater(P[s.L2_FREE], end * s.SIXTEENTHS) + P[s.L2_COST]
            sectors[at + s.FILL] = P[s.L2_FREE] // s.SIXTEENTHS + P[s.L2_LATENCY]
            if fresh[i]:
                fresh[i] = 0
                sectors[at + s.FILL] = greater(sectors[at + s.FILL], from_dram(P, end))
            sectors[at + s.STAY] = stay
        result = greater(result, sectors[at + s.FILL])
        i += 1
    P[s.L2_FREE] += less(units, fetched) * P[s.L2_LINE]
    return int(result)


def from_dram(P: Words, end: int) -> int:
    """When a sector comes from DRAM, which is slower the more it was asked for in the last cycles."""
    now = P[s.NOW]
    most = s.WINDOW * s.SIXTEENTHS
    load = P[s.LOAD]
    load = load - load * less(s.WINDOW, now - P[s.ASKED]) // s.WINDOW + P[s.DRAM_COST]
    P[s.ASKED] = now
    P[s.LOAD] = less(load, most * 9 // 10)
    P[s.DRAM_FREE] = greater(P[s.DRAM_FREE], end * s.SIXTEENTHS) + P[s.DRAM_COST]
    return int(P[s.DRAM_FREE] // s.SIXTEENTHS + P[s.DRAM_LATENCY] + P[s.DRAM_QUEUE] * P[s.LOAD] // (most - P[s.LOAD]))


def store(P: Words, records: Words, uses: Words, sectors: Words, lines: Words, r: int, end: int, units: int) -> int:
    """A store takes the port to L2; what it writes in full can be read from L1.  When the ports behind L1 are free."""
    n = records[r + s.R_COUNT]
    P[s.STORE_FREE] = greater(P[s.STORE_FREE], end * s.SIXTEENTHS) + greater(n * P[s.STORE_COST], units * P[s.STORE_LINE])
    P[s.DRAIN] = greater(P[s.DRAIN], P[s.STORE_FREE] // s.SIXTEENTHS + P[s.L2_LATENCY])
    i = records[r + s.R_FIRST]
    last = i + n * records[r + s.R_FULL]
    while i < last:
        at = uses[i] * s.SECTOR
        line = sectors[at + s.LINE]
        keep(P, lines, line)
        sectors[at + s.FILL] = end
        sectors[at + s.STAY] = lines[line * s.LINE_SIZE + s.LINE_STAY]
        i += 1
    if P[s.DRAM_STORE] == 0:
        return int(P[s.STORE_FREE])
    P[s.DRAM_FREE] = greater(P[s.DRAM_FREE], end * s.SIXTEENTHS) + n * P[s.DRAM_STORE]
    return greater(P[s.STORE_FREE], P[s.DRAM_FREE])


def update(P: Words, records: Words, uses: Words, sectors: Words, slices: Words, r: int, end: int, units: int) -> int:
    """An atomic operation takes the port to L2 and the slices that hold its words; when the last of them is done."""
    n = records[r + s.R_COUNT]
    P[s.STORE_FREE] = greater(P[s.STORE_FREE], end * s.SIXTEENTHS) + n * P[s.STORE_COST]
    most = P[s.STORE_FREE]
    cost = units * P[s.SLICE_COST]
    if units <= n:  # no lanes meet on a word
        cost = greater(P[s.SLICE_COST], n * P[s.SLICE_SECTOR])
    i = records[r + s.R_FIRST]
    last = i + n
    while i < last:
        at = sectors[uses[i] * s.SECTOR + s.SLICE]
        slices[at] = greater(slices[at], end * s.SIXTEENTHS) + cost // n
        most = greater(most, slices[at])
        i += 1
    P[s.DRAIN] = greater(P[s.DRAIN], most // s.SIXTEENTHS + P[s.L2_LATENCY] // 2)
    return int(most)


FUNCTIONS = (greater, less, access, keep, load, from_dram, store, update)
