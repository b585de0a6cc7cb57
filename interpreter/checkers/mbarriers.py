"""The mbarrier objects of a launch, as synccheck follows them: which were initialised, and what their users do wrong.

What is pending is read from the object itself; only where objects are is remembered here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa.ops.mbarrier import MOST, advance, expected_arrivals, outstanding_bytes, pending_arrivals

from ..observe import Access, ObservedLanes, ObservedWave
from ..plan.plan import Site
from ..values import Array, plain

BYTES = 8
Report = Callable[
    [str, str, Site, ObservedLanes, "Array | None", "Site | None", str], None
]  # kind, message, site, group, lanes, other site, help


class Mbarriers:
    """Where objects are in each wave, by their place in the shared memory of its blocks, and what initialised them."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._objects: dict[int, dict[int, Site]] = {}
        self._used: Site | None = None  # the last instruction that knows what an mbarrier is
        self.reported = False  # was a change reported that the counts do not allow?

    def wave(self, wave: ObservedWave) -> None:
        """See Observer."""
        self._objects[id(wave)] = {}

    def end(self) -> None:
        """A launch is over."""
        self._objects.clear()

    def use(self, site: Site, group: ObservedLanes, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """See Observer.mbarrier."""
        self._used = site
        shape, objects = group.geometry.shape, self._objects[id(group.wave)]
        for part, places in group.wave.access.shared_places(group, space, address, BYTES):
            lanes = np.arange(group.geometry.n) if part.lanes is None else part.lanes
            given = [np.broadcast_to(part.of(v, shape), places.shape) for v in amounts]
            if what == "change":
                some = np.logical_or.reduce([v != 0 for v in given])
                places, lanes, given = places[some], lanes[some], [v[some] for v in given]
            if what == "init":
                self._init(site, group, objects, places, lanes, given[0])
                continue
            known = np.isin(places, [*objects])
            if not known.all():
                self._say("mbarrier-uninitialized", "an mbarrier is used before mbarrier.init", site, group, lanes[~known],
                          "initialise it with mbarrier.init in one thread, and let the others wait at a barrier before they use it")  # fmt: skip
                places, lanes, given = places[known], lanes[known], [v[known] for v in given]
            if what == "inval":
                for place in places.tolist():
                    objects.pop(place, None)
            elif what == "change" and places.size:
                self._change(site, group, places, lanes, given)

    def _init(self, site: Site, group: ObservedLanes, objects: dict[int, Site], places: Array, lanes: Array, counts: Array) -> None:
        wrong = (counts == 0) | (counts > MOST)
        if wrong.any():
            self.reported = True
            text = f"an mbarrier is initialised for {int(counts[wrong][0])} arrivals; an mbarrier counts 1 to {MOST}"
            self._say("mbarrier-misuse", text, site, group, lanes[wrong], "give the number of arrivals that end a phase")
        for place, lane in zip(places.tolist(), lanes.tolist(), strict=True):
            before = objects.get(place)
            if before is not None:
                text = "an mbarrier is initialised that is initialised already"
                self._say("mbarrier-misuse", text, site, group, np.array([lane]), "let one thread initialise it once, or call mbarrier.inval first",
                          None if before is site else before)  # fmt: skip
            objects[place] = site

    def _change(self, site: Site, group: ObservedLanes, places: Array, lanes: Array, given: Sequence[Array]) -> None:
        words = group.wave.shared.view(np.dtype(np.uint64))
        for place in np.unique(places).tolist():
            here = places == place
            arrivals, dropped, bytes_ = (v[here] for v in given)
            word = words[place >> 3 : (place >> 3) + 1].copy()
            if "noComplete" in site.instruction.modifiers and int(arrivals.sum()) == int(pending_arrivals(word)[0]):
                self._say("mbarrier-misuse", "an arrival with .noComplete ends the phase", site, group, lanes[here][-1:],
                          "arrive without .noComplete where it may be the last of the phase")  # fmt: skip
            pending, waits_for_bytes = int(pending_arrivals(word)[0]), bool(outstanding_bytes(word)[0])
            if int(arrivals.sum()) <= pending and not dropped.any():
                continue
            if not waits_for_bytes and not bytes_.any() and not dropped.any() and int(arrivals.max()) == 1 and expected_arrivals(word)[0]:
                continue  # one after the other they end phase after phase
            for lane, a, d, b in zip(lanes[here].tolist(), arrivals, dropped, bytes_, strict=True):
                pending = int(pending_arrivals(word)[0])
                if a > pending:
                    why = " in this phase, which waits for bytes of copies only" if not pending else ""
                    text = f"{int(a)} arrivals at an mbarrier that expects {pending} more{why}"
                    self.reported = True
                    self._say("mbarrier-overflow", text, site, group, np.array([lane]),
                              "let as many threads arrive as the count of mbarrier.init, each once per phase")  # fmt: skip
                word = advance(word, a, d, b)

    def access(self, access: Access) -> None:
        """Other instructions must leave the bytes of an object alone; see Observer.access."""
        group = access.group
        objects = self._objects.get(id(group.wave))
        if not objects or access.kind == "ld" or access.site is self._used or not access.space.startswith(("shared", "generic")):
            return
        starts, size = np.array(sorted(objects), np.int64), access.type.bytes * access.count
        for part, places in group.wave.access.shared_places(group, access.space, plain(access.address), size):
            behind = np.searchsorted(starts, places - BYTES, side="right")  # the first object that ends behind the access's start
            hit = (behind < starts.size) & (starts[np.minimum(behind, starts.size - 1)] < places + size)
            if hit.any():
                lanes = np.arange(group.geometry.n) if part.lanes is None else part.lanes
                first = objects[int(starts[behind[hit][0]])]
                self._say("mbarrier-misuse", "an mbarrier is overwritten by an instruction that is not for mbarriers", access.site, group,
                          lanes[hit], "keep data away from it, or end it with mbarrier.inval first", first)  # fmt: skip

    def _say(self, kind: str, text: str, site: Site, group: ObservedLanes, lanes: Any, help: str, other: Site | None = None) -> None:
        mask = np.zeros(group.geometry.n, bool)
        mask[lanes] = True
        self._report(kind, text, site, group, mask.reshape(group.geometry.shape), other, help)
