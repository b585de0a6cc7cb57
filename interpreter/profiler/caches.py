"""What uses of lines find in caches: the L1s, each used by its own multiprocessor, or the L2 behind them.

A cache evicts its least recently used line.  A stay is one residence of a line: a use that does not find it, and the later uses until it is
evicted or invalidated.  Within a stay a sector is found after the first use that leaves all of it in the cache.  Only a stay in which a
sector is stored in part and then read, and one with uses that allocate no line, are followed use by use.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sectors import SECTOR_WORDS, Bits, filled, touched

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

LOAD, STREAM, STORE, PATCH, DROP, UPDATE = range(6)  # kinds of uses
# STREAM and PATCH load and store in a resident line, but allocate none; DROP invalidates the line; UPDATE is an atomic operation in L2.
READS, BRINGS, WRITES, ALLOCATES, NEEDS_LINE = (
    np.isin(np.arange(6), kinds)
    for kinds in ((LOAD, STREAM, UPDATE), (LOAD, UPDATE), (STORE, UPDATE), (LOAD, STORE, UPDATE), (STREAM, PATCH))
)


class Uses(NamedTuple):
    """Uses of lines in the order of time."""

    cache: NDArray[np.uint16]  # its number
    line: Index
    words: Bits  # read or written
    kind: NDArray[np.uint8]
    covered: Bits | None = None  # of stores: the words written in full; None: all


class Held(NamedTuple):
    """The resident lines of caches, the least recently used first."""

    cache: NDArray[np.uint16]
    line: Index
    valid: Bits  # words
    written: Bits  # sectors

    def uses(self) -> Uses:
        """Uses that leave empty caches in this state: of each line a load of what was not written, then a store of what was."""
        stored = self.valid & self.written * SECTOR_WORDS
        words = np.column_stack([self.valid & ~stored, stored | self.written]).ravel()
        some = words.nonzero()[0]
        covered = np.column_stack([self.valid & ~stored, stored]).ravel()
        kind = np.where(some & 1, STORE, LOAD).astype(np.uint8)
        return Uses(self.cache[some >> 1], self.line[some >> 1], words[some], kind, covered[some])


class Found(NamedTuple):
    """What uses found."""

    hits: Bits  # sectors of each use
    written: int  # sectors that became dirty
    held: Held | None  # in the end, if asked for


class Sorted(NamedTuple):
    """Uses by cache, line and time."""

    order: Index  # the place of each in time
    begins: Flags  # a stay
    kind: NDArray[np.uint8]
    words: Bits
    covered: Bits
    sectors: Bits  # of the words
    whole: Bits  # the sectors that a use leaves whole


def find(u: Uses, lines: int, *, clash: bool, keep: bool = False) -> Found:
    """The sectors that each use finds in caches of so many lines, empty at first; `keep`: and what they hold in the end.

    `clash`: a load of words that a written sector lacks invalidates the line first, as in L1.
    """
    hits = np.zeros(u.line.size, np.uint32)
    if not u.line.size or not lines:
        return Found(hits, 0, None)
    order, name = _by_line(u)
    kind, words = u.kind.take(order), u.words.take(order)
    begins, resident = _stays(u, order, name, kind, lines, keep=keep)
    covered = words if u.covered is None else u.covered.take(order)
    sectors = touched(words)
    whole = sectors * BRINGS.take(kind)
    if (kind == STORE).any():
        whole |= filled(covered) * (kind == STORE)
    by_line = Sorted(order, begins, kind, words, covered, sectors, whole)
    followed = _in_stays(by_line, hits, clash=clash)
    starts = begins.nonzero()[0]
    writes = WRITES.take(kind)
    written = np.bitwise_or.reduceat(sectors * writes, starts) if keep or writes.any() else hits[:0]
    dirty = int(np.bitwise_count(written).sum())
    return Found(hits, dirty, _held(u, by_line, starts, resident, written, followed) if keep else None)


class Followed(NamedTuple):
    """How stays end that were followed use by use."""

    starts: Index  # the places where they begin
    valid: Bits  # words
    written: Bits  # sectors


def _in_stays(s: Sorted, hits: Bits, *, clash: bool) -> Followed | None:
    """Enters what uses find that are not the only ones of their stays."""
    several = s.begins.copy()
    several[:-1] &= s.begins[1:]
    at = (~several).nonzero()[0]
    if not at.size:
        return None
    begins, kind, sectors, whole = s.begins.take(at), s.kind.take(at), s.sectors.take(at), s.whole.take(at)
    wanted, stores = sectors * READS.take(kind), kind == STORE
    first = begins.nonzero()[0].take(np.cumsum(begins) - 1)  # the place of each use's stay
    found, followed = _earlier(whole, first), None
    unclear = NEEDS_LINE.take(kind)
    if (stores & (sectors != whole)).any():  # sectors stored in part, then read
        unclear |= (_earlier((sectors & ~whole) * stores, first) & ~found & wanted) != 0
    if unclear.any():
        chosen = np.zeros(at.size, np.bool_)
        chosen[first.compress(unclear)] = True
        rows = chosen.take(first).nonzero()[0]
        some = at.take(rows)
        found[rows], *state = _use_by_use(begins.take(rows), kind.take(rows), s.words.take(some), s.covered.take(some), clash=clash)
        followed = Followed(some.compress(begins.take(rows)), *state)
    hits[s.order.take(at)] = found & wanted
    return followed


def _held(u: Uses, s: Sorted, starts: Index, resident: Flags, written: Bits, followed: Followed | None) -> Held:
    """The lines that are resident in the end."""
    valid = np.bitwise_or.reduceat(s.whole * SECTOR_WORDS | s.covered * (s.kind == STORE), starts)
    if followed is not None:
        stays = starts.searchsorted(followed.starts)
        valid[stays], written[stays] = followed.valid, followed.written
    ends = np.append(starts[1:], s.order.size) - 1
    left = (resident.take(ends) & ((valid | written) != 0)).nonzero()[0]
    last = s.order.take(ends.take(left))  # the use that each line had last
    left, last = left.take(last.argsort()), np.sort(last)
    return Held(u.cache.take(last), u.line.take(last), valid.take(left), written.take(left))


def stable_order(key: NDArray[Any], bits: int) -> Index:
    """A stable argsort of keys of so many bits: by digits of 16 bits, which numpy sorts by counting."""
    order = key.astype(np.uint16).argsort(kind="stable")
    for shift in range(16, bits, 16):
        digit = (key >> key.dtype.type(shift)).astype(np.uint16)
        order = order.take(digit.take(order).argsort(kind="stable"))
    return order


def _by_line(u: Uses) -> tuple[Index, NDArray[Any]]:
    """The order by cache, line and time; a number for cache and line of each use in that order."""
    low = int(u.line.min())
    line_bits = (int(u.line.max()) - low).bit_length()
    bits = line_bits + int(u.cache.max()).bit_length()
    kind: Any = np.uint32 if bits <= 32 else np.int64
    name = (u.line - low).astype(kind)
    name |= u.cache.astype(kind) << kind(line_bits)
    order = stable_order(name, bits)
    return order, name.take(order)


def _stays(u: Uses, order: Index, name: NDArray[Any], kind: NDArray[np.uint8], lines: int, *, keep: bool) -> tuple[Flags, Flags]:
    """Which uses begin a stay, and, if asked for, which are the last one of a line that is resident at the end."""
    new = np.ones(name.size, np.bool_)
    np.not_equal(name[1:], name[:-1], out=new[1:])
    begins, drops = new.copy(), kind == DROP
    begins[1:] |= drops[:-1]
    resident = np.append(new[1:], True) & ~drops
    lines_of = np.bincount(u.cache.take(order.compress(new)))  # that are ever asked of each cache
    if (lines_of > lines).any():
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        place = place.take(stable_order(u.cache, 16))  # by cache and time
        ends = np.cumsum(np.bincount(u.cache, minlength=lines_of.size))
        for cache in (lines_of > lines).nonzero()[0].tolist():
            uses = place[ends[cache - 1] if cache else 0 : ends[cache]]
            missing, held = _least_recently_used(name.take(uses), kind.take(uses), lines)
            begins[uses] = new.take(uses)
            begins[uses.take(missing)] = True
            if keep:
                last = uses.compress(resident.take(uses))
                resident[last] = np.isin(name.take(last), held)
    return begins, resident


def _least_recently_used(name: NDArray[Any], kind: NDArray[np.uint8], lines: int) -> tuple[list[int], list[int]]:
    """Of one cache: which uses find no line, and the lines that are resident at the end."""
    again = np.zeros(name.size, np.bool_)  # directly after a use of the same line
    again[1:] = (name[1:] == name[:-1]) & ALLOCATES.take(kind[:-1]) & (kind[1:] != DROP)
    some = (~again).nonzero()[0]
    name, kind = name.take(some), kind.take(some)
    held: OrderedDict[int, None] = OrderedDict()
    missing = []
    for at, line, drops, allocates in zip(
        some.tolist(), name.tolist(), (kind == DROP).tolist(), ALLOCATES.take(kind).tolist(), strict=True
    ):
        if line in held:
            if drops:
                del held[line]
            else:
                held.move_to_end(line)
        elif not drops:
            missing.append(at)
            if allocates:
                held[line] = None
                if len(held) > lines:
                    held.popitem(last=False)
    return missing, list(held)


def _earlier(sectors: Bits, first: Index) -> Bits:
    """The sectors of all uses of the same stay before each; `first`: the place of the stay's first use."""
    each = sectors.view(np.uint8).reshape(-1, 4)  # a byte for each sector
    found = np.empty_like(each)
    for n in range(4):
        before = np.cumsum(each[:, n], dtype=np.uint32)
        before -= each[:, n]
        found[:, n] = before != before.take(first)
    return found.view(np.uint32).ravel()


