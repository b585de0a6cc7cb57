"""The scheduler of one wave as plain loops over memory: it runs groups of lanes row by row, parts them and lets them reconverge.

It takes the numpy engine's order: of lanes that part the fewer run first, and a group runs until it reaches its join.  What it cannot decide it
leaves to Python: it returns a code and goes on when it is called again.  loops.py translates this file for the host.

Everything lies in one array of words, S: words by name, then the rows of the program, the stack, lists.  A list holds an entry for each vector of lanes,
in ascending order: its number in the wave and a mask, `vector << 32 | mask`.  The stack holds what waits: JOINs, with all the lanes that meet there, and
above each the PENDING groups below it that have not run yet.
"""

from __future__ import annotations

from .loops import Masks, Words, popcount

# The words of the context that passes read too.
STATUS, HOST, TABLE, ENTRIES, SHARED, SHARED_STRIDE, SHARED_SIZE, PARAMETERS, FRAMES, UNIFORMS, SITES = range(11)
BLOCK_OF, THREAD_OF, SPECIALS, FIRST_BLOCK, LOCAL, LOCAL_STRIDE, LOCAL_SIZE = range(11, 18)
# What does not change while a launch runs: places in S, and sizes.
ROWS, STACK, LISTS, ROOM, ALIVE, GONE, MASKS, EACH, BLOCK_LANES, FRAME, PER_WAVE, BLOCKS, CLEARED, STOPS = range(18, 32)
# The state of the wave that runs.
UNDER_WAY, NEXT_BLOCK, WAVE_BLOCKS, PC, LIST, COUNT, LANES, TURN, STOP, DEPTH, LIVING, STEPS, TICK, FAILED, FREE, COUNTED = range(32, 48)
WORDS = 48

# What a row of the program is, and its words.
RUN, CALLOUT, JUMP, BRANCH, BRANCH_ONE, EXIT, EXIT_SOME, GATHER, MEET, LEAVE = range(10)
KIND, A, B, JOIN, PREDICATE, NEGATED, FIRST, EXITS, TURNS = range(9)
ROW = 10

# Why run() returns.
DONE, FAULT, ASKED, TURNED, STUCK, PAUSE, FULL, BEGUN = range(1, 9)

# A node of the stack.
NODE_KIND, NODE_PC, NODE_LIST, NODE_COUNT, NODE_LANES, NODE_TURN = range(6)
NODE = 6
IS_JOIN, IS_PENDING = range(2)
NODES = 256  # that there is room for
NOWHERE = -2  # no place
END = -1  # the place behind the last instruction


def invoke(address: int, words: Words, at: int, count: int) -> int:
    """Compiled code; tests put their own function here."""
    raise NotImplementedError


def clear(address: int, size: int) -> int:
    """Zeros."""
    raise NotImplementedError


def waves(S: Words, F: Masks) -> int:
    """Runs the blocks whose tables are there, wave by wave; goes on with the wave that is under way."""
    while True:
        if S[UNDER_WAY] == 0:
            if S[NEXT_BLOCK] >= S[BLOCKS]:
                return DONE
            begin(S)
            if S[STOPS]:
                return BEGUN
        code = run(S, F)
        if code != DONE:
            return code
        S[UNDER_WAY] = 0


def begin(S: Words) -> int:
    """All lanes of the next wave stand before the first row."""
    first = S[NEXT_BLOCK]
    blocks = S[BLOCKS] - first
    if blocks > S[PER_WAVE]:
        blocks = S[PER_WAVE]
    S[FIRST_BLOCK] = first
    S[WAVE_BLOCKS] = blocks
    S[NEXT_BLOCK] = first + blocks
    S[UNDER_WAY] = 1
    each = S[EACH]
    n = blocks * each
    alive = S[ALIVE]
    at = S[LISTS]
    masks = S[MASKS]
    S[LIST] = at
    count = 0
    i = 0
    while i < n:
        j = 0
        while j < each:
            mask = S[masks + j]
            S[alive + i] = mask
            S[at + count] = i << 32 | mask
            count += mask != 0
            i += 1
            j += 1
    S[COUNT] = count
    S[LANES] = blocks * S[BLOCK_LANES]
    S[LIVING] = S[LANES]
    S[PC] = 0
    S[STOP] = NOWHERE
    S[DEPTH] = 0
    S[TURN] = 0
    if S[SHARED_SIZE]:
        clear(S[SHARED], blocks * S[SHARED_STRIDE])
    S[LOCAL_STRIDE] = S[LANES]
    if S[LOCAL_SIZE]:
        clear(S[LOCAL], S[LANES] * S[LOCAL_SIZE])
    if S[CLEARED]:
        clear(S[UNIFORMS], S[FRAMES] - S[UNIFORMS] + n * S[FRAME] * 4)
    return 0


