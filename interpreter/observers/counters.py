"""The observer behind the profiler: counts instructions, accesses, partings and waits, and hands on a KernelProfile.

Each event is worked out for all warps of its group at once by the rules of the device.  What the load-store unit never sees (bulk copies,
matrix descriptors, parameters of calls) counts as instructions alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Immediate, Instruction
from warplab.isa.profiles import DeviceProfile
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE
from warplab.isa.types import ScalarType

from ..geometry import Geometry
from ..memory.cache import empties_l1
from ..memory.constant import constant_passes
from ..memory.local import local_sectors
from ..memory.loops import FLOATS, VECTORS, Loop, half_word_swaps, loop_of
from ..observe import Silent
from ..occupancy import l1_bytes
from ..registers import kernel_registers, residency
from ..values import Array
from .footprint import Footprint, footprints
from .hierarchy import Hierarchy, Outcome
from .lanes import count_warps, few_lanes, lanes_of
from .places import Places
from .profile import KernelProfile
from .shared import MATRICES, SharedMemory
from .static import flops_of, is_gathered, unused_results
from .tally import SiteTally
from .touch import WARP, Lanes, patterns

if TYPE_CHECKING:
    from ..engine import Wave
    from ..group import Group
    from ..launch import Launch
    from ..plan import Site

STRETCH = 8  # events of the timeline's first stretches
STRETCHES = 400  # at most; then two become one
ATOMICS = ("atom", "red")
OTHER_UNITS = frozenset({"mbarrier", "tex", "tld4", "suld", "sust", "sured", "wgmma"})
Index = NDArray[np.int64]


class Counters(Silent):
    """Counts one launch; `profile` is there when it is over."""

    def __init__(self, device: DeviceProfile) -> None:
        self.device = device
        self.launch: Launch | None = None
        self._profile: KernelProfile | None = None
        self._over = False

    def finish(self) -> KernelProfile | None:
        """The profile, of a launch that a fault has ended too; None if nothing was launched."""
        if self._profile is None and self.launch is not None:
            self.end(self.launch)
            self._profile = self._frozen(self.launch)
        return self._profile

    # ------------------------------------------------------------ the launch

    def begin(self, launch: Launch) -> None:
        self.launch, self._profile, self._over = launch, None, False
        self._functions = launch.kernel.program.functions
        self.registers = kernel_registers(launch.kernel)
        self.occupancy = residency(self.device, launch.kernel, launch.threads, launch.total_shared)
        size = l1_bytes(self.device, launch.total_shared, max(1, self.occupancy.blocks)) if self.device.l1_size else 0
        self.multiprocessors = min(self.device.multiprocessors, launch.blocks)
        self.memory = Hierarchy(self.device, self.multiprocessors, size, launch.blocks * launch.threads)
        self.places = Places(launch)
        self.tallies: dict[int, SiteTally] = {}
        self.idle = launch.blocks * launch.threads
        self._wrote: dict[int, NDArray[np.bool_]] = {}
        self._writers: dict[tuple[int, int], Geometry] = {}  # groups of which all lanes have written
        self._where: dict[int, Index] = {}
        self._waves: list[Wave] = []  # keeps their ids their own
        self._geometry: Geometry | None = None
        self._warps = self._lanes = 0
        self._sizes: dict[int, tuple[Geometry, int, int]] = {}
        self._unused: dict[str, frozenset[int]] = {}
        self.shared = SharedMemory(self.device, launch.cluster_size)
        self._copy: tuple[Array, Array | None] | None = None
        self._copied = False
        self._operands: Sequence[Array] = ()
        self._first: Array | None = None  # of a fragment's two joined accesses
        self._elements = 0  # of a vector that are still to be announced
        self.timeline: list[tuple[int, int]] = []
        self._stretch, self._events, self._issued, self._threads = STRETCH, 0, 0, 0

    def wave(self, wave: Wave) -> None:
        self._waves.append(wave)
        self._where[id(wave)] = wave.block_table("smid")[:, 0].astype(np.int64) % self.multiprocessors
        self._wrote[id(wave)] = np.zeros((wave.count, wave.launch.threads), np.bool_)

    def end(self, launch: Launch) -> None:
        if self._over:
            return
        self._over = True
        self._mark()
        self.idle -= sum(int(np.count_nonzero(w)) for w in self._wrote.values())
        self.written = self.memory.written
        for kept in (self._waves, self._wrote, self._where, self._writers, self._sizes):
            kept.clear()
        del self.memory

    def _frozen(self, launch: Launch) -> KernelProfile:
        order = sorted(self.tallies.values(), key=lambda t: (t.site.function != launch.name, t.site.function, t.site.index))
        return KernelProfile(
            kernel=launch.name,
            number=launch.number,
            device=self.device,
            grid=launch.grid,
            block=launch.block,
            registers=self.registers,
            static_shared=launch.kernel.static_shared,
            dynamic_shared=launch.dynamic_shared,
            occupancy=self.occupancy,
            sites=tuple(t.frozen(launch) for t in order),
            allocations=self.places.frozen(),
            timeline=tuple(self.timeline),
            idle_threads=self.idle,
            dram_written=self.written,
            texts={m.name: m.text for m in launch.kernel.program.modules},
        )

    # ------------------------------------------------------------ instructions

    def instruction(self, site: Site, group: Group, mask: Array | None) -> None:
        g = group.geometry
        if g is not self._geometry:
            self._enter(g)
        tally = self.tallies.get(id(site))
        if tally is None:
            tally = self._tally(site)
        tally.warps += self._warps
        tally.threads += self._lanes
        tally.active += self._lanes if mask is None else int(np.count_nonzero(mask)) * (g.n // mask.size)
        if tally.special:
            self._copy, self._copied = None, False
            self.shared.fresh()
            if empties_l1(site.instruction.opcode, site.instruction.modifiers):
                self.memory.l1.empty(np.unique(self._where[id(group.wave)][g.blocks]))
        self._issued += self._warps
        self._threads += self._lanes
        self._events += 1
        if self._events == self._stretch:
            self._mark()

    def _tally(self, site: Site) -> SiteTally:
        tally = self.tallies.get(id(site))
        if tally is None:
            i = site.instruction
            tally = self.tallies[id(site)] = SiteTally(site, *_nature(i))
            if i.opcode == "atom" and site.function not in self._unused:
                self._unused[site.function] = unused_results(self._functions[site.function])
        return tally

    def _enter(self, g: Geometry) -> None:
        known = self._sizes.get(id(g))
        if known is None or known[0] is not g:
            if len(self._sizes) > 512:
                self._sizes.clear()
            known = self._sizes[id(g)] = (g, count_warps(g), g.n)
        self._geometry, self._warps, self._lanes = known

    def _mark(self) -> None:
        if self._issued:
            self.timeline.append((self._issued, self._threads))
        self._events = self._issued = self._threads = 0
        if len(self.timeline) >= STRETCHES:
            t = self.timeline
            self.timeline = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(t[::2], t[1::2], strict=False)]
            self._stretch *= 2

    def branch(self, site: Site, group: Group, condition: Array, targets: tuple[int, int]) -> None:
        layout = group.geometry.warps
        if condition.size == 1 or (condition.shape[1] == 1 and layout.aligned):
            return
        times, there = 1, layout.members
        if condition.shape[0] == 1 and layout.aligned:
            times, taken, there = group.geometry.shape[0], condition.reshape(-1, WARP), there[: condition.size // WARP]
        else:
            taken = layout.spread(np.broadcast_to(condition, group.geometry.shape)) & there
        parted = taken.any(axis=1) & (there & ~taken).any(axis=1)
        n = int(np.count_nonzero(parted))
        if n:
            tally = self._tally(site)
            tally.divergent += n * times
            tally.part(np.packbits(taken[parted], axis=1, bitorder="little").view(np.uint32).ravel(), times)

    def wait(self, site: Site | None, group: Group, why: str) -> None:
        if site is not None:
            waits = self._tally(site).waits
            waits[why] = waits.get(why, 0) + 1

    # ------------------------------------------------------------ accesses

    def access(
        self, site: Site, group: Group, kind: str, space: str, address: Array, mask: Array | None, type: ScalarType, count: int
    ) -> None:
        tally, i, width = self._tally(site), site.instruction, type.bytes * count
        if i.opcode in ATOMICS:
            if self._elements:  # of a vector, which is one access
                self._elements -= 1
                return
            parts = max((n for v, n in VECTORS.items() if v in i.modifiers), default=1)
            self._elements, width = parts - 1, width * parts
            if kind == "atom" and id(i) in self._unused.get(site.function, ()):
                kind = "red"
            elif kind == "red" and i.opcode == "atom" and parts > 1 and id(i) not in self._unused.get(site.function, ()):
                kind = "atom"
        if kind != "ld" and space != "local":
            self._writes(group, mask)
        if i.opcode in OTHER_UNITS or "bulk" in i.modifiers or ("async" in i.modifiers and i.opcode in ("st", "red")):
            return
        if space == "local" and str((i.settled or {}).get("ss", "")).startswith("param"):
            return  # of a call: registers carry these
        if i.opcode == "wmma":
            for joined, size in self._joined(i, address, width):
                self._place(tally, group, kind, space, joined, mask, size)
        else:
            self._place(tally, group, kind, space, address, mask, width)

    def _place(self, tally: SiteTally, group: Group, kind: str, space: str, address: Array, mask: Array | None, width: int) -> None:
        if space.startswith("shared"):
            self._shared(tally, group, kind, address, mask, width, space)
        elif space == "const":
            self._constant(tally, group, kind, address, mask, width)
        elif space == "local":
            self._local(tally, group, kind, address, mask, width)
        elif space == "generic":
            self._generic(tally, group, "atom" if kind == "red" else kind, address, mask, width)
        else:
            self._global(tally, group, kind, address, mask, width)

    def update(self, site: Site, group: Group, operands: Sequence[Array]) -> None:
        self._operands = operands

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

    def _writes(self, group: Group, mask: Array | None) -> None:
        g, wave = group.geometry, id(group.wave)
        if mask is not None:
            self._wrote[wave][g.block, g.thread] |= mask
        elif self._writers.get((wave, id(g))) is not g:
            if len(self._writers) > 512:
                self._writers.clear()
            self._writers[wave, id(g)] = g
            wrote = self._wrote[wave]
            if g.n == wrote.size:
                wrote.fill(True)
            else:
                wrote[g.block, g.thread] = True

    def _generic(self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int) -> None:
        """Generic addresses, of which some may mean shared or local memory."""
        if int(address.max()) < min(SHARED_BASE, LOCAL_BASE):
            self._global(tally, group, kind, address, mask, width)
            return
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
        also = lanes_of(group.geometry, address, rest).mask.any(axis=1)
        asked = int(np.count_nonzero(lanes.mask.any(axis=1) & ~also))
        tally.count("global", "atom", width, lanes=lanes.count, requests=asked, units=sectors, ideal=sectors, moved=32 * sectors)

    def _shared(
        self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int, space: str, others: bool = False
    ) -> None:  # fmt: skip
        if tally.site.instruction.opcode != "cp":
            self.shared.access(tally, group, kind, address, mask, width, space, others=others, operands=self._operands)
        elif self._copy is not None and not self._copied:
            self._copies(tally, group, *self._copy, lanes_of(group.geometry, address, mask))

    def _constant(self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int) -> None:
        lanes, times = few_lanes(group.geometry, address, mask)
        rows = patterns(lanes, 1 << 40)
        passes = int(constant_passes(self.device, rows.where, rows.mask) @ rows.count) * times
        asked = lanes.requests * times
        tally.count("const", kind, width, lanes=lanes.count * times, requests=asked, units=passes, ideal=asked)

    def _local(self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int) -> None:
        lanes, times = few_lanes(group.geometry, address, mask)
        rows = patterns(lanes, 4)
        requests, sectors = local_sectors(rows.where, rows.mask, width)
        asked, total = int(requests @ rows.count) * times, int(sectors @ rows.count) * times
        tally.count("local", kind, width, lanes=lanes.count * times, requests=asked, units=total, ideal=4 * asked, moved=32 * total)

    def _global(self, tally: SiteTally, group: Group, kind: str, address: Array, mask: Array | None, width: int) -> None:
        if kind == "ld" and self.places.are_parameters(address):
            self._constant(tally, group, kind, address, mask, width)
            return
        if tally.site.instruction.opcode == "cp":
            self._copy = (address, mask)
            return
        g, rows, i = group.geometry, self._rows(group), tally.site.instruction
        swaps = None
        if kind in ("red", "atom") and self.memory.modern and loop_of(i.modifiers, "global") is Loop.HALF_WORD:
            lanes = lanes_of(g, address, mask)
            swaps = half_word_swaps(lanes.full, lanes.mask, once="cas" in i.modifiers)
            address, kind, width = address & ~address.dtype.type(3), "atom", 4
            f, start = footprints.of(g, rows, address, mask, width)
            self._count(tally, "ld", f, start, self.memory.access(i, "ld", f, start, rows))
        f, start = footprints.of(g, rows, address, mask, width)
        done = self.memory.access(i, kind, f, start, rows, gathers=kind in ("red", "atom") and self._gathers(i, kind, f))
        if swaps is not None:
            requests, sectors = swaps
            total = int(sectors.sum())
            done = replace(done, requests=int(requests.sum()), units=sectors, total=total, moved=32 * total)
        self._count(tally, kind, f, start, done)

    def _gathers(self, i: Instruction, kind: str, f: Footprint) -> bool:
        """Does one lane act for its warp?  The assembler sees to it where it knows that all have one address."""
        if f.lanes.where.shape[1] > 1:
            return False
        value = self._operands[0]
        return is_gathered(i, kind, uniform=value.shape[-1] == 1, whole=f.lanes.active is None or bool(f.lanes.active.all()))

    def _copies(self, tally: SiteTally, group: Group, address: Array, mask: Array | None, target: Lanes) -> None:
        """The second half of a cp.async; one that copies byte by byte counts once."""
        self._copied = True
        i = tally.site.instruction
        width = next(int(o.value) for o in i.operands if isinstance(o, Immediate))
        g, rows = group.geometry, self._rows(group)
        if len(i.operands) > 3:  # a size or a predicate: lanes that copy nothing stand at another lane's place
            mask = _without_borrowers(np.broadcast_to(address, g.shape), mask)
        f, start = footprints.of(g, rows, address, mask, width)
        self._count(tally, "ld", f, start, self.memory.copy(i, f, start, rows, target))

    def _rows(self, group: Group) -> Index:
        """The multiprocessor of each row of an aligned group, else of each warp."""
        g, where = group.geometry, self._where[id(group.wave)]
        return where[g.block[:, 0]] if g.warps.aligned else where[g.warps.block[:, 0]]

    def _count(self, tally: SiteTally, kind: str, f: Footprint, start: int, done: Outcome) -> None:
        self.places.count(kind, f, start, done.hits)
        a = tally.count("global", kind, f.width, lanes=f.count, requests=done.requests, units=done.total, ideal=done.ideal,
                        hits=done.hits, l2=done.l2, l2_hits=done.l2_hits, moved=done.moved)  # fmt: skip
        if done.units is a.seen:
            return
        a.seen = done.units
        worst = int(done.units.argmax())
        if a.sample is None or done.units[worst] > a.sample[2]:
            a.sample = (f.lanes.full[worst] + start * 128, f.lanes.mask[worst], int(done.units[worst]))


@lru_cache(maxsize=1 << 13)
def _nature(i: Instruction) -> tuple[tuple[str, float] | None, bool]:
    """An instruction's floating-point operations, and whether each execution needs a look."""
    return flops_of(i), i.opcode in ("cp", *MATRICES) or empties_l1(i.opcode, i.modifiers)


def _within(address: Array, base: int) -> Array:
    return np.asarray((address >= np.uint64(base)) & (address < np.uint64(base + WINDOW_SIZE)))


def _without_borrowers(address: Array, mask: Array | None) -> Array | None:
    own: Array
    values, first, counts = np.unique(address, return_index=True, return_counts=True)
    most = int(counts.argmax())
    if counts[most] == 1:
        return mask
    own = address != values[most]
    own.reshape(-1)[first[most]] = True
    return own if mask is None else own & mask
