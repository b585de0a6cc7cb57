"""What a context is without the work that it does: its device, its memory, and the error that sticks."""

from __future__ import annotations

import itertools
from typing import Any

from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.memory.arena import Arena
from warplab.isa.own_devices import device_profile, target_part
from warplab.isa.profiles import DeviceProfile

from ..errors import ApiError, StickyError, invalid
from .launches.printf import PrintRing
from .memory.allocations import AddressSpace, DeviceArena
from .memory.heap import DeviceHeap
from .memory.textures import ResourceTable
from .models import memory_size, persisting_l2

# What a context begins with and the least that it may be set to, as an H200 has them.
LIMITS = {"stack_size": 1024, "printf_fifo_size": 8_650_752, "malloc_heap_size": 8 << 20, "dev_runtime_sync_depth": 2,
          "dev_runtime_pending_launch_count": 2048, "max_l2_fetch_granularity": 64, "persisting_l2_cache_size": 0, "cig_enabled": 0}  # fmt: skip
LEAST = {"printf_fifo_size": 512 << 10, "malloc_heap_size": 4 << 20, "dev_runtime_pending_launch_count": 32}
STEP = {"stack_size": 16, "malloc_heap_size": 64 << 10, "printf_fifo_size": 256}
FIXED = ("shmem_size", "cig_enabled")
MOST_PENDING_LAUNCHES = 599_186  # what an H200 makes of any greater number
L2_PARTS = 10  # the part of the L2 cache that persists is set in tenths of its most
MAX_STACK = 512 << 10
_numbers = itertools.count(1)


class DeviceState:
    """That of one device, for one host program."""

    def __init__(self, architecture: str, memory: int | None, arena: Arena | None, space: AddressSpace | None, ordinal: int) -> None:
        self.profile: DeviceProfile = device_profile(architecture)
        self.model = architecture  # in words, where it has figures of its own
        self.architecture = target_part(architecture)
        self.ordinal = ordinal
        self.number = next(_numbers)
        self.space = AddressSpace() if space is None else space
        self.arena = DeviceArena(memory or memory_size(self.profile)) if arena is None else arena
        if self.arena not in self.space.devices:
            self.space.devices.append(self.arena)
        self.resources = ResourceTable()  # textures and surfaces
        self.limits = dict(LIMITS)
        self.limits["persisting_l2_cache_size"] = persisting_l2(self.profile) * 3 // L2_PARTS
        self.limits["shmem_size"] = self.profile.shared_per_block_optin
        if self.profile.capability >= (9, 0):  # kernels there can't wait for kernels that they launch
            del self.limits["dev_runtime_sync_depth"]
        self.ring = PrintRing(self.arena, self.limits["printf_fifo_size"], self.space.host_arenas)
        self.heap = DeviceHeap(self.arena, self.limits["malloc_heap_size"])
        self.alive = True
        self.running: Any = None  # the graph whose work is being done
        self.pending: ApiError | None = None  # an error that no call has reported yet
        self.error: ApiError | None = None  # was told, and sticks
        self.failed = ""  # the launch that caused it, in words

    def tell(self) -> None:
        """Tells what went wrong, now and from now on."""
        if self.error is None and self.pending is not None:
            self.error, self.pending = self.pending, None
            raise self.error
        self.check()

    def check(self) -> None:
        """Tells again what was told before."""
        if self.error is not None:
            what, _, more = self.error.message.partition("\n")
            raise StickyError(
                self.error.name, f"every call fails since {self.failed} has failed: {what}\n{more}".rstrip(), self.error.cause
            )

    @property
    def broken(self) -> bool:
        """Is work dropped?  Raises where the error is known already."""
        if self.error is not None:
            self.check()
        return self.pending is not None

    @property
    def is_dropping(self) -> bool:
        """Is work dropped, whether the error is known or not?"""
        return not self.alive or self.pending is not None or self.error is not None

    @property
    def fault(self) -> ExecutionError | None:
        """What ended the last launch that went wrong."""
        found = self.pending or self.error
        return found.cause if found else None

    def limit(self, name: str) -> int:
        """A context limit that the device knows."""
        self.check()
        if name not in self.limits:
            raise ApiError("CUDA_ERROR_UNSUPPORTED_LIMIT", f"{self.architecture} has no {name}")
        return self.limits[name]

    def set_limit(self, name: str, value: int) -> None:
        """A context limit."""
        self.limit(name)
        if name in FIXED:
            raise ApiError("CUDA_ERROR_NOT_PERMITTED", f"{name} can only be read")
        if value < 0:
            raise invalid(f"{name} can't be {value}")
        if name == "stack_size" and value >= MAX_STACK:
            raise invalid(f"a stack of {value} bytes; it must be smaller than {MAX_STACK}")
        if (name == "printf_fifo_size" and self.ring.used) or (name == "malloc_heap_size" and self.heap.started):
            raise invalid(f"{name} is set before the first kernel that needs it")
        if name == "max_l2_fetch_granularity" and value > 128:
            raise invalid(f"{name} is at most 128")
        if name == "dev_runtime_pending_launch_count":
            value = min(value, MOST_PENDING_LAUNCHES)
        step = STEP.get(name, 1)
        if name == "persisting_l2_cache_size":
            most = persisting_l2(self.profile)
            if value > most:
                raise invalid(f"{name} is at most {most}")
            step = max(most // L2_PARTS, 1)
        value = max(-(-value // step) * step, LEAST.get(name, 0))
        self.limits[name] = value
        if name == "printf_fifo_size":
            self.ring.size = value
        elif name == "malloc_heap_size":
            self.heap.limit = value