def _use_by_use(begins: Flags, kind: NDArray[np.uint8], words: Bits, covered: Bits, *, clash: bool) -> tuple[Bits, Bits, Bits]:
    """(sectors found by each use, words valid and sectors written at the end of each stay); all stays take their next use together."""
    again = np.zeros(begins.size, np.bool_)  # equal to the use before: a load finds all, a store changes nothing
    again[1:] = ~begins[1:] & (kind[1:] == kind[:-1]) & (words[1:] == words[:-1]) & (covered[1:] == covered[:-1]) & (kind[1:] != STREAM)
    sectors, reads, stores = touched(words), READS.take(kind), WRITES.take(kind) | (kind == PATCH)
    found = sectors * (again & reads)
    some = (~again).nonzero()[0]
    begins, kind = begins.take(some), kind.take(some)
    starts = begins.nonzero()[0]
    stay = np.cumsum(begins) - 1
    rank = np.arange(begins.size) - starts.take(stay)
    order = stable_order(rank, int(rank.max()).bit_length())
    valid, written = np.zeros(starts.size, np.uint32), np.zeros(starts.size, np.uint32)
    for begin, end in pairwise([0, *np.cumsum(np.bincount(rank)).tolist()]):
        rows = order[begin:end]
        s, k, rows = stay.take(rows), kind.take(rows), some.take(rows)
        w, r, touches = words.take(rows), reads.take(rows), sectors.take(rows)
        has, marks = valid.take(s), written.take(s)
        acts = ALLOCATES.take(k) | ((has | marks) != 0)
        lack = w & ~has
        if clash:  # a written sector lacks a word: the line is invalidated, and comes in anew
            anew = (r & ((lack & (touched(has) | marks) * SECTOR_WORDS) != 0)).nonzero()[0]
            has[anew] = marks[anew] = 0
            lack[anew] = w[anew]
        lost = touched(lack)
        found[rows] = touches & ~lost * r
        writes = stores.take(rows) & acts
        brought = lost * SECTOR_WORDS * (r & acts)
        stays = k != DROP
        valid[s] = (has | brought | covered.take(rows) * writes) * stays
        written[s] = (marks | touches * writes) * stays
    return found, valid, written
