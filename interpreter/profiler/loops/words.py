"""The numbers by which the loops and Python know each other: kinds of uses, and what stands where in the memory of a cache."""

from __future__ import annotations

from ..caches import DROP as DROP
from ..caches import LOAD as LOAD
from ..caches import PATCH as PATCH
from ..caches import STORE as STORE
from ..caches import STREAM as STREAM
from ..caches import UPDATE as UPDATE

WARP, SECTOR = 32, 32
LANE_BITS = 16  # for the number of a lane
FIRST_WORDS = 0x01010101  # the first word of each sector
SECTOR_WORDS = 0xFF  # times a sector's bit: all its words
AHEAD = 8  # uses, so that memory has time to answer

# The head of a cache: how many lines it may hold, and how many it holds; the table, its blocks of 1 << BLOCK_BITS places, its end, how many places were
# taken, and how many may be; the log, its oldest entry, where the next one goes, its end; room for rebuild() to copy lines to; and the generation,
# which changes when the cache is emptied.
LINES, HELD, TABLE, BLOCKS, TABLE_END, TAKEN, MOST, LOG, OLDEST, NEXT, LOG_END, ROOM, GENERATION = range(13)
HEAD = 16

# A place of the table has two words.  The first one is generation << GENERATION_AT | line; the place is free if the generation is not that of the cache.
# The second one is last use << USED_AT | sectors written << MARKS_AT | valid words, where the last use is an entry of the log; before the oldest one, the
# line is gone.
PLACE, BLOCK_BITS = 2, 4
GENERATION_AT, MARKS_AT, USED_AT = 36, 32, 36
HASH = 0x9E3779B1

# What one access found: sectors, those found in L1 and in L2, and, of all accesses, those that became dirty in L2.
SECTORS, HITS, L2_HITS, WRITTEN = range(4)
FOUND = 4

# What the warps of one access sum up to: sectors, the warp with the most, the first and the last line, lanes, warps with lanes, and the least sectors that
# their bytes need.
TOTAL, WORST, LOW, HIGH, LANES, REQUESTS, IDEAL = range(7)
SUMS = 7
