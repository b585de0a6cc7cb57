"""LaunchConfig and launch, as in cuda.core, and how arguments become parameter bytes."""

from __future__ import annotations

import ctypes
import struct
import warnings
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import driver
from ..device.launches.sanitizing import Sanitizer, SanitizerError, sanitizing
from ..device.modules.kernels import LaunchShape
from ..driver.api import current
from ..driver.launching import start
from ..driver.modules.libraries import kernel_of
from .arrays import DeviceNDArray
from .buffers import Buffer
from .calls import IsStreamType, needed_handle
from .devices import Stream
from .tensor_maps import TensorMapDescriptor
from .textures import SurfaceObject, TextureObject

if TYPE_CHECKING:
    from warplab.assembler.ir import Variable

Dims = int | tuple[int, ...]


def three(value: Dims | None, what: str) -> tuple[int, int, int]:
    """A size in up to three dimensions."""
    parts = (value,) if isinstance(value, int | np.integer) else value
    if not isinstance(parts, tuple) or not 1 <= len(parts) <= 3 or not all(isinstance(p, int | np.integer) for p in parts):
        raise ValueError(f"{what} is an int or a tuple of up to three, not {value!r}")
    if min(parts) < 1:
        raise ValueError(f"{what} {value!r}: every dimension is at least 1")
    x, y, z = (*(int(p) for p in parts), 1, 1)[:3]
    return x, y, z


class LaunchConfig:
    """The shape of a launch. With a cluster, `grid` counts clusters."""

    grid: tuple[int, int, int]
    cluster: tuple[int, int, int] | None
    block: tuple[int, int, int]
    shmem_size: int
    is_cooperative: bool
    programmatic_stream_serialization: bool

    def __init__(
        self, grid: Dims | None = None, cluster: Dims | None = None, block: Dims | None = None, shmem_size: int | None = None,
        is_cooperative: bool = False, programmatic_stream_serialization: bool = False,
    ) -> None:  # fmt: skip
        self.grid, self.block = three(grid, "grid"), three(block, "block")
        self.cluster = None if cluster is None else three(cluster, "cluster")
        self.shmem_size = int(shmem_size or 0)
        if self.shmem_size < 0:
            raise ValueError(f"{shmem_size} bytes of shared memory")
        self.is_cooperative = bool(is_cooperative)
        self.programmatic_stream_serialization = bool(programmatic_stream_serialization)

    def _identity(self) -> tuple[object, ...]:
        return (self.grid, self.cluster, self.block, self.shmem_size, self.is_cooperative, self.programmatic_stream_serialization)

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, LaunchConfig) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        more = f", cluster={self.cluster}" if self.cluster else ""
        more += ", is_cooperative=True" if self.is_cooperative else ""
        return f"LaunchConfig(grid={self.grid}, block={self.block}, shmem_size={self.shmem_size}{more})"

    @property
    def shape(self) -> LaunchShape:
        """The shape of the launch in blocks."""
        grid = self.grid
        if self.cluster is not None:
            x, y, z = (g * c for g, c in zip(grid, self.cluster, strict=True))
            grid = (x, y, z)
        return LaunchShape(grid, self.block, self.shmem_size, self.is_cooperative, self.cluster)


class Launchable(Protocol):
    """A kernel, as a launch looks at it."""

    @property
    def handle(self) -> Any:
        """The driver's handle."""

    @property
    def name(self) -> str:
        """The entry's name."""

    @property
    def signature(self) -> str:
        """The parameters as the PTX declares them."""


def launch(
    stream: Stream | IsStreamType, config: LaunchConfig, kernel: Launchable, *kernel_args: object, sanitize: str | Sanitizer | None = None
) -> None:
    """Launches a kernel into a stream.

    `sanitize` has checkers look at this launch: a Sanitizer adds to its findings; of the tools that a text names, errors raise SanitizerError.
    """
    handle = kernel_of(kernel.handle)
    formals = handle.kernel.parameters
    if len(kernel_args) != len(formals):
        raise TypeError(f"{kernel.name} has {len(formals)} parameters, and {len(kernel_args)} arguments were given: {kernel.signature}")
    values = [as_bytes(a, v, n) for n, (a, (v, _)) in enumerate(zip(kernel_args, formals, strict=True))]
    if sanitize is None:
        start(handle, config.shape, needed_handle(stream), handle.pack(values))
        return
    with sanitizing(sanitize) as sanitizer:
        start(handle, config.shape, needed_handle(stream), handle.pack(values))
    if isinstance(sanitize, str) and sanitizer.errors:
        raise SanitizerError(sanitizer.findings)


_PLAIN: dict[type, str] = {bool: "?", int: "q", float: "d"}


