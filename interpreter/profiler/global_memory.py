"""Global memory: requests and sectors by the device's rule, whose allocation they fall into, and the stream that goes through the caches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Immediate
from warplab.isa.facts import facts_of
from warplab.isa.occupancy import l1_bytes
from warplab.isa.profiles import DeviceProfile

from ..lanes import Geometry
from ..ptxas.atomics import AtomicLoop, is_gathered, loop_of
from ..rules.coalesce import async_copy_global, global_transactions
from ..rules.contention import atomic_global
from ..rules.policies import LoadPolicy, StorePolicy, load_policy, store_policy
from ..values import Array, Shifted, Value, plain
from .lanes import WARP, WarpLanes, lanes_of
from .listener import AccessListener
from .loops.compiled import loops
from .loops.words import CONTENDING
from .patterns import patterns
from .places import COLUMNS, AllocationTable
from .sectors import LINE, SECTOR, touched
from .shared import swapped_words, swaps_of
from .stream import Account, UseStream, Way, sums
from .tally import AccessTally, Operation
from .touch import Footprint, Memo, covered

if TYPE_CHECKING:
    from ..launch import Launch
    from ..observe import ObservedLanes, ObservedWave

Index = NDArray[np.int64]
ATOMICS = ("atom", "red")


@dataclass(frozen=True, slots=True)
class Cost:
    """What an access counts by a rule of its own: requests, and sectors or transactions of each warp."""

    requests: int
    units: Index


class GlobalMemory:
    """Counts the accesses of one launch."""

    def __init__(
        self, launch: Launch, device: DeviceProfile, multiprocessors: int, resident: int, listener: AccessListener | None = None
    ) -> None:
        self.listener = listener
        self.launch, self.device, self.multiprocessors = launch, device, multiprocessors
        self.modern = device.global_rule == "sectors"
        l1 = l1_bytes(device, launch.total_shared, max(1, resident)) if device.l1_size else 0
        self.stream = UseStream(multiprocessors, l1 // LINE, device.l2_cache // LINE, launch.options.engine)
        self.places = AllocationTable(launch)
        self._footprints: Memo[Footprint] = Memo()
        self._of_block: dict[int, NDArray[np.uint16]] = {}  # the multiprocessor of each block of a wave, by the wave's first block
        self._copy: tuple[Value, Array | None] | None = None  # the source of a cp.async
        self._copied = False

    def wave(self, wave: ObservedWave) -> None:
        """Some blocks start."""
        self._of_block[wave.first] = (wave.block_table("smid")[:, 0] % self.multiprocessors).astype(np.uint16)

    def begin(self) -> None:
        """Another instruction."""
        self._copy, self._copied = None, False

    def empty(self, group: ObservedLanes) -> None:
        """The multiprocessors of a group empty their L1s."""
        self.stream.empty(np.unique(self.caches(group)).astype(np.int64))

    def access(self, op: Operation, address: Value, mask: Array | None) -> None:
        """One load, store or atomic operation."""
        i, group, kind = op.tally.site.instruction, op.group, op.kind
        if facts_of(i.opcode).copies:
            self._copy = (address, mask)
        elif not self.modern:
            self._early(op, address, mask)
        elif kind in ATOMICS and loop_of(i.modifiers, "global") is AtomicLoop.HALF_WORD:
            whole = plain(address)
            swaps = swaps_of(i, lanes_of(group.geometry, whole, mask), swapped_words(group, "global", whole, mask, op.operands))
            words = whole & ~whole.dtype.type(3)
            f, start = self._footprint(group.geometry, words, mask, 4)
            self._count(replace(op, kind="ld"), f, start, way_of(i.modifiers, "ld"))
            self._count(replace(op, kind="atom"), f, start, Way.ATOMIC, Cost(int(swaps[0].sum()), swaps[1]))
        else:
            f, start = self._footprint(group.geometry, address, mask, op.width)
            cost = None
            if kind in ATOMICS:
                if not self._is_gathered(op, f):
                    cost = Cost(f.requests, atomic_sectors(f, start))
            elif "mmio" in i.modifiers:  # memory of other devices: every lane asks for itself
                cost = Cost(f.requests, _lanes_by_warp(f.lanes))
            self._count(op, f, start, way_of(i.modifiers, kind), cost)

    def copy(self, op: Operation, target: WarpLanes) -> None:
        """The second half of a cp.async: a load through or past L1, whose sectors also depend on where in shared memory the bytes go."""
        if self._copy is None or self._copied:
            return  # of a copy byte by byte the first byte has counted
        (address, mask), self._copied = self._copy, True
        i = op.tally.site.instruction
        width = next(int(o.value) for o in i.operands if isinstance(o, Immediate))
        bypass = "cg" in i.modifiers
        f, start = self._footprint(op.group.geometry, address, mask, width)
        units = async_copy_global(f.lanes.full + start * LINE, target.full, f.lanes.mask, width, bypass=bypass)[1]
        self._count(replace(op, kind="ld"), f, start, Way.PASS if bypass else Way.LOAD, Cost(f.requests, units))

    # ------------------------------------------------------------ counting

    def _count(self, op: Operation, f: Footprint, start: int, way: Way, cost: Cost | None = None) -> None:
        if not f.count:
            return
        units, total = (f.touch.sectors, f.total) if cost is None else (cost.units, int(cost.units.sum()))
        a = op.tally.count(
            "global", op.kind, f.width, lanes=f.count, requests=f.requests if cost is None else cost.requests,
            units=total, ideal=f.ideal, moved=SECTOR * total,
        )  # fmt: skip
        worst = f.worst if cost is None else int(units.argmax())
        a.keep_worst(f.lanes, start * LINE, worst, units.item(worst))
        if self.listener is not None:
            self.listener.asks(op, f.touch, start, way, _lanes_by_warp(f.lanes), None if cost is None else cost.units)
        self._add(op, f, start, way, a)

    def _add(self, op: Operation, f: Footprint, start: int, way: Way, a: AccessTally, unit: int = 1) -> None:
        """Counts sectors by allocation, and adds the access to the stream; `unit`: sectors of a transaction."""
        t = f.touch if unit == 1 else f.touch.whole_lines()
        words = covered(f.lanes, f.width, t) if op.kind == "st" and f.width < 4 else None
        cache, column = self.caches(op.group), COLUMNS[op.kind]
        counts = self.places.of(f.ends[0] + start, f.ends[1] + start)
        if counts is not None:
            counts[column] += f.total
            account = Account(a, (counts,), None, unit)
        else:
            several, which = self.places.each(t.line + start)
            for one, n in zip(several, sums(np.bitwise_count(touched(f.touch.words)), which), strict=True):
                if one is not None:
                    one[column] += n
            account = Account(a, several, which, unit)
        self.stream.add(way, account, cache, t, start, words)

    def _footprint(self, g: Geometry, address: Value, mask: Array | None, width: int) -> tuple[Footprint, int]:
        """What an access touches, relative to a line; remembered for pointers of which all lanes take part."""
        if mask is None and isinstance(address, Shifted):
            f, by = self._footprints.of(g, address, LINE, width, lambda: Footprint(lanes_of(g, plain(address), None), width))
            return f, by // LINE
        return Footprint(lanes_of(g, plain(address), mask), width), 0

    def caches(self, group: ObservedLanes) -> NDArray[np.uint16]:
        """The multiprocessor of each warp."""
        return self.multiprocessors_of(group)[group.geometry.warps.block[:, 0]]

    def multiprocessors_of(self, group: ObservedLanes) -> NDArray[np.uint16]:
        """The multiprocessor of each block of a group's wave."""
        return self._of_block[group.wave.first]

    def _is_gathered(self, op: Operation, f: Footprint) -> bool:
        if f.lanes.where.shape[1] > 1:
            return False
        whole = f.lanes.active is None or bool(f.lanes.active.all())
        return is_gathered(op.tally.site.instruction, op.kind, uniform=op.operands[0].shape[-1] == 1, whole=whole)

    # ------------------------------------------------------------ before compute capability 5.0

    def _early(self, op: Operation, address: Value, mask: Array | None) -> None:
        """Transactions by the programming guide's rules, through L1 a line at a time."""
        i, kind, width, device = op.tally.site.instruction, op.kind, op.width, self.device
        f, start = self._footprint(op.group.geometry, address, mask, width)
        if not f.count:
            return
        cached = device.l1_caches_global and kind == "ld" and load_policy(i.modifiers) is not LoadPolicy.BYPASS
        lanes = WarpLanes(f.lanes.where + start * LINE, f.lanes.active, f.lanes.warps)
        warps = patterns(lanes, 2 * LINE)  # some rules look at 256 bytes
        requests, found = global_transactions(device, warps.where, warps.mask, width, cached=cached)
        units = warps.spread(found.per_warp(len(warps.where)))
        total = int(units.sum())
        unit = LINE if cached else SECTOR if device.capability >= (2, 0) else WARP // 2 * max(width, 2)  # a half-warp's segment
        a = op.tally.count(
            "global", kind, width, lanes=f.count, requests=int(requests @ warps.count), units=total, ideal=-(-f.count * width // unit),
            moved=int(found.bytes_per_warp(len(warps.where)) @ warps.count),
        )  # fmt: skip
        worst = int(units.argmax())
        a.keep_worst(f.lanes, start * LINE, worst, units.item(worst))
        if cached:
            a.hits += total - f.touch.line.size  # a line that both halves of a warp ask for is found the second time
            self._add(op, f, start, Way.LOAD, a, LINE // SECTOR)
        else:
            self._add(op, f, start, {"ld": Way.PASS, "st": Way.PAST}.get(kind, Way.ATOMIC), a)


@lru_cache(maxsize=1 << 10)
def way_of(modifiers: tuple[str, ...], kind: str) -> Way:
    """What an access of these modifiers does to the caches.

    >>> way_of(("relaxed", "gpu", "u32"), "ld").name, way_of(("L1::no_allocate", "u32"), "st").name
    ('PASS', 'PATCH')
    """
    if kind in ATOMICS:
        return Way.ATOMIC
    if kind == "st":
        keeps = store_policy(modifiers) is StorePolicy.KEEP
        return Way.PAST if "mmio" in modifiers else Way.STORE if keeps else Way.PATCH
    return {LoadPolicy.CACHE: Way.LOAD, LoadPolicy.STREAM: Way.STREAM, LoadPolicy.BYPASS: Way.PASS}[load_policy(modifiers)]


def _lanes_by_warp(lanes: WarpLanes) -> Index:
    return np.full(lanes.warps, WARP) if lanes.active is None else np.count_nonzero(lanes.active, axis=1)


def atomic_sectors(f: Footprint, start: int) -> Index:
    """Sectors of each warp's atomic."""
    lanes, found = f.lanes, _lanes_by_warp(f.lanes)
    if lanes.where.shape[1] == 1:  # the lanes of a warp have one address: they go one after the other
        return found
    meet = (f.touch.sectors < found).nonzero()[0]  # warps with lanes in one sector; other lanes do not contend
    if meet.size:
        some = WarpLanes(lanes.where[meet] + start * LINE, None if lanes.active is None else lanes.active[meet], meet.size)
        if (compiled := loops()) is not None:
            each, room = np.empty(meet.size, np.int64), np.empty(CONTENDING, np.int64)
            compiled.contend(some.where, some.active, some.active is not None, meet.size, f.width, room, each)
            found[meet] = each
            return found
        rows = patterns(some, 1 << 40)
        found[meet] = rows.spread(atomic_global(rows.where, rows.mask, f.width)[1])
    return found
