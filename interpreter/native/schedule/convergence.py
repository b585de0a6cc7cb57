"""Lanes come to where they meet others: at a join, at the end of the kernel, past a barrier, or by other ways to one place (vector/convergence.py)."""

from __future__ import annotations

from . import layout as s
from .layout import GroupNode, WaveRecord
from .loops import popcount
from .nodes import drop, forget, keep, mark, new, park, pick, push, unblock, unmark
from .reductions import put

# ---------------------------------------------------------------- joins


def go(wave: WaveRecord, to: int) -> None:
    """The group that runs goes to a place, which may be the end of its way."""
    running = wave.running
    if to == wave.stop:
        running.count = 0
        arrive(wave, running.parent)
    elif to == s.END:
        leave(wave)
    else:
        running.pc = to


def go_node(wave: WaveRecord, group: GroupNode) -> None:
    """The same for a group that does not run: it becomes ready if it has not come to the end of its way."""
    parent = group.parent
    if parent and parent.pc == group.pc:
        drop(wave, group)
        arrive(wave, parent)
    elif group.pc == s.END:
        end_lanes(wave, group)
        drop(wave, group)
        withdraw(wave, parent)
    else:
        push(wave, group)


def arrive(wave: WaveRecord, join: GroupNode) -> None:
    """A group below a join has come there, and is no more."""
    join.children -= 1
    if join.children == 0:
        settle(wave, join)


def settle(wave: WaveRecord, join: GroupNode) -> None:
    """No lanes are missing at a join: those that are there go on."""
    lanes = join.lanes
    if wave.living != wave.wave_blocks * wave.block_lanes:  # some have ended
        keep(wave, join, wave.alive, 0)
    if join.lanes != lanes:
        join.turns = 0
    if join.yields:
        join.yields = 0
        rest(wave, join)
    else:
        go_node(wave, join)


def withdraw(wave: WaveRecord, join: GroupNode) -> None:
    """A group below a join is no more, and has not come there."""
    while join:
        join.children -= 1
        if join.children:
            return
        keep(wave, join, wave.alive, 0)
        if join.count:
            settle(wave, join)
            return
        above = join.parent
        drop(wave, join)
        join = above


# ---------------------------------------------------------------- the end of the kernel


def leave(wave: WaveRecord) -> None:
    """All lanes of the group that runs end."""
    end_lanes(wave, wave.running)
    wave.running.count = 0
    withdraw(wave, wave.running.parent)


def end_lanes(wave: WaveRecord, group: GroupNode) -> None:
    """Lanes have executed their last instruction."""
    for entry in group.entries[: group.count]:
        mask = entry & 0xFFFFFFFF
        wave.alive[entry >> 32] &= ~mask
        wave.living -= popcount(mask)
    wave.events += 1
    if wave.blocked_count:
        recheck(wave)


# ---------------------------------------------------------------- loops that spin


def turn(wave: WaveRecord, limit: int, to: int) -> bool:
    """The group goes back to the head of a loop; has it turned so often that others run first?"""
    if to == wave.stop:  # its siblings meet it at the head: it is the suspended group that turns
        join = wave.running.parent
        join.turns += 1
        if join.turns >= limit:
            join.yields = 1
        return False
    wave.running.turns += 1
    return wave.running.turns >= limit


def rest(wave: WaveRecord, group: GroupNode) -> None:
    """A group that spins lets others run first."""
    group.turns = 0
    if wave.quiet >= s.BEGINNING:
        group.turns = s.TURNS_OF_SPINNING
    group.state = s.IS_SPINNING
    wave.spinning[wave.spinning_count] = group
    wave.spinning_count += 1


def wait_turns(wave: WaveRecord, to: int, limit: int) -> int:
    """The group that runs has turned as often as it may: others run now, if there are any."""
    running = wave.running
    running.turns = 0
    running.pc = to
    if not (wave.ready_count or wave.blocked_count or wave.spinning_count or running.parent or has_more(wave)):
        return still(wave)
    if limit >= s.SPIN_LIMIT and not wave.apart:
        return s.TURNED
    rest(wave, park(wave, s.IS_SPINNING, to))
    return 0


def has_more(wave: WaveRecord) -> bool:
    """May another wave run beside this one?"""
    return wave.more != 0 or wave.next_block < wave.blocks


def still(wave: WaveRecord) -> int:
    """Counts one more round of spinning; not 0 where Python should look whether lanes get on."""
    if wave.events != wave.seen:
        wave.seen = wave.events
        wave.quiet = 0
        return 0
    wave.quiet += 1
    if wave.quiet < s.QUIET_ROUNDS:
        return 0
    return s.NO_PROGRESS


# ---------------------------------------------------------------- barriers that are complete (vector/waiting/barriers.py)


def recheck(wave: WaveRecord) -> None:
    """Lanes have ended: barriers may be complete without them."""
    for number in range(s.BARRIERS):
        if wave.pending[number]:
            for group in wave.blocked[: wave.blocked_count]:
                if group.state == s.IS_AT_BARRIER and group.number == number:
                    check(wave, number)
                    break