def run(S: Words, F: Masks) -> int:
    """Runs until the wave is over or Python is needed."""
    while True:
        row = S[ROWS] + S[PC] * ROW
        kind = S[row]
        if kind == RUN:
            failed = invoke(S[row + A], S, S[LIST], S[COUNT])
            if failed >= 0:
                S[FAILED] = failed
                return FAULT
            S[PC] += 1
            continue
        if kind == CALLOUT:
            return ASKED
        if S[STEPS] >= S[TICK]:
            return PAUSE
        S[STEPS] += 1
        code = 0
        if kind == JUMP:
            code = go(S, S[row + A], row)
        elif kind == BRANCH:
            code = branch(S, F, row)
        elif kind == BRANCH_ONE:
            holds = F[S[row + PREDICATE]] & 1
            way = B
            if holds != S[row + NEGATED]:
                way = A
            code = go(S, S[row + way], row)
        elif kind == EXIT:
            end_lanes(S, S[LIST], S[COUNT])
            code = finish(S)
        elif kind == EXIT_SOME:
            code = exit_some(S, F, row)
        elif kind == GATHER:
            if S[LANES] != S[LIVING]:
                return STUCK
            code = go(S, S[row + A], row)
        elif kind == MEET:
            if S[LANES] != S[LIVING] and not whole_warps(S):
                return STUCK
            code = go(S, S[row + A], row)
        else:
            return STUCK
        if code:
            return code


# ---------------------------------------------------------------- going on


def go(S: Words, to: int, row: int) -> int:
    """The whole group goes to a place."""
    if S[row + EXITS] and below(S, row, to):
        if to == END:
            return STUCK
        n = S[COUNT]
        S[FREE] = S[LIST] + n
        if depart(S, S[LIST], n, S[LANES], row, to):
            return FULL
        return finish(S)
    if S[row + TURNS]:
        limit = limit_of(S, S[row + TURNS], to)
        if limit:
            S[TURN] += 1
            if S[TURN] >= limit:
                S[PC] = to
                if to == S[STOP]:
                    finish(S)
                return TURNED
    if to == S[STOP]:
        return finish(S)
    if to == END:
        end_lanes(S, S[LIST], S[COUNT])
        return finish(S)
    S[PC] = to
    return 0


def limit_of(S: Words, at: int, to: int) -> int:
    """How often a loop may turn to which a row leads back; 0 where it does not."""
    n = S[at]
    i = 0
    while i < n:
        if S[at + 1 + 2 * i] == to:
            return int(S[at + 2 + 2 * i])
        i += 1
    return 0


def finish(S: Words) -> int:
    """The group is over, since it has come to its join or has ended: the next one."""
    while S[DEPTH] > 0:
        S[DEPTH] -= 1
        node = S[STACK] + S[DEPTH] * NODE
        S[LIST] = S[node + NODE_LIST]
        S[COUNT] = S[node + NODE_COUNT]
        S[LANES] = S[node + NODE_LANES]
        S[TURN] = S[node + NODE_TURN]
        S[PC] = S[node + NODE_PC]
        if S[node] == IS_PENDING:
            return 0
        S[STOP] = stop_below(S)
        keep_living(S)
        if S[COUNT] and S[PC] != S[STOP] and S[PC] != END:
            return 0
        if S[PC] == END:
            end_lanes(S, S[LIST], S[COUNT])
    S[COUNT] = 0
    return DONE


def stop_below(S: Words) -> int:
    """The place of the nearest join on the stack."""
    i = S[DEPTH] - 1
    while i >= 0:
        node = S[STACK] + i * NODE
        if S[node] == IS_JOIN:
            return int(S[node + NODE_PC])
        i -= 1
    return NOWHERE


def keep_living(S: Words) -> int:
    """Drops the lanes of the group that have ended."""
    at = S[LIST]
    n = S[COUNT]
    kept = 0
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        mask = entry & S[S[ALIVE] + (entry >> 32)]
        if mask:
            S[at + kept] = (entry >> 32) << 32 | mask
            kept += 1
            lanes += popcount(mask)
        i += 1
    S[COUNT] = kept
    S[LANES] = lanes
    return 0


def end_lanes(S: Words, at: int, n: int) -> int:
    """Lanes have executed their last instruction."""
    alive = S[ALIVE]
    i = 0
    while i < n:
        entry = S[at + i]
        mask = entry & 0xFFFFFFFF
        S[alive + (entry >> 32)] &= ~mask
        S[LIVING] -= popcount(mask)
        i += 1
    return 0


# ---------------------------------------------------------------- parting


