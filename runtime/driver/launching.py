"""The driver's calls that launch kernels, and those that tell how many fit."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from warplab.interpreter.launch import Dim3

from ..device.graphs.pending import QUEUE, Steps
from ..device.graphs.streams import in_order
from ..device.memory.host import host
from ..device.modules.kernels import OUT_OF_RESOURCES, KernelHandle, LaunchShape
from ..errors import ApiError, invalid
from .api import api, behind, integer, stream_of
from .events import NO_TIMING, event_of, record
from .modules.libraries import kernel_of
from .tables.enums import CUlaunchAttributeID
from .tables.layout import Handle, address_of
from .tables.structs import CUDA_LAUNCH_PARAMS, CUlaunchAttribute, CUlaunchAttributeValue, CUlaunchConfig

MAX_PARAMETERS = {True: 32764, False: 4096}  # bytes, from sm_70 on and before
MAX_ARGUMENTS = 1024
ATTRIBUTE_BYTES = 64  # of the value of a launch attribute
END, BUFFER_POINTER, BUFFER_SIZE = 0, 1, 2
LaunchAttribute = CUlaunchAttributeID
BEGUN = LaunchAttribute.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
TRIGGERED = LaunchAttribute.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT


def parameters(k: KernelHandle, kernel_params: object, extra: object) -> bytes:
    """The parameter block, from an array of pointers, from the bindings' (values, types), or from `extra`."""
    if extra is not None and address_of(extra):
        if kernel_params is not None and not isinstance(kernel_params, tuple) and address_of(kernel_params):
            raise invalid("either kernelParams or extra, not both")
        return _extra(k, address_of(extra))
    if isinstance(kernel_params, tuple):
        if not kernel_params:
            return k.pack([])
        values, types = kernel_params
        return _typed(k, values if isinstance(values, tuple | list) else (values,), types if isinstance(types, tuple | list) else (types,))
    return k.pack_table(0 if kernel_params is None else address_of(kernel_params))


def _typed(k: KernelHandle, values: Sequence[Any], types: Sequence[Any]) -> bytes:
    if len(values) != len(types):
        raise TypeError(f"{len(values)} values and {len(types)} types")
    if len(values) != len(k.parameters):
        raise invalid(f"{len(values)} parameters are given; {k.name} has {len(k.parameters)}")
    raw = []
    for value, kind, (_, _, size) in zip(values, types, k.parameters, strict=True):
        if kind is None:  # an object that knows where its bytes are
            at = value.getPtr() if hasattr(value, "getPtr") else address_of(value)
            raw.append(host().read(at, size).tobytes())
        else:
            if not isinstance(value, kind):
                if isinstance(value, ctypes._SimpleCData):
                    value = kind(value.value)
                elif issubclass(kind, ctypes.c_float | ctypes.c_double):
                    value = kind(float(value))
                elif isinstance(value, Handle) or not isinstance(value, int | float | str | bytes | bool):
                    value = kind(int(value))
                else:
                    value = kind(value)
            raw.append(bytes(value).ljust(size, b"\0")[:size])
    return k.pack(raw)


def _extra(k: KernelHandle, at: int) -> bytes:
    def word(address: int) -> int:
        return int(host().read(address, 8).view(np.uint64)[0])

    buffer, size = 0, None
    n = 0
    while (tag := word(at + 8 * n)) != END:
        if n >= 4 or tag not in (BUFFER_POINTER, BUFFER_SIZE):
            raise invalid("extra does not end, or holds an unknown word")
        value = word(at + 8 * n + 8)
        if tag == BUFFER_POINTER:
            buffer = value
        else:
            size = word(value) if value else None
        n += 2
    if not buffer or size is None:
        raise invalid("extra names no buffer, or no size")
    if size > k.kernel.parameter_bytes:
        raise ApiError(OUT_OF_RESOURCES, f"{size} bytes of parameters are given; {k.name} has {k.kernel.parameter_bytes}")
    return host().read(buffer, size).tobytes().ljust(k.kernel.parameter_bytes, b"\0")


@dataclass(slots=True)
class KernelWork:
    """A launch, which may be a part of a graph."""

    kernel: KernelHandle
    shape: LaunchShape
    block: bytes  # its parameters
    place: str = ""  # where the host launches it, if that is known before it runs
    attributes: Mapping[int, bytes] = field(default_factory=dict)  # that a program gave it, as it gave them

    def launch(self) -> Steps:
        """Launches it."""
        return behind(self.kernel.context).launching(self.kernel, self.shape, self.block, self.place)

    def attribute(self, which: CUlaunchAttributeID) -> CUlaunchAttributeValue:
        """The value of an attribute; zeros for one that was not given."""
        out = CUlaunchAttributeValue()
        if which in self.attributes:
            ctypes.memmove(out.getPtr(), self.attributes[which], ATTRIBUTE_BYTES)
        elif which is LaunchAttribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            out.cooperative = int(self.shape.cooperative)
        elif which is LaunchAttribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION and self.shape.cluster is not None:
            out.clusterDim.x, out.clusterDim.y, out.clusterDim.z = self.shape.cluster
        return out

    def with_attributes(self, given: Mapping[int, bytes]) -> KernelWork:
        """The same launch with these attributes."""
        shape = replace(self.shape)
        for which, raw in given.items():
            a = CUlaunchAttribute()
            a.id = LaunchAttribute(which)
            ctypes.memmove(a.value.getPtr(), raw, ATTRIBUTE_BYTES)
            _apply(shape, a)
        return replace(self, shape=shape, attributes=dict(given))


