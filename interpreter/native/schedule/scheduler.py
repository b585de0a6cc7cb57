"""The scheduler of one wave as plain loops over memory: it runs groups of lanes row by row, lets them diverge, wait and reconverge.

It takes the numpy engine's order (vector/): of lanes that diverge the fewer run first, and a group runs until it parts, waits or comes to its join; then the
group that became ready last runs.  What it cannot decide it leaves to Python: it returns a code and goes on when it is called again.  loops.py translates
these functions for the host.

Everything lies in one array of words, S: words by name, then the rows of the program, nodes, masks of lanes, lists.  A list holds an entry for each vector
of lanes, in ascending order: its number in the wave and a mask, `vector << 32 | mask`.  Lanes of the group that runs are a list, too; for all other
groups there are nodes (nodes.py).
"""

from __future__ import annotations

from . import barriers, convergence, divergence, exits, guards, nodes, passing, reductions, regions, releasing, tables, uniting, waiting
from . import words as s
from .barriers import barrier
from .convergence import go, leave
from .divergence import branch, exit_some, follow
from .loops import Masks, Words
from .nodes import pop, spare
from .regions import enter, is_open
from .releasing import wake
from .tables import table
from .waiting import free_one, sync


def invoke(address: int, words: Words, at: int, count: int) -> int:
    """Compiled code; tests put their own function here."""
    raise NotImplementedError


def clear(address: int, size: int) -> int:
    """Zeros."""
    raise NotImplementedError


def waves(S: Words, F: Masks) -> int:
    """Runs the blocks whose tables are there, wave by wave; goes on with the wave that is under way."""
    while True:
        if S[s.UNDER_WAY] == 0:
            if S[s.NEXT_BLOCK] >= S[s.BLOCKS]:
                return s.DONE
            begin(S)
            if S[s.STOPS]:
                return s.BEGUN
        code = run(S, F)
        if code != s.DONE:
            return code
        S[s.UNDER_WAY] = 0


def begin(S: Words) -> int:
    """All lanes of the next wave stand before the first row."""
    first = S[s.NEXT_BLOCK]
    blocks = S[s.BLOCKS] - first
    if blocks > S[s.PER_WAVE]:
        blocks = S[s.PER_WAVE]
    S[s.FIRST_BLOCK] = first
    S[s.WAVE_BLOCKS] = blocks
    S[s.NEXT_BLOCK] = first + blocks
    S[s.UNDER_WAY] = 1
    each = S[s.EACH]
    n = blocks * each
    alive = S[s.ALIVE]
    at = S[s.LISTS]
    masks = S[s.MASKS]
    S[s.LIST] = at
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
    S[s.COUNT] = count
    S[s.LANES] = blocks * S[s.BLOCK_LANES]
    S[s.LIVING] = S[s.LANES]
    S[s.PC] = 0
    S[s.FREE] = at + count
    forget_waiting(S)
    if S[s.SHARED_SIZE]:
        clear(S[s.SHARED], blocks * S[s.SHARED_STRIDE])
    S[s.LOCAL_STRIDE] = S[s.LANES]
    if S[s.LOCAL_SIZE]:
        clear(S[s.LOCAL], S[s.LANES] * S[s.LOCAL_SIZE])
    if S[s.CLEARED]:
        clear(S[s.UNIFORMS], S[s.FRAMES] - S[s.UNIFORMS] + n * S[s.FRAME] * 4)
    return 0


