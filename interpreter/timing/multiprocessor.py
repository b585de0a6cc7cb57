"""One multiprocessor, instruction by instruction: its schedulers pick warps whose operands are ready and whose port is free.

Plain loops over integers, in the subset of Python that native/schedule/loops.py translates; the same text runs as Python.  Times are ticks; the servers of
memory count sixteenths of them.  `words.py` says what stands where in the arrays:

| array | content |
|---|---|
| `P` | parameters, and the state of the multiprocessor |
| `code`, `lists` | machine instructions, and the registers that they read and write |
| `regions`, `tokens` | stretches of code; the regions that warps execute one after the other |
| `warps`, `queues`, `schedulers`, `blocks` | their states; `queues`: the warps of each scheduler, the one that issued last behind the others |
| `ready` | when each register of each warp is there, with the reason to wait for it |
| `starts`, `cursors`, `records` | of each warp and site its accesses, and the one that comes next |
| `uses`, `fresh`, `sectors`, `lines` | the sectors of the accesses, and whether DRAM must be asked for them; the state of each sector and line |
| `slices` | when each slice of L2 is free |
| `phases` | of mbarriers: what has not come yet, and when the last one was there |
| `notes`, `timeline` | ticks that warps waited, by instruction and reason, and by time and reason |
| `log` | the first instructions that were issued |
"""

from __future__ import annotations

from ..native.schedule.loops import Words
from . import memory, waiting
from . import words as s
from .memory import access, greater
from .waiting import awaited, awake, group, note, release, synchronise, wait


def simulate(
    P: Words, code: Words, lists: Words, regions: Words, tokens: Words, first: Words, warps: Words, queues: Words, schedulers: Words, blocks: Words,
    ready: Words, starts: Words, cursors: Words, records: Words, uses: Words, fresh: Words, sectors: Words, lines: Words, slices: Words, phases: Words,
    notes: Words, timeline: Words, log: Words,
) -> int:  # fmt: skip
    """Ticks until all blocks are done."""
    while True:
        if P[s.PLACES] > 0 and P[s.NEXT_BLOCK] < P[s.BLOCKS]:
            start_blocks(P, regions, tokens, first, warps, queues, schedulers, blocks, notes, timeline)
        x = pick(P, code, warps, queues, schedulers)
        if x < 0:
            if awake(P, code, lists, warps, schedulers, ready, phases, -1) == 0:
                break
            continue
        w = queues[schedulers[x + s.BEST_AT]]
        issue(P, code, warps, schedulers, x, w, notes, timeline, log)
        o = warps[w * s.WARP + s.OP] * s.INSTRUCTION
        result = P[s.NOW] + code[o + s.LATENCY]
        if code[o + s.DO] == s.MULTIPLY:
            result = schedulers[x + s.PORTS + code[o + s.PIPE]] + code[o + s.LATENCY]
        if code[o + s.DO] == s.ACCESS or code[o + s.DO] == s.COPY:
            result = access(P, code, warps, w, o, starts, cursors, records, uses, fresh, sectors, lines, slices, result)
        if code[o + s.DO] == s.SYNC:
            synchronise(P, code, warps, w, o, starts, cursors, records, uses, fresh, sectors, lines, phases)
        elif code[o + s.DO] >= s.COPY:
            group(code, warps, w, o, result)
        i = code[o + s.WRITES]
        while i < code[o + s.END]:
            ready[w * P[s.REGISTERS] + lists[i]] = result << s.CAUSE_BITS | code[o + s.CLASS]
            i += 1
        advance(P, code, lists, regions, tokens, warps, queues, schedulers, blocks, ready, phases, notes, timeline, x, w, o)
        if P[s.OVER]:
            awake(P, code, lists, warps, schedulers, ready, phases, P[s.OVER])
            P[s.OVER] = 0
    return greater(P[s.NOW], P[s.DRAIN])


