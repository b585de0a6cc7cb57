"""The numbers by which the simulation and Python know each other: reasons to wait, kinds of accesses, and what stands where in memory."""

from __future__ import annotations

# Places of the reasons to wait.
SELECTED, WAIT, LONG, SHORT, BARRIER, BRANCH, MATH, MIO, FETCH, NOT_SELECTED, IMC, DRAINING, MEMBAR = range(13)
REASON_COUNT = 13
CAUSE_BITS = 4  # of a time that is kept with the reason to wait for it

# What an instruction does; COPY to AWAIT: groups of copies, or of a warpgroup's products; SYNC: mbarriers, and bulk copies that tell them of their end.
PLAIN, ACCESS, MEET, JUMP, LEAVE, COPY, MULTIPLY, COMMIT, AWAIT, SYNC = range(10)
# Kinds of accesses: GLOBAL_PAST is a load past L1, BULK a bulk copy; an arrival at an mbarrier, a wait for one of its phases; a fetch from a
# texture or surface.
GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC, SHARED, CONSTANT, LOCAL, GLOBAL_PAST, BULK, ARRIVES, AWAITS, TEXEL = range(11)
LSU_PIPE, PIPE_COUNT = 6, 10
SLICES, SLICE_BITS = 96, 4  # of L2; 512 bytes lie in one
SIXTEENTHS = 16
FAR = 1 << 58
CONSTANT_LATENCY, WINDOW, DEEP = 28, 1024, 48
TEXEL_DEPTH = 2  # cycles until the result of a fetch for each that it occupies the texture unit
TARGET = 2  # cycles for which a branch looks for its target

# Parameters of a simulation.
(SCHEDULERS, DUAL, RESIDENT, INTERVAL, START, CONSTANT_MISS, FETCH_MISS, FETCH_NEXT, BUCKET, MIO_QUEUE, LG_QUEUE, L1_LATENCY, L2_LATENCY, DRAM_LATENCY,
 ATOMIC_LATENCY, L1_LINES, LINE_COST, L2_COST, L2_LINE, STORE_COST, STORE_LINE, DRAM_COST, DRAM_STORE, SLICE_COST, DRAM_QUEUE, PREDICATE, BLOCKS, EACH,
 SITES, REGISTERS, BUCKETS, COLD, TICKS, LOGS, SLICE_SECTOR) = range(35)  # fmt: skip
# The state of a multiprocessor stands behind them: when L1, the ports to L2 and DRAM are free, in sixteenths; lines that L1 took in; the load of DRAM, and
# when it was asked last; when stores have drained; instructions issued; blocks that have started, when the last one did, places for more; the time;
# instructions in the log; the phase that has just ended, and one; when
# accesses to global memory may leave L1.
(L1_FREE, L2_FREE, STORE_FREE, DRAM_FREE, BORN, LOAD, ASKED, DRAIN, ISSUED, NEXT_BLOCK, STARTED, PLACES, NOW, LOGGED, OVER,
 FAR_FREE) = range(35, 51)  # fmt: skip
PARAMETERS = 51

# A machine instruction; TAKES: the accesses of its site that it stands for, or the groups that may be under way behind an AWAIT; GROUPED: where its warp
# keeps the groups to which it belongs.
# Lists of registers stand in an array of their own, from READS to WRITES those that it reads, from there to END those that it writes.
DO, PIPE, PORT, LATENCY, SLOTS, CLASS, SITE, TAKES, READS, WRITES, END, GROUPED = range(12)
INSTRUCTION = 12
# A warp: its token and its last one's end, the next instruction, when its last one was issued, when the next one may be, and what it waits for;
# when its stores have left L1, the barrier at which it is, the phase
# of an mbarrier that it waits for, and one.  Then the groups of its asynchronous copies, and those of its products.
TOKEN, TOKEN_END, OP, LAST, WHEN, WHY, STORED, MET, PHASE, COPIES = range(10)
# Groups: when what belongs to none yet is done, how many groups there are, and when each of the last ones is done.
PENDING, GROUPS, GROUP_DONE = range(3)
KEPT_GROUPS = 16
GROUPS_SIZE = GROUP_DONE + KEPT_GROUPS
PRODUCTS = COPIES + GROUPS_SIZE
WARP = PRODUCTS + GROUPS_SIZE
# A scheduler: when it is free, the warp that may issue once more, how many warps it has, the earliest time at which it may issue, then when its
# ports are free, and the warps that took them last.
FREE, PAIRED, SIZE, BEST, BEST_AT, PORTS = range(6)
OWNERS = PORTS + PIPE_COUNT
SCHEDULER = OWNERS + PIPE_COUNT
# A block: warps at the barrier, warps that have not ended, when it was done.
ARRIVED, LIVE, DONE = range(3)
BLOCK = 3
# A region of code: its first instruction, and when it was fetched; one stands behind the last.
FIRST_OP, FETCHED = range(2)
REGION = 2
# One access of a warp: its token, kind, passes, first sector, how many, whether a store writes them in full, and
# the phase of an mbarrier.
R_TOKEN, R_KIND, R_UNITS, R_FIRST, R_COUNT, R_FULL, R_PHASE = range(7)
RECORD = 7
# A sector: when it is in L1, its line's stay there, its line, its slice of L2.
FILL, STAY, LINE, SLICE = range(4)
SECTOR = 4
# An entry of the log: the time, the scheduler, the warp, the instruction.
LOG = 4
# A phase of an mbarrier: arrivals and copies that have not come, and when the last one was there.
LEFT, OVER_AT = range(2)
PHASE_SIZE = 2
# A line: when L1 took it in, and how often.
LINE_BORN, LINE_STAY = range(2)
LINE_SIZE = 2
