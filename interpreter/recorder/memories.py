"""What memory held before a launch, and what each access left there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.types import TYPES

from ..launch import Launch
from ..memory.arena import Arena
from ..memory.spaces import LocalSpace
from ..memory.store_buffer import HeldStore
from ..observe import Access, ObservedLanes, ObservedWave, TexelAccess
from ..values import Array, Shifted, Value, plain
from .keeping import Keeper
from .lanes import LaneSet
from .layout import ENTRY
from .track import PAGE_BITS, RecordedAccess, RecordedEvent

PAGE = 1 << PAGE_BITS
PRIVATE = ("shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "param::func", "const")
DENSE = 64  # pages that an access may lie in without a look at each address


class Effects:
    """The accesses and events that are not kept yet."""

    def __init__(self, keeper: Keeper, launch: Launch) -> None:
        self.keeper = keeper
        self.launch = launch
        self.step = ENTRY  # of the execution under way, whose instruction accessed memory last
        self.pending: list[tuple[RecordedAccess, Access]] = []  # whose memory is read when they have happened
        self._accesses: list[RecordedAccess] = []
        self._events: list[RecordedEvent] = []
        self._wave: ObservedWave | None = None
        self._arenas: list[Arena] = [launch.arena, *launch.other_arenas]
        self._saved: list[NDArray[np.bool_]] = [np.zeros((a.reserved >> PAGE_BITS) + 1, np.bool_) for a in self._arenas]

    def wave(self, wave: ObservedWave) -> None:
        """A wave begins."""
        self._wave = wave
        shared = wave.shared
        if wave.poison is not None:
            for n in range(wave.count):
                self.keeper.track.shared[wave.first + n] = shared.bytes[n * shared.stride : (n + 1) * shared.stride].copy()

    def take(self, executions: int) -> tuple[list[RecordedAccess], list[RecordedEvent]]:
        """What belongs to executions that are kept now; the rest counts from the next one on."""
        now = [a for a in self._accesses if a.execution < executions]
        rest = self._accesses[len(now) :]
        for a in rest:
            a.execution -= executions
        events, later = self._events, []
        if events and events[-1].execution >= executions:
            later = [e for e in events if e.execution >= executions]
            events = [e for e in events if e.execution < executions]
        self._accesses = rest
        self._events = [RecordedEvent(e.execution - executions, e.step, e.kind, e.text, e.lanes, e.mask) for e in later]
        return now, events

    # ------------------------------------------------------------ accesses

    def access(self, a: Access, execution: int, instruction: int) -> None:
        """An access is about to happen."""
        if self.pending:
            self.settle()
        writes = a.kind != "ld"
        if writes and a.space not in PRIVATE:
            self._save(a.address, a.type.bytes * a.count, a.mask)
        assert self._wave is not None
        one = RecordedAccess(
            execution, self.step, instruction, a.kind, a.space, self.keeper.lanes(a.group.geometry, self._wave.first, a.group.alive),
            a.address, a.mask, a.type.name, a.count,  # type: ignore[arg-type]  # until it is kept
        )  # fmt: skip
        self._accesses.append(one)
        if not writes:
            return
        if a.kind == "st" and self._wave.late is None and a.values:
            one.after = tuple(a.values)
        else:
            one.values = tuple(a.values)
            self.pending.append((one, a))

    def texels(self, a: TexelAccess, execution: int, instruction: int) -> None:
        """Texels of a surface are about to change: an access for each level, as far as device memory holds them."""
        shape = a.group.geometry.shape
        lanes = np.ones(shape, np.bool_) if a.mask is None else np.broadcast_to(a.mask, shape)
        texel = a.image.format.bytes
        size = min(texel, 8)
        for level, texels in enumerate(a.image.levels):
            arena = next((one for one in self._arenas if np.may_share_memory(one.bytes, texels)), None)
            if arena is None:
                continue
            start = arena.base + texels.__array_interface__["data"][0] - arena.bytes.__array_interface__["data"][0]
            for one in np.ndindex(a.column.shape[:-2]):
                hit = lanes & np.broadcast_to(a.there[one], shape) & np.broadcast_to(a.level[one] == level, shape)
                if not hit.any():
                    continue
                at = [np.broadcast_to(place[one], shape).astype(np.int64) for place in (a.slice, a.row, a.column)]
                address = start + sum(p * s for p, s in zip(at, texels.strides, strict=False))
                self.access(
                    Access(a.site, a.group, a.kind, "global", np.where(hit, address, start).astype(np.uint64), hit, TYPES[f"b{8 * size}"], texel // size),
                    execution, instruction,
                )  # fmt: skip

    def settle(self) -> None:
        """What is under way has happened: memory is read."""
        for one, a in self.pending:
            one.after = self._held(a)
            if self._accesses[-1] is not one:  # stores that were held were done meanwhile, before it
                self._accesses.remove(one)
                self._accesses.append(one)
        self.pending.clear()

    def drop(self, execution: int, step: int) -> None:
        """What an instruction has begun did not happen."""
        self.pending.clear()
        for a in self._accesses:
            if a.execution == execution and a.step == step and a.kind not in ("late", "call"):
                a.after = ()

    def _held(self, a: Access) -> tuple[Array, ...]:
        """What memory holds where lanes have accessed it."""
        g, wave = a.group, self._wave
        assert wave is not None
        t, n = a.type, a.count * a.type.elements
        dtype = np.dtype(f"u{t.dtype.itemsize}")
        out = [np.zeros(g.geometry.shape, dtype) for _ in range(n)]
        before, g.active = g.active, a.mask
        try:
            for part, memory, place in wave.access.places(g, a.space, plain(a.address), dtype.itemsize * n, False):
                if isinstance(memory, LocalSpace):
                    where, mask = part.spread(g)
                    for o, v in zip(out, memory.load(g, where, TYPES[f"b{8 * dtype.itemsize}"], n), strict=True):
                        np.copyto(o, v, where=True if mask is None else mask)
                    continue
                view, index = memory.view(dtype), place // dtype.itemsize
                for k, o in enumerate(out):
                    part.put(o, view[index + k])
        finally:
            g.active = before
        return tuple(out)

    def visible(self, held: HeldStore, some: NDArray[np.bool_], execution: int, step: int) -> None:
        """Stores of some lanes that were held are done."""
        chosen = np.flatnonzero(some & held.left)
        if not chosen.size:
            return
        wave, launch = self._wave, self.launch
        assert wave is not None
        lane, place = held.lane[chosen], held.place[chosen]
        block, thread = lane // launch.threads, lane % launch.threads
        if held.memory is wave.shared:
            block, place = place // wave.shared.stride, place % wave.shared.stride
            space = "shared"
        else:
            space, place = "global", place + launch.arena.base
        lanes = LaneSet((block + wave.first).astype(np.int32)[None], thread.astype(np.int32)[None], (1, chosen.size), launch.threads, None)
        size = held.values[0].dtype.itemsize
        after = tuple([v[chosen].view(f"u{size}")[None] for v in held.values])
        one = RecordedAccess(
            execution, step, -1, "late", space, self.keeper.add(lanes), place.astype(np.uint64)[None], None, f"b{8 * size}", len(after), after
        )  # fmt: skip
        self._accesses.append(one)

    def passed(self, g: ObservedLanes, local: LocalSpace, source: int | None, at: int, size: int, execution: int) -> None:
        """A call has put bytes into the frame of lanes, behind the instruction that was executed last."""
        first = at & ~3
        count = -(-(at + size - first) // 4)
        words = local.load(g, np.array([[first]]), TYPES["b32"], count)
        assert self._wave is not None
        lanes = self.keeper.lanes(g.geometry, self._wave.first, g.alive)
        self._accesses.append(
            RecordedAccess(
                execution, ENTRY, -1, "call", "local", lanes, np.array([[first]], np.uint64), None, "b32", count, tuple(words),
                source=-1 if source is None else source - (at - first),
            )
        )  # fmt: skip

    def event(self, execution: int, step: int, kind: str, text: str, geometry: Any, mask: Array | None) -> None:
        """Something happened that is no access."""
        assert self._wave is not None
        lanes = self.keeper.lanes(geometry, self._wave.first, None)
        self._events.append(RecordedEvent(execution, step, kind, text, lanes, mask))

    # ------------------------------------------------------------ memory before the launch

    def _save(self, address: Value, size: int, mask: Array | None) -> None:
        """Keeps the pages that an access will write to for the first time."""
        if type(address) is Shifted:
            low, high = address.facts.low + address.delta, address.facts.high + address.delta
        else:
            flat = (
                plain(address) if mask is None else np.broadcast_to(plain(address), np.broadcast_shapes(plain(address).shape, mask.shape))
            )
            flat = flat if mask is None else flat[np.broadcast_to(mask, flat.shape)]
            if not flat.size:
                return
            low, high = int(flat.min()), int(flat.max())
        for arena, saved in zip(self._arenas, self._saved, strict=True):
            first, last = (low - arena.base) >> PAGE_BITS, (high + size - 1 - arena.base) >> PAGE_BITS
            if last < 0 or first >= saved.size:
                continue
            first, last = max(first, 0), min(last, saved.size - 1)
            if saved[first : last + 1].all():
                return
            pages = range(first, last + 1)
            if last - first > DENSE:
                all_of = plain(address).astype(np.uint64).ravel()
                ends = np.concatenate([all_of, all_of + np.uint64(size - 1)]) - np.uint64(arena.base)
                pages = np.unique(ends >> np.uint64(PAGE_BITS)).tolist()
            for page in pages:
                if 0 <= page < saved.size and not saved[page]:
                    self._copy(arena, saved, page)

    def _copy(self, arena: Arena, saved: NDArray[np.bool_], page: int) -> None:
        saved[page] = True
        piece = self.keeper.store.copy(arena.bytes[page << PAGE_BITS : min((page + 1) << PAGE_BITS, arena.reserved)])
        self.keeper.track.pages[(arena.base >> PAGE_BITS) + page] = piece

    def finish(self) -> None:
        """Keeps what the launch only read, or left alone, as far as the limit allows."""
        for arena, saved in zip(self._arenas, self._saved, strict=True):
            for a in arena.living():
                first, last = (a.start - arena.base) >> PAGE_BITS, (a.end - 1 - arena.base) >> PAGE_BITS
                missing = np.flatnonzero(~saved[first : last + 1]) + first
                if self.keeper.size + missing.size * PAGE <= self.keeper.limit:
                    for page in missing.tolist():
                        self._copy(arena, saved, page)