def as_bytes(value: Any, formal: Variable, n: int) -> bytes:
    """An argument as a GPU's launch would pass it; a warning where its width is not the parameter's."""
    raw, name = _raw(value)
    if type(value) is float and formal.type.kind in "us" and not formal.dims:
        raise TypeError(
            f"argument {n} is a Python float, but parameter {formal.name} is .{formal.type}: pass an int, or an array for a pointer"
        )
    if len(raw) == formal.size:
        return raw
    fits = isinstance(value, int) and not isinstance(value, bool) and -(1 << 8 * formal.size - 1) <= value < 1 << 8 * formal.size
    if not (fits and len(raw) > formal.size):
        written = f".{formal.type}" + (f"[{formal.size}]" if formal.dims else "")
        warnings.warn(
            f"argument {n} is {name or f'a numpy {value.dtype}'} of {len(raw)} bytes, but parameter {formal.name} is {written} of {formal.size}",
            UserWarning,
            stacklevel=4,
        )
    return raw[: formal.size].ljust(formal.size, b"\0")


def _raw(value: object) -> tuple[bytes, str]:
    """Its bytes, and what it is in words; "" for a number of numpy's, whose name takes long to find."""
    if isinstance(value, Buffer | DeviceNDArray):
        return struct.pack("<Q", value.handle if isinstance(value, Buffer) else value.buffer.handle), "a pointer"
    if isinstance(value, TextureObject | SurfaceObject):
        if value.is_closed:
            raise ValueError(f"the {type(value).__name__} was closed")
        return struct.pack("<Q", value.handle), f"a {type(value).__name__}"
    if isinstance(value, TensorMapDescriptor):
        return bytes(value), "a TensorMapDescriptor"
    if type(value) in _PLAIN:
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            raise OverflowError(f"{value} does not fit 64 bits")
        kind = "Q" if type(value) is int and value >= 1 << 63 else _PLAIN[type(value)]
        return struct.pack("<" + kind, value), f"a Python {type(value).__name__}"
    if isinstance(value, complex):
        return struct.pack("<dd", value.real, value.imag), "a Python complex"
    if isinstance(value, np.generic):
        return value.tobytes(), ""
    if isinstance(value, ctypes._SimpleCData | ctypes.Structure | ctypes.Array):
        return bytes(value), f"a {type(value).__name__}"
    if isinstance(value, driver.CUdeviceptr):
        return struct.pack("<Q", int(value)), "a pointer"
    interface: Any = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        return struct.pack("<Q", int(interface["data"][0])), "a pointer"
    if isinstance(value, bytes | bytearray):
        return bytes(value), "bytes"
    if isinstance(value, np.ndarray):
        raise TypeError("a numpy array is host memory: use to_device, or call the kernel as kernel[grid, block](*arrays)")
    raise TypeError(f"{type(value).__name__} can't be passed to a kernel")


class Launcher:
    """A kernel with its grid and block: called with numpy arrays it copies them in, and back when they can be written."""

    def __init__(self, kernel: Launchable, config: LaunchConfig, stream: Stream | None = None) -> None:
        self.kernel, self.config, self.stream = kernel, config, stream

    def __call__(self, *args: object) -> None:
        from .devices import Device

        device = Device(current().ordinal)
        stream = self.stream or device.default_stream
        formals = kernel_of(self.kernel.handle).kernel.parameters
        passed: list[object] = []
        copies: list[tuple[Buffer, np.ndarray[Any, Any]]] = []
        held: dict[int, Buffer] = {}
        for n, a in enumerate(args):
            formal = formals[n][0] if n < len(formals) else None
            if isinstance(a, np.ndarray):
                buffer = held.get(a.ctypes.data)
                if buffer is None or buffer.size != a.nbytes:
                    buffer = held[a.ctypes.data] = device.allocate(max(a.nbytes, 1), stream=stream)
                    if a.nbytes:
                        buffer.copy_from(np.ascontiguousarray(a))
                    if a.flags.writeable:
                        copies.append((buffer, a))
                passed.append(buffer)
            else:
                passed.append(a if formal is None else _typed(a, formal))
        try:
            launch(stream, self.config, self.kernel, *passed)
            stream.sync()
            for buffer, a in copies:
                if a.nbytes:
                    a[...] = buffer.copy_to_host(a.dtype, a.shape)
        finally:
            if not current().fault:
                for buffer in held.values():
                    buffer.close(stream)

    def __repr__(self) -> str:
        return f"<{self.kernel.name}[{self.config.grid}, {self.config.block}]>"


def _typed(value: object, formal: Variable) -> object:
    """A plain Python number as the parameter's own type says; anything else as it is."""
    if type(value) not in (int, float, bool) or formal.dims or formal.vector > 1:
        return value
    t = formal.type
    if t.kind == "f" and t.bits in (16, 32, 64):
        return np.dtype(f"f{t.bits // 8}").type(value)
    if t.is_integer and type(value) is not float:
        number = int(value)  # type: ignore[call-overload]
        if not -(1 << t.bits - 1) <= number < 1 << t.bits:
            raise OverflowError(f"{value} does not fit parameter {formal.name}, .{t}")
        return np.frombuffer((number & ((1 << t.bits) - 1)).to_bytes(t.bits // 8, "little"), f"u{t.bits // 8}")[0]
    return value