def forget_waiting(S: Words) -> int:
    """All lanes of the wave are in the group that runs."""
    S[s.STOP] = s.NOWHERE
    S[s.TURN] = 0
    S[s.PARENT] = 0
    S[s.USED] = 0
    S[s.HIGH] = 0
    S[s.UNUSED] = 0
    S[s.READY] = 0
    S[s.BLOCKED] = 0
    S[s.SPINNING] = 0
    S[s.PICKED] = 0
    S[s.QUIET] = 0
    number = 0
    while number < s.BARRIERS:
        if S[s.PENDING + number]:
            S[s.PENDING + number] = 0
            n = S[s.PER_WAVE] * S[s.EACH]
            i = 0
            while i < n:
                S[S[s.ARRIVED] + number * n + i] = 0
                i += 1
        number += 1
    i = 0
    while S[s.ANY_UNMET] and i <= S[s.ROW_COUNT]:
        S[S[s.UNMET] + i] = 0
        i += 1
    S[s.ANY_UNMET] = 0
    return 0


def run(S: Words, F: Masks) -> int:
    """Runs until the wave is over or Python is needed."""
    while True:
        if S[s.COUNT] == 0:
            if S[s.READY]:
                pop(S)
            elif S[s.BLOCKED] or S[s.SPINNING]:
                code = free(S, F)
                if code:
                    return code
                continue
            else:
                return s.DONE
        row = S[s.ROWS] + S[s.PC] * s.ROW
        kind = S[row]
        if kind == s.RUN:
            failed = invoke(S[row + s.A], S, S[s.LIST], S[s.COUNT])
            if failed >= 0:
                S[s.FAILED] = failed
                return s.FAULT
            S[s.PC] += 1
            continue
        if kind == s.CALLOUT:
            return s.ASKED
        if kind == s.REGION:
            if is_open(S, row) == 0:
                S[s.PC] += 1
                continue
            found = invoke(S[row + s.A], S, S[s.LIST], S[s.COUNT])
            code = enter(S, row, found)
            if code:
                return code
            if found != s.REGION_FAILED:
                go(S, F, S[row + s.B])
            continue
        if S[s.STEPS] >= S[s.TICK]:
            return s.PAUSE
        S[s.STEPS] += 1
        code = end(S, F, row, kind)
        if code:
            if code == s.FULL:
                S[s.STEPS] -= 1
            return code


def end(S: Words, F: Masks, row: int, kind: int) -> int:
    """What a row does that is no code."""
    if kind == s.JUMP:
        return follow(S, F, S[row + s.A], row)
    if kind == s.BRANCH:
        return branch(S, F, row)
    if kind == s.BRANCH_UNIFORM:
        way = s.B
        if F[S[row + s.PREDICATE]] & 1 != S[row + s.NEGATED]:
            way = s.A
        return follow(S, F, S[row + way], row)
    if kind == s.BRANCH_MANY:
        return table(S, F, row)
    if kind == s.EXIT:
        if S[row + s.A]:
            return leave(S, F)
        return go(S, F, s.END)
    if kind == s.EXIT_SOME:
        return exit_some(S, F, row)
    if kind == s.BARRIER:
        return barrier(S, F, row)
    if kind == s.WARP_SYNC:
        return sync(S, F, row)
    return s.STUCK


def free(S: Words, F: Masks) -> int:
    """No group can run: finds some that may after all."""
    entries = 0
    i = 0
    while i < S[s.HIGH]:
        node = S[s.NODES_AT] + i * s.NODE
        if S[node + s.STATE] != s.IS_UNUSED:
            entries += S[node + s.NODE_COUNT]
        i += 1
    if spare(S, S[s.USED], entries) == 0:
        return s.FULL
    code = free_one(S, F)
    if code != 1:
        if code:
            return code - 1
        return 0
    if S[s.SPINNING]:
        return wake(S, F)
    return s.STUCK


FUNCTIONS = (
    waves, begin, forget_waiting, run, end, free, *barriers.FUNCTIONS, *convergence.FUNCTIONS, *divergence.FUNCTIONS, *exits.FUNCTIONS, *guards.FUNCTIONS,
    *nodes.FUNCTIONS, *passing.FUNCTIONS, *reductions.FUNCTIONS, *regions.FUNCTIONS, *releasing.FUNCTIONS,
    *tables.FUNCTIONS, *uniting.FUNCTIONS, *waiting.FUNCTIONS,
)  # fmt: skip
