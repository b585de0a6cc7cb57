"""What is ordered before what, in one launch.

Two layers.  By structure: the time of the last barrier of each block, of the last synchronisation of each warp, and of the last one of some of its
lanes, in arrays.  Beside that, where threads have synchronised otherwise, views: what a thread, a warp or a block knows of others: up to
when, and up to where in which release sequences (clocks.py).
"""

from __future__ import annotations

import numpy as np

from ...launch import Launch
from .clocks import Clock, Knowledge, KnownAtIssue, Views, merge
from .shadow_memory import BLOCK, COPY, GRID, HALF, LEVEL_AT, LOW, NEVER, NUMBER, THREAD, WARP, Array
from .thread_ids import Copies, NumberedLanes

FEW = 8  # records, below which a loop is faster than arrays


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
        self.views: Views = {}
        self._private: dict[int, set[int]] = {}  # block -> the views of its warps and threads
        self.copies = copies
        self.phases = 0
        self.only_barriers = False  # of whole blocks synchronise, and all launches before are ordered before
        self.activity = np.zeros(launch.blocks, np.int64)  # when each block last read memory that others may read, too

    # ------------------------------------------------------------ synchronisation

    def key_of(self, thread: int) -> tuple[int, int, int]:
        """The names of a thread, its warp and its block."""
        block, t = divmod(thread, self.threads)
        return thread, WARP << LEVEL_AT | block * self.per_block + t // 32, BLOCK << LEVEL_AT | block

    def block_barrier(self, blocks: Array, now: int) -> None:
        """All threads of these blocks have met."""
        self.barrier[blocks] = now
        self.barriers += 1
        if self._private:
            for block in blocks.tolist():
                keys = self._private.pop(block, None)
                if keys:
                    self._join(BLOCK << LEVEL_AT | block, [c for k in sorted(keys) for c in self.views.pop(k, ())])

    def warp_barrier(self, warps: Array, now: int) -> None:
        """All lanes of these warps have met."""
        self.warp[warps] = now
        if self._private:
            for block in np.unique(warps // self.per_block).tolist():
                for key in [k for k in self._private.get(block, ()) if k >> LEVEL_AT == THREAD]:
                    warp = self.key_of(key)[1]
                    if np.isin(warp & NUMBER, warps).any():
                        self._private[block].discard(key)
                        self._private[block].add(warp)
                        self._join(warp, self.views.pop(key, []))

    def lanes_met(self, lanes: NumberedLanes, masks: Array, now: int) -> None:
        """Lanes of warps have met, each with those of its mask."""
        if not self.partial:
            n = self.launch.blocks * self.threads
            self.partial = [(np.zeros(n, np.int64), np.zeros(n, np.uint32)) for _ in range(6)]
        size = np.ceil(np.log2(np.maximum(np.bitwise_count(masks), 1))).astype(int)
        learned = self._know_apart(lanes, masks, size)
        for warp in np.unique(lanes.warp[learned]).tolist():
            here = np.flatnonzero(lanes.warp == warp)
            for mask in np.unique(masks[here]).tolist():
                who = lanes.thread[here[masks[here] == mask]]
                clock = self._known(who)
                for t in who.tolist():
                    self.acquire_one(t, [clock])
        for s in np.unique(size).tolist():
            here = lanes.thread[size == s]
            self.partial[s][0][here] = now
            self.partial[s][1][here] = masks[size == s]

    def _know_apart(self, lanes: NumberedLanes, masks: Array, size: Array) -> Array:
        """Which lanes know of others than those of their mask, by earlier masks or otherwise, what the rest may not know."""
        out = np.zeros(masks.size, bool)
        since = np.maximum(self.barrier[lanes.block], self.warp[lanes.warp])
        lowest = np.bitwise_count((masks & (~masks + np.uint32(1))) - np.uint32(1)).astype(np.int64)
        leader = lanes.thread - (lanes.thread % self.threads & 31) + lowest
        for s, (times, met) in enumerate(self.partial):
            if not times.any():
                continue
            apart = (times[lanes.thread] != times[leader]) | (met[lanes.thread] != met[leader]) | (size == s)
            for who in (lanes.thread, leader):
                out |= apart & (times[who] > since) & (met[who] & ~masks != 0)
        if self._private:
            split = [
                self.key_of(k)[1] & NUMBER
                for b in np.unique(lanes.block).tolist()
                for k in self._private.get(b, ())
                if k >> LEVEL_AT == THREAD
            ]
            out |= np.isin(lanes.warp, split)
        return out

    def entities(self, thread: Array) -> list[int]:
        """These threads as whole blocks, whole warps and single threads."""
        out: list[int] = []
        blocks, counts = np.unique(thread // self.threads, return_counts=True)
        whole = blocks[counts == self.threads]
        out += (whole | BLOCK << LEVEL_AT).tolist()
        rest = thread if not whole.size else thread[~np.isin(thread // self.threads, whole)]
        if rest.size:
            in_block = rest % self.threads
            warp = rest // self.threads * self.per_block + in_block // 32
            warps, counts = np.unique(warp, return_counts=True)
            size = np.minimum(32, self.threads - warps % self.per_block * 32)
            full = warps[counts == size]
            out += (full | WARP << LEVEL_AT).tolist()
            out += rest[~np.isin(warp, full)].tolist()
        return out

    def clock(self, thread: Array, now: int) -> Clock:
        """All that is before these threads, and what they have done themselves."""
        if thread.size == 1:
            t = int(thread[0])
            out = self.known_by(t)
            out[t if self.threads > 1 else BLOCK << LEVEL_AT | t] = now
            return out
        out = self._known(thread)
        for key in self.entities(thread):
            out[key] = now
        return out

    def known_by(self, t: int) -> Clock:
        """All that is before one thread."""
        out: Clock = {}
        keys = _, warp, block = self.key_of(t)
        for key in keys:
            for c in self.views.get(key, ()):
                merge(out, c)
        met = [(warp, int(self.warp[warp & NUMBER])), (block, int(self.barrier[block & NUMBER]))]
        first = t - (t % self.threads & 31)
        for times, masks in self.partial:
            if (at := int(times[t])) > self.floor:
                met += [(first + lane, at) for lane in range(32) if int(masks[t]) >> lane & 1]
        for key, time in met:
            if time > self.floor:
                out[key] = max(out.get(key, 0), time)
        return out

    def _known(self, thread: Array) -> Clock:
        out: Clock = {}
        blocks = np.unique(thread // self.threads)
        for b in blocks.tolist():
            if self.barrier[b] > self.floor:
                out[BLOCK << LEVEL_AT | b] = int(self.barrier[b])
        warps = np.unique(thread // self.threads * self.per_block + thread % self.threads // 32)
        for w in warps.tolist():
            if self.warp[w] > self.floor:
                out[WARP << LEVEL_AT | w] = int(self.warp[w])
        for times, masks in self.partial:
            for t in thread[times[thread] > self.floor].tolist():
                first = t // self.threads * self.threads + t % self.threads // 32 * 32
                for lane in range(32):
                    if masks[t] >> np.uint32(lane) & np.uint32(1):
                        out[first + lane] = max(out.get(first + lane, 0), int(times[t]))
        if self.views:
            for key in (*thread.tolist(), *(warps | WARP << LEVEL_AT).tolist(), *(blocks | BLOCK << LEVEL_AT).tolist()):
                for c in self.views.get(key, ()):
                    merge(out, c)
        return out

    def acquire(self, thread: Array, clocks: list[Clock]) -> None:
        """These threads come after what the clocks say."""
        for key in self.entities(thread):
            self._learn(key, clocks)

    def acquire_one(self, thread: int, clocks: list[Clock]) -> None:
        """The same for one thread."""
        self._learn(thread, clocks)

    def _learn(self, key: int, clocks: list[Clock]) -> None:
        level = key >> LEVEL_AT
        if level != BLOCK:
            block = (key & NUMBER) // (self.threads if level == THREAD else self.per_block)
            self._private.setdefault(block, set()).add(key)
        self._join(key, clocks)

    def _join(self, key: int, clocks: list[Clock]) -> None:
        have = self.views.setdefault(key, [])
        there = {id(c) for c in have}
        have += [c for c in clocks if id(c) not in there]
        if len(have) > 6:
            whole: Clock = {}
            for c in have[:-2]:  # the last may still grow until its phase is complete
                merge(whole, c)
            have[:-2] = [whole]

    def known(self, thread: Array, now: int, *, late: bool) -> KnownAtIssue:
        """What these threads know, for copies that they issue; `late`: which may come when the threads know more."""
        block = thread // self.threads
        warp = block * self.per_block + thread % self.threads // 32
        views = self.views
        if late and views:
            views = {k: list(views[k]) for t in thread.tolist() for k in self.key_of(t) if k in views}
        partial = tuple([(times[thread], masks[thread]) for times, masks in self.partial])
        return KnownAtIssue(np.full(thread.size, now), self.barrier[block], self.warp[warp], partial, views)

    # ------------------------------------------------------------ questions

    def happens_before(
        self, stamp: Array, mask: Array | None, u: NumberedLanes, before: KnownAtIssue | None = None, *, shared: bool
    ) -> Array:
        """Which of these records are ordered before their lanes, by structure or by what was released to them; `before`: what copies of the lanes
        come after; `shared`: only blocks of a cluster can have made the records."""
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
            ok &= time <= before.at
        block = np.where(one, number // self.threads, np.where(level == WARP, number // self.per_block, number))
        settled, met = (self.barrier[u.block], self.warp[u.warp]) if before is None else (before.barrier, before.warp)
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
        open_ = np.flatnonzero(~ok)
        views = self.views if before is None else before.views
        if open_.size and views:
            tags = np.full(stamp.size, -1)
            if copied.any():
                tags[copied] = self.copies.tag[element]
            some = open_[time[open_] >= self.start]
            if before is not None:
                some = some[(tags[some] >= 0) | (time[some] <= before.at[some])]
            for keys, lanes in self._alike(u.thread[some], views).items():
                index, known = some[lanes], Knowledge(c for key in keys for c in views[key])
                ok[index] = told = self._told(known, level[index], number[index], time[index], tags[index])
                asked: dict[tuple[int, ...], bool] = {}  # lanes of a warp mostly ask the same
                for k in index[~told & (level[index] != THREAD)].tolist():
                    m, own, t = 0xFFFFFFFF if mask is None else int(mask[k]), (int(settled[k]), int(met[k])), int(u.thread[k])
                    what = int(level[k]), int(number[k]), int(time[k]), m
                    question = (*what, *own, t if what[0] == WARP else int(u.warp[k]))
                    if question not in asked:
                        asked[question] = self._knows(known, own, t, *what, shared)
                    ok[k] = asked[question]
        return np.asarray(ok)

    def _alike(self, thread: Array, views: Views) -> dict[tuple[int, ...], Array]:
        """Threads by the names under which views tell what they know; without those that have learnt nothing."""
        block = thread // self.threads
        warp = block * self.per_block + thread % self.threads // 32
        found = [[k if k in views else -1 for k in keys.tolist()] for keys in (thread, warp | WARP << LEVEL_AT, block | BLOCK << LEVEL_AT)]
        out: dict[tuple[int, ...], list[int]] = {}
        for n, keys in enumerate(zip(*found, strict=True)):
            out.setdefault(keys, []).append(n)
        alike = {tuple([k for k in keys if k >= 0]): np.array(lanes) for keys, lanes in out.items()}
        alike.pop((), None)
        return alike

    def _told(self, known: Knowledge, level: Array, number: Array, time: Array, tags: Array) -> Array:
        """Which records of single threads and of copies somebody knows of."""
        out = np.zeros(level.size, bool)
        if level.size < FEW:
            for n, (kind, who, at, tag) in enumerate(zip(level.tolist(), number.tolist(), time.tolist(), tags.tolist(), strict=True)):
                out[n] = (tag >= 0 and known.until(COPY << LEVEL_AT | tag) >= 0) or (
                    kind == THREAD and any(known.until(key) >= at for key in self.key_of(who))
                )
            return out
        for tag in np.unique(tags[tags >= 0]).tolist():
            if known.until(COPY << LEVEL_AT | tag) >= 0:
                out |= tags == tag
        rest = np.flatnonzero(~out & (level == THREAD))
        block = number // self.threads
        for keys in (
            block | BLOCK << LEVEL_AT, block * self.per_block + number % self.threads // 32 | WARP << LEVEL_AT, number,
        ):  # fmt: skip
            each, place = np.unique(keys[rest], return_inverse=True)
            at = np.array([known.until(key) for key in each.tolist()], np.int64)
            out[rest] = at[place] >= time[rest]
            rest = rest[~out[rest]]
            if not rest.size:
                break
        return out

    def _knows(self, known: Knowledge, own: tuple[int, int], u: int, level: int, number: int, time: int, mask: int, shared: bool) -> bool:
        """Does a thread know of a record of several threads?"""

        if level == WARP:
            if max(known.until(WARP << LEVEL_AT | number), known.until(BLOCK << LEVEL_AT | number // self.per_block)) >= time:
                return True
            first = number // self.per_block * self.threads + number % self.per_block * 32
            return all(first + i == u or known.until(first + i) >= time for i in range(32) if mask >> i & 1)
        if number != GRID:
            if known.until(BLOCK << LEVEL_AT | number) >= time:
                return True
            first = number * self.per_block
            return all(
                max(known.until(WARP << LEVEL_AT | first + i), own[1] if first + i == self.key_of(u)[1] & NUMBER else -1) >= time
                for i in range(self.per_block)
                if mask >> i & 1
            )
        size = self.launch.cluster_size if shared else self.launch.blocks
        first = u // self.threads // size * size
        for b in range(first, first + size):
            at = known.until(BLOCK << LEVEL_AT | b)
            if b == u // self.threads:
                at = max(at, own[0])
            if at < min(time, int(self.activity[b])):
                return False
        return True
