"""Where a group goes after a segment, and how it parts (vector/divergence.py).

The lanes of each way are first collected in records, which stand in the order in which the ways run.
"""

from __future__ import annotations

from . import layout as s
from .convergence import end_lanes, go, go_node, leave, settle, turn, wait_turns
from .layout import BranchWay, GroupNode, RowRecord, WaveRecord
from .loop_exits import depart, exit_of, inside
from .loops import popcount
from .nodes import drop, new, park, push, spare


def follow(wave: WaveRecord, to: int, row: RowRecord) -> int:
    """The whole group goes to a place, as the row says where that leads back or out of loops."""
    if row.exit_count and wave.running.parent and not spare(wave, 2, room_to_leave(wave, row)):
        return s.FULL
    for head in row.heads[: row.head_count]:
        if head.to == to:
            if turn(wave, head.limit, to):
                return wait_turns(wave, to, head.limit)
            break
    if row.exit_count:
        way = exit_of(wave, row, to)
        if way and inside(wave, way, wave.running.parent):
            group = park(wave, s.IS_READY, to)
            depart(wave, group, way)
            go_node(wave, group)
            return 0
    go(wave, to)
    return 0


def lanes_taken(wave: WaveRecord, place: int, flip: int) -> int:
    """How many lanes of the group have a predicate."""
    frame = wave.frame
    lanes = 0
    for entry in wave.running.entries[: wave.running.count]:
        lanes += popcount((wave.masks[(entry >> 32) * frame + place] ^ flip) & entry & 0xFFFFFFFF)
    return lanes


def collect(wave: WaveRecord, place: int, flip: int, to: int) -> BranchWay:
    """A record of the lanes that have a predicate."""
    frame = wave.frame
    way = BranchWay(wave, wave.free)
    count = lanes = 0
    for entry in wave.running.entries[: wave.running.count]:
        vector = entry >> 32
        mask = (wave.masks[vector * frame + place] ^ flip) & entry & 0xFFFFFFFF
        way.entries[count] = vector << 32 | mask
        count += mask != 0
        lanes += popcount(mask)
    way.to = to
    way.count = count
    way.lanes = lanes
    way.next = BranchWay(wave, way.entries + count)
    wave.free = way.entries + count
    return way


def collect_both(wave: WaveRecord, place: int, flip: int, to: int, others: int) -> BranchWay:
    """Records of the lanes that have a predicate, and of the other lanes of the group, behind them."""
    frame = wave.frame
    running = wave.running
    way = BranchWay(wave, wave.free)
    other = BranchWay(wave, way.entries + running.count)
    here = way.entries
    there = other.entries
    count = left = lanes = 0
    for entry in running.entries[: running.count]:
        vector = entry >> 32
        mask = (wave.masks[vector * frame + place] ^ flip) & entry & 0xFFFFFFFF
        rest = entry & 0xFFFFFFFF ^ mask
        here[count] = vector << 32 | mask
        there[left] = vector << 32 | rest
        count += mask != 0
        left += rest != 0
        lanes += popcount(mask)
    way.to = to
    way.count = count
    way.lanes = lanes
    way.next = other
    other.to = others
    other.count = left
    other.lanes = running.lanes - lanes
    other.next = BranchWay(wave, there + left)
    wave.free = there + left
    return way


def branch(wave: WaveRecord, row: RowRecord) -> int:
    """A branch on which lanes may disagree: those that are fewer run first."""
    flip = 0 - row.negated
    lanes = wave.running.lanes
    if not row.parted:  # else they are likely to disagree again
        taken = lanes_taken(wave, row.predicate, flip)
        if taken == lanes:
            return follow(wave, row.to, row)
        if taken == 0:
            return follow(wave, row.fall, row)
    if not spare(wave, 3, 2 * wave.running.count + 2 * BranchWay.SIZE + room_to_leave(wave, row)):
        return s.FULL
    free = wave.free
    first = collect_both(wave, row.predicate, flip, row.to, row.fall)
    second = first.next
    row.parted = first.lanes != 0 and second.lanes != 0
    if not row.parted:
        wave.free = free
        to = row.to
        if first.lanes == 0:
            to = row.fall
        return follow(wave, to, row)
    swap = second.lanes < first.lanes or (second.lanes == first.lanes and flip == 0)
    if row.first == row.to and row.to != row.fall:
        swap = False
    if row.first == row.fall and row.to != row.fall:
        swap = True
    if swap:
        first.next = second.next
        second.next = first
        first = second
    part(wave, row, first)
    return 0