def start(k: KernelHandle, shape: LaunchShape, stream: object, block: bytes) -> None:
    """Launches into a stream."""
    s = stream_of(stream)
    if s.context is not k.context:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the kernel and the stream are of different contexts")
    if s.part is not None:
        shape.multiprocessors = s.part.multiprocessors
    most = MAX_PARAMETERS[k.context.profile.capability >= (7, 0)]
    if k.kernel.parameter_bytes > most:
        raise invalid(f"{k.kernel.parameter_bytes} bytes of parameters; {most} are allowed")
    work = KernelWork(k, shape, block)
    if s.capture is not None or QUEUE.pieces:  # what is wrong with the launch is told now all the same
        k.validate(shape, block)
        work.place = host().launched_from() if s.capture is None else ""
    in_order(s, "KERNEL", work.launch, work)


def _dim(x: object, y: object, z: object) -> Dim3:
    return integer(x), integer(y), integer(z)


def _shape(p: CUlaunchConfig | CUDA_LAUNCH_PARAMS, cooperative: bool = False) -> LaunchShape:
    grid, block = (p.gridDimX, p.gridDimY, p.gridDimZ), (p.blockDimX, p.blockDimY, p.blockDimZ)
    return LaunchShape(grid, block, p.sharedMemBytes, cooperative)


@api
def cuLaunchKernel(
    f: object, gridDimX: object, gridDimY: object, gridDimZ: object, blockDimX: object, blockDimY: object, blockDimZ: object,
    sharedMemBytes: object, hStream: object, kernelParams: object, extra: object,
) -> None:  # fmt: skip
    """Launches a kernel."""
    k = kernel_of(f)
    shape = LaunchShape(_dim(gridDimX, gridDimY, gridDimZ), _dim(blockDimX, blockDimY, blockDimZ), integer(sharedMemBytes))
    start(k, shape, hStream, parameters(k, kernelParams, extra))


@api
def cuLaunchCooperativeKernel(
    f: object, gridDimX: object, gridDimY: object, gridDimZ: object, blockDimX: object, blockDimY: object, blockDimZ: object,
    sharedMemBytes: object, hStream: object, kernelParams: object,
) -> None:  # fmt: skip
    """Launches a kernel whose blocks are all resident together."""
    k = kernel_of(f)
    shape = LaunchShape(
        _dim(gridDimX, gridDimY, gridDimZ), _dim(blockDimX, blockDimY, blockDimZ), integer(sharedMemBytes), cooperative=True
    )
    start(k, shape, hStream, parameters(k, kernelParams, None))


def configured(config: CUlaunchConfig | None) -> tuple[LaunchShape, int]:
    """The shape and the stream of a launch configuration."""
    if config is None:
        raise invalid("the configuration is null")
    shape = _shape(config)
    for a in config.attrs[: config.numAttrs]:
        if a.id not in (BEGUN, TRIGGERED):
            _apply(shape, a)
    return shape, integer(config.hStream)


def _events(config: CUlaunchConfig, which: CUlaunchAttributeID) -> list[object]:
    """The events that a launch is to record."""
    found = [a.value for a in config.attrs[: config.numAttrs] if a.id == which]
    events = [v.launchCompletionEvent.event if which is BEGUN else v.programmaticEvent.event for v in found]
    if any(not event_of(e).flags & NO_TIMING for e in events):
        raise invalid(f"{which.name}: the event must be made without timing")
    return events


def _apply(shape: LaunchShape, a: CUlaunchAttribute) -> None:
    match a.id:
        case LaunchAttribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            shape.cooperative = bool(a.value.cooperative)
        case LaunchAttribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            d = a.value.clusterDim
            shape.cluster = (d.x, d.y, d.z)
        case _ if a.id in (BEGUN, TRIGGERED, LaunchAttribute.CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE):
            raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"{a.id.name} is not supported")
        case _:
            pass  # priorities, domains, hints: nothing that a result depends on


@api
def cuLaunchKernelEx(config: CUlaunchConfig | None, f: object, kernelParams: object, extra: object) -> None:
    """Launches a kernel as a configuration says.

    A kernel that may overlap the one before it begins behind it, which CUDA allows, too: what triggers it, and waits for it, has no effect.
    """
    k = kernel_of(f)
    shape, stream = configured(config)
    assert config is not None
    begun, triggered = _events(config, BEGUN), _events(config, TRIGGERED)
    block = parameters(k, kernelParams, extra)
    if begun:
        k.validate(shape, block)
    for e in begun:
        record(e, stream)
    start(k, shape, stream, block)
    for e in triggered:
        record(e, stream)


