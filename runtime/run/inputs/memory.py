"""The memory of a run: named arrays, tensor maps, variables of the module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from warplab.interpreter.faults import Fault
from warplab.interpreter.memory.arena import Allocation
from warplab.interpreter.memory.objects import Named

from ...device.context import DeviceContext
from ...device.launches.sanitizing import Sanitizer
from ...device.memory.allocations import Window
from ...device.modules.kernels import LoadedModule
from ...errors import ApiError, UsageError
from ..outcome import RunBuffer
from ..runspec import HostStep, RunSpec
from .tensor_maps import FIRST_CAPABILITY, tensor_maps, unknown_buffer
from .values import BufferValue, ScalarValue, parse_value, scalar_bytes


class RunMemory:
    """What the launches of a run find in memory."""

    def __init__(
        self, context: DeviceContext, module: LoadedModule, spec: RunSpec, folder: Path | None, sanitizer: Sanitizer | None
    ) -> None:
        self.context, self.module, self.spec, self.folder, self.sanitizer = context, module, spec, folder, sanitizer
        self.on_buffer: Callable[[RunBuffer], None] = lambda b: None
        self.buffers: dict[str, RunBuffer] = {}
        self.maps: dict[str, bytes] = {}  # the 128 bytes of each tensor map

    def add(self, name: str, way: str, value: BufferValue) -> RunBuffer:
        """A named array."""
        found = self.buffers.get(name)
        if found is not None:
            raise UsageError(f"two buffers are called {name}")
        raw = np.ascontiguousarray(value.array)
        place = dict(self.spec.addresses).get(name)
        address = self.context.allocate(max(raw.nbytes, 1)) if place is None else self._placed(place, raw.nbytes)
        self.context.bytes_at(address, raw.nbytes)[:] = raw.reshape(-1).view(np.uint8)
        if (made := self.context.arena.find(address)) is not None:
            made.object = Named(name, raw.nbytes, raw.itemsize, raw.shape or (1,), value.type)
        b = self.buffers[name] = RunBuffer(name, value.type, way, raw, address, value.poisoned)
        if value.poisoned and self.sanitizer is not None:
            self.sanitizer.unset(self.context.arena, address, raw.nbytes)
        self.on_buffer(b)
        return b

    def _placed(self, address: int, size: int) -> int:
        """Memory at an address that the run names, where none is yet."""
        space = self.context.space
        if any(space.is_device_range(at) for at in (address, address + size - 1)):
            raise UsageError(f"there is other memory at {address:#x}, where a buffer is to stand")
        space.registered[address] = Window(address, np.zeros(size, np.uint8), Allocation(address, size))
        return address

    def set(self, text: str) -> None:
        """Gives a variable of the module a value."""
        name, _, value_text = text.partition("=")
        try:
            address, size = self.module.variable(name)
        except ApiError:
            raise UsageError(f"--set {text!r}: no .global or .const variable is called {name}") from None
        v = self.module.program.variables[name]
        value = parse_value(value_text, self.folder)
        raw = (
            value.array.tobytes()
            if isinstance(value, BufferValue)
            else scalar_bytes(value.text, v.type, v.name)
            if isinstance(value, ScalarValue)
            else bytes(8)
        )
        if len(raw) > size:
            raise UsageError(f"--set {text!r}: {len(raw)} bytes for a variable of {size}")
        self.context.bytes_at(address, len(raw))[:] = np.frombuffer(raw, np.uint8)

    def add_tensor_maps(self) -> None:
        """Tensors and the maps that describe them; a variable of a map's name gets it."""
        for m in tensor_maps(self.spec.tensor_maps):
            if self.context.profile.capability < FIRST_CAPABILITY:
                raise m.given.flaw("a device has tensor maps since sm_90")
            if not m.shares:
                self.add(m.name, m.way, m.value(self.folder))
            b = self.buffers.get(m.given.value if m.shares else m.name)
            if b is None or b.texels is not None:
                raise unknown_buffer(m, self.buffers)
            words = self.maps[m.name] = m.words(b.type, b.before.shape, b.address)
            if m.name in self.module.program.variables:
                address, size = self.module.variable(m.name)
                if size < len(words):
                    raise m.given.flaw(f"the variable has {size} bytes; a tensor map has {len(words)}")
                self.context.bytes_at(address, len(words))[:] = np.frombuffer(words, np.uint8)

    @property
    def pointer_bytes(self) -> int:
        """The size of an address in the program."""
        return max((m.address_size for m in self.module.modules), default=64) // 8

    def step(self, step: HostStep) -> None:
        """The host frees or fills a buffer."""
        b = self.buffers.get(step.name)
        if b is None:
            raise UsageError(f"{step.what} = {step.name!r}: the buffers are {' '.join(self.buffers) or 'none'}")
        if step.what == "free":
            if b.after is not None:
                text = f"the host frees {b.name} at {b.address:#x}, which it freed before"
                cause = Fault("double-free", text, "global", b.address)
                if self.sanitizer is not None and self.sanitizer.failed(cause):
                    return
                raise ApiError("CUDA_ERROR_INVALID_VALUE", text, cause)
            self.fetch(b)
            self.context.free(b.address)
            return
        size = b.before.nbytes - step.offset if step.bytes is None else step.bytes
        if not 0 <= size <= b.before.nbytes - step.offset:
            raise UsageError(f"memset of {size} bytes from byte {step.offset} of {b.name}, which has {b.before.nbytes}")
        self.context.bytes_at(b.address + step.offset, size)[:] = step.value

    def fetch(self, b: RunBuffer) -> None:
        """Reads what a buffer holds now."""
        raw = self.context.space.device_bytes(b.address, b.before.nbytes, False).copy()
        b.after = raw.view(b.before.dtype).reshape(b.before.shape)
