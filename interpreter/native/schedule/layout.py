"""What the scheduler, compiled passes and Python share: one array of words, which begins with the record of the wave that runs."""

from __future__ import annotations

from typing import Annotated

from ...plan import spinning
from ...vector.waiting import deadlock
from .loops import Masks
from .records import Array, Record, RecordTable, Root

# What a row of the program is.
(
    RUN,
    CALLOUT,
    JUMP,
    BRANCH,
    BRANCH_UNIFORM,
    BRANCH_MANY,
    EXIT,
    EXIT_SOME,
    EXIT_UNIFORM,
    BARRIER,
    WARP_SYNC,
    LEAVE,
    REGION,
    CLUSTER_ARRIVE,
    CLUSTER_WAIT,
) = range(15)
NAMED_BY_TEXT, NAMED_BY_ONE, NAMED_BY_LANES = range(3)  # where an operand is: in the row, in a register of one value, in one of each lane
BY_POPC, BY_AND, BY_OR = range(1, 4)  # how a barrier reduces predicates
REGION_FAILED = -2  # what a region's function returns
# Why waves() returns.
DONE, FAULT, ASKED, TURNED, STUCK, PAUSE, FULL, BEGUN, NO_PROGRESS, DIVERGED, SPINS = range(1, 12)
# What a group is.
IS_UNUSED, IS_READY, IS_JOIN, IS_AT_BARRIER, IS_AT_SYNC, IS_SPINNING = range(6)

NODES = 8192  # groups that there is room for
BARRIERS = 16
PASSED = 1 << 62  # marks an entry of a group at a barrier that its block has passed
NOWHERE = -2  # no place
END = -1  # the place behind the last instruction
SPIN_LIMIT = spinning.SPIN_LIMIT  # turns from which on a loop is an ordinary one
BEGINNING = deadlock.BEGINNING  # rounds of spinning without events, from which on groups turn but once a round
TURNS_OF_SPINNING = spinning.SPINNING
QUIET_ROUNDS = deadlock.NO_PROGRESS_ROUNDS  # in which lanes only spin, before Python looks whether they get on


class ExitRecord(Record):
    """A way out of loops: where it leads, where lanes that leave reconverge, and the places inside."""

    to: int
    join: int
    count: int
    inside: Array[int]


class LoopHead(Record):
    """A place to which a row leads back, and how often lanes may do so before others run."""

    to: int
    limit: int


class RowRecord(Record):
    """A row of the program."""

    kind: int
    code: int  # the address of a pass, or of a region; 0 where a region is not to be tried again
    to: int  # where a jump, a taken branch, and lanes that need not wait go on
    fall: int  # where the other lanes of a branch do, and what follows a region
    join: int
    predicate: int
    negated: int
    parted: int  # did the lanes of a branch disagree when a group was there last?
    first: int  # the way of a branch that runs first, or NOWHERE
    whole: int  # does EXIT end all lanes of the group, wherever it is?
    ways: Array[int]  # of a branch with many
    way_count: int
    exits: Array[ExitRecord]
    exit_count: int
    heads: RecordTable[LoopHead]
    head_count: int
    inside: Array[int]  # the places of a region
    inside_count: int
    most: int  # the segments that a stretch counts at most, which do not pass the next look at the limits
    guarded: int  # how the guard of a barrier or a sync is found; NAMED_BY_TEXT: there is none
    guard: int
    inverted: int
    named: int  # the same for a sync's membermask, or for how many threads a barrier waits
    operand: int
    constant: int  # the operand, if the text says it
    numbered: int  # a barrier's number
    number: int
    waits: int  # does a barrier not only count arrivals?
    reduced: int  # how a barrier reduces a predicate; 0: it does not
    valued: int
    value: int
    result: int
    key: int  # equal for syncs whose lanes may meet; greater than 0 if they exchange values then
    parts: int  # do lanes whose guard does not hold go on?


class GroupNode(Record):
    """Lanes at one place of the program; or a join: the lanes that reconverge there, with those that have not come yet."""

    state: int
    pc: int
    entries: Array[int]
    count: int  # of entries
    lanes: int
    turns: int
    parent: GroupNode  # the join where they meet others
    children: int  # of a join: groups and joins below it
    yields: int  # of a join: does it let others run first?
    row: RowRecord  # at which it waits
    number: int  # of the barrier at which it waits
    left: int  # entries whose block has not passed that barrier; of a join: see looks


class BranchWay(Record):
    """The lanes that go one way of a branch; the entries follow."""

    to: int
    count: int
    lanes: int
    next: BranchWay
    entries: Annotated[Array[int], 0]