def branch_many(wave: WaveRecord, row: RowRecord) -> int:
    """A branch with many ways (brx.idx, calls through pointers): compiled code has written, for each vector, a mask of the lanes that take each; those of
    the first way run first.  Python takes over where lanes take a way that leads nowhere.
    """
    size = taken = only = 0
    for number in range(row.way_count):
        count = vectors_of(wave, row.predicate + number)
        if count:
            if row.ways[number] == s.NOWHERE:
                wave.running.pc += 1
                return 0
            size += count + BranchWay.SIZE
            taken += 1
            only = row.ways[number]
    if taken == 1:
        return follow(wave, only, row)
    if not spare(wave, 2 * taken + 1, size + BranchWay.SIZE + 1 + taken * room_to_leave(wave, row)):
        return s.FULL
    way = BranchWay(wave, wave.free)
    for number in range(row.way_count):
        if vectors_of(wave, row.predicate + number):
            collect(wave, row.predicate + number, 0, row.ways[number])
    part(wave, row, way)
    return 0


def vectors_of(wave: WaveRecord, place: int) -> int:
    """How many vectors have lanes with a predicate."""
    count = 0
    for entry in wave.running.entries[: wave.running.count]:
        count += wave.masks[(entry >> 32) * wave.frame + place] & entry & 0xFFFFFFFF != 0
    return count


def room_to_leave(wave: WaveRecord, row: RowRecord) -> int:
    """How many entries joins may have that lanes leave for."""
    if row.exit_count:
        return 2 * wave.wave_blocks * wave.each
    return 0


def part(wave: WaveRecord, row: RowRecord, first: BranchWay) -> None:
    """The lanes of the group go several ways, of which the records tell, and reconverge where the row says."""
    end = BranchWay(wave, wave.free)
    running = wave.running
    join = row.join
    leaving = staying = 0
    way = first
    while way != end:
        out = exit_of(wave, row, way.to)
        if not out:
            staying += 1
        elif inside(wave, out, running.parent):
            leaving = 1
        way = way.next
    if wave.unmet[join + 1] or (leaving and staying < 2):
        divide(wave, row, first, end, leaving)
        return
    parent = running.parent
    if parent and parent.pc == join:
        running.count = 0
        parent.children -= 1
    else:
        parent = park(wave, s.IS_JOIN, join)
    way = first
    while way != end:
        parent.children += way.to != join
        way = way.next
    if parent.children == 0:
        settle(wave, parent)
        return
    way = first
    while way != end:
        out = exit_of(wave, row, way.to)
        if out and staying > 1 and way.to != join:
            group = child(wave, way, parent)
            depart(wave, group, out)
            go_node(wave, group)
        way = way.next
    bottom = wave.ready_count
    way = first
    while way != end:
        if way.to != join and (staying < 2 or not exit_of(wave, row, way.to)):
            push(wave, child(wave, way, parent))
        way = way.next
    reverse(wave, bottom, wave.ready_count - 1)


def child(wave: WaveRecord, way: BranchWay, parent: GroupNode) -> GroupNode:
    """The lanes of a record as a group below a join."""
    return new(wave, s.IS_READY, way.to, way.entries, way.count, way.lanes, parent)


def reverse(wave: WaveRecord, low: int, high: int) -> None:
    """Turns groups that are ready round."""
    while low < high:
        group = wave.ready[low]
        wave.ready[low] = wave.ready[high]
        wave.ready[high] = group
        low += 1
        high -= 1


def divide(wave: WaveRecord, row: RowRecord, first: BranchWay, end: BranchWay, leaving: int) -> None:
    """The lanes diverge for good: each group takes its own place below the join, or leaves it."""
    parent = wave.running.parent
    wave.running.count = 0
    way = first
    while way != end:
        if parent and way != first:
            parent.children += 1
        way = way.next
    way = first
    while way != end:
        group = child(wave, way, parent)
        out = exit_of(wave, row, way.to)
        if leaving and out:
            depart(wave, group, out)
        go_node(wave, group)
        way = way.next


def exit_some(wave: WaveRecord, row: RowRecord) -> int:
    """The lanes for which the predicate holds end, the others go on."""
    flip = 0 - row.negated
    running = wave.running
    ended = lanes_taken(wave, row.predicate, flip)
    if ended == 0:
        return follow(wave, row.fall, row)
    if ended == running.lanes:
        leave(wave)
        return 0
    if not spare(wave, 3, 2 * running.count + 2 * BranchWay.SIZE):
        return s.FULL
    gone = split(wave, row.predicate, ~flip, s.END)
    end_lanes(wave, gone)
    drop(wave, gone)
    go(wave, row.fall)
    return 0


def split(wave: WaveRecord, place: int, flip: int, to: int) -> GroupNode:
    """Leaves the running group the lanes that have a predicate; gives the others, as a group at another place."""
    running = wave.running
    way = collect_both(wave, place, flip, running.pc, to)
    running.entries = way.entries
    running.count = way.count
    running.lanes = way.lanes
    running.turns = 0
    return child(wave, way.next, running.parent)