def start_blocks(
    P: Words,
    regions: Words,
    tokens: Words,
    first: Words,
    warps: Words,
    queues: Words,
    schedulers: Words,
    blocks: Words,
    notes: Words,
    timeline: Words,
) -> int:
    """Blocks start while there are places for them."""
    while P[s.PLACES] > 0 and P[s.NEXT_BLOCK] < P[s.BLOCKS]:
        b = P[s.NEXT_BLOCK]
        begin = P[s.CONSTANT_MISS] + P[s.COLD]
        if b:
            begin = P[s.STARTED] + P[s.INTERVAL] // s.SIXTEENTHS
            if P[s.NOW]:
                begin = greater(begin, P[s.NOW] + P[s.START])
        P[s.STARTED] = begin
        P[s.PLACES] -= 1
        blocks[b * s.BLOCK + s.LIVE] = P[s.EACH]
        w = b * P[s.EACH]
        while w < (b + 1) * P[s.EACH]:
            start_warp(P, regions, tokens, first, warps, queues, schedulers, blocks, notes, timeline, b, w, begin)
            w += 1
        if blocks[b * s.BLOCK + s.LIVE] == 0:
            P[s.PLACES] += 1
        P[s.NEXT_BLOCK] = b + 1
    return 0


def start_warp(
    P: Words, regions: Words, tokens: Words, first: Words, warps: Words, queues: Words, schedulers: Words, blocks: Words, notes: Words,
    timeline: Words, b: int, w: int, begin: int,
) -> int:  # fmt: skip
    """A warp goes to the scheduler with the fewest; one that executes nothing has ended."""
    if first[w] == first[w + 1]:
        blocks[b * s.BLOCK + s.LIVE] -= 1
        return 0
    n = 0
    i = 1
    while i < P[s.SCHEDULERS]:
        if schedulers[i * s.SCHEDULER + s.SIZE] < schedulers[n * s.SCHEDULER + s.SIZE]:
            n = i
        i += 1
    x = n * s.SCHEDULER
    queues[n * P[s.BLOCKS] * P[s.EACH] + schedulers[x + s.SIZE]] = w
    schedulers[x + s.SIZE] += 1
    region = tokens[first[w]] * s.REGION
    if regions[region + s.FETCHED] < 0:
        length = regions[region + s.REGION + s.FIRST_OP] - regions[region + s.FIRST_OP]
        regions[region + s.FETCHED] = begin + P[s.FETCH_MISS] + length * P[s.FETCH_NEXT] // s.SIXTEENTHS
    at = w * s.WARP
    warps[at + s.TOKEN] = first[w]
    warps[at + s.TOKEN_END] = first[w + 1]
    warps[at + s.OP] = regions[region + s.FIRST_OP]
    warps[at + s.LAST] = begin
    if P[s.NOW] == 0:  # it waits for the first constants, then for code
        warps[at + s.LAST] = begin - P[s.COLD]
        note(P, notes, timeline, warps[at + s.OP], s.IMC, begin - P[s.COLD] - P[s.CONSTANT_MISS], begin - P[s.COLD])
    warps[at + s.WHEN] = greater(begin, regions[region + s.FETCHED])
    warps[at + s.WHY] = s.FETCH
    schedulers[x + s.BEST] = 0  # to be looked at
    return 0


def pick(P: Words, code: Words, warps: Words, queues: Words, schedulers: Words) -> int:
    """The scheduler that issues next, by its place, and in it the warp; -1: none.  Its known time is too early where ports have been taken since."""
    while True:
        best = s.FAR
        x = -1
        n = 0
        while n < P[s.SCHEDULERS]:
            if schedulers[n * s.SCHEDULER + s.BEST] < best:
                best = schedulers[n * s.SCHEDULER + s.BEST]
                x = n
            n += 1
        if x < 0:
            return x
        found = earliest(P, code, warps, queues, schedulers, x)
        if found == best:
            P[s.NOW] = best
            return x * s.SCHEDULER


