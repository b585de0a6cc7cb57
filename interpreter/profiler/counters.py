"""The observer behind the profiler: counts instructions, accesses, divergent branches and waits, and yields a KernelProfile.

Each event is worked out for all warps of its group at once by the rules of the device.  What the load-store unit never sees (bulk copies,
matrix descriptors, parameters of calls) counts as instructions alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Instruction
from warplab.isa.facts import facts_of
from warplab.isa.profiles import DeviceProfile

from ..flags import any_in_rows
from ..lanes import Geometry, packed
from ..observe import Access, Observer
from ..ptxas.machine_code import machine_code
from ..ptxas.register_count import kernel_registers, residency
from ..rules.policies import empties_l1
from ..values import Array
from .accesses import Accesses
from .flops import flops_of
from .global_memory import GlobalMemory
from .lanes import WARP
from .listener import AccessListener
from .profile import KernelProfile
from .sites import SiteProfile
from .tally import SiteTally
from .texels import Texels
from .useful import UsefulArithmetic, stores_of_results

if TYPE_CHECKING:
    from ..launch import Launch
    from ..observe import ObservedLanes, ObservedWave, TexelAccess
    from ..plan.plan import Site
    from .launch_time import LaunchTime

STRETCH = 8  # events of the timeline's first stretches
STRETCHES = 400  # at most; then two become one


class Run:
    """Instructions that are executed one after the other, and by how many warps and threads so far."""

    __slots__ = ("flops", "sites", "special", "threads", "warps")

    def __init__(self, sites: Sequence[Site], special: bool) -> None:
        self.sites = sites  # whose identity is the key
        self.special = special  # the last one empties caches, copies, or moves matrices: accesses.py sees each execution
        self.flops = sum(found[1] for s in sites if (found := flops_of(s.instruction.opcode, s.instruction.modifiers)) is not None)
        self.warps = self.threads = 0

    def hand_in(self, tallies: dict[int, SiteTally]) -> None:
        """Adds the counts to each instruction's."""
        for site in self.sites:
            tally = _tally_in(tallies, site)
            tally.warps += self.warps
            tally.threads += self.threads
            tally.active += self.threads


