"""The core that all faces call: one context on one device, its modules, launches, limits, output, and the error that sticks.

Work runs when it is given, but what goes wrong in it is told as CUDA tells it: at the next call that synchronises, and at every call after
that until the context is reset.  Until it is told, work that is given is dropped, as a device drops it behind a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from warplab.assembler.demangle import short_name
from warplab.interpreter.execute import executing
from warplab.interpreter.faults import ExecutionError, Fault
from warplab.interpreter.launch import EngineUse, Launch, Options
from warplab.interpreter.memory.arena import Allocation, Arena, OutOfMemory
from warplab.interpreter.observe import Observer
from warplab.interpreter.program import DEMOTES, LoadedProgram, ManagedVariables
from warplab.interpreter.ptxas.contraction import Fmad
from warplab.isa.occupancy import PREFERENCES, configured
from warplab.isa.profiles import DeviceProfile

from ..clock.launch_times import launch_timed
from ..errors import ApiError, code_of, invalid
from .devrt.queue import DeviceLaunch, queued
from .graphs.graphs import BEHIND, LAUNCHABLE, GraphRun
from .graphs.pending import QUEUE, Steps
from .graphs.streams import LEGACY, DeviceWork
from .launches.engines import usual_options
from .launches.observing import observers_of, watched, watches_alone
from .launches.sanitizing import POISON
from .launches.scheduling import order_now
from .memory.allocations import ALIGNMENT, AddressSpace, DeviceArena
from .memory.host import Bytes, host
from .memory.virtual_memory import VIRTUAL
from .modules.kernels import KernelHandle, LaunchShape, LoadedModule
from .modules.loading import contraction, link, parsed
from .output import to_stderr

GRID_SYNC_BYTES = 4096  # what cooperative groups find behind %envreg1 and %envreg2
EIGHT_BYTE_BANKS = 2  # CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
_demoted: set[tuple[str, str]] = set()  # modules of which that was said


class DeviceContext(DeviceWork):
    """One device's state as one host program sees it."""

    def __init__(
        self, architecture: str = "sm_90", memory: int | None = None, arena: Arena | None = None,
        space: AddressSpace | None = None, ordinal: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(architecture, memory, arena, space, ordinal)
        self.options = usual_options()
        self.fmad = contraction()  # of modules that are loaded without a word about it
        self.rules_only = False  # does it run code for newer devices, too?
        self.observers: Sequence[Observer] = ()  # of every launch
        self.assertion: Callable[[str], None] = to_stderr
        self.slipped: Callable[[str, list[str]], None] = slips_to_stderr  # accesses that passed although no allocation holds them
        self.slipping: set[str] = set()  # the kernels that had such accesses
        self.deep: set[str] = set()  # the kernels that recursed beyond the limit
        self.observe: Callable[[Launch], None] | None = None  # hears of a launch before it runs
        self.flags = 0
        self.cache_config = 0
        self.bank_config = 0
        self.l1: int | None = None  # bytes of L1 that kernels get, if the host names them
        self.launches = 0
        self.used = EngineUse()  # by all launches
        self.modules: list[LoadedModule] = []
        self.peers: set[DeviceContext] = set()
        self._workspaces: list[Allocation] = []  # that no cooperative launch uses

    def close(self) -> None:
        """Gives everything back, when what it was given is done."""
        QUEUE.drop(self)
        self.over()
        self.ring.flush()
        for module in list(self.modules):
            self.unload(module)
        for b in [b for b in self.space.buffers.values() if b.owner is self]:
            self.space.release(b.start, (b.kind,))
        while self._workspaces:
            self.arena.free(self._workspaces.pop())
        self.heap.close()
        for stream in self.streams:
            stream.alive = False
        for event in self.events:
            event.alive = False
        self.alive = False

    # ------------------------------------------------------------ memory

    def allocate(self, size: int, align: int = ALIGNMENT) -> int:
        """Device memory."""
        return self._allocate(self.arena, size, "device", align=align)

    def allocate_host(self, size: int, flags: int = 0) -> int:
        """Pinned host memory, which kernels reach under the same address."""
        return self._allocate(self.space.host, size, "host", flags)

    def allocate_managed(self, size: int, flags: int = 1) -> int:
        """Memory that host and devices use under one address."""
        return self._allocate(self.space.host, size, "managed", flags)

    def _allocate(self, arena: Arena, size: int, kind: str, flags: int = 0, align: int = ALIGNMENT) -> int:
        self.check()
        self.unsafe("memory is allocated")
        found = self.space.allocate(arena, size, kind, self, flags, align)
        if (clock := self.space.clock) is not None:
            clock.allocated(kind, size)
        return found.start

    def free(self, address: int) -> None:
        """Gives memory back; null is ignored."""
        self.check()
        if address:
            freed = self.space.release(address, ("device", "managed"))
            if (clock := self.space.clock) is not None:
                clock.allocated(freed.kind, freed.size)

    def bytes_at(self, address: int, size: int) -> Bytes:
        """A view of device memory for the host's copies."""
        return self.space.device_bytes(address, size)

    @property
    def free_memory(self) -> int:
        """Bytes of free device memory."""
        return self.arena.limit - self.arena.used

    # ------------------------------------------------------------ modules

    def load(
        self, texts: Sequence[str | bytes], names: Sequence[str] = (), fmad: Fmad | None = None, registers: int = 0,
        managed: ManagedVariables | None = None,
    ) -> LoadedModule:  # fmt: skip
        """Loads one program from one or more texts or object files, linked where there are several.

        `fmad` says which products and sums without a rounding of their own become one multiply-add: none, f64 or all; `registers`
        how many a thread may have; `managed` where the managed variables lie that other contexts see, too.
        """
        self.ring.flush()
        self.tell()
        modules = tuple(parsed(t, names[i] if i < len(names) else f"<module {i}>") for i, t in enumerate(texts))
        sanitizer = self.space.sanitizer
        alone = len(modules) == 1
        linked = link(modules, "CUDA_ERROR_INVALID_PTX" if alone else "CUDA_ERROR_INVALID_SOURCE", alone=alone)
        own = ManagedVariables(lambda: self.space.host) if managed is None else None
        try:
            program = LoadedProgram(linked, self.arena, managed or own, fmad or self.fmad, sanitizer.gap if sanitizer else 0)
        except OutOfMemory:
            raise ApiError("CUDA_ERROR_OUT_OF_MEMORY", "the variables do not fit the device's memory") from None
        out = LoadedModule(self, program, modules, registers or self.profile.max_registers_per_thread, own)
        for k in out.kernels.values():
            if k.function.unread is None and k.unfit:
                program.unload()
                raise ApiError("CUDA_ERROR_INVALID_PTX", k.unfit)
        for m in modules:
            if ".f64" in m.text and (DEMOTES in m.targets or not self.profile.has("f64")) and (m.name, m.text) not in _demoted:
                _demoted.add((m.name, m.text))
                why = f"{self.profile.name} has no .f64" if not self.profile.has("f64") else f".target asks for {DEMOTES}"
                to_stderr(f"warning: {m.name}: double precision is demoted to single: {why}")
        self.modules.append(out)
        self.resources.declare(program.handles)
        return out

    def unload(self, module: LoadedModule) -> None:
        """Frees a module's variables."""
        if not module.loaded:
            raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the module was unloaded before")
        self.ring.flush()
        self.resources.undeclare(module.program.handles)
        self.modules.remove(module)
        module.unload()

    # ------------------------------------------------------------ launches

    def launch(self, handle: KernelHandle, shape: LaunchShape, parameters: bytes) -> None:
        """Runs a kernel to its end."""
        for standstill in self.launching(handle, shape, parameters, suspends=False):
            raise standstill

    def launching(
        self, handle: KernelHandle, shape: LaunchShape, parameters: bytes, place: str = "", *, suspends: bool = True, by_host: bool = True
    ) -> Steps:  # fmt: skip
        """Runs a kernel; what is wrong with the launch itself is told at once, what goes wrong in it later.

        A launch whose lanes only spin gives what they wait for, and goes on when it is asked to; but not while something watches that
        has to see launches one by one.  `place`: where the host launches it, if that is known by now.
        """
        running: GraphRun | None = self.running
        dropped = self.broken
        if not handle.module.loaded:
            raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the kernel's module was unloaded")
        cluster = handle.validate(shape, parameters)
        if dropped:
            return
        self.ring.flush()
        self.launches += 1
        o, sanitizer, launches = self.options, self.space.sanitizer, self.launches
        workspace = self._grid_workspace() if shape.cooperative else None
        at = workspace.start if workspace is not None else 0
        schedule, number = order_now(o.schedule, self.launches)
        options = Options(
            engine=o.engine, threads=o.threads,
            wave_lanes=o.wave_lanes, max_steps=o.max_steps, max_seconds=o.max_seconds,
            stack_limit=min(max(o.stack_limit, self.limits["stack_size"]), self.profile.local_per_thread),
            schedule=schedule, poison=POISON if sanitizer and o.poison is None else o.poison,
            slips=isinstance(self.arena, DeviceArena) and self.arena.by_pages,
            cooperative=shape.cooperative, cluster=cluster, lockstep=self.profile.capability < (7, 0),
            environment={1: at >> 32, 2: at & 0xFFFF_FFFF} if at else {}, graph=running.now.handle if running else 0,
            suspends=suspends and not sanitizer and not self.observers and not watches_alone(),
        )  # fmt: skip
        mapped = bool(VIRTUAL.reserved) and self.space is VIRTUAL.space  # may there be memory at addresses that the program chose?
        profile = replace(self.profile, multiprocessors=shape.multiprocessors) if shape.multiprocessors else self.profile
        launch = Launch(
            handle.kernel, shape.grid, shape.block, parameters, shape.dynamic_shared, self.arena, profile, self.ring, self.heap,
            self._reachable(mapped), options, number, VIRTUAL.multicasts(self.ordinal) if mapped else (), self.resources,
        )  # fmt: skip
        if self.observe is not None:
            self.observe(launch)
        timed = launch_timed(self.space.clock, launch, profile, parameters, self.space)
        try:
            with watched(self, handle, shape, parameters):
                watching = sanitizer.watching(launch) if sanitizer else ()
                made = observers_of(lambda: self._configured(handle, launch.total_shared, profile))
                steps = executing(launch, (*self.observers, *watching, *made, *timed.observers))
                if (standstill := next(steps, None)) is not None:
                    place = place or host().launched_from()
                    yield standstill
                    yield from steps
        except OutOfMemory:
            self.fail(handle, launches, ApiError("CUDA_ERROR_OUT_OF_MEMORY", "no room for the kernel's parameters in memory"))
        except ExecutionError as e:
            if isinstance(e, Fault) and e.address is not None and e.kind == "out-of-bounds":
                e.nearest = self._unreachable(e.address) or e.nearest
            if not (sanitizer and sanitizer.failed(e, launch)):
                place = place or host().launched_from()
                self.fail(handle, launches, ApiError(code_of(e), f"{e}\n  launched {place}" if place else str(e), e))
            self.ring.flush()
            for line in launch.assertions:
                self.assertion(line)
        else:
            if sanitizer:
                sanitizer.ended()
            if launch.stack_used > self.limits["stack_size"]:
                self._recursed(handle, launch)
            timed.done(handle.name, self.ordinal, by_host=by_host)
        if workspace is not None and self.alive:
            self._workspaces.append(workspace)
        self.used.add(launch.used)
        for line in launch.used.failures:
            to_stderr(f"warning: kernel {line}")
        if isinstance(self.arena, DeviceArena) and (self.arena.slips or launch.slips):
            slips = [*self.arena.slips, *(launch.slips or ())]
            if handle.name not in self.slipping:
                self.slipping.add(handle.name)
                self.slipped(handle.name, slips)
            self.arena.slips = []
        if not self.broken:
            for child in queued(handle.module.program, self.arena, self.heap):
                if child.graph:
                    yield from self._launched_graph(handle, launches, child, running)
                    continue
                kernel = handle.module.kernel(child.kernel)
                shape = LaunchShape(child.grid, child.block, child.dynamic_shared)
                yield from self.launching(
                    kernel, shape, child.parameters[: kernel.kernel.parameter_bytes], place, suspends=suspends, by_host=False
                )

    def _launched_graph(self, handle: KernelHandle, number: int, child: DeviceLaunch, running: GraphRun | None) -> Steps:
        """A kernel has launched a graph: it runs now, or when the one that launches it has ended."""
        graph = LAUNCHABLE.get(child.graph)
        if graph is None:
            why = "no graph that kernels may launch has this handle (cudaGraphInstantiateFlagDeviceLaunch)"
            self.fail(handle, number, invalid(f"kernel {short_name(handle.name)} launches graph {child.graph:#x}: {why}"))
        elif child.stream == BEHIND and running is not None:
            running.behind.append(graph)
        else:
            yield from graph.run(self.default_stream(LEGACY))

    def _unreachable(self, address: int) -> str:
        """What lies at an address that is not for this context, in words: memory of another device, or of the host."""
        if (owner := self._owner(address)) is not None:
            return f"it is memory of device {owner}, which this context may not reach: no peer access is enabled"
        if not isinstance(self.arena, DeviceArena) or any(arena.spans(address) for arena in self.space.arenas()):
            return ""
        found = host().memory_at(address)
        return f"host memory: {found}; kernels reach it only if it is pinned, managed or registered" if found else ""

    def _recursed(self, handle: KernelHandle, launch: Launch) -> None:
        """Warns of a recursion that is too deep for a device, once for each kernel."""
        if handle.kernel.recursive and handle.name not in self.deep:
            self.deep.add(handle.name)
            to_stderr(
                f"warning: kernel {short_name(handle.name)} recursed through {launch.stack_used} bytes of a thread's stack; the limit is "
                f"{self.limits['stack_size']} (cudaLimitStackSize), behind which a GPU reports an illegal address"
            )

    def fail(self, handle: KernelHandle, number: int, e: ApiError) -> None:
        """A launch has failed."""
        self.pending, self.failed = e, f"launch {number} of the context, kernel {short_name(handle.name)},"

    def _configured(self, handle: KernelHandle, shared: int, p: DeviceProfile) -> DeviceProfile:
        """The device with L1, shared memory and its banks as the host has set them for a kernel, else for all."""
        if p.shared_rule == "64-bit-banks" and (handle.bank_config or self.bank_config) == EIGHT_BYTE_BANKS:
            p = replace(p, shared_bank_mode=8)
        prefers = PREFERENCES[handle.cache_config or self.cache_config]
        shared = p.block_shared(shared, handle.kernel.parameter_bytes)
        return configured(p, shared, prefers=prefers, carveout=handle.carveout, l1=self.l1)

    def _owner(self, address: int) -> int | None:
        """The other device that an address belongs to."""
        found = self.space.buffer_at(address)
        return None if found is None or found.owner.ordinal == self.ordinal or found.kind != "device" else found.owner.ordinal

    def _reachable(self, mapped: bool) -> list[Arena]:
        """What kernels reach beside the device's own memory."""
        found = self.space.host_arenas()
        if self.peers:
            found += self._peer_arenas()
        if self.space.lent:
            found += self._lent()
        if mapped:
            found += VIRTUAL.windows(self.ordinal)
        return found

    def _peer_arenas(self) -> list[DeviceArena]:
        return [p.arena for p in self.peers if p.alive and isinstance(p.arena, DeviceArena)]

    def _lent(self) -> list[Arena]:
        """What other devices have allocated from pools to which this one has access."""
        pools = {pool for pool, access in self.space.lent.items() if access.get(self.ordinal)}
        whole = (self.arena, *self._peer_arenas())
        return [b.alone for b in self.space.buffers.values() if b.pool in pools and b.arena not in whole] if pools else []

    def _grid_workspace(self) -> Allocation:
        try:
            found = self._workspaces.pop() if self._workspaces else self.arena.allocate(GRID_SYNC_BYTES, "grid synchronisation workspace")
        except OutOfMemory:
            raise ApiError("CUDA_ERROR_OUT_OF_MEMORY", "no room for what a cooperative launch needs") from None
        at = found.start
        words = self.arena.bytes[at - self.arena.base : at - self.arena.base + GRID_SYNC_BYTES].view(np.uint32)
        words[:] = 0
        words[0] = GRID_SYNC_BYTES
        return found


def slips_to_stderr(kernel: str, slips: list[str]) -> None:
    """Tells of the first access outside of an allocation, and how many more there were."""
    more = f" and {len(slips) - 1} more like it" if len(slips) > 1 else ""
    to_stderr(f"warning: kernel {short_name(kernel)} {slips[0]}{more}")