@api
def cuLaunchCooperativeKernelMultiDevice(launchParamsList: Sequence[CUDA_LAUNCH_PARAMS], numDevices: object, flags: object) -> None:
    """Launches on several devices; a grid that waits for the others is suspended until they run."""
    for p in list(launchParamsList)[: integer(numDevices)]:
        k = kernel_of(p.function)
        start(k, _shape(p, cooperative=True), p.hStream, k.pack_table(integer(p.kernelParams)))


# ---------------------------------------------------------------- occupancy


@api
def cuOccupancyMaxActiveBlocksPerMultiprocessor(func: object, blockSize: object, dynamicSMemSize: object) -> int:
    """Blocks that one multiprocessor holds."""
    return kernel_of(func).resident_blocks(integer(blockSize), integer(dynamicSMemSize))


@api
def cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(func: object, blockSize: object, dynamicSMemSize: object, flags: object) -> int:
    """As the call without flags, which change nothing on these devices."""
    if integer(flags) & ~1:
        raise invalid(f"flags {integer(flags):#x}")
    return kernel_of(func).resident_blocks(integer(blockSize), integer(dynamicSMemSize))


@api
def cuOccupancyAvailableDynamicSMemPerBlock(func: object, numBlocks: object, blockSize: object) -> int:
    """The most dynamic shared memory with which so many blocks fit."""
    k, blocks, threads = kernel_of(func), integer(numBlocks), integer(blockSize)
    if blocks < 1 or not k.resident_blocks(threads, 0) >= blocks:
        raise invalid(f"{blocks} blocks of {threads} threads do not fit")
    p = k.context.profile
    share = p.shared // blocks // p.shared_unit * p.shared_unit  # CUDA counts without what the system reserves of it
    return max(0, min(share - k.static_shared, k.dynamic_limit))


def potential(k: KernelHandle, shared: Callable[[int], int], limit: int) -> tuple[int, int]:
    """(grid, block) with which most threads are resident; of several the largest block."""
    p = k.context.profile
    most = min(limit or k.max_threads, k.max_threads)
    best = (0, 0, 0)
    for whole in range(-(-most // 32) * 32, 0, -32):
        size = min(whole, most)
        blocks = k.resident_blocks(size, shared(size))
        if blocks * size > best[0]:
            best = (blocks * size, blocks, size)
        if best[0] == p.max_threads:
            break
    return best[1] * p.multiprocessors, best[2]


def _shared(function: Any, constant: object) -> Callable[[int], int]:
    if callable(function):
        return lambda threads: int(function(threads))
    if integer(function):
        address = integer(function)
        return lambda threads: host().call(address, threads)
    return lambda _: integer(constant)


@api
def cuOccupancyMaxPotentialBlockSize(
    func: object, blockSizeToDynamicSMemSize: object, dynamicSMemSize: object, blockSizeLimit: object
) -> tuple[int, int]:
    """(least grid, block) for full occupancy."""
    return potential(kernel_of(func), _shared(blockSizeToDynamicSMemSize, dynamicSMemSize), integer(blockSizeLimit))


@api
def cuOccupancyMaxPotentialBlockSizeWithFlags(
    func: object, blockSizeToDynamicSMemSize: object, dynamicSMemSize: object, blockSizeLimit: object, flags: object
) -> tuple[int, int]:
    """As the call without flags."""
    if integer(flags) & ~1:
        raise invalid(f"flags {integer(flags):#x}")
    return potential(kernel_of(func), _shared(blockSizeToDynamicSMemSize, dynamicSMemSize), integer(blockSizeLimit))


@api
def cuOccupancyMaxPotentialClusterSize(func: object, config: CUlaunchConfig | None) -> int:
    """The largest cluster that a configuration allows."""
    k = kernel_of(func)
    shape, _ = configured(config)
    if k.context.profile.capability < (9, 0):
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", "the device has no clusters")
    if shape.cluster is not None:
        k.cluster_of(shape)
    return k.max_cluster_blocks(prod(shape.block), shape.dynamic_shared)


@api
def cuOccupancyMaxActiveClusters(func: object, config: CUlaunchConfig | None) -> int:
    """Clusters that the device holds at once."""
    k = kernel_of(func)
    shape, _ = configured(config)
    cluster = shape.cluster or k.needed_cluster or (1, 1, 1)
    if k.context.profile.capability < (9, 0):
        raise ApiError("CUDA_ERROR_INVALID_CLUSTER_SIZE", "the device has no clusters")
    k.cluster_of(shape)
    return k.resident_clusters(prod(shape.block), shape.dynamic_shared, prod(cluster))
