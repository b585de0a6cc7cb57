"""Kernel, its attributes and its occupancy, as in cuda.core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from warplab.assembler.demangle import cpp_name, short_name

from .. import driver
from ..device.modules.kernels import KernelHandle
from ..driver.modules.libraries import kernel_of
from .calls import Given, do
from .devices import Stream
from .launcher import Dims, LaunchConfig, Launcher

if TYPE_CHECKING:
    from .devices import Device

F = driver.CUfunction_attribute


class ParamInfo(NamedTuple):
    """Where a parameter lies in the parameter block."""

    offset: int
    size: int


_UNKNOWN = {"max", "shared_memory_mode", "device_node_update_supported"}  # members of the enum that are not attributes of a kernel here
_NAMES = {name.removeprefix("CU_FUNC_ATTRIBUTE_").lower(): attribute for name, attribute in F.__members__.items()}
_ATTRIBUTES = {name: attribute for name, attribute in _NAMES.items() if name not in _UNKNOWN}
_FLAGS = ("cache_mode_ca", "cluster_size_must_be_set", "non_portable_cluster_size_allowed")
_SETTABLE = (
    "max_dynamic_shared_size_bytes", "preferred_shared_memory_carveout", "required_cluster_width", "required_cluster_height",
    "required_cluster_depth", "non_portable_cluster_size_allowed", "cluster_scheduling_policy_preference",
)  # fmt: skip


class KernelAttributes:
    """The attributes of a kernel by name; those that CUDA lets a program set can be assigned."""

    def __init__(self, kernel: Kernel) -> None:
        object.__setattr__(self, "_kernel", kernel)

    def __getitem__(self, device: Device | int) -> KernelAttributes:
        """The attributes on a device."""
        return self

    def __getattr__(self, name: str) -> int | bool:
        if name not in _ATTRIBUTES:
            raise AttributeError(f"no attribute is called {name}")
        value = int(do(driver.cuFuncGetAttribute, _ATTRIBUTES[name], object.__getattribute__(self, "_kernel").handle))
        return bool(value) if name in _FLAGS else value

    def __setattr__(self, name: str, value: int) -> None:
        if name not in _SETTABLE:
            raise AttributeError(f"{name} can't be set")
        do(driver.cuFuncSetAttribute, object.__getattribute__(self, "_kernel").handle, _ATTRIBUTES[name], int(value))

    def __dir__(self) -> list[str]:
        return sorted(_ATTRIBUTES)

    def __repr__(self) -> str:
        kernel = object.__getattribute__(self, "_kernel")
        return f"<KernelAttributes of {short_name(kernel.name)}: {', '.join(f'{n}={getattr(self, n)}' for n in dir(self))}>"


class MaxPotentialBlockSizeOccupancyResult(NamedTuple):
    """The least grid that fills the device, and its block."""

    min_grid_size: int
    max_block_size: int


class KernelOccupancy:
    """Queries about occupancy."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def max_active_blocks_per_multiprocessor(self, block_size: int, dynamic_shared_memory_size: int) -> int:
        """Blocks that one multiprocessor holds."""
        return int(do(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, self._kernel.handle, block_size, dynamic_shared_memory_size))

    def max_potential_block_size(self, dynamic_shared_memory_needed: Any, block_size_limit: int) -> MaxPotentialBlockSizeOccupancyResult:
        """The block with which most threads are resident; the shared memory is a number or a function of the block's size."""
        function, constant = (
            (dynamic_shared_memory_needed, 0) if callable(dynamic_shared_memory_needed) else (0, dynamic_shared_memory_needed)
        )
        found = do(driver.cuOccupancyMaxPotentialBlockSize, self._kernel.handle, function, constant, block_size_limit)
        return MaxPotentialBlockSizeOccupancyResult(*found)

    def available_dynamic_shared_memory_per_block(self, num_blocks_per_multiprocessor: int, block_size: int) -> int:
        """The most dynamic shared memory with which so many blocks fit."""
        return int(do(driver.cuOccupancyAvailableDynamicSMemPerBlock, self._kernel.handle, num_blocks_per_multiprocessor, block_size))

    def max_potential_cluster_size(self, config: LaunchConfig, *, stream: Stream) -> int:
        """The largest cluster."""
        return int(do(driver.cuOccupancyMaxPotentialClusterSize, self._kernel.handle, config.shape.config(driver)))

    def max_active_clusters(self, config: LaunchConfig, *, stream: Stream) -> int:
        """Clusters that the device holds at once."""
        return int(do(driver.cuOccupancyMaxActiveClusters, self._kernel.handle, config.shape.config(driver)))


class Kernel(Given):
    """A kernel, ready to be launched: by launch(), or as `kernel[grid, block](*arrays)`."""

    _found: object
    _module: object  # whose code it is: held, so that nobody unloads it
    _origin = "a Kernel comes from ObjectCode.get_kernel"

    @staticmethod
    def from_handle(handle: object, mod: object = None) -> Kernel:
        """A kernel by the driver's handle."""
        self = Kernel.__new__(Kernel)
        self._found, self._module = handle, mod
        kernel_of(handle)
        return self

    @property
    def handle(self) -> Any:
        """The driver's handle."""
        return self._found

    @property
    def _core(self) -> KernelHandle:
        return kernel_of(self._found)

    @property
    def name(self) -> str:
        """The entry's name."""
        return self._core.name

    @property
    def signature(self) -> str:
        """The parameters as the PTX declares them."""
        shown = []
        for v, _ in self._core.kernel.parameters:
            size = f"[{v.size}]" if v.dims else ""
            shown.append(f".{v.type} {v.name}{size}")
        return f"{self.name}({', '.join(shown)})"

    @property
    def attributes(self) -> KernelAttributes:
        """The attributes."""
        return KernelAttributes(self)

    @property
    def num_arguments(self) -> int:
        """The number of parameters."""
        return len(self._core.parameters)

    @property
    def arguments_info(self) -> list[ParamInfo]:
        """The offset and size of each parameter."""
        return [ParamInfo(at, size) for _, at, size in self._core.parameters]

    @property
    def occupancy(self) -> KernelOccupancy:
        """Queries about occupancy."""
        return KernelOccupancy(self)

    def __getitem__(self, shape: tuple[Any, ...]) -> Launcher:
        """kernel[grid, block], kernel[grid, block, stream] or kernel[grid, block, stream, shared]."""
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise TypeError("write kernel[grid, block](...), and behind them perhaps a stream and bytes of shared memory")
        grid, block, stream, shared = (*shape, None, None)[:4]
        dims: tuple[Dims, Dims] = (grid, block)
        return Launcher(self, LaunchConfig(grid=dims[0], block=dims[1], shmem_size=shared), stream or None)

    def __eq__(self, other: object) -> bool:
        return int(self._found) == int(other._found) if isinstance(other, Kernel) else NotImplemented  # type: ignore[call-overload]

    def __hash__(self) -> int:
        return hash(int(self._found))  # type: ignore[call-overload]

    def __repr__(self) -> str:
        cpp = cpp_name(self.name)
        return f"<Kernel {self.signature if cpp is None else cpp}>"