def room(S: Words, n: int) -> int:
    """Where n entries have room behind all lists in use; 0 if there is none."""
    at = behind(S, S[LIST] + S[COUNT])
    if at + n <= S[ROOM]:
        return at
    at = behind(S, S[LISTS])  # what lies between the stack's lists and the group's is in use no more
    i = 0
    while i < S[COUNT]:
        S[at + i] = S[S[LIST] + i]
        i += 1
    S[LIST] = at
    at += S[COUNT]
    if at + n <= S[ROOM]:
        return int(at)
    return 0


def behind(S: Words, highest: int) -> int:
    """The first word behind a place and behind all lists of the stack."""
    i = 0
    while i < S[DEPTH]:
        node = S[STACK] + i * NODE
        end = S[node + NODE_LIST] + S[node + NODE_COUNT]
        if end > highest:
            highest = end
        i += 1
    return highest


def holding(S: Words, F: Masks, row: int) -> int:
    """How many lanes of the group have the predicate of a row, negated or not."""
    at = S[LIST]
    n = S[COUNT]
    frame = S[FRAME]
    place = S[row + PREDICATE]
    flip = 0 - S[row + NEGATED]
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        lanes += popcount((F[(entry >> 32) * frame + place] ^ flip) & entry & 0xFFFFFFFF)
        i += 1
    return lanes


def branch(S: Words, F: Masks, row: int) -> int:
    """A branch on which lanes may disagree."""
    taken = holding(S, F, row)
    if taken == S[LANES]:
        return go(S, S[row + A], row)
    if taken == 0:
        return go(S, S[row + B], row)
    n = S[COUNT]
    yes = room(S, 2 * n)
    no = yes + n
    if yes == 0 or S[DEPTH] + 4 > NODES:
        return FULL
    S[FREE] = no + n
    at = S[LIST]
    frame = S[FRAME]
    place = S[row + PREDICATE]
    flip = 0 - S[row + NEGATED]
    yeses = 0
    nos = 0
    i = 0
    while i < n:
        entry = S[at + i]
        vector = entry >> 32
        mask = entry & 0xFFFFFFFF
        bits = (F[vector * frame + place] ^ flip) & mask
        S[yes + yeses] = vector << 32 | bits
        yeses += bits != 0
        bits = bits ^ mask
        S[no + nos] = vector << 32 | bits
        nos += bits != 0
        i += 1
    to = S[row + A]
    other = S[row + B]
    lanes = taken
    rest = S[LANES] - taken
    swap = rest <= lanes
    if S[row + FIRST] != NOWHERE:
        swap = S[row + FIRST] == other
    if swap:
        return part(S, row, no, nos, rest, other, yes, yeses, lanes, to)
    return part(S, row, yes, yeses, lanes, to, no, nos, rest, other)


def part(S: Words, row: int, list1: int, n1: int, lanes1: int, to1: int, list2: int, n2: int, lanes2: int, to2: int) -> int:
    """The lanes of the group part into two; the first run first."""
    join = S[row + JOIN]
    if S[row + EXITS]:
        if below(S, row, to1):
            if depart(S, list1, n1, lanes1, row, to1):
                return FULL
            return alone(S, list2, n2, lanes2, to2, row)
        if below(S, row, to2):
            if depart(S, list2, n2, lanes2, row, to2):
                return FULL
            return alone(S, list1, n1, lanes1, to1, row)
    if S[STOP] != join:
        push(S, S[DEPTH], IS_JOIN, join, S[LIST], S[COUNT], S[LANES], S[TURN])
        S[STOP] = join
    if to2 != join:
        push(S, S[DEPTH], IS_PENDING, to2, list2, n2, lanes2, 0)
    if to1 != join:
        push(S, S[DEPTH], IS_PENDING, to1, list1, n1, lanes1, 0)
    return finish(S)


def alone(S: Words, at: int, n: int, lanes: int, to: int, row: int) -> int:
    """A part of the group, of which the rest has departed, goes on in its place."""
    S[LIST] = at
    S[COUNT] = n
    S[LANES] = lanes
    if to == S[STOP]:
        return finish(S)
    S[PC] = to
    return 0


def push(S: Words, where: int, kind: int, pc: int, at: int, n: int, lanes: int, turn: int) -> int:
    """Puts a node on the stack, or below those from `where` on."""
    i = S[DEPTH]
    while i > where:
        node = S[STACK] + i * NODE
        w = 0
        while w < NODE:
            S[node + w] = S[node - NODE + w]
            w += 1
        i -= 1
    S[DEPTH] += 1
    node = S[STACK] + where * NODE
    S[node + NODE_KIND] = kind
    S[node + NODE_PC] = pc
    S[node + NODE_LIST] = at
    S[node + NODE_COUNT] = n
    S[node + NODE_LANES] = lanes
    S[node + NODE_TURN] = turn
    return 0


