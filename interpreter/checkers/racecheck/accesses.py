"""Where an access goes: which units of which shadows, by which lanes, as what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...memory.spaces import ArenaSpace, SharedSpace
from ...observe import Access, Copying
from ...values import LocalPlace, Shifted, plain
from .context import RaceContext
from .order.asynchrony import Asynchrony
from .order.fences import Fences
from .order.memory_order import GPU, Kind
from .records.look import Look
from .records.records import Records
from .records.shadow_memory import Array, Shadow
from .records.strided import Tiles
from .thread_ids import NumberedLanes

IGNORED = frozenset("local const param param::entry param::func".split())


class AccessWatch:
    """Looks at each access of one launch."""

    def __init__(self, context: RaceContext, fences: Fences, asynchrony: Asynchrony) -> None:
        self.context = context
        self._fences = fences
        self._asynchrony = asynchrony
        self._records = Records(context, fences)
        self._tiles = Tiles(context)

    def access(self, a: Access) -> None:
        """See Observer."""
        if a.space in IGNORED or isinstance(a.address, LocalPlace):
            return
        kind = self.context.kind(a.site)
        if kind.plain and a.copy is None and a.mask is None and type(a.address) is Shifted and self._tiles.settle(a, a.address):
            return
        asynchrony = self._asynchrony
        used, copying = asynchrony.use(), a.copy
        if used == "change" and copying is not None:
            return
        if copying is None and (kind.copies or kind.reads_async) and not used:
            copying = asynchrony.unannounced(a, kind)
        elif used and not kind.mbarrier:
            return
        every = self.context.lanes_of(a.group)
        for part, memory, place in a.group.wave.access.places(a.group, a.space, plain(a.address), a.type.bytes * a.count, a.kind != "ld"):
            lanes = every if part.lanes is None else every.take(part.lanes)
            if place.size == 1 and lanes.thread.size > 1:
                place = np.broadcast_to(place, lanes.thread.shape)
            for shadow, offset, index in self._shadows(a, memory, place):
                some = lanes if index is None else lanes.take(index)
                chosen = index if part.lanes is None else part.lanes if index is None else part.lanes[index]
                self._touch(a, kind, used, copying, memory, shadow, offset, some, chosen)
        if kind.strong or a.kind in ("atom", "red"):
            self.context.tick()

    def _shadows(self, a: Access, memory: Any, place: Array) -> Iterator[tuple[Shadow, Array, Array | None]]:
        if isinstance(memory, SharedSpace):
            yield self.context.of_wave(a.group.wave), place, None
            return
        if not isinstance(memory, ArenaSpace) or not place.size:
            return
        arena = memory.arena
        first, last = int(place.min()) + arena.base, int(place.max()) + arena.base
        found = arena.find(first)
        if found is not None and last < found.end:
            yield self.context.of_allocation(found), place - (found.start - arena.base), None
            return
        which = np.searchsorted(arena.begins, place + arena.base, side="right")
        for w in np.unique(which).tolist():
            index = np.flatnonzero(which == w)
            found = arena.find(int(place[index[0]]) + arena.base)
            if found is not None:
                yield self.context.of_allocation(found), place[index] - (found.start - arena.base), index

    def _touch(
        self, a: Access, kind: Kind, used: str, copying: Copying | None, memory: Any, shadow: Shadow, offset: Array, u: NumberedLanes,
        chosen: Array | None,
    ) -> None:  # fmt: skip
        if not offset.size:
            return
        size = a.type.bytes * a.count
        if shadow.unit == 4 and (size & 3 or int(np.bitwise_or.reduce(offset)) & 3):
            shadow.split()
        unit = shadow.unit
        if a.kind in ("atom", "red"):
            what = "strong write"
        elif kind.mbarrier:
            what = "weak write" if used == "init" else "strong read"
        else:
            what = f"{'strong' if kind.strong else 'weak'} {'read' if a.kind == 'ld' else 'write'}"
        strong = what.startswith("strong") and copying is None
        before = who = None
        if copying is not None:
            issued = self._asynchrony.of(copying)
            if issued is None:
                return
            who = issued.records(u.thread, a.kind == "ld")
            before = issued.before(u.thread)
            what = "copied from" if a.kind == "ld" else "copied to"
        if strong:
            if kind.scope < GPU:
                what += " near"
            shadow.uneven |= self.context.uneven or kind.scope < GPU or shadow.strong_size not in (0, a.type.bytes)
            shadow.strong_size = a.type.bytes
        floor = self.context.floor(shadow, u, before)
        look = Look(a, kind, what, shadow, memory, u, self.context.number(a.site), floor, offset, chosen, before, who)
        cell = offset // unit if unit > 1 else offset
        if strong:
            self._fences.passes(a, kind, shadow, offset, u)  # an access that acquires comes after what it acquires itself
        for look.part in range(size // unit):
            self._records.check(look, cell + look.part)
        if not self.context.only_barriers and (shadow.name == "global" or self.context.launch.cluster_size > 1):
            self.context.order.activity[u.warp] = self.context.now
        if not strong and a.kind != "ld":
            shadow.overwrite(offset)
