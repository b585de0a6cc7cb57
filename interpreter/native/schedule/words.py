"""The words by which the scheduler, compiled passes and Python know each other: places in one array, and what stands there."""

from __future__ import annotations

from ...plan import spinning
from ...vector.waiting import deadlock

# The words of the context that passes read too.
STATUS, HOST, TABLE, ENTRIES, SHARED, SHARED_STRIDE, SHARED_SIZE, PARAMETERS, FRAMES, UNIFORMS, SITES = range(11)
BLOCK_OF, THREAD_OF, SPECIALS, FIRST_BLOCK, LOCAL, LOCAL_STRIDE, LOCAL_SIZE = range(11, 18)
# What does not change while a launch runs: places in S, and sizes.
ROWS, NODES_AT, READY_AT, BLOCKED_AT, SPINNING_AT, PICKED_AT, LISTS, ROOM, ALIVE, GONE, HERE, MASKS = range(18, 30)
ARRIVED, HOLDS, WANTED, REDUCES, UNMET, ROW_COUNT, EACH, BLOCK_LANES, FRAME, PER_WAVE, BLOCKS, CLEARED, STOPS, MORE, APART = range(30, 45)
# The state of the wave that runs.
UNDER_WAY, NEXT_BLOCK, WAVE_BLOCKS, LIVING, STEPS, TICK, FAILED, FREE, COUNTED = range(45, 54)
# The group that runs, as a node (see below): none if COUNT is 0.
RUNNING, PC, LIST, COUNT, LANES, TURN, PARENT = range(54, 61)
# Its next join; nodes in use, ever used, and the first unused one; how many nodes are on each list; what tells whether lanes get on.
STOP, USED, HIGH, UNUSED, READY, BLOCKED, SPINNING, PICKED, ANY_UNMET, EVENTS, SEEN, QUIET, LOOKS = range(61, 74)
# Of the region that runs: the vector to go on with, the most segments that one vector has executed, and how many one may execute.
REGION_AT, REGION_STEPS, REGION_BUDGET = range(74, 77)
PENDING = 77  # for each barrier of a block: may threads have arrived in some block that have not passed?
BARRIERS = 16
CLOCK_AT = PENDING + BARRIERS  # the address of the launch's clock, which passes read and set
WORDS = CLOCK_AT + 1

# What a row of the program is, and its words.
RUN, CALLOUT, JUMP, BRANCH, BRANCH_UNIFORM, BRANCH_MANY, EXIT, EXIT_SOME, BARRIER, WARP_SYNC, LEAVE, REGION = range(12)
KIND, A, B, JOIN, PREDICATE, NEGATED, FIRST, EXITS, TURNS, REDUCED, VALUE, RESULT = range(12)
GUARDED, GUARD, INVERTED, NUMBERED, NUMBER, WAITS, KEY, VALUED, PARTS = range(12, 21)
ROW = 21
NAMED = JOIN  # where a sync's membermask or a barrier's count is: in B, in a register of one value, in one of each lane
NAMED_BY_TEXT, NAMED_BY_ONE, NAMED_BY_LANES = range(
    3
)  # so is a barrier's NUMBER; by text is a GUARD, or a VALUE to reduce, that there is not
INSIDE = JOIN  # where the list of a region's rows is; its function is in A, 0 where it is not to be tried again, its exit in B
REGION_FAILED = -2  # what a region's function returns
BY_POPC, BY_AND, BY_OR = range(1, 4)  # how a barrier reduces predicates

# What the lanes of one way of a branch are collected in: where it leads, how many entries and lanes, the next way; the entries follow.
WAY_TO, WAY_COUNT, WAY_LANES, WAY_NEXT, WAY = range(5)

# Why waves() returns.
DONE, FAULT, ASKED, TURNED, STUCK, PAUSE, FULL, BEGUN, CALM, PARTED, SPINS = range(1, 12)

# A node: a group that does not run, or a join, with all lanes that meet there.
STATE, NODE_PC, NODE_LIST, NODE_COUNT, NODE_LANES, NODE_TURN, NODE_PARENT, CHILDREN, YIELDS, NODE_ROW, NODE_NUMBER, LEFT = range(12)
NODE = 12
IS_UNUSED, IS_READY, IS_JOIN, IS_AT_BARRIER, IS_AT_SYNC, IS_SPINNING = range(6)
NODES = 8192  # that there is room for
PASSED = 1 << 62  # marks an entry of a group at a barrier that its block has passed
NOWHERE = -2  # no place
END = -1  # the place behind the last instruction
PATIENT = spinning.PATIENT  # turns from which on a loop is an ordinary one
BEGINNING = deadlock.BEGINNING  # rounds of spinning without events, from which on groups turn but once a round
TURNS_OF_SPINNING = spinning.SPINNING
QUIET_ROUNDS = deadlock.CALM  # in which lanes only spin, before Python looks whether they get on
