"""What warps wait for: operands, barriers, groups of asynchronous copies, phases of mbarriers; and the notes of it.

See multiprocessor.py for the language and the arrays.
"""

from __future__ import annotations

from ..native.schedule.loops import Words
from . import words as s
from .memory import greater, less, load


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


def group(code: Words, warps: Words, w: int, o: int, result: int) -> int:
    """An asynchronous copy or a product, the end of a group of them, or a wait for one.  Groups end in their order; products make none that is empty."""
    at = w * s.WARP + code[o + s.GROUPED]
    products = code[o + s.GROUPED] == s.PRODUCTS
    if code[o + s.DO] == s.COPY or code[o + s.DO] == s.MULTIPLY:
        warps[at + s.PENDING] = greater(warps[at + s.PENDING], result)
    elif (code[o + s.DO] == s.COMMIT or products) and (warps[at + s.PENDING] or not products):
        warps[at + s.GROUP_DONE + (warps[at + s.GROUPS] & s.KEPT_GROUPS - 1)] = warps[at + s.PENDING]
        warps[at + s.GROUPS] += 1
        if products:
            warps[at + s.PENDING] = 0
    return 0


def awaited(code: Words, warps: Words, w: int, o: int, t: int) -> int:
    """When all but the last few groups of a warp are done."""
    at = w * s.WARP + code[o + s.GROUPED]
    last = warps[at + s.GROUPS] - 1 - code[o + s.TAKES]
    if last < 0 or code[o + s.TAKES] >= s.KEPT_GROUPS:
        return t
    return greater(t, warps[at + s.GROUP_DONE + (last & s.KEPT_GROUPS - 1)])


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
        done = load(P, records, uses, fresh, sectors, lines, r, P[s.NOW], 0)  # whole lines
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
            t = P[s.NOW] + code[warps[at + s.MET] * s.INSTRUCTION + s.LATENCY]
            note(P, notes, timeline, warps[at + s.MET], s.BARRIER, warps[at + s.LAST], t)
            warps[at + s.LAST] = t
            wait(P, code, lists, warps, ready, w, t, s.WAIT)
        w += 1
    n = 0
    while n < P[s.SCHEDULERS]:
        schedulers[n * s.SCHEDULER + s.BEST] = less(schedulers[n * s.SCHEDULER + s.BEST], P[s.NOW])  # to be looked at
        n += 1
    return 0


FUNCTIONS = (note, wait, group, awaited, synchronise, awake, release)
