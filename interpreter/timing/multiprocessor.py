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
from . import words as s


def greater(a: int, b: int) -> int:
    if a > b:
        return a
    return b


def less(a: int, b: int) -> int:
    if a < b:
        return a
    return b


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
        if code[o + s.DO] == s.ACCESS or code[o + s.DO] == s.COPY:
            result = access(P, code, warps, w, o, starts, cursors, records, uses, fresh, sectors, lines, slices, result)
        if code[o + s.DO] == s.SYNC:
            synchronise(P, code, warps, w, o, starts, cursors, records, uses, fresh, sectors, lines, phases)
        elif code[o + s.DO] >= s.COPY:
            copy(code, warps, w, o, result)
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
            t = greater(t, schedulers[x + s.PORTS + pipe])
            if pipe == s.LSU_PIPE and code[o + s.CLASS] != s.LONG:  # accesses to global memory queue up in front of L1
                t = greater(t, busy)
            if t < best:
                best = t
                schedulers[x + s.BEST_AT] = q
        q += 1
    schedulers[x + s.BEST] = best
    return best


def note(P: Words, notes: Words, timeline: Words, op: int, cause: int, begin: int, end: int) -> int:
    """A warp that is about to execute `op` has waited from begin to end."""
    if end <= begin:
        return 0
    notes[op * s.REASON_COUNT + cause] += end - begin
    bucket = begin // P[s.BUCKET]
    while begin < end and bucket < P[s.BUCKETS]:
        stop = less(end, (bucket + 1) * P[s.BUCKET])
        timeline[bucket * s.REASON_COUNT + cause] += stop - begin
        begin = stop
        bucket += 1
    return 0


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
    if schedulers[x + s.PORTS + pipe] == now:
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
    schedulers[x + s.PORTS + pipe] = now + code[o + s.PORT]
    schedulers[x + s.OWNERS + pipe] = w
    return 0


def keep(P: Words, lines: Words, line: int) -> int:
    """A line is used that L1 may have to take in."""
    at = line * s.LINE_SIZE
    if P[s.BORN] - lines[at + s.LINE_BORN] >= P[s.L1_LINES]:
        P[s.BORN] += 1
        lines[at + s.LINE_BORN] = P[s.BORN]
        lines[at + s.LINE_STAY] += 1
    return 0