def exit_some(S: Words, F: Masks, row: int) -> int:
    """The lanes for which the predicate holds end, the others go on."""
    n = S[COUNT]
    ended = room(S, n)
    if ended == 0:
        return FULL
    at = S[LIST]
    frame = S[FRAME]
    flip = 0 - S[row + NEGATED]
    joined = 0
    kept = 0
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        vector = entry >> 32
        mask = entry & 0xFFFFFFFF
        bits = (F[vector * frame + S[row + PREDICATE]] ^ flip) & mask
        S[ended + i] = vector << 32 | bits
        joined += popcount(bits)
        bits = bits ^ mask
        S[at + kept] = vector << 32 | bits
        kept += bits != 0
        lanes += popcount(bits)
        i += 1
    if joined:
        end_lanes(S, ended, n)
    S[COUNT] = kept
    S[LANES] = lanes
    if kept == 0:
        return finish(S)
    return go(S, S[row + B], row)


# ---------------------------------------------------------------- out of loops in which others wait


def exit_of(S: Words, row: int, to: int) -> int:
    """The way out of loops that leads to a place: (to, join, how many places inside, these places); 0 where it is none."""
    at = S[row + EXITS]
    n = S[at]
    at += 1
    while n > 0:
        if S[at] == to:
            return int(at)
        at += 3 + S[at + 2]
        n -= 1
    return 0


def inside(S: Words, way: int, pc: int) -> int:
    """Does a place lie in the loops that a way leaves?"""
    i = 0
    while i < S[way + 2]:
        if S[way + 3 + i] == pc:
            return 1
        i += 1
    return 0


def below(S: Words, row: int, to: int) -> int:
    """Do others wait for the group in the loops that it leaves by going to a place?"""
    way = exit_of(S, row, to)
    if way == 0:
        return 0
    return inside(S, way, S[STOP])


def depart(S: Words, at: int, n: int, lanes: int, row: int, to: int) -> int:
    """Lanes leave the joins of the loops that they leave, for one behind these; True if there is no room."""
    way = exit_of(S, row, to)
    gone = S[GONE]
    i = 0
    while i < n:
        S[gone + (S[at + i] >> 32)] = S[at + i] & 0xFFFFFFFF
        i += 1
    lowest = S[DEPTH]
    outer = NOWHERE
    i = S[DEPTH] - 1
    while i >= 0:
        node = S[STACK] + i * NODE
        if S[node] == IS_JOIN:
            if not inside(S, way, S[node + NODE_PC]):
                outer = S[node + NODE_PC]
                break
            lowest = i
        i -= 1
    node = S[STACK] + lowest * NODE
    join = S[way + 1]
    if outer != join:
        count = S[node + NODE_COUNT]
        copy = behind(S, S[FREE])
        if copy + count > S[ROOM] or S[DEPTH] + 4 > NODES:
            return 1
        i = 0
        while i < count:
            S[copy + i] = S[S[node + NODE_LIST] + i]
            i += 1
        push(S, lowest, IS_JOIN, join, copy, count, S[node + NODE_LANES], S[node + NODE_TURN])
        lowest += 1
    i = lowest
    while i < S[DEPTH]:
        node = S[STACK] + i * NODE
        if S[node] == IS_JOIN:
            forget(S, node)
        i += 1
    if to != join:
        push(S, lowest, IS_PENDING, to, at, n, lanes, 0)
    i = 0
    while i < n:
        S[gone + (S[at + i] >> 32)] = 0
        i += 1
    return 0


def forget(S: Words, node: int) -> int:
    """A join no longer waits for the lanes that have gone."""
    at = S[node + NODE_LIST]
    n = S[node + NODE_COUNT]
    gone = S[GONE]
    kept = 0
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        mask = entry & 0xFFFFFFFF & ~S[gone + (entry >> 32)]
        S[at + kept] = (entry >> 32) << 32 | mask
        kept += mask != 0
        lanes += popcount(mask)
        i += 1
    S[node + NODE_COUNT] = kept
    S[node + NODE_LANES] = lanes
    return 0


# ---------------------------------------------------------------- meeting


def whole_warps(S: Words) -> int:
    """Does the group hold every living lane of each warp that it touches?"""
    at = S[LIST]
    n = S[COUNT]
    alive = S[ALIVE]
    i = 0
    while i < n:
        entry = S[at + i]
        if entry & 0xFFFFFFFF != S[alive + (entry >> 32)]:
            return 0
        i += 1
    return 1


FUNCTIONS = (
    waves, begin, run, go, limit_of, finish, stop_below, keep_living, end_lanes, room, behind, holding, branch, part, alone, push, exit_some,
    exit_of, inside, below, depart, forget, whole_warps,
)  # fmt: skip
