"""The passes of warps over the banks of shared memory from 5.0 on: `modern_banks` of rules/banks.py as a loop."""

from __future__ import annotations

from ...native.schedule.loops import Flags, Words
from . import words as s


def bank_passes(
    where: Words, active: Flags, some: int, warps: int, width: int, pairs: int, room: Words, passes: Words, conflicts: Words
) -> int:  # fmt: skip
    """Writes the passes and conflicts of each warp.

    `pairs`: neighbours that share all their addresses are served together, as those of loads are.  `room`: TAKING_TURNS words.
    """
    shift = 2
    while 1 << shift < width:
        shift += 1
    w = 0
    while w < warps:
        lanes = s.WARP >> shift - 2
        if pairs and shift > 2 and (are_paired(where, active, some, w * s.WARP, 1) or are_paired(where, active, some, w * s.WARP, 2)):
            lanes = 2 * lanes
        total = 0
        beyond = 0
        begin = w * s.WARP
        while begin < (w + 1) * s.WARP:
            most = most_words(where, active, some, begin, begin + lanes, shift, room)
            total += most
            beyond += most - (most > 0)
            begin += lanes
        passes[w] = total
        conflicts[w] = beyond
        w += 1
    return 0


def are_paired(where: Words, active: Flags, some: int, first: int, apart: int) -> int:
    """Does each lane of a warp share its address with the one so far apart, unless one of both takes no part?"""
    lane = first
    while lane < first + s.WARP:
        if lane & apart == 0 and where[lane] != where[lane + apart]:
            if some == 0:
                return 0
            if active[lane] and active[lane + apart]:
                return 0
        lane += 1
    return 1


def most_words(where: Words, active: Flags, some: int, begin: int, end: int, shift: int, room: Words) -> int:
    """The most different words of one bank that lanes ask for together."""
    banks = s.WARP >> shift - 2
    i = 0
    while i < banks:
        room[s.HEAD + i] = -1
        room[s.WORDS_OF + i] = 0
        i += 1
    most = 0
    lane = begin
    while lane < end:
        if some == 0 or active[lane]:
            word = where[lane] >> shift
            bank = word & banks - 1
            earlier = room[s.HEAD + bank]
            while earlier >= 0 and where[earlier] >> shift != word:
                earlier = room[s.LATER + earlier - begin]
            if earlier < 0:
                room[s.LATER + lane - begin] = room[s.HEAD + bank]
                room[s.HEAD + bank] = lane
                room[s.WORDS_OF + bank] += 1
                if room[s.WORDS_OF + bank] > most:
                    most = room[s.WORDS_OF + bank]
        lane += 1
    return most


FUNCTIONS = bank_passes, are_paired, most_words
