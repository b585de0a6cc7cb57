"""The scheduler of one wave as plain loops over memory: it runs groups of lanes row by row, lets them diverge, wait and reconverge.

It takes the numpy engine's order (vector/): of lanes that diverge the fewer run first, and a group runs until it parts, waits or comes to its join; then the
group that became ready last runs.  What it cannot decide it leaves to Python: it returns a code and goes on when it is called again.  loops.py translates
these functions for the host.  layout.py says what lies where.
"""

from __future__ import annotations

from typing import Any

from . import layout as s
from .barrier_release import wake
from .barriers import barrier
from .convergence import go, leave
from .divergence import branch, branch_many, exit_some, follow
from .layout import GroupNode, RowRecord, WaveRecord
from .loops import called_from
from .nodes import pop, spare
from .records import Array
from .waiting import free_one, sync


def invoke(address: int, words: Any, entries: Array[int], count: int) -> int:
    """Compiled code; tests put their own function here."""
    raise NotImplementedError


def clear(address: int, size: int) -> int:
    """Zeros."""
    raise NotImplementedError


def taken(address: int, by: int) -> int:
    """The number there, which grows at once, whatever other threads do."""
    raise NotImplementedError


def waves(wave: WaveRecord) -> int:
    """Runs the blocks whose tables are there, wave by wave; goes on with the wave that is under way."""
    while True:
        if not wave.under_way:
            if wave.team:
                if taken(wave.team + 8, 0):
                    return s.DONE
                wave.next_block = taken(wave.team, wave.per_wave)
            if wave.next_block >= wave.blocks:
                return s.DONE
            begin(wave)
            if wave.stops:
                return s.BEGUN
        code = run(wave)
        if code != s.DONE:
            return code
        wave.under_way = 0


def begin(wave: WaveRecord) -> None:
    """All lanes of the next wave stand before the first row."""
    first = wave.next_block
    blocks = wave.blocks - first
    if blocks > wave.per_wave:
        blocks = wave.per_wave
    wave.first_block = first
    wave.wave_blocks = blocks
    wave.next_block = first + blocks
    wave.under_way = 1
    entries = wave.lists
    vector = count = 0
    for _ in range(blocks):
        for mask in wave.lanes_of[: wave.each]:
            wave.alive[vector] = mask
            entries[count] = vector << 32 | mask
            count += mask != 0
            vector += 1
    running = wave.running
    running.entries = entries
    running.count = count
    running.lanes = wave.living = wave.local_stride = blocks * wave.block_lanes
    running.pc = 0
    wave.free = entries + count
    forget_waiting(wave)
    if wave.shared_size:
        clear(wave.shared, blocks * wave.shared_stride)
    if wave.shared_part:
        wave.interval += 1
        clear(wave.shared + wave.shared_part, blocks * wave.shared_stride)
    if wave.local_size:
        clear(wave.local, running.lanes * wave.local_size)
    if wave.cleared:
        clear(wave.uniforms, wave.frames - wave.uniforms + vector * wave.frame * 4)


def forget_waiting(wave: WaveRecord) -> None:
    """No group waits, and the one that runs has no join."""
    wave.stop = s.NOWHERE
    wave.cluster_arrived = wave.cluster_apart = 0
    wave.running.turns = wave.used = wave.high = wave.quiet = 0
    wave.running.parent = wave.unused = GroupNode(wave, 0)
    wave.ready_count = wave.blocked_count = wave.spinning_count = wave.picked_count = 0
    n = wave.per_wave * wave.each
    for number in range(s.BARRIERS):
        if wave.pending[number]:
            wave.pending[number] = 0
            for i in range(number * n, number * n + n):
                wave.arrived[i] = 0
    if wave.any_unmet:
        for i in range(wave.row_count + 1):
            wave.unmet[i] = 0
    wave.any_unmet = 0


