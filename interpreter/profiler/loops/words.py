"""The numbers by which the loops and Python know each other: kinds of uses, and what stands where in their arrays."""

from __future__ import annotations

from ...native.schedule.loops import VECTOR as VECTOR
from ...rules import contention
from ..caches import DROP as DROP
from ..caches import LOAD as LOAD
from ..caches import PATCH as PATCH
from ..caches import STORE as STORE
from ..caches import STREAM as STREAM
from ..caches import UPDATE as UPDATE

RESTORE, NOTHING = UPDATE + 1, UPDATE + 2  # brings a line in as it was held; leaves the cache alone

WARP, SECTOR = 32, 32
LANE_BITS = 16  # for the number of a lane
LARGEST = (1 << 63) - 1  # word with the number of its lane
FIRST_WORDS = 0x01010101  # the first word of each sector
SECTOR_WORDS = 0xFF  # times a sector's bit: all its words
AHEAD = 8  # uses, so that memory has time to answer

# An access: where its uses end, what it does to L1 and to L2; the sectors that it touches, and how many of them it finds in L1 and in L2.
END, FIRST, SECOND, SECTORS, HITS, L2_HITS = range(6)
ACCESS = 6

# A run, uses of an access of one cache: the cache's number, the place of the access, the first use, and the one behind the last.
NUMBER, WHICH, BEGIN, STOP = range(4)
RUN = 4

# A word of the table: last use << USED_AT | sectors written << MARKS_AT | valid words.  Lines of memory in use have words in pages.
PAGE_BITS = 8
IN_PAGE = (1 << PAGE_BITS) - 1
MARKS_AT, USED_AT = 32, 36

# What goes on from one level to the next: the time, and how many sectors became dirty.
TIME, WRITTEN = range(2)
STATE = 2

# A line that a cache holds: the cache's number, the line, its valid words, its written sectors.
LINE_HELD = 4

# What the warps of one access sum up to: sectors, the warp with the most, the first and the last line, lanes, warps with lanes, and the least sectors that
# their bytes need.
TOTAL, WORST, LOW, HIGH, LANES, REQUESTS, IDEAL = range(7)
SUMS = 7

# What is known of the lanes of an atomic operation, by number: the port that each asks for, its sector, the first lane with its line, and with its sector;
# which lanes are left; by port the lowest lane; by line its first lane; by sector whether it is held back, and whether it was served.
BANK, SLICE_LOW, SLICE_HIGH = contention.BANK, contention.LOW, contention.HIGH
PORT, ASKED, LINE_OF, SECTOR_OF, LEFT, RANK, HOLDS, SERVED, OWNER = range(0, 9 * WARP, WARP)
CONTENDING = OWNER + 4 * WARP

# What is known of lanes that take turns at banks: by bank the lowest lane so far, how many come before it, and the different words of it and the later ones;
# by lane the next one of its bank; by turn the most words of a bank.
HEAD, LANES_OF, WORDS_OF, LATER, MOST = range(0, 5 * WARP, WARP)
TAKING_TURNS = 5 * WARP