def earliest(P: Words, code: Words, warps: Words, queues: Words, schedulers: Words, n: int) -> int:
    """When a scheduler may issue, and which warp."""
    x = n * s.SCHEDULER
    best = s.FAR
    q = n * P[s.BLOCKS] * P[s.EACH]
    end = q + schedulers[x + s.SIZE]
    busy = P[s.L1_FREE] // s.SIXTEENTHS - P[s.MIO_QUEUE]
    while q < end:
        w = queues[q]
        t = warps[w * s.WARP + s.WHEN]
        if t < best:
            if schedulers[x + s.FREE] > t and schedulers[x + s.PAIRED] != w:
                t = schedulers[x + s.FREE]
            o = warps[w * s.WARP + s.OP] * s.INSTRUCTION
            pipe = code[o + s.PIPE]
            if code[o + s.DO] != s.MULTIPLY:  # products queue up
                t = greater(t, schedulers[x + s.PORTS + pipe])
            if pipe == s.LSU_PIPE and code[o + s.CLASS] != s.LONG:  # accesses to global memory queue up in front of L1
                t = greater(t, busy)
            if t < best:
                best = t
                schedulers[x + s.BEST_AT] = q
        q += 1
    schedulers[x + s.BEST] = best
    return best


def issue(P: Words, code: Words, warps: Words, schedulers: Words, x: int, w: int, notes: Words, timeline: Words, log: Words) -> int:
    """A warp's instruction takes its scheduler and its port; what the warp has waited for is noted."""
    now = P[s.NOW]
    at = w * s.WARP
    op = warps[at + s.OP]
    o = op * s.INSTRUCTION
    pipe = code[o + s.PIPE]
    slots = code[o + s.SLOTS]
    note(P, notes, timeline, op, warps[at + s.WHY], warps[at + s.LAST], warps[at + s.WHEN])
    cause = s.NOT_SELECTED
    if schedulers[x + s.PORTS + pipe] == now and code[o + s.DO] != s.MULTIPLY:
        cause = s.MATH
        if schedulers[x + s.OWNERS + pipe] == w:  # the compiler knows of it
            cause = s.WAIT
        elif pipe == s.LSU_PIPE:
            cause = s.MIO
    elif pipe == s.LSU_PIPE and code[o + s.CLASS] != s.LONG and P[s.L1_FREE] // s.SIXTEENTHS - P[s.MIO_QUEUE] == now:
        cause = s.MIO
    note(P, notes, timeline, op, cause, greater(warps[at + s.LAST], warps[at + s.WHEN]), now)
    note(P, notes, timeline, op, s.SELECTED, now, now + slots)
    P[s.ISSUED] += slots
    if P[s.LOGGED] < P[s.LOGS]:
        entry = P[s.LOGGED] * s.LOG
        log[entry] = now
        log[entry + 1] = x // s.SCHEDULER
        log[entry + 2] = w
        log[entry + 3] = op
        P[s.LOGGED] += 1
    second = schedulers[x + s.PAIRED] == w and now < schedulers[x + s.FREE]
    schedulers[x + s.PAIRED] = -1
    if P[s.DUAL] == slots and not second and code[o + s.DO] != s.JUMP:  # it may issue one more in this cycle
        schedulers[x + s.PAIRED] = w
    schedulers[x + s.FREE] = greater(schedulers[x + s.FREE], now + slots)
    schedulers[x + s.PORTS + pipe] = greater(now, schedulers[x + s.PORTS + pipe]) + code[o + s.PORT]
    schedulers[x + s.OWNERS + pipe] = w
    return 0