def run(wave: WaveRecord) -> int:
    """Runs until the wave is over or Python is needed."""
    running = wave.running
    while True:
        if running.count == 0:
            if wave.ready_count:
                pop(wave)
            elif wave.blocked_count or wave.spinning_count:
                code = free(wave)
                if code:
                    return code
                continue
            else:
                return s.DONE
        row = wave.rows[running.pc]
        kind = row.kind
        if kind == s.RUN:
            failed = invoke(row.code, wave.words, running.entries, running.count)
            if failed >= 0:
                wave.failed = failed
                return s.FAULT
            running.pc += 1
            continue
        if kind == s.CALLOUT:
            return s.ASKED
        if kind == s.CLUSTER_ARRIVE:
            if wave.cluster_apart or running.lanes != wave.living:
                return s.ASKED
            wave.cluster_arrived = 1
            running.pc += 1
            continue
        if kind == s.REGION:
            if region(wave, row):
                return s.PAUSE
            continue
        if wave.steps >= wave.tick:
            return s.PAUSE
        wave.steps += 1
        code = end(wave, row, kind)
        if code:
            if code == s.FULL:
                wave.steps -= 1
            return code


def end(wave: WaveRecord, row: RowRecord, kind: int) -> int:
    """What a row does that is no code."""
    if kind == s.JUMP:
        return follow(wave, row.to, row)
    if kind == s.BRANCH:
        return branch(wave, row)
    if kind == s.BRANCH_UNIFORM:
        to = row.fall
        if wave.masks[row.predicate] & 1 != row.negated:
            to = row.to
        return follow(wave, to, row)
    if kind == s.BRANCH_MANY:
        return branch_many(wave, row)
    if kind == s.EXIT:
        if row.whole:
            leave(wave)
        else:
            go(wave, s.END)
        return 0
    if kind == s.EXIT_SOME:
        return exit_some(wave, row)
    if kind == s.EXIT_UNIFORM:
        if wave.masks[row.predicate] & 1 == row.negated:
            return follow(wave, row.fall, row)
        leave(wave)
        return 0
    if kind == s.BARRIER:
        return barrier(wave, row)
    if kind == s.WARP_SYNC:
        return sync(wave, row)
    if kind == s.CLUSTER_WAIT and wave.cluster_arrived and not wave.cluster_apart:
        go(wave, row.to)
        return 0
    return s.STUCK


def free(wave: WaveRecord) -> int:
    """No group can run: finds some that may after all."""
    entries = 0
    for i in range(wave.high):
        if wave.nodes[i].state != s.IS_UNUSED:
            entries += wave.nodes[i].count
    if not spare(wave, wave.used, entries):
        return s.FULL
    code = free_one(wave)
    if code != 1:
        if code:
            return code - 1
        return 0
    if wave.spinning_count:
        return wake(wave)
    return s.STUCK


# ---------------------------------------------------------------- regions: parts of the program that a group executes as one function, warp by warp


def region(wave: WaveRecord, row: RowRecord) -> bool:
    """The group executes a region and goes on behind it, or stands before its first segment; True: it goes on in it later."""
    running = wave.running
    if not is_open(wave, row):
        running.pc += 1
        return False
    found = invoke(row.code, wave.words, running.entries, running.count)
    if found >= 0:
        wave.region_at = found
        return True
    wave.region_at = 0
    if found == s.REGION_FAILED:
        wave.status = 0
        row.code = 0
        running.pc += 1
    else:
        wave.steps += wave.region_steps
        go(wave, row.fall)
    wave.region_steps = 0
    return False


def is_open(wave: WaveRecord, row: RowRecord) -> bool:
    """Can the group run a region as one?  Not if it is to stop inside."""
    if row.code == 0 or wave.steps + row.most > wave.tick:
        return False
    join = wave.running.parent
    while join:
        for pc in row.inside[: row.inside_count]:
            if pc == join.pc:
                return False
        join = join.parent
    return True


FUNCTIONS = called_from(waves)
