"""Release sequences of one launch, what threads have acquired from them, and what they know through that.

Three tables of numbers, of which the first two only grow.  A row of `releases` is a release: its sequence, the thread, up to when what the thread
did is covered, and what it had acquired by then.  A row of `acquired` is an acquisition: a sequence up to one of its releases, and the
acquisition before it.  `newest` has the newest acquisition of each thread, each warp and each block (what all its threads know by a barrier).
A join writes one number for each thread; what it tells of a third thread is looked up only when two accesses are in doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...launch import Launch
from .memory_order import CLUSTER, CTA, GPU, SYS
from .shadow_memory import BLOCK, COPY, LEVEL_AT, NUMBER, WARP, Array

SCANNED = 1024  # releases behind the index that are looked at one by one
KEPT = 64  # answers
ANYWHERE = -1  # the block of what every thread sees that acquires
NOTHING = -1


@dataclass(frozen=True, slots=True)
class CausalPast:
    """Threads at a time: what is before it, and before what they do next."""

    thread: Array
    at: Array  # all that the thread has done up to this time
    barrier: Array  # the last barriers of its block and its warp
    warp: Array
    acquired: Array  # the newest acquisitions of thread, warp and block, (3, threads)

    def take(self, index: Array) -> CausalPast:
        """That of some."""
        return CausalPast(self.thread[index], self.at[index], self.barrier[index], self.warp[index], self.acquired[:, index])

    @staticmethod
    def of(parts: Sequence[CausalPast]) -> CausalPast:
        """Several, one after the other."""
        thread, at, barrier, warp = (np.concatenate([getattr(p, n) for p in parts]) for n in ("thread", "at", "barrier", "warp"))
        return CausalPast(thread, at, barrier, warp, np.concatenate([p.acquired for p in parts], axis=1))


class _Rows:
    """A table that grows at its end; its columns by type."""

    def __init__(self, **names: str) -> None:
        self.count = 0
        self.columns: dict[str, Array] = {name: np.zeros(16, dtype) for dtype, some in names.items() for name in some.split()}

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def add(self, n: int, **values: Any) -> int:
        """More rows; the number of the first."""
        first, self.count = self.count, self.count + n
        for name, column in self.columns.items():
            if self.count > column.size:
                self.columns[name] = np.concatenate((column, np.zeros(max(self.count - column.size, column.size), column.dtype)))
        for name, value in values.items():
            self.columns[name][first : self.count] = value
        return first


class KnownProgress:
    """Up to when what others did is known: of threads, warps, blocks and the ends of copies, by the names that stamps have."""

    __slots__ = ("keys", "times")

    def __init__(self, keys: Array, times: Array) -> None:
        self.keys, self.times = keys, times

    def until(self, keys: Array) -> Array:
        """The times up to which all that these did is known; -1: nothing."""
        if not self.keys.size:
            return np.full(np.shape(keys), NOTHING)
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        return np.where(self.keys[place] == keys, self.times[place], NOTHING)

    def until_one(self, key: int) -> int:
        """The same of one."""
        return int(self.until(np.array([key]))[0])


class ReleaseSequences:
    """Those of one launch."""

    def __init__(self, launch: Launch, floor: int) -> None:
        self.floor = floor
        self.threads = launch.threads
        self.per_block = -(-launch.threads // 32)
        self.cluster_size = launch.cluster_size
        self.releases = _Rows(int64="who", int32="sequence at barrier warp of_thread of_warp of_block block narrow", int8="scope size")
        self.acquired = _Rows(int32="release block before", int8="scope")
        count = launch.blocks * launch.threads
        self._warps, self._blocks = count, count + launch.blocks * self.per_block
        self.newest = np.full(self._blocks + launch.blocks, NOTHING)
        self._alone = np.zeros(launch.blocks, bool)  # have threads or warps of the block acquired what the block does not know?
        self._only_wide = True  # no release is narrower than the device
        self._indexed: tuple[int, Array, Array] = (0, np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._by_acquisition: dict[int, KnownProgress] = {}
        self._by_sequence: dict[tuple[int, int, int], tuple[int, KnownProgress]] = {}
        self._by_lane: dict[tuple[int, ...], KnownProgress] = {}

    @property
    def any_acquired(self) -> bool:
        """Has anybody acquired anything?"""
        return self.acquired.count > 0

    def newest_of(self, thread: Array) -> Array:
        """The newest acquisitions of threads, their warps and their blocks."""
        block = thread // self.threads
        warp = block * self.per_block + thread % self.threads // 32
        return np.stack((self.newest[thread], self.newest[self._warps + warp], self.newest[self._blocks + block]))

    # ------------------------------------------------------------ release

    def reserve(self, n: int) -> int:
        """Makes room for more releases; the number of the first."""
        return self.releases.add(n)

    def fill(self, rows: Array | slice, m: CausalPast, sequence: Array | int, scope: int = SYS, size: int = 0, narrow: Any = 0) -> None:
        """What threads release that comes before a moment."""
        values = {
            "sequence": sequence, "who": m.thread, "at": m.at, "barrier": np.where(m.barrier > self.floor, m.barrier, NOTHING),
            "warp": np.where(m.warp > self.floor, m.warp, NOTHING), "of_thread": m.acquired[0], "of_warp": m.acquired[1], "of_block": m.acquired[2],
            "scope": scope, "block": m.thread // self.threads, "size": size, "narrow": narrow,
        }  # fmt: skip
        for name, value in values.items():
            self.releases[name][rows] = value
        self._only_wide &= scope >= GPU

    def release(self, m: CausalPast, after: int = NOTHING, scope: int = SYS) -> int:
        """Threads release, one after the other, behind a release of the same sequence, or to begin one; the last of them all."""
        if not m.thread.size:
            return after
        first = self.reserve(m.thread.size)
        last = first + m.thread.size - 1
        self.fill(slice(first, last + 1), m, first if after < 0 else self.releases["sequence"][after], scope)
        return last

    def announce(self, keys: Array, now: int, after: int = NOTHING) -> int:
        """Something by name is over, such as a copy: whoever acquires this knows it, whatever the scope; the last release, as `release` has it."""
        none = np.full(keys.size, NOTHING)
        last = self.release(CausalPast(keys, np.full(keys.size, now), none, none, np.full((3, keys.size), NOTHING)), after)
        self.releases["block"][last + 1 - keys.size : last + 1] = ANYWHERE
        return last

    # ------------------------------------------------------------ acquire

    def acquire(self, thread: Array, up_to: Array | int, scope: int = SYS, *, tells_all: bool = False) -> bool:
        """Threads come after what a sequence has up to a release, each after its own; were there any?  `tells_all`: it has all that they know."""
        release: Array = np.broadcast_to(up_to, thread.shape)
        if not (there := release >= 0).all():
            thread, release = thread[there], release[there]
        if not thread.size:
            return False
        a, sequence = self.acquired, self.releases["sequence"]
        newest = self.newest[thread]
        had = np.maximum(newest, 0)
        same = (newest >= 0) & (a["scope"][had] == scope) & (sequence[a["release"][had]] == sequence[release])
        fresh = ~same | (a["release"][had] < release)
        if not fresh.all():
            thread, release, newest, had, same = thread[fresh], release[fresh], newest[fresh], had[fresh], same[fresh]
        if thread.size:
            before, block = np.where(same, a["before"][had], newest), thread // self.threads
            if tells_all:
                before = np.full(thread.size, NOTHING)
            if (
                self._only_wide and scope >= GPU
            ):  # those who released last may have acquired what these threads had: it is known with theirs
                theirs = self.releases["of_thread"][release]
                through = np.maximum(theirs, 0)
                known = ~same & (newest >= 0) & (theirs >= 0) & (sequence[a["release"][through]] == sequence[a["release"][had]])
                known &= (a["release"][through] >= a["release"][had]) & (np.minimum(a["scope"][through], a["scope"][had]) >= GPU)
                before = np.where(known, a["before"][had], before)
            begins = np.ones(thread.size, bool)  # neighbours that acquire the same share a row
            begins[1:] = (release[1:] != release[:-1]) | (before[1:] != before[:-1]) | (block[1:] != block[:-1])
            first = a.add(int(begins.sum()), release=release[begins], scope=scope, block=block[begins], before=before[begins])
            self.newest[thread] = first + np.cumsum(begins) - 1
            self._alone[block] = True
        return True

    def meet(self, m: CausalPast, groups: Array, thread: Array, theirs: Array, *, tells_all: bool = True) -> None:
        """All of a group release, and these threads acquire all of it; tells_all: they are some of those who release."""
        order = np.argsort(groups, kind="stable")
        ascending = groups[order]
        starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
        counts = np.diff(starts, append=groups.size)
        first = self.reserve(order.size)
        self.fill(slice(first, first + order.size), m.take(order), first + np.repeat(starts, counts))
        place = np.searchsorted(ascending[starts], theirs)
        self.acquire(thread, first + starts[place] + counts[place] - 1, tells_all=tells_all)

    def block_barrier(self, blocks: Array) -> None:
        """All threads of these blocks know what each of them knew."""
        blocks = blocks[self._alone[blocks]]
        if blocks.size:
            self._alone[blocks] = False
            lanes = blocks[:, None] * self.threads + np.arange(self.threads)
            warps = self._warps + blocks[:, None] * self.per_block + np.arange(self.per_block)
            self._gather(self._blocks + blocks, np.concatenate((lanes, warps), axis=1), blocks)

    def warp_barrier(self, warps: Array) -> None:
        """All threads of these warps know what each of them knew."""
        warps = warps[self._alone[warps // self.per_block]]
        if warps.size:
            block, number = warps // self.per_block, warps % self.per_block
            lanes = number[:, None] * 32 + np.arange(32)
            here = lanes < self.threads
            members = np.where(here, block[:, None] * self.threads + lanes, (block * self.threads + number * 32)[:, None])
            self._gather(self._warps + warps, members, block)

    def _gather(self, to: Array, members: Array, block: Array) -> None:
        """The acquisitions of members become those of their warps or blocks: of each sequence the latest."""
        a, sequence = self.acquired, self.releases["sequence"]
        own = np.broadcast_to(np.arange(to.size)[:, None], members.shape).ravel()
        at = self.newest[members.ravel()]
        self.newest[members.ravel()] = NOTHING
        found = []
        while (some := np.flatnonzero(at >= 0)).size:
            pairs = np.unique(own[some] << 40 | at[some])
            own, at = pairs >> 40, pairs & (1 << 40) - 1
            found.append((own, at))
            at = a["before"][at]
        if not found:
            return
        own, at = (np.concatenate(column) for column in zip(*found, strict=True))
        release, scope = a["release"][at], a["scope"][at]
        order = np.lexsort((release, scope, sequence[release], own))
        own, release, scope = own[order], release[order], scope[order]
        of = sequence[release]
        last = np.append((own[1:] != own[:-1]) | (of[1:] != of[:-1]) | (scope[1:] != scope[:-1]), True)
        own, release, scope = own[last], release[last], scope[last]
        begins = np.append(True, own[1:] != own[:-1])
        newest = self.newest[to[own]]  # an older part of the same sequence is known with the newer one
        had = np.maximum(newest, 0)
        again = (newest >= 0) & (a["scope"][had] == scope) & (sequence[a["release"][had]] == sequence[release])
        below = np.where(again, a["before"][had], newest)
        before = np.where(begins, below, a.count + np.arange(own.size) - 1)
        first = a.add(own.size, release=release, scope=scope, block=block[own], before=before)
        ends = np.append(begins[1:], True)
        self.newest[to[own[ends]]] = first + np.flatnonzero(ends)

    # ------------------------------------------------------------ questions

    def narrow_line(self, release: Array) -> Array:
        """The lines of the last releases of narrow scope in sequences up to these."""
        return np.where(release >= 0, self.releases["narrow"][release], 0)

    def told_last(self, acquired: Array, thread: Array, time: Array) -> Array:
        """Do the last releases that lanes have acquired tell what these threads did up to a time?  Mostly that is all there is to ask."""
        r, out = self.releases, np.zeros(thread.size, bool)
        block, warp = thread // self.threads, thread % self.threads // 32
        for at in acquired:
            some = np.flatnonzero(at >= 0)
            if not some.size:
                continue
            rows = self.acquired["release"][at[some]]
            who, seen = r["who"][rows], self._visible(rows, self.acquired["scope"][at[some]], self.acquired["block"][at[some]])
            near = (who < COPY << LEVEL_AT) & (who // self.threads == block[some])
            told = (who == thread[some]) & (r["at"][rows] >= time[some])
            told |= near & (r["barrier"][rows] >= time[some])
            told |= near & (who % self.threads // 32 == warp[some]) & (r["warp"][rows] >= time[some])
            out[some] |= told & seen
        return out

    def turns(self, acquired: Array) -> tuple[Array, Array]:
        """What lanes have acquired, but for how far in the sequence that they acquired from last; and that."""
        a, own = self.acquired, np.maximum(acquired[0], 0)
        release = np.where(acquired[0] >= 0, a["release"][own], NOTHING)
        sequence = np.where(release >= 0, self.releases["sequence"][np.maximum(release, 0)], NOTHING)
        scope, block = a["scope"][own], a["block"][own]
        wide = (scope >= GPU) & self._only_wide
        return np.stack((sequence, scope, np.where(wide, ANYWHERE, block), a["before"][own], acquired[1], acquired[2])), release

    def known(self, acquired: tuple[int, ...]) -> KnownProgress:
        """What somebody knows who has acquired this."""
        found = self._by_lane.get(acquired)
        if found is None:
            parts = [self._of_acquisition(at) for at in acquired if at >= 0]
            found = parts[0] if len(parts) == 1 else self._joined(parts)
            _keep(self._by_lane, acquired, found)
        return found

    def _of_acquisition(self, at: int) -> KnownProgress:
        """What one acquisition and those before it tell."""
        a, parts, start = self.acquired, [], at
        while at >= 0:
            if (found := self._by_acquisition.get(at)) is not None:
                parts.append(found)
                break
            parts.append(self._of_sequence(*(int(a[name][at]) for name in ("release", "scope", "block"))))
            at = int(a["before"][at])
        known = parts[0] if len(parts) == 1 else self._joined(parts)
        _keep(self._by_acquisition, start, known)
        return known

    def _of_sequence(self, release: int, scope: int, block: int) -> KnownProgress:
        """What a sequence tells up to a release to a thread of a block that acquires at a scope; of each the last answer is the next one's start."""
        key = self._key(int(self.releases["sequence"][release]), scope, block)
        found = self._by_sequence.get(key)
        if found is not None and found[0] == release:
            return found[1]
        known = self._joined(list(self._reached(release, scope, block)))
        if found is None or found[0] < release:
            self._by_sequence.pop(key, None)
            _keep(self._by_sequence, key, (release, known))
        return known

    def _key(self, sequence: int, scope: int, block: int) -> tuple[int, int, int]:
        """Who acquires at the device's scope knows the same in every block, if all releases are as wide."""
        return (sequence, SYS, ANYWHERE) if scope >= GPU and self._only_wide else (sequence, scope, block)

    def _reached(self, release: int, scope: int, block: int) -> Iterator[KnownProgress]:
        """What a sequence tells, directly and through what those who released had acquired."""
        r, a = self.releases, self.acquired
        open_ = [(release, scope, block)]
        reached: dict[tuple[int, int, int], int] = {}
        seen = np.zeros(a.count, bool)
        while open_:
            release, scope, block = open_.pop()
            sequence = int(r["sequence"][release])
            key = self._key(sequence, scope, block)
            start = reached.get(key, sequence - 1)
            if release <= start:
                continue
            reached[key] = release
            have = self._by_sequence.get(key)
            if have is not None and start < have[0] <= release:
                start = have[0]
                yield have[1]
            rows = self._members(sequence, start, release)
            rows = rows[self._visible(rows, scope, block)]
            yield self._told(rows)
            at = np.concatenate([r[name][rows] for name in ("of_thread", "of_warp", "of_block")])
            while (at := at[at >= 0]).size and (at := np.unique(at[~seen[at]])).size:
                seen[at] = True
                answered = (
                    [n for n in self._by_acquisition if n in at]
                    if at.size > KEPT
                    else [n for n in at.tolist() if n in self._by_acquisition]
                )
                yield from (self._by_acquisition[n] for n in answered)
                if answered:
                    at = at[~np.isin(at, answered)]
                open_ += self._latest(at)
                at = a["before"][at]

    def _latest(self, at: Array) -> list[tuple[int, int, int]]:
        """Of these acquisitions the latest for each sequence, scope and block."""
        a = self.acquired
        release, scope, block = a["release"][at], a["scope"][at], a["block"][at]
        sequence = self.releases["sequence"][release]
        if self._only_wide:
            block = np.where(scope >= GPU, 0, block)
        order = np.lexsort((release, block, scope, sequence))
        sorted_ = [column[order] for column in (sequence, scope, block)]
        last = np.append(np.logical_or.reduce([c[1:] != c[:-1] for c in sorted_]), True) if at.size else np.zeros(0, bool)
        return list(zip(*(column[order][last].tolist() for column in (release, scope, a["block"][at])), strict=True))

    def _members(self, sequence: int, start: int, end: int) -> Array:
        """The releases of a sequence behind one, up to another one."""
        of = self.releases["sequence"]
        if end - start <= SCANNED:
            return start + 1 + np.flatnonzero(of[start + 1 : end + 1] == sequence)
        count, order, ascending = self._indexed
        if self.releases.count - count > max(SCANNED, count >> 3):
            count = self.releases.count
            order = np.argsort(of[:count], kind="stable")
            ascending = of[order]
            self._indexed = count, order, ascending
        rows = order[slice(*np.searchsorted(ascending, (sequence, sequence + 1)))]
        rows = rows[slice(*np.searchsorted(rows, (start + 1, end + 1)))]
        if end < count:
            return rows
        begin = max(start + 1, count)
        return np.concatenate((rows, begin + np.flatnonzero(of[begin : end + 1] == sequence)))

    def _visible(self, rows: Array, scope: Array | int, block: Array | int) -> Array:
        """Which releases and an acquire of a block are in each other's scope?"""
        theirs, size = self.releases["block"][rows], self.cluster_size
        needed = np.where(theirs == block, CTA, np.where(theirs // size == block // size, CLUSTER, GPU))
        return np.asarray((np.minimum(self.releases["scope"][rows], scope) >= needed) | (theirs == ANYWHERE))

    def _told(self, rows: Array) -> KnownProgress:
        r = self.releases
        who, barrier, warp = r["who"][rows], r["barrier"][rows], r["warp"][rows]
        block = who // self.threads
        keys = [who]
        times = [r["at"][rows]]
        if (some := barrier >= 0).any():
            keys.append(block[some] | BLOCK << LEVEL_AT)
            times.append(barrier[some])
        if (some := warp >= 0).any():
            keys.append((block[some] * self.per_block + who[some] % self.threads // 32) | WARP << LEVEL_AT)
            times.append(warp[some])
        return _latest_of(np.concatenate(keys), np.concatenate(times))

    def _joined(self, parts: Sequence[KnownProgress]) -> KnownProgress:
        """The later time of each; of a warp or a block, all of whose threads are known, the earliest of theirs."""
        known = _latest_of(np.concatenate([p.keys for p in parts]), np.concatenate([p.times for p in parts]))
        threads = known.keys[: np.searchsorted(known.keys, WARP << LEVEL_AT)]
        if threads.size < min(32, self.threads):
            return known
        number = threads % self.threads // 32
        warps = self._whole(
            threads // self.threads * self.per_block + number, known.times[: threads.size], np.minimum(32, self.threads - number * 32)
        )
        known = _latest_of(np.append(known.keys, warps[0] | WARP << LEVEL_AT), np.append(known.times, warps[1]))
        begin, end = np.searchsorted(known.keys, (WARP << LEVEL_AT, BLOCK << LEVEL_AT))
        number = known.keys[begin:end] & NUMBER
        blocks = self._whole(number // self.per_block, known.times[begin:end], np.full(number.size, self.per_block))
        return _latest_of(np.append(known.keys, blocks[0] | BLOCK << LEVEL_AT), np.append(known.times, blocks[1]))

    @staticmethod
    def _whole(of: Array, times: Array, wanted: Array) -> tuple[Array, Array]:
        """The groups of which all members are there, in ascending order, and the earliest time of each."""
        if not of.size:
            return of, times
        starts = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
        whole = np.diff(starts, append=of.size) == wanted[starts]
        return of[starts[whole]], np.minimum.reduceat(times, starts)[whole]


def _latest_of(keys: Array, times: Array) -> KnownProgress:
    """Of each name the latest time."""
    if keys.size < 2 or (keys[1:] > keys[:-1]).all():
        return KnownProgress(keys, times)
    order = np.argsort(keys, kind="stable")
    keys, times = keys[order], times[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return KnownProgress(keys[starts], np.maximum.reduceat(times, starts))


def _keep(answers: dict[Any, Any], key: Any, answer: Any) -> None:
    """Keeps an answer, and forgets the oldest of many."""
    if len(answers) >= KEPT:
        del answers[next(iter(answers))]
    answers[key] = answer