def advance(
    P: Words, code: Words, lists: Words, regions: Words, tokens: Words, warps: Words, queues: Words, schedulers: Words, blocks: Words, ready: Words,
    phases: Words, notes: Words, timeline: Words, x: int, w: int, o: int,
) -> int:  # fmt: skip
    """What a warp does after its instruction `o`: the next one, a barrier, or the end."""
    at = w * s.WARP
    b = w // P[s.EACH] * s.BLOCK
    doing = code[o + s.DO]
    cause = s.WAIT
    warps[at + s.LAST] = P[s.NOW] + code[o + s.SLOTS]
    t = warps[at + s.LAST]
    if P[s.DUAL] and schedulers[x + s.PAIRED] == w:
        t = P[s.NOW]
    if doing == s.JUMP:
        t = P[s.NOW] + code[o + s.LATENCY]
        note(P, notes, timeline, o // s.INSTRUCTION, s.BRANCH, warps[at + s.LAST], warps[at + s.LAST] + s.TARGET * P[s.TICKS])
        warps[at + s.LAST] += s.TARGET * P[s.TICKS]
    if next_region(P, regions, tokens, warps, w, t):
        t = regions[tokens[warps[at + s.TOKEN]] * s.REGION + s.FETCHED]
        cause = s.FETCH
    ended = warps[at + s.TOKEN] >= warps[at + s.TOKEN_END]
    q = schedulers[x + s.BEST_AT]  # the others come first next time
    end = x // s.SCHEDULER * P[s.BLOCKS] * P[s.EACH] + schedulers[x + s.SIZE] - 1
    while q < end:
        queues[q] = queues[q + 1]
        q += 1
    queues[end] = w
    if ended:
        warps[at + s.WHEN] = s.FAR
        warps[at + s.WHY] = s.WAIT
        schedulers[x + s.SIZE] -= 1
        blocks[b + s.LIVE] -= 1
        if blocks[b + s.LIVE] == 0:
            blocks[b + s.DONE] = P[s.NOW]
            P[s.PLACES] += 1
    elif doing == s.MEET:
        warps[at + s.WHEN] = s.FAR
        warps[at + s.WHY] = s.BARRIER
        warps[at + s.MET] = o // s.INSTRUCTION
        blocks[b + s.ARRIVED] += 1
    elif warps[at + s.PHASE] and phases[(warps[at + s.PHASE] - 1) * s.PHASE_SIZE + s.LEFT] > 0:
        warps[at + s.WHEN] = s.FAR
        warps[at + s.WHY] = s.LONG
    else:
        if warps[at + s.PHASE]:
            t = greater(t, phases[(warps[at + s.PHASE] - 1) * s.PHASE_SIZE + s.OVER_AT])
            cause = s.LONG
            warps[at + s.PHASE] = 0
        if doing == s.AWAIT:
            t = awaited(code, warps, w, o, t)
            cause = code[o + s.CLASS]
        wait(P, code, lists, warps, ready, w, t, cause)
        if doing == s.JUMP and code[o + s.READS] < code[o + s.WRITES]:
            warps[at + s.WHEN] += P[s.PREDICATE]
    if (ended or doing == s.MEET) and blocks[b + s.LIVE] and blocks[b + s.ARRIVED] >= blocks[b + s.LIVE]:
        release(P, code, lists, warps, schedulers, blocks, ready, notes, timeline, b)
    schedulers[x + s.BEST] = P[s.NOW]  # to be looked at
    return 0


def next_region(P: Words, regions: Words, tokens: Words, warps: Words, w: int, t: int) -> int:
    """A warp goes on to its next instruction; must it be fetched?  After the last one, its token is behind the last."""
    at = w * s.WARP
    o = warps[at + s.OP] + 1
    fetches = 0
    while o >= regions[(tokens[warps[at + s.TOKEN]] + 1) * s.REGION + s.FIRST_OP]:
        warps[at + s.TOKEN] += 1
        if warps[at + s.TOKEN] >= warps[at + s.TOKEN_END]:
            return 0
        region = tokens[warps[at + s.TOKEN]] * s.REGION
        o = regions[region + s.FIRST_OP]
        if regions[region + s.FETCHED] < 0:
            length = regions[region + s.REGION + s.FIRST_OP] - o
            regions[region + s.FETCHED] = t + P[s.FETCH_MISS] + length * P[s.FETCH_NEXT] // s.SIXTEENTHS
        fetches = regions[region + s.FETCHED] > t
    warps[at + s.OP] = o
    return fetches


FUNCTIONS = (*memory.FUNCTIONS, *waiting.FUNCTIONS, simulate, start_blocks, start_warp, pick, earliest, issue, advance, next_region)
