"""A slow reference for racecheck: a clock for each thread, which hears the same events, and looks at the whole list of accesses.

clock[t, u] is up to when u's accesses are before what t does next.  A release is a copy of a clock, an acquisition a maximum, both thread by thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from warplab.interpreter.checkers.racecheck.checker import Racecheck
from warplab.interpreter.checkers.racecheck.order.memory_order import CLUSTER, CTA, GPU, SYS, Kind
from warplab.interpreter.checkers.racecheck.records.shadow_memory import Cells
from warplab.interpreter.launch import Launch
from warplab.interpreter.memory.spaces import SharedSpace
from warplab.interpreter.observe import Access, ObservedLanes, ObservedWave
from warplab.interpreter.plan.plan import Site
from warplab.interpreter.values import Array, plain

Heads = dict[tuple[int, int], Array]  # by scope and block, the clock that a release of these hands on
Word = tuple[str, int]


class Done(NamedTuple):
    """An access of a thread to a word."""

    thread: int
    time: int
    what: str  # as racecheck names the kind of its records
    kind: Kind
    size: int
    line: int


class Race(NamedTuple):
    """Accesses to a word that nothing orders: the later one, and the kind of the earlier one."""

    line: int
    word: Word
    other: str


def add(heads: Heads, more: Heads) -> None:
    """Joins what is handed on: of one scope and block, whoever sees one sees the other."""
    for key, clock in more.items():
        heads[key] = np.maximum(heads[key], clock) if key in heads else clock


class Clocks:
    """Those of one launch."""

    def __init__(self, launch: Launch) -> None:
        self.launch, self.size = launch, launch.threads
        count = launch.blocks * launch.threads
        self.clock = np.zeros((count, count), np.int64)
        self.done: dict[Word, dict[tuple[int, int, str], Done]] = defaultdict(
            dict
        )  # by thread, line and kind the last: if an earlier one races, it does
        self.seen: dict[tuple[int, Word], set[Done]] = defaultdict(
            set
        )  # by thread and word: strong writes up to that which its strong reads have read
        self.heads: dict[Word, tuple[int, Heads]] = {}  # by word: the size of the write that hands this on
        self.fences: dict[int, Heads] = defaultdict(dict)  # by thread: what its strong writes hand on
        self.own: dict[tuple[int, Word], Heads] = defaultdict(dict)  # by thread and word: its releases there
        self.pending: dict[int, dict[Word, Heads]] = defaultdict(lambda: defaultdict(dict))  # by thread: what it has read there
        self.sequential: Heads = {}
        self.arrived: dict[tuple[int, int], list[tuple[list[int], bool, Heads]]] = defaultdict(list)  # by block and barrier
        self.lanes: dict[tuple[int, int], set[int]] = defaultdict(set)  # by warp and membermask
        self.phase = np.zeros(count, np.int64)  # of the barrier of each thread's cluster
        self.phases: dict[tuple[int, int], tuple[Heads, set[int]]] = defaultdict(lambda: ({}, set()))  # what arrived, and who waits
        self.mbarriers: dict[int, list[Any]] = {}  # by place: parity, what arrived, and what was there when the last phase ended

    # ------------------------------------------------------------ release and acquire

    def head(self, t: int, scope: int) -> Heads:
        """All that is before a release."""
        self.clock[t, t] += 1
        return {(scope, t // self.size): self.clock[t].copy()}

    def acquire(self, t: int, scope: int, heads: Heads) -> None:
        """A thread comes behind those releases that are in its scope, and it in theirs."""
        for (theirs, block), clock in heads.items():
            if min(scope, theirs) >= self.between(block, t // self.size):
                self.clock[t] = np.maximum(self.clock[t], clock)

    def between(self, a: int, b: int) -> int:
        """The scope that has two blocks."""
        size = self.launch.cluster_size
        return CTA if a == b else CLUSTER if a // size == b // size else GPU

    def meet(self, threads: Sequence[int]) -> None:
        """Threads come after what all of them have done."""
        for t in threads:
            self.clock[t, t] += 1
        self.clock[threads] = self.clock[threads].max(axis=0)

    def fence(self, threads: Sequence[int], kind: Kind) -> None:
        """Threads execute a fence together: none of them comes after the others."""
        for t in threads:
            if kind.sequential:
                self.acquire(t, kind.scope, self.sequential)
            for heads in self.pending[t].values() if kind.acquires else ():
                self.acquire(t, kind.scope, heads)
            if kind.releases:
                add(self.fences[t], self.head(t, kind.scope))
        for t in threads if kind.sequential else ():
            add(self.sequential, self.head(t, kind.scope))

    # ------------------------------------------------------------ barriers

    def completion(self, block: int, number: int) -> None:
        """A barrier is complete: who waits comes after all who have arrived."""
        arrived = self.arrived.pop((block, number), [])
        together: Heads = {}
        for threads, waits, heads in arrived:
            add(together, heads)
            if waits:
                for t in threads:
                    add(together, self.head(t, SYS))
        for threads, waits, _ in arrived:
            for t in threads if waits else ():
                self.acquire(t, SYS, together)

    def members(self, warp: int, lanes: Iterable[int], mask: int, living: int) -> None:
        """Lanes of a warp arrive at its barrier: those of the mask go on when all of them that live are there."""
        there = self.lanes[warp, mask]
        there.update(lanes)
        wanted = {i for i in range(32) if mask & living & 1 << i}
        if wanted <= there:
            self.lanes.pop((warp, mask))
            per_block = -(-self.size // 32)
            self.meet([warp // per_block * self.size + warp % per_block * 32 + i for i in sorted(wanted)])

    def cluster(self, t: int, arrives: bool, relaxed: bool) -> None:
        """A thread arrives at the barrier of its cluster, or begins to wait."""
        of, single = t // self.size // self.launch.cluster_size, self.launch.cluster_size == 1
        if not arrives:
            heads, waiting = self.phases[of, int(self.phase[t])]
            self.acquire(t, SYS, heads)
            waiting.add(t)
            return
        self.phase[t] += 1
        heads, waiting = self.phases[of, int(self.phase[t])]
        least = CTA if single else CLUSTER
        own = {(SYS, b): c for (s, b), c in self.fences[t].items() if s >= least} if relaxed else self.head(t, SYS)
        add(heads, own)
        for w in waiting:
            self.acquire(w, SYS, own)

    def mbarrier(self, t: int, place: int, word: int, what: str, kind: Kind, over: bool) -> None:
        """A thread uses the mbarrier at a place, whose phase has this parity."""
        state = self.mbarriers.get(place)
        if state is None or what == "init":
            state = self.mbarriers[place] = [0 if what == "init" else word >> 63, {}, {}]
        elif state[0] != word >> 63:
            state[0], state[2] = word >> 63, dict(state[1])
        if what == "wait" and over:
            self.acquire(t, kind.scope, state[2])
        elif what == "change":
            add(state[1], self.head(t, kind.scope))

    # ------------------------------------------------------------ accesses

    def access(self, t: int, word: Word, what: str, kind: Kind, access: tuple[str, int, int]) -> tuple[set[Race], set[Race]]:
        """A thread accesses a word: what races with that, and what would if it had not been read before?"""
        op, size, line = access
        strong, reads, writes = what.startswith("strong") and not kind.mbarrier, op in ("ld", "atom"), op != "ld"
        now = Done(t, 0, what, kind, size, line)
        found_size, found = self.heads.get(word, (size, {}))
        found = found if found_size == size else {}
        if strong and reads:
            add(self.pending[t][word], found)
            if kind.acquires:
                self.acquire(t, kind.scope, self.pending[t][word])
        racing = [d for d in self.done[word].values() if self.racing(now, d)]
        excused = [d for d in racing if not strong and d in self.seen[t, word]]  # what was read is before what follows
        if strong and reads:
            self.seen[t, word] = {d for d in self.done[word].values() if d.what.startswith("strong write")}
        now = now._replace(time=int(self.clock[t, t]))
        if what == "weak write":  # racecheck keeps the last one: earlier ones are before it, or it races with them
            self.done[word] = {key: d for key, d in self.done[word].items() if d.what != what}
        self.done[word][t, line, what] = now
        if writes and not kind.mbarrier:
            self.heads.pop(word, None)
            if strong:
                if kind.releases:
                    add(self.own[t, word], self.head(t, kind.scope))
                kept = dict(found) if op != "st" else {}
                for more in (self.fences[t], self.own[t, word]):
                    add(kept, more)
                self.heads[word] = size, kept
        return {Race(line, word, d.what) for d in racing if d not in excused}, {Race(line, word, d.what) for d in excused}

    def warps(self, race: Race) -> int:
        """How many warps have accessed a word before as the earlier one of these?"""
        return len({(d.thread // self.size, d.thread % self.size // 32) for d in self.done[race.word].values() if d.what == race.other})

    def racing(self, now: Done, d: Done) -> bool:
        """Do two accesses race?"""
        if d.thread == now.thread or not (now.what + d.what).count("write") or self.clock[now.thread, d.thread] > d.time:
            return False
        if "weak" not in now.what + d.what:
            block = d.thread // self.size, now.thread // self.size
            return min(now.kind.scope, d.kind.scope) < self.between(*block) or now.size != d.size
        return True


class Compared(Racecheck):
    """racecheck, which after each access compares what it says with the reference."""

    missed: list[Race]
    invented: list[Race]  # with threads of one warp: a record of several stands for all of them

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.missed, self.invented = [], []
        self._told = set[Race]()
        reporter = self._context.reporter
        race, one = reporter.race, reporter._one
        self._reported = 0

        def counted(*given: Any) -> None:
            self._reported += 1
            one(*given)

        def told(look: Any, other: str, cells: Cells, i: Array, index: Array, equal: bool, proxy: bool = False) -> None:
            line, unit, before = look.access.site.instruction.span.line, look.shadow.unit, self._reported
            race(look, other, cells, i, index, equal, proxy)
            if self._reported > before:  # of records of several threads, the reporter looks at each
                self._told |= {Race(line, (look.shadow.name, w), other) for w in (i[index] * unit + look.shadow.origin).tolist()}

        reporter.race, reporter._one = told, counted  # type: ignore[method-assign,assignment]

    def begin(self, launch: Launch) -> None:
        super().begin(launch)
        self.clocks = Clocks(launch)

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        super().instruction(site, group, mask)
        kind = self._context.kind(site)
        if kind.fence:
            self.clocks.fence(self._context.active(group, mask).thread.tolist(), kind)

    def met(self, site: Site, group: ObservedLanes, number: int) -> None:
        super().met(site, group, number)
        size = self.clocks.size
        for b in range(group.wave.first, group.wave.first + group.wave.count):
            self.clocks.meet(range(b * size, b * size + size))

    def arrival(self, site: Site, group: ObservedLanes, number: int, count: int | None, waits: bool) -> None:
        super().arrival(site, group, number, count, waits)
        for t in self._context.active(group, group.alive).thread.tolist():
            self.clocks.arrived[t // self.clocks.size, number].append(([t], waits, {} if waits else self.clocks.head(t, SYS)))

    def completion(self, wave: ObservedWave, number: int, blocks: Array) -> None:
        super().completion(wave, number, blocks)
        for b in blocks.tolist():
            self.clocks.completion(wave.first + b, number)

    def members(self, site: Site, group: ObservedLanes, membermask: Array) -> None:
        super().members(site, group, membermask)
        if not self._context.kind(site).warp_barrier:
            return
        mask = group.alive if group.active is None else group.active if group.alive is None else group.active & group.alive
        lanes, size = self._context.active(group, mask), self.clocks.size
        asked = np.broadcast_to(plain(membermask), group.geometry.shape).ravel()
        asked = asked if mask is None else asked[np.flatnonzero(np.broadcast_to(mask, group.geometry.shape))]
        for w in np.unique(lanes.warp).tolist():
            for m in np.unique(asked[lanes.warp == w]).tolist():
                here = lanes.thread[(lanes.warp == w) & (asked == m)] % size
                first, block = int(here[0]) // 32 * 32, int(lanes.block[lanes.warp == w][0]) - group.wave.first
                living = sum(1 << i for i in range(min(32, size - first)) if not group.wave.exited[block, first + i])
                self.clocks.members(w, (here % 32).tolist(), int(m) & 0xFFFFFFFF, living)

    def cluster(self, site: Site, group: ObservedLanes, arrives: bool) -> None:
        super().cluster(site, group, arrives)
        for t in self._context.active(group, group.active).thread.tolist():
            self.clocks.cluster(t, arrives, "relaxed" in site.instruction.modifiers)

    def mbarrier(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        super().mbarrier(site, group, what, space, address, amounts)
        every, kind, words = self._context.lanes_of(group).thread, self._context.kind(site), group.wave.shared.view(np.dtype(np.uint64))
        for part, places in group.wave.access.shared_places(group, space, address, 8):
            index = np.arange(every.size) if part.lanes is None else part.lanes
            over = np.broadcast_to(amounts[0], group.geometry.shape).ravel() if what == "wait" else np.ones(every.size, bool)
            for k, place in zip(index.tolist(), np.broadcast_to(places, index.shape).tolist(), strict=True):
                self.clocks.mbarrier(int(every[k]), place, int(words[place >> 3]), what, kind, bool(over[k]))

    def access(self, access: Access) -> None:
        used = self._asynchrony._used
        super().access(access)
        told, self._told = self._told, set()
        a, kind, expected, excused = access, self._context.kind(access.site), set[Race](), set[Race]()
        if a.space.startswith(("local", "param", "const")) or (used and not kind.mbarrier):
            return
        what = f"{'strong' if kind.strong else 'weak'} {'read' if a.kind == 'ld' else 'write'}"
        if kind.mbarrier:
            what = "weak write" if used == "init" else "strong read"
        elif kind.strong and kind.scope < GPU:
            what += " near"
        every, size = self._context.lanes_of(a.group).thread, a.type.bytes * a.count
        for part, memory, places in a.group.wave.access.places(a.group, a.space, plain(a.address), size, a.kind != "ld"):
            index = np.arange(every.size) if part.lanes is None else part.lanes
            shared = isinstance(memory, SharedSpace)
            base = 0 if shared else memory.arena.base  # type: ignore[attr-defined]
            op = ("ld" if what.endswith("read") else "st") if kind.mbarrier else a.kind
            for k, place in zip(index.tolist(), np.broadcast_to(places, index.shape).tolist(), strict=True):
                for at in range(place + base, place + base + size, 4):
                    word = "shared" if shared else "global", at
                    found = self.clocks.access(int(every[k]), word, what, kind, (op, a.type.bytes, a.site.instruction.span.line))
                    expected, excused = expected | found[0], excused | found[1]
        self.missed += expected - told
        self.invented += [r for r in told - expected - excused if self.clocks.warps(r) == 1]
