"""The devices of this process and their primary contexts.

WARPLAB_DEVICES names the models, one a device: "sm_90" (the default), or "sm_90,sm_90,sm_35"; a size may follow: "sm_90:4G", and other figures
(described.py).
"""

from __future__ import annotations

import hashlib
import os
from functools import cached_property

from warplab.isa.own_devices import device_profile
from warplab.isa.profiles import DeviceProfile

from ..clock.timeline import Timeline
from ..errors import ApiError, UsageError
from .context import DeviceContext
from .described import in_words, listed, model_of
from .memory.allocations import SPACE, DeviceArena
from .models import attributes, memory_size
from .modules.targets import rules_only as always

STRIDE = 1 << 38  # from one device's first address to the next one's; no host has memory from the first of them on
MOST = 64
BOUNDS = ("strict", "device")
CLOCKS = ("model", "host")


class SimulatedDevice:
    """One device of the process."""

    def __init__(self, ordinal: int, architecture: str, memory: int | None = None, rules_only: bool = False) -> None:
        self.ordinal = ordinal
        self.rules_only = rules_only  # does it run code for newer devices, too?
        self.architecture = architecture  # in words, where it has figures of its own
        self.profile: DeviceProfile = device_profile(architecture)
        self.memory = memory or memory_size(self.profile)
        self.flags = 0
        self.retained = 0
        self.primary: DeviceContext | None = None
        self._arena: DeviceArena | None = None
        self.pools: dict[tuple[str, str], object] = {}  # by the kind of memory, and default or current

    @property
    def name(self) -> str:
        """The device's name."""
        return f"NVIDIA {self.profile.device.removeprefix('NVIDIA ')}"

    @property
    def uuid(self) -> bytes:
        """16 bytes that are always the same for the same device."""
        return hashlib.md5(f"warplab {self.ordinal} {self.profile.name}".encode(), usedforsecurity=False).digest()

    @property
    def is_used(self) -> bool:
        """Was there ever a context on it?"""
        return self._arena is not None

    @property
    def arena(self) -> DeviceArena:
        """The device's memory, reserved when it is first needed."""
        if self._arena is None:
            self._arena = DeviceArena(self.memory, (self.ordinal + 1) * STRIDE, by_pages())
            SPACE.devices.append(self._arena)
        return self._arena

    @cached_property
    def attributes(self) -> dict[str, int]:
        """Every attribute by the name that the driver's enum has for it, without CU_DEVICE_ATTRIBUTE_."""
        return attributes(self.profile) | {"PCI_BUS_ID": self.ordinal + 1}

    def attribute(self, name: str) -> int:
        """An attribute by its name."""
        found = self.attributes.get(name)
        if found is None:
            raise ApiError("CUDA_ERROR_INVALID_VALUE", f"no attribute is called {name}")
        if name == "MULTICAST_SUPPORTED":  # as recorded, a device that is alone says no
            return int(bool(found) and sum(d.attributes[name] for d in machine().devices) > 1)
        return found

    def new_context(self, flags: int = 0) -> DeviceContext:
        """A context of its own on the device's memory."""
        out = DeviceContext(self.architecture, arena=self.arena, space=SPACE, ordinal=self.ordinal)
        out.flags = flags
        out.rules_only = self.rules_only
        return out

    def retain(self) -> DeviceContext:
        """The primary context, made when it is first asked for."""
        if self.primary is None or not self.primary.alive:
            self.primary = self.new_context(self.flags)
        self.retained += 1
        return self.primary

    def release(self) -> None:
        """Gives the primary context back; the last one ends it."""
        if not self.retained:
            raise ApiError("CUDA_ERROR_INVALID_CONTEXT", "the primary context is not retained")
        self.retained -= 1
        if not self.retained and self.primary is not None:
            self.primary.close()
            self.primary = None

    def reset(self) -> None:
        """Ends the primary context with all that it holds, its error too; the next that is retained is new."""
        if self.primary is not None:
            self.primary.close()
            self.primary = None


class Machine:
    """All devices."""

    def __init__(self, words: str) -> None:
        self.devices: list[SimulatedDevice] = []
        for word in listed(words):
            self.add(*model_of(word))

    def add(self, architecture: str, memory: int | None = None, rules_only: bool = False) -> SimulatedDevice:
        """One more device."""
        if len(self.devices) >= MOST:
            raise UsageError(f"more than {MOST} devices")
        try:
            self.devices.append(SimulatedDevice(len(self.devices), architecture, memory, rules_only or always()))
        except ValueError as e:
            raise UsageError(str(e)) from None
        return self.devices[-1]

    def device(self, ordinal: int) -> SimulatedDevice:
        """A device by its number."""
        if not 0 <= ordinal < len(self.devices):
            raise ApiError("CUDA_ERROR_INVALID_DEVICE", f"there are {len(self.devices)} devices")
        return self.devices[ordinal]

    def of_architecture(self, architecture: str, rules_only: bool = False) -> SimulatedDevice:
        """The first device of a model; it is added where there is none."""
        architecture = in_words(architecture)
        found = (d for d in self.devices if (d.architecture, d.rules_only) == (architecture, rules_only or always()))
        return next(found, None) or self.add(architecture, rules_only=rules_only)


def by_pages() -> bool:
    """Does WARPLAB_BOUNDS ask for a GPU's bounds (device), or for those of each allocation (strict)?"""
    word = os.environ.get("WARPLAB_BOUNDS") or "strict"
    if word not in BOUNDS:
        raise UsageError(f"WARPLAB_BOUNDS is {word!r}; there are {', '.join(BOUNDS)}")
    return word == "device"


def has_model_clock() -> bool:
    """Does WARPLAB_CLOCK ask for predicted times (model), or for those of this machine (host)?"""
    word = os.environ.get("WARPLAB_CLOCK") or "model"
    if word not in CLOCKS:
        raise UsageError(f"WARPLAB_CLOCK is {word!r}; there are {', '.join(CLOCKS)}")
    return word == "model"


def check_environment() -> None:
    """Refuses wrong values of the variables about devices, bounds and the clock, also where nothing else looks at them."""
    by_pages()
    has_model_clock()
    always()
    try:
        for word in listed(os.environ.get("WARPLAB_DEVICES", "sm_90")):
            model_of(word)
    except UsageError as e:
        raise UsageError(
            f"WARPLAB_DEVICES is {os.environ['WARPLAB_DEVICES']!r}: {e}; write models such as sm_90 or sm_90,sm_80:16G"
        ) from None


_machine: list[Machine] = []


def machine() -> Machine:
    """The devices of this process."""
    if not _machine:
        begin_machine()
    return _machine[0]


def begin_machine() -> None:
    """Makes the devices of this process."""
    check_environment()
    _machine[:] = [Machine(os.environ.get("WARPLAB_DEVICES", "sm_90"))]
    SPACE.clock = Timeline(lambda ordinal: machine().device(ordinal).profile) if has_model_clock() else None
