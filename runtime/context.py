"""The core that all three faces call: devices, their memory, loaded modules, launches, and the error that sticks.

Work of a stream runs when it is given (a legal order for every program whose streams only wait for earlier work), but what goes wrong in it
is told as CUDA tells it: at the next call that synchronises, and at every call after that, until the context is reset.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from warplab.assembler import PtxError, check, parse
from warplab.assembler.ir import Function, Module
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.launch import Dim3, Launch, Options
from warplab.interpreter.memory.arena import Allocation, Arena, OutOfMemory
from warplab.interpreter.observe import Observer
from warplab.interpreter.program import Kernel, LoadedProgram
from warplab.isa.profiles import DeviceProfile, profile

from .errors import ApiError, code_of
from .heap import DeviceHeap
from .printf import PrintRing

DEFAULT_MEMORY = 16 << 30  # bytes a device has unless it is asked for otherwise
LIMITS = {"stack_size": 1024, "printf_fifo_size": 1 << 20, "malloc_heap_size": 8 << 20, "dev_runtime_sync_depth": 2,
          "dev_runtime_pending_launch_count": 2048, "max_l2_fetch_granularity": 64, "persisting_l2_cache_size": 0}  # fmt: skip
MAX_PARAMETER_BYTES = 4096
GRID_SYNC_BYTES = 4096


@dataclass(eq=False)
class LoadedModule:
    """A module on a device."""

    context: Context
    program: LoadedProgram
    modules: tuple[Module, ...]

    def kernel(self, name: str) -> KernelHandle:
        """An entry by name."""
        found = self.program.kernels.get(name)
        if found is None:
            raise ApiError("CUDA_ERROR_NOT_FOUND", f"no entry is called {name}")
        return self.context.handle_of(self, found)

    def variable(self, name: str) -> tuple[int, int]:
        """(address, size) of a .global or .const variable."""
        v = self.program.variables.get(name)
        if v is None or v.space not in ("global", "const"):
            raise ApiError("CUDA_ERROR_NOT_FOUND", f"no variable is called {name}")
        return self.program.address(v), v.size


@dataclass(eq=False)
class KernelHandle:
    """A kernel of a loaded module and the attributes that the host may set."""

    module: LoadedModule
    kernel: Kernel
    max_dynamic_shared: int = 0
    attributes: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.kernel.name

    @property
    def function(self) -> Function:
        return self.kernel.function

    def directive(self, name: str) -> tuple[int, ...]:
        """The values of a performance directive, () where it is missing."""
        d = self.function.directive(name)
        return tuple(int(v) for v in d.values) if d else ()

    @cached_property
    def max_threads(self) -> int:
        """The largest block that the kernel allows."""
        bound = self.directive(".reqntid") or self.directive(".maxntid")
        limit = self.module.context.profile.max_threads_per_block
        return min(limit, int(np.prod(bound))) if bound else limit


@dataclass(slots=True)
class Shape:
    """How a launch is shaped."""

    grid: Dim3
    block: Dim3
    dynamic_shared: int = 0
    cooperative: bool = False
    cluster: Dim3 | None = None


class Context:
    """One device's state: memory, modules, limits, output, the error that sticks."""

    def __init__(self, architecture: str = "sm_90", memory: int = DEFAULT_MEMORY, others: Sequence[Arena] = ()) -> None:
        self.architecture = architecture
        self.profile: DeviceProfile = profile(architecture)
        self.memory_size = memory
        self.other_arenas = tuple(others)
        self.options = Options()
        self.observers: tuple[Observer, ...] = ()
        self.reset()

    def reset(self) -> None:
        """A context as new."""
        self.arena = Arena(self.memory_size)
        self.limits = dict(LIMITS)
        self.ring = PrintRing(self.arena, self.limits["printf_fifo_size"])
        self.heap = DeviceHeap(self.arena, self.limits["malloc_heap_size"])
        self.error: ApiError | None = None
        self.launches = 0
        self._handles: dict[int, KernelHandle] = {}
        self._buffers: dict[int, Allocation] = {}

    # ------------------------------------------------------------ errors

    def synchronize(self) -> None:
        """All work is done; what went wrong in it is told here."""
        self.ring.flush()
        self.check()

    def check(self) -> None:
        """Tells the error that sticks."""
        if self.error is not None:
            raise ApiError(self.error.name, self.error.message, self.error.cause)

    # ------------------------------------------------------------ memory

    def allocate(self, size: int, align: int = 256) -> int:
        """Device memory."""
        self.check()
        if size <= 0:
            raise ApiError("CUDA_ERROR_INVALID_VALUE", "the size must be positive")
        try:
            a = self.arena.allocate(size, "allocation", align)
        except OutOfMemory:
            raise ApiError("CUDA_ERROR_OUT_OF_MEMORY", f"{size} bytes; {self.arena.used} of {self.arena.limit} are in use") from None
        self._buffers[a.start] = a
        return a.start

    def free(self, address: int) -> None:
        """Gives memory back; null is ignored."""
        if address == 0:
            return
        a = self._buffers.pop(address, None)
        if a is None:
            raise ApiError("CUDA_ERROR_INVALID_VALUE", f"{address:#x} is not the start of an allocation")
        self.arena.free(a)

    def bytes_at(self, address: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        """A view of device memory for the host's copies."""
        for arena in (self.arena, *self.other_arenas):
            if arena.base <= address < arena.base + arena.reserved:
                a = arena.find(address)
                if a is None or a.freed or address + size > a.end:
                    raise ApiError("CUDA_ERROR_INVALID_VALUE", f"{size} bytes at {address:#x}: {arena.nearest(address)}")
                return arena.bytes[address - arena.base : address - arena.base + size]
        raise ApiError("CUDA_ERROR_INVALID_VALUE", f"{address:#x} is no device address")

    def set_limit(self, name: str, value: int) -> None:
        """A context limit."""
        self.limits[name] = value
        if name == "printf_fifo_size":
            self.ring.size = value
        elif name == "malloc_heap_size":
            self.heap.limit = value

    # ------------------------------------------------------------ modules

    def load(self, texts: Sequence[str | bytes], names: Sequence[str] = ()) -> LoadedModule:
        """Loads one program from one or more texts."""
        modules = tuple(parsed(t, names[i] if i < len(names) else f"<module {i}>") for i, t in enumerate(texts))
        program = LoadedProgram(modules, self.arena)
        return LoadedModule(self, program, modules)

    def unload(self, module: LoadedModule) -> None:
        """Frees a module's variables."""
        module.program.unload()

    def handle_of(self, module: LoadedModule, kernel: Kernel) -> KernelHandle:
        """The one handle of a kernel."""
        found = self._handles.get(id(kernel))
        if found is None:
            found = self._handles[id(kernel)] = KernelHandle(module, kernel)
        return found

    # ------------------------------------------------------------ launches

    def launch(self, handle: KernelHandle, shape: Shape, parameters: bytes) -> None:
        """Runs a kernel; what is wrong with the launch itself is told now, what goes wrong in it later."""
        self.check()
        cluster = self._validate(handle, shape, parameters)
        self.launches += 1
        options = Options(
            wave_lanes=self.options.wave_lanes, max_steps=self.options.max_steps, max_seconds=self.options.max_seconds,
            stack_limit=max(self.options.stack_limit, self.limits["stack_size"]), schedule=self.options.schedule,
            cooperative=shape.cooperative, cluster=cluster, lockstep=self.profile.capability < (7, 0),
        )  # fmt: skip
        launch = Launch(
            handle.kernel, shape.grid, shape.block, parameters, shape.dynamic_shared, self.arena, self.profile, self.ring, self.heap,
            self.other_arenas, options, self.launches, self.observers,
        )  # fmt: skip
        try:
            launch.run()
        except ExecutionError as e:
            self.error = ApiError(code_of(e), str(e), e)
            for line in launch.assertions:
                self.assertion(line)

    def assertion(self, line: str) -> None:
        """Where a failed assert's message goes."""
        import sys

        print(line, file=sys.stderr, flush=True)

    def _validate(self, handle: KernelHandle, shape: Shape, parameters: bytes) -> Dim3 | None:
        p, kernel = self.profile, handle.kernel
        if min(*shape.grid, *shape.block) < 1 or any(g > m for g, m in zip(shape.grid, p.max_grid, strict=True)):
            raise ApiError("CUDA_ERROR_INVALID_VALUE", f"grid {shape.grid}; the device allows {p.max_grid}")
        threads = shape.block[0] * shape.block[1] * shape.block[2]
        if any(b > m for b, m in zip(shape.block, p.max_block, strict=True)) or threads > p.max_threads_per_block:
            raise ApiError(
                "CUDA_ERROR_INVALID_VALUE", f"block {shape.block}; the device allows {p.max_block} and {p.max_threads_per_block} threads"
            )
        required = handle.directive(".reqntid")
        if required and tuple(required) + (1,) * (3 - len(required)) != tuple(shape.block):
            raise ApiError("CUDA_ERROR_INVALID_VALUE", f"block {shape.block}; the kernel requires {required}")
        if threads > handle.max_threads:
            raise ApiError("CUDA_ERROR_INVALID_VALUE", f"{threads} threads in a block; the kernel allows {handle.max_threads}")
        most = max(p.shared_per_block, handle.max_dynamic_shared + kernel.static_shared)
        if kernel.dynamic_start + shape.dynamic_shared > most and shape.dynamic_shared:
            raise ApiError("CUDA_ERROR_INVALID_VALUE", f"{shape.dynamic_shared} bytes of dynamic shared memory; {most} are allowed")
        if len(parameters) < kernel.parameter_bytes:
            raise ApiError("CUDA_ERROR_INVALID_VALUE", f"{len(parameters)} bytes of parameters; the kernel takes {kernel.parameter_bytes}")
        return self._cluster(handle, shape)

    def _cluster(self, handle: KernelHandle, shape: Shape) -> Dim3 | None:
        required = handle.directive(".reqnctapercluster")
        cluster = shape.cluster
        if required:
            own = tuple(required) + (1,) * (3 - len(required))
            if cluster is not None and tuple(cluster) != own:
                raise ApiError("CUDA_ERROR_INVALID_CLUSTER_SIZE", f"cluster {cluster}; the kernel requires {own}")
            cluster = (own[0], own[1], own[2])
        if cluster is not None:
            if self.profile.capability < (9, 0):
                raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"{self.architecture} has no clusters")
            if any(g % c for g, c in zip(shape.grid, cluster, strict=True)):
                raise ApiError("CUDA_ERROR_INVALID_CLUSTER_SIZE", f"grid {shape.grid} is no multiple of cluster {cluster}")
        return cluster


_parsed: dict[bytes, Module] = {}


def parsed(text: str | bytes, name: str) -> Module:
    """A checked module; the same text is parsed once in a process."""
    raw = text.encode() if isinstance(text, str) else bytes(text)
    raw = raw.rstrip(b"\0")
    found = _parsed.get(raw)
    if found is None:
        wrong = [d for d in check(raw) if d.severity == "error"]
        if wrong:
            raise ApiError("CUDA_ERROR_INVALID_PTX", "\n".join(str(d) for d in wrong))
        try:
            found = parse(raw, name=name)
        except PtxError as e:
            raise ApiError("CUDA_ERROR_INVALID_PTX", str(e)) from None
        _parsed[raw] = found
    return found


__all__ = ["Context", "KernelHandle", "LoadedModule", "Shape", "active_blocks", "parsed", "warnings"]
