"""What threads know through the release sequences of one launch: asked only when two accesses are in doubt, and answered from the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....launch import Launch
from ..records.shadow_memory import BLOCK, COPY, LEVEL_AT, NUMBER, WARP, Array
from .memory_order import CLUSTER, CTA, GPU, SYS
from .release_tables import ANYWHERE, NOTHING, ReleaseTables

SCANNED = 1024  # releases behind the index that are looked at one by one
KEPT = 64  # answers


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


class ReleaseSequences(ReleaseTables):
    """Those of one launch, and what they tell."""

    def __init__(self, launch: Launch, floor: int) -> None:
        super().__init__(launch, floor)
        self._indexed: tuple[int, Array, Array] = (0, np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._by_acquisition: dict[int, KnownProgress] = {}
        self._by_sequence: dict[tuple[int, int, int], tuple[int, KnownProgress]] = {}
        self._by_lane: dict[tuple[int, ...], KnownProgress] = {}

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
