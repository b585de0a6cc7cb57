"""The scheduler of one wave as plain loops over memory: it runs groups of lanes row by row, lets them diverge and reconverge.

It takes the numpy engine's order: of lanes that diverge the fewer run first, and a group runs until it reaches its join.  What it cannot decide it
leaves to Python: it returns a code and goes on when it is called again.  loops.py translates these functions for the host.

Everything lies in one array of words, S: words by name, then the rows of the program, the stack, lists.  A list holds an entry for each vector of lanes,
in ascending order: its number in the wave and a mask, `vector << 32 | mask`.  The stack holds what waits: JOINs, with all the lanes that reconverge there, and
above each the PENDING groups below it that have not run yet.
"""

from __future__ import annotations

from . import barriers, divergence, exits, regions, stack, tables
from . import words as s
from .barriers import missing, passed
from .divergence import branch, exit_some, go
from .loops import Masks, Words
from .regions import enter, is_open
from .stack import end_lanes, finish
from .tables import table


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
    S[s.STOP] = s.NOWHERE
    S[s.DEPTH] = 0
    S[s.TURN] = 0
    if S[s.SHARED_SIZE]:
        clear(S[s.SHARED], blocks * S[s.SHARED_STRIDE])
    S[s.LOCAL_STRIDE] = S[s.LANES]
    if S[s.LOCAL_SIZE]:
        clear(S[s.LOCAL], S[s.LANES] * S[s.LOCAL_SIZE])
    if S[s.CLEARED]:
        clear(S[s.UNIFORMS], S[s.FRAMES] - S[s.UNIFORMS] + n * S[s.FRAME] * 4)
    return 0


def run(S: Words, F: Masks) -> int:
    """Runs until the wave is over or Python is needed."""
    while True:
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
                code = go(S, S[row + s.B], row)
                if code:
                    return code
            continue
        if S[s.STEPS] >= S[s.TICK]:
            return s.PAUSE
        S[s.STEPS] += 1
        code = 0
        if kind == s.JUMP:
            code = go(S, S[row + s.A], row)
        elif kind == s.BRANCH:
            code = branch(S, F, row)
        elif kind == s.BRANCH_UNIFORM:
            holds = F[S[row + s.PREDICATE]] & 1
            way = s.B
            if holds != S[row + s.NEGATED]:
                way = s.A
            code = go(S, S[row + way], row)
        elif kind == s.BRANCH_MANY:
            code = table(S, F, row)
        elif kind == s.EXIT:
            end_lanes(S, S[s.LIST], S[s.COUNT])
            code = finish(S)
        elif kind == s.EXIT_SOME:
            code = exit_some(S, F, row)
        elif kind == s.BARRIER:
            if passed(S, F, row) == 0:
                return s.STUCK
            code = go(S, S[row + s.A], row)
        elif kind == s.WARP_SYNC:
            if S[s.LANES] != S[s.LIVING] and missing(S, F, row):
                return s.STUCK
            code = go(S, S[row + s.A], row)
        else:
            return s.STUCK
        if code:
            return code


FUNCTIONS = (
    waves,
    begin,
    run,
    *barriers.FUNCTIONS,
    *divergence.FUNCTIONS,
    *exits.FUNCTIONS,
    *regions.FUNCTIONS,
    *tables.FUNCTIONS,
    *stack.FUNCTIONS,
)
