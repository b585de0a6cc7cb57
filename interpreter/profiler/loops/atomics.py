"""Atomic operations whose lanes wait for each other, warp by warp: the rules of rules/contention.py and rules/atomic_loops.py as loops."""

from __future__ import annotations

from ...native.schedule.loops import Flags, Words, popcount
from . import words as s


def contend(where: Words, active: Flags, some: int, warps: int, width: int, room: Words, sectors: Words) -> int:
    """Writes the sectors of each warp over all its passes.  `room`: CONTENDING words."""
    bytes_of = width
    if width < s.BANK:
        bytes_of = s.BANK
    w = 0
    while w < warps:
        n = enter_lanes(where, active, some, w * s.WARP, bytes_of, room)
        total = 0
        while n:
            i = n - 1
            while i >= 0:  # the lowest lane writes last
                lane = room[s.LEFT + i]
                room[s.OWNER + room[s.PORT + lane]] = lane
                room[s.RANK + room[s.LINE_OF + lane]] = lane
                room[s.HOLDS + room[s.SECTOR_OF + lane]] = 0
                room[s.SERVED + room[s.SECTOR_OF + lane]] = 0
                i -= 1
            i = 0
            while i < n:
                lane = room[s.LEFT + i]
                winner = room[s.OWNER + room[s.PORT + lane]]
                room[s.HOLDS + room[s.SECTOR_OF + lane]] |= room[s.RANK + room[s.LINE_OF + winner]] < room[s.RANK + room[s.LINE_OF + lane]]
                i += 1
            left = 0
            i = 0
            while i < n:
                lane = room[s.LEFT + i]
                sector = room[s.SECTOR_OF + lane]
                if room[s.OWNER + room[s.PORT + lane]] != lane or room[s.HOLDS + sector]:
                    room[s.LEFT + left] = lane
                    left += 1
                else:
                    total += 1 - room[s.SERVED + sector]
                    room[s.SERVED + sector] = 1
                i += 1
            n = left
        sectors[w] = total
        w += 1
    return 0


def enter_lanes(where: Words, active: Flags, some: int, first: int, width: int, room: Words) -> int:
    """Numbers the active lanes of a warp, and gives how many they are; of each: its port, and the first lane with its line, and with its sector."""
    n = 0
    lane = first
    while lane < first + s.WARP:
        if some == 0 or active[lane]:
            sector = where[lane] >> 5
            line = where[lane] >> 7
            slice = popcount(line & s.SLICE_LOW) & 1 | (popcount(line & s.SLICE_HIGH) & 1) << 1
            room[s.PORT + n] = (slice << 7 | where[lane] & 127) // width
            room[s.ASKED + n] = sector
            room[s.LEFT + n] = n
            i = 0
            while room[s.ASKED + i] >> 2 != line:
                i += 1
            room[s.LINE_OF + n] = i
            while room[s.ASKED + i] != sector:
                i += 1
            room[s.SECTOR_OF + n] = i
            n += 1
        lane += 1
    return n


def take_turns(where: Words, active: Flags, warps: int, room: Words, passes: Words, conflicts: Words) -> int:
    """Writes the passes and conflicts of each warp's reads in a loop around swaps of words of shared memory, of which the lowest lane of each bank succeeds.

    Of the lanes of a bank, the first n take part in the first n rounds; so the words that are left in a round are those of the lanes from one on.
    """
    w = 0
    while w < warps:
        i = 0
        while i < s.WARP:
            room[s.HEAD + i] = -1
            room[s.LANES_OF + i] = 0
            room[s.WORDS_OF + i] = 0
            room[s.MOST + i] = 0
            i += 1
        lane = 0
        while lane < s.WARP:
            if active[w * s.WARP + lane]:
                room[s.LANES_OF + (where[w * s.WARP + lane] >> 2 & 31)] += 1
            lane += 1
        lane = s.WARP - 1
        while lane >= 0:
            if active[w * s.WARP + lane]:
                word = where[w * s.WARP + lane] >> 2
                bank = word & 31
                later = room[s.HEAD + bank]
                while later >= 0 and where[w * s.WARP + later] >> 2 != word:
                    later = room[s.LATER + later]
                room[s.WORDS_OF + bank] += later < 0
                room[s.LATER + lane] = room[s.HEAD + bank]
                room[s.HEAD + bank] = lane
                room[s.LANES_OF + bank] -= 1
                turn = room[s.LANES_OF + bank]
                if room[s.WORDS_OF + bank] > room[s.MOST + turn]:
                    room[s.MOST + turn] = room[s.WORDS_OF + bank]
            lane -= 1
        all_passes = 0
        turn = 0
        while turn < s.WARP and room[s.MOST + turn]:
            all_passes += room[s.MOST + turn]
            turn += 1
        passes[w] = all_passes
        conflicts[w] = all_passes - turn
        w += 1
    return 0


FUNCTIONS = contend, enter_lanes, take_turns