def access(
    P: Words, code: Words, warps: Words, w: int, o: int, starts: Words, cursors: Words, records: Words, uses: Words, fresh: Words, sectors: Words,
    lines: Words, slices: Words, result: int,
) -> int:  # fmt: skip
    """When an access is done; what it takes of L1 and of what is behind it."""
    cell = w * P[s.SITES] + code[o + s.SITE]
    k = cursors[cell]
    token = warps[w * s.WARP + s.TOKEN]
    if k >= starts[cell + 1] or records[k * s.RECORD + s.R_TOKEN] != token:
        return result
    r = k * s.RECORD
    units = records[r + s.R_UNITS]
    cursors[cell] = k + 1
    other = k + 1
    while other < less(k + code[o + s.TAKES], starts[cell + 1]):  # the accesses that one instruction stands for
        if records[other * s.RECORD + s.R_TOKEN] == token:
            units = greater(units, records[other * s.RECORD + s.R_UNITS])
            cursors[cell] = other + 1
        other += 1
    if units == 0:
        return result
    P[s.L1_FREE] = greater(P[s.L1_FREE], P[s.NOW] * s.SIXTEENTHS) + units * P[s.LINE_COST]
    end = P[s.L1_FREE] // s.SIXTEENTHS
    kind = records[r + s.R_KIND]
    behind = 0
    if code[o + s.CLASS] == s.LONG:
        end = greater(end, P[s.FAR_FREE] // s.SIXTEENTHS)
    if kind == s.GLOBAL_LOAD or kind == s.GLOBAL_PAST:
        result = load(P, records, uses, fresh, sectors, lines, r, end, units)
        behind = P[s.L2_FREE]
    elif kind == s.GLOBAL_STORE:
        behind = store(P, records, uses, sectors, lines, r, end, units)
    elif kind == s.GLOBAL_ATOMIC:
        most = update(P, records, uses, sectors, slices, r, end, units)
        result = most // s.SIXTEENTHS + P[s.ATOMIC_LATENCY]
        behind = most - s.DEEP * P[s.LG_QUEUE]
    elif kind == s.SHARED:
        result = end - 1 + code[o + s.LATENCY]
    elif kind == s.CONSTANT:
        result = end - 1 + s.CONSTANT_LATENCY
    else:
        result = end - 1 + P[s.L1_LATENCY]
    if kind == s.GLOBAL_STORE or (kind == s.GLOBAL_ATOMIC and code[o + s.WRITES] == code[o + s.END]):
        warps[w * s.WARP + s.STORED] = greater(warps[w * s.WARP + s.STORED], behind // s.SIXTEENTHS)
    P[s.FAR_FREE] = greater(P[s.FAR_FREE], behind - s.SIXTEENTHS * P[s.LG_QUEUE])
    return result


def copy(code: Words, warps: Words, w: int, o: int, result: int) -> int:
    """An asynchronous copy, or the end of a group of them.  Groups end in their order."""
    at = w * s.WARP
    if code[o + s.DO] == s.COPY:
        warps[at + s.COPIED] = greater(warps[at + s.COPIED], result)
    elif code[o + s.DO] == s.COMMIT:
        warps[at + s.GROUP_DONE + (warps[at + s.GROUPS] & s.KEPT_GROUPS - 1)] = warps[at + s.COPIED]
        warps[at + s.GROUPS] += 1
    return 0


def synchronise(
    P: Words, code: Words, warps: Words, w: int, o: int, starts: Words, cursors: Words, records: Words, uses: Words, fresh: Words, sectors: Words,
    lines: Words, phases: Words,
) -> int:  # fmt: skip
    """An arrival at an mbarrier, a bulk copy that it is told of, or a wait for one of its phases."""
    cell = w * P[s.SITES] + code[o + s.SITE]
    k = cursors[cell]
    r = k * s.RECORD
    if k >= starts[cell + 1] or records[r + s.R_TOKEN] != warps[w * s.WARP + s.TOKEN]:
        return 0
    cursors[cell] = k + 1
    phase = records[r + s.R_PHASE]
    if records[r + s.R_KIND] == s.AWAITS:
        warps[w * s.WARP + s.PHASE] = phase + 1
        return 0
    done = P[s.NOW] + code[o + s.LATENCY]
    if records[r + s.R_KIND] == s.BULK:
        done = load(P, records, uses, fresh, sectors, lines, r, P[s.NOW] + P[s.BULK_LATENCY], 0)  # whole lines
    at = phase * s.PHASE_SIZE
    phases[at + s.OVER_AT] = greater(phases[at + s.OVER_AT], done)
    phases[at + s.LEFT] -= 1
    if phases[at + s.LEFT] == 0:
        P[s.OVER] = phase + 1
    return 0


def awake(P: Words, code: Words, lists: Words, warps: Words, schedulers: Words, ready: Words, phases: Words, over: int) -> int:
    """Warps that wait for a phase that is over go on; -1: for any, since nothing else happens.  How many."""
    count = 0
    w = 0
    while w < P[s.NEXT_BLOCK] * P[s.EACH]:
        at = w * s.WARP
        phase = warps[at + s.PHASE]
        if phase and warps[at + s.WHEN] == s.FAR and (phase == over or over < 0):
            warps[at + s.PHASE] = 0
            wait(P, code, lists, warps, ready, w, greater(P[s.NOW], phases[(phase - 1) * s.PHASE_SIZE + s.OVER_AT]), s.LONG)
            count += 1
        w += 1
    n = 0
    while n < P[s.SCHEDULERS]:
        schedulers[n * s.SCHEDULER + s.BEST] = less(schedulers[n * s.SCHEDULER + s.BEST], P[s.NOW])  # to be looked at
        n += 1
    return count


def load(P: Words, records: Words, uses: Words, fresh: Words, sectors: Words, lines: Words, r: int, end: int, units: int) -> int:
    """When the sectors of a load of so many lines are there: those in L1, those under way, those that L2 or DRAM is asked for."""
    result = end + P[s.L1_LATENCY]
    fetched = 0
    i = records[r + s.R_FIRST]
    last = i + records[r + s.R_COUNT]
    past = records[r + s.R_KIND] != s.GLOBAL_LOAD
    while i < last:
        at = uses[i] * s.SECTOR
        line = sectors[at + s.LINE]
        if not past:
            keep(P, lines, line)
        stay = lines[line * s.LINE_SIZE + s.LINE_STAY]
        if past or sectors[at + s.FILL] == 0 or sectors[at + s.STAY] != stay:
            fetched += 1
            P[s.L2_FREE] = greater(P[s.L2_FREE], end * s.SIXTEENTHS) + P[s.L2_COST]
            sectors[at + s.FILL] = P[s.L2_FREE] // s.SIXTEENTHS + P[s.L2_LATENCY]
            if fresh[i]:
                fresh[i] = 0
                sectors[at + s.FILL] = greater(sectors[at + s.FILL], from_dram(P, end))
            sectors[at + s.STAY] = stay
        result = greater(result, sectors[at + s.FILL])
        i += 1
    P[s.L2_FREE] += less(units, fetched) * P[s.L2_LINE]
    return int(result)


def from_dram(P: Words, end: int) -> int:
    """When a sector comes from DRAM, which is slower the more it was asked for in the last cycles."""
    now = P[s.NOW]
    most = s.WINDOW * s.SIXTEENTHS
    load = P[s.LOAD]
    load = load - load * less(s.WINDOW, now - P[s.ASKED]) // s.WINDOW + P[s.DRAM_COST]
    P[s.ASKED] = now
    P[s.LOAD] = less(load, most * 9 // 10)
    P[s.DRAM_FREE] = greater(P[s.DRAM_FREE], end * s.SIXTEENTHS) + P[s.DRAM_COST]
    return int(P[s.DRAM_FREE] // s.SIXTEENTHS + P[s.DRAM_LATENCY] + P[s.DRAM_QUEUE] * P[s.LOAD] // (most - P[s.LOAD]))


def store(P: Words, records: Words, uses: Words, sectors: Words, lines: Words, r: int, end: int, units: int) -> int:
    """A store takes the port to L2; what it writes in full can be read from L1.  When the ports behind L1 are free."""
    n = records[r + s.R_COUNT]
    P[s.STORE_FREE] = greater(P[s.STORE_FREE], end * s.SIXTEENTHS) + greater(n * P[s.STORE_COST], units * P[s.STORE_LINE])
    P[s.DRAIN] = greater(P[s.DRAIN], P[s.STORE_FREE] // s.SIXTEENTHS + P[s.L2_LATENCY])
    i = records[r + s.R_FIRST]
    last = i + n * records[r + s.R_FULL]
    while i < last:
        at = uses[i] * s.SECTOR
        line = sectors[at + s.LINE]
        keep(P, lines, line)
        sectors[at + s.FILL] = end
        sectors[at + s.STAY] = lines[line * s.LINE_SIZE + s.LINE_STAY]
        i += 1
    if P[s.DRAM_STORE] == 0:
        return int(P[s.STORE_FREE])
    P[s.DRAM_FREE] = greater(P[s.DRAM_FREE], end * s.SIXTEENTHS) + n * P[s.DRAM_STORE]
    return greater(P[s.STORE_FREE], P[s.DRAM_FREE])


def update(P: Words, records: Words, uses: Words, sectors: Words, slices: Words, r: int, end: int, units: int) -> int:
    """An atomic operation takes the port to L2 and the slices that hold its words; when the last of them is done."""
    n = records[r + s.R_COUNT]
    P[s.STORE_FREE] = greater(P[s.STORE_FREE], end * s.SIXTEENTHS) + n * P[s.STORE_COST]
    most = P[s.STORE_FREE]
    cost = units * P[s.SLICE_COST]
    if units <= n:  # no lanes meet on a word
        cost = greater(P[s.SLICE_COST], n * P[s.SLICE_SECTOR])
    i = records[r + s.R_FIRST]
    last = i + n
    while i < last:
        at = sectors[uses[i] * s.SECTOR + s.SLICE]
        slices[at] = greater(slices[at], end * s.SIXTEENTHS) + cost // n
        most = greater(most, slices[at])
        i += 1
    P[s.DRAIN] = greater(P[s.DRAIN], most // s.SIXTEENTHS + P[s.L2_LATENCY] // 2)
    return int(most)


def wait(P: Words, code: Words, lists: Words, warps: Words, ready: Words, w: int, t: int, cause: int) -> int:
    """When the operands of a warp's next instruction are there, from t on, and what it waits for last."""
    o = warps[w * s.WARP + s.OP] * s.INSTRUCTION
    i = code[o + s.READS]
    while i < code[o + s.WRITES]:
        when = ready[w * P[s.REGISTERS] + lists[i]]
        if when >> s.CAUSE_BITS > t:
            t = when >> s.CAUSE_BITS
            cause = when & (1 << s.CAUSE_BITS) - 1
        i += 1
    if code[o + s.DO] == s.LEAVE and warps[w * s.WARP + s.STORED] > t:
        t = warps[w * s.WARP + s.STORED]
        cause = s.DRAINING
    warps[w * s.WARP + s.WHEN] = t
    warps[w * s.WARP + s.WHY] = cause
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
            cause = s.LONG
        wait(P, code, lists, warps, ready, w, t, cause)
        if doing == s.JUMP and code[o + s.READS] < code[o + s.WRITES]:
            warps[at + s.WHEN] += P[s.PREDICATE]
    if (ended or doing == s.MEET) and blocks[b + s.LIVE] and blocks[b + s.ARRIVED] >= blocks[b + s.LIVE]:
        release(P, code, lists, warps, schedulers, blocks, ready, notes, timeline, b)
    schedulers[x + s.BEST] = P[s.NOW]  # to be looked at
    return 0


def awaited(code: Words, warps: Words, w: int, o: int, t: int) -> int:
    """When all but the last few groups of a warp's asynchronous copies are done."""
    at = w * s.WARP
    last = warps[at + s.GROUPS] - 1 - code[o + s.TAKES]
    if last < 0 or code[o + s.TAKES] >= s.KEPT_GROUPS:
        return t
    return greater(t, warps[at + s.GROUP_DONE + (last & s.KEPT_GROUPS - 1)])


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


def release(
    P: Words, code: Words, lists: Words, warps: Words, schedulers: Words, blocks: Words, ready: Words, notes: Words, timeline: Words, b: int
) -> int:
    """The last warp has come to the barrier: all go on."""
    blocks[b + s.ARRIVED] = 0
    w = b // s.BLOCK * P[s.EACH]
    end = w + P[s.EACH]
    while w < end:
        at = w * s.WARP
        if warps[at + s.WHEN] == s.FAR and warps[at + s.WHY] == s.BARRIER:
            t = P[s.NOW] + s.BARRIER_LATENCY * P[s.TICKS]
            note(P, notes, timeline, warps[at + s.MET], s.BARRIER, warps[at + s.LAST], t)
            warps[at + s.LAST] = t
            wait(P, code, lists, warps, ready, w, t, s.WAIT)
        w += 1
    n = 0
    while n < P[s.SCHEDULERS]:
        schedulers[n * s.SCHEDULER + s.BEST] = less(schedulers[n * s.SCHEDULER + s.BEST], P[s.NOW])  # to be looked at
        n += 1
    return 0


FUNCTIONS = (
    greater, less, keep, note, from_dram, load, store, update, access, copy, awaited, wait, synchronise, awake, start_warp, start_blocks, earliest,
    pick, issue, next_region, release, advance, simulate,
)  # fmt: skip