class WaveRecord(Root):
    """The wave that runs; the first fields are those that passes read."""

    status: int
    host: int
    table: int
    entries: int
    shared_table: int
    shared_entries: int
    shared: int
    shared_stride: int
    shared_size: int
    parameters: int
    frames: int
    uniforms: int
    sites: int
    block_of: int
    thread_of: int
    specials: int
    first_block: int
    local: int
    local_stride: int
    local_size: int
    parameter_block: int  # the generic address of parameters, if an operation asks for it
    beside: int  # where updates are combined if other threads run blocks of the launch at the same time; 0: none do
    clock_at: int  # the address of the launch's clock
    epoch: int  # the clock's cycles when the launch began
    named: int  # the allocations that a space of their own is named for, and how many there are
    named_entries: int
    # Where something is to be proved (proving/):
    shared_part: int  # bytes from shared memory to its marks, and from there to the claims of its units; 0: nothing is to be proved
    interval: int  # how many waves have begun, and how many barriers they have passed
    claims: int  # of global memory: where they lie, from which address on, and how many bytes they have
    claims_from: int
    claims_size: int
    first_claim: int  # the threads in blocks before those whose tables are there
    # What does not change while a launch runs.
    rows: RecordTable[RowRecord]
    row_count: int
    nodes: RecordTable[GroupNode]
    lists: Array[int]  # where lists of entries begin
    room: Array[int]  # behind them
    lanes_of: Array[int]  # the mask of each vector of a block
    each: int  # vectors of a block
    block_lanes: int
    frame: int  # words of 32 bits of a vector's frame
    per_wave: int  # blocks
    blocks: int
    team: int  # where the number of the next block is that threads share, and a word that is set when they end; 0: it has all blocks alone
    cleared: int  # are frames?
    stops: int  # does a wave stop before its first row?
    more: int  # are there waves beside those of these blocks?
    apart: int  # may lanes that diverged pass each other?
    # Masks of lanes, one for each vector.
    alive: Array[int]
    gone: Array[int]  # a set of lanes, for a while
    here: Array[int]  # another one
    # Barriers: for each number and vector the lanes that have arrived, and for which a predicate holds; for each number and block how many it waits for.
    arrived: Array[int]
    holds: Array[int]
    wanted: Array[int]
    reduces: Array[int]  # for each number: how
    pending: Annotated[Array[int], 16]  # for each number: may lanes have arrived that have not passed?
    # Barriers of clusters.
    cluster_arrived: int  # have all living lanes ever arrived there?
    cluster_apart: int  # have some lanes arrived without the others?  Then numpy counts arrivals.
    # How far the wave is.
    under_way: int
    next_block: int
    wave_blocks: int
    living: int  # lanes
    steps: int  # segments executed
    tick: int  # steps at which it pauses
    counted: int  # steps of the launch before these
    failed: int  # the vector whose access failed
    # Of the region that runs: the vector to go on with, the most segments that one vector has executed, and how many one may execute.
    region_at: int
    region_steps: int
    region_budget: int
    # Groups.
    running: Annotated[GroupNode, GroupNode.SIZE]  # none if it has no entries
    stop: int  # the place of its parent
    free: Array[int]  # behind all lists
    used: int  # nodes
    high: int  # nodes that have ever been used
    unused: GroupNode  # the first of those that are not used any more, each the parent of the one before
    ready: Array[GroupNode]
    ready_count: int
    blocked: Array[GroupNode]
    blocked_count: int
    spinning: Array[GroupNode]
    spinning_count: int
    picked: Array[GroupNode]  # of which something is about to be done
    picked_count: int
    unmet: Array[int]  # for each place, from END on: has waiting there proved to be in vain?
    any_unmet: int
    events: int  # that show that lanes get on
    seen: int  # events at the last round of spinning
    quiet: int  # rounds of spinning without any
    looks: int  # how often joins have been looked through
    masks: Masks  # frames, and before them registers of one value


def sizes(rows: int, per_wave: int, each: int) -> dict[str, int]:
    """How many words the arrays behind the rows take, but for lists, with so many rows, blocks of a wave and vectors of a block."""
    n = per_wave * each
    groups = {"nodes": GroupNode.SIZE * NODES, "ready": NODES, "blocked": NODES, "spinning": NODES, "picked": 4 * NODES, "unmet": rows + 1}
    barriers = {"wanted": BARRIERS * per_wave, "reduces": BARRIERS, "arrived": BARRIERS * n, "holds": BARRIERS * n}
    return {**groups, **barriers, "alive": n, "gone": n, "here": n, "lanes_of": each}
