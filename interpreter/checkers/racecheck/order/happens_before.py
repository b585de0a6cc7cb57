"""What is ordered before what, in one launch: `happens_before` is the one question.

Two layers.  By structure: the time of the last barrier of each block, of the last synchronisation of each warp, and of the last one of some of its
lanes, in arrays.  Beside that, where threads have synchronised otherwise, the release sequences that they have acquired (release_sequences.py).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....launch import Launch
from ..records.shadow_memory import BLOCK, COPY, GRID, HALF, LEVEL_AT, LOW, NEVER, NUMBER, THREAD, WARP, Array
from ..thread_ids import Copies, NumberedLanes
from .release_sequences import KnownProgress, ReleaseSequences
from .release_tables import CausalPast

FEW = 4  # lanes that have acquired different things, and are asked one by one


@dataclass(frozen=True, slots=True)
class KnownAtIssue:
    """What asynchronous copies come after, however late a schedule performs them: the moment of their issue, and the lanes met before it."""

    moment: CausalPast
    partial: tuple[tuple[Array, Array], ...]

    def take(self, index: Array) -> KnownAtIssue:
        """That of some."""
        return KnownAtIssue(self.moment.take(index), tuple([(times[index], masks[index]) for times, masks in self.partial]))


class Order:
    """The order of one launch."""

    def __init__(self, launch: Launch, floor: int, start: int, copies: Copies) -> None:
        self.launch = launch
        self.start = start  # of the launch
        self.threads = launch.threads
        self.per_block = -(-launch.threads // 32)
        self.floor = floor  # whatever has no later time is ordered before all of the launch
        self.earlier: tuple[tuple[int, int], ...] = ()  # times of other launches that are ordered before, from, to
        self.barrier = np.full(launch.blocks, floor, np.int64)
        self.warp = np.full(launch.blocks * self.per_block, floor, np.int64)
        self.barriers = 0  # how often one was complete
        self.partial: list[tuple[Array, Array]] = []  # by size of the mask: time, mask
        self._handed_on = np.zeros(0, np.int64)  # of each thread: until when its releases name the lanes of `partial`
        self.sequences = ReleaseSequences(launch, floor)
        self.copies = copies
        self.phases = 0
        self.only_barriers = False  # of whole blocks synchronise, and all launches before are ordered before
        self.activity = np.zeros(launch.blocks * self.per_block, np.int64)  # when each warp last read memory that others may read, too

    # ------------------------------------------------------------ synchronisation

    def block_barrier(self, blocks: Array, now: int) -> None:
        """All threads of these blocks have met."""
        self.barrier[blocks] = now
        self.barriers += 1
        if self.sequences.any_acquired:
            self.sequences.block_barrier(blocks)

    def warp_barrier(self, warps: Array, now: int) -> None:
        """All lanes of these warps have met."""
        self.warp[warps] = now
        if self.sequences.any_acquired:
            self.sequences.warp_barrier(warps)

    def lanes_met(self, lanes: NumberedLanes, masks: Array, now: int) -> None:
        """Lanes of warps have met, each with those of its mask."""
        if not self.partial:
            n = self.launch.blocks * self.threads
            self.partial = [(np.zeros(n, np.int64), np.zeros(n, np.uint32)) for _ in range(6)]
            self._handed_on = np.zeros(n, np.int64)
        size = np.ceil(np.log2(np.maximum(np.bitwise_count(masks), 1))).astype(int)
        groups = lanes.warp << 32 | masks
        learned = np.isin(groups, np.unique(groups[self._know_apart(lanes, masks, size)]))
        if learned.any():
            thread = lanes.thread[learned]
            self.sequences.meet(self.moment(thread, now), groups[learned], thread, groups[learned])
        for s in np.unique(size).tolist():
            here = lanes.thread[size == s]
            self.partial[s][0][here] = now
            self.partial[s][1][here] = masks[size == s]

    def _know_apart(self, lanes: NumberedLanes, masks: Array, size: Array) -> Array:
        """Which lanes know of others than those of their mask, by earlier masks or otherwise, what the rest may not know."""
        since = np.maximum(self.barrier[lanes.block], self.warp[lanes.warp])
        lowest = np.bitwise_count((masks & (~masks + np.uint32(1))) - np.uint32(1)).astype(np.int64)
        leader = lanes.thread - (lanes.thread % self.threads & 31) + lowest
        out = self.sequences.newest[lanes.thread] != self.sequences.newest[leader]
        for s, (times, met) in enumerate(self.partial):
            if not times.any():
                continue
            apart = (times[lanes.thread] != times[leader]) | (met[lanes.thread] != met[leader]) | (size == s)
            for who in (lanes.thread, leader):
                out |= apart & (times[who] > since) & (met[who] & ~masks != 0)
        return np.asarray(out)

    def moment(self, thread: Array, now: int) -> CausalPast:
        """All that is before these threads, and what they have done themselves."""
        if self.partial:
            self._hand_on_partial(thread)
        block = thread // self.threads
        warp = block * self.per_block + thread % self.threads // 32
        return CausalPast(thread, np.full(thread.size, now), self.barrier[block], self.warp[warp], self.sequences.newest_of(thread))

    def _hand_on_partial(self, thread: Array) -> None:
        """The lanes that these threads have met, without the rest of their warps, become acquisitions, which releases hand on."""
        first = thread - (thread % self.threads & 31)
        since = np.maximum(
            self.barrier[thread // self.threads], self.warp[thread // self.threads * self.per_block + thread % self.threads // 32]
        )
        since = np.maximum(since, self._handed_on[thread])
        for times, masks in self.partial:
            new = times[thread] > since
            lane, who = np.nonzero((masks[thread] >> np.arange(32, dtype=np.uint32)[:, None] & np.uint32(1)) * new)
            if who.size:
                none = np.zeros(who.size, np.int64)
                met = CausalPast(first[who] + lane, times[thread[who]], none, none, np.full((3, who.size), -1))
                self.sequences.meet(met, thread[who], thread[new], thread[new], tells_all=False)
                self._handed_on[thread[new]] = np.maximum(self._handed_on[thread[new]], times[thread[new]])

    def at_issue(self, thread: Array, now: int) -> KnownAtIssue:
        """What these threads know, for copies that they issue."""
        partial = tuple([(times[thread], masks[thread]) for times, masks in self.partial])
        return KnownAtIssue(self.moment(thread, now), partial)

    # ------------------------------------------------------------ questions

    def happens_before(
        self,
        stamp: Array,
        mask: Array | None,
        u: NumberedLanes,
        before: KnownAtIssue | None = None,
        *,
        shared: bool,
        asking: Array | None = None,
    ) -> Array:
        """Which of these records are ordered before their lanes, by structure or by what was released to them; `before`: what copies of the lanes
        come after; `shared`: only blocks of a cluster can have made the records; `asking`: for which lanes to ask what was released."""
        time = (stamp >> HALF).astype(np.int64)
        who = (stamp & LOW).astype(np.int64)
        level, number = who >> LEVEL_AT, who & NUMBER
        if self.only_barriers:
            block = np.where(level == THREAD, number // self.threads, number)
            behind = (time <= self.floor) | ((block == u.block) & (time <= self.barrier[u.block])) | (who == u.thread)
            return np.asarray(behind)
        copied = (level == COPY) & (time > self.floor)
        if copied.any():
            number, time, level = number.copy(), time.copy(), level.copy()
            element = number[copied]
            time[copied], number[copied], level[copied] = self.copies.done[element], self.copies.thread[element], THREAD
        one = level == THREAD
        ok = one & (number == u.thread) & (time < NEVER)
        if before is not None:
            ok &= time <= before.moment.at
        block = np.where(one, number // self.threads, np.where(level == WARP, number // self.per_block, number))
        settled, met = (self.barrier[u.block], self.warp[u.warp]) if before is None else (before.moment.barrier, before.moment.warp)
        ok |= (block == u.block) & (time <= settled)
        warp = np.where(one, number // self.threads * self.per_block + number % self.threads // 32, np.where(level == WARP, number, -1))
        same = warp == u.warp
        ok |= same & (time <= met)
        for times, masks in ((t[u.thread], m[u.thread]) for t, m in self.partial) if before is None else before.partial:
            bits = np.where(one, np.uint32(1) << (number % self.threads & 31).astype(np.uint32), np.uint32(0) if mask is None else mask)
            ok |= same & (time <= times) & (bits != 0) & (bits & ~masks == 0)
        if self.floor < self.start:  # threads of other launches have the same numbers
            ok &= time >= self.start
        ok |= time <= self.floor
        for first, last in self.earlier:
            ok |= (time >= first) & (time <= last)
        open_ = np.flatnonzero(~ok & (time >= self.start) & (True if asking is None else asking)) if self.sequences.any_acquired else ok[:0]
        tags = np.full(stamp.size, -1)
        if copied.any():
            tags[copied] = self.copies.tag[element]
        if before is not None and open_.size:
            open_ = open_[(tags[open_] >= 0) | (time[open_] <= before.moment.at[open_])]
        if not open_.size:
            return np.asarray(ok)
        acquired = self.sequences.newest_of(u.thread[open_]) if before is None else before.moment.acquired[:, open_]
        has = (acquired >= 0).any(axis=0)
        open_, acquired = open_[has], acquired[:, has]
        told = (level[open_] == THREAD) & self.sequences.told_last(acquired, number[open_], time[open_])
        ok[open_[told]] = True
        open_, acquired = open_[~told], acquired[:, ~told]
        groups = list(_alike(acquired))
        if len(groups) > FEW:
            one = (level[open_] == THREAD) | (tags[open_] >= 0)
            some = open_[one]
            ok[some] = self._told_in_turn(acquired[:, one], np.stack((level[some], number[some], time[some], tags[some])))
            open_, acquired = open_[~one], acquired[:, ~one]
            groups = list(_alike(acquired))
        for have, lanes in groups:
            index, known = open_[lanes], self.sequences.known(have)
            ok[index] = told = self._told(known, level[index], number[index], time[index], tags[index])
            asked: dict[tuple[int, ...], bool] = {}  # lanes of a warp mostly ask the same
            for k in index[~told & (level[index] != THREAD)].tolist():
                m, own, t = 0xFFFFFFFF if mask is None else int(mask[k]), (int(settled[k]), int(met[k])), int(u.thread[k])
                question = int(level[k]), int(number[k]), int(time[k]), m, *own, t
                if question not in asked:
                    asked[question] = self._knows(known, own, t, *question[:4], shared)
                ok[k] = asked[question]
        return np.asarray(ok)

    def _told_in_turn(self, acquired: Array, asked: Array) -> Array:
        """The same of many lanes that have each acquired something else: of those that ask alike and have acquired from one sequence, each one that
        has read further knows more, and the first who knows is searched for."""
        out = np.zeros(acquired.shape[1], bool)
        if not out.size:
            return out
        turns, release = self.sequences.turns(acquired)
        keys = np.concatenate((asked, turns))
        order = np.lexsort((release, *keys))
        ascending = keys[:, order]
        starts = np.flatnonzero(np.append(True, (ascending[:, 1:] != ascending[:, :-1]).any(axis=0)))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), order.size], strict=True):

            def knows(n: int) -> bool:
                known = self.sequences.known(tuple(acquired[:, order[n]].tolist()))
                return bool(self._told(known, *ascending[:4, n : n + 1])[0])

            out[order[start + bisect_left(range(start, end), True, key=knows) : end]] = True
        return out

    def _told(self, known: KnownProgress, level: Array, number: Array, time: Array, tags: Array) -> Array:
        """Which records of single threads and of copies somebody knows of."""
        out = np.zeros(level.size, bool)
        if (some := np.flatnonzero(tags >= 0)).size:
            out[some] = known.until(COPY << LEVEL_AT | tags[some]) >= 0
        one, block = level == THREAD, number // self.threads
        warp = block * self.per_block + number % self.threads // 32
        for keys in (block | BLOCK << LEVEL_AT, warp | WARP << LEVEL_AT, number):
            out |= one & (known.until(keys) >= time)
        return out

    def _knows(
        self, known: KnownProgress, own: tuple[int, int], u: int, level: int, number: int, time: int, mask: int, shared: bool
    ) -> bool:
        """Does a thread know of a record of several threads?"""
        if level == WARP:
            lanes = [i for i in range(32) if mask >> i & 1]
            block = number // self.per_block
            keys = np.array([WARP << LEVEL_AT | number, BLOCK << LEVEL_AT | block])
            return bool((known.until(keys) >= time).any()) or self._knows_lanes(known, u, block, number % self.per_block, lanes, time)
        if number != GRID:
            warps = [i for i in range(self.per_block) if mask >> i & 1]
            return known.until_one(BLOCK << LEVEL_AT | number) >= time or self._knows_warps(known, own, u, number, warps, time)
        return self._knows_grid(known, own, u, time, self.launch.cluster_size if shared else self.launch.blocks)

    def _knows_grid(self, known: KnownProgress, own: tuple[int, int], u: int, time: int, size: int) -> bool:
        """Does a thread know of all that the warps of so many blocks, of which one is its own, have done up to a time?"""
        block, per = u // self.threads, self.per_block
        blocks = np.arange(size) + block // size * size
        warps = (blocks[:, None] * per + np.arange(per)).ravel()
        wanted = np.minimum(time, self.activity[warps])
        at = np.maximum(known.until(warps | WARP << LEVEL_AT), np.repeat(known.until(blocks | BLOCK << LEVEL_AT), per))
        at[warps // per == block] = np.maximum(at[warps // per == block], own[0])
        mine = block * per + u % self.threads // 32
        unknown = warps[(at < wanted) & (wanted > self.floor) & ((warps != mine) | (own[1] < wanted))]
        if not unknown.size:
            return True
        return unknown.tolist() == [mine] and self._knows_lanes(
            known, u, block, mine % per, list(range(min(32, self.threads - mine % per * 32))), min(time, int(self.activity[mine]))
        )

    def _knows_warps(self, known: KnownProgress, own: tuple[int, int], u: int, block: int, warps: list[int], time: int) -> bool:
        """Does a thread know of these warps of a block; of its own also by their synchronisation, or lane by lane?"""
        mine = u // self.threads * self.per_block + u % self.threads // 32 - block * self.per_block
        at = known.until(np.array(warps) + block * self.per_block | WARP << LEVEL_AT)
        unknown = [w for w, until in zip(warps, at.tolist(), strict=True) if until < time and (w != mine or own[1] < time)]
        return not unknown or (
            unknown == [mine] and self._knows_lanes(known, u, block, mine, list(range(min(32, self.threads - mine * 32))), time)
        )

    def _knows_lanes(self, known: KnownProgress, u: int, block: int, warp: int, lanes: list[int], time: int) -> bool:
        """Does a thread know of these lanes of a warp, apart from itself?"""
        who = np.array(lanes) + (block * self.threads + warp * 32)
        return bool(((known.until(who) >= time) | (who == u)).all())


def _alike(acquired: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Lanes that have acquired the same."""
    if acquired.shape[1] < 2:
        if acquired.size:
            yield tuple(acquired[:, 0].tolist()), np.zeros(1, np.int64)
        return
    order = np.lexsort(acquired)
    ascending = acquired[:, order]
    starts = np.flatnonzero(np.append(True, (ascending[:, 1:] != ascending[:, :-1]).any(axis=0)))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), order.size], strict=True):
        yield tuple(ascending[:, start].tolist()), order[start:end]
