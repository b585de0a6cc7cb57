"""The words by which the scheduler, compiled passes and Python know each other: places in one array, and what stands there."""

from __future__ import annotations

# The words of the context that passes read too.
STATUS, HOST, TABLE, ENTRIES, SHARED, SHARED_STRIDE, SHARED_SIZE, PARAMETERS, FRAMES, UNIFORMS, SITES = range(11)
BLOCK_OF, THREAD_OF, SPECIALS, FIRST_BLOCK, LOCAL, LOCAL_STRIDE, LOCAL_SIZE = range(11, 18)
# What does not change while a launch runs: places in S, and sizes.
ROWS, STACK, LISTS, ROOM, ALIVE, GONE, MASKS, EACH, BLOCK_LANES, FRAME, PER_WAVE, BLOCKS, CLEARED, STOPS = range(18, 32)
# The state of the wave that runs.
UNDER_WAY, NEXT_BLOCK, WAVE_BLOCKS, PC, LIST, COUNT, LANES, TURN, STOP, DEPTH, LIVING, STEPS, TICK, FAILED, FREE, COUNTED = range(32, 48)
# Of the region that runs: the vector to go on with, the most segments that one vector has executed, and how many one may execute.
REGION_AT, REGION_STEPS, REGION_BUDGET = range(48, 51)
WORDS = 51

# What a row of the program is, and its words.
RUN, CALLOUT, JUMP, BRANCH, BRANCH_UNIFORM, BRANCH_MANY, EXIT, EXIT_SOME, BARRIER, WARP_SYNC, LEAVE, REGION = range(12)
KIND, A, B, JOIN, PREDICATE, NEGATED, FIRST, EXITS, TURNS, REDUCED, VALUE, RESULT = range(12)
NAMED = JOIN  # where a sync's membermask or a barrier's count is: in B, in a register of one value, in one of each lane
NAMED_BY_TEXT, NAMED_BY_ONE, NAMED_BY_LANES = range(3)
GUARDED, GUARD = REDUCED, VALUE  # a sync that only some lanes execute: NAMED_BY_ONE or NAMED_BY_LANES, and the place of the predicate
INSIDE = JOIN  # where the list of a region's rows is; its function is in A, 0 where it is not to be tried again, its exit in B
REGION_FAILED = -2  # what a region's function returns
BY_POPC, BY_AND, BY_OR = range(1, 4)  # how a barrier reduces predicates
ROW = 12

# What the lanes of one way of a table are collected in: where it leads, how many entries and lanes; the entries follow.
WAY_TO, WAY_COUNT, WAY_LANES, WAY = range(4)

# Why run() returns.
DONE, FAULT, ASKED, TURNED, STUCK, PAUSE, FULL, BEGUN = range(1, 9)

# A node of the stack.
NODE_KIND, NODE_PC, NODE_LIST, NODE_COUNT, NODE_LANES, NODE_TURN = range(6)
NODE = 6
IS_JOIN, IS_PENDING = range(2)
NODES = 2048  # that there is room for
NOWHERE = -2  # no place
END = -1  # the place behind the last instruction
