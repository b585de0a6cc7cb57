"""Loaded modules and their kernels: what the host may ask of one and set on it, and whether a launch of it can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from operator import gt
from struct import Struct
from typing import Any

from warplab.assembler.demangle import short_name
from warplab.assembler.info import FunctionInfo, function_info, layout, sizes
from warplab.assembler.ir import Function, Module
from warplab.interpreter.launch import Dim3
from warplab.interpreter.program import LoadedKernel, LoadedProgram, ManagedVariables
from warplab.isa.occupancy import block_limits, max_registers, register_blocks

from ...errors import ApiError, invalid
from ..memory.host import host
from ..memory.textures import SurfaceReference, TextureReference
from ..state import DeviceState

PORTABLE_CLUSTER = 8
NONPORTABLE_CLUSTER = 16
LEAST_REGISTERS = 4  # what ptxas takes for the smallest kernels
FULL_BLOCK_REGISTERS = 64  # with so many a block of 1024 threads fits
MOST_LAUNCHABLE = 64  # launches of a kernel that are known to be possible
CLUSTER_BLOCKS = 8  # of clusters that one multiprocessor holds
# The parts within which clusters of more than two blocks lie, in multiprocessors, as an H200's counts of resident clusters show them.
CLUSTER_PARTS = {((9, 0), 132): (16,) * 7 + (10, 2)}
# The directives that a launch asks for; the first of a name counts.
LAUNCHING = {".maxnreg", ".maxntid", ".reqntid", ".minnctapersm", ".reqnctapercluster", ".explicitcluster", ".maxclusterrank"}
OUT_OF_RESOURCES = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"


@dataclass(slots=True)
class LaunchShape:
    """How a launch is shaped."""

    grid: Dim3
    block: Dim3
    dynamic_shared: int = 0
    cooperative: bool = False
    cluster: Dim3 | None = None
    multiprocessors: int = 0  # that it runs on; 0: those of the device

    def config(self, driver: Any) -> Any:
        """The CUlaunchConfig of cuda.bindings.driver, or of the module here that has its shape."""
        out, attributes, ids = driver.CUlaunchConfig(), [], driver.CUlaunchAttributeID
        out.gridDimX, out.gridDimY, out.gridDimZ = self.grid
        out.blockDimX, out.blockDimY, out.blockDimZ = self.block
        out.sharedMemBytes = self.dynamic_shared
        if self.cooperative:
            a = driver.CUlaunchAttribute()
            a.id, a.value.cooperative = ids.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1
            attributes.append(a)
        if self.cluster is not None:
            a = driver.CUlaunchAttribute()
            a.id = ids.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            a.value.clusterDim.x, a.value.clusterDim.y, a.value.clusterDim.z = self.cluster
            attributes.append(a)
        out.attrs, out.numAttrs = attributes, len(attributes)
        return out


@dataclass(eq=False)
class LoadedModule:
    """A module on a device."""

    context: DeviceState
    program: LoadedProgram
    modules: tuple[Module, ...]
    most_registers: int  # of a thread, for kernels without a directive about it
    managed: ManagedVariables | None = None  # where it has variables that no other module shares
    loaded: bool = True
    withheld: str = ""  # why the driver finds no entry in it

    @cached_property
    def kernels(self) -> dict[str, KernelHandle]:
        """Every entry by name."""
        return {name: KernelHandle(self, k) for name, k in self.program.kernels.items()}

    def kernel(self, name: str) -> KernelHandle:
        """An entry by name."""
        found = self.kernels.get(name)
        if self.withheld:
            raise ApiError("CUDA_ERROR_NOT_FOUND", self.withheld)
        if found is None:
            raise ApiError("CUDA_ERROR_NOT_FOUND", f"no entry is called {name}; there are {', '.join(self.kernels) or 'none'}")
        return found

    def unload(self) -> None:
        """Frees the variables; the kernels are gone."""
        self.loaded = False
        self.kernels.clear()
        self.program.unload()
        if self.managed is not None:
            self.managed.free()
        self.program.kernels.clear()

    def variable(self, name: str) -> tuple[int, int]:
        """(address, size) of a .global or .const variable."""
        v = self.program.variables.get(name)
        if v is None or v.space not in ("global", "const"):
            raise ApiError("CUDA_ERROR_NOT_FOUND", f"no variable is called {name}")
        return self.program.address(v), v.size

    def texture(self, name: str) -> TextureReference:
        """The reference that a .texref variable is."""
        found = self._reference(name, "texref")
        assert isinstance(found, TextureReference)
        return found

    def surface(self, name: str) -> SurfaceReference:
        """The reference that a .surfref variable is."""
        found = self._reference(name, "surfref")
        assert isinstance(found, SurfaceReference)
        return found

    def _reference(self, name: str, kind: str) -> TextureReference | SurfaceReference:
        v = self.program.variables.get(name)
        if v is None or v.handle != kind or v.dims:
            known = [n for n, one in self.program.variables.items() if one.handle == kind and not one.dims]
            raise ApiError("CUDA_ERROR_NOT_FOUND", f"no .{kind} is called {name}; there are {', '.join(known) or 'none'}")
        references, handle = self.context.resources.references, self.program.address(v)
        if handle not in references:
            references[handle] = TextureReference(name) if kind == "texref" else SurfaceReference(name)
        return references[handle]


@dataclass(eq=False)
class KernelHandle:
    """A kernel of a loaded module and the attributes that the host may set."""

    module: LoadedModule
    kernel: LoadedKernel
    max_dynamic_shared: int | None = None
    carveout: int = -1
    cluster: list[int] = field(default_factory=lambda: [0, 0, 0])
    nonportable_cluster: bool = False
    cache_config: int = 0
    bank_config: int = 0
    scheduling_policy: int = 0
    wanted: bool = False  # has more of it been asked for than its name?
    _launchable: dict[Any, Dim3 | None] = field(default_factory=dict)  # launches that can be, and their clusters

    def __post_init__(self) -> None:
        self.name: str = self.kernel.name
        self.context: DeviceState = self.module.context

    @property
    def function(self) -> Function:
        return self.kernel.function

    def directive(self, name: str) -> tuple[int, ...]:
        """The values of a performance directive, () where it is missing."""
        return self._directives.get(name, ())

    @cached_property
    def _directives(self) -> dict[str, tuple[int, ...]]:
        return {d.name: tuple([int(v) for v in d.values]) for d in reversed(self.function.directives) if d.name in LAUNCHING}

    @cached_property
    def facts(self) -> list[FunctionInfo]:
        """What is known of the entry and of all that it may call."""
        return [function_info(f) for f in self.kernel.reached]

    @cached_property
    def registers(self) -> int:
        """Registers a thread needs: an estimate of what ptxas would take, from the values that live at once.

        The H200's recordings have 4 more in the median; the estimate alone never forbids the largest block.
        """
        words = max(f.live_words for f in self.facts)
        words = max(words, min(words + 4, FULL_BLOCK_REGISTERS))
        profile = self.context.profile
        most = profile.max_registers_per_thread
        if self.directive(".maxnreg"):
            most = min(most, self.directive(".maxnreg")[0])
        bound = self.directive(".reqntid") or self.directive(".maxntid")
        if bound:
            blocks = (self.directive(".minnctapersm") or (1,))[0]
            most = min(most, max_registers(profile, min(prod(bound), profile.max_threads_per_block), max(blocks, 1)) or most)
        elif not self.directive(".maxnreg"):
            most = min(most, self.module.most_registers)
        return min(max(LEAST_REGISTERS, words), most)

    @cached_property
    def local_bytes(self) -> int:
        """Local memory of a thread, without the stack of recursive calls."""
        return sum(sizes(f)[2] for f in self.kernel.reached)

    @cached_property
    def unfit(self) -> str:
        """Why the device can't run the kernel, however it is launched; "" where it can."""
        p, k = self.context.profile, self.kernel
        if k.parameter_bytes > p.max_parameters:
            return f"{self.name} has {k.parameter_bytes} bytes of parameters; {p.name} allows {p.max_parameters}"
        if (shared := p.block_shared(k.static_shared, k.parameter_bytes)) > p.shared_per_block_optin:
            arguments = f" and passes {k.parameter_bytes} bytes of arguments there" if shared > k.static_shared else ""
            return f"{self.name} declares {k.static_shared} bytes of shared memory{arguments}; the device has {p.shared_per_block_optin} per block"
        if self.local_bytes > p.local_per_thread:
            return f"{self.name} uses {self.local_bytes} bytes of local memory a thread; {p.name} has {p.local_per_thread}"
        for kind, what, most in (("texref", "textures", p.max_textures), ("surfref", "surfaces", p.max_surfaces)):
            if (n := k.named(kind)) > most:
                return f"{self.name} uses {n} {what}; {p.name} allows {most} in a kernel"
        if k.recursive and not p.has("device_functions"):
            return f"{self.name} calls {short_name(k.recursive.name)}, which calls itself: recursion needs sm_20"
        return ""

    @cached_property
    def const_bytes(self) -> int:
        """Constant memory that the user declared, in the whole module."""
        return layout(v for v in self.module.program.variables.values() if v.space == "const")[1]

    @cached_property
    def barriers(self) -> int:
        """Named barriers that a block claims."""
        return 16 if any(f.any_barrier for f in self.facts) else max((b + 1 for f in self.facts for b in f.barriers), default=0)

    @cached_property
    def max_threads(self) -> int:
        """The largest block that the kernel allows: as its own bound says, and as its registers fit; .reqntid counts for neither."""
        profile = self.context.profile
        limit, bound = profile.max_threads_per_block, self.directive(".maxntid")
        most = min(limit, prod(bound)) if bound else limit
        while most > 32 and not register_blocks(profile, most, self.registers):
            most = -(-most // 32) * 32 - 32
        return most

    @property
    def static_shared(self) -> int:
        """Bytes of shared memory that the program declares."""
        return self.kernel.static_shared

    @property
    def dynamic_limit(self) -> int:
        """Bytes of dynamic shared memory that a launch may ask for."""
        if self.max_dynamic_shared is not None:
            return self.max_dynamic_shared
        return max(0, self.context.profile.shared_per_block - self.static_shared)

    @property
    def needed_cluster(self) -> Dim3 | None:
        """The cluster that .reqnctapercluster or the host's attributes ask for."""
        d = self.directive(".reqnctapercluster") or self.directive(".explicitcluster")
        values = d or (tuple(self.cluster) if all(self.cluster) else ())
        if not values or not all(values):
            return None
        x, y, z = (*values, 1, 1)[:3]
        return x, y, z

    @property
    def ptx_version(self) -> int:
        """80 for .target sm_80."""
        home = next((m for m in self.module.modules if self.function.name in m.functions), self.module.modules[0])
        for t in home.targets:
            digits = "".join(c for c in t.removeprefix("sm_").removeprefix("compute_") if c.isdigit())
            if digits:
                return int(digits)
        return 10

    @cached_property
    def parameters(self) -> tuple[tuple[str, int, int], ...]:
        """(name, offset, size) of each parameter."""
        return tuple((v.name, at, v.size) for v, at in self.kernel.parameters)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        """The bytes of each parameter."""
        return tuple(size for _, _, size in self.parameters)

    @cached_property
    def _block(self) -> Struct:
        """The parameter block, with what lies between parameters."""
        ends = [0, *(at + size for _, at, size in self.parameters)]
        return Struct("".join(f"{at - end}x{size}s" for end, (_, at, size) in zip(ends, self.parameters, strict=False)))

    @cached_property
    def _pointers(self) -> Struct:
        """A table of pointers to the parameters, as it lies in memory."""
        return Struct(f"{len(self.parameters)}Q")

    def set_dynamic_shared(self, size: int) -> None:
        """Opts in to more dynamic shared memory."""
        most = self.context.profile.shared_per_block_optin - self.static_shared
        if not 0 <= size <= most:
            raise invalid(f"{size} bytes of dynamic shared memory; {most} are allowed beside {self.static_shared} static ones")
        self.max_dynamic_shared = size

    def resident_blocks(self, threads: int, dynamic_shared: int) -> int:
        """Blocks of this kernel that one multiprocessor holds; the estimate of its registers never forbids the only one."""
        profile = self.context.profile
        if threads <= 0:
            raise invalid("a block has at least one thread")
        limit = self.static_shared + self.dynamic_limit
        shared = profile.block_shared(self.static_shared + dynamic_shared, self.kernel.parameter_bytes)
        registers = min(self.registers, max_registers(profile, min(threads, profile.max_threads_per_block), 1) or self.registers)
        return min(block_limits(profile, threads, registers, shared, shared_limit=limit, barriers=self.barriers).values())

    def resident_clusters(self, threads: int, dynamic_shared: int, cluster: int) -> int:
        """Clusters that the device holds at once: all blocks of one are in the same part of it."""
        p = self.context.profile
        blocks = min(self.resident_blocks(threads, dynamic_shared), CLUSTER_BLOCKS)
        if cluster <= 2:
            return blocks * p.multiprocessors // cluster
        parts = CLUSTER_PARTS.get((p.capability, p.multiprocessors), (p.multiprocessors,))
        return sum(blocks * n // cluster for n in parts if n >= min(cluster, PORTABLE_CLUSTER * 2) or cluster <= PORTABLE_CLUSTER)

    # ------------------------------------------------------------ launching

    def validate(self, shape: LaunchShape, parameters: bytes) -> Dim3 | None:
        """Refuses a launch that cannot be; gives the cluster that it runs with.  A block of one thread stands for the block that the kernel requires."""
        if tuple(shape.block) == (1, 1, 1) and (required := self.directive(".reqntid")):
            x, y, z = (*required, 1, 1)[:3]
            shape.block = (x, y, z)
        asked = tuple(shape.grid), tuple(shape.block), shape.dynamic_shared, shape.cooperative, shape.cluster, shape.multiprocessors
        key = asked, len(parameters), self.max_dynamic_shared, *self.cluster, self.nonportable_cluster
        if key not in self._launchable:
            if len(self._launchable) == MOST_LAUNCHABLE:
                self._launchable.clear()
            self._launchable[key] = self._validated(shape, parameters)
        return self._launchable[key]

    def _validated(self, shape: LaunchShape, parameters: bytes) -> Dim3 | None:
        p, kernel = self.context.profile, self.kernel
        if min(*shape.grid, *shape.block) < 1 or any(map(gt, shape.grid, p.max_grid)):
            raise invalid(f"grid {shape.grid}; the device allows {p.max_grid}")
        threads = prod(shape.block)
        if any(map(gt, shape.block, p.max_block)) or threads > p.max_threads_per_block:
            allowed = f"the device allows {p.max_threads_per_block} in all, and no more than {p.max_block}"
            raise invalid(f"block {shape.block} has {threads} threads; {allowed}")
        required = self.directive(".reqntid")
        if required and tuple(required) + (1,) * (3 - len(required)) != tuple(shape.block):
            raise invalid(f"block {shape.block}; the kernel requires {required}")
        bound = self.directive(".maxntid")
        if bound and threads > prod(bound):
            raise invalid(f"{threads} threads in a block; the kernel allows {prod(bound)}")
        if shape.dynamic_shared > self.dynamic_limit:
            raise invalid(f"{shape.dynamic_shared} bytes of dynamic shared memory; {self.dynamic_limit} are allowed")
        if self.unfit:
            raise ApiError("CUDA_ERROR_INVALID_PTX", self.unfit)
        total = p.block_shared((kernel.dynamic_start if shape.dynamic_shared else 0) + shape.dynamic_shared, kernel.parameter_bytes)
        if total > p.shared_per_block_optin:
            raise invalid(f"{total} bytes of shared memory; the device has {p.shared_per_block_optin} per block")
        if len(parameters) < kernel.parameter_bytes:
            raise invalid(f"{len(parameters)} bytes of parameters are given; the kernel has {kernel.parameter_bytes}")
        cluster = self.cluster_of(shape)
        if shape.cooperative:
            most = self.resident_blocks(threads, shape.dynamic_shared) * (shape.multiprocessors or p.multiprocessors)
            if p.capability < (6, 0):
                raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"{p.name} has no cooperative launch")
            if prod(shape.grid) > most:
                raise ApiError("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", f"{prod(shape.grid)} blocks; {most} are resident together")
        return cluster

    def cluster_of(self, shape: LaunchShape) -> Dim3 | None:
        """The cluster of a launch, or why there can be none."""
        if any(self.cluster) and not all(self.cluster) and not self.directive(".reqnctapercluster"):
            raise ApiError("CUDA_ERROR_INVALID_CLUSTER_SIZE", f"cluster {tuple(self.cluster)}; not every axis is set")
        own, given = self.needed_cluster, shape.cluster
        cluster = given or own
        if cluster is None:
            return None
        if own is not None and given is not None and tuple(given) != tuple(own) and self.directive(".reqnctapercluster"):
            raise ApiError("CUDA_ERROR_INVALID_CLUSTER_SIZE", f"cluster {given}; the kernel requires {own}")
        p = self.context.profile
        if p.capability < (9, 0):
            raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"{p.name} has no clusters")
        most = NONPORTABLE_CLUSTER if self.nonportable_cluster else PORTABLE_CLUSTER
        most = min((most, *self.directive(".maxclusterrank")))
        if min(cluster) < 1 or prod(cluster) > most:
            raise ApiError("CUDA_ERROR_INVALID_CLUSTER_SIZE", f"cluster {cluster}; {most} blocks are allowed")
        if any(g % c for g, c in zip(shape.grid, cluster, strict=True)):
            raise ApiError("CUDA_ERROR_INVALID_CLUSTER_SIZE", f"grid {shape.grid} is not a multiple of cluster {cluster}")
        return cluster

    def max_cluster_blocks(self, threads: int, dynamic_shared: int) -> int:
        """The largest cluster that can be."""
        return (
            (NONPORTABLE_CLUSTER if self.nonportable_cluster else PORTABLE_CLUSTER) if self.resident_blocks(threads, dynamic_shared) else 0
        )

    def pack(self, values: Sequence[bytes]) -> bytes:
        """The parameter block of these values, one a parameter."""
        if len(values) != len(self.parameters):
            raise invalid(f"{len(values)} parameters are given; {self.name} has {len(self.parameters)}")
        if tuple(map(len, values)) != self._sizes:
            n, (name, _, size) = next((len(raw), p) for raw, p in zip(values, self.parameters, strict=True) if len(raw) != p[2])
            raise invalid(f"{n} bytes for parameter {name}, which has {size}")
        return self._block.pack(*values)

    def pack_table(self, table: int) -> bytes:
        """The parameter block read through a table of pointers, one a parameter."""
        if not self.parameters:
            return self.pack([])
        if not table:
            raise invalid(f"no parameters are given; {self.name} has {len(self.parameters)}")
        pointers = self._pointers.unpack(*host().pieces((table,), (self._pointers.size,)))
        if 0 in pointers:
            raise invalid(f"the pointer to parameter {self.parameters[pointers.index(0)][0]} is null")
        return self.pack(host().pieces(pointers, self._sizes))
