"""Releases of one launch, in sequences, and what threads have acquired of them.

Three tables of numbers, of which the first two only grow.  A row of `releases` is a release: its sequence, the thread, up to when what the thread
did is covered, and what it had acquired by then.  A row of `acquired` is an acquisition: a sequence up to one of its releases, and the
acquisition before it.  `newest` has the newest acquisition of each thread, each warp and each block (what all its threads know by a barrier).
A join writes one number for each thread; what it tells of a third thread is looked up only when two accesses are in doubt: see release_sequences.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....launch import Launch
from ..records.shadow_memory import Array
from .memory_order import GPU, SYS

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


class ReleaseTables:
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
