"""racecheck: what the events of a launch mean for the order of its threads, and the findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from warplab.assembler.listing import listing

from ...launch import Launch
from ...memory.arena import Allocation
from ...memory.spaces import ArenaSpace, SharedSpace
from ...observe import Access
from ...plan.plan import Site
from ...values import LocalPlace, plain
from ...vector.accessing import Accessing
from ...vector.copying import Copying
from ...vector.group import Group
from ...vector.ports import WavePort
from ..checker import Checker
from ..findings import Findings, Tool
from .cells import BLOCK, COPY, GRID, HALF, LEVEL_AT, LOW, MIXED, NEVER, NUMBER, THREAD, U64, WARP, Array, Cells, Shadow
from .heads import Heads
from .kinds import CTA, GPU, Kind, kind_of
from .launches import Launches
from .mbarriers import Phases
from .order import Copies, NumberedLanes, Order, stamps
from .report import Reporter

IGNORED = frozenset("local const param param::entry param::func".split())
AGAINST = {
    "weak read": ("weak write", "strong write", "copied to"),
    "weak write": ("weak write", "strong write", "weak read", "strong read", "copied to", "copied from"),
    "strong read": ("weak write", "strong write", "copied to"),
    "strong write": ("weak write", "weak read", "strong write", "strong read", "copied to", "copied from"),
    "copied to": ("weak write", "strong write", "weak read", "strong read", "copied to", "copied from"),
    "copied from": ("weak write", "strong write", "copied to"),
}


class Issued:
    """A copy under way: its lanes and its records."""

    __slots__ = ("at", "closed", "copying", "first", "first_read", "thread")

    def __init__(self, copying: Copying, thread: Array, first: int, first_read: int, at: int, closed: Array) -> None:
        self.copying = copying
        self.thread = thread  # in ascending order
        self.first, self.first_read = first, first_read
        self.at = at  # the time of the instruction
        self.closed = closed  # how many groups each thread had closed before


class Racecheck(Checker):
    """Reports accesses that nothing orders."""

    tool: ClassVar[Tool] = "racecheck"

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings)
        self.now = 1
        self.launches = Launches()
        self.order: Order
        self.launch: Launch
        self._kinds: dict[Site, Kind] = {}
        self._cross_blocks = False  # does the access that is looked at concern memory of several blocks?
        self._numbers: dict[Site, int] = {}
        self._reporter = Reporter(findings)
        self._global: dict[int, tuple[Allocation, Shadow]] = {}
        self._shared: dict[int, Shadow] = {}
        self._lanes: dict[int, tuple[Any, NumberedLanes]] = {}
        self._floors: dict[int, tuple[Any, int, Any]] = {}  # of the lanes of a group: those, and since which barrier
        self._mbarrier = ""
        self._all_copies = Copies()

    # ------------------------------------------------------------ launches

    def queued(self, stream: str) -> None:
        """See Checker."""
        self.launches.queued(stream)

    def recorded(self, event: str, stream: str) -> None:
        """See Checker."""
        self.launches.recorded(event, stream)

    def awaited(self, event: str, stream: str) -> None:
        """See Checker."""
        self.launches.awaited(event, stream)

    def synchronized(self) -> None:
        """See Checker."""
        self.launches.synchronized()

    def begin(self, launch: Launch) -> None:
        """See Observer."""
        self.now += 1
        floor, earlier = self.launches.begin(self.now)
        self.launch = launch
        self.order = Order(launch, floor, self.now, self._all_copies)
        self.order.earlier = earlier
        self.now += 1
        n = launch.blocks * launch.threads
        self._fences: dict[
            int, tuple[Array, Array]
        ] = {}  # scope -> when each thread has last released by a fence, and its block's barrier then
        self._fence_views: dict[tuple[int, int], Any] = {}
        self._proxy: tuple[Array, Array] | None = None
        self._pending: dict[int, dict[tuple[int, int], Heads]] = {}  # thread -> what a fence would acquire
        self._copies: dict[Copying, Issued] = {}
        self._closed: dict[str, Array] = {}
        self._meeting: dict[tuple[int, int], list[Any]] = {}
        self._warps_meeting: dict[tuple[int, int], int] = {}
        self._phases = Phases()
        self._cluster_arrivals: Array | None = None
        self._cluster_phases: dict[tuple[int, int], dict[int, int]] = {}
        self._n = n
        self._implicit: Copying | None = None
        self._only_barriers = self._has_only_barriers(launch)
        self._floors.clear()
        self._reporter.begin(launch, self.order)

    def wave(self, wave: WavePort) -> None:
        """See Observer."""
        self._shared[id(wave)] = Shadow("shared", wave.shared.bytes.size - 16)
        self._reporter.wave(wave)

    def end(self, launch: Launch) -> None:
        """See Observer."""
        self._shared.clear()
        self._lanes.clear()
        self._copies.clear()
        self._all_copies.end(self.now)
        self.now += 1
        self.launches.end(self.now)

    def _has_only_barriers(self, launch: Launch) -> bool:
        """Do all threads of a block meet wherever some of them synchronise?  Then nothing but whole blocks is ever asked for."""
        for f in launch.kernel.reached:
            for i in listing(f).instructions:
                form = i.form
                if form is None:
                    continue
                kind = kind_of(Site(i, None, f.name))
                if kind.fence or kind.warp_barrier or kind.mbarrier or kind.copies or kind.reads_async or kind.acquires or kind.releases:
                    return False
                if form.facts.copies or form.effect in ("cluster_arrive", "cluster_wait"):
                    return False
                if form.effect == "barrier" and ("arrive" in i.modifiers or len(i.operands) > 1):
                    return False
        return True

    # ------------------------------------------------------------ lanes

    def _lanes_of(self, g: Any) -> NumberedLanes:
        """All lanes of a group, flat."""
        found = self._lanes.get(id(g.geometry))
        if found is not None and found[0] is g.geometry:
            return found[1]
        shape = g.geometry.shape
        block = (np.broadcast_to(g.geometry.block, shape).ravel() + g.wave.first).astype(np.int64)
        thread = np.broadcast_to(g.geometry.thread, shape).ravel()
        lanes = NumberedLanes(block * self.launch.threads + thread, block * self.order.per_block + (thread >> 5), block)
        if len(self._lanes) > 64:
            self._lanes.clear()
        self._lanes[id(g.geometry)] = (g.geometry, lanes)
        return lanes

    def _active(self, g: Any, mask: Array | None) -> NumberedLanes:
        lanes = self._lanes_of(g)
        if mask is None:
            return lanes
        return lanes.take(np.flatnonzero(np.broadcast_to(mask, g.geometry.shape)))

    def _kind(self, site: Site) -> Kind:
        found = self._kinds.get(site)
        if found is None:
            found = self._kinds[site] = kind_of(site)
        return found

    def tick(self) -> None:
        """Time goes on: what comes now is after what was."""
        self.now += 1

    # ------------------------------------------------------------ barriers

    def met(self, site: Site, group: Group, number: int) -> None:
        """See Observer."""
        self.order.block_barrier(np.arange(group.wave.first, group.wave.first + group.wave.count), self.now)
        self.tick()

    def arrival(self, site: Site, group: Group, number: int, count: int | None, waits: bool) -> None:
        """See Observer."""
        lanes = self._active(group, group.alive)
        clock = None if waits else self.order.clock(lanes.thread, self.now)
        self._meeting.setdefault((id(group.wave), number), []).append([lanes, waits, clock])
        self.tick()

    def completion(self, wave: WavePort, number: int, blocks: Array) -> None:
        """See Observer."""
        here = np.zeros(wave.count, bool)
        here[blocks] = True
        came = np.zeros(wave.count, np.int64)
        leaves = np.zeros(wave.count, bool)
        arrived, left = [], []
        for lanes, waits, known in self._meeting.pop((id(wave), number), ()):
            own = lanes.block - wave.first
            inside = here[own]
            if not inside.all():
                left.append([lanes.take(~inside), waits, known])
                lanes = lanes.take(inside)
            if lanes.thread.size:
                came += np.bincount(lanes.block - wave.first, minlength=wave.count)
                leaves[lanes.block - wave.first] |= not waits
                arrived.append((lanes, waits, known))
        if left:
            self._meeting[id(wave), number] = left
        whole = here & ~leaves & (came + wave.exited.sum(axis=1) >= self.launch.threads)
        if whole.any():
            self.order.block_barrier(np.flatnonzero(whole) + wave.first, self.now)
        for block in np.flatnonzero(here & ~whole).tolist():
            clock: dict[int, int] = {}
            waiting = []
            for lanes, waits, known in arrived:
                thread = lanes.thread[lanes.block == block + wave.first]
                if thread.size:
                    for key, time in (known or self.order.clock(thread, self.now)).items():
                        clock[key] = max(time, clock.get(key, -1))
                    if waits:
                        waiting.append(thread)
            if waiting:
                self.order.acquire(np.concatenate(waiting), [clock])
        self.tick()

    def members(self, site: Site, group: Group, membermask: Array) -> None:
        """See Observer."""
        if not self._kind(site).warp_barrier:
            return
        g = group.geometry
        lanes = self._lanes_of(group)
        masks = np.broadcast_to(plain(membermask), g.shape).ravel().astype(np.uint32)
        layout = g.warps
        alive = None if group.alive is None else np.broadcast_to(group.alive, g.shape)
        active = alive if group.active is None else np.broadcast_to(group.active, g.shape) & (True if alive is None else alive)
        thread = np.minimum(layout.warp * 32 + np.arange(32), self.launch.threads - 1)
        exists = (layout.warp * 32 + np.arange(32) < self.launch.threads) & ~group.wave.exited[layout.block, thread]
        present = layout.members if active is None else layout.members & layout.spread(active)
        bits = _bits(present)
        living = _bits(exists)
        numbers = ((layout.block + group.wave.first) * self.order.per_block + layout.warp).ravel()
        if not present.all():
            for w, here in zip(numbers.tolist(), bits.tolist(), strict=True):  # those that came before, and wait
                if here:
                    of = int(masks[np.flatnonzero(lanes.warp == w)[0]])
                    before = self._warps_meeting.pop((w, of), 0)
                    if (before | here) & of & self._living_at(numbers, living, w) != of & self._living_at(numbers, living, w):
                        self._warps_meeting[w, of] = before | here
                    elif before:
                        bits[np.flatnonzero(numbers == w)[0]] |= before
        place = np.searchsorted(numbers, lanes.warp)
        wanted = masks & living[place]
        there = (wanted & ~bits[place]) == 0
        if active is not None:
            there &= active.ravel()
        whole = there & (wanted == living[place])
        if whole.any():
            self.order.warp_barrier(np.unique(lanes.warp[whole]), self.now)
        rest = np.flatnonzero(there & ~whole)
        if rest.size:
            full, wider = lanes.take(rest), wanted[rest]
            first = full.thread - (full.thread % self.launch.threads & 31)
            every, index = [], []
            for bit in range(32):  # also those that came before
                some = np.flatnonzero(wider >> np.uint32(bit) & np.uint32(1))
                every.append(first[some] + bit)
                index.append(some)
            thread_, at = np.unique(np.concatenate(every), return_index=True)
            origin = np.concatenate(index)[at]
            self.order.lanes_met(NumberedLanes(thread_, full.warp[origin], full.block[origin]), wider[origin], self.now)
        self.tick()

    @staticmethod
    def _living_at(numbers: Array, living: Array, warp: int) -> int:
        return int(living[np.flatnonzero(numbers == warp)[0]])

    def cluster(self, site: Site, group: Group, arrives: bool) -> None:
        """See Observer."""
        lanes = self._active(group, group.active)
        if self._cluster_arrivals is None:
            self._cluster_arrivals = np.zeros(self._n, np.int64)
        phase = self._cluster_arrivals
        relaxed = "relaxed" in site.instruction.modifiers
        if arrives:
            phase[lanes.thread] += 1
        which = lanes.block // self.launch.cluster_size
        for cluster in np.unique(which).tolist():
            here = lanes.thread[which == cluster]
            for n in np.unique(phase[here]).tolist():
                who = here[phase[here] == n]
                clock = self._cluster_phases.setdefault((cluster, n), {})
                if not arrives:
                    self.order.acquire(who, [clock])
                    continue
                for key, time in (self._fenced_clock(who) if relaxed else self.order.clock(who, self.now)).items():
                    clock[key] = max(time, clock.get(key, -1))
        self.tick()

    # ------------------------------------------------------------ fences

    def stretch(self, sites: Sequence[Site], group: Group) -> None:
        """See Observer."""
        kind = self._kinds.get(sites[-1]) or self._kind(sites[-1])
        if kind.fence or kind.proxy_fence:
            self._fence(kind, self._active(group, group.alive), sites[-1])

    def instruction(self, site: Site, group: Group, mask: Array | None) -> None:
        """See Observer."""
        kind = self._kind(site)
        if kind.fence or kind.proxy_fence:
            self._fence(kind, self._active(group, mask), site)

    def _fence(self, kind: Kind, lanes: NumberedLanes, site: Site) -> None:
        thread = lanes.thread
        if kind.proxy_fence:
            if self._proxy is None:
                self._proxy = np.zeros(self._n, np.int64), np.zeros(self._n, np.int64)
            self._proxy[0][thread], self._proxy[1][thread] = self.now, self.order.barrier[lanes.block]
            self.tick()
            return
        if kind.releases:
            times, barriers = self._fences.setdefault(kind.scope, (np.zeros(self._n, np.int64), np.zeros(self._n, np.int64)))
            times[thread], barriers[thread] = self.now, self.order.barrier[lanes.block]
            if self.order.views:
                for t in thread.tolist():
                    if any(key in self.order.views for key in self.order.key_of(t)):
                        self._fence_views[kind.scope, t] = self.order.clock(np.array([t]), self.now)
        if kind.acquires and self._pending:
            for t in thread.tolist() if thread.size < len(self._pending) else [t for t in self._pending if (thread == t).any()]:
                found = self._pending.get(t)
                if found:
                    for heads in found.values():
                        self._take(t, heads, kind.scope, site)
                    if kind.scope >= GPU:
                        del self._pending[t]
        self.tick()

    def _take(self, thread: int, heads: Heads, scope: int, site: Site) -> None:
        block = thread // self.launch.threads
        clocks = list(heads.for_(block, scope, self.launch.cluster_size))
        if clocks:
            self.order.acquire_one(thread, clocks)
        if scope < GPU or heads.site_line:
            self._reporter.narrow(block, scope, site, heads.site_line)

    def _fenced_clock(self, thread: Array) -> dict[int, int]:
        """What the last fences of these threads cover."""
        out: dict[int, int] = {}
        for t in thread.tolist():
            for _scope, clock in self._released_by(t):
                for key, time in clock.items():
                    out[key] = max(time, out.get(key, -1))
        return out

    def _released_by(self, t: int) -> list[tuple[int, dict[int, int]]]:
        out = []
        for scope, (times, barriers) in self._fences.items():
            at = int(times[t])
            if at:
                clock = dict(self._fence_views.get((scope, t), {}))
                thread, warp, block = self.order.key_of(t)
                clock[thread] = at
                for key, time in ((block, int(barriers[t])), (warp, int(self.order.warp[warp & NUMBER]))):
                    if self.order.floor < time <= at:
                        clock[key] = max(time, clock.get(key, -1))
                out.append((scope, clock))
        return out

    # ------------------------------------------------------------ copies, mbarriers

    def issued(self, copy: Copying, lanes: Accessing) -> None:
        """See Observer."""
        thread = np.unique(self._active(lanes, lanes.active).thread)
        first, first_read = self.order.copies.add(thread), self.order.copies.add(thread)
        self._copies[copy] = Issued(copy, thread, first, first_read, self.now, self._groups(copy.group)[thread])
        self.tick()

    def _groups(self, group: str) -> Array:
        found = self._closed.get(group)
        if found is None:
            found = self._closed[group] = np.zeros(self._n, np.int64)
        return found

    def closed(self, lanes: Accessing, group: str) -> None:
        """See Observer."""
        self._groups(group)[self._active(lanes, lanes.active).thread] += 1

    def waited(self, lanes: Accessing, group: str, most: int, read: bool) -> None:
        """See Observer."""
        who = np.zeros(self._n, bool)
        who[self._active(lanes, lanes.active).thread] = True
        limit = self._groups(group) - most
        done, clock = self.order.copies.done, {}
        for copy, issued in list(self._copies.items()):
            if copy.group != group:
                continue
            over = who[issued.thread] & ((issued.closed < limit[issued.thread]) if most >= 0 else True)
            for first in (issued.first_read,) if read else (issued.first, issued.first_read):
                place = first + np.flatnonzero(over)
                done[place] = np.minimum(done[place], self.now)
                if self._kind(copy.site).reads_async and place.size:  # the warp has read together, whichever lane fetched what
                    self.order.phases += 1
                    self.order.copies.tag[place] = self.order.phases
                    clock[COPY << LEVEL_AT | self.order.phases] = self.now
            if (done[issued.first : issued.first + issued.thread.size] < NEVER).all():
                del self._copies[copy]
        if clock:
            self.order.acquire(np.flatnonzero(who), [clock])
        self.tick()

    def mbarrier(self, site: Site, group: Group, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """See Observer."""
        wave = group.wave
        self._mbarrier = what if what in ("init", "change") else ""
        if what == "inval":
            return
        words = wave.shared.view(np.dtype(np.uint64))
        relaxed = "relaxed" in site.instruction.modifiers
        copying = wave.copying
        if copying is None and self._implicit is not None and self._implicit.site is site:
            copying = self._implicit
        every = self._lanes_of(group)
        for part, places in wave.access.shared_places(group, space, address, 8):
            index = np.arange(every.thread.size) if part.lanes is None else part.lanes
            if places.size == 1 and index.size > 1:
                places = np.broadcast_to(places, index.shape)
            if what == "wait":
                over = np.broadcast_to(amounts[0], group.geometry.shape).ravel()[index]
                index, places = index[over], places[over]
            for place in np.unique(places).tolist():
                state = self._phases.at(id(wave), place, int(words[place >> 3]) >> 63, what == "init")
                thread = every.thread[index[places == place]]
                if what == "change" and copying is not None:
                    self._complete(copying, thread, state.current)
                elif what == "change" and not relaxed:
                    clock = self.order.clock(thread, self.now)
                    for key, time in clock.items():
                        state.current[key] = max(time, state.current.get(key, -1))
                elif what == "wait" and not relaxed and thread.size:
                    self.order.acquire(thread, [state.completed])
        self.tick()

    def _complete(self, copying: Copying, thread: Array, clock: dict[int, int]) -> None:
        """An mbarrier's phase will see copies of these threads complete."""
        self.order.phases += 1
        tag = self.order.phases
        clock[COPY << LEVEL_AT | tag] = self.now
        for copy, issued in self._copies.items():
            if copy is copying or (copying.after and copy.group == copying.after):
                place = np.flatnonzero(np.isin(issued.thread, thread))
                for first in (issued.first, issued.first_read):
                    self.order.copies.tag[first + place] = tag
                if copy is copying:
                    for key, time in self.order.clock(issued.thread[place], issued.at).items():
                        if time <= issued.at:
                            clock[key] = max(time, clock.get(key, -1))

    # ------------------------------------------------------------ accesses

    def access(self, a: Access) -> None:
        """See Observer."""
        if a.space in IGNORED or isinstance(a.address, LocalPlace):
            return
        kind = self._kind(a.site)
        used, self._mbarrier = self._mbarrier, ""
        copying = a.copy
        if used == "change" and copying is not None:
            return
        if copying is None and (kind.copies or kind.reads_async) and not used:
            copying = self._implicit_copy(a, kind)
        elif kind.copies and used:
            return
        writes, size = a.kind != "ld", a.type.bytes * a.count
        every = self._lanes_of(a.group)
        values = (
            [np.broadcast_to(v, a.group.geometry.shape).ravel() for v in a.values] if a.kind == "st" and a.values[0].ndim == 2 else None
        )
        for part, memory, place in a.group.wave.access.places(a.group, a.space, plain(a.address), size, writes):
            lanes = every if part.lanes is None else every.take(part.lanes)
            if place.size == 1 and lanes.thread.size > 1:
                place = np.broadcast_to(place, lanes.thread.shape)
            own = None if values is None else [v if part.lanes is None else v[part.lanes] for v in values]
            for shadow, offset, index in self._shadows(a, memory, place):
                some = lanes if index is None else lanes.take(index)
                mine = own if own is None or index is None else [v[index] for v in own]
                self._touch(a, kind, used, copying, memory, shadow, offset, some, size, mine)
        if kind.strong or a.kind in ("atom", "red"):
            self.tick()

    def _implicit_copy(self, a: Access, kind: Kind) -> Copying:
        """Copies that no meaning announces: asynchronous stores, and what tensor cores read."""
        self._implicit = Copying(a.site, "wgmma" if kind.reads_async else "")
        lanes = self._active(a.group, a.mask)
        thread = np.unique(lanes.thread)
        first, first_read = self.order.copies.add(thread), self.order.copies.add(thread)
        self._copies[self._implicit] = Issued(
            self._implicit, thread, first, first_read, self.now, self._groups(self._implicit.group)[thread]
        )  # fmt: skip
        return self._implicit

    def _shadows(self, a: Access, memory: Any, place: Array) -> list[tuple[Shadow, Array, Array | None]]:
        if isinstance(memory, SharedSpace):
            return [(self._shared[id(a.group.wave)], place, None)]
        if not isinstance(memory, ArenaSpace) or not place.size:
            return []
        arena = memory.arena
        out: list[tuple[Shadow, Array, Array | None]] = []
        first, last = int(place.min()) + arena.base, int(place.max()) + arena.base
        found = arena.find(first)
        if found is not None and last < found.end:
            return [(self._shadow(found), place - (found.start - arena.base), None)]
        which = np.searchsorted(arena.begins, place + arena.base, side="right")
        for w in np.unique(which).tolist():
            index = np.flatnonzero(which == w)
            found = arena.find(int(place[index[0]]) + arena.base)
            if found is not None:
                out.append((self._shadow(found), place[index] - (found.start - arena.base), index))
        return out

    def _shadow(self, found: Allocation) -> Shadow:
        have = self._global.get(id(found))
        if have is None:
            have = self._global[id(found)] = found, Shadow("global", found.size, found.start)
        return have[1]

    def _touch(
        self, a: Access, kind: Kind, used: str, copying: Copying | None, memory: Any, shadow: Shadow, offset: Array, u: NumberedLanes, size: int,
        values: list[Array] | None,
    ) -> None:  # fmt: skip
        if not offset.size:
            return
        if shadow.unit == 4 and (size & 3 or int(np.bitwise_or.reduce(offset)) & 3):
            shadow.split()
        unit = shadow.unit
        if not self._only_barriers and shadow.name == "global":
            self.order.activity[u.block] = self.now
        self._cross_blocks = shadow.name == "global" or self.launch.cluster_size > 1
        if a.kind in ("atom", "red"):
            what = "strong write"
        elif kind.mbarrier:
            what = "weak write" if used == "init" else "strong read"
        else:
            what = f"{'strong' if kind.strong else 'weak'} {'read' if a.kind == 'ld' else 'write'}"
        strong = what.startswith("strong")
        before = who = None
        if copying is not None:
            issued = self._copies.get(copying)
            if issued is None:
                return
            position = np.searchsorted(issued.thread, u.thread)
            who = position + (issued.first_read if a.kind == "ld" else issued.first) | COPY << LEVEL_AT
            before = np.full(u.thread.size, issued.at)
            what = "copied from" if a.kind == "ld" else "copied to"
        if strong and copying is None:
            element = a.type.bytes
            if kind.scope < GPU or shadow.strong_size not in (0, element):
                shadow.uneven = True
            shadow.strong_size = element
        number = self._number(a.site)
        cell = offset // unit if unit > 1 else offset
        floor = self._floor(shadow, memory, u)
        for k in range(size // unit):
            i = cell + k if k else cell
            value = None
            if values is not None and (k * unit) // a.type.bytes < len(values):
                value = (values[k * unit // a.type.bytes], offset + k * unit // a.type.bytes * a.type.bytes)
            self._check(a, kind, what, shadow, memory, i, u, number, floor, before, who, value)
        if strong and copying is None:
            self._synchronize(a, kind, shadow, offset, u)
        elif a.kind != "ld" and shadow.heads:
            for place in offset.tolist() if offset.size < len(shadow.heads) else [p for p in shadow.heads if (offset == p).any()]:
                shadow.heads.pop(place, None)

    def _floor(self, shadow: Shadow, memory: Any, u: NumberedLanes) -> Any:
        """Records up to this stamp are ordered before."""
        if shadow.name == "shared" and self.launch.cluster_size == 1:
            found = self._floors.get(id(u))
            if found is not None and found[0] is u and found[1] == self.order.barriers:
                return found[2]
            times = self.order.barrier[u.block]
            low, high = int(times.min()), int(times.max())
            floor = U64(low << 32 | 0xFFFFFFFF) if low == high else (times.astype(np.uint64) << HALF) | LOW
            if len(self._floors) > 64:
                self._floors.clear()
            self._floors[id(u)] = u, self.order.barriers, floor
            return floor
        return U64(self.order.floor << 32 | 0xFFFFFFFF)

    def _number(self, site: Site) -> int:
        found = self._numbers.get(site)
        if found is None:
            found = self._numbers[site] = len(self._numbers) + 1
            self._reporter.sites.append(site)
            self._reporter.kinds.append(self._kind(site))
        return found

    def _check(
        self, a: Access, kind: Kind, what: str, shadow: Shadow, memory: Any, i: Array, u: NumberedLanes, number: int, floor: Any,
        before: Array | None, who: Array | None, value: tuple[Array, Array] | None,
    ) -> None:  # fmt: skip
        strong = what.startswith("strong") or (what == "copied to" and a.kind in ("atom", "red"))
        for other in AGAINST[what]:
            cells = shadow.cells.get(other)
            if cells is None or (strong and other.startswith("strong") and not shadow.uneven and before is None):
                continue
            stamp = cells.stamp[i]
            late = stamp > floor
            if who is not None:
                late &= (stamp & LOW).astype(np.int64) != who
            if late.any():
                index = np.flatnonzero(late)
                mask = None if cells.mask is None else cells.mask[i[index]]
                bad = self.order.unordered(stamp[index], mask, u.take(index), None if before is None else before[index])
                index = index[bad]
                if index.size:
                    self._suspect(a, kind, what, other, shadow, memory, cells, i, index, u, strong, value)
            if before is not None and kind.async_proxy and other == "weak write":
                self._check_proxy(a, what, other, shadow, memory, cells, i, stamp, u)
        self._note(a, what, shadow, memory, i, u, number, floor, who, value)

    def _suspect(
        self, a: Access, kind: Kind, what: str, other: str, shadow: Shadow, memory: Any, cells: Cells, i: Array, index: Array, u: NumberedLanes,
        strong: bool, value: tuple[Array, Array] | None,
    ) -> None:  # fmt: skip
        """Unordered accesses: which of them race?"""
        sites = cells.site[i[index]]
        stamp = cells.stamp[i[index]]
        if strong or (what == "strong write"):
            index = index[~self._reporter.morally_strong(kind, a.type.bytes, a.kind, sites, stamp, u.block[index])]
        elif other == "strong write" and (reads := shadow.cells.get("strong read")) is not None:
            own = reads.stamp[i[index]]  # what a thread has read with a strong load is before what follows
            seen = ((own & LOW).astype(np.int64) == u.thread[index]) & ((own >> HALF) > (stamp >> HALF))
            index = index[~seen]
        if not index.size:
            return
        equal = False
        if value is not None and other == "weak write" and what == "weak write":
            v, place = value[0][index], value[1][index]
            equal = bool((self._content(memory, shadow, place, v.dtype) == v).all())
        self._reporter.race(a, what, other, shadow, cells, i, index, u, equal)

    @staticmethod
    def _content(memory: Any, shadow: Shadow, place: Array, dtype: Any) -> Array:
        base = shadow.origin - memory.arena.base if isinstance(memory, ArenaSpace) else 0
        return np.asarray(memory.view(dtype)[(place + base) // dtype.itemsize])

    def _check_proxy(
        self, a: Access, what: str, other: str, shadow: Shadow, memory: Any, cells: Cells, i: Array, stamp: Array, u: NumberedLanes
    ) -> None:
        """What a bulk copy accesses was written by plain stores: is a proxy fence between?"""
        time = (stamp >> HALF).astype(np.int64)
        index = np.flatnonzero(time > self.order.floor)
        if not index.size:
            return
        if self._proxy is not None:
            time = time[index]
            low = (stamp[index] & LOW).astype(np.int64)
            number = np.where(low >> LEVEL_AT == THREAD, low & NUMBER, 0)
            own = u.take(index)
            same = (number // self.launch.threads == own.block) & (number != own.thread)
            covered = (self._proxy[0][number] >= time) & (low >> LEVEL_AT == THREAD)
            covered |= np.where(same, self._proxy[1][own.thread], self._proxy[0][own.thread]) >= time
            warp = low >> LEVEL_AT == THREAD
            covered |= same & warp & (self._proxy[0][own.thread] >= time) & (self.order.warp[own.warp] >= time) & (
                own.warp == number // self.launch.threads * self.order.per_block + number % self.launch.threads // 32)  # fmt: skip
            if self.order.views:
                covered |= self._proxy[0][own.thread] >= time
            index = index[~covered]
        if index.size:
            self._reporter.race(a, what, other, shadow, cells, i, index, u, False, proxy=True)

    def _note(
        self, a: Access, what: str, shadow: Shadow, memory: Any, i: Array, u: NumberedLanes, number: int, floor: Any, who: Array | None,
        value: tuple[Array, Array] | None,
    ) -> None:  # fmt: skip
        """Keeps this access; lanes of it that touch one unit meet here."""
        cells = shadow.of(what)
        mine = stamps(NEVER, who) if who is not None else u.words(THREAD) | U64(self.now << 32)
        old = cells.stamp[i]
        late = old > floor
        sites = cells.site[i] if late.any() else None
        cells.stamp[i] = mine
        cells.site[i] = number
        if i.size > 1:
            back = cells.stamp[i]
            met = np.flatnonzero(back != mine)
        else:
            back, met = mine, np.zeros(0, np.int64)
        if met.size and what in ("weak write", "copied to") and a.kind == "st":
            equal = False
            if value is not None:
                winner = np.zeros(int(i.max()) - int(i.min()) + 1, value[0].dtype)
                winner[i - i.min()] = value[0]
                equal = bool((winner[i[met] - i.min()] == value[0][met]).all())
            self._reporter.race(a, what, what, shadow, cells, i, met, u, equal, within=True)
        if who is not None or what == "weak write":
            return
        if met.size:
            kind = self._kind(a.site)
            if what == "strong write" and kind.scope < GPU:
                size = 1 if kind.scope == CTA else self.launch.cluster_size
                apart = ((back[met] & LOW).astype(np.int64) & NUMBER) // self.launch.threads // size != u.block[met] // size
                if apart.any():
                    self._reporter.race(a, what, what, shadow, cells, i, met[apart], u, False, within=True)
            self._merge(cells, i, met, back, u)
        if sites is not None:
            index = np.flatnonzero(late)
            masks = None if cells.mask is None else cells.mask[i[index]]
            open_ = self.order.unordered(old[index], masks, u.take(index))
            index = index[open_]
            if index.size:
                self._remember(cells, i[index], old[index], None if masks is None else masks[open_], sites[index], mine[index], number)
                self._join(cells, i, index, old[index], u)

    @staticmethod
    def _remember(cells: Cells, where: Array, old: Array, masks: Array | None, sites: Array, mine: Array, number: int) -> None:
        """Records of several instructions become one: which thread executed which?"""
        mixed = sites >= MIXED
        apart = mixed | (sites != number)
        if apart.any():
            fresh = np.flatnonzero(apart & ~mixed)
            if fresh.size:
                cells.keep(where[fresh], old[fresh], None if masks is None else masks[fresh], sites[fresh])
            cells.keep(where[apart], mine[apart], None, np.full(int(apart.sum()), number, np.uint16))
            cells.site[where[apart]] = number | MIXED

    def _merge(self, cells: Cells, i: Array, met: Array, back: Array, u: NumberedLanes) -> None:
        """Several lanes at one unit become a record of their warp, block or the grid."""
        if self._only_barriers:
            where, key = i[met], u.words(BLOCK)[met] | U64(self.now << 32)
            cells.stamp[where] = key
            if self._cross_blocks:
                apart = where[cells.stamp[where] != key]
                cells.stamp[apart] = stamps(self.now, GRID | BLOCK << LEVEL_AT)
            return
        rep = (back[met] & LOW).astype(np.int64) & NUMBER
        block = rep // self.launch.threads
        warp = block * self.order.per_block + rep % self.launch.threads // 32
        mine = u.take(met)
        where = i[met]
        cells.stamp[where] = stamps(self.now, mine.warp | WARP << LEVEL_AT)
        wider = np.flatnonzero(warp != mine.warp)
        if wider.size:
            cells.stamp[where[wider]] = stamps(self.now, mine.block[wider] | BLOCK << LEVEL_AT)
            grid = np.flatnonzero(block != mine.block)
            if grid.size:
                cells.stamp[where[grid]] = stamps(self.now, GRID | BLOCK << LEVEL_AT)
        self._mask(cells, i, u)

    def _mask(self, cells: Cells, i: Array, u: NumberedLanes) -> None:
        """The lanes of a warp, or the warps of a block, that a record has."""
        masks = cells.masks()
        level = (cells.stamp[i] & LOW).astype(np.int64) >> LEVEL_AT
        some = np.flatnonzero((level == WARP) | (level == BLOCK))
        bit = np.where(level == WARP, u.thread % self.launch.threads & 31, u.warp % self.order.per_block).astype(np.uint32)
        masks[i[some]] = 0
        np.bitwise_or.at(masks, i[some], np.uint32(1) << bit[some])

    def _join(self, cells: Cells, i: Array, index: Array, old: Array, u: NumberedLanes) -> None:
        """Records of others that are unordered with these lanes are kept with them."""
        where = i[index]
        low = (old & LOW).astype(np.int64)
        level, number = low >> LEVEL_AT, low & NUMBER
        threads, per = self.launch.threads, self.order.per_block
        block = np.where(level == THREAD, number // threads, np.where(level == WARP, number // per, number))
        warp = np.where(level == THREAD, number // threads * per + number % threads // 32, np.where(level == WARP, number, -1))
        mine = u.take(index)
        if self._only_barriers:
            theirs = cells.stamp[where] & LOW
            grid = (block != mine.block) | ((level == BLOCK) & (number == GRID)) | (theirs == U64(GRID | BLOCK << LEVEL_AT))
            cells.stamp[where] = stamps(self.now, np.where(grid, GRID, mine.block) | BLOCK << LEVEL_AT)
            return
        cur = (cells.stamp[where] & LOW).astype(np.int64)
        now_level = cur >> LEVEL_AT
        masks = cells.masks()
        lane = np.where(level == THREAD, number % threads & 31, 0).astype(np.uint32)
        old_lanes = np.where(level == THREAD, np.uint32(1) << lane, masks[where])
        warp_bit = np.uint32(1) << np.where(warp >= 0, warp % per, 0).astype(np.uint32)
        old_warps = np.where(level == BLOCK, masks[where], warp_bit)
        mine_lane = np.uint32(1) << (mine.thread % threads & 31).astype(np.uint32)
        mine_warp = np.uint32(1) << (mine.warp % per).astype(np.uint32)
        grid = (block != mine.block) | ((now_level == BLOCK) & (cur & NUMBER == GRID)) | ((level == BLOCK) & (number == GRID))
        one = (warp == mine.warp) & (now_level <= WARP) & ~grid
        key = np.where(grid, GRID | BLOCK << LEVEL_AT, np.where(one, mine.warp | WARP << LEVEL_AT, mine.block | BLOCK << LEVEL_AT))
        fresh = np.where(one, mine_lane | old_lanes, mine_warp | old_warps)
        have = np.where(now_level == THREAD, np.uint32(0), masks[where])
        lift = ~one & (now_level == WARP)
        cells.stamp[where] = stamps(self.now, key)
        masks[where] = np.where(lift, np.uint32(0), have) | fresh
        np.bitwise_or.at(masks, where, fresh)

    # ------------------------------------------------------------ release and acquire

    def _synchronize(self, a: Access, kind: Kind, shadow: Shadow, offset: Array, u: NumberedLanes) -> None:
        """Strong accesses pass on what release patterns have published."""
        if kind.mbarrier:
            return
        reads = a.kind in ("ld", "atom", "red")
        writes = a.kind != "ld"
        takes = a.kind in ("ld", "atom")
        releases = writes and (kind.releases or bool(self._fences))
        if not releases and not shadow.heads:
            return
        if not releases:
            known = list(shadow.heads)
            some = np.flatnonzero(np.isin(offset, known))
        else:
            some = np.arange(offset.size)
        for j in some.tolist():
            place, thread = int(offset[j]), int(u.thread[j])
            heads = shadow.heads.get(place)
            if heads is not None and takes:
                if kind.acquires:
                    self._take(thread, heads, kind.scope, a.site)
                self._pending.setdefault(thread, {})[id(shadow), place] = heads
            if not writes:
                continue
            fresh = heads if reads else None  # a read-modify-write passes on what it finds
            for scope, clock in self._released_by(thread) if self._fences else ():
                fresh = (fresh or Heads()).more(int(u.block[j]), scope, clock, a.site.instruction.span.line)
            if kind.releases:
                clock = self.order.clock(u.thread[j : j + 1], self.now)
                fresh = (fresh or Heads()).more(int(u.block[j]), kind.scope, clock, a.site.instruction.span.line)
            if fresh is None:
                shadow.heads.pop(place, None)
            else:
                shadow.heads[place] = fresh


def _bits(flags: Array) -> Array:
    made: Array = np.packbits(flags.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32).ravel()
    return made
