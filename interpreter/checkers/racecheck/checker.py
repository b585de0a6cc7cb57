"""racecheck: what the events of a run mean for the order of its threads, and the findings."""

from __future__ import annotations

from collections.abc import Sequence

from ...launch import Launch
from ...memory.arena import Arena
from ...observe import Access, Copying, LaunchProof, ObservedLanes, ObservedWave
from ...plan.plan import Site
from ..checker import CheckedRun, Checker
from .accesses import AccessWatch
from .context import RaceContext
from .order.asynchrony import Asynchrony
from .order.barriers import Rendezvous
from .order.fences import Fences
from .order.launches import Launches
from .records.shadow_memory import Array


class Racecheck(Checker):
    """Reports accesses that nothing orders."""

    def __init__(self, run: CheckedRun) -> None:
        super().__init__(run)
        self.launches = Launches()
        self._run = run
        self._context = RaceContext(run.findings)
        self._start()

    def _start(self) -> None:
        context = self._context
        self._fences = Fences(context)
        self._barriers = Rendezvous(context, self._fences)
        self._asynchrony = Asynchrony(context, self._fences)
        self._watch = AccessWatch(context, self._fences, self._asynchrony)

    @property
    def depends_on_order(self) -> bool:
        """See Checker."""
        return self._context.met_by_chance

    # ------------------------------------------------------------ launches

    def queued(self, stream: str | None, after: Sequence[str] = ()) -> None:
        """See Checker."""
        self.launches.queued(stream, after)

    def recorded(self, event: str, stream: str | None) -> None:
        """See Checker."""
        self.launches.recorded(event, stream)

    def awaited(self, event: str, stream: str) -> None:
        """See Checker."""
        self.launches.awaited(event, stream)

    def synchronized(self, event: str = "", stream: str = "") -> None:
        """See Checker."""
        self.launches.synchronized(event, stream)

    def read(self, arena: Arena, address: int, size: int) -> None:
        """See Checker."""
        self._context.copied(arena, address, size, False, self.launches.unordered())

    def written(self, arena: Arena, address: int, size: int) -> None:
        """See Checker."""
        self._context.copied(arena, address, size, True, self.launches.unordered())

    def takes_proof(self, launch: Launch) -> bool:
        """See Observer: a proof records no accesses with which later work may race."""
        return self._run.in_order

    def proved(self, proof: LaunchProof) -> None:
        """See Observer."""
        self._context.met_by_chance |= proof.may_meet

    def begin(self, launch: Launch) -> None:
        """See Observer."""
        self._context.tick()
        self._context.begin(launch, *self.launches.begin(self._context.now))
        self._start()

    def wave(self, wave: ObservedWave) -> None:
        """See Observer."""
        self._context.wave(wave)

    def end(self, launch: Launch) -> None:
        """See Observer."""
        self._context.end()
        self.launches.end(self._context.now)

    def finish(self) -> None:
        """See Checker."""
        self._context.reporter.finish()

    # ------------------------------------------------------------ order

    def met(self, site: Site, group: ObservedLanes, number: int) -> None:
        """See Observer."""
        self._barriers.met(group)

    def arrival(self, site: Site, group: ObservedLanes, number: int, count: int | None, waits: bool) -> None:
        """See Observer."""
        self._barriers.arrival(group, number, count, waits)

    def completion(self, wave: ObservedWave, number: int, blocks: Array) -> None:
        """See Observer."""
        self._barriers.completion(wave, number, blocks)

    def members(self, site: Site, group: ObservedLanes, membermask: Array) -> None:
        """See Observer."""
        if self._context.kind(site).warp_barrier:
            self._barriers.members(group, membermask)

    def cluster(self, site: Site, group: ObservedLanes, arrives: bool) -> None:
        """See Observer."""
        self._barriers.cluster(site, group, arrives)

    def stretch(self, sites: Sequence[Site], group: ObservedLanes) -> None:
        """See Observer."""
        self.instruction(sites[-1], group, group.alive)

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        """See Observer."""
        kind = self._context.kind(site)
        if kind.fence or kind.proxy_fence:
            self._fences.fence(kind, self._context.active(group, mask), site)

    def issued(self, copy: Copying, lanes: ObservedLanes) -> None:
        """See Observer."""
        self._asynchrony.issued(copy, lanes)

    def closed(self, lanes: ObservedLanes, group: str) -> None:
        """See Observer."""
        self._asynchrony.closed(lanes, group)

    def waited(self, lanes: ObservedLanes, group: str, most: int, read: bool) -> None:
        """See Observer."""
        self._asynchrony.waited(lanes, group, most, read)

    def mbarrier(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """See Observer."""
        self._asynchrony.mbarrier(site, group, what, space, address, amounts)

    # ------------------------------------------------------------ accesses

    def access(self, access: Access) -> None:
        """See Observer."""
        self._watch.access(access)
