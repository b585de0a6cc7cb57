"""Accesses to memory as the profiler counts them: which unit serves one, and by which rule of the device.

Each access is worked out for all warps of its group at once.  What the load-store unit never sees (bulk copies, matrix descriptors,
parameters of calls) is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Immediate, Instruction
from warplab.isa.profiles import DeviceProfile
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE
from warplab.isa.types import ScalarType

from ..flags import any_in_rows
from ..memory.cache import empties_l1
from ..memory.constant import constant_passes
from ..memory.local import local_sectors
from ..memory.loops import FLOATS, VECTORS, Loop, loop_of
from ..occupancy import l1_bytes
from ..vector.lanes import Geometry
from ..vector.values import Array, Shifted, Value, plain
from .footprint import Footprint
from .hierarchy import Hierarchy, Outcome
from .joined import Joined, joined_accesses
from .known import footprints
from .lanes import few_lanes, lanes_of, local_words
from .places import Places
from .rows import Rows
from .scattered import Scattered
from .shared import SharedMemory, half_word_swaps, swapped_words
from .sink import Sink, sample
from .static import is_gathered, unused_results
from .strays import Strays
from .tally import AccessTally, SiteTally
from .touch import WARP, Lanes, patterns

if TYPE_CHECKING:
    from ..launch import Launch
    from ..vector.group import Group
    from ..vector.wave import Wave

ATOMICS = ("atom", "red")
OTHER_UNITS = frozenset({"mbarrier", "tex", "tld4", "suld", "sust", "sured", "wgmma"})
GROUPS = 512  # of which something is remembered
Index = NDArray[np.int64]


class Traffic:
    """The memories of one launch and what its accesses do to them."""

    def __init__(self, launch: Launch, device: DeviceProfile, multiprocessors: int, resident: int) -> None:
        self.launch = launch
        self.device = device
        self.multiprocessors = multiprocessors
        size = l1_bytes(device, launch.total_shared, max(1, resident)) if device.l1_size else 0
        self.memory = Hierarchy(device, multiprocessors, size, launch.blocks * launch.threads, launch.kernel)
        self.places = Places(launch)
        self.shared = SharedMemory(device, launch.cluster_size)
        self._functions = launch.kernel.program.functions
        self._unused: dict[str, frozenset[int]] = {}
        self._neighbours: dict[str, dict[int, Joined]] = {}
        self._sinks: dict[tuple[int, int], Sink] = {}
        self._like: dict[int, Scattered | None] = {}  # the last access of an instruction, if its lanes were in disorder
        self._latest: dict[int, Scattered] = {}  # the last one at all, by width
        self._where: dict[int, Index] = {}
        self._homes: dict[int, tuple[Geometry, Rows]] = {}
        self._copy: tuple[Value, Array | None] | None = None
        self._copied = False
        self._first: Array | None = None  # of a fragment's two joined accesses
        self._elements = 0  # of a vector that are still to be announced
        self.operands: Sequence[Array] = ()  # of the atomic operation that comes next

    def wave(self, wave: Wave) -> None:
        """Some blocks start."""
        self._where[id(wave)] = wave.block_table("smid")[:, 0].astype(np.int64) % self.multiprocessors

    def begin(self, i: Instruction, group: Group) -> None:
        """One of those instructions of which each execution needs a look: copies, matrices, fences."""
        self._copy, self._copied = None, False
        self.shared.fresh()
        if empties_l1(i.opcode, i.modifiers) and (i.opcode != "barrier" or self.launch.cluster_size > 1):  # alone it is the block's barrier
            self.memory.empty(self._rows(group).different)

    def access(
        self, tally: SiteTally, group: Group, kind: str, space: str, address: Value, mask: Array | None, type: ScalarType, count: int
    ) -> None:
        """Counts one access."""
        i, width = tally.site.instruction, type.bytes * count
        if tally.plain:
            if space == "global":
                self._global(tally, group, kind, address, mask, width)
            else:
                self._place(tally, group, kind, space, address, mask, width)
            return
        if i.opcode in ATOMICS:
            if self._elements:  # of a vector, which is one access
                self._elements -= 1
                return
            parts = max((n for v, n in VECTORS.items() if v in i.modifiers), default=1)
            self._elements, width = parts - 1, width * parts
            if kind == "atom" and self._is_unused(tally):
                kind = "red"
            elif kind == "red" and i.opcode == "atom" and parts > 1 and not self._is_unused(tally):
                kind = "atom"
        if i.opcode in OTHER_UNITS or "bulk" in i.modifiers or ("async" in i.modifiers and i.opcode in ("st", "red")):
            return
        if space == "local" and str((i.settled or {}).get("ss", "")).startswith("param"):
            return  # of a call: registers carry these
        if i.opcode == "wmma":
            for joined, size in self._joined(i, plain(address), width):
                self._place(tally, group, kind, space, joined, mask, size)
        else:
            self._place(tally, group, kind, space, address, mask, width)

    def _is_unused(self, tally: SiteTally) -> bool:
        """Does nobody read what an atom gives?"""
        site = tally.site
        found = self._unused.get(site.function)
        if found is None:
            found = self._unused[site.function] = unused_results(self._functions[site.function])
        return id(site.instruction) in found

    def _joins(self, tally: SiteTally) -> dict[int, Joined]:
        """What becomes of accesses to shared memory in a function."""
        name = tally.site.function
        found = self._neighbours.get(name)
        if found is None:
            modern = self.device.shared_rule == "modern"
            found = self._neighbours[name] = joined_accesses(self.launch.kernel, self._functions[name]) if modern else {}
        return found

    def _place(self, tally: SiteTally, group: Group, kind: str, space: str, address: Value, mask: Array | None, width: int) -> None:
        if space.startswith("shared"):
            self._shared(tally, group, kind, address, mask, width, space)
        elif space == "const":
            self._constant(tally, group, kind, plain(address), mask, width)
        elif space == "local":
            self._local(tally, group, kind, plain(address), mask, width)
        elif space == "generic":
            self._generic(tally, group, "atom" if kind == "red" else kind, address, mask, width)
        else:
            self._global(tally, group, kind, address, mask, width)

    def _joined(self, i: Instruction, address: Array, width: int) -> tuple[tuple[Array, int], ...]:
        """The accesses of a fragment's next one or two: the assembler joins neighbours, and the halves of words of a transposed matrix."""
        words = set(i.modifiers)
        if not (width == 2 or (width >= 4 and words & {"c", "d"} and "f16" not in words)):
            return ((address, width),)
        if self._first is None:
            self._first = address
            return ()
        first, self._first = self._first, None
        if width > 2:
            return ((first, 2 * width),) if (address - first == width).all() else ((first, width), (address, width))
        every = np.sort(np.concatenate([first, address], axis=-1).reshape(*first.shape[:-1], -1, 2 * WARP), axis=-1)
        return ((np.ascontiguousarray(every[..., ::2].reshape(first.shape)), 4),)

    def _generic(self, tally: SiteTally, group: Group, kind: str, place: Value, mask: Array | None, width: int) -> None:
        """Generic addresses, of which some may mean shared or local memory."""
        highest = place.facts.high + place.delta if isinstance(place, Shifted) else int(place.max())
        if highest < min(SHARED_BASE, LOCAL_BASE):
            self._global(tally, group, kind, place, mask, width)
            return
        address = plain(place)
        rest = np.ones((1, 1), np.bool_) if mask is None else mask
        shared = rest & _within(address, SHARED_BASE)
        if shared.any():
            rest = rest & ~shared
            where = np.where(shared, address - np.uint64(SHARED_BASE), np.uint64(0))
            self._shared(tally, group, kind, where, None if shared.all() else shared, width, "generic", bool(rest.any()))
        local = rest & _within(address, LOCAL_BASE)
        rest = rest & ~local
        if rest.any():
            self._global(tally, group, kind, address, rest, width)
        if local.any():
            where = np.where(local, address - np.uint64(LOCAL_BASE), np.uint64(0))
            own = None if local.all() else local
            if kind != "atom":
                self._local(tally, group, kind, where, own, width)
            elif width > 4 or FLOATS & set(tally.site.instruction.modifiers):  # a load and a store
                self._local(tally, group, "ld", where, own, width)
                self._local(tally, group, "st", where, own, width)
            else:
                self._local_atomic(tally, group, where, local, rest, width)

    def _local_atomic(self, tally: SiteTally, group: Group, address: Array, local: Array, rest: Array, width: int) -> None:
        """One instruction does these together with those on global memory, and counts as they do."""
        lanes = lanes_of(group.geometry, address, local)
        sectors = int(local_sectors(lanes.full, lanes.mask, width)[1].sum())
        also = any_in_rows(lanes_of(group.geometry, address, rest).mask)
        asked = int(np.count_nonzero(any_in_rows(lanes.mask) & ~also))
        tally.count("global", "atom", width, lanes=lanes.count, requests=asked, units=sectors, ideal=sectors, moved=32 * sectors)

    def _shared(
        self, tally: SiteTally, group: Group, kind: str, address: Value, mask: Array | None, width: int, space: str, others: bool = False
    ) -> None:  # fmt: skip
        i = tally.site.instruction
        if i.opcode != "cp":
            if (joined := self._joins(tally).get(id(i))) is not None:
                if not joined.width:
                    return
                address = address.moved(joined.delta) if isinstance(address, Shifted) else Shifted(address, joined.delta)
                width = joined.width
            self.shared.access(tally, group, kind, address, mask, width, space, others=others, operands=self.operands)
        elif self._copy is not None and not self._copied:
            self._copies(tally, group, *self._copy, lanes_of(group.geometry, plain(address), mask))

    def _constant(self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int) -> None:
        lanes, times = few_lanes(group.geometry, address, mask)
        rows = patterns(lanes, 1 << 40)
        passes = int(constant_passes(self.device, rows.where, rows.mask) @ rows.count) * times
        asked = lanes.requests * times
        tally.count("const", kind, width, lanes=lanes.count * times, requests=asked, units=passes, ideal=asked)

    def _local(self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int) -> None:
        warps, sectors, lanes = local_words(group.geometry, address, mask)
        words = max(1, width // 4)
        asked, total = warps * words, sectors * words
        tally.count("local", kind, width, lanes=lanes, requests=asked, units=total, ideal=4 * asked, moved=32 * total)

    def _global(self, tally: SiteTally, group: Group, kind: str, address: Value, mask: Array | None, width: int) -> None:
        if kind == "ld" and self.launch.parameters_stand and self.places.are_parameters(address):
            self._constant(tally, group, kind, plain(address), mask, width)
            return
        if tally.site.instruction.opcode == "cp":
            self._copy = (address, mask)
            return
        g, rows, i = group.geometry, self._rows(group), tally.site.instruction
        swaps = None
        if kind in ATOMICS and self.memory.modern and loop_of(i.modifiers, "global") is Loop.HALF_WORD:
            whole = plain(address)
            lanes = lanes_of(g, whole, mask)
            swaps = half_word_swaps(i, lanes, swapped_words(group, "global", whole, mask, self.operands))
            address, kind, width = whole & ~whole.dtype.type(3), "atom", 4
            f, start = footprints.of(g, rows, address, mask, width)
            self._count(tally, "ld", f, start, self.memory.access(i, "ld", f, start, rows))
        waits = self.memory.modern and not self.memory.backlog.pauses
        like = self._like.get(id(tally), self._latest.get(width))
        f, start = footprints.of(g, rows, address, mask, width, waits=waits, like=like)
        self._like[id(tally)] = None
        if isinstance(f, Scattered):
            self._like[id(tally)] = f
            if not isinstance(f, Strays):
                self._latest[width] = f
        done = self.memory.access(i, kind, f, start, rows, gathers=kind in ATOMICS and self._gathers(i, kind, f))
        if swaps is not None:
            requests, sectors = swaps
            total = int(sectors.sum())
            done = done._replace(requests=int(requests.sum()), units=sectors, total=total, moved=32 * total)
        self._count(tally, kind, f, start, done)

    def _gathers(self, i: Instruction, kind: str, f: Footprint) -> bool:
        """Does one lane act for its warp?  The assembler sees to it where it knows that all have one address."""
        if isinstance(f, Scattered) or f.lanes.where.shape[1] > 1:
            return False
        value = self.operands[0]
        return is_gathered(i, kind, uniform=value.shape[-1] == 1, whole=f.lanes.active is None or bool(f.lanes.active.all()))

    def _copies(self, tally: SiteTally, group: Group, address: Value, mask: Array | None, target: Lanes) -> None:
        """The second half of a cp.async; one that copies byte by byte counts once."""
        self._copied = True
        i = tally.site.instruction
        width = next(int(o.value) for o in i.operands if isinstance(o, Immediate))
        g, rows = group.geometry, self._rows(group)
        f, start = footprints.of(g, rows, address, mask, width)
        self._count(tally, "ld", f, start, self.memory.copy(i, f, start, rows, target))

    def _rows(self, group: Group) -> Rows:
        """The multiprocessor of each row of an aligned group, else of each warp."""
        g = group.geometry
        found = self._homes.get(id(g))
        if found is None or found[0] is not g:
            if len(self._homes) >= GROUPS:
                self._homes.clear()
            where = self._where[id(group.wave)][(g if g.warps.aligned else g.warps).block[:, 0]]
            found = self._homes[id(g)] = (g, Rows.of(where, self.multiprocessors))
        return found[1]

    def _count(self, tally: SiteTally, kind: str, f: Footprint, start: int, done: Outcome) -> None:
        a = tally.access("global", kind, f.width)
        row = self.places.of(f, start)
        if done.waiting is not None:
            done.waiting.sink = self._sink(a, kind, row, counted=done.units is not None)
        else:
            self.places.count(row, kind, f, start, done.hits)
        a.requests += done.requests
        a.units += done.total
        a.ideal += done.ideal
        a.hits += done.hits
        a.l2 += done.l2
        a.l2_hits += done.l2_hits
        a.lanes += f.count
        a.bytes += f.count * f.width
        a.moved += done.moved
        if done.units is not None:
            worst = int(done.units.argmax())
            sample(a, f, start, worst, done.units.item(worst))
        elif done.waiting is None and (a.sample is None or a.sample[2] < WARP):  # a lane touches one sector
            sample(a, f, start, *f.worst)

    def _sink(self, a: AccessTally, kind: str, row: list[int] | None, *, counted: bool) -> Sink:
        """Where accesses to one allocation, or to several, tell what they found."""
        if row is None:
            return Sink(a, kind, None, self.places, counted)
        found = self._sinks.get((id(a), id(row)))
        if found is None:
            found = self._sinks[id(a), id(row)] = Sink(a, kind, row, self.places, counted)
        return found


def _within(address: Array, base: int) -> Array:
    return np.asarray((address >= np.uint64(base)) & (address < np.uint64(base + WINDOW_SIZE)))
