"""Asynchronous copies, their groups, and the mbarriers that tell of their end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....observe import Access, Copying, ObservedLanes
from ....plan.plan import Site
from ..context import RaceContext
from ..records.shadow_memory import COPY, LEVEL_AT, NEVER, Array
from .fences import Fences
from .happens_before import KnownAtIssue
from .memory_order import CTA, Kind
from .release_tables import NOTHING


class CopyUnderWay:
    """A copy under way: its lanes and its records."""

    __slots__ = ("at", "closed", "copying", "first", "first_read", "known", "thread")

    def __init__(self, copying: Copying, thread: Array, first: int, first_read: int, at: int, known: KnownAtIssue, closed: Array) -> None:
        self.copying = copying
        self.thread = thread  # in ascending order
        self.first, self.first_read = first, first_read
        self.at = at  # the time of the instruction
        self.known = known
        self.closed = closed  # how many groups each thread had closed before

    def records(self, thread: Array, reads: bool) -> Array:
        """How records name the copies of some threads."""
        return np.asarray(np.searchsorted(self.thread, thread) + (self.first_read if reads else self.first) | COPY << LEVEL_AT)

    def before(self, thread: Array) -> KnownAtIssue:
        """What the copies of some threads come after."""
        return self.known.take(np.searchsorted(self.thread, thread))


class MBarrier:
    """One object: the releases by those who arrived, and the ends of copies, all phases in one sequence."""

    __slots__ = ("completed", "last", "over", "parity", "tags")

    def __init__(self, parity: int) -> None:
        self.parity = parity
        self.last = self.completed = NOTHING  # the last release, and that of the phases that are complete
        self.tags, self.over = set[int](), set[int]()  # of copies whose end this phase waits for, and of those whose end is known


class Asynchrony:
    """All copies of one launch."""

    def __init__(self, context: RaceContext, fences: Fences) -> None:
        self.context = context
        self._fences = fences
        self._copies: dict[Copying, CopyUnderWay] = {}
        self._closed: dict[str, Array] = {}
        self._mbarriers: dict[tuple[int, int], MBarrier] = {}  # by wave and place in its shared memory
        self._implicit: Copying | None = None
        self._used = ""  # what the instruction does to an mbarrier whose access comes now

    def of(self, copying: Copying) -> CopyUnderWay | None:
        """A copy that is under way."""
        return self._copies.get(copying)

    def use(self) -> str:
        """What the instruction does to an mbarrier ("init", "change"), if this access is that."""
        used, self._used = self._used, ""
        return used

    def issued(self, copy: Copying, lanes: ObservedLanes) -> None:
        """See Observer."""
        thread = np.unique(self.context.active(lanes, lanes.active).thread)
        if copy.after:
            self.context.order.phases += 1
            for _, tags, place in self._before(copy.after, thread, self.context.now):
                tags[place[tags[place] < 0]] = self.context.order.phases
        self._issue(copy, thread)
        self.context.tick()

    def _before(self, group: str, thread: Array, now: int) -> Iterator[tuple[CopyUnderWay, Array, Array]]:
        """The copies of a group that these threads have issued before a time: the tags of their records, and which are those of the threads."""
        for copy, issued in self._copies.items():
            if copy.group == group and issued.at < now:
                place = np.flatnonzero(np.isin(issued.thread, thread))
                for first in (issued.first, issued.first_read):
                    yield issued, self.context.order.copies.tag[first : first + issued.thread.size], place

    def _issue(self, copy: Copying, thread: Array) -> None:
        order, now = self.context.order, self.context.now
        first, first_read = order.copies.add(thread), order.copies.add(thread)
        self._copies[copy] = CopyUnderWay(
            copy, thread, first, first_read, now, order.at_issue(thread, now), self._groups(copy.group)[thread]
        )

    def _groups(self, group: str) -> Array:
        found = self._closed.get(group)
        if found is None:
            found = self._closed[group] = np.zeros(self.context.count, np.int64)
        return found

    def closed(self, lanes: ObservedLanes, group: str) -> None:
        """See Observer."""
        self._groups(group)[self.context.active(lanes, lanes.active).thread] += 1

    def waited(self, lanes: ObservedLanes, group: str, most: int, read: bool) -> None:
        """See Observer."""
        who = np.zeros(self.context.count, bool)
        who[self.context.active(lanes, lanes.active).thread] = True
        limit = self._groups(group) - most
        done, order, over_by_name = self.context.order.copies.done, self.context.order, list[int]()
        for copy, issued in list(self._copies.items()):
            if copy.group != group:
                continue
            over = who[issued.thread] & ((issued.closed < limit[issued.thread]) if most >= 0 else True)
            for first in (issued.first_read,) if read else (issued.first, issued.first_read):
                place = first + np.flatnonzero(over)
                done[place] = np.minimum(done[place], self.context.now)
                if self.context.kind(copy.site).reads_async and place.size:  # the warp has read together, whichever lane fetched what
                    order.phases += 1
                    order.copies.tag[place] = order.phases
                    over_by_name.append(COPY << LEVEL_AT | order.phases)
            if (done[issued.first : issued.first + issued.thread.size] < NEVER).all():
                del self._copies[copy]
        if over_by_name:
            order.sequences.acquire(np.flatnonzero(who), order.sequences.announce(np.array(over_by_name), self.context.now))
        self.context.tick()

    def mbarrier(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """See Observer."""
        wave = group.wave
        self._used = what if what in ("init", "change") else "change" if what == "expect" else ""
        if what in ("inval", "expect"):
            return
        words = wave.shared.view(np.dtype(np.uint64))
        copying = wave.copying
        if copying is None and self._implicit is not None and self._implicit.site is site:
            copying = self._implicit
        every = self.context.lanes_of(group)
        for part, places in wave.access.shared_places(group, space, address, 8):
            index = np.arange(every.thread.size) if part.lanes is None else part.lanes
            if places.size == 1 and index.size > 1:
                places = np.broadcast_to(places, index.shape)
            if what == "wait":
                over = np.broadcast_to(amounts[0], group.geometry.shape).ravel()[index]
                index, places = index[over], places[over]
            for place in np.unique(places).tolist():
                state = self._mbarrier_at(id(wave), place, int(words[place >> 3]) >> 63, what == "init")
                thread = every.thread[index[places == place]]
                if what == "change" and copying is not None:
                    self._complete(copying, thread, state)
                if what == "wait":
                    self._see_complete(site, state, thread)
                elif what == "change" and copying is None:
                    self._arrive(site, state, thread)
        self.context.tick()

    def _mbarrier_at(self, wave: int, place: int, parity: int, fresh: bool) -> MBarrier:
        """The object at a place, whose word has this parity now; another one than before says that a phase is over."""
        found = self._mbarriers.get((wave, place))
        if found is None or fresh:
            found = self._mbarriers[wave, place] = MBarrier(0 if fresh else parity)
        elif found.parity != parity:
            found.parity, found.completed = parity, found.last
            found.over |= found.tags
            found.tags.clear()
        return found

    def _arrive(self, site: Site, state: MBarrier, thread: Array) -> None:
        """Threads arrive at an mbarrier."""
        order, scope, relaxed = self.context.order, self.context.kind(site).scope, "relaxed" in site.instruction.modifiers
        for released in self._fences.covered(thread, CTA) if relaxed else (order.moment(thread, self.context.now),):
            state.last = order.sequences.release(released, state.last, scope)

    def _see_complete(self, site: Site, state: MBarrier, thread: Array) -> None:
        """Threads see a phase complete."""
        if "relaxed" in site.instruction.modifiers:
            self._fences.relaxed(thread, state.completed)
            return
        self.context.order.sequences.acquire(thread, state.completed, self.context.kind(site).scope)
        self._forget(thread, state.over)

    def _complete(self, copying: Copying, thread: Array, state: MBarrier) -> None:
        """An mbarrier's phase will see copies of these threads complete."""
        issued, order = self._copies.get(copying), self.context.order
        if issued is None:
            return
        place = np.flatnonzero(np.isin(issued.thread, thread))
        order.phases += 1
        over = {order.phases}
        for first in (issued.first, issued.first_read):
            order.copies.tag[first + place] = order.phases
        if copying.after:
            for _, tags, theirs in self._before(copying.after, thread, issued.at):
                over |= set(tags[theirs].tolist())
        before = order.sequences.release(issued.known.moment.take(place), state.last)
        names = COPY << LEVEL_AT | np.array(sorted(over))
        state.last = order.sequences.announce(names, self.context.now, before)
        state.tags |= over

    def _forget(self, thread: Array, over: set[int]) -> None:
        """Copies of which all threads that issued them know that they are complete concern no later phase."""
        for copy, issued in list(self._copies.items()):
            tags = self.context.order.copies.tag[issued.first : issued.first + issued.thread.size]
            if copy.group and np.isin(issued.thread, thread).all() and over.issuperset(tags.tolist()):
                del self._copies[copy]

    def unannounced(self, a: Access, kind: Kind) -> Copying:
        """Copies that no meaning announces: asynchronous stores, and what tensor cores read."""
        self._implicit = Copying(a.site, "wgmma" if kind.reads_async else "")
        self._issue(self._implicit, np.unique(self.context.active(a.group, a.mask).thread))
        return self._implicit