class Counters(Observer):
    """Counts one launch; its profile is there when it is over."""

    def __init__(self, device: DeviceProfile, listener: AccessListener | None = None) -> None:
        self.device, self.listener = device, listener
        self.launch: Launch | None = None
        self._profile: KernelProfile | None = None

    def finish(self) -> KernelProfile | None:
        """The profile, of a launch that a fault has ended too; None if nothing was launched."""
        if self.launch is not None:
            self.end(self.launch)
        return self._profile

    # ------------------------------------------------------------ the launch

    def begin(self, launch: Launch) -> None:
        self.launch, self._profile = launch, None
        self.registers = kernel_registers(launch.kernel)
        self.occupancy = residency(self.device, launch.kernel, launch.threads, launch.total_shared)
        self.multiprocessors = min(self.device.multiprocessors, launch.blocks)
        self.accesses = Accesses(launch, self.device, self.multiprocessors, self.occupancy.blocks, self.listener)
        self.fetches = Texels(self.accesses.global_memory, self.device, self.multiprocessors)
        self.tallies: dict[int, SiteTally] = {}
        results = stores_of_results(launch.kernel)
        self._useful = UsefulArithmetic(results, launch.threads) if results else None
        self._runs: dict[int, Run] = {}
        self.idle = 0  # threads of blocks that have started, until the end subtracts those that wrote
        self._wrote: dict[int, NDArray[np.bool_]] = {}  # the threads of a wave that wrote something, by its first block
        self._geometry: Geometry | None = None
        self._alive: Array | None = None
        self._warps, self._lanes, self._wave = 0, 0, -1
        self.timeline: list[tuple[int, int]] = []
        self._period, self._events, self._issued, self._threads = STRETCH, 0, 0, 0

    def wave(self, wave: ObservedWave) -> None:
        self.accesses.global_memory.wave(wave)
        self._wrote[wave.first] = np.zeros((wave.count, wave.launch.threads), np.bool_)
        self.idle += wave.count * wave.launch.threads
        if self._useful is not None:
            self._useful.wave(wave.first, wave.count)

    def end(self, launch: Launch) -> None:
        if self.launch is None:
            return
        self._mark()
        self.idle -= sum(int(np.count_nonzero(w)) for w in self._wrote.values())
        memory = self.accesses.global_memory
        memory.stream.settle(last=True)
        self.fetches.settle()
        self._profile = self._frozen(launch, memory, None if self._useful is None else self._useful.share(self.tallies))
        # References to the launch would keep its memory until the garbage collector runs.
        self.launch = self._geometry = self._alive = self._useful = None
        self._wrote.clear()
        del self.accesses, self.fetches

    def _frozen(self, launch: Launch, memory: GlobalMemory, useful: float | None) -> KernelProfile:
        # What the profile refers to holds none of the launch's memory.
        name, runs, tallies, modules = launch.name, list(self._runs.values()), self.tallies, tuple(launch.kernel.program.modules)
        code = machine_code(launch.kernel, self.device.capability)

        def counted() -> tuple[SiteProfile, ...]:
            for run in runs:
                run.hand_in(tallies)
            runs.clear()
            order = sorted(tallies.values(), key=lambda t: (t.site.function != name, t.site.function, t.site.index))
            issued = code.issued({i: t.warps for i, t in tallies.items()})
            return tuple([t.frozen(modules, issued.get(id(t.site.instruction), {})) for t in order])

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
            counted=counted,
            allocations=memory.places.frozen(),
            timeline=tuple(self.timeline),
            idle_threads=self.idle,
            useful_arithmetic=useful,
            dram_written=memory.stream.written,
            texts={m.name: m.text for m in modules},
            timed=self._timed(launch),
        )

    def _timed(self, launch: Launch) -> Callable[[], LaunchTime] | None:
        """What predicts the time of the launch, if something does."""
        return None

    # ------------------------------------------------------------ instructions

    def stretch(self, sites: Sequence[Site], group: ObservedLanes) -> None:
        if group.geometry is not self._geometry or group.alive is not self._alive or group.wave.first != self._wave:
            self._enter(group)
        run = self._runs.get(id(sites))
        if run is None:
            run = self._runs[id(sites)] = Run(sites, self._tally(sites[-1]).special)
        run.warps += self._warps
        run.threads += self._lanes
        if self._useful is not None:
            self._useful.pending += run.flops
        if run.special:
            self.accesses.begin(sites[-1].instruction, group)
        self._pass_marks(len(sites))

    def instruction(self, site: Site, group: ObservedLanes, mask: Array | None) -> None:
        g, alive = group.geometry, group.alive
        if g is not self._geometry or alive is not self._alive or group.wave.first != self._wave:
            self._enter(group)
        tally = self._tally(site)
        tally.warps += self._warps
        tally.threads += self._lanes
        tally.active += self._lanes if mask is None else int(np.count_nonzero(mask)) * (g.n // mask.size)
        if tally.flops and self._useful is not None:
            self._useful.compute(group, tally.flops[1], mask)
        if tally.special:
            self.accesses.begin(site.instruction, group)
        if tally.events and mask is not None:
            takes = np.broadcast_to(mask if alive is None else mask & alive, g.shape)
            tally.guarded_warps += self._warps - int(np.count_nonzero(any_in_rows(g.warps.spread(takes))))
        self._pass_marks(1)

    def _pass_marks(self, instructions: int) -> None:
        """Adds to the timeline instructions of the group entered last."""
        events = self._events + instructions
        while events >= self._period:
            now = self._period - self._events
            self._issued += now * self._warps
            self._threads += now * self._lanes
            instructions -= now
            self._mark()
            events = instructions
        self._events = events
        self._issued += instructions * self._warps
        self._threads += instructions * self._lanes

    def _tally(self, site: Site) -> SiteTally:
        return self.tallies.get(id(site.instruction)) or _tally_in(self.tallies, site)

    def _enter(self, group: ObservedLanes) -> None:
        """Counts the warps and lanes of a group."""
        g, alive = group.geometry, group.alive
        self._geometry, self._alive, self._warps, self._lanes, self._wave = g, alive, g.warps.count, g.n, group.wave.first
        if self._useful is not None:
            self._useful.enter(group)
        if alive is not None:
            spread = g.warps.spread(alive)
            self._warps, self._lanes = int(np.count_nonzero(any_in_rows(spread))), int(np.count_nonzero(spread))

    def _mark(self) -> None:
        if self._issued:
            self.timeline.append((self._issued, self._threads))
        self._events = self._issued = self._threads = 0
        if len(self.timeline) >= STRETCHES:
            t = self.timeline
            self.timeline = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(t[::2], t[1::2], strict=False)]
            self._period *= 2

    def branch(self, site: Site, group: ObservedLanes, condition: Array, targets: tuple[int, int]) -> None:
        layout, alive = group.geometry.warps, group.alive
        if condition.size == 1 or (condition.shape[1] == 1 and layout.aligned):
            return
        times, there = 1, layout.bits if alive is None else packed(layout.spread(alive))
        if condition.shape[0] == 1 and layout.aligned and alive is None:
            times, taken, there = group.geometry.shape[0], packed(condition), there[: condition.size // WARP]
        else:
            shape = group.geometry.shape
            taken = packed(layout.spread(condition if condition.shape == shape else np.broadcast_to(condition, shape)))
            if alive is not None:
                taken &= there
        parted = taken[(taken != 0) & (taken != there)]
        if parted.size:
            tally = self._tally(site)
            tally.divergent += parted.size * times
            tally.part(parted, times)

    def wait(self, site: Site | None, group: ObservedLanes, why: str) -> None:
        if site is not None:
            waits = self._tally(site).waits
            waits[why] = waits.get(why, 0) + 1

    # ------------------------------------------------------------ accesses

    def access(self, access: Access) -> None:
        if access.kind != "ld" and access.space != "local":
            self._writes(access.group, access.mask)
            if self._useful is not None and id(access.site.instruction) in self._useful.results:
                self._useful.store(access.group, access.mask, access.count)
        self.accesses.count(self._tally(access.site), access)

    def texels(self, access: TexelAccess) -> None:
        if access.kind != "ld":
            self._writes(access.group, access.mask)
        self.fetches.count(self._tally(access.site), access)

    def update(self, site: Site, group: ObservedLanes, operands: Sequence[Array]) -> None:
        self.accesses.operands = operands

    def _writes(self, lanes: ObservedLanes, mask: Array | None) -> None:
        g, wave = lanes.geometry, lanes.wave.first
        wrote = self._wrote[wave]
        if mask is None:
            wrote.reshape(-1)[... if g.lane.size == wrote.size else g.lane.ravel()] = True
        elif g.lane.shape == g.shape == wrote.shape:
            wrote |= mask
        else:
            wrote.reshape(-1)[np.broadcast_to(g.lane, g.shape)[np.broadcast_to(mask, g.shape)]] = True


def _tally_in(tallies: dict[int, SiteTally], site: Site) -> SiteTally:
    tally = tallies.get(id(site.instruction))
    if tally is None:
        tally = tallies[id(site.instruction)] = SiteTally(site, *_nature(site.instruction))
    return tally


def _nature(i: Instruction) -> tuple[tuple[str, float] | None, bool, bool]:
    """An instruction's floating-point operations, whether each execution is announced to accesses.py, and whether it makes one plain access."""
    flops, special, ordinary = _nature_of(i.opcode, i.modifiers)
    return flops, special, ordinary and not str((i.settled or {}).get("ss", "")).startswith("param")


@lru_cache(maxsize=1 << 12)
def _nature_of(opcode: str, modifiers: tuple[str, ...]) -> tuple[tuple[str, float] | None, bool, bool]:
    facts = facts_of(opcode)
    special = facts.copies or facts.moves_matrix or empties_l1(opcode, modifiers)
    return flops_of(opcode, modifiers), special, facts.access in ("load", "store") and not {"async", "bulk"} & set(modifiers)
