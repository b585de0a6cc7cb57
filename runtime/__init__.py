"""The host: Device, Program, Kernel, launch, Stream, Buffer and the rest of cuda.core's names, each loaded at first use.

warplab.runtime.driver and warplab.runtime.cudart are CUDA's own two APIs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warplab.interpreter.faults import ExecutionError

    from .device.launches.observing import observing as observing
    from .device.launches.sanitizing import Sanitizer as Sanitizer
    from .device.launches.sanitizing import SanitizerError as SanitizerError
    from .device.launches.sanitizing import sanitizing as sanitizing
    from .device.launches.scheduling import scheduled as scheduled
    from .device.launches.scheduling import schedules as schedules
    from .profiler import profiling as profiling
    from .python.arrays import DeviceNDArray as DeviceNDArray
    from .python.arrays import device_array as device_array
    from .python.arrays import to_device as to_device
    from .python.arrays import to_opaque as to_opaque
    from .python.arrays import to_surface as to_surface
    from .python.arrays import to_texture as to_texture
    from .python.buffers import Buffer as Buffer
    from .python.buffers import ManagedBuffer as ManagedBuffer
    from .python.buffers import MemoryResource as MemoryResource
    from .python.calls import CUDAError as CUDAError
    from .python.devices import LEGACY_DEFAULT_STREAM as LEGACY_DEFAULT_STREAM
    from .python.devices import PER_THREAD_DEFAULT_STREAM as PER_THREAD_DEFAULT_STREAM
    from .python.devices import Context as Context
    from .python.devices import Device as Device
    from .python.devices import Event as Event
    from .python.devices import EventOptions as EventOptions
    from .python.devices import Stream as Stream
    from .python.devices import StreamOptions as StreamOptions
    from .python.kernels import Kernel as Kernel
    from .python.launcher import LaunchConfig as LaunchConfig
    from .python.launcher import launch as launch
    from .python.modules import ObjectCode as ObjectCode
    from .python.programs import Linker as Linker
    from .python.programs import LinkerOptions as LinkerOptions
    from .python.programs import Program as Program
    from .python.programs import ProgramOptions as ProgramOptions
    from .python.properties import ComputeCapability as ComputeCapability
    from .python.resources import DeviceMemoryResource as DeviceMemoryResource
    from .python.resources import DeviceMemoryResourceOptions as DeviceMemoryResourceOptions
    from .python.resources import LegacyPinnedMemoryResource as LegacyPinnedMemoryResource
    from .python.resources import ManagedMemoryResource as ManagedMemoryResource
    from .python.resources import ManagedMemoryResourceOptions as ManagedMemoryResourceOptions
    from .python.resources import PinnedMemoryResource as PinnedMemoryResource
    from .python.resources import PinnedMemoryResourceOptions as PinnedMemoryResourceOptions
    from .python.tensor_maps import TensorMapDataType as TensorMapDataType
    from .python.tensor_maps import TensorMapDescriptor as TensorMapDescriptor
    from .python.tensor_maps import TensorMapDescriptorOptions as TensorMapDescriptorOptions
    from .python.tensor_maps import TensorMapInterleave as TensorMapInterleave
    from .python.tensor_maps import TensorMapL2Promotion as TensorMapL2Promotion
    from .python.tensor_maps import TensorMapOOBFill as TensorMapOOBFill
    from .python.tensor_maps import TensorMapSwizzle as TensorMapSwizzle

_HOMES = {
    "python.arrays": "DeviceNDArray device_array to_device to_opaque to_surface to_texture",
    "python.buffers": "Buffer ManagedBuffer MemoryResource",
    "python.calls": "CUDAError",
    "python.devices": "LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM Context Device Event EventOptions Stream StreamOptions",
    "python.launcher": "LaunchConfig launch",
    "python.kernels": "Kernel",
    "python.modules": "ObjectCode",
    "python.programs": "Linker LinkerOptions Program ProgramOptions",
    "python.resources": """DeviceMemoryResource DeviceMemoryResourceOptions LegacyPinnedMemoryResource ManagedMemoryResource
        ManagedMemoryResourceOptions PinnedMemoryResource PinnedMemoryResourceOptions""",
    "python.properties": "ComputeCapability",
    "python.tensor_maps": """TensorMapDataType TensorMapDescriptor TensorMapDescriptorOptions TensorMapInterleave TensorMapL2Promotion
        TensorMapOOBFill TensorMapSwizzle""",
    "device.launches.observing": "observing",
    "device.launches.sanitizing": "Sanitizer SanitizerError sanitizing",
    "device.launches.scheduling": "scheduled schedules",
    "profiler": "profiling",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = [*sorted(_HOME_OF), "last_fault"]


def __getattr__(name: str) -> object:
    """Loads a name's module when it is first asked for, so that the command line stays quick."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """All public names."""
    return __all__


def last_fault() -> ExecutionError | None:
    """The fault of the last failed launch in the current context: the instruction, the thread, nearby allocations. str() gives the report."""
    from .driver.api import STATE

    return STATE.top.fault if STATE.top is not None else None