def check(wave: WaveRecord, number: int) -> None:
    """Lets the blocks pass whose barrier is complete."""
    arrived = wave.arrived + number * wave.per_wave * wave.each
    some = left = 0
    for block in range(wave.wave_blocks):
        there = absent = threads = 0
        for vector in range(block * wave.each, block * wave.each + wave.each):
            missing = wave.alive[vector] & ~arrived[vector]
            there |= arrived[vector]
            absent |= missing
            if arrived[vector] and missing == 0:
                threads += 32
        wanted = wave.wanted[number * wave.per_wave + block]
        if there and ((wanted == 0 and absent == 0) or (wanted and threads >= wanted)):
            some = 1
            complete(wave, number, block)
        elif there:
            left = 1
    wave.pending[number] = left
    if some:
        wave.events += 1
        pass_over(wave, number)


def complete(wave: WaveRecord, number: int, which: int) -> None:
    """A block has passed: notes that in the groups that wait there, and gives them what the barrier reduces."""
    each = wave.each
    first = number * wave.per_wave * each
    count = threads = 0
    for at in range(first + which * each, first + which * each + each):
        threads += popcount(wave.arrived[at])
        count += popcount(wave.arrived[at] & wave.holds[at])
        wave.arrived[at] = 0
    for group in wave.blocked[: wave.blocked_count]:
        if group.state != s.IS_AT_BARRIER or group.number != number:
            continue
        for i in range(group.count):
            entry = group.entries[i]
            if (entry >> 32 & 0x3FFFFFFF) // each == which:
                if entry < s.PASSED:
                    group.entries[i] = entry | s.PASSED
                    group.left -= 1
                if group.row.reduced:
                    put(wave, group.row, entry, wave.reduces[number], count, threads)


def pass_over(wave: WaveRecord, number: int) -> None:
    """Groups all of whose blocks have passed go on, unless another part of their warps still waits at their place."""
    first = wave.picked_count
    for group in wave.blocked[: wave.blocked_count]:
        if group.state == s.IS_AT_BARRIER and group.number == number and group.left == 0 and not is_held(wave, group):
            pick(wave, group)
    for group in wave.picked[first : wave.picked_count]:
        unblock(wave, group)
        clear_passed(wave, group)
    gather(wave, first)


def clear_passed(wave: WaveRecord, group: GroupNode) -> GroupNode:
    """A group that waits no more, without the marks of its warps."""
    for i in range(group.count):
        group.entries[i] &= ~s.PASSED
    return group


def is_held(wave: WaveRecord, group: GroupNode) -> int:
    """Does another part of a group's warps, at the same place, still wait for other blocks?"""
    found = 0
    mark(wave, wave.gone, group)
    for other in wave.blocked[: wave.blocked_count]:
        if other.state == s.IS_AT_BARRIER and other.pc == group.pc and other.number == group.number and other.left:
            for entry in other.entries[: other.count]:
                found |= wave.gone[entry >> 32 & 0x3FFFFFFF] != 0
    unmark(wave, wave.gone, group)
    return found


# ---------------------------------------------------------------- groups that have come to one place on different ways (vector/waiting/uniting.py)


def gather(wave: WaveRecord, first: int) -> None:
    """The groups that are picked from a number on go on, those at one place as one."""
    for i in range(first, wave.picked_count):
        group = wave.picked[i]
        if group and same_place(wave, i + 1, group.pc):
            unite(wave, i)
    for group in wave.picked[first : wave.picked_count]:
        if group:
            push(wave, group)
    wave.picked_count = first


def same_place(wave: WaveRecord, first: int, pc: int) -> int:
    """How many of the groups that are picked from a number on are at a place."""
    found = 0
    for group in wave.picked[first : wave.picked_count]:
        if group and group.pc == pc:
            found += 1
    return found


def unite(wave: WaveRecord, first: int) -> None:
    """The picked group of a number, and those after it at its place, become one, below the nearest join that is above them all."""
    pc = wave.picked[first].pc
    join = common(wave, first, pc)
    for group in wave.picked[first : wave.picked_count]:
        if group and group.pc == pc:
            mark(wave, wave.here, group)
            mark(wave, wave.gone, group)
            parent = group.parent
            while parent != join:
                forget(wave, parent)
                parent = parent.parent
            unmark(wave, wave.gone, group)
    out = of_marked(wave, pc, join)
    if join:
        join.children += 1
    for i in range(first, wave.picked_count):
        group = wave.picked[i]
        if group and group.pc == pc:
            wave.picked[i] = GroupNode(wave, 0)
            parent = group.parent
            drop(wave, group)
            withdraw(wave, parent)
    wave.picked[first] = out


def common(wave: WaveRecord, first: int, pc: int) -> GroupNode:
    """The nearest join above all these groups; none if there is none."""
    join = wave.picked[first].parent
    while join:
        missed = 0
        for group in wave.picked[first : wave.picked_count]:
            if group and group.pc == pc and not is_above(wave, join, group):
                missed = 1
        if not missed:
            break
        join = join.parent
    return join


def is_above(wave: WaveRecord, join: GroupNode, group: GroupNode) -> bool:
    """Does a group stand below a join?"""
    while group and group != join:
        group = group.parent
    return group == join


def of_marked(wave: WaveRecord, pc: int, parent: GroupNode) -> GroupNode:
    """A group of the lanes that are marked as here; the marks vanish."""
    entries = wave.free
    count = lanes = 0
    for vector in range(wave.wave_blocks * wave.each):
        mask = wave.here[vector]
        if mask:
            entries[count] = vector << 32 | mask
            count += 1
            lanes += popcount(mask)
            wave.here[vector] = 0
    wave.free += count
    return new(wave, s.IS_READY, pc, entries, count, lanes, parent)
