"""The host: Device, Program, Kernel, launch, Stream, Buffer and the rest of cuda.core's names, each loaded at first use.

warplab.runtime.driver and warplab.runtime.cudart are CUDA's own two APIs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warplab.interpreter.faults import ExecutionError

    from .core.arrays import DeviceNDArray as DeviceNDArray
    from .core.arrays import device_array as device_array
    from .core.arrays import to_device as to_device
    from .core.buffers import Buffer as Buffer
    from .core.buffers import ManagedBuffer as ManagedBuffer
    from .core.buffers import MemoryResource as MemoryResource
    from .core.devices import ComputeCapability as ComputeCapability
    from .core.devices import Context as Context
    from .core.devices import CUDAError as CUDAError
    from .core.devices import Device as Device
    from .core.kernels import Kernel as Kernel
    from .core.launcher import LaunchConfig as LaunchConfig
    from .core.launcher import launch as launch
    from .core.modules import ObjectCode as ObjectCode
    from .core.programs import Linker as Linker
    from .core.programs import LinkerOptions as LinkerOptions
    from .core.programs import Program as Program
    from .core.programs import ProgramOptions as ProgramOptions
    from .core.resources import DeviceMemoryResource as DeviceMemoryResource
    from .core.resources import DeviceMemoryResourceOptions as DeviceMemoryResourceOptions
    from .core.resources import LegacyPinnedMemoryResource as LegacyPinnedMemoryResource
    from .core.resources import ManagedMemoryResource as ManagedMemoryResource
    from .core.resources import ManagedMemoryResourceOptions as ManagedMemoryResourceOptions
    from .core.resources import PinnedMemoryResource as PinnedMemoryResource
    from .core.resources import PinnedMemoryResourceOptions as PinnedMemoryResourceOptions
    from .core.streams import LEGACY_DEFAULT_STREAM as LEGACY_DEFAULT_STREAM
    from .core.streams import PER_THREAD_DEFAULT_STREAM as PER_THREAD_DEFAULT_STREAM
    from .core.streams import Event as Event
    from .core.streams import EventOptions as EventOptions
    from .core.streams import Stream as Stream
    from .core.streams import StreamOptions as StreamOptions
    from .profiler import profiling as profiling

_HOMES = {
    "core.arrays": "DeviceNDArray device_array to_device",
    "core.buffers": "Buffer ManagedBuffer MemoryResource",
    "core.devices": "CUDAError ComputeCapability Context Device",
    "core.launcher": "LaunchConfig launch",
    "core.kernels": "Kernel",
    "core.modules": "ObjectCode",
    "core.programs": "Linker LinkerOptions Program ProgramOptions",
    "core.resources": """DeviceMemoryResource DeviceMemoryResourceOptions LegacyPinnedMemoryResource ManagedMemoryResource
        ManagedMemoryResourceOptions PinnedMemoryResource PinnedMemoryResourceOptions""",
    "core.streams": "LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM Event EventOptions Stream StreamOptions",
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
    """What ended the current context's last launch that went wrong: where, which thread, what lies near; str() of it is the report."""
    from .driver.api import STATE

    return STATE.stack[-1].fault if STATE.stack else None
